"""Afterstates of the Caucasian rule (R26), by trying every order of moves.

A checker that hits in its own home board is marked for the rest of the turn and may not move to a
point that holds an own checker. A state is 56 bytes: the board (26, seen by the player, not flipped),
the number of marked checkers on each place (26), and the steps that led to it first (4, as in
`movegen`), which do not tell states apart.
"""

import numba as nb
import numpy as np

WIDTH = 56
STATES = 1 << 15
"""States kept for one roll; more than the widest standard roll can leave."""

TABLE = 1 << 17
"""Slots of the hash table that tells states apart."""


@nb.njit(cache=True, nogil=True)
def _add(states, count, stamp, table):
    """Keep states[count] unless it is there already; the new count.

    A slot of the table holds stamp * STATES + index; what has another stamp is empty.
    """
    word = np.uint64(1469598103934665603)
    for k in range(52):
        word = (word ^ np.uint64(states[count, k] + 128)) * np.uint64(1099511628211)
    slot = np.int64(word & np.uint64(TABLE - 1))
    while table[slot] // STATES == stamp:
        other = table[slot] % STATES
        same = True
        for k in range(52):
            if states[other, k] != states[count, k]:
                same = False
                break
        if same:
            return count
        slot = (slot + 1) & (TABLE - 1)
    table[slot] = stamp * STATES + count
    return count + 1


@nb.njit(cache=True, nogil=True)
def _expand(states, start, end, die, count, stamp, table):
    """Add every state that one move of `die` makes of states[start:end]; -1 if there is no room."""
    for s in range(start, end):
        highest = 25
        while states[s, highest] <= 0 and highest > 0:
            highest -= 1
        lowest_source = 25 if highest == 25 else 1
        for place in range(highest, lowest_source - 1, -1):
            if states[s, place] <= 0:
                continue
            to = place - die
            if to >= 1:
                if states[s, to] <= -2:
                    continue
            elif highest > 6 or (to < 0 and place != highest):
                continue
            marked = states[s, 26 + place]
            for is_marked in range(2):
                if is_marked and not marked:
                    continue
                if not is_marked and marked >= states[s, place]:
                    continue
                if is_marked and to >= 1 and states[s, to] > 0:
                    continue
                if count + 1 >= STATES:
                    return -1
                for k in range(WIDTH):
                    states[count, k] = states[s, k]
                step = 52
                while states[count, step]:
                    step += 1
                states[count, step] = np.uint8(place * 8 + die)
                states[count, place] -= 1
                states[count, 26 + place] -= is_marked
                if to >= 1:
                    hits = states[s, to] == -1
                    if hits:
                        states[count, to] = 0
                        states[count, 0] -= 1
                    states[count, to] += 1
                    if is_marked or (hits and to <= 6):
                        states[count, 26 + to] += 1
                count = _add(states, count, stamp, table)
    return count


@nb.njit(cache=True, nogil=True)
def _last_level(board, die1, die2, states, stamp, table):
    """The states after as many moves as the rules demand: (start, end), or (-1, -1) without room.

    Uses the stamps stamp .. stamp + 2.
    """
    for place in range(26):
        states[0, place] = board[place]
        states[0, 26 + place] = 0
    states[0, 52:] = 0
    if die1 == die2:
        start, end = 0, 1
        for _ in range(4):
            count = _expand(states, start, end, die1, end, stamp, table)
            if count < 0:
                return -1, -1
            if count == end:
                break
            start, end = end, count
        return start, end
    high = max(die1, die2)
    low = min(die1, die2)
    after_high = _expand(states, 0, 1, high, 1, stamp, table)
    after_low = _expand(states, 0, 1, low, after_high, stamp + 1, table)
    count = _expand(states, 1, after_high, low, after_low, stamp + 2, table)
    if count >= 0:
        count = _expand(states, after_high, after_low, high, count, stamp + 2, table)
    if count < 0:
        return -1, -1
    if count > after_low:
        return after_low, count
    if after_high > 1:  # not both dice: the larger one if it can be played (R8)
        return 1, after_high
    if after_low > after_high:
        return after_high, after_low
    return 0, 1


@nb.njit(cache=True, nogil=True)
def generate_batch(boards, rolls, first, rows, steps, offsets):
    """Afterstates of boards[first:], flipped, and their steps, while `rows` has STATES to spare.

    Says where it stopped, or -1 if a roll leaves more states than STATES.
    """
    states = np.empty((STATES, WIDTH), np.int8)
    table = np.zeros(TABLE, np.int64)
    end = offsets[first]
    for i in range(first, len(boards)):
        if len(rows) - end < STATES:
            return i
        start, stop = _last_level(
            boards[i], np.int64(rolls[i, 0]), np.int64(rolls[i, 1]), states, 3 * i + 1, table
        )
        if start < 0:
            return -1
        begin = end
        for s in range(start, stop):
            for place in range(26):
                rows[end, 25 - place] = -states[s, place]
            for k in range(4):
                steps[end, k] = np.uint8(states[s, 52 + k])
            known = False  # the same board may differ in its marks
            for other in range(begin, end):
                known = True
                for place in range(26):
                    if rows[other, place] != rows[end, place]:
                        known = False
                        break
                if known:
                    break
            if not known:
                end += 1
        offsets[i + 1] = end
    return len(boards)
