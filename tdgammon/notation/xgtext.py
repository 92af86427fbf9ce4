"""Positions with analysis as XG prints them, in any of its languages, and lists of positions.

Every position has its XGID in the text; the drawing, pip counts and scores repeat it and are passed
over. Of the analysis, plays and equities are read by their form, so the words do not matter.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tdgammon.game.board import checked_rolls, parse
from tdgammon.notation.fibs import read_fibs
from tdgammon.notation.ids import Position, position_id, read_gnubg_id, read_xgid
from tdgammon.notation.plays import NotationError, read_play
from tdgammon.notation.reading import AnalysedPlay, Analysis, Reading, Troubles, lines_of
from tdgammon.notation.snowie import read_snowie

_XGID = re.compile(r"XGID\s?=\s?(\S{1,100})", re.IGNORECASE)
_GNU_PAIR = re.compile(r"(?<![\w+/])([A-Za-z0-9+/]{14}):([A-Za-z0-9+/]{12})(?![\w+/=])")
_GNU_WORDS = re.compile(
    r"Position[- ]?ID\s?:\s?([A-Za-z0-9+/]{14})\s{1,20}Match[- ]?ID\s?:\s?([A-Za-z0-9+/]{12})"
)
_NUMBER = r"[-+−]?\d{1,3}[.,]\d{1,4}"
_RANKED = re.compile(
    rf"\s{{1,12}}(\d{{1,3}})\.\s{{1,12}}(\S.*?)\s{{2,40}}\S{{1,12}}[:：]\s?({_NUMBER})"
)
_CHANCES = re.compile(
    r"[:：]\s{0,9}(\d{1,3}[.,]\d{1,3})\s?%\s?\(\S{1,8}?(\d{1,3}[.,]\d{1,3})\s?%\s?\S{1,8}?(\d{1,3}[.,]\d{1,3})\s?%"
)
_CUBE = re.compile(rf"\s{{1,12}}\S[^:：\d]{{2,40}}[:：]\s{{1,9}}({_NUMBER})(?:\s{{1,9}}\({_NUMBER}\))?")
_PLY = re.compile(r"\s{2,40}")
_WORDS = {
    "aus": "off",
    "out": "off",
    "sorti": "off",
    "sort": "off",
    "外": "off",
    "バー": "bar",
    "barre": "bar",
}
_DOUBLERS_TURN = "a double is on offer: the turn is taken to be the doubler's"
_GNU_ID = re.compile(r"[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]{12})?")


def read_analyses(source: str, troubles: Troubles) -> list[Analysis]:
    """Every position with an XGID in the text, and the analysis that follows it."""
    blocks: list[tuple[int, Position, list[tuple[int, str]]]] = []
    before: list[tuple[int, str]] = []
    for number, line in lines_of(source, troubles):
        match = _XGID.search(line)
        if match is None:
            (blocks[-1][2] if blocks else before).append((number, line))
            continue
        try:
            position = read_xgid(match[1])
        except ValueError as error:
            troubles.add(number, f"skipped: {error}", line)
            continue
        ids = [match for _, other in before[-3:] if (match := _GNU_WORDS.search(other))]
        if ids and ids[-1][1] != position_id(position.board):
            troubles.add(number, f"the Position ID beside it is another board: {ids[-1][1]}", line)
        if position.offer:
            troubles.add(number, _DOUBLERS_TURN, line)
        blocks.append((number, position, []))
    return [_analysis(number, position, lines, troubles) for number, position, lines in blocks]


def _analysis(
    number: int, position: Position, lines: list[tuple[int, str]], troubles: Troubles
) -> Analysis:
    plays: list[AnalysedPlay] = []
    chances: list[float] = []
    cube: list[float] = []
    for at, line in lines:
        if match := _RANKED.match(line):
            if plays:
                plays[-1] = replace(plays[-1], chances=tuple(chances[:6]))
            chances = []
            play = _listed(match, position, at, line, troubles)
            if play is not None:
                plays.append(play)
        elif match := _CHANCES.search(line):
            chances += [_number(match[index]) for index in (1, 2, 3)]
        elif not plays and (match := _CUBE.fullmatch(line)):
            cube.append(_number(match[1]))
    if plays:
        plays[-1] = replace(plays[-1], chances=tuple(chances[:6]))
        chances = []
    return Analysis(
        line=number,
        position=position,
        plays=tuple(plays),
        cube=(cube[0], cube[1], cube[2]) if len(cube) == 3 and position.dice is None else None,
        chances=tuple(chances),
    )


def _listed(
    match: re.Match[str], position: Position, number: int, line: str, troubles: Troubles
) -> AnalysedPlay | None:
    """A listed play in our notation; None, with a warning, if the position does not allow it."""
    level, *rest = _PLY.split(match[2])
    words = " ".join(rest)
    for word, ours in _WORDS.items():
        words = re.sub(rf"(?<![^\W\d_]){word}(?![^\W\d_])", ours, words, flags=re.IGNORECASE)
    if not words or position.dice is None:
        return None
    try:
        notation = read_play(words, position.board, checked_rolls(position.dice, 1)[0]).notation
    except ValueError as error:
        troubles.add(number, f"skipped: {error}", line)
        return None
    return AnalysedPlay(level=level, notation=notation, equity=_number(match[3]))


def _number(words: str) -> float:
    return float(words.replace(",", ".").replace("−", "-"))


def read_xg_positions(source: str) -> Reading:
    """The positions of a text in which XGIDs stand. Raises NotationError if there is none."""
    troubles = Troubles()
    analyses = read_analyses(source, troubles)
    if not analyses:
        raise NotationError(_first(troubles) or "has no XGID")
    return Reading(
        format="xg position",
        positions=tuple((analysis.line, analysis.position) for analysis in analyses),
        analyses=tuple(analyses),
        warnings=troubles.all(),
    )


def read_gnu_positions(source: str) -> Reading:
    """The positions of a text in which GNU Position and Match IDs stand side by side."""
    troubles = Troubles()
    found = []
    for number, line in lines_of(source, troubles):
        match = _GNU_WORDS.search(line) or _GNU_PAIR.search(line)
        if match:
            try:
                found.append((number, read_gnubg_id(f"{match[1]}:{match[2]}")))
            except ValueError as error:
                troubles.add(number, f"skipped: {error}", line)
    if not found:
        raise NotationError(_first(troubles) or "has no GNU ID")
    return Reading(format="gnubg id", positions=tuple(found), warnings=troubles.all())


def read_position_list(source: str) -> Reading:
    """Positions one a line: XGID, GNU ID, FIBS board line, Snowie line, or our text with dice.

    `#` starts a comment; in a table the first column that is an identifier counts. Raises
    NotationError if no line can be read.
    """
    troubles = Troubles()
    found = []
    for number, line in lines_of(source, troubles):
        if line.lstrip().startswith("#"):
            continue
        try:
            position = read_position(line)
            found.append((number, position))
            if position.offer and ":D:" in line.upper():
                troubles.add(number, _DOUBLERS_TURN, line)
        except ValueError as error:
            troubles.add(number, f"skipped: {error}", line)
    if not found:
        raise NotationError(_first(troubles) or "has no position")
    return Reading(format="positions", positions=tuple(found), warnings=troubles.all())


def read_position(line: str) -> Position:
    """The position of one line in any of the usual forms; raises NotationError or ValueError."""
    words = line.strip()
    if words.startswith("board:"):
        return read_fibs(words).position
    if words.count(";") >= 30:
        return read_snowie(words)[0]
    for word in re.split(r"[\t ,]+", words)[:20]:
        if word[:5].upper() == "XGID=" or (word.count(":") == 9 and len(word) > 40):
            return read_xgid(word)
        if ("\t" in words or word == words) and _GNU_ID.fullmatch(word):
            return read_gnubg_id(word)
    if "/" in words or words.lower().startswith("start"):
        board, _, dice = words.partition(";")
        digits = re.fullmatch(r"\s*([1-6])[-, ]?([1-6])\s*", dice)
        if dice.strip() and not digits:
            raise NotationError(f"position: dice of 1 to 6 expected, got {dice.strip()[:20]!r}")
        roll = (int(digits[1]), int(digits[2])) if digits else None
        return Position(board=tuple(parse(board).tolist()), dice=roll)
    raise NotationError("no XGID, GNU ID, FIBS line, Snowie line or board in words")


def _first(troubles: Troubles) -> str:
    return str(troubles.found[0]) if troubles.found else ""
