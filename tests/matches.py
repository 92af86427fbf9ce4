"""Matches for tests: played at random through the state of a match, with everything that can happen."""

from __future__ import annotations

import random

from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import GameRules
from tdgammon.notation.record import GameWriter, MatchRecord

MATCH_RULES = GameRules(cube_limit=4096)
MONEY_RULES = GameRules(cube_limit=4096, jacoby=True, beavers=True, raccoons=True)


def random_match(
    seed: int,
    length: int,
    num_games: int = 3,
    rules: GameRules | None = None,
    *,
    cube: float = 0.03,
    resigning: float = 0.004,
    breaking_off: bool = True,
) -> MatchRecord:
    """A match to `length` points, or `num_games` games for money, by players who act at random.

    `cube` and `resigning` are chances a turn. One in eight is broken off in its last game.
    """
    rng = random.Random(seed)
    rules = rules or (MATCH_RULES if length else MONEY_RULES)
    state = Match(rules=rules, length=length)
    games = []
    while True:
        writer = GameWriter(
            number=state.game_number,
            start_score=state.scores,
            is_crawford=state.is_crawford,
            rules=rules,
        )
        limit = rng.randrange(5, 60) if breaking_off and rng.random() < 0.125 else None
        while state.result is None and limit != 0:
            state = _act(state, writer, rng, cube, resigning)
            limit = None if limit is None else limit - 1
        result = state.result
        if result is None:
            games.append(writer.finished(None, None))
            break
        games.append(writer.finished(result.winner, result.points))
        if state.phase == Phase.MATCH_OVER or (not length and len(games) == num_games):
            break
        state = state.next_game()
    return MatchRecord(players=("Ann", "Bob"), length=length, games=tuple(games), rules=rules)


def _act(state: Match, writer: GameWriter, rng: random.Random, cube: float, resigning: float) -> Match:
    roll = rng.randint(1, 6), rng.randint(1, 6)
    if state.phase == Phase.OPENING:
        return state.open(*roll)
    if state.phase in (Phase.ROLL, Phase.PLAY) and rng.random() < resigning:
        if state.dice:
            writer.rolled(state.on_roll, state.dice)
        size = rng.randint(1, state.board_size())
        writer.resign(state.on_roll, size)
        return state.resign(size).accept()
    if state.phase == Phase.ROLL:
        if rng.random() < cube and state.may_double() and 64 * state.cube_value <= 4096:
            writer.cube(state.on_roll, "double")
            return state.double()
        return state.roll(*roll)
    if state.phase == Phase.PLAY:
        after = rng.choice(state.afterstates())
        assert state.dice is not None
        writer.turn(state.on_roll, state.boards[0], state.dice, after)
        return state.moved_to(after)
    return _answer(state, writer, rng)


def _answer(state: Match, writer: GameWriter, rng: random.Random) -> Match:
    decider = state.decider
    assert decider is not None
    chance = rng.random()
    if chance < 0.25 and state.phase != Phase.RACCOON and not state.length and state.rules.raccoons:
        word = "beaver" if state.phase == Phase.DOUBLE else "raccoon"
        writer.cube(decider, word)
        return state.beaver() if word == "beaver" else state.raccoon()
    if chance < 0.4:
        writer.cube(decider, "pass")
        return state.pass_double()
    writer.cube(decider, "take")
    return state.take()
