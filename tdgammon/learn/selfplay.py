"""Self-play: games of a network against itself, on as many threads as wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Boards
from tdgammon.game.dice import rolls_at, streams
from tdgammon.kernels import selfplay
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import NUM_OUTCOMES

BLOCK_GAMES = 16
"""Games a thread plays at a time."""


@dataclass(frozen=True)
class Games:
    """Finished games laid end to end; a game's last row is its final position."""

    boards: Boards
    """int8 [N, 26], player on roll, before the roll."""
    probabilities: NDArray[np.float32]
    """[N, 6]: the network's value of each board, exact in a game's last row; 0 in its first."""
    lengths: NDArray[np.int32]
    """Rows of each game, [G]."""
    num_dropped: int = 0
    """Games that were broken off because they took too many turns; not among the rows."""

    @property
    def num_games(self) -> int:
        """Finished games."""
        return len(self.lengths)

    @property
    def last_rows(self) -> NDArray[np.int64]:
        """Index of each game's final position, [G]."""
        return np.cumsum(self.lengths, dtype=np.int64) - 1

    @property
    def goes_on(self) -> NDArray[np.bool_]:
        """[N]: the row is not its game's final position."""
        rows = np.ones(len(self.boards), np.bool_)
        rows[self.last_rows] = False
        return rows


def play_block(evaluator: NetworkEvaluator, keys: NDArray[np.uint64], max_turns: int) -> Games:
    """One game for each dice stream; rules and choice are those of `evaluator.choose`."""
    if evaluator.rules.caucasian:
        return _play_in_lockstep(evaluator, keys, max_turns)
    capacity = len(keys) * (max_turns + 2)
    boards = np.empty((capacity, 26), np.int8)
    probabilities = np.empty((capacity, NUM_OUTCOMES), np.float32)
    lengths = np.empty(len(keys), np.int32)
    used = selfplay.play_games(
        evaluator.rules.start_board,
        keys,
        evaluator.network,
        evaluator.values,
        max_turns,
        boards,
        probabilities,
        lengths,
    )
    finished = lengths[lengths > 0]
    starts = np.cumsum(finished) - finished
    probabilities[starts] = 0
    return Games(boards[:used].copy(), probabilities[:used].copy(), finished, int((lengths == 0).sum()))


def _play_in_lockstep(evaluator: NetworkEvaluator, keys: NDArray[np.uint64], max_turns: int) -> Games:
    """As `play_block`, for rules that the kernel does not play."""
    boards = np.tile(evaluator.rules.start_board, (len(keys), 1))
    history = [boards]
    lengths = np.zeros(len(keys), np.int32)
    for turn in range(max_turns):
        live = lengths == 0
        if not live.any():
            break
        boards = boards.copy()
        boards[live] = evaluator.choose(boards[live], rolls_at(keys[live], turn))
        history.append(boards)
        lengths[live & ~(boards < 0).any(axis=1)] = turn + 2
    rows = [np.stack([turn[game] for turn in history[:n]]) for game, n in enumerate(lengths) if n]
    finished = lengths[lengths > 0]
    all_boards = np.concatenate(rows) if rows else np.empty((0, 26), np.int8)
    probabilities = evaluator.probabilities(all_boards)
    probabilities[np.cumsum(finished) - finished] = 0
    return Games(all_boards, probabilities, finished, int((lengths == 0).sum()))


class SelfPlay:
    """A batch of games that some threads play while the caller does something else.

    The dice of game i are stream i of the seed, so the games do not depend on who plays them.
    """

    def __init__(
        self,
        pool: Executor,
        num_helpers: int,
        evaluator: NetworkEvaluator,
        *,
        seed: int,
        first: int,
        num_games: int,
        max_turns: int,
    ) -> None:
        keys = streams(seed, num_games, first)
        self._blocks: list[Games | None] = [None] * -(-num_games // BLOCK_GAMES)
        self._todo = deque(range(len(self._blocks)))
        self._keys, self._evaluator, self._max_turns = keys, evaluator, max_turns
        self._helpers: list[Future[None]] = [pool.submit(self._work) for _ in range(num_helpers)]

    def _work(self) -> None:
        while True:
            try:
                block = self._todo.popleft()
            except IndexError:
                return
            keys = self._keys[block * BLOCK_GAMES : (block + 1) * BLOCK_GAMES]
            self._blocks[block] = play_block(self._evaluator, keys, self._max_turns)

    def finish(self) -> Games:
        """Play what is left on this thread too, and give all games in order."""
        self._work()
        for helper in self._helpers:
            helper.result()
        return join(block for block in self._blocks if block is not None)


def join(blocks: Iterable[Games]) -> Games:
    """All blocks as one, in order."""
    parts = list(blocks)
    return Games(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        sum(part.num_dropped for part in parts),
    )
