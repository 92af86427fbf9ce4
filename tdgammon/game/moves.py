"""What a roll allows: all afterstates of a batch of boards."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, Offsets, checked_boards, checked_rolls
from tdgammon.game.rules import GameRules
from tdgammon.kernels import caucasian, movegen

Steps = NDArray[np.uint8]
"""[A, 4]: the steps that lead to an afterstate, each source * 8 + die; 0 = no step."""

_ROWS_A_BOARD = 24


def afterstates(
    boards: ArrayLike, rolls: ArrayLike, rules: GameRules | None = None
) -> tuple[Boards, Offsets]:
    """Every distinct board the player can leave, seen by the opponent.

    boards [B, 26], rolls [B, 2] -> rows int8 [A, 26], offsets int64 [B + 1]; the afterstates of
    board i are rows[offsets[i]:offsets[i + 1]]. A board with no legal play gives one afterstate:
    itself, flipped. Of the rules only `caucasian` matters here; None = standard. Raises ValueError
    as `checked_boards` and `checked_rolls` do. Source: R1-R12, R26.
    """
    rows, _, offsets = afterstates_with_steps(boards, rolls, rules)
    return rows, offsets


def afterstates_with_steps(
    boards: ArrayLike, rolls: ArrayLike, rules: GameRules | None = None
) -> tuple[Boards, Steps, Offsets]:
    """As `afterstates`, with one way of playing each: rows, steps uint8 [A, 4], offsets."""
    boards = checked_boards(boards)
    rolls = checked_rolls(rolls, len(boards))
    is_caucasian = rules is not None and rules.caucasian
    kernel = caucasian.generate_batch if is_caucasian else movegen.generate_batch
    room = caucasian.STATES if is_caucasian else movegen.ROW_BOUND
    offsets = np.zeros(len(boards) + 1, np.int64)
    capacity = _ROWS_A_BOARD * len(boards) + room
    rows, steps = np.empty((capacity, 26), np.int8), np.empty((capacity, 4), np.uint8)
    done = 0
    while (done := kernel(boards, rolls, done, rows, steps, offsets)) < len(boards):
        if done < 0:
            raise MemoryError(f"a roll leaves more than {caucasian.STATES} states under R26")
        more = 2 * len(rows)
        rows = np.concatenate([rows, np.empty((more, 26), np.int8)])
        steps = np.concatenate([steps, np.empty((more, 4), np.uint8)])
    return rows[: offsets[-1]], steps[: offsets[-1]], offsets
