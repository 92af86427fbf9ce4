"""Inputs: by hand, equal to a plain Python twin, and sums of one row a place."""

import random

import networks
import numpy as np
import pytest
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, parse
from tdgammon.kernels import codes, shots
from tdgammon.value.features import ENCODINGS, NUM_PLACES, Encoder, design
from tdgammon.value.outcome import impossible_outcomes


def many_boards(num_each=60):
    rng = random.Random(11)
    found = [board for board, _ in from_random_play(rng, num_each)]
    for kind in KINDS:
        found += [board for board, _ in awkward(rng, kind, num_each)]
    return np.array(found, np.int8)


def test_tesauros_inputs_are_196_and_his_counts_are_truncated_units():
    assert Encoder("tesauro").num_inputs == 196  # 198 less two for the turn
    x = Encoder("tesauro").encode(START[None])[0]
    own = x[: 24 * 4].reshape(24, 4)
    assert own[23].tolist() == [1, 1, 0, 0]  # two on the 24-point
    assert own[12].tolist() == [1, 1, 1, 1]  # five on the 13: (5 - 3) / 2
    assert own[7].tolist() == [1, 1, 1, 0]  # three on the 8
    assert own[0].tolist() == [0, 0, 0, 0]
    assert x[96:98].tolist() == [0, 0]
    assert own.sum() == 2 + 4 + 3 + 4  # points 24, 13, 8, 6
    assert x[98:].sum() == x[:98].sum()


def test_bar_and_checkers_off_have_their_own_inputs():
    x = Encoder("tesauro").encode(parse("bar:3 6:4 / bar:1 19:9")[None])[0]
    assert x[96:98] == pytest.approx([3 / 2, 8 / 15])
    assert x[98 + 96 :] == pytest.approx([1 / 2, 5 / 15])


def test_counts_have_an_indicator_each_up_to_five():
    assert Encoder("counts").num_inputs == 2 * (24 * 7 + 7 + 7)
    x = Encoder("counts").encode(parse("6:9 5:5 4:1 / 19:15")[None])[0]
    own = x[: 24 * 7].reshape(24, 7)
    assert own[5].tolist() == [0, 0, 0, 0, 0, 1, 0.75]
    assert own[4].tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert own[3].tolist() == [1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_inputs_equal_those_of_the_plain_twin(encoding):
    boards = many_boards()
    twin = np.array([networks.inputs(board, encoding) for board in boards], np.float32)
    assert Encoder(encoding).encode(boards) == pytest.approx(twin, abs=1e-7)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_board_is_the_sum_of_one_row_a_place(encoding):
    boards = many_boards(20)
    table = design(encoding)
    for board, x in zip(boards, Encoder(encoding).encode(boards), strict=True):
        counts = cells_of(board, len(table))
        assert sum(table[place, counts[place] + 15] for place in range(len(table))) == pytest.approx(x)


def cells_of(board, num_places: int = 98):
    cells = np.empty(num_places, np.int8)
    codes.fill(np.array(board, np.int8), 15, cells, np.empty(codes.NUM_MASKS, np.int64))
    return cells


def test_a_pair_shows_up_to_two_checkers_a_side_on_both_places():
    board = np.zeros(26, np.int8)
    board[8], board[9] = 3, -1
    cells = cells_of(board)
    assert cells[28 + 8] == 5 * 2 - 1
    assert cells[28 + 7] == 2
    assert cells[28 + 9] == -5
    assert cells[28 + 20] == 0


def test_a_window_shows_the_points_that_hold_a_checker():
    board = np.zeros(26, np.int8)
    board[2:7] = -2  # the opponent's five-prime from 2 to 6
    assert cells_of(board)[53] == 0, "nobody is behind it"
    board[7] = 1
    assert cells_of(board)[53] == 5, "points 1 to 6 with a checker on 7"
    assert cells_of(board)[54] == 0, "points 2 to 7 with none on 8"
    assert cells_of(-board[::-1])[53 + 18] == -5


def rolls_that_hit(board):
    """Rolls of the player that hit the blot on each point, 0 where there are none."""
    masks = np.empty(codes.NUM_MASKS, np.int64)
    codes.fill(np.array(board, np.int8), 15, np.empty(98, np.int8), masks)
    words = shots.rolls_that_hit(*masks.tolist())
    return [sum((word >> p & 1) << k for k, word in enumerate(words)) for p in range(27)]


def test_a_lone_blot_is_hit_by_the_rolls_that_books_list():
    listed = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3}
    listed |= {13: 0, 14: 0, 15: 1, 16: 1, 17: 0, 18: 1, 19: 0, 20: 1, 21: 0, 22: 0, 23: 0}
    for away, rolls in listed.items():
        board = np.zeros(26, np.int8)
        board[24], board[24 - away] = 2, -1
        assert rolls_that_hit(board)[24 - away] == rolls, away
        assert rolls_that_hit(board)[26] == rolls, "any"


def test_points_in_the_way_take_shots_away():
    board = np.zeros(26, np.int8)
    board[24], board[18], board[20], board[22] = 2, -1, -2, -2  # 6 away, blocked 2 and 4 away
    assert rolls_that_hit(board)[18] == 11 + 2 + 1, "sixes, 5-1 twice, 3-3"
    board[23] = -2
    assert rolls_that_hit(board)[18] == 14, "5-1 by way of the five"


def test_a_checker_on_the_bar_enters_first():
    board = np.zeros(26, np.int8)
    board[25], board[10], board[7] = 1, 2, -1
    board[19:24] = -2  # only aces enter
    assert rolls_that_hit(board)[7] == 3, "the ace enters, the three hits: 3-1, 1-3 and 1-1"


def test_shots_are_told_in_twos():
    board = np.zeros(26, np.int8)
    board[24], board[18], board[4] = (
        2,
        -1,
        1,
    )  # the player's blot on 4 is 14 away from the other's on 18
    cells = cells_of(board)
    assert cells[71 + 18] == 9, "17 rolls"
    assert cells[71 + 4] == 0
    assert cells[96] == 9
    assert cells[97] == 0
    other = cells_of(-board[::-1])
    assert other[71 + 7] == -9
    assert other[97] == -9


def test_codes_brought_up_to_date_are_those_of_the_new_board():
    """Every pair of boards, however different: what changed is listed, and nothing else."""
    boards = many_boards(60)
    for board, new in zip(boards, np.roll(boards, 1, axis=0), strict=True):
        before, masks = np.empty((2, codes.NUM_MASKS), np.int64)
        old, expected = np.empty((2, 72), np.int8)
        codes.fill(board, 15, old, before)
        codes.fill(new, 15, expected, masks)
        cells = np.concatenate([expected[:28], old[28:]])
        changes = np.empty((44, 2), np.int64)
        count = codes.update_codes(cells, before, masks, changes)
        assert (cells == expected).all()
        places = np.flatnonzero(old[28:] != expected[28:]) + 28
        rows = [(31 * p + int(expected[p]) + 15, 31 * p + int(old[p]) + 15) for p in places.tolist()]
        assert changes[:count].tolist() == [list(row) for row in rows]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_count_on_a_place_has_inputs_of_its_own(encoding):
    table = design(encoding)
    for place in range(NUM_PLACES):
        counts = range(-15 if place not in (25, 26) else 0, 16 if place not in (0, 27) else 1)
        rows = {tuple(table[place, count + 15]) for count in counts}
        assert len(rows) == len(counts)
    assert not table[:, 15].any(), "an empty place must put in nothing"


def test_the_design_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        design("tesauro")[0] = 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("num_units", [1, 13])
def test_sparse_sums_and_gradients_equal_the_dense_ones(encoding, num_units):
    boards = many_boards(20)
    rng = np.random.default_rng(3)
    encoder = Encoder(encoding)
    dense = np.array([networks.inputs(board, encoding) for board in boards])
    weight = rng.normal(size=(encoder.num_inputs, num_units)).astype(np.float32)
    bias = rng.normal(size=num_units).astype(np.float32)
    sums, impossible = encoder.weighted_sums(boards, weight, bias)
    assert sums == pytest.approx(dense @ weight + bias, abs=2e-5)
    assert (impossible == impossible_outcomes(boards)).all()
    slopes = rng.normal(size=sums.shape).astype(np.float32)
    assert encoder.weight_gradient(boards, slopes) == pytest.approx(dense.T @ slopes, abs=2e-4)
