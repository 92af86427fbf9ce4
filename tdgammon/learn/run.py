"""The run folder: resumable state in one file, and a log of JSON lines.

runs/NAME/state.safetensors     everything needed to go on exactly; replaced in one step
runs/NAME/log.jsonl             one JSON object a line
runs/NAME/events.out.tfevents*  the same for TensorBoard
runs/NAME/checkpoint/           the averaged network, ready to bench and play
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from tdgammon.value.checkpoint import CheckpointError, naming, replace_file

FORMAT = 1
STATE, LOG = "state.safetensors", "log.jsonl"

Arrays = dict[str, NDArray[Any]]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the folder to one process; ValueError if another has it. A process that dies lets go."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{str(folder)!r} is in use by another run") from None
        yield
    finally:
        os.close(handle)


def save_state(folder: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write the resumable state: arrays by name and JSON `facts`. OSError leaves the last one."""
    kept = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(facts)
    metadata = {"format": str(FORMAT), "facts": text, "sha256": _digest(kept, text)}
    replace_file(folder / STATE, safetensors.numpy.save(kept, metadata))


def load_state(folder: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts that `save_state` wrote.

    CheckpointError if they are missing, damaged or of another format.
    """
    path = folder / STATE
    if not os.path.isfile(path):
        raise CheckpointError(f"no run to resume in {str(folder)!r}: {STATE} is missing")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("format") != str(FORMAT):
            raise CheckpointError(
                f"{str(path)!r}: format {metadata.get('format')}, this version reads {FORMAT}"
            )
        if metadata["sha256"] != _digest(arrays, metadata["facts"]):
            raise CheckpointError(f"{str(path)!r} is damaged: its SHA-256 does not fit")
        return arrays, json.loads(metadata["facts"])
    except (safetensors.SafetensorError, KeyError) as fault:
        raise CheckpointError(f"{str(path)!r} is damaged: {fault}") from None


def append_log(folder: Path, record: Mapping[str, Any]) -> None:
    """Add one line to the log."""
    with naming(folder / LOG), open(folder / LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Records of the log, oldest first; a last line that a crash cut off is left out.

    ValueError naming any other line that is no record.
    """
    path = folder / LOG
    if not path.is_file():
        return []
    *lines, rest = path.read_bytes().split(b"\n")
    records = []
    for number, line in enumerate(lines, 1):
        record = _record(line)
        if record is None:
            raise ValueError(f"{str(path)!r}: line {number} is no record of a run: {line[:80]!r}")
        records.append(record)
    unfinished = _record(rest)
    return records if unfinished is None else [*records, unfinished]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and type(record.get("games")) is int else None


def cut_log(folder: Path, games: int) -> None:
    """Drop what was logged after `games`, so that a resumed run does not log it twice."""
    kept = [record for record in read_log(folder) if record["games"] <= games]
    text = "".join(json.dumps(record) + "\n" for record in kept)
    replace_file(folder / LOG, text.encode())


def _digest(arrays: Mapping[str, NDArray[Any]], facts: str) -> str:
    digest = hashlib.sha256(facts.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
