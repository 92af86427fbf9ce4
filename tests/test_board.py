"""Boards as numbers and as text, and what is read off them."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from tdgammon.game.board import (
    START,
    checked_boards,
    checked_rolls,
    flip,
    has_contact,
    off_counts,
    parse,
    pip_counts,
    points_won,
    text,
)


@st.composite
def boards(draw):
    """Any board that can occur: each checker has a place or is off, and no point has two owners."""
    own_places = draw(st.lists(st.integers(1, 25), min_size=1, max_size=15))
    free = [place for place in range(25) if place not in own_places]
    opposing_places = draw(st.lists(st.sampled_from(free), max_size=15)) if free else []
    cells = [0] * 26
    for place in own_places:
        cells[place] += 1
    for place in opposing_places:
        cells[place] -= 1
    return tuple(cells)


@given(boards())
def test_text_reads_back_to_the_same_board(board):
    assert tuple(parse(text(board)).tolist()) == board


@given(boards())
def test_flipping_twice_changes_nothing(board):
    assert flip(flip(board)).tolist() == list(board)
    assert tuple(flip(board).tolist()) == reference.flipped(board)


@given(boards())
def test_pip_counts_change_places_when_the_board_is_flipped(board):
    once, twice = pip_counts(checked_boards(board)), pip_counts(flip(checked_boards(board)))
    assert once[0].tolist() == twice[0].tolist()[::-1]


def test_flip_takes_a_batch_and_gives_contiguous_int8():
    rows = flip(np.stack([START, START]))
    assert rows.dtype == np.int8
    assert rows.flags["C_CONTIGUOUS"]
    assert rows.tolist() == [START.tolist()] * 2  # the opening position is symmetric


def test_the_opening_position_in_words():
    assert text(START) == "24:2 13:5 8:3 6:5 / 19:5 17:3 12:5 1:2"
    assert parse("start").tolist() == list(reference.START)
    assert parse(" START ").tolist() == START.tolist()


def test_the_opening_position_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        START[6] = 0
    parse("start")[6] = 4  # a copy


def test_bars_and_empty_sides_in_words():
    board = parse("BAR:2, 6 / bar:3 24")
    assert (board[25], board[6], board[0], board[24]) == (2, 1, -3, -1)
    assert text(board) == "bar:2 6:1 / bar:3 24:1"
    assert text(parse("6:2 / -")) == "6:2 / -"
    assert text(parse("- / 24:2")) == "- / 24:2"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("6:2", "expected 'PLAYER / OPPONENT'"),
        ("6:2 / 3 / 2", "expected 'PLAYER / OPPONENT'"),
        ("6:2 / x", "'x' is not POINT:CHECKERS"),
        ("6:2:1 / -", "'6:2:1' is not POINT:CHECKERS"),
        ("6:-2 / -", "'6:-2' is not POINT:CHECKERS"),
        ("25 / -", "no point 25"),
        ("0 / -", "no point 0"),
        ("6 6 / -", "place 6 is given twice"),
        ("bar bar / -", "place bar is given twice"),
        ("6 / 6", "place 6 is given twice"),
        ("6:16 / -", "more than 15 checkers on a place"),
        ("6:8 5:8 / -", "the player has more than 15 checkers"),
        ("6 / 20:8 19:8", "the opponent has more than 15 checkers"),
        ("- / -", "both sides have borne off"),
    ],
)
def test_words_that_are_no_board(words, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        parse(words)
    assert str(caught.value).startswith("board")


def _with(place, count):
    board = START.astype(int)
    board[place] = count
    return board


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (np.zeros((2, 25), np.int8), r"shape must be \[B, 26\], got \(2, 25\)"),
        (np.zeros((1, 1, 26), np.int8), "shape must be"),
        (7, "shape must be"),
        (START + 0.5, "whole numbers, got float"),
        (START == 0, "whole numbers, got bool"),
        (np.full(26, "x"), "whole numbers"),
        (_with(6, 300), "more than 15 checkers on a place"),
        (_with(6, 16), "more than 15 checkers on a place"),
        (_with(6, 6), "the player has more than 15 checkers"),
        (_with(19, -6), "the opponent has more than 15 checkers"),
        (parse("6:1 / 1:3") - np.eye(26, dtype=int)[25], "on the player's bar"),
        (parse("6:1 / 1:3") + np.eye(26, dtype=int)[0], "on the opponent's bar"),
        (np.zeros(26, np.int8), "both sides have borne off"),
    ],
)
def test_boards_that_cannot_occur(bad, complaint):
    with pytest.raises(ValueError, match=complaint):
        checked_boards(bad)


def test_the_first_bad_board_is_quoted():
    good, bad = START.astype(int), _with(6, 9)
    with pytest.raises(ValueError, match=r"row 1: \[0, -2, 0, 0, 0, 0, 9,"):
        checked_boards([good, bad, bad])


def test_boards_are_taken_from_lists_floats_and_wide_integers():
    for given_board in (START.tolist(), START.astype(np.int64), START.astype(np.float32)):
        board = checked_boards(given_board)
        assert board.dtype == np.int8
        assert board.tolist() == [START.tolist()]
    assert checked_boards(np.zeros((0, 26), np.int8)).shape == (0, 26)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ([3, 1, 2], r"shape must be \[B, 2\]"),
        ([[3, 1], [2, 1]], "2 rolls for 1 boards"),
        ([3, 1.5], "whole numbers"),
        (["a", "b"], "whole numbers"),
        ([0, 1], r"1 to 6, got row 0: \[0, 1\]"),
        ([7, 1], r"1 to 6, got row 0: \[7, 1\]"),
        ([1, -1], "1 to 6"),
        ([257, 1], r"1 to 6, got row 0: \[257, 1\]"),
    ],
)
def test_rolls_that_cannot_occur(bad, complaint):
    with pytest.raises(ValueError, match=complaint):
        checked_rolls(bad, 1)


def test_rolls_become_int8():
    assert checked_rolls([3.0, 1.0], 1).dtype == np.int8


def test_pip_counts_worked_by_hand():
    # 2 x 24 + 5 x 13 + 3 x 8 + 5 x 6 = 167
    assert pip_counts(checked_boards(START)).tolist() == [[167, 167]]
    # own 2 x 25 + 3; opposing: the bar is 25 pips away, point 24 one pip, point 6 nineteen
    board = checked_boards(parse("bar:2 3 / bar 24 6:2"))
    assert pip_counts(board).tolist() == [[53, 25 + 1 + 38]]


def test_pip_counts_of_fifteen_checkers_on_the_bar_do_not_overflow():
    assert pip_counts(checked_boards(parse("bar:15 / bar:15"))).tolist() == [[375, 375]]


def test_off_counts():
    assert off_counts(checked_boards(parse("6:2 bar / bar:2 24:9"))).tolist() == [[12, 4]]


@pytest.mark.parametrize(
    ("words", "contact"),
    [
        ("start", True),
        ("6:2 / 7:2", False),
        ("7:2 / 6:2", True),
        ("1:15 / 24:15", False),
        ("24 / 1", True),
        ("bar / 24:2", True),
        ("2:2 / bar", True),
        ("2:2 / -", False),
        ("- / 2:2", False),
        ("8 3 / 5 20", True),
    ],
)
def test_contact(words, contact):
    board = checked_boards(parse(words))
    assert has_contact(board).tolist() == [contact]
    assert has_contact(flip(board)).tolist() == [contact]


@pytest.mark.parametrize(
    ("words", "points", "why"),
    [
        ("start", 0, "the game goes on"),
        ("6 / -", -1, "fourteen of the loser's checkers are off"),
        ("6:14 / -", -1, "one checker off saves the gammon"),
        ("bar:14 / -", -1, "and the backgammon, wherever the others stand"),
        ("6:15 / -", -2, "none off"),
        ("18:15 / -", -2, "point 18 is outside the winner's home"),
        ("19 6:14 / -", -3, "point 19 is in the winner's home"),
        ("24 6:14 / -", -3, "as is point 24"),
        ("bar 6:14 / -", -3, "on the bar"),
        ("- / 19", 1, "won by the player on roll"),
        ("- / 7:15", 2, "point 7 is outside the player's home"),
        ("- / 6 19:14", 3, "point 6 is in it"),
        ("- / bar 19:14", 3, "on the bar"),
    ],
)
def test_r12_points_won(words, points, why):
    board = checked_boards(parse(words))
    assert points_won(board).tolist() == [points], why
    assert points_won(flip(board)).tolist() == [-points], why


@given(boards())
def test_points_won_agree_with_the_reference_when_one_side_is_off(board):
    finished = tuple(min(count, 0) for count in board)
    if any(finished):
        assert points_won(checked_boards(finished)).tolist() == [reference.points(finished)]
