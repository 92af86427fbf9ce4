"""Build and look into the bear-off tables: effective pip counts, race chances, exact cube actions.

`build` builds the tables that are missing, telling their size first; `show` says which there are;
`epc` gives the mean number of rolls and the effective pip count of the player on roll and, once the
sides have passed each other, the chances of both and the cube action. POSITION is text such as
`6:2 5:1 / 20:3`, a GNU Position ID or an XGID.

Example:
  tdgammon bearoff build
  tdgammon bearoff build --points 8 --two-sided 6x8
  tdgammon bearoff show
  tdgammon bearoff epc "6:3 5:4 4:3 / 24:5 23:5 22:5"
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any

import numpy as np

from tdgammon.game.board import Boards, checked_boards, flip, has_contact, parse, pip_counts, text
from tdgammon.notation.ids import read_id
from tdgammon.value import bearoff, table_files
from tdgammon.value.outcome import VALUES

_WORDS = re.compile(r"[\d:/,\s\-bar]*/[\d:/,\s\-bar]*", re.IGNORECASE)
_SIZE = re.compile(r"(\d{1,2})x(\d{1,2})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="build|show|epc", required=True)
    build = actions.add_parser("build", help="build what is missing", allow_abbrev=False)
    show = actions.add_parser("show", help="which tables there are", allow_abbrev=False)
    epc = actions.add_parser("epc", help="rolls and effective pips of a position", allow_abbrev=False)
    epc.add_argument("position", metavar="POSITION", help="text, GNU Position ID or XGID")
    for action in (build, show, epc):
        action.add_argument(
            "--points", type=int, default=6, metavar="P", help="of the one-sided table, 6 to 10; 6"
        )
        action.add_argument(
            "--two-sided",
            default="6x6",
            metavar="PxC",
            help="points and checkers of the two-sided table, up to 10 each; 6x6",
        )
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    match = _SIZE.fullmatch(args.two_sided)
    if not match:
        raise ValueError(f"--two-sided: POINTSxCHECKERS such as 6x6 expected, got {args.two_sided!r}")
    two_sided = int(match[1]), int(match[2])
    if args.action == "epc":
        found = _described(position(args.position), args.points, two_sided)
        print(json.dumps(found) if args.json else _in_words(found))
        return 0
    files = bearoff.files(args.points, two_sided)
    if args.action == "build":
        missing = [size for path, size in files.values() if not path.is_file()]
        if missing:
            print(
                f"tdgammon: {len(missing)} of {len(files)} tables to build, about "
                f"{sum(missing) / 1e6:,.0f} MB in {table_files.folder()}",
                file=sys.stderr,
            )
        bearoff.load(args.points, two_sided)
        files = bearoff.files(args.points, two_sided)
    report = {
        "folder": str(table_files.folder()),
        "tables": [
            {"name": name, "path": str(path), "size_bytes": size, "built": path.is_file()}
            for name, (path, size) in files.items()
        ],
    }
    if args.json:
        print(json.dumps(report))
        return 0
    print(f"in {report['folder']}:")
    for name, (path, size) in files.items():
        built = "" if path.is_file() else "  (about; not built)"
        print(f"  {name:16} {size / 1e6:10,.1f} MB{built}")
    return 0


def position(words: str) -> Boards:
    """The board of a position in words or of an identifier; ValueError if it is neither."""
    if words.strip().lower() == "start" or _WORDS.fullmatch(words):
        return parse(words)
    return checked_boards(np.array(read_id(words).board))[0]


def _described(board: Boards, points: int, two_sided: tuple[int, int]) -> dict[str, Any]:
    if board[25] > 0 or not (board > 0).any():
        fault = "a checker is on the bar" if board[25] > 0 else "everything is off"
        raise ValueError(f"position: {fault}: {text(board)!r}")
    tables = bearoff.load(points, two_sided)
    mean = float(tables.mean_rolls(board)[0])
    epc = float(tables.epc(board)[0])
    pips = int(pip_counts(board[None])[0, 0])
    found: dict[str, Any] = {
        "board": text(board),
        "pips": pips,
        "mean_rolls": mean,
        "epc": epc,
        "wastage": epc - pips,
        "rolls": [round(float(p), 6) for p in np.trim_zeros(tables.distributions(board)[0], "b")],
    }
    if has_contact(board[None])[0] or not (board < 0).any():
        return found
    other = flip(board)
    found["opponent"] = {
        "pips": int(pip_counts(other[None])[0, 0]),
        "mean_rolls": float(tables.mean_rolls(other)[0]),
        "epc": float(tables.epc(other)[0]),
    }
    chances = tables.probabilities(board)[0]
    found["probabilities"] = [float(p) for p in chances]
    found["equity"] = float(chances @ VALUES)
    if not np.isnan(tables.equities(board)[0, 0]):
        found["cube"] = {
            name: vars(tables.cube_action(board, owned=owned, beavers=True))
            for name, owned in (("centred", False), ("owned", True))
        }
    return found


def _in_words(found: dict[str, Any]) -> str:
    lines = [
        found["board"],
        f"mean rolls    {found['mean_rolls']:.4f}",
        f"EPC           {found['epc']:.3f} ({found['pips']} pips, {found['wastage']:.3f} wasted)",
    ]
    if "opponent" in found:
        lines.append(f"opponent      {found['opponent']['epc']:.3f} ({found['opponent']['pips']} pips)")
        names = ("win bg", "win gammon", "win", "lose", "lose gammon", "lose bg")
        shown = [
            f"{name} {100 * p:.2f} %"
            for name, p in zip(names, found["probabilities"], strict=True)
            if p > 0
        ]
        lines.append(f"chances       {', '.join(shown)}")
    for name, action in found.get("cube", {}).items():
        lines.append(
            f"cube {name:8} {action['verdict']} (no double {action['no_double']:+.5f}, "
            f"take {action['double_take']:+.5f}, pass +1)"
        )
    return "\n".join(lines)
