"""Take points, double points, gammon values and market windows at any score and cube.

Chances are of the doubler unless said otherwise. How often a win or a loss is a gammon is held fixed
while the chance of winning varies: `Shares`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide.cubeful import cube_table
from tdgammon.decide.met import MatchEquityTable
from tdgammon.game.rules import PRESETS
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable

_STEPS = 50  # of a bisection: 1e-15


class Shares(NamedTuple):
    """Gammons and backgammons as shares of a side's wins; each without the other."""

    gammons: float = 0.0
    backgammons: float = 0.0


NO_GAMMONS = Shares()


@dataclass(frozen=True, kw_only=True)
class Window:
    """Where, by chance of winning, it is right to double and to take: [double point, cash point]."""

    double_point: float
    """Least chance at which a double is no mistake; equal to the cash point if none is below it."""
    cash_point: float
    """Chance at which the opponent may as well pass; 1 = he always takes."""
    too_good_point: float
    """Chance above which playing on is worth more than the pass; 1 = nowhere."""

    @property
    def take_point(self) -> float:
        """Chance of the taker below which he passes."""
        return 1 - self.cash_point


def gammon_value(
    away: tuple[int, int], cube_value: int = 1, met: MatchEquityTable | None = None
) -> float:
    """What a gammon adds to a win, by what a win adds to a loss: 0.5 for money.

    (MWC(gammon) - MWC(win)) / (MWC(win) - MWC(loss)), each with a cube of `cube_value`.
    """
    return _extra(away, cube_value, met, size=1)


def backgammon_value(
    away: tuple[int, int], cube_value: int = 1, met: MatchEquityTable | None = None
) -> float:
    """As `gammon_value` for a backgammon: 1 for money."""
    return _extra(away, cube_value, met, size=0)


def _extra(away: tuple[int, int], cube_value: int, met: MatchEquityTable | None, size: int) -> float:
    outcomes = cube_table(PRESETS["tournament"], cube_value, away, met=met).outcomes[0, 0]
    return float((outcomes[size] - outcomes[2]) / (outcomes[2] - outcomes[3]))


def chances_of(
    win: NDArray[np.float64] | float, wins: Shares = NO_GAMMONS, losses: Shares = NO_GAMMONS
) -> NDArray[np.float64]:
    """Six outcome chances [B, 6] of chances of winning [B]."""
    won = np.atleast_1d(np.asarray(win, np.float64))[:, None]
    own = np.array([wins.backgammons, wins.gammons, 1 - sum(wins)])
    theirs = np.array([1 - sum(losses), losses.gammons, losses.backgammons])
    return np.concatenate([won * own, (1 - won) * theirs], axis=1)


def equities_at(
    table: CubeTable, chances: NDArray[np.float64], life: float, *, owned: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Worths of no double and of double, take [B] each, for a side-0 player with six chances [B, 6]."""
    values = np.empty((len(chances), table.cash.shape[1], 3))
    kernel.leaf_batch(chances, np.full(len(chances), life), table, 0, values)
    doubled = np.array([kernel.taken(row, table, 0, 0) for row in values])
    return values[:, 0, kernel.OWN if owned else kernel.CENTRED], doubled


def window(
    table: CubeTable,
    wins: Shares = NO_GAMMONS,
    losses: Shares = NO_GAMMONS,
    life: float | None = None,
    *,
    owned: bool = False,
) -> Window:
    """The market window of the table's side 0; life None = the most that contact positions have.

    With life 0 the double point is that of a cube which is not turned again, with life 1 that of one
    which is always turned in time. ValueError if the side may not double.
    """
    if not table.may_double[0, 0]:
        raise ValueError("the player may not double, or could gain nothing by it")
    x = float(table.life[0, 3]) if life is None else life
    cash = float(table.cash[0, 0])

    def gains(win: float) -> float:
        no_double, taken = equities_at(table, chances_of(win, wins, losses), x, owned=owned)
        return float(min(taken[0], cash) - no_double[0])

    def passes(win: float) -> float:
        return float(equities_at(table, chances_of(win, wins, losses), x, owned=owned)[1][0] - cash)

    cash_point = _crossing(passes, 0.0, 1.0)
    return Window(
        double_point=_crossing(gains, 0.0, cash_point),
        cash_point=cash_point,
        too_good_point=_crossing(lambda win: -gains(win) + 1e-12, cash_point, 1.0),
    )


def take_point(
    table: CubeTable, wins: Shares = NO_GAMMONS, losses: Shares = NO_GAMMONS, life: float = 0.0
) -> float:
    """Chance of winning below which the opponent of the table's side 0 passes his double.

    wins and losses are the taker's. life 0: the cube is dead once taken (no automatic redouble is
    counted); 1: it is fully live.
    """
    levels = table.cash.shape[1]
    if life == 0:
        up = 2 * table.outcomes[0, 0] if levels == 1 else table.outcomes[0, 1]
        won, lost = chances_of(np.array([1.0, 0.0]), losses, wins) @ up
        return float(1 - (table.cash[0, 0] - lost) / (won - lost))
    return window(table, losses, wins, life).take_point


def _crossing(gain: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is below 0 at `low` rises above it; `high` if it does not."""
    if high <= low or gain(high - 1e-9) < 0:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) < 0 else (low, middle)
    return (low + high) / 2
