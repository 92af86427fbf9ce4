"""Saved games: what is written is read back, replayed by the rules, and nothing else is."""

import json
import random

import pytest

from tdgammon.game.board import parse, text
from tdgammon.game.dice import rolls_at, streams, substream
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import PRESETS, GameRules, IllegalPlay, rules, without_cube
from tdgammon.notation.plays import plays
from tdgammon.notation.saved_game import (
    BOT,
    PERSON,
    act,
    load_session,
    save_session,
    session,
)

CUBELESS = without_cube(GameRules())
MONEY = GameRules(jacoby=True, beavers=True, raccoons=True, automatic_doubles="unlimited")


def step(rng, played):
    """A session after one more action, taken at random of those that are legal."""
    match = played.match
    if match.phase in (Phase.OPENING, Phase.ROLL):
        if match.phase == Phase.ROLL and match.may_double() and rng.random() < 0.1:
            return played.after("double")
        first, second = played.dice() or (rng.randint(1, 6), rng.randint(1, 6))
        return played.after(f"{'open' if match.phase == Phase.OPENING else 'roll'} {first}{second}")
    if match.phase == Phase.PLAY:
        if rng.random() < 0.02 and not match.is_last_roll:
            words = "resign" if match.rules.resign_by_board else "resign 1"
            return played.after(words)
        choice = rng.choice(plays(match.boards[0], match.dice, match.rules))
        return played.after(f"play {choice.notation}")
    return played.after(
        rng.choice(
            {
                Phase.DOUBLE: ["take", "take", "beaver"] if match.rules.beavers else ["take", "pass"],
                Phase.BEAVER: ["take", "raccoon"] if match.rules.raccoons else ["take"],
                Phase.RACCOON: ["take", "pass"],
                Phase.RESIGNATION: ["accept", "reject"],
                Phase.GAME_OVER: ["next"],
            }[match.phase]
        )
    )


def at_random(seed, rules=CUBELESS, length=0, num_actions=None, one_game=True):
    """A session of random actions: all of it, or its first actions."""
    rng = random.Random(seed)
    played = session("racer", seed, rules, length, one_game)
    while not played.is_over and len(played.actions) != num_actions:
        try:
            played = step(rng, played)
        except IllegalPlay:  # a resignation that was refused, a cube at its limit
            continue
    return played


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_what_was_played_is_read_back(tmp_path, seed, name):
    path = tmp_path / "game.json"
    one_game = seed == 0
    for length in (0, 3):
        played = at_random(seed, rules(name), length, 150, one_game)
        save_session(played, path)
        assert load_session(path) == played
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]  # no half-written file is left


def test_typed_dice_are_read_back(tmp_path):
    path = tmp_path / "game.json"
    played = session("racer", None, MONEY)
    assert played.dice() is None
    for action in (
        "open 33",
        "open 13",
        "play 8-5 6-5",
        "double",
        "beaver",
        "raccoon",
        "take",
        "roll 66",
    ):
        played = played.after(action)
        save_session(played, path)
        assert load_session(path) == played
    assert played.match.cube_value == 16  # an automatic double, then 2 x 2 x 2


def test_the_dice_of_a_seed_are_a_stream_a_game():
    played = at_random(5, rules("tournament"), length=7, one_game=False)
    key = streams(5, 1)
    game, turn = 1, 0
    for before, action in zip(played.states, played.actions, strict=False):
        word, _, dice = action.partition(" ")
        if word in ("open", "roll"):
            keys = key.copy()
            if game > 1:
                keys[0] = substream(key[0], game - 1)
            assert [int(die) for die in dice] == rolls_at(keys, turn)[0].tolist()
            turn += 1
        if word == "next":
            assert before.game_number == game
            game, turn = game + 1, 0
    assert game > 1


def test_the_loser_starts_with_a_roll_that_may_be_equal():
    played = session("racer", 3, GameRules(next_start="loser", resign_by_board=True))
    first, second = played.dice()
    played = played.after(f"open {first}{second}").after("resign").after("next")
    keys = streams(3, 1)
    keys[0] = substream(keys[0], 1)
    assert played.match.phase == Phase.ROLL
    assert list(played.dice()) == rolls_at(keys, 1)[0].tolist()


def test_equal_opening_dice_come_from_the_seed_only_where_they_count():
    equal = []
    for seed in range(60):
        for options in (GameRules(automatic_doubles="one"), GameRules()):
            played = session("racer", seed, options)
            while played.match.phase == Phase.OPENING:
                first, second = played.dice()
                played = played.after(f"open {first}{second}")
            equal.append((options.automatic_doubles, len(played.actions) > 1, played.match.cube_value))
    assert {found for found in equal if found[0] == "none"} == {("none", False, 1)}
    assert {found for found in equal if found[0] == "one"} == {("one", False, 1), ("one", True, 2)}
    assert 3 <= equal.count(("one", True, 2)) <= 20  # 60 / 6 = 10 expected, sd 2.9


def test_actions_are_written_in_one_way():
    start = Match(rules=CUBELESS)
    after, written = act(start.open(3, 1), "play 6-5, 8-5*")
    assert written == "play 8/5 6/5"
    # 8 and 6 give one each to 5; the bot sees 25 less each point
    assert text(after.board) == "24:2 13:5 8:3 6:5 / 20:2 19:4 17:2 12:5 1:2"
    assert act(start, "open 31") == (start.open(3, 1), "open 31")


def test_the_last_choice_is_no_roll_and_no_forced_play():
    start = tuple(parse("24:1 2:1 / 23:1 1:1").tolist())
    played = session("racer", None, GameRules(start=start))
    for action in ("open 31", "play 24/20", "roll 66", "play 24/off", "roll 65", "play 20/9"):
        assert played.last_choice(PERSON) == (1 if len(played.actions) > 1 else None)
        played = played.after(action)
    assert played.last_choice(PERSON) == 1
    assert played.last_choice(BOT) is None  # 24/off was forced, too
    assert played.back_to(1).match.dice == (3, 1)


def test_nothing_follows_the_end():
    over = at_random(3)
    assert over.is_over
    with pytest.raises(ValueError, match="the game is over"):
        over.after("next")
    over = at_random(3, rules("tournament"), 1, one_game=False)
    with pytest.raises(ValueError, match="the match is over"):
        over.after("next")


def change(**changes):
    """A saved game with some keys changed; a value of "drop" drops the key."""

    def changed(content):
        content |= changes
        return {key: value for key, value in content.items() if value != "drop"}

    return changed


def with_rule(**changes):
    def changed(content):
        content["rules"] |= changes
        content["rules"] = {k: v for k, v in content["rules"].items() if v != "drop"}
        return content

    return changed


def with_action(index, action):
    def changed(content):
        content["actions"][index] = action
        return content

    return changed


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (
            lambda content: [content],
            "must hold actions, against, format, length, one_game, rules, seed",
        ),
        (change(more=1), "nothing else"),
        (change(seed="drop"), "nothing else"),
        (change(format="tdgammon-game/3"), "format must be 'tdgammon-game/2', got 'tdgammon-game/3'"),
        (change(format="tdgammon-game/1"), "'tdgammon-game/1' has no rules or score"),
        (change(format=["x"]), "format must be"),
        (change(against=5), "against must be a player's name, got 5"),
        (change(seed=-1), "seed must be"),
        (change(seed=1.5), "seed must be"),
        (change(seed=True), "seed must be"),
        (change(seed=2**63), "seed must be"),
        (change(seed=4), "action 1: seed 4 does not roll"),
        (change(length=65), "length: 0"),
        (change(length=1.0), "length: 0"),
        (change(length=None), "length: 0"),
        (change(one_game=1), "one_game must be true or false, got 1"),
        (change(actions={}), "actions must be a list"),
        (change(rules=[]), "rules must hold automatic_doubles, "),
        (with_rule(extra=1), "rules must hold"),
        (with_rule(jacoby="drop"), "rules must hold"),
        (with_rule(jacoby=1), "rules.jacoby: true or false expected, got 1"),
        (with_rule(cube_limit=3), "rules.cube_limit: a power of 2"),
        (with_rule(end_counts=[]), "rules.end_counts: one of"),
        (with_rule(start=[1]), r"rules.start: a board in words expected, got \[1\]"),
        (with_rule(start="6:2 / 24:3"), "rules.start: "),
        (with_rule(start="hello"), "board: "),
        (with_action(2, ["31"]), "action 3: must be text"),
        (with_action(2, "roll 77"), "action 3: dice must be two of 1 to 6, such as '31', got '77'"),
        (with_action(2, "roll ²1"), "action 3: dice must be"),
        (with_action(2, "take"), "action 3: there is no double to take in phase roll"),
        (with_action(2, "double"), "action 3: this game is played without a cube"),
        (with_action(2, "next"), "action 3: the next game belongs to phase game over"),
        (with_action(2, "dance"), "action 3: 'dance' is no action"),
        (with_action(2, "resign 4"), "action 3: a resignation is of size 1, 2 or 3, got '4'"),
        (with_action(2, ""), "action 3: '' is no action"),
        (with_action(2, "play 8/5"), "action 3: a play belongs to phase play, this is phase roll"),
        (with_action(1, "play 1/2"), "action 2: play: '1/2'"),
    ],
)
def test_a_file_that_is_no_saved_game_is_refused_with_its_name(tmp_path, fault, complaint):
    path = tmp_path / "game.json"
    save_session(at_random(3, num_actions=6), path)
    path.write_text(json.dumps(fault(json.loads(path.read_text()))))
    with pytest.raises(ValueError, match=complaint) as caught:
        load_session(path)
    assert str(caught.value).startswith(f"{path}: not a saved game: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b"nan"])
def test_files_that_are_not_json_are_refused(tmp_path, content):
    path = tmp_path / "game.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a saved game"):
        load_session(path)


def test_every_cut_of_a_file_is_refused(tmp_path):
    path = tmp_path / "game.json"
    save_session(at_random(3, num_actions=6), path)
    whole = path.read_bytes().rstrip()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="not a saved game"):
            load_session(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_session(tmp_path / "none.json")


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "game.json"
    save_session(at_random(3, num_actions=3), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_session(at_random(3, num_actions=5), path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["game.json"]
