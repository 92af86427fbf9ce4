"""Trials of a rollout: games played on from a board, their results freed of the luck of the dice.

The luck of a roll is the value after its best play less the mean of that over the 21 rolls, both by a
network that may be another than the one that plays. Its mean is 0 whatever that network believes, so
taking it off changes no expectation, and what is left varies the less the better the network knows.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, dice, forward, movegen, racing

AT_END, AT_EXACT, AT_RACE = 0, 1, 2
"""Where a trial stops: with the game; where the table of pairs is exact; at any race."""

MOST_TURNS = 2000
"""A trial that lasts longer ends with the value of the position reached."""

_ROWS = movegen.ROW_BOUND


@nb.njit(cache=True, nogil=True)
def _choose(board, first, second, layers, tables, values, room, work, race_work, best):
    """Row of the best afterstate of a roll; its probabilities, seen by the opponent, go to `best`."""
    rows, steps, flipped, scratch = room
    end = movegen.generate(board, first, second, flipped, scratch, rows, steps, movegen.FIRST)
    return racing.choose(
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


@nb.njit(cache=True, nogil=True)
def _look_at_rolls(
    board, first, second, layers, tables, values, room, work, race_work, after, best, expected
):
    """Choose for all 21 rolls: after [26] and best [6] get what the actual one leaves, and
    expected float64 [6] the mean of their probabilities, seen by the opponent."""
    rows = room[0]
    seen = np.empty(6, np.float32)
    expected[:] = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            chosen = _choose(
                board,
                np.int64(high),
                np.int64(low),
                layers,
                tables,
                values,
                room,
                work,
                race_work,
                seen,
            )
            weight = (1 if high == low else 2) / 36
            for k in range(6):
                expected[k] += weight * seen[k]
            if high == max(first, second) and low == min(first, second):
                after[:] = rows[chosen]
                best[:] = seen


@nb.njit(cache=True, nogil=True)
def has_left(board):
    """Whether the opponent of the player on roll has checkers left."""
    for place in range(26):  # noqa: SIM110 - numba has no generators to give to any()
        if board[place] < 0:
            return True
    return False


@nb.njit(cache=True, nogil=True)
def stops(board, stop, tables, num_checkers, race_work):
    """Whether a trial ends before this roll, as its place in `best` already holds what it is worth."""
    if not has_left(board):
        return True
    if stop == AT_END or tables.points == 0 or not bearoff.is_race(board):
        return False
    return stop == AT_RACE or bearoff.pair_of(board, tables, num_checkers, race_work)[0] >= 0


@nb.njit(cache=True, nogil=True)
def play_trials(start, keys, opening, player, control, values, truncate, stop, has_control, results):
    """Play one trial a key from `start`; results float64 [N, 6], seen by its player on roll.

    The first two rolls of trial i are opening int8 [N, 2, 2], the others turn 2, 3 ... of stream
    keys[i]. A trial stops as `stop` says or after `truncate` rolls, with the value of the position
    reached. The network `player` plays; with has_control > 0 the luck by the network `control` is taken
    off, and 2 says that the two are different.
    """
    room = (
        np.empty((_ROWS, 26), np.int8),
        np.empty((_ROWS, 4), np.uint8),
        np.empty(26, np.int8),
        np.zeros(movegen.SCRATCH, np.int64),
    )
    layers, tables = player
    control_layers, control_tables = control
    work = forward.workspace(layers)
    control_work = forward.workspace(control_layers)
    race_work = bearoff.workspace()
    board = np.empty(26, np.int8)
    after = np.empty(26, np.int8)
    best = np.empty(6, np.float32)
    expected = np.empty(6, np.float64)
    for trial in range(len(keys)):
        board[:] = start
        result = results[trial]
        result[:] = 0
        turn = 0
        while True:
            if turn < 2:
                first, second = np.int64(opening[trial, turn, 0]), np.int64(opening[trial, turn, 1])
            else:
                first, second = dice.roll(keys[trial], turn)
            if has_control > 0:
                _look_at_rolls(
                    board,
                    first,
                    second,
                    control_layers,
                    control_tables,
                    values,
                    room,
                    control_work,
                    race_work,
                    after,
                    best,
                    expected,
                )
                for k in range(6):
                    luck = best[k] - expected[k]
                    result[5 - k if turn % 2 == 0 else k] -= luck
            if has_control != 1:
                chosen = _choose(
                    board, first, second, layers, tables, values, room, work, race_work, best
                )
                after[:] = room[0][chosen]
            board[:] = after
            turn += 1
            if turn >= truncate or stops(board, stop, tables, layers.num_checkers, race_work):
                break
        for k in range(6):  # the player on roll now is the one of `start` after an even number of turns
            result[5 - k if turn % 2 else k] += best[k]
