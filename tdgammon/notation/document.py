"""Matches and positions as JSON documents, written and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from typing import Any

from tdgammon.game.rules import GameRules
from tdgammon.notation.ids import Position, gnubg_id, xgid
from tdgammon.notation.plays import NotationError, write_play
from tdgammon.notation.reading import Analysis, Reading, ReadingWarning, Troubles
from tdgammon.notation.record import (
    CUBE_ACTIONS,
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
    applied,
    outcome,
    replayed,
)

FORMAT = "tdgammon-match/1"
POSITIONS_FORMAT = "tdgammon-positions/1"


def match_document(record: MatchRecord, warnings: Iterable[ReadingWarning] = ()) -> dict[str, Any]:
    """The match as a JSON document; its keys are those of `tdgammon convert --to json`."""
    changed = {
        field.name: getattr(record.rules, field.name)
        for field in fields(GameRules)
        if getattr(record.rules, field.name) != getattr(RECORDED_RULES, field.name)
    }
    return {
        "format": FORMAT,
        "length": record.length,
        "players": list(record.players),
        "rules": changed,
        "tags": [list(tag) for tag in record.tags],
        "games": [_game(record, game) for game in record.games],
        "final_score": list(record.final_score),
        "warnings": warning_documents(warnings),
    }


def warning_documents(warnings: Iterable[ReadingWarning]) -> list[dict[str, Any]]:
    """Warnings as JSON."""
    return [{"line": one.line, "message": one.message, "text": one.text} for one in warnings]


def _game(record: MatchRecord, game: GameRecord) -> dict[str, Any]:
    result = outcome(game, record.length, record.rules)
    return {
        "number": game.number,
        "start_score": list(game.start_score),
        "is_crawford": game.is_crawford,
        "winner": game.winner,
        "points": game.points,
        "points_by_rule": result.points_by_rule,
        "cube": result.cube_value,
        "finished": game.winner is not None,
        "end": result.end,
        "kind": SIZES.get(result.size or 0) if result.end != "pass" else None,
        "comment": game.comment,
        "events": [_event(moment) for moment in replayed(game, record.rules)],
    }


def _event(moment: Moment) -> dict[str, Any]:
    event = moment.event
    found: dict[str, Any]
    if isinstance(event, Turn):
        found = {"type": "play", "player": event.player, "dice": list(event.dice)}
        found["play"] = None if event.steps is None else write_play(moment.board, event.steps)
        found["steps"] = None if event.steps is None else [list(step) for step in event.steps]
        found["legal"] = event.is_legal
    elif isinstance(event, CubeAction):
        found = {"type": event.action, "player": event.player}
    elif isinstance(event, Resignation):
        return {"type": "resign", "player": event.player, "size": event.size}
    else:
        return {
            "type": "set",
            "board": list(event.board),
            "cube": event.cube_value,
            "cube_owner": event.cube_owner,
        }
    return found | ({"comment": event.comment} if event.comment else {})


def positions_document(reading: Reading) -> dict[str, Any]:
    """Positions as a JSON document, each with its identifiers and what XG says about it."""
    analyses = {analysis.line: analysis for analysis in reading.analyses}
    return {
        "format": POSITIONS_FORMAT,
        "positions": [
            _position(line, position, analyses.get(line)) for line, position in reading.positions
        ],
        "warnings": warning_documents(reading.warnings),
    }


def _position(line: int, position: Position, analysis: Analysis | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "line": line,
        "xgid": None if position.resigned else xgid(position),
        "gnubg_id": gnubg_id(position),
        "board": list(position.board),
        "on_roll": position.on_roll,
        "dice": list(position.dice) if position.dice else None,
        "cube": position.cube_value,
        "cube_owner": position.cube_owner,
        "length": position.length,
        "scores": list(position.scores),
        "is_crawford": position.is_crawford,
        "offer": position.offer,
        "resigned": position.resigned,
    }
    if analysis is not None and (analysis.plays or analysis.cube):
        found["analysis"] = {
            "plays": [asdict(play) for play in analysis.plays],
            "cube": analysis.cube,
            "chances": analysis.chances,
        }
    return found


def write_json(record: MatchRecord, warnings: Iterable[ReadingWarning] = ()) -> str:
    """`match_document` as text."""
    return json.dumps(match_document(record, warnings), ensure_ascii=False) + "\n"


def read_json(source: str) -> Reading:
    """The match of a document that `write_json` wrote; raises NotationError for anything else."""
    try:
        content = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise NotationError(f"not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise NotationError(f"not a match document: format must be {FORMAT!r}")
    try:
        record = _record(content)
        for game in record.games:
            for moment in replayed(game, record.rules):
                if isinstance(moment.event, Turn):
                    applied(moment.board, moment.event.steps or ())
    except NotationError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise NotationError(f"match document: {type(error).__name__}: {error}") from None
    troubles = Troubles()
    for one in content.get("warnings", []) if isinstance(content.get("warnings"), list) else []:
        if isinstance(one, dict) and isinstance(one.get("line"), int):
            troubles.add(one["line"], str(one.get("message")), str(one.get("text")))
    return Reading(format="json", record=record, warnings=troubles.all())


def _record(content: dict[str, Any]) -> MatchRecord:
    if not isinstance(content["rules"], dict):
        raise ValueError(f"rules: names and values expected, got {content['rules']!r}")
    options = dict(content["rules"])
    if "start" in options:
        options["start"] = tuple(_whole(options["start"], -15, 15, 26))
    length = _number(content["length"], 0, 1000)
    left, right = content["players"]
    games = []
    for number, game in enumerate(content["games"], 1):
        try:
            games.append(_game_record(game))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NotationError(
                f"match document: game {number}: {type(error).__name__}: {error}"
            ) from None
    return MatchRecord(
        players=(_words(left), _words(right)),
        length=length,
        games=tuple(games),
        rules=replace(RECORDED_RULES, **options),
        tags=tuple((_words(name), _words(value)) for name, value in content["tags"]),
    )


def _game_record(game: dict[str, Any]) -> GameRecord:
    winner, points = game["winner"], game["points"]
    first, second = _whole(game["start_score"], 0, 2**15 - 1, 2)
    return GameRecord(
        number=_number(game["number"], 0, 10**6),
        start_score=(first, second),
        events=tuple(map(_event_of, game["events"])),
        is_crawford=_flag(game["is_crawford"]),
        winner=None if winner is None else _number(winner, 0, 1),
        points=None if points is None else _number(points, 0, 10**6),
        comment=_words(game["comment"]),
    )


def _event_of(event: dict[str, Any]) -> Event:
    kind, comment = event["type"], _words(event.get("comment", ""))
    if kind == "set":
        owner = event["cube_owner"]
        board = tuple(_whole(event["board"], -15, 15, 26))
        cube = _number(event["cube"], 1, 2**12)
        Position(board=board, cube_value=cube)  # refuses what cannot be
        return SetPosition(board, cube, None if owner is None else _number(owner, 0, 1))
    player = _number(event["player"], 0, 1)
    if kind == "play":
        high, low = _whole(event["dice"], 1, 6, 2)
        steps = event["steps"]
        if steps is not None:
            pairs = [_whole(step, 0, 25, 2) for step in steps]
            if any(source <= to for source, to in pairs) or len(pairs) > 16:
                raise ValueError(f"steps {steps!r} do not move forward")
            steps = tuple((source, to) for source, to in pairs)
        return Turn(player, (high, low), steps, _flag(event["legal"]), comment)
    if kind == "resign":
        size = event["size"]
        return Resignation(player, None if size is None else _number(size, 1, 3))
    if kind in CUBE_ACTIONS:
        return CubeAction(player, kind, comment)
    raise ValueError(f"no event is called {kind!r}")


def _number(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"a number from {low} to {high} expected, got {str(value)[:40]!r}")
    return value


def _whole(values: Any, low: int, high: int, length: int) -> list[int]:
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(f"{length} numbers expected, got {str(values)[:40]!r}")
    return [_number(value, low, high) for value in values]


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"text expected, got {str(value)[:40]!r}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"text with half a character: {value[:40]!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false expected, got {str(value)[:40]!r}")
    return value
