"""What every reader gives back, and the text it starts from.

Nothing is repaired silently: what stands in a file is kept, what cannot be read is skipped with a
warning that has its line, and a file of which nothing can be read is a `NotationError`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tdgammon.notation.ids import Position
from tdgammon.notation.plays import NotationError
from tdgammon.notation.record import MatchRecord

MAX_BYTES = 64 << 20
"""Largest file that is read, so that memory stays bounded."""

MAX_LINE = 4000
"""Longest line of a transcript, in characters; a longer one is skipped with a warning."""

MAX_WARNINGS = 1000
"""Warnings kept of one file; the last one says how many more there were."""

MAX_FAULTS = 2000
"""Plays of one file that are illegal or cannot be read before the rest is given up."""

_QUOTED = 120


@dataclass(frozen=True)
class ReadingWarning:
    """One thing in a file that is not as it should be."""

    line: int
    message: str
    text: str
    """What stands there, shortened."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}: {self.text!r}"


@dataclass(frozen=True, kw_only=True)
class AnalysedPlay:
    """One play that XG lists."""

    level: str
    """As printed: `4-ply`, `XG Roller++`. XG counts one ply more than GNU Backgammon."""
    notation: str
    equity: float
    chances: tuple[float, ...] = ()
    """Nested percentages: win, gammon, backgammon of the player, then of the opponent."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A position and what XG says about it."""

    line: int
    position: Position
    plays: tuple[AnalysedPlay, ...] = ()
    cube: tuple[float, float, float] | None = None
    """Cubeful equities: no double, double and take, double and pass."""
    chances: tuple[float, ...] = ()
    """Nested percentages of a cube decision, as in `AnalysedPlay`."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read: a match, or positions, and the warnings."""

    format: str
    """Name of the format, as `detect.READERS` has it."""
    record: MatchRecord | None = None
    positions: tuple[tuple[int, Position], ...] = ()
    """Line and position, in order."""
    analyses: tuple[Analysis, ...] = ()
    """What XG says about the positions, where it does."""
    warnings: tuple[ReadingWarning, ...] = ()


@dataclass
class Troubles:
    """Collects the warnings of one file."""

    found: list[ReadingWarning] = field(default_factory=list)
    num_left_out: int = 0
    num_faults: int = 0
    """Plays that were illegal or could not be read; see `MAX_FAULTS`."""

    def add(self, line: int, message: str, text: str = "") -> None:
        """Note one; the message may be that of an exception."""
        if len(self.found) >= MAX_WARNINGS:
            self.num_left_out += 1
            return
        self.found.append(ReadingWarning(line, shortened(message, 3 * _QUOTED), shortened(text)))

    def all(self) -> tuple[ReadingWarning, ...]:
        """All of them, in the order of lines."""
        found = sorted(self.found, key=lambda warning: warning.line)
        if self.num_left_out:
            found.append(ReadingWarning(0, f"{self.num_left_out} more warnings are left out", ""))
        return tuple(found)


def shortened(text: str, length: int = _QUOTED) -> str:
    """The text on one line, at most `length` characters of it."""
    words = " ".join(text[: 4 * length].split())
    return words if len(words) <= length and len(text) <= 4 * length else words[: length - 3] + "..."


NOT_UTF8 = "not UTF-8: read as Western European, names may be wrong"


def is_utf8(data: bytes) -> bool:
    """Whether `decoded` does not have to guess: UTF-8, or UTF-16 with its mark."""
    try:
        data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def decoded(data: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 with its mark, else Western European.

    Raises NotationError for what is no text: NUL bytes, gzip, an empty or too large file.
    """
    if len(data) > MAX_BYTES:
        raise NotationError(f"larger than the {MAX_BYTES >> 20} MiB that are read")
    if data[:2] == b"\x1f\x8b":
        raise NotationError("is compressed by gzip; unpack it first")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise NotationError(f"is not the UTF-16 text that it starts as: {error.reason}") from None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if "\0" in text:
        raise NotationError(f"is no text: a NUL character at {text.index(chr(0))}")
    if not text.strip():
        raise NotationError("is empty")
    return text.removeprefix("\ufeff")


def lines_of(text: str, troubles: Troubles) -> list[tuple[int, str]]:
    """Number and text of each line that is not empty; too long ones are skipped with a warning."""
    found = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if len(line) > MAX_LINE:
            troubles.add(number, f"skipped: longer than {MAX_LINE} characters", line[:_QUOTED])
        elif line and not line.isspace():
            found.append((number, line.expandtabs().rstrip()))
    return found
