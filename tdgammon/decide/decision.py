"""Cube decisions with all their equities: who should double, take, pass or beaver, and at what cost.

Equities are the doubler's. For money they are points per unit of the cube before the double; in a match
they are normalised match equity, 2 (MWC - lose) / (win - lose) - 1 with win and lose the chances after
winning and losing the cube before the double: a pass is worth +1 either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.decide.cubeful import owners_of, tables_of
from tdgammon.decide.met import MatchEquityTable
from tdgammon.game.board import Boards, checked_boards
from tdgammon.game.stakes import OPPONENTS, OWN, Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.verdict import TIE, verdict

OPTIONAL = 0.001
"""Doubling and not doubling are a matter of taste when their equities are closer than this."""


class CubeEvaluator(Protocol):
    """Anything that gives the worths of cube states: a network, as it stands or looking ahead."""

    def worths(self, boards: ArrayLike, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        """float64 [B, L, 3] by level and owner, before the roll, without a double in this turn."""
        ...


class CubeEquities(NamedTuple):
    """Equities of B cube decisions, each float64 [B], and what the rules allow."""

    no_double: NDArray[np.float64]
    double_take: NDArray[np.float64]
    """NaN where the player on roll may not double."""
    beaver: NDArray[np.float64]
    """Of a double that is beavered; NaN where that is not allowed."""
    may_double: NDArray[np.bool_]
    """The player on roll may double and could gain by it."""
    nothing_to_lose: NDArray[np.bool_]
    """A double cannot cost him the match that he would not lose anyway."""
    win_worth: NDArray[np.float64]
    """Worth of winning the cube before the double, and of losing it: points, or 2 MWC - 1."""
    lose_worth: NDArray[np.float64]

    @property
    def answered(self) -> NDArray[np.float64]:
        """Equity of a double that the opponent takes or beavers, whichever is better for him."""
        return np.fmin(self.double_take, self.beaver)

    @property
    def doubled(self) -> NDArray[np.float64]:
        """Equity of a double that the opponent answers best."""
        return np.minimum(self.answered, 1.0)

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Whether the player on roll should double: it gains, or costs nothing while nothing can be
        lost."""
        gains = self.doubled > self.no_double
        free = self.nothing_to_lose & (self.doubled > self.no_double - OPTIONAL)
        return self.may_double & (gains | free)

    @property
    def takes(self) -> NDArray[np.bool_]:
        """Whether the opponent should take (or beaver)."""
        return ~(self.answered > 1 + TIE)

    @property
    def beavers(self) -> NDArray[np.bool_]:
        """Whether the opponent should answer a double by a beaver."""
        return self.beaver < np.minimum(self.double_take, 1.0) - TIE

    def in_match_chances(self, equities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Equities of a match as chances to win it."""
        worths = self.lose_worth + (equities + 1) / 2 * (self.win_worth - self.lose_worth)
        return (worths + 1) / 2


def cube_equities(
    evaluator: CubeEvaluator, boards: ArrayLike, stakes: Stakes, met: MatchEquityTable | None = None
) -> CubeEquities:
    """Equities of the cube decisions of the players on roll of boards [B, 26].

    Where the opponent owns the cube there is none: `may_double` is False and `no_double` the equity as
    it is. Matches go by `met`, None = the default. ValueError as `checked_boards`.
    """
    checked = checked_boards(boards)
    found = CubeEquities(*(np.full(len(checked), np.nan) for _ in range(7)))
    owners = owners_of(stakes)
    has_access = stakes.cube_owners != OPPONENTS
    may_double, free = np.zeros(len(checked), np.bool_), np.zeros(len(checked), np.bool_)
    tables, index = tables_of(stakes, met)
    for number, table in enumerate(tables):
        rows = np.flatnonzero(index == number)
        values = evaluator.worths(checked[rows], table)
        win, lose = table.cash[0, 0], -table.cash[1, 0]
        found.win_worth[rows], found.lose_worth[rows] = win, lose

        def normalised(
            worths: NDArray[np.float64], win: float = win, lose: float = lose
        ) -> NDArray[np.float64]:
            return 2 * (worths - lose) / (win - lose) - 1

        found.no_double[rows] = normalised(values[np.arange(len(rows)), 0, owners[rows]])
        if not table.may_double[0, 0]:
            continue
        may_double[rows] = has_access[rows]
        free[rows] = table.at_once[0, 0]
        taken, beavered = _answers(values, table)
        found.double_take[rows] = np.where(has_access[rows], normalised(taken), np.nan)
        found.beaver[rows] = np.where(has_access[rows], normalised(beavered), np.nan)
    return found._replace(may_double=may_double, nothing_to_lose=free)


def _answers(
    values: NDArray[np.float64], table: CubeTable
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Worths [B] of a double that is taken, and of one that is beavered (NaN: not allowed)."""
    theirs = values[:, :, kernel.THEIRS]
    taken = 2 * theirs[:, 0] if table.is_endless else theirs[:, 1]
    if not table.beavers[0]:
        return taken, np.full(len(values), np.nan)
    return taken, 2 * taken if table.is_endless else theirs[:, 2]


@dataclass(frozen=True, kw_only=True)
class CubeDecision:
    """One cube decision; equities as the module says, chances where it is a match."""

    verdict: str
    no_double: float
    double_take: float | None
    """None where the player on roll may not double."""
    double_pass: float | None
    beaver: float | None
    """None where a beaver is not allowed."""
    errors: dict[str, float]
    """What each action costs who takes it: `no double`, `double`; `take`, `pass`, `beaver`."""
    match_chances: dict[str, float] | None
    """Chances to win the match after `no double`, `double, take`, `double, pass`; None for money."""
    reason: str


def decide(
    evaluator: CubeEvaluator, board: Boards, stakes: Stakes, met: MatchEquityTable | None = None
) -> CubeDecision:
    """The cube decision of one board [26] with the stakes of one game.

    Raises ValueError as `checked_boards`, and if there is not one board or not one game.
    """
    boards = checked_boards(board)
    if len(boards) != 1 or len(stakes.cube_values) != 1:
        raise ValueError(f"board: one expected, got {len(boards)} and {len(stakes.cube_values)} stakes")
    equities = cube_equities(evaluator, boards, stakes, met)
    no_double = float(equities.no_double[0])
    is_match = bool(stakes.away.any())

    def chances(equity: float) -> float:
        return float(equities.in_match_chances(np.array([equity]))[0])

    if not equities.may_double[0]:
        return CubeDecision(
            verdict="no double",
            no_double=no_double,
            double_take=None,
            double_pass=None,
            beaver=None,
            errors={},
            match_chances={"no double": chances(no_double)} if is_match else None,
            reason=_why_not(stakes),
        )
    take, beaver = float(equities.double_take[0]), float(equities.beaver[0])
    answered = float(equities.answered[0])
    doubled = min(answered, 1.0)
    errors = {
        "no double": max(doubled - no_double, 0.0),
        "double": max(no_double - doubled, 0.0),
        "take": take - doubled,
        "pass": 1 - doubled,
    }
    if not np.isnan(beaver):
        errors["beaver"] = beaver - doubled
    words = verdict(
        no_double,
        take,
        owned=bool(stakes.cube_owners[0] == OWN),
        beaver=None if np.isnan(beaver) else beaver,
        optional=OPTIONAL,
        nothing_to_lose=bool(equities.nothing_to_lose[0]),
    )
    actions = {"no double": no_double, "double, take": take, "double, pass": 1.0}
    return CubeDecision(
        verdict=words,
        no_double=no_double,
        double_take=take,
        double_pass=1.0,
        beaver=None if np.isnan(beaver) else beaver,
        errors=errors,
        match_chances={name: chances(equity) for name, equity in actions.items()} if is_match else None,
        reason=_reason(words, no_double, answered, bool(equities.nothing_to_lose[0])),
    )


def _why_not(stakes: Stakes) -> str:
    """Why the player on roll does not double, whatever the position."""
    value = int(stakes.cube_values[0])
    if stakes.rules.cube_limit == 1:
        return "the game is played without a cube"
    if stakes.is_crawford[0]:
        return "there is no doubling in the Crawford game"
    if stakes.cube_owners[0] == OPPONENTS:
        return "the opponent owns the cube"
    if 2 * value > stakes.rules.cube_limit:
        return f"the cube is at its limit of {stakes.rules.cube_limit}"
    need = int(stakes.away[0, 0])
    points = f"{need} point{'s' * (need > 1)}"
    return f"the cube is dead: he needs {points}, and a win with the cube at {value} gives as many"


def _reason(words: str, no_double: float, take: float, nothing_to_lose: bool) -> str:
    """One line on why the verdict is as it is, in the equities that decide it."""
    doubled = min(take, 1.0)
    if "too good" in words:
        return f"playing on for a gammon is worth {no_double:+.3f}, the pass only +1.000"
    if words.startswith("optional"):
        return f"doubling and not doubling are within {OPTIONAL}"
    if words.startswith("no"):
        if words.endswith("beaver"):
            return f"a double would be worth {take:+.3f}: the opponent would be glad of the cube"
        return f"a double gives up {no_double - doubled:.3f}: the cube is worth more where it is"
    if words.endswith("beaver"):
        return f"doubled, gammons count, which gains {doubled - no_double:.3f} although he beavers"
    if nothing_to_lose:
        answer = "takes" if words.endswith("take") else "passes"
        return f"a loss costs no more with the cube turned, so double at once; he {answer}"
    if words.endswith("pass"):
        return f"a take would cost the opponent {take - 1:.3f}; rolling on gives up {1 - no_double:.3f}"
    return f"waiting gives up {doubled - no_double:.3f}; passing would cost him {1 - take:.3f}"
