"""Shots: how many of the 36 rolls hit each blot, for both sides at once.

A word holds places of the player in its lower half and places of the opponent, as he numbers them,
in its upper half, so that one shift moves the checkers of both by a die. A checker moves alone or, when
one on the bar has entered, after that one; rules that force other plays are not looked at. With two
checkers or more on the bar only those that enter hit.
"""

import numba as nb

OTHER_SIDE = 32
"""Bits by which the opponent's half is further up."""
ANY_SHOT = 26
"""The bit of a half that counts rolls that hit any blot."""

_BOTH = 1 | 1 << OTHER_SIDE
_POINTS = (((1 << 24) - 1) << 1) * _BOTH
_PLACES = (1 << 26) - 1
_CARRY = ((1 << ANY_SHOT) - 2) * _BOTH
"""Added to hits, it sets the bit of any shot where there is one."""
_ANY = (1 << ANY_SHOT) * _BOTH


@nb.njit(cache=True, nogil=True, inline="always")
def _first(others, bars, free, die):
    """Where checkers are after one die, and where those are that may move on."""
    landed = others >> die & free
    if bars == 0:
        return landed, landed
    entered = bars << (25 - die) & free
    landed = landed & ~(bars * _PLACES) | entered
    return landed, landed | others & (entered >> (25 - die)) * _PLACES


@nb.njit(cache=True, nogil=True, inline="always")
def _with_any(hits):
    return hits | (hits + _CARRY) & _ANY


@nb.njit(cache=True, nogil=True, inline="always")
def _by_double(first, free, going_on, blots, die):
    landed, may_move = first
    moved = may_move >> die & free
    moved |= moved >> die & free
    moved |= moved >> die & free
    return _with_any((landed | moved & going_on) & blots)


@nb.njit(cache=True, nogil=True, inline="always")
def _by_two(first_a, first_b, going_on, blots, a, b):
    landed_a, may_move_a = first_a
    landed_b, may_move_b = first_b
    moved = may_move_a >> b | may_move_b >> a
    return _with_any((landed_a | landed_b | moved & going_on) & blots)


@nb.njit(cache=True, nogil=True, inline="always")
def _add(a, b, c):
    """Three bits a place as their sum: ones and twos."""
    return a ^ b ^ c, a & b | c & (a ^ b)


@nb.njit(cache=True, nogil=True)
def rolls_that_hit(movers, targets, movers_made, targets_made):
    """Six words whose bits say 1, 2, 4 ... 32 of the rolls that hit, at points of blots and `ANY_SHOT`.

    From words of places with checkers of the side that rolls and of the other, and with two or more.
    """
    none = movers & 0
    blots = targets & ~targets_made & _POINTS
    if blots == 0:
        return none, none, none, none, none, none
    free = _POINTS & ~targets_made
    others = movers & _POINTS
    bars = movers >> 25 & _BOTH
    going_on = ~((movers_made >> 25 & _BOTH) * _PLACES)
    f1 = _first(others, bars, free, 1)
    f2 = _first(others, bars, free, 2)
    f3 = _first(others, bars, free, 3)
    f4 = _first(others, bars, free, 4)
    f5 = _first(others, bars, free, 5)
    f6 = _first(others, bars, free, 6)
    # doubles are one roll each, other throws two
    a, carry_1 = _add(
        _by_double(f1, free, going_on, blots, 1),
        _by_double(f2, free, going_on, blots, 2),
        _by_double(f3, free, going_on, blots, 3),
    )
    b, carry_2 = _add(
        _by_double(f4, free, going_on, blots, 4),
        _by_double(f5, free, going_on, blots, 5),
        _by_double(f6, free, going_on, blots, 6),
    )
    ones = a ^ b
    two_a, four_a = _add(carry_1, carry_2, a & b)
    two_b, four_b = _add(
        _by_two(f1, f2, going_on, blots, 1, 2),
        _by_two(f1, f3, going_on, blots, 1, 3),
        _by_two(f1, f4, going_on, blots, 1, 4),
    )
    two_c, four_c = _add(
        _by_two(f1, f5, going_on, blots, 1, 5),
        _by_two(f1, f6, going_on, blots, 1, 6),
        _by_two(f2, f3, going_on, blots, 2, 3),
    )
    two_d, four_d = _add(
        _by_two(f2, f4, going_on, blots, 2, 4),
        _by_two(f2, f5, going_on, blots, 2, 5),
        _by_two(f2, f6, going_on, blots, 2, 6),
    )
    two_e, four_e = _add(
        _by_two(f3, f4, going_on, blots, 3, 4),
        _by_two(f3, f5, going_on, blots, 3, 5),
        _by_two(f3, f6, going_on, blots, 3, 6),
    )
    two_f, four_f = _add(
        _by_two(f4, f5, going_on, blots, 4, 5),
        _by_two(f4, f6, going_on, blots, 4, 6),
        _by_two(f5, f6, going_on, blots, 5, 6),
    )
    two_a, four_g = _add(two_a, two_b, two_c)
    two_d, four_h = _add(two_d, two_e, two_f)
    twos = two_a ^ two_d
    four_a, eight_a = _add(four_a, four_b, four_c)
    four_d, eight_b = _add(four_d, four_e, four_f)
    four_g, eight_c = _add(four_g, four_h, two_a & two_d)
    fours, eight_d = _add(four_a, four_d, four_g)
    eight_a, sixteen_a = _add(eight_a, eight_b, eight_c)
    eights = eight_a ^ eight_d
    sixteen_b = eight_a & eight_d
    return ones, twos, fours, eights, sixteen_a ^ sixteen_b, sixteen_a & sixteen_b


@nb.njit(cache=True, nogil=True, inline="always")
def counted(counts):
    """Bits at which `rolls_that_hit` counts any roll."""
    ones, twos, fours, eights, sixteens, many = counts
    return ones | twos | fours | eights | sixteens | many


@nb.njit(cache=True, nogil=True, inline="always")
def half_of(counts, bit):
    """Half of the rolls that `rolls_that_hit` counts at a bit, rounded up."""
    ones, twos, fours, eights, sixteens, many = counts
    return (
        (ones >> bit & 1)
        + (twos >> bit & 1)
        + ((fours >> bit & 1) << 1)
        + ((eights >> bit & 1) << 2)
        + ((sixteens >> bit & 1) << 3)
        + ((many >> bit & 1) << 4)
    )
