"""Units of work on the machines of a Ray cluster, on processes or on threads, and a journal of them.

Units (`decide/units.py`) have rows that depend on nothing but what they share and their numbers, so it
does not matter where or how often one is done. Ray does a unit again if its worker or node is lost;
each is counted once, when its rows arrive. A journal keeps the rows of every unit that is finished, so
that a run that was killed goes on with what it had.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
import logging
import os
import pickle
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tdgammon.decide.units import AHEAD, Function, Pool, Results, Rows, Runner, Unit, in_order, threads

MOST_WORKERS = 1024


def runner(
    workers: int | None = None,
    ray_address: str | None = None,
    journal: Path | None = None,
    key: str = "",
    *,
    use_processes: bool = False,
) -> Runner:
    """A runner on threads of this process, on processes of this machine, or on a Ray cluster.

    workers None = one, or on Ray as many as the cluster has CPUs. `ray_address` is that of a running
    cluster, as `ray.init` takes it; the package must be installed on its nodes. `journal` is a file
    that keeps finished units until the caller removes it, and `key` says of what work they are. Raises
    ValueError for a bad number of workers, without Ray, and for a journal of other work.
    """
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers: 1 to {MOST_WORKERS} expected, got {workers}")
    if ray_address is not None and importlib.util.find_spec("ray") is None:
        raise ValueError("--ray: Ray is not installed: pip install 'tdgammon[ray]'")
    if ray_address is None and not use_processes and journal is None:
        return threads(workers or 1)

    def run(function: Function, shared: Any, units: Iterable[Unit]) -> Results:
        kept = None if journal is None else Journal(journal, key)
        with closing(kept) if kept else nullcontext():  # after the pool, whose last units it keeps
            with _pool(workers, ray_address, use_processes) as (pool, num_workers):
                recorded = _Recorded(pool, kept) if kept else None
                yield from in_order(recorded or pool, function, shared, units, AHEAD * num_workers)
            if recorded:
                recorded.check()

    return run


@contextmanager
def _pool(
    workers: int | None, ray_address: str | None, use_processes: bool
) -> Generator[tuple[Pool, int], None, None]:
    if ray_address is not None:
        with _ray_pool(workers, ray_address) as found:
            yield found
    elif use_processes:
        with ProcessPoolExecutor(workers or 1, get_context("spawn")) as processes:
            yield _Sending(processes.submit), workers or 1
    else:
        with ThreadPoolExecutor(workers or 1) as pool:
            yield pool, workers or 1


class Journal:
    """Rows of finished units in a file, a line each; a line that a crash cut short is dropped.

    Opened again with the same key, it holds what was written before.
    """

    def __init__(self, path: Path, key: str) -> None:
        """Raises ValueError if the file is of another key, and OSError."""
        self._path, self._lock = path, threading.Lock()
        self.rows: dict[Unit, Rows] = {}
        header = json.dumps({"tdgammon_units": 1, "key": hashlib.sha256(key.encode()).hexdigest()})
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith(b"\n")]
        if whole and whole[0].decode(errors="replace").rstrip("\n") != header:
            raise ValueError(f"{path}: keeps units of other work; remove it to begin anew")
        for line in whole[1:]:
            unit, rows = _unit_of(line)
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
            self._append(json.dumps({"unit": unit, "shape": rows.shape, "rows": data}))

    def _append(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()


def _unit_of(line: bytes) -> tuple[Unit, Rows]:
    content = json.loads(line)
    rows = np.frombuffer(base64.b64decode(content["rows"]), "<f8").astype(np.float64)
    return tuple(content["unit"]), rows.reshape(content["shape"])


class _Recorded:
    """A pool that asks a journal first and has it keep what is finished."""

    def __init__(self, pool: Pool, journal: Journal) -> None:
        self._pool, self._journal = pool, journal
        self._fault: BaseException | None = None

    def submit(self, function: Function, shared: Any, unit: Unit, /) -> Future[Rows]:
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


class _Sending:
    """A pool elsewhere: what is shared is pickled once and sent to each worker that asks for it."""

    def __init__(self, submit: Callable[..., Future[Rows]]) -> None:
        self._submit = submit
        self._sent: tuple[Any, Any, bytes] | None = None

    def submit(self, function: Function, shared: Any, unit: Unit, /) -> Future[Rows]:
        if self._sent is None or self._sent[0] is not shared:
            data = pickle.dumps(shared)
            self._sent = shared, self._put(data), hashlib.sha256(data).digest()
        return self._submit(_do, *self._sent[1:], function, unit)

    def _put(self, data: bytes) -> Any:
        return data


_unpacked: dict[bytes, Any] = {}


def _do(data: bytes, digest: bytes, function: Function, unit: Unit) -> Rows:
    """One unit, on a worker, which unpickles what is shared once: arrays of a Ray store cannot be
    written to, and kernels would be compiled anew for them."""
    if digest not in _unpacked:
        _unpacked.clear()
        _unpacked[digest] = pickle.loads(data)
    return function(_unpacked[digest], unit)


@contextmanager
def connected(ray_address: str | None) -> Generator[None, None, None]:
    """Stay connected to a cluster, for runners that are asked again and again; None = nothing to do.

    ValueError without Ray, or if no cluster is found there.
    """
    if ray_address is None:
        yield
        return
    if importlib.util.find_spec("ray") is None:
        raise ValueError("--ray: Ray is not installed: pip install 'tdgammon[ray]'")
    ray: Any = importlib.import_module("ray")
    started = not ray.is_initialized()
    if started:
        try:
            ray.init(address=ray_address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as fault:
            raise ValueError(f"--ray: no cluster at {ray_address!r}: {fault}") from None
    try:
        yield
    finally:
        if started:
            ray.shutdown()


@contextmanager
def _ray_pool(workers: int | None, address: str) -> Generator[tuple[Pool, int], None, None]:
    ray: Any = importlib.import_module("ray")
    # a lost worker or node is no fault of the unit: it is done again, as often as it takes
    task = ray.remote(num_cpus=1, max_retries=-1)(_do)

    class RayPool(_Sending):
        def _put(self, data: bytes) -> Any:
            return ray.put(data)

    def submit(_: object, *arguments: Any) -> Future[Rows]:
        future: Future[Rows] = task.remote(*arguments).future()
        future.set_running_or_notify_cancel()  # it cannot be cancelled: Ray will set its result
        return future

    with connected(address):
        num_workers = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        yield RayPool(submit), num_workers
