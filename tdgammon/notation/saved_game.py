"""A person's match, session or single game against a bot: its list of actions, and its file.

The file is JSON: who the bot is, the seed of the dice, the rules, and every action from the first
opening roll on, as `act` reads them. A file is replayed through `game.match.Match` when it is read,
and one that the rules forbid is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tdgammon.game.board import parse, text
from tdgammon.game.dice import opening_throw, rolls_at, streams, substream
from tdgammon.game.match import Match, Phase
from tdgammon.game.rules import GameRules, IllegalPlay
from tdgammon.notation.plays import read_play
from tdgammon.notation.saving import write_whole

FORMAT = "tdgammon-game/2"

PERSON, BOT = 0, 1

Roll = tuple[int, int]


def act(match: Match, action: str) -> tuple[Match, str]:
    """What follows a match state after an action in words, and the action as it is written.

    `open 31` (player 0's die first), `roll 31`, `play 8/5 6/5`, `double`, `take`, `pass`, `beaver`,
    `raccoon`, `resign` or `resign 2`, `accept`, `reject`, `next`. Raises ValueError, `IllegalPlay`
    among them, for what cannot be read or done.
    """
    word, _, rest = action.partition(" ")
    match word:
        case "open" | "roll":
            dice = _roll(rest)
            return (match.open(*dice) if word == "open" else match.roll(*dice)), action
        case "play":
            if match.phase != Phase.PLAY:
                raise IllegalPlay(f"a play belongs to phase {Phase.PLAY}, this is phase {match.phase}")
            play = read_play(rest, match.boards[0], match.dice or (), match.rules)
            return match.play(play.afterstate), f"play {play.notation}"
        case "resign":
            if rest not in ("", "1", "2", "3"):
                raise ValueError(f"a resignation is of size 1, 2 or 3, got {rest!r}")
            return match.resign(int(rest or 0)), action
    simple = {
        "double": match.double,
        "take": match.take,
        "pass": match.pass_double,
        "beaver": match.beaver,
        "raccoon": match.raccoon,
        "accept": match.accept,
        "reject": match.reject,
        "next": match.next_game,
    }
    if action not in simple:
        raise ValueError(f"{action!r} is no action")
    return simple[action](), action


@dataclass(frozen=True, kw_only=True)
class Session:
    """What a person (player 0) and a bot (player 1) have played; every change gives a new one."""

    against: str
    """The bot, as `decide.bots.bot` takes it."""

    seed: int | None
    """Of the dice, 0 .. 2**63 - 1; None if they are typed in."""

    is_one_game: bool
    """It ends with its first game."""

    states: tuple[Match, ...]
    """The first, and one after each action."""

    actions: tuple[str, ...] = ()
    """As `act` writes them."""

    @property
    def match(self) -> Match:
        """The match as it stands."""
        return self.states[-1]

    @property
    def is_over(self) -> bool:
        """Nothing can follow."""
        return self.match.phase == Phase.MATCH_OVER or (
            self.is_one_game and self.match.phase == Phase.GAME_OVER
        )

    def dice(self) -> Roll | None:
        """The dice of the next roll; None if they are typed in.

        Each game has its stream, as in `tdgammon bench`; turn 0 is the opening roll, which is equal
        only where that may double the stake by itself.
        """
        if self.seed is None:
            return None
        keys = streams(self.seed, 1)
        if self.match.game_number > 1:
            keys[0] = substream(keys[0], self.match.game_number - 1)
        words = [action.partition(" ")[0] for action in self._actions_of_game()]
        rules = self.match.rules
        if self.match.phase == Phase.OPENING:
            if rules.automatic_doubles != "none" and not self.match.length:
                return opening_throw(keys[0], len(words))
            turn = 0
        else:
            turn = words.count("play") + ("open" not in words)
        first, second = rolls_at(keys, turn)[0].tolist()
        return first, second

    def after(self, action: str) -> Session:
        """The session after one more action; raises ValueError as `act`, for dice other than those
        of the seed, and once it is over."""
        if self.is_over:
            raise ValueError("the match is over" if self.match.length else "the game is over")
        state, written = act(self.match, action)
        word, _, dice = action.partition(" ")
        if word in ("open", "roll") and self.seed is not None and _roll(dice) != self.dice():
            raise ValueError(f"seed {self.seed} does not roll {dice}")
        return replace(self, states=(*self.states, state), actions=(*self.actions, written))

    def back_to(self, num_actions: int) -> Session:
        """The session as it was after so many actions."""
        return replace(self, states=self.states[: num_actions + 1], actions=self.actions[:num_actions])

    def last_choice(self, player: int) -> int | None:
        """Number of the last action that a player chose from several; rolling is not counted."""
        for number in reversed(range(len(self.actions))):
            before, word = self.states[number], self.actions[number].partition(" ")[0]
            is_forced = word == "roll" or (word == "play" and len(before.afterstates()) == 1)
            if before.decider == player and not is_forced:
                return number
        return None

    def _actions_of_game(self) -> tuple[str, ...]:
        first = max((i + 1 for i, action in enumerate(self.actions) if action == "next"), default=0)
        return self.actions[first:]


def session(
    against: str, seed: int | None, rules: GameRules, length: int = 0, is_one_game: bool = False
) -> Session:
    """A session before its first roll; raises ValueError for a seed or length that cannot be."""
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**63):
        raise ValueError(f"seed must be 0 .. 2**63 - 1 or null, got {seed!r}")
    start = Match(rules=rules, length=length)
    return Session(against=against, seed=seed, is_one_game=is_one_game, states=(start,))


def save_session(played: Session, path: Path) -> None:
    """Write the file as a whole or not at all; raises OSError if it cannot be written."""
    rules = played.match.rules
    options = {field.name: getattr(rules, field.name) for field in fields(rules)}
    content = {
        "format": FORMAT,
        "against": played.against,
        "seed": played.seed,
        "length": played.match.length,
        "one_game": played.is_one_game,
        "rules": options | {"start": text(rules.start)},
        "actions": played.actions,
    }
    write_whole(path, json.dumps(content, indent=1) + "\n")


def load_session(path: Path) -> Session:
    """The session that `save_session` wrote, replayed.

    Raises OSError if the file cannot be read, and ValueError, quoting the file and the fault, if it
    is no saved game, or has dice other than its seed's or actions that are not legal.
    """
    try:
        return _session(json.loads(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a saved game: {error}") from None


def _session(content: Any) -> Session:
    if isinstance(content, dict) and content.get("format") == "tdgammon-game/1":
        raise ValueError(f"format 'tdgammon-game/1' has no rules or score; {FORMAT!r} is read")
    keys = {"format", "against", "seed", "length", "one_game", "rules", "actions"}
    if not isinstance(content, dict) or content.keys() != keys:
        raise ValueError(f"must hold {', '.join(sorted(keys))} and nothing else")
    if content["format"] != FORMAT:
        raise ValueError(f"format must be {FORMAT!r}, got {content['format']!r}")
    if not isinstance(content["against"], str):
        raise ValueError(f"against must be a player's name, got {content['against']!r}")
    if not isinstance(content["one_game"], bool):
        raise ValueError(f"one_game must be true or false, got {content['one_game']!r}")
    if not isinstance(content["actions"], list):
        raise ValueError(f"actions must be a list, got {content['actions']!r}")
    played = session(
        content["against"],
        content["seed"],
        _rules(content["rules"]),
        content["length"],
        content["one_game"],
    )
    for number, action in enumerate(content["actions"], 1):
        if not isinstance(action, str):
            raise ValueError(f"action {number}: must be text, got {action!r}")
        try:
            played = played.after(action)
        except ValueError as error:
            raise ValueError(f"action {number}: {error}") from None
    return played


def _rules(options: Any) -> GameRules:
    names = {field.name for field in fields(GameRules)}
    if not isinstance(options, dict) or options.keys() != names:
        raise ValueError(f"rules must hold {', '.join(sorted(names))} and nothing else")
    if not isinstance(options["start"], str):
        raise ValueError(f"rules.start: a board in words expected, got {options['start']!r}")
    return GameRules(**options | {"start": tuple(parse(options["start"]).tolist())})


def _roll(dice: str) -> Roll:
    if len(dice) != 2 or not set(dice) <= set("123456"):
        raise ValueError(f"dice must be two of 1 to 6, such as '31', got {dice!r}")
    return int(dice[0]), int(dice[1])
