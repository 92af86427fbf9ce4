"""What a position is taught to be worth: λ-returns of self-play games."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdgammon.kernels import returns as kernel


def lambda_returns(
    probabilities: NDArray[np.float32], lengths: NDArray[np.int32], lambda_: float
) -> NDArray[np.float32]:
    """λ-return [N, 6] of every position of finished games, each seen by its player on roll.

    probabilities [N, 6]: the network's at each turn and the exact outcome in a game's last row; the
    first row of a game is not used. lengths [G] sum to N. ValueError for λ outside 0..1.
    Source: Sutton and Barto, Reinforcement Learning, chapter 12, with the side changing at each turn.
    """
    _check(probabilities, lengths, lambda_)
    targets = np.empty_like(probabilities)
    kernel.lambda_returns(probabilities, lengths, lambda_, targets)
    return targets


def luck_free_returns(
    expected: NDArray[np.float32],
    probabilities: NDArray[np.float32],
    lengths: NDArray[np.int32],
    lambda_: float,
) -> NDArray[np.float32]:
    """`lambda_returns` less the luck of every roll: their mean is the same and their spread a fraction.

    expected [N, 6]: chances one roll on, by the same network (`targets.exact_targets`); a final row's
    is not used. λ = 0 gives `expected`. A single target may be a little below 0 or above 1.
    ValueError as `lambda_returns`.
    Source: the dice as control variates, as rollouts use them, in the forward view of TD(λ).
    """
    _check(probabilities, lengths, lambda_)
    targets = np.empty_like(probabilities)
    kernel.luck_free_returns(expected, probabilities, lengths, lambda_, targets)
    return targets


def _check(probabilities: NDArray[np.float32], lengths: NDArray[np.int32], lambda_: float) -> None:
    if not 0 <= lambda_ <= 1:
        raise ValueError(f"lambda_: must be 0 to 1, got {lambda_}")
    if lengths.sum() != len(probabilities):
        raise ValueError(f"lengths: sum to {lengths.sum()}, but there are {len(probabilities)} rows")
