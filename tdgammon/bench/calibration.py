"""Calibration: how often a player wins the games in which its network gives it so much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tdgammon.learn.diagnostics import final_outcomes
from tdgammon.learn.selfplay import begin, in_blocks, join, play_block
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import to_nested

NUM_BINS = 20
MAX_TURNS = 2000


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Chances of winning in bins of 1 / NUM_BINS, each of all positions that fall into it."""

    predicted: NDArray[np.float64]
    """Mean chance in each bin, [NUM_BINS]; NaN in an empty one."""
    came: NDArray[np.float64]
    """Share that was won, [NUM_BINS]; what tables say of a race counts as won in part."""
    positions: NDArray[np.int64]
    """[NUM_BINS]."""
    games: int

    @property
    def error(self) -> float:
        """Mean distance of the two, weighted by positions."""
        used = self.positions > 0
        apart = np.abs(self.predicted - self.came)[used]
        return float(np.average(apart, weights=self.positions[used]))


def calibration(evaluator: NetworkEvaluator, num_games: int, seed: int = 1) -> Calibration:
    """Of games against itself from the start; every position counts, so those of a game go together.

    ValueError unless num_games is positive.
    """
    if num_games < 1:
        raise ValueError(f"games: must be at least 1, got {num_games}")
    begun = begin(evaluator.rules, seed, num_games)
    games = join(play_block(evaluator, block, MAX_TURNS) for block in in_blocks(begun))
    use = games.goes_on
    chances = to_nested(evaluator.probabilities(games.boards[use]))[:, 0].astype(np.float64)
    won = to_nested(final_outcomes(games)[use])[:, 0].astype(np.float64)
    return binned(chances, won, games.num_games)


def binned(chances: NDArray[np.float64], won: NDArray[np.float64], num_games: int) -> Calibration:
    """Of chances [N] and what came of them [N], 0 to 1."""
    bins = np.minimum((chances * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    positions = np.bincount(bins, minlength=NUM_BINS)
    with np.errstate(invalid="ignore"):
        predicted, came = (np.bincount(bins, x, NUM_BINS) / positions for x in (chances, won))
    return Calibration(predicted=predicted, came=came, positions=positions, games=num_games)
