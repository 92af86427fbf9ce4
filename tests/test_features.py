"""Inputs: by hand, equal to a plain Python twin, and sums of one row a place."""

import random

import networks
import numpy as np
import pytest
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, parse
from tdgammon.kernels import forward
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
        off = [15 - board[board > 0].sum(), -15 - board[board < 0].sum()]
        counts = np.array([*board, *off, *np.zeros(len(table) - NUM_PLACES)], int)
        for place in range(NUM_PLACES, len(table)):
            counts[place] = forward.code_of(counts, place)
        assert sum(table[place, counts[place] + 15] for place in range(len(table))) == pytest.approx(x)


def test_a_pair_shows_up_to_two_checkers_a_side_on_both_places():
    counts = np.zeros(53, np.int8)
    counts[8], counts[9] = 3, -1
    assert forward.code_of(counts, 28 + 8) == 5 * 2 - 1
    assert forward.code_of(counts, 28 + 7) == 2
    assert forward.code_of(counts, 28 + 9) == -5
    assert forward.code_of(counts, 28 + 20) == 0


def test_a_window_shows_the_points_that_hold_a_checker():
    held = np.zeros(72, np.int8)
    held[2:7] = -2  # the opponent's five-prime from 2 to 6
    assert forward.code_of(held, 53) == 0, "nobody is behind it"
    held[7] = 1
    assert forward.code_of(held, 53) == 5, "points 1 to 6 with a checker on 7"
    assert forward.code_of(held, 54) == 0, "points 2 to 7 with none on 8"
    other = -held[25::-1]
    assert forward.code_of(np.concatenate([other, held[26:]]), 53 + 18) == -5


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
