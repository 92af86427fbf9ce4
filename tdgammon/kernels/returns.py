"""λ-returns of whole games by the forward view."""

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def lambda_returns(probabilities, lengths, lambda_, targets):
    """Targets float32 [N, 6] of the rows of finished games laid end to end.

    A game of n rows ends with its final position, whose row of `probabilities` is exact; the
    target of an earlier row t is reverse((1 - λ) V[t + 1] + λ G[t + 1]), G of the final row being
    its V. The reversal changes sides. The final row's target is that exact V.
    """
    keep = np.float32(1 - lambda_)
    lam = np.float32(lambda_)
    start = 0
    for length in lengths:
        last = start + length - 1
        for k in range(6):
            targets[last, k] = probabilities[last, k]
        for t in range(last - 1, start - 1, -1):
            for k in range(6):
                targets[t, k] = keep * probabilities[t + 1, 5 - k] + lam * targets[t + 1, 5 - k]
        start += length


@nb.njit(cache=True, nogil=True)
def luck_free_returns(expected, probabilities, lengths, lambda_, targets):
    """As `lambda_returns` with the luck of rolls taken off; expected [N, 6] is E, the mean over rolls.

    The target of row t is E[t] + λ reverse(G[t + 1] - V[t + 1]): V[t + 1] is E[t] with the luck of a
    roll.
    """
    lam = np.float32(lambda_)
    start = 0
    for length in lengths:
        last = start + length - 1
        for k in range(6):
            targets[last, k] = probabilities[last, k]
        for t in range(last - 1, start - 1, -1):
            for k in range(6):
                found = targets[t + 1, 5 - k] - probabilities[t + 1, 5 - k]
                targets[t, k] = expected[t, k] + lam * found
        start += length
