"""Analysis of one position: its worth, its ranked plays, its cube decision at this or any score."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tqdm import tqdm

from tdgammon.decide import cubeful_plays
from tdgammon.decide.bots import NetworkBot
from tdgammon.decide.cubeful import cube_table
from tdgammon.decide.decision import CubeDecision, decide
from tdgammon.decide.position_stakes import board_of, stakes_of
from tdgammon.decide.window import Shares, Window, window
from tdgammon.game.board import Boards, checked_boards
from tdgammon.game.stakes import OPPONENTS, OWN, Stakes
from tdgammon.kernels import cubeful as kernel
from tdgammon.kernels.cubeful import CubeTable
from tdgammon.notation.ids import Position, xgid
from tdgammon.notation.plays import plays

MAP_SIZE = 9
"""Points away up to which a score map goes unless the match is longer or shorter."""


@dataclass(frozen=True, kw_only=True)
class AnalysedPlay:
    """A play of the roll."""

    notation: str
    equity: float
    """Cubeful; points per unit of the cube, or normalised match equity."""
    loss: float
    """Equity behind the best play."""
    probabilities: list[float]
    """Six outcomes, the player's, after the play."""
    ply: int


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Of a position, seen by its player on roll."""

    position: Position
    player: str
    ply: int
    probabilities: list[float]
    """Six outcomes before the roll."""
    equity: float
    """Cubeless, in points at a cube of 1."""
    cube: CubeDecision
    """Before the roll."""
    market: Window | None
    """By the formulas and the position's gammons; None where the player may not double."""
    plays: list[AnalysedPlay]
    """Best first; empty without dice."""

    def to_json(self) -> dict[str, Any]:
        """The document of `tdgammon analyse`."""
        return {
            "position": xgid(self.position),
            "player": self.player,
            "ply": self.ply,
            "probabilities": self.probabilities,
            "equity": self.equity,
            "plays": [vars(play) for play in self.plays],
            "cube": {
                **vars(self.cube),
                "market": vars(self.market) if self.market else None,
            },
        }


def analyse(position: Position, player: NetworkBot) -> Analysis:
    """What a network thinks of a position, at its ply.

    With dice, the plays of the roll are ranked; the cube decision is that before the roll, or the one
    that is on offer. Raises ValueError for a game or match that is over and for another offer.
    """
    board = board_of(position)
    stakes = stakes_of(position)
    evaluator = player.evaluator
    chances = evaluator.probabilities(board)[0]
    settings = getattr(evaluator, "settings", None)
    return Analysis(
        position=position,
        player=player.name,
        ply=settings.ply if settings else 0,
        probabilities=[float(chance) for chance in chances],
        equity=float(chances @ evaluator.values),
        cube=decide(evaluator, board, stakes, player.met),
        market=market(board, [float(chance) for chance in chances], stakes, player),
        plays=_ranked(board, position, stakes, player) if position.dice else [],
    )


def table_for(stakes: Stakes, player: NetworkBot) -> CubeTable:
    """The cube table of one game's stakes."""
    own, theirs = stakes.away[0].tolist()
    return cube_table(
        stakes.rules,
        int(stakes.cube_values[0]),
        (own, theirs),
        bool(stakes.is_crawford[0]),
        bool(stakes.is_post_crawford[0]),
        met=player.met,
    )


def shares_of(chances: list[float]) -> tuple[Shares, Shares]:
    """Gammons and backgammons of wins and of losses, each as a share of those."""
    win, lose = sum(chances[:3]), sum(chances[3:])
    wins = Shares(chances[1] / win, chances[0] / win) if win > 0 else Shares()
    losses = Shares(chances[4] / lose, chances[5] / lose) if lose > 0 else Shares()
    return wins, losses


def life_at(board: Boards, table: CubeTable) -> float:
    """Cube life of a board by its class."""
    lives = np.empty(len(board))
    kernel.fill_lives(board, table.life, lives)
    return float(lives[0])


def market(board: Boards, chances: list[float], stakes: Stakes, player: NetworkBot) -> Window | None:
    """The market window with the gammons of these chances; None where the player may not double."""
    table = table_for(stakes, player)
    if not table.may_double[0, 0] or stakes.cube_owners[0] == OPPONENTS:
        return None
    owned = bool(stakes.cube_owners[0] == OWN)
    return window(table, *shares_of(chances), life_at(board, table), owned=owned)


def _ranked(
    board: Boards, position: Position, stakes: Stakes, player: NetworkBot
) -> list[AnalysedPlay]:
    assert position.dice
    ranked = cubeful_plays.rank(player.evaluator, board, position.dice, stakes, player.met)
    names = {play.afterstate.tobytes(): play.notation for play in plays(board[0], position.dice)}
    best = float(ranked.equities[0])
    return [
        AnalysedPlay(
            notation=names[row.tobytes()],
            equity=float(equity),
            loss=best - float(equity),
            probabilities=[float(chance) for chance in seen[::-1]],
            ply=int(ply),
        )
        for row, seen, equity, ply in zip(*ranked, strict=True)
    ]


def score_map(
    position: Position, player: NetworkBot, size: int = MAP_SIZE, *, progress: bool = False
) -> list[list[CubeDecision]]:
    """The cube decision of the position at every score, as after any Crawford game: [own][opponent's]
    points away less 1. ValueError for a size that is not 1 to 25."""
    if not 1 <= size <= 25:
        raise ValueError(f"score map: 1 to 25 points away expected, got {size}")
    board = checked_boards(position.board)
    here = stakes_of(replace(position, length=0, jacoby=False, beavers=False))
    found: list[list[CubeDecision]] = []
    disable = None if progress else True
    with tqdm(total=size * size, unit="score", delay=2, disable=disable, file=sys.stderr) as bar:
        for own in range(1, size + 1):
            found.append([])
            for theirs in range(1, size + 1):
                stakes = replace(
                    here,
                    away=np.array([[own, theirs]]),
                    is_post_crawford=np.array([min(own, theirs) == 1]),
                )
                found[-1].append(decide(player.evaluator, board, stakes, player.met))
                bar.update()
    return found
