"""What a roll allows: all afterstates of a batch of boards."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, Offsets, checked_boards, checked_rolls
from tdgammon.kernels import movegen

Steps = NDArray[np.uint8]
"""[A, 4]: the steps that lead to an afterstate, each source * 8 + die; 0 = no step."""

_ROWS_A_BOARD = 24


def afterstates(boards: ArrayLike, rolls: ArrayLike) -> tuple[Boards, Offsets]:
    """Every distinct board the player can leave, seen by the opponent.

    boards [B, 26], rolls [B, 2] -> rows int8 [A, 26], offsets int64 [B + 1]; the afterstates of
    board i are rows[offsets[i]:offsets[i + 1]]. A board with no legal play gives one afterstate:
    itself, flipped. Raises ValueError as `checked_boards` and `checked_rolls` do. Source: R1-R12.
    """
    rows, _, offsets = afterstates_with_steps(boards, rolls)
    return rows, offsets


def afterstates_with_steps(boards: ArrayLike, rolls: ArrayLike) -> tuple[Boards, Steps, Offsets]:
    """As `afterstates`, with one way of playing each afterstate: rows, steps uint8 [A, 4], offsets."""
    boards = checked_boards(boards)
    rolls = checked_rolls(rolls, len(boards))
    offsets = np.zeros(len(boards) + 1, np.int64)
    capacity = _ROWS_A_BOARD * len(boards) + movegen.ROW_BOUND
    rows, steps = np.empty((capacity, 26), np.int8), np.empty((capacity, 4), np.uint8)
    done = 0
    while (done := movegen.generate_batch(boards, rolls, done, rows, steps, offsets)) < len(boards):
        more = 2 * len(rows)
        rows = np.concatenate([rows, np.empty((more, 26), np.int8)])
        steps = np.concatenate([steps, np.empty((more, 4), np.uint8)])
    return rows[: offsets[-1]], steps[: offsets[-1]], offsets
