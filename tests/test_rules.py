"""Options of play: presets, what each option pays, and one clear error for each bad one (R13-R26)."""

import dataclasses
import itertools

import numpy as np
import pytest

from tdgammon.game.board import START, parse
from tdgammon.game.rules import CUBE_LIMITS, PRESETS, GameRules, options, rules, without_cube


@pytest.mark.parametrize("limit", [1, 2, 4, 8, 16, 32, 64, 128, 4096])
def test_r15_a_game_has_no_cube_or_a_highest_value_that_is_a_power_of_two(limit):
    assert GameRules(cube_limit=limit).cube_limit == limit


@pytest.mark.parametrize("limit", [0, 3, 6, -2, 63, 8192, 64.0, "64", None, True, [2]])
def test_r15_no_other_cube_limit(limit):
    with pytest.raises(ValueError, match=r"rules\.cube_limit: a power of 2 .* got"):
        GameRules(cube_limit=limit)


def test_r15_the_most_that_a_game_can_pay_is_192():
    limits = {name: PRESETS[name].cube_limit * max(PRESETS[name].end_values) for name in PRESETS}
    assert limits["000"] == 192  # 64 x 3, as text 000 says
    assert limits["003"] == 3  # no cube


@pytest.mark.parametrize(
    ("end_counts", "limit", "cover"),
    [("cox", 64, 960), ("cox", 8, 120), ("mars", 8, 80), ("oin", 8, 40), ("cox", 1, 15), ("oin", 1, 5)],
)
def test_r17_a_player_needs_the_stake_times_the_cube_limit_times_the_highest_end_value(
    end_counts, limit, cover
):
    assert GameRules(end_counts=end_counts, cube_limit=limit).stake_cover(5) == cover


@pytest.mark.parametrize("stake", [0, -1, float("nan")])
def test_r17_a_stake_is_positive(stake):
    with pytest.raises(ValueError, match="stake: a positive number expected"):
        GameRules().stake_cover(stake)


@pytest.mark.parametrize(
    ("end_counts", "pays"), [("oin", (1, 1, 1)), ("mars", (1, 2, 2)), ("cox", (1, 2, 3))]
)
def test_r23_oin_mars_and_cox_say_what_a_single_game_a_gammon_and_a_backgammon_pay(end_counts, pays):
    found = GameRules(end_counts=end_counts)
    assert found.end_values == pays
    single, gammon, backgammon = pays
    outcomes = [backgammon, gammon, single, -single, -gammon, -backgammon]
    assert found.outcome_values.tolist() == outcomes
    assert found.outcome_values.dtype == np.float32


BAD = [
    (
        {"automatic_doubles": "two"},
        r"rules\.automatic_doubles: one of none, one, unlimited expected, got 'two'",
    ),
    ({"automatic_doubles": True}, r"rules\.automatic_doubles: .* got True"),
    ({"end_counts": "koks"}, r"rules\.end_counts: one of oin, mars, cox expected, got 'koks'"),
    ({"next_start": "winner"}, r"rules\.next_start: one of dice, loser, alternate .* got 'winner'"),
    ({"jacoby": "yes"}, r"rules\.jacoby: true or false expected, got 'yes'"),
    ({"beavers": 1}, r"rules\.beavers: true or false expected, got 1"),
    ({"caucasian": None}, r"rules\.caucasian: true or false expected, got None"),
    ({"raccoons": True}, r"rules\.raccoons: needs beavers"),
    ({"cube_limit": 1, "jacoby": True}, r"rules\.jacoby: needs a cube"),
    ({"cube_limit": 1, "beavers": True}, r"rules\.beavers: needs a cube"),
    ({"cube_limit": 1, "beavers": True, "raccoons": True}, r"rules\.beavers: needs a cube"),
    ({"cube_limit": 1, "automatic_doubles": "one"}, r"rules\.automatic_doubles: needs a cube"),
    ({"start": tuple(parse("6:2 / 19"))}, r"rules\.start: 2 checkers against 1 in '6:2 / 19:1'"),
    ({"start": tuple(parse("6 / -"))}, r"rules\.start: 1 checkers against 0"),
    ({"start": (0,) * 26}, "both sides have borne off"),
    ({"start": (16, *START.tolist()[1:])}, "more than 15 checkers"),
    ({"start": (0,) * 25}, r"shape must be \[B, 26\]"),
    (
        {"start": (START.tolist(), START.tolist())},
        r"rules\.start: one board of 26 numbers expected, got 2",
    ),
]


@pytest.mark.parametrize(("bad", "message"), BAD, ids=lambda value: str(value)[:60])
def test_bad_and_contradictory_options_give_one_clear_error(bad, message):
    with pytest.raises(ValueError, match=message) as caught:
        GameRules(**bad)
    assert "\n" not in str(caught.value)


def test_every_combination_of_yes_or_no_is_playable_or_one_error():
    names = ("jacoby", "beavers", "raccoons", "last_roll_draw", "resign_by_board", "caucasian")
    num_good = 0
    for limit, automatic in itertools.product((1, 64), ("none", "one", "unlimited")):
        for values in itertools.product((False, True), repeat=len(names)):
            chosen = dict(zip(names, values, strict=True))
            needs_cube = chosen["jacoby"] or chosen["beavers"] or automatic != "none"
            bad = (chosen["raccoons"] and not chosen["beavers"]) or (limit == 1 and needs_cube)
            try:
                GameRules(cube_limit=limit, automatic_doubles=automatic, **chosen)
            except ValueError:
                assert bad, (limit, automatic, chosen)
            else:
                assert not bad, (limit, automatic, chosen)
                num_good += 1
    # with a cube: 3 automatic x 2 jacoby x 3 beavers/raccoons x 8; without: 8
    assert num_good == 3 * 2 * 3 * 8 + 8


def test_rules_are_immutable_hashable_and_equal_by_what_they_say():
    found = GameRules(jacoby=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.jacoby = False
    assert found == GameRules(jacoby=True) != GameRules()
    assert len({found, GameRules(jacoby=True), GameRules()}) == 2
    assert GameRules(start=START.tolist()) == GameRules(start=START) == GameRules()
    assert hash(GameRules(start=START.tolist())) == hash(GameRules())


def test_the_presets_that_users_rely_on_exist():
    expected = {"standard", "tournament", "caucasian", "nackgammon", "hypergammon"}
    assert expected | {"000", "001", "002", "003", "004"} | {"standard-money"} == set(PRESETS)
    for name, preset in PRESETS.items():
        assert rules(name) is preset
    assert rules(GameRules(jacoby=True)) == GameRules(jacoby=True)


def test_r26_is_an_option_and_a_preset():
    assert rules("caucasian") == GameRules(caucasian=True)


def test_r1_and_the_other_start_positions():
    for name, preset in PRESETS.items():
        board = preset.start_board
        assert (board == -board[::-1]).all(), f"{name} is not the same for both"
    assert (rules("standard").start_board == START).all()
    nackgammon = {p: int(n) for p, n in enumerate(rules("nackgammon").start_board) if n > 0}
    assert nackgammon == {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}
    hypergammon = {p: int(n) for p, n in enumerate(rules("hypergammon").start_board) if n > 0}
    assert hypergammon == {24: 1, 23: 1, 22: 1}
    assert [rules(name).num_checkers for name in ("standard", "nackgammon", "hypergammon")] == [
        15,
        15,
        3,
    ]


def test_each_rule_text_has_a_preset_with_what_it_describes():
    assert rules("000").cube_limit == 64
    assert (rules("001").next_start, rules("001").resign_by_board) == ("loser", True)
    assert rules("001").end_counts == "cox"
    assert rules("002").cube_limit == 64
    assert rules("003").cube_limit == 1  # it has no cube
    text_004 = rules("004")
    assert (text_004.jacoby, text_004.beavers, text_004.automatic_doubles) == (True, True, "one")
    assert not any(rules(name).jacoby or rules(name).beavers for name in ("000", "001", "002", "003"))


@pytest.mark.parametrize("name", ["backgammon", "", "005", "Standard", None])
def test_an_unknown_preset_is_quoted_and_the_known_ones_listed(name):
    with pytest.raises(ValueError, match=f"rules: one of standard, .*004 expected, got {name!r}"):
        rules(name)


def test_options_change_single_fields_by_words():
    changed = options(["jacoby=true", "cube_limit=8", "end_counts=mars"], rules("standard"))
    assert changed == GameRules(jacoby=True, cube_limit=8, end_counts="mars")
    assert options(["start=6:2 / 19:2"], rules("standard")).num_checkers == 2
    assert options([], rules("004")) == rules("004")
    # the two that belong together may come in any order
    money = rules("standard-money")
    assert options(["raccoons=false", "beavers=false"], money) == GameRules(jacoby=True)
    assert options(["beavers=false", "raccoons=false"], money) == GameRules(jacoby=True)


def test_an_option_is_given_once():
    with pytest.raises(
        ValueError, match=r"rules.jacoby: given twice, the second time as 'jacoby=false'"
    ):
        options(["jacoby=true", "jacoby=false"], rules("standard"))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("jacoby", "rules: KEY=VALUE with a key of cube_limit, .* expected, got 'jacoby'"),
        ("crawford=true", "KEY=VALUE .* got 'crawford=true'"),
        ("jacoby=yes", "rules.jacoby: true or false expected, got 'yes'"),
        ("cube_limit=3", "rules.cube_limit: a power of 2 .* got 3"),
        ("cube_limit=²", "rules.cube_limit: a whole number expected, got '²'"),
        ("cube_limit=-2", "rules.cube_limit: a whole number expected, got '-2'"),
        ("raccoons=true", "rules.raccoons: needs beavers"),
        ("start=6:2 / 6:2", "place 6 is given twice"),
        ("start=6:2 6:3 / 19:5", "place 6 is given twice"),
        ("start=6:2 / 19:3", "rules.start: 2 checkers against 3"),
        ("start=6:2", "expected 'PLAYER / OPPONENT'"),
        ("start=26:2 / 19:2", "there is no point 26"),
        ("start=bar:16 / bar:16", "more than 15 checkers"),
        ("next_start=", "rules.next_start: one of dice, loser, alternate expected, got ''"),
    ],
)
def test_bad_words_are_quoted(word, message):
    with pytest.raises(ValueError, match=message):
        options([word], rules("standard"))


@pytest.mark.parametrize("name", PRESETS)
def test_without_a_cube_nothing_is_left_that_needs_one(name):
    bare = without_cube(rules(name))
    assert bare.cube_limit == 1
    assert (bare.start, bare.end_counts, bare.caucasian) == (
        rules(name).start,
        rules(name).end_counts,
        rules(name).caucasian,
    )


def test_cube_limits_are_the_powers_of_two_to_4096():
    assert CUBE_LIMITS == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
