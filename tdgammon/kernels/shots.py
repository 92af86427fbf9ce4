"""Shots: how many of the 36 rolls hit each blot, for both sides at once.

A word holds the places of the player in its lower half and those of the opponent, as he numbers them,
in its upper half, so that one shift moves the checkers of both by a die. A checker moves alone or, when
one on the bar has entered, after that one; rules that force other plays are not looked at. With two
checkers or more on the bar only those that enter hit.
"""

import numba as nb
import numpy as np

from tdgammon.kernels.bits import from_other_side

OTHER_SIDE = 32
"""Bits by which the opponent's half is further up."""
MASK_POINTS = ((1 << 24) - 1) << 1
"""Bits 1 .. 24."""
ANY_SHOT = 26
"""The bit of a half that counts rolls that hit any blot."""

_BOTH = 1 | 1 << OTHER_SIDE
_POINTS = MASK_POINTS * _BOTH
_PLACES = (1 << 26) - 1
_CARRY = ((1 << ANY_SHOT) - 2) * _BOTH
"""Added to hits, it sets the bit of any shot where there is one."""
_ANY = (1 << ANY_SHOT) * _BOTH


@nb.njit(cache=True, nogil=True, inline="always")
def _plus_one(counts, places):
    ones, twos, fours, eights, sixteens, many = counts
    carry = ones & places
    return _plus_two((ones ^ places, twos, fours, eights, sixteens, many), carry)


@nb.njit(cache=True, nogil=True, inline="always")
def _plus_two(counts, places):
    ones, twos, fours, eights, sixteens, many = counts
    carry = twos & places
    twos ^= places
    places = carry
    carry = fours & places
    fours ^= places
    places = carry
    carry = eights & places
    eights ^= places
    places = carry
    carry = sixteens & places
    sixteens ^= places
    return ones, twos, fours, eights, sixteens, many ^ carry


@nb.njit(cache=True, nogil=True, inline="always")
def _enter(bars, free, die):
    """Where a checker enters, and the halves, as all their places, in which it does."""
    entered = (bars << (25 - die)) & free
    return entered, (entered >> (25 - die)) * _PLACES


@nb.njit(cache=True, nogil=True)
def count_shots(own, opposing, own_made, opposing_made, before, counts):
    """Count the rolls that hit, at the points of blots and `ANY_SHOT`; the bits of all changes.

    From sets of places: with checkers of the player and the opponent, and with two or more. The bits of
    counts int64 [6] say 1, 2, 4 ... 32 rolls; `before` has those that changes are from.
    """
    found = _rolls_that_hit(own, opposing, own_made, opposing_made)
    changed = np.int64(0)
    for k in range(6):
        changed |= found[k] ^ before[k]
        counts[k] = found[k]
    return changed


@nb.njit(cache=True, nogil=True, inline="always")
def half_of(counts, place):
    """Half of the rolls counted at a place, rounded up; 15 at most."""
    halves = (
        (counts[0] >> place & 1)
        + (counts[1] >> place & 1)
        + ((counts[2] >> place & 1) << 1)
        + ((counts[3] >> place & 1) << 2)
        + ((counts[4] >> place & 1) << 3)
        + ((counts[5] >> place & 1) << 4)
    )
    return min(halves, 15)


@nb.njit(cache=True, nogil=True)
def _rolls_that_hit(own, opposing, own_made, opposing_made):
    counts = (np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0))
    blots = opposing & ~opposing_made | from_other_side(own & ~own_made) << OTHER_SIDE
    blots &= _POINTS
    if blots == 0:
        return counts
    movers = own | from_other_side(opposing) << OTHER_SIDE
    free = _POINTS & ~(opposing_made | from_other_side(own_made) << OTHER_SIDE)
    others = movers & _POINTS
    bars = movers >> 25 & _BOTH
    if bars == 0:
        for a in range(1, 7):
            first = others >> a & free
            moved = first >> a & free
            moved |= moved >> a & free
            moved |= moved >> a & free
            hits = (first | moved) & blots
            counts = _plus_one(counts, hits | (hits + _CARRY) & _ANY)
            for b in range(a + 1, 7):
                second = others >> b & free
                hits = (first | second | first >> b | second >> a) & blots
                counts = _plus_two(counts, hits | (hits + _CARRY) & _ANY)
        return counts
    made = own_made | from_other_side(opposing_made) << OTHER_SIDE
    waiting = bars * _PLACES
    entering_only = (made >> 25 & _BOTH) * _PLACES
    for a in range(1, 7):
        entered, may_move = _enter(bars, free, a)
        first = others >> a & free & ~waiting | entered
        first_then = first | others & may_move
        moved = first_then >> a & free
        moved |= moved >> a & free
        moved |= moved >> a & free
        hits = (first | moved & ~entering_only) & blots
        counts = _plus_one(counts, hits | (hits + _CARRY) & _ANY)
        for b in range(a + 1, 7):
            entered, may_move = _enter(bars, free, b)
            second = others >> b & free & ~waiting | entered
            second_then = second | others & may_move
            moved = first_then >> b | second_then >> a
            hits = (first | second | moved & ~entering_only) & blots
            counts = _plus_two(counts, hits | (hits + _CARRY) & _ANY)
    return counts
