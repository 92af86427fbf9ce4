"""The run folder: resumable state in one file, and a log of JSON lines.

runs/NAME/state.safetensors     everything needed to go on exactly; replaced in one step
runs/NAME/log.jsonl             one JSON object a line
runs/NAME/events.out.tfevents*  the same for TensorBoard
runs/NAME/checkpoint/           the averaged network, ready to bench and play
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from tdgammon.value.checkpoint import CheckpointError, replace_file

FORMAT = 1
STATE, LOG = "state.safetensors", "log.jsonl"

Arrays = dict[str, NDArray[Any]]


def save_state(folder: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write the resumable state: arrays by name and JSON `facts`. OSError leaves the last one."""
    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"format": str(FORMAT), "facts": json.dumps(facts), "sha256": _digest(kept)}
    replace_file(folder / STATE, safetensors.numpy.save(kept, metadata))


def load_state(folder: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts that `save_state` wrote.

    CheckpointError if they are missing, damaged or of another format.
    """
    path = folder / STATE
    if not path.is_file():
        raise CheckpointError(f"no run to resume in {str(folder)!r}: {STATE} is missing")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("format") != str(FORMAT):
            raise CheckpointError(
                f"{str(path)!r}: format {metadata.get('format')}, this version reads {FORMAT}"
            )
        if metadata["sha256"] != _digest(arrays):
            raise CheckpointError(f"{str(path)!r} is damaged: its SHA-256 does not fit")
        return arrays, json.loads(metadata["facts"])
    except (safetensors.SafetensorError, KeyError, json.JSONDecodeError) as fault:
        raise CheckpointError(f"{str(path)!r} is damaged: {fault}") from None


def append_log(folder: Path, record: Mapping[str, Any]) -> None:
    """Add one line to the log."""
    with open(folder / LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Records of the log, oldest first; a last line that a crash cut off is left out."""
    path = folder / LOG
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    records = [json.loads(line) for line in lines[:-1] if line]
    if lines[-1]:
        with contextlib.suppress(json.JSONDecodeError):  # it was being written
            records.append(json.loads(lines[-1]))
    return records


def cut_log(folder: Path, games: int) -> None:
    """Drop what was logged after `games`, so that a resumed run does not log it twice."""
    kept = [record for record in read_log(folder) if record["games"] <= games]
    text = "".join(json.dumps(record) + "\n" for record in kept)
    replace_file(folder / LOG, text.encode())


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
