"""The slow twin of the rules, written from docs/rules.md (R1-R12, R26) alone: read it beside that page.

A board is a tuple of 26 numbers laid out as `tdgammon.game.board` says. Everything here keeps the
mover's view, except that `afterstates` turns its answers round at the end, as the package does.
Nothing is clever: every order of the dice and every checker is tried. No code is shared with the
package, so an error would have to be made twice to go unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Board = tuple[int, ...]

START: Board = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)


def flipped(board: Board) -> Board:
    """The same position with the other player to move."""
    return tuple(-count for count in reversed(board))


def step(board: Board, source: int, die: int) -> Board | None:
    """The board after one checker moved by one die, or None where the rules forbid it."""
    if board[source] <= 0:
        return None
    if board[25] > 0 and source != 25:  # R7: the bar comes first
        return None
    to = source - die
    cells = list(board)
    cells[source] -= 1
    if to >= 1:
        if board[to] <= -2:  # R5: closed
            return None
        if board[to] == -1:  # R6: hit
            cells[to] = 0
            cells[0] -= 1
        cells[to] += 1
        return tuple(cells)
    if any(board[place] > 0 for place in range(7, 26)):  # R9, R10: all at home first
        return None
    if to < 0 and any(board[place] > 0 for place in range(source + 1, 7)):  # R9: not from behind
        return None
    return tuple(cells)


def boards_by_dice_played(board: Board, dice: tuple[int, ...]) -> list[dict[Board, set[int]]]:
    """For 0, 1, ... dice played in this order: each board and the last die that was played."""
    levels: list[dict[Board, set[int]]] = [{board: set()}]
    for die in dice:
        after: dict[Board, set[int]] = {}
        for before in levels[-1]:
            for source in range(25, 0, -1):
                result = step(before, source, die)
                if result is not None:
                    after.setdefault(result, set()).add(die)
        if not after:
            break
        levels.append(after)
    return levels


def afterstates(board: Board, roll: tuple[int, int]) -> set[Board]:
    """Every board the roll may leave, seen by the opponent; with no legal play, the board itself."""
    high, low = max(roll), min(roll)
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]  # R4, R3
    searches = [boards_by_dice_played(board, dice) for dice in orders]
    most = max(len(levels) - 1 for levels in searches)  # R8: as many as any order allows
    last = [levels[most] for levels in searches if len(levels) - 1 == most]
    if most == 1 and high != low and any({high} in found.values() for found in last):
        last = [found for found in last if {high} in found.values()]  # R8: then the larger
    return {flipped(after) for found in last for after in found}


Checker = tuple[int, bool]
"""One of the mover's checkers: the place it stands on (0 = borne off), and whether it hit in its own
home board in this turn."""


def caucasian_move(
    checkers: tuple[Checker, ...], enemies: Board, moved: int, die: int
) -> tuple[tuple[Checker, ...], Board] | None:
    """R26: checker number `moved` moves by one die; None where the rules forbid it.

    Every checker is one by itself, so that who hit is never in doubt. enemies[p] counts the
    opponent's checkers on place p, [0] those on the opponent's bar.
    """
    place, has_hit_at_home = checkers[moved]
    others = checkers[:moved] + checkers[moved + 1 :]
    on_the_board = [p for p, _ in others if p > 0]
    if place == 0:
        return None
    if place != 25 and 25 in on_the_board:  # R7
        return None
    to = max(place - die, 0)
    if to == 0:
        if max([place, *on_the_board]) > 6:  # R9, R10
            return None
        if die > place and any(p > place for p in on_the_board):  # R9
            return None
    if to > 0 and enemies[to] >= 2:  # R5
        return None
    if to > 0 and has_hit_at_home and to in on_the_board:  # R26: it may not hide on an own checker
        return None
    left = list(enemies)
    if to > 0 and enemies[to] == 1:  # R6
        left[to] = 0
        left[0] += 1
        has_hit_at_home = has_hit_at_home or to <= 6
    return (*others, (to, has_hit_at_home)), tuple(left)


def caucasian_afterstates(board: Board, roll: tuple[int, int]) -> set[Board]:
    """`afterstates` under R26."""
    high, low = max(roll), min(roll)
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    checkers = tuple((place, False) for place in range(26) for _ in range(board[place]))
    enemies = tuple(max(-count, 0) for count in board)
    found: dict[tuple[int, ...], set[Board]] = {}  # by the dice played: what that leaves
    for dice in orders:
        before = {(checkers, enemies)}
        found.setdefault((), {_seen_by_opponent(checkers, enemies)})
        for played, die in enumerate(dice, start=1):
            after = set()
            for mine, theirs in before:
                for moved in range(len(mine)):
                    result = caucasian_move(mine, theirs, moved, die)
                    if result is not None:
                        # in what order they are listed makes no difference to any later move
                        after.add((tuple(sorted(result[0])), result[1]))
            before = after
            leaves = {_seen_by_opponent(mine, theirs) for mine, theirs in after}
            found.setdefault(tuple(sorted(dice[:played])), set()).update(leaves)
    most = max(len(dice) for dice, leaves in found.items() if leaves)  # R8: as many as can be played
    best = max(dice for dice, leaves in found.items() if leaves and len(dice) == most)  # the larger
    return found[best]


def _seen_by_opponent(checkers: tuple[Checker, ...], enemies: Board) -> Board:
    cells = [-count for count in enemies]
    for place, _ in checkers:
        if place > 0:
            cells[place] += 1
    return flipped(tuple(cells))


def points(board: Board) -> int:
    """R12 for a mover who has just played: 0 while checkers are left, else 1, 2 or 3 points won."""
    if any(count > 0 for count in board):
        return 0
    if sum(-count for count in board if count < 0) < 15:
        return 1
    # the loser's bar is place 0 and the winner's home board is points 1 to 6
    return 3 if any(count < 0 for count in board[0:7]) else 2


_WORD = (1 << 64) - 1


def split_mix(state: int) -> int:
    """SplitMix64's output for a state that has already been advanced (OOPSLA 2014)."""
    word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def random_word(key: int, count: int) -> int:
    """Number `count` of the stream `key`: the state has been advanced count + 1 times."""
    return split_mix((key + (count + 1) * 0x9E3779B97F4A7C15) & _WORD)


def stream_key(seed: int, index: int) -> int:
    """Where stream `index` of `seed` starts, as the docstring of `kernels/dice.py` defines it."""
    scattered = split_mix((seed + 0x9E3779B97F4A7C15) & _WORD)
    return split_mix(scattered ^ ((index * 0xBF58476D1CE4E5B9 + 0x9E3779B97F4A7C15) & _WORD))


def roll(key: int, turn: int) -> tuple[int, int]:
    """The dice of a turn: turn 0 picks one of 30 unequal pairs, every other one of 36."""
    fraction = random_word(key, turn) >> 11
    pairs = [(a, b) for a in range(1, 7) for b in range(1, 7) if turn > 0 or a != b]
    return pairs[fraction * len(pairs) >> 53]


def chances_ahead(
    board: Board,
    plies: int,
    static: Callable[[list[Board]], Sequence[Sequence[float]]],
    values: Sequence[float],
) -> list[float]:
    """Chances of the six outcomes `plies` rolls on, by the replies that are best as they stand.

    static gives the chances of boards, player on roll, as they stand, and values the points of each
    outcome. The mean over the 36 throws is taken throw by throw.
    """
    over = [any(count > 0 for count in board), any(count < 0 for count in board)] != [True, True]
    if plies == 0 or over:
        return list(static([board])[0])
    total = [0.0] * 6
    for first in range(1, 7):
        for second in range(1, first + 1):
            replies = sorted(afterstates(board, (first, second)))
            equities = [
                sum(p * v for p, v in zip(chances, values, strict=True)) for chances in static(replies)
            ]
            reply = replies[equities.index(min(equities))]
            chances = chances_ahead(reply, plies - 1, static, values)
            for k in range(6):
                total[k] += (1 if first == second else 2) * chances[5 - k]
    return [chance / 36 for chance in total]


Worths = list[list[float]]
"""Worth of each cube state by level and owner: centred, the player's on roll, the opponent's."""


def doubled_worths(
    worths: Worths, may_double: Sequence[bool], cash: Sequence[float], is_endless: bool
) -> Worths:
    """Worths of a side on roll that doubles where that gains; nobody beavers.

    By level, may_double says whether it may and cash what the other's pass is worth. is_endless: there
    is one level, and every worth at the next one is twice as large.
    """
    after = []
    for level, (centred, own, theirs) in enumerate(worths):
        if may_double[level]:
            taken = 2 * theirs if is_endless else worths[level + 1][2]
            own = max(own, min(taken, cash[level]))
            centred = max(centred, min(taken, cash[level])) if level == 0 else centred
        after.append([centred, own, theirs])
    return after


def worths_ahead(
    board: Board,
    plies: int,
    side: int,
    static: Callable[[list[Board]], Sequence[Sequence[float]]],
    values: Sequence[Sequence[float]],
    leaf: Callable[[Board, int], Worths],
    doubled: Callable[[Worths, int], Worths],
) -> Worths:
    """Worths of the cube states `plies` rolls on for `side` (0 or 1), on roll and not doubling now.

    Replies are the best as they stand by the points `values` of the side that sees them. leaf gives the
    worths of a board for the side on roll, doubled what they become when it may double.
    """
    over = [any(count > 0 for count in board), any(count < 0 for count in board)] != [True, True]
    if plies == 0 or over:
        return leaf(board, side)
    total = [[0.0] * 3 for _ in leaf(board, side)]
    for first in range(1, 7):
        for second in range(1, first + 1):
            replies = sorted(afterstates(board, (first, second)))
            equities = [
                sum(p * v for p, v in zip(chances, values[1 - side], strict=True))
                for chances in static(replies)
            ]
            reply = replies[equities.index(min(equities))]
            found = worths_ahead(reply, plies - 1, 1 - side, static, values, leaf, doubled)
            for level, (centred, own, theirs) in enumerate(doubled(found, 1 - side)):
                weight = (1 if first == second else 2) / 36
                total[level][0] -= weight * centred
                total[level][1] -= weight * theirs
                total[level][2] -= weight * own
    return total


Side = tuple[int, ...]
"""Checkers on the points 1, 2, ... of one side alone."""

THROWS = [(a, b) for a in range(1, 7) for b in range(1, 7)]


def side_after(side: Side, die: int) -> set[Side]:
    """What one die leaves of a side that nothing stands in the way of (R9)."""
    found = set()
    for index, count in enumerate(side):
        if not count:
            continue
        left = list(side)
        left[index] -= 1
        to = index - die
        if to >= 0:
            left[to] += 1
        elif any(side[6:]) or (to < -1 and any(side[index + 1 :])):
            continue
        found.add(tuple(left))
    return found


def side_plays(side: Side, throw: tuple[int, int]) -> set[Side]:
    """What a throw can leave of a side; once nothing is left, there is nothing to play."""
    orders = [throw[:1] * 4] if throw[0] == throw[1] else [throw, throw[::-1]]
    found = set()
    for dice in orders:
        sides = {side}
        for die in dice:
            sides = set().union(*(side_after(s, die) or {s} for s in sides))
        found |= sides
    return found


def rolls_until(side: Side, left: int, known: dict[tuple[Side, int], list[float]]) -> list[float]:
    """Chances of 0, 1, 2 ... rolls until at most `left` checkers are left, by the least mean of plays.

    known remembers what was worked out before.
    """
    if sum(side) <= left:
        return [1.0]
    if (side, left) not in known:
        chances: list[float] = [0.0]
        for throw in THROWS:
            rows = [rolls_until(play, left, known) for play in side_plays(side, throw)]
            best = min(rows, key=lambda row: sum(k * chance for k, chance in enumerate(row)))
            chances += [0.0] * (len(best) + 1 - len(chances))
            for k, chance in enumerate(best, 1):
                chances[k] += chance / 36
        known[side, left] = chances
    return known[side, left]
