"""Positions as identifiers: GNU Position ID and Match ID, XGID.

Player 0 is the one at the top (O), player 1 the one at the bottom (X). Sources: the manual and the
behaviour of GNU Backgammon 1.07.001 (which writes the opponent's checkers first), XG's XGID.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from tdgammon.game.board import NUM_CHECKERS, NUM_PLACES, OPPONENT_BAR, OWN_BAR, START, checked_boards
from tdgammon.notation.plays import NotationError

Cells = tuple[int, ...]
"""A board of 26 numbers seen by the player on roll, as `game/board.py` explains."""

TOP, BOTTOM = 0, 1

OFFERS = ("double", "beaver", "raccoon")
"""What may be waiting for an answer."""

PLAYING = 1

_POSITION_ID = re.compile(r"[A-Za-z0-9+/]{14}")
_MATCH_ID = re.compile(r"[A-Za-z0-9+/]{12}")
_XGID_BOARD = re.compile(r"[-A-Oa-o]{26}")
_XGID = re.compile(r"(?:XGID\s*=\s*)?([-A-Oa-o]{26})((?::-?[0-9A-Z]{1,6}){9})", re.IGNORECASE)
_MAX_LOG_CUBE = 12
_MAX_SCORE = 2**15 - 1


@dataclass(frozen=True, kw_only=True)
class Position:
    """A board with everything that an identifier may say about the moment of the match."""

    board: Cells
    """Seen by the player on roll, who is the one that doubled while a double is on offer."""
    on_roll: int = BOTTOM
    dice: tuple[int, int] | None = None
    """Rolled and not yet played."""
    cube_value: int = 1
    """Before the double, while one is on offer."""
    cube_owner: int | None = None
    """TOP, BOTTOM or None: centred."""
    length: int = 0
    """Points of the match; 0 = money."""
    scores: tuple[int, int] = (0, 0)
    """Of the player at the top and the one at the bottom."""
    is_crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    cube_limit: int = 1024
    """1 = no cube."""
    offer: str | None = None
    """`double`, `beaver` or `raccoon` while it waits for an answer."""
    resigned: int = 0
    """Size of the resignation on offer, 1 to 3."""
    state: int = PLAYING
    """As the Match ID has it: 0 no game, 1 playing, 2 over, 3 resigned, 4 ended by a pass."""

    def __post_init__(self) -> None:
        checked_boards(self.board)
        if self.on_roll not in (TOP, BOTTOM):
            raise ValueError(f"on_roll: 0 (top) or 1 (bottom) expected, got {self.on_roll!r}")
        if self.dice is not None and not all(1 <= die <= 6 for die in self.dice):
            raise ValueError(f"dice: 1 to 6 expected, got {self.dice}")
        for name in ("cube_value", "cube_limit"):
            value = getattr(self, name)
            if value < 1 or value & (value - 1) or value > 2**15:
                raise ValueError(f"{name}: a power of 2 up to {2**15} expected, got {value}")
        if not 0 <= self.length <= _MAX_SCORE or not all(0 <= s <= _MAX_SCORE for s in self.scores):
            raise ValueError(
                f"length, scores: 0 to {_MAX_SCORE} expected, got {self.length}, {self.scores}"
            )
        if self.offer is not None and self.offer not in OFFERS:
            raise ValueError(f"offer: one of {', '.join(OFFERS)} expected, got {self.offer!r}")

    @property
    def decider(self) -> int:
        """Player who has to act: the other one while an offer waits for its answer."""
        answers = self.offer in ("double", "raccoon") or self.resigned > 0
        return 1 - self.on_roll if answers else self.on_roll


def flipped(board: Cells) -> Cells:
    """The board seen by the other player."""
    return tuple(-count for count in reversed(board))


def position_id(board: Cells) -> str:
    """GNU Position ID of a board seen by the player on roll, 14 characters."""
    bits, length = 0, 0
    for side in (flipped(board), board):
        for place in range(1, NUM_PLACES):
            count = max(side[place], 0)
            bits |= ((1 << count) - 1) << length
            length += count + 1
    return base64.b64encode(bits.to_bytes(10, "little")).decode().rstrip("=")


def read_position_id(text: str) -> Cells:
    """The board of a GNU Position ID, seen by the player on roll.

    Raises NotationError for another length or alphabet, more than 15 checkers a side, both sides on
    one point, bits left over, or a position that cannot occur.
    """
    if not _POSITION_ID.fullmatch(text):
        raise NotationError(f"position ID: 14 characters A-Z a-z 0-9 + / expected, got {_short(text)}")
    bits = int.from_bytes(_bytes(text + "=="), "little")
    sides = []
    for _ in range(2):
        counts = [0] * NUM_PLACES
        for place in range(1, NUM_PLACES):
            while bits & 1:
                counts[place] += 1
                bits >>= 1
            bits >>= 1
        if sum(counts) > NUM_CHECKERS:
            raise NotationError(f"position ID: {sum(counts)} checkers of one side in {text!r}")
        sides.append(counts)
    if bits:
        raise NotationError(f"position ID: too many bits in {text!r}")
    opposing, own = sides
    if any(own[place] and opposing[25 - place] for place in range(1, OWN_BAR)):
        raise NotationError(f"position ID: both sides on one point in {text!r}")
    board = tuple(own[place] - opposing[25 - place] for place in range(NUM_PLACES))
    return _sound(board, f"position ID {text!r}")


def _sound(board: Cells, what: str) -> Cells:
    """The board if it can occur; both sides on the bar against closed boards cannot."""
    try:
        checked_boards(board)
    except ValueError as error:
        raise NotationError(f"{what}: {error}") from None
    closed = [
        side[OWN_BAR] > 0 and all(side[place] <= -2 for place in range(19, 25))
        for side in (board, flipped(board))
    ]
    if all(closed):
        raise NotationError(f"{what}: both sides are on the bar against closed boards")
    return board


def match_id(position: Position) -> str:
    """GNU Match ID of the moment, 12 characters; the board is not in it."""
    dice = sorted(position.dice or (0, 0), reverse=True)
    owner = 3 if position.cube_owner is None else position.cube_owner
    no_jacoby = position.length > 0 or not position.jacoby
    bits, shift = 0, 0
    for value, width in (
        (position.cube_value.bit_length() - 1, 4),
        (owner, 2),
        (position.on_roll, 1),
        (position.is_crawford, 1),
        (position.state, 3),
        (position.decider, 1),
        (position.offer is not None, 1),
        (position.resigned, 2),
        (dice[0], 3),
        (dice[1], 3),
        (position.length, 15),
        (position.scores[TOP], 15),
        (position.scores[BOTTOM], 15),
        (no_jacoby, 1),
    ):
        bits |= int(value) << shift
        shift += width
    return base64.b64encode(bits.to_bytes(9, "little")).decode()


def read_match_id(text: str, board: Cells | None = None) -> Position:
    """The moment that a GNU Match ID describes, with `board` (default: the start).

    Raises NotationError, quoting the field, for what cannot be.
    """
    if not _MATCH_ID.fullmatch(text):
        raise NotationError(f"match ID: 12 characters A-Z a-z 0-9 + / expected, got {_short(text)}")
    bits = int.from_bytes(_bytes(text), "little")

    def take(width: int) -> int:
        nonlocal bits
        value = bits & ((1 << width) - 1)
        bits >>= width
        return value

    log_cube, owner, on_roll, crawford, state = take(4), take(2), take(1), take(1), take(3)
    take(1)  # who decides follows from the rest
    doubled, resigned, high, low = take(1), take(2), take(3), take(3)
    length, top, bottom, no_jacoby = take(15), take(15), take(15), take(1)
    if (high == 0) != (low == 0) or max(high, low) > 6:
        raise NotationError(f"match ID: dice {high}-{low} in {text!r}")
    if owner == 2 or log_cube > _MAX_LOG_CUBE or state > 4:
        raise NotationError(
            f"match ID: cube owner {owner}, cube 2**{log_cube}, state {state} in {text!r}"
        )
    return Position(
        board=tuple(START.tolist()) if board is None else board,
        on_roll=on_roll,
        dice=(high, low) if high else None,
        cube_value=1 << log_cube,
        cube_owner=None if owner == 3 else owner,
        length=length,
        scores=(top, bottom),
        is_crawford=bool(crawford),
        jacoby=not length and not no_jacoby,
        cube_limit=max(1024, 1 << log_cube),
        offer="double" if doubled else None,
        resigned=resigned,
        state=state,
    )


def gnubg_id(position: Position) -> str:
    """`PositionID:MatchID`."""
    return f"{position_id(position.board)}:{match_id(position)}"


def read_gnubg_id(text: str) -> Position:
    """The position of `PositionID:MatchID`, or of a Position ID alone (money, nothing rolled)."""
    first, colon, second = text.strip().partition(":")
    board = read_position_id(first)
    return read_match_id(second, board) if colon else Position(board=board)


def xgid(position: Position) -> str:
    """XGID of the position, with its prefix; the board is always seen from the bottom.

    Raises NotationError for a resignation on offer, which an XGID cannot say.
    """
    if position.resigned:
        raise NotationError("XGID: a resignation on offer cannot be written")
    bottom = position.board if position.on_roll == BOTTOM else flipped(position.board)
    letters = xgid_letters(bottom)
    sign = {None: 0, BOTTOM: 1, TOP: -1}
    rolled = "".join(map(str, position.dice or (0, 0)))
    dice = position.offer[0].upper() if position.offer else rolled
    flag = position.is_crawford if position.length else position.jacoby + 2 * position.beavers
    fields = (
        letters,
        position.cube_value.bit_length() - 1,
        sign[position.cube_owner],
        sign[position.on_roll],
        dice,
        position.scores[BOTTOM],
        position.scores[TOP],
        int(flag),
        position.length,
        position.cube_limit.bit_length() - 1,
    )
    return "XGID=" + ":".join(map(str, fields))


def xgid_letters(board: Cells) -> str:
    """The 26 letters of a board seen from the bottom: upper case for the player there."""
    return "".join("-" if not count else chr((64 if count > 0 else 96) + abs(count)) for count in board)


def read_xgid(text: str) -> Position:
    """The position of an XGID, with or without its prefix.

    While a double is on offer the turn is taken to be the doubler's, as GNU Backgammon does; other
    writers may mean the one who answers. Raises NotationError for anything that cannot be.
    """
    match = _XGID.fullmatch(text.strip())
    if not match or not _XGID_BOARD.fullmatch(match[1]):
        raise NotationError(f"XGID: 26 of - A-O a-o and nine fields expected, got {_short(text)}")
    letters, fields = match[1], match[2][1:].upper().split(":")
    dice_field = fields.pop(3)
    try:
        cube, owner, turn, score, other, flag, length, limit = map(int, fields)
    except ValueError:
        raise NotationError(f"XGID: numbers expected in {_short(text)}") from None
    wrong = (
        "cube" * (not 0 <= cube <= _MAX_LOG_CUBE)
        or "cube owner" * (owner not in (-1, 0, 1))
        or "turn" * (turn not in (-1, 1))
        or "score" * (not 0 <= score <= _MAX_SCORE or not 0 <= other <= _MAX_SCORE)
        or "match length" * (not 0 <= length <= _MAX_SCORE)
        or "rule flag" * (not 0 <= flag <= (1 if length else 3))
        or "maximum cube" * (not 0 <= limit <= 15)
        or "dice" * (not re.fullmatch("00|[1-6]{2}|[DBR]", dice_field))
    )
    if wrong:
        raise NotationError(f"XGID: the {wrong} cannot be so in {_short(text)}")
    bottom = tuple(
        0 if letter == "-" else ord(letter) - 64 if letter.isupper() else 96 - ord(letter)
        for letter in letters
    )
    if bottom[OPPONENT_BAR] > 0 or bottom[OWN_BAR] < 0:
        raise NotationError(f"XGID: checkers of the wrong side on a bar in {_short(text)}")
    on_roll = BOTTOM if turn == 1 else TOP
    rolled = dice_field.isdigit() and dice_field != "00"
    return Position(
        board=_sound(bottom if on_roll == BOTTOM else flipped(bottom), f"XGID {_short(text)}"),
        on_roll=on_roll,
        dice=(int(dice_field[0]), int(dice_field[1])) if rolled else None,
        cube_value=1 << cube,
        cube_owner={0: None, 1: BOTTOM, -1: TOP}[owner],
        length=length,
        scores=(other, score),
        is_crawford=bool(length and flag),
        jacoby=not length and bool(flag & 1),
        beavers=not length and bool(flag & 2),
        cube_limit=1 << limit,
        offer={"D": "double", "B": "beaver", "R": "raccoon"}.get(dice_field),
    )


def read_id(text: str) -> Position:
    """The position of an XGID, a GNU ID or a GNU Position ID, told apart by their form."""
    words = text.strip()
    if _XGID.fullmatch(words) or words[:4].upper() == "XGID":
        return read_xgid(words)
    return read_gnubg_id(words)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise NotationError(f"not base64: {_short(text)}") from None


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
