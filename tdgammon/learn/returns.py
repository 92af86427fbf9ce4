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
    if not 0 <= lambda_ <= 1:
        raise ValueError(f"lambda_: must be 0 to 1, got {lambda_}")
    if lengths.sum() != len(probabilities):
        raise ValueError(f"lengths: sum to {lengths.sum()}, but there are {len(probabilities)} rows")
    targets = np.empty_like(probabilities)
    kernel.lambda_returns(probabilities, lengths, lambda_, targets)
    return targets
