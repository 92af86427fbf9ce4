"""`tdgammon convert`: every format in and out, JSON, trouble, and files that are no match."""

import gzip
import json
import os
import stat
from pathlib import Path

import pytest
from matches import random_match

from tdgammon.cli import main as cli
from tdgammon.notation import columns, detect, document
from tdgammon.notation.detect import read_text
from tdgammon.notation.saving import save_match

MATCH = random_match(4, 5, cube=0.1)
POSITION = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\n"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    try:
        status = cli.main([str(word) for word in words])
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def match_file(tmp_path: Path) -> Path:
    path = tmp_path / "match.sgf"  # the name is wrong on purpose: the content says what it is
    path.write_text(columns.write_mat(MATCH))
    return path


@pytest.mark.parametrize("name", ["json", "mat", "sgf", "xg"])
def test_a_match_is_converted_to_every_match_format(name, match_file, capsys) -> None:
    status, out, err = run(capsys, "convert", match_file, "--to", name)
    assert (status, err) == (0, "")
    assert read_text(out).record == MATCH


@pytest.mark.parametrize("name", detect.POSITION_WRITERS)
def test_a_match_is_converted_to_its_decisions(name, match_file, capsys) -> None:
    status, out, err = run(capsys, "convert", match_file, "--to", name)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == len(detect.record_positions(MATCH))
    assert len(read_text(out).positions) == len(lines)


@pytest.mark.parametrize("name", detect.POSITION_WRITERS)
def test_a_position_is_converted_to_every_position_format(name, tmp_path, capsys) -> None:
    path = tmp_path / "position"
    path.write_text(POSITION)
    status, out, _ = run(capsys, "convert", path, "--to", name)
    assert status == 0
    back = tmp_path / "back"
    back.write_text(out)
    assert run(capsys, "convert", back, "--to", "xgid")[1] == POSITION


def test_the_json_document_has_the_keys_that_users_rely_on(match_file, capsys) -> None:
    status, out, _ = run(capsys, "convert", match_file, "--to", "json")
    content = json.loads(out)
    assert status == 0
    assert content.keys() >= {"length", "players", "games", "final_score", "warnings"}
    game = {"number", "start_score", "winner", "points", "points_by_rule", "cube", "finished", "events"}
    for found in content["games"]:
        assert found.keys() >= game
    assert content["players"] == list(MATCH.players)
    assert content["final_score"] == list(MATCH.final_score)


def test_json_prints_one_document_with_the_text_or_where_it_went(match_file, tmp_path, capsys) -> None:
    status, out, err = run(capsys, "convert", match_file, "--to", "sgf", "--json")
    content = json.loads(out)
    assert (status, err, content["from"], content["to"]) == (0, "", "mat", "sgf")
    assert read_text(content["text"]).record == MATCH
    output = tmp_path / "out.sgf"
    status, out, _ = run(capsys, "convert", match_file, "--to", "sgf", "--json", "-o", output)
    content = json.loads(out)
    assert (content["output"], "text" in content) == (str(output), False)
    assert read_text(output.read_text()).record == MATCH


def test_positions_as_json_have_identifiers_and_analysis(tmp_path, capsys) -> None:
    path = tmp_path / "position"
    path.write_text(POSITION + "\n    1. 4-ply       8/5 6/5               eq:+0.160\n")
    status, out, _ = run(capsys, "convert", path, "--to", "json")
    (found,) = json.loads(out)["positions"]
    assert status == 0
    assert (found["xgid"], found["gnubg_id"]) == (POSITION.strip(), "4HPwATDgc/ABMA:cInlAAAAAAAE")
    assert found["analysis"]["plays"][0]["equity"] == 0.16


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    path = tmp_path / "troubled.txt"
    path.write_text(
        " 5 point match\n\n Game 1\n Ann : 0                    Bob : 0\n"
        "  1) 31: 8/4 6/5                 52: 13/11 13/8\n      Wins 1 point\n"
    )
    return path


def test_trouble_is_told_by_file_and_line_and_the_rest_is_converted(troubled, capsys) -> None:
    status, out, err = run(capsys, "convert", troubled, "--to", "mat")
    assert status == 0
    assert err.startswith(f"tdgammon: {troubled}: line 5: game 1: illegal, kept as played")
    assert "8/4 6/5" in err
    assert "8/4 6/5" in out
    status, out, err = run(capsys, "convert", troubled, "--to", "json")
    (warning,) = json.loads(out)["warnings"]
    assert (warning["line"], warning["text"]) == (5, "31: 8/4 6/5")
    assert "illegal" in warning["message"]


def test_strict_refuses_a_file_with_trouble_and_writes_nothing(troubled, tmp_path, capsys) -> None:
    output = tmp_path / "out"
    status, out, err = run(capsys, "convert", troubled, "--to", "sgf", "--strict", "-o", output)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert f"{troubled}: line 5" in err
    assert not output.exists()


def test_strict_takes_a_sound_file(match_file, capsys) -> None:
    assert run(capsys, "convert", match_file, "--to", "sgf", "--strict")[0] == 0


def test_a_text_that_is_not_unicode_is_read_with_a_warning(match_file, capsys) -> None:
    match_file.write_bytes(match_file.read_bytes().replace(b"Bob", b"J\xe9r\xf4me"))
    status, out, err = run(capsys, "convert", match_file, "--to", "sgf")
    assert (status, "PB[Jérôme]" in out, "not UTF-8" in err) == (0, True, True)


UNREADABLE = {
    "empty": b"",
    "blank": b" \n\t\n",
    "a mark alone": b"\xef\xbb\xbf",
    "NULs": b" 7 point match\0\0\0",
    "UTF-16 without a mark": " 7 point match".encode("utf-16-le"),
    "half a UTF-16 file": b"\xff\xfe\x37",
    "gzip": gzip.compress(b" 7 point match\n"),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "prose": b"It was a dark and stormy night.\n",
    "JSON of others": b'{"a": [1, 2, 3]}',
    "deep JSON": b'{"a":' + b"[" * 100_000,
    "chess": b"(;GM[2]FF[4];W[e4])",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_holds_nothing_of_ours_is_one_line_and_status_2(name, tmp_path, capsys) -> None:
    path = tmp_path / "file.mat"
    path.write_bytes(UNREADABLE[name])
    status, out, err = run(capsys, "convert", path, "--to", "json")
    assert (status, out) == (2, "")
    assert err.startswith(f"tdgammon: {path}: ")
    assert err.count("\n") == 1
    assert len(err) < 600


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "/dev/zero", "no/such/file", "/dev/full"])
def test_a_path_that_is_no_file_is_one_line_and_status_2(path, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "convert", path, "--to", "json")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


def test_an_unknown_format_and_a_match_of_positions_are_refused(tmp_path, capsys) -> None:
    path = tmp_path / "position"
    path.write_text(POSITION)
    status, _, err = run(capsys, "convert", path, "--to", "word")
    assert (status, "'word'" in err) == (2, True)
    status, _, err = run(capsys, "convert", path, "--to", "mat")
    assert (status, "holds positions" in err) == (2, True)


def test_the_output_is_written_whole_or_not_at_all(match_file, tmp_path, capsys) -> None:
    output = tmp_path / "out.mat"
    output.write_text("before")
    os.chmod(output, 0o640)
    assert run(capsys, "convert", match_file, "--to", "mat", "-o", output)[0] == 0
    assert read_text(output.read_text()).record == MATCH
    assert stat.S_IMODE(output.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["match.sgf", "out.mat"]
    status, out, err = run(capsys, "convert", match_file, "--to", "mat", "-o", "")
    assert (status, out) == (2, "")
    assert "a file expected, got ''" in err
    status, _, err = run(capsys, "convert", match_file, "--to", "mat", "-o", tmp_path)
    assert (status, err.count("\n")) == (2, 1)
    status, _, err = run(capsys, "convert", match_file, "--to", "mat", "-o", tmp_path / "no" / "out")
    assert (status, err.count("\n")) == (2, 1)


def test_an_output_may_be_the_input_and_a_link_stays_one(match_file, tmp_path, capsys) -> None:
    link = tmp_path / "link"
    link.symlink_to(match_file)
    assert run(capsys, "convert", link, "--to", "json", "-o", link)[0] == 0
    assert link.is_symlink()
    assert document.read_json(match_file.read_text()).record == MATCH


@pytest.mark.parametrize("ending", [".mat", ".sgf", ".json", ".txt"])
def test_a_match_is_saved_in_the_format_of_the_ending(ending, tmp_path) -> None:
    path = tmp_path / f"match{ending}"
    save_match(MATCH, path)
    assert detect.read_file(path).record == MATCH


def test_a_match_is_not_saved_under_another_ending(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"\.doc"):
        save_match(MATCH, tmp_path / "match.doc")
