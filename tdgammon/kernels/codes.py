"""The cells of a position: counts on the places of a board, and codes of what stands on several.

A code depends on which places hold a checker of a side and which are made points of one. These are
kept as four masks, a bit a place, from which codes come without a loop over points.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import shots
from tdgammon.kernels.bits import lowest_bit, num_bits
from tdgammon.kernels.shots import ANY_SHOT, OTHER_SIDE

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
NUM_MASKS = 4
OWN, OPPOSING, OWN_MADE, OPPOSING_MADE = range(NUM_MASKS)
"""Masks: places with a checker of the player or the opponent, and with two or more. Above them, from
bit `OTHER_SIDE` on, the places of the other of them as he numbers them."""
_MIRRORED = OTHER_SIDE + 25

_FIRST_WINDOW = NUM_PLACES + NUM_PAIRS
FIRST_SHOT = _FIRST_WINDOW + NUM_WINDOWS
_PAIRS = (1 << NUM_PAIRS) - 1
_WINDOWS = ((1 << NUM_WINDOWS) - 1) << 1
"""Bits 1 .. 19, the first point of each window."""


@nb.njit(cache=True, nogil=True, _nrt=False)
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
        for place in range(NUM_PLACES, min(len(cells), FIRST_SHOT)):
            cells[place] = code(place, masks)
        if len(cells) > FIRST_SHOT:
            cells[FIRST_SHOT:] = 0
            counts = shots.rolls_that_hit(
                masks[OWN], masks[OPPOSING], masks[OWN_MADE], masks[OPPOSING_MADE]
            )
            left = shots.counted(counts)
            while left:
                row = _shot_row(counts, lowest_bit(left))
                left &= left - 1
                cells[row // NUM_COUNTS] = row % NUM_COUNTS - ZERO


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def mark(place, count, masks):
    """Bring the masks up to date with the count on a place of the board."""
    bit = np.int64(1) << place
    mirrored = np.int64(1) << (_MIRRORED - place)
    keep = ~(bit | mirrored)
    masks[OWN] = masks[OWN] & keep | (bit if count > 0 else mirrored if count < 0 else 0)
    masks[OPPOSING] = masks[OPPOSING] & keep | (bit if count < 0 else mirrored if count > 0 else 0)
    masks[OWN_MADE] = masks[OWN_MADE] & keep | (bit if count > 1 else mirrored if count < -1 else 0)
    masks[OPPOSING_MADE] = masks[OPPOSING_MADE] & keep | (
        bit if count < -1 else mirrored if count > 1 else 0
    )


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _up_to_2(place, masks):
    """Checkers on a place, opposing ones negative, as far as 2."""
    return (
        (masks[OWN] >> place & 1)
        + (masks[OWN_MADE] >> place & 1)
        - (masks[OPPOSING] >> place & 1)
        - (masks[OPPOSING_MADE] >> place & 1)
    )


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
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


@nb.njit(cache=True, nogil=True, _nrt=False)
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
    return num_changes


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _six_below(bits):
    """Each bit set, and the five below it."""
    bits |= bits >> 1 | bits >> 2
    return bits | bits >> 3


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _update(place, cells, masks, changes, num_changes):
    old = np.int64(cells[place])
    new = code(place, masks)
    if new == old:
        return num_changes
    cells[place] = new
    changes[num_changes, 0] = NUM_COUNTS * place + new + ZERO
    changes[num_changes, 1] = NUM_COUNTS * place + old + ZERO
    return num_changes + 1


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _shot_row(counts, bit):
    """Index in a table (31 times the place, and the code + 15) of the shots counted at a bit.

    A code is half of the rolls of 36 that hit, rounded up, and 15 for more than 30; negative where it
    is the player's blot, or the opponent's rolls.
    """
    code = min(shots.half_of(counts, bit), 15)
    place = FIRST_SHOT - 1 + bit
    if bit >= OTHER_SIDE:
        code = -code
        place = FIRST_SHOT - 1 + OTHER_SIDE + 25 - bit
    if bit == ANY_SHOT:
        place = FIRST_SHOT + 24
    if bit == OTHER_SIDE + ANY_SHOT:
        place = FIRST_SHOT + 25
    return NUM_COUNTS * place + code + ZERO


@nb.njit(cache=True, nogil=True, _nrt=False)
def shot_rows(masks, rows):
    """The codes of shots that are not 0 as indices of a table in rows int64
    [26]; how many."""
    counts = shots.rolls_that_hit(masks[OWN], masks[OPPOSING], masks[OWN_MADE], masks[OPPOSING_MADE])
    left = shots.counted(counts)
    num_rows = 0
    while left:
        rows[num_rows] = _shot_row(counts, lowest_bit(left))
        left &= left - 1
        num_rows += 1
    return num_rows
