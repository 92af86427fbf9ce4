"""Positions for tests: met in random legal play, and made up to be awkward."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import reference
from reference import Board

Position = tuple[Board, tuple[int, int]]


def random_roll(rng: random.Random) -> tuple[int, int]:
    return rng.randint(1, 6), rng.randint(1, 6)


def from_random_play(rng: random.Random, num_positions: int) -> Iterator[Position]:
    """Positions of games in which every play is a random legal one."""
    board = reference.START
    for _ in range(num_positions):
        roll = random_roll(rng)
        yield board, roll
        board = rng.choice(sorted(reference.afterstates(board, roll)))
        if not any(count > 0 for count in board) or not any(count < 0 for count in board):
            board = reference.START


def made_up(
    rng: random.Random, own: list[int], opposing: list[int], num_own: int, num_opposing: int
) -> Board:
    """Checkers of each side thrown at random on the places listed for it; the player's go first."""
    cells = [0] * 26
    for _ in range(num_own):
        cells[rng.choice(own)] += 1
    free = [place for place in opposing if cells[place] <= 0] or [0]
    for _ in range(num_opposing):
        cells[rng.choice(free)] -= 1
    return tuple(cells)


def _scattered(rng: random.Random) -> Board:
    return made_up(rng, list(range(1, 26)), list(range(25)), rng.randint(1, 15), rng.randint(1, 15))


def _bear_off(rng: random.Random) -> Board:
    top = rng.choice([3, 6, 6, 7, 8])
    return made_up(rng, list(range(1, top + 1)), list(range(25)), rng.randint(1, 15), rng.randint(1, 8))


def _on_the_bar(rng: random.Random) -> Board:
    own = [25] * rng.randint(3, 25) + list(range(1, 25))
    return made_up(rng, own, list(range(15, 25)), rng.randint(2, 15), rng.randint(1, 15))


def _stacked(rng: random.Random) -> Board:
    """Few places, so that most points are closed and dice are hard to play."""
    own = rng.sample(range(1, 26), rng.randint(1, 5))
    opposing = rng.sample(range(25), rng.randint(4, 10))
    return made_up(rng, own, opposing, rng.randint(1, 15), 15)


def _blots(rng: random.Random) -> Board:
    """Blots of both sides everywhere: many hits and many afterstates."""
    places = rng.sample(range(1, 25), 24)
    num_own = rng.randint(4, 12)
    cells = [0] * 26
    for place in places[:num_own]:
        cells[place] = 1
    for place in places[num_own : num_own + rng.randint(3, 12)]:
        cells[place] = -1
    return tuple(cells)


def hits_at_home(rng: random.Random) -> Board:
    """Opposing blots in the player's home board, own checkers on them, among them and just behind."""
    cells = [0] * 26
    for place in rng.sample(range(1, 7), rng.randint(1, 4)):
        cells[place] = -1
    for place in rng.sample(range(1, 25), rng.randint(0, 4)):
        cells[place] = cells[place] or -2
    own = [place for place in range(1, rng.choice([7, 10, 13, 25])) if cells[place] == 0]
    for _ in range(rng.choice([2, 3, 4, 8, 14])):
        cells[rng.choice(own or [25])] += 1
    cells[25] += rng.random() < 0.05
    return tuple(cells)


KINDS: dict[str, Callable[[random.Random], Board]] = {
    "scattered": _scattered,
    "bear_off": _bear_off,
    "on_the_bar": _on_the_bar,
    "stacked": _stacked,
    "blots": _blots,
}


def awkward(rng: random.Random, kind: str, num_positions: int) -> Iterator[Position]:
    """Made-up positions of one of `KINDS`; two in five rolls are doubles."""
    for _ in range(num_positions):
        roll = random_roll(rng)
        if rng.random() < 0.28:
            roll = roll[0], roll[0]
        yield KINDS[kind](rng), roll
