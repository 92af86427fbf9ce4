"""n-ply search: values of positions some rolls ahead, and the choice of plays by them.

Every play is looked at as it stands (0-ply); those that a filter lets through are looked at one ply
deeper, and so on. A play keeps the ply that it was last looked at with, and plays are compared with
those of the same ply only: one that a filter stopped is behind all that went on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, checked_boards, checked_rolls
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import GameRules
from tdgammon.kernels import search as kernel
from tdgammon.kernels import selfplay
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.evaluator import NetworkEvaluator, Probabilities, RankedPlays
from tdgammon.value.outcome import NUM_OUTCOMES

MOST_PLIES = kernel.MOST_PLIES
MOST_THREADS = 256
_BLOCK = {1: 256, 2: 16, 3: 1, 4: 1}
"""Replies that a thread looks into at a time, by ply: a few milliseconds of work."""


def _no_cube() -> CubeTable:
    """A table of no levels: the chances alone are looked for."""
    table = CubeTable(
        outcomes=np.zeros((2, 0, NUM_OUTCOMES)),
        centred=np.zeros((2, NUM_OUTCOMES)),
        cash=np.zeros((2, 0)),
        may_double=np.zeros((2, 0), np.bool_),
        at_once=np.zeros((2, 0), np.bool_),
        beavers=np.zeros(0, np.bool_),
        is_endless=False,
        life=np.zeros((2, 4)),
    )
    for array in table[:-2] + table[-1:]:
        array.setflags(write=False)  # as those of `cube_table`: kernels are compiled once for both
    return table


_NO_CUBE = _no_cube()


@dataclass(frozen=True)
class MoveFilter:
    """Which plays of a ply are looked at one ply deeper: the best ones, and those close to the best."""

    accept: int
    """Best plays that go on whatever they are worth, at least 1."""
    extra: int
    """Most further plays, 0 or more ..."""
    within: float
    """... which must be at most this much equity behind the best, 0 or more."""

    def __post_init__(self) -> None:
        if self.accept < 1 or self.extra < 0 or not self.within >= 0:
            raise ValueError(
                "filter: accept at least 1, extra and within at least 0 expected, got "
                f"{self.accept}, {self.extra}, {self.within}"
            )

    def kept(self, equities: NDArray[np.floating]) -> NDArray[np.int64]:
        """Indices of the plays that go on, rising; equities [A]. The first of equal plays is better."""
        order = np.argsort(-equities, kind="stable")[: self.accept + self.extra]
        close = equities[order] >= equities[order[0]] - np.float32(self.within)
        close[: self.accept] = True
        return np.sort(order[close])


_EVERY = MoveFilter(1, 1_000_000, np.inf)

FILTERS: Mapping[str, tuple[MoveFilter, ...]] = {
    "narrow": (MoveFilter(1, 4, 0.10), MoveFilter(1, 1, 0.03), MoveFilter(1, 1, 0.02), _EVERY),
    "normal": (MoveFilter(1, 7, 0.16), MoveFilter(1, 2, 0.06), MoveFilter(1, 1, 0.02), _EVERY),
    "wide": (MoveFilter(1, 15, 0.32), MoveFilter(1, 7, 0.16), MoveFilter(1, 3, 0.08), _EVERY),
    "full": (_EVERY, _EVERY, _EVERY, _EVERY),
}
"""By name: what goes on from 0-ply to 1-ply, from 1-ply to 2-ply, and so on. `full`: every play."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How far and how widely to look."""

    ply: int = 0
    """Rolls looked ahead, 0 to 4."""
    filter: str = "normal"
    """A name in `FILTERS`."""
    threads: int = 1
    """Cores that one call uses, 1 to 256; results do not depend on it."""

    def __post_init__(self) -> None:
        if not 0 <= self.ply <= MOST_PLIES:
            raise ValueError(f"ply: 0 to {MOST_PLIES} expected, got {self.ply}")
        if self.filter not in FILTERS:
            raise ValueError(f"filter: one of {', '.join(FILTERS)} expected, got {self.filter!r}")
        if not 1 <= self.threads <= MOST_THREADS:
            raise ValueError(f"threads: 1 to {MOST_THREADS} expected, got {self.threads}")


LEVELS: Mapping[str, SearchSettings] = {
    "fast": SearchSettings(ply=0),
    "normal": SearchSettings(ply=1),
    "strong": SearchSettings(ply=2),
    "deep": SearchSettings(ply=3),
    "rollout": SearchSettings(ply=1),
}
"""Presets by name. `deep` looks 3 plies ahead where the plays are nearly tied at 2; `rollout` rolls out
those that are close at 1, see `decide.rolling`."""


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """An `Evaluator` that looks ahead with another one, and the choice of plays with it."""

    evaluator: NetworkEvaluator
    settings: SearchSettings

    def __post_init__(self) -> None:
        if self.evaluator.rules.caucasian and self.settings.ply:
            raise ValueError(
                f"ply: the Caucasian rule is played at 0-ply only, got {self.settings.ply}"
            )

    @property
    def rules(self) -> GameRules:
        return self.evaluator.rules

    @property
    def values(self) -> NDArray[np.float32]:
        """Points of each outcome, float32 [6]."""
        return self.evaluator.values

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """Chances of the six outcomes, float32 [B, 6], player on roll, before the roll, at the ply of
        the settings. Games over and, given tables, races are valued as they stand. ValueError as
        `checked_boards`."""
        return self._at_ply(checked_boards(boards), self.settings.ply)

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless equity in points, float32 [B], of the player on roll."""
        return self.probabilities(boards) @ self.values

    def worths(self, boards: ArrayLike, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        """Worths of all cube states, float64 [B, L, 3], as `NetworkEvaluator.worths` has them, the cube
        followed through the rolls looked ahead: before each the side on roll doubles where that gains.
        Replies are chosen by the points of the outcomes with the cube as it is. ValueError as
        `checked_boards`."""
        checked = checked_boards(boards)
        if self.settings.ply == 0:
            return self.evaluator.worths(checked, table, side)
        settled = self._settled(checked, table)
        found = np.empty((len(checked), table.cash.shape[1], 3), np.float64)
        if settled.any():
            found[settled] = self.evaluator.worths(checked[settled], table, side)
        if not settled.all():
            values = np.ascontiguousarray(table.outcomes[:, 0], np.float32)
            _, found[~settled] = self._ahead(checked[~settled], self.settings.ply, values, table, side)
        return found

    def choose(self, boards: ArrayLike, rolls: ArrayLike) -> Boards:
        """The afterstate [B, 26] of the best play of each roll [B, 2], seen by the opponent.

        A play that no other one is compared with any more is not looked into further. ValueError as
        `checked_boards` and `checked_rolls`.
        """
        if self.settings.ply == 0:
            return self.evaluator.choose(boards, rolls)
        boards = checked_boards(boards)
        rows, offsets = afterstates(boards, checked_rolls(rolls, len(boards)))
        equities = -self.evaluator.equity(rows)
        left = [np.arange(offsets[b], offsets[b + 1]) for b in range(len(boards))]
        for ply, moves in enumerate(FILTERS[self.settings.filter][: self.settings.ply], start=1):
            left = [plays[moves.kept(equities[plays])] if len(plays) > 1 else plays for plays in left]
            deeper = _joined([plays for plays in left if len(plays) > 1])
            equities[deeper] = -self._at_ply(rows[deeper], ply) @ self.values
        return rows[[plays[np.argmax(equities[plays])] for plays in left]]

    def rank(self, board: ArrayLike, roll: ArrayLike) -> RankedPlays:
        """Every play of one roll with the ply it was looked at with; at least the first at the ply of
        the settings. ValueError as `choose`."""
        rows, _ = afterstates(board, roll, self.rules)
        probabilities = self.evaluator.probabilities(rows)
        equities = -(probabilities @ self.values)
        plies = np.zeros(len(rows), np.int64)
        left = np.arange(len(rows))
        for ply, moves in enumerate(FILTERS[self.settings.filter][: self.settings.ply], start=1):
            left = left[moves.kept(equities[left])]
            probabilities[left] = self._at_ply(rows[left], ply)
            equities[left] = -(probabilities[left] @ self.values)
            plies[left] = ply
        order = np.lexsort((-equities, -plies))
        return RankedPlays(rows[order], probabilities[order], equities[order], plies[order])

    def at_ply(self, ply: int) -> Searcher:
        """The same search to another depth."""
        return replace(self, settings=replace(self.settings, ply=ply))

    def _at_ply(self, boards: Boards, ply: int) -> Probabilities:
        """Chances [B, 6] at a ply."""
        if ply == 0:
            return self.evaluator.probabilities(boards)
        settled = self._settled(boards, _NO_CUBE)
        found = np.empty((len(boards), NUM_OUTCOMES), np.float32)
        if settled.any():
            found[settled] = self.evaluator.probabilities(boards[settled])
        if not settled.all():
            values = np.stack([self.values, self.values])
            found[~settled], _ = self._ahead(boards[~settled], ply, values, _NO_CUBE)
        return found

    def _settled(self, boards: Boards, table: CubeTable) -> NDArray[np.bool_]:
        settled = np.empty(len(boards), np.bool_)
        kernel.fill_settled(boards, self.evaluator.network, table, settled)
        return settled

    def _ahead(
        self,
        boards: Boards,
        ply: int,
        values: NDArray[np.float32],
        table: CubeTable,
        side: int = 0,
    ) -> tuple[Probabilities, NDArray[np.float64]]:
        """Chances [B, 6] and cube worths [B, L, 3] at a ply of 1 or more of boards not settled.

        A thread takes pairs of board and roll, and then replies, so that a single board can keep many
        busy; what it works out does not depend on how they are shared.
        """
        network, num_levels = self.evaluator.network, table.cash.shape[1]
        shape = len(boards), len(ROLLS)
        replies = np.empty((*shape, 26), np.int8)
        statics = np.empty((*shape, NUM_OUTCOMES), np.float32)
        before, rolls = np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1))
        after, seen = replies.reshape(-1, 26), statics.reshape(-1, NUM_OUTCOMES)

        def reply(first: int, last: int) -> None:
            part = slice(first, last)
            selfplay.choose_near_races(
                before[part], rolls[part], network, values[1 - side], after[part], seen[part]
            )

        self._share(reply, len(before), _BLOCK[1])
        weights = np.empty(shape, np.float64)
        kernel.merge_batch(replies, ROLL_WEIGHTS, weights)
        is_first = weights > 0
        rows, static_rows = replies[is_first], statics[is_first]
        chances = np.empty((len(rows), NUM_OUTCOMES), np.float64)
        worths = np.empty((len(rows), num_levels, 3), np.float64)

        def value(first: int, last: int) -> None:
            kernel.fill_values(
                rows,
                static_rows,
                first,
                last,
                ply - 1,
                ROLLS,
                ROLL_WEIGHTS,
                network,
                values,
                table,
                1 - side,
                chances,
                worths,
            )

        self._share(value, len(rows), _BLOCK[ply])
        found = np.empty((len(boards), NUM_OUTCOMES), np.float32)
        found_worths = np.empty((len(boards), num_levels, 3), np.float64)
        first_rows = np.concatenate([[0], np.cumsum(is_first.sum(axis=1))])
        kernel.fill_means(
            first_rows, weights[is_first], chances, worths, table, side, found, found_worths
        )
        return found, found_worths

    def _share(self, work: Callable[[int, int], None], num: int, size: int) -> None:
        """Have `work(first, last)` done for 0 .. num - 1, `size` at a time, by the threads."""
        todo = deque(range(0, num, size))

        def take() -> None:
            while True:
                try:
                    first = todo.popleft()
                except IndexError:
                    return
                work(first, min(first + size, num))

        num_helpers = min(self.settings.threads, len(todo)) - 1
        if num_helpers < 1:
            take()
            return
        with ThreadPoolExecutor(num_helpers) as pool:
            helpers = [pool.submit(take) for _ in range(num_helpers)]
            take()
            for helper in helpers:
                helper.result()


def search(
    board: ArrayLike,
    roll: ArrayLike,
    ply: int = 2,
    *,
    evaluator: NetworkEvaluator | None = None,
    filter: str = "normal",
    threads: int = 1,
) -> RankedPlays:
    """The plays of a roll, ranked by looking `ply` rolls ahead (0 to 4), best first.

    board [26] is seen by the player on roll. `evaluator` is what `tdgammon.load` gives, None = the
    shipped checkpoint. The filter (`narrow`, `normal`, `wide`, `full`) says which plays are looked
    into; each play says its ply. ValueError for settings out of range, and as `checked_boards` and
    `checked_rolls`. A `Searcher` does the same for batches.
    """
    settings = SearchSettings(ply=ply, filter=filter, threads=threads)
    if evaluator is None:
        from tdgammon.value.checkpoint import load_evaluator

        evaluator = load_evaluator()
    return Searcher(evaluator=evaluator, settings=settings).rank(board, roll)


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
