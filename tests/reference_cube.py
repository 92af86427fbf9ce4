"""The slow twin of the live cube: thresholds found by bisection, no formula solved."""

from __future__ import annotations

from itertools import pairwise


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
