"""Training configuration: TOML files, read strictly.

A schedule is a number, or a list of [games, value] pairs: the value at so many games played,
interpolated between pairs and constant outside them.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tdgammon.game.board import NUM_CHECKERS
from tdgammon.game.rules import GameRules, without_cube
from tdgammon.game.rules import rules as preset
from tdgammon.value.tables import Architecture


@dataclass(frozen=True)
class Schedule:
    """A number that changes with the games played."""

    points: tuple[tuple[float, float], ...]
    """(games, value), games rising from 0."""

    def at(self, games: float) -> float:
        """Value after `games`, interpolated linearly."""
        return self._between(games, [value for _, value in self.points])

    def at_geometric(self, games: float) -> float:
        """Value after `games`, interpolated in equal ratios; all values must be positive."""
        return math.exp(self._between(games, [math.log(value) for _, value in self.points]))

    def _between(self, games: float, values: Sequence[float]) -> float:
        if games <= self.points[0][0]:
            return values[0]
        for k in range(1, len(self.points)):
            before, after = self.points[k - 1][0], self.points[k][0]
            if games < after:
                share = (games - before) / (after - before)
                return values[k - 1] + share * (values[k] - values[k - 1])
        return values[-1]

    def check(self, name: str, low: float, high: float) -> None:
        """ValueError naming the key unless all values lie in low..high."""
        for _, value in self.points:
            if not low <= value <= high:
                raise ValueError(f"{name}: must be {low:g} to {high:g}, got {value:g}")


@dataclass(frozen=True, kw_only=True)
class LearningConfig:
    """How weights follow from games."""

    method: str = "forward"
    """`forward`: λ-returns of whole games and minibatch Adam; `online`: eligibility traces, one
    plain gradient step a turn (Tesauro 1992)."""
    lambda_: Schedule = Schedule(((0, 0.7),))
    """λ of the returns, 0 to 1."""
    rate: Schedule = Schedule(((0, 3e-3),))
    """Step size, above 0 to 1; interpolated in equal ratios."""
    batch_size: Schedule = Schedule(((0, 512),))
    """Positions an Adam step, 1 to 65536."""
    games_per_iteration: Schedule = Schedule(((0, 256),))
    """Games played with the same weights, 1 to 65536."""
    averaging: float = 0.999
    """Share of the weight average that a step keeps, 0 to below 1; the average is what is benched."""
    bearoff: bool = False
    """Games end at the first race, with the chances that the bear-off tables give (`forward` only)."""
    from_kinds: Schedule = Schedule(((0, 0.0),))
    """Share of games that begin from boards of `learn.starts.KINDS` and not from the start, 0 to 1
    (`forward` only)."""
    exact: Schedule = Schedule(((0, 0.0),))
    """Share of games whose positions are learnt with exact targets, 0 to 1 (`forward` only): λ-returns
    with the luck of every roll taken off. Above 0 the other positions are not learnt from, and games
    and targets are those of the averaged weights."""
    exact_when_worth: float = 0.0
    """`exact` waits until one exact target is worth so many with the luck of a roll in them, which a
    line of the log finds (`train/exact_worth`); 0 to 1e6, 0 = does not wait. It costs about 20."""
    rivals: Schedule = Schedule(((0, 0.0),))
    """Share of these games that is replaced by games from `targets.rivals`: boards that other good
    plays than the one chosen would have left, 0 to 1."""
    replay: Schedule = Schedule(((0, 1.0),))
    """Times that an exact target is learnt from, 1 to 100: when it is new, and then at random among the
    last `replay_size` of them. One costs as much as learning from it forty times."""
    replay_size: int = 1_000_000
    """Exact targets that are kept for that, 1 to 20 million, of 50 bytes each."""
    overlap: float = 0.5
    """Share of positions that specialists learn as if one checker more or less of a side were back,
    which hands those near a border to the class beyond it, 0 to 1 (`network.specialists` only)."""
    max_turns: int = 1000
    """A game longer than this is dropped and counted, 100 to 10000."""

    def __post_init__(self) -> None:
        if self.method not in ("forward", "online"):
            raise ValueError(f"learning.method: 'forward' or 'online' expected, got {self.method!r}")
        self.lambda_.check("learning.lambda_", 0, 1)
        self.rate.check("learning.rate", 1e-9, 1)
        self.batch_size.check("learning.batch_size", 1, 65536)
        self.games_per_iteration.check("learning.games_per_iteration", 1, 65536)
        self.from_kinds.check("learning.from_kinds", 0, 1)
        self.exact.check("learning.exact", 0, 1)
        self.rivals.check("learning.rivals", 0, 1)
        self.replay.check("learning.replay", 1, 100)
        if not 1 <= self.replay_size <= 20_000_000:
            raise ValueError(f"learning.replay_size: must be 1 to 20000000, got {self.replay_size}")
        if not 0 <= self.exact_when_worth <= 1e6:
            raise ValueError(
                f"learning.exact_when_worth: must be 0 to 1e6, got {self.exact_when_worth}"
            )
        for name in ("bearoff", "from_kinds", "exact", "exact_when_worth", "rivals", "replay"):
            if self.method != "forward" and getattr(self, name) != getattr(LearningConfig, name):
                raise ValueError(
                    f"learning.{name}: needs learning.method 'forward', got {self.method!r}"
                )
        for name in ("exact_when_worth", "rivals", "replay", "replay_size"):
            if not _above_0(self.exact) and getattr(self, name) != getattr(LearningConfig, name):
                raise ValueError(f"learning.{name}: needs learning.exact above 0")
        if not 0 <= self.averaging < 1:
            raise ValueError(f"learning.averaging: must be 0 to below 1, got {self.averaging}")
        if not 0 <= self.overlap <= 1:
            raise ValueError(f"learning.overlap: must be 0 to 1, got {self.overlap}")
        if not 100 <= self.max_turns <= 10000:
            raise ValueError(f"learning.max_turns: must be 100 to 10000, got {self.max_turns}")


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    """The matches that are played during training."""

    against: tuple[str, ...] = ("pubeval",)
    """Players."""
    games: int = 2000
    """Games a match, even, 2 to 1,000,000."""
    every_games: int = 100_000
    """Games of training from one bench to the next; 0 = only at the end."""

    def __post_init__(self) -> None:
        if not 2 <= self.games <= 1_000_000 or self.games % 2:
            raise ValueError(f"bench.games: an even number, 2 to 1000000, expected, got {self.games}")
        if self.every_games < 0:
            raise ValueError(f"bench.every_games: must not be negative, got {self.every_games}")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training experiment."""

    games: int
    """Games of self-play in all, at least 1."""
    seed: int = 1
    """Of weights, dice and the order of positions, 0 to 2**31 - 1."""
    rules: str = "standard"
    """Preset of rules (`game.rules.PRESETS`): start, moves and end counts; the cube is not used."""
    grow_from: str = ""
    """Checkpoint, by name or folder, whose judgement the run begins with; empty = random weights."""
    workers: int = 1
    """Cores used, 1 to 64; the weights do not depend on it."""
    log_every_games: int = 10_000
    """Games from one line of the log to the next, at least 1."""
    save_every_s: float = 60.0
    """Seconds of wall time between saves of the resumable state, above 0."""
    network: Architecture = field(default_factory=Architecture)
    learning: LearningConfig = field(default_factory=LearningConfig)
    bench: BenchConfig = field(default_factory=BenchConfig)

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games: must be at least 1, got {self.games}")
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed: must be 0 to 2**31 - 1, got {self.seed}")
        if self.game_rules.num_checkers != self.network.num_checkers:
            raise ValueError(
                f"network.num_checkers: rules {self.rules!r} have {self.game_rules.num_checkers} "
                f"checkers a side, got {self.network.num_checkers}"
            )
        if self.game_rules.num_checkers != NUM_CHECKERS and _above_0(self.learning.from_kinds):
            raise ValueError(
                f"learning.from_kinds: boards have {NUM_CHECKERS} checkers a side, rules "
                f"{self.rules!r} have {self.game_rules.num_checkers}"
            )
        if self.game_rules.caucasian and _above_0(self.learning.exact):
            raise ValueError(f"learning.exact: not for Caucasian hits, got rules {self.rules!r}")
        if not 1 <= self.workers <= 64:
            raise ValueError(f"workers: must be 1 to 64, got {self.workers}")
        if self.log_every_games < 1:
            raise ValueError(f"log_every_games: must be at least 1, got {self.log_every_games}")
        if not self.save_every_s > 0:
            raise ValueError(f"save_every_s: must be above 0, got {self.save_every_s}")
        if self.learning.method == "online" and len(self.network.hidden) != 1:
            raise ValueError(
                "network.hidden: one layer expected with learning.method 'online', "
                f"got {self.network.hidden}"
            )
        if self.learning.method == "online" and self.network.specialists:
            raise ValueError("network.specialists: needs learning.method 'forward', got 'online'")
        if not self.network.specialists and self.learning.overlap != LearningConfig.overlap:
            raise ValueError("learning.overlap: needs network.specialists")

    @property
    def game_rules(self) -> GameRules:
        """What `rules` names, without a cube."""
        return without_cube(preset(self.rules))

    def document(self) -> dict[str, Any]:
        """All fields as JSON values, defaults included; `from_document` reads them back."""
        return _to_json(self)


def _above_0(schedule: Schedule) -> bool:
    return any(value > 0 for _, value in schedule.points)


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> TrainConfig:
    """Config of a TOML file, with `key=value` overrides (`learning.rate=1e-3`).

    ValueError naming the key for one that is unknown, missing, mistyped or out of range.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"config {str(path)!r}: no such file") from None
    except (OSError, ValueError) as fault:
        raise ValueError(f"config {str(path)!r}: cannot be read: {fault}") from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"config {str(path)!r}: {fault}") from None
    return from_document(document, overrides)


def from_document(document: Mapping[str, Any], overrides: Sequence[str] = ()) -> TrainConfig:
    """Config of a parsed document; ValueError as `load_config`."""
    changed = _copy(document)
    for override in overrides:
        _override(changed, override)
    return _build(TrainConfig, changed, "")


def _override(document: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise ValueError(f"--set: KEY=VALUE expected, got {override!r}")
    *groups, last = key.strip().split(".")
    for group in groups:
        inner = document.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ValueError(f"--set {override!r}: {group} is not a group of keys")
        document = inner
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        parsed = {}
    document[last] = parsed["value"] if set(parsed) == {"value"} else value.strip()


def _build(kind: type, fields: Mapping[str, Any], prefix: str) -> Any:
    hints = typing.get_type_hints(kind)
    known = {f.name: f for f in dataclasses.fields(kind)}
    for name in fields:
        if name not in known:
            raise ValueError(f"{prefix}{name}: unknown key; known here are {', '.join(known)}")
    values: dict[str, Any] = {}
    for name, spec in known.items():
        if name in fields:
            values[name] = _convert(hints[name], fields[name], prefix + name)
        elif spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING:
            raise ValueError(f"{prefix}{name}: missing")
    return kind(**values)


def _convert(kind: Any, value: Any, name: str) -> Any:
    if kind is Schedule:
        return _schedule(value, name)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, Mapping):
            raise ValueError(f"{name}: a group of keys expected, got {value!r}")
        return _build(kind, value, name + ".")
    if isinstance(kind, types.GenericAlias):
        inner = typing.get_args(kind)[0]
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"{name}: a list expected, got {value!r}")
        return tuple(_convert(inner, item, name) for item in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{name}: a finite number expected, got {value!r}") from None
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise ValueError(f"{name}: {kind.__name__} expected, got {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: a finite number expected, got {value!r}")
    return value


def _schedule(value: Any, name: str) -> Schedule:
    if not isinstance(value, (list, tuple)):
        return Schedule(((0.0, _convert(float, value, name)),))
    points = []
    for pair in value:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(f"{name}: a number or a list of [games, value] expected, got {value!r}")
        points.append((_convert(float, pair[0], name), _convert(float, pair[1], name)))
    games = [at for at, _ in points]
    if not points or games[0] != 0 or any(b <= a for a, b in pairwise(games)):
        raise ValueError(f"{name}: games must rise from 0, got {value!r}")
    return Schedule(tuple(points))


def _to_json(value: Any) -> Any:
    if isinstance(value, Schedule):
        return value.points[0][1] if len(value.points) == 1 else [list(pair) for pair in value.points]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return [_to_json(item) for item in value] if isinstance(value, tuple) else value


def _copy(value: Any) -> Any:
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, Mapping) else value
