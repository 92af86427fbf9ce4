"""Slow twins of the cube: thresholds found by bisection, and short races followed to their end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import reference
from reference import Board


def live_equity(
    win: float,
    worths: list[tuple[float, float]],
    passes: list[tuple[float | None, float | None]],
    owner: int,
    level: int = 0,
) -> float:
    """Fully live cube, worked out by following the two sides' thresholds: straight lines and bisection.

    worths: by level the worth of a won and of a lost game; passes: by level what the player gets when
    the opponent passes, and what he is left with when he passes, None where that side may not double.
    owner 0 = centred, 1 = the player, 2 = the opponent.
    """
    won, lost = worths[level]
    cash, loss = passes[level]
    points = [(0.0, lost)]
    if owner != 1 and loss is not None:
        points.append((_crossing(loss, worths, passes, 1, level + 1), loss))
    if owner != 2 and cash is not None:
        points.append((_crossing(cash, worths, passes, 2, level + 1), cash))
    points.append((1.0, won))
    for (x0, y0), (x1, y1) in pairwise(points):
        if win <= x1:
            return y0 + (y1 - y0) * (win - x0) / (x1 - x0)
    return won


def _crossing(
    worth: float,
    worths: list[tuple[float, float]],
    passes: list[tuple[float | None, float | None]],
    owner: int,
    level: int,
) -> float:
    """Chance of winning at which the state is worth `worth`."""
    low, high = 0.0, 1.0
    for _ in range(36):
        middle = (low + high) / 2
        if live_equity(middle, worths, passes, owner, level) < worth:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def race_worth(
    board: Board,
    value: int,
    owner: int | None,
    worth: Callable[[int], float],
    may_double: Callable[[int, int], bool],
    beavers: bool = False,
) -> float:
    """Worth to side 0, on roll and not doubling now, of a gammonless race in which both sides make the
    best of every roll and cube that is left.

    worth(points) is what side 0 has from winning (negative: losing) so many; may_double(side, value)
    says whether the rules let a side with access turn a cube of that value.
    """

    @cache
    def rolled(board: Board, side: int, value: int, owner: int | None) -> float:
        """Before the roll of `side`, who does not double."""
        total = 0.0
        for a in range(1, 7):
            for b in range(1, 7):
                after = reference.afterstates(board, (a, b))
                total += max((1 - 2 * side) * turn(row, 1 - side, value, owner) for row in after)
        return (1 - 2 * side) * total / 36

    @cache
    def turn(board: Board, side: int, value: int, owner: int | None) -> float:
        """With `side` on roll, who doubles if that is better for him."""
        sign = 1 - 2 * side
        if not any(count < 0 for count in board):
            return worth(-sign * value)
        best = rolled(board, side, value, owner)
        if owner == 1 - side or not may_double(side, value):
            return best
        answers = [worth(sign * value), rolled(board, side, 2 * value, 1 - side)]
        if beavers and may_double(side, 2 * value):
            answers.append(rolled(board, side, 4 * value, 1 - side))
        return sign * max(sign * best, min(sign * answer for answer in answers))

    return rolled(board, 0, value, owner)
