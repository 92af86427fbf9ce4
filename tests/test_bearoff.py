"""Bear-off tables against hand values, a recursion of their own, simulation, and damage."""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from networks import ARCHITECTURES, random_weights
from reference import rolls_until

from tdgammon.cli import main as cli
from tdgammon.game.board import flip, has_contact, parse
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS, rolls_at, streams
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD
from tdgammon.kernels import one_side, one_sided, side_rows
from tdgammon.learn.selfplay import begin, play_block
from tdgammon.value import bearoff, table_files
from tdgammon.value.evaluator import NetworkEvaluator

Side = tuple[int, ...]
"""Checkers on the points 1, 2, ... of one side."""


@pytest.fixture(scope="module")
def tables() -> bearoff.BearoffTables:
    return bearoff.load()


def board_of(own: Side, opposing: Side = ()) -> np.ndarray:
    cells = np.zeros(26, np.int8)
    cells[1 : 1 + len(own)] = own
    for point, count in enumerate(opposing, 1):
        cells[25 - point] = -count
    return cells


# The slow twin: one side's moves written down from R9, and plain recursion on them.


def moved(side: Side, die: int) -> set[Side]:
    """What one die leaves of a side at home."""
    found = set()
    for index, count in enumerate(side):
        point = index + 1
        if not count or (point < die and any(side[point:])):
            continue
        after = list(side)
        after[index] -= 1
        if point > die:
            after[index - die] += 1
        found.add(tuple(after))
    return found


@cache
def left_by(side: Side, roll: tuple[int, int]) -> frozenset[Side]:
    """What a roll leaves, each die played where it can be; nothing is left to play after the last."""
    dice = [roll[:1] * 4] if roll[0] == roll[1] else [roll, roll[::-1]]
    found = set()
    for order in dice:
        sides = {side}
        for die in order:
            sides = {after for s in sides for after in (moved(s, die) if any(s) else {s})}
        found |= sides
    return frozenset(found)


ALL_ROLLS = Counter(tuple(sorted((a, b), reverse=True)) for a in range(1, 7) for b in range(1, 7))


@cache
def mean_of(side: Side) -> Fraction:
    if not any(side):
        return Fraction(0)
    return 1 + sum(
        n * min(map(mean_of, left_by(side, roll))) for roll, n in ALL_ROLLS.items()
    ) / Fraction(36)


@cache
def equities_of(own: Side, opposing: Side) -> tuple[float, float, float, float]:
    """Cubeless; no double with the cube owned, centred, theirs."""
    totals = [0.0] * 4
    for roll, n in ALL_ROLLS.items():
        best = [-9.0] * 4
        for after in left_by(own, roll):
            if not any(after):
                values = (1.0,) * 4
            else:
                none, mine, centred, theirs = equities_of(opposing, after)  # seen by the opponent
                doubled = min(1.0, 2 * theirs)
                values = (-none, -theirs, -max(centred, doubled), -max(mine, doubled))
            best = [max(pair) for pair in zip(best, values, strict=True)]
        totals = [total + n * b / 36 for total, b in zip(totals, best, strict=True)]
    return tuple(totals)


def random_side(rng: np.random.Generator, most: int, points: int = 6) -> Side:
    return tuple(
        np.bincount(rng.integers(0, points, rng.integers(1, most + 1)), minlength=points).tolist()
    )


REFERENCE = [  # ../shared/reference/bearoff.md: mean rolls, EPC, chance of one roll, of at most two
    ((1,), 1.0, 8.167, 1, 1),
    ((2,), 1.0, 8.167, 1, 1),
    ((3,), 1.8333, 14.972, 0.16667, 1),
    ((4,), 1.8333, 14.972, 0.16667, 1),
    ((10,), 4.4082, 36.0, 0, 0),
    ((15,), 6.9796, 57.0, 0, 0),
    ((0, 0, 0, 0, 0, 1), 1.25, 10.208, 0.75, 1),
    ((0, 0, 0, 0, 0, 2), 2.1096, 17.228, 0.11111, 0.78241),
    ((0, 0, 0, 0, 1, 1), 1.96, 16.007, 0.16667, 0.87423),
    ((0, 0, 0, 1, 1, 1), 2.4864, 20.306, 0.05556, 0.49614),
    ((1, 1, 1, 1, 1, 1), 3.4636, 28.286, 0, 0.0733),
    ((0, 5), 2.7629, 22.564, 0, 0.25849),
    ((0, 0, 5), 3.1093, 25.392, 0, 0.20679),
    ((0, 0, 0, 3, 3, 3), 6.3393, 51.771, 0, 0),
    ((0, 0, 0, 3, 4, 3), 6.9685, 56.909, 0, 0),
    ((2, 2, 2, 2, 2, 2), 6.3603, 51.943, 0, 0),
    ((3, 3, 3, 2, 2, 2), 7.555, 61.699, 0, 0),
    ((0, 0, 0, 5, 5, 5), 10.0738, 82.269, 0, 0),
    ((0, 0, 0, 0, 0, 15), 12.2662, 100.174, 0, 0),
]


@pytest.mark.parametrize(("side", "mean", "epc", "one", "two"), REFERENCE)
def test_published_means_and_chances(tables, side, mean, epc, one, two):
    board = board_of(side)
    assert tables.mean_rolls(board)[0] == pytest.approx(mean, abs=5.1e-5)
    assert tables.epc(board)[0] == pytest.approx(epc, abs=5.1e-4)
    chances = tables.distributions(board)[0]
    assert chances[:2].sum() == pytest.approx(one, abs=5.1e-6)
    assert chances[:3].sum() == pytest.approx(two, abs=5.1e-6)


@pytest.mark.parametrize(
    ("own", "opposing", "win"),
    [
        ((4,), (2,), 0.16667),
        ((4,), (4,), 0.86111),
        ((6,), (6,), 0.78781),
        ((8,), (8,), 0.74526),
        ((10,), (10,), 0.71745),
        ((0, 0, 0, 5, 5, 5), (0, 0, 0, 5, 5, 5), 0.59605),
        ((0, 0, 0, 3, 4, 3), (5, 5, 5), 0.64662),
    ],
)
def test_published_race_chances(tables, own, opposing, win):
    chances = tables.probabilities(board_of(own, opposing))[0]
    assert chances[:3].sum() == pytest.approx(win, abs=5.1e-6)


def test_every_distribution_sums_to_one_and_has_its_mean(tables):
    t = tables.tables
    num = (len(t.firsts) - side_rows.NUM_OUTSIDE) // 3
    sums = np.add.reduceat(t.chances.astype(np.float64), t.starts[:-1])
    assert np.abs(sums - 1).max() < 1e-6
    rolls = np.arange(len(t.chances)) - np.repeat(t.starts[:-1] - t.firsts, np.diff(t.starts))
    means = np.add.reduceat(t.chances * rolls, t.starts[:-1])
    assert np.abs(means - t.means).max() < 2e-6
    assert num == 54_264


def test_means_equal_a_recursion_in_fractions(tables):
    rng = np.random.default_rng(1)
    for side in {random_side(rng, 6) for _ in range(60)}:
        assert tables.mean_rolls(board_of(side))[0] == pytest.approx(float(mean_of(side)), abs=1e-9)


def test_two_sided_equals_a_recursion_on_200_positions(tables):
    rng = np.random.default_rng(2)
    pairs = [(random_side(rng, 3), random_side(rng, 3)) for _ in range(200)]
    boards = np.stack([board_of(*pair) for pair in pairs])
    wanted = np.array([equities_of(*pair) for pair in pairs])
    assert np.abs(tables.equities(boards) - wanted).max() < 1e-6
    wins = tables.probabilities(boards)[:, :3].sum(axis=1)
    assert np.abs(wins - (1 + wanted[:, 0]) / 2).max() < 1e-6


def test_a_finished_position_is_worth_its_result(tables):
    boards = np.stack([parse("/ 24:2"), parse("1:2 /")])
    assert tables.equities(boards).tolist() == [[1.0] * 4, [-1.0] * 4]
    assert tables.probabilities(boards)[:, 2].tolist() == [1.0, 0.0]


def test_one_sided_equals_simulation(tables):
    """Mean and chances within four standard errors, every play by the table of means."""
    num = 1500
    boards = np.tile(board_of((2, 2, 3, 3, 2, 3)), (num, 1))
    boards[:, 24] = -1  # somebody to pass the turn to
    keys, taken = streams(7, num), np.zeros(num, np.int64)
    for turn in range(1, 40):
        rows, offsets = afterstates(boards, rolls_at(keys, turn))
        own = flip(rows)
        means = tables.mean_rolls(own)
        best = [start + int(means[start:end].argmin()) for start, end in pairwise(offsets.tolist())]
        playing = (boards > 0).any(axis=1)
        taken += playing
        boards = np.where(playing[:, None], own[best], boards)
        if not playing.any():
            break
    chances = tables.distributions(board_of((2, 2, 3, 3, 2, 3)))[0]
    mean = chances @ np.arange(96)
    sd = np.sqrt(chances @ (np.arange(96) - mean) ** 2)
    assert abs(taken.mean() - mean) < 4 * sd / num**0.5
    seen = np.bincount(taken, minlength=96) / num
    assert (np.abs(seen - chances) < 4 * np.sqrt(chances / num) + 1e-3).all()


def test_exact_reference_positions_and_their_cube_actions(tables, shared):
    document = json.loads((shared / "reference" / "reference_positions.json").read_text())
    exact = [entry for entry in document["positions"] if entry["kind"] == "exact"]
    assert len(exact) == 24
    for entry in exact:
        value, board = entry["value"], np.array(entry["board"], np.int8)
        keys = ("cubeless", "no_double_owned", "no_double_centred", "opponent_owns")
        assert tables.equities(board)[0] == pytest.approx([value[key] for key in keys], abs=2e-6)
        assert tables.cube_action(board).double_take == pytest.approx(value["double_take"], abs=4e-6)


@pytest.mark.parametrize(
    ("board", "owned", "verdict"),
    [
        ("6:1 5:1 / 19:1 20:1", False, "double, pass"),
        ("6:1 / 24:1", False, "double, take"),  # 27 of 36: double and take are both ties with the pass
        ("6:6 / 19:6", False, "no double, take"),
        ("1:6 / 24:6", False, "double, pass"),
        ("6:1 5:1 4:1 3:1 2:1 1:1 / 19:1 20:1 21:1 22:1 23:1 24:1", False, "double, take"),
        ("4:1 6:1 / 24:2", False, "no double, beaver"),
        ("6:3 5:3 / 20:3 21:3", True, "no redouble, beaver"),
        ("2:1 / 24:1", False, "double, pass"),
    ],
)
def test_cube_verdicts(tables, board, owned, verdict):
    assert tables.cube_action(parse(board), owned=owned, beavers=True).verdict == verdict


def test_19_and_27_of_36_are_exact(tables):
    """5-2 bears off in 19 rolls of 36; a checker on the 6-point in 27."""
    five_two = tables.equities(parse("5:1 2:1 / 24:2"))[0]
    assert five_two[0] == pytest.approx(2 * 19 / 36 - 1, abs=1e-7)
    assert tables.equities(parse("6:1 / 24:1"))[0] == pytest.approx([0.5] * 4, abs=1e-7)
    action = tables.cube_action(parse("5:1 2:1 / 24:2"))
    assert action.verdict == "double, take"
    assert (action.no_double, action.double_take) == pytest.approx((2 / 36, 4 / 36), abs=1e-7)


def test_beavers_do_not_change_what_anybody_does(tables):
    """A double that would be beavered, so 2 x theirs < 0, is never better than no double."""
    pairs = tables.tables.pairs[1:, 1:]
    _, own, centred, theirs = np.moveaxis(pairs, 2, 0)
    bad = theirs < 0
    assert (np.minimum(own, centred)[bad] >= 2 * theirs[bad] - 1e-6).all()
    assert (own >= theirs - 1e-6).all()


@pytest.mark.parametrize("points", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_play_is_best_in_the_exact_tables(tables, points):
    """2,000 random positions: what is chosen loses nothing by the recursion of this file."""
    rng = np.random.default_rng(3)
    architecture = ARCHITECTURES["one-unit"]
    evaluator = NetworkEvaluator(architecture, random_weights(architecture), bearoff=tables)
    pairs = [(random_side(rng, 3, points), random_side(rng, 3, points)) for _ in range(2000)]
    boards = np.stack([board_of(*pair) for pair in pairs])
    rolls = ROLLS[rng.integers(0, 21, len(pairs))]
    chosen = flip(evaluator.choose(boards, rolls))
    for (own, opposing), roll, after in zip(pairs, rolls.tolist(), chosen, strict=True):

        def value(side: Side, opposing: Side = opposing) -> float:
            return -equities_of(opposing, side)[0] if any(side) else 1.0

        best = max(map(value, left_by(own, tuple(roll))))
        assert value(tuple(after[1:7].tolist())) == pytest.approx(best, abs=1e-6)


def test_best_play_is_not_the_fastest_one():
    """Plays that minimise the mean and plays that win more often differ somewhere small."""
    rng = np.random.default_rng(4)
    for _ in range(3000):
        own, opposing = random_side(rng, 3), random_side(rng, 2)
        for roll in ALL_ROLLS:
            sides = [side for side in left_by(own, roll)]
            if any(not any(side) for side in sides):
                continue
            fastest = min(mean_of(side) for side in sides)
            win = max(-equities_of(opposing, side)[0] for side in sides)
            greedy = max(-equities_of(opposing, s)[0] for s in sides if mean_of(s) == fastest)
            if win > greedy + 1e-6:
                return
    pytest.fail("no difference found")


# Races: gammons, backgammons, checkers outside.


def test_chances_sum_to_one_and_gammons_are_possible_only_before_the_first_checker_off(tables):
    boards = np.stack(
        [
            parse("6:3 5:4 4:3 / 24:5 23:5 22:5"),
            parse("1:2 / 18:5 12:10"),
            parse("1:1 / 24:1 18:14"),
            parse("13:5 8:5 6:5 / 14:5 19:5 20:5"),
            parse("3:2 2:1 / 4:3 19:12"),
        ]
    )
    chances = tables.probabilities(boards)
    assert np.abs(chances.sum(axis=1) - 1).max() < 1e-6
    assert chances.min() >= 0
    assert not chances[0, [0, 1, 4, 5]].any()
    assert chances[1, :2].sum() == pytest.approx(1, abs=1e-6)  # nobody brings 15 home in no time
    assert chances[4, 0] > 0.85  # three checkers deep in the winner's home board


def test_gammon_by_hand(tables):
    """One checker to bear off against 15 on the ace point: the other has no roll before the end."""
    assert tables.probabilities(parse("1:1 / 24:15"))[0, 1] == pytest.approx(1)
    # two rolls for sure against 15 at home: one roll of the other bears off
    assert tables.probabilities(parse("1:10 / 24:15"))[0, 1] == pytest.approx(0, abs=1e-6)
    # 6-point in one roll with 27 of 36; else the other's ace points go off
    assert tables.probabilities(parse("6:1 / 24:15"))[0, 1:3] == pytest.approx([0.75, 0.25], abs=1e-6)
    # of the one roll he gets, 21 of 36 bring the last checker home and one off
    chances = tables.probabilities(parse("6:1 / 24:14 16:1"))[0]
    assert chances[1] == pytest.approx(0.75 + 0.25 * 15 / 36, abs=0.02)  # the shape is not exact


def test_backgammon_by_hand(tables):
    chances = tables.probabilities(parse("5:1 / 24:14 6:1"))[0]  # he stands on his 19-point
    # 1-1, 2-1 and 3-1 leave something of the 5; he then leaves the winner's home board with any roll
    assert chances[0] == pytest.approx(31 / 36, abs=1e-6)
    assert chances[1] == pytest.approx(5 / 36, abs=0.02)  # 6-6 and 5-5 save him: the shape is not exact


def test_a_race_seen_by_the_other_player_after_the_roll_is_the_mean_over_rolls(tables):
    """One roll on, best play against the table's own answer: both stay near each other."""
    boards = np.stack(
        [
            parse("9:2 8:3 6:4 5:3 4:3 / 17:3 19:5 20:4 21:3"),
            parse("11:1 7:2 6:5 5:4 4:3 / 18:2 19:6 20:5 22:2"),
            parse("16:1 12:2 8:3 6:5 5:4 / 17:4 19:6 20:5"),
            parse("6:4 5:4 4:3 3:2 2:1 / 19:5 20:4 21:3 22:1"),
        ]
    )
    for board in boards:
        win = 0.0
        for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            rows, _ = afterstates(board, roll)
            win += weight * tables.probabilities(rows)[:, 3:].sum(axis=1).max()
        assert tables.probabilities(board)[0, :3].sum() == pytest.approx(win, abs=0.006)


def test_pips_without_waste_shift_mean_and_variance_as_renewal_theory_says():
    flat, rows = bearoff.shifts()
    pips = ROLLS.sum(axis=1) * np.where(ROLLS[:, 0] == ROLLS[:, 1], 2, 1)
    mean = ROLL_WEIGHTS @ pips
    variance = ROLL_WEIGHTS @ (pips - mean) ** 2
    assert mean == pytest.approx(49 / 6)
    for x in (-3, 0, 1, 7, 50, 250):
        first, begin, end = rows[x + 4]
        rolls = first + np.arange(end - begin)
        found = flat[begin:end].astype(np.float64)
        assert found.sum() == pytest.approx(1, abs=1e-4)
        assert found @ rolls == pytest.approx(x / mean, abs=2e-3)
        assert found @ (rolls - x / mean) ** 2 == pytest.approx(x * variance / mean**3, abs=1e-2)


# Checkers outside home: rolls until the first checker is off, few checkers anywhere.


@pytest.mark.parametrize(
    ("board", "loses_gammon"),
    [
        ("11:1 8:1 6:5 5:2 3:2 2:2 1:2 / 24:1", 32 / 36),  # saved by 3-3, 4-4, 5-5 and 6-6
        # the 11 comes home with a 5 or 6 and the other die bears off, unless it is the gap's 2: 7 rolls
        # twice; 3-3 to 6-6
        ("11:1 6:4 5:4 4:3 3:1 1:2 / 24:2", 18 / 36),
        # any 6; 5-2 and 4-3, one die to the point that the other bears off from; 3-3 and 2-2
        ("7:1 6:14 / 24:1", 19 / 36),
    ],
)
def test_gammons_saved_in_one_roll_by_hand(tables, board, loses_gammon):
    assert tables.probabilities(parse(board))[0, 4] == pytest.approx(loses_gammon, abs=1e-6)


def test_few_checkers_anywhere_equal_a_recursion(tables):
    rng = np.random.default_rng(7)
    known: dict = {}
    for checkers in (1, 2, 3):
        for _ in range(6):
            side = tuple(np.bincount(rng.integers(0, 18, checkers), minlength=24).tolist())
            wanted = rolls_until(side, 0, known)
            found = tables.distributions(board_of(side))[0]
            assert np.abs(found[: len(wanted)] - wanted).max() < 1e-6
            mean = sum(k * chance for k, chance in enumerate(wanted))
            assert tables.mean_rolls(board_of(side))[0] == pytest.approx(mean, abs=1e-6)


def test_first_checker_off_is_near_a_recursion(tables):
    """One roll exactly; later ones but for home points that a play leaves, which the tables neglect.

    Five or six checkers: with 15 a play leaves fewer points, and the next test is closer.
    """
    known: dict = {}
    for side in [(0, 0, 1, 0, 0, 4, 1), (0, 1, 0, 0, 0, 4, 0, 0, 1)]:
        wanted = rolls_until(side, sum(side) - 1, known)
        found = tables.distributions(board_of(side), "next")[0][: len(wanted)]
        assert found[1] == pytest.approx(wanted[1], abs=1e-6)
        assert np.abs(found - wanted).max() < 0.01


def test_first_checker_off_is_near_an_exact_table_of_8_points(tables):
    """Bounds on the mean error: about twice what thousands of positions showed, see EXPERIMENTS.md."""
    points, num = 8, 490_314
    rows = bearoff._filled(num, partial(one_sided.fill_one_sided, points, one_side.NEXT_OFF))
    rng = np.random.default_rng(8)
    for outside, most in ((1, 0.01), (2, 0.01), (4, 0.004), (6, 0.003), (8, 0.015), (12, 0.015)):
        errors = []
        for _ in range(100):
            home = rng.multinomial(15 - outside, rng.dirichlet(np.ones(6)))
            side = (*home.tolist(), *rng.multinomial(outside, [0.5, 0.5]).tolist())
            at = one_side.number_of(np.array([0, *side], np.int64), points)
            wanted = np.zeros(96)
            chances = rows["chances"][rows["starts"][at] : rows["starts"][at + 1]]
            wanted[rows["firsts"][at] :][: len(chances)] = chances
            found = tables.distributions(board_of(side), "next")[0]
            errors.append(np.abs(np.cumsum(found - wanted)).max())
        assert np.mean(errors) < most


def test_a_straggler_and_two_on_the_ace_point(tables):
    """The opponent's last is on his 14-point; the player's ten are off in four to five rolls."""
    known: dict = {}
    own = rolls_until((2, 4, 2, 2), 0, known)
    other = rolls_until((2, *[0] * 12, 1), 0, known)
    win = sum(chance * sum(other[max(k, 1) :]) for k, chance in enumerate(own) if k <= len(other))
    found = tables.probabilities(parse("4:2 3:2 2:4 1:2 / 24:2 11:1"))[0]
    assert found[:3].sum() == pytest.approx(win, abs=1e-5)


# The evaluator.


def evaluators(tables):
    architecture = ARCHITECTURES["counts-relu"]
    weights = random_weights(architecture)
    return NetworkEvaluator(architecture, weights), NetworkEvaluator(
        architecture, weights, bearoff=tables
    )


def test_contact_is_the_networks_and_races_are_the_tables(tables):
    plain, exact = evaluators(tables)
    boards = play_block(plain, begin(STANDARD, 3, 8), 3000).boards
    contact = has_contact(boards)
    assert (exact.probabilities(boards)[contact] == plain.probabilities(boards)[contact]).all()
    races = boards[~contact]
    assert len(races) > 20
    assert (exact.probabilities(races) == tables.probabilities(races)).all()


def test_self_play_with_tables_ends_at_the_first_race(tables):
    plain, exact = evaluators(tables)
    games = play_block(exact, begin(STANDARD, 4, 30), 3000)
    assert has_contact(games.boards[games.goes_on]).all()
    ends = games.boards[games.last_rows]
    assert not has_contact(ends).any()
    assert (ends < 0).any(axis=1).sum() > 10, "most games end as a race that is not over"
    wanted = tables.probabilities(ends)
    assert np.abs(games.probabilities[games.last_rows] - wanted).max() < 1e-6
    longer = play_block(plain, begin(STANDARD, 4, 30), 3000)
    assert games.lengths.sum() < longer.lengths.sum()


def test_the_choice_is_the_least_equity_of_the_afterstates(tables):
    """Also where some plays leave contact and some do not."""
    _, exact = evaluators(tables)
    rng = np.random.default_rng(5)
    boards = [parse("13:1 8:4 6:5 5:5 / 12:1 19:6 20:5 21:3"), parse("8:2 6:5 5:4 4:4 / 7:1 19:7 20:7")]
    boards += [parse("7:1 4:3 2:2 / 5:1 24:4"), parse("6:2 5:2 / 20:3 19:4")]
    for board in boards * 6:
        roll = ROLLS[rng.integers(0, 21)]
        rows, _ = afterstates(board, roll)
        equities = exact.equity(rows)
        chosen = exact.choose(board, roll)
        at = int(np.flatnonzero((rows == chosen).all(axis=1))[0])
        assert equities[at] <= equities.min() + 2e-6


def test_games_with_tables_are_the_same_on_any_thread(tables):
    _, exact = evaluators(tables)
    here = play_block(exact, begin(STANDARD, 6, 12), 3000)
    with ThreadPoolExecutor(3) as pool:
        blocks = [pool.submit(play_block, exact, begin(STANDARD, 6, 12), 3000) for _ in range(3)]
        for there in (block.result() for block in blocks):
            assert (there.boards == here.boards).all()
            assert (there.probabilities == here.probabilities).all()


def test_a_game_of_three_checkers_has_gammons_that_the_pairs_do_not_know(tables):
    """Three checkers each, none off: 1-1-1 wins at once with a double, else the other plays once."""
    board = parse("1:3 / 24:3")
    wins, saved = 1 / 6, 5 / 6  # any roll bears off a checker from the ace point
    assert tables.probabilities(board)[0, 2:4] == pytest.approx([wins + saved * saved, saved / 6])
    chances = tables.probabilities(board, num_checkers=3)[0]
    assert chances == pytest.approx([0, wins, saved * saved, saved / 6, 0, 0], abs=1e-6)


def test_importing_and_playing_bots_builds_no_tables(tmp_path: Path):
    code = "import tdgammon; from tdgammon.bench.arena import match; match('racer', 'pubeval', 2)"
    keep = (
        os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(keep)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
    assert not (tmp_path / "tdgammon" / f"bearoff-{table_files.FORMAT}").exists()


# Files.


def built(size: int = 0) -> bearoff.Arrays:
    return {"numbers": np.arange(1000 + size, dtype=np.float32), "more": np.zeros((3, 0, 2), np.int16)}


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return table_files.folder()


def test_a_table_is_built_once_and_mapped_read_only(cache_folder, capsys):
    first = table_files.kept("some", 4000, built)
    assert "building the bear-off table some" in capsys.readouterr().err
    again = table_files.kept("some", 4000, lambda: pytest.fail("built twice"))
    for found in (first, again):
        assert (found["numbers"] == built()["numbers"]).all()
        assert found["more"].shape == (3, 0, 2)
        assert not found["numbers"].flags.writeable
    assert capsys.readouterr().err == ""


def damaged(data: bytes, how: str) -> bytes:
    if how == "empty":
        return b""
    if how == "cut":
        return data[: len(data) // 2]
    if how == "longer":
        return data + b"\0"
    place = {"magic": 3, "checksum": 20, "header": 70, "numbers": -300}[how]
    changed = bytearray(data)
    changed[place] ^= 4
    return bytes(changed)


@pytest.mark.parametrize("how", ["empty", "cut", "longer", "magic", "checksum", "header", "numbers"])
def test_a_damaged_file_is_built_again_with_a_message(cache_folder, capsys, how):
    table_files.kept("some", 4000, built)
    path = cache_folder / "some.table"
    path.write_bytes(damaged(path.read_bytes(), how))
    capsys.readouterr()
    assert (table_files.kept("some", 4000, built)["numbers"] == built()["numbers"]).all()
    assert capsys.readouterr().err.count("is of no use") == 1
    table_files.kept("some", 4000, lambda: pytest.fail("not mended"))


def test_another_format_is_built_again(cache_folder, capsys, monkeypatch):
    table_files.kept("some", 4000, built)
    path = cache_folder / "some.table"
    monkeypatch.setattr(table_files, "FORMAT", table_files.FORMAT + 1)
    with pytest.raises(ValueError, match="format"):
        table_files._read(path)


def test_without_a_place_to_write_it_is_built_in_memory(tmp_path, monkeypatch, capsys):
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    found = table_files.kept("some", 4000, built)
    assert (found["numbers"] == built()["numbers"]).all()
    assert not found["numbers"].flags.writeable
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "in memory only" in error


def test_a_table_larger_than_the_memory_is_refused(monkeypatch):
    # the two names that Linux and macOS both know
    known = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(bearoff.os, "sysconf", known.__getitem__)
    with pytest.raises(ValueError, match="7x8: needs 663 MB of memory, the machine has 4 MB"):
        bearoff._build_two_sided(7, 8)


def test_a_full_disk_leaves_no_rest(cache_folder, monkeypatch, capsys):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = table_files.kept("some", 4000, built)
    assert (found["numbers"] == built()["numbers"]).all()
    assert "No space left" in capsys.readouterr().err
    assert [path.name for path in cache_folder.iterdir()] == ["some.lock"]


def test_what_a_killed_process_left_is_cleared(cache_folder):
    cache_folder.mkdir(parents=True)
    (cache_folder / ".some.table.abc").write_bytes(b"half")
    table_files.kept("some", 4000, built)
    assert sorted(path.name for path in cache_folder.iterdir()) == ["some.lock", "some.table"]


def test_several_processes_at_once_build_one_file(cache_folder):
    code = (
        "import time, numpy as np; from tdgammon.value import table_files\n"
        "def build():\n    time.sleep(0.5)\n    return {'numbers': np.arange(1000.0)}\n"
        "assert table_files.kept('some', 1, build)['numbers'][-1] == 999"
    )
    start = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate()[1].decode() for process in start]
    assert [process.returncode for process in start] == [0] * 4
    assert sum("building" in error for error in errors) == 1


def test_larger_tables_give_the_same_and_wrong_sizes_are_refused(tables, cache_folder):
    rows = bearoff._build_one_sided(7)
    assert len(rows["means"]) == 3 * 170_544
    pairs = bearoff._build_two_sided(7, 3)["pairs"]
    rng = np.random.default_rng(6)
    for _ in range(20):
        own, opposing = random_side(rng, 3), random_side(rng, 3)
        numbers = [
            bearoff.kernel.number_of(np.array([0, *side, 0], np.int64), 7) for side in (own, opposing)
        ]
        wanted = tables.equities(board_of(own, opposing))[0]
        assert pairs[numbers[0], numbers[1]] == pytest.approx(wanted, abs=1e-6)
        mean = tables.mean_rolls(board_of(own))[0]
        assert rows["means"][numbers[0]] == pytest.approx(mean, abs=1e-9)
    for words in ((5, (6, 6)), (11, (6, 6)), (6, (6, 11)), (6, (6, 0)), (6, (5, 6))):
        with pytest.raises(ValueError, match="6 to 10"):
            bearoff.load(*words)


# The command.


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["bearoff", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_epc_of_the_command(tables, capsys):
    for words in ("1:15 / -", "- /1:1", "6:1 5:1 / 20:1 19:1", "UAAAgAIAAAAAAA"):
        status, out, err = run(capsys, "epc", words, "--json")
        if words.startswith("-"):
            assert (status, out) == (2, "")
            continue
        found = json.loads(out)
        assert (status, err) == (0, "")
        assert found["epc"] == pytest.approx(found["mean_rolls"] * 49 / 6)
    assert found["cube"]["centred"]["verdict"] == "double, pass"
    status, out, _ = run(capsys, "epc", "1:15 / -")
    assert status == 0
    assert "6.9796" in out
    assert "57.000" in out


@pytest.mark.parametrize(
    "words", ["nonsense", "6:16 / -", "bar:1 6:2 / 24:2", "6:2 / 6:2", "", "- / -"]
)
def test_bad_positions_are_one_line_and_status_2(tables, capsys, words):
    status, out, err = run(capsys, "epc", words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


def test_contact_has_pips_but_no_chances(tables, capsys):
    status, out, _ = run(capsys, "epc", "start", "--json")
    assert status == 0
    assert json.loads(out)["pips"] == 167
    assert "probabilities" not in json.loads(out)
    with pytest.raises(ValueError, match="passed"):
        tables.probabilities(parse("start"))


def test_show_and_build(tables, capsys):
    status, out, err = run(capsys, "build", "--json")
    assert (status, err) == (0, "")
    assert all(table["built"] for table in json.loads(out)["tables"])
    status, out, _ = run(capsys, "show")
    assert status == 0
    assert "two-sided-6x6" in out
    assert run(capsys, "show", "--points", "12")[0] == 2
    assert run(capsys, "show", "--two-sided", "six")[0] == 2
