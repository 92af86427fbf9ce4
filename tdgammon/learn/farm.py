"""Units of work on the machines of a Ray cluster, on processes or on threads.

Units (`decide/units.py`) have rows that depend on nothing but what they share and their numbers, so it
does not matter where or how often one is done. A unit whose worker or node is lost is done again; each
is counted once, when its rows arrive. What is finished outlives the run in a journal (`journal.py`).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from tdgammon.decide.units import AHEAD, Function, Pool, Results, Rows, Runner, Unit, in_order, threads
from tdgammon.learn.journal import Journal, Memory, Recorded

MOST_WORKERS = 1024

_MOST_LOST = 3
"""Times in a row that processes may die before any result comes."""


def runner(
    workers: int | None = None,
    ray_address: str | None = None,
    journal: Path | None = None,
    key: str | Callable[[Any], str] = "",
    *,
    use_processes: bool = False,
) -> Runner:
    """A runner on threads of this process, on processes of this machine, or on a Ray cluster.

    workers None = one, or on Ray as many as the cluster has CPUs. `ray_address` is that of a running
    cluster, as `ray.init` takes it; the package must be installed on its nodes. `journal` is a file
    that keeps finished units until the caller removes it, and `key` says of what work they are, or how
    to tell from what they share. Raises ValueError for a bad number of workers and without Ray; run, it
    raises ValueError for a journal of other work and for what cannot be sent to a worker, and
    ChildProcessError if processes die again and again.
    """
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers: 1 to {MOST_WORKERS} expected, got {workers}")
    if ray_address is not None and importlib.util.find_spec("ray") is None:
        raise ValueError("--ray: Ray is not installed: pip install 'tdgammon[ray]'")
    if ray_address is None and not use_processes and journal is None:
        return threads(workers or 1)

    def run(function: Function, shared: Any, units: Iterable[Unit]) -> Results:
        kept = None
        if journal is not None:
            kept = Journal(journal, key if isinstance(key, str) else key(shared))
        with closing(kept) if kept else nullcontext():  # after the pool, whose last units it keeps
            if ray_address is None and use_processes:
                yield from _on_processes(workers or 1, kept or Memory(), function, shared, units)
                return
            with _pool(workers, ray_address) as (pool, num_workers):
                recorded = Recorded(pool, kept) if kept else None
                yield from in_order(recorded or pool, function, shared, units, AHEAD * num_workers)
            if recorded:
                recorded.check()

    return run


@contextmanager
def _pool(workers: int | None, ray_address: str | None) -> Generator[tuple[Pool, int], None, None]:
    if ray_address is not None:
        with _ray_pool(workers, ray_address) as found:
            yield found
    else:
        with ThreadPoolExecutor(workers or 1) as pool:
            yield pool, workers or 1


def _on_processes(
    num_workers: int, kept: Journal | Memory, function: Function, shared: Any, units: Iterable[Unit]
) -> Results:
    """Rows of the units in order; where a process dies, new ones do what was not finished."""
    begun: deque[Unit] = deque()
    unread = _noted(units, begun)
    waiting: Iterator[Unit] = unread
    num_lost = 0
    context = multiprocessing.get_context("spawn")
    while True:
        try:
            with ProcessPoolExecutor(num_workers, context, _begin_process) as processes:
                recorded = Recorded(_Sending(processes.submit), kept)
                for rows in in_order(recorded, function, shared, waiting, AHEAD * num_workers):
                    num_lost = 0
                    unit = begun.popleft()
                    if isinstance(kept, Memory):
                        kept.rows.pop(unit, None)
                    yield rows
            recorded.check()
            return
        except BrokenProcessPool:
            num_lost += 1
            if num_lost == _MOST_LOST:
                raise ChildProcessError(
                    f"processes died {num_lost} times in units from {begun[0]} on (out of memory?)"
                ) from None
            waiting = chain(tuple(begun), unread)


def _noted(units: Iterable[Unit], begun: deque[Unit]) -> Iterator[Unit]:
    for unit in units:
        begun.append(unit)
        yield unit


def _begin_process() -> None:
    """Have Ctrl-C end a worker without a word, and the end of its parent too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Sending:
    """A pool elsewhere: what is shared is pickled once and sent to each worker that asks for it."""

    def __init__(self, submit: Callable[..., Future[Rows]]) -> None:
        self._submit = submit
        self._sent: tuple[Any, Any, bytes] | None = None

    def submit(self, function: Function, shared: Any, unit: Unit, /) -> Future[Rows]:
        if self._sent is None or self._sent[0] is not shared:
            data = _pickled(shared)
            self._sent = shared, self._put(data), hashlib.sha256(data).digest()
        return self._submit(_do, *self._sent[1:], function, unit)

    def _put(self, data: bytes) -> Any:
        return data


def _pickled(shared: Any) -> bytes:
    try:
        return pickle.dumps(shared)
    except (pickle.PicklingError, AttributeError, TypeError) as fault:
        raise ValueError(f"workers cannot be sent what they need: {fault}") from fault


_unpacked: dict[bytes, Any] = {}


def _do(data: bytes, digest: bytes, function: Function, unit: Unit) -> Rows:
    """One unit, on a worker, which unpickles what is shared once: arrays of a Ray store cannot be
    written to, and kernels would be compiled anew for them."""
    if digest not in _unpacked:
        _unpacked.clear()
        try:
            _unpacked[digest] = pickle.loads(data)
        except (ImportError, AttributeError) as fault:
            raise ValueError(f"a worker lacks what it needs: {fault}") from fault
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
        _check_reachable(ray_address)
        try:
            ray.init(address=ray_address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as fault:
            raise ValueError(f"--ray: no cluster at {ray_address!r}: {fault}") from None
    try:
        yield
    finally:
        if started:
            ray.shutdown()


def _check_reachable(ray_address: str) -> None:
    """ValueError if nobody answers at HOST:PORT, where Ray would try for ever."""
    host, _, port = ray_address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return  # `auto` and the like: Ray says itself what it does not find
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as fault:
        raise ValueError(f"--ray: no cluster at {ray_address!r}: {fault}") from None


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
        try:
            yield RayPool(submit), num_workers
        except ray.exceptions.RayTaskError as fault:
            raise fault.cause from fault  # as without Ray
