"""The Caucasian rule (R26): named cases worked by hand, then sets equal to the slow twin's."""

import random

import numpy as np
import pytest
import reference
from positions import KINDS, awkward, hits_at_home, random_roll

from tdgammon.game.board import flip, parse, text
from tdgammon.game.dice import ROLLS
from tdgammon.game.match import Match, Phase
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import GameRules, IllegalPlay

CAUCASIAN = GameRules(caucasian=True)


def after(words, die1, die2, rules=CAUCASIAN):
    """What the player can leave, in the player's own view, as text; the dice in either order."""
    board = parse(words)
    found = sorted(text(flip(row)) for row in afterstates(board, [die1, die2], rules)[0])
    assert len(set(found)) == len(found), "an afterstate comes twice"
    turned = afterstates(board, [die2, die1], rules)[0]
    assert found == sorted(text(flip(row)) for row in turned)
    if rules is CAUCASIAN:
        slow = reference.caucasian_afterstates(tuple(board.tolist()), (die1, die2))
        assert found == sorted(text(flip(row)) for row in slow)
    return found


def standard(words, die1, die2):
    return after(words, die1, die2, GameRules())


def boards_of(*words):
    return sorted(text(parse(w)) for w in words)


def test_r26_a_checker_that_hit_at_home_may_not_go_on_to_an_own_checker():
    # 8/5*/4 would hide on the 4-point; 8/7/4, which passes without hitting, may stand there
    rest = ("4:2 / 5", "5 3 / bar", "7 1 / 5")
    assert after("8 4 / 5", 3, 1) == boards_of(*rest)
    assert standard("8 4 / 5", 3, 1) == boards_of("4:2 / bar", *rest)


def test_r26_another_checker_may_cover_the_one_that_hit():
    made = ("5:2 / bar", "7 3 / 5", "7 3 / bar", "8 2 / 5")
    assert after("10 7 / 5", 5, 2) == boards_of(*made)  # 10/5* 7/5, the first


def test_r26_the_checker_that_hit_may_go_on_to_an_empty_point():
    assert after("8 / 5", 3, 1) == boards_of("4 / bar", "4 / 5")


def test_r26_the_checker_that_hit_may_go_on_to_hit_again():
    # 8/5*/4* or 8/7/4*: no own checker stands on the 4-point
    assert after("8 / 5 4", 3, 1) == boards_of("4 / bar:2", "4 / bar 5")


def test_r26_the_checker_that_hit_may_be_borne_off():
    # 6/4*/off; 6/4* 5/1; 6/2 5/3; 6/2/off
    made = ("5 / bar 24:2", "4 1 / bar 24:2", "3 2 / 4 24:2", "5 / 4 24:2")
    assert after("6 5 / 4 24:2", 4, 2) == boards_of(*made)


def test_r26_a_hit_outside_the_home_board_is_free():
    # 12/8*/6 stands on an own checker
    made = ("10 2 / 8", "6:2 / 8", "6:2 / bar", "8 4 / bar")
    assert after("12 6 / 8", 4, 2) == boards_of(*made)


def test_r26_the_7_point_is_outside_and_the_6_point_is_at_home():
    assert "5:2 / bar:1" in after("8 5 / 7", 1, 2)  # 8/7*/5
    assert "5:2 / bar:1" not in after("8 5 / 6", 2, 1)  # 8/6*/5


def test_r26_a_hit_from_the_bar_in_the_opponents_home_is_free():
    # bar/23*/22 stands on an own checker
    made = ("22:2 / bar", "22:2 / 23", "23 21 / bar", "24 20 / 23")
    assert after("bar 22 / 23", 2, 1) == boards_of(*made)


def test_r26_a_checker_that_hit_at_home_stays_bound_for_the_whole_turn():
    # 7/5*/3 and there it stays: 3/1 is an own checker, and 1/off waits for the one behind
    assert after("7 1 / 5 24:2", 2, 2) == boards_of("3 1 / bar 24:2")
    assert standard("7 1 / 5 24:2", 2, 2) == boards_of("1 / bar 24:2")


def test_r26_the_point_may_be_vacated_before_the_checker_that_hit_comes():
    # 4/2 and then 6/5*/4; but 3:2, the hitter on the other checker or past it, cannot be left
    made = ("4 2 / bar 24:2", "5 1 / bar 24:2", "6 / 5 24:2")
    assert after("6 4 / 5 24:2", 1, 1) == boards_of(*made)
    assert "3:2 / bar:1 24:2" in standard("6 4 / 5 24:2", 1, 1)


def test_r26_on_a_point_that_holds_the_hitter_and_its_cover_the_cover_may_go_on():
    # 6/5* and 6/5/4/3 with the other: it never hit, and nobody can tell the two apart on the 5-point
    assert "5:1 3:2 / bar:1 24:2" in after("6:2 3 / 5 24:2", 1, 1)
    # of two on the 5-point only one may go on to the 3-point, where a checker stands: 7/5* 7/5/3 3/1
    made = after("7:2 3:3 / 5 24:2", 2, 2)
    assert "5:1 3:3 1:1 / bar:1 24:2" in made
    assert "3:5 / bar:1 24:2" not in made
    assert "3:5 / bar:1 24:2" in standard("7:2 3:3 / 5 24:2", 2, 2)


def test_r26_a_full_play_that_it_forbids_leaves_the_larger_die():
    # 8/5*/4 is the only way of playing both: 7 and 3 are closed
    closed = "7:2 3:2"
    assert standard(f"8 4 / 5 {closed}", 3, 1) == boards_of(f"4:2 / bar {closed}")
    assert after(f"8 4 / 5 {closed}", 3, 1) == boards_of(f"5 4 / bar {closed}", f"8 1 / 5 {closed}")


def test_r26_a_full_play_that_it_forbids_leaves_the_smaller_die_if_the_larger_cannot_be_played():
    # 6/5*/2 is the only way of playing both: 24/21 and 6/3 are closed
    closed = "23:2 21:2 3:2"
    assert standard(f"24 6 2 / 5 {closed}", 3, 1) == boards_of(f"24 2:2 / bar {closed}")
    made = (f"24 5 2 / bar {closed}", f"24 6 1 / 5 {closed}")
    assert after(f"24 6 2 / 5 {closed}", 3, 1) == boards_of(*made)


def test_r26_of_a_double_as_many_as_it_leaves():
    # 7/5* 3/1 5/3: the fourth would be 3/1, on an own checker, and 1/off waits for the one behind
    assert after("7 3 / 5 24:2", 2, 2) == boards_of("3 1 / bar 24:2")
    assert standard("7 3 / 5 24:2", 2, 2) == boards_of("1:2 / bar 24:2")


@pytest.mark.parametrize("words", ["start", "bar:2 13:8 6:5 / 19:5 17:3 12:5 1:2", "6:5 4:5 / 24:2"])
def test_r26_with_no_blot_at_home_nothing_is_different(words):
    for die1, die2 in ROLLS.tolist():
        assert after(words, die1, die2) == standard(words, die1, die2)


def test_r26_a_match_refuses_such_a_play_by_the_name_of_the_rule():
    match = Match(
        rules=CAUCASIAN,
        phase=Phase.PLAY,
        dice=(3, 1),
        board=tuple(parse("8 4 / 5").tolist()),
        starter=0,
    )
    with pytest.raises(IllegalPlay, match="R26"):
        match.play(flip(parse("4:2 / bar")))
    with pytest.raises(IllegalPlay, match="no legal play of 3-1"):
        match.play(flip(parse("8 4 / 5")))
    assert match.play(flip(parse("5 3 / bar"))).phase == Phase.ROLL


def made_up(seed, num_positions):
    """Half of the positions have blots to hit at home, the others are of every awkward kind."""
    rng = random.Random(seed)
    others = [awkward(rng, kind, num_positions) for kind in KINDS]
    for i in range(num_positions):
        roll = random_roll(rng)
        if i % 2:
            yield next(rng.choice(others))
        else:
            yield hits_at_home(rng), (roll[0], roll[0]) if rng.random() < 0.28 else roll


def compare_with_reference(positions):
    """The package's sets against the slow twin's; says in how many the rule made a difference."""
    positions = list(positions)
    boards = np.array([board for board, _ in positions], np.int8)
    rolls = np.array([roll for _, roll in positions], np.int8)
    rows, offsets = afterstates(boards, rolls, CAUCASIAN)
    plain, plain_offsets = afterstates(boards, rolls)
    assert rows.dtype == np.int8
    assert offsets[-1] == len(rows)
    num_different = 0
    for i, (board, roll) in enumerate(positions):
        found = [tuple(row) for row in rows[offsets[i] : offsets[i + 1]].tolist()]
        assert set(found) == reference.caucasian_afterstates(board, roll), (text(boards[i]), roll)
        assert len(set(found)) == len(found), (text(boards[i]), roll)
        free = {tuple(row) for row in plain[plain_offsets[i] : plain_offsets[i + 1]].tolist()}
        num_different += free != set(found)
    return num_different


def test_sets_equal_the_reference():
    assert compare_with_reference(made_up(1, 1_500)) > 50


@pytest.mark.slow
def test_sets_equal_the_reference_on_20_000_positions():
    assert compare_with_reference(made_up(2, 20_000)) > 700


def test_the_two_slow_twins_agree_where_nothing_can_be_hit_at_home():
    rng = random.Random(3)
    for kind in KINDS:
        for board, roll in awkward(rng, kind, 40):
            if -1 not in board[1:7]:
                assert reference.caucasian_afterstates(board, roll) == reference.afterstates(
                    board, roll
                )


@pytest.mark.parametrize("die", [1, 2, 3])
def test_the_widest_rolls_fit(die):
    # single checkers on 12 points and blots between: thousands of states that differ in their marks
    wide = parse("24:2 22 20 18 16 14 12 10 8:2 6 4 2 / 23 21 19 17 15 13 11 9 7 5 3 1")
    rows, _ = afterstates(wide, [die, die], CAUCASIAN)
    free, _ = afterstates(wide, [die, die])
    assert {row.tobytes() for row in rows} <= {row.tobytes() for row in free}
    assert len(rows) > 500
