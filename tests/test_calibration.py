"""Calibration: chances against what came of them, by hand and on games of a known kind."""

import numpy as np
import pytest
from networks import ARCHITECTURES, random_weights

from tdgammon.bench.calibration import binned, calibration
from tdgammon.value.evaluator import NetworkEvaluator


def test_the_error_is_the_distance_weighted_by_positions():
    chances = np.array([0.51, 0.53, 0.52, 0.54, 0.91])
    found = binned(chances, np.array([1.0, 0.0, 0.0, 0.0, 1.0]), 3)
    assert found.predicted[10] == pytest.approx(0.525)
    assert found.came[10] == 0.25
    assert found.positions[[10, 18]].tolist() == [4, 1]
    assert found.error == pytest.approx((4 * 0.275 + 1 * 0.09) / 5)
    assert np.isnan(found.predicted[0])


def test_a_sure_chance_falls_into_the_last_bin():
    assert binned(np.array([1.0]), np.array([1.0]), 1).positions[19] == 1


def test_an_untrained_network_is_badly_calibrated_and_counts_every_position():
    architecture = ARCHITECTURES["counts-relu"]
    found = calibration(NetworkEvaluator(architecture, random_weights(architecture)), 30)
    assert 25 < found.games <= 30, "games that take too long do not count"
    assert found.positions.sum() > 30 * 20
    assert found.error > 0.02


def test_no_games_are_refused():
    architecture = ARCHITECTURES["counts-relu"]
    with pytest.raises(ValueError, match="games: must be at least 1, got 0"):
        calibration(NetworkEvaluator(architecture, random_weights(architecture)), 0)
