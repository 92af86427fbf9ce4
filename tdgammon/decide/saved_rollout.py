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
from tdgammon.decide.cubeful import tables_of
from tdgammon.decide.rollout import Rival, Rollout, RolloutSettings
from tdgammon.decide.rollout_of import network_player
from tdgammon.decide.trials import NUM_RESULTS
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.notation.saving import write_whole

FORMAT = 1


def save_rollout(rollout: Rollout, player: str, sha256: str | None, path: Path) -> None:
    """Write a rollout by the player of that name and checkpoint as one JSON file, whole or not at all.

    Raises OSError if it cannot be written.
    """
    write_whole(path, json.dumps(_document(rollout, player, sha256), indent=1) + "\n")


def _document(rollout: Rollout, player: str, sha256: str | None) -> dict[str, Any]:
    stakes = rollout.stakes
    return {
        "tdgammon_rollout": FORMAT,
        "player": player,
        "checkpoint_sha256": sha256,
        "settings": asdict(rollout.settings),
        "stakes": None if stakes is None else _stakes_document(stakes),
        "of_plays": rollout.of_plays,
        "rivals": [asdict(rival) for rival in rollout.rivals],
        "results": [base64.b64encode(rows.astype("<f8").tobytes()).decode() for rows in rollout.rows],
    }


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
        rollout = Rollout(
            player.evaluator, rivals, settings, stakes, of_plays=bool(document["of_plays"]), rows=rows
        )
        _check_same(document, _document(rollout, player.name, player.sha256), "document")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as fault:
        raise ValueError(f"{path}: not a saved rollout that can be played on: {fault}") from None
    for name in ("seed", "truncate", "luck_control", "stop_at"):
        if changes.get(name, getattr(settings, name)) != getattr(settings, name):
            raise ValueError(
                f"{path}: {name} is {getattr(settings, name)} in trials that were played, "
                f"got {changes[name]}"
            )
    rollout.settings = replace(settings, **changes)
    return rollout, player


def _check_same(read: Any, written: Any, name: str) -> None:
    """ValueError unless all that was read is what would be written: another type, say, is damage."""
    if isinstance(read, dict) and isinstance(written, dict):
        for key in read:
            if key not in written:
                raise ValueError(f"{name}: unknown key {key!r}")
            _check_same(read[key], written[key], key)
    elif json.dumps(read) != json.dumps(written):
        raise ValueError(f"{name}: {read!r:.80} is not what a rollout has there")


def _rows(words: str) -> NDArray[np.float64]:
    rows = np.frombuffer(base64.b64decode(words, validate=True), "<f8")
    if not np.isfinite(rows).all():
        raise ValueError("results: finite numbers expected")
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
    stakes = Stakes(
        rules=rules,
        cube_values=np.array([document["cube_value"]], np.int64),
        cube_owners=np.array([document["cube_owner"]], np.int8),
        away=np.array([document["away"]], np.int64),
        is_crawford=np.array([document["is_crawford"]]),
        is_post_crawford=np.array([document["is_post_crawford"]]),
    )
    away, is_crawford = stakes.away[0].tolist(), stakes.is_crawford[0]
    if len(away) != 2 or stakes.cube_owners[0] not in (OWN, CENTRED, OPPONENTS):
        raise ValueError(f"stakes: {document!r:.200}")
    if (is_crawford or stakes.is_post_crawford[0]) != (min(away) == 1):
        raise ValueError(f"stakes: no Crawford game, nor one after it, at {away} away")
    tables_of(stakes)
    return stakes
