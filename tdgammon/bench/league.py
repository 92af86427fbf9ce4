"""A round robin: every player meets every other on the same streams of dice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.bench.arena import MatchResult, half_width, match
from tdgammon.bench.report import interval, or_none, table
from tdgammon.decide.bots import Bot, bot


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One player's row of the league."""

    name: str
    scores: NDArray[np.float64] = field(repr=False, compare=False)
    """Points a game by stream of dice, the mean over all opponents; NaN where a pair was dropped."""
    cpu_ms_per_decision: float

    @property
    def ppg(self) -> float:
        """Points a game against the field, every opponent counted alike."""
        return float(np.nanmean(self.scores)) if not np.isnan(self.scores).all() else math.nan

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval of `ppg`.

        Matches share their dice, so the streams are the independent numbers, not the matches.
        """
        return half_width(self.scores)


@dataclass(frozen=True, kw_only=True)
class League:
    """All matches of a round robin and the standings, best first."""

    games: int
    """Games of each match."""
    seed: int
    matches: tuple[MatchResult, ...]
    standings: tuple[Standing, ...]

    def to_json(self) -> dict[str, Any]:
        """Standings, best first, and the `bench` document of each match."""
        return {
            "games": self.games,
            "seed": self.seed,
            "players": [
                {
                    "name": row.name,
                    "ppg": or_none(row.ppg),
                    "ci95": or_none(row.ci95),
                    "cpu_ms_per_decision": row.cpu_ms_per_decision,
                }
                for row in self.standings
            ],
            "matches": [result.to_json() for result in self.matches],
        }

    def text(self) -> str:
        """The table: points a game of the row's player against the column's, best player first."""
        names = [row.name for row in self.standings]
        cells = {}
        for result in self.matches:
            cells[result.a.name, result.b.name] = interval(result.ppg, result.ci95)
            cells[result.b.name, result.a.name] = interval(-result.ppg, result.ci95)
        rows = [["", *names, "all", "ms/decision"]]
        for row in self.standings:
            against = [cells.get((row.name, name), "") for name in names]
            total = interval(row.ppg, row.ci95)
            rows.append([row.name, *against, total, f"{row.cpu_ms_per_decision:.4f}"])
        return table(rows)


def league(
    players: Sequence[str | Bot], games: int, seed: int = 1, *, progress: bool = False
) -> League:
    """Play every pair of `players` as `arena.match` does, `games` games each.

    Raises ValueError for fewer than two players, a player named twice, and as `match` does.
    """
    bots = [bot(player) for player in players]
    names = [player.name for player in bots]
    if len(bots) < 2:
        raise ValueError(f"players: a league needs two or more, got {names}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"players: {name!r} is named twice")
    matches = tuple(match(a, b, games, seed, progress=progress) for a, b in combinations(bots, 2))
    standings = [_standing(name, matches) for name in names]
    standings.sort(key=lambda row: row.ppg, reverse=True)
    return League(games=games, seed=seed, matches=matches, standings=tuple(standings))


def _standing(name: str, matches: Sequence[MatchResult]) -> Standing:
    as_a = [result for result in matches if result.a.name == name]
    as_b = [result for result in matches if result.b.name == name]
    sides = [result.a for result in as_a] + [result.b for result in as_b]
    scores = [result.pair_means for result in as_a] + [-result.pair_means for result in as_b]
    return Standing(
        name=name,
        scores=np.mean(scores, axis=0),
        cpu_ms_per_decision=1e3 * sum(s.cpu_s for s in sides) / sum(s.decisions for s in sides),
    )
