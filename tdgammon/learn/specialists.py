"""Learning with specialists: a learner for each class of positions, over positions of its class.

A position near the border of its class is sometimes given to the neighbour that it is nearly one of,
so that both judge alike there: plays lead across borders, and what two specialists think of a
position that either could be asked about is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Boards
from tdgammon.kernels import position_class
from tdgammon.learn.learning import Learner
from tdgammon.value.tables import Architecture, Weights, check_weights, of_class, stacked

STEPS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], np.int8)
"""Checkers more that are taken to be back, of the player and of the opponent."""


def position_classes(boards: Boards, shifts: NDArray[np.int8]) -> NDArray[np.int64]:
    """Classes [B] of boards [B, 26], as if shifts [B, 2], or [2] for all, more checkers of the player
    and of the opponent were back."""
    classes = np.empty(len(boards), np.int64)
    position_class.fill(boards, np.broadcast_to(shifts, (len(boards), 2)).copy(), classes)
    return classes


class SpecialistsLearner:
    """As `learning.Learner`, for an architecture with specialists."""

    def __init__(
        self, architecture: Architecture, weights: Weights, averaging: float, overlap: float
    ) -> None:
        """`overlap`: share of positions learnt as if one checker more or less were back."""
        check_weights(architecture, weights)
        self._each = [
            Learner(architecture.specialist, of_class(weights, kind), averaging)
            for kind in range(architecture.num_classes)
        ]
        self._overlap = overlap

    @property
    def num_steps(self) -> int:
        """Optimiser steps taken, of all together."""
        return sum(learner.num_steps for learner in self._each)

    def learn(
        self,
        boards: Boards,
        targets: NDArray[np.float32],
        order: NDArray[np.int64],
        rate: float,
        batch_size: int,
    ) -> NDArray[np.float64]:
        """As `Learner.learn`: each specialist takes its own positions, in the given order."""
        classes = self._classes(boards)[order]
        orders = [order[classes == kind] for kind in range(len(self._each))]
        losses = [
            learner.learn(boards, targets, own, rate, batch_size)
            for learner, own in zip(self._each, orders, strict=True)
            if len(own)
        ]
        return np.concatenate(losses) if losses else np.empty(0)

    def _classes(self, boards: Boards) -> NDArray[np.int64]:
        generator = np.random.default_rng(self.num_steps)
        shifts = STEPS[generator.integers(0, len(STEPS), len(boards))]
        shifts[generator.random(len(boards)) >= self._overlap] = 0
        return position_classes(boards, shifts)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights as they are."""
        return stacked([learner.weights() for learner in self._each])

    def average_weights(self) -> dict[str, NDArray[np.float32]]:
        """The averaged weights, for play."""
        return stacked([learner.average_weights() for learner in self._each])

    def state(self) -> dict[str, NDArray[Any]]:
        """All that `load_state` needs to go on exactly as from here, by name."""
        return {
            f"{kind}.{name}": value
            for kind, learner in enumerate(self._each)
            for name, value in learner.state().items()
        }

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up `state`; KeyError or ValueError if it is of another architecture."""
        for kind, learner in enumerate(self._each):
            mark = f"{kind}."
            learner.load_state(
                {
                    name.removeprefix(mark): value
                    for name, value in arrays.items()
                    if name.startswith(mark)
                }
            )
