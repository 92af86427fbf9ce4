"""Choosing: the fused kernel that works from the parent plays what rating every afterstate says."""

import random

import networks
import numpy as np
import pytest
import reference
from networks import ARCHITECTURES, random_weights
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, parse, text
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS
from tdgammon.game.moves import afterstates
from tdgammon.kernels import selfplay
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import VALUES

NEAR_TIE = 2e-5
"""Points between two equities that float32 sums in another order may swap."""


def evaluator(name, seed=1):
    return NetworkEvaluator(ARCHITECTURES[name], random_weights(ARCHITECTURES[name], seed))


def many_positions(num_each, seed=31):
    """Boards still in play with rolls: hits, bear-offs, bars, doubles, no legal play."""
    rng = random.Random(seed)
    found = list(from_random_play(rng, 2 * num_each))
    for kind in KINDS:
        found += awkward(rng, kind, num_each)
    found = [(board, roll) for board, roll in found if networks.outcome(board) is None]
    boards, rolls = zip(*found, strict=True)
    return np.array(boards, np.int8), np.array(rolls, np.int8)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_choice_from_the_parent_is_the_best_of_all_rated_from_scratch(name):
    player = evaluator(name)
    boards, rolls = many_positions(500)
    chosen = player.choose(boards, rolls)
    rows, offsets = afterstates(boards, rolls)
    equities = -player.equity(rows)
    num_equal = 0
    for i, choice in enumerate(chosen):
        group = slice(offsets[i], offsets[i + 1])
        ((at,),) = [np.flatnonzero((rows[group] == choice).all(axis=1))]
        assert equities[group][at] >= equities[group].max() - NEAR_TIE
        num_equal += at == equities[group].argmax()
    assert num_equal >= 0.999 * len(boards)


@pytest.mark.parametrize("name", ["tesauro-relu", "counts-sigmoid"])
def test_the_chances_of_the_choice_are_those_of_the_choice(name):
    player = evaluator(name)
    boards, rolls = many_positions(300, seed=32)
    chosen, seen = np.empty_like(boards), np.empty((len(boards), 6), np.float32)
    num_rows = selfplay.choose_batch(boards, rolls, player.layers, VALUES, chosen, seen)
    assert num_rows == len(afterstates(boards, rolls)[0])
    assert seen == pytest.approx(player.probabilities(chosen), abs=1e-5)


def test_rank_gives_each_afterstate_with_the_opponents_chances_and_the_players_equity():
    player = evaluator("tesauro-relu")
    rows, seen, equities, plies = player.rank(START, [3, 1])
    assert {tuple(row) for row in rows.tolist()} == reference.afterstates(reference.START, (3, 1))
    twin = networks.probabilities(
        rows.tolist(), player.architecture, random_weights(player.architecture, 1)
    )
    assert seen == pytest.approx(twin, abs=1e-5)
    assert equities == pytest.approx(-twin @ VALUES, abs=3e-5)
    assert (np.diff(equities) <= 0).all()
    assert plies.tolist() == [0] * 16
    assert (player.choose(START, [3, 1])[0] == rows[0]).all()


def test_of_equal_afterstates_the_first_is_chosen():
    architecture = ARCHITECTURES["tesauro-relu"]
    weights = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes.items()}
    player = NetworkEvaluator(architecture, weights)
    boards, rolls = many_positions(100, seed=33)
    rows, offsets = afterstates(boards, rolls)
    chosen = player.choose(boards, rolls)
    num_ties = 0
    for i, choice in enumerate(chosen):
        group = rows[offsets[i] : offsets[i + 1]]
        equities = player.equity(group)
        if len(set(equities.tolist())) == 1:
            assert (choice == group[0]).all()
            num_ties += 1
    assert num_ties > 300


@pytest.mark.parametrize(
    ("words", "roll", "after", "points"),
    [
        ("1 / 24:2", (6, 5), "1:2 / -", 1),
        ("2:2 / 24:15", (2, 2), "1:15 / -", 2),
        ("2 / bar 24:14", (6, 5), "bar:1 1:14 / -", 3),
        ("2 1 / 3 24:14", (6, 5), "22:1 1:14 / -", 3),
    ],
)
@pytest.mark.parametrize("name", ["tesauro-relu", "counts-sigmoid"])
def test_a_winning_play_is_made_and_its_worth_is_exact(name, words, roll, after, points):
    player = evaluator(name)
    rows, _, equities, _ = player.rank(parse(words), roll)
    chosen = player.choose(parse(words), roll)[0]
    assert text(chosen) == after
    assert equities[(rows == chosen).all(axis=1)] == [points]


def test_a_single_board_and_a_batch_are_treated_alike():
    player = evaluator("counts-relu")
    boards, rolls = many_positions(20, seed=34)
    together = player.choose(boards, rolls)
    for board, roll, choice in zip(boards, rolls, together, strict=True):
        assert (player.choose(board, roll) == choice).all()
    assert player.probabilities(boards[0]).shape == (1, 6)
    assert player.choose(np.empty((0, 26), np.int8), np.empty((0, 2), np.int8)).shape == (0, 26)
    assert player.equity(boards[:3].tolist()) == pytest.approx(player.equity(boards[:3]), abs=0)


def test_bad_boards_and_dice_are_refused():
    player = evaluator("tesauro-relu")
    with pytest.raises(ValueError, match="boards: the player has more than 15 checkers"):
        player.probabilities([0, 8, 8, *[0] * 23])
    with pytest.raises(ValueError, match="boards: shape must be"):
        player.equity([1, 2, 3])
    for roll in ([0, 1], [7, 1]):
        with pytest.raises(ValueError, match="rolls: dice must be 1 to 6"):
            player.choose(START, roll)
    with pytest.raises(ValueError, match="rolls: 2 rolls for 1 boards"):
        player.choose(START, [[3, 1], [6, 5]])


def test_one_roll_on_is_the_mean_over_the_21_rolls_played_best():
    player = evaluator("counts-relu")
    boards, _ = many_positions(8, seed=35)
    expected, sds = np.empty((len(boards), 6), np.float32), np.empty(len(boards), np.float32)
    selfplay.one_roll(boards, ROLLS, ROLL_WEIGHTS, player.network, VALUES, expected, sds)
    for i, board in enumerate(boards):
        after = [player.rank(board, roll) for roll in ROLLS]
        best = [seen[equities.argmax()][::-1] for _, seen, equities, _ in after]
        equities = np.array([equities.max() for _, _, equities, _ in after], float)
        assert expected[i] == pytest.approx(ROLL_WEIGHTS @ np.array(best), abs=1e-5)
        mean = ROLL_WEIGHTS @ equities
        assert sds[i] == pytest.approx((ROLL_WEIGHTS @ (equities - mean) ** 2) ** 0.5, abs=1e-3)
