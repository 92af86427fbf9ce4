"""Take points, gammon values and market windows: the numbers of the two reference pages."""

from __future__ import annotations

import numpy as np
import pytest

from tdgammon.decide.cubeful import cube_table
from tdgammon.decide.window import (
    NO_GAMMONS,
    Shares,
    backgammon_value,
    equities_at,
    gammon_value,
    take_point,
    window,
)
from tdgammon.game.rules import GameRules
from tdgammon.kernels.cubeful import CubeTable

MONEY = cube_table(GameRules())


def match(doubler: int, taker: int, cube: int = 1) -> CubeTable:
    return cube_table(GameRules(), cube, (doubler, taker))


@pytest.mark.parametrize(
    ("wins", "losses", "expected"),
    [
        (
            NO_GAMMONS,
            NO_GAMMONS,
            {0: 0.25, 0.6: 0.2174, 0.68: 0.2137, 0.7: 0.2128, 0.8: 0.2083, 1: 0.2},
        ),
        (Shares(0.2), Shares(0.2), {0: 0.2917, 0.68: 0.2555, 1: 0.2414}),
        (Shares(0.1), Shares(0.3), {0: 0.3333, 0.68: 0.2920, 1: 0.2759}),
    ],
)
def test_money_take_points(wins: Shares, losses: Shares, expected: dict[float, float]) -> None:
    found = {life: take_point(MONEY, wins, losses, life) for life in expected}
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("doubler", "taker", "expected"),
    [
        (2, 2, 0.3226),
        (3, 3, 0.3017),
        (3, 2, 0.2618),
        (3, 4, 0.3520),
        (4, 3, 0.2404),
        (4, 4, 0.2881),
        (5, 5, 0.2387),
        (7, 7, 0.2523),
        (9, 9, 0.2493),
        (11, 11, 0.2521),
        (4, 2, 0.1989),
        (2, 4, 0.3713),
    ],
)
def test_gammonless_dead_take_points_of_matches(doubler: int, taker: int, expected: float) -> None:
    assert take_point(match(doubler, taker)) == pytest.approx(expected, abs=5e-5)


def test_gammon_values() -> None:
    first = {(3, 3): 0.7605, (5, 5): 0.4567, (7, 7): 0.5093, (3, 5): 0.5706, (5, 3): 0.4155}
    assert {away: gammon_value(away) for away in first} == pytest.approx(first, abs=5e-5)
    second = {(3, 3): 0.4970, (5, 5): 0.6551, (7, 7): 0.5369}
    assert {away: gammon_value(away, 2) for away in second} == pytest.approx(second, abs=5e-5)
    assert backgammon_value((3, 3)) == pytest.approx(2.0133, abs=5e-5)
    assert gammon_value((0, 0)) == 0.5
    assert backgammon_value((0, 0)) == 1.0


def test_take_points_with_gammons_at_three_away_each_equal_gnu_backgammons() -> None:
    wins, losses = Shares(0.2717, 0.0130), Shares(0.2528, 0.0112)
    assert take_point(match(3, 3), wins, losses) == pytest.approx(0.3401, abs=5e-5)
    assert take_point(match(3, 3), wins, losses, 1.0) == pytest.approx(0.2873, abs=5e-5)


def test_money_windows_of_dead_and_live_cubes() -> None:
    dead, live = window(MONEY, life=0), window(MONEY, life=1)
    assert (dead.double_point, dead.cash_point) == pytest.approx((0.5, 0.75))
    assert (live.double_point, live.cash_point) == pytest.approx((0.8, 0.8))
    assert dead.too_good_point == live.too_good_point == 1.0
    assert live.take_point == pytest.approx(0.2)


def test_with_gammons_a_position_can_be_too_good() -> None:
    found = window(MONEY, Shares(0.4), NO_GAMMONS)
    assert found.double_point < found.cash_point < found.too_good_point < 1
    chances = np.array([[0, 0.4, 0.6, 0, 0, 0]]) * found.too_good_point
    chances[0, 3] = 1 - found.too_good_point
    no_double, _ = equities_at(MONEY, chances, MONEY.life[0, 3])
    assert no_double[0] == pytest.approx(1.0)


def test_jacoby_leaves_nothing_too_good_to_cash() -> None:
    found = window(cube_table(GameRules(jacoby=True)), Shares(0.4), NO_GAMMONS)
    assert found.too_good_point == 1.0


def test_at_two_away_each_the_window_opens_at_even_chances() -> None:
    """The cube is dead once it is taken, so doubling costs nothing but the take (dead cube)."""
    found = window(match(2, 2), life=0)
    assert found.double_point == pytest.approx(0.5)
    assert found.take_point == pytest.approx(0.32264)


def test_who_cannot_gain_by_a_double_has_no_window() -> None:
    with pytest.raises(ValueError, match="may not double"):
        window(match(1, 1))
