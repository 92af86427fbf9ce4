"""Which format a text is in, by its content alone, and readers and writers by name."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tdgammon.notation import columns, document, mat, sgf, xgtext
from tdgammon.notation.fibs import write_fibs
from tdgammon.notation.ids import Position, gnubg_id, xgid
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import (
    MAX_BYTES,
    MAX_LINE,
    NOT_UTF8,
    Reading,
    ReadingWarning,
    decoded,
    is_utf8,
)
from tdgammon.notation.record import MatchRecord, positions
from tdgammon.notation.snowie import write_snowie

MATCH_WRITERS: dict[str, Callable[[MatchRecord], str]] = {
    "mat": columns.write_mat,
    "sgf": sgf.write_sgf,
    "xg": columns.write_xg,
}
"""Formats of whole matches, besides `json`."""

POSITION_WRITERS: dict[str, Callable[[Position], str]] = {
    "xgid": xgid,
    "gnubgid": gnubg_id,
    "fibs": write_fibs,
    "snowie": write_snowie,
}
"""Formats of one position a line; a match gives its decisions."""

FORMATS = ("json", *MATCH_WRITERS, *POSITION_WRITERS)

_SGF = re.compile(r"\s*\(\s*;")
_LOOKED_AT = 1 << 16  # characters in which a format must show


def read_text(text: str) -> Reading:
    """What a text holds, in whatever format it is.

    Raises NotationError if it is none of them, or if nothing can be read of the one it is in.
    """
    start = text[:_LOOKED_AT]
    lines = start.splitlines()
    if start.lstrip()[:1] == "{":
        return document.read_json(text)
    if _SGF.match(start) and "GM[" in start:
        return sgf.read_sgf(text)
    if any(mat.HEADER.match(line) for line in lines):
        return mat.read_mat(text)
    if _is_list(lines):
        return xgtext.read_position_list(text)
    if "XGID=" in start.upper().replace(" ", ""):
        return xgtext.read_xg_positions(text)
    if re.search(r"Position[- ]?ID", start):
        return xgtext.read_gnu_positions(text)
    if _SGF.match(start):
        return sgf.read_sgf(text)
    try:
        return xgtext.read_position_list(text)
    except NotationError:
        raise NotationError(
            "none of the formats that are read: .mat and XG text, SGF, positions by XGID, GNU ID, "
            "FIBS or Snowie line, our JSON"
        ) from None


def read_file(path: str | Path) -> Reading:
    """What a file holds; raises OSError, or NotationError with the file's name."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            if not stat.S_ISREG(file.stat().st_mode) and not stat.S_ISFIFO(file.stat().st_mode):
                raise NotationError("is not a file")
            data = opened.read(MAX_BYTES + 1)
        reading = read_text(decoded(data))
    except NotationError as error:
        raise NotationError(f"{path}: {error}") from None
    if is_utf8(data):
        return reading
    return replace(reading, warnings=(ReadingWarning(1, NOT_UTF8, ""), *reading.warnings))


def record_positions(record: MatchRecord) -> list[tuple[int, Position]]:
    """The decisions of a match, each with the number of its game."""
    return [(game.number, position) for game, _, position in positions(record)]


def _is_list(lines: list[str]) -> bool:
    """Whether most lines are positions; XG's own text has a drawing and an analysis below its XGID."""
    content = [line for line in lines if line.strip() and not line.lstrip().startswith("#")][:20]
    num_read = 0
    for line in content:
        try:
            xgtext.read_position(line[:MAX_LINE])
        except ValueError:
            continue
        num_read += 1
    return 2 * num_read > len(content)
