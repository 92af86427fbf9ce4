"""Identifiers of positions: known ones both ways, and round trips of anything that can occur."""

import csv
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, parse, pip_counts
from tdgammon.game.moves import afterstates
from tdgammon.notation.fibs import read_fibs, write_fibs
from tdgammon.notation.ids import (
    Position,
    flipped,
    gnubg_id,
    match_id,
    position_id,
    read_gnubg_id,
    read_id,
    read_match_id,
    read_position_id,
    read_xgid,
    xgid,
)
from tdgammon.notation.plays import NotationError
from tdgammon.notation.snowie import read_snowie, write_snowie

OPENING = tuple(START.tolist())

# what GNU Backgammon 1.07.001 prints for these positions
GNU_IDS = [
    ("start", 1, (3, 1), "4HPwATDgc/ABMA:cIkFAAAAAAAA"),
    ("24:2 13:5 8:3 6:5 / 20:2 19:4 17:2 12:5 1:2", 0, (6, 4), "sGfwATDgc/ABMA:MAETAAAAAAAA"),
]


@pytest.mark.parametrize(("words", "on_roll", "dice", "written"), GNU_IDS)
def test_a_gnu_id_names_the_opponents_checkers_first(words, on_roll, dice, written) -> None:
    board = tuple(parse(words).tolist())
    position = Position(board=board, on_roll=on_roll, dice=dice, jacoby=True)
    assert gnubg_id(position) == written
    assert read_gnubg_id(written) == position


def test_the_golden_ids_decode_and_encode(shared) -> None:
    cases = json.loads((shared / "reference" / "position_ids.json").read_text())["cases"]
    assert len(cases) == 14
    for case in cases:
        fields = case["fields"]
        position = read_gnubg_id(f"{case['position_id']}:{case['match_id']}")
        assert position.board == tuple(case["board"]), case["name"]
        assert ("top", "bottom")[position.on_roll] == case["on_roll"]
        assert position.cube_value == fields["cube"]
        owner = None if position.cube_owner is None else ("top", "bottom")[position.cube_owner]
        assert owner == fields["cube_owner"]
        assert list(position.dice or (0, 0)) == fields["dice"]
        assert (position.length, list(position.scores)) == (
            fields["match_length"],
            fields["score_top_bottom"],
        )
        assert position.is_crawford == fields["crawford"]
        assert (position.offer == "double") == fields["double_offered"]
        assert position.resigned == fields["resigned"]
        assert position_id(position.board) == case["position_id"]
        assert match_id(position) == case["match_id"]
        if case["xgid"]:
            assert xgid(read_xgid(case["xgid"])) == case["xgid"]
            assert gnubg_id(read_xgid(case["xgid"])) == gnubg_id(position), case["name"]
        else:
            with pytest.raises(NotationError, match="resignation"):
                xgid(position)


def swapped(position: Position) -> Position:
    """The players in each other's seats, as GNU Backgammon does to an XGID with the top on roll."""
    owner = None if position.cube_owner is None else 1 - position.cube_owner
    return replace(
        position, on_roll=1 - position.on_roll, cube_owner=owner, scores=position.scores[::-1]
    )


def test_the_xgids_decode_to_their_fields_and_encode_again(shared) -> None:
    lines = (shared / "files" / "xgids.tsv").read_text().splitlines()
    rows = list(csv.reader(lines[1:], delimiter="\t"))
    assert len(rows) == 15
    for row in rows:
        position = read_xgid(row[1])
        assert xgid(position) == row[1]
        assert read_id(row[1]) == position
        bottom = position.board if position.on_roll else flipped(position.board)
        assert [sum(c for c in bottom if c > 0), -sum(c for c in bottom if c < 0)] == [
            int(row[2]),
            int(row[3]),
        ]
        assert pip_counts(parse_cells(bottom))[0].tolist() == [int(row[4]), int(row[5])]
        assert "OX"[position.on_roll] == row[6]
        assert position.cube_value == int(row[7])
        assert {None: "centre", 0: "O", 1: "X"}[position.cube_owner] == row[8]
        assert "".join(map(str, position.dice or "00")) == row[9]
        assert position.scores == (int(row[11]), int(row[10]))
        assert position.length == int(row[13])
        assert position.cube_limit == int(row[14])
        if row[15]:
            legal, _ = afterstates(parse_cells(position.board), [position.dice])
            assert len(legal) == int(row[15]), row[0]
        seated = position if position.on_roll else swapped(position)
        assert gnubg_id(seated) == f"{row[16]}:{row[17]}", row[0]


def parse_cells(board):
    return np.array([board], np.int8)


BAD_POSITION_IDS = [
    "",
    "4HPwATDgc/ABM",
    "4HPwATDgc/ABMAA",
    "4HPwATDgc/ABM!",
    "//////////////",
    "4HPwATDgc/AB\n",
    "AAAAAAAAAAAAAA",
]


@pytest.mark.parametrize("text", BAD_POSITION_IDS)
def test_a_position_id_that_cannot_be_is_refused(text) -> None:
    with pytest.raises(NotationError, match="position ID"):
        read_position_id(text)


def test_both_sides_on_the_bar_against_closed_boards_cannot_be() -> None:
    board = tuple(parse("bar:3 6:2 5:2 4:2 3:2 2:2 1:2 / bar:3 19:2 20:2 21:2 22:2 23:2 24:2").tolist())
    with pytest.raises(NotationError, match="closed boards"):
        read_position_id(position_id(board))


BAD_XGIDS = [
    "-b----E-C---eE---c-e----B:0:0:1:00:0:0:0:0:10",
    "bECeEceB:0:0:1:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0",
    "-b----E-C---eE---c-e----B-:0:2:1:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:71:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:10:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:99:0:1:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:00:0:0:4:0:10",
    "-b----E-C---eE---c-e----B-:0:0:1:00:0:0:2:7:10",
    "Ab----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10",
    "-b----O-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10",
    "-b----E-C---eE---c-e----B-:x:0:1:00:0:0:0:0:10",
]


@pytest.mark.parametrize("text", BAD_XGIDS)
def test_an_xgid_that_cannot_be_is_refused(text) -> None:
    with pytest.raises(NotationError, match="XGID"):
        read_xgid("XGID=" + text)


@pytest.mark.parametrize("text", ["cIkFAAAAAAA", "cIkFAAAAAAA=", "IAAAAAAAAAAA", "////////////"])
def test_a_match_id_that_cannot_be_is_refused(text) -> None:
    with pytest.raises(NotationError):
        read_match_id(text)


@st.composite
def any_position(draw):
    rng = random.Random(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from([None, *KINDS]))
    source = from_random_play(rng, 40) if kind is None else awkward(rng, kind, 1)
    board = list(source)[-1][0]
    length = draw(st.sampled_from([0, 1, 5, 25]))
    score = st.integers(0, max(length - 1, 0))
    dice = draw(st.one_of(st.none(), st.tuples(st.integers(1, 6), st.integers(1, 6))))
    dice = dice and (max(dice), min(dice))
    offer = None if dice else draw(st.sampled_from([None, "double"]))
    cube = 2 ** draw(st.integers(0, 9))
    return Position(
        board=tuple(int(count) for count in board),
        on_roll=draw(st.integers(0, 1)),
        dice=dice,
        cube_value=cube,
        cube_owner=draw(st.integers(0, 1)) if cube > 1 else None,
        length=length,
        scores=(draw(score), draw(score)),
        is_crawford=bool(length) and draw(st.booleans()),
        jacoby=not length and draw(st.booleans()),
        offer=offer,
    )


def can_occur(position: Position) -> bool:
    try:
        read_position_id(position_id(position.board))
    except NotationError:
        return False
    return True


@given(any_position())
def test_positions_survive_every_identifier(position) -> None:
    if not can_occur(position):
        return
    assert read_gnubg_id(gnubg_id(position)) == position
    assert read_xgid(xgid(position)) == position
    assert read_snowie(write_snowie(position, ("Ann", "Bob"))) == (
        replace(position, offer=None),
        ("Ann", "Bob"),
    )


@given(any_position())
def test_positions_survive_a_fibs_line_but_for_its_rules(position) -> None:
    owner = position.on_roll if position.offer and position.cube_value > 1 else position.cube_owner
    crawford = position.is_crawford and position.length - 1 in position.scores
    position = replace(position, jacoby=False, cube_owner=owner, is_crawford=crawford)
    assert read_fibs(write_fibs(position)).position == position


def test_a_fibs_line_is_seen_by_you_whatever_your_colour_and_direction() -> None:
    # the opening position as the server sends it to O, who moves upwards, and to X, who moves downwards
    up = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    down = "0:2:0:0:0:0:-5:0:-3:0:0:0:5:-5:0:0:0:3:0:5:0:0:0:0:-2:0"
    tail = "0:0:1:1:1:0:{colour}:{direction}:0:25:0:0:0:0:2:0:0:0"
    for board, colour, direction in ((up, 1, -1), (down, -1, -1), (up, -1, 1), (down, 1, 1)):
        end = tail.format(colour=colour, direction=direction)
        line = f"board:You:Them:5:2:1:{board}:{colour}:3:1:{end}"
        read = read_fibs(line)
        assert read.position.board == OPENING, line
        assert (read.you, read.opponent) == ("You", "Them")
        assert (read.position.on_roll, read.position.dice, read.position.scores) == (1, (3, 1), (1, 2))


@pytest.mark.parametrize(
    "line", ["board:", "board:a:b:x", "board:" + ":".join(["1"] * 52), "bored:" * 60]
)
def test_a_fibs_line_that_cannot_be_is_refused(line) -> None:
    with pytest.raises(NotationError, match="FIBS"):
        read_fibs(line)


@pytest.mark.parametrize("line", ["", ";" * 40, "1;" * 39, "1;" * 40, "a;" * 40, "9" * 5000 + ";" * 39])
def test_a_snowie_line_that_cannot_be_is_refused(line) -> None:
    with pytest.raises(NotationError, match="Snowie"):
        read_snowie(line)
