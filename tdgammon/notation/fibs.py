"""The board line of FIBS: `board:` and 52 values divided by colons.

Colours and directions swap between games on the server, so nothing is kept: a line is read into a
position whose player 1 is `You` and player 0 the opponent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tdgammon.notation.ids import BOTTOM, TOP, Position, flipped
from tdgammon.notation.plays import NotationError

UNLIMITED = 9999
"""Match length of a money session."""

_VALUES = 52
_NUMBER = re.compile(r"-?\d{1,6}")
_MAX_CHARS = 1000


@dataclass(frozen=True, kw_only=True)
class FibsBoard:
    """What a board line says beyond the position."""

    position: Position
    """Player 1 is `you`."""
    you: str
    opponent: str
    may_double: tuple[bool, bool]
    """You, the opponent."""
    num_movable: int
    """Checkers that can be moved this turn."""
    is_over: bool
    """Nobody is on roll."""


def read_fibs(line: str) -> FibsBoard:
    """What a board line says.

    A double on offer is told by both may-double flags being off or the was-doubled flag; a Crawford
    game, as GNU Backgammon decides it, by somebody one point away and values 51 and 52 both 0.
    Raises NotationError, quoting the line, for what cannot be read or cannot be.
    """
    quoted = repr(line if len(line) <= 80 else line[:77] + "...")
    words = line[: _MAX_CHARS + 1].strip().split(":")
    if len(line) > _MAX_CHARS or words[0] != "board" or len(words) < _VALUES + 1:
        raise NotationError(f"FIBS line: board: and {_VALUES} values expected, got {quoted}")
    values = [0, 0, 0]
    for index, word in enumerate(words[3 : _VALUES + 1], 3):
        if not _NUMBER.fullmatch(word):
            raise NotationError(f"FIBS line: value {index} is {word[:20]!r} in {quoted}")
        values.append(int(word))
    length, yours, theirs = values[3:6]
    turn, colour, direction = values[32], values[41], values[42]
    if colour not in (1, -1) or direction not in (1, -1) or turn not in (0, 1, -1):
        raise NotationError(
            f"FIBS line: turn {turn}, colour {colour}, direction {direction} in {quoted}"
        )
    places = values[6:32] if direction == -1 else values[31:5:-1]
    mine = tuple(colour * count for count in places)
    if mine[0] > 0 or mine[25] < 0:
        raise NotationError(f"FIBS line: checkers of the wrong side on a bar in {quoted}")
    length = 0 if length == UNLIMITED else length
    on_roll = BOTTOM if turn in (0, colour) else TOP
    dice = (values[33], values[34]) if on_roll == BOTTOM else (values[35], values[36])
    if (dice[0] == 0) != (dice[1] == 0):
        raise NotationError(f"FIBS line: dice {dice} in {quoted}")
    may_double = (bool(values[38]), bool(values[39]))
    is_doubled = bool(values[40]) or (turn != 0 and not any(may_double))
    one_away = length > 0 and length - 1 in (yours, theirs)
    is_crawford = one_away and values[51] == 0 and values[52] == 0
    owner = None
    if values[37] > 1 and may_double[0] != may_double[1]:
        owner = BOTTOM if may_double[0] else TOP
    elif values[37] > 1 and is_doubled:
        owner = on_roll
    try:
        position = Position(
            board=mine if on_roll == BOTTOM else flipped(mine),
            on_roll=on_roll,
            dice=dice if dice[0] else None,
            cube_value=values[37],
            cube_owner=owner,
            length=length,
            scores=(theirs, yours),
            is_crawford=is_crawford,
            offer="double" if is_doubled else None,
        )
    except ValueError as error:
        raise NotationError(f"FIBS line: {error} in {quoted}") from None
    return FibsBoard(
        position=position,
        you=words[1],
        opponent=words[2],
        may_double=may_double,
        num_movable=values[49],
        is_over=turn == 0,
    )


def write_fibs(position: Position, names: tuple[str, str] = ("Opponent", "You")) -> str:
    """The board line that player 1 of the position would get; `names` are those of players 0 and 1.

    You play X (-1), from 24 to 1. A resignation, beaver or rule option cannot be written.
    """
    mine = position.board if position.on_roll == BOTTOM else flipped(position.board)
    colour = -1
    may = [position.cube_owner in (None, player) for player in (BOTTOM, TOP)]
    if position.offer:
        may = [False, False]
    no_dice = (0, 0)
    dice = position.dice or no_dice
    own_roll = position.on_roll == BOTTOM
    names = (names[0].replace(":", "_"), names[1].replace(":", "_"))
    values: list[object] = [
        names[1],
        names[0],
        position.length or UNLIMITED,
        position.scores[BOTTOM],
        position.scores[TOP],
        *(colour * count for count in mine),
        colour if own_roll else -colour,
        *(dice if own_roll else no_dice),
        *(no_dice if own_roll else dice),
        position.cube_value,
        *map(int, may),
        int(bool(position.offer) and not own_roll),
        colour,
        -1,
        0,
        25,
        15 - sum(count for count in mine if count > 0),
        15 + sum(count for count in mine if count < 0),
        max(mine[25], 0),
        abs(mine[0]),
        0,
        0,
        0,
        int(not position.is_crawford),
    ]
    return "board:" + ":".join(map(str, values))
