"""Players by name: the heuristic bots, checkpoints, and functions of the user's own.

Every bot here is a function of board and roll: asked twice it plays the same, so that a duplicate
match of a bot against itself is exactly even. Equal choices are decided by the order in which
`game.moves.afterstates` lists them: the first is played.
"""

from __future__ import annotations

import importlib
import operator
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdgammon.decide import cube, cubeful_plays, pubeval
from tdgammon.decide.cubeful import is_plain
from tdgammon.decide.decision import cube_equities
from tdgammon.decide.golden import Golden
from tdgammon.decide.met import MatchEquityTable, met
from tdgammon.decide.search import LEVELS, Searcher, SearchSettings
from tdgammon.game.board import Boards, checked_boards, checked_rolls
from tdgammon.game.dice import streams
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import STANDARD, GameRules
from tdgammon.game.stakes import Stakes
from tdgammon.kernels import linear

if TYPE_CHECKING:
    from tdgammon.value.evaluator import NetworkEvaluator, RankedPlays


@runtime_checkable
class Bot(Protocol):
    """Anything that has a name and chooses afterstates."""

    @property
    def name(self) -> str:
        """What the player is called."""

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        """boards [B, 26], rolls [B, 2] -> the chosen afterstates, int8 [B, 26], flipped.

        With stakes, a player that knows about the cube and the score may play by them; None = a game
        for money without a cube.
        """

    def doubles(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        """Whether to double as the player on roll of boards [B, 26], who may: bool [B]."""

    def takes(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        """Whether to take a double of the player on roll, as the opponent: bool [B]."""


def bot(player: str | Bot, rules: GameRules | None = None) -> Bot:
    """The player of that name: a bot, a checkpoint's name or folder, or `module:function`.

    Settings follow a comma (`random,seed=5`; `default,ply=2`: `NETWORK_SETTINGS`). It plays by `rules`,
    None = standard. A `Bot` comes back as it is. Raises ValueError, quoting the player, for a name
    that nobody has, for settings that the player lacks and for rules that it does not know.
    """
    if not isinstance(player, str):
        if isinstance(player, Bot):
            return player
        raise ValueError(f"player: expected a name or a bot, got {player!r}")
    rules = STANDARD if rules is None else rules
    name, *texts = player.split(",")
    if name == "random":
        return Random(player, _seed(player, _settings(player, texts, ["seed"])), rules)
    module, colon, function = name.partition(":")
    is_function = bool(colon and module and function and os.sep not in name)
    if name not in BOTS and not is_function:
        return _checkpoint(player, name, _settings(player, texts, NETWORK_SETTINGS), rules)
    if texts:
        raise ValueError(f"player {player!r}: {name} takes no settings, got {texts[0]!r}")
    if is_function:
        return Function(name, _imported(name, module, function), rules)
    return BOTS[name](name, rules)


@dataclass(frozen=True)
class Random(cube.NeverDoubles):
    """Any legal afterstate, all equally likely: a hash of seed, board and roll picks it."""

    name: str = "random"
    seed: int = 0
    rules: GameRules = STANDARD

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        boards, rolls = _checked(boards, rolls)
        chosen = np.empty_like(boards)
        if self.rules.caucasian:
            rows, offsets = afterstates(boards, rolls, self.rules)
            linear.pick_by_hash(boards, rolls, streams(self.seed, 1)[0], rows, offsets, chosen)
            return chosen
        linear.choose_by_hash(boards, rolls, streams(self.seed, 1)[0], chosen)
        return chosen


@dataclass(frozen=True, eq=False)
class Linear(cube.CountsPips):
    """Plays the highest sum of one number a place and one a checker off; all off beats any sum."""

    name: str
    tables: NDArray[np.float64]
    """[2, 26, 31]: contact and race; places and counts (-15 to 15) of the flipped afterstate."""
    per_off: NDArray[np.float64]
    """[2]: value of each checker borne off, with contact and in a race."""
    rules: GameRules = STANDARD

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        boards, rolls = _checked(boards, rolls)
        chosen = np.empty_like(boards)
        if self.rules.caucasian:
            rows, offsets = afterstates(boards, rolls, self.rules)
            linear.pick_by_value(boards, self.tables, self.per_off, rows, offsets, chosen)
            return chosen
        linear.choose_by_value(boards, rolls, self.tables, self.per_off, chosen)
        return chosen


def racer(name: str = "racer", rules: GameRules = STANDARD) -> Linear:
    """The bot that plays for the lowest pip count of its own and sees nothing else.

    Most plays of a roll are equal to it; the first listed moves the rearmost checkers. (Counting
    the opponent's pips as well would make it hit whenever it can, and its games would not end.)
    """
    own = np.minimum(np.arange(-15, 16), 0)
    pips = [own * (25 - place) for place in range(26)]
    return Linear(name, np.array([pips, pips], np.float64), np.zeros(2), rules)


@dataclass(frozen=True, eq=False)
class NetworkBot:
    """Plays the afterstate of the best equity by a network, as it stands or looking ahead."""

    name: str
    evaluator: NetworkEvaluator | Searcher
    sha256: str | None = None
    """Of the checkpoint that the network is from, or None."""

    is_dead_cube: bool = False
    """Plays the cube as if it were dead after the next turn of it, and the checkers without one."""
    met: MatchEquityTable | None = None
    """None = the default match equity table."""

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        if stakes is None or self.is_dead_cube or is_plain(stakes):
            return self.evaluator.choose(boards, rolls)
        return cubeful_plays.choose(self.evaluator, boards, rolls, stakes, self.met)

    def rank(self, board: ArrayLike, roll: ArrayLike, stakes: Stakes) -> RankedPlays:
        """Every play of one roll, best first, as `choose` sees them."""
        if self.is_dead_cube or is_plain(stakes):
            return self.evaluator.rank(board, roll)
        return cubeful_plays.rank(self.evaluator, board, roll, stakes, self.met)

    def doubles(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        if self.is_dead_cube:
            return cube.doubles(self.evaluator.probabilities(boards), stakes, self.met)
        return cube_equities(self.evaluator, boards, stakes, self.met).doubles

    def takes(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        if self.is_dead_cube:
            return cube.takes(self.evaluator.probabilities(boards), stakes, self.met)
        return cube_equities(self.evaluator, boards, stakes, self.met).takes

    def beavers(self, boards: Boards, stakes: Stakes) -> NDArray[np.bool_]:
        """Whether to answer a double of the player on roll by a beaver, as the opponent: bool [B]."""
        if self.is_dead_cube:
            return np.zeros(len(boards), np.bool_)
        return cube_equities(self.evaluator, boards, stakes, self.met).beavers


@dataclass(frozen=True, eq=False)
class Function(cube.NeverDoubles):
    """Plays the flipped afterstates that a function of boards int8 [B, 26] and rolls [B, 2] returns."""

    name: str
    function: Callable[[Boards, NDArray[np.int8]], Any]
    rules: GameRules = STANDARD

    def __reduce__(self) -> tuple[Callable[..., Bot], tuple[str, GameRules]]:
        """By its name: a process that it is sent to imports the function."""
        return bot, (self.name, self.rules)

    def choose(self, boards: ArrayLike, rolls: ArrayLike, stakes: Stakes | None = None) -> Boards:
        """Raises ValueError, quoting what came back, unless every answer is a legal afterstate."""
        boards, rolls = _checked(boards, rolls)
        with _users_code(self.name):
            chosen = self.function(boards.copy(), rolls.copy())
        return checked_choice(self.name, boards, rolls, chosen, self.rules)


def checked_choice(
    name: str, boards: Boards, rolls: NDArray[np.int8], chosen: Any, rules: GameRules | None = None
) -> Boards:
    """`chosen` as int8 [B, 26]; raises ValueError, quoting player and row, if one is not legal."""
    try:
        array = np.asarray(chosen)
    except Exception:  # ragged lists, and whatever a tensor says of itself
        raise ValueError(f"player {name!r}: expected afterstates, got {chosen!r:.200}") from None
    if array.shape != boards.shape or array.dtype.kind not in "iuf":
        raise ValueError(
            f"player {name!r}: expected afterstates {list(boards.shape)}, got {array.dtype} "
            f"{list(array.shape)}: {chosen!r:.200}"
        )
    rows, offsets = afterstates(boards, rolls, rules)
    same = (rows == np.repeat(array, np.diff(offsets), axis=0)).all(axis=1)
    legal = np.logical_or.reduceat(same, offsets[:-1]) if len(boards) else np.ones(0, bool)
    if not legal.all():
        i = int(np.flatnonzero(~legal)[0])
        raise ValueError(
            f"player {name!r}: {array[i].tolist()} is no legal afterstate of {boards[i].tolist()} "
            f"with {rolls[i].tolist()}"
        )
    return np.ascontiguousarray(array, np.int8)


def _pubeval(name: str, rules: GameRules) -> Linear:
    return Linear(name, *pubeval.tables(), rules)


def _random(name: str, rules: GameRules) -> Random:
    return Random(name, 0, rules)


def _golden(name: str, rules: GameRules) -> Golden:
    return Golden(name, rules=rules)


BOTS: dict[str, Callable[[str, GameRules], Bot]] = {
    "random": _random,
    "racer": racer,
    "golden": _golden,
    "pubeval": _pubeval,
}
"""The heuristic bots by name."""


def _checked(boards: ArrayLike, rolls: ArrayLike) -> tuple[Boards, NDArray[np.int8]]:
    boards = checked_boards(boards)
    return boards, checked_rolls(rolls, len(boards))


NETWORK_SETTINGS = ("level", "ply", "filter", "threads", "cube", "met")
"""Settings of a network: a preset of `search.LEVELS`, and fields of `SearchSettings` that change it;
the cube policy, `live` (the default) or `dead`; the match equity table by name or file."""


def _settings(player: str, texts: list[str], known: Collection[str]) -> dict[str, str]:
    """Values of `key=value` texts by key; ValueError for a key that is not known or comes twice."""
    found: dict[str, str] = {}
    for setting in texts:
        key, equals, value = setting.partition("=")
        if not equals or key not in known:
            name = player.split(",")[0]
            raise ValueError(f"player {player!r}: {name} has {_listed(known)}, got {setting!r}")
        if key in found:
            raise ValueError(f"player {player!r}: {key} is set twice")
        found[key] = value
    return found


def _listed(known: Collection[str]) -> str:
    return ("the setting " if len(known) == 1 else "the settings ") + ", ".join(known)


def _seed(player: str, settings: dict[str, str]) -> int:
    value = settings.get("seed", "0")
    if not (value.isascii() and value.isdigit() and int(value) < 2**63):
        raise ValueError(f"player {player!r}: seed must be 0 .. 2**63 - 1, got {value!r}")
    return int(value)


def _search_settings(player: str, settings: dict[str, str]) -> SearchSettings:
    level = settings.get("level", "fast")
    if level not in LEVELS:
        raise ValueError(
            f"player {player!r}: level: one of {', '.join(LEVELS)} expected, got {level!r}"
        )
    fields: dict[str, Any] = {}
    for key in ("ply", "threads"):
        if key in settings:
            value = settings[key]
            if not (value.isascii() and value.isdigit()):
                raise ValueError(f"player {player!r}: {key}: a whole number expected, got {value!r}")
            fields[key] = int(value)
    if "filter" in settings:
        fields["filter"] = settings["filter"]
    try:
        return replace(LEVELS[level], **fields)
    except ValueError as fault:
        raise ValueError(f"player {player!r}: {fault}") from None


@contextmanager
def _users_code(player: str, *passing: type[Exception]) -> Iterator[None]:
    """What the code prints goes to stderr (stdout is for results); what it raises, but for `passing`,
    is a ValueError that says where."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except passing:
        raise
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        if not isinstance(error, SyntaxError):  # which says itself where it is
            frame = traceback.extract_tb(error.__traceback__)[-1]
            what += f" ({os.path.basename(frame.filename)}:{frame.lineno})"
        raise ValueError(f"player {player!r}: {what}") from error


def _imported(player: str, module: str, function: str) -> Callable[[Boards, NDArray[np.int8]], Any]:
    if os.getcwd() not in sys.path:  # an installed command does not look there by itself
        sys.path.append(os.getcwd())
    try:
        with _users_code(player, ImportError, AttributeError, TypeError):
            found = operator.attrgetter(function)(importlib.import_module(module))
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(f"player {player!r}: {error}") from None
    if not callable(found):
        raise ValueError(f"player {player!r}: {function} is no function, got {found!r:.100}")
    return found


def _checkpoint(player: str, name: str, settings: dict[str, str], rules: GameRules) -> NetworkBot:
    from tdgammon.value import checkpoint  # not needed to play the heuristic bots

    search = _search_settings(player, settings)
    try:
        path = checkpoint.find(name)
    except checkpoint.CheckpointError:
        shipped = ", ".join(checkpoint.available()) or "none"
        raise ValueError(
            f"unknown player {name!r}: bots are {', '.join(BOTS)}; checkpoints: {shipped}; "
            "or a checkpoint's folder, or MODULE:FUNCTION"
        ) from None
    found = checkpoint.read(path)
    try:
        network = found.evaluator(rules)
        rolls_out = settings.get("level") == "rollout"
        searches = search.ply > 0 or rolls_out
        evaluator = Searcher(evaluator=network, settings=search) if searches else network
        kind = NetworkBot
        if rolls_out:
            from tdgammon.decide.rolling import RollingBot  # which is made of this one

            kind = RollingBot
        return kind(player, evaluator, found.sha256, **_cube_settings(settings))
    except ValueError as fault:
        raise ValueError(f"player {player!r}: {fault}") from None


def _cube_settings(settings: dict[str, str]) -> dict[str, Any]:
    policy = settings.get("cube", "live")
    if policy not in ("live", "dead"):
        raise ValueError(f"cube: live or dead expected, got {policy!r}")
    return {
        "is_dead_cube": policy == "dead",
        "met": met(settings["met"]) if "met" in settings else None,
    }
