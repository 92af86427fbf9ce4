"""Classes of positions, each of which a network with specialists values by weights of its own.

A side's checkers are back while they stand in the other side's home board or on the bar. What a game
turns on depends on who has some, and on whether they are as many as in a back game or a blitz.
"""

import numba as nb
import numpy as np

NUM_CLASSES = 5
BOTH_BACK, OWN_BACK, OPPONENT_BACK, OWN_MANY, OPPONENT_MANY = range(NUM_CLASSES)
"""Either side has one or two checkers back; the player has, and the opponent none; the player has none;
somebody has three or more, and the player as many as the opponent; the opponent has more."""

_MANY = 3
_HOME = 7  # places: six points and the bar


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _class(own, opposing):
    if max(own, opposing) >= _MANY:
        return OWN_MANY if own >= opposing else OPPONENT_MANY
    if own == 0:
        return OPPONENT_BACK
    return BOTH_BACK if opposing > 0 else OWN_BACK


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _back(cells):
    """Checkers of the player and of the opponent that are back."""
    own = 0
    opposing = 0
    for place in range(_HOME):
        own += max(np.int64(cells[25 - place]), 0)
        opposing -= min(np.int64(cells[place]), 0)
    return own, opposing


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def of(cells):
    """The class of a position by its counts, those of a board [26] or more."""
    own, opposing = _back(cells)
    return _class(own, opposing)


@nb.njit(cache=True, nogil=True)
def fill(boards, shifts, classes):
    """Classes int64 [B] of boards [B, 26], as if shifts int8 [B, 2] more checkers of the player and of
    the opponent were back."""
    for b in range(len(boards)):
        own, opposing = _back(boards[b])
        classes[b] = _class(max(own + shifts[b, 0], 0), max(opposing + shifts[b, 1], 0))
