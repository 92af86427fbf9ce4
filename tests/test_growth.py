"""Grown networks judge as the small ones did, and their new units can learn."""

import random

import numpy as np
import pytest
from networks import random_weights
from positions import from_random_play

from tdgammon.learn.growth import grown
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture


def made(encoding="counts", hidden=(12,), activation="relu", **fields):
    return Architecture(encoding=encoding, hidden=hidden, activation=activation, **fields)


def boards():
    return np.array([board for board, _ in from_random_play(random.Random(3), 200)], np.int8)


def judged(architecture, weights):
    return NetworkEvaluator(architecture, weights).probabilities(boards())


@pytest.mark.parametrize(
    ("small", "large", "within"),
    [
        (made(), made(hidden=(20,)), 2e-6),
        (made(), made(hidden=(12,)), 0),
        (made(), made("pairs"), 2e-6),
        (made("pairs"), made("windows", hidden=(13,)), 2e-6),
        (made(hidden=(12, 7)), made(hidden=(15, 9)), 2e-6),
        (made(), made(hidden=(12, 12)), 2e-5),
        (made(), made("windows", hidden=(40, 32)), 2e-5),
        (made(activation="sigmoid"), made(hidden=(20,), activation="sigmoid"), 2e-6),
        (made(activation="sigmoid"), made(hidden=(12, 8), activation="sigmoid"), 1e-3),
        (made("tesauro"), made("tesauro", hidden=(16,)), 2e-6),
        (made(), made(specialists=True), 0),
        (made(), made("pairs", hidden=(16,), specialists=True), 2e-6),
        (made(specialists=True), made(hidden=(20,), specialists=True), 2e-6),
    ],
    ids=str,
)
def test_a_grown_network_judges_as_the_small_one(small, large, within):
    weights = random_weights(small)
    larger = grown(weights, small, large, np.random.default_rng(1))
    assert np.abs(judged(large, larger) - judged(small, weights)).max() <= within


def test_new_units_differ_from_one_another():
    small, large = made(), made(hidden=(20,))
    weights = grown(random_weights(small), small, large, np.random.default_rng(1))
    fresh = weights["inputs.weight"][:, 12:]
    assert len(np.unique(fresh[0])) == 8
    assert not weights["output.weight"][:, 12:].any()


@pytest.mark.parametrize(
    ("large", "complaint"),
    [
        (made("tesauro"), "network.encoding: 'tesauro' lacks inputs of 'counts', grown from"),
        (made(activation="sigmoid"), "network.activation: 'sigmoid' cannot be grown from 'relu'"),
        (made(num_checkers=3, specialists=True), "network.num_checkers: 3 cannot be grown from 15"),
        (made(num_checkers=3), "network.num_checkers: 3 cannot be grown from 15"),
        (made(hidden=(11,)), r"network.hidden: \(11,\) cannot be grown from \(12,\)"),
        (made(hidden=(12, 11)), r"network.hidden: \(12, 11\) cannot be grown from \(12,\)"),
        (made(hidden=(12, 12, 12)), r"network.hidden: \(12, 12, 12\) cannot be grown"),
    ],
)
def test_what_cannot_be_grown_is_refused(large, complaint):
    with pytest.raises(ValueError, match=complaint):
        grown(random_weights(made()), made(), large, np.random.default_rng(1))


def test_specialists_do_not_become_one_network_again():
    small = made(specialists=True)
    with pytest.raises(ValueError, match=r"network\.specialists: False cannot be grown from True"):
        grown(random_weights(small), small, made(), np.random.default_rng(1))
