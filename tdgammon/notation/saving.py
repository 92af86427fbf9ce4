"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tdgammon.notation.detect import MATCH_WRITERS
from tdgammon.notation.document import write_json
from tdgammon.notation.record import MatchRecord

_BY_ENDING = {".json": write_json, ".txt": MATCH_WRITERS["xg"], ".sgf": MATCH_WRITERS["sgf"]}
_BY_ENDING[".mat"] = MATCH_WRITERS["mat"]


def save_match(record: MatchRecord, path: str | Path) -> None:
    """Write a match in the format of the file's ending: .mat, .sgf, .json, or .txt for XG's text.

    Raises ValueError for another ending, and OSError if the file cannot be written.
    """
    check_ending(path)
    write_whole(Path(path), _BY_ENDING[Path(path).suffix.lower()](record))


def check_ending(path: str | Path) -> None:
    """Raise ValueError, quoting the path, unless its ending names a format."""
    if Path(path).suffix.lower() not in _BY_ENDING:
        raise ValueError(f"a match is saved as {', '.join(_BY_ENDING)}, got {str(path)!r}")


def write_whole(path: Path, text: str) -> None:
    """Write a text file as a whole or not at all; a link stays one, and a file keeps its rights.

    Raises OSError if it cannot be written.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise IsADirectoryError(21, "Is not a file", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
