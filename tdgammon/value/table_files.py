"""Files of tables in the user's cache folder: built once, whole or not at all, checked when read.

Arrays lie behind a header of JSON and are mapped into memory; a checksum tells a damaged file. Several
processes may want the same table at once: one builds it, the others wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import mmap
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 4
"""Of the files; it rises whenever the numbers in them change."""

_MAGIC = b"tdgammon bearoff"
_HEAD = struct.Struct("<16s32sq")  # magic, SHA-256 of all that follows it, length of the header
_ALIGN = 64

Arrays = Mapping[str, NDArray[Any]]


def folder() -> Path:
    """Where tables are kept: a folder of the user's cache (XDG_CACHE_HOME or ~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "tdgammon" / f"bearoff-{FORMAT}"


def file(name: str) -> Path:
    """Path of a table's file, there or not."""
    return folder() / f"{name}.table"


def kept(name: str, size: int, build: Callable[[], Arrays]) -> Arrays:
    """The arrays of a table: from its file if that is sound, else built, and kept if that can be."""
    path = file(name)
    try:
        return _read(path)
    except (OSError, ValueError):
        pass  # there is none, or what is wrong with it is said below, by the process that mends it
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            found = _read_or_say(path)  # another process may have built it meanwhile
            if found is not None:
                return found
            _say(f"building the bear-off table {name} ({size / 1e6:,.0f} MB) in {path.parent}")
            arrays = build()
            try:
                _write(path, arrays)
                return _read(path)
            except OSError as fault:
                _say(f"bear-off table {name} is kept in memory only: {path.parent}: {fault.strerror}")
    except OSError as fault:
        _say(f"bear-off table {name} is built in memory only: {path.parent}: {fault.strerror}")
        arrays = build()
    for array in arrays.values():
        array.setflags(write=False)
    return arrays


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Only one process at a time builds a file; the system frees the lock of one that is killed."""
    with open(path.with_suffix(".lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in path.parent.glob(f".{path.name}.*"):  # by one that was killed
            left.unlink(missing_ok=True)
        yield


def _say(message: str) -> None:
    print(f"tdgammon: {message}", file=sys.stderr)


def _write(path: Path, arrays: Arrays) -> None:
    """Write a table so that it appears whole or not at all."""
    entries, at = {}, 0
    for name, array in arrays.items():
        entries[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "at": at}
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    header = json.dumps({"format": FORMAT, "name": path.stem, "size": at, "arrays": entries}).encode()
    header += b" " * (-(_HEAD.size + len(header)) % _ALIGN)
    digest = hashlib.sha256(header)
    handle, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(b"\0" * _HEAD.size)
            file.write(header)
            for array in arrays.values():
                bytes_ = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
                for piece in (bytes_.data, b"\0" * (-array.nbytes % _ALIGN)):
                    digest.update(piece)
                    file.write(piece)
            file.seek(0)
            file.write(_HEAD.pack(_MAGIC, digest.digest(), len(header)))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(fresh, 0o644)
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise


def _read_or_say(path: Path) -> Arrays | None:
    """The arrays of a file, or None if there is none or, with a message, if it is damaged."""
    try:
        return _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as fault:
        _say(f"bear-off table {path} is of no use ({fault}): it is built again")
        return None


def _read(path: Path) -> Arrays:
    """The arrays of a table's file, mapped into memory; ValueError if it is not sound."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD.size:
            raise ValueError("it is cut short")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    magic, digest, length = _HEAD.unpack(data[: _HEAD.size])
    if magic != _MAGIC:
        raise ValueError("it is no bear-off table")
    if hashlib.sha256(memoryview(data)[_HEAD.size :]).digest() != digest:
        raise ValueError("its checksum is wrong")
    header = json.loads(data[_HEAD.size : _HEAD.size + length])
    if header["format"] != FORMAT or header["name"] != path.stem:
        raise ValueError(f"it is {header['name']} in format {header['format']}")
    arrays = {}
    for name, entry in header["arrays"].items():
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        at = _HEAD.size + length + entry["at"]
        arrays[name] = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
    return arrays
