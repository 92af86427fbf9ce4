"""Races answered from bear-off tables: outcome chances, and the best of the afterstates of a roll."""

import numba as nb
import numpy as np

from tdgammon.kernels.one_side import EVERYTHING, NEXT_OFF, number_of
from tdgammon.kernels.one_sided import LONGEST
from tdgammon.kernels.side_rows import Tables as Tables
from tdgammon.kernels.side_rows import expected, find_leave_row, find_row, row


@nb.njit(cache=True, nogil=True)
def is_race(board):
    """Whether no checker has to pass an opposing one any more."""
    last = 25
    while last >= 0 and board[last] <= 0:
        last -= 1
    for place in range(last):  # noqa: SIM110 - numba has no generators to give to all()
        if board[place] < 0:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def workspace():
    """Arrays that the functions below work in; the sides are 0 = on roll, 1 = the other."""
    return (
        np.zeros((2, 26), np.int64),  # checkers by point
        np.zeros((2, 4), np.int64),  # facts about a side
        np.zeros((3, LONGEST), np.float64),  # chances of side 0, by rolls that side 1 needs
        np.zeros(LONGEST, np.float64),
        np.zeros(LONGEST, np.float64),
        np.zeros(32, np.int64),
    )


_CHECKERS, _PAIR, _DEEP = 0, 1, 2
"""Facts: checkers left, number in the pairs or -1, checkers in the opponent's home board."""

_DONE, _NONE_OFF, _NOT_OUT = 0, 1, 2
"""By k: side 0 has borne off everything in k rolls; nothing yet; is not out of the other's home."""


@nb.njit(cache=True, nogil=True)
def _read_side(board, side, pair_points, pair_checkers, counts, facts):
    """Counts and facts of a side of a board."""
    own = counts[side]
    checkers = 0
    highest = 0
    deep = 0
    for p in range(1, 26):
        count = np.int64(board[p]) if side == 0 else -np.int64(board[25 - p])
        own[p] = max(count, 0)
        if count > 0:
            checkers += count
            highest = p
            if p > 18:
                deep += count
    facts[side, _CHECKERS] = checkers
    facts[side, _DEEP] = deep
    facts[side, _PAIR] = -1
    if highest <= pair_points and checkers <= pair_checkers:
        facts[side, _PAIR] = number_of(own, pair_points)


@nb.njit(cache=True, nogil=True)
def _prepare(tables, num_checkers, work):
    """Fill the chances of side 0, which all that side 1 may be is compared with."""
    counts, facts, chances, out, spread, inside = work
    for vector in range(3):
        if vector == _DONE:
            at, shift, late = find_row(tables, counts[0], EVERYTHING, inside)
        elif facts[0, _CHECKERS] < num_checkers:
            return
        elif vector == _NONE_OFF:
            at, shift, late = find_row(tables, counts[0], NEXT_OFF, inside)
        elif facts[0, _DEEP] > 0:
            at, shift, late = find_leave_row(tables, counts[0], inside), 0.0, 0.0
        else:
            return
        row(tables, at, shift, late, spread, out)
        done = 0.0
        for k in range(LONGEST):
            done = min(done + out[k], 1.0)
            chances[vector, k] = done if vector == _DONE else 1 - done


@nb.njit(cache=True, nogil=True)
def _over(side, num_checkers, facts, probabilities):
    """Outcome of a game that `side` has finished (R12)."""
    size = 0
    if facts[1 - side, _CHECKERS] == num_checkers:
        size = 2 if facts[1 - side, _DEEP] > 0 else 1
    for k in range(6):
        probabilities[k] = 0
    probabilities[2 - size if side == 0 else 3 + size] = 1


@nb.njit(cache=True, nogil=True)
def _is_exact(num_checkers, facts):
    """Whether the pairs hold the position, and no gammon can be lost in it."""
    return (
        facts[0, _PAIR] >= 0
        and facts[1, _PAIR] >= 0
        and max(facts[0, _CHECKERS], facts[1, _CHECKERS]) < num_checkers
    )


@nb.njit(cache=True, nogil=True)
def pair_of(board, tables, num_checkers, work):
    """Numbers of the two sides of a race in the pairs, (-1, -1) where those are not exact; 0 = done."""
    counts, facts = work[0], work[1]
    for side in range(2):
        _read_side(board, side, tables.pair_points, tables.pair_checkers, counts, facts)
    if _is_exact(num_checkers, facts):
        return facts[0, _PAIR], facts[1, _PAIR]
    return np.int64(-1), np.int64(-1)


@nb.njit(cache=True, nogil=True)
def _from_pair(pairs, facts, probabilities):
    """Exact outcome chances of side 0."""
    win = (1 + pairs[facts[0, _PAIR], facts[1, _PAIR], 0]) / 2
    for k in range(6):
        probabilities[k] = 0
    probabilities[2] = win
    probabilities[3] = 1 - win


@nb.njit(cache=True, nogil=True)
def _combine(tables, num_checkers, work, probabilities):
    """Outcome chances of side 0: its prepared chances against the rows of side 1."""
    counts, facts, chances, _, _, inside = work
    win_gammon, win_backgammon, lose_gammon, lose_backgammon = 0.0, 0.0, 0.0, 0.0
    at, shift, late = find_row(tables, counts[1], EVERYTHING, inside)
    win = min(expected(tables, at, shift, late, chances[_DONE], work), 1.0)
    if facts[0, _CHECKERS] == num_checkers:
        lose_gammon = min(expected(tables, at, shift, late, chances[_NONE_OFF], work), 1 - win)
        if facts[0, _DEEP] > 0:
            lose_backgammon = min(
                expected(tables, at, shift, late, chances[_NOT_OUT], work), lose_gammon
            )
    if facts[1, _CHECKERS] == num_checkers:
        at, shift, late = find_row(tables, counts[1], NEXT_OFF, inside)
        win_gammon = min(expected(tables, at, shift, late, chances[_DONE], work), win)
        if facts[1, _DEEP] > 0:
            at = find_leave_row(tables, counts[1], inside)
            win_backgammon = min(expected(tables, at, 0.0, 0.0, chances[_DONE], work), win_gammon)
    probabilities[0] = win_backgammon
    probabilities[1] = win_gammon - win_backgammon
    probabilities[2] = win - win_gammon
    probabilities[3] = 1 - win - lose_gammon
    probabilities[4] = lose_gammon - lose_backgammon
    probabilities[5] = lose_backgammon


@nb.njit(cache=True, nogil=True)
def evaluate(board, tables, num_checkers, work, probabilities):
    """Outcome chances float32 [6] of a race, player on roll; exact if the game is over."""
    counts, facts = work[0], work[1]
    for side in range(2):
        _read_side(board, side, tables.pair_points, tables.pair_checkers, counts, facts)
    for side in range(2):
        if facts[side, _CHECKERS] == 0:
            _over(side, num_checkers, facts, probabilities)
            return
    if _is_exact(num_checkers, facts):
        _from_pair(tables.pairs, facts, probabilities)
        return
    _prepare(tables, num_checkers, work)
    _combine(tables, num_checkers, work, probabilities)


@nb.njit(cache=True, nogil=True)
def best_afterstate(rows, start, end, tables, num_checkers, values, work, best):
    """As `forward.best_afterstate`, for the afterstates of a race."""
    counts, facts = work[0], work[1]
    probabilities = np.empty(6, np.float32)
    chosen = start
    least = np.float32(np.inf)
    _read_side(
        rows[start], 0, tables.pair_points, tables.pair_checkers, counts, facts
    )  # the same in all of them
    ready = False
    for at in range(start, end):
        _read_side(rows[at], 1, tables.pair_points, tables.pair_checkers, counts, facts)
        if facts[1, _CHECKERS] == 0:
            _over(1, num_checkers, facts, probabilities)
        elif facts[0, _CHECKERS] == 0:
            _over(0, num_checkers, facts, probabilities)
        elif _is_exact(num_checkers, facts):
            _from_pair(tables.pairs, facts, probabilities)
        else:
            if not ready:
                _prepare(tables, num_checkers, work)
                ready = True
            _combine(tables, num_checkers, work, probabilities)
        equity = np.float32(0)
        for k in range(6):
            equity += probabilities[k] * values[k]
        if equity < least:
            least = equity
            chosen = at
            for k in range(6):
                best[k] = probabilities[k]
    return chosen


@nb.njit(cache=True, nogil=True)
def evaluate_batch(boards, tables, num_checkers, probabilities):
    """Outcome chances float32 [B, 6] of races."""
    work = workspace()
    for b in range(len(boards)):
        evaluate(boards[b], tables, num_checkers, work, probabilities[b])


@nb.njit(cache=True, nogil=True)
def fill_pair_equities(boards, tables, equities):
    """Entries of the pairs float32 [B, 4] for boards that they hold; NaN for others."""
    work = workspace()
    counts, facts = work[0], work[1]
    for b in range(len(boards)):
        _read_side(boards[b], 0, tables.pair_points, tables.pair_checkers, counts, facts)
        _read_side(boards[b], 1, tables.pair_points, tables.pair_checkers, counts, facts)
        for k in range(4):
            equities[b, k] = np.nan
            if facts[0, _PAIR] >= 0 and facts[1, _PAIR] >= 0:
                equities[b, k] = tables.pairs[facts[0, _PAIR], facts[1, _PAIR], k]
