"""What cube, score and rules mean: a `kernels.cubeful.CubeTable` for every game's stakes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide.met import MatchEquityTable
from tdgammon.decide.met import met as named_met
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import Stakes
from tdgammon.kernels.cubeful import CubeTable

Life = tuple[tuple[float, float, float, float], tuple[float, float, float, float]]

LIFE: Life = ((0.74, 0.0, 0.74, 0.74), (0.674, 0.00124, 0.71, 0.835))
"""Cube life with contact and in races: base, rise per pip of both sides together, least, most. Fitted
by `scripts/fit_cube_life` to look-ahead of two rolls and exact short races (EXPERIMENTS.md)."""

ENDLESS = 4
"""Doublings left from which on the cube limit is left out of account for money: the cash point of the
n-th cube before the last differs from that without a limit by about 0.05 / 4**n."""

_SIZES = np.array([2, 1, 0, 0, 1, 2])
_SIGNS = np.array([1, 1, 1, -1, -1, -1])


def tables_of(
    stakes: Stakes, met: MatchEquityTable | None = None
) -> tuple[list[CubeTable], NDArray[np.int64]]:
    """The different tables that B stakes need, and the number of its table for each of them: [B]."""
    columns = [stakes.cube_values[:, None], stakes.away, stakes.is_crawford[:, None]]
    keys = np.concatenate([*columns, stakes.is_post_crawford[:, None]], axis=1)
    if (keys == keys[:1]).all():  # one game, or a session for money: spares the sorting
        rows, index = keys[:1], np.zeros(len(keys), np.int64)
    else:
        rows, index = np.unique(keys, axis=0, return_inverse=True)
    tables = [
        cube_table(stakes.rules, value, (own, theirs), bool(now), bool(over), met=met)
        for value, own, theirs, now, over in rows.tolist()
    ]
    return tables, index.reshape(-1)


def owners_of(stakes: Stakes) -> NDArray[np.int64]:
    """Owner of each cube as kernels number it, seen by the player on roll: [B]."""
    return np.array([0, 1, 2])[stakes.cube_owners.astype(np.int64)]  # -1 is the last


def is_plain(stakes: Stakes) -> bool:
    """Whether the games are for money without a cube: neither cube nor score changes a play."""
    return stakes.rules.cube_limit == 1 and not stakes.away.any()


@lru_cache(maxsize=4096)
def cube_table(
    rules: GameRules,
    cube_value: int = 1,
    away: tuple[int, int] = (0, 0),
    is_crawford: bool = False,
    is_post_crawford: bool = False,
    life: Life = LIFE,
    met: MatchEquityTable | None = None,
) -> CubeTable:
    """Table for the player who needs `away[0]` points against one who needs `away[1]`; (0, 0) = money.

    Matches by `met`, None = the default.
    ValueError for a cube that no game has, or if only one of the two needs points.
    """
    if cube_value < 1 or cube_value & (cube_value - 1):
        raise ValueError(f"cube: a power of 2 expected, got {cube_value}")
    if min(away) < 0 or (away[0] == 0) != (away[1] == 0):
        raise ValueError(f"away: two numbers above 0, or (0, 0) for money, expected, got {away}")
    turns = 0
    while cube_value << (turns + 1) <= rules.cube_limit:
        turns += 1
    if away == (0, 0):
        is_endless = turns >= ENDLESS
        levels = 1 if is_endless else turns + 1
        may_double = np.zeros((2, levels), np.bool_)
        may_double[:, : levels if is_endless else turns] = True
        beavers = np.arange(levels) + 2 <= turns if rules.beavers else np.zeros(levels, np.bool_)
    else:
        is_endless = False
        can = [
            [not is_crawford and need > cube_value << level for level in range(turns)] for need in away
        ]
        levels = 1 + max(sum(side) for side in can)
        may_double = np.zeros((2, levels), np.bool_)
        for side in range(2):
            may_double[side, : sum(can[side])] = True
        beavers = np.zeros(levels, np.bool_)
    points = np.array(rules.end_values)[_SIZES] * _SIGNS
    stakes = cube_value << np.arange(levels)
    after_crawford = is_crawford or is_post_crawford
    mine = _worth(points * stakes[:, None], cube_value, away, after_crawford, met or named_met())
    outcomes = np.stack([mine, -mine[:, ::-1]])
    is_jacoby = rules.jacoby and away == (0, 0)
    centred = outcomes[:, :, [2, 2, 2, 3, 3, 3]][:, 0] if is_jacoby else outcomes[:, 0].copy()
    up = np.append(outcomes, outcomes[:, -1:] * 2, axis=1)[:, 1:]  # beyond the last none may double
    table = CubeTable(
        outcomes=outcomes,
        centred=np.ascontiguousarray(centred),
        cash=np.ascontiguousarray(outcomes[:, :, 2]),
        may_double=may_double,
        at_once=may_double & (outcomes[:, :, 3:] == up[:, :, 3:]).all(axis=2),
        beavers=beavers,
        is_endless=is_endless,
        life=np.array(life, np.float64),
    )
    for array in table:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)  # the tables are shared
    return table


def _worth(
    points: NDArray[np.int64],
    cube_value: int,
    away: tuple[int, int],
    after_crawford: bool,
    met: MatchEquityTable,
) -> NDArray[np.float64]:
    """Worth of winning `points` (negative: losing): per unit of the cube, or 2 MWC - 1."""
    if away == (0, 0):
        return points / cube_value
    own = away[0] - np.maximum(points, 0)
    theirs = away[1] - np.maximum(-points, 0)
    scores = np.stack([own, theirs], axis=-1).reshape(-1, 2)
    chances = met.chances(scores, np.full(len(scores), after_crawford))
    return 2 * chances.reshape(points.shape) - 1
