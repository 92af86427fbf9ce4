"""What was played at the terminal, as a match record that other programs read."""

from __future__ import annotations

import pytest
from terminals import Ranker, sit, typed

from tdgammon.cli.main import main
from tdgammon.game.rules import GameRules
from tdgammon.notation.detect import read_file
from tdgammon.notation.played import match_record
from tdgammon.notation.saving import save_match

TURN = ["31", "8/5 6/5", "61"]


def test_a_match_to_3_is_recorded_game_by_game(tmp_path):
    table, _ = sit(
        *[*TURN, "double", ""],
        *[*TURN, "double", ""],
        *[*TURN, "double", "62", "resign 1", ""],
        *[*TURN, "double"],
        played=typed(GameRules(), 3),
        player=Ranker(takes=False),
    )
    record = match_record(table.session)
    assert [game.start_score for game in record.games] == [(0, 0), (1, 0), (2, 0), (2, 1)]
    assert [game.winner for game in record.games] == [0, 0, 1, 0]
    assert [game.is_crawford for game in record.games] == [False, False, True, False]
    assert record.final_score == (3, 1)
    for ending in ("mat", "sgf", "json"):
        save_match(record, tmp_path / f"match.{ending}")
        reading = read_file(tmp_path / f"match.{ending}")
        assert (reading.warnings, reading.record.final_score) == ((), (3, 1))
        assert len(reading.record.games) == 4


def test_a_game_that_is_left_is_recorded_as_far_as_it_went():
    table, _ = sit(*TURN, played=typed(GameRules(), 5))
    (game,) = match_record(table.session).games
    assert (game.winner, game.points) == (None, None)
    assert [event.dice for event in game.events] == [(3, 1), (6, 1)]


def test_play_writes_the_record_when_it_ends(tmp_path, monkeypatch, capsys):
    answers = iter(["31", "8/5 6/5", "61"])

    def typed_in(prompt):
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed_in)
    file, saved = tmp_path / "game.mat", tmp_path / "saved.json"
    words = ["play", "--against", "golden", "--type-dice", "--record", str(file), "--save", str(saved)]
    assert main(words) == 0
    reading = read_file(file)
    assert not reading.warnings
    assert [event.dice for event in reading.record.games[0].events] == [(3, 1), (6, 1)]


@pytest.mark.parametrize(
    ("file", "fault"),
    [("game.doc", "a match is saved as .json, .txt, .sgf, .mat"), ("none/x.mat", "there is no folder")],
)
def test_a_record_that_cannot_be_written_is_refused_at_once(file, fault, tmp_path, capsys):
    assert main(["play", "--record", str(tmp_path / file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert fault in err


def test_the_record_is_written_after_each_game(tmp_path):
    file = tmp_path / "match.sgf"
    lines = [*TURN, "double"]
    for num_lines, winners in ((3, None), (4, [0]), (5, [0])):
        sit(
            *[*lines, ""][:num_lines],
            played=typed(GameRules(), 3),
            player=Ranker(takes=False),
            record_path=file,
        )
        assert file.exists() == (winners is not None)
        if winners:
            assert [game.winner for game in read_file(file).record.games] == winners


def test_the_record_and_the_saved_game_are_two_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "--record", "a.json", "--save", "./a.json"]) == 2
    assert "is where the game is saved" in capsys.readouterr().err
    file = tmp_path / "tdgammon-game.json"
    _, terminal = sit(*TURN, "quit tdgammon-game.json", "quit", record_path=file)
    assert "is where the record goes" in terminal.text
    assert "--resume tdgammon-game-2.json" in terminal.last
    assert not file.exists()
