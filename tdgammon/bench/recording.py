"""Keeps what is played in a bench, and writes each contest to a file of its own when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Boards, Rolls
from tdgammon.game.match import Match
from tdgammon.game.rules import GameRules
from tdgammon.notation.record import GameRecord, GameWriter, MatchRecord
from tdgammon.notation.saving import save_match

FORMATS = ("mat", "sgf", "json")


def new_folder(folder: Path, file_format: str) -> None:
    """Make a folder for games, if it is not there.

    ValueError if it has something in it, and for a format that is none of `FORMATS`.
    """
    if file_format not in FORMATS:
        raise ValueError(f"save format: one of {', '.join(FORMATS)} expected, got {file_format!r}")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{str(folder)!r}: a new or empty folder is wanted for the games")


@dataclass
class Recorder:
    """Writes contest c as FOLDER/0000c.FORMAT, counted from 1, into a folder that `new_folder` made."""

    folder: Path
    file_format: str
    names: tuple[str, str]
    """Of A and B."""
    rules: GameRules
    length: int
    num_before: int = 0
    """Contests of the match before contest 0: an even number."""
    _writers: dict[int, GameWriter] = field(default_factory=dict)
    _games: dict[int, list[GameRecord]] = field(default_factory=dict)

    def start_game(self, contest: int, match: Match) -> None:
        """A game begins: `match` as it stands after the opening throws."""
        writer = GameWriter(
            number=match.game_number,
            start_score=match.scores,
            is_crawford=match.is_crawford,
            rules=self.rules,
        )
        if match.cube_value > 1:  # equal opening dice have turned it
            writer.set_position(match.on_roll, match.board, match.cube_value)
        self._writers[contest] = writer

    def turns(
        self,
        contests: NDArray[np.int64],
        players: NDArray[np.int8],
        boards: Boards,
        rolls: Rolls,
        afterstates: Boards,
    ) -> None:
        """One play of each contest: the boards before it and after it, [R, 26]."""
        for k, contest in enumerate(contests.tolist()):
            self._writers[contest].turn(int(players[k]), boards[k], rolls[k].tolist(), afterstates[k])

    def double(self, contest: int, player: int, answer: str) -> None:
        """A double and its answer, `take`, `pass` or `beaver`; a beaver is taken."""
        self._writers[contest].cube(player, "double")
        self._writers[contest].cube(1 - player, answer)
        if answer == "beaver":
            self._writers[contest].cube(player, "take")

    def end_game(self, contest: int, winner: int | None, points: int) -> None:
        """A game is over; `winner` is player 0 or 1, None for a draw."""
        game = self._writers.pop(contest).finished(winner, points if winner is not None else None)
        self._games.setdefault(contest, []).append(game)

    def end_contest(self, contest: int) -> None:
        """Write the file, with a game that was not finished; player 0 is A in even contests."""
        if contest in self._writers:
            self.end_game(contest, None, 0)
        names = self.names if contest % 2 == 0 else self.names[::-1]
        record = MatchRecord(
            players=names,
            length=self.length,
            games=tuple(self._games.pop(contest)),
            rules=self.rules,
        )
        save_match(record, self.folder / f"{self.num_before + contest + 1:05d}.{self.file_format}")
