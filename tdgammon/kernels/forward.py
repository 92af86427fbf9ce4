"""The network at play time: a first layer made of table rows, a dense tail, six outcomes.

A position's first-layer sum is bias + the table rows of its (place, count) pairs. A step changes
two places (four when it hits), so an afterstate's sum is its parent's plus a few rows of `rises`,
where rises[p, c] = table[p, c + 1] - table[p, c].

A table may have more places than the 28 of a board: their counts are the codes of `codes.py`. A step
changes a few of those too; shots are looked at where a position is evaluated.

Functions of the inner loop are compiled with `_nrt=False`: they allocate nothing, and numba then counts
no references to the arrays that they pass on, which took a seventh of the time.
"""

from typing import NamedTuple

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tdgammon.kernels import codes
from tdgammon.kernels.codes import NUM_COUNTS, NUM_PLACES, OPPONENT_OFF, OWN_OFF, ZERO

RELU, SIGMOID = 0, 1

_FAST = {"reassoc", "contract", "nsz", "arcp", "afn"}
_LOG2_E = np.float32(1.4426950408889634)
_LN2 = np.float32(0.6931471805599453)
_APART = 256  # numbers; loops take at most 4 vectors of 16 at a time


class Layers(NamedTuple):
    """Arrays of a network as the kernels want them; H1 units in the first layer, H in the last."""

    table: np.ndarray
    """float32 [28, 31, H1] or with more places; the row of count 0 is 0."""
    rises: np.ndarray
    """float32 [28, 30, H1], for the places of the board."""
    bias: np.ndarray
    """float32 [H1]."""
    sizes: np.ndarray
    """int64: units of each hidden layer."""
    tail: np.ndarray
    """float32 [units, widest + 1]: a row a unit of the hidden layers after the first, its weights, then
    its bias."""
    output: np.ndarray
    """float32 [6, H]."""
    output_bias: np.ndarray
    """float32 [6]."""
    activation: int
    """RELU or SIGMOID."""
    num_checkers: int
    """Checkers a side in the game that is played."""


@intrinsic
def _power_of_two(typingctx, exponent):
    """2**exponent for a float32 that is a whole number from -126 to 127, by its bits."""

    def build(context, builder, signature, args):
        word = ir.IntType(32)
        whole = builder.fptosi(args[0], word)
        biased = builder.add(whole, ir.Constant(word, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(word, 23)), ir.FloatType())

    return types.float32(types.float32), build


@nb.njit(cache=True, nogil=True, inline="always")
def exp32(x):
    """exp of a float32 in -80..80 by 2**k times a Taylor polynomial on |r| <= ln 2 / 2.

    The relative error is below 1e-6 for |x| < 10 and grows with |x| as that of x itself. A loop over
    it vectorises, given fast arithmetic and the numpy error model (no test for division by 0).
    """
    x = min(max(x, np.float32(-80)), np.float32(80))
    k = np.floor(x * _LOG2_E + np.float32(0.5))
    r = x - k * _LN2
    p = np.float32(1 / 720)
    p = p * r + np.float32(1 / 120)
    p = p * r + np.float32(1 / 24)
    p = p * r + np.float32(1 / 6)
    p = p * r + np.float32(1 / 2)
    p = p * r + np.float32(1)
    p = p * r + np.float32(1)
    return p * _power_of_two(k)


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def first_layer(cells, network, sums):
    """First-layer sums [H1] of the counts `cells` into `sums`, without shots; four rows at a time, as
    it is reading and writing the sums that takes the time."""
    num_units = len(network.bias)
    table = network.table.reshape(-1, num_units)
    for i in range(num_units):
        sums[i] = network.bias[i]
    a = b = c = d = ZERO  # a row of zeros
    for place in range(len(cells)):
        count = cells[place]
        if count != 0:
            a, b, c, d = b, c, d, NUM_COUNTS * place + count + ZERO
            if a != ZERO:
                for i in range(num_units):
                    sums[i] += (table[a, i] + table[b, i]) + (table[c, i] + table[d, i])
                a = b = c = d = ZERO
    for i in range(num_units):
        sums[i] += (table[b, i] + table[c, i]) + table[d, i]


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always", _nrt=False)
def _output_layer(hidden, network, logits):
    a = np.float32(0)
    b = np.float32(0)
    c = np.float32(0)
    d = np.float32(0)
    e = np.float32(0)
    f = np.float32(0)
    output = network.output
    for i in range(output.shape[1]):
        h = hidden[i]
        a += h * output[0, i]
        b += h * output[1, i]
        c += h * output[2, i]
        d += h * output[3, i]
        e += h * output[4, i]
        f += h * output[5, i]
    bias = network.output_bias
    logits[0] = a + bias[0]
    logits[1] = b + bias[1]
    logits[2] = c + bias[2]
    logits[3] = d + bias[3]
    logits[4] = e + bias[4]
    logits[5] = f + bias[5]


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def _activate(sums, num_units, activation, values):
    """Activations of the first num_units of `sums`, which must be apart from `values`."""
    if activation == RELU:
        for i in range(num_units):
            values[i] = max(sums[i], np.float32(0))
    else:
        for i in range(num_units):
            values[i] = np.float32(1) / (np.float32(1) + exp32(-sums[i]))


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def _layer(source, tail, first, num_in, num_out, target):
    """Sums of num_out units, whose rows of `tail` begin at `first`; eight read the source together."""
    j = 0
    while j + 8 <= num_out:
        r = first + j
        a = tail[r, num_in]
        b = tail[r + 1, num_in]
        c = tail[r + 2, num_in]
        d = tail[r + 3, num_in]
        e = tail[r + 4, num_in]
        f = tail[r + 5, num_in]
        g = tail[r + 6, num_in]
        h = tail[r + 7, num_in]
        for i in range(num_in):
            s = source[i]
            a += s * tail[r, i]
            b += s * tail[r + 1, i]
            c += s * tail[r + 2, i]
            d += s * tail[r + 3, i]
            e += s * tail[r + 4, i]
            f += s * tail[r + 5, i]
            g += s * tail[r + 6, i]
            h += s * tail[r + 7, i]
        target[j] = a
        target[j + 1] = b
        target[j + 2] = c
        target[j + 3] = d
        target[j + 4] = e
        target[j + 5] = f
        target[j + 6] = g
        target[j + 7] = h
        j += 8
    while j < num_out:
        total = tail[first + j, num_in]
        for i in range(num_in):
            total += source[i] * tail[first + j, i]
        target[j] = total
        j += 1


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def _tail(hidden, tail, sizes, activation):
    """Hidden layers after the first, from hidden[0] to hidden[0]; hidden float32 [2, widest layer]."""
    first = 0
    for layer in range(1, len(sizes)):
        _layer(hidden[0], tail, first, sizes[layer - 1], sizes[layer], hidden[1])
        _activate(hidden[1], sizes[layer], activation, hidden[0])
        first += sizes[layer]


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def softmax(logits, own_off, opponent_off, probabilities):
    """Chances of the outcomes that are still possible: no gammon of a side that has borne off."""
    first = 2 if opponent_off else 0
    last = 4 if own_off else 6
    top = logits[2]
    for k in range(first, last):
        top = max(top, logits[k])
    total = np.float32(0)
    for k in range(6):
        probabilities[k] = np.float32(0)
    for k in range(first, last):
        p = exp32(logits[k] - top)
        probabilities[k] = p
        total += p
    scale = np.float32(1) / total
    for k in range(first, last):
        probabilities[k] *= scale


@nb.njit(cache=True, nogil=True, _nrt=False)
def finished(cells, num_checkers, probabilities):
    """Whether the game is over, with its outcome in `probabilities` if it is (R12)."""
    if cells[OPPONENT_OFF] != -num_checkers and cells[OWN_OFF] != num_checkers:
        return False
    for k in range(6):
        probabilities[k] = np.float32(0)
    size = 0
    if cells[OPPONENT_OFF] == -num_checkers:
        if cells[OWN_OFF] == 0:
            size = 1
            for place in range(19, 26):
                if cells[place] > 0:
                    size = 2
        probabilities[3 + size] = np.float32(1)
    else:
        if cells[OPPONENT_OFF] == 0:
            size = 1
            for place in range(7):
                if cells[place] < 0:
                    size = 2
        probabilities[2 - size] = np.float32(1)
    return True


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always", _nrt=False)
def evaluate(cells, masks, sums, network, shots, hidden, logits, probabilities):
    """Outcome probabilities of a position with first-layer `sums`; exact if the game is over."""
    if finished(cells, network.num_checkers, probabilities):
        return
    num_units = len(network.bias)
    if len(network.table) > codes.FIRST_SHOT:
        _add_shots(sums, masks, network.table.reshape(-1, num_units), shots, hidden[1])
        _activate(hidden[1], num_units, network.activation, hidden[0])
    else:
        _activate(sums, num_units, network.activation, hidden[0])
    if len(network.sizes) > 1:
        _tail(hidden, network.tail, network.sizes, network.activation)
    _output_layer(hidden[0], network, logits)
    softmax(logits, cells[OWN_OFF] > 0, cells[OPPONENT_OFF] < 0, probabilities)


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always")
def _apply_step(step, k, cells, masks, changes, sums, rises, table):
    """Play one step on the flipped counts cells[k]: cells, masks and sums after it into row k + 1."""
    for place in range(cells.shape[1]):
        cells[k + 1, place] = cells[k, place]
    leave = 25 - (step >> 3)
    arrive = leave + (step & 7)
    if arrive >= 25:
        arrive = OPPONENT_OFF
    left = np.int64(cells[k, leave])
    found = np.int64(cells[k, arrive])
    on_bar = np.int64(cells[k, 25])
    hits = found == 1
    cells[k + 1, leave] = left + 1
    cells[k + 1, arrive] = -1 if hits else found - 1
    left += ZERO
    found += ZERO - 1
    for i in range(sums.shape[1]):
        sums[k + 1, i] = sums[k, i] + (rises[leave, left, i] - rises[arrive, found, i])
    if hits:
        cells[k + 1, 25] = on_bar + 1
        for i in range(sums.shape[1]):
            sums[k + 1, i] += rises[25, on_bar + ZERO, i] - rises[arrive, ZERO - 1, i]
    if cells.shape[1] > NUM_PLACES:
        for m in range(codes.NUM_MASKS):
            masks[k + 1, m] = masks[k, m]
        codes.mark(leave, np.int64(cells[k + 1, leave]), masks[k + 1])
        if arrive < OWN_OFF:
            codes.mark(arrive, np.int64(cells[k + 1, arrive]), masks[k + 1])
        if hits:
            codes.mark(np.int64(25), on_bar + 1, masks[k + 1])
        num_changes = codes.update_codes(cells[k + 1], masks[k], masks[k + 1], changes)
        _add_changes(changes, num_changes, table, sums[k + 1])


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def _add_changes(changes, num_changes, table, sums):
    """Add the rows of `table` that changes [N, 2] lead to, less those that they come from; two changes
    at a time, as it is reading and writing the sums that takes the time."""
    at = 0
    while at + 2 <= num_changes:
        new, old = table[changes[at, 0]], table[changes[at, 1]]
        new_2, old_2 = table[changes[at + 1, 0]], table[changes[at + 1, 1]]
        for i in range(len(sums)):
            sums[i] += (new[i] - old[i]) + (new_2[i] - old_2[i])
        at += 2
    if at < num_changes:
        new, old = table[changes[at, 0]], table[changes[at, 1]]
        for i in range(len(sums)):
            sums[i] += new[i] - old[i]


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always", _nrt=False)
def _add_shots(sums, masks, table, shots, found):
    """`sums` and the rows of `table` for the rolls that hit into `found`; four rows at a time, as in
    `first_layer`. shots int64 [30] is for their indices."""
    num_rows = codes.shot_rows(masks, shots)
    for k in range(num_rows, num_rows + 4):
        shots[k] = ZERO  # a row of zeros
    a, b, c, d = shots[0], shots[1], shots[2], shots[3]
    for i in range(len(sums)):
        found[i] = sums[i] + ((table[a, i] + table[b, i]) + (table[c, i] + table[d, i]))
    for at in range(4, num_rows, 4):
        a, b, c, d = shots[at], shots[at + 1], shots[at + 2], shots[at + 3]
        for i in range(len(sums)):
            found[i] += (table[a, i] + table[b, i]) + (table[c, i] + table[d, i])


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def take_up(board, network, cells, masks, sums):
    """Cells, masks and sums of a board, seen by the opponent, into row 0, unless they are there.

    The last row of cells is the board that row 0 is of: rolls of one board share it.
    """
    flipped = cells[5]
    is_known = True
    for place in range(26):
        if flipped[place] != -board[25 - place]:
            flipped[place] = -board[25 - place]
            is_known = False
    if not is_known:
        codes.fill(flipped, network.num_checkers, cells[0], masks[0])
        first_layer(cells[0], network, sums[0])


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def follow(steps, at, depth, network, cells, masks, changes, sums):
    """Play the steps of afterstate `at` into the rows from 1 on; how many they are.

    `depth` rows hold the steps of the one before: those that both begin with stay.
    """
    table = network.table.reshape(-1, sums.shape[1])
    num_steps = 0
    shared = 0
    while num_steps < 4 and steps[at, num_steps]:
        if shared == num_steps and shared < depth and steps[at, shared] == steps[at - 1, shared]:
            shared += 1
        num_steps += 1
    for k in range(shared, num_steps):
        _apply_step(np.int64(steps[at, k]), k, cells, masks, changes, sums, network.rises, table)
    return num_steps


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def best_afterstate(board, rows, steps, start, end, network, values, work, best):
    """Index of the afterstate in start..end whose player on roll (the opponent) has the least equity.

    Its probabilities go to `best` float32 [6]. values float32 [6] = points of each outcome; the first
    wins ties.
    """
    cells, masks, changes, shots, sums, hidden, logits, probabilities = work
    take_up(board, network, cells, masks, sums)
    depth = 0
    chosen = start
    least = np.float32(np.inf)
    for at in range(start, end):
        depth = follow(steps, at, depth, network, cells, masks, changes, sums)
        evaluate(cells[depth], masks[depth], sums[depth], network, shots, hidden, logits, probabilities)
        equity = np.float32(0)
        for k in range(6):
            equity += probabilities[k] * values[k]
        if equity < least:
            least = equity
            chosen = at
            for k in range(6):
                best[k] = probabilities[k]
    return chosen


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def fill_afterstates(board, steps, start, end, network, work, found):
    """Probabilities float32 [A, 6] of all afterstates in start..end into found[start:end]."""
    cells, masks, changes, shots, sums, hidden, logits, probabilities = work
    take_up(board, network, cells, masks, sums)
    depth = 0
    for at in range(start, end):
        depth = follow(steps, at, depth, network, cells, masks, changes, sums)
        evaluate(cells[depth], masks[depth], sums[depth], network, shots, hidden, logits, probabilities)
        for k in range(6):
            found[at, k] = probabilities[k]


@nb.njit(cache=True, nogil=True)
def workspace(network):
    """Arrays that `best_afterstate` works in.

    Those of floats lie in one block, far apart. A compiled loop looks how near the numbers it reads
    are to those it writes, and takes a scalar path with other rounding if they are too near for
    vectors; arrays of their own are near or not as the heap has it, another way in each thread.
    """
    width = np.int64(0)
    for size in network.sizes:
        width = max(width, size)
    num_units = len(network.bias)
    hidden_at = 5 * num_units + _APART
    logits_at = hidden_at + 2 * width + _APART
    probabilities_at = logits_at + 8 + _APART
    block = np.empty(probabilities_at + 8, np.float32)
    return (
        np.full((6, min(len(network.table), codes.FIRST_SHOT)), 127, np.int8),
        np.zeros((5, codes.NUM_MASKS), np.int64),
        np.empty((codes.NUM_PAIRS + codes.NUM_WINDOWS, 2), np.int64),
        np.empty(codes.NUM_SHOTS + 4, np.int64),
        block[: 5 * num_units].reshape(5, num_units),
        block[hidden_at : hidden_at + 2 * width].reshape(2, width),
        block[logits_at : logits_at + 8],
        block[probabilities_at:],
    )


@nb.njit(cache=True, nogil=True)
def evaluate_batch(boards, network, probabilities):
    """Outcome probabilities [B, 6] of boards [B, 26], player on roll, by the layers `network`."""
    cells, masks, _, shots, sums, hidden, logits, row = workspace(network)
    for b in range(len(boards)):
        codes.fill(boards[b], network.num_checkers, cells[0], masks[0])
        first_layer(cells[0], network, sums[0])
        evaluate(cells[0], masks[0], sums[0], network, shots, hidden, logits, row)
        for k in range(6):
            probabilities[b, k] = row[k]
