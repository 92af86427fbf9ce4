"""Convert a match or positions from one format to another.

FILE is read by what is in it, not by its name: .mat and the text of XG, Jellyfish, Backgammon
Studio, BackgammonGalaxy and others; SGF of GNU Backgammon; positions as XGID, GNU ID, FIBS board
line, Snowie line, or XG's text; our own JSON. A match can be written as mat, sgf, xg or json, and as
a list of its decisions: xgid, gnubgid, fibs or snowie, one a line. What is wrong in the file is told
on stderr by its line and kept as it stands or skipped; --strict refuses such a file instead.

Example:
  tdgammon convert match.txt --to sgf -o match.sgf
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tdgammon.notation.detect import (
    FORMATS,
    MATCH_WRITERS,
    POSITION_WRITERS,
    read_file,
    record_positions,
)
from tdgammon.notation.document import match_document, positions_document
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import Reading
from tdgammon.notation.saving import write_whole

_SHOWN = 20  # warnings printed; --json has them all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="match or positions, in any format that is read")
    parser.add_argument(
        "--to", required=True, choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS)
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=_file, help="file to write (default: stdout)"
    )
    parser.add_argument("--strict", action="store_true", help="take every warning for an error")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON document: what was read, and the text unless -o",
    )


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a file expected, got ''")
    return text


def run(args: argparse.Namespace) -> int:
    reading = read_file(args.file)
    if args.strict and reading.warnings:
        more = f" (and {len(reading.warnings) - 1} more)" if len(reading.warnings) > 1 else ""
        raise NotationError(f"{args.file}: {reading.warnings[0]}{more}")
    try:
        text = _converted(reading, args.to)
    except NotationError as error:
        raise NotationError(f"{args.file}: {error}") from None
    for warning in [] if args.json else reading.warnings[:_SHOWN]:
        sys.stderr.write(f"tdgammon: {args.file}: {warning}\n")
    if len(reading.warnings) > _SHOWN and not args.json:
        sys.stderr.write(f"tdgammon: {args.file}: {len(reading.warnings) - _SHOWN} more warnings\n")
    if args.output:
        write_whole(Path(args.output), text)
    if args.json:
        report: dict[str, Any] = {"file": args.file, "from": reading.format, "to": args.to}
        report |= {"output": args.output} if args.output else {"text": text}
        print(json.dumps(_document(reading) | report, ensure_ascii=False))
    elif not args.output:
        sys.stdout.write(text)
    return 0


def _document(reading: Reading) -> dict[str, Any]:
    if reading.record is not None:
        return match_document(reading.record, reading.warnings)
    return positions_document(reading)


def _converted(reading: Reading, name: str) -> str:
    if name == "json":
        return json.dumps(_document(reading), ensure_ascii=False) + "\n"
    if name in MATCH_WRITERS:
        if reading.record is None:
            raise NotationError(f"holds positions, which cannot be written as a match in {name}")
        return MATCH_WRITERS[name](reading.record)
    positions = reading.positions
    if reading.record is not None:
        positions = tuple(record_positions(reading.record))
    return "".join(POSITION_WRITERS[name](position) + "\n" for _, position in positions)
