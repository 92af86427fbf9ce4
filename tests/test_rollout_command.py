"""The rollout command: documents, files, interruptions and complaints."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tdgammon.cli.main import main

RACE = "6:2 3:1 / 24:2 22:1 19:1"


def document(capsys, *words):
    assert main(["rollout", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_plays_are_compared_in_one_document(capsys):
    found = document(capsys, "start", "--dice", "31", "--trials", "36", "--truncate", "2", "--top", "2")
    assert found["rivals"][0]["name"] == "8/5 6/5"
    assert len(found["rivals"]) == 2
    assert found["complete"] is True
    assert found["cube"] is None
    assert sum(found["rivals"][0]["probabilities"]) == pytest.approx(1, abs=1e-6)


def test_a_cube_action_has_a_verdict(capsys):
    found = document(capsys, "6:1 / 24:1", "--trials", "36", "--no-luck-control")
    assert found["cube"]["no_double"] == pytest.approx(0.5)
    assert found["cube"]["double_take"] == pytest.approx(1)
    assert found["cube"]["verdict"].startswith("double")
    assert main(["rollout", "6:1 / 24:1", "--trials", "36", "--no-luck-control"]) == 0
    words = capsys.readouterr().out
    assert "no double     +0.5000" in words
    assert "double, pass +1; " in words


def test_without_the_cube_it_is_one_position(capsys):
    found = document(capsys, RACE, "--cubeless", "--trials", "36")
    assert [rival["name"] for rival in found["rivals"]] == ["position"]
    assert found["with_cube"] is False


def test_a_saved_rollout_is_extended_to_the_result_of_one_run(capsys, tmp_path):
    path = str(tmp_path / "saved.json")
    options = ["start", "--truncate", "3", "--workers", "2"]
    first = document(capsys, *options, "--trials", "36", "--save", path)
    assert os.listdir(tmp_path) == ["saved.json"]
    extended = document(capsys, "--resume", path, "--trials", "108")
    whole = document(capsys, *options, "--trials", "108")
    assert extended["rivals"] == whole["rivals"]
    assert extended["rivals"] != first["rivals"]
    assert document(capsys, "--resume", path)["rivals"] == whole["rivals"], "it was saved again"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["start", "--trials", "0"], "rollout.trials: must be 1 to 1000000, got 0"),
        (["start", "--truncate", "0"], "rollout.truncate: must be 1 to 2000, got 0"),
        (["start", "--ply", "9"], "ply: 0 to 4 expected, got 9"),
        (["start", "--workers", "0"], "workers: 1 to 1024 expected, got 0"),
        (["start", "--stop-se", "-1"], "rollout.stop_se: must be above 0, got -1"),
        (["start", "--dice", "71"], "--dice: two dice of 1 to 6 such as 31 expected, got '71'"),
        (["start", "--dice", "31", "--top", "0"], "plays: at least 1 expected, got 0"),
        (["nonsense"], "position 'nonsense': no XGID"),
        (
            ["start", "--player", "pubeval"],
            "player 'pubeval': only a network that does not roll out itself",
        ),
        (["start", "--save", "nowhere/x.json"], "--save: there is no folder 'nowhere'"),
        (["start", "--save", ""], "--save: a file expected, got '.'"),
        (["--resume", "nowhere/x.json"], "--resume: there is no folder 'nowhere'"),
        (["start", "--top", "2"], "--top: plays need dice, got 2 without"),
        (
            ["start", "--dice", "31", "--play", "24/20", "--top", "2"],
            "--top: has no meaning with --play",
        ),
        (["6:2 /"], "position: the game is over, a side has no checker left"),
        (["start", "--resume", "x.json"], "--resume: keeps its position and player, got position"),
        (["--resume", "absent.json"], "absent.json: No such file"),
        ([], "POSITION is missing"),
    ],
)
def test_impossible_requests_are_one_line(capsys, words, complaint):
    assert main(["rollout", *words]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_what_is_there_is_not_overwritten(capsys, tmp_path):
    path = tmp_path / "saved.json"
    document(capsys, "start", "--truncate", "1", "--trials", "36", "--save", str(path))
    before = path.read_bytes()
    for there in (path, tmp_path):
        assert main(["rollout", "start", "--trials", "36", "--save", str(there)]) == 2
        assert f"--save: {there} is there already" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["saved.json"]


def test_units_that_were_kept_but_not_saved_are_taken_up_by_the_same_command(capsys, tmp_path):
    path = tmp_path / "saved.json"
    units = tmp_path / "saved.json.units"
    units.write_text("")
    assert main(["rollout", "--resume", str(path)]) == 2
    assert f"give the command with --save {path} again" in capsys.readouterr().err
    found = document(capsys, "start", "--truncate", "1", "--trials", "36", "--save", str(path))
    assert found["complete"] is True
    assert os.listdir(tmp_path) == ["saved.json"]


def test_an_interrupted_rollout_tells_what_it_has_and_is_played_on(capsys, tmp_path):
    path = tmp_path / "saved.json"
    command = [sys.executable, "-m", "tdgammon", "rollout", "start", "--trials", "100000"]
    child = subprocess.Popen(
        [*command, "--save", str(path), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    units = tmp_path / "saved.json.units"
    deadline_s = time.monotonic() + 240
    while not (units.exists() and units.read_bytes().count(b"\n") >= 4):
        assert time.monotonic() < deadline_s
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    found = json.loads(output)
    assert found["complete"] is False
    played = found["rivals"][1]["trials"]
    assert played >= 36
    assert f"tdgammon: interrupted; go on with --resume {path}" in errors
    again = document(capsys, "--resume", str(path), "--trials", str(played))
    assert again["rivals"][1]["equity"] == found["rivals"][1]["equity"]
