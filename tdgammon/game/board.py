"""Boards: 26 signed bytes seen by the player on roll, and what can be read off them.

Index 1..24 are the points as the player on roll numbers them, index 25 is the player's own
bar and index 0 the opponent's bar. Positive numbers are the player's checkers, negative ones
the opponent's. The player moves from 25 towards 1; the opponent moves the other way. What is
missing from 15 has been borne off. A batch of boards is `int8[B, 26]`; there is no board class.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Boards = NDArray[np.int8]
Rolls = NDArray[np.int8]
Offsets = NDArray[np.int64]

NUM_PLACES = 26
NUM_CHECKERS = 15
OWN_BAR = 25
OPPONENT_BAR = 0

_START = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
START: Boards = np.array(_START, np.int8)
START.setflags(write=False)

_PART = re.compile(r"(bar|\d{1,2})(?::(\d{1,2}))?", re.IGNORECASE)


def flip(boards: ArrayLike) -> Boards:
    """The same positions seen by the other player; `boards` is [26] or [B, 26]."""
    return np.ascontiguousarray(-np.asarray(boards, np.int8)[..., ::-1])


def checked_boards(boards: ArrayLike) -> Boards:
    """`boards` as a contiguous int8 [B, 26] array of positions that can occur.

    One board [26] becomes a batch of one. Raises ValueError, quoting the first bad board, for
    a wrong shape, numbers that are not whole, more than 15 checkers a side, a checker of the
    opponent on the player's bar (or the reverse), or a position where both sides are finished.
    """
    array = np.asarray(boards)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != NUM_PLACES:
        raise ValueError(f"boards: shape must be [B, {NUM_PLACES}], got {np.shape(boards)}")
    if array.dtype != np.int8:
        if array.dtype.kind not in "iuf" or (array != np.trunc(array)).any():
            raise ValueError(f"boards: must hold whole numbers, got {array.dtype} {_first(array)}")
        wild: NDArray[np.bool_] = np.any((array > NUM_CHECKERS) | (array < -NUM_CHECKERS), axis=1)
        if wild.any():
            raise ValueError(f"boards: more than 15 checkers on a place in {_quote(array, wild)}")
        array = array.astype(np.int8)
    array = np.require(array, np.int8, ["C", "W"])  # read-only arrays are another type to kernels
    own = np.maximum(array, 0).sum(axis=1, dtype=np.int16)
    opposing = np.maximum(-array.astype(np.int16), 0).sum(axis=1)
    for bad, fault in (
        (own > NUM_CHECKERS, "the player has more than 15 checkers"),
        (opposing > NUM_CHECKERS, "the opponent has more than 15 checkers"),
        (array[:, OWN_BAR] < 0, "an opposing checker is on the player's bar (place 25)"),
        (array[:, OPPONENT_BAR] > 0, "an own checker is on the opponent's bar (place 0)"),
        ((own == 0) & (opposing == 0), "both sides have borne off all checkers"),
    ):
        if bad.any():
            raise ValueError(f"boards: {fault} in {_quote(array, bad)}")
    return array


def checked_rolls(rolls: ArrayLike, num_boards: int) -> Rolls:
    """`rolls` as a contiguous int8 [B, 2] array of dice from 1 to 6; raises ValueError otherwise."""
    array = np.asarray(rolls)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"rolls: shape must be [B, 2], got {np.shape(rolls)}")
    if len(array) != num_boards:
        raise ValueError(f"rolls: {len(array)} rolls for {num_boards} boards")
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and (array == np.trunc(array)).all())
    if not whole:
        raise ValueError(f"rolls: must hold whole numbers, got {array.dtype} {_first(array)}")
    bad: NDArray[np.bool_] = np.any((array < 1) | (array > 6), axis=1)
    if bad.any():
        raise ValueError(f"rolls: dice must be 1 to 6, got {_quote(array, bad)}")
    return np.require(array, np.int8, ["C", "W"])


def pip_counts(boards: Boards) -> NDArray[np.int32]:
    """Pips the player and the opponent need to bear off everything: [B, 2]."""
    wide = boards.astype(np.int32)
    places = np.arange(NUM_PLACES, dtype=np.int32)
    own = np.maximum(wide, 0) @ places
    opposing = np.maximum(-wide, 0) @ (25 - places)
    return np.stack([own, opposing], axis=1).astype(np.int32)


def off_counts(boards: Boards, num_checkers: int = NUM_CHECKERS) -> NDArray[np.int32]:
    """Checkers borne off by the player and by the opponent, of `num_checkers` each: [B, 2]."""
    wide = boards.astype(np.int32)
    sides = [np.maximum(wide, 0).sum(axis=1), np.maximum(-wide, 0).sum(axis=1)]
    return (num_checkers - np.stack(sides, axis=1)).astype(np.int32)


def has_contact(boards: Boards) -> NDArray[np.bool_]:
    """Whether some checker still has to pass an opposing one: bool [B]."""
    places = np.arange(NUM_PLACES)
    rear_own = np.where(boards > 0, places, -1).max(axis=1)
    rear_opposing = np.where(boards < 0, places, NUM_PLACES).min(axis=1)
    return rear_own > rear_opposing


def points_won(boards: Boards, num_checkers: int = NUM_CHECKERS) -> NDArray[np.int8]:
    """Result for the player on roll, int8 [B]: 0 while the game goes on, else 1, 2, 3 or -1, -2, -3.

    Source: rule R12. An afterstate that ends the game is lost for the player on roll.
    """
    off = off_counts(boards, num_checkers)
    points = np.zeros(len(boards), np.int8)
    for winner, sign in ((1, -1), (0, 1)):
        over = off[:, winner] == num_checkers
        lost_none_off = off[:, 1 - winner] == 0
        loser_is_on_roll = winner == 1  # then bar 25 and points 19..24 are the winner's home
        deep = (boards[:, 19:26] > 0 if loser_is_on_roll else boards[:, 0:7] < 0).any(axis=1)
        size = 1 + lost_none_off + (lost_none_off & deep)
        points[over] = sign * size[over]
    return points


def text(board: ArrayLike) -> str:
    """One board in words: `bar:1 6:5 / 24:2`, the player's checkers, then the opponent's.

    Points are numbered by the player on roll; the highest come first, a side with nothing
    left is `-`. Raises ValueError as `checked_boards` does.
    """
    row = checked_boards(board)
    if len(row) != 1:
        raise ValueError(f"board: one board of 26 numbers expected, got {len(row)}")
    cells = row[0].tolist()
    own = [f"{'bar' if p == OWN_BAR else p}:{cells[p]}" for p in range(25, 0, -1) if cells[p] > 0]
    opposing = [f"{p}:{-cells[p]}" for p in range(24, 0, -1) if cells[p] < 0]
    if cells[OPPONENT_BAR]:
        opposing.insert(0, f"bar:{-cells[OPPONENT_BAR]}")
    return f"{' '.join(own) or '-'} / {' '.join(opposing) or '-'}"


def parse(words: str) -> Boards:
    """The board that `text` writes, int8 [26]; `start` is the opening position.

    A place without `:n` holds one checker. Raises ValueError, quoting the part that cannot be
    read, for a place named twice, both sides on one point or a board that cannot occur.
    """
    if words.strip().lower() == "start":
        return START.copy()
    sides = words.split("/")
    if len(sides) != 2:
        raise ValueError(f"board: expected 'PLAYER / OPPONENT' such as '6:2 / 24:2', got {words!r}")
    cells = np.zeros(NUM_PLACES, np.int64)
    for sign, bar, side in ((1, OWN_BAR, sides[0]), (-1, OPPONENT_BAR, sides[1])):
        for part in side.replace(",", " ").split():
            if part == "-":
                continue
            match = _PART.fullmatch(part)
            if not match:
                raise ValueError(f"board: {part!r} is not POINT:CHECKERS in {words!r}")
            place = bar if match[1].lower() == "bar" else int(match[1])
            if match[1].lower() != "bar" and not 1 <= place <= 24:
                raise ValueError(f"board: there is no point {match[1]} in {words!r}")
            if cells[place]:
                raise ValueError(f"board: place {match[1]} is given twice in {words!r}")
            cells[place] = sign * int(match[2] or 1)
    return checked_boards(cells)[0]


def _first(array: NDArray[Any]) -> list[Any]:
    return [] if not array.size else list(array.reshape(-1, array.shape[-1])[0].tolist())


def _quote(array: NDArray[Any], bad: NDArray[np.bool_]) -> str:
    index = int(np.flatnonzero(bad)[0])
    return f"row {index}: {array[index].tolist()}"
