"""Rollouts: trials of the twin, exact endings, honest intervals, one result for any workers."""

import networks
import numpy as np
import pytest
import reference
import reference_rollout
from networks import ARCHITECTURES, random_weights

from tdgammon.decide.estimate import means_and_errors
from tdgammon.decide.rollout import Rival, Rollout, RolloutSettings
from tdgammon.decide.units import threads
from tdgammon.game.board import START, parse
from tdgammon.game.dice import stratified_rolls
from tdgammon.notation.plays import plays
from tdgammon.value import bearoff
from tdgammon.value.evaluator import NetworkEvaluator

LATE = "bar:1 6:3 5:3 4:3 3:2 2:2 / 24:4 22:3 21:3 20:2 19:2 1:1"
"""Contact, and few rolls from the end."""


def net(name="tesauro-relu", seed=1, tables=False):
    return NetworkEvaluator(
        ARCHITECTURES[name], random_weights(ARCHITECTURES[name], seed), None, tables
    )


def rival(words, **changes):
    return Rival(name=words, board=tuple(parse(words).tolist()), **changes)


def rolled_out(words, player=None, control=None, **settings):
    player = player or net()
    return Rollout(player, (rival(words),), RolloutSettings(**settings), control=control)


def values_of(name, seed):
    architecture = ARCHITECTURES[name]
    weights = random_weights(architecture, seed)
    return lambda boards: networks.probabilities(boards, architecture, weights)


@pytest.mark.parametrize(
    ("words", "truncate", "control_name"),
    [
        ("start", 5, None),
        ("start", 3, "tesauro-relu"),
        ("start", 2, "counts-sigmoid"),
        (LATE, None, None),
        ("3:2 2:1 / bar:1 23:2", None, "counts-sigmoid"),
    ],
)
def test_trials_equal_those_of_the_slow_twin(words, truncate, control_name):
    seed, num_trials = 11, 6
    control = net(control_name, 5) if control_name else None
    rollout = rolled_out(
        words,
        control=control,
        trials=num_trials,
        seed=seed,
        truncate=truncate,
        luck_control=control is not None,
        stop_at="end",
    )
    rollout.run()
    opening = stratified_rolls(seed, 0, num_trials)
    for i in range(num_trials):
        key = reference.stream_key(seed, i)

        def rolls(turn, i=i, key=key):
            return tuple(opening[i, turn].tolist()) if turn < 2 else reference.roll(key, turn)

        twin = reference_rollout.trial(
            tuple(parse(words).tolist()),
            rolls,
            values_of("tesauro-relu", 1),
            values_of(control_name, 5) if control_name else None,
            truncate or 10**6,
        )
        assert rollout.rows[0][i, :6] == pytest.approx(twin, abs=2e-5)
        assert rollout.rows[0][i, 6] == pytest.approx(twin @ reference_rollout.POINTS, abs=6e-5)


def test_a_last_roll_comes_out_exactly_in_every_36_trials():
    # 27 of 36 rolls bear a checker off the six-point: all with a 6, 5-1 to 5-4, 4-2, 4-3, 2-2 to 5-5
    for trials in (36, 108, 432):
        (found,) = rolled_out("6:1 / 24:1", trials=trials, luck_control=False).run()
        assert found.probabilities == pytest.approx([0, 0, 27 / 36, 9 / 36, 0, 0], abs=1e-12)
        assert found.equity == pytest.approx(0.5, abs=1e-12)
    assert found.equity_se == pytest.approx(0, abs=1e-6), "the first roll explains all of it"


def test_two_rolls_come_out_exactly_in_36_times_36_trials():
    # a checker on the six-point each: win at once 27/36; else the opponent wins at once 27/36; else win
    (found,) = rolled_out("6:1 / 19:1", trials=1296, luck_control=False).run()
    first, second = 27 / 36, (9 / 36) * (27 / 36)
    assert found.probabilities[3] == pytest.approx(second, abs=1e-12)
    assert found.probabilities[2] == pytest.approx(1 - second, abs=1e-12)
    assert found.equity == pytest.approx(first - second + (1 - first - second), abs=1e-12)


def test_luck_control_with_exact_tables_leaves_nothing_to_chance():
    tables = bearoff.load()
    words = "6:2 3:1 / 24:2 22:1 19:1"
    exact = float(tables.equities(parse(words))[0, 0])
    for truncate in (None, 1, 4):
        found = rolled_out(words, net(tables=tables), trials=72, truncate=truncate, stop_at="end")
        (estimate,) = found.run()
        assert estimate.equity == pytest.approx(exact, abs=1e-5)
        assert np.ptp(found.rows[0][:, 2]) < 1e-5


@pytest.mark.parametrize("stop_at", ["end", "exact", "race"])
@pytest.mark.parametrize("truncate", [None, 3])
def test_where_a_race_stops_changes_no_expectation(stop_at, truncate):
    tables = bearoff.load()
    words = "6:4 5:2 / 24:3 21:3"
    exact = float(tables.equities(parse(words))[0, 0])
    (found,) = rolled_out(
        words,
        net(tables=tables),
        trials=1296,
        truncate=truncate,
        stop_at=stop_at,
        luck_control=False,
    ).run()
    assert abs(found.equity - exact) <= 3 * found.equity_se + 1e-6


def test_a_finished_game_is_told_as_it_is():
    (found,) = rolled_out("/ 24:15", trials=36).run()
    assert found.probabilities.tolist() == [0, 1, 0, 0, 0, 0]
    assert (found.equity, found.equity_se) == (2, 0)


def test_an_afterstate_is_told_by_who_left_it():
    board = parse("24:2 13:5 8:3 6:5 / 19:5 17:3 12:5 1:2")
    settings = RolloutSettings(trials=36, truncate=2)
    rivals = (Rival(name="", board=tuple(board.tolist())),)
    one = Rollout(net(), rivals, settings).run()[0]
    other = Rollout(net(), rivals, settings, of_plays=True).run()[0]
    assert other.equity == pytest.approx(-one.equity)
    assert other.probabilities.tolist() == one.probabilities[::-1].tolist()
    assert other.equity_se == pytest.approx(one.equity_se)


def opening_rivals():
    return tuple(
        Rival(name=play.notation, board=tuple(play.afterstate.tolist()))
        for play in plays(START, [6, 4])
    )


@pytest.mark.parametrize("stop_jsd", [None, 2.5])
def test_the_result_does_not_depend_on_the_number_of_workers(stop_jsd):
    settings = RolloutSettings(trials=180, truncate=3, min_trials=36, stop_jsd=stop_jsd)
    alone = Rollout(net(), opening_rivals(), settings, of_plays=True)
    estimates = alone.run()
    assert any(e.given_up for e in estimates) == (stop_jsd is not None)
    for workers in (2, 5):
        many = Rollout(net(), opening_rivals(), settings, of_plays=True)
        for one, other in zip(estimates, many.run(threads(workers)), strict=True):
            assert (one.name, one.trials, one.equity) == (other.name, other.trials, other.equity)
            assert one.equity_se == other.equity_se
        for one, other in zip(alone.rows, many.rows, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("first_trials", [36, 50, 144])
def test_a_rollout_that_is_extended_equals_one_long_run(first_trials):
    changes = dict(truncate=3, min_trials=72, stop_jsd=3.0)
    short = Rollout(
        net(), opening_rivals(), RolloutSettings(trials=first_trials, **changes), of_plays=True
    )
    short.run()
    settings = RolloutSettings(trials=200, **changes)
    extended = Rollout(net(), opening_rivals(), settings, of_plays=True, rows=short.rows)
    whole = Rollout(net(), opening_rivals(), settings, of_plays=True)
    for one, other in zip(extended.run(), whole.run(), strict=True):
        assert (one.name, one.trials, one.equity) == (other.name, other.trials, other.equity)


def test_what_was_played_before_an_interruption_is_kept_and_played_on():
    settings = RolloutSettings(trials=144, truncate=2)

    def breaks_off(function, shared, units):
        for number, unit in enumerate(units):
            if number == 2:
                raise KeyboardInterrupt
            yield function(shared, unit)

    rollout = Rollout(net(), (rival("start"),), settings)
    assert rollout.estimates() == []
    with pytest.raises(KeyboardInterrupt):
        rollout.run(breaks_off)
    assert [e.trials for e in rollout.estimates()] == [72]
    whole = Rollout(net(), (rival("start"),), settings).run()
    assert rollout.run()[0].equity == whole[0].equity


def test_a_rollout_stops_when_the_error_is_small_enough():
    loose = rolled_out("start", trials=3600, truncate=2, min_trials=72, stop_se=0.02)
    (found,) = loose.run()
    assert 72 <= found.trials < 3600
    assert found.equity_se <= 0.02


def test_the_interval_covers_the_truth_in_about_95_of_100_rollouts():
    truth = rolled_out(LATE, trials=20_000, seed=1000, luck_control=False).run()[0].equity
    for luck_control, repeats in ((False, 60), (True, 20)):
        covered = 0
        for seed in range(repeats):
            (found,) = rolled_out(LATE, trials=108, seed=seed, luck_control=luck_control).run()
            covered += abs(found.equity - truth) <= found.ci95
        error = (0.95 * 0.05 / repeats) ** 0.5
        assert abs(covered / repeats - 0.95) <= 3 * error


def test_first_and_second_rolls_are_even_and_trials_are_numbered():
    rolls = stratified_rolls(3, 0, 1296).astype(int)
    for start in range(0, 1296, 36):
        for turn in (0, 1):
            assert len({tuple(roll) for roll in rolls[start : start + 36, turn].tolist()}) == 36
    assert len({tuple(pair) for pair in rolls.reshape(-1, 4).tolist()}) == 1296
    assert stratified_rolls(3, 1290, 20)[:6].tolist() == rolls[1290:].tolist()
    assert stratified_rolls(4, 0, 36).tolist() != rolls[:36].tolist()
    for turn in (0, 1):
        counts = np.zeros((6, 6))
        for seed in range(360):
            first, second = stratified_rolls(seed, 17, 1)[0, turn]
            counts[first - 1, second - 1] += 1
        assert ((counts - 10) ** 2 / 10).sum() < 66.6, "chi-square, 35 degrees of freedom, p = 0.001"


def test_standard_errors_leave_out_what_even_rolls_explain():
    rng = np.random.default_rng(5)
    opening = stratified_rolls(1, 0, 720)
    noise = rng.normal(size=720)
    effects = rng.normal(size=(2, 6, 6)) * 10
    first, second = ((opening[:, turn] - 1).T for turn in (0, 1))
    rows = noise + effects[0][tuple(first)] + effects[1][tuple(second)]
    means, errors = means_and_errors(np.column_stack([noise, rows]), opening)
    assert errors[0] == pytest.approx(1 / 720**0.5, rel=0.1)
    assert errors[1] == pytest.approx(errors[0], rel=1e-6)
    assert means[1] == pytest.approx(noise.mean() + effects.mean(axis=(1, 2)).sum())
    assert np.isnan(means_and_errors(rows[:1, None], opening[:1])[1]).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"trials": 0}, "rollout.trials: must be 1 to 1000000, got 0"),
        ({"truncate": 0}, "rollout.truncate: must be 1 to 2000, got 0"),
        ({"seed": -1}, "rollout.seed: must be 0"),
        ({"stop_se": 0.0}, "rollout.stop_se: must be above 0, got 0.0"),
        ({"stop_jsd": -1}, "rollout.stop_jsd: must be above 0, got -1"),
        ({"stop_at": "wall"}, "rollout.stop_at: one of end, exact, race expected, got 'wall'"),
    ],
)
def test_impossible_settings_are_named(settings, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        RolloutSettings(**settings)


def test_workers_and_positions_are_checked():
    with pytest.raises(ValueError, match="workers: 1 to 1024 expected, got 0"):
        threads(0)
    with pytest.raises(ValueError, match="no position"):
        Rollout(net(), (), RolloutSettings())


def test_the_light_network_of_a_player_tells_the_luck():
    small, name = net("counts-relu", seed=5), "tesauro-relu"
    with_light = NetworkEvaluator(ARCHITECTURES[name], random_weights(ARCHITECTURES[name]), light=small)
    asked = [
        rolled_out("start", net(), small, trials=36, truncate=4),
        rolled_out("start", with_light, trials=36, truncate=4),
        rolled_out("start", trials=36, truncate=4),
    ]
    rows = []
    for rollout in asked:
        rollout.run()
        rows.append(rollout.rows[0])
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])
