"""What learning needs fast: sparse inputs times weights, the gradient of that, and of the loss.

Each (place, count) puts numbers[place, count, k] into the inputs columns[place, count, k]; a column
of -1 ends its list. A position has some 30 inputs that are not 0, whatever the encoding's size.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import codes
from tdgammon.kernels.codes import OPPONENT_OFF, OWN_OFF, ZERO
from tdgammon.kernels.forward import exp32

_FAST = {"reassoc", "contract", "nsz"}


@nb.njit(cache=True, nogil=True)
def encode(boards, num_checkers, columns, numbers, inputs):
    """Dense inputs [B, F] of boards [B, 26]."""
    cells = np.empty(len(columns), np.int8)
    masks = np.empty(codes.NUM_MASKS, np.int64)
    for b in range(len(boards)):
        inputs[b] = 0
        codes.fill(boards[b], num_checkers, cells, masks)
        for place in range(len(columns)):
            count = cells[place]
            if count != 0:
                for k in range(columns.shape[2]):
                    column = columns[place, count + ZERO, k]
                    if column < 0:
                        break
                    inputs[b, column] = numbers[place, count + ZERO, k]


@nb.njit(cache=True, nogil=True, fastmath=_FAST)
def weighted_sums(boards, num_checkers, columns, numbers, weight, bias, sums, impossible):
    """sums [B, H] = inputs @ weight [F, H] + bias [H]; impossible bool [B, 6] marks outcomes that
    the rules exclude: gammons of a side that has borne off (R12)."""
    cells = np.empty(len(columns), np.int8)
    masks = np.empty(codes.NUM_MASKS, np.int64)
    for b in range(len(boards)):
        codes.fill(boards[b], num_checkers, cells, masks)
        for i in range(sums.shape[1]):
            sums[b, i] = bias[i]
        for place in range(len(columns)):
            count = cells[place]
            if count != 0:
                for k in range(columns.shape[2]):
                    column = np.int64(columns[place, count + ZERO, k])
                    if column < 0:
                        break
                    number = numbers[place, count + ZERO, k]
                    for i in range(sums.shape[1]):
                        sums[b, i] += number * weight[column, i]
        for k in range(2):
            impossible[b, k] = cells[OPPONENT_OFF] < 0
            impossible[b, 2 + k] = False
            impossible[b, 4 + k] = cells[OWN_OFF] > 0


@nb.njit(cache=True, nogil=True, fastmath=_FAST)
def weight_gradient(boards, num_checkers, columns, numbers, sums_gradient, gradient):
    """gradient [F, H] = inputs.T @ sums_gradient [B, H]."""
    cells = np.empty(len(columns), np.int8)
    masks = np.empty(codes.NUM_MASKS, np.int64)
    gradient[:] = 0
    for b in range(len(boards)):
        codes.fill(boards[b], num_checkers, cells, masks)
        for place in range(len(columns)):
            count = cells[place]
            if count != 0:
                for k in range(columns.shape[2]):
                    column = np.int64(columns[place, count + ZERO, k])
                    if column < 0:
                        break
                    number = numbers[place, count + ZERO, k]
                    for i in range(gradient.shape[1]):
                        gradient[column, i] += number * sums_gradient[b, i]


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def cross_entropy(logits, impossible, targets, slopes):
    """Mean cross-entropy of targets [B, 6] under the softmax of logits [B, 6].

    Its gradient by the logits goes into slopes [B, 6]. Impossible outcomes take no part; their
    targets must be 0.
    """
    loss = 0.0
    scale = np.float32(1 / len(logits))
    for b in range(len(logits)):
        top = np.float32(-np.inf)
        for k in range(6):
            if not impossible[b, k]:
                top = max(top, logits[b, k])
        total = np.float32(0)
        for k in range(6):
            power = np.float32(0)
            if not impossible[b, k]:
                power = exp32(logits[b, k] - top)
                loss -= targets[b, k] * (logits[b, k] - top)
            slopes[b, k] = power
            total += power
        loss += np.log(total)
        for k in range(6):
            slopes[b, k] = (slopes[b, k] / total - targets[b, k]) * scale
    return loss / len(logits)
