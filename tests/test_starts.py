"""Boards of kinds: legal, of the kind they are named for, the same for the same seed."""

import numpy as np
import pytest

from tdgammon.game.board import checked_boards, flip, has_contact, pip_counts
from tdgammon.learn.starts import KINDS, boards_of_kind, boards_of_kinds


def drawn(name, num_boards=400, seed=1):
    return boards_of_kind(name, np.random.default_rng(seed), num_boards)


def either_side(boards, holds):
    """Whether `holds` of the player on roll, or of the other side as it sees the board: bool [B]."""
    return holds(boards) | holds(flip(boards))


@pytest.mark.parametrize("name", KINDS)
def test_boards_have_15_checkers_a_side_and_contact_and_are_not_over(name):
    boards = checked_boards(drawn(name))
    assert boards.shape == (400, 26)
    assert has_contact(boards).all()
    assert (boards > 0).any(axis=1).all()
    assert (boards < 0).any(axis=1).all()
    assert len(np.unique(boards, axis=0)) > 350


@pytest.mark.parametrize("name", KINDS)
def test_the_same_seed_gives_the_same_boards(name):
    assert (drawn(name) == drawn(name)).all()
    assert (drawn(name) != drawn(name, seed=2)).any()


@pytest.mark.parametrize("name", KINDS)
def test_either_side_is_on_roll(name):
    ahead = np.diff(pip_counts(drawn(name)))[:, 0] > 0
    assert 0.2 < ahead.mean() < 0.8


def test_a_back_game_has_two_anchors_with_a_deep_one():
    def has_anchors(boards):
        return (boards[:, 22:25] >= 2).any(axis=1) & ((boards[:, 19:25] >= 2).sum(axis=1) >= 2)

    assert either_side(drawn("back_game"), has_anchors).all()


def test_primes_have_four_points_in_a_row_on_both_sides():
    def has_prime(boards):
        made = boards[:, 1:25] >= 2
        return (made[:, :-3] & made[:, 1:-2] & made[:, 2:-1] & made[:, 3:]).any(axis=1)

    boards = drawn("primes")
    assert has_prime(boards).all()
    assert has_prime(flip(boards)).all()


def test_a_blitz_has_checkers_on_the_bar():
    assert either_side(drawn("blitz"), lambda boards: boards[:, 25] > 0).all()


def test_containment_is_of_a_side_that_has_borne_off_and_has_stragglers():
    def contained(boards):
        off = 15 - np.maximum(boards, 0).sum(axis=1)
        return (off >= 3) & (boards[:, 13:26] > 0).any(axis=1)

    assert either_side(drawn("containment"), contained).all()


def test_a_crashed_board_has_six_checkers_on_the_lowest_points():
    def crashed(boards):
        return np.maximum(boards[:, 1:4], 0).sum(axis=1) >= 6

    assert either_side(drawn("crashed"), crashed).all()


def test_a_contact_bear_off_has_all_checkers_of_a_side_home():
    def home(boards):
        return (boards[:, 7:26] <= 0).all(axis=1)

    assert either_side(drawn("contact_bearoff"), home).all()


def test_kinds_come_in_turn():
    boards = boards_of_kinds(np.random.default_rng(5), 3 * len(KINDS) + 1)
    assert boards.shape == (3 * len(KINDS) + 1, 26)
    blitz = boards[list(KINDS).index("blitz") :: len(KINDS)]
    assert either_side(blitz, lambda rows: rows[:, 25] > 0).all()


def test_an_unknown_kind_is_refused():
    with pytest.raises(KeyError, match="nonesuch"):
        boards_of_kind("nonesuch", np.random.default_rng(1), 3)
