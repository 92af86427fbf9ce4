"""Fields of the lines of a decision file, checked: what is not sound is a ValueError that quotes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.match import MAX_LENGTH
from tdgammon.game.rules import CUBE_LIMITS

_ROUNDING = 1e-3  # of the chances of a file, which need not fit together better than that


def numbers(values: Any, wanted: int) -> NDArray[np.float64]:
    """So many finite numbers, float64 [wanted]."""
    is_list = isinstance(values, list) and not any(isinstance(value, bool) for value in values)
    array = np.asarray(values)
    if not is_list or array.shape != (wanted,) or wanted == 0 or array.dtype.kind not in "iuf":
        raise ValueError(f"{wanted or 'some'} numbers expected, got {values!r:.80}")
    if not np.isfinite(array).all():
        raise ValueError(f"finite numbers expected, got {values!r:.80}")
    return array.astype(np.float64)


def chances(values: Any) -> NDArray[np.float64]:
    """Win, win gammon, win backgammon, lose gammon, lose backgammon, float64 [5]."""
    found = numbers(values, 5)
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = found
    falling = (1, win, win_gammon, win_backgammon, 0), (1 - win, lose_gammon, lose_backgammon, 0)
    if any((np.diff(side) > _ROUNDING).any() for side in falling):
        raise ValueError(f"five chances, none of a part above the whole, expected, got {values!r:.80}")
    return found


def flag(item: dict[str, Any], key: str) -> bool:
    """True or false."""
    value = item[key]
    if not isinstance(value, bool):
        raise ValueError(f"{key}: true or false expected, got {value!r:.80}")
    return value


def cube_value(item: dict[str, Any]) -> int:
    """A power of 2 that a cube can show."""
    value = item["cube_value"]
    if type(value) is not int or value not in CUBE_LIMITS:
        raise ValueError(f"cube: a power of 2 up to {CUBE_LIMITS[-1]} expected, got {value!r:.80}")
    return value


def away(item: dict[str, Any]) -> tuple[int, int]:
    """Points that the player and the opponent need; (0, 0) for money, which is null in the file."""
    pair = item["away"]
    if pair is None:
        return 0, 0
    is_pair = isinstance(pair, list) and len(pair) == 2 and all(type(need) is int for need in pair)
    if not is_pair or not all(1 <= need <= MAX_LENGTH for need in pair):
        raise ValueError(
            f"away: null, or two numbers above 0 and up to {MAX_LENGTH}, expected, got {pair!r:.80}"
        )
    return pair[0], pair[1]
