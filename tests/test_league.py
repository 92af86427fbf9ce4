"""Round robins: totals, order and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tdgammon.bench.arena import half_width, match
from tdgammon.bench.league import league
from tdgammon.cli import league as command
from tdgammon.cli.main import main
from tdgammon.decide.bots import BOTS

FIELD = ["random", "golden", "racer"]


def test_every_pair_meets_once_as_in_a_match() -> None:
    found = league(FIELD, 40, seed=3)
    assert [(r.a.name, r.b.name) for r in found.matches] == [
        ("random", "golden"),
        ("random", "racer"),
        ("golden", "racer"),
    ]
    for result in found.matches:
        alone = match(result.a.name, result.b.name, 40, seed=3)
        assert result.pair_means.tolist() == alone.pair_means.tolist()


def test_a_total_is_the_mean_over_opponents_with_an_interval_from_streams() -> None:
    found = league(FIELD, 40, seed=3)
    random_golden, random_racer, golden_racer = (r.pair_means for r in found.matches)
    by_hand = {
        "random": (random_golden + random_racer) / 2,
        "golden": (golden_racer - random_golden) / 2,
        "racer": (-random_racer - golden_racer) / 2,
    }
    for row in found.standings:
        assert row.ppg == pytest.approx(by_hand[row.name].mean())
        assert row.ci95 == pytest.approx(half_width(by_hand[row.name]))
    assert sum(row.ppg for row in found.standings) == pytest.approx(0)


def test_the_best_player_stands_first() -> None:
    found = league(FIELD, 200, seed=1)
    assert [row.name for row in found.standings] == ["golden", "racer", "random"]
    ppgs = [row.ppg for row in found.standings]
    assert ppgs == sorted(ppgs, reverse=True)


def test_the_table_shows_each_result_from_both_sides() -> None:
    found = league(["random", "golden"], 40, seed=3)
    ppg = found.matches[0].ppg
    lines = found.text().splitlines()
    assert lines[0].split() == ["golden", "random", "all", "ms/decision"]
    assert lines[1].startswith("golden")
    assert f"{-ppg:+.3f} +- " in lines[1]
    assert f"{ppg:+.3f} +- " in lines[2]


@pytest.mark.parametrize(
    ("players", "fault"),
    [
        (["random"], "a league needs two or more"),
        (["random", "racer", "random"], "'random' is named twice"),
        (["random", "nobody"], "unknown player 'nobody'"),
    ],
)
def test_a_field_that_cannot_play_is_refused(players: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        league(players, 10)


def test_the_usual_field_is_the_bots_and_the_default_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tdgammon.value import checkpoint

    monkeypatch.setattr(checkpoint, "available", lambda: ["other"])
    assert command.default_field() == list(BOTS)
    monkeypatch.setattr(checkpoint, "available", lambda: ["default", "other"])
    assert command.default_field() == [*BOTS, "default"]


def test_league_prints_a_table_or_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["league", *FIELD, "--games", "20", "--seed", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in document["players"]} == set(FIELD)
    assert len(document["matches"]) == 3
    assert document["matches"][0]["ppg"] == match("random", "golden", 20, seed=2).ppg
    assert main(["league", *FIELD, "--games", "2"]) == 0
    out = capsys.readouterr().out
    assert "2 games a pairing" in out
    assert "nan" not in out


def test_league_refuses_bad_input_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["league", "random", "racer", "--games", "5"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


def test_dropped_pairs_do_not_count_in_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    from tdgammon.bench import arena

    monkeypatch.setattr(arena, "MAX_TURNS", 70)
    found = league(FIELD, 200, seed=1)
    random_golden, random_racer, golden_racer = (r.pair_means for r in found.matches)
    assert 0 < np.isnan(random_racer).sum() < 100
    rows = {row.name: row for row in found.standings}
    assert rows["random"].ppg == pytest.approx(np.nanmean((random_golden + random_racer) / 2))
    assert rows["racer"].ppg == pytest.approx(np.nanmean((-golden_racer - random_racer) / 2))
    assert np.isfinite([row.ci95 for row in found.standings]).all()
