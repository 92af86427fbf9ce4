"""Asks a player many things part by part, so that progress shows, and times what they take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.decide.bots import Bot
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import Stakes


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


def warm_up(player: Bot, rules: GameRules, stakes: Stakes | None = None) -> None:
    """Have a player decide a little, so that compiling and loading are not charged to its decisions.

    A roll with several good plays makes a searching player search; plays where contact may end have a
    kernel of their own; with the stakes of one game the cube is asked about too.
    """
    others = rules.num_checkers - 1
    nearly_past = np.zeros(26, np.int8)
    nearly_past[[13, 6, 10, 19]] = 1, others, -1, -others
    for board, roll in ((rules.start_board, (2, 1)), (nearly_past, (6, 1))):
        player.choose(board[None].copy(), np.array([roll], np.int8), stakes)
    if stakes is not None:
        player.doubles(rules.start_board[None].copy(), stakes)
        player.takes(rules.start_board[None].copy(), stakes)
