"""Plays in the notation people use: `8/5* 6/5`, `bar/22`, `24/18(2)`, `13/7*/3*`, `6/off`.

Points are numbered from the side of the player who moves, 24 the rearmost; the bar is 25 and off
is 0. Two texts are the same play when they lead to the same board, so plays are told apart by
their afterstates. Writing gives one text for each afterstate; reading takes any usual form.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from tdgammon.game import rules as game_rules
from tdgammon.game.board import OWN_BAR, Boards, checked_boards, checked_rolls
from tdgammon.game.moves import afterstates_with_steps
from tdgammon.game.rules import STANDARD, GameRules

CANNOT_MOVE = "cannot move"
"""How the play of a roll without a legal move is written."""

_NO_MOVE = {"", "-", "cannot move", "cant move", "no move"}
_PLACE = r"(?:bar|off|\d{1,2})"
_PART = re.compile(rf"({_PLACE}(?:[/-]{_PLACE}\*?)+)(?:\((\d)\))?", re.IGNORECASE)

Step = tuple[int, int]
"""One checker move: (source, where to); 25 is the bar and 0 is off."""

_Hop = tuple[int, int]  # one checker move while dice still count: (source, die)


class NotationError(ValueError):
    """A text that cannot be read, or that fits more than one play."""


class IllegalPlay(NotationError, game_rules.IllegalPlay):
    """A text that says clearly what the rules do not allow; the message ends with the reason."""


@dataclass(frozen=True)
class Play:
    """One way of playing a whole roll; plays of one board and roll compare by notation."""

    notation: str
    """As `write_play` writes it; `cannot move` when there is no legal play."""

    afterstate: Boards = field(compare=False, repr=False)
    """The board it leaves, int8 [26], seen by the opponent."""

    steps: tuple[Step, ...]
    """The checker moves, highest source first and legal in this order; none for `cannot move`."""


def plays(board: ArrayLike, roll: ArrayLike, rules: GameRules = STANDARD) -> list[Play]:
    """Every play of a roll, one for each afterstate, in the order of `game.moves.afterstates`.

    board [26], roll [2]; of the rules only `caucasian` matters. Without a legal play the list holds
    one play, `cannot move`, that leaves the board as it is. Raises ValueError as `checked_boards` and
    `checked_rolls` do.
    """
    cells, dice = _one_board(board), checked_rolls(roll, 1)
    rows, packed, _ = afterstates_with_steps(cells, dice, rules)
    found = []
    for row, moves in zip(rows, packed.tolist(), strict=True):
        hops = [divmod(move, 8) for move in moves if move]
        steps = _highest_first([(source, max(source - die, 0)) for source, die in hops])
        found.append(Play(_write(cells[0].tolist(), steps), row.copy(), steps))
    return found


def write_play(board: ArrayLike, steps: Sequence[Step]) -> str:
    """The one written form of checker moves made from `board`, legal or not.

    Highest points first, the moves of one checker joined, a point passed on the way named only
    if a blot is hit there, equal parts counted: `8/5(2)`, `*` on the first landing that hits.
    Raises ValueError for a move that does not go from a higher place to a lower one.
    """
    for source, to in steps:
        if not 0 <= to < source <= OWN_BAR:
            raise ValueError(
                f"steps: a move goes from a place up to 25 to a lower one, got {(source, to)}"
            )
    return _write(_one_board(board)[0].tolist(), _highest_first(steps))


def read_play(text: str, board: ArrayLike, roll: ArrayLike, rules: GameRules = STANDARD) -> Play:
    """The legal play that `text` means; of the rules only `caucasian` matters.

    Order, case, `*` and the separators (blanks or commas; `/` or `-`) are free; bar or 25, off or
    0; `(2)` or written twice; hops named or left out. Where a hop was left out and one way round
    hits and the other does not, the one that hits only on points named in the text is meant.
    `cannot move`, `can't move`, `no move`, `-` and the empty text mean that no play is legal.
    Raises NotationError if the text cannot be read or fits two plays alike, and IllegalPlay, with
    the reason, if the rules forbid it.
    """
    cells = _one_board(board)[0].tolist()
    dice = tuple(checked_rolls(roll, 1)[0].tolist())
    quoted = f"play: {text.strip()!r} with {dice[0]}-{dice[1]}"
    legal = plays(board, roll, rules)
    if text.strip().lower().translate({ord("'"): None, ord("’"): None}) in _NO_MOVE:
        if legal[0].steps:
            raise IllegalPlay(f"{quoted}: there is a legal play, such as {legal[0].notation}")
        return legal[0]
    chains = _chains(text, quoted)
    if not legal[0].steps:
        raise IllegalPlay(f"{quoted}: no play is legal")
    by_board = {tuple((-play.afterstate[::-1]).tolist()): play for play in legal}
    results, faults = _try_out(cells, dice, chains)
    fitting = [by_board[after] for after in results if after in by_board]
    if not fitting and rules.caucasian and _is_standard(results, board, roll):
        raise IllegalPlay(
            f"{quoted}: a checker that hit at home may not go on to an own checker in that turn (R26)"
        )
    if not fitting:
        reason = _reason(dice, chains, len(legal[0].steps), bool(results), faults)
        raise IllegalPlay(f"{quoted}: {reason}")
    # all move the same checkers; each hits the points named, so the fewest hits are those named only
    fewest = min(_num_hit(play) for play in fitting)
    meant = [play for play in fitting if _num_hit(play) == fewest]
    if len(meant) > 1:
        either = " or ".join(play.notation for play in meant)
        raise NotationError(f"{quoted}: may mean {either}")
    return meant[0]


def _is_standard(results: set[tuple[int, ...]], board: ArrayLike, roll: ArrayLike) -> bool:
    """Whether a board of `results`, seen by the player, is left by a standard play."""
    return any(tuple((-play.afterstate[::-1]).tolist()) in results for play in plays(board, roll))


def _one_board(board: ArrayLike) -> Boards:
    rows = checked_boards(board)
    if len(rows) != 1:
        raise ValueError(f"board: one board of 26 numbers expected, got {len(rows)}")
    return rows


def _highest_first(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(sorted(steps, reverse=True))


def _num_hit(play: Play) -> int:
    return int(play.afterstate[OWN_BAR])


def _write(cells: list[int], steps: tuple[Step, ...]) -> str:
    if not steps:
        return CANNOT_MOVE
    left = list(steps)
    parts = []
    while left:
        source, to = left.pop(0)
        part = [source]
        while onward := next((step for step in left if step[0] == to), None):
            left.remove(onward)
            if cells[to] == -1:
                part.append(to)
            to = onward[1]
        parts.append([*part, to])
    written = []
    hit: set[int] = set()
    for part, equal in itertools.groupby(parts):
        words = [_name(part[0])]
        for place in part[1:]:
            hits = place > 0 and cells[place] == -1 and place not in hit
            hit.add(place)
            words.append(_name(place) + "*" * hits)
        count = len(list(equal))
        written.append("/".join(words) + (f"({count})" if count > 1 else ""))
    return " ".join(written)


def _name(place: int) -> str:
    return {OWN_BAR: "bar", 0: "off"}.get(place, str(place))


def _chains(text: str, quoted: str) -> list[list[int]]:
    """The places that each checker of the text is said to touch, from where it stands."""
    tight = re.sub(r"\s*([/-])\s*", r"\1", text.strip())
    tight = re.sub(r"\s+(?=[*(])|(?<=\()\s+|\s+(?=\))", "", tight)
    chains = []
    for part in tight.replace(",", " ").split():
        match = _PART.fullmatch(part)
        if not match:
            raise NotationError(f"{quoted}: {part!r} is not FROM/TO, such as 13/7 or bar/20*")
        words = re.split("[/-]", match[1].lower().replace("*", ""))
        places = [{"bar": OWN_BAR, "off": 0}.get(word, -1) for word in words]
        places = [int(word) if place < 0 else place for word, place in zip(words, places, strict=True)]
        if max(places) > OWN_BAR:
            raise NotationError(f"{quoted}: there is no point {max(places)}")
        count = int(match[2] or 1)
        if not 1 <= count <= 4:
            raise NotationError(f"{quoted}: ({count}) is not a number of checkers from 1 to 4")
        for source, to in itertools.pairwise(places):
            if source <= to:
                raise IllegalPlay(f"{quoted}: {_name(source)}/{_name(to)} does not move forward")
        chains += [places] * count
    return chains


def _hops(places: list[int], dice: tuple[int, ...]) -> Iterator[tuple[list[_Hop], tuple[int, ...]]]:
    """Each way of dice to take one checker along `places`, with the dice that are left."""
    if len(places) == 1:
        yield [], dice
        return
    source, wanted = places[:2]
    for die in sorted(set(dice), reverse=True):
        rest = list(dice)
        rest.remove(die)
        to = source - die
        if to == wanted or (wanted == 0 and to < 0):
            onward = places[1:]
        elif to > wanted:
            onward = [to, *places[1:]]
        else:
            continue
        for hops, left in _hops(onward, tuple(rest)):
            yield [(source, die), *hops], left


def _ways(chains: list[list[int]], dice: tuple[int, ...]) -> Iterator[list[list[_Hop]]]:
    """Each way of dealing the dice out to all the checkers of the text."""
    if not chains:
        yield []
        return
    for hops, left in _hops(chains[0], dice):
        for others in _ways(chains[1:], left):
            yield [hops, *others]


def _orders(way: list[list[_Hop]]) -> Iterator[list[_Hop]]:
    """Each order in which the checkers can take their turns."""
    if not any(way):
        yield []
    for i, hops in enumerate(way):
        if hops and way.index(hops) == i:
            for onward in _orders([*way[:i], hops[1:], *way[i + 1 :]]):
                yield [hops[0], *onward]


_Faults = dict[str, tuple[int, bool]]


def _try_out(
    cells: list[int], dice: tuple[int, ...], chains: list[list[int]]
) -> tuple[set[tuple[int, ...]], _Faults]:
    """Boards that the text can lead to one die at a time, and what stood in its way.

    The first has the moves that lead to each board, the second says of each fault how many moves
    went before it and whether the order of the moves cannot be what caused it.
    """
    results: set[tuple[int, ...]] = set()
    faults: _Faults = {}
    allowed = dice * 2 if dice[0] == dice[1] else dice
    if sum(len(chain) - 1 for chain in chains) > len(allowed):
        return results, faults
    for way in _ways(chains, allowed):
        for order in _orders(way):
            after = list(cells)
            for played, (source, die) in enumerate(order):
                if fault := _fault(after, source, die):
                    faults[fault[0]] = max(faults.get(fault[0], (0, False)), (played, fault[1]))
                    break
                _move(after, source, source - die)
            else:
                results.add(tuple(after))
    return results, faults


def _fault(cells: list[int], source: int, die: int) -> tuple[str, bool] | None:
    """Why the rules forbid one checker move, and whether that holds in any order of moves."""
    to = source - die
    if cells[source] <= 0:
        return "no checker on " + ("the bar" if source == OWN_BAR else f"point {source}"), False
    if cells[OWN_BAR] > 0 and source != OWN_BAR:
        return "must enter from the bar first", False
    if to > 0:
        return (f"point {to} is closed", True) if cells[to] <= -2 else None
    rear = max(place for place, count in enumerate(cells) if count > 0)
    if rear > 6:
        return "cannot bear off while checkers are outside the home board", False
    if to < 0 and rear > source:
        return f"cannot bear off from {source} by a larger number while point {rear} is held", True
    return None


def _move(cells: list[int], source: int, to: int) -> None:
    cells[source] -= 1
    if to > 0:
        if cells[to] == -1:
            cells[to] = 0
            cells[0] -= 1
        cells[to] += 1


def _reason(
    dice: tuple[int, ...], chains: list[list[int]], most: int, has_results: bool, faults: _Faults
) -> str:
    """Why none of what the text can mean is legal; `most` moves can and must be played."""
    if has_results:  # its moves are possible, but too few or of the wrong die
        if most == 1:
            return f"the larger die, {max(dice)}, must be played"
        return "both dice must be played" if dice[0] != dice[1] else f"{most} moves must be played"
    if faults:
        worst = max(faults.values())
        return " and ".join(sorted(fault for fault, met in faults.items() if met == worst))
    allowed = dice * 2 if dice[0] == dice[1] else dice
    num_moves = sum(len(chain) - 1 for chain in chains)
    if num_moves > len(allowed):
        return f"{num_moves} checker moves are more than the {len(allowed)} of the roll"
    for source, to in (pair for chain in chains for pair in itertools.pairwise(chain)):
        if not any(True for _ in _hops([source, to], allowed)):
            return f"the dice do not make the {source - to} pips of {_name(source)}/{_name(to)}"
    return f"the roll gives each die {'four times' if dice[0] == dice[1] else 'once'} only"
