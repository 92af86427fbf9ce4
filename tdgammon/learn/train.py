"""The training loop: play, learn, log, bench, save; stop and resume without a trace."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from tdgammon.decide.units import Runner
from tdgammon.learn import diagnostics, run
from tdgammon.learn.config import TrainConfig, from_document
from tdgammon.learn.methods import ForwardMethod, Method, OnlineMethod, Progress, first_weights, lessons
from tdgammon.learn.selfplay import (
    Games,
)
from tdgammon.value import checkpoint
from tdgammon.value.evaluator import NetworkEvaluator

Bench = Callable[[NetworkEvaluator, str, int], Mapping[str, Any]]
"""(evaluator, player, games) -> a bench document with `ppg` and `ci95` of the evaluator."""


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
