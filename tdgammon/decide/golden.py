"""Golden: a bot that plays the golden rules (docs/rules.md), each a named term.

The value of an afterstate is the sum of its terms, each times a weight that was set by hand. While
the sides are in contact the rules decide; in a race only the last three terms are left.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.decide.cube import CountsPips
from tdgammon.game.board import NUM_CHECKERS, OPPONENT_BAR, Boards
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD, GameRules
from tdgammon.game.stakes import Stakes

Terms = dict[str, NDArray[np.float64]]

REACH = 7
"""A blot further than this from every enemy checker behind it counts as out of reach, in pips."""

STACK = 3
"""Checkers on a point beyond this many count as a stack."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each term is worth, in units of one pip. Rewards are positive, penalties negative."""

    blots: float = -2.0
    """For each blot that an enemy checker can still hit, near or far."""
    blots_in_reach: float = -6.0
    """For each blot with an enemy checker at most `REACH` pips behind it (on the bar counts)."""
    pips_in_reach: float = -0.4
    """For each pip that those blots have come, and would lose: 25 less the point."""
    points: float = 3.0
    """For each point held by two checkers or more: two on four points beat four on two."""
    stacked: float = -1.0
    """For each checker on a point beyond the first `STACK`."""
    home_points: float = 4.0
    """For each point made in the player's home board."""
    anchors: float = 3.0
    """For each point made in the opponent's home board."""
    safe_hits: float = 12.0
    """For each checker hit this turn, if no blot stays in reach of an enemy checker."""
    exposed_hits: float = -2.0
    """For each checker hit this turn while a blot stays in reach: no real advantage."""
    off: float = 4.0
    """For each checker borne off."""
    pips: float = -1.0
    """For each pip that the player still needs."""
    outside: float = -1.0
    """For each pip that the checkers outside the home board still need to come home."""


@dataclass(frozen=True)
class Golden(CountsPips):
    """Plays the afterstate with the highest sum of terms; all checkers off beats any sum."""

    name: str = "golden"
    weights: Weights = Weights()
    rules: GameRules = STANDARD

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        """boards [B, 26], rolls [B, 2] -> the chosen afterstates, int8 [B, 26], flipped."""
        rows, offsets = afterstates(boards, rolls, self.rules)
        counts = np.diff(offsets)
        if not len(counts):
            return rows
        bars_before = np.atleast_2d(np.asarray(boards, np.int8))[:, OPPONENT_BAR]
        found = terms(rows, np.repeat(-bars_before, counts))
        values = np.zeros(len(rows))
        for field in fields(self.weights):  # in one order, so that sums do not depend on the batch
            values += getattr(self.weights, field.name) * found[field.name]
        values[found["off"] == NUM_CHECKERS] = np.inf
        best = np.repeat(np.maximum.reduceat(values, offsets[:-1]), counts)
        first = np.minimum.reduceat(
            np.where(values == best, np.arange(len(rows)), len(rows)), offsets[:-1]
        )
        return rows[first]


def terms(rows: Boards, bars_before: NDArray[np.int8]) -> Terms:
    """The terms of flipped afterstates, by name, each [A], for the player who moved.

    rows [A, 26]; bars_before [A]: the opponent's checkers that were on the bar before the move.
    """
    cells = np.ascontiguousarray(-rows[:, ::-1].T)  # [26, A], seen by the player who moved
    points = cells[1:25]
    places = np.arange(26, dtype=np.int32)[:, None]
    enemies = np.cumsum(cells < 0, axis=0, dtype=np.int8)  # places up to this one that an enemy holds
    behind = enemies[:24]  # of the points 1..24
    near = behind.copy()
    near[REACH:] -= enemies[: 24 - REACH]
    blots = (points == 1) & (behind > 0)
    reached = blots & (near > 0)
    contact = ((cells[1:] > 0) & (enemies[:25] > 0)).any(axis=0)
    made = (points >= 2) & contact
    own = np.maximum(cells, 0)
    hits = -cells[OPPONENT_BAR] - bars_before
    exposed = reached.any(axis=0)
    found = {
        "blots": blots.sum(axis=0),
        "blots_in_reach": reached.sum(axis=0),
        "pips_in_reach": (reached * (25 - places[1:25])).sum(axis=0),
        "points": made.sum(axis=0),
        "stacked": np.maximum(points - STACK, 0).sum(axis=0) * contact,
        "home_points": made[:6].sum(axis=0),
        "anchors": made[18:].sum(axis=0),
        "safe_hits": hits * ~exposed,
        "exposed_hits": hits * exposed,
        "off": NUM_CHECKERS - own.sum(axis=0),
        "pips": (own * places).sum(axis=0),
        "outside": (own[7:] * (places[7:] - 6)).sum(axis=0),
    }
    return {name: term.astype(np.float64) for name, term in found.items()}
