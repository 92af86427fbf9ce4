"""The cells of a position: counts on the places of a board, and codes of what stands on several.

A code depends on which places hold a checker of a side and which are made points of one. These are
kept as four masks, a bit a place, from which codes come without a loop over points.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import shots
from tdgammon.kernels.bits import from_other_side, lowest_bit, num_bits
from tdgammon.kernels.shots import ANY_SHOT, MASK_POINTS, OTHER_SIDE

NUM_PLACES = 28
"""Places of a board: its 26, and the two trays of checkers borne off."""
NUM_PAIRS = 25
"""Places 28 .. 52: places 0 and 1, 1 and 2, ... 24 and 25 of the board together."""
NUM_WINDOWS = 19
"""Places 53 .. 71: the points 1 .. 6, 2 .. 7, ... 19 .. 24 and a checker before them."""
NUM_SHOTS = 26
"""Places 72 .. 97: the points 1 .. 24 and the rolls that hit a blot there; rolls of the player, and of
the opponent, that hit any."""
NUM_COUNTS = 31
ZERO = 15
"""Index of count 0 on the count axis."""
OWN_OFF, OPPONENT_OFF = 26, 27
NUM_MASKS = 10
OWN, OPPOSING, OWN_MADE, OPPOSING_MADE, SHOTS = range(5)
"""Masks: places with a checker of the player or the opponent, and with two or more; the first of the six
words of `shots.count_shots`."""

_FIRST_WINDOW = NUM_PLACES + NUM_PAIRS
_FIRST_SHOT = _FIRST_WINDOW + NUM_WINDOWS
MOST_CHANGES = NUM_PAIRS + NUM_WINDOWS + NUM_SHOTS
"""Codes that a step can change."""
_PAIRS = (1 << NUM_PAIRS) - 1
_WINDOWS = ((1 << NUM_WINDOWS) - 1) << 1
"""Bits 1 .. 19, the first point of each window."""


@nb.njit(cache=True, nogil=True)
def fill(board, num_checkers, cells, masks):
    """Cells int8 [28], or more with codes, of a board of `num_checkers` a side; masks int64 [4].

    Without codes the masks are left as they are.
    """
    own = 0
    opposing = 0
    for place in range(26):
        count = board[place]
        cells[place] = count
        if count > 0:
            own += count
        else:
            opposing -= count
    cells[OWN_OFF] = num_checkers - own
    cells[OPPONENT_OFF] = opposing - num_checkers
    if len(cells) > NUM_PLACES:
        masks[:] = 0
        for place in range(26):
            mark(place, np.int64(board[place]), masks)
        for place in range(NUM_PLACES, min(len(cells), _FIRST_SHOT)):
            cells[place] = code(place, masks)
        if len(cells) > _FIRST_SHOT:
            cells[_FIRST_SHOT:] = 0
            _update_shots(cells, masks, masks, np.empty((NUM_SHOTS, 2), np.int64), 0)


@nb.njit(cache=True, nogil=True, inline="always")
def mark(place, count, masks):
    """Bring the masks up to date with the count on a place of the board."""
    bit = np.int64(1) << place
    masks[OWN] = masks[OWN] & ~bit | (bit if count > 0 else 0)
    masks[OPPOSING] = masks[OPPOSING] & ~bit | (bit if count < 0 else 0)
    masks[OWN_MADE] = masks[OWN_MADE] & ~bit | (bit if count > 1 else 0)
    masks[OPPOSING_MADE] = masks[OPPOSING_MADE] & ~bit | (bit if count < -1 else 0)


@nb.njit(cache=True, nogil=True, inline="always")
def _up_to_2(place, masks):
    """Checkers on a place, opposing ones negative, as far as 2."""
    return (
        (masks[OWN] >> place & 1)
        + (masks[OWN_MADE] >> place & 1)
        - (masks[OPPOSING] >> place & 1)
        - (masks[OPPOSING_MADE] >> place & 1)
    )


@nb.njit(cache=True, nogil=True, inline="always")
def code(place, masks):
    """The code, -15 .. 15, of a pair or a window.

    Of a pair: 5 a + b for a and b checkers on its two places, as far as 2 a side. Of a window: with
    the player's checker on the point above it, the points in it that the opponent has made, 0 .. 6;
    with the opponent's below it, less those that the player has made; with both, one of the codes
    that are left over.
    """
    if place < _FIRST_WINDOW:
        first = place - NUM_PLACES
        return 5 * _up_to_2(first, masks) + _up_to_2(first + 1, masks)
    first = place - _FIRST_WINDOW + 1
    ahead = num_bits(masks[OPPOSING_MADE] >> first & 63) * (masks[OWN] >> (first + 6) & 1)
    behind = num_bits(masks[OWN_MADE] >> first & 63) * (masks[OPPOSING] >> (first - 1) & 1)
    if behind == 0:
        return ahead
    if ahead == 0:
        return -behind
    number = (ahead + behind - 1) * (ahead + behind - 2) // 2 + ahead - 1  # 0 .. 14
    return 7 + number if number < 9 else 2 - number


@nb.njit(cache=True, nogil=True)
def update_codes(cells, before, masks, changes):
    """Bring the codes in `cells` from the masks `before` to `masks`; how many of them changed.

    changes int64 [N, 2] gets the index (31 times the place, and the code + 15) of each in a table,
    after and before.
    """
    own = before[OWN] ^ masks[OWN]
    opposing = before[OPPOSING] ^ masks[OPPOSING]
    own_made = before[OWN_MADE] ^ masks[OWN_MADE]
    opposing_made = before[OPPOSING_MADE] ^ masks[OPPOSING_MADE]
    either = own | opposing | own_made | opposing_made
    num_changes = 0
    left = (either | either >> 1) & _PAIRS
    while left:
        place = NUM_PLACES + lowest_bit(left)
        left &= left - 1
        num_changes = _update(place, cells, masks, changes, num_changes)
    if len(cells) > _FIRST_WINDOW:
        # a window sees the points in it with a checker before them, and whether there is one
        left = _six_below(opposing_made) & masks[OWN] >> 6
        left |= _six_below(own_made) & masks[OPPOSING] << 1
        left = (left | own >> 6 | opposing << 1) & _WINDOWS
        while left:
            place = _FIRST_WINDOW - 1 + lowest_bit(left)
            left &= left - 1
            num_changes = _update(place, cells, masks, changes, num_changes)
    if len(cells) > _FIRST_SHOT:
        num_changes = _update_shots(cells, before, masks, changes, num_changes)
    return num_changes


@nb.njit(cache=True, nogil=True, inline="always")
def _six_below(bits):
    """Each bit set, and the five below it."""
    bits |= bits >> 1 | bits >> 2
    return bits | bits >> 3


@nb.njit(cache=True, nogil=True, inline="always")
def _update(place, cells, masks, changes, num_changes):
    return _set(place, code(place, masks), cells, changes, num_changes)


@nb.njit(cache=True, nogil=True, inline="always")
def _set(place, new, cells, changes, num_changes):
    old = np.int64(cells[place])
    if new == old:
        return num_changes
    cells[place] = new
    changes[num_changes, 0] = NUM_COUNTS * place + new + ZERO
    changes[num_changes, 1] = NUM_COUNTS * place + old + ZERO
    return num_changes + 1


@nb.njit(cache=True, nogil=True, inline="always")
def _update_shots(cells, before, masks, changes, num_changes):
    """`update_codes` for shots.

    A code is half of the rolls of 36 that hit, rounded up, and 15 for more than 30; negative where it is
    the player's blot, or the opponent's rolls.
    """
    changed = shots.count_shots(
        masks[OWN],
        masks[OPPOSING],
        masks[OWN_MADE],
        masks[OPPOSING_MADE],
        before[SHOTS:],
        masks[SHOTS:],
    )
    left = (changed | from_other_side(changed >> OTHER_SIDE)) & MASK_POINTS
    while left:
        point = lowest_bit(left)
        left &= left - 1
        new = shots.half_of(masks[SHOTS:], point)
        if new == 0:
            new = -shots.half_of(masks[SHOTS:], OTHER_SIDE + 25 - point)
        num_changes = _set(_FIRST_SHOT + point - 1, new, cells, changes, num_changes)
    if changed >> ANY_SHOT & 1:
        new = shots.half_of(masks[SHOTS:], ANY_SHOT)
        num_changes = _set(_FIRST_SHOT + 24, new, cells, changes, num_changes)
    if changed >> (OTHER_SIDE + ANY_SHOT) & 1:
        new = -shots.half_of(masks[SHOTS:], OTHER_SIDE + ANY_SHOT)
        num_changes = _set(_FIRST_SHOT + 25, new, cells, changes, num_changes)
    return num_changes
