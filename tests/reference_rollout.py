"""The slow twin of one trial of a rollout, written from the words of `kernels/rollout.py` alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import reference
from numpy.typing import NDArray
from reference import Board

Values = Callable[[Sequence[Board]], NDArray[np.float64]]
"""Chances [A, 6] of the player on roll of some boards."""

POINTS = np.array([3, 2, 1, -1, -2, -3])


def best_reply(
    board: Board, roll: tuple[int, int], values: Values
) -> tuple[Board, NDArray[np.float64]]:
    """The afterstate that its player on roll likes least, and his chances."""
    after = sorted(reference.afterstates(board, roll))
    chances = values(after)
    chosen = int((chances @ POINTS).argmin())
    return after[chosen], chances[chosen]


def trial(
    board: Board,
    rolls: Callable[[int], tuple[int, int]],
    player: Values,
    control: Values | None,
    truncate: int,
) -> NDArray[np.float64]:
    """Result [6] of one trial to the end or to `truncate` rolls, seen by the player on roll.

    rolls(turn) is what the dice show; control values the luck, None = it is left in.
    """
    luck = np.zeros(6)
    turn = 0
    while True:
        roll = rolls(turn)
        if control is not None:
            by_roll = {
                (a, b): best_reply(board, (a, b), control)[1]
                for a in range(1, 7)
                for b in range(1, a + 1)
            }
            mean = sum(
                float(Fraction(1 if a == b else 2, 36)) * chances for (a, b), chances in by_roll.items()
            )
            lucky = by_roll[max(roll), min(roll)] - mean  # as the opponent sees it
            luck += lucky[::-1] if turn % 2 == 0 else lucky
        board, chances = best_reply(board, roll, player)
        turn += 1
        if turn == truncate or not any(count < 0 for count in board):
            return (chances[::-1] if turn % 2 else chances) - luck
