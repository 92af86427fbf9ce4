"""Match states for tests, from positions in words."""

import dataclasses

import pytest

from tdgammon.game.board import flip, parse
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import GameRules, IllegalPlay


def board(words):
    return tuple(parse(words).tolist())


def at_roll(words="start", **changes):
    """A game in which the player on roll, who started it, is about to roll."""
    return Match(**{"phase": Phase.ROLL, "starter": 0, "board": board(words), **changes})


def won(opponent="24:14", **changes):
    """The game that the player on roll, 0 by default, has just won, by where the other stands."""
    return at_roll(f"1 / {opponent}", **changes).roll(6, 5).play(flip(parse(f"- / {opponent}")))


def leave(match, words):
    """Play so that the board is `words` in the mover's view."""
    return match.play(flip(parse(words)))


def refused(action, *words):
    """Whether `action` raises IllegalPlay with these words in one line."""
    with pytest.raises(IllegalPlay) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


LAST_ROLL = GameRules(last_roll_draw=True)


def last_roll_for_1(words, option=LAST_ROLL, **changes):
    """Player 0, who started, has borne off everything; player 1 stands on `words` and has one roll."""
    before = tuple(flip(parse(f"{words} / 24")).tolist())  # 24 to player 1 is the ace point of player 0
    match = at_roll(rules=option, **changes)
    return dataclasses.replace(match, board=before).roll(2, 1).play(parse(f"{words} / -"))
