"""Play against a bot in the terminal.

The board is drawn from your side and plays are typed in any usual notation: 8/5 6/5, bar/20*,
24/18(2), 13/7/4. `help` at the prompt lists what else can be typed. Without a seed the dice are
new each time; a game that is left is saved and can be resumed.

Example:
  tdgammon play --against pubeval
"""

from __future__ import annotations

import argparse
import re
import secrets
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tdgammon.game.board import flip
from tdgammon.notation.diagram import diagram
from tdgammon.notation.plays import NotationError, Play, plays, read_play
from tdgammon.notation.saved_game import BOT, PERSON, Game, Roll, load_game, save_game

if TYPE_CHECKING:
    import numpy as np

    from tdgammon.decide.bots import Bot

NUM_CHOICES = 5
"""How many plays `hint` and `why` list."""

HELP = """\
8/5 6/5     play; bar/20*, 24/18(2), 13/7/4, 6/off and so on
hint        the plays that the bot would choose for you
why         the plays that the bot chose from in its last turn
board       draw the board again
undo        take back your last choice
quit [FILE] save the game and leave"""

_SIZES = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--against", metavar="PLAYER", help="who to play (default: default)")
    parser.add_argument("--seed", type=int, metavar="S", help="dice of this seed, 0 .. 2**63 - 1")
    parser.add_argument(
        "--type-dice", action="store_true", help="ask for the dice, for a game on a real board"
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with a saved game")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where a game that is left is saved")


def run(args: argparse.Namespace) -> int:
    from tdgammon.decide.bots import bot

    game = _game(args)
    table = Table(game, bot(game.against), args.save or args.resume, _ask, print)
    try:
        table.play()
    except (EOFError, KeyboardInterrupt):
        print()
        table.leave()
    except Exception:
        table.save()  # a game is not lost to a player that fails or a terminal that goes away
        raise
    return 0


def _ask(prompt: str) -> str:
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)  # as a terminal would show it
    return line


def _game(args: argparse.Namespace) -> Game:
    if args.save and not args.save.parent.is_dir():
        raise ValueError(f"--save: there is no folder {str(args.save.parent)!r}")
    if args.resume:
        for option in ("against", "seed", "type_dice"):
            if getattr(args, option) not in (None, False):
                raise ValueError(
                    f"--{option.replace('_', '-')}: a resumed game keeps its player and dice"
                )
        return load_game(args.resume)
    if args.seed is not None and not 0 <= args.seed < 2**63:
        raise ValueError(f"--seed: must be 0 .. 2**63 - 1, got {args.seed}")
    if args.type_dice and args.seed is not None:
        raise ValueError("--seed: dice that are typed have no seed")
    seed = None if args.type_dice else args.seed
    if seed is None and not args.type_dice:
        seed = secrets.randbelow(2**31)
    return Game(against=args.against or "default", seed=seed)


class Table:
    """A game in progress and the talk about it; `ask` and `say` are the terminal.

    `ask` takes a prompt, gives a line and raises EOFError at the end of input.
    """

    def __init__(
        self,
        game: Game,
        player: Bot,
        path: Path | None,
        ask: Callable[[str], str],
        say: Callable[[str], None],
    ) -> None:
        self.game = game
        self.player = player
        self.path = path
        self.ask = ask
        self.say = say
        self.is_left = False

    def play(self) -> None:
        """Take turns until the game is over or left."""
        dice = "typed dice" if self.game.seed is None else f"dice of seed {self.game.seed}"
        self.say(f"You (●) play {self.player.name} (○) with {dice}; `help` lists what can be typed.")
        if self.game.turns:
            self.say(f"{len(self.game.turns)} turns have been played.")
        while not self.is_left:
            if points := self.game.points():
                self.say(self._drawn())
                self.say(result(points, self.player.name))
                return
            roll = self.game.roll()
            if roll is None:
                self._read_dice()
            elif self.game.seat(len(self.game.turns)) == BOT:
                self._bot_plays(roll)
            else:
                self._person_plays(roll)

    def save(self) -> Path | None:
        """Save the game if the person has played a turn; says where it is."""
        if not any(self.game.seat(turn) == PERSON for turn in range(len(self.game.turns))):
            return None
        path = self.path or _free_path()
        save_game(self.game, path)
        self.path = path
        return path

    def leave(self) -> None:
        """Save and say how to go on."""
        path = self.save()
        if path:
            self.say(f"Saved. To go on: tdgammon play --resume {shlex.quote(str(path))}")
        else:
            self.say("You have not played yet: nothing is saved.")
        self.is_left = True

    def _bot_plays(self, roll: Roll) -> None:
        play = choice(self.player, self.game.board(), roll)
        self.say(f"{self.player.name} rolls {words(roll)}: {play.notation}")
        self.game = self.game.after(play)

    def _person_plays(self, roll: Roll) -> None:
        board, roll = self.game.board(), high_first(roll)
        legal = plays(board, roll)
        if len(legal) == 1:
            forced = " is your only play" if legal[0].steps else ""
            self.say(f"You roll {words(roll)}: {legal[0].notation}{forced}")
            self.game = self.game.after(legal[0])
            return
        self.say(self._drawn())
        before = self.game
        while self.game is before and not self.is_left:
            line = self.ask(f"You have {words(roll)}: ").strip()
            if line.lower() == "hint":
                self.say("\n".join(choices(self.player, board, roll)))
            elif line and not self._command(line):
                try:
                    self.game = self.game.after(read_play(line, board, roll))
                except NotationError as error:
                    self.say(str(error).removeprefix("play: "))

    def _read_dice(self) -> None:
        if not self.game.turns:
            prompt = "Opening roll, your die first: "
        elif self.game.seat(len(self.game.turns)) == PERSON:
            prompt = "Your dice: "
        else:
            prompt = f"Dice of {self.player.name}: "
        line = self.ask(prompt).strip()
        if not line or self._command(line):
            return
        match = re.fullmatch(r"(\d)[\s,-]*(\d)", line)
        if not match:
            self.say(f"{line!r} is not two dice such as 31")
            return
        try:
            self.game = self.game.with_typed((int(match[1]), int(match[2])))
        except ValueError as error:
            self.say(str(error))

    def _command(self, line: str) -> bool:
        """Do what a line other than a play asks for; says whether it was one."""
        word, _, rest = line.partition(" ")
        match word.lower():
            case "help" | "?" | "h":
                self.say(HELP)
            case "hint":
                self.say("There is a hint once the dice are known.")
            case "why" | "bot":
                self._why()
            case "board":
                self.say(self._drawn())
            case "undo" | "u":
                self._undo()
            case "quit" | "q" | "exit":
                self._quit(rest.strip())
            case _:
                return False
        return True

    def _quit(self, name: str) -> None:
        if name:
            self.path = Path(name)
        try:
            self.leave()
        except OSError as error:
            self.say(f"{self.path}: {error.strerror or error}. `quit FILE` saves elsewhere.")

    def _undo(self) -> None:
        """Back to the person's last turn in which there was a choice."""
        for turn in reversed(range(len(self.game.turns))):
            before = self.game.board(turn)
            if self.game.seat(turn) == PERSON and len(plays(before, self.game.turns[turn].roll)) > 1:
                self.game = self.game.back_to(turn)
                return
        self.say("There is no choice of yours to take back.")

    def _why(self) -> None:
        turns = range(len(self.game.turns))
        last = max((turn for turn in turns if self.game.seat(turn) == BOT), default=None)
        if last is None:
            self.say(f"{self.player.name} has not played yet.")
            return
        roll, board = self.game.turns[last].roll, self.game.board(last)
        played = self.game.turns[last].play.notation
        self.say(f"{self.player.name} rolled {words(roll)} and played {played}")
        self.say("\n".join(choices(self.player, board, roll)))

    def _drawn(self) -> str:
        board, turn, names = self.game.board(), len(self.game.turns), ("you", self.player.name)
        roll = self.game.roll()
        if not turn and roll is None:
            return diagram(board, None, names, None)
        seat = self.game.seat(turn)
        if seat == BOT:
            board = flip(board)
        if self.game.points():
            return diagram(board, None, names, None)
        return diagram(board, roll and high_first(roll), names, seat)


def high_first(roll: Roll) -> Roll:
    """A roll as players say it, the higher die first."""
    return max(roll), min(roll)


def words(roll: Roll) -> str:
    return "{}-{}".format(*high_first(roll))


def result(points: int, name: str) -> str:
    """The end of a game in words; points as `Game.points` gives them."""
    winner = "You win" if points > 0 else f"{name} wins"
    size = abs(points)
    return f"{winner} {_SIZES[size]}: {size} point{'s' * (size > 1)}."


def choice(player: Bot, board: np.ndarray, roll: Roll) -> Play:
    """What a bot plays; raises ValueError if that is not legal."""
    chosen = player.choose(board[None], [roll])[0]
    for play in plays(board, roll):
        if (play.afterstate == chosen).all():
            return play
    raise ValueError(f"player {player.name!r}: no legal play leaves {chosen.tolist()}")


def choices(player: Bot, board: np.ndarray, roll: Roll) -> list[str]:
    """Lines on a bot's best plays with equities and chances, as the side to play sees them."""
    rank = getattr(getattr(player, "evaluator", None), "rank", None)
    if rank is None:
        notation = choice(player, board, roll).notation
        return [f"{player.name} would play {notation}; it gives plays no equities"]
    names = {play.afterstate.tobytes(): play.notation for play in plays(board, roll)}
    rows, seen, equities = rank(board, roll)
    best = sorted(range(len(rows)), key=lambda i: -float(equities[i]))[:NUM_CHOICES]
    width = max(len(names[rows[i].tobytes()]) for i in best)
    lines = [f"   {'':{width}}  equity    loss   win  gammon won, lost"]
    for number, i in enumerate(best, 1):
        opponent = [float(chance) for chance in seen[i]]  # six outcomes, win backgammon first
        lines.append(
            f"{number}. {names[rows[i].tobytes()]:{width}}  {equities[i]:+.3f}  "
            f"{equities[i] - equities[best[0]]:+.3f}  {sum(opponent[3:]):4.0%}  "
            f"{sum(opponent[4:]):6.0%}, {sum(opponent[:2]):3.0%}"
        )
    return lines


def _free_path() -> Path:
    number = 1
    while (path := Path(f"tdgammon-game{f'-{number}' * (number > 1)}.json")).exists():
        number += 1
    return path
