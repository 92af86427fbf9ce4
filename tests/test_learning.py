"""The learner: its hand-worked gradient and its steps are torch's, its average is by hand."""

import networks
import numpy as np
import pytest
import torch
from networks import ARCHITECTURES, ONE_NETWORK, random_weights

from tdgammon.game.rules import STANDARD
from tdgammon.learn.learning import Learner
from tdgammon.learn.returns import lambda_returns
from tdgammon.learn.selfplay import begin, play_block
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture

SMALL = Architecture(hidden=(5,), activation="sigmoid")


def learner(architecture, averaging=0.9, seed=1):
    return Learner(architecture, random_weights(architecture, seed), averaging)


@pytest.fixture(scope="module")
def lesson():
    """Positions and targets of self-play games, bear-offs included; shuffled."""
    player = NetworkEvaluator(SMALL, random_weights(SMALL))
    games = play_block(player, begin(STANDARD, 9, 6), 1000)
    targets = lambda_returns(games.probabilities, games.lengths, 0.7)
    use = np.setdiff1d(np.arange(len(targets)), games.last_rows)
    use = np.random.default_rng(1).permutation(use)
    return games.boards[use], targets[use]


def torch_loss(weights, architecture, boards, targets):
    """Mean cross-entropy by the twin, with outcomes that cannot come taking no part."""
    x = torch.tensor([networks.inputs(b, architecture.encoding) for b in boards], dtype=torch.float64)
    can_be = torch.tensor([networks.possible(b) for b in boards])
    logits = networks.logits(x, weights, architecture.activation).masked_fill(~can_be, -torch.inf)
    log_chances = torch.log_softmax(logits, dim=1).masked_fill(~can_be, 0)
    return -(torch.from_numpy(targets).double() * log_chances).sum(dim=1).mean()


def as_torch(weights):
    return {name: torch.from_numpy(w).double().requires_grad_() for name, w in weights.items()}


@pytest.mark.parametrize("name", ONE_NETWORK)
def test_the_gradient_equals_that_of_torch(name, lesson):
    boards, targets = lesson[0][:150], lesson[1][:150]
    twin = as_torch(random_weights(ARCHITECTURES[name]))
    loss = torch_loss(twin, ARCHITECTURES[name], boards, targets)
    loss.backward()
    pupil = learner(ARCHITECTURES[name])
    assert pupil.accumulate_gradients(boards, targets) == pytest.approx(loss.item(), abs=1e-5)
    for key, parameter in pupil.network.named_parameters():
        expected = twin[key].grad.numpy()
        assert parameter.grad.numpy() == pytest.approx(expected, abs=2e-6), key
        assert parameter.grad.shape == parameter.shape


@pytest.mark.parametrize("name", ["tesauro-sigmoid", "counts-relu"])
def test_steps_equal_those_of_torchs_adam(name, lesson):
    boards, targets = lesson[0][:200], lesson[1][:200]
    twin = as_torch(random_weights(ARCHITECTURES[name]))
    adam = torch.optim.Adam(twin.values(), lr=0.01)
    pupil = learner(ARCHITECTURES[name])
    for _ in range(5):
        losses = pupil.learn(boards, targets, np.arange(200), 0.01, 200)
        adam.zero_grad()
        loss = torch_loss(twin, ARCHITECTURES[name], boards, targets)
        loss.backward()
        adam.step()
        assert losses == pytest.approx([loss.item()], abs=1e-4)
    for key, weight in pupil.weights().items():
        # Adam divides by the gradient's size, so a gradient that is all but 0 may step either way
        far = np.abs(weight - twin[key].detach().numpy()) > 1e-3
        assert far.mean() < 0.01, key


def test_learning_brings_the_loss_down(lesson):
    pupil = learner(SMALL)
    order = np.arange(len(lesson[0]))
    losses = [pupil.learn(*lesson, order, 0.03, 32).mean() for _ in range(40)]
    # what is left of the loss is mostly the entropy of the targets, which no network can take away
    entropy = -(lesson[1] * np.log(np.maximum(lesson[1], 1e-12))).sum(axis=1).mean()
    assert losses[-1] - entropy < (losses[0] - entropy) / 2


def test_batches_follow_the_order_and_the_last_takes_the_remainder(lesson, monkeypatch):
    pupil = learner(SMALL)
    seen = []
    monkeypatch.setattr(pupil, "_step", lambda boards, targets: seen.append((boards, targets)) or 1.0)
    order = np.array([7, 1, 9, 3, 5, 4, 8, 0, 6, 2])
    assert pupil.learn(*lesson, order, 0.01, 4).tolist() == [1, 1]
    assert [len(boards) for boards, _ in seen] == [4, 6]
    assert (np.concatenate([boards for boards, _ in seen]) == lesson[0][order]).all()
    assert (np.concatenate([targets for _, targets in seen]) == lesson[1][order]).all()
    seen.clear()
    pupil.learn(*lesson, order, 0.01, 4000)
    assert [len(boards) for boards, _ in seen] == [10]


def test_the_average_leaves_the_early_steps_behind(lesson):
    pupil = learner(SMALL, averaging=0.15)
    average = {name: w.astype(np.float64) for name, w in pupil.average_weights().items()}
    for step in (1, 2, 3, 4):
        pupil.learn(*lesson, np.arange(64), 0.01, 64)
        keep = min(0.15, step / (step + 9))  # 0.1 after the first step, then the configured 0.15
        for name, w in pupil.weights().items():
            average[name] = keep * average[name] + (1 - keep) * w
    assert pupil.num_steps == 4
    for name, w in pupil.average_weights().items():
        assert w == pytest.approx(average[name], abs=1e-6)


def test_without_averaging_the_average_is_the_weights(lesson):
    pupil = learner(SMALL, averaging=0.0)
    pupil.learn(*lesson, np.arange(64), 0.01, 16)
    assert all((w == pupil.weights()[name]).all() for name, w in pupil.average_weights().items())


@pytest.mark.parametrize("poison", ["targets", "weights"])
def test_a_loss_that_is_not_finite_stops_before_it_does_harm(poison, lesson):
    boards, targets = lesson[0][:64], lesson[1][:64].copy()
    pupil = learner(SMALL)
    pupil.learn(boards, targets, np.arange(64), 0.01, 64)
    if poison == "targets":
        targets[40] = np.nan
    else:
        with torch.no_grad():
            pupil.network.output.bias[2] = torch.nan
    before, average = pupil.weights(), pupil.average_weights()
    with pytest.raises(FloatingPointError, match="loss is nan at step 1"):
        pupil.learn(boards, targets, np.arange(64), 0.01, 64)
    for name, w in pupil.weights().items():
        assert np.array_equal(w, before[name], equal_nan=True)
        assert np.array_equal(pupil.average_weights()[name], average[name])
    assert pupil.num_steps == 1


@pytest.mark.parametrize("num_before", [0, 3])
def test_learning_goes_on_from_its_state_exactly(num_before, lesson):
    order = np.arange(len(lesson[0]))
    one = learner(SMALL, 0.99)
    for _ in range(num_before):
        one.learn(*lesson, order, 0.01, 32)
    state = one.state()
    other = learner(SMALL, 0.99, seed=2)
    other.load_state(state)
    for pupil in (one, other):
        pupil.learn(*lesson, order, 0.003, 48)
    assert set(one.state()) == set(other.state())
    for name, array in one.state().items():
        assert np.array_equal(array, other.state()[name]), name


def test_a_state_of_another_architecture_is_refused():
    state = learner(SMALL).state()
    for other in (
        Architecture(hidden=(6,)),
        Architecture(hidden=(5, 5)),
        Architecture(encoding="counts"),
    ):
        with pytest.raises((KeyError, ValueError)):
            learner(other).load_state(state)
