"""Whole decisions and whole games in one kernel: generate, evaluate from the parent, choose, store."""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, dice, forward, movegen, racing

_ROWS = movegen.ROW_BOUND


@nb.njit(cache=True, nogil=True)
def choose_batch(boards, rolls, layers, values, chosen, probabilities):
    """Best afterstate [B, 26] of each roll and its probabilities [B, 6], seen by the opponent.

    The layers decide alone. Returns the number of afterstates looked at.
    """
    rows = np.empty((_ROWS, 26), np.int8)
    steps = np.empty((_ROWS, 4), np.uint8)
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    work = forward.workspace(layers)
    num_afterstates = 0
    for b in range(len(boards)):
        first, second = np.int64(rolls[b, 0]), np.int64(rolls[b, 1])
        end = movegen.generate(boards[b], first, second, flipped, scratch, rows, steps, movegen.FIRST)
        best = forward.best_afterstate(
            boards[b], rows, steps, movegen.FIRST, end, layers, values, work, probabilities[b]
        )
        chosen[b] = rows[best]
        num_afterstates += end
    return num_afterstates


@nb.njit(cache=True, nogil=True)
def choose_near_races(boards, rolls, network, values, chosen, probabilities):
    """As `choose_batch`, with races from the tables of a `racing.Network`."""
    rows = np.empty((_ROWS, 26), np.int8)
    steps = np.empty((_ROWS, 4), np.uint8)
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    layers, tables = network
    work = forward.workspace(layers)
    race_work = bearoff.workspace()
    for b in range(len(boards)):
        first, second = np.int64(rolls[b, 0]), np.int64(rolls[b, 1])
        end = movegen.generate(boards[b], first, second, flipped, scratch, rows, steps, movegen.FIRST)
        best = racing.choose(
            boards[b],
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
            probabilities[b],
        )
        chosen[b] = rows[best]


@nb.njit(cache=True, nogil=True)
def play_games(
    starts,
    first_turns,
    keys,
    network,
    values,
    max_turns,
    stops_at_races,
    boards,
    probabilities,
    lengths,
):
    """Play one game a key from `starts` [G, 26] by the best afterstate at each turn.

    The dice of a game are those of its stream from turn first_turns[g] on. Game after game, row t of
    a game is the board before its roll and, in `probabilities`, its value as the choice that led to
    it saw it (the first row of a game is not written). A game's last row is its final position with
    its exact outcome or, where stops_at_races, the first race that it comes to, with the chances that
    the tables give. lengths int32 [G] gets the number of rows, or 0 for a game dropped after
    max_turns. `boards` needs max_turns + 2 rows a game. Returns the number of rows used.
    """
    rows = np.empty((_ROWS, 26), np.int8)
    steps = np.empty((_ROWS, 4), np.uint8)
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    layers, tables = network
    work = forward.workspace(layers)
    race_work = bearoff.workspace()
    at = 0
    for game in range(len(keys)):
        boards[at] = starts[game]
        turn = 0
        over = False
        while turn < max_turns and not over:
            board = boards[at + turn]
            first, second = dice.roll(keys[game], first_turns[game] + turn)
            end = movegen.generate(board, first, second, flipped, scratch, rows, steps, movegen.FIRST)
            best = racing.choose(
                board,
                np.int64(first),
                np.int64(second),
                rows,
                steps,
                movegen.FIRST,
                end,
                layers,
                tables,
                values,
                work,
                race_work,
                probabilities[at + turn + 1],
            )
            boards[at + turn + 1] = rows[best]
            turn += 1
            if stops_at_races:
                over = bearoff.is_race(rows[best])
            else:
                over = True
                for place in range(26):
                    if rows[best, place] < 0:
                        over = False
                        break
        if over:
            lengths[game] = turn + 1
            at += turn + 1
        else:
            lengths[game] = 0
    return at


@nb.njit(cache=True, nogil=True)
def one_roll(boards, rolls, weights, network, values, expected, equity_sds):
    """Value of each board one roll on: mean over rolls [R, 2] of the best afterstate's probabilities.

    expected float32 [B, 6] and equity_sds float32 [B] (SD over rolls of the equity, the luck of a
    roll) are the player's; weights float64 [R] sum to 1.
    """
    rows = np.empty((_ROWS, 26), np.int8)
    steps = np.empty((_ROWS, 4), np.uint8)
    flipped = np.empty(26, np.int8)
    scratch = np.zeros(movegen.SCRATCH, np.int64)
    layers, tables = network
    work = forward.workspace(layers)
    race_work = bearoff.workspace()
    best = np.empty(6, np.float32)
    mean = np.empty(6, np.float64)
    for b in range(len(boards)):
        mean[:] = 0
        square = 0.0
        for r in range(len(rolls)):
            first, second = np.int64(rolls[r, 0]), np.int64(rolls[r, 1])
            end = movegen.generate(
                boards[b], first, second, flipped, scratch, rows, steps, movegen.FIRST
            )
            racing.choose(
                boards[b],
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
            equity = 0.0
            for k in range(6):
                mean[k] += weights[r] * best[5 - k]
                equity += best[5 - k] * values[k]
            square += weights[r] * equity * equity
        equity = 0.0
        for k in range(6):
            expected[b, k] = mean[k]
            equity += mean[k] * values[k]
        equity_sds[b] = np.sqrt(max(0.0, square - equity * equity))
