"""Count the afterstates of the positions in a file, and time the rules engine.

FILE holds one position a line, plain or gzipped: either a JSON object with `board` (26 numbers),
`dice` and, to be compared, `n` (number of distinct afterstates) and `hash` (first 16 hex digits of
SHA-256 over the afterstates as bytes, sorted and joined); or a board in words, a semicolon and the
dice. Empty lines and lines that start with # are passed over. Exit status 1 if a count or hash differs.

Example:
  echo "24:2 13:5 8:3 6:5 / 19:5 17:3 12:5 1:2 ; 31" > opening.txt
  tdgammon perft opening.txt
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import statistics
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tdgammon.game.board import Boards, Rolls, checked_boards, checked_rolls, parse
from tdgammon.game.moves import afterstates

_CHUNK = 4096  # boards a call; more only costs memory
_PASSES = 5  # timed passes over the file, after the one that is checked
_SHOWN = 5  # differences printed; --json has them all
_DICE = re.compile(r"\s*(\d)\s*[-, ]?\s*(\d)\s*")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the file: a board [26], a roll [2] and what the afterstates should be."""

    line: int
    board: Boards
    roll: Rolls
    expected_n: int | None
    expected_hash: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="positions with dice, one a line; .gz is unpacked")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    cases = read_cases(args.file)
    boards = np.array([case.board for case in cases])
    rolls = np.array([case.roll for case in cases])
    num_afterstates, differences = _compare(cases, boards, rolls)
    median_s = statistics.median(_timed(boards, rolls) for _ in range(_PASSES))
    report = {
        "file": args.file,
        "positions": len(cases),
        "afterstates": num_afterstates,
        "compared": sum(
            case.expected_n is not None or case.expected_hash is not None for case in cases
        ),
        "different": len(differences),
        "differences": differences,
        "positions_per_s": len(cases) / median_s,
        "afterstates_per_s": num_afterstates / median_s,
    }
    print(json.dumps(report) if args.json else _in_words(report, differences))
    return 1 if differences else 0


def _in_words(report: dict[str, Any], differences: list[dict[str, object]]) -> str:
    counts = "{positions:,} positions, {afterstates:,} afterstates"
    compared = "{compared:,} compared, {different:,} different"
    speed = "{positions_per_s:,.0f} positions/s, {afterstates_per_s:,.0f} afterstates/s"
    lines = [
        "  line {line}: {what} {got}, expected {expected}".format_map(found)
        for found in differences[:_SHOWN]
    ]
    return "\n".join(
        [f.format_map(report) for f in (counts, compared)] + lines + [speed.format_map(report)]
    )


def read_cases(path: str) -> list[Case]:
    """The positions of a perft file. Raises ValueError with file, line number and text of a bad one."""
    cases = []
    for number, line in _lines(path):
        try:
            cases.append(_case(number, line))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}:{number}: {error} in {line[:200]!r}") from error
    if not cases:
        raise ValueError(f"{path}: no positions")
    return cases


def _lines(path: str) -> Iterator[tuple[int, str]]:
    try:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line.strip()
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _case(number: int, line: str) -> Case:
    if line.startswith("{"):
        item = json.loads(line)
        for key in ("board", "dice"):
            if key not in item:
                raise ValueError(f"{key} is missing")
        board, dice = item["board"], item["dice"]
        if np.ndim(board) != 1:
            raise ValueError("board must be a list of 26 numbers")
        expected_n, expected_hash = item.get("n"), item.get("hash")
        if type(expected_n) not in (int, type(None)) or type(expected_hash) not in (str, type(None)):
            raise ValueError("n must be a whole number and hash a text")
    else:
        words, _, end = line.partition(";")
        match = _DICE.fullmatch(end)
        if not match:
            raise ValueError("expected BOARD ; DICE such as '6:2 / 24:2 ; 31'")
        board, dice = parse(words), [int(match[1]), int(match[2])]
        expected_n = expected_hash = None
    return Case(
        line=number,
        board=checked_boards(board)[0],
        roll=checked_rolls(dice, 1)[0],
        expected_n=expected_n,
        expected_hash=expected_hash,
    )


def _compare(cases: list[Case], boards: Boards, rolls: Rolls) -> tuple[int, list[dict[str, object]]]:
    """Number of afterstates of all cases, and where they differ from what the file says."""
    num_afterstates, differences = 0, []
    for first in range(0, len(cases), _CHUNK):
        rows, offsets = afterstates(boards[first : first + _CHUNK], rolls[first : first + _CHUNK])
        num_afterstates += len(rows)
        for case, start, end in zip(cases[first : first + _CHUNK], offsets, offsets[1:], strict=False):
            found: list[tuple[str, object, object]] = []
            if case.expected_n is not None:
                found.append(("n", int(end - start), case.expected_n))
            if case.expected_hash is not None:
                found.append(("hash", hash_of(rows[start:end]), case.expected_hash))
            differences += [
                {"line": case.line, "what": what, "got": got, "expected": expected}
                for what, got, expected in found
                if got != expected
            ]
    return num_afterstates, differences


def hash_of(rows: Boards) -> str:
    """First 16 hex digits of SHA-256 over the rows [A, 26] as bytes, sorted and joined."""
    return hashlib.sha256(b"".join(sorted(row.tobytes() for row in rows))).hexdigest()[:16]


def _timed(boards: Boards, rolls: Rolls) -> float:
    """Seconds that one pass over all positions takes."""
    started_s = time.perf_counter()
    for first in range(0, len(boards), _CHUNK):
        afterstates(boards[first : first + _CHUNK], rolls[first : first + _CHUNK])
    return time.perf_counter() - started_s
