"""What a batch of games is about when a player on roll thinks of doubling: cube, score, rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.match import Match
from tdgammon.game.rules import GameRules

OWN, CENTRED, OPPONENTS = 1, 0, -1


@dataclass(frozen=True, kw_only=True)
class Stakes:
    """Cube and score of B games, seen by the player on roll."""

    rules: GameRules
    cube_values: NDArray[np.int64]
    """[B]."""
    cube_owners: NDArray[np.int8]
    """[B]: OWN, CENTRED or OPPONENTS."""
    away: NDArray[np.int64]
    """[B, 2]: points the player and the opponent need to win the match; (0, 0) for money."""
    is_crawford: NDArray[np.bool_]
    """[B]: this is the Crawford game."""
    is_post_crawford: NDArray[np.bool_]
    """[B]: the Crawford game has been played."""


def stakes_of(match: Match) -> Stakes:
    """Stakes of one match state, as a batch of one, seen by its player on roll."""
    owner = CENTRED
    if match.cube_owner is not None:
        owner = OWN if match.cube_owner == match.on_roll else OPPONENTS
    return Stakes(
        rules=match.rules,
        cube_values=np.array([match.cube_value], np.int64),
        cube_owners=np.array([owner], np.int8),
        away=np.array([[match.away[match.on_roll], match.away[match.opponent]]], np.int64),
        is_crawford=np.array([match.is_crawford]),
        is_post_crawford=np.array([match.is_post_crawford]),
    )
