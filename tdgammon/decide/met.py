"""Match equity tables: the chance of winning a match at every score up to 64 points away.

The tables by name are package data, with the notices of their authors. A user's own is a JSON file of
the same form or an XML file of explicit rows as GNU Backgammon reads them. `computed` is worked out
here from gammon rates and cube life (`decide.own_met`).

Beyond the last score n of a table, for a player `a` away against one b > n away:
- 1 away: the trailer's chance falls, every two points, by the factor of the table's last two points;
- otherwise the probit of the chance grows along the row as (b - a) / sqrt(s (a + b) + t), and is that
  alone where a >= n too; s and t are fitted to the half of the table with the longest scores. (A
  random walk over games of like variance; within Kazaross-XG2 from 12-away on it is true to 2.3 %.)
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.match import MAX_LENGTH

DEFAULT = "kazaross-xg2"
NAMES = {
    "kazaross-xg2": "met_kazaross_xg2.json",
    "rockwell-kazaross": "met_rockwell_kazaross.json",
    "zorba-g11": "met_zorba_g11.json",
    "woolsey-1992": "met_woolsey_1992.json",
}
"""Files of the tables by name; `computed` is the one without a file."""
COMPUTED = "computed"

_NORMAL = NormalDist()
_LEAST_GAIN = 1e-9
"""Least that a point is worth in a table: equities are in units of what winning the cube gains."""


@dataclass(frozen=True, eq=False)
class MatchEquityTable:
    """Chances of winning a match by the points that the player and the opponent need."""

    name: str
    length: int
    """Points away up to which the numbers are the author's own."""
    before: NDArray[np.float64]
    """[65, 65]: before the next game; where one side needs 1, with the Crawford game ahead."""
    after: NDArray[np.float64]
    """[65, 65]: the same with the Crawford game over."""
    notice: str = ""
    """Copyright and licence, as the file has them."""

    def chances(
        self, away: NDArray[np.int64], after_crawford: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Chances [B] that the player wins with away int [B, 2] points needed by him and the opponent;
        what is below 0 counts as 0, and the player's 0 wins first."""
        needs = np.clip(away, 0, MAX_LENGTH)
        own, theirs = needs[:, 0], needs[:, 1]
        return np.where(after_crawford, self.after[own, theirs], self.before[own, theirs])


def met(name: str | Path = DEFAULT) -> MatchEquityTable:
    """The table of that name, or that of a JSON or XML file.

    Raises ValueError, quoting the name or the file, for one that is not known or not sound.
    """
    if isinstance(name, str):
        if name in NAMES:
            return _named(name)
        if name == COMPUTED:
            from tdgammon.decide import own_met  # which needs this module

            return own_met.computed()
    path = Path(name)
    if path.suffix not in (".json", ".xml"):
        known = ", ".join((*NAMES, COMPUTED))
        raise ValueError(f"met: one of {known}, or a .json or .xml file expected, got {str(name)!r}")
    return _from_file(path)


@lru_cache(maxsize=8)
def _named(name: str) -> MatchEquityTable:
    return _from_file(Path(__file__).with_name(NAMES[name]))


def table_of(
    name: str, pre: NDArray[np.float64], post: NDArray[np.float64], notice: str = ""
) -> MatchEquityTable:
    """A table from pre[i, j] = chance of i + 1 away against j + 1 away and post[k] = chance of the
    trailer, k + 1 away, after the Crawford game; longer scores as the module says.

    Raises ValueError for numbers that no table has.
    """
    _check(pre, post)
    size = MAX_LENGTH + 1
    before = np.zeros((size, size))
    before[0, :] = 1
    before[1:, 1:] = _extended(pre)
    after = before.copy()
    trailer = _tail(post, MAX_LENGTH)
    after[1:, 1] = trailer
    after[1, 1:] = 1 - trailer
    after[1, 1] = trailer[0]
    for array in (before, after):
        array.setflags(write=False)
    return MatchEquityTable(name, len(pre), before, after, notice)


def _check(pre: NDArray[np.float64], post: NDArray[np.float64]) -> None:
    num = len(pre)
    if pre.shape != (num, num) or not 3 <= num <= MAX_LENGTH:
        raise ValueError(f"pre-Crawford table: 3 to {MAX_LENGTH} rows and as many columns expected")
    if post.ndim != 1 or not 3 <= len(post) <= MAX_LENGTH:
        raise ValueError(f"post-Crawford row: 3 to {MAX_LENGTH} chances expected, got {len(post)}")
    if not ((pre > 0) & (pre < 1)).all() or not ((post > 0) & (post < 1)).all():
        raise ValueError("chances of winning above 0 and below 1 expected")
    wrong = np.argwhere(np.abs(pre + pre.T - 1) > 1e-6)
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"{i + 1}-away against {j + 1}-away: {pre[i, j]:.6g} and {pre[j, i]:.6g} do not sum to 1"
        )
    falls = np.argwhere(np.diff(pre, axis=1) < 0)
    if len(falls):
        i, j = falls[0].tolist()
        raise ValueError(
            f"{i + 1}-away: the chance falls from {pre[i, j]:.6g} to {pre[i, j + 1]:.6g} as the "
            f"opponent needs {j + 2} points"
        )
    level = np.argwhere(pre[:-1, 1:] - pre[1:, :-1] < _LEAST_GAIN)
    if len(level):
        i, j = level[0].tolist()
        raise ValueError(f"{i + 2}-away against {j + 2}-away: a point won gains nothing")
    if abs(post[0] - 0.5) > 1e-6:
        raise ValueError(f"post-Crawford row: 0.5 expected at 1-away, got {post[0]:.6g}")
    if (rises := np.flatnonzero(np.diff(post) > 0)).size:
        k = int(rises[0])
        raise ValueError(
            f"post-Crawford row: the chance rises from {post[k]:.6g} at {k + 1}-away to "
            f"{post[k + 1]:.6g} at {k + 2}-away"
        )
    if post[-1] < _LEAST_GAIN:
        raise ValueError(f"post-Crawford row: {post[-1]:.6g} at {len(post)}-away is too small")


def _tail(chances: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Chances of a trailer against 1 away, by k + 1 away, up to `length`."""
    long = np.empty(max(length, len(chances)))
    long[: len(chances)] = chances
    ratio = chances[-1] / chances[-3]
    for k in range(len(chances), length):
        long[k] = long[k - 2] * ratio
    return long[:length]


def _extended(pre: NDArray[np.float64]) -> NDArray[np.float64]:
    """`pre` up to 64 away on both sides."""
    num, size = len(pre), MAX_LENGTH
    away = np.arange(1, size + 1)
    own, theirs = np.meshgrid(away, away, indexing="ij")
    inside = (own <= num) & (theirs <= num)
    probits = np.zeros((size, size))
    probits[inside] = [_NORMAL.inv_cdf(chance) for chance in pre.ravel()]
    fitted = inside & (theirs > own) & (own > num // 2) & (probits > 0)
    slope, base = 3.5, 0.0
    if fitted.sum() >= 3:
        squares = ((theirs - own)[fitted] / probits[fitted]) ** 2
        design = np.stack([(own + theirs)[fitted], np.ones(len(squares))], axis=1)
        slope, base = np.linalg.lstsq(design, squares, rcond=None)[0]
    walk = (theirs - own) / np.sqrt(np.maximum(slope * (own + theirs) + base, 1.0))
    result = np.empty((size, size))
    result[:num, :num] = pre
    trailer = _tail(pre[:, 0], size)
    result[0, num:], result[num:, 0] = 1 - trailer[num:], trailer[num:]
    for a in range(1, size):
        scale = probits[a, num - 1] / walk[a, num - 1] if a < num - 1 else 1.0
        for b in range(max(num, a), size):
            chance = _NORMAL.cdf(scale * walk[a, b])
            result[a, b] = min(chance, result[a - 1, b] - _LEAST_GAIN)  # needing one more is worse
            result[b, a] = 1 - result[a, b]
    return result


def _from_file(path: Path) -> MatchEquityTable:
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror}") from None
    try:
        read = _json if path.suffix == ".json" else _xml
        name, pre, post, notice = read(data)
        return table_of(name, np.array(pre, np.float64), np.array(post, np.float64), notice)
    except _UNREADABLE as fault:
        what = f"{fault} is missing" if isinstance(fault, KeyError) else str(fault)
        raise ValueError(f"{path}: no match equity table: {what}") from None


_UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,  # a key that is missing, or an encoding that nobody knows
    OverflowError,  # whole numbers beyond those of a float
    RecursionError,  # brackets in brackets in brackets
    ElementTree.ParseError,
)


_Read = tuple[str, list[list[float]], list[float], str]


def _json(data: bytes) -> _Read:
    document = json.loads(data)
    if not isinstance(document, dict):
        raise ValueError(f"an object expected, got {document!r:.60}")
    notice = "\n".join(str(document[key]) for key in ("copyright", "licence") if key in document)
    return str(document["name"]), document["pre_crawford"], document["post_crawford"], notice


def _xml(data: bytes) -> _Read:
    if b"<!ENTITY" in data:
        raise ValueError("entities are not read")
    root = ElementTree.fromstring(data)
    kinds: dict[str, list[Any]] = {"pre-crawford-table": [], "post-crawford-table": []}
    for tag, found in kinds.items():
        for table in root.findall(tag):
            kind = table.get("type", "explicit")
            if kind != "explicit":
                raise ValueError(f"{tag} of type {kind!r}; only explicit rows are read")
            found.extend([_chance(me.text) for me in row.findall("me")] for row in table.findall("row"))
        if not found:
            raise ValueError(f"{tag}: no rows")
    post = kinds["post-crawford-table"]
    if any(row != post[0] for row in post):
        raise ValueError("post-crawford-table: the two players' rows differ, which is not read")
    name = root.findtext("info/name") or "match equity table"
    return name.strip(), kinds["pre-crawford-table"], post[0], ""


def _chance(words: str | None) -> float:
    chance = float(words or "")
    if not math.isfinite(chance):
        raise ValueError(f"a chance expected, got {words!r}")
    return chance
