"""Pubeval: Gerald Tesauro's linear evaluator of 1993, the usual weak yardstick, as tables.

Tesauro gave the evaluator and its 2 x 122 numbers to the public so that programs could be compared
with a common opponent; `pubeval.json` holds the numbers, unscaled. Five weights belong to each
point and one each to the opponent's bar and to the player's borne-off checkers.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdgammon.kernels.linear import NUM_COUNTS

_BAR, _OFF = 120, 121


@cache
def tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What `kernels.linear.choose_by_value` wants: tables [2, 26, 31] and a value per checker off [2].

    First contact, then race. Places and counts are those of flipped afterstates.
    """
    weights = json.loads(Path(__file__).with_name("pubeval.json").read_text())
    pair = [np.array(weights[kind]) for kind in ("contact", "race")]
    return np.stack([_table(row) for row in pair]), np.array([row[_OFF] / 15 for row in pair])


def _table(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    table = np.zeros((26, NUM_COUNTS))
    for j in range(24):
        # the j-th group belongs to the player's point 24 - j, which is place j + 1 of a flipped board
        table[j + 1] = [_at_point(weights[5 * j : 5 * j + 5], -count) for count in range(-15, 16)]
    table[25] = [weights[_BAR] * max(count, 0) / 2 for count in range(-15, 16)]
    return table


def _at_point(weights: NDArray[np.float64], count: int) -> float:
    """Value of `count` checkers (the player's are positive) on a point with these five weights."""
    blot_opposing, blot, made, three, more = weights.tolist()
    if count == -1:
        return blot_opposing
    if count == 1:
        return blot
    if count == 3:
        return made + three
    return made + more * (count - 3) / 2 if count > 3 else made if count == 2 else 0.0
