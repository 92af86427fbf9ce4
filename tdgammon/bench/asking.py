"""Asks a player many things part by part, so that progress shows, and times him."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm


def in_parts(
    answer: Callable[[slice], NDArray[Any]], num_items: int, bar: tqdm
) -> tuple[NDArray[Any], float]:
    """Answers to all items, asked for in parts of about half a second, and the CPU seconds taken."""
    answers, cpu_s = [], 0.0
    first, size = 0, 8
    while first < num_items:
        start_s, before_s = time.perf_counter(), time.process_time()
        answers.append(answer(slice(first, first + size)))
        cpu_s += time.process_time() - before_s
        bar.update(len(answers[-1]))
        first += size
        if time.perf_counter() - start_s < 0.25:
            size *= 2
    return np.concatenate(answers), cpu_s
