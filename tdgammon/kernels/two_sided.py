"""Building the two-sided table: money equities of every pair of small positions, with a cube."""

import numba as nb
import numpy as np

from tdgammon.kernels.one_side import EVERYTHING, fill_counts, fill_steps

NUM_ROLLS = 21


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
            fill_steps(number, counts, points, EVERYTHING, drops, step)
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
    pairs[0] = 1  # who has borne off has won
    for larger in range(1, len(pairs)):
        for j in range(larger):
            if j == 0:
                pairs[larger, 0] = -1
                continue
            _fill_pair(larger, j, firsts, plays, pairs)
        for i in range(1, larger + 1):
            _fill_pair(i, larger, firsts, plays, pairs)
