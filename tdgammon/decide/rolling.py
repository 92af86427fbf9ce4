"""The player that settles close choices of plays by short rollouts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tdgammon.decide import cubeful_plays
from tdgammon.decide.bots import NetworkBot
from tdgammon.decide.cubeful import is_plain
from tdgammon.decide.rollout import Rival, Rollout, RolloutSettings, check_rules
from tdgammon.decide.search import Searcher
from tdgammon.game.board import Boards, checked_boards, checked_rolls
from tdgammon.game.stakes import Stakes

SETTINGS = RolloutSettings(trials=216, truncate=7, min_trials=72, stop_jsd=2.5)
"""A third of a second for two plays: seven rolls of the network without look-ahead."""

MOST_PLAYS = 4
WITHIN = 0.08
"""Equity by which a play may seem worse than the best and still be rolled out."""


@dataclass(frozen=True, eq=False)
class RollingBot(NetworkBot):
    """Looks ahead, rolls out the plays that are close, and plays the best; turns the cube by search."""

    def __post_init__(self) -> None:
        """Raises ValueError for rules and settings that rollouts do not know."""
        check_rules(self.evaluator.rules)
        if self.met is not None and not self.is_dead_cube:
            raise ValueError("met: rollouts with the cube go by the default match table")

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        checked = checked_boards(boards)
        dice = checked_rolls(rolls, len(checked))
        chosen = np.empty_like(checked)
        for i in range(len(checked)):
            chosen[i] = self._choose(checked[i], dice[i], None if stakes is None else _one(stakes, i))
        return chosen

    def _choose(self, board: Boards, roll: ArrayLike, stakes: Stakes | None) -> Boards:
        evaluator = self.evaluator
        assert isinstance(evaluator, Searcher)
        with_cube = not (stakes is None or self.is_dead_cube or is_plain(stakes))
        if stakes is not None and with_cube:
            cubeful = cubeful_plays.rank(evaluator, board, roll, stakes, self.met)
            rows, equities, plies = cubeful.rows, cubeful.equities, cubeful.plies
        else:
            ranked = evaluator.rank(board, roll)
            rows, equities, plies = ranked.rows, ranked.equities.astype(np.float64), ranked.plies
        close = (equities >= equities[0] - WITHIN) & (plies == plies[0])
        rows = rows[close][:MOST_PLAYS]
        if len(rows) == 1:
            return rows[0]
        rivals = tuple(Rival(name=str(i), board=tuple(row.tolist())) for i, row in enumerate(rows))
        rollout = Rollout(
            evaluator.evaluator, rivals, SETTINGS, stakes if with_cube else None, of_plays=True
        )
        return rows[int(np.argmax([estimate.equity for estimate in rollout.run()]))]


def _one(stakes: Stakes, i: int) -> Stakes:
    """The stakes of game i alone."""
    return Stakes(
        rules=stakes.rules,
        cube_values=stakes.cube_values[i : i + 1],
        cube_owners=stakes.cube_owners[i : i + 1],
        away=stakes.away[i : i + 1],
        is_crawford=stakes.is_crawford[i : i + 1],
        is_post_crawford=stakes.is_post_crawford[i : i + 1],
    )
