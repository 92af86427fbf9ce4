"""Cube decisions from cubeless chances, as if the cube were dead after the next turn of it.

The opponent takes if that costs no more than passing. The player doubles if that gains, the
position is not too good, and either most of the way to the opponent's take point is behind or the
doubled stake cannot hurt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide.met import MatchEquityTable
from tdgammon.decide.met import met as named_met
from tdgammon.game.board import Boards, pip_counts
from tdgammon.game.stakes import CENTRED, Stakes

MARKET = 0.25
"""Double when no more than this share of the way from no double to double/pass is left."""

_SIGNS = np.array([1, 1, 1, -1, -1, -1])
_SIZES = np.array([2, 1, 0, 0, 1, 2])


class DeadCubeEquities(NamedTuple):
    """Worth of the three cube actions to the player on roll, each float64 [B]: points for money,
    match winning chances in a match."""

    no_double: NDArray[np.float64]
    double_take: NDArray[np.float64]
    double_pass: NDArray[np.float64]
    double_costs_nothing: NDArray[np.bool_]
    """A loss at the doubled stake is no worse than at the old one."""


def dead_cube(
    probabilities: NDArray[np.float32], stakes: Stakes, met: MatchEquityTable | None = None
) -> DeadCubeEquities:
    """Equities of chances [B, 6] of the player on roll with a cube that is not turned again.

    Matches by `met`, None = the default.
    """
    pays = np.array(stakes.rules.end_values)[_SIZES] * _SIGNS
    singles = stakes.rules.end_values[0] * _SIGNS
    is_money = stakes.away[:, 0] == 0
    is_jacoby = is_money & (stakes.cube_owners == CENTRED) & stakes.rules.jacoby
    now = np.where(is_jacoby[:, None], singles, pays) * stakes.cube_values[:, None]
    doubled = 2 * pays * stakes.cube_values[:, None]
    cash = singles[0] * stakes.cube_values[:, None]
    worth = [_worth(points, stakes, met or named_met()) for points in (now, doubled, cash)]
    return DeadCubeEquities(
        no_double=(probabilities * worth[0]).sum(axis=1),
        double_take=(probabilities * worth[1]).sum(axis=1),
        double_pass=worth[2][:, 0],
        double_costs_nothing=(worth[0][:, 3:] == worth[1][:, 3:]).all(axis=1),
    )


def doubles(
    probabilities: NDArray[np.float32], stakes: Stakes, met: MatchEquityTable | None = None
) -> NDArray[np.bool_]:
    """Whether the player on roll doubles, bool [B]; that he may is not checked."""
    nd, dt, dp, free = dead_cube(probabilities, stakes, met)
    gains = (np.minimum(dt, dp) > nd) & (dp > nd)
    return gains & ((dp - dt <= MARKET * (dp - nd)) | free)


def takes(
    probabilities: NDArray[np.float32], stakes: Stakes, met: MatchEquityTable | None = None
) -> NDArray[np.bool_]:
    """Whether the opponent of the player on roll takes his double, bool [B]."""
    equities = dead_cube(probabilities, stakes, met)
    return equities.double_take <= equities.double_pass


def _worth(points: NDArray[np.int64], stakes: Stakes, met: MatchEquityTable) -> NDArray[np.float64]:
    """Worth of winning `points` [B, K] (negative: losing): themselves, or match winning chances."""
    if not stakes.away.any():
        return points.astype(np.float64)
    won, lost = np.maximum(points, 0), np.maximum(-points, 0)
    away = np.stack([stakes.away[:, :1] - won, stakes.away[:, 1:] - lost], axis=-1)
    crawford_is_over = stakes.is_crawford | stakes.is_post_crawford
    over = np.broadcast_to(crawford_is_over[:, None], points.shape)
    return met.chances(away.reshape(-1, 2), over.ravel()).reshape(points.shape)


class NeverDoubles:
    """The cube policy of a player who does not know what a position is worth: never, and take."""

    def doubles(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        return np.zeros(len(boards), np.bool_)

    def takes(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        return np.ones(len(boards), np.bool_)


class CountsPips:
    """A cube policy from the race alone: double 8 % ahead in pips, take up to 12 % behind.

    The two shares are the old rule of thumb for money races; with contact they are crude.
    """

    def doubles(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        own, opposing = pip_counts(boards).T
        return opposing - own >= 0.08 * own

    def takes(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        own, opposing = pip_counts(boards).T
        return opposing - own <= 0.12 * own
