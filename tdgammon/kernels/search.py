"""Looking ahead: the value of a board some rolls on, by the best static reply to each roll.

A board's value at n plies is the mean over the 21 rolls of the value at n - 1 plies of the reply that
the network likes best as it stands. Games that are over and races that the tables answer are not
looked into any further. The tree is walked one path at a time; only the path is kept. With a cube its
worths (see `cubeful`) go up the tree beside the chances: at every board the side on roll doubles where
that gains.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, cubeful, forward, movegen, racing

MOST_PLIES = 4


@nb.njit(cache=True, nogil=True)
def _is_over(board):
    own = False
    opposing = False
    for place in range(26):
        if board[place] > 0:
            own = True
        elif board[place] < 0:
            opposing = True
    return not own or not opposing


@nb.njit(cache=True, nogil=True)
def _is_settled(board, tables, num_checkers, table, race_work):
    """Whether more plies change nothing: the game is over, or the bear-off tables know the board. They
    know the chances of races, and what the cube is worth for money with few checkers."""
    if _is_over(board):
        return True
    if tables.points == 0 or not bearoff.is_race(board):
        return False
    if table is None:
        return True
    own, theirs = bearoff.pair_of(board, tables, num_checkers, race_work)
    return table.is_endless and own > 0 and theirs > 0


@nb.njit(cache=True, nogil=True)
def fill_settled(boards, network, table, settled):
    """Into bool [B]: whether more plies change nothing, with a `CubeTable` in the worths of it."""
    layers, tables = network
    race_work = bearoff.workspace()
    for b in range(len(boards)):
        settled[b] = _is_settled(boards[b], tables, layers.num_checkers, table, race_work)


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
def fill_by_roll(
    boards,
    first,
    last,
    plies,
    rolls,
    weights,
    network,
    values,
    table,
    side,
    chances_by_roll,
    worths_by_roll,
):
    """The player's value after each roll: that at plies - 1 of the best play of the roll.

    Does the pairs of board b and roll r with first <= b * R + r < last. plies is 1 to MOST_PLIES,
    weights float64 [R] sum to 1, values float32 [2, 6] are the points of the outcomes to sides 0 and 1
    that replies are chosen by. Into chances_by_roll float64 [B, R, 6] and, with a `CubeTable`, into
    worths_by_roll float64 [B, R, L, 3]; `side` of it is on roll. table None = no cube, L = 0. Boards
    must not be settled.
    """
    buffers = (
        np.empty((movegen.ROW_BOUND, 26), np.int8),
        np.empty((movegen.ROW_BOUND, 4), np.uint8),
        np.empty(26, np.int8),
        np.zeros(movegen.SCRATCH, np.int64),
    )
    layers, tables = network
    num_checkers = layers.num_checkers
    work = forward.workspace(layers)
    race_work = bearoff.workspace()
    best = np.empty(6, np.float32)
    path = np.empty((MOST_PLIES + 1, 26), np.int8)
    chances = np.empty((MOST_PLIES + 1, 6), np.float64)
    num_levels = worths_by_roll.shape[2]
    worths = np.empty((MOST_PLIES + 1, num_levels, 3), np.float64)
    decided = np.empty((num_levels, 3), np.float64)
    next_roll = np.zeros(MOST_PLIES + 1, np.int64)
    num_rolls = len(rolls)
    for item in range(first, last):
        b, r = item // num_rolls, item % num_rolls
        path[0] = boards[b]
        next_roll[0] = r
        chances[0] = 0
        worths[0] = 0
        depth = 0
        goes_on = True
        while goes_on:
            # one step down: the reply to the next roll of this board
            mover = side ^ (depth & 1)
            roll = next_roll[depth]
            next_roll[depth] += 1
            reply = path[depth + 1]
            _reply(
                path[depth],
                rolls[roll],
                layers,
                tables,
                values[1 - mover],
                buffers,
                work,
                race_work,
                reply,
                best,
            )
            depth += 1
            next_roll[depth] = 0
            if depth < plies and not _is_settled(reply, tables, num_checkers, table, race_work):
                chances[depth] = 0
                worths[depth] = 0
                continue
            for k in range(6):
                chances[depth, k] = best[k]
            if table is not None:
                cubeful.evaluate(
                    reply, best, tables, num_checkers, table, 1 - mover, race_work, worths[depth]
                )
            # and up, as long as the board has had its last roll
            while True:
                on_roll = side ^ (depth & 1)
                if table is not None:
                    cubeful.decide(worths[depth], table, on_roll, decided)
                depth -= 1
                weight = weights[next_roll[depth] - 1] if depth > 0 else 1.0
                for k in range(6):
                    chances[depth, k] += weight * chances[depth + 1, 5 - k]
                if table is not None:
                    cubeful.add_reply(decided, weight, worths[depth])
                if depth == 0:
                    goes_on = False
                    break
                if next_roll[depth] < num_rolls:
                    break
        chances_by_roll[b, r] = chances[0]
        worths_by_roll[b, r] = worths[0]


@nb.njit(cache=True, nogil=True)
def fill_means(by_roll, weights, means):
    """Means over rolls of numbers float64 [B, R, N] into [B, N]."""
    total = np.empty(by_roll.shape[2], np.float64)
    for b in range(len(by_roll)):
        total[:] = 0
        for r in range(len(weights)):
            for k in range(len(total)):
                total[k] += weights[r] * by_roll[b, r, k]
        for k in range(len(total)):
            means[b, k] = total[k]
