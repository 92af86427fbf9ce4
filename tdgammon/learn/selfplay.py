"""Self-play: games of a network against itself, on as many threads as wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide.units import Rows, Runner, Unit
from tdgammon.game.board import Boards, has_contact
from tdgammon.game.dice import rolls_at, streams
from tdgammon.game.rules import GameRules
from tdgammon.kernels import selfplay
from tdgammon.learn.returns import luck_free_returns
from tdgammon.learn.starts import boards_of_kinds
from tdgammon.learn.targets import exact_targets, rivals
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import NUM_OUTCOMES

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCK_GAMES = 16
"""Games a thread plays at a time."""
_BLOCKS_A_UNIT = 4
_LENGTH_AT = 32


@dataclass(frozen=True)
class Begun:
    """Games as they begin."""

    keys: NDArray[np.uint64]
    """Dice stream of each game, [G]."""
    boards: Boards
    """The first board of each, [G, 26], player on roll."""
    first_turns: NDArray[np.int64]
    """Turn of the stream that the dice begin at, [G]: 0 = opening roll; 1 = any roll, doubles too."""

    def __getitem__(self, part: slice) -> Begun:
        return Begun(self.keys[part], self.boards[part], self.first_turns[part])


def begin(
    rules: GameRules, seed: int, num_games: int, first: int = 0, from_kinds: float = 0.0
) -> Begun:
    """Games first .. first + num_games - 1 of a seed; game i has stream i.

    A share `from_kinds` of them begins from boards of `starts.KINDS` and not from the rules' start.
    """
    boards = np.tile(rules.start_board, (num_games, 1))
    first_turns = np.zeros(num_games, np.int64)
    if from_kinds:
        generator = np.random.default_rng([seed, first, 2])
        picked = np.flatnonzero(generator.random(num_games) < from_kinds)
        boards[picked] = boards_of_kinds(generator, len(picked))[generator.permutation(len(picked))]
        first_turns[picked] = 1
    return Begun(streams(seed, num_games, first), boards, first_turns)


@dataclass(frozen=True)
class Games:
    """Finished games laid end to end; a game's last row is its final position, or with bear-off tables
    the first race that it came to."""

    boards: Boards
    """int8 [N, 26], player on roll, before the roll."""
    probabilities: NDArray[np.float32]
    """[N, 6]: the network's value of each board, exact in a game's last row; 0 in its first."""
    lengths: NDArray[np.int32]
    """Rows of each game, [G]."""
    num_dropped: int = 0
    """Games that were broken off because they took too many turns; not among the rows."""
    exact_boards: Boards = field(default_factory=lambda: np.empty((0, 26), np.int8))
    """Boards with exact targets [M, 26], see `with_exact_targets`."""
    exact_targets: NDArray[np.float32] = field(
        default_factory=lambda: np.empty((0, NUM_OUTCOMES), np.float32)
    )
    """[M, 6]: `returns.luck_free_returns`."""

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


def play_block(evaluator: NetworkEvaluator, begun: Begun, max_turns: int) -> Games:
    """The games from there on; rules and choice are those of `evaluator.choose`.

    An evaluator with bear-off tables ends a game at the first race, with the chances they give.
    """
    if evaluator.rules.caucasian:
        return _play_in_lockstep(evaluator, begun, max_turns)
    num_games = len(begun.keys)
    boards = np.empty((num_games * (max_turns + 2), 26), np.int8)
    probabilities = np.empty((len(boards), NUM_OUTCOMES), np.float32)
    lengths = np.empty(num_games, np.int32)
    used = selfplay.play_games(
        begun.boards,
        begun.first_turns,
        begun.keys,
        evaluator.network,
        evaluator.values,
        max_turns,
        evaluator.knows_races,
        boards,
        probabilities,
        lengths,
    )
    finished = lengths[lengths > 0]
    starts = np.cumsum(finished) - finished
    probabilities[starts] = 0
    return Games(boards[:used].copy(), probabilities[:used].copy(), finished, int((lengths == 0).sum()))


def _play_in_lockstep(evaluator: NetworkEvaluator, begun: Begun, max_turns: int) -> Games:
    """As `play_block`, for rules that the kernel does not play."""
    boards = begun.boards
    history = [boards]
    lengths = np.zeros(len(boards), np.int32)
    for turn in range(max_turns):
        live = lengths == 0
        if not live.any():
            break
        boards = boards.copy()
        rolls = rolls_at(begun.keys[live], begun.first_turns[live] + turn)
        boards[live] = evaluator.choose(boards[live], rolls)
        history.append(boards)
        going_on = (boards < 0).any(axis=1)
        if evaluator.knows_races:
            going_on &= has_contact(boards)
        lengths[live & ~going_on] = turn + 2
    rows = [np.stack([turn[game] for turn in history[:n]]) for game, n in enumerate(lengths) if n]
    finished = lengths[lengths > 0]
    all_boards = np.concatenate(rows) if rows else np.empty((0, 26), np.int8)
    probabilities = evaluator.probabilities(all_boards)
    probabilities[np.cumsum(finished) - finished] = 0
    return Games(all_boards, probabilities, finished, int((lengths == 0).sum()))


@dataclass(frozen=True, kw_only=True)
class ExactSettings:
    """Which positions get exact targets, and what these look at."""

    share: float = 0.0
    """Of games whose positions get them."""
    rivals: float = 0.0
    """Share of these that is replaced by games from a rival of one of their positions."""
    lambda_: float = 0.0
    """λ of the returns without luck; 0 = the mean over one roll."""


def with_exact_targets(
    games: Games, evaluator: NetworkEvaluator, settings: ExactSettings, max_turns: int, seed: int
) -> Games:
    """The games with exact targets for all positions of some of them, or of games that begin from
    rivals: boards that other good plays would have left."""
    generator = np.random.default_rng([seed, 3])
    picked = generator.random(games.num_games) < settings.share
    replaced = picked & (generator.random(games.num_games) < settings.rivals)
    taught = _some(games, picked & ~replaced)
    if replaced.any():
        firsts = games.last_rows - games.lengths + 1
        at = firsts + (generator.random(games.num_games) * (games.lengths - 1)).astype(np.int64)
        boards = rivals(evaluator, games.boards[at[replaced]], generator)
        keys = streams(int(generator.integers(2**32)), len(boards))
        begun = Begun(keys, boards, np.ones(len(boards), np.int64))
        taught = join([taught, play_block(evaluator, begun, max_turns)])
    use = taught.goes_on
    expected = np.zeros_like(taught.probabilities)
    expected[use], _ = exact_targets(evaluator, taught.boards[use])
    targets = luck_free_returns(expected, taught.probabilities, taught.lengths, settings.lambda_)
    return replace(games, exact_boards=taught.boards[use], exact_targets=targets[use])


def _some(games: Games, picked: NDArray[np.bool_]) -> Games:
    rows = np.repeat(picked, games.lengths)
    return Games(games.boards[rows], games.probabilities[rows], games.lengths[picked])


class Work(Generic[Item, Result]):
    """Items that some threads work through while the caller does something else."""

    def __init__(
        self, pool: Executor, num_helpers: int, do: Callable[[Item], Result], items: Sequence[Item]
    ) -> None:
        self._do, self._items = do, items
        self._results: list[Result | None] = [None] * len(items)
        self._todo = deque(range(len(items)))
        self._helpers: list[Future[None]] = [pool.submit(self._work) for _ in range(num_helpers)]

    def _work(self) -> None:
        while True:
            try:
                at = self._todo.popleft()
            except IndexError:
                return
            self._results[at] = self._do(self._items[at])

    def finish(self) -> list[Result]:
        """Do what is left on this thread too, and give all results in the order of the items."""
        self._work()
        for helper in self._helpers:
            helper.result()
        return [result for result in self._results if result is not None]


def in_blocks(begun: Begun) -> list[Begun]:
    """The games in blocks for a thread each."""
    return [begun[at : at + BLOCK_GAMES] for at in range(0, len(begun.keys), BLOCK_GAMES)]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Games to be played with the same weights, wherever that is done."""

    evaluator: NetworkEvaluator
    begun: Begun
    max_turns: int
    exact: ExactSettings

    def play(self, block: Begun) -> Games:
        """The games of a block, with their exact targets."""
        games = play_block(self.evaluator, block, self.max_turns)
        if self.exact.share:
            seed = int(block.keys[0])
            return with_exact_targets(games, self.evaluator, self.exact, self.max_turns, seed)
        return games


class Away:
    """As `Work`: a batch that a runner plays, on other machines as a rule."""

    def __init__(self, runner: Runner, batch: Batch) -> None:
        size = BLOCK_GAMES * _BLOCKS_A_UNIT
        units = [(at, at + size) for at in range(0, len(batch.begun.keys), size)]
        self._pool = ThreadPoolExecutor(1, "away")
        self._rows = self._pool.submit(lambda: list(runner(_play_unit, batch, units)))

    def finish(self) -> list[Games]:
        """Wait for all games and give them in order."""
        with self._pool:
            return [_unpacked(rows) for rows in self._rows.result()]


def _play_unit(batch: Batch, unit: Unit) -> Rows:
    """The games unit[0] .. unit[1] - 1 of a batch, block by block as here."""
    return _packed(join(batch.play(block) for block in in_blocks(batch.begun[unit[0] : unit[1]])))


def _packed(games: Games) -> Rows:
    """Games as numbers: a row with how many were dropped and how many positions there are; a row a
    position, with its board, its chances and the length of the game that begins there or 0; a row a
    board with an exact target."""
    num_positions = len(games.boards)
    rows = np.zeros((1 + num_positions + len(games.exact_boards), _LENGTH_AT + 1), np.float64)
    rows[0, :2] = games.num_dropped, num_positions
    positions, exact = rows[1 : 1 + num_positions], rows[1 + num_positions :]
    positions[:, :26], positions[:, 26:_LENGTH_AT] = games.boards, games.probabilities
    positions[games.last_rows - games.lengths + 1, _LENGTH_AT] = games.lengths
    exact[:, :26], exact[:, 26:_LENGTH_AT] = games.exact_boards, games.exact_targets
    return rows


def _unpacked(rows: Rows) -> Games:
    num_dropped, num_positions = (int(number) for number in rows[0, :2])
    lengths = rows[1 : 1 + num_positions, _LENGTH_AT]
    boards, chances = rows[1:, :26].astype(np.int8), rows[1:, 26:_LENGTH_AT].astype(np.float32)
    return Games(
        boards[:num_positions],
        chances[:num_positions],
        lengths[lengths > 0].astype(np.int32),
        num_dropped,
        boards[num_positions:],
        chances[num_positions:],
    )


def join(blocks: Iterable[Games]) -> Games:
    """All blocks as one, in order."""
    parts = list(blocks)
    return Games(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        sum(part.num_dropped for part in parts),
        np.concatenate([part.exact_boards for part in parts]),
        np.concatenate([part.exact_targets for part in parts]),
    )
