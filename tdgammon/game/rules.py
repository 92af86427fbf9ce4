"""Options of play, as fields of one frozen `GameRules`, and presets by name (R13-R26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from tdgammon.game.board import START, Boards, checked_boards, parse, text

_START = tuple(START.tolist())
_NACKGAMMON = "24:2 23:2 13:4 8:3 6:4 / 1:2 2:2 12:4 17:3 19:4"
_HYPERGAMMON = "24:1 23:1 22:1 / 1:1 2:1 3:1"

CUBE_LIMITS = tuple(2**k for k in range(13))
"""Highest cube values that can be chosen; 1 = no cube, 4096 is what match files hold at most."""

END_COUNTS = {"oin": (1, 1, 1), "mars": (1, 2, 2), "cox": (1, 2, 3)}
"""What a single game, a gammon and a backgammon pay under each end count (R23)."""

AUTOMATIC_DOUBLES = {"none": 0, "one": 1, "unlimited": None}
NEXT_STARTS = ("dice", "loser", "alternate")


class IllegalPlay(ValueError):
    """An action that the rules do not allow; the message says which rule."""


@dataclass(frozen=True, kw_only=True)
class GameRules:
    """How a game is played and paid. The defaults are the standard rules with a cube.

    Jacoby, beavers, raccoons and automatic doubles are rules of money play: a match to points does
    not use them.
    """

    cube_limit: int = 64
    """Highest value of the cube, a power of 2; 1 = no cube (R15)."""
    jacoby: bool = False
    """Gammons and backgammons count only once the cube was turned (R19)."""
    beavers: bool = False
    """The player who takes may redouble at once and keep the cube (R20)."""
    raccoons: bool = False
    """The player who is beavered may redouble in turn (R20)."""
    automatic_doubles: str = "none"
    """Equal opening dice double the stake: `none`, `one` time, or `unlimited` (R21)."""
    end_counts: str = "cox"
    """`oin`: every game pays 1; `mars`: a gammon and more pay 2; `cox`: 1, 2, 3 (R23)."""
    last_roll_draw: bool = False
    """The player who started second gets one last roll after the other has finished (R25)."""
    resign_by_board: bool = False
    """A resignation ends the game at once, at the size that the loser's checkers show (R24);
    otherwise the opponent may refuse the size that is offered."""
    next_start: str = "dice"
    """Who starts the next game: by `dice`, the `loser` of the last, or `alternate` (R22)."""
    caucasian: bool = False
    """A checker that hit at home may not go on to an own checker in that turn (R26)."""
    start: tuple[int, ...] = _START
    """Board at the start of a game, seen by the player who starts; both sides have equal checkers."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                raise ValueError(
                    f"rules.{field.name}: true or false expected, got {getattr(self, field.name)!r}"
                )
        if type(self.cube_limit) is not int or self.cube_limit not in CUBE_LIMITS:
            raise ValueError(
                f"rules.cube_limit: a power of 2 from 1 (no cube) to {CUBE_LIMITS[-1]} expected, "
                f"got {self.cube_limit!r}"
            )
        for name, known in (
            ("automatic_doubles", tuple(AUTOMATIC_DOUBLES)),
            ("end_counts", tuple(END_COUNTS)),
            ("next_start", NEXT_STARTS),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"rules.{name}: one of {', '.join(known)} expected, got {getattr(self, name)!r}"
                )
        if self.cube_limit == 1:
            for name in ("jacoby", "beavers", "raccoons"):
                if getattr(self, name):
                    raise ValueError(f"rules.{name}: needs a cube, but cube_limit is 1")
            if self.automatic_doubles != "none":
                raise ValueError("rules.automatic_doubles: needs a cube, but cube_limit is 1")
        if self.raccoons and not self.beavers:
            raise ValueError("rules.raccoons: needs beavers, which are off")
        boards = checked_boards(self.start)
        if len(boards) != 1:
            raise ValueError(f"rules.start: one board of 26 numbers expected, got {len(boards)}")
        board = boards[0]
        object.__setattr__(self, "start", tuple(board.tolist()))  # a list has no hash
        own, opposing = int(np.maximum(board, 0).sum()), int(np.maximum(-board, 0).sum())
        if own != opposing:
            raise ValueError(f"rules.start: {own} checkers against {opposing} in {text(board)!r}")

    @property
    def num_checkers(self) -> int:
        """Checkers a side."""
        return sum(count for count in self.start if count > 0)

    @property
    def end_values(self) -> tuple[int, int, int]:
        """Points of a single game, a gammon and a backgammon with the cube at 1."""
        return END_COUNTS[self.end_counts]

    @property
    def outcome_values(self) -> np.ndarray:
        """Points of the six outcomes, float32 [6], for cubeless equities."""
        single, gammon, backgammon = self.end_values
        return np.array([backgammon, gammon, single, -single, -gammon, -backgammon], np.float32)

    @property
    def start_board(self) -> Boards:
        """`start` as int8 [26]."""
        return np.array(self.start, np.int8)

    def stake_cover(self, stake: float) -> float:
        """Balance that a player needs to sit down: stake x cube limit x highest end value (R17).

        Raises ValueError for a stake that is not positive.
        """
        if not stake > 0:
            raise ValueError(f"stake: a positive number expected, got {stake!r}")
        return stake * self.cube_limit * max(self.end_values)


STANDARD = GameRules()


def _board(words: str) -> tuple[int, ...]:
    return tuple(parse(words).tolist())


PRESETS: dict[str, GameRules] = {
    "standard": STANDARD,
    "standard-money": GameRules(jacoby=True, beavers=True, raccoons=True),
    "tournament": GameRules(cube_limit=CUBE_LIMITS[-1]),
    "caucasian": GameRules(caucasian=True),
    "nackgammon": GameRules(start=_board(_NACKGAMMON)),
    "hypergammon": GameRules(start=_board(_HYPERGAMMON)),
    "000": GameRules(),
    "001": GameRules(next_start="loser", resign_by_board=True),
    "002": GameRules(),
    "003": GameRules(cube_limit=1),
    "004": GameRules(jacoby=True, beavers=True, automatic_doubles="one"),
}
"""Rules by name; 000 to 004 are the five rule texts, each with its usual options."""


def rules(name: str | GameRules) -> GameRules:
    """The preset of that name, or the `GameRules` given; ValueError, quoting it, for another name."""
    if isinstance(name, GameRules):
        return name
    if name not in PRESETS:
        raise ValueError(f"rules: one of {', '.join(PRESETS)} expected, got {name!r}")
    return PRESETS[name]


def without_cube(rules: GameRules) -> GameRules:
    """The same rules without a cube and all that needs one."""
    return replace(
        rules, cube_limit=1, jacoby=False, beavers=False, raccoons=False, automatic_doubles="none"
    )


def options(words: Sequence[str], base: GameRules) -> GameRules:
    """`base` with `key=value` options (`jacoby=true`, `start=6:2 / 19:2`); ValueError for a bad one."""
    known = {field.name: field for field in fields(GameRules)}
    changed = {name: getattr(base, name) for name in known}
    given: set[str] = set()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known:
            raise ValueError(
                f"rules: KEY=VALUE with a key of {', '.join(known)} expected, got {word!r}"
            )
        if key in given:
            raise ValueError(f"rules.{key}: given twice, the second time as {word!r}")
        given.add(key)
        changed[key] = _option(key, value, known[key].type)
    return GameRules(**changed)


def _option(key: str, value: str, kind: object) -> object:
    if key == "start":
        return _board(value)
    if kind == "bool":
        if value not in ("true", "false"):
            raise ValueError(f"rules.{key}: true or false expected, got {value!r}")
        return value == "true"
    if kind == "int":
        if not (value.isascii() and value.isdigit()):
            raise ValueError(f"rules.{key}: a whole number expected, got {value!r}")
        return int(value)
    return value
