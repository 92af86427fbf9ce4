"""Specialists: every position has the class that the words say, and each learns from its own."""

import random

import networks
import numpy as np
import pytest
from networks import ARCHITECTURES, random_weights
from positions import from_random_play

from tdgammon.game.board import parse
from tdgammon.kernels import position_class
from tdgammon.learn.learning import Learner
from tdgammon.learn.specialists import SpecialistsLearner, position_classes
from tdgammon.value.tables import of_class

SPECIALISTS = ARCHITECTURES["specialists"]
NO_SHIFT = (0, 0)


def classes(boards, shift=NO_SHIFT):
    return position_classes(boards, np.array(shift, np.int8))


@pytest.fixture(scope="module")
def boards():
    return np.array([board for board, _ in from_random_play(random.Random(8), 2000)], np.int8)


@pytest.fixture(scope="module")
def targets(boards):
    chances = np.random.default_rng(2).random((len(boards), 6)) + 0.1
    chances[~np.array([networks.possible(board) for board in boards])] = 0
    return (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("start", position_class.BOTH_BACK),
        ("24:1 13:14 / 1:2 12:13", position_class.BOTH_BACK),
        ("19:2 13:13 / 12:15", position_class.OWN_BACK),
        ("18:2 13:13 / 6:1 12:14", position_class.OPPONENT_BACK),
        ("18:2 13:13 / 7:2 12:13", position_class.OPPONENT_BACK),
        ("bar:1 24:2 13:12 / 12:15", position_class.OWN_MANY),
        ("20:3 13:12 / 3:3 12:12", position_class.OWN_MANY),
        ("20:3 13:12 / bar:2 3:2 12:11", position_class.OPPONENT_MANY),
    ],
)
def test_classes_of_positions(text, kind):
    assert classes(parse(text)[None])[0] == kind


def test_classes_equal_those_of_the_plain_twin(boards):
    twin = [networks.position_class(board) for board in boards.tolist()]
    assert set(twin) == set(range(position_class.NUM_CLASSES))
    assert classes(boards).tolist() == twin
    assert [position_class.of(board) for board in boards] == twin


def test_a_shift_is_as_if_more_or_fewer_checkers_were_back():
    start = parse("start")[None]
    expected = {(1, 0): 3, (0, 1): 4, (-1, 0): 0, (-2, 0): 2, (0, -2): 1, (-5, 1): 4, (-9, -9): 2}
    assert {shift: int(classes(start, shift)[0]) for shift in expected} == expected


def test_each_learns_from_the_positions_of_its_class_alone(boards, targets):
    weights = random_weights(SPECIALISTS)
    together = SpecialistsLearner(SPECIALISTS, weights, 0.9, overlap=0.0)
    order = np.random.default_rng(3).permutation(len(boards))
    losses = together.learn(boards, targets, order, 0.01, 64)
    kinds = classes(boards)[order]
    expected = []
    for kind in range(position_class.NUM_CLASSES):
        alone = Learner(SPECIALISTS.specialist, of_class(weights, kind), 0.9)
        expected.extend(alone.learn(boards, targets, order[kinds == kind], 0.01, 64))
        for name, weight in alone.average_weights().items():
            assert (together.average_weights()[name][kind] == weight).all()
    assert losses.tolist() == expected
    assert together.num_steps == len(expected)


def test_a_class_without_positions_stands_still(boards, targets):
    own_back = boards[classes(boards) == position_class.OWN_BACK]
    weights = random_weights(SPECIALISTS)
    pupil = SpecialistsLearner(SPECIALISTS, weights, 0.9, overlap=0.0)
    assert pupil.learn(own_back, targets, np.arange(0), 0.01, 64).size == 0
    pupil.learn(own_back, targets, np.arange(len(own_back)), 0.01, 64)
    moved = (pupil.weights()["inputs.bias"] != weights["inputs.bias"]).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [position_class.OWN_BACK]


def test_positions_near_a_border_are_shared_with_the_class_beyond(boards, targets):
    own_back = boards[classes(boards) == position_class.OWN_BACK]
    weights = random_weights(SPECIALISTS)
    pupil = SpecialistsLearner(SPECIALISTS, weights, 0.9, overlap=0.5)
    pupil.learn(own_back, targets, np.arange(len(own_back)), 0.01, 64)
    moved = (pupil.weights()["inputs.bias"] != weights["inputs.bias"]).any(axis=1)
    # one more of the opponent's back, or one more or less of the player's; never many of the opponent's
    assert np.flatnonzero(moved).tolist() == [
        position_class.BOTH_BACK,
        position_class.OWN_BACK,
        position_class.OPPONENT_BACK,
        position_class.OWN_MANY,
    ]


def test_learning_goes_on_from_its_state_exactly(boards, targets):
    order = np.arange(len(boards))
    one = SpecialistsLearner(SPECIALISTS, random_weights(SPECIALISTS), 0.9, 0.5)
    one.learn(boards, targets, order, 0.01, 64)
    other = SpecialistsLearner(SPECIALISTS, random_weights(SPECIALISTS, 2), 0.9, 0.5)
    other.load_state(one.state())
    for pupil in (one, other):
        pupil.learn(boards, targets, order, 0.01, 64)
    for name, array in one.state().items():
        assert np.array_equal(array, other.state()[name]), name
