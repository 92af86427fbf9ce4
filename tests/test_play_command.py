"""A person at the terminal: plays, commands, saving and going on; driven by lists of lines."""

import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from tdgammon.cli import main as cli
from tdgammon.cli.play import Table, choice, choices, result
from tdgammon.decide.bots import NetworkBot
from tdgammon.game.board import START, flip, text
from tdgammon.game.moves import afterstates
from tdgammon.notation.plays import plays
from tdgammon.notation.saved_game import BOT, PERSON, Game, load_game
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.tables import Architecture


class First:
    """Plays the first afterstate listed."""

    name = "first"

    def choose(self, boards, rolls):
        rows, offsets = afterstates(boards, rolls)
        return rows[offsets[:-1]]


class Ranker(First):
    """A bot with an evaluator, which likes each play 0.01 better than the one listed before it."""

    name = "ranker"

    @property
    def evaluator(self):
        return self

    def rank(self, board, roll):
        rows, _ = afterstates(board, roll)
        equities = np.arange(len(rows), dtype=np.float32) / 100
        seen = np.tile(np.float32([0.01, 0.09, 0.3, 0.4, 0.15, 0.05]), (len(rows), 1))
        return rows, seen, equities


class Lawless(First):
    name = "lawless"

    def choose(self, boards, rolls):
        return boards


class Terminal:
    """Answers prompts with lines, keeps what is said, and ends with EOFError."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(lines)
        self.said: list[str] = []
        self.prompts: list[str] = []

    def ask(self, prompt):
        self.prompts.append(prompt)
        for line in self.lines:
            return line
        raise EOFError

    def say(self, words):
        self.said.append(words)

    @property
    def last(self):
        return self.said[-1]


def sit(*lines, game=None, player=None, path=None):
    """A table after the person has typed these lines, and its terminal."""
    terminal = Terminal(*lines)
    game = game or Game(against="first", seed=None)
    table = Table(game, player or First(), path, terminal.ask, terminal.say)
    try:
        table.play()
    except EOFError:
        return table, terminal
    return table, terminal


def first_play(game):
    return plays(game.board(), game.roll())[0].notation


def test_the_board_is_drawn_and_a_play_is_taken_in_any_notation():
    for written in ("8/5 6/5", "6-5, 8-5", " 8/5*  6/5* "):
        table, terminal = sit("31", written)
        assert "● you to play 3-1" in terminal.said[1]
        assert [turn.play.notation for turn in table.game.turns] == ["8/5 6/5"]
        assert terminal.prompts == [
            "Opening roll, your die first: ",
            "You have 3-1: ",
            "Dice of first: ",
        ]


def test_the_higher_die_starts():
    table, terminal = sit("13")
    assert [table.game.seat(0)] == [BOT]
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
    assert table.game.turns == ()
    assert complaint in terminal.last
    assert terminal.prompts[-2:] == ["You have 3-1: "] * 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("33", "the opening roll is not a double, got 3-3"),
        ("70", "must be 1 to 6, got 7-0"),
        ("3", "'3' is not two dice such as 31"),
        ("311", "is not two dice"),
        ("hint", "once the dice are known"),
    ],
)
def test_dice_that_cannot_be_are_refused(line, complaint):
    table, terminal = sit(line)
    assert table.game.roll() is None
    assert complaint in terminal.last


@pytest.mark.parametrize("line", ["31", "3-1", "3 1", " 3, 1 "])
def test_dice_are_typed_in_any_way(line):
    assert sit(line)[0].game.roll() == (3, 1)


def test_empty_lines_do_nothing():
    table, terminal = sit("", "31", "", "  ")
    assert table.game.turns == ()
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
    for roll in ((3, 1), (6, 6)):
        _, *lines = choices(player, START.copy(), roll)
        own = choice(player, START.copy(), roll).notation
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
    assert "ranker has not played yet." in terminal.said
    assert terminal.said[-2].startswith("ranker rolled 4-2 and played ")
    assert terminal.last.splitlines()[1].startswith("1. ")


def test_undo_takes_back_the_last_choice_with_its_dice():
    table, terminal = sit("31", "8/5 6/5", "42", "undo")
    assert table.game.turns == ()
    assert table.game.roll() == (3, 1)
    assert terminal.prompts[-1] == "You have 3-1: "
    assert "There is no choice of yours" in sit("31", "undo")[1].last
    assert "There is no choice of yours" in sit("undo")[1].last


def test_undo_goes_back_past_a_turn_without_a_choice():
    game = Game(against="first", seed=None)
    for roll in ((6, 5), (5, 5)):
        game = game.with_typed(roll)
        game = game.after(plays(game.board(), roll)[0])
    table, _ = sit("undo", game=game)
    assert table.game.turns == ()


def test_rolled_dice_are_those_of_the_seed_and_stay_after_an_undo():
    seed = next(seed for seed in range(9) if Game(against="first", seed=seed).seat(0) == PERSON)
    game = Game(against="first", seed=seed)
    mine = first_play(game)
    played, _ = sit(mine, game=game)
    undone, _ = sit(mine, "undo", game=game)
    again, _ = sit(mine, "undo", mine, game=game)
    assert len(played.game.turns) == 2  # the bot has answered
    assert undone.game == game
    assert again.game == played.game


def play_through(game, player=None):
    """The table after a person has played the first legal play until the end."""
    terminal = Terminal()
    table = Table(game, player or First(), None, terminal.ask, terminal.say)
    terminal.ask = table.ask = lambda prompt: first_play(table.game)
    table.play()
    return table, terminal


def test_a_whole_game_is_played_to_its_result_with_forced_plays_made_alone():
    alone = []
    for seed in range(5):
        table, terminal = play_through(Game(against="first", seed=seed))
        points = table.game.points()
        assert points
        assert terminal.last == result(points, "first")
        assert "to roll" not in terminal.said[-2]
        alone += [words for words in terminal.said if words.startswith("You roll ")]
    assert any(words.endswith(": cannot move") for words in alone)
    assert any(words.endswith(" is your only play") for words in alone)
    assert all(words.endswith((": cannot move", " is your only play")) for words in alone)


def test_the_result_in_words():
    assert result(1, "pubeval") == "You win a single game: 1 point."
    assert result(2, "pubeval") == "You win a gammon: 2 points."
    assert result(-3, "pubeval") == "pubeval wins a backgammon: 3 points."


def test_quit_saves_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, terminal = sit("31", "8/5 6/5", "42", "63", "quit")
    assert terminal.last == "Saved. To go on: tdgammon play --resume tdgammon-game.json"
    assert load_game(tmp_path / "tdgammon-game.json") == table.game
    assert table.game.roll() == (6, 3)
    resumed, terminal = sit("24/15", game=load_game(tmp_path / "tdgammon-game.json"))
    assert "2 turns have been played." in terminal.said
    assert len(resumed.game.turns) == 3


def test_quit_does_not_write_over_another_game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(3):
        sit("31", "8/5 6/5", "quit")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["tdgammon-game-2.json", "tdgammon-game-3.json", "tdgammon-game.json"]


def test_quit_takes_a_file_and_stays_if_it_cannot_be_written(tmp_path):
    there = str(tmp_path / "a game.json")
    table, terminal = sit("31", "8/5 6/5", f"quit {tmp_path}/none/x.json", f"quit {there}")
    assert any("No such file" in words and "`quit FILE`" in words for words in terminal.said)
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


def test_choices_are_seen_by_the_side_to_play():
    (line,) = choices(First(), START, (3, 1))
    assert plays(START, (3, 1))[0].notation in line
    table, _ = sit("31", "8/5 6/5", "42")
    assert text(flip(table.game.board())) != text(START)


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
    opening = Game(against="racer", seed=7)
    assert opening.seat(0) == PERSON
    lines = [first_play(opening)]
    status, out, err = run(monkeypatch, capsys, lines, "--against", "racer", "--seed", "7")
    assert (status, err) == (0, "")
    assert "dice of seed 7" in out
    assert "racer rolls" in out
    saved = load_game(tmp_path / "tdgammon-game.json")
    assert (saved.against, saved.seed, len(saved.turns)) == ("racer", 7, 2)
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
    assert load_game(path).seed is None


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
            "--seed: a resumed game keeps its player and dice",
        ),
        (["--resume", "broken.json", "--type-dice"], "--type-dice: a resumed game"),
        (["--against", "random", "--save", "none/x.json"], "--save: there is no folder 'none'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(monkeypatch, capsys, tmp_path, options, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text('{"format": "tdgammon-game/1"')
    status, out, err = run(monkeypatch, capsys, [], *options)
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
    monkeypatch.setattr("tdgammon.decide.bots.bot", lambda player: Lawless())
    lines = ["31", "8/5 6/5", "42"]
    status, _, err = run(monkeypatch, capsys, lines, "--against", "random", "--type-dice")
    assert status == 2
    assert "lawless" in err
    assert len(load_game(tmp_path / "tdgammon-game.json").turns) == 1


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
    assert len(load_game(tmp_path / "tdgammon-game.json").turns) == 2
