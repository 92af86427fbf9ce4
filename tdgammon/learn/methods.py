"""Methods of training: how a batch of games becomes weights.

While the learner learns from one batch of games, the next is played with the weights from before
that, on all cores: the learner joins in when it is done. So iteration i plays with the weights
left by iteration i - 2's games, whatever the number of workers, and the weights depend on the config
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from tdgammon.decide.units import Runner
from tdgammon.game.board import Boards
from tdgammon.game.dice import streams
from tdgammon.learn.config import LearningConfig, TrainConfig
from tdgammon.learn.growth import grown
from tdgammon.learn.learning import Learner
from tdgammon.learn.online import OnlineLearner
from tdgammon.learn.replay import ReplayBuffer
from tdgammon.learn.returns import lambda_returns
from tdgammon.learn.selfplay import (
    Away,
    Batch,
    Begun,
    ExactSettings,
    Games,
    Work,
    begin,
    in_blocks,
    join,
)
from tdgammon.learn.specialists import SpecialistsLearner
from tdgammon.value import checkpoint
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.network import random_weights
from tdgammon.value.tables import Weights


@dataclass
class Progress:
    """How far a run has come."""

    games: int = 0
    """Finished games learnt from."""
    dropped: int = 0
    """Games broken off."""
    next_game: int = 0
    """Stream of the next game whose learning is still to do."""
    iterations: int = 0
    turns: int = 0
    """Turns of the finished games."""
    exact_from: int | None = None
    """Games after which exact targets were found to be worth their cost."""
    cpu_s: float = 0.0
    """CPU seconds of all threads, bench matches left out."""
    bench: list[Mapping[str, Any]] = field(default_factory=list)
    """The last bench documents."""


class Method(Protocol):
    """A way of turning games into weights."""

    def iterate(self, progress: Progress) -> tuple[Games, float]:
        """Play and learn from one batch of games: the finished ones and their mean loss."""
        ...

    def weights(self) -> Weights:
        """Weights to bench and play with."""
        ...

    def state(self) -> Mapping[str, NDArray[Any]]:
        """All that `load_state` needs to go on exactly as from here, by name."""
        ...

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up `state`; KeyError if an array is missing."""
        ...


def first_weights(config: TrainConfig) -> Weights:
    """What a run begins with: random weights, or those of `grow_from` grown to the network.

    CheckpointError if `grow_from` is no sound checkpoint, ValueError if the network cannot be grown
    from it.
    """
    if not config.grow_from:
        return random_weights(config.network, torch.Generator().manual_seed(config.seed))
    small = checkpoint.read(checkpoint.find(config.grow_from))
    generator = np.random.default_rng([config.seed, 4])
    return grown(small.weights, small.architecture, config.network, generator)


class ForwardMethod:
    """λ-returns by the forward view and minibatch Adam, self-play and learning side by side."""

    def __init__(self, config: TrainConfig, weights: Weights, runner: Runner | None = None) -> None:
        """Games are played here, on config.workers threads, or by `runner` wherever it reaches."""
        self._config, self._runner = config, runner
        self._learner = learner(config, weights)
        self._player = self._learner.weights()
        self._buffer = ReplayBuffer(config.learning.replay_size)
        self._games: Games | None = None
        helpers = config.workers - 1
        self._pool = ThreadPoolExecutor(max(1, helpers), "self-play")
        self._num_helpers = helpers

    def iterate(self, progress: Progress) -> tuple[Games, float]:
        now = progress.games
        num_games = self._num_games(now)
        if self._games is None:  # the first batch, or the one that was under way when a run stopped
            self._games = join(
                self._start(self._player, progress.next_game, now, progress.exact_from).finish()
            )
        games = self._games
        ahead = now + games.num_games
        is_exact = exact_share(self._config.learning, ahead, progress.exact_from) > 0
        self._player = self._learner.average_weights() if is_exact else self._learner.weights()
        following = self._start(
            self._player, progress.next_game + num_games, ahead, progress.exact_from
        )
        try:
            loss = self._learn(games, progress)
        finally:
            self._games = join(following.finish())
        progress.next_game += num_games
        return games, loss

    def _num_games(self, games: int) -> int:
        return round(self._config.learning.games_per_iteration.at(games))

    def _start(
        self, weights: Weights, first: int, now: int, exact_from: int | None
    ) -> Work[Begun, Games] | Away:
        """Begin the batch of games whose first stream is `first`, after `now` games."""
        config, learning = self._config, self._config.learning
        batch = Batch(
            evaluator=NetworkEvaluator(config.network, weights, config.game_rules, learning.bearoff),
            begun=begin(
                config.game_rules, config.seed, self._num_games(now), first, learning.from_kinds.at(now)
            ),
            max_turns=learning.max_turns,
            exact=ExactSettings(
                share=exact_share(learning, now, exact_from),
                rivals=learning.rivals.at(now),
                lambda_=learning.lambda_.at(now),
            ),
        )
        if self._runner:
            return Away(self._runner, batch)
        return Work(self._pool, self._num_helpers, batch.play, in_blocks(batch.begun))

    def _learn(self, games: Games, progress: Progress) -> float:
        learning, now = self._config.learning, progress.games
        boards, targets = lessons(games, learning.lambda_.at(now))
        if not len(boards):
            return float("nan")
        generator = np.random.default_rng([self._config.seed, progress.iterations])
        if len(games.exact_boards):
            boards, targets = self._with_replayed(boards, targets, learning.replay.at(now), generator)
        order = generator.permutation(len(boards))
        rate = learning.rate.at_geometric(now)
        size = round(learning.batch_size.at(now))
        return float(self._learner.learn(boards, targets, order, rate, size).mean())

    def _with_replayed(
        self,
        boards: Boards,
        targets: NDArray[np.float32],
        replay: float,
        generator: np.random.Generator,
    ) -> tuple[Boards, NDArray[np.float32]]:
        """New exact targets and replay - 1 times as many of those kept; the new ones are kept too."""
        if replay <= 1:
            return boards, targets
        again = self._buffer.draw(round((replay - 1) * len(boards)), generator)
        self._buffer.add(boards, targets)
        return np.concatenate([boards, again[0]]), np.concatenate([targets, again[1]])

    def weights(self) -> Weights:
        return self._learner.average_weights()

    def state(self) -> Mapping[str, NDArray[Any]]:
        player = {f"player.{name}": value for name, value in self._player.items()}
        return {**self._learner.state(), **player, **self._buffer.state()}

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._learner.load_state(arrays)
        self._player = {name: arrays[f"player.{name}"] for name in self._player}
        self._buffer.load_state(arrays)
        self._games = None


class OnlineMethod:
    """Tesauro's method, turn by turn on one core; the loss is not measured."""

    def __init__(self, config: TrainConfig, weights: Weights) -> None:
        self._config = config
        self._learner = OnlineLearner(config.network, weights, config.game_rules)

    def iterate(self, progress: Progress) -> tuple[Games, float]:
        learning, now = self._config.learning, progress.games
        num_games = round(learning.games_per_iteration.at(now))
        played = [
            self._learner.play_game(
                key, learning.lambda_.at(now), learning.rate.at_geometric(now), learning.max_turns
            )
            for key in streams(self._config.seed, num_games, progress.next_game)
        ]
        progress.next_game += num_games
        boards = [game for game in played if game is not None]
        rows = np.concatenate(boards) if boards else np.empty((0, 26), np.int8)
        lengths = np.array([len(game) for game in boards], np.int32)
        return Games(rows, self._learner.values(rows), lengths, len(played) - len(boards)), float("nan")

    def weights(self) -> Weights:
        return self._learner.weights()

    def state(self) -> Mapping[str, NDArray[Any]]:
        return self._learner.state()

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._learner.load_state(arrays)


def learner(config: TrainConfig, weights: Weights) -> Learner | SpecialistsLearner:
    """What learns by the forward view."""
    averaging = config.learning.averaging
    if config.network.specialists:
        return SpecialistsLearner(config.network, weights, averaging, config.learning.overlap)
    return Learner(config.network, weights, averaging)


def exact_share(learning: LearningConfig, games: int, exact_from: int | None) -> float:
    """Share of exact targets in a batch that begins after so many games.

    What a line of the log finds holds for batches after the one that was under way, so that a run
    resumed from there goes on alike.
    """
    if learning.exact_when_worth and (exact_from is None or games <= exact_from):
        return 0.0
    return learning.exact.at(games)


def lessons(games: Games, lambda_: float) -> tuple[Boards, NDArray[np.float32]]:
    """Boards [N, 26] to learn and their targets [N, 6]: the exact ones where there are any, else the
    λ-returns of all positions that are not final."""
    if len(games.exact_boards):
        return games.exact_boards, games.exact_targets
    use = games.goes_on
    return games.boards[use], lambda_returns(games.probabilities, games.lengths, lambda_)[use]
