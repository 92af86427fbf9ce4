"""Checker moves of a play as its text has them, the quick way.

For plays in the usual form, which nearly all are; what leaves a choice is for `plays.read_play`.
Whether the rules allow a play is not looked at here.
"""

from __future__ import annotations

import functools
import itertools
import re
from itertools import pairwise

from tdgammon.game.board import OWN_BAR
from tdgammon.notation.ids import Cells
from tdgammon.notation.plays import Step

NO_MOVE_WORDS = ("cannot move", "can't move", "cant move", "no move", "-")
"""Ways to write that a roll could not be played, in lower case."""

_WORD = re.compile(r"(bar|off|\d{1,2})((?:[/-](?:bar|off|\d{1,2})\*?)+)(?:\(([1-4])\))?", re.IGNORECASE)
_PLACES = {"bar": OWN_BAR, "off": 0}


@functools.lru_cache(4096)
def _word(word: str) -> tuple[tuple[int, ...], int] | None:
    """Places and count of one part of a play, None if it has another form or goes backwards."""
    match = _WORD.fullmatch(word)
    if not match:
        return None
    names = re.split("[/-]", match[1].lower() + match[2].lower().replace("*", ""))
    places = tuple(_PLACES.get(name, -1) if name in _PLACES else int(name) for name in names)
    if max(places) > OWN_BAR or any(source <= to for source, to in pairwise(places)):
        return None
    return places, int(match[3] or 1)


def quick_steps(text: str, cells: Cells, dice: tuple[int, int]) -> tuple[Step, ...] | None:
    """Checker moves of a play in a usual form, if the text leaves no choice; legality is not checked.

    None sends the text to the careful reader. What comes back leads to the one board that the text
    can mean: hops left out are filled in only where no blot stands on either way round.
    """
    high, low = max(dice), min(dice)
    steps: list[Step] = []
    if text.lower() in NO_MOVE_WORDS:
        return ()
    for word in text.split():
        part = _word(word)
        if part is None:
            return None
        places, count = part
        way: list[Step] = []
        for source, to in pairwise(places):
            distance = source - to
            if high == low:
                while source - to > high:
                    way.append((source, source - high))
                    source -= high
                way.append((source, to))
                if source - to != high and to:
                    return None
            elif distance in (high, low) or (to == 0 and distance < high):
                way.append((source, to))
            elif distance == high + low or to == 0:
                between = [source - die for die in (high, low) if source - die > 0]
                if any(cells[place] == -1 for place in between):
                    return None
                free = [place for place in between if cells[place] >= 0]
                if not free:
                    return None
                way += [(source, free[0]), (free[0], to)]
            else:
                return None
        steps += way * count
    if len(steps) > (4 if high == low else 2):
        return None
    return tuple(sorted(steps, reverse=True))


def without_remark(text: str) -> tuple[str, str]:
    """A play and the words without numbers after it (`8/5 6/5 ?!`); ("", "") if there are none."""
    words = re.sub(r"(?<=[\d)*fF])([!?]{1,3})", r" \1", text).split()
    play = list(itertools.takewhile(_word, words))
    remark = " ".join(words[len(play) :])
    if not play or not remark or re.search(r"\d", remark):
        return "", ""
    return " ".join(play), remark


def written_steps(text: str) -> tuple[Step, ...]:
    """Checker moves exactly as written, none if the text has another form."""
    steps: list[Step] = []
    for word in re.sub(r"\s*([/*(-])\s*", r"\1", text).replace(",", " ").split():
        part = _word(word)
        if part is None or len(steps) > 8:
            return ()
        steps += list(pairwise(part[0])) * part[1]
    return tuple(steps)
