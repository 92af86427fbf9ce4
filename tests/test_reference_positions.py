"""The reference positions: exact ones to the digit, those of other engines by action and equity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdgammon.decide.bots import NetworkBot, bot
from tdgammon.decide.cubeful import cube_table
from tdgammon.decide.decision import decide
from tdgammon.decide.position_stakes import stakes_of
from tdgammon.game.rules import GameRules
from tdgammon.notation.ids import read_xgid


def positions(shared: Path, *kinds: str) -> list[dict[str, Any]]:
    document = json.loads((shared / "reference" / "reference_positions.json").read_text())
    return [item for item in document["positions"] if item["kind"] in kinds]


def test_the_exact_positions_are_exact(shared: Path) -> None:
    items = positions(shared, "exact")
    assert len(items) == 24
    player = bot("default")
    assert isinstance(player, NetworkBot)
    boards = np.array([item["board"] for item in items], np.int8)
    cubeless = player.evaluator.equity(boards)
    worths = player.evaluator.worths(boards, cube_table(GameRules()))[:, 0]
    names = ("cubeless", "no_double_centred", "no_double_owned", "opponent_owns")
    expected = np.array([[item["value"][name] for name in names] for item in items])
    assert np.column_stack([cubeless, worths]) == pytest.approx(expected, abs=1e-4)
    for item in items:
        found = decide(player.evaluator, item["board"], stakes_of(read_xgid(item["xgid"])))
        assert found.double_take == pytest.approx(item["value"]["double_take"], abs=1e-4)


def action_of(words: str) -> tuple[bool, bool]:
    """Whether to double, whether to take, from the words of an engine or of ours."""
    words = words.lower()
    doubles = not words.startswith(("no ", "too good"))
    return doubles, "pass" not in words


@pytest.mark.slow
def test_the_positions_of_other_engines_have_mostly_the_same_action(shared: Path) -> None:
    """The shipped network's level decides: EXPERIMENTS.md has the figures. Margins as the page says."""
    player = bot("default,ply=2")
    assert isinstance(player, NetworkBot)
    same, asked = 0, 0
    for item in positions(shared, "published", "gnubg"):
        truth = item["value"]
        found = decide(player.evaluator, item["board"], stakes_of(read_xgid(item["xgid"])))
        margin = 0.03 if item["kind"] == "published" else 0.05
        doubled = min(truth["dt"], truth["dp"])
        apart = min(abs(doubled - truth["nd"]), abs(truth["dt"] - truth["dp"]))
        if apart > margin:
            asked += 1
            same += action_of(found.verdict) == action_of(truth["action"])
    assert asked >= 20
    assert same >= 0.7 * asked
