"""What a network is: its architecture, its weights by name, and the tables it is played with.

Weights are named `inputs.weight` [F, H] (a row an input), `inputs.bias` [H], `hidden.0.weight`
[H2, H], `hidden.0.bias` [H2] ... for further layers, `output.weight` [6, H] and `output.bias` [6],
as float32; nothing here needs torch. With specialists every array has an axis of position classes in
front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS
from tdgammon.kernels import forward
from tdgammon.kernels.position_class import NUM_CLASSES
from tdgammon.value.features import ENCODINGS, NUM_PLACES, design, place_columns
from tdgammon.value.outcome import NUM_OUTCOMES

Weights = Mapping[str, NDArray[np.float32]]

ACTIVATIONS = {"relu": forward.RELU, "sigmoid": forward.SIGMOID}
_WIDEST = 4096


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Shape of a value network: equal ones have the same weight names and sizes."""

    encoding: str = "tesauro"
    """Inputs: a name in `features.ENCODINGS`."""
    hidden: tuple[int, ...] = (80,)
    """Units of each hidden layer, 1 to 4096; the first is the table."""
    activation: str = "relu"
    """Of the hidden layers: `relu` or `sigmoid`."""
    num_checkers: int = NUM_CHECKERS
    """Checkers a side in the game that is played, 1 to 15."""
    specialists: bool = False
    """Whether each class of positions (`kernels.position_class`) has weights of its own."""

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise ValueError(
                f"network.encoding: one of {', '.join(ENCODINGS)} expected, got {self.encoding!r}"
            )
        if not self.hidden or not all(type(n) is int and 0 < n <= _WIDEST for n in self.hidden):
            raise ValueError(f"network.hidden: sizes must be 1 to {_WIDEST}, got {self.hidden}")
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"network.activation: one of {', '.join(ACTIVATIONS)} expected, got {self.activation!r}"
            )
        if not 1 <= self.num_checkers <= NUM_CHECKERS:
            raise ValueError(f"network.num_checkers: must be 1 to 15, got {self.num_checkers}")
        if type(self.specialists) is not bool:
            raise ValueError(f"network.specialists: true or false expected, got {self.specialists!r}")

    @property
    def num_classes(self) -> int:
        """Classes of positions that have weights of their own: 1 = all positions have the same."""
        return NUM_CLASSES if self.specialists else 1

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each weight by name."""
        num_inputs = design(self.encoding).shape[2]
        shapes: dict[str, tuple[int, ...]] = {
            "inputs.weight": (num_inputs, self.hidden[0]),
            "inputs.bias": (self.hidden[0],),
        }
        for layer, (fan_in, fan_out) in enumerate(pairwise(self.hidden)):
            shapes[f"hidden.{layer}.weight"] = (fan_out, fan_in)
            shapes[f"hidden.{layer}.bias"] = (fan_out,)
        shapes["output.weight"] = (NUM_OUTCOMES, self.hidden[-1])
        shapes["output.bias"] = (NUM_OUTCOMES,)
        if self.specialists:
            return {name: (self.num_classes, *shape) for name, shape in shapes.items()}
        return shapes

    @property
    def specialist(self) -> Architecture:
        """That of the network of one class."""
        return replace(self, specialists=False)


def of_class(weights: Weights, kind: int) -> dict[str, NDArray[np.float32]]:
    """The weights that specialists of one position class have, as those of a network of its own."""
    return {name: weight[kind] for name, weight in weights.items()}


def stacked(each: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Weights or the like of all position classes in one, each array with an axis of classes."""
    return {name: np.stack([weights[name] for weights in each]) for name in each[0]}


def check_weights(architecture: Architecture, weights: Weights) -> None:
    """Raise ValueError unless names, shapes and types fit and all numbers are finite."""
    shapes = architecture.shapes
    if set(weights) != set(shapes):
        odd = sorted(set(weights) ^ set(shapes))
        raise ValueError(f"weights do not fit {architecture}: missing or unknown {odd}")
    for name, shape in shapes.items():
        weight = weights[name]
        if weight.shape != shape or weight.dtype != np.float32:
            got = f"{weight.dtype} {list(weight.shape)}"
            raise ValueError(f"weight {name}: float32 {list(shape)} expected, got {got}")
        if not np.isfinite(weight).all():
            raise ValueError(f"weight {name}: holds numbers that are not finite")


def play_layers(architecture: Architecture, weights: Weights) -> forward.Layers:
    """The arrays that kernels play with; raises ValueError as `check_weights` does."""
    check_weights(architecture, weights)
    if not architecture.specialists:
        weights = stacked([weights])
    matrix = design(architecture.encoding)
    num_classes, num_units = weights["inputs.bias"].shape
    table = np.empty((num_classes, *matrix.shape[:2], num_units), np.float32)
    for place, columns in enumerate(place_columns(architecture.encoding)):
        table[:, place] = matrix[place][:, columns] @ weights["inputs.weight"][:, columns]
    tail = np.zeros(
        (num_classes, sum(architecture.hidden[1:]), max(architecture.hidden) + 1), np.float32
    )
    first = 0
    for layer, (fan_in, fan_out) in enumerate(pairwise(architecture.hidden)):
        units = tail[:, first : first + fan_out]
        units[:, :, :fan_in] = weights[f"hidden.{layer}.weight"]
        units[:, :, fan_in] = weights[f"hidden.{layer}.bias"]
        first += fan_out
    return forward.Layers(
        table=np.ascontiguousarray(table),
        rises=np.ascontiguousarray(table[:, :NUM_PLACES, 1:] - table[:, :NUM_PLACES, :-1]),
        bias=np.ascontiguousarray(weights["inputs.bias"]),
        sizes=np.array(architecture.hidden, np.int64),
        tail=tail,
        output=np.ascontiguousarray(weights["output.weight"]),
        output_bias=np.ascontiguousarray(weights["output.bias"]),
        activation=ACTIVATIONS[architecture.activation],
        num_checkers=architecture.num_checkers,
    )
