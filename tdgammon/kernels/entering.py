"""Building the tables of the rolls until a first checker is off, for sides with checkers outside.

A state is the checkers on points 7..6 + P, exactly, and a summary of the home board: either the gaps
in it (width 64, bit p - 1 for a home point p that is empty) or nothing, as if there were none (width
1). Its row is 1 + number * width + gaps, where number is that of the outside checkers; row 0 is "one
is off". Neglected: a home point that is occupied stays so.
"""

import numba as nb
import numpy as np

from tdgammon.kernels.one_side import HOME, LEAVE, fill_counts, fill_steps
from tdgammon.kernels.one_sided import LONGEST, fill_best, fill_row


@nb.njit(cache=True, nogil=True)
def _fill_home_steps(number, gaps, width, after):
    """Add the rows that one die leaves by a move inside home to after int64 [7, P + 1 + HOME].

    With every checker at home, number 0, it bears one off where the rules let it: row 0. Before, a
    move inside home is of use where it fills a gap.
    """
    held = width - 1 - gaps
    for die in range(1, 7):
        after[die, after.shape[1] - HOME :] = -1
        if number == 0:
            after[die] = -1
            if held >> (die - 1) in (0, 1) or held >> (die - 1) & 1:
                after[die, 1] = 0
                continue
        for p in range(die + 1, HOME + 1):
            to = 1 << (p - die - 1)
            if held >> (p - 1) & 1 and (number == 0 or gaps & to):
                after[die, after.shape[1] - p] = 1 + number * width + (gaps & ~to)


@nb.njit(cache=True, nogil=True)
def _fill_outside_steps(number, gaps, width, counts, points, drops, after):
    """Rows that one die leaves by a move of a checker outside: after int64 [7, P + 1 + HOME]."""
    fill_counts(number, points, counts)
    fill_steps(number, counts, points, LEAVE, drops, after)
    for die in range(1, 7):
        for p in range(1, points + 1):
            if after[die, p] >= 0:
                left = gaps
                if width > 1 and p <= die:
                    left &= ~(1 << (p + HOME - die - 1))
                after[die, p] = 1 + after[die, p] * width + left


@nb.njit(cache=True, nogil=True)
def fill_entering(points, width, at_home, first, last, means, best, starts, firsts, chances):
    """Distributions of the rolls until the first checker is off: rows first..last - 1.

    at_home float64 [width, LONGEST]: those with every checker at home, by the gaps. The rest, and
    what comes back, as in `one_sided.fill_one_sided`.
    """
    counts = np.zeros(points + 1, np.int64)
    drops = np.zeros(points + 1, np.int64)
    after = np.full((7, points + 1 + HOME), -1, np.int64)
    row = np.zeros(LONGEST + 1, np.float64)
    if first == 0:
        best[0] = 0
        firsts[0] = 0
        means[0] = 0
        chances[0] = 1
        starts[1] = 1
        for gaps in range(width):
            low, high = 0, LONGEST
            while at_home[gaps, low] == 0:
                low += 1
            while at_home[gaps, high - 1] == 0:
                high -= 1
            firsts[1 + gaps] = low
            means[1 + gaps] = 0
            starts[2 + gaps] = starts[1 + gaps] + high - low
            for k in range(low, high):
                chances[starts[1 + gaps] + k - low] = at_home[gaps, k]
                means[1 + gaps] += k * at_home[gaps, k]
        for gaps in range(width):  # moves inside home leave fewer gaps
            _fill_home_steps(0, gaps, width, after)
            fill_best(1 + gaps, after, means, best)
        first = 1 + width
    for at in range(first, last):
        if len(chances) - starts[at] < LONGEST:
            return at
        number, gaps = (at - 1) // width, (at - 1) % width
        _fill_outside_steps(number, gaps, width, counts, points, drops, after)
        if width > 1:
            _fill_home_steps(number, gaps, width, after)
        fill_best(at, after, means, best)
        fill_row(at, after, means, best, starts, firsts, chances, row)
    return last
