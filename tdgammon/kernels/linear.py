"""Whole decisions in one pass over the afterstates: by a sum of table entries, or by a hash.

A linear evaluator is a table of one number for each (place, count) and one number for each checker
borne off. Boards before the move are seen by the player who decides; the afterstates that
`movegen.generate` writes are flipped, so his checkers are the negative counts there.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import dice, movegen

NUM_COUNTS = 31
"""Counts -15 .. 15 of one place; count c has column c + 15 of a table."""

_S11 = np.uint64(11)
_TO_UNIT = 2.0**-53


@nb.njit(cache=True, nogil=True)
def is_race(board):
    """Whether every own checker has passed every opposing one; a checker on a bar has not."""
    rear_own = -1
    rear_opposing = 26
    for place in range(26):
        if board[place] > 0:
            rear_own = place
        elif board[place] < 0 and rear_opposing == 26:
            rear_opposing = place
    return rear_own < rear_opposing


@nb.njit(cache=True, nogil=True)
def value(row, table, per_off):
    """Value of an afterstate (flipped) for the player who moved; infinite with all checkers off.

    table [26, NUM_COUNTS] is indexed by the places and counts of the flipped row.
    """
    off = 15
    for place in range(25):
        if row[place] < 0:
            off += row[place]
    if off == 15:
        return np.inf
    total = per_off * off
    for place in range(26):
        total += table[place, row[place] + 15]
    return total


@nb.njit(cache=True, nogil=True)
def _first_highest(board, tables, per_off, rows, start, end):
    """Index of the first afterstate of the highest value in rows[start:end], played from `board`."""
    kind = 1 if is_race(board) else 0
    best = start
    highest = -np.inf
    for k in range(start, end):
        found = value(rows[k], tables[kind], per_off[kind])
        if found > highest:
            highest = found
            best = k
    return best


@nb.njit(cache=True, nogil=True)
def choose_by_value(boards, rolls, tables, per_off, chosen):
    """Write the first afterstate of the highest value to `chosen` int8 [B, 26].

    tables [2, 26, NUM_COUNTS] and per_off [2] hold the numbers for contact and for a race; the board
    before the move says which is used.
    """
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    rows = np.empty((movegen.ROW_BOUND, 26), np.int8)
    steps = np.empty((movegen.ROW_BOUND, 4), np.uint8)
    for i in range(len(boards)):
        end = movegen.generate(
            boards[i],
            np.int64(rolls[i, 0]),
            np.int64(rolls[i, 1]),
            flipped,
            scratch,
            rows,
            steps,
            movegen.FIRST,
        )
        best = _first_highest(boards[i], tables, per_off, rows, 0, end)
        for place in range(26):
            chosen[i, place] = rows[best, place]


@nb.njit(cache=True, nogil=True)
def _hashed(key, board, die1, die2, limit):
    """A number in 0 .. limit - 1, the same for either order of the dice."""
    word = dice.mix(key + np.uint64(8 * max(die1, die2) + min(die1, die2)) * dice.GAMMA)
    for place in range(26):
        word = dice.mix(word + np.uint64(np.int64(board[place]) + 16) * dice.GAMMA)
    return np.int64(np.float64(word >> _S11) * _TO_UNIT * limit)


@nb.njit(cache=True, nogil=True)
def choose_by_hash(boards, rolls, key, chosen):
    """Write an afterstate picked by a hash of `key`, the board and the roll to `chosen` int8 [B, 26].

    The order of the dice does not matter. The bias is below the number of afterstates / 2**53.
    """
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    rows = np.empty((movegen.ROW_BOUND, 26), np.int8)
    steps = np.empty((movegen.ROW_BOUND, 4), np.uint8)
    for i in range(len(boards)):
        die1, die2 = np.int64(rolls[i, 0]), np.int64(rolls[i, 1])
        end = movegen.generate(boards[i], die1, die2, flipped, scratch, rows, steps, movegen.FIRST)
        pick = _hashed(key, boards[i], die1, die2, end)
        for place in range(26):
            chosen[i, place] = rows[pick, place]


@nb.njit(cache=True, nogil=True)
def pick_by_value(boards, tables, per_off, rows, offsets, chosen):
    """As `choose_by_value`, among afterstates rows[offsets[i]:offsets[i + 1]] that are given."""
    for i in range(len(boards)):
        best = _first_highest(boards[i], tables, per_off, rows, offsets[i], offsets[i + 1])
        for place in range(26):
            chosen[i, place] = rows[best, place]


@nb.njit(cache=True, nogil=True)
def pick_by_hash(boards, rolls, key, rows, offsets, chosen):
    """As `choose_by_hash`, among afterstates rows[offsets[i]:offsets[i + 1]] that are given."""
    for i in range(len(boards)):
        die1, die2 = np.int64(rolls[i, 0]), np.int64(rolls[i, 1])
        pick = offsets[i] + _hashed(key, boards[i], die1, die2, offsets[i + 1] - offsets[i])
        for place in range(26):
            chosen[i, place] = rows[pick, place]
