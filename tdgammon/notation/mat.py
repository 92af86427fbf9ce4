"""Match transcripts in two columns: .mat in its dialects, and the text form of XG.

The left column is player 0. Dialects differ in hit marks, hops, words and spacing; all are read by
one grammar: a row is a number and one or two cells, a cell is `DD: play` or a word about the cube
or the end. Source: what GNU Backgammon, Jellyfish, XG, Backgammon Studio, BackgammonGalaxy and
Foxamon write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from tdgammon.game.board import parse, text
from tdgammon.game.rules import CUBE_LIMITS, GameRules
from tdgammon.notation.ids import Cells, flipped, read_xgid
from tdgammon.notation.plays import NotationError, Step, write_play
from tdgammon.notation.reading import MAX_LINE, Reading, Troubles, lines_of, shortened
from tdgammon.notation.record import (
    RECORDED_RULES,
    SIZES,
    CubeAction,
    GameRecord,
    MatchRecord,
    Moment,
    Resignation,
    SetPosition,
    Turn,
    is_crawford_game,
    outcome,
    replayed,
)
from tdgammon.notation.snowie import read_snowie
from tdgammon.notation.transcript import UNKNOWN_PLAY, Raw, RawGame, derived_size, match_record

MAX_LENGTH = 1000
"""Longest match that is read, in points."""

HEADER = re.compile(r"\s{0,40}(\d{1,6})\s{1,9}point\s{1,9}match\b", re.IGNORECASE)
"""The line that every such file has."""

_GAME = re.compile(r"\s{0,200}Game\s{1,9}(\d{1,6})\s*\.?", re.IGNORECASE)
_TAG = re.compile(r"\s{0,40}[;#]\s{0,40}\[([^\"\]]{1,60})\"(.*)\"\s?\]")
_SET = re.compile(r"\s{0,40};\s{0,9}Set Pos\s?=\s?([-A-Oa-o]{26})(?:/(-?\d{1,2}))?", re.IGNORECASE)
_SCORE = re.compile(r":[ ]{0,20}(\d{1,5})(?!\S)")
_ROW = re.compile(r"\s{0,200}(\d{1,5})\)")
_CELL = re.compile(
    r"(?<!\S)(?:(?P<dice>[1-6]{2})\s?:|(?P<word>re-?doubles?|doubles?|takes?|accepts?|drops?|pass(?:es)?|"
    r"rejects?|beavers?|raccoons?|wins?|loss(?:es)?|loses?|resign(?:s|ed)?)\b)",
    re.IGNORECASE,
)
_ARROW = re.compile(r"=+>\s{0,9}(\d{1,5})")
_POINTS = re.compile(r"\s{0,9}(\d{1,6})\s{0,9}points?\b", re.IGNORECASE)
_RATING = re.compile(r"(.*\S)\s?(?:,\s?(\d{3,4}(?:\.\d{1,4})?)|\((\d{3,4}(?:\.\d{1,4})?)\))")
_ACTIONS = {"do": "double", "re": "double", "ta": "take", "ac": "take", "dr": "pass", "pa": "pass"}
_ACTIONS |= {"be": "beaver", "ra": "raccoon"}
_SIZE_WORDS = {"normal": 1, "single": 1, "gammon": 2, "backgammon": 3}
_RIGHT_AT = 15  # a lone cell that starts here or further belongs to the right column
_OWN_TAGS = ("Crawford game", "Resigned", "Cube", "Comment", "Game comment", "Start")


@dataclass
class _Game:
    """A game while its lines come in."""

    number: int
    line: int
    score: tuple[int, int] | None = None
    entries: list[Raw] = field(default_factory=list)
    winner: int | None = None
    points: int | None = None


def read_mat(source: str) -> Reading:
    """The match of a two-column transcript.

    Raises NotationError if no line says how many points the match has, or it has no game.
    """
    troubles = Troubles()
    length: int | None = None
    tags: list[tuple[int, str, str]] = []
    players: tuple[str, str] | None = None
    ratings: list[tuple[str, str]] = []
    games: list[_Game] = []
    for number, line in lines_of(source, troubles):
        if length is None and (match := HEADER.match(line)):
            length = int(match[1])
        elif match := _TAG.match(line):
            tags.append((number, match[1].strip(), match[2]))
        elif games and (match := _SET.match(line)):
            _set_position(match, number, line, games[-1], troubles)
        elif line.lstrip().startswith((";", "#")):
            tags.append((number, "", line.lstrip()[1:].strip()))
        elif (match := _GAME.match(line)) and not line[match.end() :].strip():
            games.append(_Game(int(match[1]), number))
        elif games and games[-1].score is None and not _ROW.match(line):
            found = _score_line(line)
            if found is None:
                troubles.add(number, "skipped: not NAME : SCORE twice", line)
                continue
            names, rated, games[-1].score = found
            if players is None:
                players, ratings = names, rated
            elif names != players:
                troubles.add(number, f"the players were {players[0]} and {players[1]} before", line)
        elif games:
            _row(line, number, games[-1], troubles)
        elif length is None:
            tags.append((number, "", line.strip()))
        else:
            troubles.add(number, "skipped: not part of a game", line)
    if length is None:
        raise NotationError("no line says 'N point match'")
    if length > MAX_LENGTH:
        raise NotationError(f"match length: up to {MAX_LENGTH} points are read, got {length}")
    if not games:
        raise NotationError("has no line 'Game 1'")
    return _reading(length, tags, players or ("", ""), ratings, games, troubles)


def _reading(
    length: int,
    lined_tags: list[tuple[int, str, str]],
    players: tuple[str, str],
    ratings: list[tuple[str, str]],
    games: list[_Game],
    troubles: Troubles,
) -> Reading:
    rules, tags, own = _split_tags(lined_tags, length, troubles)
    raw_games = []
    for game in games:
        if game.score is None:
            troubles.add(game.line, f"game {game.number} has no line with names and scores")
        key = str(game.number)
        entries = [
            replace(raw, comment=_unescaped(own.get(("Comment", f"{key}.{i}"), "")))
            for i, raw in enumerate(game.entries)
        ]
        if "Cube" in {name for name, _ in own}:
            entries = [
                _with_cube(raw, own.get(("Cube", f"{key}.{i}"))) for i, raw in enumerate(entries)
            ]
        crawford = own.get(("Crawford game", ""))
        size = own.get(("Resigned", key), "")
        raw_games.append(
            RawGame(
                number=game.number,
                line=game.line,
                score=game.score or (0, 0),
                entries=entries,
                winner=game.winner,
                points=game.points,
                is_crawford=None if crawford is None else crawford == key,
                size={name: number for number, name in SIZES.items()}.get(size),
                comment=_unescaped(own.get(("Game comment", key), "")),
            )
        )
    record = match_record(players, length, raw_games, rules, (*tags, *ratings), troubles)
    return Reading(format="mat", record=record, warnings=troubles.all())


def _split_tags(
    lined: list[tuple[int, str, str]], length: int, troubles: Troubles
) -> tuple[GameRules, tuple[tuple[str, str], ...], dict[tuple[str, str], str]]:
    """Rules, plain tags, and what our own writer notes beside the columns."""
    options: dict[str, object] = {}
    tags: list[tuple[str, str]] = []
    own: dict[tuple[str, str], str] = {}
    for line, name, value in lined:
        word = name.lower()
        if word in ("jacoby", "beaver", "beavers", "raccoon", "raccoons"):
            key = {"j": "jacoby", "b": "beavers", "r": "raccoons"}[word[0]]
            if not length or value.lower() != "on":
                options[key] = value.lower() == "on"
        elif word in ("cubelimit", "cube limit"):
            if value.isdigit() and len(value) < 6 and int(value) in CUBE_LIMITS:
                options["cube_limit"] = int(value)
            else:
                troubles.add(line, "skipped: not a cube limit", value)
        elif name in _OWN_TAGS:
            key, _, rest = value.partition(" ")
            if name == "Start":
                try:
                    options["start"] = tuple(parse(value).tolist())
                except ValueError as error:
                    troubles.add(line, f"skipped: {error}", value)
            elif name == "Crawford game":
                own[(name, "")] = value
            else:
                own[(name, key)] = rest
        else:
            tags.append((name, value))
    if options.get("cube_limit") == 1:
        options = {key: value for key, value in options.items() if key in ("cube_limit", "start")}
    if options.get("raccoons"):
        options["beavers"] = True
    try:
        rules = replace(RECORDED_RULES, **options)  # type: ignore[arg-type]
    except ValueError as error:
        troubles.add(lined[0][0], f"the rules cannot be so: {error}")
        rules = RECORDED_RULES
    return rules, tuple(tags), own


def _with_cube(raw: Raw, note: str | None) -> Raw:
    if raw.position is None or note is None:
        return raw
    words = note.split()
    if (
        len(words) != 2
        or not words[0].isdigit()
        or len(words[0]) > 5
        or words[1] not in ("0", "1", "-")
    ):
        return raw
    owner = None if words[1] == "-" else int(words[1])
    return replace(raw, position=replace(raw.position, cube_value=int(words[0]), cube_owner=owner))


def _set_position(
    match: re.Match[str], number: int, line: str, game: _Game, troubles: Troubles
) -> None:
    """XG's `; Set Pos=`: upper case is the left player; a number is the cube and whose it is."""
    try:
        board = read_xgid(f"{match[1]}:0:0:1:00:0:0:0:0:10").board
    except ValueError as error:
        troubles.add(number, f"skipped: {error}", line)
        return
    power = int(match[2] or 0)
    if abs(power) > 12:
        troubles.add(number, "skipped: no such cube", line)
        return
    owner = None if not power else 0 if power < 0 else 1
    position = SetPosition(board, 1 << abs(power), owner)
    game.entries.append(Raw(number, 0, line, position=position))


def _score_line(line: str) -> tuple[tuple[str, str], list[tuple[str, str]], tuple[int, int]] | None:
    """Names, ratings and scores of `NAME : SCORE` twice."""
    found = list(_SCORE.finditer(line))
    if len(found) < 2 or line[found[-1].end() :].strip():
        return None
    first, last = found[0], found[-1]
    for match in found[:-1]:
        if line[match.end() : match.end() + 2] == "  ":
            first = match
            break
    names, ratings = [], []
    sides = ((line[: first.start()], "Rating left"), (line[first.end() : last.start()], "Rating right"))
    for words, tag in sides:
        name = " ".join(words.split())
        if rated := _RATING.fullmatch(name[:200]):
            name = rated[1]
            ratings.append((tag, rated[2] or rated[3]))
        names.append(name)
    return (names[0], names[1]), ratings, (int(first[1]), int(last[1]))


def _row(line: str, number: int, game: _Game, troubles: Troubles) -> None:
    """One line of a game: its cells, each in its column."""
    match = _ROW.match(line)
    start = match.end() if match else 0
    masked = re.sub(r"\([^()]{2,}\)", lambda inner: "(" + "." * (len(inner[0]) - 2) + ")", line)
    cells = list(_CELL.finditer(masked, start))
    if not cells:
        if match and not line[start:].strip():
            return
        troubles.add(number, f"skipped: no row of game {game.number}", line)
        return
    if line[start : cells[0].start()].strip():
        skipped = line[start : cells[0].start()]
        troubles.add(number, f"skipped in a row of game {game.number}", skipped)
    column = int(cells[0].start() - (0 if not match else start) >= (8 if match else _RIGHT_AT))
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        end = following.start() if following else len(line)
        body = line[cell.end() : end].strip()
        if cell["dice"]:
            _roll(cell["dice"], body, column, number, game, troubles)
        else:
            _word(cell["word"].lower(), body, column, number, game, troubles)
        column += 1
        if column > 1 and following and following["word"] and following["word"][:3].lower() == "win":
            column = 1 if game.winner is None and len(cells) == 3 and _winner_is_right(game) else 0
        elif column > 1 and following:
            troubles.add(number, f"skipped: more than two cells in a row of game {game.number}", line)
            return


def _winner_is_right(game: _Game) -> bool:
    """Whether a result after two cells belongs to the right player: who doubled last."""
    doublers = [raw.player for raw in game.entries if raw.action in ("double", "beaver", "raccoon")]
    return not doublers or doublers[-1] == 1


def _roll(dice: str, body: str, column: int, number: int, game: _Game, troubles: Troubles) -> None:
    roll = (int(dice[0]), int(dice[1]))
    if not body.lower().startswith("illegal play"):
        game.entries.append(Raw(number, column, body, dice=roll))
        return
    troubles.add(number, f"game {game.number}: an illegal play stood", f"{dice}: {body}")
    game.entries.append(Raw(number, column, UNKNOWN_PLAY, dice=roll))
    _, bracket, dump = body.partition("(")
    if not bracket:
        return
    try:
        position, _ = read_snowie(dump.rstrip().removesuffix(")"))
    except NotationError as error:
        troubles.add(number, f"game {game.number}: the board after it cannot be read: {error}", body)
        return
    board = position.board if position.on_roll == 0 else flipped(position.board)
    stands = SetPosition(board, position.cube_value, position.cube_owner)
    game.entries.append(Raw(number, column, body, position=stands))


def _word(word: str, body: str, column: int, number: int, game: _Game, troubles: Troubles) -> None:
    """A cell without dice."""
    entry = f"{word} {body}".strip()
    if word.startswith(("win", "los")):
        match = _POINTS.match(body)
        winner = column if word.startswith("win") else 1 - column
        points = int(match[1]) if match else None
        if game.winner is not None and (winner, points) != (game.winner, game.points):
            troubles.add(number, f"game {game.number} has two results; the first stands", entry)
            return
        game.winner, game.points = winner, points
        return
    if word.startswith("resign"):
        size = _SIZE_WORDS.get(body.split()[0].lower()) if body.split() else None
        game.entries.append(Raw(number, column, entry, action="resign", value=size))
        return
    action = "pass" if word.startswith("rej") else _ACTIONS[word[:2]]
    arrow = _ARROW.match(body)
    rest = body[arrow.end() :].strip() if arrow else body
    if rest:
        troubles.add(number, f"skipped in a row of game {game.number}", rest)
    value = int(arrow[1]) if arrow else None
    game.entries.append(Raw(number, column, entry, action=action, value=value))


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
    for event in game.events:
        if isinstance(event, CubeAction):
            if event.action == "take" and offer == "beaver":
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
    for moment in replayed(game, record.rules):
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
            cells += _cube_cell(moment, event)
        elif isinstance(event, SetPosition):
            cells.append(_set_line(event))
    return _laid_out(record, game, cells, width)


def _cube_cell(moment: Moment, event: CubeAction) -> list[tuple[int, str] | str]:
    if event.action == "take" and moment.offer == "beaver":
        return []
    words = {"take": " Takes", "pass": " Drops"}
    factor = 2 if event.action == "double" else 4
    named = f" {event.action.capitalize()}s => {factor * moment.cube_value}"
    return [(event.player, words.get(event.action, named))]


def _set_line(event: SetPosition) -> str:
    letters = "".join("-" if not c else chr((64 if c > 0 else 96) + abs(c)) for c in event.board)
    power = event.cube_value.bit_length() - 1
    cube = "0" if event.cube_owner is None else f"{'-' if event.cube_owner == 0 else ''}{power}"
    return f"; Set Pos={letters}/{cube}"


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
                lines.append(row.rstrip())
            num_rows += 1
            row = f"{num_rows:3}) "
        if player == 0:
            row += f"{body:{width}} "
        else:
            row = f"{row:{width + 6}}"
            lines.append((row if row.endswith("  ") or len(row) <= width + 6 else row + " ") + body)
            row = ""
    if row:
        lines.append(row.rstrip())
    if game.winner is not None:
        indent = " " * (6 if game.winner == 0 else width + 7)
        lines.append(f"{indent}Wins {game.points} point{'s' * (game.points != 1)}")
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
    if not name or len(name) > 60 or set(name) & set('"]\n') or name in _OWN_TAGS:
        return f"; {shortened(name)} {words}" if name else f"; {words}"
    return f'; [{name} "{words}"]'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _unescaped(value: str) -> str:
    letters = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda match: letters.get(match[1], match[1]), value)
