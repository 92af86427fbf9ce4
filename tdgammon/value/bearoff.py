"""Races answered from tables: rolls to bear off, effective pip counts, exact equities with a cube.

The tables are built when they are first wanted and kept in the user's cache folder. What is exact:
with at most 6 checkers a side, all at home, chances and money equities are those of best play
(two-sided table). Otherwise each side's number of rolls has a distribution of its own and the two are
compared roll by roll; each side plays for the fewest rolls on average. With all checkers at home
these distributions are exact, and to bear off everything with at most 5 checkers anywhere. Rolls to
the first checker off (gammons) are exact but for what `kernels.entering` neglects with up to 3
checkers outside, 4 up to the 20-point, 5 up to the 16-point and 6 up to the 13-point; otherwise gaps
at home only delay them, by the right mean where all is inside 10 points, and more than 6 that are
very far have the shape of nearer ones. To bear off everything, more than 5 checkers of which some are
outside have the mean number of rolls, exact up to the 10-point and near that beyond, and the shape of
a like position at home. EXPERIMENTS.md has the errors of all these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.game.board import NUM_CHECKERS, checked_boards, has_contact, text
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS
from tdgammon.kernels import bearoff as kernel
from tdgammon.kernels import entering, one_side, one_sided, side_rows, two_sided
from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.table_files import Arrays, file, kept
from tdgammon.value.verdict import verdict

POINTS = range(6, 11)
"""Points a one-sided table can have."""
GOALS = {"all": one_side.EVERYTHING, "next": one_side.NEXT_OFF, "leave": one_side.LEAVE}
"""What rolls are counted to: all checkers off, one more off, all out of the opponent's home board."""

_MOST_SHIFT = 330  # pips; 15 checkers on the 24-point are 270 more than on the 6-point


@dataclass(frozen=True, kw_only=True)
class BearoffTables:
    """The tables in memory, and what they say of boards whose two sides have passed each other."""

    tables: kernel.Tables
    """What the kernels take."""

    def probabilities(self, boards: ArrayLike, num_checkers: int = NUM_CHECKERS) -> NDArray[np.float32]:
        """Chances of the six outcomes, float32 [B, 6], of the player on roll, before the roll.

        Each side began with `num_checkers`. Raises ValueError as `checked_boards`, and for contact.
        """
        checked = _checked_races(boards)
        result = np.empty((len(checked), NUM_OUTCOMES), np.float32)
        kernel.evaluate_batch(checked, self.tables, num_checkers, result)
        return result

    def mean_rolls(self, boards: ArrayLike) -> NDArray[np.float64]:
        """Mean number of rolls the player needs to bear off everything, float64 [B], as if alone.

        ValueError as `checked_boards`, and for a checker on the bar.
        """
        array = np.asarray(boards)
        if not (array.dtype == np.int8 and array.ndim == 2 and array.shape[1] == 26):
            array = checked_boards(boards)
        array = np.require(array, np.int8, ["C", "W"])
        means = np.empty(len(array), np.float64)
        if side_rows.fill_mean_rolls(array, self.tables, means) < len(array):
            _refuse(array, array[:, 25] > 0, "a checker is on the bar")
            checked_boards(boards)  # says which board cannot occur
        return means

    def epc(self, boards: ArrayLike) -> NDArray[np.float64]:
        """Effective pip counts, float64 [B]: 49/6, the mean pips of a roll, times `mean_rolls`."""
        return self.mean_rolls(boards) * one_sided.PIPS_A_ROLL

    def distributions(self, boards: ArrayLike, goal: str = "all") -> NDArray[np.float64]:
        """Chance of k = 0, 1, ... 95 rolls for the player to reach one of `GOALS`: float64 [B, 96]."""
        checked = checked_boards(boards)
        _refuse(checked, checked[:, 25] > 0, "a checker is on the bar")
        result = np.empty((len(checked), one_sided.LONGEST), np.float64)
        side_rows.fill_distributions(checked, self.tables, GOALS[goal], result)
        return result

    def equities(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Exact money equities of the two-sided table, float32 [B, 4], by unit of the present cube.

        Columns: cubeless; then before the roll without doubling, with the cube owned, centred, and
        owned by the opponent. Doubled and taken is twice the last. Rows are NaN for boards that the
        table does not hold. No gammon can be lost there, so Jacoby makes no difference; nor do
        beavers, as who would be beavered does not double.
        """
        checked = _checked_races(boards)
        result = np.empty((len(checked), 4), np.float32)
        kernel.fill_pair_equities(checked, self.tables, result)
        return result

    def cube_action(
        self, board: ArrayLike, *, owned: bool = False, beavers: bool = False
    ) -> CubeAction:
        """Exact cube action of one board; ValueError if the two-sided table does not hold it."""
        cubeless, own, centred, theirs = map(float, self.equities(board)[0])
        if np.isnan(cubeless):
            raise ValueError(f"board: not in the two-sided table: {text(board)!r}")
        no_double = own if owned else centred
        take = 2 * theirs
        words = verdict(no_double, take, owned=owned, beaver=2 * take if beavers else None)
        return CubeAction(cubeless=cubeless, no_double=no_double, double_take=take, verdict=words)


@dataclass(frozen=True, kw_only=True)
class CubeAction:
    """A cube decision by exact equities in units of the cube before it; a pass costs 1."""

    cubeless: float
    no_double: float
    double_take: float
    verdict: str
    double_pass: float = 1.0


NO_TABLES = kernel.Tables(
    points=0,
    starts=np.zeros(1, np.int64),
    firsts=np.zeros(0, np.uint8),
    chances=np.zeros(0, np.float32),
    means=np.zeros(0, np.float64),
    waste=np.zeros((3, 0), np.int16),
    shifts=np.zeros(0, np.float32),
    shift_rows=np.zeros((0, 3), np.int64),
    pairs=np.zeros((0, 0, 4), np.float32),
    pair_points=0,
    pair_checkers=0,
)
"""For kernels that are to ask the network about races too."""
for _array in NO_TABLES:
    if isinstance(_array, np.ndarray):
        _array.setflags(write=False)  # as arrays from files are: numba compiles for each kind


@cache
def load(points: int = 6, two_sided: tuple[int, int] = (6, 6)) -> BearoffTables:
    """The tables, from the cache folder; what is not there is built and kept.

    points 6 to 10 of the one-sided table; points and checkers of the two-sided one. Raises ValueError
    as `one_sided_bytes` and `two_sided_bytes`, and for a table that is larger than the memory.
    """
    rows = kept(_one_sided_name(points), one_sided_bytes(points), lambda: _build_rows(points))
    waste = kept("outside", outside_bytes(), _build_outside)
    pairs = kept(
        _two_sided_name(*two_sided), two_sided_bytes(*two_sided), lambda: _build_two_sided(*two_sided)
    )
    spread, spread_rows = shifts()
    return BearoffTables(
        tables=kernel.Tables(
            points=points,
            starts=rows["starts"],
            firsts=rows["firsts"],
            chances=rows["chances"],
            means=rows["means"],
            waste=waste["waste"],
            shifts=spread,
            shift_rows=spread_rows,
            pairs=pairs["pairs"],
            pair_points=two_sided[0],
            pair_checkers=two_sided[1],
        )
    )


def one_sided_bytes(points: int) -> int:
    """About what a one-sided table takes; ValueError unless points is 6 to 10."""
    if points not in POINTS:
        raise ValueError(f"points: 6 to 10 expected, got {points}")
    return comb(points + NUM_CHECKERS, points) * _ROW_BYTES[points] + 59 * side_rows.NUM_OUTSIDE


_ROW_BYTES = {6: 140, 7: 153, 8: 166, 9: 179, 10: 192}
"""Measured: bytes a position, distributions to all three goals."""


def outside_bytes() -> int:
    """What the table of mean rolls with checkers outside takes."""
    return 3 * 2 * comb(side_rows.OUTSIDE_POINTS + NUM_CHECKERS, NUM_CHECKERS)


def two_sided_bytes(points: int, checkers: int) -> int:
    """What a two-sided table takes; ValueError unless it is of 6 to 10 points and 1 to 10 checkers."""
    if points not in POINTS or not 1 <= checkers <= 10:
        raise ValueError(
            f"two-sided table: 6 to 10 points and 1 to 10 checkers expected, got {points}x{checkers}"
        )
    return 16 * comb(points + checkers, checkers) ** 2


def files(points: int = 6, two_sided: tuple[int, int] = (6, 6)) -> dict[str, tuple[Path, int]]:
    """Path and size by name of the tables that `load` would use; sizes are estimates until built."""
    found = {}
    for name, size in (
        (_one_sided_name(points), one_sided_bytes(points)),
        ("outside", outside_bytes()),
        (_two_sided_name(*two_sided), two_sided_bytes(*two_sided)),
    ):
        path = file(name)
        found[name] = (path, path.stat().st_size if path.is_file() else size)
    return found


def shifts() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """What a number of pips that nothing is wasted of does to a distribution of rolls.

    The number of rolls that bring x pips has, but for what happens at the ends, mean x/m, variance
    x v/m^3 and third cumulant x (3 v^2/m^5 - t/m^4), where m, v, t are mean, variance and third central
    moment of the pips of a roll (renewal theory; the cumulants are those of the inverse of the
    cumulant function). One pip is the filter on -1, 0, 1, 2 rolls that has these three; x pips are x
    such filters in a row. Gives them for -4 to 330 pips as `kernel.Tables` wants them.
    """
    pips = ROLLS.sum(axis=1) * np.where(ROLLS[:, 0] == ROLLS[:, 1], 2.0, 1.0)
    mean = float(ROLL_WEIGHTS @ pips)
    variance, third = (float(ROLL_WEIGHTS @ (pips - mean) ** k) for k in (2, 3))
    one = np.array([1 / mean, variance / mean**3, 3 * variance**2 / mean**5 - third / mean**4])
    rolls = np.arange(-1, 3)
    filters: dict[int, tuple[int, NDArray[np.float64]]] = {0: (0, np.ones(1))}
    for sign in (1, -1):
        k1, k2, k3 = sign * one
        moments = [1, k1, k2 + k1**2, k3 + 3 * k2 * k1 + k1**3]
        single = np.linalg.solve(np.vander(rolls, 4, increasing=True).T, moments)
        for x in range(1, _MOST_SHIFT + 1 if sign > 0 else side_rows.LEAST_SHIFT + 1):
            first, before = filters[sign * (x - 1)]
            after = np.convolve(before, single)
            kept = np.flatnonzero(np.abs(after) > 1e-7)
            low, high = kept[0], kept[-1] + 1
            filters[sign * x] = (first - 1 + int(low), after[low:high])
    rows, parts, end = [], [], 0
    for x in range(-side_rows.LEAST_SHIFT, _MOST_SHIFT + 1):
        first, part = filters[x]
        rows.append((first, end, end + len(part)))
        parts.append(part)
        end += len(part)
    flat, table = np.concatenate(parts).astype(np.float32), np.array(rows, np.int64)
    flat.setflags(write=False)
    table.setflags(write=False)
    return flat, table


def _one_sided_name(points: int) -> str:
    return f"one-sided-{points}"


def _two_sided_name(points: int, checkers: int) -> str:
    return f"two-sided-{points}x{checkers}"


def _build_rows(points: int) -> Arrays:
    """All that `kernel.Tables` wants of one side: at home, with checkers outside, few anywhere."""
    home = _build_one_sided(points)
    full = _at_home(points, home)
    blocks = [home]
    for outside, checkers, width in side_rows.ENTERING.tolist():
        num = 1 + width * comb(outside + checkers, checkers)
        at_home = full[:width]
        blocks.append(_filled(num, partial(entering.fill_entering, outside, width, at_home)))
    num = side_rows.NUM_FEW
    blocks.append(_filled(num, partial(one_sided.fill_one_sided, 24, one_side.EVERYTHING)))
    return _joined(blocks)


def _at_home(points: int, home: Arrays) -> NDArray[np.float64]:
    """Distributions to the first checker off of 15 at home, by the gaps they leave: [64, 96].

    They are as even as can be on the other points; how many stand there hardly matters.
    """
    found = np.zeros((64, one_sided.LONGEST))
    found[63, 1] = 1  # nobody stands at home: never asked for
    num = comb(points + NUM_CHECKERS, points)
    for gaps in range(63):
        places = [p for p in range(1, 7) if not gaps >> (p - 1) & 1]
        counts = np.zeros(points + 1, np.int64)
        for k in range(NUM_CHECKERS):
            counts[places[k % len(places)]] += 1
        at = one_side.NEXT_OFF * num + one_side.number_of(counts, points)
        chances = home["chances"][home["starts"][at] : home["starts"][at + 1]]
        found[gaps, home["firsts"][at] :][: len(chances)] = chances
    return found


def _build_one_sided(points: int) -> Arrays:
    num = comb(points + NUM_CHECKERS, points)
    return _joined(
        [_filled(num, partial(one_sided.fill_one_sided, points, goal)) for goal in GOALS.values()]
    )


def _filled(num: int, fill: Callable[..., int]) -> Arrays:
    """Rows 0 .. num - 1 of a table, by fill(first, last, means, best, starts, firsts, chances)."""
    best = np.empty((num, 3, 7), np.int32)
    means, firsts = np.empty(num, np.float64), np.empty(num, np.uint8)
    starts, chances = np.zeros(num + 1, np.int64), np.empty(12 * num + 10_000, np.float32)
    done = 0
    while True:
        done = fill(done, num, means, best, starts, firsts, chances)
        if done == num:
            return {
                "starts": starts,
                "firsts": firsts,
                "chances": chances[: starts[num]],
                "means": means,
            }
        chances = np.concatenate([chances, np.empty(len(chances) // 4 + 1000, np.float32)])


def _joined(blocks: Sequence[Arrays]) -> Arrays:
    """Tables end to end."""
    starts, base = [np.zeros(1, np.int64)], 0
    for block in blocks:
        starts.append(block["starts"][1:] + base)
        base += int(block["starts"][-1])
    rest = {
        name: np.concatenate([block[name] for block in blocks])
        for name in ("firsts", "chances", "means")
    }
    return {"starts": np.concatenate(starts), **rest}


def _build_outside() -> Arrays:
    points = side_rows.OUTSIDE_POINTS
    num = comb(points + NUM_CHECKERS, points)
    waste = np.empty((3, num), np.int16)
    means, best = np.empty(num, np.float32), np.empty((num, 3, 7), np.float32)
    for goal, row in ((one_side.EVERYTHING, 0), (one_side.NEXT_OFF, 2)):
        one_sided.fill_mean_waste(points, goal, means, best, waste[row])
    one_sided.fill_far_waste(points, waste[0], waste[1])
    return {"waste": waste}


def _build_two_sided(points: int, checkers: int) -> Arrays:
    size = two_sided_bytes(points, checkers)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > 0.9 * memory:
        raise ValueError(
            f"two-sided table {points}x{checkers}: needs {size / 1e6:,.0f} MB of memory, "
            f"the machine has {memory / 1e6:,.0f} MB"
        )
    num = comb(points + checkers, checkers)
    firsts = np.empty((num, two_sided.NUM_ROLLS + 1), np.int64)
    plays = np.empty(8 * two_sided.NUM_ROLLS * num + 10_000, np.int32)
    while two_sided.fill_plays(points, num, firsts, plays) < num:
        plays = np.empty(2 * len(plays), np.int32)
    pairs = np.empty((num, num, 4), np.float32)
    two_sided.fill_pairs(firsts, plays, pairs)
    return {"pairs": pairs}


def _checked_races(boards: ArrayLike) -> NDArray[np.int8]:
    checked = checked_boards(boards)
    _refuse(checked, has_contact(checked), "the sides have not passed each other")
    return checked


def _refuse(boards: NDArray[np.int8], bad: NDArray[np.bool_], fault: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"boards: {fault} in row {row}: {boards[row].tolist()}")
