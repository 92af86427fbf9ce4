"""Match transcripts in two columns: .mat in its dialects, and the text form of XG.

The left column is player 0. Dialects differ in hit marks, hops, words and spacing; all are read by
one grammar: a row is a number and one or two cells, a cell is `DD: play` or a word about the cube
or the end. Source: what GNU Backgammon, Jellyfish, XG, Backgammon Studio, BackgammonGalaxy and
Foxamon write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tdgammon.game.board import parse
from tdgammon.game.rules import CUBE_LIMITS, GameRules
from tdgammon.game.rules import options as with_options
from tdgammon.notation.columns import OWN_TAGS, unescaped
from tdgammon.notation.ids import flipped, read_xgid
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import Reading, Troubles, lines_of
from tdgammon.notation.record import RECORDED_RULES, SIZES, SetPosition
from tdgammon.notation.snowie import read_snowie
from tdgammon.notation.transcript import UNKNOWN_PLAY, Raw, RawGame, match_record

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
    r"(?<![^\s)])(?:(?P<dice>[1-6]{2})\s?:|(?P<word>re-?doubles?|doubles?|takes?|accepts?|drops?|pass(?:es)?|"
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
            replace(raw, comment=unescaped(own.get(("Comment", f"{key}.{i}"), "")))
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
                comment=unescaped(own.get(("Game comment", key), "")),
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
        elif name in OWN_TAGS:
            key, _, rest = value.partition(" ")
            if name == "Start":
                try:
                    options["start"] = tuple(parse(value).tolist())
                except ValueError as error:
                    troubles.add(line, f"skipped: {error}", value)
            elif name in ("Crawford game", "Rule options"):
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
        rules = with_options(own.get(("Rule options", ""), "").split(), rules)
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
