"""The six outcomes: hand cases, and the five nested chances of other programs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdgammon.game.board import START, parse, points_won
from tdgammon.value.outcome import (
    VALUES,
    from_nested,
    impossible_outcomes,
    outcome_of,
    reverse,
    to_nested,
)

SIX = np.array([0.1, 0.15, 0.3, 0.25, 0.15, 0.05], np.float32)
FIVE = np.array([0.55, 0.25, 0.1, 0.2, 0.05], np.float32)
"""The same chances by hand: 0.1 + 0.15 + 0.3, 0.1 + 0.15, 0.1, 0.15 + 0.05, 0.05."""

chances = st.lists(st.floats(0, 1, width=32), min_size=6, max_size=6).filter(lambda c: sum(c) > 0.01)


def test_points_name_their_outcomes_and_outcomes_are_worth_their_points():
    points = np.array([3, 2, 1, -1, -2, -3], np.int8)
    assert outcome_of(points).tolist() == [0, 1, 2, 3, 4, 5]
    assert VALUES.tolist() == points.tolist()
    assert VALUES.dtype == np.float32


def test_values_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        VALUES[0] = 0


def test_finished_boards_name_their_outcomes():
    boards = np.stack(
        [parse(words) for words in ("- / 24:3", "- / 12:15", "- / 12:14 1", "- / bar 12:14")]
    )
    assert outcome_of(points_won(boards)).tolist() == [2, 1, 0, 0]
    boards = np.stack(
        [parse(words) for words in ("3 / -", "12:15 / -", "12:14 24 / -", "bar 12:14 / -")]
    )
    assert outcome_of(points_won(boards)).tolist() == [3, 4, 5, 5]


def test_nested_chances_by_hand():
    assert to_nested(SIX) == pytest.approx(FIVE, abs=1e-7)
    assert from_nested(FIVE) == pytest.approx(SIX, abs=1e-7)


def test_nested_chances_of_a_certain_backgammon():
    assert to_nested(np.eye(6, dtype=np.float32)[0]).tolist() == [1, 1, 1, 0, 0]
    assert to_nested(np.eye(6, dtype=np.float32)[5]).tolist() == [0, 0, 0, 1, 1]
    assert to_nested(np.eye(6, dtype=np.float32)[3]).tolist() == [0, 0, 0, 0, 0]


@given(st.lists(chances, min_size=1, max_size=4))
def test_nested_chances_convert_there_and_back(rows):
    six = np.array(rows, np.float64)
    six /= six.sum(axis=1, keepdims=True)
    five = to_nested(six)
    assert five.shape == (len(rows), 5)
    assert from_nested(five) == pytest.approx(six, abs=1e-12)
    assert to_nested(from_nested(five)) == pytest.approx(five, abs=1e-12)
    # the equity of nested chances: 2 win - 1 + gammons + backgammons of either side
    nested_equity = 2 * five[:, 0] - 1 + five[:, 1] + five[:, 2] - five[:, 3] - five[:, 4]
    assert six @ VALUES == pytest.approx(nested_equity, abs=1e-6)


def test_the_other_side_sees_the_outcomes_reversed_and_the_equity_negated():
    assert reverse(SIX).tolist() == SIX.tolist()[::-1]
    assert (reverse(reverse(SIX)) == SIX).all()
    assert reverse(SIX) @ VALUES == pytest.approx(-(SIX @ VALUES))


def test_a_side_that_has_borne_off_loses_no_gammon():
    boards = np.stack([START, parse("6:14 / 19:15"), parse("6:15 / 19:14"), parse("6:14 / 19:14")])
    win_gammons, lose_gammons = [True, True, False], [False, True, True]
    nothing = [False, False, False]
    assert impossible_outcomes(boards).tolist() == [
        nothing + nothing,
        nothing + lose_gammons,
        win_gammons + nothing,
        win_gammons + lose_gammons,
    ]
