"""A match as it was recorded: games of plain events, and what they come to when replayed.

Players are 0 (left column, White) and 1 (right column, Black). A record holds what was written down,
also what the rules forbid (R27); `replay` says what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tdgammon.game.moves import afterstates_with_steps
from tdgammon.game.rules import GameRules
from tdgammon.notation.ids import Cells, Position, flipped
from tdgammon.notation.plays import NotationError, Step

NO_CUBE_LIMIT = 4096
"""Cube limit of a record that names none: the highest there is."""

RECORDED_RULES = GameRules(cube_limit=NO_CUBE_LIMIT)
"""Rules of a record that names none."""

_UNSAID = (
    "automatic_doubles",
    "end_counts",
    "last_roll_draw",
    "resign_by_board",
    "next_start",
    "caucasian",
)

CUBE_ACTIONS = ("double", "take", "pass", "beaver", "raccoon")

SIZES = {1: "single", 2: "gammon", 3: "backgammon"}


def rule_options(rules: GameRules) -> list[str]:
    """Options, as `game.rules.options` takes them, that no other program's format has a word for."""
    changed = [name for name in _UNSAID if getattr(rules, name) != getattr(RECORDED_RULES, name)]
    return [f"{name}={str(getattr(rules, name)).lower()}" for name in changed]


@dataclass(frozen=True)
class Turn:
    """A roll and how it was played."""

    player: int
    dice: tuple[int, int]
    """Higher die first."""
    steps: tuple[Step, ...] | None
    """Checker moves, highest source first; () = no legal play, None = not played or not known."""
    is_legal: bool = True
    """False for a play that the rules forbid and that stood all the same (R27)."""
    comment: str = ""


@dataclass(frozen=True)
class CubeAction:
    """One word about the cube: one of `CUBE_ACTIONS`."""

    player: int
    action: str
    comment: str = ""


@dataclass(frozen=True)
class Resignation:
    """`player` gives up a game of `size` (1 to 3; None: the record does not tell)."""

    player: int
    size: int | None


@dataclass(frozen=True)
class SetPosition:
    """From here on the board and the cube stand like this."""

    board: Cells
    """Seen by player 0."""
    cube_value: int = 1
    cube_owner: int | None = None
    player: int = field(default=0, init=False)
    """Whose view the board is."""


Event = Turn | CubeAction | Resignation | SetPosition


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game from its start to its end, or to where the record stops."""

    number: int
    start_score: tuple[int, int]
    events: tuple[Event, ...]
    is_crawford: bool = False
    winner: int | None = None
    """None for a game that was not finished."""
    points: int | None = None
    """Points of the winner as the record has them, which may be less than the rules say."""
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class MatchRecord:
    """A match of `length` points (0 = money) and its games."""

    players: tuple[str, str]
    length: int
    games: tuple[GameRecord, ...]
    rules: GameRules = RECORDED_RULES
    tags: tuple[tuple[str, str], ...] = ()
    """What the record says of itself, such as ("Event", "..."), in order."""

    @property
    def final_score(self) -> tuple[int, int]:
        """Score after the last game, as the record has it."""
        if not self.games:
            return (0, 0)
        score = list(self.games[-1].start_score)
        if self.games[-1].winner is not None:
            score[self.games[-1].winner] += self.games[-1].points or 0
        return score[0], score[1]


@dataclass(frozen=True, kw_only=True)
class Moment:
    """How things stood when an event happened."""

    event: Event
    board: Cells
    """Seen by the event's player, before it."""
    cube_value: int
    cube_owner: int | None
    offer: str | None = None
    """The word of the cube that was waiting for an answer."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the events of a game come to by the rules."""

    end: str
    """`bearoff`, `pass`, `resignation` or `unfinished`."""
    winner: int | None
    size: int | None
    """1 to 3 as the checkers or the resignation have it; None if not finished."""
    cube_value: int
    points_by_rule: int | None
    """None where the checkers alone do not tell, as for a resignation."""


def applied(cells: Cells, steps: Iterable[Step]) -> Cells | None:
    """The board, seen by the player, after checker moves made in this order, legal or not.

    None if a checker is missing or would stand on two opposing ones: that cannot be shown.
    """
    board = list(cells)
    for source, to in steps:
        if board[source] <= 0 or (to > 0 and board[to] < -1):
            return None
        board[source] -= 1
        if to > 0:
            if board[to] == -1:
                board[to] = 0
                board[0] -= 1
            board[to] += 1
    return tuple(board)


def canonical_steps(
    boards: Sequence[Cells], rolls: Sequence[tuple[int, int]], afters: Sequence[Cells], rules: GameRules
) -> list[tuple[Step, ...] | None]:
    """For each turn the one way of writing its play, None if the rules forbid it.

    `boards` and `afters` are seen by the player, before and after the play.
    """
    if not boards:
        return []
    before, dice = np.array(boards, np.int8), np.array(rolls, np.int8)
    rows, packed, offsets = afterstates_with_steps(before, dice, rules)
    wanted = -np.array(afters, np.int8)[:, ::-1]
    owner = np.repeat(np.arange(len(boards)), np.diff(offsets))
    hits = np.flatnonzero((rows == wanted[owner]).all(axis=1))
    found: list[tuple[Step, ...] | None] = [None] * len(boards)
    for index, moves in zip(owner[hits].tolist(), packed[hits].tolist(), strict=True):
        steps = [(move >> 3, max((move >> 3) - (move & 7), 0)) for move in moves if move]
        found[index] = tuple(sorted(steps, reverse=True))
    return found


def replayed(game: GameRecord, rules: GameRules = RECORDED_RULES) -> Iterator[Moment]:
    """Every event with what stood before it.

    Raises NotationError for a play that cannot be made at all.
    """
    board, viewer = rules.start, game.events[0].player if game.events else 0
    value: int = 1
    owner: int | None = None
    offer: str | None = None
    for event in game.events:
        if event.player != viewer:
            board, viewer = flipped(board), event.player
        yield Moment(event=event, board=board, cube_value=value, cube_owner=owner, offer=offer)
        if isinstance(event, Turn):
            after = applied(board, event.steps or ())
            if after is None:
                raise NotationError(f"game {game.number}: {event} cannot be made on {board}")
            board = after
        elif isinstance(event, CubeAction):
            value, owner, offer = after_cube(event, value, owner, offer)
        elif isinstance(event, SetPosition):
            board, value, owner, offer = event.board, event.cube_value, event.cube_owner, None


def after_cube(
    event: CubeAction, value: int, owner: int | None, offer: str | None
) -> tuple[int, int | None, str | None]:
    """Cube value, owner and offer after one word about the cube.

    The value is what is in force: an offer counts only once it is answered. Who beavers keeps the cube.
    """
    if event.action == "double":
        return value, owner, "double"
    if event.action in ("beaver", "raccoon"):
        return 2 * value, event.player, event.action
    if event.action == "take":
        # the last offer is the taker's to keep, but a beavered cube stays with the one who beavered
        return 2 * value, owner if offer == "beaver" else event.player, None
    return value, owner, None


def outcome(game: GameRecord, length: int, rules: GameRules = RECORDED_RULES) -> Outcome:
    """What the game comes to: who won, how, and the points that the rules give, not capped."""
    value: int = 1
    owner: int | None = None
    board, viewer = rules.start, 0
    last: Moment | None = None
    for last in replayed(game, rules):
        if isinstance(last.event, Resignation):
            winner = 1 - last.event.player
            return Outcome(
                end="resignation",
                winner=winner,
                size=last.event.size,
                cube_value=last.cube_value,
                points_by_rule=None,
            )
        if isinstance(last.event, CubeAction) and last.event.action == "pass":
            return Outcome(
                end="pass",
                winner=1 - last.event.player,
                size=1,
                cube_value=last.cube_value,
                points_by_rule=last.cube_value,
            )
    if last is not None:
        value, owner, board, viewer = last.cube_value, last.cube_owner, last.board, last.event.player
        if isinstance(last.event, CubeAction):
            value, owner, _ = after_cube(last.event, value, owner, last.offer)
        elif isinstance(last.event, SetPosition):
            value, owner, board = last.event.cube_value, last.event.cube_owner, last.event.board
        elif isinstance(last.event, Turn):
            board = applied(board, last.event.steps or ()) or board
    size = size_won(board, rules.num_checkers)
    if not size:
        return Outcome(end="unfinished", winner=None, size=None, cube_value=value, points_by_rule=None)
    counted = 1 if rules.jacoby and not length and owner is None else size
    return Outcome(
        end="bearoff",
        winner=viewer,
        size=size,
        cube_value=value,
        points_by_rule=value * rules.end_values[counted - 1],
    )


def size_won(board: Cells, num_checkers: int) -> int:
    """1, 2 or 3 if the player has borne off everything, else 0 (R12)."""
    if any(count > 0 for count in board):
        return 0
    left = -sum(board)
    if left < num_checkers:
        return 1
    return 3 if any(count < 0 for count in board[:7]) else 2


def positions(record: MatchRecord) -> Iterator[tuple[GameRecord, Event, Position]]:
    """Every decision of a match: a roll to play, a double to offer, a double to answer."""
    for game in record.games:
        for moment in replayed(game, record.rules):
            event = moment.event
            if isinstance(event, Turn):
                player, dice, offer = event.player, event.dice, None
            elif isinstance(event, CubeAction) and event.action != "double":
                player, dice, offer = 1 - event.player, None, moment.offer
            elif isinstance(event, CubeAction):
                player, dice, offer = event.player, None, None
            else:
                continue
            board = moment.board if player == event.player else flipped(moment.board)
            yield (
                game,
                event,
                Position(
                    board=board,
                    on_roll=player,
                    dice=dice,
                    cube_value=moment.cube_value,
                    cube_owner=moment.cube_owner,
                    length=record.length,
                    scores=game.start_score,
                    is_crawford=game.is_crawford,
                    jacoby=not record.length and record.rules.jacoby,
                    beavers=not record.length and record.rules.beavers,
                    cube_limit=record.rules.cube_limit,
                    offer=offer,
                ),
            )


@dataclass(kw_only=True)
class GameWriter:
    """Notes a game while it is played; for players who save what they play.

    Feed it `turn`, `cube`, `resign` as they happen; `finished` gives the record.
    """

    number: int = 1
    start_score: tuple[int, int] = (0, 0)
    is_crawford: bool = False
    rules: GameRules = RECORDED_RULES
    _events: list[Event] = field(default_factory=list)
    _turns: list[tuple[int, Cells, Cells]] = field(default_factory=list)

    def turn(self, player: int, board: ArrayLike, dice: Sequence[int], afterstate: ArrayLike) -> None:
        """A play: the board [26] before it, seen by the player, and its afterstate [26]."""
        first, second = int(dice[0]), int(dice[1])
        roll = (max(first, second), min(first, second))
        before = tuple(np.asarray(board).tolist())
        after = flipped(tuple(np.asarray(afterstate).tolist()))
        self._turns.append((len(self._events), before, after))
        self._events.append(Turn(player, roll, None))

    def rolled(self, player: int, dice: Sequence[int]) -> None:
        """A roll that was not played, as before a resignation."""
        first, second = int(dice[0]), int(dice[1])
        self._events.append(Turn(player, (max(first, second), min(first, second)), None))

    def cube(self, player: int, action: str) -> None:
        """One of `CUBE_ACTIONS`."""
        if action not in CUBE_ACTIONS:
            raise ValueError(f"action: one of {', '.join(CUBE_ACTIONS)} expected, got {action!r}")
        self._events.append(CubeAction(player, action))

    def resign(self, player: int, size: int) -> None:
        """A resignation that was accepted."""
        self._events.append(Resignation(player, size))

    def set_position(
        self, player: int, board: ArrayLike, cube_value: int = 1, cube_owner: int | None = None
    ) -> None:
        """A board or cube that no play led to, such as after automatic doubles; seen by `player`."""
        cells = tuple(np.asarray(board).tolist())
        cells = flipped(cells) if player else cells
        self._events.append(SetPosition(cells, cube_value, cube_owner))

    def finished(self, winner: int | None, points: int | None) -> GameRecord:
        """The record; `winner` None for a game that was broken off.

        Raises NotationError for a play that the rules forbid.
        """
        rolls = [self._events[index].dice for index, _, _ in self._turns]  # type: ignore[union-attr]
        before, after = [turn[1] for turn in self._turns], [turn[2] for turn in self._turns]
        events = list(self._events)
        found = canonical_steps(before, rolls, after, self.rules)
        for (index, board, _), roll, steps in zip(self._turns, rolls, found, strict=True):
            if steps is None:
                raise NotationError(
                    f"game {self.number}: no play of {roll} from {board} leaves that board"
                )
            events[index] = Turn(events[index].player, roll, steps)
        return GameRecord(
            number=self.number,
            start_score=self.start_score,
            events=tuple(events),
            is_crawford=self.is_crawford,
            winner=winner,
            points=points,
        )


def is_crawford_game(
    score: tuple[int, int], length: int, before: Sequence[GameRecord], events: Sequence[Event]
) -> bool:
    """Whether a game is the Crawford game by R18, where the record does not say.

    It is the first of the record with one player one point away; a record that starts at such a
    score may start after it, which a double shows.
    """
    one_away = [length - 1 == points for points in score]
    if not length or one_away[0] == one_away[1]:
        return False
    if any(length - 1 in game.start_score for game in before):
        return False
    return bool(before) or not any(isinstance(event, CubeAction) for event in events)
