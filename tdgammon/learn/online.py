"""Tesauro's online TD(λ): eligibility traces, one gradient step a turn, in plain numpy.

A readable module for those who learn the method; `learning.py` trains a hundred times faster.

With V(s) the six outcome probabilities of the player on roll, J(s) their gradients and R the
reversal of outcomes that goes with a change of sides, turn t does

    e <- λ R(e) + J(s_t)
    δ  = R(V(s_t+1)) - V(s_t)          (R of the exact outcome when the game is over)
    w <- w + α Σ_k δ_k e_k

Source: G. Tesauro, Practical issues in temporal difference learning, Machine Learning 8 (1992).
With weights that stand still the steps of a game add up to Σ_t J(s_t) (G_t - V(s_t)), G being the
λ-returns of `returns.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Boards, points_won
from tdgammon.game.dice import rolls_at
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD, GameRules
from tdgammon.value.features import Encoder
from tdgammon.value.outcome import NUM_OUTCOMES, impossible_outcomes, outcome_of, reverse
from tdgammon.value.tables import Architecture, Weights, check_weights

Floats = NDArray[np.float32]


class OnlineLearner:
    """A network of one hidden layer that learns while it plays."""

    def __init__(
        self, architecture: Architecture, weights: Weights, rules: GameRules = STANDARD
    ) -> None:
        if len(architecture.hidden) != 1:
            raise ValueError(f"network.hidden: one layer expected, got {architecture.hidden}")
        check_weights(architecture, weights)
        self.architecture = architecture
        self.encoder = Encoder(architecture.encoding, architecture.num_checkers)
        self.rules = rules
        self._weights = {name: value.copy() for name, value in weights.items()}

    def weights(self) -> dict[str, Floats]:
        """Copies of the weights by name."""
        return {name: value.copy() for name, value in self._weights.items()}

    def values(self, boards: Boards) -> Floats:
        """V of boards [B, 26]: float32 [B, 6], exact where the game is over."""
        probabilities = self._forward(self.encoder.encode(boards), boards)[1]
        points = points_won(boards, self.architecture.num_checkers)
        over = points != 0
        probabilities[over] = np.eye(NUM_OUTCOMES, dtype=np.float32)[outcome_of(points[over])]
        return probabilities

    def gradients(self, board: Boards) -> dict[str, Floats]:
        """J of one board [26]: for each weight, its shape with an axis of six outcomes in front."""
        inputs = self.encoder.encode(board[None])
        hidden, probabilities = self._forward(inputs, board[None])
        h, p = hidden[0], probabilities[0]
        logit_gradients = np.diag(p) - np.outer(p, p)  # of outcome k (row) to logit j
        slope = h * (1 - h) if self.architecture.activation == "sigmoid" else (h > 0).astype(np.float32)
        hidden_gradients = (logit_gradients @ self._weights["output.weight"]) * slope
        return {
            "inputs.weight": inputs[0][:, None] * hidden_gradients[:, None, :],
            "inputs.bias": hidden_gradients,
            "output.weight": logit_gradients[:, :, None] * h,
            "output.bias": logit_gradients,
        }

    @np.errstate(over="ignore", invalid="ignore")  # whoever trains looks at the weights afterwards
    def play_game(self, key: np.uint64, lambda_: float, rate: float, max_turns: int) -> Boards | None:
        """Play one game on a dice stream, learning at each turn.

        Gives its boards [N, 26], the final position last, or None if it is broken off after
        max_turns (what it taught stays).
        """
        traces = self.no_traces()
        keys = np.array([key], np.uint64)
        board = self.rules.start_board
        boards = [board]
        for turn in range(max_turns):
            rows, _ = afterstates(board, rolls_at(keys, turn), self.rules)
            after = rows[(self.values(rows) @ self.rules.outcome_values).argmin()]
            for name, step in self.step(board, after, traces, lambda_).items():
                self._weights[name] += np.float32(rate) * step
            board = after
            boards.append(board)
            if points_won(board[None], self.architecture.num_checkers)[0]:
                return np.stack(boards)
        return None

    def no_traces(self) -> dict[str, Floats]:
        """The traces e before a game: for each weight, its shape with an axis of six in front."""
        return {
            name: np.zeros((NUM_OUTCOMES, *w.shape), np.float32) for name, w in self._weights.items()
        }

    def step(
        self, board: Boards, after: Boards, traces: dict[str, Floats], lambda_: float
    ) -> dict[str, Floats]:
        """Σ_k δ_k e_k of the turn from `board` to the afterstate `after`, for each weight.

        Takes the traces on by that turn and leaves the weights as they are.
        """
        for name, gradient in self.gradients(board).items():
            traces[name] = lambda_ * traces[name][::-1] + gradient
        before_and_after = self.values(np.stack([board, after]))
        error = reverse(before_and_after[1]) - before_and_after[0]
        return {name: np.tensordot(error, trace, 1) for name, trace in traces.items()}

    def state(self) -> dict[str, NDArray[Any]]:
        """All that `load_state` needs, by name."""
        return {f"weights.{name}": value for name, value in self.weights().items()}

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up `state`."""
        self._weights = {name: arrays[f"weights.{name}"].copy() for name in self._weights}

    def _forward(self, inputs: Floats, boards: Boards) -> tuple[Floats, Floats]:
        """Hidden units [B, H] and probabilities [B, 6]."""
        sums = inputs @ self._weights["inputs.weight"] + self._weights["inputs.bias"]
        sigmoid = self.architecture.activation == "sigmoid"
        hidden = 1 / (1 + np.exp(-sums)) if sigmoid else np.maximum(sums, 0)
        logits = hidden @ self._weights["output.weight"].T + self._weights["output.bias"]
        logits[impossible_outcomes(boards, self.architecture.num_checkers)] = -np.inf
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return hidden, powers / powers.sum(axis=1, keepdims=True)
