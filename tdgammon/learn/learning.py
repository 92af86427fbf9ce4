"""The learner: minibatch Adam on λ-returns, with an average of the weights for play."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tdgammon.game.board import Boards
from tdgammon.value.features import Encoder
from tdgammon.value.network import ValueNetwork
from tdgammon.value.outcome import impossible_outcomes
from tdgammon.value.tables import Architecture, Weights


class Learner:
    """A network, its optimiser and the exponential average of its weights."""

    def __init__(self, architecture: Architecture, seed: int, averaging: float) -> None:
        self.network = ValueNetwork(architecture, torch.Generator().manual_seed(seed))
        self.encoder = Encoder(architecture.encoding)
        self.averaging = averaging
        """Share of the old average that one step keeps."""
        self._parameters = list(self.network.parameters())
        self._average = [p.detach().clone() for p in self._parameters]
        self._optimizer = torch.optim.Adam(self._parameters, lr=0.0, fused=True)
        self.num_steps = 0
        """Optimiser steps taken."""

    def learn(
        self, boards: Boards, targets: NDArray[np.float32], order: NDArray[np.int64],
        rate: float, batch_size: int,
    ) -> NDArray[np.float64]:
        """One pass over boards [N, 26] with targets [N, 6] in the given order; mean loss a batch.

        The last batch takes in the remainder. FloatingPointError if a loss is not finite; the
        weights are then those of the step before.
        """
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        num_batches = max(1, len(order) // batch_size)
        losses = np.empty(num_batches)
        for batch in range(num_batches):
            end = (batch + 1) * batch_size if batch + 1 < num_batches else len(order)
            rows = order[batch * batch_size : end]
            losses[batch] = self._step(boards[rows], targets[rows])
        return losses

    def _step(self, boards: Boards, targets: NDArray[np.float32]) -> float:
        inputs = torch.from_numpy(self.encoder.encode(boards))
        logits = self.network(inputs, torch.from_numpy(impossible_outcomes(boards)))
        loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(targets))
        value = float(loss.detach())
        if not math.isfinite(value):
            raise FloatingPointError(f"loss is {value} at step {self.num_steps}")
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self._optimizer.step()
        self.num_steps += 1
        keep = min(self.averaging, self.num_steps / (self.num_steps + 9))
        with torch.no_grad():
            torch._foreach_lerp_(self._average, self._parameters, 1 - keep)
        return value

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights as they are."""
        return self.network.weights()

    def average_weights(self) -> dict[str, NDArray[np.float32]]:
        """The averaged weights, for play."""
        names = [name for name, _ in self.network.named_parameters()]
        return {name: p.numpy().copy() for name, p in zip(names, self._average, strict=True)}

    def state(self) -> dict[str, NDArray[Any]]:
        """All that `load_state` needs to go on exactly as from here, by name."""
        arrays: dict[str, NDArray[Any]] = {"num_steps": np.array(self.num_steps)}
        arrays |= {f"weights.{name}": value for name, value in self.weights().items()}
        arrays |= {f"average.{name}": value for name, value in self.average_weights().items()}
        for (name, _), parameter in zip(self.network.named_parameters(), self._parameters, strict=True):
            for key, value in self._optimizer.state.get(parameter, {}).items():
                arrays[f"adam.{key}.{name}"] = value.numpy().copy()
        return arrays

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up `state`; KeyError or ValueError if it is of another architecture."""
        self.num_steps = int(arrays["num_steps"])
        names = [name for name, _ in self.network.named_parameters()]
        self.network.load_weights({name: arrays[f"weights.{name}"] for name in names})
        for name, average, parameter in zip(names, self._average, self._parameters, strict=True):
            average.copy_(torch.from_numpy(arrays[f"average.{name}"]))
            if self.num_steps:
                self._optimizer.state[parameter] = {
                    key: torch.from_numpy(arrays[f"adam.{key}.{name}"].copy())
                    for key in ("step", "exp_avg", "exp_avg_sq")
                }
