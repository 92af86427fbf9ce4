"""Rollouts: what positions are worth by playing them on many times with the same dice for all.

Trials are numbered. Trial i has the dice of stream i of the seed, turn by turn, in every rival
position, and belongs to one round of 36; what stops a rollout is looked at between rounds. So the
result depends on the settings alone, not on who played which trial, and a rollout that is taken up
again ends where one long run would have.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.decide.cubeful import tables_of
from tdgammon.decide.estimate import NORMAL_95, means_and_errors
from tdgammon.decide.search import Searcher
from tdgammon.decide.trials import NUM_RESULTS, STOPS, Shared, Trials, play_unit
from tdgammon.decide.units import Runner, Unit, here
from tdgammon.game.board import checked_boards
from tdgammon.game.dice import BLOCK, stratified_rolls
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import Stakes
from tdgammon.kernels import rollout as kernel
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import NUM_OUTCOMES

MOST_TRIALS = 10**6
_REFRESH_S = 0.5
_SAME = 1e-6
"""Equities nearer than this are equal: chances are kept in 32 bits."""


@dataclass(frozen=True, kw_only=True)
class RolloutSettings:
    """How positions are rolled out."""

    trials: int = 1296
    """Of each rival position, 1 to 10**6; first and second rolls are even in multiples of 36."""
    seed: int = 1
    """Of the dice, 0 to 2**63 - 1."""
    truncate: int | None = None
    """Rolls after which a trial ends with the value of the position reached; None = with the game."""
    luck_control: bool = True
    """Whether the luck of every roll is taken off."""
    stop_at: str = "race"
    """Where tables end a trial: `race`, `exact` (6 checkers a side at home) or `end` (nowhere). In a
    position that is a race already, `race` means `exact`, and `exact` means `end` with a cube that may
    be turned in a match or nears its limit: of that the tables say nothing exact."""
    min_trials: int = 144
    """Trials of every position before one of the next two is looked at."""
    stop_se: float | None = None
    """Stop when the standard error of every equity is no larger, in points."""
    stop_jsd: float | None = None
    """Give up a position that is this many joint standard deviations behind the best."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("trials", 1, MOST_TRIALS),
            ("seed", 0, 2**63 - 1),
            ("truncate", 1, kernel.MOST_TURNS),
            ("min_trials", 1, MOST_TRIALS),
        ):
            value = getattr(self, name)
            if name == "truncate" and value is None:
                continue
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"rollout.{name}: must be {low} to {high}, got {value!r}")
        for name in ("stop_se", "stop_jsd"):
            value = getattr(self, name)
            if value is not None and not (type(value) in (int, float) and 0 < value < math.inf):
                raise ValueError(f"rollout.{name}: must be above 0, got {value!r}")
        if type(self.luck_control) is not bool:
            raise ValueError(f"rollout.luck_control: must be True or False, got {self.luck_control!r}")
        if type(self.stop_at) is not str or self.stop_at not in STOPS:
            raise ValueError(
                f"rollout.stop_at: one of {', '.join(STOPS)} expected, got {self.stop_at!r}"
            )


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One of the positions that are rolled out side by side."""

    name: str
    board: tuple[int, ...]
    """Player on roll, before the roll."""
    turned: int = 0
    """1: the player on roll has just doubled, and the opponent has taken."""
    may_double: bool = True
    """Whether the player on roll may double before his first roll."""

    def __post_init__(self) -> None:
        for name, kind in (("name", str), ("turned", int), ("may_double", bool)):
            if type(getattr(self, name)) is not kind:
                raise ValueError(f"rival.{name}: {kind.__name__} expected, got {getattr(self, name)!r}")
        if self.turned not in (0, 1):
            raise ValueError(f"rival.turned: 0 or 1 expected, got {self.turned}")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the trials of one position say; seen by the player on roll, or by who left it."""

    name: str
    trials: int
    equity: float
    """Points per unit of the cube before any double; in a match normalised, see `decide.decision`."""
    equity_se: float
    """NaN for a single trial."""
    match_chance: float | None
    """Chance to win the match; None for money."""
    cubeless_equity: float
    cubeless_se: float
    probabilities: NDArray[np.float64]
    """[6]; with luck control a chance near 0 may come out slightly below it."""
    probability_ses: NDArray[np.float64]
    jsd: float
    """Joint standard deviations behind the best of the rivals; 0 for the best, infinite where both
    are known exactly."""
    given_up: bool
    """The choice was settled against it."""

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval of the equity."""
        return NORMAL_95 * self.equity_se


@dataclass(eq=False)
class Rollout:
    """A rollout and the trials played so far; `run` plays on, also after it was interrupted."""

    player: NetworkEvaluator | Searcher
    rivals: tuple[Rival, ...]
    settings: RolloutSettings
    stakes: Stakes | None = None
    """Of one game, seen by the player who decides and before he does; None = without a cube."""
    of_plays: bool = False
    """The rivals are what plays leave, with the opponent on roll."""
    control: NetworkEvaluator | None = None
    """By whose values the luck is measured; None = the player's, without look-ahead."""
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    """Results [N, 7] of each rival's first N trials, as `trials.play_unit` gives them."""

    def __post_init__(self) -> None:
        if not self.rivals:
            raise ValueError("rollout: no position to roll out")
        check_rules(self.player.rules)
        if self.stakes is not None:
            check_rules(self.stakes.rules)
        checked_boards([rival.board for rival in self.rivals])
        if not self.rows:
            self.rows = [np.empty((0, NUM_RESULTS)) for _ in self.rivals]
        self._start_over()

    def _start_over(self) -> None:
        """Count the trials anew, from the rows there are."""
        self._counted = [0] * len(self.rivals)
        self._live = [True] * len(self.rivals)
        self._opening = stratified_rolls(self.settings.seed, 0, self.settings.trials)
        self._room = [np.empty((max(self.settings.trials, len(r)), r.shape[1])) for r in self.rows]
        for rival, (rows, room) in enumerate(zip(self.rows, self._room, strict=True)):
            room[: len(rows)] = rows
            self.rows[rival] = room[: len(rows)]

    def run(self, runner: Runner = here, *, progress: bool = False) -> list[Estimate]:
        """Play until the trials are done or a rule stops it, and say what came out.

        Broken off by an exception (Ctrl-C), `rows` keeps what was played, and `estimates` tells what
        it says; run again, it goes on. `progress` shows a bar on a terminal's stderr.
        """
        self._start_over()
        shared = Shared(self.player, self.control, self.positions())
        begun: deque[Unit] = deque()
        results = runner(play_unit, shared, self._units(begun))
        total = self.settings.trials * len(self.rivals)
        disable = None if progress else True  # None: shown on a terminal only
        shown_s = time.monotonic()
        with (
            closing(results),
            tqdm(total=total, unit="trial", delay=1, disable=disable, file=sys.stderr) as bar,
        ):
            for first in range(0, self.settings.trials, BLOCK):
                end = min(first + BLOCK, self.settings.trials)
                for rival in np.flatnonzero(self._live).tolist():
                    if len(self.rows[rival]) < end:
                        self._take(rival, begun, results)
                    bar.update(end - self._counted[rival])
                    self._counted[rival] = end
                if not bar.disable and time.monotonic() > shown_s + _REFRESH_S:
                    bar.set_postfix_str(self._in_short())
                    shown_s = time.monotonic()
                if self._is_settled(end):
                    break
        return self.estimates()

    def positions(self) -> tuple[Trials, ...]:
        """What is played: stakes seen by who is on roll in the rivals' positions."""
        stakes = self.stakes
        if stakes is not None and self.of_plays:
            stakes = replace(stakes, cube_owners=-stakes.cube_owners, away=stakes.away[:, ::-1].copy())
        return tuple(
            Trials(
                board=rival.board,
                stakes=stakes,
                turned=rival.turned,
                may_double=rival.may_double,
                seed=self.settings.seed,
                truncate=self.settings.truncate,
                luck_control=self.settings.luck_control,
                stop_at=self.settings.stop_at,
            )
            for rival in self.rivals
        )

    def _units(self, begun: deque[Unit]) -> Iterator[Unit]:
        """What is to be played, noting in `begun` what a runner has asked for."""
        played = [len(rows) for rows in self.rows]
        for first in range(0, self.settings.trials, BLOCK):
            end = min(first + BLOCK, self.settings.trials)
            for rival in range(len(self.rivals)):
                start = max(first, played[rival])
                if self._live[rival] and start < end:
                    begun.append((rival, start, end - start))
                    yield begun[-1]

    def _take(self, rival: int, begun: deque[Unit], results: Iterator[NDArray[np.float64]]) -> None:
        """Add the next trials of a rival, passing over those of rivals that have been given up."""
        for rows in results:
            unit = begun.popleft()
            if unit[0] == rival:
                played = len(self.rows[rival])
                self._room[rival][played : played + len(rows)] = rows
                self.rows[rival] = self._room[rival][: played + len(rows)]
                return
        raise AssertionError("a runner gave fewer results than units")

    def _in_short(self) -> str:
        """The best rival's equity and its interval."""
        best = max(self.estimates(), key=lambda estimate: estimate.equity)
        name = f"{best.name}: " if len(self.rivals) > 1 else ""
        return f"{name}{best.equity:+.4f} ± {best.ci95:.4f}"

    def estimates(self) -> list[Estimate]:
        """What the trials counted so far say of each rival; empty before the first round is played."""
        if not all(self._counted):
            return []
        found = [self._moments(rival) for rival in range(len(self.rivals))]
        equities = np.array([means[NUM_OUTCOMES] for means, _ in found])
        errors = np.array([ses[NUM_OUTCOMES] for _, ses in found])
        best = int(equities.argmax())
        return [
            Estimate(
                name=rival.name,
                trials=self._counted[r],
                equity=float(equities[r]),
                equity_se=float(errors[r]),
                match_chance=self._match_chance(equities[r]),
                cubeless_equity=float(found[r][0][-1]),
                cubeless_se=float(found[r][1][-1]),
                probabilities=found[r][0][:NUM_OUTCOMES],
                probability_ses=found[r][1][:NUM_OUTCOMES],
                jsd=_joint(equities[best] - equities[r], errors[best], errors[r]),
                given_up=not self._live[r],
            )
            for r, rival in enumerate(self.rivals)
        ]

    def _moments(self, rival: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and standard errors of the six outcomes, the equity and the equity without a cube,
        seen as the rival is told."""
        rows = self.rows[rival][: self._counted[rival]]
        chances, worths = rows[:, :NUM_OUTCOMES], rows[:, NUM_OUTCOMES]
        if self.of_plays:
            chances, worths = chances[:, ::-1], -worths
        win, lose = self._ends()
        equities = 2 * (worths - lose) / (win - lose) - 1
        columns = np.column_stack([chances, equities, chances @ self.player.values.astype(np.float64)])
        return means_and_errors(columns, self._opening[: len(rows)])

    def _ends(self) -> tuple[float, float]:
        """Worths of winning and losing the cube as it is: points, or 2 MWC - 1."""
        if self.stakes is None:
            return 1.0, -1.0
        table = tables_of(self.stakes)[0][0]
        return float(table.cash[0, 0]), -float(table.cash[1, 0])

    def _match_chance(self, equity: float) -> float | None:
        if self.stakes is None or not self.stakes.away.any():
            return None
        win, lose = self._ends()
        return float((lose + (equity + 1) / 2 * (win - lose) + 1) / 2)

    def _is_settled(self, num_trials: int) -> bool:
        """Give up rivals that are beaten, and say whether the rules let the rollout stop."""
        settings = self.settings
        if num_trials < settings.min_trials or (settings.stop_se is None and settings.stop_jsd is None):
            return False
        estimates = self.estimates()
        if settings.stop_jsd is not None and len(self.rivals) > 1:
            for rival, estimate in enumerate(estimates):
                if estimate.jsd >= settings.stop_jsd:
                    self._live[rival] = False
            if sum(self._live) == 1:
                return True
        live = [e.equity_se for e, is_live in zip(estimates, self._live, strict=True) if is_live]
        return settings.stop_se is not None and max(live) <= settings.stop_se


def check_rules(rules: GameRules) -> None:
    """ValueError for rules by which nothing can be rolled out."""
    if rules.caucasian or rules.last_roll_draw:
        raise ValueError("rollout: rules with caucasian or last_roll_draw cannot be rolled out")


def _joint(difference: float, one: float, other: float) -> float:
    """A difference in joint standard deviations."""
    if difference <= _SAME:
        return 0.0
    error = math.hypot(one, other)
    return float(difference) / error if error else math.inf
