"""Contests in lockstep: board play in arrays, cube and score through the match state of each.

A contest is a game for money or a whole match. Contest c is of pair c // 2, so both of a pair see the
same dice; A is player 0 of the even ones and player 1 of the odd ones. A game for money is started by
player 0, the first of a match by whom the dice say.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.bench.asking import warm_up
from tdgammon.bench.recording import Recorder
from tdgammon.decide.bots import Bot, checked_choice
from tdgammon.game.board import Boards, points_won
from tdgammon.game.dice import opening_throw, rolls_at, substream
from tdgammon.game.match import Match, Phase
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes


@dataclass
class Rows:
    """The games in play, a row each."""

    contests: NDArray[np.int64]
    keys: NDArray[np.uint64]
    """Dice stream of the game."""
    matches: NDArray[Any]
    """`Match` as it was when cube or score last changed; board and turn are in the other columns."""
    boards: Boards
    on_roll: NDArray[np.int8]
    """Player 0 or 1."""
    turns: NDArray[np.int64]
    """Turns of this game that were played."""
    all_turns: NDArray[np.int64]
    """Turns of this contest."""
    cube_values: NDArray[np.int64]
    cube_owners: NDArray[np.int8]
    """Player, or -1 while the cube is centred."""
    away: NDArray[np.int64]
    """[R, 2] by player."""
    is_crawford: NDArray[np.bool_]
    is_post_crawford: NDArray[np.bool_]
    is_last_roll: NDArray[np.bool_]

    @classmethod
    def blank(cls, num_rows: int) -> Rows:
        """Rows to be filled in."""
        return cls(
            contests=np.zeros(num_rows, np.int64),
            keys=np.zeros(num_rows, np.uint64),
            matches=np.empty(num_rows, object),
            boards=np.zeros((num_rows, 26), np.int8),
            on_roll=np.zeros(num_rows, np.int8),
            turns=np.zeros(num_rows, np.int64),
            all_turns=np.zeros(num_rows, np.int64),
            cube_values=np.ones(num_rows, np.int64),
            cube_owners=np.full(num_rows, -1, np.int8),
            away=np.zeros((num_rows, 2), np.int64),
            is_crawford=np.zeros(num_rows, np.bool_),
            is_post_crawford=np.zeros(num_rows, np.bool_),
            is_last_roll=np.zeros(num_rows, np.bool_),
        )

    def __len__(self) -> int:
        return len(self.contests)

    @property
    def sides(self) -> NDArray[np.int64]:
        """Who is on roll: 0 = A, 1 = B."""
        return self.on_roll ^ (self.contests % 2)

    def joined(self, other: Rows) -> Rows:
        """These rows, then the other ones."""
        return Rows(
            **{
                f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)])
                for f in fields(self)
            }
        )

    def kept(self, keep: NDArray[np.bool_]) -> Rows:
        """The rows of which `keep` says so."""
        return Rows(**{f.name: getattr(self, f.name)[keep] for f in fields(self)})

    def stakes(self, picked: NDArray[np.int64], rules: GameRules) -> Stakes:
        """Stakes of the picked rows, seen by their players on roll."""
        player = self.on_roll[picked]
        owners = self.cube_owners[picked]
        own = np.where(owners == player, OWN, OPPONENTS)
        away = self.away[picked]
        return Stakes(
            rules=rules,
            cube_values=self.cube_values[picked],
            cube_owners=np.where(owners < 0, CENTRED, own).astype(np.int8),
            away=np.where((player == 0)[:, None], away, away[:, ::-1]),
            is_crawford=self.is_crawford[picked],
            is_post_crawford=self.is_post_crawford[picked],
        )

    def note(self, row: int, match: Match) -> None:
        """Take over cube and score of a match state."""
        self.matches[row] = match
        self.cube_values[row] = match.cube_value
        self.cube_owners[row] = -1 if match.cube_owner is None else match.cube_owner
        self.away[row] = match.away
        self.is_crawford[row] = match.is_crawford
        self.is_post_crawford[row] = match.is_post_crawford
        self.is_last_roll[row] = match.is_last_roll


class Table:
    """Plays the contests of a pair of players and books their ends."""

    def __init__(
        self,
        players: tuple[Bot, Bot],
        keys: NDArray[np.uint64],
        rules: GameRules,
        length: int,
        max_turns: int,
        check: bool,
        recorder: Recorder | None = None,
    ) -> None:
        self.players, self.keys, self.rules, self.length = players, keys, rules, length
        self.max_turns, self.check = max_turns, check
        self.recorder = recorder
        self.has_cube = rules.cube_limit > 1
        self.first_match = Match(rules=rules, length=length)
        self.is_plain = not (self.has_cube or length or rules.last_roll_draw)
        """Nothing but the board matters: no match state is kept."""
        self.rows = Rows.blank(0)
        self.num_dealt = 0
        num_contests = 2 * len(keys)
        self.points = np.full(num_contests, np.nan)
        """Points for A of each contest; NaN until it has ended."""
        self.match_wins = np.full(num_contests, np.nan)
        """1 where A won the match, 0 where B did."""
        self.num_games = np.zeros(num_contests, np.int64)
        self.num_turns = np.zeros(num_contests, np.int64)
        self.ends = np.zeros((num_contests, 2, 4), np.int64)
        """[contest, side, size]: games won by size 1, 2 and 3; under 0 the doubles offered."""
        self.decisions, self.cpu_s = [0, 0], [0.0, 0.0]
        first = Rows.blank(1)
        first.away[:] = length
        stakes = first.stakes(np.zeros(1, np.int64), rules)
        for player in players:
            warm_up(player, rules, stakes if self.has_cube else None)

    def busy(self, lanes: int) -> bool:
        """Deal new contests to free lanes, whole pairs at a time; says whether any is in play."""
        num_free = max(lanes - len(self.rows), 0)
        num_new = min(num_free // 2 * 2, len(self.points) - self.num_dealt)
        if num_new:
            new = Rows.blank(num_new)
            new.contests[:] = np.arange(self.num_dealt, self.num_dealt + num_new)
            new.keys[:] = self.keys[new.contests // 2]
            new.boards[:] = self.rules.start_board
            if not self.is_plain:
                for row in range(num_new):
                    self._open_game(new, row, self.first_match)
            elif self.recorder:
                for contest in new.contests.tolist():
                    self.recorder.start_game(contest, self.first_match)
            self.num_dealt += num_new
            self.rows = self.rows.joined(new)
        return len(self.rows) > 0

    def play_turn(self) -> int:
        """One turn of every game in play; returns how many contests came to an end."""
        rows = self.rows
        going = self._offer_cubes() if self.has_cube else np.ones(len(rows), np.bool_)
        rolls = rolls_at(rows.keys, rows.turns)
        sides = rows.sides
        for s in (0, 1):
            picked = np.flatnonzero((sides == s) & going)
            if len(picked):
                rows.boards[picked] = self._chosen(s, picked, rolls[picked])
        rows.turns += going
        rows.all_turns += going
        finished = going & ~(rows.boards < 0).any(axis=1)  # the player who moved has no checker left
        if self.is_plain:
            over = self._book_plain(finished, sides)
        else:
            for row in np.flatnonzero(finished | (going & rows.is_last_roll)).tolist():
                rows.note(row, self._as_is(row).moved_to(rows.boards[row]))
        rows.on_roll ^= going
        if not self.is_plain:
            over = self._book_matches(finished | ~going | rows.is_last_roll)
        keep = ~over & (rows.turns < self.max_turns)
        if not keep.all():
            if self.recorder:
                for contest in rows.contests[~keep].tolist():
                    self.recorder.end_contest(contest)
            self.rows = rows.kept(keep)
        return len(keep) - int(keep.sum())

    def _as_is(self, row: int) -> Match:
        """The match state of a row, with its player on roll about to roll."""
        match: Match = self.rows.matches[row]
        return replace(match, phase=Phase.ROLL, on_roll=int(self.rows.on_roll[row]), dice=None)

    def _open_game(self, rows: Rows, row: int, match: Match) -> None:
        """Start a game of `match`, with the automatic doubles of its dice stream."""
        rows.turns[row] = 1 if match.phase == Phase.ROLL else 0  # turn 0 is the opening roll
        if match.phase == Phase.OPENING:
            key = rows.keys[row]
            if self.rules.automatic_doubles == "none" or match.length:
                die0, die1 = rolls_at(rows.keys[row : row + 1], 0)[0].tolist()
            else:
                num_equal = 0
                while (throw := opening_throw(key, num_equal))[0] == throw[1]:
                    match = match.open(*throw)
                    num_equal += 1
                die0, die1 = throw
            if not match.length:  # a game for money: player 0 starts
                die0, die1 = max(die0, die1), min(die0, die1)
            match = match.open(die0, die1)
        rows.boards[row] = self.rules.start_board
        rows.on_roll[row] = match.on_roll
        rows.note(row, match)
        if self.recorder:
            self.recorder.start_game(int(rows.contests[row]), match)

    def _offer_cubes(self) -> NDArray[np.bool_]:
        """Let every player on roll who may double decide; False where a double was passed."""
        rows = self.rows
        may = (rows.turns > 0) & ~rows.is_crawford & ~rows.is_last_roll
        may &= 2 * rows.cube_values <= self.rules.cube_limit
        may &= (rows.cube_owners < 0) | (rows.cube_owners == rows.on_roll)
        going = np.ones(len(rows), np.bool_)
        sides = rows.sides
        for s in (0, 1):
            asked = np.flatnonzero(may & (sides == s))
            if not len(asked):
                continue
            offered = asked[self._decided(s, "doubles", asked)]
            if not len(offered):
                continue
            self.ends[rows.contests[offered], s, 0] += 1
            taken = self._decided(1 - s, "takes", offered)
            beavered = self._beavered(1 - s, offered, taken)
            for row, is_taken, is_beavered in zip(
                offered.tolist(), taken.tolist(), beavered.tolist(), strict=True
            ):
                match = self._as_is(row).double()
                answer = "beaver" if is_beavered else "take" if is_taken else "pass"
                if self.recorder:
                    self.recorder.double(int(rows.contests[row]), match.on_roll, answer)
                if is_beavered:  # the doubler always takes it
                    match = match.beaver()
                rows.note(row, match.take() if is_taken else match.pass_double())
            going[offered[~taken]] = False
        return going

    def _beavered(
        self, s: int, offered: NDArray[np.int64], taken: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which of the doubles that are taken are beavered, where the rules and the player know it."""
        beavered = np.zeros(len(offered), np.bool_)
        if self.rules.beavers and not self.length and hasattr(self.players[s], "beavers"):
            asked = taken & (4 * self.rows.cube_values[offered] <= self.rules.cube_limit)
            if asked.any():
                beavered[asked] = self._decided(s, "beavers", offered[asked])
        return beavered

    def _decided(self, s: int, call: str, picked: NDArray[np.int64]) -> NDArray[np.bool_]:
        rows = self.rows
        stakes = rows.stakes(picked, self.rules)
        before = time.process_time()
        decided = np.asarray(getattr(self.players[s], call)(rows.boards[picked], stakes))
        self.cpu_s[s] += time.process_time() - before
        if decided.shape != picked.shape or decided.dtype != np.bool_:
            name = self.players[s].name
            raise ValueError(
                f"player {name!r}: {call} must give bool [{len(picked)}], got {decided!r:.100}"
            )
        return decided

    def _chosen(self, s: int, picked: NDArray[np.int64], rolls: NDArray[np.int8]) -> Boards:
        rows = self.rows
        boards = rows.boards[picked]
        stakes = None if self.is_plain else rows.stakes(picked, self.rules)
        before = time.process_time()
        chosen = self.players[s].choose(boards, rolls, stakes)
        self.cpu_s[s] += time.process_time() - before
        self.decisions[s] += len(boards)
        if self.check:
            chosen = checked_choice(self.players[s].name, boards, rolls, chosen, self.rules)
        for k in np.flatnonzero(rows.is_last_roll[picked]).tolist():  # all that counts is who is off
            after, _ = afterstates(boards[k], rolls[k], self.rules)
            chosen[k] = after[np.maximum(-after, 0).sum(axis=1).argmin()]
        if self.recorder:
            self.recorder.turns(rows.contests[picked], rows.on_roll[picked], boards, rolls, chosen)
        return chosen

    def _book_plain(self, over: NDArray[np.bool_], sides: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Book games for money that were won on the board; gives `over` back."""
        rows = self.rows
        contests, winners = rows.contests[over], sides[over]
        sizes = -points_won(rows.boards[over], self.rules.num_checkers).astype(np.int64)
        points = np.array((0, *self.rules.end_values))[sizes]
        self.points[contests] = np.where(winners == 0, points, -points)
        self.ends[contests, winners, sizes] += 1
        self.num_games[contests] = 1
        self.num_turns[contests] = rows.all_turns[over]
        if self.recorder:
            for contest, side, won in zip(
                contests.tolist(), winners.tolist(), points.tolist(), strict=True
            ):
                self.recorder.end_game(contest, side ^ (contest % 2), won)
        return over

    def _book_matches(self, ended: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Book the games that have ended and start the next ones of matches; True where a contest
        is over."""
        rows = self.rows
        over = np.zeros(len(rows), np.bool_)
        for row in np.flatnonzero(ended).tolist():
            match: Match = rows.matches[row]
            if match.result is None:
                continue
            contest = int(rows.contests[row])
            seat = contest % 2  # of A
            self.num_games[contest] += 1
            if self.recorder:
                self.recorder.end_game(contest, match.result.winner, match.result.points)
            if match.result.winner is not None:
                self.ends[contest, match.result.winner ^ seat, match.result.size] += 1
            if match.length and match.phase == Phase.GAME_OVER:
                rows.keys[row] = substream(self.keys[contest // 2], match.game_number)
                self._open_game(rows, row, match.next_game())
                continue
            self.points[contest] = match.balance if seat == 0 else -match.balance
            if match.length:
                self.match_wins[contest] = match.winner == seat
            self.num_turns[contest] = rows.all_turns[row]
            over[row] = True
        return over
