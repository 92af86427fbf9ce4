"""Evaluates positions and chooses plays with a network's tables; no torch."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, checked_boards, checked_rolls
from tdgammon.game.moves import afterstates
from tdgammon.kernels import forward, selfplay
from tdgammon.value.outcome import NUM_OUTCOMES, VALUES
from tdgammon.value.tables import Architecture, Weights, play_network

Probabilities = NDArray[np.float32]


class Evaluator(Protocol):
    """Anything that gives the chances of the six outcomes."""

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """float32 [B, 6]: chances of the player on roll, before the roll."""
        ...


class NetworkEvaluator:
    """A network behind the `Evaluator` protocol, and the greedy (0-ply) choice of plays."""

    def __init__(self, architecture: Architecture, weights: Weights) -> None:
        self.architecture = architecture
        self.network: forward.Network = play_network(architecture, weights)
        """What the kernels take."""

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """Chances of the six outcomes, float32 [B, 6], for boards [B, 26] or [26] with the player on
        roll before the roll. Exact where the game is over. ValueError as `checked_boards`."""
        checked = checked_boards(boards)
        result = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        forward.evaluate_batch(checked, self.network, result)
        return result

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless equity in points, float32 [B], of the player on roll."""
        return self.probabilities(boards) @ VALUES

    def choose(self, boards: ArrayLike, rolls: ArrayLike) -> Boards:
        """The afterstate [B, 26] of the best play of each roll [B, 2], seen by the opponent.

        ValueError as `checked_boards` and `checked_rolls`.
        """
        checked = checked_boards(boards)
        checked_dice = checked_rolls(rolls, len(checked))
        chosen = np.empty_like(checked)
        seen = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        selfplay.choose_batch(checked, checked_dice, self.network, VALUES, chosen, seen)
        return chosen

    def rank(
        self, board: ArrayLike, roll: ArrayLike
    ) -> tuple[Boards, Probabilities, NDArray[np.float32]]:
        """Every afterstate [A, 26] of one roll, its probabilities [A, 6] as the opponent sees them,
        and its equity [A] for the player; in the order of `afterstates`."""
        rows, _ = afterstates(board, roll)
        seen = self.probabilities(rows)
        return rows, seen, -(seen @ VALUES)
