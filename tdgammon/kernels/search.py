"""Looking ahead: the value of a board some rolls on, by the best static reply to each roll.

A board's value at n plies is the mean over the 21 rolls of the value at n - 1 plies of the reply that
the network likes best as it stands. Games that are over and races that the tables answer are not
looked into any further. Rolls that leave the same board are looked into once: three in ten of them, on
the boards of games (EXPERIMENTS.md). With a cube its worths (see `cubeful`) go up the tree beside the
chances: at every board the side on roll doubles where that gains. A table of no levels is no cube.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, cubeful, forward, movegen, racing

MOST_PLIES = 4

_TOP = np.int64(0)  # a plain 0 is a type of its own to numba: it would compile the tree twice


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
    if table.cash.shape[1] == 0:
        return True
    own, theirs = bearoff.pair_of(board, tables, num_checkers, race_work)
    return table.is_endless and own > 0 and theirs > 0


@nb.njit(cache=True, nogil=True)
def fill_settled(boards, network, table, settled):
    """Into bool [B]: whether more plies change nothing, in the worths of the cube neither."""
    layers, tables = network
    race_work = bearoff.workspace()
    for b in range(len(boards)):
        settled[b] = _is_settled(boards[b], tables, layers.num_checkers, table, race_work)


@nb.njit(cache=True, nogil=True)
def _reply(board, roll, layers, tables, values, buffers, work, race_work, reply, static):
    """The best reply to a roll as it stands, and its chances as the other side sees them."""
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
        static,
    )
    for place in range(26):
        reply[place] = rows[chosen, place]


@nb.njit(cache=True, nogil=True)
def merge(replies, weights, merged):
    """Weights [R] of replies [R, 26], those of equal ones added to the first of them and then 0."""
    for r in range(len(replies)):
        merged[r] = weights[r]
        for earlier in range(r):
            if merged[earlier] == 0:
                continue
            place = 0
            while place < 26 and replies[r, place] == replies[earlier, place]:
                place += 1
            if place == 26:
                merged[earlier] += weights[r]
                merged[r] = 0
                break


@nb.njit(cache=True, nogil=True)
def merge_batch(replies, weights, merged):
    """`merge` for replies [B, R, 26]: into [B, R]."""
    for b in range(len(replies)):
        merge(replies[b], weights, merged[b])


@nb.njit(cache=True, nogil=True)
def _look_ahead(board, plies, side, depth, tree, rolls, weights, layers, tables, values, table, tools):
    """Chances and cube worths at `plies` (1 or more) of a board not settled, for `side` on roll,
    into row `depth` of the tree."""
    replies, statics, merged, chances, worths, decided = tree
    buffers, work, race_work = tools
    num_levels = len(decided)
    other = 1 - side
    for r in range(len(rolls)):
        _reply(
            board,
            rolls[r],
            layers,
            tables,
            values[other],
            buffers,
            work,
            race_work,
            replies[depth, r],
            statics[depth, r],
        )
    merge(replies[depth], weights, merged[depth])
    chances[depth] = 0
    worths[depth] = 0
    for r in range(len(rolls)):
        weight = merged[depth, r]
        if weight == 0:
            continue
        reply = replies[depth, r]
        if plies > 1 and not _is_settled(reply, tables, layers.num_checkers, table, race_work):
            _look_ahead(
                reply,
                plies - 1,
                other,
                depth + 1,
                tree,
                rolls,
                weights,
                layers,
                tables,
                values,
                table,
                tools,
            )
        else:
            chances[depth + 1] = statics[depth, r]
            if num_levels > 0:
                cubeful.evaluate(
                    reply,
                    statics[depth, r],
                    tables,
                    layers.num_checkers,
                    table,
                    other,
                    race_work,
                    worths[depth + 1],
                )
        for k in range(6):
            chances[depth, k] += weight * chances[depth + 1, 5 - k]
        if num_levels > 0:
            cubeful.decide(worths[depth + 1], table, other, decided)
            cubeful.add_reply(decided, weight, worths[depth])


@nb.njit(cache=True, nogil=True)
def fill_values(
    boards,
    statics,
    first,
    last,
    plies,
    rolls,
    weights,
    network,
    values,
    table,
    side,
    chances,
    worths,
):
    """Values of boards first..last - 1 at plies 0 to MOST_PLIES, for the player on roll.

    statics float32 [B, 6] are the chances at 0-ply; weights float64 [R] sum to 1; values float32 [2, 6]
    are the points of the outcomes to sides 0 and 1 that replies are chosen by; `side` of the
    `CubeTable` is on roll. Into chances float64 [B, 6] and worths float64 [B, L, 3], not doubling in
    this turn.
    """
    layers, tables = network
    race_work = bearoff.workspace()
    buffers = (
        np.empty((movegen.ROW_BOUND, 26), np.int8),
        np.empty((movegen.ROW_BOUND, 4), np.uint8),
        np.empty(26, np.int8),
        np.zeros(movegen.SCRATCH, np.int64),
    )
    tools = (buffers, forward.workspace(layers), race_work)
    num_levels = worths.shape[1]
    tree = (
        np.empty((MOST_PLIES, len(rolls), 26), np.int8),
        np.empty((MOST_PLIES, len(rolls), 6), np.float32),
        np.empty((MOST_PLIES, len(rolls)), np.float64),
        np.empty((MOST_PLIES + 1, 6), np.float64),
        np.empty((MOST_PLIES + 1, num_levels, 3), np.float64),
        np.empty((num_levels, 3), np.float64),
    )
    for b in range(first, last):
        if plies == 0 or _is_settled(boards[b], tables, layers.num_checkers, table, race_work):
            chances[b] = statics[b]
            if num_levels > 0:
                cubeful.evaluate(
                    boards[b],
                    statics[b],
                    tables,
                    layers.num_checkers,
                    table,
                    side,
                    race_work,
                    worths[b],
                )
        else:
            _look_ahead(
                boards[b],
                plies,
                side,
                _TOP,
                tree,
                rolls,
                weights,
                layers,
                tables,
                values,
                table,
                tools,
            )
            chances[b] = tree[3][0]
            worths[b] = tree[4][0]


@nb.njit(cache=True, nogil=True)
def fill_means(first_rows, weights, chances, worths, table, side, mean_chances, mean_worths):
    """Means over the replies of boards [B], which are rows first_rows[b] to first_rows[b + 1] - 1 of
    chances and worths, as the other side sees them; for `side`, into [B, 6] and [B, L, 3]."""
    decided = np.empty(worths.shape[1:], np.float64)
    total = np.empty(6, np.float64)
    for b in range(len(first_rows) - 1):
        total[:] = 0
        mean_worths[b] = 0
        for row in range(first_rows[b], first_rows[b + 1]):
            for k in range(6):
                total[k] += weights[row] * chances[row, 5 - k]
            if len(decided) > 0:
                cubeful.decide(worths[row], table, 1 - side, decided)
                cubeful.add_reply(decided, weights[row], mean_worths[b])
        for k in range(6):
            mean_chances[b, k] = total[k]
