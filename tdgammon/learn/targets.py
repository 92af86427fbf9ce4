"""Exact targets: the value of a position one roll on, over all 21 rolls and the best reply to each.

A target from a game's own next position has the luck of one roll in it. One without is worth about
1 + (luck SD / Bellman residual)^2 of those and costs about 20: luck is cheaper early on, not late.
Source: variance of the mean of n independent targets with luck, against the bias that both have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, checked_boards, has_contact
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS
from tdgammon.game.moves import afterstates
from tdgammon.kernels import selfplay
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import NUM_OUTCOMES

NEAR = 0.12
"""Points within which a play is a rival of the best: what a roll of look-ahead seldom turns round."""


def exact_targets(
    evaluator: NetworkEvaluator, boards: ArrayLike
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Chances float32 [B, 6] of the player on roll, one roll on, and the luck SD [B] of that roll.

    boards [B, 26] of games that are not over. The luck SD is that of the equity over the 21 rolls,
    in points. ValueError as `checked_boards`, and for rules of other movement.
    """
    if evaluator.rules.caucasian:
        raise ValueError("exact targets: not for rules with Caucasian hits")
    checked = checked_boards(boards)
    targets = np.empty((len(checked), NUM_OUTCOMES), np.float32)
    luck_sds = np.empty(len(checked), np.float32)
    selfplay.one_roll(
        checked, ROLLS, ROLL_WEIGHTS, evaluator.network, evaluator.values, targets, luck_sds
    )
    return targets, luck_sds


def rivals(evaluator: NetworkEvaluator, boards: ArrayLike, generator: np.random.Generator) -> Boards:
    """Boards [N, 26] that a good play of a random roll of each board [B, 26] would leave, N <= B.

    One at random of the plays within `NEAR` of the best. Self-play meets only the best by its own
    judgement, so that a play it undervalues is never put right. What ends the game is left out, and
    with bear-off tables what leaves a race. ValueError as `checked_boards`.
    """
    checked = checked_boards(boards)
    rolls = generator.integers(1, 7, (len(checked), 2)).astype(np.int8)
    rows, offsets = afterstates(checked, rolls, evaluator.rules)
    equities = -evaluator.equity(rows)
    best = np.repeat(np.maximum.reduceat(equities, offsets[:-1]), np.diff(offsets))
    fits = (equities >= best - NEAR) & (rows < 0).any(axis=1)
    if evaluator.knows_races:
        fits &= has_contact(rows)
    lots = generator.random(len(rows)) * fits
    drawn = np.repeat(np.maximum.reduceat(lots, offsets[:-1]), np.diff(offsets))
    return rows[(lots == drawn) & (lots > 0)]


def worth(luck_sd: float, residual: float) -> float:
    """How many targets with the luck of a roll one exact target is worth (see the module)."""
    return 1 + (luck_sd / max(residual, 1e-9)) ** 2
