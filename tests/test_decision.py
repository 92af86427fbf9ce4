"""Cube decisions: verdicts, what errors cost, and the traps of scores and rules, each by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from tdgammon.decide.cubeful import cube_table
from tdgammon.decide.decision import CubeDecision, cube_equities, decide
from tdgammon.decide.window import Shares, chances_of
from tdgammon.game.board import START, checked_boards, parse
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.value.bearoff import load
from tdgammon.value.verdict import verdict


class Chances:
    """Says the same chances of every board, and values the cube with one life."""

    def __init__(
        self, win: float, gammons: float = 0, gammons_lost: float = 0, life: float = 0.68
    ) -> None:
        self.row = chances_of(win, Shares(gammons), Shares(gammons_lost))[0]
        self.life = life

    def worths(self, boards: ArrayLike, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        num = len(checked_boards(boards))
        values = np.empty((num, table.cash.shape[1], 3))
        kernel.leaf_batch(np.tile(self.row, (num, 1)), np.full(num, self.life), table, side, values)
        return values


class Tables:
    """Chances of the bear-off tables."""

    def worths(self, boards: ArrayLike, table: CubeTable, side: int = 0) -> NDArray[np.float64]:
        checked, tables = checked_boards(boards), load()
        values = np.empty((len(checked), table.cash.shape[1], 3))
        chances = tables.probabilities(checked)
        kernel.evaluate_batch(checked, chances, tables.tables, 15, table, side, values)
        return values


def stakes(
    away: tuple[int, int] = (0, 0),
    cube: int = 1,
    owner: int = CENTRED,
    *,
    crawford: bool = False,
    post: bool = False,
    **rules: bool | int,
) -> Stakes:
    return Stakes(
        rules=GameRules(**rules),  # type: ignore[arg-type]
        cube_values=np.array([cube]),
        cube_owners=np.array([owner], np.int8),
        away=np.array([away]),
        is_crawford=np.array([crawford]),
        is_post_crawford=np.array([post]),
    )


def decided(evaluator: Chances, **more: object) -> CubeDecision:
    return decide(evaluator, START, stakes(**more))  # type: ignore[arg-type]


# ---- verdicts


@pytest.mark.parametrize(
    ("win", "owner", "expected"),
    [
        (0.50, CENTRED, "no double, take"),
        (0.72, CENTRED, "double, take"),
        (0.80, CENTRED, "double, pass"),
        (0.70, OWN, "no redouble, take"),
        (0.76, OWN, "redouble, take"),
        (0.82, OWN, "redouble, pass"),
    ],
)
def test_money_verdicts_without_gammons(win: float, owner: int, expected: str) -> None:
    assert decided(Chances(win), owner=owner).verdict == expected


def test_near_the_double_point_a_double_is_optional() -> None:
    assert decided(Chances(0.6917)).verdict == "optional double, take"
    assert decided(Chances(0.6917)).reason == "doubling and not doubling are within 0.001"


def test_errors_are_what_each_action_costs() -> None:
    found = decided(Chances(0.72))
    assert found.double_take is not None
    assert found.errors == pytest.approx(
        {
            "no double": found.double_take - found.no_double,
            "double": 0,
            "take": 0,
            "pass": 1 - found.double_take,
        }
    )
    too_late = decided(Chances(0.85))
    assert too_late.double_take is not None
    assert too_late.errors["take"] == pytest.approx(too_late.double_take - 1)
    assert too_late.errors["pass"] == 0


def test_a_double_that_the_taker_would_be_glad_of_is_beavered() -> None:
    found = decided(Chances(0.3), beavers=True)
    assert found.verdict == "no double, beaver"
    assert found.beaver == pytest.approx(2 * found.double_take)
    assert found.errors["take"] == pytest.approx(-found.double_take)
    assert found.errors["beaver"] == 0
    assert decided(Chances(0.3)).verdict == "no double, take"
    for win, answer in ((0.3, True), (0.6, False)):
        batch = cube_equities(Chances(win), START, stakes(beavers=True))
        assert batch.beavers.tolist() == [answer]
        assert batch.takes.tolist() == [True]
    assert not cube_equities(Chances(0.3), START, stakes()).beavers[0]


def test_with_jacoby_a_double_can_be_right_although_it_is_beavered() -> None:
    """Kauder's paradox: a long shot whose wins are gammons wants the cube turned, the taker too."""
    chances = Chances(0.44, gammons=0.9, gammons_lost=0.518, life=0.0)
    with_beavers = decided(chances, jacoby=True, beavers=True)
    assert with_beavers.double_take is not None
    assert with_beavers.no_double < 2 * with_beavers.double_take < 0
    assert with_beavers.verdict == "double, beaver"


def test_a_batch_decides_like_single_boards() -> None:
    many = replace(
        stakes(),
        cube_values=np.array([1, 2, 2, 1]),
        cube_owners=np.array([CENTRED, OWN, OPPONENTS, CENTRED], np.int8),
        away=np.array([[5, 3], [5, 3], [4, 4], [1, 3]]),
        is_crawford=np.array([False, False, False, True]),
        is_post_crawford=np.zeros(4, np.bool_),
    )
    batch = cube_equities(Chances(0.7, 0.2), np.tile(START, (4, 1)), many)
    for row in range(4):
        one = Stakes(
            rules=many.rules,
            cube_values=many.cube_values[row : row + 1],
            cube_owners=many.cube_owners[row : row + 1],
            away=many.away[row : row + 1],
            is_crawford=many.is_crawford[row : row + 1],
            is_post_crawford=many.is_post_crawford[row : row + 1],
        )
        single = decide(Chances(0.7, 0.2), START, one)
        assert batch.no_double[row] == pytest.approx(single.no_double)
        assert batch.may_double[row] == (single.double_take is not None)
    assert batch.may_double.tolist() == [True, True, False, False]


def test_match_chances_follow_from_the_equities() -> None:
    found = decided(Chances(0.7), away=(2, 2))
    assert found.match_chances is not None
    # doubled, the game decides the match; a pass leaves 1-away against 2-away
    assert found.match_chances["double, take"] == pytest.approx(0.7)
    assert found.match_chances["double, pass"] == pytest.approx(0.67736)
    assert found.verdict == "double, pass"


def test_one_board_and_one_game_are_asked_for() -> None:
    with pytest.raises(ValueError, match="one expected, got 2"):
        decide(Chances(0.5), np.tile(START, (2, 1)), stakes())


@pytest.mark.parametrize(
    ("no_double", "take", "words"),
    [(0.3, 0.2, "no double, take"), (1.0, 2.0, "double, pass"), (1.1, 1.5, "too good to double, pass")],
)
def test_a_verdict_in_words(no_double: float, take: float, words: str) -> None:
    assert verdict(no_double, take) == words


# ---- traps


def test_too_good_without_jacoby_is_double_pass_with_it() -> None:
    strong = Chances(0.82, gammons=0.45)
    assert decided(strong).verdict == "too good to double, pass"
    assert decided(strong, jacoby=True).verdict == "double, pass"


def test_27_of_36_on_the_last_roll_is_a_tie_for_money_and_a_pass_at_3_away_3_away() -> None:
    last_roll = parse("6:1 / 24:1")  # 27 rolls bear the checker off; the others lose
    money = decide(Tables(), last_roll, stakes())
    assert money.double_take == pytest.approx(1.0, abs=1e-6)
    assert money.errors["take"] == pytest.approx(0, abs=1e-6)
    assert money.errors["pass"] == pytest.approx(0, abs=1e-6)
    assert money.verdict == "double, take"
    match = decide(Tables(), last_roll, stakes((3, 3)))
    assert match.verdict == "double, pass"  # he needs 30.2 %
    assert match.match_chances is not None
    assert match.match_chances["double, take"] == pytest.approx(
        0.75 * 0.75076 + 0.25 * 0.24924, abs=1e-6
    )


def test_free_drop() -> None:
    """Post-Crawford, trailer 2 away: a pass costs the leader next to nothing, so behind he passes."""
    for win, answer in ((0.49, "take"), (0.51, "pass")):
        found = decided(Chances(win), away=(2, 1), post=True)
        assert found.verdict == f"double, {answer}"
    three_away = decided(Chances(0.51), away=(3, 1), post=True)
    assert three_away.verdict == "double, take"


@pytest.mark.parametrize("need", range(2, 9))
def test_the_trailer_doubles_at_once_after_the_crawford_game(need: int) -> None:
    for win in (0.2, 0.35, 0.5):
        found = decided(Chances(win, 0.2, 0.2), away=(need, 1), post=True)
        assert found.verdict.startswith("double")
        assert found.errors["double"] == pytest.approx(0, abs=1e-9)


def test_the_leader_at_match_point_never_doubles() -> None:
    found = decided(Chances(0.75), away=(1, 3), post=True)
    assert found.verdict == "no double"
    assert "dead" in found.reason
    assert not cube_equities(Chances(0.75), START, stakes((1, 3), post=True)).doubles[0]


def test_nobody_doubles_in_the_crawford_game() -> None:
    found = decided(Chances(0.75), away=(3, 1), crawford=True)
    assert (found.verdict, found.double_take) == ("no double", None)
    assert "Crawford" in found.reason


def test_who_owns_a_2_cube_against_2_away_redoubles_automatically() -> None:
    """A loss costs the match in any case: only the stakes of a win can rise."""
    for win in (0.1, 0.3, 0.5):
        found = decided(Chances(win), away=(4, 2), cube=2, owner=OWN)
        assert found.verdict == "redouble, take"
        assert "at once" in found.reason


def test_the_cube_is_dead_at_double_match_point() -> None:
    found = decided(Chances(0.75), away=(1, 1), post=True)
    assert (found.verdict, found.double_take) == ("no double", None)
    assert found.no_double == pytest.approx(0.5)  # 2 x 75 % - 1: no cube in it


def test_a_cube_that_wins_the_match_is_dead_for_its_owner() -> None:
    found = decided(Chances(0.75), away=(2, 5), cube=2, owner=OWN)
    assert found.verdict == "no double"
    assert found.reason == (
        "the cube is dead: he needs 2 points, and a win with the cube at 2 gives as many"
    )


def test_at_the_highest_cube_nobody_doubles_and_the_double_before_is_taken_with_a_dead_cube() -> None:
    at_limit = decided(Chances(0.77), cube=64, owner=OWN)
    assert (at_limit.verdict, at_limit.double_take) == ("no double", None)
    assert at_limit.reason == "the cube is at its limit of 64"
    # doubled to the limit the taker gets a dead cube: he needs 25 %, not 21.4 %
    assert decided(Chances(0.77), cube=32, owner=OWN).verdict == "redouble, pass"
    assert decided(Chances(0.77), cube=1, owner=OWN).verdict == "redouble, take"


def test_without_a_cube_there_is_nothing_to_decide() -> None:
    assert decided(Chances(0.75), cube_limit=1).reason == "the game is played without a cube"


def test_who_does_not_own_the_cube_cannot_double() -> None:
    found = decided(Chances(0.75), cube=2, owner=OPPONENTS)
    assert (found.verdict, found.reason) == ("no double", "the opponent owns the cube")
    assert found.no_double < Chances(0.75).row @ [3, 2, 1, -1, -2, -3]


def test_the_same_position_has_another_verdict_at_another_score() -> None:
    chances = Chances(0.68, gammons=0.3, gammons_lost=0.2)
    verdicts = {away: decided(chances, away=away).verdict for away in ((2, 4), (4, 2), (5, 5), (9, 9))}
    assert len(set(verdicts.values())) >= 2, verdicts
    table = cube_table(GameRules(), 1, (2, 4))
    assert table.may_double[0, 0]
