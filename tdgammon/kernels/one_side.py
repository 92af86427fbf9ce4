"""One side's checkers as a number, and the moves of one die.

Positions on points 1..P are numbered so that every play leads to a smaller number: with s[j] =
checkers on the j highest points, the number is the sum over j of C(s[j] + j - 1, j). It does not
depend on how many checkers are allowed: positions of at most n checkers are the first C(P + n, n).
"""

import numba as nb
import numpy as np

MOST_POINTS = 24
MOST_CHECKERS = 15
HOME = 6
EVERYTHING, NEXT_OFF, LEAVE = 0, 1, 2
"""What rolls are counted to: all checkers off; one more off; all moved past point 1 by any number."""


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
def fill_steps(number, counts, points, goal, drops, after):
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
