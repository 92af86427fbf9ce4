"""Afterstates: each rule by name on positions worked by hand, then sets equal to the slow twin's."""

import gzip
import hashlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
import reference
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, flip, parse, points_won, text
from tdgammon.game.dice import ROLLS, rolls_at, streams
from tdgammon.game.moves import afterstates, afterstates_with_steps

COUNTS = json.loads((Path(__file__).parent / "data" / "afterstate_counts.json").read_text())
CORPUS = Path(__file__).parents[1] / ".." / "shared" / "tools" / "engines"


def after(words, die1, die2):
    """What the player can leave, in the player's own view, as text; the dice in either order."""
    board = parse(words)
    rows, offsets = afterstates(board, [die1, die2])
    found = sorted(text(flip(row)) for row in rows)
    assert offsets.tolist() == [0, len(rows)]
    assert len(set(found)) == len(found), "an afterstate comes twice"
    assert found == sorted(text(flip(row)) for row in afterstates(board, [die2, die1])[0])
    return found


def boards_of(*words):
    return sorted(text(parse(w)) for w in words)


def test_r1_the_opening_position_has_2_on_24_5_on_13_3_on_8_5_on_6_and_the_same_mirrored():
    assert {p: int(n) for p, n in enumerate(START) if n > 0} == {24: 2, 13: 5, 8: 3, 6: 5}
    assert (flip(START) == START).all()


def test_r2_the_opening_roll_is_unequal_dice_and_both_are_played():
    rolls = rolls_at(streams(1, 2_000), 0)
    assert (rolls[:, 0] != rolls[:, 1]).all()
    # 8/5 6/5 is among the 16 ways of playing the first 3-1
    made = after("start", 3, 1)
    assert len(made) == 16
    assert text(parse("24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2")) in made


def test_r3_a_checker_that_plays_both_dice_needs_an_open_point_in_between():
    assert after("24 / 18:2", 6, 3) == boards_of("15 / 18:2")  # by way of 21
    assert after("24 / 21:2", 6, 3) == boards_of("15 / 21:2")  # by way of 18
    assert after("24 / 21:2 18:2", 6, 3) == boards_of("24 / 21:2 18:2")
    assert after("24 / 15:2", 6, 3) == boards_of("18 / 15:2")  # 15 is closed, so one die: the larger


def test_r3_which_point_lies_in_between_shows_when_a_blot_is_hit_there():
    assert after("24 / 18 3:2", 6, 3) == boards_of("15 / bar 3:2", "15 / 18 3:2")
    assert after("24 / 18 21", 6, 3) == boards_of("15 / bar 21", "15 / bar 18")


def test_r4_a_double_is_played_four_times():
    assert after("24 / 1:2", 3, 3) == boards_of("12 / 1:2")
    assert after("24 13 / 1:2", 6, 6) == boards_of("7 6 / 1:2")  # 24/6 13/7, because 7/1 is closed


def test_r4_of_a_double_as_many_as_can_be_played():
    assert after("24 / 15:2", 3, 3) == boards_of("18 / 15:2")  # two
    assert after("24 / 12:2", 3, 3) == boards_of("15 / 12:2")  # three
    assert after("24:2 / 18:2", 3, 3) == boards_of("21:2 / 18:2")  # two, one with each
    assert after("24 9 / 16:2", 4, 4) == boards_of("20 1 / 16:2")  # three: 24/20 9/5 5/1
    assert after("24 / 18:2", 3, 3) == boards_of("21 / 18:2")  # one
    assert after("24 / 21:2", 3, 3) == boards_of("24 / 21:2")  # none


def test_r5_two_opposing_checkers_close_a_point_and_one_does_not():
    assert after("8 / 7:2 2:2", 6, 1) == boards_of("8 / 7:2 2:2")
    assert after("8 / 7 2:2", 6, 1) == boards_of("1 / bar 2:2")
    assert after("8 / 7:3 2", 6, 1) == boards_of("1 / 7:3 bar")


def test_r5_own_stacks_have_no_limit():
    assert after("7 6:14 / 5:2 4:2", 2, 1) == boards_of("6:15 / 5:2 4:2")


def test_r6_a_lone_checker_that_is_landed_on_goes_to_the_bar():
    assert after("8 / 7", 6, 1) == boards_of("1 / bar", "1 / 7")  # 8/7*/1 or 8/2/1
    assert after("8 / 7 2", 6, 1) == boards_of("1 / bar 2", "1 / 7 bar")
    assert after("8 / 7 6 5 4", 1, 1) == boards_of("4 / bar:4")


def test_r7_the_bar_comes_first_and_the_rest_of_the_roll_is_played_after_it():
    # from the bar with 6 (19) or with 5 (20), then the other die with any checker
    assert after("bar 13 / 24:2", 6, 5) == boards_of("14 13 / 24:2", "19 8 / 24:2", "20 7 / 24:2")


def test_r7_if_only_some_checkers_enter_the_rest_of_the_roll_is_lost():
    assert after("bar:2 13 / 21:2", 4, 3) == boards_of("bar 22 13 / 21:2")
    assert after("bar:5 13 / 1:2", 4, 4) == boards_of("bar 21:4 13 / 1:2")


def test_r7_no_other_checker_moves_while_none_can_enter():
    assert after("bar 13 8 / 22:2 21:2", 4, 3) == boards_of("bar 13 8 / 22:2 21:2")


def test_r7_a_double_goes_on_after_the_last_entry():
    assert after("bar:3 13 / 1:2", 5, 5) == boards_of("20:2 15 13 / 1:2", "20:3 8 / 1:2")


def test_r8_both_dice_are_played_if_any_order_allows_it():
    # 7/1 20/18 plays both; 7/5 with the 2 would leave no 6 (20/14 is closed)
    assert after("7 20 / 12:2 14:2", 6, 2) == boards_of("1 18 / 12:2 14:2")


def test_r8_one_order_may_open_what_the_other_does_not():
    # 24/23 first, then 23/17; 24/18 is closed
    assert after("24 / 18:2", 6, 1) == boards_of("17 / 18:2")


def test_r8_either_die_but_not_both_the_larger():
    assert after("20 / 11:2 24:2", 6, 3) == boards_of("14 / 11:2 24:2")


def test_r8_the_smaller_if_the_larger_cannot_be_played():
    assert after("20 / 11:2 14:2", 6, 3) == boards_of("17 / 11:2 14:2")


def test_r8_from_the_bar_the_larger_die_enters_when_only_one_can_be_played():
    # bar/19 or bar/22; afterwards 19/16 and 22/16 are closed
    assert after("bar / 16:2", 6, 3) == boards_of("19 / 16:2")


def test_r9_no_bearing_off_while_a_checker_is_outside():
    assert after("7 1 / 24:2", 6, 1) == boards_of("1 / 24:2")  # 7/1 1/off, or 7/6 6/off
    # 13/10 or 13/11 2/1; no 2/off with a checker on 13
    assert after("13 2:2 / 24:2", 2, 1) == boards_of("10 2:2 / 24:2", "11 2 1 / 24:2")


def test_r9_no_bearing_off_from_the_bar():
    assert after("bar 2 / 23:2", 2, 1) == boards_of("22 2 / 23:2")


def test_r9_the_exact_number_bears_off():
    assert after("6:2 1 / 24", 6, 1) == boards_of("6 / 24", "5 1 / 24")


def test_r9_a_larger_number_bears_off_from_the_highest_point():
    assert after("4:2 2 / 24", 6, 5) == boards_of("2 / 24")


def test_r9_a_larger_number_does_not_bear_off_past_a_checker_on_a_higher_point():
    assert after("5 2:2 / 24:2", 4, 3) == boards_of("2 1 / 24:2", "2:2 / 24:2")


def test_r9_moving_inside_the_home_board_is_allowed_instead():
    assert after("6 5 / 24", 5, 1) == boards_of("5 / 24", "4 1 / 24")


def test_r9_the_roll_must_be_used_if_it_can_be():
    # 2/1 1/off, or 2/off with the 6: both take the checker off
    assert after("2 / 24:2", 6, 1) == boards_of("- / 24:2")
    assert after("6 / 24:2", 5, 1) == boards_of("- / 24:2")


def test_r9_the_last_checker_comes_home_and_another_goes_off_in_one_roll():
    assert after("8 3 / 24:2", 3, 2) == boards_of("6 / 24:2", "5 1 / 24:2", "3:2 / 24:2")


def test_r10_a_checker_hit_during_the_bear_off_comes_home_first():
    # 1 is closed; bar/19 with the 6, and then the 1 may not bear off
    assert after("bar 2:2 1 / 24:2", 6, 1) == boards_of("18 2:2 1 / 24:2", "19 2 1:2 / 24:2")


def test_r11_no_legal_play_from_the_bar_against_six_closed_points():
    closed = "bar 6:14 / 24:2 23:2 22:2 21:2 20:2 19:2"
    for high, low in ROLLS.tolist():
        assert after(closed, high, low) == boards_of(closed)


def test_r11_no_roll_passes_a_full_prime():
    primed = "24:2 / 23:2 22:2 21:2 20:2 19:2 18:2"
    for high, low in ROLLS.tolist():
        assert after(primed, high, low) == boards_of(primed)


@pytest.mark.parametrize(
    ("opponent", "points"),
    [
        ("24:14", 1),  # one off
        ("bar:14", 1),  # one off, wherever the rest stand
        ("24:15", 2),
        ("7:15", 2),  # just outside the winner's home
        ("6 24:14", 3),
        ("bar 24:14", 3),
    ],
)
def test_r12_the_result_follows_from_where_the_loser_stands(opponent, points):
    rows, _ = afterstates(parse(f"1:2 / {opponent}"), [6, 5])
    assert points_won(rows).tolist() == [-points]  # the loser is on roll
    assert reference.points(tuple(flip(rows[0]).tolist())) == points


def test_r12_the_game_goes_on_while_a_checker_is_left():
    rows, _ = afterstates(parse("2:3 / 24:15"), [6, 5])
    assert points_won(rows).tolist() == [0]


@pytest.mark.parametrize(
    "case", COUNTS["positions"], ids=lambda case: f"{case['board']} {case['roll']}"
)
def test_counts_of_afterstates_for_fixed_positions(case):
    assert len(afterstates(parse(case["board"]), case["roll"])[0]) == case["count"]


def test_the_data_file_holds_rolls_wider_than_a_thousand_afterstates():
    assert max(case["count"] for case in COUNTS["positions"]) > 1_100


def compare_with_reference(positions):
    """The package's sets against the slow twin's, duplicates, order of dice, and the steps."""
    positions = list(positions)
    boards = np.array([board for board, _ in positions], np.int8)
    rolls = np.array([roll for _, roll in positions], np.int8)
    rows, steps, offsets = afterstates_with_steps(boards, rolls)
    turned, turned_offsets = afterstates(boards, rolls[:, ::-1])
    assert rows.dtype == np.int8
    assert steps.dtype == np.uint8
    assert offsets.dtype == np.int64
    assert offsets[-1] == len(rows) == len(steps)
    for i, (board, roll) in enumerate(positions):
        here = slice(offsets[i], offsets[i + 1])
        found = [tuple(row) for row in rows[here].tolist()]
        assert set(found) == reference.afterstates(board, roll), (text(boards[i]), roll)
        assert len(set(found)) == len(found), (text(boards[i]), roll)
        other = turned[turned_offsets[i] : turned_offsets[i + 1]]
        assert {tuple(row) for row in other.tolist()} == set(found)
        for row, moves in zip(found, steps[here].tolist(), strict=True):
            assert replay(board, roll, moves) == row, (text(boards[i]), roll, moves)


def replay(board, roll, moves):
    """The board, flipped, after `moves` (source * 8 + die) in their order, each legal as it is made."""
    dice = [roll[0]] * 4 if roll[0] == roll[1] else list(roll)
    moves = [divmod(move, 8) for move in moves]
    played = [move for move in moves if move != (0, 0)]
    assert played == moves[: len(played)], "an empty step before a full one"
    for source, die in played:
        dice.remove(die)
        board = reference.step(board, source, die)
        assert board is not None
    return reference.flipped(board)


def test_sets_equal_the_reference_in_random_play():
    compare_with_reference(from_random_play(random.Random(1), 4_000))


@pytest.mark.parametrize("kind", KINDS)
def test_sets_equal_the_reference_on_made_up_positions(kind):
    compare_with_reference(awkward(random.Random(2), kind, 1_200))


def test_sets_equal_the_reference_on_the_widest_rolls():
    wide = [case for case in COUNTS["positions"] if case["count"] > 1_100]
    compare_with_reference((tuple(parse(case["board"]).tolist()), tuple(case["roll"])) for case in wide)


def test_buffers_grow_when_every_board_of_a_batch_is_wide():
    case = max(COUNTS["positions"], key=lambda case: case["count"])
    num_boards = 60  # 110,000 rows, where a first guess has room for some 22,000
    boards = np.repeat(parse(case["board"])[None], num_boards, axis=0)
    rows, steps, offsets = afterstates_with_steps(boards, [case["roll"]] * num_boards)
    assert (np.diff(offsets) == case["count"]).all()
    one, one_steps, _ = afterstates_with_steps(boards[:1], [case["roll"]])
    assert (rows.reshape(num_boards, -1, 26) == one).all()
    assert (steps.reshape(num_boards, -1, 4) == one_steps).all()


def test_inputs_stay_as_they_were_and_an_empty_batch_gives_an_empty_answer():
    board, roll = parse("start"), np.array([3, 1], np.int8)
    afterstates(board, roll)
    assert (board == START).all()
    assert roll.tolist() == [3, 1]
    rows, offsets = afterstates(np.zeros((0, 26), np.int8), np.zeros((0, 2), np.int8))
    assert rows.shape == (0, 26)
    assert offsets.tolist() == [0]


def test_bad_boards_and_rolls_are_refused():
    with pytest.raises(ValueError, match="more than 15 checkers"):
        afterstates(START * 2, [3, 1])
    with pytest.raises(ValueError, match="dice must be 1 to 6"):
        afterstates(START, [0, 1])
    with pytest.raises(ValueError, match="2 rolls for 1 boards"):
        afterstates(START, [[3, 1], [3, 1]])


@pytest.mark.parametrize("name", ["corpus.jsonl.gz", "issue_cases.jsonl"])
def test_sets_equal_those_of_four_other_programs(name):
    path = CORPUS / name
    if not path.exists():
        pytest.skip(f"the shared corpus {name} is not beside this checkout")
    content = path.read_bytes()
    lines = gzip.decompress(content) if path.suffix == ".gz" else content
    cases = [json.loads(line) for line in lines.splitlines()]
    rows, offsets = afterstates([case["board"] for case in cases], [case["dice"] for case in cases])
    for case, first, last in zip(cases, offsets, offsets[1:], strict=False):
        boards = sorted(row.tobytes() for row in rows[first:last])
        assert len(boards) == case["n"], case
        assert hashlib.sha256(b"".join(boards)).hexdigest()[:16] == case["hash"], case
        if "outcomes" in case:
            assert sorted(set((-points_won(rows[first:last])).tolist())) == case["outcomes"]
