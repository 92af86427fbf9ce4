"""Building one-sided tables: distributions and means of the rolls that one side needs, as if alone."""

import numba as nb
import numpy as np

from tdgammon.kernels.one_side import (
    MOST_CHECKERS,
    fill_counts,
    fill_steps,
    number_of,
)

PIPS_A_ROLL = 49 / 6
WASTE_UNITS = 256
LONGEST = 96
"""More rolls than any race needs: 15 checkers on the 24-point take 45 on average."""
SMALLEST = 1e-10  # chances below are cut off at the ends of a row


@nb.njit(cache=True, nogil=True)
def fill_best(number, after, means, best):
    """Where one, two and three moves of each die lead from a position: its row of `best`."""
    for die in range(1, 7):
        for k in range(3):
            least = np.inf
            for p in range(1, after.shape[1]):
                then = after[die, p]
                if then >= 0:
                    if k > 0:
                        then = np.int64(best[then, k - 1, die])
                    if means[then] < least:
                        least = means[then]
                        best[number, k, die] = then


@nb.njit(cache=True, nogil=True)
def fill_row(number, after, means, best, starts, firsts, chances, row):
    """Mean and distribution of a position from those of the positions that its rolls lead to.

    after int64 [7, P + 1]: what each die leaves, -1 for no move; row float64 [LONGEST + 1] is working
    space; the rest as in `fill_one_sided`.
    """
    at = starts[number]
    low, high = LONGEST, 0
    mean = 1.0
    row[:] = 0
    for high_die in range(1, 7):
        for low_die in range(1, high_die + 1):
            chosen = np.int64(0)
            least = np.inf
            for p in range(1, after.shape[1]):
                then = after[high_die, p]
                if then >= 0:
                    then = np.int64(best[then, 2 if high_die == low_die else 0, low_die])
                    if means[then] < least:
                        least = means[then]
                        chosen = then
                then = after[low_die, p]
                if then >= 0 and high_die != low_die:
                    then = np.int64(best[then, 0, high_die])
                    if means[then] < least:
                        least = means[then]
                        chosen = then
            weight = (1 if high_die == low_die else 2) / 36
            offset = np.int64(firsts[chosen]) + 1 - starts[chosen]
            mean += weight * means[chosen]
            low = min(low, starts[chosen] + offset)
            high = max(high, starts[chosen + 1] + offset)
            for k in range(starts[chosen], starts[chosen + 1]):
                row[k + offset] += weight * chances[k]
    while row[low] < SMALLEST:
        low += 1
    while row[high - 1] < SMALLEST:
        high -= 1
    total = 0.0
    for k in range(low, high):
        total += row[k]
    for k in range(low, high):
        chances[at + k - low] = row[k] / total
    means[number] = mean
    firsts[number] = low
    starts[number + 1] = at + high - low


@nb.njit(cache=True, nogil=True)
def fill_one_sided(points, goal, first, last, means, best, starts, firsts, chances):
    """Distributions of the rolls to `goal` of positions first..last - 1, in the order of their numbers.

    Every play makes the mean number of rolls least. Row i is chances[starts[i]:starts[i + 1]] float32,
    the chance of firsts[i], firsts[i] + 1, ... rolls. means float64 [N]; best int32 [N, 3, 7]: the
    position after one, two and three moves of a die. Stops where `chances` has less than LONGEST free,
    and says where. Every die can be moved while a checker is left: all orders of moves are legal.
    """
    counts = np.zeros(points + 1, np.int64)
    drops = np.zeros(points + 1, np.int64)
    after = np.zeros((7, points + 1), np.int64)
    row = np.zeros(LONGEST + 1, np.float64)
    for number in range(first, last):
        at = starts[number]
        if len(chances) - at < LONGEST:
            return number
        if number == 0:
            chances[at] = 1
            firsts[0] = 0
            starts[1] = at + 1
            means[0] = 0
            best[0] = 0
            continue
        fill_counts(number, points, counts)
        fill_steps(number, counts, points, goal, drops, after)
        fill_best(number, after, means, best)
        fill_row(number, after, means, best, starts, firsts, chances, row)
    return last


@nb.njit(cache=True, nogil=True)
def fill_mean_waste(points, goal, means, best, waste):
    """Mean rolls to `goal` into means float32 [N], and 49/6 of that less the pips into waste int16 [N].

    As `fill_one_sided` without the distributions. best float32 [N, 3, 7]: the mean after one, two and
    three moves of a die. Waste is in pips / WASTE_UNITS.
    """
    counts = np.zeros(points + 1, np.int64)
    drops = np.zeros(points + 1, np.int64)
    after = np.zeros((7, points + 1), np.int64)
    means[0] = 0
    best[0] = 0
    waste[0] = 0
    for number in range(1, len(means)):
        fill_counts(number, points, counts)
        fill_steps(number, counts, points, goal, drops, after)
        for die in range(1, 7):
            least = np.float32(np.inf)
            second = np.float32(np.inf)
            third = np.float32(np.inf)
            for p in range(1, points + 1):
                then = after[die, p]
                if then >= 0:
                    least = min(least, means[then])
                    second = min(second, best[then, 0, die])
                    third = min(third, best[then, 1, die])
            best[number, 0, die] = least
            best[number, 1, die] = second
            best[number, 2, die] = third
        total = 0.0
        for high in range(1, 7):
            least = np.float32(np.inf)
            for p in range(1, points + 1):
                if after[high, p] >= 0:
                    least = min(least, best[after[high, p], 2, high])
            total += least
            for low in range(1, high):
                least = np.float32(np.inf)
                for p in range(1, points + 1):
                    if after[high, p] >= 0:
                        least = min(least, best[after[high, p], 0, low])
                    if after[low, p] >= 0:
                        least = min(least, best[after[low, p], 0, high])
                total += 2 * least
        means[number] = 1 + total / 36
        pips = 0
        for p in range(1, points + 1):
            pips += p * counts[p]
        waste[number] = np.int16(np.rint((means[number] * PIPS_A_ROLL - pips) * WASTE_UNITS))


@nb.njit(cache=True, nogil=True)
def fill_far_waste(points, waste, far_waste):
    """Waste with the checkers that 15 lacks far beyond the points, brought in one at a time.

    far_waste int16 [N]; it is `waste` for positions of 15 checkers. A far checker stands, every
    distance alike, 1 to 6 pips before the last point; of the two dice the better one that reaches it
    is taken, and the pips are not wasted. From the fullest positions to the empty one.
    """
    counts = np.zeros(points + 1, np.int64)
    then = np.zeros(6, np.float64)
    for number in range(len(waste) - 1, -1, -1):
        fill_counts(number, points, counts)
        if counts[0] == MOST_CHECKERS:
            far_waste[number] = waste[number]
            continue
        for j in range(6):
            counts[points - j] += 1
            then[j] = far_waste[number_of(counts, points)]
            counts[points - j] -= 1
        total = 0.0
        num = 0
        for distance in range(1, 7):
            for first in range(1, 7):
                for second in range(1, 7):
                    if max(first, second) >= distance:
                        least = np.inf
                        if first >= distance:
                            least = then[first - distance]
                        if second >= distance:
                            least = min(least, then[second - distance])
                        total += least
                        num += 1
        far_waste[number] = np.int16(np.rint(total / num))
