"""Duplicate matches: thousands of games in lockstep, each stream of dice played from both seats.

A pair is two games on the same stream; player A starts the first, player B the second. Both
players see the same dice at the same turns, so much of the luck cancels in a pair's mean, and a
player against itself scores exactly 0. Games are cubeless: 1, 2 or 3 points (R12).
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.decide.bots import Bot, bot, checked_choice
from tdgammon.game.board import START, Boards, points_won
from tdgammon.game.dice import rolls_at, streams

MAX_TURNS = 2000
"""A game that lasts longer is dropped with the other one of its pair; random play takes about 100."""

NORMAL_95 = 1.96
"""Half the width of a 95 % interval in standard errors."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one player did in a match."""

    name: str
    wins: int
    """Games won, gammons and backgammons included."""
    gammons: int
    """Gammons won, backgammons not included."""
    backgammons: int
    decisions: int
    """Turns, forced plays and turns without a legal play included."""
    cpu_s: float
    """CPU seconds of the process, all threads, while the player chose."""
    checkpoint_sha256: str | None
    """Of the checkpoint that played, or None."""

    @property
    def cpu_ms_per_decision(self) -> float:
        return 1e3 * self.cpu_s / self.decisions if self.decisions else 0.0


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """A duplicate match seen by player A."""

    games: int
    """Games asked for, the dropped ones included."""
    seed: int
    a: Side
    b: Side
    pair_means: NDArray[np.float64] = field(repr=False, compare=False)
    """Points a game for A of each pair, [games / 2] by stream; NaN where a pair was dropped."""
    turns: int
    """Turns of the games that count, both players together."""

    @property
    def dropped_pairs(self) -> int:
        return int(np.isnan(self.pair_means).sum())

    @property
    def counted_games(self) -> int:
        return self.games - 2 * self.dropped_pairs

    @property
    def ppg(self) -> float:
        """Points a game for A."""
        return float(np.nanmean(self.pair_means))

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval of `ppg`, from pair means; NaN with a single pair."""
        return half_width(self.pair_means)

    def to_json(self) -> dict[str, Any]:
        """The `bench` document: plain numbers; `ci95` is None with a single pair."""
        return {
            "a": self.a.name,
            "b": self.b.name,
            "games": self.games,
            "seed": self.seed,
            "ppg": self.ppg,
            "ci95": None if math.isnan(self.ci95) else self.ci95,
            "dropped_games": 2 * self.dropped_pairs,
            "turns_per_game": self.turns / self.counted_games,
            "sides": {"a": _side_json(self.a), "b": _side_json(self.b)},
        }


def half_width(means: NDArray[np.float64]) -> float:
    """Half-width of the 95 % interval of the mean of independent numbers; NaN for fewer than two."""
    known = means[~np.isnan(means)]
    if len(known) < 2:
        return math.nan
    return NORMAL_95 * float(known.std(ddof=1)) / math.sqrt(len(known))


def match(
    a: str | Bot,
    b: str | Bot,
    games: int,
    seed: int = 1,
    *,
    lanes: int = 2048,
    check: bool = False,
    progress: bool = False,
) -> MatchResult:
    """Play `games` games of A against B, half of them started by each.

    The result depends on the players, `games` and `seed` alone: `lanes` is how many games are
    played at once, `check` has every choice compared with the legal afterstates, `progress`
    shows a bar on a terminal's stderr. Raises ValueError for an odd or too small number of games,
    for an unknown player, and if every pair ran over `MAX_TURNS`.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games: must be even and above 0 (each stream is played twice), got {games}")
    if lanes < 2:
        raise ValueError(f"lanes: must be at least 2, got {lanes}")
    players = (bot(a), bot(b))
    table = _Table(players, streams(seed, games // 2), check)
    disable = None if progress else True  # None: shown on a terminal only
    with tqdm(total=games, unit="game", delay=2, disable=disable, file=sys.stderr) as bar:
        while table.busy(lanes):
            bar.update(table.play_turn())
    return table.result(games, seed)


class _Table:
    """The games in play, as rows of arrays, and the scores of those that ended.

    Game g is of pair g // 2; A starts the even ones. Its parity and turn say whose turn it is.
    """

    def __init__(self, players: tuple[Bot, Bot], keys: NDArray[np.uint64], check: bool) -> None:
        self.players, self.keys, self.check = players, keys, check
        self.games = np.zeros(0, np.int64)
        self.turns = np.zeros(0, np.int64)
        self.boards = np.zeros((0, 26), np.int8)
        self.num_dealt = 0
        self.points = np.full(2 * len(keys), np.nan)  # for A, by game
        self.lengths = np.zeros(2 * len(keys), np.int64)
        self.decisions, self.cpu_s = [0, 0], [0.0, 0.0]
        for player in players:  # compiling and loading are not playing
            player.choose(START[None].copy(), np.array([[3, 1]], np.int8))

    def busy(self, lanes: int) -> bool:
        """Deal new games to free lanes, whole pairs at a time; says whether any is in play."""
        num_new = min(max(lanes - len(self.games), 0) // 2 * 2, len(self.points) - self.num_dealt)
        if num_new:
            new = np.arange(self.num_dealt, self.num_dealt + num_new)
            self.num_dealt += num_new
            self.games = np.concatenate([self.games, new])
            self.turns = np.concatenate([self.turns, np.zeros(num_new, np.int64)])
            self.boards = np.concatenate([self.boards, np.tile(START, (num_new, 1))])
        return len(self.games) > 0

    def play_turn(self) -> int:
        """One turn of every game in play; returns how many games came to an end."""
        rolls = rolls_at(self.keys[self.games // 2], self.turns)
        side = (self.games + self.turns) % 2  # 0 = A on roll
        for s in (0, 1):
            rows = np.flatnonzero(side == s)
            if len(rows):
                self.boards[rows] = self._chosen(s, self.boards[rows], rolls[rows])
        self.turns += 1
        over = ~(self.boards < 0).any(axis=1)  # the player who moved has no checker left
        won = -points_won(self.boards[over]).astype(np.int64)
        self.points[self.games[over]] = np.where(side[over] == 0, won, -won)
        self.lengths[self.games[over]] = self.turns[over]
        keep = ~over & (self.turns < MAX_TURNS)
        num_ended = len(keep) - int(keep.sum())
        if num_ended:
            self.games, self.turns, self.boards = self.games[keep], self.turns[keep], self.boards[keep]
        return num_ended

    def _chosen(self, s: int, boards: Boards, rolls: NDArray[np.int8]) -> Boards:
        before = time.process_time()
        chosen = self.players[s].choose(boards, rolls)
        self.cpu_s[s] += time.process_time() - before
        self.decisions[s] += len(boards)
        return checked_choice(self.players[s].name, boards, rolls, chosen) if self.check else chosen

    def result(self, games: int, seed: int) -> MatchResult:
        pairs = self.points.reshape(-1, 2)
        pair_means = pairs.mean(axis=1)
        dropped = np.isnan(pair_means)
        if dropped.all():
            raise ValueError(f"games: none of the {games} ended within {MAX_TURNS} turns in both seats")
        points = pairs[~dropped]
        sides = [
            Side(
                name=player.name,
                wins=int((sign * points > 0).sum()),
                gammons=int((sign * points == 2).sum()),
                backgammons=int((sign * points == 3).sum()),
                decisions=self.decisions[s],
                cpu_s=self.cpu_s[s],
                checkpoint_sha256=getattr(player, "sha256", None),
            )
            for s, (player, sign) in enumerate(zip(self.players, (1, -1), strict=True))
        ]
        return MatchResult(
            games=games,
            seed=seed,
            a=sides[0],
            b=sides[1],
            pair_means=pair_means,
            turns=int(self.lengths.reshape(-1, 2)[~dropped].sum()),
        )


def _side_json(side: Side) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": side.name,
        "wins": side.wins,
        "gammons": side.gammons,
        "backgammons": side.backgammons,
        "decisions": side.decisions,
        "cpu_ms_per_decision": side.cpu_ms_per_decision,
    }
    if side.checkpoint_sha256 is not None:
        document["checkpoint_sha256"] = side.checkpoint_sha256
    return document
