"""A saved session as a match record, for other programs."""

from __future__ import annotations

from itertools import pairwise

from tdgammon.game.match import Match, Phase
from tdgammon.notation.record import GameRecord, GameWriter, MatchRecord
from tdgammon.notation.saved_game import Session

PERSON_NAME = "You"


def match_record(session: Session) -> MatchRecord:
    """The games of a session, the last one as far as it was played; the person is player 0."""
    games: list[GameRecord] = []
    writer = _writer(session.states[0])
    for (before, after), action in zip(pairwise(session.states), session.actions, strict=True):
        word = action.partition(" ")[0]
        if word == "next":
            writer = _writer(after)
        _note(writer, before, after, word)
        if after.result is not None:
            points = after.result.points if after.result.winner is not None else None
            games.append(writer.finished(after.result.winner, points))
    if session.match.result is None:
        games.append(writer.finished(None, None))
    return MatchRecord(
        players=(PERSON_NAME, session.against),
        length=session.match.length,
        games=tuple(games),
        rules=session.match.rules,
    )


def _writer(match: Match) -> GameWriter:
    return GameWriter(
        number=match.game_number,
        start_score=match.scores,
        is_crawford=match.is_crawford,
        rules=match.rules,
    )


def _note(writer: GameWriter, before: Match, after: Match, word: str) -> None:
    """Write down what one action did."""
    if word == "open" and after.phase == Phase.PLAY and after.cube_value > 1:
        writer.set_position(after.on_roll, after.board, after.cube_value)  # automatic doubles
    elif word == "play":
        assert before.dice is not None
        writer.turn(before.on_roll, before.boards[0], before.dice, after.board)
    elif word in ("double", "take", "pass", "beaver", "raccoon"):
        assert before.decider is not None
        writer.cube(before.decider, word)
    elif (word == "resign" and after.result) or word == "accept":
        assert after.result is not None
        if before.dice:
            writer.rolled(before.on_roll, before.dice)
        writer.resign(before.on_roll, after.result.size)
