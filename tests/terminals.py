"""A terminal made of lists of lines, bots with known answers, and a table of `tdgammon play`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tdgammon.cli.play_table import Table
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import GameRules, without_cube
from tdgammon.notation.saved_game import Session, session
from tdgammon.value.evaluator import RankedPlays

CUBELESS = without_cube(GameRules())


class First:
    """Plays the first afterstate listed, doubles and takes as it is told."""

    name = "first"

    def __init__(self, doubles: bool = False, takes: bool = True) -> None:
        self.answers = doubles, takes
        self.seen: list[Any] = []

    def choose(self, boards, rolls, stakes=None):
        rows, offsets = afterstates(boards, rolls)
        return rows[offsets[:-1]]

    def doubles(self, boards, stakes):
        return np.full(len(boards), self.answers[0])

    def takes(self, boards, stakes):
        self.seen.append((boards.copy(), stakes))
        return np.full(len(boards), self.answers[1])


class Ranker(First):
    """A bot with an evaluator, which likes each play 0.01 better than the one listed before it."""

    name = "ranker"
    chances = np.float32([0.01, 0.09, 0.3, 0.4, 0.15, 0.05])
    """Of the player on roll, whatever the board."""
    ply = 0

    @property
    def evaluator(self):
        return self

    def probabilities(self, boards):
        return np.tile(self.chances, (len(boards), 1))

    def rank(self, board, roll):
        rows, _ = afterstates(board, roll)
        equities = np.arange(len(rows), dtype=np.float32)[::-1] / 100
        return RankedPlays(rows[::-1], self.probabilities(rows), equities, np.full(len(rows), self.ply))


class Lawless(First):
    name = "lawless"

    def choose(self, boards, rolls, stakes=None):
        return boards


class Terminal:
    """Answers prompts with lines, keeps what is said, and ends with EOFError."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(lines)
        self.said: list[str] = []
        self.prompts: list[str] = []

    def ask(self, prompt):
        self.prompts.append(prompt)
        for line in self.lines:
            return line
        raise EOFError

    def say(self, words):
        self.said.append(words)

    @property
    def last(self):
        return self.said[-1]

    @property
    def text(self):
        return "\n".join(self.said)


def typed(rules: GameRules = CUBELESS, length: int = 0, **options: Any) -> Session:
    """A session whose dice are typed; one game without a cube unless told otherwise."""
    is_one_game = options.pop("is_one_game", rules == CUBELESS and not length)
    return session("first", None, rules, length, is_one_game)


def rolled(seed: int) -> Session:
    """One game without a cube by the dice of a seed."""
    return session("first", seed, CUBELESS, 0, True)


def sit(
    *lines: str,
    played: Session | None = None,
    player: Any = None,
    path: Path | None = None,
    record_path: Path | None = None,
) -> tuple[Table, Terminal]:
    """A table after the person has typed these lines, and its terminal."""
    terminal = Terminal(*lines)
    table = Table(played or typed(), player or First(), path, terminal.ask, terminal.say, record_path)
    try:
        table.play()
    except EOFError:
        return table, terminal
    return table, terminal
