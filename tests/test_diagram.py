"""The board as text."""

import random

import pytest
from positions import KINDS, awkward, from_random_play

from tdgammon.game.board import START, flip, parse
from tdgammon.notation.diagram import diagram

OPENING = """\
  13 14 15 16 17 18      19 20 21 22 23 24
 ┌──────────────────┬───┬──────────────────┐  ○ racer
 │ ●           ○    │   │ ○              ● │    167 pips, 0 off
 │ ●           ○    │   │ ○              ● │
 │ ●           ○    │   │ ○                │
 │ ●                │   │ ○                │
 │ ●                │   │ ○                │
 │                  │BAR│                  │  ● you to play 3-1
 │ ○                │   │ ●                │
 │ ○                │   │ ●                │
 │ ○           ●    │   │ ●                │
 │ ○           ●    │   │ ●              ○ │
 │ ○           ●    │   │ ●              ○ │    167 pips, 0 off
 └──────────────────┴───┴──────────────────┘  ● you
  12 11 10  9  8  7       6  5  4  3  2  1"""


def test_the_opening_position_is_drawn():
    assert diagram(START, (3, 1), ("you", "racer")) == OPENING


def test_bars_tall_stacks_and_checkers_off():
    lines = diagram(parse("bar:2 6:9 / bar:7 24:3 1:2"), None, ("a", "b"), on_roll=1).splitlines()
    assert lines[2].endswith(f"{7 * 25 + 3 * 1 + 2 * 24} pips, 3 off")
    assert [line[22] for line in lines[2:7]] == [" ", " ", " ", "●", "●"]
    assert [line[22] for line in lines[8:13]] == ["○", "○", "○", "○", "7"]
    assert lines[8][25:28] == " 9 "  # in place of the top checker
    assert [line[25:28].strip() for line in lines[9:13]] == ["●"] * 4
    assert lines[7].endswith("○ b to roll")
    assert lines[12].endswith("104 pips, 4 off")


def test_nobody_is_on_roll_when_the_game_is_over():
    drawn = diagram(parse("- / 24:2"), None, ("a", "b"), None)
    assert "to roll" not in drawn
    assert "0 pips, 15 off" in drawn


def test_a_diagram_has_15_lines_of_at_most_80_columns_whatever_the_names():
    rng = random.Random(1)
    positions = [
        *from_random_play(rng, 50),
        *awkward(rng, "on_the_bar", 50),
        *awkward(rng, "bear_off", 50),
    ]
    for board, roll in positions:
        for on_roll in (0, 1, None):
            lines = diagram(board, roll, ("p" * 100, "q" * 100), on_roll).splitlines()
            assert len(lines) == 15
            assert max(map(len, lines)) <= 80


def test_every_checker_is_drawn_or_counted():
    rng = random.Random(2)
    for kind in KINDS:
        for board, _ in awkward(rng, kind, 20):
            lines = [line[:44] for line in diagram(board, None, ("", ""), None).splitlines()]
            seen = {"●": 0, "○": 0}
            for line in lines[2:13]:
                for mark in seen:
                    seen[mark] += line.count(mark)
            short = {"●": 0, "○": 0}
            for count in board:
                if abs(count) > 5:
                    short["●" if count > 0 else "○"] += abs(count) - 4
            assert seen["●"] + short["●"] == sum(count for count in board if count > 0)
            assert seen["○"] + short["○"] == -sum(count for count in board if count < 0)


def test_notes_stand_below_whose_turn_it_is_cut_to_the_width():
    lines = diagram(START, (3, 1), notes=["cube: 2, yours", "x" * 50]).splitlines()
    turn = next(i for i, line in enumerate(lines) if "to play" in line)
    assert lines[turn + 1].endswith("│  cube: 2, yours")
    assert lines[turn + 2].endswith("x…")
    assert max(map(len, lines)) == 78
    with pytest.raises(ValueError, match="notes: at most 4 lines, got 5"):
        diagram(START, notes=["note"] * 5)


def test_a_side_may_have_fewer_checkers():
    drawn = diagram(parse("24:1 / 1:2"), num_checkers=3)
    assert "24 pips, 2 off" in drawn
    assert "48 pips, 1 off" in drawn


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="more than 15"):
        diagram(START * 2)
    with pytest.raises(ValueError, match="one board"):
        diagram([START, flip(START)])
    with pytest.raises(ValueError, match="dice must be"):
        diagram(START, (0, 1))
    with pytest.raises(ValueError, match="on_roll: must be 0"):
        diagram(START, (3, 1), on_roll=2)
