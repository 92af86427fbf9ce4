"""A person at the terminal: plays, commands, saving and going on; driven by lists of lines."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from terminals import CUBELESS, First, Lawless, Ranker, Terminal, rolled, sit, typed

from tdgammon.cli import main as cli
from tdgammon.cli.play_table import Table
from tdgammon.cli.play_words import choice, choices, result
from tdgammon.decide.bots import NetworkBot
from tdgammon.game.board import START, parse
from tdgammon.game.match import GameResult, Match
from tdgammon.notation.plays import plays
from tdgammon.notation.saved_game import BOT, PERSON, load_session
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture


def first_play(match):
    return plays(match.boards[0], match.dice)[0].notation


def played(session):
    """The plays of a session, in words."""
    return [action[5:] for action in session.actions if action.startswith("play ")]


def starts(seed):
    """Who starts the game of a seed."""
    first, second = rolled(seed).dice()
    return PERSON if first > second else BOT


def opened(dice):
    """The match state after an opening roll."""
    return Match(rules=CUBELESS).open(*dice)


def test_the_board_is_drawn_and_a_play_is_taken_in_any_notation():
    for written in ("8/5 6/5", "6-5, 8-5", " 8/5*  6/5* "):
        table, terminal = sit("31", written)
        assert "● you to play 3-1" in terminal.said[1]
        assert played(table.session) == ["8/5 6/5"]
        assert terminal.prompts == [
            "Opening roll, your die first: ",
            "You have 3-1: ",
            "Dice of first: ",
        ]


def test_the_higher_die_starts():
    table, terminal = sit("13")
    assert table.session.states[1].on_roll == BOT
    assert terminal.last.startswith("first rolls 3-1: ")
    assert terminal.prompts[-1] == "Your dice: "


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("8/5", "'8/5' with 3-1: both dice must be played"),
        ("24/18 6/5", "the dice do not make the 6 pips of 24/18"),
        ("bar/22 6/5", "no checker on the bar"),
        ("nonsense", "'nonsense' is not FROM/TO"),
        ("no move", "there is a legal play"),
    ],
)
def test_an_illegal_play_is_refused_with_the_reason_and_asked_again(line, complaint):
    table, terminal = sit("31", line)
    assert played(table.session) == []
    assert complaint in terminal.last
    assert terminal.prompts[-2:] == ["You have 3-1: "] * 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("33", "Equal dice, 3-3: roll again."),
        ("70", "must be 1 to 6, got 7-0"),
        ("3", "'3' is not two dice such as 31"),
        ("311", "is not two dice"),
        ("hint", "when it is your turn"),
    ],
)
def test_dice_that_cannot_be_are_refused(line, complaint):
    table, terminal = sit(line)
    assert table.session.match.dice is None
    assert complaint in terminal.last


@pytest.mark.parametrize("line", ["31", "3-1", "3 1", " 3, 1 "])
def test_dice_are_typed_in_any_way(line):
    assert sit(line)[0].session.match.dice == (3, 1)


def test_empty_lines_do_nothing():
    table, terminal = sit("", "31", "", "  ")
    assert played(table.session) == []
    assert len(terminal.said) == 2  # the greeting and one board


def test_help_and_board():
    _, terminal = sit("help", "31", "?", "BOARD")
    helps = [words for words in terminal.said if "take back your last choice" in words]
    assert len(helps) == 2
    assert terminal.said[-1] == terminal.said[-3]  # the board once more


def test_hint_lists_the_best_plays_with_equity_and_chances():
    _, terminal = sit("31", "hint", player=Ranker())
    head, *lines = terminal.last.splitlines()
    assert head.split() == ["equity", "loss", "win", "gammon", "won,", "lost"]
    assert len(lines) == 5
    best = plays(START, (3, 1))[-1].notation  # the last of 16 has 0.15
    # the opponent's chances are 0.01 0.09 0.3 to win and 0.4 0.15 0.05 to lose
    assert lines[0].split() == ["1.", *best.split(), "+0.150", "+0.000", "60%", "20%,", "10%"]
    assert lines[1].split()[-5:-3] == ["+0.140", "-0.010"]


def test_hint_of_a_network_starts_with_its_own_choice():
    architecture = Architecture(hidden=(4,))
    rng = np.random.default_rng(1)
    weights = {
        name: rng.normal(0, 0.3, shape).astype(np.float32)
        for name, shape in architecture.shapes.items()
    }
    player = NetworkBot("net", NetworkEvaluator(architecture, weights))
    for dice in ((3, 1), (6, 5)):
        _, *lines = choices(player, opened(dice))
        own = choice(player, opened(dice)).notation
        assert lines[0].startswith(f"1. {own} ")
        losses = [float(line.split()[-4]) for line in lines]
        assert losses[0] == 0
        assert losses == sorted(losses, reverse=True)


def test_hint_of_a_bot_without_equities_is_its_choice():
    _, terminal = sit("31", "hint")
    assert (
        terminal.last
        == f"first would play {plays(START, (3, 1))[0].notation}; it gives plays no equities"
    )


def test_why_shows_what_the_bot_chose_from():
    _, terminal = sit("31", "why", "8/5 6/5", "42", "why", player=Ranker())
    assert "ranker has not decided anything yet." in terminal.said
    head, _, best, *_ = terminal.last.splitlines()
    assert head.startswith("ranker rolled 4-2 and played ")
    assert best.startswith("1. ")


def test_undo_takes_back_the_last_choice_with_its_dice():
    table, terminal = sit("31", "8/5 6/5", "42", "undo")
    assert played(table.session) == []
    assert table.session.match.dice == (3, 1)
    assert terminal.prompts[-1] == "You have 3-1: "
    assert "There is no choice of yours" in sit("31", "undo")[1].last
    assert "There is no choice of yours" in sit("undo")[1].last


def test_undo_goes_back_past_a_turn_without_a_choice():
    two_each = replace(CUBELESS, start=tuple(parse("24:1 2:1 / 23:1 1:1").tolist()))
    lines = ["31", "24/20", "66", "65"]  # 20/9 is all that 6-5 leaves
    table, terminal = sit(*lines, "undo", played=typed(two_each, is_one_game=True))
    assert "You roll 6-5: 20/9 is your only play" in terminal.said
    assert len(played(table.session)) == 0
    assert terminal.prompts[-1] == "You have 3-1: "


def test_rolled_dice_are_those_of_the_seed_and_stay_after_an_undo():
    seed = next(seed for seed in range(9) if starts(seed) == PERSON)
    mine = first_play(Match(rules=CUBELESS).open(*rolled(seed).dice()))
    ahead, _ = sit(mine, played=rolled(seed))
    undone, _ = sit(mine, "undo", played=rolled(seed))
    again, _ = sit(mine, "undo", mine, played=rolled(seed))
    assert len(played(ahead.session)) == 2  # the bot has answered
    assert played(undone.session) == []
    assert again.session == ahead.session


def play_through(session, player=None):
    """The table after a person has played the first legal play until the end."""
    terminal = Terminal()
    table = Table(session, player or First(), None, terminal.ask, terminal.say)
    terminal.ask = table.ask = lambda prompt: first_play(table.session.match)
    table.play()
    return table, terminal


def test_a_whole_game_is_played_to_its_result_with_forced_plays_made_alone():
    alone = []
    for seed in range(5):
        table, terminal = play_through(rolled(seed))
        assert table.session.match.result.points
        assert terminal.last == result(table.session.match.result, "first")
        assert "to roll" not in terminal.said[-2]
        alone += [words for words in terminal.said if words.startswith("You roll ")]
    assert any(words.endswith(": cannot move") for words in alone)
    assert any(words.endswith(" is your only play") for words in alone)
    assert all(words.endswith((": cannot move", " is your only play")) for words in alone)


def ended(winner, size, cube_value=1, points_by_rule=None, points=None):
    by_rule = points_by_rule or size * cube_value
    return GameResult(
        winner=winner,
        size=size,
        cube_value=cube_value,
        points_by_rule=by_rule,
        points=by_rule if points is None else points,
    )


def test_the_result_in_words():
    assert result(ended(0, 1), "pubeval") == "You win a single game: 1 point."
    assert result(ended(0, 2), "pubeval") == "You win a gammon: 2 points."
    assert result(ended(1, 3), "pubeval") == "pubeval wins a backgammon: 3 points."
    assert (
        result(ended(0, 2, 4, points=3), "pubeval")
        == "You win a gammon with the cube at 4: 8 points, of which the match needed 3."
    )
    assert result(ended(None, 0), "pubeval").startswith("The game is a draw")


def test_quit_saves_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, terminal = sit("31", "8/5 6/5", "42", "63", "quit")
    assert terminal.last == "Saved. To go on: tdgammon play --resume tdgammon-game.json"
    assert load_session(tmp_path / "tdgammon-game.json") == table.session
    assert table.session.match.dice == (6, 3)
    resumed, terminal = sit("24/15", played=load_session(tmp_path / "tdgammon-game.json"))
    assert "2 turns have been played." in terminal.said[0]
    assert len(played(resumed.session)) == 3


def test_quit_does_not_write_over_another_game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(3):
        sit("31", "8/5 6/5", "quit")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["tdgammon-game-2.json", "tdgammon-game-3.json", "tdgammon-game.json"]


def test_quit_takes_a_file_and_stays_if_it_cannot_be_written(tmp_path):
    there = str(tmp_path / "a game.json")
    table, terminal = sit("31", "8/5 6/5", f"quit {tmp_path}/none/x.json", f"quit {there}")
    assert any("No such folder" in words and "`quit FILE`" in words for words in terminal.said)
    assert terminal.last == f"Saved. To go on: tdgammon play --resume '{there}'"
    assert table.is_left


def test_a_game_without_a_play_of_the_persons_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, terminal = sit("13", "31", "quit")
    assert terminal.last == "You have not played yet: nothing is saved."
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_breaks_the_rules_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="player 'lawless': no legal play leaves"):
        sit("13", player=Lawless())


# the command itself, with the bots that ship


def run(monkeypatch, capsys, lines, *options):
    """Status, stdout and stderr of `tdgammon play`, with lines at its standard input."""
    answers = iter(lines)

    def answer(prompt=""):
        print(prompt, end="")
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    status = cli.main(["play", *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_command_saves_at_the_end_of_input_and_goes_on(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert starts(7) == PERSON
    lines = [first_play(opened(rolled(7).dice()))]
    status, out, err = run(monkeypatch, capsys, lines, "--against", "racer", "--seed", "7")
    assert (status, err) == (0, "")
    assert "dice of seed 7" in out
    assert "racer rolls" in out
    saved = load_session(tmp_path / "tdgammon-game.json")
    assert (saved.against, saved.seed, len(played(saved))) == ("racer", 7, 2)
    assert saved.match.rules == CUBELESS
    assert saved.is_one_game
    status, out, err = run(monkeypatch, capsys, ["undo", "quit"], "--resume", "tdgammon-game.json")
    assert (status, err) == (0, "")
    assert out.endswith("You have not played yet: nothing is saved.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["tdgammon-game.json"]


def test_the_command_saves_where_it_is_told(monkeypatch, capsys, tmp_path):
    path = tmp_path / "mine.json"
    options = ("--against", "random", "--type-dice", "--save", str(path))
    status, out, _ = run(monkeypatch, capsys, ["31", "8/5 6/5", "quit"], *options)
    assert status == 0
    assert out.endswith(f"tdgammon play --resume {path}\n")
    assert load_session(path).seed is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--against", "nobody"], "'nobody'"),
        (["--against", "random", "--seed", "-1"], "--seed: must be 0 .. 2**63 - 1, got -1"),
        (
            ["--against", "random", "--seed", "1", "--type-dice"],
            "--seed: dice that are typed have no seed",
        ),
        (["--resume", "none.json"], "none.json: No such file or directory"),
        (["--resume", "broken.json"], "broken.json: not a saved game"),
        (["--resume", "."], ".: Is a directory"),
        (
            ["--resume", "broken.json", "--seed", "3"],
            "--seed: a resumed game keeps its player, rules and dice",
        ),
        (["--resume", "broken.json", "--type-dice"], "--type-dice: a resumed game"),
        (["--resume", "broken.json", "--no-cube"], "--cube: a resumed game"),
        (["--resume", "broken.json", "--option", "jacoby=true"], "--option: a resumed game"),
        (["--length", "0"], "--length: at least 1 point expected, got 0"),
        (["--length", "65"], "length: 0 (money) to 64 expected, got 65"),
        (["--rules", "none"], "rules: one of standard, "),
        (["--rules", "003", "--cube"], "--cube: these rules have no cube"),
        (["--option", "cube_limit=3"], "rules.cube_limit: a power of 2"),
        (["--option", "jacoby"], "KEY=VALUE"),
        (["--rules", "004", "--option", "cube_limit=1"], "rules.jacoby: needs a cube"),
        (["--length", "three"], "invalid int value: 'three'"),
        (["--against", "random", "--save", "none/x.json"], "--save: there is no folder 'none'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(monkeypatch, capsys, tmp_path, options, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text('{"format": "tdgammon-game/1"')
    try:
        status, out, err = run(monkeypatch, capsys, [], *options)
    except SystemExit as left:  # argparse
        status, (out, err) = left.code, capsys.readouterr()
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["broken.json"]


def test_a_saved_game_with_an_unknown_player_is_refused(monkeypatch, capsys, tmp_path):
    path = tmp_path / "game.json"
    sit("31", "8/5 6/5", "quit", path=path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"against": "nobody"}))
    status, _, err = run(monkeypatch, capsys, [], "--resume", str(path))
    assert status == 2
    assert "'nobody'" in err


def test_a_game_is_saved_when_the_player_fails(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tdgammon.decide.bots.bot", lambda player, rules: Lawless())
    lines = ["31", "8/5 6/5", "42"]
    status, _, err = run(monkeypatch, capsys, lines, "--against", "random", "--type-dice")
    assert status == 2
    assert "lawless" in err
    assert len(played(load_session(tmp_path / "tdgammon-game.json"))) == 1


def test_a_new_process_plays_from_a_pipe(tmp_path):
    lines = "31\n8/5\n8/5 6/5\n42\n"
    done = subprocess.run(
        [sys.executable, "-m", "tdgammon", "play", "--against", "golden", "--type-dice"],
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "both dice must be played" in done.stdout
    assert "golden rolls 4-2: " in done.stdout
    assert "Saved. To go on: tdgammon play --resume tdgammon-game.json" in done.stdout
    assert len(played(load_session(tmp_path / "tdgammon-game.json"))) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_saves_as_ctrl_c_does(tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "tdgammon", "play", "--against", "random", "--type-dice"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
    )
    process.stdin.write("31\n8/5 6/5\n")
    process.stdin.flush()
    while (character := process.stdout.read(1)) and character != "D":  # of "Dice of random: "
        pass
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Saved. To go on: tdgammon play --resume tdgammon-game.json" in out
    assert played(load_session(tmp_path / "tdgammon-game.json")) == ["8/5 6/5"]
