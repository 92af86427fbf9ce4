"""Looking ahead: the value of a board some rolls on, by the best static reply to each roll.

A board's value at n plies is the mean over the 21 rolls of the value at n - 1 plies of the reply that
the network likes best as it stands. Games that are over and races that the tables answer are not
looked into any further. The tree is walked one path at a time; only the path is kept.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, forward, movegen, racing

MOST_PLIES = 4


@nb.njit(cache=True, nogil=True)
def is_settled(row, has_tables):
    """Whether a board's value is known: the game is over, or it is a race and there are tables."""
    own = False
    opposing = False
    for place in range(26):
        if row[place] > 0:
            own = True
        elif row[place] < 0:
            opposing = True
    return not own or not opposing or (has_tables and bearoff.is_race(row))


@nb.njit(cache=True, nogil=True)
def _reply(board, roll, layers, tables, values, buffers, work, race_work, reply, best):
    """The best static reply to a roll into `reply`, its value as the other side sees it into `best`."""
    rows, steps, flipped, scratch = buffers
    first, second = np.int64(roll[0]), np.int64(roll[1])
    end = movegen.generate(board, first, second, flipped, scratch, rows, steps, movegen.FIRST)
    chosen = racing.choose(
        board,
        first,
        second,
        rows,
        steps,
        movegen.FIRST,
        end,
        layers,
        tables,
        values,
        work,
        race_work,
        best,
    )
    for place in range(26):
        reply[place] = rows[chosen, place]


@nb.njit(cache=True, nogil=True)
def fill_by_roll(boards, first, last, plies, rolls, weights, network, values, by_roll):
    """The player's value after each roll, into by_roll float64 [B, R, 6]: that at plies - 1 of the best
    play of the roll. Does the pairs of board b and roll r with first <= b * R + r < last.

    plies is 1 to MOST_PLIES; weights float64 [R] sum to 1. Boards must not be settled.
    """
    buffers = (
        np.empty((movegen.ROW_BOUND, 26), np.int8),
        np.empty((movegen.ROW_BOUND, 4), np.uint8),
        np.empty(26, np.int8),
        np.zeros(movegen.SCRATCH, np.int64),
    )
    layers, tables = network
    work = forward.workspace(layers)
    race_work = bearoff.workspace()
    best = np.empty(6, np.float32)
    path = np.empty((MOST_PLIES + 1, 26), np.int8)
    means = np.empty((MOST_PLIES + 1, 6), np.float64)
    next_roll = np.zeros(MOST_PLIES + 1, np.int64)
    num_rolls = len(rolls)
    has_tables = tables.points > 0
    for item in range(first, last):
        b, r = item // num_rolls, item % num_rolls
        path[0] = boards[b]
        means[0] = 0
        next_roll[0] = r
        depth = 0
        while depth >= 0:
            roll = next_roll[depth]
            if depth > 0 and roll == num_rolls:  # this board is done: it counts for the one before
                depth -= 1
                weight = weights[next_roll[depth] - 1] if depth > 0 else 1.0
                for k in range(6):
                    means[depth, k] += weight * means[depth + 1, 5 - k]
            else:
                next_roll[depth] = roll + 1
                reply = path[depth + 1]
                _reply(
                    path[depth],
                    rolls[roll],
                    layers,
                    tables,
                    values,
                    buffers,
                    work,
                    race_work,
                    reply,
                    best,
                )
                if depth + 1 < plies and not is_settled(reply, has_tables):
                    depth += 1
                    means[depth] = 0
                    next_roll[depth] = 0
                    continue
                weight = weights[roll] if depth > 0 else 1.0
                for k in range(6):
                    means[depth, k] += weight * best[5 - k]
            if depth == 0:
                break
        by_roll[b, r] = means[0]


@nb.njit(cache=True, nogil=True)
def fill_means(by_roll, weights, means):
    """Means over rolls, float32 [B, 6]."""
    total = np.empty(6, np.float64)
    for b in range(len(by_roll)):
        total[:] = 0
        for r in range(len(weights)):
            for k in range(6):
                total[k] += weights[r] * by_roll[b, r, k]
        for k in range(6):
            means[b, k] = total[k]
