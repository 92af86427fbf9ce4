"""Choice of plays where races are answered from bear-off tables and the rest by the network.

Kernels that know no tables (`forward`, `selfplay.choose_batch`) do not call these, so that what most
positions need compiles in half the time.
"""

from typing import NamedTuple

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, forward
from tdgammon.kernels.path import follow, take_up


class Network(NamedTuple):
    """What positions are valued by. The two are taken apart once a batch: numba counts references to
    every array of a tuple that it hands on."""

    layers: forward.Layers
    bearoff: bearoff.Tables
    """What answers for races; without points the layers do."""


@nb.njit(cache=True, nogil=True)
def contact_may_end(board, die1, die2):
    """Whether a roll can bring every own checker past the opponent's rearmost one."""
    pips = die1 + die2 if die1 != die2 else 4 * die1
    rear = 0
    while rear < 26 and board[rear] >= 0:
        rear += 1
    for place in range(25, rear, -1):
        if board[place] > 0:
            pips -= board[place] * (place - rear + 1)
            if pips < 0:
                return False
    return True


@nb.njit(cache=True, nogil=True)
def _best_near_race(board, rows, steps, start, end, network, tables, values, work, race_work, best):
    """As `forward.best_afterstate` where some afterstates are races and some are not."""
    path, room, probabilities = work
    take_up(board, network.num_checkers, path)
    depth = 0
    chosen = start
    least = np.float32(np.inf)
    for at in range(start, end):
        depth = follow(steps, at, depth, path)
        if bearoff.is_race(rows[at]):
            bearoff.evaluate(rows[at], tables, network.num_checkers, race_work, probabilities)
        else:
            forward.evaluate(depth, network, path, room, probabilities)
        equity = np.float32(0)
        for k in range(6):
            equity += probabilities[k] * values[k]
        if equity < least:
            least = equity
            chosen = at
            for k in range(6):
                best[k] = probabilities[k]
    return chosen


@nb.njit(cache=True, nogil=True, inline="always")
def choose(board, die1, die2, rows, steps, start, end, network, tables, values, work, race_work, best):
    """As `forward.best_afterstate`, for the afterstates of one roll; races are answered from `tables`.

    race_work is `bearoff.workspace()`. Contact is looked at before the roll, once: with it, only a
    play that ends it can leave a race, and few rolls are that large.
    """
    if tables.points > 0 and contact_may_end(board, die1, die2):
        if bearoff.is_race(board):
            chosen = bearoff.best_afterstate(
                rows, start, end, tables, network.num_checkers, values, race_work, best
            )
        else:
            chosen = _best_near_race(
                board, rows, steps, start, end, network, tables, values, work, race_work, best
            )
    else:
        chosen = forward.best_afterstate(board, rows, steps, start, end, network, values, work, best)
    return chosen


@nb.njit(cache=True, nogil=True)
def near_races(boards, rolls, near):
    """Into bool [B]: whether a roll may leave a race."""
    for b in range(len(boards)):
        near[b] = contact_may_end(boards[b], np.int64(rolls[b, 0]), np.int64(rolls[b, 1]))


@nb.njit(cache=True, nogil=True)
def evaluate_races(boards, tables, num_checkers, probabilities):
    """Outcome probabilities [B, 6] of races [B, 26], player on roll."""
    race_work = bearoff.workspace()
    for b in range(len(boards)):
        bearoff.evaluate(boards[b], tables, num_checkers, race_work, probabilities[b])
