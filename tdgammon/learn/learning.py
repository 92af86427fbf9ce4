"""The learner: minibatch Adam on λ-returns, with an average of the weights for play."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tdgammon.game.board import Boards
from tdgammon.kernels import learning as kernel
from tdgammon.value.features import Encoder
from tdgammon.value.network import ValueNetwork
from tdgammon.value.tables import Architecture, Weights


class Learner:
    """A network, its optimiser and the exponential average of its weights."""

    def __init__(self, architecture: Architecture, weights: Weights, averaging: float) -> None:
        self.network = ValueNetwork(architecture, torch.Generator())
        self.network.load_weights(weights)
        self.encoder = Encoder(architecture.encoding, architecture.num_checkers)
        self.averaging = averaging
        """Share of the old average that one step keeps."""
        self._parameters: list[torch.Tensor] = list(self.network.parameters())
        self._average = [p.detach().clone() for p in self._parameters]
        self._optimizer = torch.optim.Adam(self._parameters, lr=0.0, fused=True)
        self.num_steps = 0
        """Optimiser steps taken."""

    def learn(
        self,
        boards: Boards,
        targets: NDArray[np.float32],
        order: NDArray[np.int64],
        rate: float,
        batch_size: int,
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
        loss = self.accumulate_gradients(boards, targets)
        if not math.isfinite(loss):
            raise FloatingPointError(f"loss is {loss} at step {self.num_steps}")
        self._optimizer.step()
        self.num_steps += 1
        # as if 9 steps lay behind the first: the random start is forgotten as steps are taken
        keep = min(self.averaging, self.num_steps / (self.num_steps + 9))
        with torch.no_grad():
            torch._foreach_lerp_(self._average, self._parameters, 1 - keep)
        return loss

    @torch.no_grad()
    def accumulate_gradients(self, boards: Boards, targets: NDArray[np.float32]) -> float:
        """Set the gradient of the mean cross-entropy of targets [B, 6]; gives that mean.

        Worked by hand because the first layer's inputs are sparse: with the kernels of
        `value.features` a step takes a third of the time that torch's own gradient takes.
        """
        network = self.network
        sums, impossible = self.encoder.weighted_sums(
            boards, network.inputs.weight.numpy(), network.inputs.bias.numpy()
        )
        is_relu = network.architecture.activation == "relu"
        activate = torch.relu if is_relu else torch.sigmoid
        values = [activate(torch.from_numpy(sums))]
        for linear in network.tail:
            values.append(activate(linear(values[-1])))
        logits = network.output(values[-1]).numpy()
        slopes = np.empty_like(logits)
        loss = float(kernel.cross_entropy(logits, impossible, targets, slopes))
        slope = torch.from_numpy(slopes)
        for linear, value in zip(
            [network.output, *reversed(network.tail)], reversed(values), strict=True
        ):
            linear.weight.grad = slope.T @ value
            linear.bias.grad = slope.sum(0)
            slope = slope @ linear.weight
            slope.mul_(value > 0 if is_relu else value * (1 - value))
        network.inputs.weight.grad = torch.from_numpy(
            self.encoder.weight_gradient(boards, slope.numpy())
        )
        network.inputs.bias.grad = slope.sum(0)
        return loss

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
