"""λ-returns: a game of three turns by hand, and the two ends of λ on games of self-play."""

import numpy as np
import pytest
from networks import ARCHITECTURES, random_weights

from tdgammon.game.rules import STANDARD
from tdgammon.learn.diagnostics import final_outcomes
from tdgammon.learn.returns import lambda_returns, luck_free_returns
from tdgammon.learn.selfplay import begin, play_block
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import impossible_outcomes

V1 = [0.1, 0.1, 0.3, 0.3, 0.1, 0.1]
V2 = [0.2, 0.2, 0.2, 0.2, 0.1, 0.1]
END = [0, 0, 0, 1, 0, 0]
GAME = np.array([[0] * 6, V1, V2, END], np.float32)
"""X, Y and X play a turn each, then Y is on roll and has lost a single game."""

BY_HAND = {
    # each target: what the next row says, and what the game then came to, seen from the other side
    0.0: [[0.1, 0.1, 0.3, 0.3, 0.1, 0.1], [0.1, 0.1, 0.2, 0.2, 0.2, 0.2], [0, 0, 1, 0, 0, 0]],
    0.5: [
        [0.1, 0.1, 0.45, 0.2, 0.075, 0.075],  # reverse of V1 / 2 + the next line / 2
        [0.05, 0.05, 0.1, 0.6, 0.1, 0.1],  # reverse of V2 / 2 + the next line / 2
        [0, 0, 1, 0, 0, 0],
    ],
    1.0: [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]],
}


@pytest.mark.parametrize("lambda_", BY_HAND)
def test_a_game_of_three_turns_by_hand(lambda_):
    targets = lambda_returns(GAME, np.array([4], np.int32), lambda_)
    assert targets == pytest.approx(np.array([*BY_HAND[lambda_], END]), abs=1e-6)


E0 = [0.1, 0.1, 0.35, 0.25, 0.1, 0.1]
E1 = [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
E2 = [0.0, 0.1, 0.5, 0.4, 0.0, 0.0]
EXPECTED = np.array([E0, E1, E2, [0] * 6], np.float32)
LUCK_FREE = {
    0.0: [E0, E1, E2],
    # G2 = E2; G1 = E1 + reverse(E2 - V2) / 2; G0 = E0 + reverse(G1 - V1) / 2
    0.5: [
        [0.05, 0.125, 0.375, 0.25, 0.125, 0.075],
        [0.05, 0.15, 0.3, 0.35, 0.15, 0.0],
        E2,
    ],
}


@pytest.mark.parametrize("lambda_", LUCK_FREE)
def test_returns_without_luck_by_hand(lambda_):
    targets = luck_free_returns(EXPECTED, GAME, np.array([4], np.int32), lambda_)
    assert targets == pytest.approx(np.array([*LUCK_FREE[lambda_], END]), abs=1e-6)


def test_games_laid_end_to_end_do_not_touch_each_other():
    short = GAME[2:]
    together = lambda_returns(np.concatenate([GAME, short, GAME]), np.array([4, 2, 4], np.int32), 0.7)
    alone = lambda_returns(GAME, np.array([4], np.int32), 0.7)
    assert (together[:4] == alone).all()
    assert (together[4:6] == alone[2:]).all()
    assert (together[6:] == alone).all()


def test_the_first_row_of_a_game_is_not_used():
    game = GAME.copy()
    game[0] = np.nan
    assert np.isfinite(lambda_returns(game, np.array([4], np.int32), 0.5)).all()


@pytest.fixture(scope="module")
def games():
    architecture = ARCHITECTURES["tesauro-relu"]
    return play_block(
        NetworkEvaluator(architecture, random_weights(architecture)), begin(STANDARD, 3, 40), 1000
    )


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 1.0])
def test_targets_are_chances_and_give_none_to_what_cannot_happen(games, lambda_):
    targets = lambda_returns(games.probabilities, games.lengths, lambda_)
    assert targets.min() >= 0
    assert targets.sum(axis=1) == pytest.approx(np.ones(len(targets)), abs=1e-5)
    going_on = np.ones(len(targets), bool)
    going_on[games.last_rows] = False
    assert not targets[going_on][impossible_outcomes(games.boards[going_on])].any()


def test_lambda_one_is_the_result_of_the_game(games):
    assert (lambda_returns(games.probabilities, games.lengths, 1) == final_outcomes(games)).all()


def test_lambda_zero_is_the_next_value_from_the_other_side(games):
    targets = lambda_returns(games.probabilities, games.lengths, 0)
    row = np.setdiff1d(np.arange(len(targets)), games.last_rows)
    assert (targets[row] == games.probabilities[row + 1][:, ::-1]).all()


@pytest.mark.parametrize("lambda_", [-0.1, 1.1, float("nan")])
def test_other_lambdas_are_refused(lambda_):
    with pytest.raises(ValueError, match=f"lambda_: must be 0 to 1, got {lambda_}"):
        lambda_returns(GAME, np.array([4], np.int32), lambda_)


def test_lengths_must_add_up():
    with pytest.raises(ValueError, match="lengths: sum to 5, but there are 4 rows"):
        lambda_returns(GAME, np.array([5], np.int32), 0.5)


def test_no_games_have_no_targets():
    none = np.empty((0, 6), np.float32)
    assert lambda_returns(none, np.empty(0, np.int32), 0.5).shape == (0, 6)
