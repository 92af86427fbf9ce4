"""Snowie's position line: 40 fields divided by semicolons, names among them.

Match length; Jacoby; variant; beavers; player on roll; names of the player on roll and the opponent;
Crawford; scores of both; cube value; owner (1 player on roll, -1 opponent); own bar; points 1 to 24
seen by the player on roll; the opponent's bar; dice. Other programs write it also where an illegal
play was made, to say how the board stood afterwards.
"""

from __future__ import annotations

import re

from tdgammon.game.board import OWN_BAR
from tdgammon.notation.ids import Position
from tdgammon.notation.plays import NotationError

_FIELDS = 40
_NAMES = (5, 6)
_NUMBER = re.compile(r"[-+]?\d{1,6}")
_MAX_CHARS = 2000


def write_snowie(position: Position, names: tuple[str, str] = ("", "")) -> str:
    """One line for a position; `names` are those of players 0 and 1."""
    me = position.on_roll
    owner = 0 if position.cube_owner is None else 1 if position.cube_owner == me else -1
    board = position.board
    fields = [
        position.length,
        int(position.jacoby),
        0,
        int(not position.length and position.beavers),
        me,
        names[me].replace(";", ","),
        names[1 - me].replace(";", ","),
        int(position.is_crawford),
        position.scores[me],
        position.scores[1 - me],
        position.cube_value,
        owner,
        board[OWN_BAR],
        *board[1:OWN_BAR],
        abs(board[0]),
        *(position.dice or (0, 0)),
    ]
    return ";".join(map(str, fields)) + ";"


def read_snowie(line: str) -> tuple[Position, tuple[str, str]]:
    """Position and names (of players 0 and 1) of a Snowie line.

    Raises NotationError, quoting the field, for what cannot be read or cannot be.
    """
    quoted = repr(line if len(line) <= 80 else line[:77] + "...")
    fields = [field.strip() for field in line[: _MAX_CHARS + 1].strip().rstrip(";").split(";")]
    if len(line) > _MAX_CHARS or len(fields) != _FIELDS:
        raise NotationError(f"Snowie line: {_FIELDS} fields expected, got {len(fields)} in {quoted}")
    numbers = {}
    for index, field in enumerate(fields):
        if index not in _NAMES:
            if not _NUMBER.fullmatch(field):
                raise NotationError(f"Snowie line: field {index + 1} is {field[:20]!r} in {quoted}")
            numbers[index] = int(field)
    me = numbers[4]
    if me not in (0, 1) or numbers[11] not in (-1, 0, 1):
        raise NotationError(f"Snowie line: player {me} or cube owner {numbers[11]} in {quoted}")
    dice = (numbers[38], numbers[39])
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise NotationError(f"Snowie line: dice {dice} in {quoted}")
    scores = (numbers[8], numbers[9])
    board = (-abs(numbers[37]), *(numbers[index] for index in range(13, 37)), abs(numbers[12]))
    try:
        position = Position(
            board=board,
            on_roll=me,
            dice=dice if dice != (0, 0) else None,
            cube_value=numbers[10],
            cube_owner={0: None, 1: me, -1: 1 - me}[numbers[11]],
            length=numbers[0],
            scores=scores if me == 0 else scores[::-1],
            is_crawford=bool(numbers[7]),
            jacoby=not numbers[0] and bool(numbers[1]),
            beavers=not numbers[0] and bool(numbers[3]),
        )
    except ValueError as error:
        raise NotationError(f"Snowie line: {error} in {quoted}") from None
    names = (fields[5], fields[6])
    return position, names if me == 0 else names[::-1]
