"""The training loop: play, learn, log, bench, save; stop and resume without a trace.

While the learner learns from one batch of games, the next is played with the weights from before
that, on all cores: the learner joins in when it is done. So iteration i plays with the weights
left by iteration i - 2's games, whatever the number of workers, and the weights depend on the config
alone.
"""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from tdgammon.decide.units import Runner
from tdgammon.game.board import Boards
from tdgammon.game.dice import streams
from tdgammon.learn import diagnostics, run
from tdgammon.learn.config import LearningConfig, TrainConfig, from_document
from tdgammon.learn.growth import grown
from tdgammon.learn.learning import Learner
from tdgammon.learn.online import OnlineLearner
from tdgammon.learn.replay import ReplayBuffer
from tdgammon.learn.returns import lambda_returns
from tdgammon.learn.selfplay import (
    Away,
    Batch,
    Begun,
    Games,
    Work,
    begin,
    in_blocks,
    join,
)
from tdgammon.value import checkpoint
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.network import ValueNetwork
from tdgammon.value.tables import Weights

Bench = Callable[[NetworkEvaluator, str, int], Mapping[str, Any]]
"""(evaluator, player, games) -> a bench document with `ppg` and `ci95` of the evaluator."""


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
        return ValueNetwork(config.network, torch.Generator().manual_seed(config.seed)).weights()
    small = checkpoint.read(checkpoint.find(config.grow_from))
    generator = np.random.default_rng([config.seed, 4])
    return grown(small.weights, small.architecture, config.network, generator)


class ForwardMethod:
    """λ-returns by the forward view and minibatch Adam, self-play and learning side by side."""

    def __init__(self, config: TrainConfig, weights: Weights, runner: Runner | None = None) -> None:
        """Games are played here, on config.workers threads, or by `runner` wherever it reaches."""
        self._config, self._runner = config, runner
        self._learner = Learner(config.network, weights, config.learning.averaging)
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
            exact=exact_share(learning, now, exact_from),
            rivals=learning.rivals.at(now),
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


def resumed_config(folder: Path, overrides: Sequence[str] = ()) -> TrainConfig:
    """Config of a run to resume; ValueError if an override changes the network, seed or method."""
    _, facts = run.load_state(folder)
    old = from_document(facts["config"])
    new = from_document(facts["config"], overrides)
    for name, before, after in (
        ("rules", old.rules, new.rules),
        ("network", old.network, new.network),
        ("seed", old.seed, new.seed),
        ("grow_from", old.grow_from, new.grow_from),
        ("learning.method", old.learning.method, new.learning.method),
    ):
        if before != after:
            raise ValueError(f"{name}: cannot change when a run is resumed, from {before} to {after}")
    return new


def train(
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool = False,
    bench: Bench | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    show_progress: bool = False,
    runner: Runner | None = None,
) -> Progress:
    """Train to config.games, or until `should_stop` says so at the end of an iteration.

    With a `runner` the games are played where it does its units: one batch ahead of the learner, with
    the weights from before the last batch, so that the weights are those of a run without it.

    `folder` gets the state, the log and the checkpoint of the averaged weights. With `resume` the
    run goes on from its state, to exactly the weights that it would have had. Raises ValueError if
    the folder already holds a run (or none, with `resume`), FloatingPointError if the weights are no
    longer finite (the last state saved is sound) and OSError if it cannot write.
    """
    torch.set_num_threads(1)
    beginning = dataclasses.replace(config, grow_from="") if resume else config
    weights = first_weights(beginning)
    if config.learning.method == "forward":
        method: Method = ForwardMethod(config, weights, runner)
    elif runner is None:
        method = OnlineMethod(config, weights)
    else:
        raise ValueError("--ray: needs learning.method 'forward', got 'online'")
    progress = Progress()
    if resume:
        arrays, facts = run.load_state(folder)
        try:
            method.load_state(arrays)
        except KeyError as missing:
            raise checkpoint.CheckpointError(f"{str(folder)!r}: state lacks {missing}") from None
        progress = Progress(**facts["progress"])
    folder.mkdir(parents=True, exist_ok=True)
    with run.locked(folder):
        if resume:
            run.cut_log(folder, progress.games)
        elif any((folder / it).exists() for it in (run.STATE, run.LOG, checkpoint.RUN_CHECKPOINT)):
            raise ValueError(f"{str(folder)!r} already holds a run; resume it or name another folder")
        loop = _Loop(config, folder, method, progress, bench)
        with (
            SummaryWriter(str(folder), purge_step=progress.games + 1) as writer,
            tqdm(
                total=config.games,
                initial=min(progress.games, config.games),
                unit=" games",
                smoothing=0.05,
                disable=None if show_progress else True,
            ) as bar,
        ):
            loop.writer = writer
            loop.bar = bar
            loop.run(should_stop)
    return progress


class _Loop:
    """State of one call of `train`: what is due when."""

    writer: SummaryWriter
    bar: Any

    def __init__(
        self, config: TrainConfig, folder: Path, method: Method, progress: Progress, bench: Bench | None
    ) -> None:
        self.config, self.folder, self.method, self.progress = config, folder, method, progress
        self.bench = bench
        self.commit = _commit()

    def run(self, should_stop: Callable[[], bool]) -> None:
        progress, config = self.progress, self.config
        if not progress.iterations:
            self._save()  # from here on there is something to resume
        saved_at = time.monotonic()
        window = _Window(progress, config.game_rules.outcome_values)
        while progress.games < config.games and not should_stop():
            before = progress.games
            cpu = time.process_time()
            games, loss = self.method.iterate(progress)
            progress.cpu_s += time.process_time() - cpu
            progress.iterations += 1
            progress.games += games.num_games
            progress.dropped += games.num_dropped
            progress.turns += len(games.boards) - games.num_games
            if not all(np.isfinite(weight).all() for weight in self.method.weights().values()):
                raise FloatingPointError(f"weights are not finite after {progress.games:,} games")
            window.add(games, loss)
            self.bar.update(min(progress.games, config.games) - min(before, config.games))
            ended = progress.games >= config.games
            if ended or _passed(before, progress.games, config.log_every_games):
                self._log(window, games)
                window = _Window(progress, config.game_rules.outcome_values)
            if ended or _passed(before, progress.games, config.bench.every_games):
                self._save()  # a player that fails costs no training
                self._bench()
            if time.monotonic() - saved_at > config.save_every_s:
                self._save()
                saved_at = time.monotonic()
        self._save()

    def _save(self) -> None:
        weights = self.method.weights()
        facts = {"config": self.config.document(), "progress": vars(self.progress)}
        run.save_state(self.folder, self.method.state(), facts)
        checkpoint.write(
            self.folder / checkpoint.RUN_CHECKPOINT,
            self.config.network,
            weights,
            games=self.progress.games,
            config=self.config.document(),
            bench=self.progress.bench,
            commit=self.commit,
        )

    def _evaluator(self, bearoff: bool) -> NetworkEvaluator:
        """The averaged network, playing by the config's rules."""
        return NetworkEvaluator(
            self.config.network, self.method.weights(), self.config.game_rules, bearoff
        )

    def _log(self, window: _Window, games: Games) -> None:
        evaluator = self._evaluator(self.config.learning.bearoff)
        figures = window.figures(self.progress)
        if games.num_games:
            figures |= game_figures(evaluator, games, self.progress, self.config)
            wanted = self.config.learning.exact_when_worth
            if wanted and self.progress.exact_from is None and figures["train/exact_worth"] >= wanted:
                self.progress.exact_from = self.progress.games
        equities = diagnostics.reference_equities(evaluator)
        figures |= {f"reference/{name}": equity for name, equity in equities.items()}
        self._write(figures)
        speed = figures["speed/games_per_s"]
        self.bar.set_postfix_str(f"loss {figures['train/loss']:.3f} {speed:,.0f} games/s {self._ppg()}")

    def _bench(self) -> None:
        if self.bench is None or not self.config.bench.against:
            return
        evaluator = self._evaluator(bearoff=True)  # as the checkpoint will play
        results = [
            self.bench(evaluator, name, self.config.bench.games) for name in self.config.bench.against
        ]
        self.progress.bench = results
        figures: dict[str, float] = {}
        for name, result in zip(self.config.bench.against, results, strict=True):
            figures[f"bench/ppg_v_{name}"] = result["ppg"]
            if result["ci95"] is not None:  # no interval from a single pair of games
                figures[f"bench/ci95_v_{name}"] = result["ci95"]
        self._write(figures)
        self.bar.set_postfix_str(self._ppg())

    def _ppg(self) -> str:
        names = self.config.bench.against
        pairs = zip(names, self.progress.bench, strict=False)
        return ", ".join(f"{result['ppg']:+.3f} ppg v {name}" for name, result in pairs)

    def _write(self, figures: Mapping[str, float]) -> None:
        known = {name: value for name, value in figures.items() if np.isfinite(value)}
        progress = self.progress
        record = {"games": progress.games, "cpu_s": round(progress.cpu_s, 3), **known}
        run.append_log(self.folder, record)
        for name, value in known.items():
            self.writer.add_scalar(name, value, progress.games)


class _Window:
    """What happened since the last line of the log."""

    def __init__(self, progress: Progress, values: NDArray[np.float32]) -> None:
        self._values = values
        self._wall, self._cpu = time.monotonic(), progress.cpu_s
        self._games, self._turns, self._dropped = progress.games, progress.turns, progress.dropped
        self._losses: list[float] = []
        self._points = 0.0

    def add(self, games: Games, loss: float) -> None:
        self._losses.append(loss)
        self._points += float((games.probabilities[games.last_rows] @ np.abs(self._values)).sum())

    def figures(self, progress: Progress) -> dict[str, float]:
        games = progress.games - self._games
        turns = progress.turns - self._turns
        return {
            "train/loss": float(np.mean(self._losses)),
            "train/turns_per_game": turns / max(1, games),
            "train/points_per_game": self._points / max(1, games),
            "train/dropped_games": progress.dropped - self._dropped,
            "speed/games_per_s": games / max(1e-9, time.monotonic() - self._wall),
            "speed/games_per_cpu_s": games / max(1e-9, progress.cpu_s - self._cpu),
        }


def game_figures(
    evaluator: NetworkEvaluator, games: Games, progress: Progress, config: TrainConfig
) -> dict[str, float]:
    """Scalars of the averaged network on the last batch of games."""
    learning = config.learning
    now = progress.games
    figures = {"train/lambda": learning.lambda_.at(now), "train/rate": learning.rate.at_geometric(now)}
    calibration = diagnostics.calibration(games)
    figures |= {f"calibration/{name}": error for name, error in calibration.items()}
    boards, targets = lessons(games, learning.lambda_.at(now))
    losses = diagnostics.cross_entropies(targets, evaluator.probabilities(boards))
    figures |= {f"loss/{name}": loss for name, loss in losses.items()}
    generator = np.random.default_rng([config.seed, progress.iterations, 1])
    one_roll = diagnostics.one_roll_figures(evaluator, games, generator)
    return figures | {f"train/{name}": value for name, value in one_roll.items()}


def _passed(before: int, after: int, every: int) -> bool:
    return every > 0 and before // every != after // every


def _commit() -> str | None:
    """Commit of the source tree, or None outside one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
