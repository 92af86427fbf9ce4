"""Inputs of a network as functions of (place, count), so that its first layer is a table.

A board has 28 places: the 26 of `game/board.py`, then 26 = the player's checkers borne off
(positive) and 27 = the opponent's (negative). An encoding turns the count on each place
(-15 .. 15) into numbers; a row of its design matrix is what one (place, count) puts in. Pairs of
neighbouring places, windows of six points and blots that are shot at are further places with codes
for counts (`kernels.codes`), for encodings that see more than one place at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS, Boards
from tdgammon.kernels import codes, learning
from tdgammon.value.outcome import NUM_OUTCOMES

NUM_PLACES = codes.NUM_PLACES
NUM_COUNTS = codes.NUM_COUNTS
_ZERO = codes.ZERO

Design = NDArray[np.float32]
"""[P, 31, F]: what a count (index count + 15) on a place adds to the F inputs."""


def _tesauro_units(count: int) -> list[float]:
    return [count >= 1, count >= 2, count >= 3, max(count - 3, 0) / 2]


def _count_units(count: int) -> list[float]:
    return [*(count == n for n in range(1, 6)), count >= 6, max(count - 6, 0) / 4]


def _design(
    point_units: Callable[[int], list[float]],
    bar_units: Callable[[int], list[float]],
    off_units: Callable[[int], list[float]],
) -> Design:
    blocks: list[tuple[int, int, Callable[[int], list[float]]]] = []
    for sign in (1, -1):
        blocks += [(place, sign, point_units) for place in range(1, 25)]
        blocks.append((25 if sign > 0 else 0, sign, bar_units))
        blocks.append((26 if sign > 0 else 27, sign, off_units))
    num_inputs = sum(len(units(0)) for _, _, units in blocks)
    design = np.zeros((NUM_PLACES, NUM_COUNTS, num_inputs), np.float32)
    at = 0
    for place, sign, units in blocks:
        width = len(units(0))
        for count in range(1, 16):
            design[place, _ZERO + sign * count, at : at + width] = units(count)
        at += width
    return design


def _tesauro() -> Design:
    """Tesauro's 198 inputs less the two for the turn, which the viewpoint makes constant."""
    return _design(_tesauro_units, lambda n: [n / 2], lambda n: [n / 15])


def _counts() -> Design:
    """An indicator of each count from 1 to 5 and of more, on points, bars and off trays alike."""
    return _design(
        _count_units, _count_units, lambda n: [n / 15, *(n >= k for k in (1, 3, 6, 9, 12, 14))]
    )


def _with_codes(base: Design, num_codes: int) -> Design:
    """The inputs of `base` and an indicator of every code of `num_codes` further places."""
    num_places, num_counts, num_inputs = base.shape
    width = num_counts - 1
    design = np.zeros((num_places + num_codes, num_counts, num_inputs + num_codes * width), np.float32)
    design[:num_places, :, :num_inputs] = base
    codes = np.delete(np.arange(num_counts), _ZERO)
    for place in range(num_codes):
        at = num_inputs + place * width
        design[num_places + place, codes, at + np.arange(width)] = 1
    return design


def _pairs() -> Design:
    """`counts`, and what stands on every two neighbouring places together."""
    return _with_codes(_counts(), codes.NUM_PAIRS)


def _windows() -> Design:
    """`pairs`, and how many of the six points before a checker are held against it."""
    return _with_codes(_counts(), codes.NUM_PAIRS + codes.NUM_WINDOWS)


def _shots() -> Design:
    """`windows`, and how many rolls hit the blots of either side."""
    return _with_codes(_counts(), codes.NUM_PAIRS + codes.NUM_WINDOWS + codes.NUM_SHOTS)


ENCODINGS: dict[str, Callable[[], Design]] = {
    "tesauro": _tesauro,
    "counts": _counts,
    "pairs": _pairs,
    "windows": _windows,
    "shots": _shots,
}


@cache
def design(encoding: str) -> Design:
    """Design matrix [P, 31, F] of an encoding named in `ENCODINGS`, read-only."""
    matrix = ENCODINGS[encoding]()
    matrix.setflags(write=False)
    return matrix


def input_blocks(encoding: str) -> list[tuple[str, int]]:
    """The inputs of an encoding in their order as named blocks with their sizes; a block of one name
    is the same in all encodings."""
    total = design(encoding).shape[2]
    base = "tesauro" if encoding == "tesauro" else "counts"
    blocks = [(base, design(base).shape[2])]
    further = {"pairs": codes.NUM_PAIRS, "windows": codes.NUM_WINDOWS, "shots": codes.NUM_SHOTS}
    if encoding in further:
        for name, num_codes in further.items():
            blocks.append((name, num_codes * (NUM_COUNTS - 1)))
            if name == encoding:
                break
    assert sum(size for _, size in blocks) == total
    return blocks


@cache
def place_columns(encoding: str) -> list[NDArray[np.int64]]:
    """For each place, the inputs that its count can put numbers in."""
    return [np.flatnonzero(rows.any(axis=0)) for rows in design(encoding)]


class Encoder:
    """The inputs of an encoding as lists of (column, number), for learning."""

    def __init__(self, encoding: str, num_checkers: int = NUM_CHECKERS) -> None:
        matrix = design(encoding)
        self.num_checkers = num_checkers
        """A side."""
        self.num_inputs: int = matrix.shape[2]
        """F"""
        used = matrix != 0
        width = int(used.sum(axis=2).max())
        self._columns = np.full((*matrix.shape[:2], width), -1, np.int16)
        self._numbers = np.zeros((*matrix.shape[:2], width), np.float32)
        for place, count in np.argwhere(used.any(axis=2)):
            columns = np.flatnonzero(used[place, count])
            self._columns[place, count, : len(columns)] = columns
            self._numbers[place, count, : len(columns)] = matrix[place, count, columns]

    def encode(self, boards: Boards) -> NDArray[np.float32]:
        """Dense inputs float32 [B, F] of boards int8 [B, 26]."""
        dense = np.empty((len(boards), self.num_inputs), np.float32)
        learning.encode(boards, self.num_checkers, self._columns, self._numbers, dense)
        return dense

    def weighted_sums(
        self, boards: Boards, weight: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """encode(boards) @ weight [F, H] + bias [H], as float32 [B, H], and the outcomes bool [B, 6]
        that `outcome.impossible_outcomes` marks."""
        sums = np.empty((len(boards), weight.shape[1]), np.float32)
        impossible = np.empty((len(boards), NUM_OUTCOMES), np.bool_)
        learning.weighted_sums(
            boards, self.num_checkers, self._columns, self._numbers, weight, bias, sums, impossible
        )
        return sums, impossible

    def weight_gradient(
        self, boards: Boards, sums_gradient: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """encode(boards).T @ sums_gradient [B, H], as float32 [F, H]."""
        gradient = np.empty((self.num_inputs, sums_gradient.shape[1]), np.float32)
        learning.weight_gradient(
            boards, self.num_checkers, self._columns, self._numbers, sums_gradient, gradient
        )
        return gradient
