"""Cube decisions of a benchmark file, and what a player's doubles and takes cost on them.

An item has `board` (before the roll), `cube_value`, `cube_owner` ("centered" or "player"), `jacoby`,
`away` (points the player and the opponent need; null for money), `crawford`, `beavers` (must be
false), and the truth: cubeful equities `nd`, `dt`, `dp` of no double, double/take and double/pass.
Whether to double and, unless doubling is a large mistake, whether to take is asked; a wrong answer
costs the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from tdgammon.bench import fields
from tdgammon.bench.asking import in_parts
from tdgammon.decide.bots import Bot
from tdgammon.decide.decision import cube_equities
from tdgammon.game.board import START, Boards, checked_boards, parse
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OWN, Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.bearoff import NO_TABLES
from tdgammon.value.outcome import from_nested

LARGE = 0.2
"""The take is asked where doubling is at most so much of a mistake."""

_OWNERS = {"centered": CENTRED, "player": OWN}


@dataclass(frozen=True, kw_only=True)
class Cubes:
    """Items of a cube file, the money items with Jacoby and the others apart."""

    boards: Boards
    stakes: list[tuple[NDArray[np.int64], Stakes]]
    """Rows and their stakes, one entry for each set of rules."""
    truth: NDArray[np.float64]
    """[B, 3]: no double, double/take, double/pass."""
    items: list[dict[str, Any]]

    @classmethod
    def of(cls, items: list[dict[str, Any]]) -> Cubes:
        """Raises KeyError, TypeError or ValueError for an item that is not sound."""
        parts: dict[bool, list[int]] = {}
        for row, item in enumerate(items):
            parts.setdefault(fields.flag(item, "jacoby") and item["away"] is None, []).append(row)
        return cls(
            boards=checked_boards([item["board"] for item in items]),
            stakes=[
                (np.array(rows), _stakes([items[row] for row in rows], is_jacoby))
                for is_jacoby, rows in parts.items()
            ],
            truth=np.stack(
                [fields.numbers([item[key] for key in ("nd", "dt", "dp")], 3) for item in items]
            ),
            items=items,
        )

    def errors(self, player: Bot, bar: tqdm) -> tuple[NDArray[np.float64], float]:
        """Cost in points of the double and of the take [B, 2] of each item, and the CPU seconds taken.

        The take is NaN where it is not asked.
        """
        warm = np.stack([START, parse("6:1 5:1 / 20:1 19:1")])  # loads and compiles
        player.doubles(warm, _part(self.stakes[0][1], np.zeros(2, np.int64)))
        doubles, takes = np.zeros(len(self.boards), np.bool_), np.zeros(len(self.boards), np.bool_)
        cpu_s = 0.0
        for rows, stakes in self.stakes:

            def answer(
                part: slice, rows: NDArray[np.int64] = rows, stakes: Stakes = stakes
            ) -> NDArray[np.bool_]:
                boards, asked = self.boards[rows[part]], _part(stakes, part)
                both = (player.doubles(boards, asked), player.takes(boards, asked))
                return np.stack(both, axis=1)

            answers, spent_s = in_parts(answer, len(rows), bar)
            doubles[rows], takes[rows] = answers.T
            cpu_s += spent_s
        no_double, take, passed = self.truth.T
        gain = np.minimum(take, passed) - no_double
        of_double = np.where(doubles != (gain > 0), np.abs(gain), 0.0)
        of_take = np.where(takes != (take < passed), np.abs(take - passed), 0.0)
        asked = gain >= -LARGE
        return np.stack([of_double, np.where(asked, of_take, np.nan)], axis=1), cpu_s

    def formulas(self, field: str) -> Bot:
        """A player of the cube who knows the five chances in a field of each item: what the formulas
        do without a network's errors. ValueError if an item has no such field."""
        if not all(field in item for item in self.items):
            raise ValueError(f"player {field!r}: not every item has five chances under that name")
        try:
            nested = np.stack([fields.chances(item[field]) for item in self.items])
        except ValueError as fault:
            raise ValueError(f"player {field!r}: {fault}") from None
        chances = from_nested(nested.astype(np.float32))
        known = {board.tobytes(): row for board, row in zip(self.boards, chances, strict=True)}
        return _Known(field, known)


class _Known:
    """Plays the cube by chances that are known, board by board."""

    def __init__(self, name: str, known: dict[bytes, NDArray[np.float32]]) -> None:
        self.name, self.known = name, known

    def choose(self, boards: Any, rolls: Any, stakes: Stakes | None = None) -> Boards:
        raise ValueError(f"player {self.name!r} makes cube decisions only")

    def doubles(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        return cube_equities(self, boards, stakes).doubles

    def takes(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        return cube_equities(self, boards, stakes).takes

    def worths(self, boards: Any, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        checked = checked_boards(boards)
        even = np.full(6, 1 / 6, np.float32)  # for the board that warms up
        chances = np.stack([self.known.get(board.tobytes(), even) for board in checked])
        values = np.empty((len(checked), table.cash.shape[1], 3), np.float64)
        kernel.evaluate_batch(checked, chances, NO_TABLES, 15, table, side, values)
        return values


def _stakes(items: list[dict[str, Any]], is_jacoby: bool) -> Stakes:
    for item in items:
        if fields.flag(item, "beavers"):
            raise ValueError("beavers: false expected, got true")
        if not isinstance(item["cube_owner"], str) or item["cube_owner"] not in _OWNERS:
            raise ValueError(f"cube_owner: centered or player expected, got {item['cube_owner']!r}")
        if fields.flag(item, "crawford") and min(fields.away(item)) != 1:
            raise ValueError(f"crawford: one side 1 point away expected, got {item['away']!r}")
    away = [fields.away(item) for item in items]
    crawford = np.array([item["crawford"] for item in items])
    over = np.array([min(pair) == 1 for pair in away]) & ~crawford
    return Stakes(
        rules=GameRules(jacoby=is_jacoby),
        cube_values=np.array([fields.cube_value(item) for item in items], np.int64),
        cube_owners=np.array([_OWNERS[item["cube_owner"]] for item in items], np.int8),
        away=np.array(away, np.int64),
        is_crawford=crawford,
        is_post_crawford=over,
    )


def _part(stakes: Stakes, part: slice | NDArray[np.int64]) -> Stakes:
    return replace(
        stakes,
        cube_values=stakes.cube_values[part],
        cube_owners=stakes.cube_owners[part],
        away=stakes.away[part],
        is_crawford=stakes.is_crawford[part],
        is_post_crawford=stakes.is_post_crawford[part],
    )
