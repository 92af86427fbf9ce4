"""Pairs of contests as units of work: a match played in parts, wherever a runner does them.

What a pair gives depends on the players, the rules and its stream of dice alone, so a match has the
same result in one piece, on many processes and on a Ray cluster. The bots are sent as they are, a
network with its weights: only who starts the match needs the checkpoint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tdgammon.bench.recording import Recorder
from tdgammon.bench.table import Table
from tdgammon.decide.bots import Bot, Linear, NetworkBot, Random
from tdgammon.decide.golden import Golden
from tdgammon.decide.rolling import RollingBot
from tdgammon.decide.search import Searcher
from tdgammon.decide.units import Rows, Unit
from tdgammon.game.dice import streams
from tdgammon.game.match import Match
from tdgammon.game.rules import GameRules

POINTS, MATCH_WINS, NUM_GAMES, NUM_TURNS = range(4)
ENDS = slice(4, 12)
NUM_COLUMNS = 12
"""Columns of a contest, as `Table` books them; `ENDS` are those of A, then those of B."""

DECISIONS, CPU_S = slice(0, 2), slice(2, 4)
"""Of A and B, in the last row of a unit."""

_PAIRS = 512
"""0-ply games are played in lockstep at 0.60 CPU ms a pair by 1024 pairs, 0.68 by 512, 0.75 by 256."""
_PAIRS_OF_MATCHES = 256
"""Matches to 5 at 20.6 CPU ms a pair by 512, 23.2 by 256, 30.9 by 128: 6 s a unit."""
_PAIRS_BY_PLY = {0: _PAIRS, 1: 32, 2: 8, 3: 2}
"""Looking ahead costs the same by few: 33 CPU ms a pair at 1-ply by 16 as by 64, 210 at 2-ply by 1."""
_PAIRS_UNKNOWN = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """What all pairs of a match share."""

    players: tuple[Bot, Bot]
    seed: int
    rules: GameRules
    length: int
    max_turns: int
    lanes: int
    check: bool = False
    save: Path | None = None
    save_format: str = "mat"

    def __post_init__(self) -> None:
        streams(self.seed, 0)
        Match(rules=self.rules, length=self.length)  # ValueError here, and not on a worker

    @property
    def key(self) -> str:
        """Says which match it is, whatever its number of games: the same text, the same pairs."""
        players = [_identity(player) for player in self.players]
        return f"match {players} {self.seed} {self.rules} {self.length} {self.max_turns}"


def units(terms: Terms, num_pairs: int) -> Iterator[Unit]:
    """(first pair, number of pairs) of some seconds of work; more pairs begin with the same units."""
    size = min(_pairs_at_a_time(player) for player in terms.players)
    if terms.length:
        size = min(size, _PAIRS_OF_MATCHES)
    for first in range(0, num_pairs, size):
        yield first, min(size, num_pairs - first)


def play_unit(terms: Terms, unit: Unit) -> Rows:
    """Play pairs first .. first + number - 1: `play` as a function of units."""
    first, num_pairs = unit
    return play(terms, first, num_pairs)


def play(
    terms: Terms, first: int, num_pairs: int, ended: Callable[[int], object] = lambda number: None
) -> Rows:
    """Play pairs first .. first + num_pairs - 1: a row a contest, and one of what the sides did.

    float64 [2 num_pairs + 1, 12]; NaN points where a contest was dropped. `ended` hears how many
    contests have come to an end with each turn.
    """
    recorder = None
    if terms.save is not None:
        names = (terms.players[0].name, terms.players[1].name)
        recorder = Recorder(
            terms.save, terms.save_format, names, terms.rules, terms.length, num_before=2 * first
        )
    keys = streams(terms.seed, num_pairs, first)
    table = Table(
        terms.players, keys, terms.rules, terms.length, terms.max_turns, terms.check, recorder
    )
    while table.busy(terms.lanes):
        ended(table.play_turn())
    rows = np.zeros((2 * num_pairs + 1, NUM_COLUMNS))
    rows[:-1, POINTS] = table.points
    rows[:-1, MATCH_WINS] = table.match_wins
    rows[:-1, NUM_GAMES] = table.num_games
    rows[:-1, NUM_TURNS] = table.num_turns
    rows[:-1, ENDS] = table.ends.reshape(2 * num_pairs, -1)
    rows[-1, DECISIONS], rows[-1, CPU_S] = table.decisions, table.cpu_s
    return rows


def _identity(player: Bot) -> tuple[str, ...]:
    """The name of a player, its checkpoint and its match equity table."""
    met = getattr(player, "met", None)
    known = b"" if met is None else met.before.tobytes() + met.after.tobytes()
    return player.name, str(getattr(player, "sha256", None)), hashlib.sha256(known).hexdigest()


def _pairs_at_a_time(player: Bot) -> int:
    if isinstance(player, RollingBot):
        return 1
    if isinstance(player, NetworkBot):
        evaluator = player.evaluator
        return _PAIRS_BY_PLY.get(evaluator.settings.ply if isinstance(evaluator, Searcher) else 0, 1)
    return _PAIRS if isinstance(player, (Random, Linear, Golden)) else _PAIRS_UNKNOWN
