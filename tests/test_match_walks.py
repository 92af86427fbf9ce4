"""Actions in a match: each of them in each phase, and random walks against a twin of the rules."""

import dataclasses
import itertools
import random
from functools import partial

import pytest
from match_states import at_roll, board, leave, refused, won

from tdgammon.game.board import flip, parse
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import PRESETS, GameRules, rules

EVERY = GameRules(beavers=True, raccoons=True)
PHASES = {
    Phase.OPENING: Match(rules=EVERY),
    Phase.ROLL: at_roll(rules=EVERY),
    Phase.PLAY: at_roll(rules=EVERY).roll(3, 1),
    Phase.DOUBLE: at_roll(rules=EVERY).double(),
    Phase.BEAVER: at_roll(rules=EVERY).double().beaver(),
    Phase.RACCOON: at_roll(rules=EVERY).double().beaver().raccoon(),
    Phase.RESIGNATION: at_roll(rules=EVERY).resign(1),
    Phase.GAME_OVER: won(rules=EVERY),
    Phase.MATCH_OVER: won(rules=EVERY, length=1),
}
ALLOWED = {
    Phase.OPENING: {"open"},
    Phase.ROLL: {"roll", "double", "resign", "moved_to"},
    Phase.PLAY: {"play", "resign", "moved_to", "afterstates"},
    Phase.DOUBLE: {"take", "pass_double", "beaver"},
    Phase.BEAVER: {"take", "pass_double", "raccoon"},
    Phase.RACCOON: {"take", "pass_double"},
    Phase.RESIGNATION: {"accept", "reject"},
    Phase.GAME_OVER: {"next_game"},
    Phase.MATCH_OVER: set(),
}
OPENING_PLAY = flip(parse("24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2"))
ACTIONS = {
    "open": lambda match: match.open(3, 1),
    "roll": lambda match: match.roll(3, 1),
    "play": lambda match: match.play(OPENING_PLAY),
    "moved_to": lambda match: match.moved_to(OPENING_PLAY),
    "afterstates": lambda match: match.afterstates(),
    "double": lambda match: match.double(),
    "take": lambda match: match.take(),
    "pass_double": lambda match: match.pass_double(),
    "beaver": lambda match: match.beaver(),
    "raccoon": lambda match: match.raccoon(),
    "resign": lambda match: match.resign(1),
    "accept": lambda match: match.accept(),
    "reject": lambda match: match.reject(),
    "next_game": lambda match: match.next_game(),
}


@pytest.mark.parametrize(("phase", "name"), list(itertools.product(Phase, ACTIONS)))
def test_every_action_is_allowed_in_its_phase_and_refused_in_every_other(phase, name):
    match = PHASES[phase]
    assert match.phase == phase
    if name in ALLOWED[phase]:
        assert name == "afterstates" or ACTIONS[name](match) != match
    elif name == "resign" and phase == Phase.RESIGNATION:
        refused(lambda: ACTIONS[name](match), "is waiting for its answer")
    else:
        refused(lambda: ACTIONS[name](match), f"phase {phase}")


def test_who_has_to_act():
    deciders = {phase: match.decider for phase, match in PHASES.items()}
    assert deciders == {
        Phase.OPENING: None,
        Phase.ROLL: 0,
        Phase.PLAY: 0,
        Phase.DOUBLE: 1,
        Phase.BEAVER: 0,
        Phase.RACCOON: 1,
        Phase.RESIGNATION: 1,
        Phase.GAME_OVER: None,
        Phase.MATCH_OVER: None,
    }


def test_an_illegal_play_is_refused():
    match = Match().open(3, 1)
    refused(lambda: leave(match, "start"), "no legal play of 3-1")
    refused(lambda: match.play(flip(OPENING_PLAY)), "seen by the opponent")  # in the mover's own view
    refused(lambda: match.play(OPENING_PLAY.astype(float) + 0.5), "no legal play of 3-1")


@pytest.mark.parametrize("odd", [[], [0] * 25, OPENING_PLAY[None], 0, None, "8/5 6/5"])
def test_what_is_no_board_is_no_play(odd):
    refused(lambda: Match().open(3, 1).play(odd), "the 26 numbers it leaves")


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (-1, 2), (1.5, 2), ("3", 1), (None, 1)])
def test_dice_are_1_to_6(dice):
    for roll in (Match().open, at_roll().roll):
        with pytest.raises(ValueError, match="rolls: "):
            roll(*dice)


def test_states_are_immutable_hashable_and_equal_by_what_they_say():
    match = Match().open(3, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        match.dice = None
    assert match == Match().open(3, 1)
    assert hash(match) == hash(Match().open(3, 1))
    assert len({match, Match().open(3, 1), Match()}) == 2
    for state in PHASES.values():
        assert state == dataclasses.replace(state)
        assert hash(state) == hash(dataclasses.replace(state))
    before = dataclasses.asdict(match)
    match.afterstates()[:] = 0
    match.boards[:] = 0
    match.play(OPENING_PLAY)
    assert dataclasses.asdict(match) == before


# ---- random walks


def legal(match):
    """A twin of the rules: names of all that may be done, resignations with their size."""
    option, money = match.rules, not match.length
    resignations = set()
    if not match.is_last_roll:
        none_off = sum(max(count, 0) for count in match.board) == sum(max(n, 0) for n in option.start)
        sizes = (0,) if option.resign_by_board else (1, 2, 3) if none_off else (1,)
        resignations = {f"resign {size}" for size in sizes if not size or size > match.refused}
    cube = match.cube_value
    if match.phase == Phase.OPENING:
        return {"open"}
    if match.phase == Phase.ROLL:
        is_free = match.cube_owner is None or match.cube_owner == match.on_roll
        fits = option.cube_limit > 1 and 2 * cube <= option.cube_limit
        doubles = is_free and fits and not match.is_crawford and not match.is_last_roll
        return {"roll"} | resignations | ({"double"} if doubles else set())
    if match.phase == Phase.PLAY:
        return {"play"} | resignations
    answers = {"take", "pass_double"}
    if match.phase == Phase.DOUBLE:
        beaver = option.beavers and money and 4 * cube <= option.cube_limit
        return answers | ({"beaver"} if beaver else set())
    if match.phase == Phase.BEAVER:
        raccoon = option.raccoons and 8 * cube <= option.cube_limit
        return answers | ({"raccoon"} if raccoon else set())
    return {
        Phase.RACCOON: answers,
        Phase.RESIGNATION: {"accept", "reject"},
        Phase.GAME_OVER: {"next_game"},
        Phase.MATCH_OVER: set(),
    }[match.phase]


NAMES = [
    *(name for name in ACTIONS if name not in ("resign", "moved_to", "afterstates")),
    *(f"resign {size}" for size in range(4)),
]


def act(match, name, rng):
    if name in ("open", "roll"):
        return getattr(match, name)(rng.randint(1, 6), rng.randint(1, 6))
    if name == "play":
        after = match.afterstates() if match.phase == Phase.PLAY else OPENING_PLAY[None]
        return match.play(after[rng.randrange(len(after))])
    if name.startswith("resign "):
        return match.resign(int(name[-1]))
    return getattr(match, name)()


STARTS = ("start", "24 23 22 / 1 2 3", "6:2 5:2 4 / 19:2 20:2 21", "7:2 3:3 / 5 24:2 20 19")


def random_rules(rng):
    """Any options that go together."""
    while True:
        try:
            return GameRules(
                cube_limit=rng.choice((1, 2, 4, 8, 64)),
                automatic_doubles=rng.choice(("none", "one", "unlimited")),
                end_counts=rng.choice(("oin", "mars", "cox")),
                next_start=rng.choice(("dice", "loser", "alternate")),
                start=board(rng.choice(STARTS)),
                **{
                    name: rng.random() < 0.5
                    for name in (
                        "jacoby",
                        "beavers",
                        "raccoons",
                        "last_roll_draw",
                        "resign_by_board",
                        "caucasian",
                    )
                },
            )
        except ValueError:
            continue


def walk(match, rng, num_steps):
    """Random actions from `match` on; every state is checked against the twin."""
    crawford_games = 0
    for _ in range(num_steps):
        names = legal(match)
        for name in NAMES:
            if name not in names:
                refused(partial(act, match, name, rng))
        assert match.may_double() == ("double" in names)
        if match.phase == Phase.MATCH_OVER:
            assert max(match.scores) == match.length
            assert match.scores[match.winner] == match.length
            match = Match(rules=match.rules, length=match.length)
            crawford_games = 0
            continue
        assert names, "a state without a legal continuation"
        often = {"roll", "play", "take", "reject", "open", "next_game"} & names
        name = rng.choice(sorted(often if often and rng.random() < 0.85 else names))
        before, match = match, act(match, name, rng)
        assert hash(match) == hash(dataclasses.replace(match))
        if name == "next_game":
            crawford_games += match.is_crawford
            assert crawford_games <= 1
            within_one = bool(match.length) and 1 in match.away
            assert (match.is_crawford or match.is_post_crawford) == within_one
        if match.phase in (Phase.GAME_OVER, Phase.MATCH_OVER):
            check_result(before, match)
        else:
            assert match.scores == before.scores
    return match


def check_result(before, match):
    result, option = match.result, match.rules
    gained = [after - score for after, score in zip(match.scores, before.scores, strict=True)]
    if result.winner is None:
        assert option.last_roll_draw
        assert not any(match.board)
        assert gained == [0, 0]
        return
    assert result.size in (1, 2, 3)
    assert result.points_by_rule in [result.cube_value * size for size in (1, 2, 3)]
    assert result.cube_value <= max(option.cube_limit, 1)
    assert result.cube_value & (result.cube_value - 1) == 0
    assert gained[result.winner] == result.points
    assert gained[1 - result.winner] == 0
    if match.length:
        assert result.points == min(result.points_by_rule, before.away[result.winner])
    else:
        assert result.points == result.points_by_rule
        assert match.balance - before.balance == result.points * (1 if result.winner == 0 else -1)
    if before.phase == Phase.PLAY and not before.is_last_roll and before.decider == result.winner:
        assert not any(count < 0 for count in match.board)


@pytest.mark.parametrize("seed", range(40))
def test_random_walks_under_any_options_never_leave_the_rules(seed):
    rng = random.Random(seed)
    length = rng.choice((0, 0, 1, 2, 3, 5, 7))
    walk(Match(rules=random_rules(rng), length=length), rng, 150)


@pytest.mark.parametrize("length", [0, 5])
@pytest.mark.parametrize("name", PRESETS)
def test_random_walks_under_every_preset_never_leave_the_rules(name, length):
    walk(Match(rules=rules(name), length=length), random.Random(f"{name} {length}"), 200)
