"""Board and stakes of a position that was read from text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdgammon.game.board import Boards, checked_boards
from tdgammon.game.match import MAX_LENGTH
from tdgammon.game.rules import CUBE_LIMITS, GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.notation.ids import Position


def board_of(position: Position) -> Boards:
    """The board int8 [1, 26] of a position that is to be judged, seen by its player on roll.

    Raises ValueError as `checked_boards`, for a game that is over, for a resignation that waits for its
    answer and for an offer other than a double.
    """
    if position.offer not in (None, "double") or position.resigned:
        what = f"a resignation of {position.resigned}" if position.resigned else f"a {position.offer}"
        raise ValueError(f"position: {what} waits for its answer, which is not analysed")
    board = checked_boards(position.board)
    if not (board > 0).any() or not (board < 0).any():
        raise ValueError("position: the game is over, a side has no checker left")
    return board


def stakes_of(position: Position) -> Stakes:
    """Cube, score and rules of a position, seen by its player on roll, who is the one that doubles.

    Raises ValueError for a match that is over or longer than `MAX_LENGTH`, and for a Crawford game that
    is none.
    """
    mover = position.on_roll
    away = (0, 0)
    if position.length:
        away = (position.length - position.scores[mover], position.length - position.scores[1 - mover])
        if min(away) < 1 or position.length > MAX_LENGTH:
            raise ValueError(
                f"position: a match to 1 .. {MAX_LENGTH} that goes on expected, got one to "
                f"{position.length} at {position.scores}"
            )
        if position.is_crawford and min(away) != 1:
            raise ValueError(
                f"position: in the Crawford game one side needs 1 point, got {away[0]} and {away[1]}"
            )
    owner = CENTRED
    if position.cube_owner is not None:
        owner = OWN if position.cube_owner == mover else OPPONENTS
    limit = min(max(position.cube_limit, position.cube_value), CUBE_LIMITS[-1])
    rules = GameRules(cube_limit=limit)
    if not position.length and limit > 1:
        rules = replace(rules, jacoby=position.jacoby, beavers=position.beavers)
    return Stakes(
        rules=rules,
        cube_values=np.array([position.cube_value], np.int64),
        cube_owners=np.array([owner], np.int8),
        away=np.array([away], np.int64),
        is_crawford=np.array([position.is_crawford]),
        is_post_crawford=np.array([min(away) == 1 and not position.is_crawford]),
    )
