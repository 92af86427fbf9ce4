"""Bots and resignations: worked by hand."""

import numpy as np
import pytest
from terminals import First, Ranker

from tdgammon.decide.resignation import accepts
from tdgammon.game.board import parse
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import GameRules

BACK = parse("24:2 13:5 8:3 6:5 / 19:5 17:3 12:5 1:2")
"""Nothing is off and two checkers are in the winner's home: the board shows a backgammon."""
HOME = parse("6:8 5:7 / 24:2")
"""Nothing is off, all at home: a gammon."""
OFF = parse("6:8 5:6 / 24:2")
"""One is off: a single game."""


def resigned(board, size, **changes):
    """Player 0 resigns before rolling."""
    changes = {"rules": GameRules()} | changes
    match = Match(phase=Phase.ROLL, board=tuple(board.tolist()), starter=0, **changes)
    return match.resign(size)


def knows(*chances):
    """A bot that gives the player on roll these chances, winning a backgammon first."""
    player = Ranker()
    player.chances = np.float32(chances)
    return player


@pytest.mark.parametrize(("board", "least"), [(BACK, 3), (HOME, 2), (OFF, 1)])
def test_a_bot_without_equities_wants_what_the_board_shows(board, least):
    for size in range(1, least + 1):
        assert accepts(First(), resigned(board, size)) == (size == least)


def test_a_bot_with_equities_accepts_what_is_worth_playing_on():
    # 10 % single wins, 60 % single losses, 30 % gammons lost: 0.1 - 0.6 - 0.6 = -1.1
    more = knows(0, 0, 0.1, 0.6, 0.3, 0)
    assert not accepts(more, resigned(BACK, 1))
    assert accepts(more, resigned(BACK, 2))
    # 0.2 - 0.6 - 0.4 = -0.8
    assert accepts(knows(0, 0, 0.2, 0.6, 0.2, 0), resigned(BACK, 1))


def test_gammons_do_not_count_under_jacoby_until_the_cube_is_turned():
    more = knows(0, 0, 0.1, 0.6, 0.3, 0)
    jacoby = {"rules": GameRules(jacoby=True)}
    assert accepts(more, resigned(BACK, 1, **jacoby))
    assert not accepts(more, resigned(BACK, 1, **jacoby, cube_value=2, cube_owner=0))


def test_a_single_game_is_enough_where_it_wins_the_match():
    more = knows(0, 0, 0.1, 0.6, 0.3, 0)
    assert accepts(more, resigned(BACK, 1, length=5, scores=(0, 4), is_crawford=True))
    assert not accepts(more, resigned(BACK, 1, length=5, scores=(0, 3)))  # a gammon wins it


def test_with_the_dice_known_the_best_play_counts():
    class Seer(Ranker):
        """Sees a sure win for the player in the first play, a lost gammon in all others."""

        def rank(self, board, roll):
            ranked = super().rank(board, roll)
            seen = np.zeros((len(ranked.rows), 6), np.float32)  # the opponent's
            seen[:, 1], seen[0] = 1, np.eye(6)[3]
            return ranked._replace(probabilities=seen)

    match = Match(rules=GameRules(), phase=Phase.ROLL, board=tuple(BACK.tolist()), starter=0).roll(3, 1)
    assert accepts(Seer(), match.resign(1))
    assert not accepts(knows(0, 0, 0, 0, 1, 0), resigned(BACK, 1))
