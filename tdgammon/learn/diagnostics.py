"""Figures that show whether learning works: loss, calibration, residual, luck, known positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS, parse
from tdgammon.learn.selfplay import Games
from tdgammon.learn.targets import exact_targets, worth
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import reverse

HEADS = ("win_backgammon", "win_gammon", "win_single", "lose_single", "lose_gammon", "lose_backgammon")

REFERENCE_POSITIONS = {
    "start": "start",
    "sure_win": "1:1 / 19:3 20:3 21:3 22:2 23:2 24:2",
    "sure_loss": "6:3 5:3 4:3 3:2 2:2 1:2 / 24:1",
    "even_race": "6:3 5:3 4:3 3:3 2:3 / 19:3 20:3 21:3 22:3 23:3",
    "closed_out": "6:2 5:2 4:2 3:2 2:2 1:2 7:1 8:1 9:1 / bar:1 19:5 20:5 21:4",
}
"""Positions whose equity is logged; by name."""

_SAMPLE = 256
_BINS = 10


def final_outcomes(games: Games) -> NDArray[np.float32]:
    """For every row, the exact outcome of its game seen by the row's player on roll: [N, 6]."""
    last = np.repeat(games.last_rows, games.lengths)
    outcomes = games.probabilities[last]
    other_side = (last - np.arange(len(games.boards))) % 2 == 1
    outcomes[other_side] = reverse(outcomes[other_side])
    return outcomes


def calibration(games: Games) -> dict[str, float]:
    """For each head, the mean distance between its chance and what came of it, over ten bins of the
    chance weighted by their positions. A game's first and last rows are left out."""
    use = games.goes_on
    use[games.last_rows - games.lengths + 1] = False
    predicted, came = games.probabilities[use], final_outcomes(games)[use]
    errors = {}
    for head, name in enumerate(HEADS):
        bins = np.minimum((predicted[:, head] * _BINS).astype(np.int64), _BINS - 1)
        gaps = np.bincount(bins, predicted[:, head] - came[:, head], _BINS)
        errors[name] = float(np.abs(gaps).sum() / max(1, len(predicted)))
    return errors


def cross_entropies(
    targets: NDArray[np.float32], probabilities: NDArray[np.float32]
) -> dict[str, float]:
    """Each head's share of the cross-entropy of targets [N, 6] under probabilities [N, 6]."""
    terms = -(targets * np.log(np.maximum(probabilities, 1e-12))).mean(axis=0)
    return {name: float(term) for name, term in zip(HEADS, terms, strict=True)}


def one_roll_figures(
    evaluator: NetworkEvaluator, games: Games, generator: np.random.Generator
) -> dict[str, float]:
    """On a sample of positions: `bellman_residual`, the RMS distance between the equity of a
    position and its mean over all 21 rolls played best, and `luck_sd`, the RMS of the SD of the
    equity over rolls, and `exact_worth`, how many targets with luck one without is worth. Nothing for
    rules of other movement."""
    if evaluator.rules.caucasian:
        return {}
    use = games.goes_on
    boards = games.boards[generator.choice(np.flatnonzero(use), _SAMPLE)]
    expected, sds = exact_targets(evaluator, boards)
    residuals = expected @ evaluator.values - evaluator.equity(boards)
    residual, luck_sd = (float(np.sqrt((x**2).mean())) for x in (residuals, sds))
    return {
        "bellman_residual": residual,
        "luck_sd": luck_sd,
        "exact_worth": worth(luck_sd, residual),
    }


def reference_equities(evaluator: NetworkEvaluator) -> dict[str, float]:
    """Equity of each of `REFERENCE_POSITIONS`; of the start alone in a game with fewer checkers."""
    if evaluator.rules.num_checkers != NUM_CHECKERS:
        return {"start": float(evaluator.equity(evaluator.rules.start_board)[0])}
    boards = np.stack([parse(words) for words in REFERENCE_POSITIONS.values()])
    return dict(zip(REFERENCE_POSITIONS, map(float, evaluator.equity(boards)), strict=True))
