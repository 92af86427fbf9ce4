"""The sample files beside the repository, read as their right readings say."""

import json
import re

import pytest

from tdgammon.notation import columns, document, sgf
from tdgammon.notation.detect import read_file, read_text, record_positions
from tdgammon.notation.ids import position_id, xgid
from tdgammon.notation.record import SIZES, Turn, outcome, replayed

ENDS = {"pass": "drop", "resignation": "resign/other", "bearoff": "bearoff"}

ROLLED_BUT_NOT_PLAYED = {("studio-resign-backgammon.txt", 1), ("studio-7pt-4games.txt", 1)}
"""The right readings count the resigner's roll, whose cell is empty, with the dances."""

NAMES = [
    "foxamon-5pt.mat",
    "galaxy-5pt-nostar.txt",
    "gibbon-7pt.mat",
    "gnubg-export-3pt.mat",
    "gnubg-own-5pt.mat",
    "money-jacoby-on.txt",
    "studio-7pt-4games.txt",
    "studio-backgammon-cube2.txt",
    "studio-resign-backgammon.txt",
    "tournament-17pt-1981.txt",
    "tournament-9pt-backgammon.txt",
    "xg-jellyfish-7pt.mat",
    "xg-text-7pt.txt",
    "xg-text-doubles-team-7pt.txt",
]


@pytest.fixture(scope="module")
def expected(shared):
    readings = json.loads((shared / "files" / "expected.json").read_text())
    assert sorted(readings) == NAMES
    return readings


@pytest.mark.parametrize("name", NAMES)
def test_a_match_file_reads_as_expected(name, shared, expected) -> None:
    reading = read_file(shared / "files" / name)
    record, wanted = reading.record, expected[name]
    assert reading.warnings == ()
    assert record.length == wanted["match_length"]
    assert list(record.players) == wanted["columns"]
    assert list(record.final_score) == wanted["final_by_file"]
    assert len(record.games) == wanted["games"]
    for game, right in zip(record.games, wanted["per_game"], strict=True):
        result = outcome(game, record.length, record.rules)
        turns = [event for event in game.events if isinstance(event, Turn)]
        dances = sum(turn.steps == () for turn in turns)
        assert {
            "game": game.number,
            "start": list(game.start_score),
            "rolls": len(turns),
            "dances": dances + ((name, game.number) in ROLLED_BUT_NOT_PLAYED),
            "cube": result.cube_value,
            "end": ENDS[result.end],
            "winner": ("left", "right")[game.winner],
            "points_in_file": game.points,
            "points_by_rule": result.points_by_rule,
            "kind": SIZES[result.size] if result.end == "bearoff" else None,
        } == right


def test_the_same_match_in_two_dialects_gives_equal_records(shared) -> None:
    jellyfish = read_file(shared / "files" / "xg-jellyfish-7pt.mat").record
    xg = read_file(shared / "files" / "xg-text-7pt.txt").record
    assert jellyfish == xg
    assert len(record_positions(xg)) == 348


@pytest.mark.parametrize("name", ["gibbon-7pt", "gnubg-own-5pt"])
def test_the_same_match_in_mat_and_sgf_gives_equal_games(name, shared) -> None:
    mat, tree = (read_file(shared / "files" / f"{name}.{ending}") for ending in ("mat", "sgf"))
    assert tree.warnings == ()
    assert tree.record.games == mat.record.games
    assert (tree.record.players, tree.record.length) == (mat.record.players, mat.record.length)


@pytest.mark.parametrize("name", NAMES)
def test_a_match_file_survives_every_format(name, shared) -> None:
    record = read_file(shared / "files" / name).record
    for write in (columns.write_mat, columns.write_xg, sgf.write_sgf, document.write_json):
        again = read_text(write(record))
        assert again.record == record, write
        assert again.warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_byte_order_marks_change_nothing(name, shared, tmp_path) -> None:
    source = (shared / "files" / name).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    record = read_text(source).record
    for encoding, end in (("utf-8-sig", "\r\n"), ("utf-16", "\n"), ("utf-8", "\r"), ("utf-16", "\r\n")):
        path = tmp_path / "match"
        path.write_bytes(source.replace("\n", end).encode(encoding))
        assert read_file(path).record == record


def test_the_crawford_game_is_the_first_with_a_player_one_away(shared) -> None:
    record = read_file(shared / "files" / "xg-text-doubles-team-7pt.txt").record
    assert [game.is_crawford for game in record.games] == [False, False, False, True]
    record = read_file(shared / "files" / "tournament-17pt-1981.txt").record
    assert [game.number for game in record.games if game.is_crawford] == [25]


@pytest.mark.parametrize("name", ["01_checkerPosition", "02_NDT", "04_DP", "05_NRT"])
def test_an_xg_position_reads_as_its_diagram_says(name, shared) -> None:
    path = shared / "files" / f"xg-pos-{name}_EN.txt"
    source = path.read_text()
    reading = read_file(path)
    ((line, position),) = reading.positions
    assert (line, reading.warnings) == (1, ())
    assert source.startswith(xgid(position) + "\n")
    x, o, us, them, length = map(
        int, re.search(r"X: +(\d+) +O: +(\d+) X-O: (\d+)-(\d+)/(\d+)", source).groups()
    )
    bottom = position.board if position.on_roll else tuple(-c for c in position.board[::-1])
    assert sum(place * count for place, count in enumerate(bottom) if count > 0) == x
    assert sum((25 - place) * -count for place, count in enumerate(bottom) if count < 0) == o
    assert (position.scores, position.length) == ((them, us), length)


def test_the_analysis_of_an_xg_position_is_read(shared) -> None:
    (play,) = read_file(shared / "files" / "xg-pos-01_checkerPosition_EN.txt").analyses
    assert [(one.notation, one.equity, one.level) for one in play.plays] == [
        ("19/18 14/12", -0.491, "4-ply"),
        ("19/18 3/1", -0.556, "4-ply"),
        ("19/17 18/17", -0.576, "4-ply"),
        ("14/11", -0.568, "3-ply"),
        ("14/12 3/2", -0.572, "3-ply"),
    ]
    assert play.plays[0].chances == (25.45, 0.0, 0.0, 74.55, 31.09, 0.09)
    (cube,) = read_file(shared / "files" / "xg-pos-05_NRT_EN.txt").analyses
    assert cube.cube == (0.485, -0.511, 1.0)
    assert cube.chances == (71.13, 0.0, 0.0, 28.87, 0.0, 0.0)


@pytest.mark.parametrize("name", ["01_checkerPosition", "02_NDT"])
def test_the_identifiers_of_a_bgblitz_position_agree(name, shared) -> None:
    path = shared / "files" / f"bgblitz-pos-{name}_EN.txt"
    reading = read_file(path)
    ((_, position),) = reading.positions
    assert reading.warnings == ()
    assert re.search(r"Position-ID: (\S+)", path.read_text())[1] == position_id(position.board)


def test_a_table_of_xgids_is_a_list_of_positions(shared) -> None:
    reading = read_file(shared / "files" / "xgids.tsv")
    assert len(reading.positions) == 15
    assert reading.warnings == ()


def test_every_play_of_every_sample_was_legal(shared) -> None:
    for name in NAMES:
        record = read_file(shared / "files" / name).record
        for game in record.games:
            for moment in replayed(game, record.rules):
                assert not isinstance(moment.event, Turn) or moment.event.is_legal
