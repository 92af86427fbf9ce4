"""Evaluates positions and chooses plays with a network's tables; no torch."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, Offsets, checked_boards, checked_rolls
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD, GameRules
from tdgammon.kernels import forward, selfplay
from tdgammon.value.bearoff import BearoffTables
from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.tables import Architecture, Weights, play_network

Probabilities = NDArray[np.float32]


class Evaluator(Protocol):
    """Anything that gives the chances of the six outcomes."""

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """float32 [B, 6]: chances of the player on roll, before the roll."""
        ...


class NetworkEvaluator:
    """A network behind the `Evaluator` protocol, and the greedy (0-ply) choice of plays."""

    def __init__(
        self,
        architecture: Architecture,
        weights: Weights,
        rules: GameRules | None = None,
        bearoff: BearoffTables | None = None,
    ) -> None:
        """Plays by `rules` (None = standard); ValueError if they are of another number of checkers.
        Races are answered from the tables of `bearoff` (None = by the network like the rest)."""
        self.rules = STANDARD if rules is None else rules
        if self.rules.num_checkers != architecture.num_checkers and rules is not None:
            raise ValueError(
                f"rules with {self.rules.num_checkers} checkers a side for a network of games with "
                f"{architecture.num_checkers}"
            )
        self.architecture = architecture
        self.values = self.rules.outcome_values
        """Points of each outcome, float32 [6]."""
        self.network: forward.Network = play_network(architecture, weights, bearoff)
        """What the kernels take."""

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """Chances of the six outcomes, float32 [B, 6], for boards [B, 26] or [26] with the player on
        roll before the roll. Exact where the game is over, and as `BearoffTables` has it in races
        if there are tables. ValueError as `checked_boards`."""
        checked = checked_boards(boards)
        result = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        forward.evaluate_batch(checked, self.network, result)
        return result

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless equity in points, float32 [B], of the player on roll."""
        return self.probabilities(boards) @ self.values

    def choose(self, boards: ArrayLike, rolls: ArrayLike) -> Boards:
        """The afterstate [B, 26] of the best play of each roll [B, 2], seen by the opponent.

        ValueError as `checked_boards` and `checked_rolls`.
        """
        checked = checked_boards(boards)
        checked_dice = checked_rolls(rolls, len(checked))
        if self.rules.caucasian:
            rows, offsets = afterstates(checked, checked_dice, self.rules)
            return rows[_first_lowest(self.equity(rows), offsets)]
        chosen = np.empty_like(checked)
        seen = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        selfplay.choose_batch(checked, checked_dice, self.network, self.values, chosen, seen)
        return chosen

    def rank(
        self, board: ArrayLike, roll: ArrayLike
    ) -> tuple[Boards, Probabilities, NDArray[np.float32]]:
        """Every afterstate [A, 26] of one roll, its probabilities [A, 6] as the opponent sees them,
        and its equity [A] for the player; in the order of `afterstates`."""
        rows, _ = afterstates(board, roll, self.rules)
        seen = self.probabilities(rows)
        return rows, seen, -(seen @ self.values)


def _first_lowest(equities: NDArray[np.float32], offsets: Offsets) -> NDArray[np.int64]:
    """Index of the first lowest equity [A] of each group: [B]."""
    lowest = np.repeat(np.minimum.reduceat(equities, offsets[:-1]), np.diff(offsets))
    ranks = np.where(equities == lowest, np.arange(len(equities)), len(equities))
    return np.minimum.reduceat(ranks, offsets[:-1])
