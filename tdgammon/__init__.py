"""Backgammon by temporal-difference self-play: train, bench and play.

The public names are loaded when they are first used: `import tdgammon` loads neither torch nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdgammon.decide.bots import bot
    from tdgammon.decide.rollout_of import rollout
    from tdgammon.decide.search import search
    from tdgammon.game.board import START, flip, parse, text
    from tdgammon.game.moves import afterstates
    from tdgammon.game.rules import GameRules, rules
    from tdgammon.notation.plays import plays
    from tdgammon.value.checkpoint import load_evaluator as load

__version__ = "0.1.0"

__all__ = [
    "START",
    "GameRules",
    "afterstates",
    "bot",
    "flip",
    "load",
    "parse",
    "plays",
    "rollout",
    "rules",
    "search",
    "text",
]

_HOMES = {
    "START": ("tdgammon.game.board", "START"),
    "GameRules": ("tdgammon.game.rules", "GameRules"),
    "afterstates": ("tdgammon.game.moves", "afterstates"),
    "bot": ("tdgammon.decide.bots", "bot"),
    "flip": ("tdgammon.game.board", "flip"),
    "load": ("tdgammon.value.checkpoint", "load_evaluator"),
    "parse": ("tdgammon.game.board", "parse"),
    "plays": ("tdgammon.notation.plays", "plays"),
    "rollout": ("tdgammon.decide.rollout_of", "rollout"),
    "rules": ("tdgammon.game.rules", "rules"),
    "search": ("tdgammon.decide.search", "search"),
    "text": ("tdgammon.game.board", "text"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
