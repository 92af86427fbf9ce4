"""The way from a board to its afterstates: counts and codes after each step, and what it does to sums.

Afterstates of a roll are listed with their steps, and those that begin alike stand together, so that
each goes on from the rows that it shares with the one before.
"""

from typing import NamedTuple

import numba as nb
import numpy as np

from tdgammon.kernels import codes
from tdgammon.kernels.codes import NUM_COUNTS, NUM_PLACES, OPPONENT_OFF, OWN_OFF, ZERO

NUM_RISES = NUM_COUNTS - 1
FROM, TO, BAR, CHANGES = range(4)
"""Columns of `Path.moved`."""


class Path(NamedTuple):
    """A board and what the steps of a play make of it, a row a step, with the board itself in row 0."""

    cells: np.ndarray
    """int8 [6, 28] or with codes: counts after the steps; the last row is the board of row 0."""
    masks: np.ndarray
    """int64 [5, 4], as in `codes.py`."""
    changes: np.ndarray
    """int64 [5, C, 2]: rows of a table that the codes changed by a step lead to, and come from."""
    moved: np.ndarray
    """int64 [5, 4]: rows of `rises` where a step's checker leaves and arrives, that of the bar or -1
    without a hit, and how many codes change."""
    sums: np.ndarray
    """float32 [K, 5, H1]: first-layer sums of each class, without shots."""
    ready: np.ndarray
    """int64 [K]: rows of a class's sums that are up to date, from the first on."""


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def take_up(board, num_checkers, path):
    """A board, seen by the opponent, into row 0 of a path, unless it is there: rolls of one board share
    it."""
    flipped = path.cells[5]
    is_known = True
    for place in range(26):
        if flipped[place] != -board[25 - place]:
            flipped[place] = -board[25 - place]
            is_known = False
    if not is_known:
        codes.fill(flipped, num_checkers, path.cells[0], path.masks[0])
        path.ready[:] = 0


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def follow(steps, at, depth, path):
    """Play the steps of afterstate `at` into the rows from 1 on; how many they are.

    `depth` rows hold the steps of the one before: those that both begin with stay.
    """
    ready = path.ready
    num_steps = 0
    shared = 0
    while num_steps < 4 and steps[at, num_steps]:
        if shared == num_steps and shared < depth and steps[at, shared] == steps[at - 1, shared]:
            shared += 1
        num_steps += 1
    for kind in range(len(ready)):
        ready[kind] = min(ready[kind], shared + 1)
    for k in range(shared, num_steps):
        _apply_step(np.int64(steps[at, k]), k, path)
    return num_steps


@nb.njit(cache=True, nogil=True, inline="always", _nrt=False)
def _apply_step(step, k, path):
    """Play one step on the flipped counts cells[k]: cells and masks after it into row k + 1, with what
    it does to sums."""
    cells, masks, moved = path.cells, path.masks, path.moved[k + 1]
    for place in range(cells.shape[1]):
        cells[k + 1, place] = cells[k, place]
    leave = 25 - (step >> 3)
    arrive = leave + (step & 7)
    if arrive >= 25:
        arrive = OPPONENT_OFF
    left = np.int64(cells[k, leave])
    found = np.int64(cells[k, arrive])
    on_bar = np.int64(cells[k, 25])
    hits = found == 1
    cells[k + 1, leave] = left + 1
    cells[k + 1, arrive] = -1 if hits else found - 1
    moved[FROM] = NUM_RISES * leave + left + ZERO
    moved[TO] = NUM_RISES * arrive + found + ZERO - 1
    moved[BAR] = -1
    moved[CHANGES] = 0
    if hits:
        cells[k + 1, 25] = on_bar + 1
        moved[BAR] = NUM_RISES * 25 + on_bar + ZERO
    if cells.shape[1] > NUM_PLACES:
        for m in range(codes.NUM_MASKS):
            masks[k + 1, m] = masks[k, m]
        codes.mark(leave, np.int64(cells[k + 1, leave]), masks[k + 1])
        if arrive < OWN_OFF:
            codes.mark(arrive, np.int64(cells[k + 1, arrive]), masks[k + 1])
        if hits:
            codes.mark(np.int64(25), on_bar + 1, masks[k + 1])
        moved[CHANGES] = codes.update_codes(cells[k + 1], masks[k], masks[k + 1], path.changes[k + 1])
