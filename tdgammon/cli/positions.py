"""A position and a roll as they are typed on the command line."""

from __future__ import annotations

import re
from dataclasses import replace

from tdgammon.notation.ids import Position
from tdgammon.notation.xgtext import read_position


def typed_position(words: str, dice: str | None) -> Position:
    """The position of POSITION and --dice, which win over dice in it; ValueError, quoting them."""
    try:
        position = read_position(words)
    except ValueError as fault:
        raise ValueError(f"position {words[:80]!r}: {fault}") from None
    if dice is None:
        return position
    match = re.fullmatch(r"([1-6])[-, ]?([1-6])", dice.strip())
    if not match:
        raise ValueError(f"--dice: two dice of 1 to 6 such as 31 expected, got {dice!r}")
    return replace(position, dice=(int(match[1]), int(match[2])))
