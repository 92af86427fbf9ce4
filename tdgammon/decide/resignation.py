"""Whether a bot accepts a resignation."""

from __future__ import annotations

import numpy as np

from tdgammon.decide.bots import Bot
from tdgammon.decide.cube import dead_cube
from tdgammon.game.match import Match
from tdgammon.game.stakes import stakes_of

_LOSSES = np.eye(6, dtype=np.float32)[3:]
"""Certain loss of a single game, a gammon, a backgammon: [3, 6]."""


def accepts(player: Bot, match: Match) -> bool:
    """Whether a bot accepts what the player on roll has resigned.

    Yes, if that is all that the board shows (R24), or if it costs the player on roll no less than
    playing on by the bot's cubeless chances, in points or, at a score, in match winning chances. A
    bot that does not evaluate positions goes by the board alone.
    """
    if match.resigned >= match.board_size():
        return True
    evaluator = getattr(player, "evaluator", None)
    if evaluator is None:
        return False
    if match.dice:  # the chances after the best play of the dice
        chances = evaluator.rank(match.boards[0], match.dice).probabilities[:1, ::-1]
    else:
        chances = evaluator.probabilities(match.boards)
    stakes = stakes_of(match)
    loss = dead_cube(_LOSSES[match.resigned - 1][None], stakes).no_double[0]
    return bool(loss <= dead_cube(chances, stakes).no_double[0])
