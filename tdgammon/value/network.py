"""The value network as a torch module, for learning."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.tables import Architecture, Weights, check_weights, stacked

_ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid}
_IMPOSSIBLE = -1e9
_INPUTS_IN_USE = 20  # of a position, whatever the encoding: the scale of the first weights


def random_weights(architecture: Architecture, generator: torch.Generator) -> dict[str, np.ndarray]:
    """The weights that training from nothing begins with, float32 arrays by name."""
    if not architecture.specialists:
        return ValueNetwork(architecture, generator).weights()
    each = range(architecture.num_classes)
    return stacked([ValueNetwork(architecture.specialist, generator).weights() for _ in each])


class InputLayer(nn.Module):
    """The first layer, with a row of weights an input: [B, F] -> [B, H]."""

    def __init__(self, num_inputs: int, num_units: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_inputs, num_units))
        self.bias = nn.Parameter(torch.zeros(num_units))

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.addmm(self.bias, inputs, self.weight)


class ValueNetwork(nn.Module):
    """Inputs [B, F] -> logits [B, 6] of the outcomes, player on roll; for one class of positions.

    `impossible` bool [B, 6] marks outcomes that the rules exclude (`impossible_outcomes`).
    """

    def __init__(self, architecture: Architecture, generator: torch.Generator) -> None:
        super().__init__()
        self.architecture = architecture
        self.inputs = InputLayer(*architecture.shapes["inputs.weight"])
        self.hidden = nn.Sequential(*(nn.Linear(*sizes) for sizes in pairwise(architecture.hidden)))
        self.output = nn.Linear(architecture.hidden[-1], NUM_OUTCOMES)
        self._activation = _ACTIVATIONS[architecture.activation]
        with torch.no_grad():
            self.inputs.weight.normal_(0, _INPUTS_IN_USE**-0.5, generator=generator)
            for linear in self.tail:
                linear.weight.normal_(0, linear.in_features**-0.5, generator=generator)
                linear.bias.zero_()
            self.output.weight.normal_(0, 0.1 * self.output.in_features**-0.5, generator=generator)
            self.output.bias.zero_()

    @property
    def tail(self) -> list[nn.Linear]:
        """Hidden layers after the first."""
        return [layer for layer in self.hidden if isinstance(layer, nn.Linear)]

    def forward(self, inputs: Tensor, impossible: Tensor) -> Tensor:
        values = self._activation(self.inputs(inputs))
        for linear in self.tail:
            values = self._activation(linear(values))
        return self.output(values).masked_fill(impossible, _IMPOSSIBLE)

    def weights(self) -> dict[str, np.ndarray]:
        """Copies of the weights by name, float32 arrays."""
        return {name: value.detach().numpy().copy() for name, value in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Take over weights by name; ValueError as `check_weights`."""
        check_weights(self.architecture, weights)
        self.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
