"""The trials of a rollout: one position, its cube and its dice, played on by a network.

Without look-ahead a kernel plays trial after trial. With it the trials of a unit are played side by
side, so that a search gets many positions at once; cubes are turned by what the network sees without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide import cubeful_plays
from tdgammon.decide.cubeful import tables_of
from tdgammon.decide.search import Searcher
from tdgammon.decide.units import Unit
from tdgammon.game.board import Boards, Rolls, has_contact
from tdgammon.game.dice import rolls_at, stratified_rolls, streams
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.kernels import rollout as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import NUM_OUTCOMES

NUM_RESULTS = NUM_OUTCOMES + 1
"""Chances of the six outcomes, and the worth in the units of the cube table."""

STOPS = {"end": kernel.AT_END, "exact": kernel.AT_EXACT, "race": kernel.AT_RACE}
_OWNERS = np.array([[CENTRED, OWN, OPPONENTS], [CENTRED, OPPONENTS, OWN]], np.int8)


@dataclass(frozen=True, kw_only=True)
class Trials:
    """One position to roll out, and how."""

    board: tuple[int, ...]
    """Player on roll, side 0, before the roll."""
    stakes: Stakes | None = None
    """Of one game, seen by the player on roll, before `turned`; None = no cube."""
    turned: int = 0
    """Times that the player on roll has just doubled and been taken, 0 or 1."""
    may_double: bool = True
    """Whether he may double before his first roll."""
    seed: int
    """Of the dice."""
    truncate: int | None
    """Rolls after which a trial ends; None = with the game."""
    luck_control: bool
    stop_at: str
    """A name in `STOPS`."""

    @property
    def table(self) -> CubeTable | None:
        return None if self.stakes is None else tables_of(self.stakes)[0][0]

    @property
    def cube(self) -> NDArray[np.int64]:
        """int64 [3] as `kernels/rollout.py` explains it."""
        if self.stakes is None:
            return np.zeros(3, np.int64)
        if self.turned:
            table = self.table
            assert table is not None
            return np.array([0, 2, 1] if table.is_endless else [1, 2, 0], np.int64)
        owner = int(self.stakes.cube_owners[0])
        return np.array([0, {CENTRED: 0, OWN: 1, OPPONENTS: 2}[owner], 0], np.int64)


@dataclass(frozen=True)
class Shared:
    """What every unit of a rollout needs."""

    player: NetworkEvaluator | Searcher
    control: NetworkEvaluator | None
    """By whose values the luck is measured; None = the player's light network, or itself without
    look-ahead."""
    positions: tuple[Trials, ...]

    @property
    def net(self) -> NetworkEvaluator:
        return self.player.evaluator if isinstance(self.player, Searcher) else self.player

    @property
    def by(self) -> NetworkEvaluator:
        """The network that tells the luck."""
        return self.control or self.net.light or self.net


def play_unit(shared: Shared, unit: Unit) -> NDArray[np.float64]:
    """Results [N, 7] of the trials unit = (position, first trial, N), seen by side 0."""
    position, first, num_trials = unit
    trials = shared.positions[position]
    keys = streams(trials.seed, num_trials, first)
    opening = stratified_rolls(trials.seed, first, num_trials)
    board = np.array(trials.board, np.int8)
    if not (board > 0).any() or not (board < 0).any():
        return _finished(shared.net, trials, num_trials)
    if isinstance(shared.player, Searcher) and shared.player.settings.ply:
        return _play_side_by_side(shared, shared.player, trials, keys, opening)
    net = shared.net
    control = shared.by
    mode = kernel.SAME_NETWORK if control is net else kernel.OTHER_NETWORK
    results = np.zeros((num_trials, NUM_RESULTS))
    kernel.play_trials(
        board,
        net.probabilities(board)[0],
        keys,
        opening,
        net.network,
        control.network,
        _points(net, trials.table),
        trials.table,
        trials.cube,
        trials.may_double,
        trials.truncate or kernel.MOST_TURNS,
        _stop(trials),
        mode if trials.luck_control else kernel.NO_CONTROL,
        results,
    )
    return results


def _stop(trials: Trials) -> int:
    """Where to stop; a race is played on to where the tables are exact if it is rolled out itself."""
    stop = STOPS[trials.stop_at]
    is_race = not has_contact(np.array([trials.board], np.int8))[0]
    if stop == kernel.AT_RACE and is_race:
        stop = kernel.AT_EXACT
    table = trials.table
    if stop == kernel.AT_EXACT and table is not None:
        level = trials.cube[kernel.LEVEL]
        if not table.is_endless and table.may_double[:, level:].any():
            return kernel.AT_END
    return stop


def _points(net: NetworkEvaluator, table: CubeTable | None) -> NDArray[np.float32]:
    """Points of each outcome to each side by level, by which plays are chosen without the cube."""
    if table is None:
        return np.stack([net.values, net.values])[:, None].copy()
    return np.ascontiguousarray(table.outcomes, np.float32)


def _finished(net: NetworkEvaluator, trials: Trials, num_trials: int) -> NDArray[np.float64]:
    """The results of a game that is over before the first roll."""
    chances = net.probabilities(np.array(trials.board, np.int8))[0].astype(np.float64)
    worth = chances @ net.values
    if trials.table is not None:
        level, owner, beyond = trials.cube.tolist()
        outcomes = trials.table.outcomes[0, level] if owner else trials.table.centred[0]
        worth = 2.0**beyond * (chances @ outcomes)
    return np.tile(np.append(chances, worth), (num_trials, 1))


def _play_side_by_side(
    shared: Shared, player: Searcher, trials: Trials, keys: NDArray[np.uint64], opening: Rolls
) -> NDArray[np.float64]:
    """The results of trials whose plays are searched for."""
    net, table, stop = shared.net, trials.table, _stop(trials)
    control, points = shared.by, _points(shared.net, trials.table)
    boards = np.tile(np.array(trials.board, np.int8), (len(keys), 1))
    chances = net.probabilities(boards)
    cubes = np.tile(trials.cube, (len(keys), 1))
    live = np.ones(len(keys), np.bool_)
    results = np.zeros((len(keys), NUM_RESULTS))
    last = (trials.truncate or kernel.MOST_TURNS) - 1
    for turn in range(last + 1):
        side = turn % 2
        rolls = np.ascontiguousarray(opening[:, turn]) if turn < 2 else rolls_at(keys, turn)
        kernel.begin_turn(
            boards,
            chances,
            cubes,
            live,
            rolls,
            net.network,
            control.network,
            points,
            table,
            side,
            turn > 0 or trials.may_double,
            trials.luck_control,
            results,
        )
        if not live.any():
            break
        boards[live] = _chosen(player, trials.stakes, boards[live], rolls[live], cubes[live], side)
        chances[live] = (player if turn == last else net).probabilities(boards[live])
        kernel.end_turn(
            boards,
            chances,
            cubes,
            live,
            turn == last,
            net.network,
            points,
            table,
            1 - side,
            stop,
            results,
        )
        if not live.any():
            break
    return results


def _chosen(
    player: Searcher,
    stakes: Stakes | None,
    boards: Boards,
    rolls: Rolls,
    cubes: NDArray[np.int64],
    side: int,
) -> Boards:
    """The afterstates of the best plays; stakes are side 0's at the start of the trials."""
    if stakes is None:
        return player.choose(boards, rolls)
    size = len(boards)
    values = stakes.cube_values << (cubes[:, kernel.LEVEL] + cubes[:, kernel.BEYOND])
    now = replace(
        stakes,
        cube_values=values,
        cube_owners=_OWNERS[side][cubes[:, kernel.OWNER]],
        away=np.repeat(stakes.away[:, :: 1 - 2 * side], size, axis=0),
        is_crawford=np.repeat(stakes.is_crawford, size),
        is_post_crawford=np.repeat(stakes.is_post_crawford, size),
    )
    return cubeful_plays.choose(player, boards, rolls, now)
