"""What the tables hold, and the row of one side in them: a distribution of rolls, shifted by pips."""

from typing import NamedTuple

import numba as nb
import numpy as np

from tdgammon.kernels.one_side import (
    BINOMIALS,
    EVERYTHING,
    HOME,
    LEAVE,
    MOST_CHECKERS,
    NEXT_OFF,
    count_positions,
    number_of,
)
from tdgammon.kernels.one_sided import LONGEST, PIPS_A_ROLL, SMALLEST, WASTE_UNITS

OUTSIDE_POINTS = 10
"""Points of the table of mean rolls for sides with checkers outside home."""
FEW = 5
"""Most checkers of a side that has a row of its own wherever they stand, to bear off everything."""
ENTERING = np.array(
    [
        [18, 3, 64],
        [14, 4, 64],
        [10, 5, 64],
        [7, 6, 64],
        [18, 6, 1],
        [12, 8, 1],
        [10, 10, 1],
        [8, 12, 1],
        [6, 15, 1],
    ]
)
"""Tables of rolls to the first checker off, a row each: points outside home, most checkers on them,
width of the summary of the home board, as in `kernels.entering`."""
ENTERING_SIZES = np.array([1 + width * count_positions(*of) for *of, width in ENTERING.tolist()])
ENTERING_BEGINS = np.concatenate([[0], np.cumsum(ENTERING_SIZES)])
"""Where their rows begin; after the last of them those of few checkers do."""
NUM_FEW = count_positions(24, FEW)
NUM_OUTSIDE = int(ENTERING_BEGINS[-1]) + NUM_FEW
"""Rows that follow the three goals of sides at home."""
LEAST_SHIFT = 4
"""Row 0 of the shifts is for -4 pips; a filter that sharpens a row more than that is no use."""
_NO_SHIFT = 1e-3  # pips


class Tables(NamedTuple):
    """What races are answered from. With `points` 0 there are none, and the arrays are empty."""

    points: int
    """P of the distributions, 6 to 10."""
    starts: np.ndarray
    """int64 [3 N + NUM_OUTSIDE + 1]: rows of the three goals of the N positions inside P points, of
    `ENTERING`, and of few checkers anywhere, to bear off everything; as in `fill_one_sided`."""
    firsts: np.ndarray
    """uint8, one a row."""
    chances: np.ndarray
    """float32."""
    means: np.ndarray
    """float64, one a row."""
    waste: np.ndarray
    """int16 [3, M] on OUTSIDE_POINTS points: all off, all with far checkers, the next off."""
    shifts: np.ndarray
    """float32: what pips without waste do to a row, by `shift_rows`; see `value.bearoff.shifts`."""
    shift_rows: np.ndarray
    """int64 [X, 3]: for -LEAST_SHIFT pips and up, rolls of the first number in `shifts`, begin, end."""
    pairs: np.ndarray
    """float32 [K, K, 4], from `fill_pairs`."""
    pair_points: int
    """Points of `pairs`."""
    pair_checkers: int
    """Most checkers a side in `pairs`."""


@nb.njit(cache=True, nogil=True)
def _shifted_row(tables, at, shift, spread, out):
    """Row `at` into out float64 [LONGEST], with `shift` pips more; says from where to where."""
    first = np.int64(tables.firsts[at])
    begin, end = tables.starts[at], tables.starts[at + 1]
    place = min(max(shift + LEAST_SHIFT, 0.0), len(tables.shift_rows) - 1.001)
    index = np.int64(place)
    share = place - index
    lowest = min(tables.shift_rows[index, 0], tables.shift_rows[index + 1, 0])
    width = np.int64(0)
    spread[:] = 0
    for near in range(2):
        offset = tables.shift_rows[index + near, 0] - lowest
        start, stop = tables.shift_rows[index + near, 1], tables.shift_rows[index + near, 2]
        weight = share if near else 1 - share
        for w in range(start, stop):
            spread[offset + w - start] += weight * tables.shifts[w]
        width = max(width, offset + stop - start)
    out[:] = 0
    for k in range(begin, end):
        chance = np.float64(tables.chances[k])
        rolls = first + k - begin + lowest
        for w in range(max(0, 1 - rolls), min(width, LONGEST - rolls)):
            out[rolls + w] += chance * spread[w]
    low = np.int64(0)
    while low < LONGEST - 1 and out[low] < SMALLEST:
        out[low] = 0
        low += 1
    high = np.int64(LONGEST)
    while high > low + 1 and out[high - 1] < SMALLEST:
        high -= 1
        out[high] = 0
    total = 0.0
    mean = 0.0
    for k in range(low, high):
        out[k] = max(out[k], 0.0)
        total += out[k]
        mean += k * out[k]
    for k in range(low, high):
        out[k] /= total
    # what was cut off has moved the mean: move a share of each number of rolls by one
    ahead = tables.means[at] + shift / PIPS_A_ROLL - mean / total
    if high < LONGEST and low > 1:
        if ahead > 0:
            ahead = min(ahead, 1.0)
            for k in range(high, low, -1):
                out[k] += ahead * (out[k - 1] - out[k])
            out[low] *= 1 - ahead
            high += 1
        else:
            ahead = min(-ahead, 1.0)
            for k in range(low - 1, high):
                out[k] += ahead * (out[k + 1] - out[k])
            low -= 1
    return low, high


@nb.njit(cache=True, nogil=True)
def row(tables, at, shift, late, spread, out):
    """Row `at` of the distributions into out float64 [LONGEST], as the kernels use it."""
    if abs(shift) >= _NO_SHIFT:
        _shifted_row(tables, at, shift, spread, out)
    else:
        out[:] = 0
        begin = tables.starts[at]
        for k in range(begin, tables.starts[at + 1]):
            out[tables.firsts[at] + k - begin] = tables.chances[k]
    if late > 0:
        for k in range(LONGEST - 1, 0, -1):
            out[k] += late * (out[k - 1] - out[k])
        out[0] *= 1 - late


@nb.njit(cache=True, nogil=True)
def expected(tables, at, shift, late, vector, work):
    """Mean of vector[k] over the rolls k of row `at`."""
    total = 0.0
    if abs(shift) < _NO_SHIFT and late == 0:
        begin = tables.starts[at]
        first = np.int64(tables.firsts[at]) - begin
        for k in range(begin, tables.starts[at + 1]):
            total += tables.chances[k] * vector[first + k]
        return total
    _, _, _, out, spread, _ = work
    if abs(shift) < _NO_SHIFT:
        begin = tables.starts[at]
        low = np.int64(tables.firsts[at])
        high = low + tables.starts[at + 1] - begin
        for k in range(low, high):
            out[k] = tables.chances[begin + k - low]
    else:
        low, high = _shifted_row(tables, at, shift, spread, out)
    for k in range(low, high):
        then = vector[min(k + 1, LONGEST - 1)]
        total += out[k] * (vector[k] + late * (then - vector[k]))
    return total


@nb.njit(cache=True, nogil=True)
def num_inside(tables):
    """N, the positions inside the points of the table."""
    return (len(tables.firsts) - NUM_OUTSIDE) // 3


@nb.njit(cache=True, nogil=True)
def find_row(tables, counts, goal, inside):
    """The row for a side with counts int64 [26] by point, the pips to shift it by, and lateness.

    Lateness is the chance that one roll more than the row says is needed. A side inside the points of
    the table has a row of its own, and so has one of few checkers for everything. inside int64 [32] is
    working space.
    """
    points = tables.points
    highest = 24
    while highest > points and counts[highest] == 0:
        highest -= 1
    if highest <= points:
        return goal * num_inside(tables) + number_of(counts, points), 0.0, 0.0
    if goal == NEXT_OFF:
        return _find_entering_row(tables, counts, inside)
    checkers = 0
    for p in range(1, highest + 1):
        checkers += counts[p]
    if checkers <= FEW:
        return 3 * num_inside(tables) + ENTERING_BEGINS[-1] + number_of(counts, 24), 0.0, 0.0
    return _find_near_row(tables, counts, inside)


@nb.njit(cache=True, nogil=True)
def _entering_row(tables, counts, last, table, inside):
    """Row in a table of `ENTERING`, and the pips that were cut off.

    Checkers beyond point `last` are taken to stand on it.
    """
    points, width = ENTERING[table, 0], ENTERING[table, 2]
    last = min(last, points + HOME)
    inside[: points + 1] = 0
    cut = 0
    for p in range(HOME + 1, 25):
        place = min(p, last)
        inside[place - HOME] += counts[p]
        cut += counts[p] * (p - place)
    at = 1 + number_of(inside, points) * width
    if width > 1:
        for p in range(1, HOME + 1):
            if counts[p] == 0:
                at += 1 << (p - 1)
    return 3 * num_inside(tables) + ENTERING_BEGINS[table] + at, np.float64(cut)


@nb.njit(cache=True, nogil=True)
def _entering_table(counts):
    """The first of `ENTERING` that holds the checkers outside, or else so many if not so far."""
    outside = 0
    highest = 0
    for p in range(HOME + 1, 25):
        if counts[p] > 0:
            outside += counts[p]
            highest = p
    for table in range(len(ENTERING)):
        if ENTERING[table, 1] >= outside and ENTERING[table, 0] + HOME >= highest:
            return table
    table = len(ENTERING) - 1
    while ENTERING[table - 1, 1] >= outside:
        table -= 1
    return table


@nb.njit(cache=True, nogil=True)
def _find_entering_row(tables, counts, inside):
    """Row, shift and lateness of a side with checkers outside, to the first checker off.

    Where its table does not know the gaps at home, they make late: by what the mean of `waste` is
    above the row's, of the position with the checkers that are far on the last of its points.
    """
    table = _entering_table(counts)
    at, shift = _entering_row(tables, counts, 24, table, inside)
    if ENTERING[table, 2] > 1:
        return at, shift, 0.0
    near, _ = _entering_row(tables, counts, OUTSIDE_POINTS, table, inside)
    pips = 0
    for p in range(1, OUTSIDE_POINTS + 1):
        inside[p] = counts[p]
    for p in range(OUTSIDE_POINTS + 1, 25):
        inside[OUTSIDE_POINTS] += counts[p]
    for p in range(1, OUTSIDE_POINTS + 1):
        pips += p * inside[p]
    waste = tables.waste[2, number_of(inside, OUTSIDE_POINTS)] / WASTE_UNITS
    late = (pips + waste) / PIPS_A_ROLL - tables.means[near]
    return at, shift, min(max(late, 0.0), 1.0)


@nb.njit(cache=True, nogil=True)
def _find_near_row(tables, counts, inside):
    """Of the position with the checkers outside on the last three points, to bear off everything.

    It is shifted to the mean that `waste` gives.
    """
    points = tables.points
    far = 0
    total = 0
    pips = 0
    for p in range(1, points + 1):
        inside[p] = counts[p]
        total += counts[p]
        pips += p * counts[p]
    for p in range(24, points, -1):
        pips += p * counts[p]
        for _ in range(counts[p]):
            target = points
            if inside[points - 1] < inside[target]:
                target = points - 1
            if inside[points - 2] < inside[target]:
                target = points - 2
            inside[target] += 1
            total += 1
            if p > OUTSIDE_POINTS:
                far += 1
    at = number_of(inside, points)
    for p in range(1, OUTSIDE_POINTS + 1):
        inside[p] = counts[p]
    kind = 0
    if far > 0:
        if total == MOST_CHECKERS:
            kind = 1
        else:  # some are off and some far: rare, and the far ones are put side by side
            for p in range(24, OUTSIDE_POINTS, -1):
                for _ in range(counts[p]):
                    target = OUTSIDE_POINTS
                    if inside[target - 1] < inside[target]:
                        target -= 1
                    inside[target] += 1
    waste = tables.waste[kind, number_of(inside, OUTSIDE_POINTS)] / WASTE_UNITS
    return at, pips + waste - tables.means[at] * PIPS_A_ROLL, 0.0


@nb.njit(cache=True, nogil=True)
def find_leave_row(tables, counts, inside):
    for p in range(1, tables.points + 1):
        inside[p] = counts[18 + p] if p <= HOME else 0
    return LEAVE * num_inside(tables) + number_of(inside, tables.points)


@nb.njit(cache=True, nogil=True)
def fill_mean_rolls(boards, tables, means):
    """Mean rolls of the player's side of each board to bear off everything, float64 [B].

    Stops at a board with a checker on the bar or more than 15, and says where.
    """
    counts = np.zeros(26, np.int64)
    inside = np.zeros(32, np.int64)
    points = tables.points
    for b in range(len(boards)):
        board = boards[b]
        outside = np.int64(0)
        for p in range(points + 1, 26):
            outside += max(board[p], 0)
        number = np.int64(0)
        s = np.int64(0)
        for j in range(1, points + 1):
            s += max(board[points + 1 - j], 0)
            if s > MOST_CHECKERS:
                return b
            number += BINOMIALS[j, s]
        if s + outside > MOST_CHECKERS or board[25] > 0:
            return b
        if outside == 0:
            means[b] = tables.means[number]
        else:
            for p in range(1, 25):
                counts[p] = max(board[p], 0)
            at, shift, late = find_row(tables, counts, EVERYTHING, inside)
            means[b] = tables.means[at] + shift / PIPS_A_ROLL + late
    return len(boards)


@nb.njit(cache=True, nogil=True)
def fill_distributions(boards, tables, goal, distributions):
    """Chance of k = 0, 1, 2 ... rolls to `goal` of the player's side: float64 [B, LONGEST]."""
    counts = np.zeros(26, np.int64)
    inside = np.zeros(32, np.int64)
    spread = np.zeros(LONGEST, np.float64)
    for b in range(len(boards)):
        for p in range(1, 25):
            counts[p] = max(boards[b, p], 0)
        if goal == LEAVE:
            row(tables, find_leave_row(tables, counts, inside), 0.0, 0.0, spread, distributions[b])
        else:
            at, shift, late = find_row(tables, counts, goal, inside)
            row(tables, at, shift, late, spread, distributions[b])
