"""Plays as people write them: one text for each afterstate, and a lenient, exact reader."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, flip, parse, text
from tdgammon.game.moves import afterstates
from tdgammon.notation.plays import IllegalPlay, NotationError, plays, read_play, write_play

WIDE = "24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 / 9 8 7 6 5 4 3 2 1"


def some_positions(seed, num_each):
    rng = random.Random(seed)
    yield from from_random_play(rng, 2 * num_each)
    for kind in KINDS:
        yield from awkward(rng, kind, num_each)


def after(words, roll, written):
    """The board, in the player's own view, that a written play leaves."""
    return text(flip(read_play(written, parse(words), roll).afterstate))


@pytest.mark.parametrize(
    ("words", "steps", "written"),
    [
        ("start", [(6, 5), (8, 5)], "8/5 6/5"),
        ("start", [(24, 18), (18, 13)], "24/13"),
        ("start", [(6, 3), (8, 5), (6, 3), (8, 5)], "8/5(2) 6/3(2)"),
        ("start", [(6, 5), (8, 7), (6, 5), (8, 7)], "8/7(2) 6/5(2)"),
        ("24 6:2 / 1:2", [(24, 22), (6, 5)], "24/22 6/5"),
        ("24 6:3 / 1:2", [(6, 5), (24, 23), (6, 5), (6, 5)], "24/23 6/5(3)"),
        ("bar:2 / 1:2", [(25, 23), (25, 24)], "bar/24 bar/23"),
        ("6 4 / 24:2", [(4, 3), (6, 0)], "6/off 4/3"),
        ("6:2 / 24:2", [(6, 0), (6, 5)], "6/5 6/off"),
        ("13 6 / 5 24:2", [(6, 5), (13, 8)], "13/8 6/5*"),
        ("13 / 7 3", [(13, 7), (7, 3)], "13/7*/3*"),
        ("8 / 7 24:2", [(8, 7), (7, 2)], "8/7*/2"),
        ("4 / 1 24:2", [(4, 3), (3, 2), (2, 1), (1, 0)], "4/1*/off"),
        ("8:2 / 7", [(8, 7), (8, 7), (7, 6)], "8/7*/6 8/7"),
        ("8:2 / 7", [(8, 7), (8, 7), (7, 6), (7, 6)], "8/7*/6(2)"),
        ("8:2 6 / 5", [(8, 5), (6, 5)], "8/5* 6/5"),
        ("8:2 / 5", [(8, 5), (8, 5)], "8/5*(2)"),
        ("8 7 / 1:2", [(8, 7), (7, 6), (7, 6), (6, 5)], "8/5 7/6"),
        ("8 / 3:2 2:2", [], "cannot move"),
    ],
)
def test_the_written_form(words, steps, written):
    assert write_play(parse(words), steps) == written
    assert write_play(parse(words), steps[::-1]) == written


def test_plays_of_the_opening_three_one():
    made = plays(START, (3, 1))
    assert len(made) == 16
    assert "8/5 6/5" in [play.notation for play in made]
    play = made[[play.notation for play in made].index("8/5 6/5")]
    assert play.steps == ((8, 5), (6, 5))
    assert play.afterstate.dtype == np.int8
    assert text(flip(play.afterstate)) == "24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2"
    assert play == read_play("6-5 8-5", START, (1, 3))


def test_plays_stand_in_the_order_of_the_afterstates():
    made = plays(START, (6, 6))
    rows, _ = afterstates(START, (6, 6))
    assert [play.afterstate.tolist() for play in made] == rows.tolist()


def test_a_roll_without_a_legal_play_is_one_play_that_cannot_move():
    board = parse("bar 6:14 / 24:2 23:2 22:2 21:2 20:2 19:2")
    (only,) = plays(board, (6, 5))
    assert (only.notation, only.steps) == ("cannot move", ())
    assert (only.afterstate == flip(board)).all()
    for written in ("", "  ", "cannot move", "Cannot Move", "can't move", "can’t move", "no move", "-"):
        assert read_play(written, board, (6, 5)) == only


def test_bad_boards_rolls_and_steps_are_refused():
    with pytest.raises(ValueError, match="more than 15 checkers"):
        plays(START * 2, (3, 1))
    with pytest.raises(ValueError, match="one board of 26 numbers expected, got 2"):
        plays([START, START], (3, 1))
    with pytest.raises(ValueError, match="dice must be 1 to 6"):
        read_play("8/5 6/5", START, (3, 0))
    for step in ((5, 6), (26, 20), (3, -1), (0, 0)):
        with pytest.raises(ValueError, match="steps: a move goes from"):
            write_play(START, [step])


@pytest.mark.parametrize(
    "written",
    [
        "8/5 6/5",
        "6/5 8/5",
        "8/5,6/5",
        "8/5, 6/5",
        "8-5 6-5",
        "8 / 5   6 / 5",
        "8/5* 6/5*",
        "  6/5*\t8/5 ",
    ],
)
def test_the_reader_takes_any_order_and_separator(written):
    assert read_play(written, START, (3, 1)).notation == "8/5 6/5"


@pytest.mark.parametrize(
    ("words", "roll", "written", "meant"),
    [
        ("bar 13 / 20 1:2", (5, 1), "BAR/20* 13/12", "bar/20* 13/12"),
        ("bar 13 / 20 1:2", (5, 1), "13-12 25-20", "bar/20* 13/12"),
        ("bar 13 / 20 1:2", (5, 1), "Bar/19", "bar/24/19"),
        ("6:2 5 / 24:2", (6, 5), "6/OFF 5/Off", "6/off 5/off"),
        ("6:2 5 / 24:2", (6, 5), "6/0 5/0", "6/off 5/off"),
        ("start", (6, 6), "24/18 24/18 13/7 13/7", "24/18(2) 13/7(2)"),
        ("start", (6, 6), "13/7 (2) 24/18 ( 2 )", "24/18(2) 13/7(2)"),
        ("start", (4, 4), "24/20/16(2)", "24/16(2)"),
        ("start", (4, 4), "24/20(2) 20/16(2)", "24/16(2)"),
        ("start", (4, 4), "24/16 24/20/16", "24/16(2)"),
        ("start", (2, 1), "13/11/10", "13/10"),
        ("start", (2, 1), "8/7/5", "8/5"),
        ("start", (2, 1), "8/7 7/5", "8/5"),
        ("start", (2, 1), "7/5 8/7", "8/5"),
        ("5 / 24:2", (6, 1), "5/off", "5/off"),
        ("5 / 24:2", (6, 1), "5/4/off", "5/off"),
        ("4:2 3 / 24:2", (6, 1), "4/3 4/off", "4/3 4/off"),
        ("6:2 / 4 2", (2, 2), "6/4*(2) 4/2*(2)", "6/4*/2*(2)"),
    ],
)
def test_the_reader_takes_any_usual_form(words, roll, written, meant):
    board = parse(words)
    meant_board = after(words, roll, meant)
    assert after(words, roll, written) == meant_board
    assert meant_board in {text(flip(row)) for row in afterstates(board, roll)[0]}


def test_a_hop_left_out_goes_the_way_that_hits_nothing():
    assert after("24 / 18 3:2", (6, 3), "24/15") == "15:1 / 18:1 3:2"
    assert after("24 / 21 3:2", (6, 3), "24/15*") == "15:1 / 21:1 3:2"


def test_a_hop_that_is_named_is_landed_on():
    for written in ("24/18*/15", "24/18/15", "24/18 18/15", "24/18* 18/15"):
        assert after("24 / 18 3:2", (6, 3), written) == "15:1 / bar:1 3:2"
    assert after("24 / 18 3:2", (6, 3), "24/21/15") == "15:1 / 18:1 3:2"


def test_a_hop_left_out_may_hit_if_there_is_no_other_way():
    assert read_play("24/15", parse("24 / 18 21:2"), (6, 3)).notation == "24/18*/15"


def test_a_text_that_fits_two_plays_alike_is_refused_and_both_are_named():
    with pytest.raises(NotationError, match=r"may mean 24/18\*/15 or 24/21\*/15") as caught:
        read_play("24/15", parse("24 / 18 21"), (6, 3))
    assert not isinstance(caught.value, IllegalPlay)
    assert after("24 / 18 21", (6, 3), "24/21/15") == "15:1 / bar:1 18:1"


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("8/x", r"'8/x' is not FROM/TO"),
        ("8", "'8' is not FROM/TO"),
        ("8/5 6", "'6' is not FROM/TO"),
        ("8*/5", r"'8\*/5' is not FROM/TO"),
        ("8//5", "is not FROM/TO"),
        ("8/5(2)(2)", "is not FROM/TO"),
        ("hello", "'hello' is not FROM/TO"),
        ("8/-5", "is not FROM/TO"),
        ("26/20", "no point 26"),
        ("8/5(0)", r"\(0\) is not a number of checkers"),
        ("8/5(5)", r"\(5\) is not a number of checkers"),
    ],
)
def test_what_cannot_be_read_is_quoted(written, complaint):
    with pytest.raises(NotationError, match=complaint) as caught:
        read_play(written, START, (3, 1))
    assert not isinstance(caught.value, IllegalPlay)
    assert str(caught.value).startswith(f"play: {written!r} with 3-1: ")


@pytest.mark.parametrize(
    ("words", "roll", "written", "reason"),
    [
        ("bar 13 / 1:2", (5, 1), "13/8 13/12", "must enter from the bar first"),
        ("bar:2 13 / 1:2", (5, 1), "bar/20 13/12", "must enter from the bar first"),
        ("bar 13 / 20:2", (5, 1), "bar/20 13/12", "point 20 is closed"),
        ("start", (5, 1), "24/19 6/5", "point 19 is closed"),
        ("start", (5, 5), "24/14", "point 19 is closed"),
        ("24 / 18:2 21:2", (6, 3), "24/15", "no play is legal"),
        ("24 13 / 18:2 21:2", (6, 3), "24/15", "point 18 is closed and point 21 is closed"),
        ("start", (3, 1), "8/5", "both dice must be played"),
        ("start", (6, 6), "24/18(2) 13/7", "4 moves must be played"),
        ("24 / 15:2", (3, 3), "24/21", "2 moves must be played"),
        ("20 / 11:2", (6, 3), "20/17", "the larger die, 6, must be played"),
        ("7 20 / 12:2 14:2", (6, 2), "7/5", "both dice must be played"),
        ("start", (3, 1), "9/6 6/5", "no checker on point 9"),
        ("start", (3, 1), "1/off 6/3", "no checker on point 1"),
        ("start", (3, 1), "bar/22 6/5", "no checker on the bar"),
        ("24 13 / 1:2", (3, 1), "13/10(2)", "the roll gives each die once only"),
        ("8 3 / 24:2", (3, 1), "3/off 8/7", "cannot bear off while checkers are outside"),
        ("5 2:2 / 24:2", (4, 3), "2/off(2)", "cannot bear off from 2 by a larger number"),
        ("start", (3, 1), "8/6 6/5", "the dice do not make the 2 pips of 8/6"),
        ("start", (3, 1), "13/8", "the dice do not make the 5 pips of 13/8"),
        ("start", (3, 1), "8/5(2)", "the roll gives each die once only"),
        ("start", (2, 2), "13/5 6/4", "the roll gives each die four times only"),
        ("start", (3, 1), "8/5 6/5 6/5", "3 checker moves are more than the 2 of the roll"),
        ("start", (3, 1), "13/10 5/6", "5/6 does not move forward"),
        ("start", (3, 1), "off/3 6/5", "off/3 does not move forward"),
        ("start", (3, 1), "8/25 6/5", "8/bar does not move forward"),
        ("start", (3, 1), "", "there is a legal play, such as"),
        ("start", (3, 1), "cannot move", "there is a legal play, such as"),
        ("bar / 24:2 23:2 22:2 21:2 20:2 19:2", (6, 1), "bar/24", "no play is legal"),
    ],
)
def test_an_illegal_play_is_refused_with_its_reason(words, roll, written, reason):
    with pytest.raises(IllegalPlay) as caught:
        read_play(written, parse(words), roll)
    message = str(caught.value)
    assert message.startswith(f"play: {written!r} with {roll[0]}-{roll[1]}: "), message
    assert message.split(": ", 2)[2].startswith(reason), message


def test_every_play_has_its_own_text_and_legal_steps_in_order():
    for board, roll in [*some_positions(3, 150), (tuple(parse(WIDE).tolist()), (2, 2))]:
        made = plays(board, roll)
        texts = [play.notation for play in made]
        assert len(set(texts)) == len(texts), (text(board), roll)
        for play in made:
            assert replay(board, roll, play) == tuple(play.afterstate.tolist())
            assert write_play(board, play.steps) == play.notation


def replay(board, roll, play):
    """The board, flipped, after a play's steps in their order, dice taken in either order."""
    orders = [(roll[0],) * 4] if roll[0] == roll[1] else [roll, roll[::-1]]
    results = {leads_to(board, dice, play.steps) for dice in orders} - {None}
    assert len(results) == 1, (text(board), roll, play)
    return reference.flipped(results.pop())


def leads_to(board, dice, steps):
    for (source, to), die in zip(steps, dice, strict=False):
        if max(source - die, 0) != to or board is None:
            return None
        board = reference.step(board, source, die)
    return board


def other_forms(rng, play):
    """The canonical text, and the same play written in other ways."""
    plain = [f"{source}/{to}" for source, to in play.steps]
    parts = play.notation.split()
    rng.shuffle(parts)
    shuffled = rng.sample(plain, len(plain))
    yield play.notation
    yield play.notation.upper()
    yield " ".join(plain)
    yield ", ".join(shuffled).replace("/", "-")
    yield " ".join(parts).replace("*", "")


def test_every_play_reads_back_to_the_same_afterstate():
    rng = random.Random(5)
    for board, roll in some_positions(4, 25):
        made = plays(board, roll)
        for play in rng.sample(made, min(len(made), 6)):
            if not play.steps:
                continue
            for written in other_forms(rng, play):
                assert read_play(written, board, roll) == play, (text(board), roll, written)


def test_the_widest_roll_reads_back():
    rng = random.Random(6)
    made = plays(parse(WIDE), (2, 2))
    assert len(made) > 1_100
    for play in rng.sample(made, 20):
        assert read_play(play.notation, parse(WIDE), (2, 2)) == play


def moved(before, after):
    """Where own checkers went from and to, off included."""
    own = Counter({place: max(after[place], 0) - max(before[place], 0) for place in range(26)})
    own[0] -= sum(own.values())
    return {place: count for place, count in own.items() if count}


def test_what_is_read_moves_the_checkers_of_the_text_and_no_others():
    rng = random.Random(7)
    num_read = 0
    for board, roll in itertools.chain.from_iterable(
        [position] * 4 for position in some_positions(8, 120)
    ):
        dice = [roll[0]] * 4 if roll[0] == roll[1] else [*roll, sum(roll)]
        own = [place for place in range(1, 26) if board[place] > 0]
        hops = [(place, max(place - die, 0)) for place in own for die in set(dice)]
        chosen = rng.choices(hops, k=rng.randint(1, 2))
        named = Counter()
        for source, to in chosen:
            named[source] -= 1
            named[to] += 1
        try:
            play = read_play(" ".join(f"{a}/{b}" for a, b in chosen), board, roll)
        except NotationError:  # illegal, or both ways round hit
            continue
        num_read += 1
        assert moved(board, reference.flipped(tuple(play.afterstate.tolist()))) == {
            place: count for place, count in named.items() if count
        }
        assert tuple(play.afterstate.tolist()) in reference.afterstates(board, roll)
    assert num_read > 200


def test_a_text_is_refused_only_if_no_legal_play_moves_those_checkers():
    rng = random.Random(9)
    num_refused = 0
    for board, roll in some_positions(10, 100):
        legal = [moved(board, reference.flipped(row)) for row in reference.afterstates(board, roll)]
        dice = [roll[0]] * 4 if roll[0] == roll[1] else [*roll]
        own = [place for place in range(1, 26) if board[place] > 0]
        chosen = [(rng.choice(own), die) for die in rng.sample(dice, rng.randint(1, len(dice)))]
        steps = [(place, max(place - die, 0)) for place, die in chosen]
        named = Counter()
        for source, to in steps:
            named[source] -= 1
            named[to] += 1
        try:
            read_play(" ".join(f"{a}/{b}" for a, b in steps), board, roll)
        except IllegalPlay:
            num_refused += 1
            assert {place: count for place, count in named.items() if count} not in legal
    assert num_refused > 200


@settings(max_examples=300)
@given(st.text(alphabet="0123456789/-*() barof,xBX'\n", max_size=24))
def test_any_text_is_a_legal_play_or_a_notation_error(written):
    board = parse("bar 24 13:3 8:3 6:3 4 3 / 22 21:2 20 12:3 1:2")
    try:
        play = read_play(written, board, (5, 4))
    except NotationError:
        return
    assert play in plays(board, (5, 4))
