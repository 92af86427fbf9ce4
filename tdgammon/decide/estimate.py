"""What the trials of a rollout say: means, and their standard errors with stratified dice."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Rolls
from tdgammon.game.dice import BLOCK

NORMAL_95 = 1.96
"""Half the width of a 95 % interval in standard errors."""

_FEW = 12 * BLOCK  # trials below which a fit of 72 effects costs more certainty than it gains


def means_and_errors(
    rows: NDArray[np.float64], opening: Rolls
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of each column of rows [N, K] and its standard error, [K] each; NaN for one trial.

    opening int8 [N, 2, 2] are the trials' first two rolls. Every roll comes equally often, so what a
    first and a second roll are worth by themselves does not move the mean: a least-squares fit of the
    two is taken out of the variance. Below twelve blocks of trials it is left in.
    """
    num_trials = len(rows)
    means = rows.mean(axis=0)
    if num_trials < 2:
        return means, np.full(rows.shape[1], math.nan)
    centred = rows - means
    squares = (centred**2).sum(axis=0)
    freedom = num_trials - 1
    if num_trials >= _FEW:
        dice = opening.astype(np.int64) - 1
        first, second = (6 * dice[:, turn, 0] + dice[:, turn, 1] for turn in (0, 1))
        sums = np.array(
            [
                np.concatenate([np.bincount(roll, column, BLOCK) for roll in (first, second)])
                for column in centred.T
            ]
        ).T
        pairs = np.bincount(BLOCK * first + second, minlength=BLOCK**2).reshape(BLOCK, BLOCK)
        counts = np.block([[np.diag(pairs.sum(axis=1)), pairs], [pairs.T, np.diag(pairs.sum(axis=0))]])
        effects, _, rank, _ = np.linalg.lstsq(counts.astype(np.float64), sums, rcond=1e-9)
        squares = np.maximum(squares - (effects * sums).sum(axis=0), 0)
        freedom = num_trials - int(rank)
    return means, np.sqrt(squares / freedom / num_trials)
