"""One immutable state of a match or a money session, and everything that can be done in it.

Players are 0 and 1. Every method gives the state that follows, or raises `IllegalPlay` with the rule
that forbids it. The board is always seen by the player whose turn it is (`on_roll`), also while the
other answers a double or a resignation.

    opening -> play -> roll -> play -> ... -> game over -> opening ... -> match over
                        |-> double -> (take) roll | (pass) game over | beaver -> raccoon
                        |-> resignation -> (accept) game over | (reject) back
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, checked_rolls, flip, points_won
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import AUTOMATIC_DOUBLES, GameRules, IllegalPlay

MAX_LENGTH = 64
"""Longest match, in points."""

SIZES = {1: "single game", 2: "gammon", 3: "backgammon"}


class Phase(StrEnum):
    """What has to happen next, and who does it."""

    OPENING = "opening"
    """Each player rolls one die."""
    ROLL = "roll"
    """The player on roll rolls, doubles or resigns."""
    PLAY = "play"
    """The player on roll plays the dice or resigns."""
    DOUBLE = "double"
    """The opponent takes, passes or beavers."""
    BEAVER = "beaver"
    """The player on roll takes the beaver, passes or raccoons."""
    RACCOON = "raccoon"
    """The opponent takes the raccoon or passes."""
    RESIGNATION = "resignation"
    """The opponent accepts or rejects."""
    GAME_OVER = "game over"
    MATCH_OVER = "match over"


@dataclass(frozen=True, kw_only=True)
class GameResult:
    """How a game ended."""

    winner: int | None
    """Player 0 or 1; None for a draw (R25)."""
    size: int
    """1 single game, 2 gammon, 3 backgammon, as the board or the resignation has it; 0 for a draw."""
    cube_value: int
    points_by_rule: int
    """Cube value times what the size pays (R16, R19, R23)."""
    points: int
    """What was added to the score: `points_by_rule`, but no more than the match needed."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """State of a match to `length` points, or of a money session (`length` 0)."""

    rules: GameRules = field(default_factory=GameRules)
    length: int = 0
    """Points to win the match, 0 to `MAX_LENGTH`; 0 = money session."""
    scores: tuple[int, int] = (0, 0)
    """Points of each player; in a money session the points each has won."""
    game_number: int = 1
    phase: Phase = Phase.OPENING
    board: tuple[int, ...] = ()
    """26 numbers, seen by `on_roll`; the start position before the opening roll."""
    on_roll: int = 0
    """Player whose turn it is."""
    starter: int | None = None
    """Player who started this game, None before the opening roll."""
    dice: tuple[int, int] | None = None
    """In phase play; otherwise None."""
    cube_value: int = 1
    cube_owner: int | None = None
    """None = centred."""
    resigned: int = 0
    """Size of the resignation on offer, 1 to 3."""
    refused: int = 0
    """Size of the last resignation that was rejected in this turn."""
    is_crawford: bool = False
    """This is the Crawford game (R18)."""
    was_crawford: bool = False
    """The Crawford game has been played."""
    automatic_doubles: int = 0
    """Equal opening dice that doubled the stake of this game (R21)."""
    is_last_roll: bool = False
    """The player on roll has the one roll of R25."""
    result: GameResult | None = None
    """Of the game that is over."""

    def __post_init__(self) -> None:
        if type(self.length) is not int or not 0 <= self.length <= MAX_LENGTH:
            raise ValueError(f"length: 0 (money) to {MAX_LENGTH} expected, got {self.length!r}")
        goes_on = self.phase != Phase.MATCH_OVER
        if min(self.scores) < 0 or (self.length and goes_on and max(self.scores) >= self.length):
            raise ValueError(f"scores: {self.scores} do not fit a match to {self.length}")
        if not self.board:
            object.__setattr__(self, "board", self.rules.start)
        if self.phase not in (Phase.GAME_OVER, Phase.MATCH_OVER):
            self._check_crawford()

    @property
    def opponent(self) -> int:
        """The player who is not on roll."""
        return 1 - self.on_roll

    @property
    def boards(self) -> Boards:
        """The board as int8 [1, 26], seen by the player on roll."""
        return np.array([self.board], np.int8)

    @property
    def decider(self) -> int | None:
        """Player who has to act; None when both roll, or nobody does."""
        if self.phase in (Phase.ROLL, Phase.PLAY, Phase.BEAVER):
            return self.on_roll
        if self.phase in (Phase.DOUBLE, Phase.RACCOON, Phase.RESIGNATION):
            return self.opponent
        return None

    @property
    def balance(self) -> int:
        """Points that player 0 is ahead."""
        return self.scores[0] - self.scores[1]

    @property
    def away(self) -> tuple[int, int]:
        """Points each player still needs; (0, 0) in a money session."""
        return (self.length - self.scores[0], self.length - self.scores[1]) if self.length else (0, 0)

    @property
    def is_post_crawford(self) -> bool:
        """A player is one point away and the Crawford game is over."""
        return self.was_crawford and not self.is_crawford

    @property
    def winner(self) -> int | None:
        """Of the match, once it is over."""
        if self.phase != Phase.MATCH_OVER:
            return None
        return 0 if self.scores[0] > self.scores[1] else 1

    @property
    def cube_is_dead(self) -> bool:
        """A double by the player on roll could win him nothing: he needs no more than is at stake."""
        return bool(self.length) and self.away[self.on_roll] <= self.cube_value

    def may_double(self) -> bool:
        """Whether the player on roll may double now."""
        return self._double_forbidden() is None

    def open(self, die0: int, die1: int) -> Match:
        """The opening roll, one die of each player (R2); equal dice are rolled again (R21)."""
        self._expect(Phase.OPENING, "the opening roll")
        first, second = _dice(die0, die1)
        if first == second:
            return self._automatic_double()
        starter = 0 if first > second else 1
        return replace(self, phase=Phase.PLAY, on_roll=starter, starter=starter, dice=(first, second))

    def roll(self, die1: int, die2: int) -> Match:
        """The player on roll rolls."""
        self._expect(Phase.ROLL, "rolling")
        return replace(self, phase=Phase.PLAY, dice=_dice(die1, die2))

    def afterstates(self) -> Boards:
        """Every board [A, 26] that the player on roll can leave, seen by the opponent."""
        self._expect(Phase.PLAY, "playing")
        return afterstates(self.boards, np.array([self.dice], np.int8), self.rules)[0]

    def play(self, afterstate: ArrayLike) -> Match:
        """Play the dice so as to leave `afterstate` [26], seen by the opponent."""
        self._expect(Phase.PLAY, "playing")
        after = np.asarray(afterstate)
        if after.shape != (26,):
            raise IllegalPlay(
                f"a play is named by the 26 numbers it leaves, got {after.tolist()!r:.200}"
            )
        if not (self.afterstates() == after).all(axis=1).any():
            raise IllegalPlay(self._play_forbidden(after))
        return self.moved_to(after.astype(np.int8))

    def moved_to(self, after: Boards) -> Match:
        """As `play`, for an afterstate that is known to be legal, also before the roll is told."""
        if self.phase not in (Phase.ROLL, Phase.PLAY):
            raise IllegalPlay(f"playing belongs to phase {Phase.PLAY}, this is phase {self.phase}")
        moved = replace(
            self,
            phase=Phase.ROLL,
            board=tuple(after.tolist()),
            on_roll=self.opponent,
            dice=None,
            refused=0,
        )
        finished = not (after < 0).any()
        if self.is_last_roll:
            first = moved.on_roll
            if finished:
                return moved._over(None, 0)
            return moved._over(first, _size_lost(flip(after), self.rules.num_checkers))
        if not finished:
            return moved
        if self.rules.last_roll_draw and self.on_roll == self.starter:
            return replace(moved, is_last_roll=True)
        return moved._over(self.on_roll, _size_lost(after, self.rules.num_checkers))

    def double(self) -> Match:
        """The player on roll offers the cube (R13, R14)."""
        forbidden = self._double_forbidden()
        if forbidden:
            raise IllegalPlay(forbidden)
        return replace(self, phase=Phase.DOUBLE)

    def take(self) -> Match:
        """Take the cube that is on offer: by a double, a beaver or a raccoon."""
        turns = {Phase.DOUBLE: 2, Phase.BEAVER: 4, Phase.RACCOON: 8}
        if self.phase not in turns:
            raise IllegalPlay(f"there is no double to take in phase {self.phase}")
        return replace(
            self,
            phase=Phase.ROLL,
            cube_value=self.cube_value * turns[self.phase],
            cube_owner=self.opponent,
        )

    def pass_double(self) -> Match:
        """Pass the cube that is on offer and lose the stake in force before that offer (R13)."""
        if self.phase == Phase.DOUBLE:
            return self._over(self.on_roll, 1)
        if self.phase == Phase.BEAVER:
            return replace(self, cube_value=2 * self.cube_value)._over(self.opponent, 1)
        if self.phase == Phase.RACCOON:
            return replace(self, cube_value=4 * self.cube_value)._over(self.on_roll, 1)
        raise IllegalPlay(f"there is no double to pass in phase {self.phase}")

    def beaver(self) -> Match:
        """Take a double and redouble at once, keeping the cube (R20)."""
        self._expect(Phase.DOUBLE, "a beaver")
        return self._redouble_at_once(Phase.BEAVER, self.rules.beavers, 4)

    def raccoon(self) -> Match:
        """Redouble a beaver at once; its player keeps the cube (R20)."""
        self._expect(Phase.BEAVER, "a raccoon")
        return self._redouble_at_once(Phase.RACCOON, self.rules.raccoons, 8)

    def resign(self, size: int = 0) -> Match:
        """The player on roll resigns a single game (1), a gammon (2) or a backgammon (3).

        Under `rules.resign_by_board` the board says the size (R24), and none may be named.
        """
        if self.phase == Phase.RESIGNATION:
            raise IllegalPlay(f"a resignation of a {SIZES[self.resigned]} is waiting for its answer")
        if self.phase not in (Phase.ROLL, Phase.PLAY):
            raise IllegalPlay(f"the player on roll resigns in his turn, not in phase {self.phase}")
        if self.is_last_roll:
            raise IllegalPlay("there is no resigning before the last roll (R25)")
        if self.rules.resign_by_board:
            if size:
                raise IllegalPlay("the board says the size of a resignation (R24); none may be named")
            return replace(self, dice=None)._over(self.opponent, self.board_size())
        if size not in SIZES:
            raise IllegalPlay(f"a resignation is of size 1, 2 or 3, got {size!r}")
        if size <= self.refused:
            raise IllegalPlay(f"a resignation of a {SIZES[self.refused]} was rejected in this turn")
        if size > 1 and self.board_size() == 1:
            raise IllegalPlay(
                f"a player who has borne off a checker cannot lose a {SIZES[size]} (R12, R24)"
            )
        return replace(self, phase=Phase.RESIGNATION, resigned=size)

    def accept(self) -> Match:
        """Accept the resignation (R16)."""
        self._expect(Phase.RESIGNATION, "accepting a resignation")
        return replace(self, dice=None)._over(self.opponent, self.resigned)

    def reject(self) -> Match:
        """Reject the resignation; the game goes on where it was."""
        self._expect(Phase.RESIGNATION, "rejecting a resignation")
        phase = Phase.PLAY if self.dice else Phase.ROLL
        return replace(self, phase=phase, refused=self.resigned, resigned=0)

    def next_game(self) -> Match:
        """The next game of the match or session."""
        self._expect(Phase.GAME_OVER, "the next game")
        before = self.is_crawford or self.was_crawford
        fresh = Match(
            rules=self.rules,
            length=self.length,
            scores=self.scores,
            game_number=self.game_number + 1,
            is_crawford=1 in self.away and not before,
            was_crawford=before,
        )
        starter = self._next_starter()
        return (
            fresh
            if starter is None
            else replace(fresh, phase=Phase.ROLL, on_roll=starter, starter=starter)
        )

    def board_size(self) -> int:
        """Size of the game that the player on roll would lose as the board stands (R12, R24)."""
        return _size_lost(np.maximum(self.boards[0], 0), self.rules.num_checkers)

    def _check_crawford(self) -> None:
        """Refuse a game that is played at a score at which it cannot be what it says (R18)."""
        claims = self.is_crawford + self.was_crawford
        if claims == 2:
            raise ValueError("is_crawford, was_crawford: the Crawford game is played once")
        if claims and 1 not in self.away:
            raise ValueError(
                f"{'is' if self.is_crawford else 'was'}_crawford: nobody is one point from winning "
                f"at {self.scores} in a match to {self.length}"
            )
        if not claims and self.length > 1 and 1 in self.away:
            raise ValueError(
                f"scores: at {self.scores} in a match to {self.length} the Crawford game is this one "
                "or over: set is_crawford or was_crawford"
            )

    def _expect(self, phase: Phase, action: str) -> None:
        if self.phase != phase:
            raise IllegalPlay(f"{action} belongs to phase {phase}, this is phase {self.phase}")

    def _play_forbidden(self, after: NDArray[Any]) -> str:
        """The rule that keeps the player on roll from leaving `after`."""
        assert self.dice is not None
        if self.rules.caucasian:
            standard = afterstates(self.boards, np.array([self.dice], np.int8))[0]
            if (standard == after).all(axis=1).any():
                return (
                    "a checker that hit at home may not go on to an own checker in that turn (R26), "
                    f"and {self.dice[0]}-{self.dice[1]} has other plays"
                )
        return (
            f"no legal play of {self.dice[0]}-{self.dice[1]} leaves {after.tolist()} "
            "(seen by the opponent)"
        )

    def _double_forbidden(self) -> str | None:
        """The rule that keeps the player on roll from doubling, or None."""
        if self.phase != Phase.ROLL:
            return f"a double is offered before rolling (R13), this is phase {self.phase}"
        if self.is_last_roll:
            return "there is no doubling before the last roll (R25)"
        if self.rules.cube_limit == 1:
            return "this game is played without a cube (R15)"
        if self.is_crawford:
            return "there is no doubling in the Crawford game (R18)"
        if self.cube_owner == self.opponent:
            return "only the owner of the cube may redouble (R14)"
        if 2 * self.cube_value > self.rules.cube_limit:
            return f"the cube is at its limit of {self.rules.cube_limit} (R15)"
        return None

    def _automatic_double(self) -> Match:
        allowed = 0 if self.length else AUTOMATIC_DOUBLES[self.rules.automatic_doubles]
        is_free = allowed is None or self.automatic_doubles < allowed
        if not is_free or 2 * self.cube_value > self.rules.cube_limit:
            return self
        return replace(
            self, cube_value=2 * self.cube_value, automatic_doubles=self.automatic_doubles + 1
        )

    def _redouble_at_once(self, phase: Phase, is_allowed: bool, factor: int) -> Match:
        if self.length or not is_allowed:
            raise IllegalPlay(f"this game is played without {phase}s (R20)")
        if factor * self.cube_value > self.rules.cube_limit:
            raise IllegalPlay(f"the cube would pass its limit of {self.rules.cube_limit} (R15)")
        return replace(self, phase=phase)

    def _next_starter(self) -> int | None:
        """Player who starts the next game by R22, or None if the dice say."""
        assert self.result is not None
        assert self.starter is not None
        if self.rules.next_start == "alternate" or (
            self.rules.next_start == "loser" and self.result.winner is None
        ):
            return 1 - self.starter
        if self.rules.next_start == "loser":
            assert self.result.winner is not None
            return 1 - self.result.winner
        return None

    def _over(self, winner: int | None, size: int) -> Match:
        """The game is over: book it."""
        points_by_rule = 0
        scores = list(self.scores)
        points = 0
        if winner is not None:
            is_jacoby_single = self.rules.jacoby and not self.length and self.cube_owner is None
            counted = 1 if is_jacoby_single else size
            points_by_rule = self.cube_value * self.rules.end_values[counted - 1]
            points = min(points_by_rule, self.away[winner]) if self.length else points_by_rule
            scores[winner] += points
        return replace(
            self,
            phase=Phase.MATCH_OVER if self.length and max(scores) >= self.length else Phase.GAME_OVER,
            scores=(scores[0], scores[1]),
            resigned=0,
            result=GameResult(
                winner=winner,
                size=size,
                cube_value=self.cube_value,
                points_by_rule=points_by_rule,
                points=points,
            ),
        )


def _dice(die1: int, die2: int) -> tuple[int, int]:
    first, second = checked_rolls([die1, die2], 1)[0].tolist()
    return first, second


def _size_lost(board: Boards, num_checkers: int) -> int:
    """Size of a game whose winner has no checker left, seen by the loser."""
    return -int(points_won(board[None], num_checkers)[0])
