"""Evaluates positions and chooses plays with a network's tables; no torch."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import Boards, Offsets, checked_boards, checked_rolls, has_contact
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD, GameRules
from tdgammon.kernels import cubeful, forward, racing, selfplay
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value import bearoff as bearoff_tables
from tdgammon.value.bearoff import BearoffTables
from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.tables import Architecture, Weights, play_layers

Probabilities = NDArray[np.float32]


class Evaluator(Protocol):
    """Anything that gives the chances of the six outcomes."""

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """float32 [B, 6]: chances of the player on roll, before the roll."""
        ...


class RankedPlays(NamedTuple):
    """The plays of a roll, best first: those looked at with more plies are before all others."""

    rows: Boards
    """[A, 26]: the afterstates, seen by the opponent."""
    probabilities: Probabilities
    """[A, 6]: as the opponent sees them."""
    equities: NDArray[np.float32]
    """[A]: for the player."""
    plies: NDArray[np.int64]
    """[A]: plies that each was looked at with. Equities of different plies do not compare."""


class NetworkEvaluator:
    """A network behind the `Evaluator` protocol, and the greedy (0-ply) choice of plays."""

    def __init__(
        self,
        architecture: Architecture,
        weights: Weights,
        rules: GameRules | None = None,
        bearoff: BearoffTables | bool = False,
        light: NetworkEvaluator | None = None,
    ) -> None:
        """Plays by `rules` (None = standard); ValueError if they are of another number of checkers.

        Races are answered from the tables of `bearoff`: True = those of the cache folder, loaded (or
        built) when the first race is met; False = none, the network answers for races too.

        `light` is a faster network of the same game, for where a near guess will do.
        """
        self.rules = STANDARD if rules is None else rules
        if self.rules.num_checkers != architecture.num_checkers and rules is not None:
            raise ValueError(
                f"rules with {self.rules.num_checkers} checkers a side for a network of games with "
                f"{architecture.num_checkers}"
            )
        self.architecture = architecture
        self.values = self.rules.outcome_values
        """Points of each outcome, float32 [6]."""
        self.layers: forward.Layers = play_layers(architecture, weights)
        """What kernels take that know no tables."""
        self._bearoff = bearoff
        self.light = light
        """A faster network, by which rollouts tell the luck of the dice; None = there is none."""

    @property
    def knows_races(self) -> bool:
        """Whether races are answered from bear-off tables."""
        return self._bearoff is not False

    def __getstate__(self) -> dict[str, object]:
        """Without the tables of the cache folder: who unpickles it elsewhere has his own."""
        return {
            name: value
            for name, value in vars(self).items()
            if name != "network" or self._bearoff is not True
        }

    @cached_property
    def network(self) -> racing.Network:
        """What kernels take that know tables; loads them."""
        if self._bearoff is False:
            return racing.Network(self.layers, bearoff_tables.NO_TABLES)
        tables = bearoff_tables.load() if self._bearoff is True else self._bearoff
        return racing.Network(self.layers, tables.tables)

    def probabilities(self, boards: ArrayLike) -> Probabilities:
        """Chances of the six outcomes, float32 [B, 6], for boards [B, 26] or [26] with the player on
        roll before the roll. Exact where the game is over, and as `BearoffTables` has it in races
        if there are tables. ValueError as `checked_boards`."""
        checked = checked_boards(boards)
        result = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        races = np.zeros(len(checked), np.bool_) if self._bearoff is False else ~has_contact(checked)
        if not races.any():
            forward.evaluate_batch(checked, self.layers, result)
            return result
        contact = np.empty((int((~races).sum()), NUM_OUTCOMES), np.float32)
        forward.evaluate_batch(checked[~races], self.layers, contact)
        race = np.empty((int(races.sum()), NUM_OUTCOMES), np.float32)
        racing.evaluate_races(checked[races], self.network.bearoff, self.layers.num_checkers, race)
        result[~races], result[races] = contact, race
        return result

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless equity in points, float32 [B], of the player on roll."""
        return self.probabilities(boards) @ self.values

    def worths(self, boards: ArrayLike, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        """Worths of all cube states, float64 [B, L, 3], of the player on roll, `side` of the table, who
        does not double in this turn: see `kernels.cubeful`. ValueError as `checked_boards`."""
        checked = checked_boards(boards)
        return self.worths_of(checked, self.probabilities(checked), table, side)

    def worths_of(
        self, boards: Boards, probabilities: Probabilities, table: CubeTable, side: int = 0
    ) -> NDArray[np.float64]:
        """`worths` of boards [B, 26] whose chances [B, 6] are known."""
        values = np.empty((len(boards), table.cash.shape[1], 3), np.float64)
        cubeful.evaluate_batch(
            boards,
            probabilities,
            self.network.bearoff,
            self.layers.num_checkers,
            table,
            side,
            values,
        )
        return values

    def choose(self, boards: ArrayLike, rolls: ArrayLike) -> Boards:
        """The afterstate [B, 26] of the best play of each roll [B, 2], seen by the opponent.

        ValueError as `checked_boards` and `checked_rolls`.
        """
        checked = checked_boards(boards)
        checked_dice = checked_rolls(rolls, len(checked))
        if self.rules.caucasian:
            rows, offsets = afterstates(checked, checked_dice, self.rules)
            return rows[_first_lowest(self.equity(rows), offsets)]
        chosen = np.empty_like(checked)
        seen = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        near = np.zeros(len(checked), np.bool_)
        if self._bearoff is not False:
            racing.near_races(checked, checked_dice, near)
        if not near.any():
            selfplay.choose_batch(checked, checked_dice, self.layers, self.values, chosen, seen)
            return chosen
        for picked, kernel, network in (
            (~near, selfplay.choose_batch, self.layers),
            (near, selfplay.choose_near_races, self.network),
        ):
            part = np.empty((int(picked.sum()), 26), np.int8)
            kernel(checked[picked], checked_dice[picked], network, self.values, part, seen)
            chosen[picked] = part
        return chosen

    def rank(self, board: ArrayLike, roll: ArrayLike) -> RankedPlays:
        """Every play of one roll as it stands, best first; ValueError as `choose`."""
        rows, _ = afterstates(board, roll, self.rules)
        seen = self.probabilities(rows)
        equities = -(seen @ self.values)
        order = np.argsort(-equities, kind="stable")
        return RankedPlays(rows[order], seen[order], equities[order], np.zeros(len(rows), np.int64))


def _first_lowest(equities: NDArray[np.float32], offsets: Offsets) -> NDArray[np.int64]:
    """Index of the first lowest equity [A] of each group: [B]."""
    lowest = np.repeat(np.minimum.reduceat(equities, offsets[:-1]), np.diff(offsets))
    ranks = np.where(equities == lowest, np.arange(len(equities)), len(equities))
    return np.minimum.reduceat(ranks, offsets[:-1])
