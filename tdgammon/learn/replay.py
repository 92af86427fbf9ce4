"""The replay buffer: exact targets that are kept to be learnt from again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Boards
from tdgammon.value.outcome import NUM_OUTCOMES


class ReplayBuffer:
    """The last `size` boards with their targets; a new one takes the place of the oldest."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._boards = np.empty((0, 26), np.int8)
        self._targets = np.empty((0, NUM_OUTCOMES), np.float32)
        self._next = 0

    def __len__(self) -> int:
        return len(self._boards)

    def add(self, boards: Boards, targets: NDArray[np.float32]) -> None:
        """Keep boards [N, 26] with targets [N, 6], of which the last `size` if there are more."""
        boards, targets = boards[-self._size :], targets[-self._size :]
        room = min(len(boards), self._size - len(self))
        if room:
            self._boards = np.concatenate([self._boards, boards[:room]])
            self._targets = np.concatenate([self._targets, targets[:room]])
        slots = (self._next + np.arange(len(boards) - room)) % self._size
        self._boards[slots], self._targets[slots] = boards[room:], targets[room:]
        self._next = (self._next + len(slots)) % self._size

    def draw(self, num_rows: int, generator: np.random.Generator) -> tuple[Boards, NDArray[np.float32]]:
        """Boards [N, 26] and targets [N, 6] at random, with replacement; none from an empty buffer."""
        rows = generator.integers(0, max(1, len(self)), num_rows if len(self) else 0)
        return self._boards[rows], self._targets[rows]

    def state(self) -> dict[str, NDArray[Any]]:
        """All that `load_state` needs to go on exactly as from here, by name."""
        return {
            "replay.boards": self._boards,
            "replay.targets": self._targets,
            "replay.next": np.array(self._next),
        }

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up `state`; of more than `size` the oldest are left out. KeyError if one is missing."""
        boards, targets = arrays["replay.boards"], arrays["replay.targets"]
        self._next = int(arrays["replay.next"])
        if len(boards) != self._size:  # of a buffer of another size, or not full: the oldest first
            order = np.roll(np.arange(len(boards)), -self._next)[-self._size :]
            boards, targets, self._next = boards[order], targets[order], 0
        self._boards, self._targets = np.array(boards), np.array(targets)
