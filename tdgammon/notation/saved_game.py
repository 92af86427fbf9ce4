"""A game of a person against a bot as it was played: rules to replay it by, and its file.

The file is JSON: who the bot is, the seed of the dice, and dice and play of each turn. Nothing else
is kept, so a file is replayed by the rules when it is read, and one that they forbid is refused.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tdgammon.game.board import START, Boards, points_won
from tdgammon.game.dice import rolls_at, streams
from tdgammon.notation.plays import Play, read_play

FORMAT = "tdgammon-game/1"

PERSON, BOT = 0, 1

Roll = tuple[int, int]


@dataclass(frozen=True)
class Turn:
    """What was rolled and played; the opening roll has the person's die first and the bot's second."""

    roll: Roll
    play: Play


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game from the opening roll up to a turn; every change gives a new one."""

    against: str
    """The bot, as `decide.bots.bot` takes it."""

    seed: int | None
    """Of the dice, 0 .. 2**63 - 1; None if they are typed in."""

    turns: tuple[Turn, ...] = ()

    typed: Roll | None = None
    """Dice typed in for the turn to come; None if they are not known yet or not typed."""

    def roll(self) -> Roll | None:
        """The dice of the turn to come; None if they have still to be typed."""
        if self.seed is None:
            return self.typed
        return _rolled(self.seed, len(self.turns))

    def seat(self, turn: int) -> int:
        """Whose turn number `turn` is, PERSON or BOT: the higher die of the opening roll starts."""
        opening = self.turns[0].roll if self.turns else self.roll()
        assert opening is not None, "the opening roll is not known yet"
        return (turn + (opening[0] < opening[1])) % 2

    def board(self, num_turns: int | None = None) -> Boards:
        """The board [26] after so many turns (default: all), seen by the side to play."""
        played = self.turns[:num_turns]
        return (played[-1].play.afterstate if played else START).copy()

    def points(self) -> int:
        """What the person has won (1, 2, 3) or lost (-1, -2, -3); 0 while the game goes on."""
        if not self.turns:
            return 0
        points = int(points_won(self.board()[None])[0])
        return points if self.seat(len(self.turns)) == PERSON else -points

    def with_typed(self, roll: Roll) -> Game:
        """The game with dice typed for the turn to come.

        Raises ValueError for dice other than 1 to 6 and for an opening double.
        """
        if not all(1 <= die <= 6 for die in roll):
            raise ValueError(f"dice: must be 1 to 6, got {roll[0]}-{roll[1]}")
        if not self.turns and roll[0] == roll[1]:
            raise ValueError(f"dice: the opening roll is not a double, got {roll[0]}-{roll[1]}")
        return replace(self, typed=roll)

    def after(self, play: Play) -> Game:
        """The game after the turn to come was played."""
        roll = self.roll()
        assert roll is not None, "dice come before the play"
        return replace(self, turns=(*self.turns, Turn(roll, play)), typed=None)

    def back_to(self, num_turns: int) -> Game:
        """The game before a turn that was played, with its dice."""
        typed = self.turns[num_turns].roll if self.seed is None else None
        return replace(self, turns=self.turns[:num_turns], typed=typed)


def save_game(game: Game, path: Path) -> None:
    """Write the file as a whole or not at all; raises OSError if it cannot be written."""
    content = {
        "format": FORMAT,
        "against": game.against,
        "seed": game.seed,
        "typed": _digits(game.typed) if game.typed else None,
        "turns": [[_digits(turn.roll), turn.play.notation] for turn in game.turns],
    }
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load_game(path: Path) -> Game:
    """The game that `save_game` wrote, replayed.

    Raises OSError if the file cannot be read, and ValueError, quoting the file and the fault, if it
    is no saved game, has dice other than its seed's, or plays that are not legal.
    """
    try:
        return _game(json.loads(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a saved game: {error}") from None


def _game(content: Any) -> Game:
    keys = {"format", "against", "seed", "typed", "turns"}
    if not isinstance(content, dict) or content.keys() != keys:
        raise ValueError(f"must hold {', '.join(sorted(keys))} and nothing else")
    if content["format"] != FORMAT:
        raise ValueError(f"format must be {FORMAT!r}, got {content['format']!r}")
    against, seed, turns = content["against"], content["seed"], content["turns"]
    if not isinstance(against, str):
        raise ValueError(f"against must be a player's name, got {against!r}")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**63):
        raise ValueError(f"seed must be 0 .. 2**63 - 1 or null, got {seed!r}")
    if not isinstance(turns, list):
        raise ValueError(f"turns must be a list, got {turns!r}")
    game = Game(against=against, seed=seed)
    for number, turn in enumerate(turns, 1):
        try:
            game = _replayed(game, turn)
        except ValueError as error:
            raise ValueError(f"turn {number}: {error}") from None
    if content["typed"] is not None:
        if seed is not None:
            raise ValueError(f"typed dice {content['typed']!r} in a game that has a seed")
        game = game.with_typed(_roll(content["typed"]))
    return game


def _replayed(game: Game, turn: Any) -> Game:
    """The game after one more turn as a file has it."""
    if not (isinstance(turn, list) and len(turn) == 2 and isinstance(turn[1], str)):
        raise ValueError(f"must be [dice, play], got {turn!r}")
    roll = _roll(turn[0])
    if game.points():
        raise ValueError("the game is over")
    if game.seed is None:
        game = game.with_typed(roll)
    elif roll != game.roll():
        raise ValueError(f"seed {game.seed} does not roll {turn[0]}")
    return game.after(read_play(turn[1], game.board(), roll))


def _rolled(seed: int, turn: int) -> Roll:
    first, second = rolls_at(streams(seed, 1), turn)[0].tolist()
    return first, second


def _digits(roll: Roll) -> str:
    return f"{roll[0]}{roll[1]}"


def _roll(dice: Any) -> Roll:
    if not isinstance(dice, str) or len(dice) != 2 or not set(dice) <= set("123456"):
        raise ValueError(f"dice must be two of 1 to 6, such as '31', got {dice!r}")
    return int(dice[0]), int(dice[1])
