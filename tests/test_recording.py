"""Games that a bench writes: what is read back is what was played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from terminals import First

from tdgammon.bench import arena
from tdgammon.bench.arena import match
from tdgammon.cli.main import main
from tdgammon.game.rules import GameRules, rules
from tdgammon.notation.detect import read_file
from tdgammon.notation.record import MatchRecord, Turn


def records(folder: Path) -> list[MatchRecord]:
    """The matches of all files, in the order of their names; none with a warning."""
    found = []
    for path in sorted(folder.iterdir()):
        reading = read_file(path)
        assert not reading.warnings
        assert reading.record is not None
        found.append(reading.record)
    return found


def balance(record: MatchRecord, player: str) -> int:
    """Points that a player is ahead at the end of a record."""
    ahead = record.final_score[0] - record.final_score[1]
    return ahead if record.players[0] == player else -ahead


CASES = {
    "plain": {},
    "cube": {"cube": True},
    "automatic doubles": {"cube": True, "rules": rules("004")},
    "match": {"length": 3},
    "caucasian": {"rules": rules("caucasian")},
    "nackgammon": {"rules": rules("nackgammon"), "length": 1},
    "capped gammons": {"rules": GameRules(end_counts="mars", next_start="loser")},
    "loser starts": {"rules": GameRules(next_start="loser"), "length": 2},
}


@pytest.mark.parametrize("save_format", ["mat", "sgf", "json"])
@pytest.mark.parametrize("name", CASES)
def test_files_hold_the_games_that_were_played(name, save_format, tmp_path):
    options = CASES[name]
    result = match("golden", "pubeval", 8, seed=4, save=tmp_path, save_format=save_format, **options)
    found = records(tmp_path)
    assert len(found) == 8
    assert sum(len(record.games) for record in found) == result.num_games
    points = [balance(record, "golden") for record in found]
    assert sum(points) / result.num_games == pytest.approx(
        (result.pair_means * [g for g in pair_games(found)]).sum() / result.num_games
    )
    wins = sum(game.winner == r.players.index("golden") for r in found for game in r.games)
    assert wins == result.a.wins
    turns = sum(isinstance(event, Turn) for r in found for g in r.games for event in g.events)
    assert turns == result.turns


def pair_games(found: list[MatchRecord]) -> list[int]:
    """Games of each pair of contests."""
    return [len(a.games) + len(b.games) for a, b in zip(found[::2], found[1::2], strict=True)]


def test_saving_changes_no_result(tmp_path):
    saved = match("golden", "random", 20, seed=2, cube=True, save=tmp_path)
    assert saved.to_json()["ppg"] == match("golden", "random", 20, seed=2, cube=True).to_json()["ppg"]


@pytest.mark.parametrize("save_format", ["mat", "sgf", "json"])
def test_files_name_the_rules(save_format, tmp_path):
    played = GameRules(caucasian=True, end_counts="oin", automatic_doubles="unlimited", cube_limit=8)
    match("golden", "random", 2, rules=played, cube=True, save=tmp_path, save_format=save_format)
    assert [record.rules for record in records(tmp_path)] == [played, played]


@pytest.mark.parametrize("options", [{}, {"length": 2}])
def test_a_contest_that_was_dropped_is_written_as_far_as_it_went(options, tmp_path, monkeypatch):
    monkeypatch.setattr(arena, "MAX_TURNS", 50)
    result = match("golden", "random", 20, seed=1, save=tmp_path, lanes=6, **options)
    found = records(tmp_path)
    assert len(found) == 20
    unfinished = [record.games[-1].winner is None for record in found]
    pairs = zip(unfinished[::2], unfinished[1::2], strict=True)
    assert sum(map(any, pairs)) == result.dropped_pairs > 0


def test_the_dice_of_a_pair_are_the_same_and_the_crawford_game_is_marked(tmp_path):
    match("golden", "pubeval", 10, seed=6, length=3, save=tmp_path)
    found = records(tmp_path)
    for one, other in zip(found[::2], found[1::2], strict=True):
        dice = [
            [event.dice for event in r.games[0].events if isinstance(event, Turn)] for r in (one, other)
        ]
        assert all(a == b for a, b in zip(*dice, strict=False))
    games = [game for record in found for game in record.games]
    crawford = [game for game in games if game.is_crawford]
    assert crawford
    for game in crawford:
        assert 2 in game.start_score
        assert all(isinstance(event, Turn) for event in game.events)


def test_players_change_sides_within_a_pair(tmp_path):
    match("golden", "random", 2, save=tmp_path, rules=GameRules())
    assert [record.players for record in records(tmp_path)] == [
        ("golden", "random"),
        ("random", "golden"),
    ]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--save", "{full}"], "a new or empty folder is wanted"),
        (["--save", "{new}", "--save-format", "doc"], "one of mat, sgf, json expected, got 'doc'"),
        (["--save-format", "sgf"], "needs --save FOLDER"),
        (["--rules", ""], "rules: one of standard,"),
        (["--option", "jacoby=true"], "is a rule of money games with --cube"),
        (["--option", "jacoby=true", "--length", "3"], "is a rule of money games with --cube"),
        (["--option", "cube_limit=8"], "has no meaning without --cube or --length"),
    ],
)
def test_bad_input_is_one_line(words, fault, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    words = [word.format(full=tmp_path / "full", new=tmp_path / "new") for word in words]
    assert main(["bench", "random", "golden", "--games", "2", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert fault in err


class Doubler(First):
    """Doubles whenever he may."""

    name = "doubler"

    def __init__(self):
        super().__init__(doubles=True)


class Beaver(First):
    """Beavers every double."""

    name = "beaver"

    def beavers(self, boards, stakes):
        return np.ones(len(boards), np.bool_)


@pytest.mark.parametrize("save_format", ["mat", "json"])
def test_beavers_are_played_and_written(save_format, tmp_path):
    beavered = GameRules(beavers=True)
    result = match(
        Doubler(), Beaver(), 4, rules=beavered, cube=True, save=tmp_path, save_format=save_format
    )
    for record in records(tmp_path):
        (game,) = record.games
        actions = [event.action for event in game.events if not isinstance(event, Turn)]
        assert actions[:3] == ["double", "beaver", "take"]
        assert abs(balance(record, "doubler")) in (4, 8, 12)
    assert result.a.doubles == 4
    low = match(Doubler(), Beaver(), 4, rules=replace(beavered, cube_limit=2), cube=True)
    assert low.a.doubles == 4
    assert abs(low.ppg) <= 6
