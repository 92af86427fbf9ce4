"""Checkpoints: a folder with weights (safetensors) and a document that says what they are.

`checkpoint.json` holds a format number, the architecture, the resolved config, commit, games seen,
versions, the SHA-256 of the weights, bench results, and a few positions with the probabilities the
weights must give. Loading checks all of it that can be checked and executes nothing from the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS, off_counts, parse
from tdgammon.game.rules import GameRules
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture, Weights, check_weights

FORMAT = 1
DOCUMENT = "checkpoint.json"
RUN_CHECKPOINT = "checkpoint"
"""The checkpoint's folder inside a run folder."""
LIGHT = "light"
"""The folder of a faster network inside a checkpoint's."""
_PACKAGE = Path(__file__).resolve().parent.parent
_SHELVES = (_PACKAGE / "checkpoints", _PACKAGE.parent / "checkpoints")
_TOLERANCE = 1e-4
_FRESH = ".new"  # ends the name of a file that is not in place yet

_EXAMPLES = (
    "start",
    "bar:1 22:1 13:4 8:3 6:4 4:2 / 24:2 18:1 12:5 17:3 19:4",
    "6:3 5:3 4:3 3:3 2:2 1:1 / 19:2 20:3 21:3 22:3 23:2 24:2",
    "8:1 6:3 5:3 4:3 3:3 / bar:2 19:5 20:4 18:2",
    "3:1 1:1 / 24:2",
    "24:1 23:1 22:1 / 1:1 2:1 3:1",
)
"""Positions of every kind whose probabilities a checkpoint records."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or does not fit."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint as read from disk and checked."""

    name: str
    path: Path
    architecture: Architecture
    weights: Weights
    sha256: str
    """Of the weights file."""
    document: Mapping[str, Any]
    """All of `checkpoint.json`."""

    def evaluator(self, rules: GameRules | None = None) -> NetworkEvaluator:
        """Plays and evaluates with these weights, by `rules` (None = standard), races from tables.

        A game with a last roll (R25) is not what the tables are of: there the network answers alone.
        """
        by_table = rules is None or not rules.last_roll_draw
        light = self.light
        return NetworkEvaluator(
            self.architecture,
            self.weights,
            rules,
            by_table,
            light.evaluator(rules) if light else None,
        )

    @property
    def light(self) -> Checkpoint | None:
        """The faster network in the folder `light` of this one's, or None if there is no such folder.

        CheckpointError if it is not sound or plays another game.
        """
        folder = self.path / LIGHT
        if not os.path.lexists(folder):
            return None
        if not (folder / DOCUMENT).is_file():
            raise CheckpointError(f"checkpoint {str(folder)!r}: {DOCUMENT} is missing")
        light = read(folder)
        have, wanted = light.architecture.num_checkers, self.architecture.num_checkers
        if have != wanted:
            raise CheckpointError(
                f"checkpoint {str(folder)!r}: plays with {have} checkers a side, "
                f"{str(self.path)!r} with {wanted}"
            )
        return light


def available() -> list[str]:
    """Names of the checkpoints that come with the package."""
    return sorted({folder.parent.name for shelf in _SHELVES for folder in shelf.glob(f"*/{DOCUMENT}")})


def find(name_or_path: str | Path) -> Path:
    """Folder of a shipped checkpoint's name, a path or a run; CheckpointError if there is none."""
    text = str(name_or_path)
    path = Path(text)
    if path.name == DOCUMENT:
        path = path.parent
    shelved = [] if os.sep in text else [shelf / text for shelf in _SHELVES]
    for folder in (*shelved, path, path / RUN_CHECKPOINT):
        if os.path.isfile(folder / DOCUMENT):  # Path.is_file raises for a name that is too long
            return folder
    shipped = ", ".join(available()) or "none"
    raise CheckpointError(f"no checkpoint {text!r} (shipped: {shipped}; or a folder with {DOCUMENT})")


def read(name_or_path: str | Path = "default") -> Checkpoint:
    """The checkpoint, with its weights checked against the document; CheckpointError if not sound."""
    path = find(name_or_path)
    document, data = _read_files(path)
    file = document["weights"]
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != document["sha256"]:
        raise CheckpointError(
            f"checkpoint {str(path)!r}: {file} is damaged: SHA-256 {sha256[:12]}..., "
            f"the document says {str(document['sha256'])[:12]}..."
        )
    architecture = _architecture(path, document["architecture"])
    try:
        weights = {name: _full(weight) for name, weight in safetensors.numpy.load(data).items()}
        check_weights(architecture, weights)
    except (safetensors.SafetensorError, ValueError) as fault:
        raise CheckpointError(f"checkpoint {str(path)!r}: {fault}") from None
    return Checkpoint(
        name=_name(path.resolve()),
        path=path,
        architecture=architecture,
        weights=weights,
        sha256=sha256,
        document=document,
    )


def _full(weight: NDArray[Any]) -> NDArray[Any]:
    return weight.astype(np.float32) if weight.dtype == np.float16 else weight


def _name(path: Path) -> str:
    """A checkpoint is called after its folder, that of a run after the run."""
    return path.parent.name if path.name == RUN_CHECKPOINT else path.name


def verify(name_or_path: str | Path = "default") -> Checkpoint:
    """As `read`, and the weights must give the probabilities that the document records."""
    checkpoint = read(name_or_path)
    light = checkpoint.light
    if light:
        verify(light.path)
    evaluator = NetworkEvaluator(checkpoint.architecture, checkpoint.weights)
    if not checkpoint.document["examples"]:
        raise CheckpointError(
            f"checkpoint {str(checkpoint.path)!r}: there are no examples to verify it by"
        )
    for example in checkpoint.document["examples"]:
        try:
            got = evaluator.probabilities(parse(str(example["board"])))[0]
            wanted = np.array(example["probabilities"], np.float32)
        except (KeyError, TypeError, ValueError) as fault:
            raise CheckpointError(
                f"checkpoint {str(checkpoint.path)!r}: example {example!r:.200}: {fault!r}"
            ) from None
        if wanted.shape != got.shape or not np.abs(got - wanted).max() <= _TOLERANCE:
            raise CheckpointError(
                f"checkpoint {str(checkpoint.path)!r}: {example['board']!r} gives {got.tolist()}, "
                f"the document says {example['probabilities']}"
            )
    return checkpoint


def load_evaluator(name_or_path: str | Path = "default") -> NetworkEvaluator:
    """Evaluator of a checkpoint by name or folder; CheckpointError if it is missing or not sound."""
    return read(name_or_path).evaluator()


def write(
    path: Path,
    architecture: Architecture,
    weights: Weights,
    *,
    games: int,
    config: Mapping[str, Any],
    bench: Sequence[Mapping[str, Any]],
    commit: str | None,
    half: bool = False,
) -> str:
    """Write a checkpoint folder and give the SHA-256 of its weights.

    `half` rounds them to float16, for a file of half the size. ValueError if one is too large for that.

    The weights' file is named after its contents and the document that names it is replaced last, in
    one step: a crash or a full disk at any moment leaves the checkpoint that was there before.
    """
    check_weights(architecture, weights)
    precision = np.float16 if half else np.float32
    with np.errstate(over="ignore"):
        kept = {name: np.ascontiguousarray(value, precision) for name, value in weights.items()}
    evaluator = NetworkEvaluator(architecture, {name: _full(value) for name, value in kept.items()})
    data = safetensors.numpy.save(kept)
    sha256 = hashlib.sha256(data).hexdigest()
    document: dict[str, Any] = {
        "format": FORMAT,
        "architecture": {**asdict(architecture), "hidden": list(architecture.hidden)},
        "weights": f"weights-{sha256[:12]}.safetensors",
        "sha256": sha256,
        "games": games,
        "commit": commit,
        "versions": _versions(),
        "config": config,
        "bench": list(bench),
        "examples": [
            {
                "board": board,
                "probabilities": [round(float(p), 6) for p in evaluator.probabilities(parse(board))[0]],
            }
            for board in _EXAMPLES
            if np.abs(off_counts(parse(board)[None])).min() >= NUM_CHECKERS - architecture.num_checkers
        ],
    }
    path.mkdir(parents=True, exist_ok=True)
    replace_file(path / document["weights"], data)
    replace_file(path / DOCUMENT, (json.dumps(document, indent=1) + "\n").encode())
    for old in (*path.glob("weights-*.safetensors"), *path.glob(f".weights-*{_FRESH}")):
        if old.name != document["weights"]:
            old.unlink(missing_ok=True)
    return sha256


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place in one step, on disk before it appears; OSError leaves the old one."""
    fresh = path.with_name(f".{path.name}{_FRESH}")
    try:
        with naming(path):
            with open(fresh, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Lets an OSError that comes through say which file it is about; one of writing does not know."""
    try:
        yield
    except OSError as fault:
        fault.filename, fault.filename2 = str(path), None
        raise


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"python": platform.python_version()} | {n: version(n) for n in ("numpy", "numba", "torch")}


def _read_files(path: Path) -> tuple[dict[str, Any], bytes]:
    """The document and the weights it names; read again if a run has replaced both in between."""
    document = _read_document(path / DOCUMENT)
    while True:
        file = document["weights"]
        if Path(file).name != file:
            raise CheckpointError(
                f"checkpoint {str(path)!r}: weights must lie in its folder, got {file!r}"
            )
        try:
            return document, (path / file).read_bytes()
        except FileNotFoundError:
            before, document = document, _read_document(path / DOCUMENT)
            if document == before:
                raise CheckpointError(f"checkpoint {str(path)!r}: {file} is missing") from None
        except (OSError, ValueError) as fault:
            raise CheckpointError(
                f"checkpoint {str(path)!r}: weights {file!r} cannot be read: {fault}"
            ) from None


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise CheckpointError(f"checkpoint document {str(path)!r} cannot be read: {fault}") from None
    wanted = {
        "format": int,
        "architecture": dict,
        "weights": str,
        "sha256": str,
        "games": int,
        "versions": dict,
        "config": dict,
        "bench": list,
        "examples": list,
    }
    for key, kind in wanted.items():
        if not isinstance(document, dict) or type(document.get(key)) is not kind:
            raise CheckpointError(
                f"checkpoint document {str(path)!r}: {key!r} is missing or no {kind.__name__}"
            )
    if document["format"] != FORMAT:
        raise CheckpointError(
            f"checkpoint document {str(path)!r}: format {document['format']}, "
            f"this version reads {FORMAT}"
        )
    return document


def _architecture(path: Path, fields: Mapping[str, Any]) -> Architecture:
    try:
        return Architecture(**{**fields, "hidden": tuple(fields.get("hidden", ()))})
    except (TypeError, ValueError) as fault:
        raise CheckpointError(
            f"checkpoint {str(path)!r}: architecture {dict(fields)}: {fault}"
        ) from None
