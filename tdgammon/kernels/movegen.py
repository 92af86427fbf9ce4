"""Every distinct afterstate of a roll (R1-R12), without a table of boards seen.

Bit sets say where a die can be played from, and duplicates are avoided by construction:

- A double is played from sources that never rise. A board then has exactly one such sequence,
  because the number of steps taken from each place follows from the board, highest place first.
- Other rolls are played high die first, from the highest place down, and then low die first. What
  is left out are boards that an earlier sequence leaves: in the first kind there is one way of
  meeting a board twice (`_same_as_running_on`), in the second there are three (`_met_before`).

A step is one checker moved by one die, packed in a byte as source * 8 + die; 0 is no step.
"""

import numba as nb
import numpy as np

from tdgammon.kernels.bits import highest_bit

ROW_BOUND = 20_475
"""No roll has more afterstates: 4 steps from 25 places, C(28, 4) multisets."""

SCRATCH = 32
"""Length of the int64 scratch array that `generate` wants."""

FIRST = np.int64(0)
"""First row of a buffer. A plain 0 is a type of its own to numba: it would compile all this twice."""

_NONE, _FOUR = np.int64(0), np.int64(4)
_BAR = 1 << 25
_OUTSIDE = ~0x7F  # places above 6, the bar included


@nb.njit(cache=True, nogil=True, inline="always")
def _sources(own, free, die):
    """Places a checker can be moved from by `die`: own = places held, free = points not closed."""
    if own & _BAR:
        return ((free >> (25 - die)) & 1) << 25
    found = own & (free << die)
    if not own & _OUTSIDE:
        if own >> (die + 1):
            found |= own & (1 << die)
        elif own:
            found |= 1 << highest_bit(own)
    return found


@nb.njit(cache=True, nogil=True, inline="always")
def _after(board, own, source, die):
    """Places held after one checker moved."""
    if board[source] == 1:
        own &= ~(1 << source)
    if source > die:
        own |= 1 << (source - die)
    return own


@nb.njit(cache=True, nogil=True, inline="always")
def _copy(row, flipped):
    for place in range(26):
        row[place] = flipped[place]


@nb.njit(cache=True, nogil=True, inline="always")
def move(row, source, die):
    """Play one step on a flipped board; says whether it hit."""
    row[25 - source] += 1
    place = 25 - source + die
    hit = False
    if place < 25:
        if row[place] == 1:
            row[place] = 0
            row[25] += 1
            hit = True
        row[place] -= 1
    return hit


@nb.njit(cache=True, nogil=True, inline="always")
def take_back(row, source, die, hit):
    """Undo `move`."""
    row[25 - source] -= 1
    place = 25 - source + die
    if place < 25:
        row[place] += 1
        if hit:
            row[place] = 1
            row[25] -= 1


@nb.njit(cache=True, nogil=True, inline="always")
def _same_as_running_on(blots, first, high, low, source, other):
    """Whether `source` by high, `other` by low leaves what `other` leaves by playing both dice.

    That is so when `other` fills the place that `source` left and its own way hits nothing in passing.
    """
    return (
        other == source + low
        and other > high
        and (first[other] >> (other - high)) & 1 == 1
        and (blots >> (other - high)) & 1 == 0
    )


@nb.njit(cache=True, nogil=True)
def _met_before(blots, first, high, low, source, other):
    """Whether `source` by low, then `other` by high leaves a board that high-first play leaves too.

    first[x] = sources of the low die after the high one was played from x; 0 if it cannot be.
    """
    # the same two checkers, high die first
    if (first[other] >> source) & 1:
        return True
    # one checker plays both dice: the way round matters only if it hits in passing
    if (
        other == source - low
        and source > high
        and (first[source] >> (source - high)) & 1
        and not ((blots >> (source - low)) & 1 or (blots >> (source - high)) & 1)
    ):
        return True
    # two checkers borne off: which die took which does not show
    if source <= low and other <= high and source <= high and other <= low:
        return (first[source] >> other) & 1 == 1
    return False


@nb.njit(cache=True, nogil=True, inline="always")
def _write_pair(rows, steps, at, flipped, source, die, other, other_die):
    """The afterstate of two steps, the first from `source`."""
    row = rows[at]
    _copy(row, flipped)
    move(row, source, die)
    move(row, other, other_die)
    steps[at, 0] = source * 8 + die
    steps[at, 1] = other * 8 + other_die
    steps[at, 2] = 0
    steps[at, 3] = 0


@nb.njit(cache=True, nogil=True)
def _generate_pair(board, flipped, own, free, blots, high, low, first, rows, steps, end):
    start = end
    first[:26] = 0
    high_sources = _sources(own, free, high)
    left = high_sources
    while left:
        source = highest_bit(left)
        left ^= 1 << source
        seconds = _sources(_after(board, own, source, high), free, low)
        first[source] = seconds
        while seconds:
            other = highest_bit(seconds)
            seconds ^= 1 << other
            if _same_as_running_on(blots, first, high, low, source, other):
                continue
            _write_pair(rows, steps, end, flipped, source, high, other, low)
            end += 1
    low_sources = _sources(own, free, low)
    left = low_sources
    while left:
        source = highest_bit(left)
        left ^= 1 << source
        seconds = _sources(_after(board, own, source, low), free, high)
        while seconds:
            other = highest_bit(seconds)
            seconds ^= 1 << other
            if _met_before(blots, first, high, low, source, other):
                continue
            _write_pair(rows, steps, end, flipped, source, low, other, high)
            end += 1
    if end > start:
        return end
    # not both dice: the larger one if it can be played (R8)
    die = high if high_sources else low
    left = high_sources if high_sources else low_sources
    while left:
        source = highest_bit(left)
        left ^= 1 << source
        row = rows[end]
        _copy(row, flipped)
        move(row, source, die)
        steps[end, 0] = source * 8 + die
        steps[end, 1] = 0
        steps[end, 2] = 0
        steps[end, 3] = 0
        end += 1
    return end


@nb.njit(cache=True, nogil=True)
def _generate_double(flipped, own, free, die, wanted, stack, rows, steps, end):
    """Afterstates of exactly `wanted` steps; says how many steps were possible at most."""
    deepest = 0
    depth = 0
    owns = own
    stack[0] = _sources(own, free, die)  # sources left to try, by depth
    stack[8] = own  # places held, by depth
    while depth >= 0:
        left = stack[depth]
        if not left:
            depth -= 1
            if depth >= 0:
                take_back(flipped, stack[16 + depth], die, stack[24 + depth] == 1)
            continue
        if depth + 1 > deepest:
            deepest = depth + 1
        if depth + 1 == wanted:
            while left:
                source = highest_bit(left)
                left ^= 1 << source
                row = rows[end]
                _copy(row, flipped)
                move(row, source, die)
                for k in range(depth):
                    steps[end, k] = stack[16 + k] * 8 + die
                steps[end, depth] = source * 8 + die
                for k in range(depth + 1, 4):
                    steps[end, k] = 0
                end += 1
            stack[depth] = 0
            continue
        source = highest_bit(left)
        stack[depth] = left ^ (1 << source)
        owns = stack[8 + depth]
        if flipped[25 - source] == -1:
            owns &= ~(1 << source)
        if source > die:
            owns |= 1 << (source - die)
        stack[16 + depth] = source
        stack[24 + depth] = 1 if move(flipped, source, die) else 0
        depth += 1
        stack[8 + depth] = owns
        stack[depth] = _sources(owns, free, die) & ((2 << source) - 1)
    return end, deepest


@nb.njit(cache=True, nogil=True)
def generate(board, die1, die2, flipped, scratch, rows, steps, end):
    """Write the afterstates of one roll to rows[end:], flipped, and how they came to steps[end:].

    `rows` needs ROW_BOUND free rows. flipped int8 [26] and scratch int64 [SCRATCH] are working
    space. Returns the new end; a board with no legal play gives itself, flipped, with no steps.
    """
    own = _NONE
    free = _NONE
    blots = _NONE
    for place in range(26):
        count = board[place]
        flipped[25 - place] = -count
        if place > 0:
            bit = 1 << place
            if count > 0:
                own |= bit
            if place < 25 and count >= -1:
                free |= bit
                if count == -1:
                    blots |= bit
    start = end
    if die1 != die2:
        high = max(die1, die2)
        low = min(die1, die2)
        end = _generate_pair(board, flipped, own, free, blots, high, low, scratch, rows, steps, end)
    else:
        end, deepest = _generate_double(flipped, own, free, die1, _FOUR, scratch, rows, steps, end)
        if end == start and deepest:
            end, deepest = _generate_double(
                flipped, own, free, die1, deepest, scratch, rows, steps, end
            )
    if end == start:
        _copy(rows[end], flipped)
        for k in range(4):
            steps[end, k] = 0
        end += 1
    return end


@nb.njit(cache=True, nogil=True)
def generate_batch(boards, rolls, first, rows, steps, offsets):
    """Afterstates of boards[first:] until fewer than ROW_BOUND rows are free; says where it stopped."""
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(SCRATCH, np.int64)
    end = offsets[first]
    for i in range(first, len(boards)):
        if len(rows) - end < ROW_BOUND:
            return i
        end = generate(
            boards[i], np.int64(rolls[i, 0]), np.int64(rolls[i, 1]), flipped, scratch, rows, steps, end
        )
        offsets[i + 1] = end
    return len(boards)
