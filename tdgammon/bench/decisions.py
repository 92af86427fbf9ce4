"""Decision benchmarks: what a player loses, in equity, on positions whose truth is known.

A file (plain or gzip) holds one JSON object a line. Its boards are seen by the player who decides,
afterstates too: not flipped. Three kinds are told apart by what the lines hold:

- checker: `board`, `dice`, `candidates` (every legal afterstate, each with `board` and `equity`)
- values: `board`, `probs` (win, win gammon, win backgammon, lose gammon, lose backgammon)
- cube: `nd`, `dt`, `dp` and the cube and score: see `bench.cubes`

A line may name its `bucket`.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.bench import fields
from tdgammon.bench.asking import in_parts, warm_up
from tdgammon.bench.cubes import Cubes
from tdgammon.decide.bots import Bot, bot
from tdgammon.game.board import START, Boards, Rolls, checked_boards, checked_rolls, flip
from tdgammon.game.rules import GameRules
from tdgammon.value.outcome import VALUES, to_nested

Errors = NDArray[np.float64]
"""checker: equity lost [B]; values: evaluator less truth [B, 2], win chance and equity; cube: equity
lost by the double and by the take [B, 2], NaN where that is not asked."""

KINDS = {"candidates": "checker", "probs": "values", "nd": "cube"}
"""The key of a line that gives its kind away."""

_ROUNDING = 1e-9  # a loss of 0.02 in the decimals of a file counts as 0.02


@dataclass(frozen=True, kw_only=True)
class Plays:
    """Items of a checker file."""

    boards: Boards
    rolls: Rolls
    rows: Boards
    """[A, 26]: the candidates, flipped as players return them."""
    equities: NDArray[np.float64]
    """[A]: for the player who decides."""
    offsets: NDArray[np.int64]
    """[B + 1]: the candidates of item i are offsets[i]:offsets[i + 1]."""
    places: list[str]
    """[B]: file and line of each item, for complaints."""

    def errors(self, player: Bot, bar: tqdm) -> tuple[Errors, float]:
        """Equity lost on each item [B], and the CPU seconds that choosing took.

        Raises ValueError for a choice that is not among the candidates.
        """
        warm_up(player, GameRules())
        chosen, cpu_s = in_parts(
            lambda part: player.choose(self.boards[part], self.rolls[part]), len(self.boards), bar
        )
        counts = np.diff(self.offsets)
        same = (self.rows == np.repeat(chosen, counts, axis=0)).all(axis=1)
        of_choice = np.maximum.reduceat(np.where(same, self.equities, -np.inf), self.offsets[:-1])
        if (lost := np.isneginf(of_choice)).any():
            i = int(np.flatnonzero(lost)[0])
            raise ValueError(
                f"{self.places[i]}: {player.name!r} chose {flip(chosen[i]).tolist()} from "
                f"{self.boards[i].tolist()} with {self.rolls[i].tolist()}, which is no candidate"
            )
        return np.maximum.reduceat(self.equities, self.offsets[:-1]) - of_choice, cpu_s


@dataclass(frozen=True, kw_only=True)
class Positions:
    """Items of a values file."""

    boards: Boards
    nested: NDArray[np.float64]
    """[B, 5]: the chances as in the file."""

    def errors(self, player: Bot, bar: tqdm) -> tuple[Errors, float]:
        """Evaluator less truth of each item [B, 2], win chance and equity, and the CPU seconds taken.

        Raises ValueError for a player without an evaluator.
        """
        evaluator = getattr(player, "evaluator", None)
        if evaluator is None:
            raise ValueError(
                f"player {player.name!r} gives no probabilities, as a values file asks for"
            )
        evaluator.probabilities(START[None].copy())  # loads and compiles
        probabilities, cpu_s = in_parts(
            lambda part: evaluator.probabilities(self.boards[part]), len(self.boards), bar
        )
        win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = self.nested.T
        equity = 2 * win - 1 + win_gammon + win_backgammon - lose_gammon - lose_backgammon
        found = np.stack([to_nested(probabilities)[:, 0], probabilities @ VALUES], axis=1)
        return found - np.stack([win, equity], axis=1), cpu_s


@dataclass(frozen=True, kw_only=True)
class Grade:
    """How one player did, item by item."""

    name: str
    errors: Errors
    cpu_ms_per_decision: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """A file graded for one or more players."""

    file: str
    kind: str
    buckets: list[str]
    """Of each item; empty where the line names none."""
    grades: list[Grade]

    def to_json(self) -> dict[str, Any]:
        """The `bench --decisions` document; `difference` is from the first player, item by item."""
        return {"file": self.file, "kind": self.kind, "players": [self._player(g) for g in self.grades]}

    def _player(self, grade: Grade) -> dict[str, Any]:
        measures, _ = MEASURES[self.kind]
        rows: dict[str, list[int]] = {}
        for i, bucket in enumerate(self.buckets):
            rows.setdefault(bucket, []).append(i)
        rows.pop("", None)
        document = {"name": grade.name, **measures(grade.errors)}
        document["cpu_ms_per_decision"] = grade.cpu_ms_per_decision
        if grade is not self.grades[0]:
            document["difference"] = self._difference(grade)
        document["buckets"] = {bucket: measures(grade.errors[rows[bucket]]) for bucket in rows}
        return document

    def _difference(self, grade: Grade) -> dict[str, Any]:
        _, (key, cost) = MEASURES[self.kind]
        first = self.grades[0]
        apart = cost(grade.errors) - cost(first.errors)
        return {"from": first.name, key: float(apart.mean()), "se": _standard_error(apart)}


def grade(
    file: str | Path,
    players: Sequence[str | Bot],
    *,
    truth: str = "equity",
    progress: bool = False,
) -> Report:
    """Have each player decide on every item of a file.

    `truth` is the field of a checker file's candidates that holds their equity; a file may hold others,
    of one engine alone say.

    For a cube file, a field of chances in its lines (`probs_gnubg`) is a player too: our cube formulas
    on those. `progress` shows a bar on a terminal's stderr. Raises ValueError for an unknown player,
    one that cannot answer, and the first line that is not sound, quoting the file and the line's
    number; OSError if the file cannot be opened.
    """
    named = [player if _is_field(player) else bot(player) for player in players]
    kind, items = _read(Path(file))
    made: Plays | Positions | Cubes
    if kind != "checker" and truth != "equity":
        raise ValueError(
            f"truth {truth!r}: only the plays of a checker file can have another, not {kind}"
        )
    if kind == "checker":
        made = _plays(file, items, truth)
    else:
        made = _positions(file, items) if kind == "values" else _cubes(file, items)
    bots = [_formulas(made, player) if isinstance(player, str) else player for player in named]
    grades = []
    disable = None if progress else True  # None: shown on a terminal only
    num = len(bots) * len(items)
    with tqdm(total=num, unit="item", delay=2, disable=disable, file=sys.stderr) as bar:
        for player in bots:
            bar.set_description(player.name)
            errors, cpu_s = made.errors(player, bar)
            grades.append(
                Grade(name=player.name, errors=errors, cpu_ms_per_decision=1e3 * cpu_s / len(items))
            )
    buckets = [str(item.get("bucket", "")) for _, item in items]
    return Report(file=str(file), kind=kind, buckets=buckets, grades=grades)


def _is_field(player: str | Bot) -> bool:
    return isinstance(player, str) and player.startswith("probs_")


def _formulas(made: Plays | Positions | Cubes, field: str) -> Bot:
    if not isinstance(made, Cubes):
        raise ValueError(f"player {field!r}: a field of chances is a player for cube files only")
    return made.formulas(field)


def checker_measures(errors: Errors) -> dict[str, Any]:
    """Of equities lost [B]: PR = 500 x their mean, its standard error, shares of plays."""
    return {
        "n": len(errors),
        "pr": 500 * float(errors.mean()),
        "se": _standard_error(500 * errors),
        "best_share": float((errors < _ROUNDING).mean()),
        "loss_02_share": float((errors >= 0.02 - _ROUNDING).mean()),
        "loss_08_share": float((errors >= 0.08 - _ROUNDING).mean()),
    }


def values_measures(errors: Errors) -> dict[str, Any]:
    """Of errors [B, 2] in win chance and equity: mean size, root mean square, and mean (`bias`).

    `se` is the standard error of `mae_equity`.
    """
    win, equity = errors.T
    return {
        "n": len(errors),
        "mae_win": float(np.abs(win).mean()),
        "mae_equity": float(np.abs(equity).mean()),
        "se": _standard_error(np.abs(equity)),
        "rmse_win": float(np.sqrt((win**2).mean())),
        "rmse_equity": float(np.sqrt((equity**2).mean())),
        "bias_equity": float(equity.mean()),
    }


def cube_measures(errors: Errors) -> dict[str, Any]:
    """Of costs [B, 2] of doubles and takes: mean cost of an item in points with its standard error, the
    doubles' part of it, the mean over the takes asked for, and the shares of wrong answers."""
    of_double, of_take = errors.T
    cost = np.nansum(errors, axis=1)
    takes = of_take[~np.isnan(of_take)]
    return {
        "n": len(errors),
        "mean_cost": float(cost.mean()),
        "se": _standard_error(cost),
        "double_cost": float(of_double.mean()),
        "take_cost": float(takes.mean()) if len(takes) else 0.0,
        "wrong_double_share": float((of_double > 0).mean()),
        "wrong_take_share": float((takes > 0).mean()) if len(takes) else 0.0,
    }


_Measures = tuple[Callable[[Errors], dict[str, Any]], tuple[str, Callable[[Errors], Errors]]]

MEASURES: dict[str, _Measures] = {
    "checker": (checker_measures, ("pr", lambda errors: 500 * errors)),
    "values": (values_measures, ("mae_equity", lambda errors: np.abs(errors[:, 1]))),
    "cube": (cube_measures, ("mean_cost", lambda errors: np.nansum(errors, axis=1))),
}
"""Of each kind: its figures, and the main one with what an item costs by it."""


def _standard_error(costs: Errors) -> float | None:
    return float(costs.std(ddof=1)) / math.sqrt(len(costs)) if len(costs) > 1 else None


def _read(file: Path) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """The kind of the file, and its objects with their line numbers."""
    kind, items = "", []
    for number, line in _lines(file):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"{file}: line {number}: no JSON: {fault}") from None
        found = [KINDS[key] for key in KINDS if isinstance(item, dict) and key in item]
        if len(found) != 1 or (kind and found[0] != kind):
            wanted = f"no {kind} decision" if kind else f"no decision (none of {', '.join(KINDS)})"
            raise ValueError(f"{file}: line {number}: {wanted}: {line.strip()!r:.80}")
        kind = found[0]
        items.append((number, item))
    if not items:
        raise ValueError(f"{file}: holds no decisions")
    return kind, items


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a plain or gzip file; what cannot be read is a ValueError with its line."""
    with open(file, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        number = 0
        try:
            for number, line in enumerate(gzip.GzipFile(fileobj=raw) if packed else raw, 1):
                yield number, line.decode()
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as fault:
            where = number if isinstance(fault, UnicodeDecodeError) else number + 1
            raise ValueError(f"{file}: line {where}: {fault}") from None


def _plays(file: str | Path, items: list[tuple[int, dict[str, Any]]], truth: str) -> Plays:
    boards, rolls, rows, equities = [], [], [], []
    for number, item in items:
        try:
            boards.append(_board(item["board"]))
            rolls.append(checked_rolls(item["dice"], 1)[0])
            candidates = item["candidates"]
            rows.append(flip(checked_boards([each["board"] for each in candidates])))
            equities.append(fields.numbers([each[truth] for each in candidates], len(candidates)))
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise ValueError(f"{file}: line {number}: {_fault(fault)}") from None
    return Plays(
        boards=np.stack(boards),
        rolls=np.stack(rolls),
        rows=np.concatenate(rows),
        equities=np.concatenate(equities),
        offsets=np.concatenate([[0], np.cumsum([len(each) for each in rows])]),
        places=[f"{file}: line {number}" for number, _ in items],
    )


def _positions(file: str | Path, items: list[tuple[int, dict[str, Any]]]) -> Positions:
    boards, nested = [], []
    for number, item in items:
        try:
            boards.append(_board(item["board"]))
            nested.append(fields.chances(item["probs"]))
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise ValueError(f"{file}: line {number}: {_fault(fault)}") from None
    return Positions(boards=np.stack(boards), nested=np.stack(nested))


def _cubes(file: str | Path, items: list[tuple[int, dict[str, Any]]]) -> Cubes:
    for number, item in items:
        try:
            _board(item["board"])
            Cubes.of([item])
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise ValueError(f"{file}: line {number}: {_fault(fault)}") from None
    return Cubes.of([item for _, item in items])


def _board(numbers: Any) -> Boards:
    rows = checked_boards(numbers)
    if len(rows) != 1:
        raise ValueError(f"board: 26 numbers expected, got {len(rows)} boards")
    return rows[0]


def _fault(fault: Exception) -> str:
    return f"{fault} is missing" if isinstance(fault, KeyError) else str(fault)
