"""Functions that play, for `module:function` players in tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdgammon import afterstates

SEEN: list[tuple[Any, Any]] = []


def first(boards: Any, rolls: Any) -> Any:
    """The first afterstate listed."""
    rows, offsets = afterstates(boards, rolls)
    return rows[offsets[:-1]]


def recorder(boards: Any, rolls: Any) -> Any:
    """As `first`, remembering what was asked in SEEN."""
    SEEN.append((boards.tolist(), rolls.tolist()))
    return first(boards, rolls)


def unflipped(boards: Any, rolls: Any) -> Any:
    """The common mistake: afterstates in the mover's own view."""
    return -first(boards, rolls)[:, ::-1]


def too_few(boards: Any, rolls: Any) -> Any:
    return first(boards, rolls)[:-1]


def nothing(boards: Any, rolls: Any) -> Any:
    return None


def ragged(boards: Any, rolls: Any) -> Any:
    return [[0] * 26, [0] * 25]


def vandal(boards: Any, rolls: Any) -> Any:
    """Plays legally, then overwrites what it was given."""
    rows = first(boards, rolls)
    boards[:] = 0
    rolls[:] = 0
    return np.array(rows)


NO_FUNCTION = 3


class Shy:
    """An answer that cannot be made an array."""

    def __array__(self, *unused: Any, **named: Any) -> Any:
        raise RuntimeError("not like this")

    def __repr__(self) -> str:
        return "Shy()"


def shy(boards: Any, rolls: Any) -> Any:
    """No array, and says so."""
    return Shy()


def failing(boards: Any, rolls: Any) -> Any:
    """A function with a fault."""
    raise KeyError("spam")


def unfinished(boards: Any, rolls: Any) -> Any:
    """A function that looks for what is not there."""
    return boards.spam


def leaving(boards: Any, rolls: Any) -> Any:
    """A function that ends the program."""
    raise SystemExit(0)


def talking(boards: Any, rolls: Any) -> Any:
    """Prints what it sees."""
    print("thinking")
    return first(boards, rolls)


def failing_in_play(boards: Any, rolls: Any) -> Any:
    """A function with a fault that one board at a time does not show."""
    if len(boards) > 1:
        raise KeyError("spam")
    return first(boards, rolls)
