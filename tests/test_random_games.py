"""Random games under every set of rules of `scripts/check_random_games`, a few of each."""

import dataclasses
import importlib.machinery
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from tdgammon.game.match import Match
from tdgammon.game.rules import GameRules

SCRIPT = str(Path(__file__).parents[1] / "scripts" / "check_random_games")
_SPEC = importlib.util.spec_from_loader(
    "check_random_games", importlib.machinery.SourceFileLoader("check_random_games", SCRIPT)
)
random_games = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(random_games)


def played(name, games=240, witnesses=4):
    rules, length = random_games.SESSIONS[name]
    return random_games.check(rules, length, games, 60, 7, witnesses)


def play_out(session):
    while session.step():
        pass


@pytest.mark.parametrize("name", random_games.SESSIONS)
def test_points_sum_to_zero_and_games_pay_what_their_size_says(name):
    found = played(name)
    assert sum(found["net"]) == 0
    assert sum(found["pays"].values()) == sum(found["cubes"].values()) == 240
    assert found["actions checked"] > 500


def test_what_an_option_brings_about_does_happen():
    few = {"witnesses": 0}
    assert played("004", **few)["automatic doubles"] > 20  # 1 in 6 games
    assert played("match-7", games=600, **few)["Crawford games"] > 20
    assert played("match-3-draws", **few)["draws"] > 0
    assert played("standard-money", **few)["raccoons"] > 5
    assert played("001-mars-draws", **few)["pays"].keys() == {"0", "1", "2"}


def test_a_match_that_books_otherwise_is_noticed(monkeypatch):
    take = Match.take

    def wrong(match):
        return dataclasses.replace(take(match), cube_owner=match.on_roll)

    monkeypatch.setattr(Match, "take", wrong)
    with pytest.raises(SystemExit, match="cube_owner"):
        random_games.check(GameRules(), 0, 240, 60, 7, 60)


def test_a_wrong_pay_is_noticed():
    session = random_games.Session(GameRules(), 0, 60, 240, 7, 60)
    session.end_values = np.array([0, 1, 2, 4])
    with pytest.raises(SystemExit, match="lane"):
        play_out(session)


def test_the_script_prints_one_json_document(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["check_random_games", "--games", "40", "--json", "hypergammon"])
    assert random_games.main() == 0
    document = json.loads(capsys.readouterr().out)
    assert document["sessions"]["hypergammon"]["games"] == 40


@pytest.mark.parametrize("words", [["chess"], ["--games", "3"], ["--lanes", "0"]])
def test_bad_arguments_are_refused(words, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["check_random_games", *words])
    with pytest.raises(SystemExit) as caught:
        random_games.main()
    assert caught.value.code == 2
    assert words[-1] in capsys.readouterr().err
