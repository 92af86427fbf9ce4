"""Online TD(λ): gradients as torch has them, and traces that add up to the forward view."""

import networks
import numpy as np
import pytest
import torch
from networks import random_weights

from tdgammon.game.board import START, parse
from tdgammon.game.dice import streams
from tdgammon.game.rules import STANDARD
from tdgammon.learn.online import OnlineLearner
from tdgammon.learn.returns import lambda_returns
from tdgammon.learn.selfplay import begin, play_block
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture

NETWORKS = {
    "tesauro-sigmoid": Architecture(encoding="tesauro", hidden=(6,), activation="sigmoid"),
    "counts-relu": Architecture(encoding="counts", hidden=(9,), activation="relu"),
}
each_network = pytest.mark.parametrize("name", NETWORKS)


def learner(name, seed=1):
    return OnlineLearner(NETWORKS[name], random_weights(NETWORKS[name], seed))


def a_game(name, stream=0):
    """A finished game of the frozen network: its boards and the chances it gave them."""
    player = NetworkEvaluator(NETWORKS[name], learner(name).weights())
    games = play_block(player, begin(STANDARD, 5, 1, stream), 2000)
    chances = games.probabilities.copy()
    chances[0] = player.probabilities(START)[0]
    return games.boards, chances


@each_network
@pytest.mark.parametrize("words", ["start", "6:14 5:1 / bar 20:9", "6:3 / 24:2", "bar:1 6:13 / 20:5"])
def test_gradients_equal_those_of_torch(name, words):
    weights = {
        key: torch.from_numpy(value).double().requires_grad_()
        for key, value in learner(name).weights().items()
    }
    board = parse(words)
    x = torch.tensor([networks.inputs(board, NETWORKS[name].encoding)], dtype=torch.float64)
    logits = networks.logits(x, weights, NETWORKS[name].activation)
    logits = logits.masked_fill(~torch.tensor([networks.possible(board)]), -torch.inf)
    chances = torch.softmax(logits, dim=1)[0]
    found = learner(name).gradients(board)
    assert set(found) == set(weights)
    for k in range(6):
        grads = torch.autograd.grad(chances[k], list(weights.values()), retain_graph=True)
        for key, grad in zip(weights, grads, strict=True):
            assert found[key][k] == pytest.approx(grad.numpy(), abs=1e-6)


@each_network
def test_values_equal_those_of_the_evaluator(name):
    boards, _ = a_game(name)
    evaluator = NetworkEvaluator(NETWORKS[name], learner(name).weights())
    assert learner(name).values(boards) == pytest.approx(evaluator.probabilities(boards), abs=1e-5)


@each_network
@pytest.mark.parametrize("lambda_", [0, 0.5, 1])
def test_on_a_frozen_net_the_traces_add_up_to_the_forward_view(name, lambda_):
    frozen = learner(name)
    boards, chances = a_game(name)
    targets = lambda_returns(chances, np.array([len(boards)], np.int32), lambda_)
    traces = frozen.no_traces()
    backward = {key: np.zeros(w.shape) for key, w in frozen.weights().items()}
    forward = {key: np.zeros(w.shape) for key, w in frozen.weights().items()}
    for t in range(len(boards) - 1):
        for key, step in frozen.step(boards[t], boards[t + 1], traces, lambda_).items():
            backward[key] += step
        for key, gradient in frozen.gradients(boards[t]).items():
            forward[key] += np.tensordot(targets[t] - chances[t], gradient, 1)
    for key in forward:
        size = np.abs(forward[key]).max()
        assert size > 1e-3
        assert backward[key] == pytest.approx(forward[key], abs=1e-4 * max(1, size))
    assert all((w == learner(name).weights()[key]).all() for key, w in frozen.weights().items())


@each_network
def test_with_rate_zero_it_plays_the_games_of_self_play_and_learns_nothing(name):
    player = learner(name)
    for stream in range(2):
        boards = player.play_game(streams(5, 1, stream)[0], 0.7, 0.0, 2000)
        assert (boards == a_game(name, stream)[0]).all()
    assert all((w == learner(name).weights()[key]).all() for key, w in player.weights().items())


def test_the_last_turn_of_a_game_teaches_its_result():
    player = learner("tesauro-sigmoid")
    before, end = parse("1:2 / 24:4"), parse("1:4 / -")  # 1/off(2): a single win
    traces = player.no_traces()
    step = player.step(before, end, traces, 0.7)
    error = np.array([0, 0, 1, 0, 0, 0]) - player.values(before[None])[0]
    for key, gradient in player.gradients(before).items():
        assert step[key] == pytest.approx(np.tensordot(error, gradient, 1), abs=1e-6)


def test_traces_fade_by_lambda_and_change_sides():
    player = learner("counts-relu")
    boards, _ = a_game("counts-relu")
    traces = player.no_traces()
    player.step(boards[0], boards[1], traces, 0.5)
    player.step(boards[1], boards[2], traces, 0.5)
    first, second = player.gradients(boards[0]), player.gradients(boards[1])
    for key, trace in traces.items():
        assert trace == pytest.approx(0.5 * first[key][::-1] + second[key], abs=1e-6)


def test_a_game_that_takes_too_long_is_broken_off():
    boards = a_game("tesauro-sigmoid")[0]
    key = streams(5, 1)[0]
    num_turns = len(boards) - 1
    assert learner("tesauro-sigmoid").play_game(key, 0.7, 0.0, num_turns - 1) is None
    assert len(learner("tesauro-sigmoid").play_game(key, 0.7, 0.0, num_turns)) == num_turns + 1


def test_learning_goes_on_from_its_state_exactly():
    one, other = learner("tesauro-sigmoid"), learner("tesauro-sigmoid", seed=2)
    one.play_game(streams(5, 1)[0], 0.7, 0.1, 300)
    other.load_state(one.state())
    for player in (one, other):
        player.play_game(streams(5, 1, 1)[0], 0.7, 0.1, 300)
    assert all((w == other.weights()[key]).all() for key, w in one.weights().items())
    assert any(
        (w != learner("tesauro-sigmoid").weights()[key]).any() for key, w in one.weights().items()
    )


def test_several_hidden_layers_and_weights_that_do_not_fit_are_refused():
    deep = Architecture(hidden=(4, 4))
    with pytest.raises(ValueError, match=r"network.hidden: one layer expected, got \(4, 4\)"):
        OnlineLearner(deep, random_weights(deep))
    with pytest.raises(ValueError, match="weight inputs"):
        OnlineLearner(NETWORKS["counts-relu"], random_weights(NETWORKS["tesauro-sigmoid"]))
