"""Work in units: a function of what all units share and of one unit, wherever the units are done.

A unit is a few whole numbers that say which part of the work it is (an alternative and a range of
trials, a range of positions, ...), and its rows depend on nothing else. So a run has the same result
on one thread, on many, and on the machines that `learn/farm.py` reaches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Unit = tuple[int, ...]
Rows = NDArray[np.float64]
Function = Callable[[Any, Unit], Rows]
"""Rows of a unit, given what is shared; a function of a module, so that it can be sent elsewhere."""

Results = Generator[Rows, None, None]
"""Rows of units one by one; closed, it gives up what has been begun."""

AHEAD = 2
"""Units begun per worker: one being done and one that waits."""


class Runner(Protocol):
    """Something that does units."""

    def __call__(self, function: Function, shared: Any, units: Iterable[Unit]) -> Results:
        """Rows of each unit, in the order of `units`, which is read a little ahead."""


class Pool(Protocol):
    """What units are submitted to, such as an `Executor`."""

    def submit(self, function: Function, shared: Any, unit: Unit, /) -> Future[Rows]:
        """Begin a unit."""


def here(function: Function, shared: Any, units: Iterable[Unit]) -> Results:
    """The runner that does one unit after another on this thread."""
    for unit in units:
        yield function(shared, unit)


def threads(num_workers: int) -> Runner:
    """A runner on threads of this process; ValueError unless num_workers is 1 to 1024."""
    if not 1 <= num_workers <= 1024:
        raise ValueError(f"workers: 1 to 1024 expected, got {num_workers}")
    if num_workers == 1:
        return here

    def run(function: Function, shared: Any, units: Iterable[Unit]) -> Results:
        with ThreadPoolExecutor(num_workers) as pool:
            yield from in_order(pool, function, shared, units, AHEAD * num_workers)

    return run


def in_order(
    pool: Pool, function: Function, shared: Any, units: Iterable[Unit], num_ahead: int
) -> Results:
    """Rows of the units from a pool, `num_ahead` of them begun at a time."""
    begun: deque[Future[Rows]] = deque()
    try:
        for unit in units:
            begun.append(pool.submit(function, shared, unit))
            if len(begun) == num_ahead:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        for future in begun:
            future.cancel()
