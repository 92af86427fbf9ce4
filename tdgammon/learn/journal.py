"""A journal of finished units of work: a run that was killed goes on with what it had."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import numpy as np

from tdgammon.decide.units import Function, Pool, Rows, Unit

_MARK = '{"tdgammon_units": 1, '


class Memory:
    """Rows of finished units, for as long as the program runs."""

    def __init__(self) -> None:
        self.rows: dict[Unit, Rows] = {}

    def add(self, unit: Unit, rows: Rows) -> None:
        """Keep the rows of a unit."""
        self.rows[unit] = rows


class Journal:
    """Rows of finished units in a file, a line each; a line that a crash cut short is dropped.

    Opened again with the same key, it holds what was written before.
    """

    def __init__(self, path: Path, key: str) -> None:
        """Raises ValueError if the file is of another key or none of ours, and OSError."""
        self._path, self._lock = path, threading.Lock()
        self.rows: dict[Unit, Rows] = {}
        header = f'{_MARK}"key": "{hashlib.sha256(key.encode()).hexdigest()}"}}\n'.encode()
        content = path.read_bytes() if path.exists() else b""
        if not content.startswith(header) and not header.startswith(content):
            if content.startswith(_MARK.encode()):
                raise ValueError(f"{path}: keeps units of other work; remove it to begin anew")
            raise ValueError(f"{path}: is a file of something else than finished units")
        whole = [line for line in content.splitlines(keepends=True) if line.endswith(b"\n")]
        for number, line in enumerate(whole[1:], start=2):
            try:
                unit, rows = _unit_of(line)
            except (ValueError, LookupError, TypeError):
                raise ValueError(f"{path}: line {number} is no finished unit: {line[:60]!r}") from None
            self.rows[unit] = rows
        self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
        self._file.truncate(sum(map(len, whole)))
        self._file.seek(0, os.SEEK_END)
        if not whole:
            self._append(header)

    def close(self) -> None:
        """Keep nothing more."""
        with self._lock:
            self._file.close()

    def add(self, unit: Unit, rows: Rows) -> None:
        """Keep the rows of a unit, once."""
        with self._lock:
            if unit in self.rows or self._file.closed:
                return
            self.rows[unit] = rows
            data = base64.b64encode(np.ascontiguousarray(rows, "<f8").tobytes()).decode()
            line = json.dumps({"unit": unit, "shape": rows.shape, "rows": data})
            self._append(line.encode() + b"\n")

    def _append(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()


def _unit_of(line: bytes) -> tuple[Unit, Rows]:
    content = json.loads(line)
    rows = np.frombuffer(base64.b64decode(content["rows"]), "<f8").astype(np.float64)
    return tuple(content["unit"]), rows.reshape(content["shape"])


class Recorded:
    """A pool that asks a journal first and has it keep what is finished."""

    def __init__(self, pool: Pool, journal: Journal | Memory) -> None:
        self._pool, self._journal = pool, journal
        self._fault: BaseException | None = None

    def submit(self, function: Function, shared: object, unit: Unit, /) -> Future[Rows]:
        """Begin a unit that the journal lacks."""
        self.check()
        known = self._journal.rows.get(unit)
        if known is not None:
            future: Future[Rows] = Future()
            future.set_result(known)
            return future
        future = self._pool.submit(function, shared, unit)
        future.add_done_callback(partial(self._keep, unit))
        return future

    def check(self) -> None:
        """Raise what went wrong while a unit was written."""
        if self._fault is not None:
            raise self._fault

    def _keep(self, unit: Unit, future: Future[Rows]) -> None:
        if future.cancelled() or future.exception() is not None:
            return  # who asked for the unit hears of it
        try:
            self._journal.add(unit, future.result())
        except OSError as fault:
            self._fault = fault
