"""Match winning chances at a score, by formula: enough for a first cube policy.

Before the Crawford game: Janowski's 0.5 + 0.85 D / (T + 6), D the lead and T the sum of the points
both need (Inside Backgammon 2/4, 1993). A player who is one point away: by recursion over games
of which both win half and a quarter are gammons, the trailer doubling at once after the Crawford game.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.match import MAX_LENGTH

GAMMON_SHARE = 0.25
"""Share of games that are gammons."""


@cache
def tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Winning chances [65, 65] by the points the player and the opponent need: before the next
    game and, where one of them needs 1, with the Crawford game ahead; then the same with it over."""
    away = np.arange(MAX_LENGTH + 1)
    needs, others = np.meshgrid(away, away, indexing="ij")
    before = np.clip(0.5 + 0.85 * (others - needs) / (needs + others + 6), 0, 1)
    after = before.copy()
    trailer = np.zeros(MAX_LENGTH + 1)  # the trailer's chances after the Crawford game
    for need in range(MAX_LENGTH + 1):
        trailer[need] = 1.0 if need == 0 else _half(trailer, need, 2)
    crawford = np.array(
        [1.0 if need == 0 else _half(trailer, need, 1) for need in range(MAX_LENGTH + 1)]
    )
    for table, chances in ((before, crawford), (after, trailer)):
        table[1, 1:] = 1 - chances[1:]
        table[1:, 1] = chances[1:]
        table[1, 1] = 0.5
        table[0, :], table[:, 0] = 1, 0
        table.setflags(write=False)
    return before, after


def _half(chances: NDArray[np.float64], need: int, stake: int) -> float:
    """Half of the games are won, each for `stake` or, as gammons, twice that."""
    single, gammon = chances[max(need - stake, 0)], chances[max(need - 2 * stake, 0)]
    return float(0.5 * ((1 - GAMMON_SHARE) * single + GAMMON_SHARE * gammon))


def winning_chances(
    away: NDArray[np.int64], is_post_crawford: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Chances [B] that the player wins the match with away int [B, 2] points needed by him and the
    opponent; what is below 0 counts as 0, and the player's 0 wins first."""
    needs = np.clip(away, 0, MAX_LENGTH)
    before, after = tables()
    return np.where(is_post_crawford, after[needs[:, 0], needs[:, 1]], before[needs[:, 0], needs[:, 1]])
