"""Matches and money games at the terminal: cube, score, resignations and options of play."""

from dataclasses import replace

import numpy as np
import pytest
from terminals import CUBELESS, First, Ranker, sit, typed

from tdgammon.cli import main as cli
from tdgammon.cli.play_words import choice, hint
from tdgammon.decide.bots import bot
from tdgammon.game.board import parse, text
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import GameRules, rules
from tdgammon.notation.saved_game import PERSON, load_session, session

MONEY = GameRules()
BEAVERS = GameRules(beavers=True, raccoons=True)
TURN = ["31", "8/5 6/5", "61"]
"""The person starts and plays, the bot answers."""
BOT_TURN = ["13", "62", "24/18 13/11"]
"""The bot starts, the person plays, the bot is on roll."""


def start(words):
    return tuple(parse(words).tolist())


# ---- a match


def test_a_match_to_3_with_its_crawford_game():
    table, terminal = sit(
        *[*TURN, "double", ""],
        *[*TURN, "double", ""],
        *[*TURN, "double", "62", "resign 1", ""],
        *[*TURN, "double"],
        played=typed(GameRules(), 3),
        player=Ranker(takes=False),
    )
    scores = [words for words in terminal.said if words.startswith("Match to 3: ")]
    assert scores == [f"Match to 3: you {you}, ranker {bot}." for you, bot in [(1, 0), (2, 0), (2, 1)]]
    assert "Game 2." in terminal.said
    assert "Game 3. It is the Crawford game: nobody may double." in terminal.said
    assert "there is no doubling in the Crawford game (R18)" in terminal.said
    boards = [words for words in terminal.said if "│BAR│" in words]
    assert "cube: 64 (counts 1), centred" in boards[0]
    assert "match to 3: you 0, opponent 0" in boards[0]
    assert sum("Crawford game: no cube" in board for board in boards) >= 2
    assert "post-Crawford" in boards[-1]
    assert "The cube is dead for you" in terminal.text  # at 2-1 the person needs one point
    assert terminal.last == "You win the match 3-1."
    assert table.session.match.phase == Phase.MATCH_OVER


def test_the_trailers_double_is_no_warning():
    _, terminal = sit(*TURN, "double", played=typed(GameRules(), 3))
    assert "dead" not in terminal.text


# ---- the cube


def test_the_person_doubles_and_the_bot_takes_or_passes():
    taker = First()
    table, terminal = sit(*TURN, "double", "52", played=typed(MONEY), player=taker)
    assert terminal.prompts[3] == "Your dice, or double: "
    assert "first takes." in terminal.said
    assert (table.session.match.cube_value, table.session.match.cube_owner) == (2, 1)
    (seen, stakes) = taker.seen[0]
    doubled = table.session.states[table.session.actions.index("double")]
    assert (seen[0] == doubled.boards[0]).all()  # seen by the player on roll, the person
    assert doubled.on_roll == PERSON
    assert stakes.cube_values == [1]
    assert "cube: 2, the opponent's" in terminal.last
    assert terminal.prompts[4] == "Your dice: "
    table, terminal = sit(*TURN, "redouble", played=typed(MONEY), player=First(takes=False))
    assert "first passes." in terminal.said
    assert "You win a single game: 1 point." in terminal.said
    assert terminal.last == "Balance: you are 1 ahead."
    assert terminal.prompts[-1] == "Enter for the next game, or quit: "


def test_the_bot_doubles_and_the_person_takes_or_passes():
    lines = [*BOT_TURN, "maybe"]
    table, terminal = sit(*lines, "take", played=typed(MONEY), player=First(doubles=True))
    assert "first doubles to 2." in terminal.said
    assert terminal.prompts[3:5] == ["Take or pass? "] * 2
    assert "'maybe' is no answer to a double: take or pass" in terminal.said
    assert (table.session.match.cube_value, table.session.match.cube_owner) == (2, 0)
    assert terminal.prompts[-1] == "Dice of first: "  # the cube is the person's: no redouble
    table, terminal = sit(*lines, "drop", "", played=typed(MONEY), player=First(doubles=True))
    assert "first wins a single game: 1 point." in terminal.said
    assert "Balance: you are 1 behind." in terminal.said
    assert terminal.last == "Game 2."


def test_a_double_that_is_taken_back_is_not_one():
    table, terminal = sit(*TURN, "double", "undo", played=typed(MONEY), player=First(takes=False))
    assert table.session.match.phase == Phase.ROLL
    assert table.session.match.cube_value == 1
    assert terminal.prompts[-1] == "Your dice, or double: "


def test_beavers_are_offered_where_the_rules_have_them():
    lines = [*BOT_TURN, "beaver"]
    table, terminal = sit(*lines, played=typed(BEAVERS), player=First(doubles=True))
    assert "Take, pass or beaver? " in terminal.prompts
    assert "first takes." in terminal.said
    assert (table.session.match.cube_value, table.session.match.cube_owner) == (4, 0)
    table, terminal = sit(*lines, played=typed(MONEY), player=First(doubles=True))
    assert terminal.last == "this game is played without beavers (R20)"
    low = replace(BEAVERS, cube_limit=2)
    table, terminal = sit(*lines, played=typed(low), player=First(doubles=True))
    assert terminal.prompts[-1] == "Take or pass? "
    assert terminal.last == "the cube would pass its limit of 2 (R15)"


def test_a_bot_that_knows_beavers_makes_them():
    class Beaver(First):
        def beavers(self, boards, stakes):
            return np.ones(len(boards), np.bool_)

    table, terminal = sit(*TURN, "double", played=typed(BEAVERS), player=Beaver())
    assert "first beavers: the cube is at 4." in terminal.said
    assert table.session.match.phase == Phase.BEAVER
    table, terminal = sit(*TURN, "double", played=typed(MONEY), player=Beaver())
    assert "first takes." in terminal.said


def test_a_beaver_of_the_person_can_be_met_with_a_raccoon():
    played = typed(BEAVERS)
    for action in ("open 31", "play 8/5 6/5", "roll 61", "play 13/7 8/7", "double", "beaver"):
        played = played.after(action)
    table, terminal = sit("raccoon", played=played)
    assert terminal.prompts[0] == "Take, pass or raccoon? "
    assert table.session.match.cube_value == 8


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["31", "double"], "a double is offered before rolling (R13)"),
        (["31", "take"], "there is no double to take"),
        (["31", "pass"], "there is no double to pass"),
        (["31", "beaver"], "a beaver belongs to phase double"),
        (["31", "raccoon"], "a raccoon belongs to phase beaver"),
        ([*TURN, "double", "62", "double"], "only the owner of the cube may redouble (R14)"),
        (["31", "8/5 6/5", "double"], "It is not your turn."),
        (["31", "8/5 6/5", "resign 1"], "It is not your turn."),
        (["double"], "It is not your turn."),
        (["13", "roll"], "'roll' is not two dice such as 31"),
    ],
)
def test_what_is_not_allowed_is_refused_with_the_rule(lines, complaint):
    _, terminal = sit(*lines, played=typed(MONEY))
    assert complaint in terminal.last


def test_a_game_without_a_cube_says_so():
    _, terminal = sit(*TURN, "double", played=typed())
    assert terminal.last == "this game is played without a cube (R15)"
    assert "cube:" not in terminal.text


def test_with_dice_of_a_seed_there_is_a_stop_to_double_only_where_one_may():
    played = session("first", 7, MONEY)  # the person starts with 5-3
    _, terminal = sit("8/3 6/3", "perhaps", "", played=played)
    assert terminal.prompts[1:3] == ["Roll (Enter), or double: "] * 2
    assert "'perhaps' is neither roll nor double" in terminal.said
    assert terminal.prompts[3].startswith("You have ")
    _, terminal = sit("8/3 6/3", "double", "double", played=played)
    assert terminal.prompts[2].startswith("You have ")  # the cube is the bot's: rolled at once
    assert terminal.last == "only the owner of the cube may redouble (R14)"


def test_equal_opening_dice_double_the_stake_by_themselves():
    one = GameRules(automatic_doubles="one")
    table, terminal = sit("33", "44", "31", played=typed(one))
    assert "Equal dice, 3-3: the stake is doubled to 2." in terminal.said
    assert "Equal dice, 4-4: roll again." in terminal.said
    assert "cube: 2, centred" in terminal.last
    assert table.session.match.dice == (3, 1)


# ---- hints about the cube


def test_a_hint_before_the_roll_shows_dead_cube_estimates():
    # 0.03 + 0.18 + 0.30 - 0.40 - 0.30 - 0.15 = -0.34
    _, terminal = sit(*TURN, "hint", played=typed(MONEY), player=Ranker())
    assert terminal.last.splitlines() == [
        "Dead-cube estimates (as if this were the last turn of the cube), in points:",
        "   no double     -0.340",
        "   double, take  -0.680",
        "   double, pass  +1.000",
        "ranker would roll",
    ]


def test_a_hint_on_a_double_is_seen_by_the_person():
    doubler = Ranker(doubles=True)
    _, terminal = sit(*BOT_TURN, "hint", played=typed(MONEY), player=doubler)
    assert terminal.last.splitlines()[1:] == [
        "   take          +0.680",
        "   pass          -1.000",
        "ranker would take",
    ]
    _, terminal = sit(*BOT_TURN, "why", played=typed(MONEY), player=doubler)
    assert terminal.last.startswith("ranker chose to double\nDead-cube estimates")
    _, terminal = sit(*BOT_TURN, "hint", played=typed(GameRules(), 1), player=doubler)
    assert terminal.last.splitlines()[0].endswith("in match winning chances:")
    assert terminal.last.splitlines()[1:3] == ["   take          60.0%", "   pass          0.0%"]


def test_a_hint_of_a_network_shows_its_cube_decision_and_its_plays_at_the_stakes():
    race = (0, 0, 0, 0, 0, 1, 1, *[0] * 12, -1, -1, *[0] * 5)  # exact: 0.6169, 1.0573
    at_two = Match(rules=MONEY, phase=Phase.ROLL, board=race, cube_value=2, cube_owner=0)
    shown = hint(bot("default"), at_two)
    assert shown[0] == "Cubeful estimates, in points:"
    assert shown[1:4] == [
        "   no double     +1.255",
        "   double, take  +2.115",
        "   double, pass  +2.000",
    ]
    assert shown[4].startswith("verdict: redouble, pass (")
    assert shown[5] == "default would double"
    rolled = replace(at_two, phase=Phase.PLAY, dice=(2, 1))
    assert hint(bot("default"), rolled)[1].startswith("1. ")


def test_a_hint_where_there_is_no_cube_decision():
    ended = Match(rules=MONEY, phase=Phase.GAME_OVER)
    assert hint(First(), ended) == ["There is nothing to decide that the bot has a view on."]
    _, terminal = sit(*TURN, "hint", played=typed(), player=Ranker())
    assert terminal.last == "There is no cube decision: this game is played without a cube (R15)."
    _, terminal = sit(*TURN, "hint", played=typed(MONEY))
    assert terminal.last == "first would roll; it gives positions no equities"


# ---- resignations


def test_a_resignation_is_refused_and_a_larger_one_accepted():
    table, terminal = sit("31", "resign", "resign gammon", "resign single game", "resign 2", "resign 3")
    said = [words for words in terminal.said if "BAR" not in words][1:]
    assert said == [
        "resign 1 (a single game), 2 (a gammon) or 3 (a backgammon)",
        "You resign a gammon; first rejects it: there is more to win.",
        "a resignation of a gammon was rejected in this turn",
        "a resignation of a gammon was rejected in this turn",
        "You resign a backgammon; first accepts.",
        "first wins a backgammon: 3 points.",
    ]
    assert table.session.match.result.winner == 1


@pytest.mark.parametrize("size", ["0", "4", "all", "-1"])
def test_a_resignation_of_another_size_is_refused(size):
    table, terminal = sit("31", f"resign {size}")
    assert "a resignation is of size 1, 2 or 3" in terminal.last
    assert table.session.match.phase == Phase.PLAY


def test_a_resignation_by_the_board_has_no_size():
    by_board = replace(rules("001"), next_start="dice")
    _, terminal = sit("31", "resign 2", "resign", played=typed(by_board))
    assert "the board says the size of a resignation (R24); none may be named" in terminal.said
    assert "first wins a backgammon: 3 points." in terminal.said


# ---- options of play


def test_the_caucasian_rule_refuses_with_its_name():
    # 6/5* hits at home; from there 5/2 would end on the own checker of 2
    caucasian = replace(CUBELESS, caucasian=True, start=start("6:1 2:1 / 23:1 5:1"))
    board = typed(caucasian, is_one_game=True)
    table, terminal = sit("31", "6/5*/2", played=board)
    assert terminal.last.endswith(
        "a checker that hit at home may not go on to an own checker in that turn (R26)"
    )
    assert table.session.match.phase == Phase.PLAY
    table, _ = sit("31", "6/3 2/1", played=board)
    assert table.session.actions[-1] == "play 6/3 2/1"
    standard = replace(caucasian, caucasian=False)
    table, _ = sit("31", "6/5*/2", played=typed(standard, is_one_game=True))
    assert table.session.actions[-1] == "play 6/5*/2"


def test_hypergammon_starts_with_three_checkers_a_side():
    table, terminal = sit("31", "24/21 22/21", played=typed(rules("hypergammon")))
    board = next(words for words in terminal.said if "BAR" in words)
    assert board.count("●") == 3 + 2  # two more stand before the names
    assert board.count("○") == 3 + 1
    assert "69 pips, 0 off" in board  # 24 + 23 + 22
    assert table.session.actions[-1] == "play 24/21 22/21"


def test_a_last_roll_makes_a_draw():
    last = replace(CUBELESS, last_roll_draw=True, start=start("1:2 / 24:2"))
    table, terminal = sit("21", "32", "", played=typed(last))
    assert table.session.match.game_number == 2
    assert "You roll 2-1: 1/off(2) is your only play" in terminal.said
    assert "first rolls 3-2: 1/off(2)" in terminal.said
    assert "All checkers are off." in terminal.said
    assert "The game is a draw: both sides have borne off all checkers." in terminal.said
    assert "Balance: you are even." in terminal.said


def test_on_the_last_roll_the_bot_bears_off_what_it_can():
    last = replace(CUBELESS, last_roll_draw=True)
    match = Match(
        rules=last,
        phase=Phase.ROLL,
        board=start("6:1 5:1 3:1 / -"),
        on_roll=1,
        starter=0,
        is_last_roll=True,
    ).roll(6, 3)
    assert choice(First(), match).notation == "6/off 3/off"
    first = First().choose(match.boards, [match.dice])[0]
    assert text(-first[::-1]) != "5:1 / -"  # what it likes leaves more


# ---- saving, at the command


def run(monkeypatch, capsys, lines, *options, player=None):
    """Status, stdout and stderr of `tdgammon play`, with lines at its standard input."""
    answers = iter(lines)

    def answer(prompt=""):
        print(prompt, end="")
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    if player:
        monkeypatch.setattr("tdgammon.decide.bots.bot", lambda name, rules: player)
    status = cli.main(["play", *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_end_of_input_in_the_middle_of_a_double_saves_and_goes_on(monkeypatch, capsys, tmp_path):
    path = tmp_path / "match.json"
    options = ["--length", "5", "--type-dice", "--save", str(path)]
    player = First(doubles=True)
    status, out, err = run(monkeypatch, capsys, BOT_TURN, *options, player=player)
    assert (status, err) == (0, "")
    assert out.endswith(f"Saved. To go on: tdgammon play --resume {path}\n")
    assert load_session(path).match.phase == Phase.DOUBLE
    resume = ["--resume", str(path)]
    status, out, err = run(monkeypatch, capsys, ["take", "43"], *resume, player=player)
    assert (status, err) == (0, "")
    assert "a match to 5, with the cube" in out
    assert out.index("Take or pass? ") < out.index("Dice of first: ")
    after = load_session(path).match
    assert (after.cube_value, after.cube_owner, after.length) == (2, PERSON, 5)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ([], "one game, without a cube"),
        (["--no-cube"], "one game, without a cube"),
        (["--cube"], "for money, with the cube"),
        (["--rules", "standard-money"], "for money, with the cube"),
        (["--rules", "standard-money", "--no-cube"], "for money, without a cube"),
        (["--rules", "003"], "for money, without a cube"),
        (["--rules", "hypergammon", "--option", "cube_limit=8"], "for money, with the cube"),
        (["--length", "7"], "a match to 7, with the cube"),
        (["--length", "7", "--no-cube", "--rules", "caucasian"], "a match to 7, without a cube"),
    ],
)
def test_what_is_played_follows_from_the_options(monkeypatch, capsys, options, kind):
    status, out, _ = run(monkeypatch, capsys, [], "--against", "random", "--type-dice", *options)
    assert status == 0
    assert f"You (●) play random (○): {kind}, typed dice; " in out


@pytest.mark.parametrize("player", ["random", "racer", "golden", "pubeval"])
@pytest.mark.parametrize("name", ["standard-money", "caucasian", "hypergammon", "001", "004"])
def test_bots_play_money_games_to_their_end(monkeypatch, capsys, tmp_path, player, name):
    """The person resigns a backgammon of every game at once, after one turn of the bot."""
    monkeypatch.chdir(tmp_path)
    resign = "resign" if name == "001" else "resign 3"
    lines = ["roll", "take", resign, ""] * 12
    options = ["--against", player, "--rules", name, "--seed", "5"]
    status, out, err = run(monkeypatch, capsys, lines, *options)
    assert (status, err) == (0, "")
    assert "Game 3." in out
    assert load_session(tmp_path / "tdgammon-game.json").match.game_number >= 3
