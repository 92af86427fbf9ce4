"""A match equity table of our own, by recursion over the scores from gammon rates and cube life.

A game between equals is, for the side that starts it, worth what the cubeful formula says of even
chances with given gammons, the cube centred; the score decides what every outcome, cash and pass is
worth. All of those are shorter scores, so the table is filled from double match point up.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tdgammon.decide import met
from tdgammon.decide.cubeful import cube_table
from tdgammon.game.match import MAX_LENGTH
from tdgammon.game.rules import PRESETS
from tdgammon.kernels import cubeful

GAMMONS = 0.27
"""Share of the games won that are gammons or more: what bots of our own score at 0-ply."""
BACKGAMMONS = 0.012
"""Share of the games won that are backgammons."""

LIFE_AT_START = 0.68
"""Cube life of the position that games start from."""


@lru_cache(maxsize=4)
def computed(
    gammons: float = GAMMONS,
    backgammons: float = BACKGAMMONS,
    life: float = LIFE_AT_START,
    length: int = 25,
) -> met.MatchEquityTable:
    """The table up to `length` away; longer scores as `met` extends every table.

    gammons and backgammons are shares of the games won, the larger ones included in the smaller.
    Raises ValueError unless 0 <= backgammons <= gammons <= 1, 0 <= life <= 1 and 3 <= length <= 64.
    """
    if not 0 <= backgammons <= gammons <= 1:
        raise ValueError(f"gammons, backgammons: shares of wins expected, got {gammons}, {backgammons}")
    if not 0 <= life <= 1:
        raise ValueError(f"life: 0 to 1 expected, got {life}")
    if not 3 <= length <= MAX_LENGTH:
        raise ValueError(f"length: 3 to {MAX_LENGTH} expected, got {length}")
    wins = np.array([backgammons, gammons - backgammons, 1 - gammons]) / 2
    chances = np.concatenate([wins, wins[::-1]])
    size = MAX_LENGTH + 1
    before, after = np.zeros((size, size)), np.zeros((size, size))
    before[0, :] = after[0, :] = 1
    growing = met.MatchEquityTable(met.COMPUTED, length, before, after)

    def even(need: int, other: int, is_crawford: bool, is_post: bool) -> float:
        """Chance of the side that needs `need`, who starts half of the games."""
        worths = []
        for away in ((need, other), (other, need)):
            table = cube_table.__wrapped__(  # of a table that grows: not to be kept
                PRESETS["tournament"], 1, away, is_crawford, is_post, met=growing
            )
            values = np.empty((table.cash.shape[1], 3))
            cubeful.leaf(chances, life, life, life, table, 0, values)
            worths.append(float(values[0, cubeful.CENTRED]))
        return 0.5 + (worths[0] - worths[1]) / 4

    before[1, 1] = after[1, 1] = 0.5
    for need in range(2, length + 1):
        after[need, 1] = even(need, 1, False, True)
        after[1, need] = 1 - after[need, 1]
    for need in range(2, length + 1):
        before[need, 1] = even(need, 1, True, False)
        before[1, need] = 1 - before[need, 1]
    for need in range(2, length + 1):
        for other in range(2, need):
            before[need, other] = after[need, other] = even(need, other, False, False)
            before[other, need] = after[other, need] = 1 - before[need, other]
        before[need, need] = after[need, need] = 0.5
    inside = slice(1, length + 1)
    return met.table_of(met.COMPUTED, before[inside, inside], after[inside, 1])
