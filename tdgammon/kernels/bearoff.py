"""Bear-off tables: building them, and races answered from them.

One side's checkers on points 1..P are numbered so that every play leads to a smaller number: with
s[j] = checkers on the j highest points, the number is the sum over j of C(s[j] + j - 1, j). It does not
depend on how many checkers are allowed: positions of at most n checkers are the first C(P + n, n).
"""

from typing import NamedTuple

import numba as nb
import numpy as np

MOST_POINTS = 12
MOST_CHECKERS = 15
HOME = 6
EVERYTHING, NEXT_OFF, LEAVE = 0, 1, 2
"""What rolls are counted to: all checkers off; one more off; all moved past point 1 by any number."""

NUM_ROLLS = 21
PIPS_A_ROLL = 49 / 6
OUTSIDE_POINTS = 10
"""Points of the table of mean rolls for sides with checkers outside home."""
WASTE_UNITS = 256
LEAST_SHIFT = 4
"""Row 0 of the shifts is for -4 pips; a filter that sharpens a row more than that is no use."""
LONGEST = 96
"""More rolls than any race needs: 15 checkers on the 24-point take 45 on average."""
_SMALLEST = 1e-10  # chances below are cut off at the ends of a row
_NO_SHIFT = 1e-3  # pips


def _binomials():
    table = np.zeros((MOST_POINTS + 1, MOST_CHECKERS + 2), np.int64)
    for j in range(1, MOST_POINTS + 1):
        for s in range(1, MOST_CHECKERS + 2):
            table[j, s] = 1 if j == 0 else table[j, s - 1] + (table[j - 1, s] if j > 1 else 1)
    return table


BINOMIALS = _binomials()
"""BINOMIALS[j, s] = C(s + j - 1, j)."""


@nb.njit(cache=True, nogil=True)
def count_positions(points, checkers):
    """Positions of at most `checkers` checkers on `points` points."""
    return BINOMIALS[points, checkers] + count_positions(points - 1, checkers) if points else 1


@nb.njit(cache=True, nogil=True)
def fill_counts(number, points, counts):
    """Checkers on points 1..P of position `number` into counts int64 [P + 1], their sum first."""
    rest = number
    above = MOST_CHECKERS + 1
    for j in range(points, 0, -1):
        s = above
        while BINOMIALS[j, s] > rest:
            s -= 1
        rest -= BINOMIALS[j, s]
        if j == points:
            counts[0] = s
        else:  # points P - j and lower hold what the j highest do not
            counts[points - j] = above - s
        above = s
    counts[points] = above


@nb.njit(cache=True, nogil=True)
def number_of(counts, points):
    """Number of the position with counts[1..P] checkers on points 1..P."""
    number = 0
    s = 0
    for j in range(1, points + 1):
        s += counts[points + 1 - j]
        number += BINOMIALS[j, s]
    return number


@nb.njit(cache=True, nogil=True)
def _steps(number, counts, points, goal, drops, after):
    """Numbers of the positions that one die leaves: after int64 [7, P + 1], -1 where it cannot move."""
    s = 0
    drops[0] = 0
    highest = 0
    for j in range(1, points + 1):
        s += counts[points + 1 - j]
        drops[j] = drops[j - 1]
        if s > 0:
            drops[j] += BINOMIALS[j, s] - BINOMIALS[j, s - 1]
            if highest == 0:
                highest = points + 1 - j
    for die in range(1, 7):
        for p in range(1, points + 1):
            after[die, p] = -1
            if counts[p] == 0:
                continue
            if p > die:
                after[die, p] = number - (drops[points - p + die] - drops[points - p])
            elif goal == LEAVE or (highest <= HOME and p in (die, highest)):
                after[die, p] = 0 if goal == NEXT_OFF else number - (drops[points] - drops[points - p])


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
        _steps(number, counts, points, goal, drops, after)
        for die in range(1, 7):
            for k in range(3):
                least = np.inf
                for p in range(1, points + 1):
                    then = after[die, p]
                    if then >= 0:
                        if k > 0:
                            then = np.int64(best[then, k - 1, die])
                        if means[then] < least:
                            least = means[then]
                            best[number, k, die] = then
        low, high = LONGEST, 0
        mean = 1.0
        row[:] = 0
        for high_die in range(1, 7):
            for low_die in range(1, high_die + 1):
                chosen = np.int64(0)
                least = np.inf
                for p in range(1, points + 1):
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
        while row[low] < _SMALLEST:
            low += 1
        while row[high - 1] < _SMALLEST:
            high -= 1
        total = 0.0
        for k in range(low, high):
            total += row[k]
        for k in range(low, high):
            chances[at + k - low] = row[k] / total
        means[number] = mean
        firsts[number] = low
        starts[number + 1] = at + high - low
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
        _steps(number, counts, points, goal, drops, after)
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


@nb.njit(cache=True, nogil=True)
def _add_play(number, first, last, plays):
    """Append `number` to plays[first:last] unless it is there; says the new end."""
    for k in range(first, last):
        if plays[k] == number:
            return last
    plays[last] = number
    return last + 1


@nb.njit(cache=True, nogil=True)
def fill_plays(points, num_positions, firsts, plays):
    """Positions that roll r can leave from position i: plays[firsts[i, r]:firsts[i, r + 1]], int32.

    Rolls in the order of `game.dice.ROLLS`; firsts int64 [N, 22]. Stops when fewer than 256 are free
    and says where.
    """
    counts = np.zeros(points + 1, np.int64)
    drops = np.zeros(points + 1, np.int64)
    after = np.full((num_positions, 7, points + 1), -1, np.int32)
    step = np.zeros((7, points + 1), np.int64)
    held = np.zeros(1024, np.int64)
    more = np.zeros(1024, np.int64)
    end = np.int64(0)
    for number in range(num_positions):
        if len(plays) - end < 256 * NUM_ROLLS:
            return number
        if number > 0:
            fill_counts(number, points, counts)
            _steps(number, counts, points, EVERYTHING, drops, step)
            after[number] = step
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                firsts[number, roll] = end
                held[0] = number
                num_held = 1
                if high == low:
                    for _ in range(4):
                        num_more = 0
                        for k in range(num_held):
                            if held[k] == 0:
                                num_more = _add_play(0, 0, num_more, more)
                            for p in range(1, points + 1):
                                if after[held[k], high, p] >= 0:
                                    num_more = _add_play(after[held[k], high, p], 0, num_more, more)
                        num_held = num_more
                        held[:num_held] = more[:num_held]
                    for k in range(num_held):
                        plays[end + k] = held[k]
                    end += num_held
                else:
                    start = end
                    for way in range(2):
                        one, two = (high, low) if way == 0 else (low, high)
                        for p in range(1, points + 1):
                            between = after[number, one, p]
                            if between == 0:
                                end = _add_play(0, start, end, plays)
                            if between > 0:
                                for q in range(1, points + 1):
                                    if after[between, two, q] >= 0:
                                        end = _add_play(after[between, two, q], start, end, plays)
                roll += 1
        firsts[number, roll] = end
    return num_positions


@nb.njit(cache=True, nogil=True)
def _fill_pair(i, j, firsts, plays, pairs):
    """Equities of position i on roll against j: see `fill_pairs`."""
    none, own, centred, theirs = 0.0, 0.0, 0.0, 0.0
    one = np.float32(1)
    two = np.float32(2)
    for roll in range(NUM_ROLLS):
        best_none = np.float32(-1)
        best_own = np.float32(-2)
        best_centred = np.float32(-2)
        best_theirs = np.float32(-2)
        for k in range(firsts[i, roll], firsts[i, roll + 1]):
            then = plays[k]
            if then == 0:
                best_none = one
                best_own = one
                best_centred = one
                best_theirs = one
                break
            value = pairs[j, then]
            # the opponent is on roll: a cube that he may turn, he turns when it gains
            turned = min(one, two * value[3])
            best_none = max(best_none, -value[0])
            best_own = max(best_own, -value[3])
            best_centred = max(best_centred, -max(value[2], turned))
            best_theirs = max(best_theirs, -max(value[1], turned))
        weight = 2.0
        if roll == 0 or roll == 2 or roll == 5 or roll == 9 or roll == 14 or roll == 20:
            weight = 1.0
        none += weight * best_none
        own += weight * best_own
        centred += weight * best_centred
        theirs += weight * best_theirs
    pairs[i, j, 0] = none / 36
    pairs[i, j, 1] = own / 36
    pairs[i, j, 2] = centred / 36
    pairs[i, j, 3] = theirs / 36


@nb.njit(cache=True, nogil=True)
def fill_pairs(firsts, plays, pairs):
    """Money equities of every pair of positions: pairs float32 [N, N, 4], by unit of the present cube.

    pairs[i, j]: i is on roll. 0: without a cube; 1, 2, 3: after not doubling with the cube owned by the
    player, centred, owned by the opponent. Each has its own best plays. A pair depends on pairs with a
    smaller sum of numbers, of which both numbers are at most as large as the larger one.
    """
    pairs[0] = -1
    for larger in range(1, len(pairs)):
        for j in range(larger):
            if j == 0:
                pairs[larger, 0] = 1
                continue
            _fill_pair(larger, j, firsts, plays, pairs)
        for i in range(1, larger + 1):
            _fill_pair(i, larger, firsts, plays, pairs)


class Tables(NamedTuple):
    """What races are answered from. With `points` 0 there are none, and the arrays are empty."""

    points: int
    """P of the distributions, 6 to 10."""
    starts: np.ndarray
    """int64 [3 N + 1]: rows of the three goals end to end, as in `fill_one_sided`."""
    firsts: np.ndarray
    """uint8 [3 N]."""
    chances: np.ndarray
    """float32."""
    means: np.ndarray
    """float64 [3 N]."""
    waste: np.ndarray
    """int16 [4, M] on OUTSIDE_POINTS points: to all off, to the next off; both with far checkers."""
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
def is_race(board):
    """Whether no checker has to pass an opposing one any more."""
    last = 25
    while last >= 0 and board[last] <= 0:
        last -= 1
    for place in range(last):  # noqa: SIM110 - numba has no generators to give to all()
        if board[place] < 0:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def workspace():
    """Arrays that the functions below work in; the sides are 0 = on roll, 1 = the other."""
    return (
        np.zeros((2, 26), np.int64),  # checkers by point
        np.zeros((2, 4), np.int64),  # facts about a side
        np.zeros((3, LONGEST), np.float64),  # chances of side 0, by rolls that side 1 needs
        np.zeros(LONGEST, np.float64),
        np.zeros(LONGEST, np.float64),
        np.zeros(16, np.int64),
    )


_CHECKERS, _PAIR, _DEEP = 0, 1, 2
"""Facts: checkers left, number in the pairs or -1, checkers in the opponent's home board."""

_DONE, _NONE_OFF, _NOT_OUT = 0, 1, 2
"""By k: side 0 has borne off everything in k rolls; nothing yet; is not out of the other's home."""


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
    while low < LONGEST - 1 and out[low] < _SMALLEST:
        out[low] = 0
        low += 1
    high = np.int64(LONGEST)
    while high > low + 1 and out[high - 1] < _SMALLEST:
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
def row(tables, at, shift, spread, out):
    """Row `at` of the distributions into out float64 [LONGEST], as the kernels use it."""
    if abs(shift) >= _NO_SHIFT:
        _shifted_row(tables, at, shift, spread, out)
        return
    out[:] = 0
    begin = tables.starts[at]
    for k in range(begin, tables.starts[at + 1]):
        out[tables.firsts[at] + k - begin] = tables.chances[k]


@nb.njit(cache=True, nogil=True)
def _expected(tables, at, shift, vector, work):
    """Mean of vector[k] over the rolls k of row `at`."""
    total = 0.0
    if abs(shift) < _NO_SHIFT:
        begin = tables.starts[at]
        first = np.int64(tables.firsts[at]) - begin
        for k in range(begin, tables.starts[at + 1]):
            total += tables.chances[k] * vector[first + k]
        return total
    _, _, _, out, spread, _ = work
    low, high = _shifted_row(tables, at, shift, spread, out)
    for k in range(low, high):
        total += out[k] * vector[k]
    return total


@nb.njit(cache=True, nogil=True)
def find_row(tables, counts, goal, inside):
    """The row for a side with counts int64 [26] by point, and the pips it is to be shifted by.

    A side inside the points of the table has a row of its own. For another it is that of the position
    with the checkers outside on the last three points, shifted to the mean that `waste` gives.
    inside int64 [16] is working space.
    """
    points = tables.points
    base = goal * (len(tables.firsts) // 3)
    is_inside = True
    for p in range(points + 1, 25):
        if counts[p] > 0:
            is_inside = False
    if is_inside:
        return base + number_of(counts, points), 0.0
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
    at = base + number_of(inside, points)
    for p in range(1, OUTSIDE_POINTS + 1):
        inside[p] = counts[p]
    kind = goal
    if far > 0:
        if total == MOST_CHECKERS:
            kind = goal + 2
        else:  # some are off and some far: rare, and the far ones are put side by side
            for p in range(24, OUTSIDE_POINTS, -1):
                for _ in range(counts[p]):
                    target = OUTSIDE_POINTS
                    if inside[target - 1] < inside[target]:
                        target -= 1
                    inside[target] += 1
    waste = tables.waste[kind, number_of(inside, OUTSIDE_POINTS)] / WASTE_UNITS
    return at, pips + waste - tables.means[at] * PIPS_A_ROLL


@nb.njit(cache=True, nogil=True)
def _find_leave_row(tables, counts, inside):
    for p in range(1, tables.points + 1):
        inside[p] = counts[18 + p] if p <= HOME else 0
    return LEAVE * (len(tables.firsts) // 3) + number_of(inside, tables.points)


@nb.njit(cache=True, nogil=True)
def _read_side(board, side, pair_points, pair_checkers, counts, facts):
    """Counts and facts of a side of a board."""
    own = counts[side]
    checkers = 0
    highest = 0
    deep = 0
    for p in range(1, 26):
        count = np.int64(board[p]) if side == 0 else -np.int64(board[25 - p])
        own[p] = max(count, 0)
        if count > 0:
            checkers += count
            highest = p
            if p > 18:
                deep += count
    facts[side, _CHECKERS] = checkers
    facts[side, _DEEP] = deep
    facts[side, _PAIR] = -1
    if highest <= pair_points and checkers <= pair_checkers:
        facts[side, _PAIR] = number_of(own, pair_points)


@nb.njit(cache=True, nogil=True)
def _prepare(tables, num_checkers, work):
    """Fill the chances of side 0, which all that side 1 may be is compared with."""
    counts, facts, chances, out, spread, inside = work
    for vector in range(3):
        if vector == _DONE:
            at, shift = find_row(tables, counts[0], EVERYTHING, inside)
        elif facts[0, _CHECKERS] < num_checkers:
            return
        elif vector == _NONE_OFF:
            at, shift = find_row(tables, counts[0], NEXT_OFF, inside)
        elif facts[0, _DEEP] > 0:
            at, shift = _find_leave_row(tables, counts[0], inside), 0.0
        else:
            return
        row(tables, at, shift, spread, out)
        done = 0.0
        for k in range(LONGEST):
            done = min(done + out[k], 1.0)
            chances[vector, k] = done if vector == _DONE else 1 - done


@nb.njit(cache=True, nogil=True)
def _over(side, num_checkers, facts, probabilities):
    """Outcome of a game that `side` has finished (R12)."""
    size = 0
    if facts[1 - side, _CHECKERS] == num_checkers:
        size = 2 if facts[1 - side, _DEEP] > 0 else 1
    for k in range(6):
        probabilities[k] = 0
    probabilities[2 - size if side == 0 else 3 + size] = 1


@nb.njit(cache=True, nogil=True)
def _is_exact(num_checkers, facts):
    """Whether the pairs hold the position, and no gammon can be lost in it."""
    return (
        facts[0, _PAIR] >= 0
        and facts[1, _PAIR] >= 0
        and max(facts[0, _CHECKERS], facts[1, _CHECKERS]) < num_checkers
    )


@nb.njit(cache=True, nogil=True)
def pair_of(board, tables, num_checkers, work):
    """Numbers of the two sides of a race in the pairs, (-1, -1) where those are not exact; 0 = done."""
    counts, facts = work[0], work[1]
    for side in range(2):
        _read_side(board, side, tables.pair_points, tables.pair_checkers, counts, facts)
    if _is_exact(num_checkers, facts):
        return facts[0, _PAIR], facts[1, _PAIR]
    return np.int64(-1), np.int64(-1)


@nb.njit(cache=True, nogil=True)
def _from_pair(pairs, facts, probabilities):
    """Exact outcome chances of side 0."""
    win = (1 + pairs[facts[0, _PAIR], facts[1, _PAIR], 0]) / 2
    for k in range(6):
        probabilities[k] = 0
    probabilities[2] = win
    probabilities[3] = 1 - win


@nb.njit(cache=True, nogil=True)
def _combine(tables, num_checkers, work, probabilities):
    """Outcome chances of side 0: its prepared chances against the rows of side 1."""
    counts, facts, chances, _, _, inside = work
    win_gammon, win_backgammon, lose_gammon, lose_backgammon = 0.0, 0.0, 0.0, 0.0
    at, shift = find_row(tables, counts[1], EVERYTHING, inside)
    win = min(_expected(tables, at, shift, chances[_DONE], work), 1.0)
    if facts[0, _CHECKERS] == num_checkers:
        lose_gammon = min(_expected(tables, at, shift, chances[_NONE_OFF], work), 1 - win)
        if facts[0, _DEEP] > 0:
            lose_backgammon = min(_expected(tables, at, shift, chances[_NOT_OUT], work), lose_gammon)
    if facts[1, _CHECKERS] == num_checkers:
        at, shift = find_row(tables, counts[1], NEXT_OFF, inside)
        win_gammon = min(_expected(tables, at, shift, chances[_DONE], work), win)
        if facts[1, _DEEP] > 0:
            at = _find_leave_row(tables, counts[1], inside)
            win_backgammon = min(_expected(tables, at, 0.0, chances[_DONE], work), win_gammon)
    probabilities[0] = win_backgammon
    probabilities[1] = win_gammon - win_backgammon
    probabilities[2] = win - win_gammon
    probabilities[3] = 1 - win - lose_gammon
    probabilities[4] = lose_gammon - lose_backgammon
    probabilities[5] = lose_backgammon


@nb.njit(cache=True, nogil=True)
def evaluate(board, tables, num_checkers, work, probabilities):
    """Outcome chances float32 [6] of a race, player on roll; exact if the game is over."""
    counts, facts = work[0], work[1]
    for side in range(2):
        _read_side(board, side, tables.pair_points, tables.pair_checkers, counts, facts)
    for side in range(2):
        if facts[side, _CHECKERS] == 0:
            _over(side, num_checkers, facts, probabilities)
            return
    if _is_exact(num_checkers, facts):
        _from_pair(tables.pairs, facts, probabilities)
        return
    _prepare(tables, num_checkers, work)
    _combine(tables, num_checkers, work, probabilities)


@nb.njit(cache=True, nogil=True)
def best_afterstate(rows, start, end, tables, num_checkers, values, work, best):
    """As `forward.best_afterstate`, for the afterstates of a race."""
    counts, facts = work[0], work[1]
    probabilities = np.empty(6, np.float32)
    chosen = start
    least = np.float32(np.inf)
    _read_side(
        rows[start], 0, tables.pair_points, tables.pair_checkers, counts, facts
    )  # the same in all of them
    ready = False
    for at in range(start, end):
        _read_side(rows[at], 1, tables.pair_points, tables.pair_checkers, counts, facts)
        if facts[1, _CHECKERS] == 0:
            _over(1, num_checkers, facts, probabilities)
        elif facts[0, _CHECKERS] == 0:
            _over(0, num_checkers, facts, probabilities)
        elif _is_exact(num_checkers, facts):
            _from_pair(tables.pairs, facts, probabilities)
        else:
            if not ready:
                _prepare(tables, num_checkers, work)
                ready = True
            _combine(tables, num_checkers, work, probabilities)
        equity = np.float32(0)
        for k in range(6):
            equity += probabilities[k] * values[k]
        if equity < least:
            least = equity
            chosen = at
            for k in range(6):
                best[k] = probabilities[k]
    return chosen


@nb.njit(cache=True, nogil=True)
def evaluate_batch(boards, tables, num_checkers, probabilities):
    """Outcome chances float32 [B, 6] of races."""
    work = workspace()
    for b in range(len(boards)):
        evaluate(boards[b], tables, num_checkers, work, probabilities[b])


@nb.njit(cache=True, nogil=True)
def fill_pair_equities(boards, tables, equities):
    """Entries of the pairs float32 [B, 4] for boards that they hold; NaN for others."""
    work = workspace()
    counts, facts = work[0], work[1]
    for b in range(len(boards)):
        _read_side(boards[b], 0, tables.pair_points, tables.pair_checkers, counts, facts)
        _read_side(boards[b], 1, tables.pair_points, tables.pair_checkers, counts, facts)
        for k in range(4):
            equities[b, k] = np.nan
            if facts[0, _PAIR] >= 0 and facts[1, _PAIR] >= 0:
                equities[b, k] = tables.pairs[facts[0, _PAIR], facts[1, _PAIR], k]


@nb.njit(cache=True, nogil=True)
def fill_mean_rolls(boards, tables, means):
    """Mean rolls of the player's side of each board to bear off everything, float64 [B].

    Stops at a board with a checker on the bar or more than 15, and says where.
    """
    counts = np.zeros(26, np.int64)
    inside = np.zeros(16, np.int64)
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
            at, shift = find_row(tables, counts, EVERYTHING, inside)
            means[b] = tables.means[at] + shift / PIPS_A_ROLL
    return len(boards)


@nb.njit(cache=True, nogil=True)
def fill_distributions(boards, tables, goal, distributions):
    """Chance of k = 0, 1, 2 ... rolls to `goal` of the player's side: float64 [B, LONGEST]."""
    counts = np.zeros(26, np.int64)
    inside = np.zeros(16, np.int64)
    spread = np.zeros(LONGEST, np.float64)
    for b in range(len(boards)):
        for p in range(1, 25):
            counts[p] = max(boards[b, p], 0)
        if goal == LEAVE:
            row(tables, _find_leave_row(tables, counts, inside), 0.0, spread, distributions[b])
        else:
            at, shift = find_row(tables, counts, goal, inside)
            row(tables, at, shift, spread, distributions[b])
