"""Saved games: what is written is read back, and nothing else is."""

import json
import random

import pytest

from tdgammon.game.board import START, flip, parse, text
from tdgammon.game.dice import rolls_at, streams
from tdgammon.notation.plays import plays, read_play
from tdgammon.notation.saved_game import BOT, PERSON, Game, load_game, save_game


def random_game(seed, num_turns=None):
    """A game of random plays: all of it, or its first turns."""
    rng = random.Random(seed)
    game = Game(against="racer", seed=seed)
    while not game.points() and len(game.turns) != num_turns:
        game = game.after(rng.choice(plays(game.board(), game.roll())))
    return game


@pytest.mark.parametrize("seed", range(4))
def test_a_game_is_read_back_as_it_was_saved(tmp_path, seed):
    for num_turns in (0, 1, 7, 30, None):
        game = random_game(seed, num_turns)
        save_game(game, tmp_path / "game.json")
        assert load_game(tmp_path / "game.json") == game
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]  # no half-written file is left


def test_a_game_with_typed_dice_is_read_back(tmp_path):
    game = Game(against="racer", seed=None)
    assert game.roll() is None
    game = game.with_typed((1, 3))
    assert game.seat(0) == BOT
    game = game.after(plays(game.board(), (1, 3))[0])
    for waiting in (game, game.with_typed((6, 6))):
        save_game(waiting, tmp_path / "game.json")
        assert load_game(tmp_path / "game.json") == waiting


def test_the_higher_die_of_the_opening_roll_starts():
    rolls = rolls_at(streams(0, 1), 0)
    assert Game(against="racer", seed=0).seat(0) == (PERSON if rolls[0, 0] > rolls[0, 1] else BOT)
    for roll, starter in (((6, 1), PERSON), ((1, 6), BOT)):
        game = Game(against="racer", seed=None).with_typed(roll)
        assert [game.seat(turn) for turn in range(4)] == [starter, 1 - starter] * 2


def test_boards_are_seen_by_the_side_to_play():
    game = Game(against="racer", seed=None)
    for roll, play in (((3, 1), "8/5 6/5"), ((4, 2), "8-4 6-4")):
        game = game.with_typed(roll).after(read_play(play, game.board(), roll))
    assert (game.board(0) == START).all()
    assert text(flip(game.board(1))) == "24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2"
    assert (game.board() == parse("24:2 13:5 8:2 6:4 5:2 / 21:2 19:4 17:2 12:5 1:2")).all()
    assert game.back_to(1).turns == game.turns[:1]
    assert game.back_to(1).roll() == (4, 2)


def test_points_are_the_persons():
    for seed in range(12):
        game = random_game(seed)
        last = game.seat(len(game.turns) - 1)
        assert (game.points() > 0) == (last == PERSON)
        assert abs(game.points()) in (1, 2, 3)
        assert game.back_to(len(game.turns) - 1).points() == 0


@pytest.mark.parametrize("roll", [(0, 1), (7, 1), (3, 3)])
def test_typed_dice_that_cannot_be_are_refused(roll):
    with pytest.raises(ValueError, match="dice: "):
        Game(against="racer", seed=None).with_typed(roll)


def change(**changes):
    """A saved game of five turns with some keys changed; a None value drops the key."""

    def changed(content):
        content |= changes
        return {key: value for key, value in content.items() if value != "drop"}

    return changed


def with_turn(index, turn):
    def changed(content):
        content["turns"][index] = turn
        return content

    return changed


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (lambda content: [content], "must hold against, format, seed, turns, typed and nothing else"),
        (change(more=1), "nothing else"),
        (change(seed="drop"), "nothing else"),
        (change(format="tdgammon-game/2"), "format must be 'tdgammon-game/1', got 'tdgammon-game/2'"),
        (change(against=5), "against must be a player's name, got 5"),
        (change(seed=-1), "seed must be"),
        (change(seed=1.5), "seed must be"),
        (change(seed=True), "seed must be"),
        (change(seed=2**63), "seed must be"),
        (change(seed=4), "turn 1: seed 4 does not roll"),
        (change(turns={}), "turns must be a list"),
        (change(typed="31"), "typed dice '31' in a game that has a seed"),
        (with_turn(2, ["31"]), r"turn 3: must be \[dice, play\]"),
        (with_turn(2, "31"), r"turn 3: must be \[dice, play\]"),
        (with_turn(2, [31, "8/5 6/5"]), "dice must be two of 1 to 6"),
        (with_turn(2, ["77", "8/5 6/5"]), "dice must be two of 1 to 6, such as '31', got '77'"),
        (with_turn(2, ["11", "8/5 6/5"]), "turn 3: seed 3 does not roll 11"),
        (lambda content: with_turn(2, [content["turns"][2][0], "1/2"])(content), "turn 3: play: '1/2'"),
        (
            lambda content: change(seed=None, turns=[["33", "8/5(2) 6/3(2)"]])(content),
            "opening roll is not a double",
        ),
    ],
)
def test_a_file_that_is_no_saved_game_is_refused_with_its_name(tmp_path, fault, complaint):
    path = tmp_path / "game.json"
    save_game(random_game(3, 5), path)
    path.write_text(json.dumps(fault(json.loads(path.read_text()))))
    with pytest.raises(ValueError, match=complaint) as caught:
        load_game(path)
    assert str(caught.value).startswith(f"{path}: not a saved game: ")


def test_turns_after_the_end_are_refused(tmp_path):
    path = tmp_path / "game.json"
    over = random_game(3)
    roll = "".join(map(str, over.roll()))
    save_game(over, path)
    content = json.loads(path.read_text())
    content["turns"].append([roll, "cannot move"])
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"turn {len(over.turns) + 1}: the game is over"):
        load_game(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b"nan"])
def test_files_that_are_not_json_are_refused(tmp_path, content):
    path = tmp_path / "game.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a saved game"):
        load_game(path)


def test_every_cut_of_a_file_is_refused(tmp_path):
    path = tmp_path / "game.json"
    save_game(random_game(3, 3), path)
    whole = path.read_bytes().rstrip()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="not a saved game"):
            load_game(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_game(tmp_path / "none.json")


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "game.json"
    save_game(random_game(3, 3), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_game(random_game(3, 5), path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["game.json"]
