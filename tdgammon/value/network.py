"""The value network as a torch module, for learning."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.tables import Architecture, Weights, check_weights

_ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid}
_IMPOSSIBLE = -1e9


class ValueNetwork(nn.Module):
    """Inputs [B, F] -> logits [B, 6] of the outcomes, player on roll.

    `impossible` bool [B, 6] marks outcomes that the rules exclude (`impossible_outcomes`).
    """

    def __init__(self, architecture: Architecture, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.architecture = architecture
        shapes = architecture.shapes
        self.hidden = nn.ModuleList(
            nn.Linear(*reversed(shapes[f"hidden.{layer}.weight"]))
            for layer in range(len(architecture.hidden))
        )
        self.output = nn.Linear(architecture.hidden[-1], NUM_OUTCOMES)
        self._activation = _ACTIVATIONS[architecture.activation]
        if generator is not None:
            self._start(generator)

    def _start(self, generator: torch.Generator) -> None:
        """Random weights; the first layer sees about 20 inputs that are not 0, whatever its width."""
        with torch.no_grad():
            for layer, linear in enumerate([*self.hidden, self.output]):
                fan_in = 20 if layer == 0 else linear.in_features
                linear.weight.normal_(0, fan_in**-0.5, generator=generator)
                linear.bias.zero_()
            self.output.weight.mul_(0.1)

    def forward(self, inputs: Tensor, impossible: Tensor) -> Tensor:
        values = inputs
        for linear in self.hidden:
            values = self._activation(linear(values))
        return self.output(values).masked_fill(impossible, _IMPOSSIBLE)

    def weights(self) -> dict[str, np.ndarray]:
        """Copies of the weights by name, float32 arrays."""
        return {name: value.detach().numpy().copy() for name, value in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Take over weights by name; ValueError as `check_weights`."""
        check_weights(self.architecture, weights)
        self.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
