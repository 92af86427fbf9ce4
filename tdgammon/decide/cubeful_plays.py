"""Choice of plays with a cube: what an afterstate is worth depends on the cube and the score.

An afterstate is worth the negative of what it is worth to the opponent, who may double before his
roll. As in `decide.search`, plays that a filter lets through are looked at one ply deeper, and one that
it stopped is behind all that went on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.decide.cubeful import owners_of, tables_of
from tdgammon.decide.decision import CubeEvaluator
from tdgammon.decide.met import MatchEquityTable
from tdgammon.decide.search import FILTERS, Searcher
from tdgammon.game.board import Boards, checked_boards, checked_rolls
from tdgammon.game.moves import afterstates
from tdgammon.game.stakes import Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.value.evaluator import NetworkEvaluator, RankedPlays

_SEEN_BY_OPPONENT = np.array([kernel.CENTRED, kernel.THEIRS, kernel.OWN])


def afterstate_equities(
    evaluator: CubeEvaluator,
    rows: Boards,
    of_game: NDArray[np.int64],
    stakes: Stakes,
    met: MatchEquityTable | None = None,
) -> NDArray[np.float64]:
    """Equities [A] for the players who leave `rows` [A, 26]; of_game [A] is each one's row of `stakes`.

    Points per unit of the present cube, or normalised match equity.
    """
    seen = _SEEN_BY_OPPONENT[owners_of(stakes)]
    tables, index = tables_of(stakes, met)
    equities = np.empty(len(rows))
    for number, table in enumerate(tables):
        picked = np.flatnonzero(index[of_game] == number)
        values = evaluator.worths(rows[picked], table, side=1)
        decided = np.empty_like(values)
        kernel.decide_batch(values, table, 1, decided)
        worths = -decided[np.arange(len(picked)), 0, seen[of_game[picked]]]
        win, lose = table.cash[0, 0], -table.cash[1, 0]
        equities[picked] = 2 * (worths - lose) / (win - lose) - 1
    return equities


def choose(
    evaluator: CubeEvaluator,
    boards: ArrayLike,
    rolls: ArrayLike,
    stakes: Stakes,
    met: MatchEquityTable | None = None,
) -> Boards:
    """The afterstate [B, 26] of the best play of each roll [B, 2] at its stakes, seen by the opponent.

    The first of equal plays. ValueError as `checked_boards` and `checked_rolls`.
    """
    checked = checked_boards(boards)
    rows, offsets = afterstates(checked, checked_rolls(rolls, len(checked)), stakes.rules)
    of_game = np.repeat(np.arange(len(checked)), np.diff(offsets))
    stages = _stages(evaluator)
    equities = afterstate_equities(stages[0], rows, of_game, stakes, met)
    left = [np.arange(offsets[b], offsets[b + 1]) for b in range(len(checked))]
    for ply, deeper in enumerate(stages[1:]):
        assert isinstance(deeper, Searcher)
        moves = FILTERS[deeper.settings.filter][ply]
        left = [plays[moves.kept(equities[plays])] if len(plays) > 1 else plays for plays in left]
        going = [plays for plays in left if len(plays) > 1]
        if going:
            picked = np.concatenate(going)
            equities[picked] = afterstate_equities(deeper, rows[picked], of_game[picked], stakes, met)
    return rows[[plays[np.argmax(equities[plays])] for plays in left]]


def rank(
    evaluator: NetworkEvaluator | Searcher,
    board: ArrayLike,
    roll: ArrayLike,
    stakes: Stakes,
    met: MatchEquityTable | None = None,
) -> RankedPlays:
    """Every play of one roll at these stakes, with equities as `afterstate_equities`; those that a
    filter stopped keep their ply and come after. ValueError as `choose`."""
    rows, _ = afterstates(board, roll, stakes.rules)
    of_game = np.zeros(len(rows), np.int64)
    stages = _stages(evaluator)
    equities = afterstate_equities(stages[0], rows, of_game, stakes, met)
    probabilities = _network(evaluator).probabilities(rows)
    plies, left = np.zeros(len(rows), np.int64), np.arange(len(rows))
    for ply, deeper in enumerate(stages[1:]):
        assert isinstance(deeper, Searcher)
        left = left[FILTERS[deeper.settings.filter][ply].kept(equities[left])]
        equities[left] = afterstate_equities(deeper, rows[left], of_game[left], stakes, met)
        probabilities[left] = deeper.probabilities(rows[left])
        plies[left] = ply + 1
    order = np.lexsort((-equities, -plies))
    return RankedPlays(
        rows[order], probabilities[order], equities[order].astype(np.float32), plies[order]
    )


def _stages(evaluator: CubeEvaluator) -> list[CubeEvaluator]:
    """The evaluator at 0-ply, 1-ply and so on up to its own ply."""
    if not isinstance(evaluator, Searcher):
        return [evaluator]
    deeper = [evaluator.at_ply(ply) for ply in range(1, evaluator.settings.ply + 1)]
    return [evaluator.evaluator, *deeper]


def _network(evaluator: NetworkEvaluator | Searcher) -> NetworkEvaluator:
    return evaluator.evaluator if isinstance(evaluator, Searcher) else evaluator
