"""Matches written in two columns: .mat, and the text form of XG.

What the columns cannot say (the size of a resignation that was capped, comments, a cube that was
set) stands in comment lines above them, which other programs pass over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

from tdgammon.game.board import text
from tdgammon.notation.ids import Cells, xgid_letters
from tdgammon.notation.plays import Step, write_play
from tdgammon.notation.reading import MAX_LINE, shortened
from tdgammon.notation.record import (
    RECORDED_RULES,
    SIZES,
    CubeAction,
    Event,
    GameRecord,
    MatchRecord,
    Moment,
    Resignation,
    SetPosition,
    Turn,
    is_crawford_game,
    outcome,
    replayed,
    rule_options,
)
from tdgammon.notation.transcript import UNKNOWN_PLAY, derived_size

OWN_TAGS = ("Crawford game", "Resigned", "Cube", "Comment", "Game comment", "Start", "Rule options")
"""Names of the comment lines that are ours."""

_Writer = Callable[[Cells, tuple[Step, ...]], str]
"""From a board and the steps of a play to its text."""


def write_mat(record: MatchRecord) -> str:
    """The match as .mat: every checker move written out, `*` on hits, bar = 25, off = 0."""
    return _written(record, _plain, 27, "")


def write_xg(record: MatchRecord) -> str:
    """The match as XG's text: hops joined, equal moves counted, `Bar`, `Off`, `Cannot Move`."""
    return _written(record, _joined, 34, "Cannot Move")


def _written(record: MatchRecord, play: _Writer, width: int, no_move: str) -> str:
    lines = [_tag_line(name, value) for name, value in record.tags]
    lines += [f'; [{name} "{_escaped(value)}"]' for name, value in _rule_tags(record)]
    bodies, notes = [], []
    for index, game in enumerate(record.games):
        bodies.append(_game_lines(record, game, play, width, no_move))
        notes += list(_notes(record, index))
    lines += [f'; [{name} "{_escaped(value)}"]' for name, value in notes]
    lines += ["", f" {record.length} point match", ""]
    for body in bodies:
        lines += [*body, ""]
    return "\n".join(lines) + "\n"


def _rule_tags(record: MatchRecord) -> Iterator[tuple[str, str]]:
    rules = record.rules
    for name, value in (
        ("Jacoby", rules.jacoby),
        ("Beaver", rules.beavers),
        ("Raccoon", rules.raccoons),
    ):
        if value:
            yield name, "On"
    if rules.cube_limit != RECORDED_RULES.cube_limit:
        yield "CubeLimit", str(rules.cube_limit)
    if rules.start != RECORDED_RULES.start:
        yield "Start", text(rules.start)
    if words := rule_options(rules):
        yield "Rule options", " ".join(words)
    derived = [
        is_crawford_game(game.start_score, record.length, record.games[:i], game.events)
        for i, game in enumerate(record.games)
    ]
    if derived != [game.is_crawford for game in record.games]:
        numbers = [str(game.number) for game in record.games if game.is_crawford]
        yield "Crawford game", " ".join(numbers) or "none"


def _notes(record: MatchRecord, index: int) -> Iterator[tuple[str, str]]:
    """What the columns cannot say of a game."""
    game = record.games[index]
    if game.comment:
        yield "Game comment", f"{game.number} {game.comment}"
    place = 0
    offer = None
    for event, following in zip_longest(game.events, game.events[1:]):
        if isinstance(event, CubeAction):
            if _goes_without_saying(event, offer, following):
                offer = None
                continue
            offer = event.action if event.action in ("double", "beaver", "raccoon") else None
        if isinstance(event, Turn | CubeAction) and event.comment:
            yield "Comment", f"{game.number}.{place} {event.comment}"
        if isinstance(event, SetPosition) and (event.cube_value, event.cube_owner) != (1, None):
            owner = "-" if event.cube_owner is None else event.cube_owner
            yield "Cube", f"{game.number}.{place} {event.cube_value} {owner}"
        place += 1
    last = game.events[-1] if game.events else None
    if isinstance(last, Resignation) and game.points is not None:
        result = outcome(game, record.length, record.rules)
        if derived_size(game.points, result.cube_value, record.rules) != last.size and last.size:
            yield "Resigned", f"{game.number} {SIZES[last.size]}"


def _game_lines(
    record: MatchRecord, game: GameRecord, play: _Writer, width: int, no_move: str
) -> list[str]:
    cells: list[tuple[int, str] | str] = []
    moments = replayed(game, record.rules)
    for moment, following in zip_longest(moments, game.events[1:]):
        event = moment.event
        if isinstance(event, Turn):
            roll = f"{event.dice[0]}{event.dice[1]}: "
            if event.steps is None:
                body = UNKNOWN_PLAY
            elif event.steps:
                body = play(moment.board, event.steps)
            else:
                body = no_move if event.is_legal else "Cannot Move"
            cells.append((event.player, roll + body))
        elif isinstance(event, CubeAction):
            cells += _cube_cell(moment, event, following)
        elif isinstance(event, SetPosition):
            cells.append(_set_line(event))
    return _laid_out(record, game, cells, width)


def _cube_cell(
    moment: Moment, event: CubeAction, following: Event | None
) -> list[tuple[int, str] | str]:
    if _goes_without_saying(event, moment.offer, following):
        return []
    if event.action in ("take", "pass"):
        return [(event.player, {"take": " Takes", "pass": " Drops"}[event.action])]
    word = event.action
    if isinstance(following, CubeAction) and following.action == "pass":
        word = "double"  # GNU Backgammon would take a beaver that is passed here into its next game
    factor = 2 if event.action == "double" else 4
    return [(event.player, f" {word.capitalize()}s => {factor * moment.cube_value}")]


def _goes_without_saying(event: CubeAction, offer: str | None, following: Event | None) -> bool:
    """Whether it is the take of a beaver with a roll after it, which other programs do not write."""
    return event.action == "take" and offer == "beaver" and isinstance(following, Turn)


def _set_line(event: SetPosition) -> str:
    power = event.cube_value.bit_length() - 1
    cube = "0" if event.cube_owner is None else f"{'-' if event.cube_owner == 0 else ''}{power}"
    return f"; Set Pos={xgid_letters(event.board)}/{cube}"


def _laid_out(
    record: MatchRecord, game: GameRecord, cells: Iterable[tuple[int, str] | str], width: int
) -> list[str]:
    left = f"{_name(record.players[0])} : {game.start_score[0]}"
    lines = [
        f" Game {game.number}",
        f" {left:{width + 4}} {_name(record.players[1])} : {game.start_score[1]}",
    ]
    row, num_rows = "", 0
    for cell in cells:
        if isinstance(cell, str):
            if row:
                lines.append(row)
            lines.append(cell)
            row = ""
            continue
        player, body = cell
        if player == 0 or not row:
            if row:
                lines.append(row)
            num_rows += 1
            row = f"{num_rows:3}) "
        if player == 0:
            row += f"{body:{width}} "
        else:
            row = f"{row:{width + 6}}"
            lines.append((row if row.endswith("  ") or len(row) <= width + 6 else row + " ") + body)
            row = ""
    if game.winner is not None:
        wins = f"Wins {game.points} point{'s' * (game.points != 1)}"
        if row and game.winner == 1:
            row = f"{row:{width + 6}} {wins}"
        else:
            lines += [row] if row else []
            row = " " * (6 if game.winner == 0 else width + 7) + wins
    # a lone left cell keeps its blanks: GNU Backgammon takes the line before for the right one else
    lines += [row] if row else []
    return lines


def _name(name: str) -> str:
    """A name that a score line can hold."""
    return shortened(name.replace(":", "."), MAX_LINE // 8)


def _plain(board: Cells, steps: tuple[Step, ...]) -> str:
    cells = list(board)
    words = []
    for source, to in steps:
        hits = to > 0 and cells[to] == -1
        cells[to] = 0 if hits else cells[to]
        words.append(f"{source}/{to}{'*' * hits}")
    return " ".join(words)


def _joined(board: Cells, steps: tuple[Step, ...]) -> str:
    return write_play(board, steps).replace("bar", "Bar").replace("off", "Off")


def _tag_line(name: str, value: str) -> str:
    """A comment line for a tag; without its name for one that brackets cannot hold."""
    words = shortened(value, MAX_LINE // 2)
    if not name or len(name) > 60 or set(name) & set('"]\n') or name in OWN_TAGS:
        return f"; {shortened(name)} {words}" if name else f"; {words}"
    return f'; [{name} "{words}"]'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def unescaped(value: str) -> str:
    """What a comment line of ours holds, its backslash escapes undone."""
    letters = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda match: letters.get(match[1], match[1]), value)
