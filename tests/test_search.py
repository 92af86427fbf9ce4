"""n-ply search: positions worked by hand, a recursive twin, filters, threads and settings."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import reference
from networks import random_weights
from positions import awkward, from_random_play, made_up

from tdgammon.decide.bots import NETWORK_SETTINGS, bot
from tdgammon.decide.search import FILTERS, LEVELS, MoveFilter, Searcher, SearchSettings
from tdgammon.game.board import START, flip, has_contact, parse, text
from tdgammon.game.rules import rules
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture

ARCHITECTURE = Architecture(encoding="counts", hidden=(24,), activation="sigmoid")
NETWORK = NetworkEvaluator(ARCHITECTURE, random_weights(ARCHITECTURE))
"""Knows nothing: what it says of games that go on is noise."""
WITH_TABLES = NetworkEvaluator(ARCHITECTURE, random_weights(ARCHITECTURE), bearoff=True)


def searcher(ply: int, evaluator: NetworkEvaluator = NETWORK, **settings: object) -> Searcher:
    return Searcher(evaluator=evaluator, settings=replace(SearchSettings(ply=ply), **settings))


# win bg, win gammon, win, lose, lose gammon, lose bg
BY_HAND = {
    # the ace is borne off by any roll, and the opponent has all fifteen on the board: a gammon
    ("1:1 / 13:15", 1): [0, 1, 0, 0, 0, 0],
    # and a backgammon with one of them in the player's home board
    ("1:1 / 13:14 5", 1): [1, 0, 0, 0, 0, 0],
    # 27 of 36 throws bear a checker off the 6-point; if not, the opponent is off at once
    ("6:1 / 24:1", 2): [0, 0, 27 / 36, 9 / 36, 0, 0],
    # two checkers need 66, 55, 44, 33 or 65
    ("6:1 5:1 / 24:1", 2): [0, 0, 6 / 36, 30 / 36, 0, 0],
    # both miss once, and then any roll is enough: 27/36 + 9/36 x 9/36
    ("6:1 / 19:1", 3): [0, 0, 13 / 16, 3 / 16, 0, 0],
    ("6:1 / 19:1", 4): [0, 0, 13 / 16, 3 / 16, 0, 0],
    # the player cannot bring 15 checkers out of the opponent's home board in one roll
    ("23:15 / 24:1", 2): [0, 0, 0, 0, 0, 1],
}


@pytest.mark.parametrize(("board", "ply"), BY_HAND)
def test_games_that_end_within_the_look_ahead_have_the_value_worked_by_hand(
    board: str, ply: int
) -> None:
    found = searcher(ply).probabilities(parse(board))[0]
    np.testing.assert_allclose(found, BY_HAND[board, ply], atol=1e-7)


def test_three_plies_rank_the_plays_of_a_bear_off_by_their_chances() -> None:
    # the opponent is off before the player rolls again by a double (6/36), and if not, the turn after.
    # Of 21, 3/off leaves a checker on 5, which 11, 21 and 31 miss (5/36); 5/4 3/1 leaves 4 and 1,
    # which 11, 21, 31 and 32 miss (7/36)
    board, roll = parse("5:1 3:1 / 24:3"), (2, 1)
    ranked = searcher(3, filter="full").rank(board, roll)
    assert ranked.plies.tolist() == [3] * len(ranked.rows)
    left = [text(flip(row)) for row in ranked.rows]
    equities = dict(zip(left, ranked.equities.tolist(), strict=True))
    assert equities["5:1 / 24:3"] == pytest.approx(2 * (30 / 36) * (31 / 36) - 1, abs=1e-6)
    assert equities["4:1 1:1 / 24:3"] == pytest.approx(2 * (30 / 36) * (29 / 36) - 1, abs=1e-6)
    assert left[0] == "5:1 / 24:3"
    assert text(flip(searcher(3, filter="full").choose(board, roll)[0])) == left[0]


def twin(evaluator: NetworkEvaluator, board: reference.Board, ply: int) -> list[float]:
    return reference.chances_ahead(
        board, ply, lambda boards: evaluator.probabilities(boards).tolist(), evaluator.values.tolist()
    )


def some_boards(num: int, seed: int = 6) -> list[reference.Board]:
    rng = random.Random(seed)
    found = [board for board, _ in from_random_play(rng, 20 * num)][::40]
    for kind in ("bear_off", "stacked", "on_the_bar"):
        found += [board for board, _ in awkward(rng, kind, num // 6 + 1)]
    return found[:num]


@pytest.mark.parametrize("evaluator", [NETWORK, WITH_TABLES], ids=["network", "tables"])
def test_one_ply_equals_a_plain_recursive_search(evaluator: NetworkEvaluator) -> None:
    boards = some_boards(30)
    found = searcher(1, evaluator).probabilities(boards)
    for board, chances in zip(boards, found, strict=True):
        settled = evaluator is WITH_TABLES and not has_contact(np.array([board], np.int8))[0]
        np.testing.assert_allclose(chances, twin(evaluator, board, 0 if settled else 1), atol=1e-6)


def test_two_plies_equal_a_plain_recursive_search() -> None:
    # few checkers, so that the slow twin is done in time
    rng = random.Random(3)
    boards = [made_up(rng, list(range(1, 9)), list(range(5, 25)), 2, 2) for _ in range(20)]
    for board, chances in zip(boards, searcher(2).probabilities(boards), strict=True):
        np.testing.assert_allclose(chances, twin(NETWORK, board, 2), atol=1e-6)


@pytest.mark.slow
def test_two_plies_equal_a_plain_recursive_search_on_whole_boards() -> None:
    boards = some_boards(50)
    for board, chances in zip(boards, searcher(2).probabilities(boards), strict=True):
        np.testing.assert_allclose(chances, twin(NETWORK, board, 2), atol=1e-6)


def test_finished_games_and_races_of_the_tables_have_the_same_value_at_every_ply() -> None:
    boards = [parse("6:2 5:3 / 19:4 24:1"), parse("3:2 / -"), parse("- / 20:15")]
    static = WITH_TABLES.probabilities(boards)
    for ply in range(5):
        np.testing.assert_array_equal(searcher(ply, WITH_TABLES).probabilities(boards), static)


@pytest.mark.parametrize("ply", [1, 2])
def test_any_number_of_threads_gives_the_same_bits(ply: int) -> None:
    boards = np.array(some_boards(30 if ply == 1 else 5), np.int8)
    alone = searcher(ply, WITH_TABLES).probabilities(boards)
    for threads in (2, 5):
        found = searcher(ply, WITH_TABLES, threads=threads).probabilities(boards)
        np.testing.assert_array_equal(found, alone)


def test_a_batch_chooses_what_each_decision_alone_does() -> None:
    positions = list(from_random_play(random.Random(4), 24))
    boards = np.array([board for board, _ in positions], np.int8)
    rolls = np.array([roll for _, roll in positions], np.int8)
    looking = searcher(1, WITH_TABLES)
    alone = [looking.choose(board, roll)[0] for board, roll in zip(boards, rolls, strict=True)]
    np.testing.assert_array_equal(looking.choose(boards, rolls), alone)
    ranked = [looking.rank(board, roll).rows[0] for board, roll in zip(boards, rolls, strict=True)]
    np.testing.assert_array_equal(ranked, alone)


def test_a_filter_keeps_the_best_plays_and_those_close_to_the_best() -> None:
    equities = np.array([0.10, 0.50, 0.45, 0.50, -0.20, 0.44], np.float32)
    assert MoveFilter(1, 0, 0.0).kept(equities).tolist() == [1]  # the first of equals
    assert MoveFilter(2, 0, 0.0).kept(equities).tolist() == [1, 3]
    assert MoveFilter(1, 3, 0.055).kept(equities).tolist() == [1, 2, 3]
    assert MoveFilter(1, 4, 0.07).kept(equities).tolist() == [1, 2, 3, 5]
    assert MoveFilter(5, 0, 0.0).kept(equities).tolist() == [0, 1, 2, 3, 5]
    assert MoveFilter(9, 9, 9.0).kept(equities).tolist() == [0, 1, 2, 3, 4, 5]


def test_ranked_plays_say_their_ply_and_deeper_ones_come_first() -> None:
    ranked = searcher(2, filter="narrow").rank(START, (6, 4))
    first, second = FILTERS["narrow"][:2]
    plies = ranked.plies.tolist()
    assert plies == sorted(plies, reverse=True)
    assert set(plies) == {0, 1, 2}
    assert plies.count(2) <= second.accept + second.extra
    assert plies.count(2) + plies.count(1) <= first.accept + first.extra
    for ply in (0, 1, 2):
        equities = ranked.equities[ranked.plies == ply]
        assert (np.diff(equities) <= 0).all()
        at_ply = searcher(ply).probabilities(ranked.rows[ranked.plies == ply])
        np.testing.assert_array_equal(at_ply, ranked.probabilities[ranked.plies == ply])


def test_a_play_that_is_alone_is_looked_at_with_all_plies_when_it_is_ranked() -> None:
    ranked = searcher(2).rank(parse("1:1 / 13:15"), (2, 1))
    assert ranked.plies.tolist() == [2]
    assert ranked.equities.tolist() == [2.0]


def test_without_plies_a_search_is_the_network_itself() -> None:
    boards, rolls = np.array(some_boards(18), np.int8), np.tile(np.array([3, 1], np.int8), (18, 1))
    np.testing.assert_array_equal(searcher(0).choose(boards, rolls), NETWORK.choose(boards, rolls))
    np.testing.assert_array_equal(searcher(0).equity(boards), NETWORK.equity(boards))
    assert searcher(0).rank(START, (3, 1)).plies.tolist() == [0] * 16


KNOWN = ", ".join(NETWORK_SETTINGS)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ("ply=9", "ply: 0 to 4 expected, got 9"),
        ("ply=-1", "ply: a whole number expected, got '-1'"),
        ("ply=two", "ply: a whole number expected, got 'two'"),
        ("filter=huge", "filter: one of narrow, normal, wide, full expected, got 'huge'"),
        ("threads=0", "threads: 1 to 256 expected, got 0"),
        ("level=best", "level: one of fast, normal, strong, deep, rollout expected, got 'best'"),
        ("ply=1,ply=2", "ply is set twice"),
        ("seed=1", f"default has the settings {KNOWN}, got 'seed=1'"),
        ("ply", f"default has the settings {KNOWN}, got 'ply'"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(settings: str, fault: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        bot(f"default,{settings}")
    assert str(error.value) == f"player 'default,{settings}': {fault}"


@pytest.mark.parametrize("numbers", [(0, 1, 0.1), (1, -1, 0.1), (1, 1, -0.1), (1, 1, float("nan"))])
def test_an_impossible_filter_is_refused(numbers: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="filter: accept at least 1, extra and within at least 0"):
        MoveFilter(*numbers)


def test_settings_of_a_network_choose_how_it_looks_ahead() -> None:
    found = bot("default,level=deep,filter=wide,threads=2")
    assert found.name == "default,level=deep,filter=wide,threads=2"
    assert found.evaluator.settings == replace(LEVELS["deep"], filter="wide", threads=2)  # type: ignore[attr-defined]
    assert isinstance(bot("default,ply=0").evaluator, NetworkEvaluator)  # type: ignore[attr-defined]


def test_the_caucasian_rule_is_played_without_look_ahead() -> None:
    with pytest.raises(ValueError, match="the Caucasian rule is played at 0-ply only, got 1"):
        bot("default,ply=1", rules("caucasian"))
