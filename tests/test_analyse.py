"""`tdgammon analyse`: the document, the table for people, score maps, drawings, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tdgammon.analysis.positions import analyse, score_map
from tdgammon.cli.main import main
from tdgammon.decide.bots import NetworkBot, bot
from tdgammon.decide.position_stakes import stakes_of
from tdgammon.game.stakes import OPPONENTS, OWN
from tdgammon.notation.ids import Position, read_xgid
from tdgammon.notation.xgtext import read_position

RACE = "6:1 5:1 / 19:1 20:1"  # exact: 0.616901 undoubled, 1.057337 doubled and taken


@pytest.fixture(scope="module")
def network() -> NetworkBot:
    found = bot("default")
    assert isinstance(found, NetworkBot)
    return found


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["analyse", *words]) == 0
    return capsys.readouterr().out


def test_the_document_has_what_users_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "start", "--dice", "31", "--ply", "0", "--json"))
    assert found["position"] == "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    assert sum(found["probabilities"]) == pytest.approx(1, abs=1e-5)
    assert len(found["probabilities"]) == 6
    assert found["plays"][0]["notation"] == "8/5 6/5"
    assert set(found["plays"][0]) == {"notation", "equity", "loss", "probabilities", "ply"}
    losses = [play["loss"] for play in found["plays"]]
    assert losses[0] == 0
    assert losses == sorted(losses)
    assert len(found["plays"]) == 16
    assert {"no_double", "double_take", "double_pass", "verdict"} <= set(found["cube"])
    assert found["cube"]["verdict"] == "no double, take"


def test_plays_that_a_filter_stopped_come_after_those_that_went_deeper(network: NetworkBot) -> None:
    deep = bot("default,ply=1")
    assert isinstance(deep, NetworkBot)
    plies = [play.ply for play in analyse(read_position("start ; 52"), deep).plays]
    assert plies == sorted(plies, reverse=True)
    assert plies[0] == 1
    assert {play.ply for play in analyse(read_position("start ; 52"), network).plays} == {0}


def test_the_cube_table_of_an_exact_race(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, RACE, "--ply", "0")
    assert "no double       +0.6169" in shown
    assert "double, take    +1.0573" in shown
    assert "verdict: double, pass" in shown
    assert "errors cost: no double 0.3831, take 0.0573" in shown


def test_the_best_play_depends_on_the_score(network: NetworkBot) -> None:
    """Equities are those of the score: at double match point a gammon is worth no more than a win."""
    board = read_position("start ; 41")
    money = analyse(board, network)
    last = analyse(
        Position(board=board.board, dice=(4, 1), length=5, scores=(4, 4), cube_value=2), network
    )
    best = last.plays[0]
    assert best.equity == pytest.approx(2 * sum(best.probabilities[:3]) - 1, abs=1e-5)
    assert money.plays[0].equity != pytest.approx(best.equity, abs=1e-3)


def test_stakes_are_seen_by_the_player_on_roll() -> None:
    top = read_xgid("XGID=-b----E-C---eE---c-e----B-:1:1:-1:00:1:2:0:7:10")
    stakes = stakes_of(top)
    assert stakes.away.tolist() == [[5, 6]]  # the player at the top, with 2 points, is on roll
    assert stakes.cube_owners.tolist() == [OPPONENTS]
    bottom = stakes_of(read_xgid("XGID=-b----E-C---eE---c-e----B-:1:1:1:00:1:2:0:7:10"))
    assert bottom.cube_owners.tolist() == [OWN]
    assert bottom.away.tolist() == [[6, 5]]
    assert not bottom.is_post_crawford[0]
    assert stakes_of(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:6:2:0:7:10")).is_post_crawford[
        0
    ]


def test_a_score_map_has_the_known_verdicts(
    network: NetworkBot, capsys: pytest.CaptureFixture[str]
) -> None:
    last_roll = read_position("6:1 / 24:1")  # wins 27 of 36
    verdicts = score_map(last_roll, network, 3)
    assert verdicts[0][0].double_take is None  # double match point
    assert verdicts[2][2].verdict == "double, pass"  # 30.2 % are needed at 3-away/3-away
    assert verdicts[1][1].verdict == "double, pass"  # 32.3 %
    shown = run(capsys, "6:1 / 24:1", "--ply", "0", "--score-map", "3")
    rows = [line.split() for line in shown.splitlines() if line.startswith("   ")][-3:]
    assert rows[0] == ["1", "-", "-", "-"]
    assert rows[2][3] == "P"
    shown = run(capsys, "start", "--ply", "0", "--score-map", "5")
    rows = [line.split() for line in shown.splitlines() if line.startswith("   ")][-5:]
    assert rows[4][5] == "."  # no double at 5-away/5-away
    assert rows[4][1] == "T"  # the trailer after the Crawford game
    found = json.loads(run(capsys, "6:1 / 24:1", "--ply", "0", "--score-map", "2", "--json"))
    assert [each["away"] for each in found["score_map"]] == [[1, 1], [1, 2], [2, 1], [2, 2]]


def test_the_market_window_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "window.svg"
    run(capsys, "6:5 5:5 4:5 / 19:5 20:5 21:5", "--ply", "0", "--plot", str(path))
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    words = " ".join(text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "Market window" in words
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) > 3


def test_no_drawing_is_left_by_an_analysis_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "window.svg"
    assert main(["analyse", "start", "--ply", "0", "--score-map", "40", "--plot", str(path)]) == 2
    assert not path.exists()


def test_a_player_with_settings_looks_two_rolls_ahead_unless_they_say_how_far(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for player, ply in [("default,met=woolsey-1992", 2), ("default,level=fast", 0)]:
        words = ["6:1 / 24:1", "--player", player, "--json"]
        assert json.loads(run(capsys, *words))["ply"] == ply


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["nonsense"], "position 'nonsense'"),
        (["start", "--dice", "71"], "--dice: two dice of 1 to 6"),
        (["start", "--player", "pubeval", "--ply", "0"], "pubeval"),
        (["start", "--plot", "window.png"], "--plot 'window.png': drawings are SVG"),
        (["start", "--score-map", "40", "--ply", "0"], "score map: 1 to 25"),
        (["start", "--met", "none"], "met: one of kazaross-xg2"),
        (["start", "--met", ""], "met: one of kazaross-xg2"),
        (["start", "--score-map", "0", "--ply", "0"], "score map: 1 to 25 points away expected, got 0"),
        (["start", "--player", "default,cube=dead"], "'default,cube=dead': only decisions with a live"),
        (["XGID=-b----E-C---eE---c-e----B-:0:0:1:00:1:2:1:7:10"], "Crawford game"),
        (["start", "--ply", "9"], "ply"),
        (["XGID=-b----E-C---eE---c-e----B-:0:0:1:00:7:0:0:7:10"], "a match to 1 .. 64 that goes on"),
        (["XGID=-b----E-C---eE---c-e----B-:1:1:1:B:0:0:2:0:10"], "a beaver waits"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert fault in err
