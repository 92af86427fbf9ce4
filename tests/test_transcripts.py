"""Dialects of match transcripts, each in a few lines of our own, and what is wrong in them."""

import pytest

from tdgammon.game.board import parse, text
from tdgammon.notation.columns import write_mat
from tdgammon.notation.detect import read_text
from tdgammon.notation.ids import Position, flipped
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import MAX_WARNINGS
from tdgammon.notation.record import CubeAction, Resignation, SetPosition, Turn, outcome, replayed
from tdgammon.notation.snowie import write_snowie

HEAD = " {length} point match\n\n Game 1\n Ann : 0                         Bob : 0\n"
ROW = "  1) 31: 8/5 6/5                 52: 13/11 13/8\n"


def read(body: str, length: int = 5):
    return read_text(HEAD.format(length=length) + body)


def game(body: str, length: int = 5):
    """The one game of a file in which nothing is wrong."""
    reading = read(body, length)
    assert reading.warnings == ()
    (found,) = reading.record.games
    return found


def words(body: str, length: int = 5) -> list[str]:
    """Events in short, of a file in which nothing is wrong."""
    return [short(event) for event in game(body, length).events]


def short(event) -> str:
    side = "AB"[event.player]
    if isinstance(event, Turn):
        moves = "?" if event.steps is None else " ".join(f"{a}/{b}" for a, b in event.steps)
        return f"{side}{event.dice[0]}{event.dice[1]} {moves}".strip() + "!" * (not event.is_legal)
    if isinstance(event, CubeAction):
        return f"{side} {event.action}"
    if isinstance(event, Resignation):
        return f"{side} resign {event.size}"
    return f"set {text(event.board)}"


OPENED = ["A31 8/5 6/5", "B52 13/11 13/8"]


@pytest.mark.parametrize(
    "row",
    [
        "  1) 31: 8/5 6/5                 52: 13/11 13/8\n",
        "  1) 13: 6/5 8/5                 25: 13/8 13/11\r\n",
        "1)31: 8/5 6/5  52: 13/11 13/8\n",
        "  1) 31: 8-5 6-5                 52: 13/11, 13/8\n",
        "  1) 31: 8/5,6/5                 52 : 13/8 13/11\n",
        "\t1) 31: 8/5 6/5\t\t\t52: 13/11 13/8\n",
    ],
)
def test_the_same_row_written_in_many_ways(row) -> None:
    assert words(row) == OPENED


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("  1) 11: 24/20\n", "A11 24/23 23/22 22/21 21/20"),
        ("  1) 11: 8/7(2) 6/5(2)\n", "A11 8/7 8/7 6/5 6/5"),
        ("  1) 61: 13/7 8/7\n", "A61 13/7 8/7"),
        ("  1) 65: 24/13\n", "A65 24/18 18/13"),
    ],
)
def test_hops_and_counts(row, wanted) -> None:
    assert words(row) == [wanted]


BAR = "  1) 31: 8/5 6/5                 44: 24/20*/16 13/9 13/9\n"


@pytest.mark.parametrize("bar", ["bar", "Bar", "BAR", "25"])
def test_entering_from_the_bar(bar) -> None:
    row = f"  1) 43: 24/20 13/10              44: 24/20* 13/9(2) 6/2\n  2) 51: {bar}/20 13/12\n"
    reading = read(row)
    (found,) = reading.record.games
    assert short(found.events[-1])[:3] == "A51"


def test_a_dance_is_written_in_many_ways_and_is_not_an_unplayed_roll() -> None:
    closed = "; Set Pos=a-BBBBBB---------AAA---d--/0\n"
    for cell in ("66:", "66: ", "66: Cannot Move", "66: can't move"):
        body = f"{closed}  1)                             {cell}\n"
        (found,) = read(body).record.games
        assert found.events[-1] == Turn(1, (6, 6), ()), cell


def test_a_roll_without_a_play_before_the_end_was_not_played() -> None:
    for cell in ("66:", "66: ???", "66: ????"):
        found = game(f"{ROW}  2) {cell}                            Wins 1 point\n")
        assert found.events[2:] == (Turn(0, (6, 6), None), Resignation(0, 1))


CUBES = [
    ("  2)  Doubles => 2                Takes\n", ["A double", "B take"]),
    ("  2)  Doubles ==> 2               Takes\n", ["A double", "B take"]),
    ("  2)  Double => 2                 Accepts\n", ["A double", "B take"]),
    ("  2)  Redoubles => 2              Drops\n      Wins 1 point\n", ["A double", "B pass"]),
    ("  2)  Doubles => 2                Passes\n   Wins 1 point\n", ["A double", "B pass"]),
    ("  2)  Doubles => 2\n      \n      Wins 1 point\n", None),
]


@pytest.mark.parametrize(("rows", "wanted"), CUBES)
def test_words_about_the_cube(rows, wanted) -> None:
    if wanted is None:
        assert "without an answer" in read(ROW + rows).warnings[0].message
    else:
        assert words(ROW + rows)[2:] == wanted


def test_a_beaver_is_taken_without_a_word() -> None:
    body = (
        ROW + "  2)  Doubles => 2                Beavers => 4\n"
        "  3) 61: 13/7 8/7                51: 13/8 6/5\n"
        "      Wins 8 points\n"
    )
    found = game(body, 0)
    assert [short(event) for event in found.events][2:6] == [
        "A double",
        "B beaver",
        "A take",
        "A61 13/7 8/7",
    ]
    assert found.events[-1] == Resignation(1, 2)
    assert outcome(found, 0).cube_value == 4


def test_a_passed_beaver_costs_the_doubled_stake() -> None:
    body = (
        ROW
        + "  2)  Doubles => 2                Beavers => 4\n"
        + "  3)  Drops                       Wins 2 points\n"
    )
    found = game(body, 0)
    assert (found.winner, found.points) == (1, 2)
    assert outcome(found, 0).points_by_rule == 2


ENDINGS = [
    ("      Wins 2 points\n", 0, 2, 2),
    ("      Wins 2 point\n", 0, 2, 2),
    ("                                  Wins 3 points\n", 1, 3, 3),
    ("  2)  Losses 1 point              Wins 1 point and the match\n", 1, 1, 1),
    ("      Wins 1 point and the      Match\n", 0, 1, 1),
    ("  2) Resign gammon               Wins 2 points\n", 1, 2, 2),
    ("  2) Resigned Game               Wins 2 points\n", 1, 2, 2),
]


@pytest.mark.parametrize(("rows", "winner", "points", "size"), ENDINGS)
def test_results(rows, winner, points, size) -> None:
    found = game(ROW + rows)
    assert (found.winner, found.points) == (winner, points)
    assert found.events[-1] == Resignation(1 - winner, size)


def test_capped_points_are_kept_and_do_not_tell_the_size() -> None:
    body = "  1) 31: 8/5 6/5                  Doubles => 2\n"
    body += "  2)  Takes                      52: 13/11 13/8\n"
    found = game(body + "      Wins 1 points\n", 1)
    assert (found.points, found.events[-1]) == (1, Resignation(1, None))


def test_impossible_points_are_kept_and_reported() -> None:
    reading = read(ROW + "      Wins 5 points\n", 0)
    assert reading.record.games[0].points == 5
    assert "5 points cannot be won with the cube at 1" in reading.warnings[0].message


def test_a_text_above_the_match_and_tags_are_kept() -> None:
    source = '+----+\n; [Event "A [1] \\" Open"]\n# a remark\n' + HEAD.format(length=3) + ROW
    reading = read_text(source)
    assert reading.record.tags == (("", "+----+"), ("Event", 'A [1] \\" Open'), ("", "a remark"))
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("line", "names", "tags"),
    [
        ("Ann : 0      Bob : 0", ("Ann", "Bob"), ()),
        ("Ann: 0       Bob: 0", ("Ann", "Bob"), ()),
        ("Ann Lee : 0          Bob the 2nd : 0", ("Ann Lee", "Bob the 2nd"), ()),
        (
            "Ann,1802 : 0     Bob (1500.25) : 0",
            ("Ann", "Bob"),
            (("Rating left", "1802"), ("Rating right", "1500.25")),
        ),
        ("A:1 : 0   B : 0", ("A:1", "B"), ()),
    ],
)
def test_names(line, names, tags) -> None:
    record = read_text(f" 5 point match\n\n Game 1\n {line}\n{ROW}").record
    assert (record.players, record.tags) == (names, tags)


def test_games_may_start_at_any_score_and_stay_unfinished() -> None:
    source = f" 5 point match\n\n Game 4\n Ann : 4                  Bob : 2\n{ROW}"
    (found,) = read_text(source).record.games
    assert (found.number, found.start_score, found.is_crawford) == (4, (4, 2), True)
    assert (found.winner, found.points, outcome(found, 5).end) == (None, None, "unfinished")


def test_a_game_that_starts_one_away_and_has_a_double_is_past_the_crawford_game() -> None:
    source = (
        f" 5 point match\n\n Game 4\n Ann : 4                  Bob : 2\n{ROW}"
        "  2) 61: 13/7 8/7                 Doubles => 2\n  3)  Takes                      11: 8/7 8/7\n"
    )
    assert not read_text(source).record.games[0].is_crawford


def test_scores_that_do_not_follow_are_reported() -> None:
    source = (
        HEAD.format(length=5) + ROW + "      Wins 1 point\n\n Game 2\n Ann : 0        Bob : 1\n" + ROW
    )
    reading = read_text(source)
    assert [game.start_score for game in reading.record.games] == [(0, 0), (0, 1)]
    (warning,) = reading.warnings
    assert "starts at 0-1, but the games before it give 1-0" in warning.message


def test_a_result_that_is_missing_comes_from_the_next_score() -> None:
    source = HEAD.format(length=5) + ROW + " Game 2\n Ann : 0        Bob : 2\n" + ROW
    reading = read_text(source)
    assert (reading.record.games[0].winner, reading.record.games[0].points) == (1, 2)
    assert "taken from the next score" in reading.warnings[0].message


# R27 and other trouble


@pytest.mark.parametrize(
    ("play", "kept", "reason"),
    [
        ("31: 8/4 6/5", "A31 8/4 6/5!", "each die once only"),
        ("31: 8/5", "A31 8/5!", "both dice must be played"),
        ("31: 24/20 6/5", "A31 24/20 6/5!", "illegal, kept as played"),
        ("31: 24/14*", "A31 24/14!", "illegal, kept as played"),
        ("31: Cannot Move", "A31!", "there is a legal play"),
    ],
)
def test_an_illegal_play_stands_and_is_reported(play, kept, reason) -> None:
    reading = read(f"  1) {play}                 52: 13/11 13/8\n")
    events = reading.record.games[0].events
    assert [short(event) for event in events] == [kept, "B52 13/11 13/8"]
    (warning,) = reading.warnings
    assert warning.line == 5
    assert reason in warning.message
    assert play[4:] in warning.text
    again = read_text(write_mat(reading.record))
    assert again.record == reading.record


@pytest.mark.parametrize(
    "play",
    [
        "31: 7/4 6/5",
        "31: 24/12 6/5",
        "31: eight/five",
        "31: 8/5/6",
        "31: 30/27",
        "31: 8/5(7)",
        "31: //",
    ],
)
def test_a_play_that_cannot_be_made_is_left_out_and_reported(play) -> None:
    reading = read(f"  1) {play}                 52: 13/11 13/8\n")
    events = reading.record.games[0].events
    assert [short(event) for event in events] == ["A31 ?", "B52 13/11 13/8"]
    assert play[4:] in " ".join(warning.text for warning in reading.warnings)


@pytest.mark.parametrize("remark", ["?!", " !!", " (great move!)", " *** blunder"])
def test_a_remark_after_a_play_is_passed_over_and_reported(remark) -> None:
    reading = read(f"  1) 31: 8/5 6/5{remark}             52: 13/11 13/8\n")
    assert [short(event) for event in reading.record.games[0].events] == OPENED
    (warning,) = reading.warnings
    assert "passed over after the play" in warning.message


def test_a_play_that_fits_two_results_names_both() -> None:
    # 8/2 with 5-1: over the 7-point or the 3-point, each of which holds a blot
    start = "; Set Pos=" + letters("8 6:5 13:5 24:4 / 7 3 19:5 17:3 12:2 1:3") + "/0\n"
    reading = read(f"{start}  1) 51: 8/2                     Wins 1 point\n")
    (warning,) = reading.warnings
    assert "may mean" in warning.message
    assert {"8/7*/2", "8/3*/2"} <= set(warning.message.split())
    assert Turn(0, (5, 1), None) in reading.record.games[0].events


def letters(board: str) -> str:
    return "".join("-" if not c else chr((64 if c > 0 else 96) + abs(c)) for c in parse(board).tolist())


def test_a_set_position_is_seen_by_the_left_player() -> None:
    board = parse("13:5 8:3 6:5 24:2 / 20:2 17:3 12:5 19:5")
    reading = read(f"; Set Pos={letters(text(board))}/0\n" + ROW)
    assert reading.record.games[0].events[0] == SetPosition(tuple(board.tolist()))
    assert "bar" not in text(board)


def test_an_illegal_play_with_the_board_after_it_goes_on_from_there() -> None:
    after = Position(board=tuple(parse("24:2 13:5 8:2 7 6:5 / 19:5 17:3 12:5 1:2").tolist()), on_roll=0)
    dump = write_snowie(after, ("Ann", "Bob"))
    reading = read(f"  1) 31: Illegal play ({dump})   52: 13/11 13/8\n")
    roll, stands, answer = reading.record.games[0].events
    assert (roll, stands) == (Turn(0, (3, 1), None), SetPosition(after.board))
    assert short(answer) == "B52 13/11 13/8"
    assert "an illegal play stood" in reading.warnings[0].message
    moments = list(replayed(reading.record.games[0]))
    assert moments[-1].board == flipped(after.board)


TROUBLES = [
    ("  2)  Takes\n", "a take without a double", " takes"),
    ("  2)  Drops\n", "a pass without a double", " drops"),
    ("  2)  Doubles => 4                Takes\n", "the cube goes to 2, not to 4", "doubles"),
    ("  2)  Doubles => 2\n  3) 31: 24/23 24/21\n", "waits for an answer", "31"),
    ("  2)                             31: 24/23 24/21\n", "the same player rolls twice", "31"),
    ("  2) 77: 8/1\n", "no row of game 1", "77"),
    ("  what is this\n", "no row of game 1", "what is this"),
    ("  2) 61: 13/7 8/7  51: 13/8 6/5  31: 8/5 6/5\n", "more than two cells", "61"),
    ("      Wins 1 point\n      Wins 2 points\n", "two results", "wins 2"),
    ("  2) xyz 61: 13/7 8/7\n", "skipped in a row", "xyz"),
    ('; [CubeLimit "7"]\n', "not a cube limit", "7"),
]


@pytest.mark.parametrize(("rows", "message", "quoted"), TROUBLES)
def test_what_cannot_be_is_reported_with_its_line(rows, message, quoted) -> None:
    reading = read(ROW + rows)
    found = [warning for warning in reading.warnings if message in warning.message]
    assert found, reading.warnings
    assert found[0].line >= 6
    assert quoted.strip() in found[0].text
    assert [short(event) for event in reading.record.games[0].events][:2] == OPENED


def test_a_double_in_the_crawford_game_is_reported() -> None:
    source = HEAD.format(length=2) + ROW + "      Wins 1 point\n\n Game 2\n Ann : 1       Bob : 0\n"
    source += ROW + "  2)  Doubles => 2                Drops\n      Wins 1 point\n"
    assert any("Crawford game" in warning.message for warning in read_text(source).warnings)


def test_a_long_line_is_skipped_and_the_rest_is_read() -> None:
    reading = read(ROW + "  2) 61: " + "13/7 " * 2000 + "\n" + "      Wins 1 point\n")
    assert "longer than" in reading.warnings[0].message
    assert reading.record.games[0].winner == 0


def test_a_file_of_illegal_plays_is_given_up_and_says_so() -> None:
    reading = read("  1) 31: 8/5 6/5                 52: 13/11 13/8\n" * 3000 + "      Wins 1 point\n")
    (found,) = reading.record.games
    assert 2000 < len(found.events) < 2200
    assert found.points == 1
    assert reading.warnings[-1].message.endswith("more warnings are left out")


def test_a_double_on_offer_in_an_xgid_is_read_with_a_warning() -> None:
    reading = read_text("XGID=-a-a-BDAC---dC---c-d------:1:1:1:D:6:4:0:11:10\n")
    ((_, position),) = reading.positions
    assert (position.offer, position.on_roll, position.decider) == ("double", 1, 0)
    assert "the doubler's" in reading.warnings[0].message


def test_warnings_without_end_are_counted() -> None:
    reading = read(ROW + "nonsense\n" * 3000)
    assert len(reading.warnings) == MAX_WARNINGS + 1
    assert reading.warnings[-1].message == "2000 more warnings are left out"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("7 point match\n", "has no line 'Game 1'"),
        ("99999 point match\nGame 1\n", "match length"),
        ("nothing to see", "none of the formats"),
        ('{"format": "other"}', "not a match document"),
        ("{", "not JSON"),
        ("(;FF[4]GM[1])", "GM[6]"),
        ("XGID=-b----E-C\n", "XGID"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_an_error(source, message) -> None:
    with pytest.raises(NotationError) as caught:
        read_text(source)
    assert message in str(caught.value)


# SGF

TREE = "(;FF[4]GM[6]MI[length:3][game:0][ws:0][bs:0]PW[A\\]nn]PB[Bo\\\\b]RE[W+1R]RU[Crawford]"


def test_sgf_escapes_comments_variations_and_unknown_properties() -> None:
    source = (
        TREE + ";W[31ahfe]C[good \\] move]\n;B[52lqlq]QQ[x\\]y]A[0][lqlq E ver 3 0.5]"
        "(;W[61mghg])(;W[61xrrq]))"
    )
    reading = read_text(source.replace("ahfe", "hefe").replace("lqlq", "lnlq"))
    assert reading.record.players == ("A]nn", "Bo\\b")
    assert reading.warnings == ()
    (found,) = reading.record.games
    assert found.events[0] == Turn(0, (3, 1), ((8, 5), (6, 5)), comment="good ] move")
    assert [short(event) for event in found.events[1:]] == [
        "B52 13/11 13/8",
        "A61 13/7 8/7",
        "B resign 1",
    ]


def test_sgf_set_up_nodes() -> None:
    source = TREE + ";AE[a:y]AW[f][f][h]AB[s][s][y]CV[2]CP[w]PL[B];B[31yvss])"
    (found,) = read_text(source).record.games
    assert found.events[0] == SetPosition(tuple(parse("8 6:2 / bar:1 19:2").tolist()), 2, 0)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (";W[99ab])", "cannot be read"),
        (";W[31hefe]", "not closed"),
        (";W[31hefe]C[no end", "without its ]"),
        (";W[31hefe]$$)", "no SGF"),
        (";W[take])", "a take without a double"),
        (";AE[a:y])", "without checkers"),
        (";W[31aaaa])", "left out"),
    ],
)
def test_trouble_in_sgf_is_reported(tail, message) -> None:
    found = read_text(TREE + tail).warnings
    assert any(message in warning.message for warning in found), found


# XG position text in other languages: the words are ours, the layout is XG's

XG = """XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10

X:{x}   O:{o}
{score}
    1. {level}       8/5 6/5                      {eq}:{plus}
      {player}:   {a}% (G:{b}% B:{c}%)
      {opponent}: {d}% (G:{e}% B:{f}%)

    2. {level}       24/23 13/10                  {eq}:{minus} ({loss})
      {player}:   50{p}00% (G:14{p}00% B:0{p}60%)
      {opponent}: 50{p}00% (G:13{p}00% B:0{p}50%)
"""
LANGUAGES = {
    "English": ("4-ply", "eq", "Player", "Opponent", "."),
    "German": ("4-Züge", "Eq", "Spieler", "Gegner", ","),
    "French": ("4-coups", "éq", "Joueur", "Adversaire", ","),
    "Japanese": ("4手", "eq", "プレイヤー", "相手", "."),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_analysis_of_a_position_is_read_in_any_language(language) -> None:
    level, eq, player, opponent, point = LANGUAGES[language]
    numbers = {"plus": "+0.160", "minus": "-0.010", "loss": "-0.170", "a": "55.10", "b": "17.20"}
    numbers |= {"c": "1.00", "d": "44.90", "e": "12.10", "f": "0.60"}
    numbers = {name: value.replace(".", point) for name, value in numbers.items()}
    source = XG.format(
        x="Ann",
        o="Bob",
        score="",
        level=level,
        eq=eq,
        player=player,
        opponent=opponent,
        p=point,
        **numbers,
    )
    reading = read_text(source)
    assert reading.warnings == ()
    (found,) = reading.analyses
    assert [(play.notation, play.equity) for play in found.plays] == [
        ("8/5 6/5", 0.16),
        ("24/23 13/10", -0.01),
    ]
    assert found.plays[0].chances == (55.1, 17.2, 1.0, 44.9, 12.1, 0.6)
    assert found.plays[0].level == level


def test_a_list_of_positions_in_every_form() -> None:
    source = (
        "# a comment\n"
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\n"
        "4HPwATDgc/ABMA:cAngAEAAGAAE\n"
        "4HPwATDgc/ABMA\n"
        "start ; 31\n"
        "24:2 13:5 8:3 6:5 / 19:5 17:3 12:5 1:2\n"
        "start ; 71\n"
        "rubbish\n"
    )
    reading = read_text(source)
    assert [line for line, _ in reading.positions] == [2, 3, 4, 5, 6]
    assert len({position.board for _, position in reading.positions}) == 1
    assert [warning.line for warning in reading.warnings] == [7, 8]
