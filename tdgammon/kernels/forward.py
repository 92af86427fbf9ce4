"""The network at play time: a first layer made of table rows, a dense tail, six outcomes.

A position's first-layer sum is bias + the table rows of its (place, count) pairs. A step changes
two places (four when it hits), so an afterstate's sum is its parent's plus a few rows of `rises`,
where rises[p, c] = table[p, c + 1] - table[p, c].

A table may have more places than the 28 of a board: their counts are the codes of `codes.py`. A step
changes a few of those too; shots are looked at where a position is evaluated.

A network with specialists has all of this once for each class of positions. What class an afterstate is
of shows when its steps are played: the sums of a class follow when a position of it is evaluated.

Functions of the inner loop are compiled with `_nrt=False`: they allocate nothing, and numba then counts
no references to the arrays that they pass on, which took a seventh of the time.
"""

from typing import NamedTuple

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tdgammon.kernels import codes, position_class
from tdgammon.kernels.codes import NUM_COUNTS, OPPONENT_OFF, OWN_OFF, ZERO
from tdgammon.kernels.path import BAR, CHANGES, FROM, NUM_RISES, TO, Path, follow, take_up

RELU, SIGMOID = 0, 1

_FAST = {"reassoc", "contract", "nsz", "arcp", "afn"}
_LOG2_E = np.float32(1.4426950408889634)
_LN2 = np.float32(0.6931471805599453)
_APART = 256  # numbers; loops take at most 4 vectors of 16 at a time


class Layers(NamedTuple):
    """Arrays of a network as the kernels want them; H1 units in the first layer, H in the last.

    Their first axis is that of the position classes: K = 1, or `position_class.NUM_CLASSES`.
    """

    table: np.ndarray
    """float32 [K, 28, 31, H1] or with more places; the row of count 0 is 0."""
    rises: np.ndarray
    """float32 [K, 28, 30, H1], for the places of the board."""
    bias: np.ndarray
    """float32 [K, H1]."""
    sizes: np.ndarray
    """int64: units of each hidden layer; without the axis of classes."""
    tail: np.ndarray
    """float32 [K, units, widest + 1]: a row a unit of the hidden layers after the first, its weights,
    then its bias."""
    output: np.ndarray
    """float32 [K, 6, H]."""
    output_bias: np.ndarray
    """float32 [K, 6]."""
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
def first_layer(cells, network, kind, sums):
    """First-layer sums [H1] of class `kind` and the counts `cells` into `sums`, without shots; four
    rows at a time, as it is reading and writing the sums that takes the time."""
    num_units = network.bias.shape[1]
    table = network.table[kind].reshape(-1, num_units)
    bias = network.bias[kind]
    for i in range(num_units):
        sums[i] = bias[i]
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
def _output_layer(hidden, output, bias, logits):
    a = np.float32(0)
    b = np.float32(0)
    c = np.float32(0)
    d = np.float32(0)
    e = np.float32(0)
    f = np.float32(0)
    for i in range(output.shape[1]):
        h = hidden[i]
        a += h * output[0, i]
        b += h * output[1, i]
        c += h * output[2, i]
        d += h * output[3, i]
        e += h * output[4, i]
        f += h * output[5, i]
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
def evaluate(depth, network, path, room, probabilities):
    """Outcome probabilities of the position in row `depth` of a path; exact if the game is over."""
    cells, masks = path.cells[depth], path.masks[depth]
    if finished(cells, network.num_checkers, probabilities):
        return
    shots, hidden, logits = room
    num_units = network.bias.shape[1]
    kind = position_class.of(cells) if len(network.bias) > 1 else 0
    _bring_sums(depth, network, kind, path)
    if network.table.shape[1] > codes.FIRST_SHOT:
        table = network.table[kind].reshape(-1, num_units)
        _add_shots(path.sums[kind, depth], masks, table, shots, hidden[1])
        _activate(hidden[1], num_units, network.activation, hidden[0])
    else:
        _activate(path.sums[kind, depth], num_units, network.activation, hidden[0])
    if len(network.sizes) > 1:
        _tail(hidden, network.tail[kind], network.sizes, network.activation)
    _output_layer(hidden[0], network.output[kind], network.output_bias[kind], logits)
    softmax(logits, cells[OWN_OFF] > 0, cells[OPPONENT_OFF] < 0, probabilities)


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always", _nrt=False)
def _bring_sums(depth, network, kind, path):
    """Bring the sums of a class on a path up to row `depth`."""
    ready, moved = path.ready, path.moved
    sums = path.sums[kind]
    if ready[kind] == 0:
        first_layer(path.cells[0], network, kind, sums[0])
        ready[kind] = 1
    num_units = sums.shape[1]
    rises = network.rises.reshape(-1, num_units)
    first = kind * network.rises.shape[1] * NUM_RISES
    for k in range(ready[kind], depth + 1):
        start, end, bar = first + moved[k, FROM], first + moved[k, TO], moved[k, BAR]
        for i in range(num_units):
            sums[k, i] = sums[k - 1, i] + (rises[start, i] - rises[end, i])
        if bar >= 0:
            for i in range(num_units):
                sums[k, i] += rises[first + bar, i] - rises[end - 1, i]
        if moved[k, CHANGES] > 0:
            table = network.table[kind].reshape(-1, num_units)
            _add_changes(path.changes[k], moved[k, CHANGES], table, sums[k])
    ready[kind] = max(ready[kind], depth + 1)


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


@nb.njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", _nrt=False)
def best_afterstate(board, rows, steps, start, end, network, values, work, best):
    """Index of the afterstate in start..end whose player on roll (the opponent) has the least equity.

    Its probabilities go to `best` float32 [6]. values float32 [6] = points of each outcome; the first
    wins ties.
    """
    path, room, probabilities = work
    take_up(board, network.num_checkers, path)
    depth = 0
    chosen = start
    least = np.float32(np.inf)
    for at in range(start, end):
        depth = follow(steps, at, depth, path)
        evaluate(depth, network, path, room, probabilities)
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
    path, room, probabilities = work
    take_up(board, network.num_checkers, path)
    depth = 0
    for at in range(start, end):
        depth = follow(steps, at, depth, path)
        evaluate(depth, network, path, room, probabilities)
        for k in range(6):
            found[at, k] = probabilities[k]


@nb.njit(cache=True, nogil=True)
def workspace(network):
    """What `best_afterstate` works in: a `Path`, room to evaluate in, and probabilities.

    Arrays of floats lie in one block, far apart. A compiled loop looks how near the numbers it reads
    are to those it writes, and takes a scalar path with other rounding if they are too near for
    vectors; arrays of their own are near or not as the heap has it, another way in each thread.
    """
    width = np.int64(0)
    for size in network.sizes:
        width = max(width, size)
    num_classes, num_units = network.bias.shape
    hidden_at = 5 * num_classes * num_units + _APART
    logits_at = hidden_at + 2 * width + _APART
    probabilities_at = logits_at + 8 + _APART
    block = np.empty(probabilities_at + 8, np.float32)
    path = Path(
        np.full((6, min(network.table.shape[1], codes.FIRST_SHOT)), 127, np.int8),
        np.zeros((5, codes.NUM_MASKS), np.int64),
        np.empty((5, codes.NUM_PAIRS + codes.NUM_WINDOWS, 2), np.int64),
        np.empty((5, 4), np.int64),
        block[: 5 * num_classes * num_units].reshape(num_classes, 5, num_units),
        np.zeros(num_classes, np.int64),
    )
    room = (
        np.empty(codes.NUM_SHOTS + 4, np.int64),
        block[hidden_at : hidden_at + 2 * width].reshape(2, width),
        block[logits_at : logits_at + 8],
    )
    return path, room, block[probabilities_at:]


@nb.njit(cache=True, nogil=True)
def evaluate_batch(boards, network, probabilities):
    """Outcome probabilities [B, 6] of boards [B, 26], player on roll, by the layers `network`."""
    path, room, row = workspace(network)
    for b in range(len(boards)):
        codes.fill(boards[b], network.num_checkers, path.cells[0], path.masks[0])
        path.ready[:] = 0
        evaluate(0, network, path, room, row)
        for k in range(6):
            probabilities[b, k] = row[k]
