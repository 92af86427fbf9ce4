"""SGF as GNU Backgammon writes it: FF[4], GM[6], one tree a game.

White (W) is player 0, Black (B) player 1. Letters name points for both: `x` is Black's 1-point and
White's 24-point, `y` the bar, `z` off. Analysis is passed over, comments are kept. What SGF has no
word for (the size of a resignation, our rules and tags) stands in properties of our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from tdgammon.game.board import OWN_BAR, parse, text
from tdgammon.game.rules import CUBE_LIMITS
from tdgammon.game.rules import options as with_options
from tdgammon.notation.ids import Cells
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import Reading, Troubles
from tdgammon.notation.record import (
    RECORDED_RULES,
    CubeAction,
    GameRecord,
    MatchRecord,
    Outcome,
    Resignation,
    SetPosition,
    Turn,
    outcome,
    rule_options,
)
from tdgammon.notation.transcript import UNKNOWN_PLAY, Raw, RawGame, match_record

GAME_TYPE = "6"
"""GM of backgammon."""

_MAX_VALUES = 200_000  # of one property; analysis of a long match stays far below
_MAX_DEPTH = 1000
_TOKEN = re.compile(r"[(;)]|([A-Za-z]{1,64})|(\[)|\s+")
_VALUE = re.compile(r"(?:[^\]\\]|\\.)*+\]", re.DOTALL)
_RESULT = re.compile(r"([BW])\+(\d{1,6})?\s*(R(?:esign)?)?", re.IGNORECASE)
_INFO = re.compile(r"(length|game|ws|bs):(\d{1,6})")
_MOVES = re.compile(r"([1-6])([1-6])((?:[a-z][a-z])*)")
_TAGS = {"EV": "Event", "RO": "Round", "PC": "Site", "AN": "Transcriber", "DT": "EventDate"}
_SIDES = {"W": 0, "B": 1}

Node = dict[str, list[str]]


def read_sgf(source: str) -> Reading:
    """The match of an SGF collection of backgammon games.

    Of variations the first is read. Raises NotationError if there is no tree with GM[6].
    """
    troubles = Troubles()
    trees = list(_trees(source, troubles))
    games = [(line, nodes) for line, nodes in trees if nodes and nodes[0][1].get("GM") == [GAME_TYPE]]
    for line, nodes in trees:
        if nodes and nodes[0][1].get("GM") != [GAME_TYPE]:
            troubles.add(
                line, "skipped: a tree that is not of backgammon, GM[6]", str(nodes[0][1].get("GM"))
            )
    if not games:
        raise NotationError("no game tree says GM[6], backgammon")
    first = games[0][1][0][1]
    length = _info(first).get("length", 0)
    players = (_text(first, "PW"), _text(first, "PB"))
    options: dict[str, object] = {}
    raw_games = []
    for index, (line, nodes) in enumerate(games):
        root = nodes[0][1]
        for name, player, what in (("PW", players[0], "White"), ("PB", players[1], "Black")):
            if _text(root, name) != player:
                troubles.add(line, f"{what} was {player!r} before", _text(root, name))
        if _info(root).get("length", 0) != length:
            troubles.add(line, f"the match was to {length} points before", _text(root, "MI"))
        options |= _rules(root, length, line, troubles)
        raw_games.append(_raw_game(index, line, nodes, troubles))
    tags = [(name, _text(first, key)) for key, name in _TAGS.items() if key in first]
    if "TG" in first:  # ours: all tags in their order
        tags = _ordered(first)
    try:
        rules = replace(RECORDED_RULES, **options)  # type: ignore[arg-type]
        rules = with_options(_text(first, "OR").split(), rules)
    except ValueError as error:
        troubles.add(games[0][0], f"the rules cannot be so: {error}")
        rules = RECORDED_RULES
    record = match_record(players, length, raw_games, rules, tuple(tags), troubles)
    return Reading(format="sgf", record=record, warnings=troubles.all())


def _ordered(root: Node) -> list[tuple[str, str]]:
    found = []
    for value in root["TG"]:
        name, _, words = _unescaped(value).partition(":")
        found.append((name, words))
    return found


def _trees(source: str, troubles: Troubles) -> Iterator[tuple[int, list[tuple[int, Node]]]]:
    """Line and nodes of each tree's main line; parts that are no SGF are skipped with a warning."""
    position, depth, line, counted = 0, 0, 1, 0
    nodes: list[tuple[int, Node]] = []
    start_line, skip_from = 1, 0  # skip_from: depth of the variation that is passed over
    had_child: list[bool] = []
    values: list[str] | None = None
    while position < len(source):
        match = _TOKEN.match(source, position)
        line += source.count("\n", counted, position)
        counted = position
        if match is None:
            following = re.compile(r"[(;)\[A-Za-z\s]").search(source, position)
            position = following.start() if following else len(source)
            if depth:
                troubles.add(line, "skipped: no SGF", source[counted:position])
            continue
        token = match[0]
        position = match.end()
        if token == "(":
            if had_child and had_child[-1] and not skip_from:
                skip_from = depth + 1
            if had_child:
                had_child[-1] = True
            had_child.append(False)
            depth += 1
            if depth > _MAX_DEPTH:
                raise NotationError(f"line {line}: game trees inside each other, {_MAX_DEPTH} deep")
            if depth == 1:
                nodes, start_line = [], line
            values = None
        elif token == ")":
            if not depth:
                troubles.add(line, "skipped: ) without (")
                continue
            if skip_from == depth:
                skip_from = 0
            depth -= 1
            had_child.pop()
            values = None
            if not depth:
                yield start_line, nodes
        elif token == ";":
            values = None
            if depth and not skip_from:
                nodes.append((line, {}))
        elif match[1]:
            name = "".join(letter for letter in token if letter.isupper())
            values = None
            if depth and nodes and not skip_from:
                values = nodes[-1][1].setdefault(name, [])
        elif match[2]:
            value = _VALUE.match(source, position)
            if value is None:
                troubles.add(
                    line,
                    "a value without its ] to the end of the file",
                    source[position : position + 200],
                )
                break
            if values is not None and len(values) < _MAX_VALUES:
                values.append(value[0][:-1])
            position = value.end()
    if depth:
        troubles.add(line, "the last game tree is not closed")
        yield start_line, nodes


def _info(root: Node) -> dict[str, int]:
    return {
        match[1]: int(match[2]) for value in root.get("MI", []) if (match := _INFO.fullmatch(value))
    }


def _text(node: Node, name: str) -> str:
    return _unescaped(node[name][0]) if node.get(name) else ""


def _unescaped(value: str) -> str:
    return re.sub(
        r"\\(\r?\n|.)", lambda match: "" if "\n" in match[1] else match[1], value, flags=re.DOTALL
    )


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("]", "\\]")


def _rules(root: Node, length: int, line: int, troubles: Troubles) -> dict[str, object]:
    options: dict[str, object] = {}
    for word in _text(root, "RU").replace(" ", "").split(":"):
        if word == "Jacoby" and not length:
            options["jacoby"] = True
        elif word in ("Beaver", "Beavers"):
            options["beavers"] = True
        elif word == "Raccoons":
            options["raccoons"] = True
        elif word not in ("", "Crawford", "CrawfordGame", "Jacoby"):
            troubles.add(line, "a rule that is not known", word)
    limit = _text(root, "CL")
    if limit.isdigit() and len(limit) < 6 and int(limit) in CUBE_LIMITS:
        options["cube_limit"] = int(limit)
    if start := _text(root, "SB"):
        try:
            options["start"] = tuple(parse(start).tolist())
        except ValueError as error:
            troubles.add(line, f"skipped: {error}", start)
    return options


def _raw_game(index: int, line: int, nodes: list[tuple[int, Node]], troubles: Troubles) -> RawGame:
    root = nodes[0][1]
    info = _info(root)
    entries: list[Raw] = []
    for node_line, node in nodes[1:] if len(nodes) > 1 else []:
        entries += _entries(node_line, node, troubles, index + 1)
    entries = _resignations(entries, index + 1, troubles)
    # a roll of its own that is only said again in the move after it
    said_again = {
        i
        for i, (entry, following) in enumerate(pairwise(entries))
        if entry.text == UNKNOWN_PLAY and following.dice and following.player == entry.player
    }
    entries = [entry for i, entry in enumerate(entries) if i not in said_again]
    winner = points = size = None
    result = _text(root, "RE")
    if match := _RESULT.fullmatch(result):
        winner = _SIDES[match[1].upper()]
        points = int(match[2]) if match[2] else None
        stood = _text(root, "PT")
        points = int(stood) if re.fullmatch(r"\d{1,6}", stood) else points
    elif result not in ("", "Void", "?"):
        troubles.add(line, f"game {index + 1}: a result that cannot be read", result)
    if _text(root, "RS") in ("1", "2", "3"):
        size = int(_text(root, "RS"))
    rules = _text(root, "RU").split(":")
    # without a word about the Crawford rule the score has to tell
    crawford = (
        None if "Crawford" not in rules and "CrawfordGame" not in rules else "CrawfordGame" in rules
    )
    return RawGame(
        number=info["game"] + 1 if "game" in info else index + 1,
        line=line,
        score=(info.get("ws", 0), info.get("bs", 0)),
        entries=entries,
        winner=winner,
        points=points,
        is_crawford=crawford,
        size=size,
        comment=_text(root, "GC"),
    )


def _entries(line: int, node: Node, troubles: Troubles, game: int) -> Iterator[Raw]:
    """What a node says: a set position, a move, a word about the cube."""
    comment = _text(node, "C")
    if any(name in node for name in ("AE", "AB", "AW", "CV", "CP")):
        position = _set_position(line, node, troubles)
        if position is not None:
            yield Raw(line, 0, "set position", position=position)
    for name, player in _SIDES.items():
        for value in node.get(name, []):
            if value in ("double", "take", "drop"):
                yield Raw(
                    line, player, value, action="pass" if value == "drop" else value, comment=comment
                )
            elif (match := _MOVES.fullmatch(value)) and len(match[3]) <= 8:
                play = _play(match[3], player)
                yield Raw(line, player, play, dice=(int(match[1]), int(match[2])), comment=comment)
            elif re.fullmatch(r"resign(?::\d{1,4})?", value):  # the result says the size
                yield Raw(line, player, value, action="resign", comment=comment)
            elif value in ("accept", "reject"):
                yield Raw(line, player, value, action=value)
            else:
                troubles.add(line, f"game {game}: a move that cannot be read", f"{name}[{value}]")
    dice = _text(node, "DI")
    if re.fullmatch("[1-6]{2}", dice):
        player = _SIDES.get(_text(node, "PL")[:1].upper(), 0)
        yield Raw(line, player, UNKNOWN_PLAY, dice=(int(dice[0]), int(dice[1])), comment=comment)


def _resignations(entries: list[Raw], game: int, troubles: Troubles) -> list[Raw]:
    """The entries without the answers to resignations, and without resignations that were refused."""
    kept: list[Raw] = []
    for entry in entries:
        if entry.action == "reject" and kept and kept[-1].action == "resign":
            kept.pop()
            troubles.add(entry.line, f"game {game}: a resignation that was refused is left out")
        elif entry.action not in ("accept", "reject"):
            kept.append(entry)
    return kept


def _play(letters: str, player: int) -> str:
    places = [_place(letter, player) for letter in letters]
    return " ".join(f"{a}/{b}" for a, b in zip(places[::2], places[1::2], strict=True))


def _place(letter: str, player: int) -> int:
    """The player's number of a place."""
    if letter >= "y":
        return OWN_BAR if letter == "y" else 0
    point = ord(letter) - ord("a") + 1
    return point if player == 0 else 25 - point


def _letter(place: int, player: int) -> str:
    if place in (0, OWN_BAR):
        return "y" if place else "z"
    return chr(ord("a") + (place if player == 0 else 25 - place) - 1)


def _set_position(line: int, node: Node, troubles: Troubles) -> SetPosition | None:
    """The position of a set-up node that places every checker, seen by White."""
    board = [0] * 26
    for name, sign, player in (("AW", 1, 0), ("AB", -1, 1)):
        for value in node.get(name, []):
            if not re.fullmatch("[a-y](:[a-y])?", value):
                troubles.add(line, f"skipped: no place {value[:20]!r} in {name}")
                continue
            for code in range(ord(value[0]), ord(value[-1]) + 1):
                place = _place(chr(code), player)
                board[place if player == 0 else 25 - place] += sign
    value = _text(node, "CV")
    owner = {"w": 0, "b": 1}.get(_text(node, "CP")[:1].lower())
    if not any(board):
        troubles.add(line, "skipped: a set-up without checkers", str(node)[:100])
        return None
    if any(sum(max(sign * count, 0) for count in board) > 15 for sign in (1, -1)):
        troubles.add(line, "skipped: a set-up with more than 15 checkers of a side")
        return None
    cube = int(value) if value.isdigit() and len(value) < 6 and int(value) in CUBE_LIMITS else 1
    return SetPosition(tuple(board), cube, owner)


def write_sgf(record: MatchRecord) -> str:
    """The match as SGF that GNU Backgammon loads."""
    return "".join(_tree(record, game) for game in record.games)


def _tree(record: MatchRecord, game: GameRecord) -> str:
    white, black = (_escaped(name) for name in record.players)
    rules = ["Crawford"] if record.length else []
    rules += ["CrawfordGame"] if game.is_crawford else []
    rules += ["Jacoby"] if record.rules.jacoby else []
    rules += ["Beavers"] if record.rules.beavers else []
    rules += ["Raccoons"] if record.rules.raccoons else []
    score = game.start_score
    root = [
        "FF[4]GM[6]CA[UTF-8]AP[tdgammon]",
        f"MI[length:{record.length}][game:{game.number - 1}][ws:{score[0]}][bs:{score[1]}]",
        f"PW[{white}]PB[{black}]",
    ]
    root += [
        f"{key}[{_escaped(value)}]"
        for key, name in _TAGS.items()
        for tag, value in record.tags
        if tag == name
    ]
    if rules:
        root.append(f"RU[{':'.join(rules)}]")
    if record.tags:
        root.append("TG" + "".join(f"[{_escaped(f'{name}:{value}')}]" for name, value in record.tags))
    if record.rules.cube_limit != RECORDED_RULES.cube_limit:
        root.append(f"CL[{record.rules.cube_limit}]")
    if record.rules.start != RECORDED_RULES.start:
        root.append(f"SB[{text(record.rules.start)}]")
    if words := rule_options(record.rules):
        root.append(f"OR[{' '.join(words)}]")
    result = outcome(game, record.length, record.rules)
    if game.winner is not None:
        points = _uncapped(game, result, record)
        root.append(f"RE[{'WB'[game.winner]}+{points}{'R' * (result.end == 'resignation')}]")
        if points != game.points:
            root.append(f"PT[{game.points}]")
    if result.end == "resignation" and result.size:
        root.append(f"RS[{result.size}]")
    if game.comment:
        root.append(f"GC[{_escaped(game.comment)}]")
    nodes = [node for event in game.events if (node := _node(event))]
    return "\n;".join(["(;" + "".join(root), *nodes]) + ")\n"


def _uncapped(game: GameRecord, result: Outcome, record: MatchRecord) -> int | None:
    """Points as GNU Backgammon counts them, also more than the winner needed."""
    if not record.length or game.points is None:
        return game.points
    if result.end == "resignation" and result.size:
        return max(result.cube_value * record.rules.end_values[result.size - 1], game.points)
    return max(result.points_by_rule or 0, game.points)


def _node(event: object) -> str:
    comment = ""
    if isinstance(event, Turn | CubeAction) and event.comment:
        comment = f"C[{_escaped(event.comment)}]"
    if isinstance(event, Turn):
        side = "WB"[event.player]
        dice = f"{event.dice[0]}{event.dice[1]}"
        if event.steps is None:
            return f"PL[{side}]DI[{dice}]{comment}"
        letters = "".join(_letter(place, event.player) for step in event.steps for place in step)
        return f"{side}[{dice}{letters}]{comment}"
    if isinstance(event, CubeAction):
        word = {"take": "take", "pass": "drop"}.get(event.action, "double")
        return f"{'WB'[event.player]}[{word}]{comment}"
    if isinstance(event, SetPosition):
        return _set_node(event.board, event)
    assert isinstance(event, Resignation)
    return ""


def _set_node(board: Cells, event: SetPosition) -> str:
    white, black = "", ""
    for place, count in enumerate(board):
        if count > 0:
            white += f"[{_letter(place, 0)}]" * count
        elif count < 0:
            black += f"[{_letter(25 - place, 1)}]" * -count
    owner = "c" if event.cube_owner is None else "wb"[event.cube_owner]
    return f"AE[a:y]AW{white}AB{black}CV[{event.cube_value}]CP[{owner}]"
