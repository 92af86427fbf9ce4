"""Trials of a rollout: games played on from a board, their results freed of the luck of the dice.

A result is seven numbers: the chances of the six outcomes, and what the game is worth, with the cube
if there is a `cubeful.CubeTable`. The luck of a roll is what the position after its best play is worth
less the mean of that over the 21 rolls, by a network that may be another than the one that plays. Its
mean is 0 whatever that network believes, so taking it off changes no expectation, and the better the
network knows, the less is left to vary.

A cube is int64 [3]: level, owner (0 none, 1 side 0, 2 side 1), doublings beyond the level (in an
endless table). Side 0 is on roll at the start. `table` None means no cube; numba then leaves those
parts out.
"""

import numba as nb
import numpy as np

from tdgammon.kernels import bearoff, cubeful, dice, forward, movegen, racing

AT_END, AT_EXACT, AT_RACE = 0, 1, 2
"""Where a trial stops: with the game; where the table of pairs is exact; at any race."""

NO_CONTROL, SAME_NETWORK, OTHER_NETWORK = 0, 1, 2
"""Whose values the luck is measured by."""

MOST_TURNS = 2000
"""A trial that lasts longer ends with the value of the position reached."""

MARGIN = np.float32(0.15)
"""Plays further behind without the cube are not looked at with it: a share of what lies between
winning and losing a single game, that is 0.3 points for money."""

OPTIONAL = 0.001
"""Normalised equity that a side with nothing to lose may seem to give up by doubling."""

LEVEL, OWNER, BEYOND = 0, 1, 2
WORTH = 6
_ROWS = movegen.ROW_BOUND


@nb.njit(cache=True, nogil=True)
def workspace(layers, num_levels):
    """Arrays that the functions below work in: for a roll's plays, for a network, for races, worths."""
    return (
        (
            np.empty((_ROWS, 26), np.int8),
            np.empty((_ROWS, 4), np.uint8),
            np.empty(26, np.int8),
            np.zeros(movegen.SCRATCH, np.int64),
        ),
        forward.workspace(layers),
        bearoff.workspace(),
        np.empty((2, num_levels, 3), np.float64),
    )


@nb.njit(cache=True, nogil=True)
def choose(board, first, second, network, values, work, best):
    """Row of the best afterstate of a roll without the cube; its chances, seen by the opponent, whose
    points of the outcomes are `values`, go to `best`."""
    layers, tables = network
    room, layers_work, race_work, _ = work
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
        layers_work,
        race_work,
        best,
    )


@nb.njit(cache=True, nogil=True, inline="always")
def _points(chances, values):
    points = np.float32(0)
    for k in range(6):
        points += chances[k] * values[k]
    return points


@nb.njit(cache=True, nogil=True, inline="always")
def _owner_seen_by(side, owner):
    return owner if owner == 0 or side == 0 else 3 - owner


@nb.njit(cache=True, nogil=True)
def worth_of(board, chances, network, values, table, side, cube, work):
    """Worth to `side`, on roll and free to double, in units of the cube at the level and beyond it."""
    if table is None:
        return np.float64(_points(chances, values[side, 0]))
    layers, tables = network
    _, _, race_work, worths = work
    cubeful.evaluate(board, chances, tables, layers.num_checkers, table, side, race_work, worths[0])
    cubeful.decide(worths[0], table, side, worths[1])
    return worths[1][cube[LEVEL], _owner_seen_by(side, cube[OWNER])]


@nb.njit(cache=True, nogil=True)
def choose_with_cube(board, first, second, network, values, table, side, cube, work, chances, best):
    """As `choose`, by what an afterstate is worth to the opponent of `side` with the cube.

    values float32 [2, L, 6]: points of the outcomes to each side, which say what plays are too far
    behind to be looked at; chances float32 [ROW_BOUND, 6] is working space.
    """
    layers, tables = network
    room, layers_work, race_work, _ = work
    rows, steps, flipped, scratch = room
    end = movegen.generate(board, first, second, flipped, scratch, rows, steps, movegen.FIRST)
    forward.fill_afterstates(board, steps, movegen.FIRST, end, layers, layers_work, chances)
    near_race = tables.points > 0 and racing.contact_may_end(board, first, second)
    points = values[1 - side, cube[LEVEL]]
    lowest = np.float32(np.inf)
    for at in range(end):
        if near_race and bearoff.is_race(rows[at]):
            bearoff.evaluate(rows[at], tables, layers.num_checkers, race_work, chances[at])
        lowest = min(lowest, _points(chances[at], points))
    reach = lowest + MARGIN * (points[2] - points[3])
    chosen = movegen.FIRST
    least = np.inf
    for at in range(end):
        if _points(chances[at], points) <= reach:
            worth = worth_of(rows[at], chances[at], network, values, table, 1 - side, cube, work)
            if worth < least:
                least = worth
                chosen = at
    best[:] = chances[chosen]
    return chosen


@nb.njit(cache=True, nogil=True)
def offer(board, chances, network, table, side, cube, work, result):
    """Let `side` double before his roll and the opponent answer; says whether the game goes on.

    The cube moves; the worth of a pass is added to `result`, which is side 0's.
    """
    level = cube[LEVEL]
    own = _owner_seen_by(side, cube[OWNER])
    if own == cubeful.THEIRS or not table.may_double[side, level]:
        return True
    layers, tables = network
    _, _, race_work, worths = work
    cubeful.evaluate(board, chances, tables, layers.num_checkers, table, side, race_work, worths[0])
    answered = cubeful.taken(worths[0], table, side, level)
    gain = min(answered, table.cash[side, level]) - worths[0][level, own]
    if table.at_once[side, level]:  # nothing to lose: not doubling is only ever a matter of taste
        gain += OPTIONAL * (table.cash[side, level] + table.cash[1 - side, level]) / 2
    if gain <= 0:
        return True
    if answered > table.cash[side, level]:
        scale = 2.0 ** cube[BEYOND]
        result[WORTH] += (1 - 2 * side) * scale * table.cash[side, level]
        return False
    theirs = worths[0][:, cubeful.THEIRS]
    taken = 2 * theirs[level] if table.is_endless else theirs[level + 1]
    turned = 2 if answered < taken else 1  # less than a take gives: a beaver
    if table.is_endless:
        cube[BEYOND] += turned
    else:
        cube[LEVEL] += turned
    cube[OWNER] = 2 - side
    return True


@nb.njit(cache=True, nogil=True)
def take_luck_off(board, first, second, control, values, table, side, cube, work, after, best, result):
    """Take the luck of a roll of `side` off `result`; the control's play and its chances go to
    after int8 [26] and best float32 [6]."""
    rows = work[0][0]
    seen = np.empty(6, np.float32)
    luck = np.zeros(7, np.float64)  # as `side` sees it
    for high in range(1, 7):
        for low in range(1, high + 1):
            points = values[1 - side, cube[LEVEL]]
            chosen = choose(board, np.int64(high), np.int64(low), control, points, work, seen)
            weight = -(1 if high == low else 2) / 36
            if high == max(first, second) and low == min(first, second):
                weight += 1
                after[:] = rows[chosen]
                best[:] = seen
            for k in range(6):
                luck[k] += weight * seen[5 - k]
            worth = worth_of(rows[chosen], seen, control, values, table, 1 - side, cube, work)
            luck[WORTH] -= weight * worth
    for k in range(6):
        result[k if side == 0 else 5 - k] -= luck[k]
    result[WORTH] -= (1 - 2 * side) * 2.0 ** cube[BEYOND] * luck[WORTH]


@nb.njit(cache=True, nogil=True)
def stops(board, stop, network, work):
    """Whether a trial ends with this position: by the rules, or as `stop` says of the tables."""
    layers, tables = network
    going = False
    for place in range(26):
        if board[place] < 0:
            going = True
            break
    if not going:
        return True
    if stop == AT_END or tables.points == 0 or not bearoff.is_race(board):
        return False
    return stop == AT_RACE or bearoff.pair_of(board, tables, layers.num_checkers, work[2])[0] >= 0


@nb.njit(cache=True, nogil=True)
def add_chances(chances, side, result):
    """Add the chances of `side`, on roll, to side 0's result."""
    for k in range(6):
        result[k if side == 0 else 5 - k] += chances[k]


@nb.njit(cache=True, nogil=True)
def play_trials(
    start,
    start_chances,
    keys,
    opening,
    player,
    control,
    values,
    table,
    start_cube,
    may_double,
    truncate,
    stop,
    mode,
    results,
):
    """Play one trial a key from `start`; results float64 [N, 7], seen by its player on roll.

    The first two rolls of trial i are opening int8 [N, 2, 2], the others turn 2, 3 ... of stream
    keys[i]. The network `player` plays and turns the cube; may_double says whether the first roll
    may be doubled before. A trial stops as `stop` says or after `truncate` rolls, with the value of the
    position reached, or with a pass: then the chances are those of the position that was passed.
    values float32 [2, L, 6]: points of each outcome to each side, by level; start_chances float32 [6]
    are the player's; `mode` is SAME_NETWORK if control and player are one.
    """
    num_levels = values.shape[1]
    work = workspace(player.layers, num_levels)
    control_work = workspace(control.layers, num_levels)
    all_chances = np.empty((_ROWS if table is not None else 1, 6), np.float32)
    board = np.empty(26, np.int8)
    after = np.empty(26, np.int8)
    best = np.empty(6, np.float32)
    cube = np.zeros(3, np.int64)
    for trial in range(len(keys)):
        board[:] = start
        best[:] = start_chances
        cube[:] = start_cube
        result = results[trial]
        result[:] = 0
        turn = 0
        while True:
            side = turn % 2
            if table is not None and (turn > 0 or may_double):  # noqa: SIM102 - numba prunes the first
                if not offer(board, best, player, table, side, cube, work, result):
                    break
            if turn < 2:
                first, second = np.int64(opening[trial, turn, 0]), np.int64(opening[trial, turn, 1])
            else:
                first, second = dice.roll(keys[trial], turn)
            if mode != NO_CONTROL:
                take_luck_off(
                    board,
                    first,
                    second,
                    control,
                    values,
                    table,
                    side,
                    cube,
                    control_work,
                    after,
                    best,
                    result,
                )
            if table is not None:
                chosen = choose_with_cube(
                    board, first, second, player, values, table, side, cube, work, all_chances, best
                )
                after[:] = work[0][0][chosen]
            elif mode != SAME_NETWORK:
                chosen = choose(board, first, second, player, values[1 - side, 0], work, best)
                after[:] = work[0][0][chosen]
            board[:] = after
            turn += 1
            if turn >= truncate or stops(board, stop, player, work):
                side = turn % 2
                worth = worth_of(board, best, player, values, table, side, cube, work)
                result[WORTH] += (1 - 2 * side) * 2.0 ** cube[BEYOND] * worth
                break
        add_chances(best, turn % 2, result)


@nb.njit(cache=True, nogil=True)
def begin_turn(
    boards,
    chances,
    cubes,
    live,
    rolls,
    player,
    control,
    values,
    table,
    side,
    may_double,
    has_control,
    results,
):
    """Cube decisions and luck of one turn of trials [N] played side by side, as in `play_trials`.

    boards [N, 26], chances [N, 6] of the player on roll, `side`, cubes [N, 3], rolls [N, 2]; `live`
    bool [N] becomes False with a pass.
    """
    work = workspace(player.layers, values.shape[1])
    control_work = workspace(control.layers, values.shape[1])
    after = np.empty(26, np.int8)
    best = np.empty(6, np.float32)
    for i in range(len(boards)):
        if not live[i]:
            continue
        if table is not None and may_double:  # noqa: SIM102 - numba prunes the first
            if not offer(boards[i], chances[i], player, table, side, cubes[i], work, results[i]):
                live[i] = False
                add_chances(chances[i], side, results[i])
                continue
        if has_control:
            take_luck_off(
                boards[i],
                np.int64(rolls[i, 0]),
                np.int64(rolls[i, 1]),
                control,
                values,
                table,
                side,
                cubes[i],
                control_work,
                after,
                best,
                results[i],
            )


@nb.njit(cache=True, nogil=True)
def end_turn(boards, chances, cubes, live, is_last, player, values, table, side, stop, results):
    """End the live trials whose position, with `side` on roll, is one to stop at, or all if is_last."""
    work = workspace(player.layers, values.shape[1])
    for i in range(len(boards)):
        if live[i] and (is_last or stops(boards[i], stop, player, work)):
            live[i] = False
            worth = worth_of(boards[i], chances[i], player, values, table, side, cubes[i], work)
            results[i, WORTH] += (1 - 2 * side) * 2.0 ** cubes[i, BEYOND] * worth
            add_chances(chances[i], side, results[i])
