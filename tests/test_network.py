"""The torch network, the tables it is played with, and the plain twin give the same chances."""

import random

import networks
import numpy as np
import pytest
import torch
from networks import ARCHITECTURES, ONE_NETWORK, random_weights
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, parse
from tdgammon.kernels import codes, forward
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.features import Encoder
from tdgammon.value.network import ValueNetwork
from tdgammon.value.outcome import VALUES, impossible_outcomes
from tdgammon.value.tables import Architecture, check_weights, play_layers

each_architecture = pytest.mark.parametrize("name", ARCHITECTURES)
each_network = pytest.mark.parametrize("name", ONE_NETWORK)


def many_boards(num_each, seed=21):
    rng = random.Random(seed)
    found = [board for board, _ in from_random_play(rng, num_each)]
    for kind in KINDS:
        found += [board for board, _ in awkward(rng, kind, num_each)]
    return np.array(found, np.int8)


def torch_probabilities(network, boards):
    dense = torch.from_numpy(Encoder(network.architecture.encoding).encode(boards))
    with torch.no_grad():
        logits = network(dense, torch.from_numpy(impossible_outcomes(boards)))
    return torch.softmax(logits, dim=1).numpy()


def fresh(architecture, seed=1):
    return ValueNetwork(architecture, torch.Generator().manual_seed(seed))


@each_network
def test_the_kernel_equals_torch(name):
    architecture = ARCHITECTURES[name]
    network = fresh(architecture)
    network.load_weights(random_weights(architecture))
    boards = many_boards(200)
    going_on = [networks.outcome(board) is None for board in boards]
    played = NetworkEvaluator(architecture, network.weights()).probabilities(boards)
    assert played[going_on] == pytest.approx(torch_probabilities(network, boards)[going_on], abs=1e-5)


@each_architecture
def test_the_kernel_equals_the_plain_twin(name):
    architecture = ARCHITECTURES[name]
    weights = random_weights(architecture, seed=2)
    boards = many_boards(100, seed=22)
    played = NetworkEvaluator(architecture, weights).probabilities(boards)
    twin = networks.probabilities(boards.tolist(), architecture, weights)
    assert played == pytest.approx(twin, abs=1e-5)
    assert played.sum(axis=1) == pytest.approx(np.ones(len(boards)), abs=1e-6)
    assert played.std(axis=0).min() > 0.01, "a test of chances that hardly differ shows nothing"


@each_architecture
def test_impossible_gammons_have_no_chance_at_all(name):
    architecture = ARCHITECTURES[name]
    boards = many_boards(100, seed=23)
    played = NetworkEvaluator(architecture, random_weights(architecture)).probabilities(boards)
    can_be = np.array([networks.possible(board) for board in boards])
    going_on = np.array([networks.outcome(board) is None for board in boards])
    assert (played[~can_be] == 0).all()
    assert (played[can_be & going_on[:, None]] > 0).all()
    assert (~can_be).any()


@each_network
def test_the_table_layer_equals_the_dense_layer(name):
    architecture = ARCHITECTURES[name]
    weights = random_weights(architecture, seed=4)
    network = play_layers(architecture, weights)
    boards = many_boards(30)
    exact = np.array([networks.inputs(board, architecture.encoding) for board in boards])
    dense = exact @ weights["inputs.weight"].astype(np.float64) + weights["inputs.bias"]
    size = exact @ np.abs(weights["inputs.weight"]) + np.abs(weights["inputs.bias"])
    cells = np.empty(network.table.shape[1], np.int8)
    sums = np.empty(architecture.hidden[0], np.float32)
    for row, board in enumerate(boards):
        codes.fill(board, 15, cells, np.empty(codes.NUM_MASKS, np.int64))
        forward.first_layer(cells, network, 0, sums)
        assert (np.abs(sums - dense[row]) <= 1e-6 * size[row]).all()


def test_rises_are_the_steps_of_the_table():
    architecture = ARCHITECTURES["counts-relu"]
    network = play_layers(architecture, random_weights(architecture))
    assert network.table.shape[:3] == (1, 28, 31)
    assert (network.rises == network.table[:, :, 1:] - network.table[:, :, :-1]).all()
    assert not network.table[:, :, codes.ZERO].any()


@pytest.mark.parametrize("shift", [0.0, -1e4, 1e4])
def test_the_exponential_is_accurate_over_the_whole_range_of_chances(shift):
    architecture = Architecture(hidden=(3,))
    rng = np.random.default_rng(5)
    weights = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes.items()}
    for _ in range(200):
        logits = (rng.uniform(-12, 12, 6) + shift).astype(np.float32)
        weights["output.bias"] = logits
        exact = np.exp(logits.astype(np.float64) - logits.max())
        exact /= exact.sum()
        played = NetworkEvaluator(architecture, weights).probabilities(START)[0]
        assert played == pytest.approx(exact, rel=4e-6)


def test_sigmoid_units_are_accurate_from_one_end_to_the_other():
    architecture = Architecture(hidden=(1,), activation="sigmoid")
    weights = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes.items()}
    weights["output.weight"][0] = 1
    for x in np.linspace(-100, 100, 201, dtype=np.float32):
        weights["inputs.bias"][:] = x
        unit = 1 / (1 + np.exp(-np.float64(x)))
        exact = np.exp(unit) / (np.exp(unit) + 5)
        assert NetworkEvaluator(architecture, weights).probabilities(START)[0, 0] == pytest.approx(
            exact, abs=1e-6
        )


def test_huge_weights_give_certainties_not_nans():
    architecture = Architecture(hidden=(8, 8))
    weights = random_weights(architecture, scale=1e4)
    played = NetworkEvaluator(architecture, weights).probabilities(many_boards(20))
    assert np.isfinite(played).all()
    assert played.sum(axis=1) == pytest.approx(np.ones(len(played)), abs=1e-6)


def test_fresh_weights_follow_from_the_seed_and_start_near_even_chances():
    architecture = Architecture(hidden=(80,))
    one, same, other = (fresh(architecture, seed).weights() for seed in (1, 1, 2))
    assert all((one[name] == same[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)
    check_weights(architecture, one)
    played = NetworkEvaluator(architecture, one).probabilities(START)[0]
    assert played == pytest.approx(np.full(6, 1 / 6), abs=0.1)
    assert abs(float(played @ VALUES)) < 0.5


def test_weights_come_and_go_by_name_as_copies():
    architecture = ARCHITECTURES["counts-relu"]
    network, weights = fresh(architecture), random_weights(architecture)
    network.load_weights(weights)
    weights["output.bias"][:] = 7
    assert (network.weights()["output.bias"] != 7).all()
    network.weights()["output.bias"][:] = 7
    assert (network.weights()["output.bias"] != 7).all()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda w: w.pop("output.bias"), r"missing or unknown \['output.bias'\]"),
        (lambda w: w.update(extra=w["output.bias"]), r"missing or unknown \['extra'\]"),
        (lambda w: w.update({"output.bias": np.zeros(5, np.float32)}), r"output.bias: .*\[6\].*\[5\]"),
        (lambda w: w.update({"output.bias": np.zeros(6)}), "output.bias: float32 .* float64"),
        (lambda w: w["inputs.weight"].__setitem__((0, 0), np.nan), "inputs.weight: .*not finite"),
        (lambda w: w["output.weight"].__setitem__((0, 0), np.inf), "output.weight: .*not finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, complaint):
    architecture = Architecture(hidden=(4,))
    weights = random_weights(architecture)
    change(weights)
    for use in (fresh(architecture).load_weights, lambda w: play_layers(architecture, w)):
        with pytest.raises(ValueError, match=complaint):
            use(weights)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        (
            {"encoding": "pixels"},
            "network.encoding: one of tesauro, counts, pairs, windows, shots expected, got 'pixels'",
        ),
        ({"hidden": ()}, r"network.hidden: sizes must be 1 to 4096, got \(\)"),
        ({"hidden": (80, 0)}, r"network.hidden: .* got \(80, 0\)"),
        ({"hidden": (5000,)}, r"network.hidden: .* got \(5000,\)"),
        ({"activation": "tanh"}, "network.activation: one of relu, sigmoid expected, got 'tanh'"),
    ],
)
def test_an_architecture_that_cannot_be_is_refused(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        Architecture(**fields)


FINISHED = {
    "3:1 / -": "lost",
    "1:14 / -": "lost",
    "6:15 / -": "lost a gammon",
    "18:15 / -": "lost a gammon",
    "19:1 6:14 / -": "lost a backgammon",
    "bar 6:14 / -": "lost a backgammon",
    "24:15 / -": "lost a backgammon",
    "bar 6:13 / -": "lost",  # a checker is off, so the one on the bar costs nothing more
    "- / 24:3": "won",
    "- / 19:15": "won a gammon",
    "- / 7:15": "won a gammon",
    "- / 6:1 19:14": "won a backgammon",
    "- / bar 19:14": "won a backgammon",
    "- / bar 19:13": "won",
}
NAMES = (
    "won a backgammon",
    "won a gammon",
    "won",
    "lost",
    "lost a gammon",
    "lost a backgammon",
)


@pytest.mark.parametrize(("words", "result"), FINISHED.items(), ids=lambda value: value)
def test_the_end_of_a_game_is_exact(words, result):
    architecture = ARCHITECTURES["tesauro-relu"]
    evaluator = NetworkEvaluator(architecture, random_weights(architecture))
    exact = [float(name == result) for name in NAMES]
    assert evaluator.probabilities(parse(words))[0].tolist() == exact
    assert networks.outcome(parse(words).tolist()) == exact
    assert evaluator.equity(parse(words))[0] == exact @ VALUES
