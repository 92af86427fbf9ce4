"""What of a position is rolled out: the plays of its roll, its cube action, or the position itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tdgammon.decide import cubeful_plays
from tdgammon.decide.bots import NetworkBot, bot
from tdgammon.decide.cubeful import tables_of
from tdgammon.decide.position_stakes import board_of, stakes_of
from tdgammon.decide.rolling import RollingBot
from tdgammon.decide.rollout import Estimate, Rival, Rollout, RolloutSettings
from tdgammon.decide.search import Searcher
from tdgammon.decide.units import threads
from tdgammon.game.board import Boards, checked_boards
from tdgammon.game.stakes import OPPONENTS, Stakes
from tdgammon.notation.ids import BOTTOM, Position
from tdgammon.notation.plays import plays as all_plays
from tdgammon.notation.plays import read_play
from tdgammon.value.evaluator import NetworkEvaluator

NUM_PLAYS = 5
NO_DOUBLE, DOUBLE_TAKE = "no double", "double, take"


def network_player(player: str) -> NetworkBot:
    """The player of that name if it is a network; ValueError for others, which cannot be rolled out."""
    found = bot(player)
    if not isinstance(found, NetworkBot) or isinstance(found, RollingBot):
        raise ValueError(
            f"player {player!r}: only a network that does not roll out itself can roll out"
        )
    if found.is_dead_cube or found.met is not None:
        raise ValueError(
            f"player {player!r}: a rollout goes by the live cube and the default match table"
        )
    return found


def rollout_of(
    position: Position,
    player: NetworkEvaluator | Searcher,
    settings: RolloutSettings,
    *,
    with_cube: bool = True,
    plays: Sequence[str] = (),
    num_plays: int = NUM_PLAYS,
    control: NetworkEvaluator | None = None,
) -> Rollout:
    """The rollout of a position's plays if it has dice, else of its cube action if there is one.

    `plays` names the plays to compare, none = the best `num_plays` as the player sees them. Raises
    ValueError for plays without dice, for one that is not legal, for fewer than one play, and as
    `board_of`.
    """
    stakes = stakes_of(position) if with_cube else None
    board = board_of(position)[0]
    if position.dice is not None:
        if num_plays < 1:
            raise ValueError(f"plays: at least 1 expected, got {num_plays}")
        if plays:
            chosen = [read_play(text, board, position.dice) for text in plays]
            found = {play.notation: play.afterstate for play in chosen}
        else:
            found = _best_plays(board, position.dice, player, stakes, num_plays)
        rivals = [Rival(name=name, board=tuple(row.tolist())) for name, row in found.items()]
        return Rollout(player, tuple(rivals), settings, stakes, of_plays=True, control=control)
    if plays:
        raise ValueError(f"plays: need dice, got {', '.join(plays)!r}")
    if stakes is not None and _may_double(stakes):
        rivals = [
            Rival(name=NO_DOUBLE, board=position.board, may_double=False),
            Rival(name=DOUBLE_TAKE, board=position.board, turned=1, may_double=False),
        ]
    else:
        rivals = [Rival(name="position", board=position.board)]
    return Rollout(player, tuple(rivals), settings, stakes, control=control)


def _may_double(stakes: Stakes) -> bool:
    return bool(tables_of(stakes)[0][0].may_double[0, 0]) and stakes.cube_owners[0] != OPPONENTS


def _best_plays(
    board: Boards,
    dice: tuple[int, int],
    player: NetworkEvaluator | Searcher,
    stakes: Stakes | None,
    num_plays: int,
) -> dict[str, Boards]:
    """The best plays of a roll by their notation, best first."""
    if stakes is not None:
        rows = cubeful_plays.rank(player, board, dice, stakes).rows
    elif isinstance(player, Searcher):
        rows = player.rank(board, dice).rows
    else:
        rows, chances = player.rank(board, dice)[:2]
        rows = rows[np.argsort(chances @ player.values, kind="stable")]
    names = {play.afterstate.tobytes(): play.notation for play in all_plays(board, dice)}
    return {names[row.tobytes()]: row for row in rows[:num_plays]}


def rollout(
    board: ArrayLike | Position,
    roll: tuple[int, int] | None = None,
    *,
    player: str = "default",
    with_cube: bool = False,
    plays: Sequence[str] = (),
    num_plays: int = NUM_PLAYS,
    settings: RolloutSettings | None = None,
    workers: int = 1,
    progress: bool = False,
) -> list[Estimate]:
    """What a position is worth, or each play of a roll, by playing it on many times.

    board [26] is seen by the player on roll, or a `Position` with cube and score. With the cube and
    without dice the estimates are those of `no double` and `double, take`. A player's settings
    follow a comma (`default,ply=1`). The result does not depend on `workers`. ValueError as
    `rollout_of`.
    """
    if not isinstance(board, Position):
        board = Position(board=tuple(checked_boards(board)[0].tolist()), on_roll=BOTTOM, dice=roll)
    evaluator = network_player(player).evaluator
    asked = rollout_of(
        board,
        evaluator,
        settings or RolloutSettings(),
        with_cube=with_cube,
        plays=plays,
        num_plays=num_plays,
    )
    return asked.run(threads(workers), progress=progress)
