"""Train a value network by self-play.

The config is a TOML file or the name of one that comes with the package; the run folder gets the
resumable state, a log, TensorBoard events and a checkpoint that bench and play take.

Example:
  tdgammon train configs/quick.toml --run runs/quick
  tdgammon train --resume runs/quick
  tdgammon bench runs/quick pubeval
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdgammon.learn.config import TrainConfig
    from tdgammon.value.evaluator import NetworkEvaluator

_PACKAGE = Path(__file__).resolve().parent.parent
_SHELVES = (_PACKAGE / "configs", _PACKAGE.parent / "configs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", nargs="?", help="a TOML file, or a name such as quick"
    )
    parser.add_argument(
        "--run", metavar="DIR", type=_folder, help="run folder (default runs/NAME of the config)"
    )
    parser.add_argument(
        "--resume", metavar="DIR", type=_folder, help="go on with the run in this folder"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a key, e.g. learning.rate=1e-3",
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play the games on this Ray cluster (`auto`: the one that is running)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the end of the run as one JSON document"
    )


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder expected, got ''")
    return Path(text)


def run(args: argparse.Namespace) -> int:
    from tdgammon.bench.report import interval
    from tdgammon.learn import config as configs
    from tdgammon.learn import farm
    from tdgammon.learn import train as training

    if args.resume:
        if args.config or args.run:
            raise ValueError(
                f"--resume {str(args.resume)!r} takes CONFIG and DIR from the run; change keys by --set"
            )
        folder = args.resume
        config = training.resumed_config(folder, args.set)
    else:
        if not args.config:
            raise ValueError("CONFIG is missing: name a TOML file, or a run by --resume")
        path = _find_config(args.config)
        config = configs.load_config(path, args.set)
        folder = args.run or Path("runs") / path.stem
    _check_players(config)
    signals = _Signals()
    try:
        with signals, farm.connected(args.ray):
            progress = training.train(
                config,
                folder,
                resume=bool(args.resume),
                bench=_bench,
                should_stop=signals.arrived,
                show_progress=True,
                runner=farm.runner(ray_address=args.ray) if args.ray else None,
            )
    except FloatingPointError as fault:
        sys.stderr.write(f"tdgammon: training stopped: {fault}; the state in {folder} is from before\n")
        return 1
    finished = progress.games >= config.games
    if args.json:
        print(json.dumps({"run": str(folder), "finished": finished, **vars(progress)}))
    elif finished:
        print(
            f"{progress.games:,} games in {progress.cpu_s:,.0f} CPU s; checkpoint: {folder}/checkpoint"
        )
        for result in progress.bench:
            ppg = interval(result["ppg"], result["ci95"])
            print(f"  v {result['b']}: {ppg} ppg in {result['games']} games")
    if not finished:
        sys.stderr.write(
            f"tdgammon: stopped after {progress.games:,} games; "
            f"go on with: tdgammon train --resume {folder}\n"
        )
    return 0 if finished else 128 + signals.number


class _Signals:
    """Turns SIGINT and SIGTERM into a wish to stop, so that an iteration is never cut in two."""

    number = 0

    def arrived(self) -> bool:
        return bool(self.number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.number == signal.SIGINT == number:
            raise KeyboardInterrupt  # asked twice: at once, without saving
        self.number = number

    def __enter__(self) -> None:
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._before = {n: signal.signal(n, self._note) for n in (signal.SIGINT, signal.SIGTERM)}

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _bench(evaluator: NetworkEvaluator, player: str, games: int) -> Mapping[str, Any]:
    from tdgammon.bench.arena import match
    from tdgammon.decide.bots import NetworkBot

    run = NetworkBot("the run", evaluator)
    return match(run, player, games, seed=1, rules=evaluator.rules).to_json()


def _check_players(config: TrainConfig) -> None:
    from tdgammon.decide.bots import bot

    for player in config.bench.against:
        try:
            bot(player, config.game_rules)
        except ValueError as fault:
            raise ValueError(f"bench.against: {fault}") from None


def _find_config(name: str) -> Path:
    path = Path(name)
    if not path.exists() and path.suffix == "" and path.name == name:
        for shelf in _SHELVES:
            if (shelf / f"{name}.toml").is_file():
                return shelf / f"{name}.toml"
    return path
