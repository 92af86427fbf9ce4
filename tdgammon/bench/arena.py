"""Duplicate matches: thousands of games in lockstep, each stream of dice played from both seats.

A pair is two games on the same stream; player A starts the first, player B the second. Both
players see the same dice at the same turns, so much of the luck cancels in a pair's mean, and a
player against itself scores exactly 0. What is played is a game for money, without or with the
cube, or a match to points; `table.py` plays.
"""

from __future__ import annotations

import math
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.bench import pairs
from tdgammon.bench.pairs import Terms
from tdgammon.bench.recording import new_folder
from tdgammon.bench.report import or_none
from tdgammon.decide.bots import Bot, bot
from tdgammon.decide.units import Rows, Runner
from tdgammon.game.rules import STANDARD, GameRules, without_cube

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
    doubles: int
    """Doubles offered."""
    decisions: int
    """Turns, forced plays and turns without a legal play included."""
    cpu_s: float
    """CPU seconds of the processes that played, all threads, while the player chose."""
    checkpoint_sha256: str | None
    """Of the checkpoint that played, or None."""

    @property
    def cpu_ms_per_decision(self) -> float:
        return 1e3 * self.cpu_s / self.decisions if self.decisions else 0.0


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """A duplicate match seen by player A."""

    games: int
    """Games (or matches) asked for, the dropped ones included."""
    seed: int
    length: int
    """Points of each match; 0 = games for money."""
    a: Side
    b: Side
    pair_means: NDArray[np.float64] = field(repr=False, compare=False)
    """Points a game for A of each pair, [games / 2] by stream; NaN where a pair was dropped."""
    pair_wins: NDArray[np.float64] = field(repr=False, compare=False)
    """Share of matches that A won of each pair; NaN for money and where a pair was dropped."""
    num_games: int
    """Games played in the contests that count."""
    turns: int
    """Turns of the games that count, both players together."""

    @property
    def dropped_pairs(self) -> int:
        return int(np.isnan(self.pair_means).sum())

    @property
    def counted_games(self) -> int:
        """Games (or matches) that count."""
        return self.games - 2 * self.dropped_pairs

    @property
    def match_win_rate(self) -> float:
        """Share of the matches that A won; NaN for money."""
        return float(np.nanmean(self.pair_wins)) if self.length else math.nan

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
            "ci95": or_none(self.ci95),
            "length": self.length,
            "match_win_rate": or_none(self.match_win_rate),
            "match_win_ci95": or_none(half_width(self.pair_wins)),
            "dropped_games": 2 * self.dropped_pairs,
            "turns_per_game": self.turns / self.num_games,
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
    rules: GameRules = STANDARD,
    cube: bool = False,
    length: int = 0,
    lanes: int = 2048,
    check: bool = False,
    progress: bool = False,
    save: Path | None = None,
    save_format: str = "mat",
    runner: Runner | None = None,
) -> MatchResult:
    """Play `games` games of A against B, half of them started by each; with `length`, as many matches.

    Games are for money, by `rules`, without a cube unless `cube` is set; matches to `length` points
    have one. The result depends on the players, rules, `games` and `seed` alone: `lanes` is how
    many are played at once, `check` has every choice compared with the legal afterstates, `progress`
    shows a bar on a terminal's stderr, `save` gets a file of every game for money or match (`mat`,
    `sgf` or `json`). A `runner` plays it in parts, `pairs.units`, on processes or elsewhere (on
    threads, the CPU seconds would be those of all); `save` is then a folder that all of them reach.
    Raises ValueError for an odd or too small number of games, for an unknown player, for a length
    that is not 0 to 64, if every pair ran over `MAX_TURNS`, and for a bot that cannot be sent.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games: must be even and above 0 (each stream is played twice), got {games}")
    if lanes < 2:
        raise ValueError(f"lanes: must be at least 2, got {lanes}")
    rules = rules if cube or length else without_cube(rules)
    terms = Terms(
        players=(bot(a, rules), bot(b, rules)),
        seed=seed,
        rules=rules,
        length=length,
        max_turns=MAX_TURNS,
        lanes=lanes,
        check=check,
        save=save,
        save_format=save_format,
    )
    if save is not None:
        new_folder(save, save_format)
    return _result(terms, games, _played(terms, games // 2, runner, progress))


def _played(terms: Terms, num_pairs: int, runner: Runner | None, progress: bool) -> list[Rows]:
    """Rows of all pairs, in order, as `pairs.play` gives them for some at a time."""
    disable = None if progress else True  # None: shown on a terminal only
    unit = "match" if terms.length else "game"
    with tqdm(total=2 * num_pairs, unit=unit, delay=2, disable=disable, file=sys.stderr) as bar:
        if runner is None:
            return [pairs.play(terms, 0, num_pairs, bar.update)]
        found = []
        with closing(runner(pairs.play_unit, terms, pairs.units(terms, num_pairs))) as results:
            for rows in results:
                found.append(rows)
                bar.update(len(rows) - 1)
        return found


def _result(terms: Terms, games: int, played: list[Rows]) -> MatchResult:
    contests = np.concatenate([rows[:-1] for rows in played])
    sums = np.sum([rows[-1] for rows in played], axis=0)  # of what the sides did
    by_pair = contests.reshape(-1, 2, pairs.NUM_COLUMNS)
    points, num_games = by_pair[:, :, pairs.POINTS], by_pair[:, :, pairs.NUM_GAMES]
    dropped = np.isnan(points).any(axis=1)
    if dropped.all():
        raise ValueError(
            f"games: none of the {games} ended within {terms.max_turns} turns in both seats"
        )
    pair_means = np.where(dropped, np.nan, points.sum(axis=1) / np.maximum(num_games.sum(axis=1), 1))
    counted = contests[~np.repeat(dropped, 2)]
    ends = counted[:, pairs.ENDS].sum(axis=0).reshape(2, -1)
    sides = [
        Side(
            name=player.name,
            wins=int(ends[s, 1:].sum()),
            gammons=int(ends[s, 2]),
            backgammons=int(ends[s, 3]),
            doubles=int(ends[s, 0]),
            decisions=int(sums[pairs.DECISIONS][s]),
            cpu_s=float(sums[pairs.CPU_S][s]),
            checkpoint_sha256=getattr(player, "sha256", None),
        )
        for s, player in enumerate(terms.players)
    ]
    pair_wins = by_pair[:, :, pairs.MATCH_WINS].mean(axis=1)
    return MatchResult(
        games=games,
        seed=terms.seed,
        length=terms.length,
        a=sides[0],
        b=sides[1],
        pair_means=pair_means,
        pair_wins=np.where(dropped, np.nan, pair_wins),
        num_games=int(num_games[~dropped].sum()),
        turns=int(counted[:, pairs.NUM_TURNS].sum()),
    )


def _side_json(side: Side) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": side.name,
        "wins": side.wins,
        "gammons": side.gammons,
        "backgammons": side.backgammons,
        "doubles": side.doubles,
        "decisions": side.decisions,
        "cpu_ms_per_decision": side.cpu_ms_per_decision,
    }
    if side.checkpoint_sha256 is not None:
        document["checkpoint_sha256"] = side.checkpoint_sha256
    return document
