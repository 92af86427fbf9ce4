"""Cubeful worths of all cube states, and the tables that say what cube, score and rules mean."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reference_cube import live_equity

from tdgammon.decide.cubeful import cube_table, owners_of, tables_of
from tdgammon.game.board import parse
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.bearoff import NO_TABLES, load
from tdgammon.value.outcome import from_nested

MONEY = cube_table(GameRules())
JACOBY = cube_table(GameRules(jacoby=True))
START = from_nested(np.array([0.521514, 0.153921, 0.007563, 0.129847, 0.007546]))
"""GNU Backgammon's chances for the start position."""


def worths(
    probabilities: NDArray[np.floating], table: CubeTable, life: float, side: int = 0
) -> NDArray[np.float64]:
    values = np.empty((table.cash.shape[1], 3))
    kernel.leaf(probabilities, life, life, life, table, side, values)
    return values


def gammonless(win: float) -> NDArray[np.float64]:
    return np.array([0, 0, win, 1 - win, 0, 0])


def random_chances(seed: int, num: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).dirichlet([0.3, 1, 3, 3, 1, 0.3], num)


def test_the_start_position_has_the_published_equities() -> None:
    cubeless = START @ [3, 2, 1, -1, -2, -3]
    assert cubeless == pytest.approx(0.067119, abs=2e-6)
    assert worths(START, MONEY, 0.68)[0, kernel.CENTRED] == pytest.approx(0.092087, abs=2e-6)
    assert worths(START, JACOBY, 0.68)[0, kernel.CENTRED] == pytest.approx(0.084376, abs=2e-6)


@pytest.mark.parametrize(
    ("life", "take_point", "cash_point"), [(0, 0.25, 0.75), (0.68, 0.2137, 0.7863), (1, 0.2, 0.8)]
)
def test_a_double_at_the_cash_point_is_worth_a_pass(
    life: float, take_point: float, cash_point: float
) -> None:
    assert take_point == pytest.approx(1 - cash_point)
    before = 2 * worths(gammonless(cash_point - 1e-4), MONEY, life)[0, kernel.THEIRS]
    after = 2 * worths(gammonless(cash_point + 1e-4), MONEY, life)[0, kernel.THEIRS]
    assert before < 1 < after


@pytest.mark.parametrize("limit", [2, 4, 8])
@pytest.mark.parametrize("jacoby", [False, True])
def test_the_live_cube_is_that_of_the_slow_reference_near_the_cube_limit(
    limit: int, jacoby: bool
) -> None:
    table = cube_table(GameRules(cube_limit=limit, jacoby=jacoby))
    turns = limit.bit_length() - 1
    for chances in random_chances(1, 4 if limit == 8 else 20):
        win = chances[:3].sum()
        won, lost = chances[:3] @ [3, 2, 1] / win, chances[3:] @ [-1, -2, -3] / (1 - win)
        ends = [(2.0**k * won, 2.0**k * lost) for k in range(turns + 1)]
        passes: list[tuple[float | None, float | None]] = [(2.0**k, -(2.0**k)) for k in range(turns)]
        passes.append((None, None))
        found = worths(chances, table, 1.0)
        for level in range(turns + 1):
            for owner in (1, 2):
                expected = live_equity(win, ends, passes, owner, level)
                assert found[level, owner] == pytest.approx(expected, abs=1e-9)
        if jacoby:
            ends.insert(0, (1.0, -1.0))
            ends.pop(1)
        assert found[0, 0] == pytest.approx(live_equity(win, ends, passes, 0), abs=1e-9)


def test_far_from_the_limit_money_is_as_without_one() -> None:
    near = cube_table(GameRules(cube_limit=8))
    far = cube_table(GameRules(cube_limit=4096))
    assert far.is_endless
    assert not near.is_endless
    for chances in random_chances(2, 50):
        assert worths(chances, near, 0.68)[0] == pytest.approx(worths(chances, far, 0.68)[0], abs=0.04)


def test_the_other_side_sees_the_negative_of_every_worth() -> None:
    for table in (
        MONEY,
        JACOBY,
        cube_table(GameRules(), 1, (4, 7)),
        cube_table(GameRules(), 2, (3, 3)),
    ):
        for chances in random_chances(3, 20):
            own, theirs = worths(chances, table, 0.7), worths(chances[::-1], table, 0.7, side=1)
            assert own[:, 1:] == pytest.approx(-theirs[:, [2, 1]])
            assert own[0, 0] == pytest.approx(-theirs[0, 0])


def test_levels_end_where_nobody_can_gain_by_a_double() -> None:
    def levels(away: tuple[int, int], cube: int = 1, *, crawford: bool = False) -> int:
        return cube_table(GameRules(), cube, away, crawford).cash.shape[1]

    assert levels((1, 1)) == 1  # double match point
    assert levels((2, 2)) == 2
    assert levels((3, 3)) == 3
    assert levels((2, 5)) == 4  # the side 5 away may turn 1, 2 and 4
    assert levels((5, 5), 4) == 2
    assert levels((1, 5), crawford=True) == 1
    assert cube_table(GameRules(cube_limit=2), 1, (9, 9)).cash.shape[1] == 2
    assert not cube_table(GameRules(cube_limit=1)).may_double.any()


def test_only_who_has_nothing_to_lose_doubles_at_once() -> None:
    post_crawford = cube_table(GameRules(), 1, (4, 1), is_post_crawford=True)
    assert post_crawford.at_once[0].tolist() == [True, True, False]
    assert not post_crawford.at_once[1].any()
    assert not MONEY.at_once.any()
    two_away = cube_table(GameRules(), 2, (4, 2))  # the opponent wins the match with this cube
    assert two_away.at_once[0, 0]


def test_who_has_nothing_to_lose_is_no_better_off_with_a_dead_cube_than_doubled() -> None:
    table = cube_table(GameRules(), 2, (4, 2))
    values = worths(gammonless(0.3), table, 0.0)
    assert values[0, kernel.OWN] == pytest.approx(2 * 0.3 - 1)  # plays for the match
    seen_by_the_leader = worths(gammonless(0.7), table, 0.0, side=1)
    assert seen_by_the_leader[0, kernel.THEIRS] == pytest.approx(2 * 0.7 - 1)


def test_a_beaver_costs_the_doubler_twice_what_the_double_did() -> None:
    rules = GameRules(jacoby=True, beavers=True)
    values = np.array([[-0.9, -0.2, -0.3]])
    assert kernel.taken(values, cube_table(rules), 0, 0) == pytest.approx(-1.2)
    assert kernel.taken(values, JACOBY, 0, 0) == pytest.approx(-0.6)
    assert kernel.taken(-values, cube_table(rules), 0, 0) == pytest.approx(0.6)
    at_the_limit = cube_table(GameRules(cube_limit=2, beavers=True))
    finite = np.array([[-0.1, -0.1, -0.1], [0, -0.2, -0.2]])
    assert kernel.taken(finite, at_the_limit, 0, 0) == pytest.approx(-0.2)


def test_the_player_on_roll_doubles_where_that_gains() -> None:
    values, decided = np.array([[0.5, 0.6, 0.4]]), np.empty((1, 3))
    kernel.decide(values, MONEY, 0, decided)
    assert decided[0].tolist() == [0.8, 0.8, 0.4]
    kernel.decide(np.array([[1.2, 1.2, 0.9]]), MONEY, 0, decided)  # too good
    assert decided[0].tolist() == [1.2, 1.2, 0.9]
    kernel.decide(np.array([[0.9, 0.95, 0.7]]), MONEY, 0, decided)  # cash
    assert decided[0].tolist() == [1.0, 1.0, 0.7]


def test_replies_are_added_with_the_owner_of_the_cube_seen_from_the_other_side() -> None:
    values = np.zeros((1, 3))
    kernel.add_reply(np.array([[0.1, 0.2, 0.3]]), 0.5, values)
    assert values[0].tolist() == [-0.05, -0.15, -0.1]


def test_a_game_that_is_over_is_worth_its_points() -> None:
    gammon = np.array([0, 1.0, 0, 0, 0, 0])
    assert worths(gammon, JACOBY, 0.68)[0].tolist() == [1, 2, 2]
    assert worths(gammon[::-1].copy(), MONEY, 0.68)[0].tolist() == [-2, -2, -2]


@pytest.mark.parametrize("sum_of_chances", [1 - 3e-7, 1 + 3e-7])
def test_chances_may_miss_one_by_rounding(sum_of_chances: float) -> None:
    nearly_won = np.array([0, 0, sum_of_chances - 1.5e-7, 1.5e-7, 0, 0], np.float32)
    for table in (MONEY, cube_table(GameRules(), 1, (6, 4))):
        assert np.isfinite(worths(nearly_won, table, 0.68)).all()
        assert worths(nearly_won, table, 0.68)[0] == pytest.approx(
            worths(gammonless(1 - 1e-6), table, 0.68)[0], abs=1e-5
        )


def test_short_races_have_their_exact_equities() -> None:
    board = parse("6:1 5:1 / 19:1 20:1")
    chances = load().probabilities(board)
    values = np.empty((1, 1, 3))
    kernel.evaluate_batch(board[None], chances, load().tables, 15, MONEY, 0, values)
    assert values[0, 0] == pytest.approx([0.616901, 0.627524, 0.528668], abs=1e-4)


def test_the_cube_is_dead_on_the_last_roll_of_a_match_game_too() -> None:
    board = parse("6:1 3:1 / 23:1 24:1")  # 17 of 36 rolls bear both off, else the opponent is off
    chances = load().probabilities(board)
    table = cube_table(GameRules(), 1, (5, 5))
    values = np.empty((1, table.cash.shape[1], 3))
    kernel.evaluate_batch(board[None], chances, load().tables, 15, table, 0, values)
    dead = worths(chances[0], table, 0.0)
    assert values[0] == pytest.approx(dead, abs=1e-6)


@pytest.mark.parametrize("board", ["1:1 / 24:1", "6:5 / 24:1", "1:2 / 19:6"])
def test_a_race_that_is_decided_is_worth_its_points_at_a_score(board: str) -> None:
    row = parse(board)
    chances = load().probabilities(row)
    table = cube_table(GameRules(), 1, (6, 4))
    values = np.empty((1, table.cash.shape[1], 3))
    kernel.evaluate_batch(row[None], chances, load().tables, 15, table, 0, values)
    expected = table.outcomes[0, :, 2 if chances[0, 2] > 0.5 else 3]
    assert values[0, :, kernel.OWN] == pytest.approx(expected, abs=1e-6)


def test_without_tables_a_race_has_the_cube_life_of_its_pips() -> None:
    board = parse("6:5 5:5 4:5 / 19:5 20:5 21:5")  # 75 pips
    values = np.empty((1, 1, 3))
    kernel.evaluate_batch(board[None], gammonless(0.7)[None], NO_TABLES, 15, MONEY, 0, values)
    base, rise, least, most = MONEY.life[1]
    x = min(max(base + rise * 150, least), most)
    assert values[0] == pytest.approx(worths(gammonless(0.7), MONEY, x))


def test_stakes_are_grouped_by_table() -> None:
    stakes = Stakes(
        rules=GameRules(),
        cube_values=np.array([1, 2, 1]),
        cube_owners=np.array([CENTRED, OWN, OPPONENTS], np.int8),
        away=np.array([[3, 5], [3, 5], [3, 5]]),
        is_crawford=np.zeros(3, np.bool_),
        is_post_crawford=np.zeros(3, np.bool_),
    )
    tables, index = tables_of(stakes)
    assert len(tables) == 2
    assert index[0] == index[2] != index[1]
    assert owners_of(stakes).tolist() == [kernel.CENTRED, kernel.OWN, kernel.THEIRS]


@pytest.mark.parametrize(
    ("cube", "away", "words"), [(3, (0, 0), "power of 2"), (1, (0, 2), "away"), (1, (-1, 2), "away")]
)
def test_a_table_for_impossible_stakes_is_refused(cube: int, away: tuple[int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cube_table(GameRules(), cube, away)
