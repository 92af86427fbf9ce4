"""Cube worths some rolls ahead: positions worked by hand and a recursive twin."""

from __future__ import annotations

import random

import numpy as np
import pytest
import reference
from positions import awkward, from_random_play
from test_search import NETWORK, WITH_TABLES, searcher

from tdgammon.decide.cubeful import cube_table
from tdgammon.game.board import parse
from tdgammon.game.rules import GameRules
from tdgammon.kernels.cubeful import CENTRED, OWN, THEIRS, CubeTable
from tdgammon.value.evaluator import NetworkEvaluator

MONEY = cube_table(GameRules())
JACOBY = cube_table(GameRules(jacoby=True))
LIMITED = cube_table(GameRules(cube_limit=4))
MATCH = cube_table(GameRules(), 1, (5, 3))
TABLES = {"money": MONEY, "jacoby": JACOBY, "limit": LIMITED, "match": MATCH}


def test_two_rolls_from_the_end_every_cube_state_is_worth_what_was_worked_by_hand() -> None:
    # 27/36 to bear off, and the opponent is off otherwise: he doubles or not, the player has lost
    found = searcher(2).worths(parse("6:1 / 24:1"), MONEY)[0]
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.5]], atol=1e-7)
    # three rolls: 27/36, and else the opponent has 27/36, and else the player is off for certain
    found = searcher(3).worths(parse("6:1 / 19:1"), MONEY)[0]
    # the player owns the cube: 0.75 + 0.25 x (-0.75 + 0.25)
    assert found[0, OWN] == pytest.approx(0.75 + 0.25 * (-0.75 + 0.25))
    # the opponent may double in: 2 x (-0.5) ties with the pass, and both are worse than playing on
    assert found[0, THEIRS] == found[0, CENTRED] == pytest.approx(0.75 - 0.25)


def test_no_cube_counts_when_both_need_a_point() -> None:
    table = cube_table(GameRules(), 1, (1, 1))
    found = searcher(2).worths(parse("6:1 / 24:1"), table)[0]
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.5]], atol=1e-7)


def twin(
    evaluator: NetworkEvaluator, board: reference.Board, ply: int, table: CubeTable, side: int
) -> reference.Worths:
    return reference.worths_ahead(
        board,
        ply,
        side,
        lambda boards: evaluator.probabilities(boards).tolist(),
        table.outcomes[:, 0].tolist(),
        lambda leaf, on_roll: evaluator.worths([leaf], table, on_roll)[0].tolist(),
        lambda worths, on_roll: reference.doubled_worths(
            worths,
            table.may_double[on_roll].tolist(),
            table.cash[on_roll].tolist(),
            table.is_endless,
        ),
    )


def some_boards(num: int, seed: int) -> list[reference.Board]:
    rng = random.Random(seed)
    return [board for board, _ in from_random_play(rng, 40 * num)][::40]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("side", [0, 1])
def test_one_ply_equals_a_plain_recursive_search(name: str, side: int) -> None:
    boards = some_boards(6, seed=side)
    boards += [board for board, _ in awkward(random.Random(side), "bear_off", 2)]
    found = searcher(1).worths(boards, TABLES[name], side)
    for board, worths in zip(boards, found, strict=True):
        np.testing.assert_allclose(worths, twin(NETWORK, board, 1, TABLES[name], side), atol=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_two_plies_equal_a_plain_recursive_search(name: str) -> None:
    boards = [parse("6:2 4:1 / 20:2 22:1"), parse("7:1 3:1 / 2:1 23:1"), parse("bar:1 5:1 / 6:1 20:2")]
    found = searcher(2).worths(boards, TABLES[name], 1)
    for board, worths in zip(boards, found, strict=True):
        expected = twin(NETWORK, tuple(board.tolist()), 2, TABLES[name], 1)
        np.testing.assert_allclose(worths, expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_two_plies_equal_a_plain_recursive_search_on_whole_boards(name: str) -> None:
    boards = some_boards(13, seed=9)
    found = searcher(2).worths(boards, TABLES[name])
    for board, worths in zip(boards, found, strict=True):
        np.testing.assert_allclose(worths, twin(NETWORK, board, 2, TABLES[name], 0), atol=1e-6)


def test_the_exact_table_gives_cube_worths_at_every_ply() -> None:
    board = parse("6:2 5:1 / 19:2 24:1")
    static = WITH_TABLES.worths(board, MONEY)
    for ply in (1, 2, 4):
        np.testing.assert_array_equal(searcher(ply, WITH_TABLES).worths(board, MONEY), static)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    boards = some_boards(8, seed=3)
    alone = searcher(1, WITH_TABLES).worths(boards, MATCH)
    for threads in (2, 5):
        found = searcher(1, WITH_TABLES, threads=threads).worths(boards, MATCH)
        np.testing.assert_array_equal(found, alone)
