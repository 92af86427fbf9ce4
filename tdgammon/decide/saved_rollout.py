"""Rollouts in files: everything that is needed to play on, with the results of each trial."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdgammon.decide.bots import NetworkBot
from tdgammon.decide.rollout import Rival, Rollout, RolloutSettings
from tdgammon.decide.rollout_of import network_player
from tdgammon.decide.trials import NUM_RESULTS
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import Stakes
from tdgammon.notation.saving import write_whole

FORMAT = 1


def save_rollout(rollout: Rollout, player: str, sha256: str | None, path: Path) -> None:
    """Write a rollout by the player of that name and checkpoint as one JSON file, whole or not at all.

    Raises OSError if it cannot be written.
    """
    stakes = rollout.stakes
    document = {
        "tdgammon_rollout": FORMAT,
        "player": player,
        "checkpoint_sha256": sha256,
        "settings": asdict(rollout.settings),
        "stakes": None if stakes is None else _stakes_document(stakes),
        "of_plays": rollout.of_plays,
        "rivals": [asdict(rival) for rival in rollout.rivals],
        "results": [base64.b64encode(rows.astype("<f8").tobytes()).decode() for rows in rollout.rows],
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")


def load_rollout(path: Path, **changes: Any) -> tuple[Rollout, NetworkBot]:
    """A saved rollout, to be run again, and who plays it; `changes` are settings that replace its own.

    Raises OSError, and ValueError with the file's name if it is no rollout, if its player's network
    is another by now, or if a change would make other trials of those that were played.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["tdgammon_rollout"] != FORMAT:
            raise ValueError(f"format {document['tdgammon_rollout']!r}, this version reads {FORMAT}")
        settings = RolloutSettings(**document["settings"])
        rivals = tuple(
            Rival(**{**rival, "board": tuple(rival["board"])}) for rival in document["rivals"]
        )
        stakes = None if document["stakes"] is None else _stakes(document["stakes"])
        rows = [_rows(words) for words in document["results"]]
        player = network_player(document["player"])
        if player.sha256 != document["checkpoint_sha256"]:
            raise ValueError(f"was played by another network of the name {document['player']!r}")
        if len(rows) != len(rivals):
            raise ValueError(f"{len(rivals)} rivals and {len(rows)} results")
        of_plays = bool(document["of_plays"])
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as fault:
        raise ValueError(f"{path}: not a saved rollout that can be played on: {fault}") from None
    for name in ("seed", "truncate", "luck_control", "stop_at"):
        if changes.get(name, getattr(settings, name)) != getattr(settings, name):
            raise ValueError(
                f"{path}: {name} is {getattr(settings, name)} in trials that were played, "
                f"got {changes[name]}"
            )
    rollout = Rollout(
        player.evaluator,
        rivals,
        replace(settings, **changes),
        stakes,
        of_plays=of_plays,
        rows=rows,
    )
    return rollout, player


def _rows(words: str) -> NDArray[np.float64]:
    rows = np.frombuffer(base64.b64decode(words, validate=True), "<f8")
    return rows.astype(np.float64).reshape(-1, NUM_RESULTS)


def _stakes_document(stakes: Stakes) -> dict[str, Any]:
    return {
        "rules": asdict(stakes.rules),
        "cube_value": int(stakes.cube_values[0]),
        "cube_owner": int(stakes.cube_owners[0]),
        "away": stakes.away[0].tolist(),
        "is_crawford": bool(stakes.is_crawford[0]),
        "is_post_crawford": bool(stakes.is_post_crawford[0]),
    }


def _stakes(document: dict[str, Any]) -> Stakes:
    rules = GameRules(**{**document["rules"], "start": tuple(document["rules"]["start"])})
    return Stakes(
        rules=rules,
        cube_values=np.array([document["cube_value"]], np.int64),
        cube_owners=np.array([document["cube_owner"]], np.int8),
        away=np.array([document["away"]], np.int64),
        is_crawford=np.array([document["is_crawford"]]),
        is_post_crawford=np.array([document["is_post_crawford"]]),
    )
