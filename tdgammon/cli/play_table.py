"""The table of `tdgammon play`: who acts next, what the person types and what is said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from tdgammon.cli import play_words as words
from tdgammon.decide.bots import Bot
from tdgammon.decide.resignation import accepts
from tdgammon.game.match import SIZES, Phase
from tdgammon.game.rules import IllegalPlay
from tdgammon.game.stakes import stakes_of
from tdgammon.notation.played import match_record
from tdgammon.notation.plays import plays
from tdgammon.notation.saved_game import BOT, PERSON, Roll, Session, save_session
from tdgammon.notation.saving import save_match

HELP = """\
8/5 6/5     play; bar/20*, 24/18(2), 13/7/4, 6/off and so on
roll        roll where you might double; Enter does the same
double      offer the cube, before you roll
take, pass  answer a double; beaver where the rules have it
resign 1    resign a single game; 2 or gammon, 3 or backgammon
hint        what the bot would do in your place
why         what the bot chose from in its last decision
board       draw the board again
undo        take back your last choice
quit [FILE] save and leave"""

_ACTIONS = {"redouble": "double", "drop": "pass"} | {
    word: word for word in ("double", "take", "pass", "beaver", "raccoon")
}
_RESIGNED = {"": "", "single": "1", "game": "1", "gammon": "2", "backgammon": "3"}


class Table:
    """A session in progress and the talk about it; `ask` and `say` are the terminal.

    `ask` takes a prompt, gives a line and raises EOFError at the end of input.
    """

    def __init__(
        self,
        played: Session,
        player: Bot,
        path: Path | None,
        ask: Callable[[str], str],
        say: Callable[[str], None],
        record_path: Path | None = None,
    ) -> None:
        self.session = played
        self.player = player
        self.path = path
        self.ask = ask
        self.say = say
        self.record_path = record_path
        self.is_left = False
        self._shown = ""
        self._told: Session | None = None

    def play(self) -> None:
        """Take turns until all is played or left."""
        self.say(words.greeting(self.session, self.player.name))
        while not self.is_left:
            match = self.session.match
            if self.session.is_over:
                self._show_end()
                return
            if match.phase == Phase.OPENING:
                self._open()
            elif match.phase == Phase.GAME_OVER:
                self._between_games()
            elif match.decider == BOT:
                self._bot_acts()
            elif match.phase == Phase.ROLL:
                self._person_rolls()
            elif match.phase == Phase.PLAY:
                self._person_plays()
            else:
                self._person_answers()

    def save(self) -> Path | None:
        """Save the session if the person has done anything; says where it is."""
        steps = zip(self.session.states, self.session.actions, strict=False)
        if not any(state.decider == PERSON and not done.startswith("roll") for state, done in steps):
            return None
        path = self.path or _free_path(self.record_path)
        save_session(self.session, path)
        self.path = path
        return path

    def write_record(self) -> None:
        """Write what was played for other programs, if that is asked for and there is anything."""
        if self.record_path and self.session.actions:
            save_match(match_record(self.session), self.record_path)

    def leave(self, before: str = "") -> None:
        """Save, then say how to go on."""
        path = self.save()
        self.is_left = True
        if path:
            self.say(f"{before}Saved. To go on: tdgammon play --resume {shlex.quote(str(path))}")
        else:
            self.say(f"{before}You have not played yet: nothing is saved.")

    def _open(self) -> None:
        roll = self.session.dice() or self._typed_dice("Opening roll, your die first: ")
        if roll is None:
            return
        before = self.session.match
        self._act(f"open {roll[0]}{roll[1]}")
        after = self.session.match
        if after.cube_value > before.cube_value:
            self.say(f"Equal dice, {roll[0]}-{roll[1]}: the stake is doubled to {after.cube_value}.")
        elif after.phase == Phase.OPENING:
            self.say(f"Equal dice, {roll[0]}-{roll[1]}: roll again.")

    def _bot_acts(self) -> None:
        """One action of the bot: it takes every beaver and raccoon, and makes no raccoon."""
        match, name = self.session.match, self.player.name
        match match.phase:
            case Phase.ROLL:
                if match.may_double() and self.player.doubles(match.boards, stakes_of(match))[0]:
                    self.say(f"{name} doubles to {2 * match.cube_value}.")
                    self._act("double")
                elif roll := self.session.dice() or self._typed_dice(f"Dice of {name}: "):
                    self._act(f"roll {roll[0]}{roll[1]}")
            case Phase.PLAY:
                assert match.dice
                play = words.choice(self.player, match)
                self.say(f"{name} rolls {words.roll_in_words(match.dice)}: {play.notation}")
                self._act(f"play {play.notation}")
            case Phase.RESIGNATION:
                is_accepted = accepts(self.player, match)
                answer = "accepts" if is_accepted else "rejects it: there is more to win"
                self.say(f"You resign a {SIZES[match.resigned]}; {name} {answer}.")
                self._act("accept" if is_accepted else "reject")
            case Phase.DOUBLE if self._bot_beavers():
                self.say(f"{name} beavers: the cube is at {4 * match.cube_value}.")
                self._act("beaver")
            case _:
                is_taken = match.phase != Phase.DOUBLE or bool(
                    self.player.takes(match.boards, stakes_of(match))[0]
                )
                self.say(f"{name} {'takes' if is_taken else 'passes'}.")
                self._act("take" if is_taken else "pass")

    def _bot_beavers(self) -> bool:
        match, beavers = self.session.match, getattr(self.player, "beavers", None)
        allowed = match.rules.beavers and not match.length
        if beavers is None or not allowed or 4 * match.cube_value > match.rules.cube_limit:
            return False
        return bool(beavers(match.boards, stakes_of(match))[0])

    def _person_rolls(self) -> None:
        may_double, roll = self.session.match.may_double(), self.session.dice()
        if may_double:
            self._show()
        if roll is None:
            roll = self._typed_dice(f"Your dice{', or double' * may_double}: ")
        elif may_double:
            line = self._line("Roll (Enter), or double: ")
            if line is None:
                return
            if line.lower() not in ("", "roll", "r"):
                self.say(f"{line!r} is neither roll nor double")
                return
        if roll:
            self._act(f"roll {roll[0]}{roll[1]}")

    def _person_plays(self) -> None:
        match = self.session.match
        assert match.dice
        if len(match.afterstates()) == 1:
            forced = plays(match.boards[0], match.dice, match.rules)[0]
            only = " is your only play" if forced.steps else ""
            self.say(f"You roll {words.roll_in_words(match.dice)}: {forced.notation}{only}")
            self._act(f"play {forced.notation}")
            return
        self._show()
        line = self._line(f"You have {words.roll_in_words(match.dice)}: ")
        if line:
            self._try(f"play {line}")

    def _person_answers(self) -> None:
        self._show()
        match = self.session.match
        more = {Phase.DOUBLE: "beaver", Phase.BEAVER: "raccoon"}.get(match.phase, "")
        try:
            more = f" or {more}" if more and getattr(match, more)() else ""
        except IllegalPlay:
            more = ""
        line = self._line(f"Take{',' if more else ' or'} pass{more}? ")
        if line:
            self.say(f"{line!r} is no answer to a double: take{',' if more else ' or'} pass{more}")

    def _between_games(self) -> None:
        self._show_end()
        line = self._line("Enter for the next game, or quit: ")
        if line:
            self.say(f"{line!r} is neither Enter nor quit")
        elif line is not None:
            self._act("next")
            match = self.session.match
            crawford = " It is the Crawford game: nobody may double." if match.is_crawford else ""
            self.say(f"Game {match.game_number}.{crawford}")

    def _act(self, action: str) -> None:
        self.session = self.session.after(action)

    def _try(self, action: str) -> bool:
        """Do what the person asks for, or say which rule forbids it."""
        try:
            self._act(action)
        except ValueError as error:
            self.say(str(error).removeprefix("play: "))
            return False
        return True

    def _line(self, prompt: str) -> str | None:
        """A line that was typed; None if it was a command, which is done."""
        line = self.ask(prompt).strip()
        return None if self._command(line) else line

    def _typed_dice(self, prompt: str) -> Roll | None:
        line = self._line(prompt)
        if not line:
            return None
        typed = re.fullmatch(r"(\d)[\s,-]*(\d)", line)
        if not typed:
            self.say(f"{line!r} is not two dice such as 31")
        elif not {typed[1], typed[2]} <= set("123456"):
            self.say(f"dice: must be 1 to 6, got {typed[1]}-{typed[2]}")
        else:
            return int(typed[1]), int(typed[2])
        return None

    def _command(self, line: str) -> bool:
        """Do what a line other than dice or a play asks for; says whether it was such a line."""
        word, _, rest = line.lower().partition(" ")
        match word:
            case "help" | "?" | "h":
                self.say(HELP)
            case "hint":
                self._hint()
            case "why" | "bot":
                self.say("\n".join(words.why(self.player, self.session)))
            case "board":
                self._shown = ""
                self._show()
            case "undo" | "u":
                self._undo()
            case "quit" | "q" | "exit":
                self._quit(line.partition(" ")[2].strip())
            case "resign":
                self._resign(rest.strip().removesuffix(" game"))
            case _ if line.lower() in _ACTIONS:
                self._cube_action(_ACTIONS[word])
            case _:
                return False
        return True

    def _is_persons_turn(self) -> bool:
        if self.session.match.decider == PERSON:
            return True
        self.say("It is not your turn.")
        return False

    def _cube_action(self, action: str) -> None:
        if not self._is_persons_turn():
            return
        match = self.session.match
        if action == "double" and match.phase == Phase.PLAY and self.session.actions[-1][:4] == "roll":
            try:
                self.session.states[-2].double()  # a rule that forbade it also before the roll
            except IllegalPlay as error:
                self.say(str(error))
                return
        if self._try(action) and action == "double" and match.cube_is_dead:
            self.say("The cube is dead for you: you need no more than is at stake without this double.")

    def _resign(self, size: str) -> None:
        if not self._is_persons_turn():
            return
        by_board = self.session.match.rules.resign_by_board
        size = _RESIGNED.get(size, size)
        if not size and not by_board:
            self.say("resign 1 (a single game), 2 (a gammon) or 3 (a backgammon)")
        else:
            self._try(f"resign {size}".strip())

    def _hint(self) -> None:
        if self.session.match.decider == PERSON:
            self.say("\n".join(words.hint(self.player, self.session.match)))
        else:
            self.say("There is a hint when it is your turn.")

    def _undo(self) -> None:
        number = self.session.last_choice(PERSON)
        if number is None:
            self.say("There is no choice of yours to take back.")
        else:
            self.session = self.session.back_to(number)

    def _quit(self, name: str) -> None:
        if self.record_path and name and Path(name).resolve() == self.record_path.resolve():
            self.say(f"{name} is where the record goes. `quit FILE` saves elsewhere.")
            return
        if name:
            self.path = Path(name)
        try:
            self.leave()
        except OSError as error:
            self.say(f"{self.path}: {error.strerror or error}. `quit FILE` saves elsewhere.")

    def _show(self) -> None:
        """Draw the board unless it was the last that was drawn."""
        board = words.drawn(self.session.match, self.player.name)
        if board != self._shown:
            self._shown = board
            self.say(board)

    def _show_end(self) -> None:
        """Draw the last board and tell the result, once."""
        if self._told is self.session:
            return
        self._told = self.session
        self._show()
        match = self.session.match
        assert match.result
        self.say(words.result(match.result, self.player.name))
        if not self.session.is_one_game:
            self.say(words.standing(match, self.player.name))
        self.write_record()


def _free_path(taken: Path | None) -> Path:
    """A file that is not there yet and is not `taken`."""
    number = 1
    while True:
        path = Path(f"tdgammon-game{f'-{number}' * (number > 1)}.json")
        if not path.exists() and not (taken and path.resolve() == taken.resolve()):
            return path
        number += 1
