"""Boards of kinds that self-play from the start position seldom meets, for games to begin from.

A kind says, for each side, where some checkers stand for certain and how likely the rest are on each
place. Places are a side's own: 0 = borne off, 1 .. 24 the points, 25 the bar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import NUM_CHECKERS, Boards, flip, has_contact

_OFF, _BAR, _PLACES = 0, 25, 26
_LUMPS, _LUMP_CHANCES = np.array([1, 2, 3]), np.array([0.35, 0.5, 0.15])
"""Checkers that are dealt to a place together: most stand in pairs."""
_HIGHEST_STACK = 6

Sides = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Of B boards: checkers that stand [B, 2, 26] and weights of the places of the others [B, 2, 26];
side 0 is the one that the kind is named for."""


def boards_of_kinds(generator: np.random.Generator, num_boards: int) -> Boards:
    """Random boards [B, 26] with contact, the kinds of `KINDS` in turn, either side on roll."""
    names = list(KINDS)
    rows = np.empty((num_boards, 26), np.int8)
    for k, name in enumerate(names):
        wanted = len(range(k, num_boards, len(names)))
        rows[k :: len(names)] = boards_of_kind(name, generator, wanted)
    return rows


def boards_of_kind(name: str, generator: np.random.Generator, num_boards: int) -> Boards:
    """Random boards [B, 26] of one kind, either side on roll; KeyError for an unknown name."""
    found = np.empty((0, 26), np.int8)
    while len(found) < num_boards:
        fixed, weights = KINDS[name](generator, num_boards + 8)
        dealt = _deal(generator, fixed, weights)
        found = np.concatenate([found, dealt[has_contact(dealt)]])
    found = found[:num_boards]
    swapped = generator.random(num_boards) < 0.5
    found[swapped] = flip(found[swapped])
    return found


def _deal(
    generator: np.random.Generator, fixed: NDArray[np.int64], weights: NDArray[np.float64]
) -> Boards:
    """Boards [N, 26] of side 0 on roll; those on which sides would collide are left out."""
    counts = fixed.copy()
    rows = np.arange(len(counts))
    stuck = _blocked(counts[:, 0], counts[:, 1]).any(axis=1)
    while (left := NUM_CHECKERS - counts.sum(axis=2)).any():
        for side in (0, 1):
            free = (counts[:, side] < _HIGHEST_STACK) & ~_blocked_by(counts[:, 1 - side])
            free[:, _OFF] = True
            chances = np.cumsum(weights[:, side] * free, axis=1)
            stuck |= (chances[:, -1] == 0) & (left[:, side] > 0)
            point = (generator.random((len(counts), 1)) * chances[:, -1:] >= chances).sum(axis=1)
            lump = generator.choice(_LUMPS, len(counts), p=_LUMP_CHANCES)
            counts[rows, side, np.minimum(point, _BAR)] += np.minimum(lump, left[:, side])
    over = (counts[:, :, _OFF] == NUM_CHECKERS).any(axis=1)
    boards = np.zeros((len(counts), 26), np.int8)
    boards[:, 1:26] = counts[:, 0, 1:26]
    boards[:, :25] -= counts[:, 1, 25:0:-1].astype(np.int8)
    return boards[~stuck & ~over]


def _blocked_by(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Places [B, 26] of a side on which the other has checkers `counts` [B, 26]."""
    taken = np.zeros(counts.shape, np.bool_)
    taken[:, 1:25] = counts[:, 24:0:-1] > 0
    return taken


def _blocked(counts: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (counts > 0) & _blocked_by(other)


def _empty(num_boards: int) -> Sides:
    return np.zeros((num_boards, 2, _PLACES), np.int64), np.zeros((num_boards, 2, _PLACES))


def _weigh(weights: NDArray[np.float64], side: int, by_region: Mapping[tuple[int, int], float]) -> None:
    """Set the weights of a side's places first .. last for each (first, last)."""
    for (first, last), weight in by_region.items():
        weights[:, side, first : last + 1] = weight


def _put(
    fixed: NDArray[np.int64], side: int, points: NDArray[np.int64], checkers: NDArray[np.int64] | int
) -> None:
    fixed[np.arange(len(fixed)), side, points] += checkers


def _back_game(generator: np.random.Generator, num_boards: int) -> Sides:
    """Two anchors in the opponent's home board; the opponent brings his checkers home."""
    fixed, weights = _empty(num_boards)
    deep = generator.integers(22, 25, num_boards)
    _put(fixed, 0, deep, generator.integers(2, 4, num_boards))
    _put(fixed, 0, deep - generator.integers(1, 4, num_boards), 2)
    _weigh(weights, 0, {(1, 3): 0.3, (4, 8): 1, (9, 12): 0.5, (13, 18): 0.3, (25, 25): 0.15})
    _weigh(weights, 1, {(1, 6): 0.7, (7, 13): 0.8, (14, 18): 0.15, (19, 24): 0.04})
    return fixed, weights


def _deep_anchor(generator: np.random.Generator, num_boards: int) -> Sides:
    """The ace point or the deuce point held against a side that is coming or bearing off."""
    fixed, weights = _empty(num_boards)
    _put(fixed, 0, generator.integers(23, 25, num_boards), generator.integers(2, 4, num_boards))
    _weigh(weights, 0, {(1, 6): 1, (7, 8): 0.3, (9, 14): 0.1})
    _put(fixed, 1, np.zeros(num_boards, np.int64), generator.integers(0, 9, num_boards))
    _weigh(weights, 1, {(1, 6): 1, (7, 11): 0.25})
    return fixed, weights


def _primes(generator: np.random.Generator, num_boards: int) -> Sides:
    """Both sides hold four or five points in a row with checkers of the other behind them."""
    fixed, weights = _empty(num_boards)
    for side in (0, 1):
        first = generator.integers(3, 6, num_boards)
        longer = generator.random(num_boards) < 0.5
        for k in range(4):
            _put(fixed, side, first + k, 2)
        _put(fixed, side, first + 4, np.where(longer, 2, 0))
        _weigh(weights, side, {(1, 2): 0.1, (3, 9): 0.3, (10, 16): 0.3, (22, 24): 1, (25, 25): 0.1})
    return fixed, weights


def _blitz(generator: np.random.Generator, num_boards: int) -> Sides:
    """One or two checkers on the bar against builders and a few home points."""
    fixed, weights = _empty(num_boards)
    for point in (6, 8):
        _put(fixed, 0, np.full(num_boards, point), 2)
    _put(fixed, 0, np.full(num_boards, 24), generator.integers(0, 3, num_boards))
    _weigh(weights, 0, {(2, 6): 1, (7, 11): 0.5, (12, 15): 0.4})
    _put(fixed, 1, np.full(num_boards, _BAR), generator.integers(1, 3, num_boards))
    _weigh(weights, 1, {(3, 5): 0.3, (6, 6): 1, (8, 8): 0.8, (12, 13): 0.8, (20, 24): 0.2})
    return fixed, weights


def _containment(generator: np.random.Generator, num_boards: int) -> Sides:
    """A side that has borne off was hit late: stragglers against what is left to hold them."""
    fixed, weights = _empty(num_boards)
    _weigh(weights, 0, {(1, 3): 0.5, (4, 9): 1, (10, 18): 0.4, (19, 24): 0.25, (25, 25): 0.1})
    _put(fixed, 1, np.zeros(num_boards, np.int64), generator.integers(3, 14, num_boards))
    on_bar = generator.random(num_boards) < 0.4
    _put(fixed, 1, np.where(on_bar, _BAR, generator.integers(13, 25, num_boards)), 1)
    extra = generator.random(num_boards) < 0.3
    _put(fixed, 1, np.where(extra, generator.integers(13, 26, num_boards), _OFF), 1)
    _weigh(weights, 1, {(1, 4): 1, (5, 6): 0.4, (0, 0): 0.5})
    return fixed, weights


def _crashed(generator: np.random.Generator, num_boards: int) -> Sides:
    """Six or more checkers buried on the lowest points, and men back."""
    fixed, weights = _empty(num_boards)
    for _ in range(3):
        _put(fixed, 0, generator.integers(1, 4, num_boards), 2)
    _put(fixed, 0, generator.integers(19, 25, num_boards), generator.integers(1, 3, num_boards))
    _weigh(weights, 0, {(1, 3): 0.7, (4, 6): 0.5, (7, 13): 0.15, (19, 24): 0.2, (25, 25): 0.2})
    _weigh(weights, 1, {(1, 3): 0.3, (4, 8): 1, (9, 13): 0.5, (14, 18): 0.2, (20, 24): 0.2})
    return fixed, weights


def _contact_bearoff(generator: np.random.Generator, num_boards: int) -> Sides:
    """All checkers of one side home or off, with opposing ones on a point there or on the bar."""
    fixed, weights = _empty(num_boards)
    _put(fixed, 0, generator.integers(19, 26, num_boards), generator.integers(1, 4, num_boards))
    _weigh(weights, 0, {(1, 6): 1, (7, 12): 0.1, (19, 24): 0.15})
    _put(fixed, 1, np.zeros(num_boards, np.int64), generator.integers(0, 12, num_boards))
    _weigh(weights, 1, {(1, 6): 1})
    return fixed, weights


def _scattered(generator: np.random.Generator, num_boards: int) -> Sides:
    """Anything: a few places of each side's own choice, drawn anew for every board."""
    fixed, weights = _empty(num_boards)
    weights[:] = generator.gamma(0.4, size=weights.shape)
    weights[:, :, _OFF] = 0
    weights[:, :, _BAR] *= 0.1
    return fixed, weights


KINDS: dict[str, Callable[[np.random.Generator, int], Sides]] = {
    "back_game": _back_game,
    "deep_anchor": _deep_anchor,
    "primes": _primes,
    "blitz": _blitz,
    "containment": _containment,
    "crashed": _crashed,
    "contact_bearoff": _contact_bearoff,
    "scattered": _scattered,
}
"""Kinds of boards by name."""
