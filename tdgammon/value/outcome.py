"""The six outcomes of a game, best first, and their conversion to the five nested chances.

win backgammon, win gammon, win single, lose single, lose gammon, lose backgammon: exclusive,
summing to 1, seen by the player on roll.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS, Boards, off_counts

NUM_OUTCOMES = 6

VALUES: NDArray[np.float32] = np.array([3, 2, 1, -1, -2, -3], np.float32)
"""Cubeless points of each outcome."""
VALUES.setflags(write=False)


def reverse(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same chances seen by the other player; [..., 6]."""
    return probabilities[..., ::-1]


def outcome_of(points: NDArray[np.int8]) -> NDArray[np.int64]:
    """Index of the outcome worth `points` (3, 2, 1, -1, -2, -3; never 0); [B] -> [B]."""
    points = np.asarray(points, np.int64)
    return np.where(points > 0, 3 - points, 2 - points)


def to_nested(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Win, win gammon, win backgammon, lose gammon, lose backgammon, each with the larger ones
    included, as other programs count them: [..., 6] -> [..., 5]."""
    p = probabilities
    return np.stack(
        [
            p[..., 0] + p[..., 1] + p[..., 2],
            p[..., 0] + p[..., 1],
            p[..., 0],
            p[..., 4] + p[..., 5],
            p[..., 5],
        ],
        axis=-1,
    )


def from_nested(nested: NDArray[np.float32]) -> NDArray[np.float32]:
    """Inverse of `to_nested`: [..., 5] -> [..., 6]."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = np.moveaxis(nested, -1, 0)
    return np.stack(
        [
            win_backgammon,
            win_gammon - win_backgammon,
            win - win_gammon,
            1 - win - lose_gammon,
            lose_gammon - lose_backgammon,
            lose_backgammon,
        ],
        axis=-1,
    )


def impossible_outcomes(boards: Boards, num_checkers: int = NUM_CHECKERS) -> NDArray[np.bool_]:
    """bool [B, 6]: gammons of a side that has borne off a checker cannot happen (R12)."""
    own_off, opponent_off = (off_counts(boards, num_checkers) > 0).T
    impossible = np.zeros((len(boards), NUM_OUTCOMES), bool)
    impossible[:, :2] = opponent_off[:, None]
    impossible[:, 4:] = own_off[:, None]
    return impossible
