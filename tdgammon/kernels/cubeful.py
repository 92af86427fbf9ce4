"""Equities with a cube from the six outcome chances, for money and matches, all cube states at once.

A cube state is a level (doublings from the present cube) and an owner. Worths are points per unit of
the present cube for money and 2 MWC - 1 in a match, so that the other side's worth is always the
negative. The vector of worths `values` is float64 [L, 3] by level and owner, seen by the player on
roll: CENTRED 0 (level 0 only), OWN 1, THEIRS 2.

At a leaf the cube's worth lies between a dead and a fully live one (Janowski, "Take-points in money
games", 1993): E = (1 - x) E_dead + x E_live, x the cube life. E_live is piecewise linear in the chance
of winning p, through lost (p = 0), the opponent's cash point, the own cash point and won (p = 1). In a
match, and near the cube limit, cash points come by recursion from the highest useful cube down.
"""

from typing import NamedTuple

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff

CENTRED, OWN, THEIRS = 0, 1, 2
"""Owner of the cube, seen by the player on roll."""

_TINY = 1e-7  # chances nearer to 0 or 1 are a game that is decided


class CubeTable(NamedTuple):
    """What cube, score and rules mean for one game, L levels; side 0 is the player it was made for.

    `decide.cubeful.cube_table` builds it. All arrays are read-only.
    """

    outcomes: np.ndarray
    """float64 [2, L, 6]: worth of each outcome to the side, the cube turned and of that level."""
    centred: np.ndarray
    """float64 [2, 6]: the same at level 0 with a centred cube (Jacoby pays singles only)."""
    cash: np.ndarray
    """float64 [2, L]: worth to the side of the opponent's pass."""
    may_double: np.ndarray
    """bool [2, L]: the side, having access, may double from this level and could gain by it."""
    at_once: np.ndarray
    """bool [2, L]: all the side's losses are worth the same doubled: it has nothing to lose."""
    beavers: np.ndarray
    """bool [L]: who takes a double made at this level may redouble at once and keep the cube."""
    is_endless: bool
    """Money far from the cube limit: L = 1, and a level up is worth twice as much."""
    life: np.ndarray
    """float64 [2, 4]: cube life with contact and in races: base, rise per pip of both sides together,
    least, most."""


@nb.njit(cache=True, nogil=True, inline="always")
def _live(win, lost, passed_at, passed, cash_at, cashed, won):
    """The line through (0, lost), (passed_at, passed), (cash_at, cashed), (1, won) at `win`."""
    if win <= passed_at:
        return lost + (passed - lost) * win / passed_at
    if win >= cash_at:
        return won - (won - cashed) * (1 - win) / (1 - cash_at)
    return passed + (cashed - passed) * (win - passed_at) / (cash_at - passed_at)


@nb.njit(cache=True, nogil=True, inline="always")
def _mean(probabilities, outcomes, first, share):
    """Mean worth of the three outcomes from `first` on, of which the chances sum to `share`."""
    return (
        probabilities[first] * outcomes[first]
        + probabilities[first + 1] * outcomes[first + 1]
        + probabilities[first + 2] * outcomes[first + 2]
    ) / share


@nb.njit(cache=True, nogil=True)
def _decided_game(probabilities, table, side, values):
    """The winner is known: no cube matters any more."""
    for level in range(len(values)):
        worth, centred = 0.0, 0.0
        for k in range(6):
            worth += probabilities[k] * table.outcomes[side, level, k]
            centred += probabilities[k] * table.centred[side, k]
        values[level, CENTRED] = centred if level == 0 else 0.0
        values[level, OWN] = worth
        values[level, THEIRS] = worth


@nb.njit(cache=True, nogil=True)
def leaf(probabilities, life_centred, life_own, life_theirs, table, side, values):
    """Worths of all cube states, float64 [L, 3], before the roll and without a double in this turn.

    probabilities [6] of the player on roll, who is `side` (0 or 1) of the table; cube lives 0 to 1 by
    owner. A side with nothing to lose is taken to double as soon as it may (automatic redouble).
    """
    win = np.float64(probabilities[0]) + probabilities[1] + probabilities[2]
    lose = np.float64(probabilities[3]) + probabilities[4] + probabilities[5]
    scale = win + lose  # 1, but for rounding
    if win < _TINY * scale or lose < _TINY * scale:
        _decided_game(probabilities, table, side, values)
        return
    win, lose = win / scale, lose / scale
    other = 1 - side
    top = len(values) - 1
    # of the level above: mean worth of wins and losses; both cash points and what they are worth
    won_up, lost_up, dead_up = 0.0, 0.0, 0.0
    cash_at_up, cashed_up, passed_at_up, passed_up = 1.0, 0.0, 0.0, 0.0
    for level in range(top, -1, -1):
        outcomes = table.outcomes[side, level]
        won = _mean(probabilities, outcomes, 0, win * scale)
        lost = _mean(probabilities, outcomes, 3, lose * scale)
        dead = win * won + lose * lost
        cash_at, cashed, passed_at, passed = 1.0, won, 0.0, lost
        can, could = table.may_double[side, level], table.may_double[other, level]
        if can:
            cashed = table.cash[side, level]
            if table.is_endless:
                cash_at = (1 - lost) / (won - lost + 0.5)
            else:
                share = (cashed - passed_up) / (won_up - passed_up)
                cash_at = min(passed_at_up + share * (1 - passed_at_up), 1.0)
        if could:
            passed = -table.cash[other, level]
            if table.is_endless:
                passed_at = (-lost - 0.5) / (won - lost + 0.5)
            else:
                passed_at = max(cash_at_up * (passed - lost_up) / (cashed_up - lost_up), 0.0)
        own_at_once = can and table.at_once[side, level]
        theirs_at_once = could and table.at_once[other, level]
        own, theirs = dead, dead
        if own_at_once:
            own = max(dead, min(dead_up, cashed))
        if theirs_at_once:
            theirs = min(dead, max(dead_up, passed))
        live = _live(win, lost, 0.0, lost, cash_at, cashed, won)
        values[level, OWN] = own + life_own * (live - own)
        live = _live(win, lost, passed_at, passed, 1.0, won, won)
        values[level, THEIRS] = theirs + life_theirs * (live - theirs)
        values[level, CENTRED] = 0.0
        if level == 0:
            first_won = _mean(probabilities, table.centred[side], 0, win * scale)
            first_lost = _mean(probabilities, table.centred[side], 3, lose * scale)
            worth = win * first_won + lose * first_lost
            if own_at_once:
                worth = max(worth, min(dead_up, cashed))
            if theirs_at_once:
                worth = min(worth, max(dead_up, passed))
            live = _live(
                win,
                first_lost,
                passed_at,
                passed if could else first_lost,
                cash_at,
                cashed if can else first_won,
                first_won,
            )
            values[level, CENTRED] = worth + life_centred * (live - worth)
        won_up, lost_up, dead_up = won, lost, dead
        cash_at_up, cashed_up, passed_at_up, passed_up = cash_at, cashed, passed_at, passed


@nb.njit(cache=True, nogil=True)
def taken(values, table, side, level):
    """Worth to the doubler, `side`, of a double from `level` that is taken, or beavered if that is
    better for the taker. (Whom a beaver costs nothing would not raccoon; none is counted.)"""
    up = level + 1
    if table.is_endless:
        worth = 2 * values[level, THEIRS]
        if table.beavers[level]:
            worth = min(worth, 2 * worth)
        return worth
    worth = values[up, THEIRS]
    if table.beavers[level] and up + 1 < len(values):
        worth = min(worth, values[up + 1, THEIRS])
    return worth


@nb.njit(cache=True, nogil=True)
def decide(values, table, side, decided):
    """Worths with the player on roll, `side`, doubling where that gains: float64 [L, 3] into `decided`.

    values is what `leaf` or `add_reply` gave for not doubling in this turn.
    """
    for level in range(len(values)):
        for owner in range(3):
            decided[level, owner] = values[level, owner]
        if table.may_double[side, level]:
            turned = min(taken(values, table, side, level), table.cash[side, level])
            decided[level, OWN] = max(values[level, OWN], turned)
            if level == 0:
                decided[level, CENTRED] = max(values[level, CENTRED], turned)


@nb.njit(cache=True, nogil=True)
def add_reply(decided, weight, values):
    """Add `weight` times a reply of the opponent's view, after `decide`, to the player's `values`."""
    for level in range(len(values)):
        values[level, CENTRED] -= weight * decided[level, CENTRED]
        values[level, OWN] -= weight * decided[level, THEIRS]
        values[level, THEIRS] -= weight * decided[level, OWN]


@nb.njit(cache=True, nogil=True)
def life_of(board, line):
    """Cube life of a board by its class's line: base, rise per pip of both sides, least, most."""
    pips = 25 * (board[25] - board[0])
    for place in range(1, 25):
        count = board[place]
        pips += place * count if count > 0 else (place - 25) * count
    return min(max(line[0] + line[1] * pips, line[2]), line[3])


@nb.njit(cache=True, nogil=True)
def fill_lives(boards, lines, lives):
    """Cube lives of boards [B, 26] into float64 [B]; lines as in `CubeTable.life`."""
    for b in range(len(boards)):
        lives[b] = life_of(boards[b], lines[1 if bearoff.is_race(boards[b]) else 0])


@nb.njit(cache=True, nogil=True)
def _exact_life(exact, win, passed_at, cash_at):
    """Cube life with which the formula gives the exact gammonless money equity."""
    if win < _TINY or win > 1 - _TINY:
        return 0.0
    dead = 2 * win - 1
    live = _live(win, -1.0, passed_at, -1.0, cash_at, 1.0, 1.0)
    if abs(live - dead) < 1e-6:
        return 0.0
    return min(max((exact - dead) / (live - dead), 0.0), 1.0)


@nb.njit(cache=True, nogil=True)
def evaluate(board, probabilities, tables, num_checkers, table, side, race_work, values):
    """As `leaf`, with the cube lives of the board's class; exact for money where the pairs hold it.

    board int8 [26] seen by the player on roll; tables `bearoff.Tables` (without points there are no
    pairs), race_work `bearoff.workspace()`. In matches the pairs say how live the cube is for money.
    """
    is_race = bearoff.is_race(board)
    own, theirs = -1, -1
    if is_race and tables.points > 0:
        own, theirs = bearoff.pair_of(board, tables, num_checkers, race_work)
    if own <= 0 or theirs <= 0:
        x = life_of(board, table.life[1 if is_race else 0])
        leaf(probabilities, x, x, x, table, side, values)
        return
    pair = tables.pairs[own, theirs]
    if table.is_endless:
        values[0, OWN], values[0, CENTRED], values[0, THEIRS] = pair[1], pair[2], pair[3]
        return
    win = np.float64(probabilities[2])
    leaf(
        probabilities,
        _exact_life(pair[2], win, 0.2, 0.8),
        _exact_life(pair[1], win, 0.0, 0.8),
        _exact_life(pair[3], win, 0.2, 1.0),
        table,
        side,
        values,
    )


@nb.njit(cache=True, nogil=True)
def evaluate_batch(boards, probabilities, tables, num_checkers, table, side, values):
    """`evaluate` for boards [B, 26] and probabilities [B, 6]: worths float64 [B, L, 3]."""
    race_work = bearoff.workspace()
    for b in range(len(boards)):
        evaluate(boards[b], probabilities[b], tables, num_checkers, table, side, race_work, values[b])


@nb.njit(cache=True, nogil=True)
def leaf_batch(probabilities, lives, table, side, values):
    """`leaf` for probabilities [B, 6] and cube lives float64 [B]: worths float64 [B, L, 3]."""
    for b in range(len(probabilities)):
        leaf(probabilities[b], lives[b], lives[b], lives[b], table, side, values[b])


@nb.njit(cache=True, nogil=True)
def decide_batch(values, table, side, decided):
    """`decide` for worths [B, L, 3]."""
    for b in range(len(values)):
        decide(values[b], table, side, decided[b])
