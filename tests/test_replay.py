"""The replay buffer keeps the last targets, each with its board, and goes on from its state."""

import numpy as np

from tdgammon.learn.replay import ReplayBuffer


def lessons(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boards and targets that all hold their number: first, first + 1, ..."""
    numbers = np.arange(first, first + count)
    return (
        np.repeat(numbers[:, None], 26, axis=1).astype(np.int8),
        np.repeat(numbers[:, None], 6, axis=1).astype(np.float32),
    )


def kept(buffer: ReplayBuffer) -> list[int]:
    """The numbers in the buffer, found by drawing often."""
    boards, targets = buffer.draw(2000, np.random.default_rng(1))
    assert (boards[:, :6] == targets).all()
    return sorted(set(boards[:, 0].tolist()))


def test_the_last_ones_are_kept():
    buffer = ReplayBuffer(5)
    assert buffer.draw(3, np.random.default_rng(1))[0].shape == (0, 26)
    buffer.add(*lessons(0, 3))
    assert kept(buffer) == [0, 1, 2]
    buffer.add(*lessons(3, 4))
    assert kept(buffer) == [2, 3, 4, 5, 6]
    buffer.add(*lessons(7, 3))
    assert kept(buffer) == [5, 6, 7, 8, 9]
    buffer.add(*lessons(10, 12))
    assert kept(buffer) == [17, 18, 19, 20, 21]


def test_it_goes_on_from_its_state_as_if_never_stopped():
    one = ReplayBuffer(5)
    one.add(*lessons(0, 7))
    other = ReplayBuffer(5)
    other.load_state({name: array.copy() for name, array in one.state().items()})
    for buffer in (one, other):
        buffer.add(*lessons(7, 2))
    for a, b in zip(
        one.draw(50, np.random.default_rng(2)), other.draw(50, np.random.default_rng(2)), strict=True
    ):
        assert (a == b).all()


def test_another_size_keeps_the_newest():
    buffer = ReplayBuffer(5)
    buffer.add(*lessons(0, 7))
    small, large = ReplayBuffer(2), ReplayBuffer(6)
    small.load_state(buffer.state())
    large.load_state(buffer.state())
    assert kept(small) == [5, 6]
    large.add(*lessons(7, 2))
    assert kept(large) == [3, 4, 5, 6, 7, 8]
