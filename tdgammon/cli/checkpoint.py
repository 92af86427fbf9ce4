"""List, show and verify checkpoints: the shipped ones by name, any other by its folder.

`list` names the shipped checkpoints and those below FOLDER, `show` prints what a checkpoint says of
itself, and `verify` also compares the probabilities it must give. All check the hash of the weights.

Example:
  tdgammon checkpoint list
  tdgammon checkpoint show default
  tdgammon checkpoint verify runs/quick
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tdgammon.bench.report import interval
from tdgammon.value import checkpoint as checkpoints
from tdgammon.value.checkpoint import Checkpoint, CheckpointError

_RUNS = "runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="list|show|verify", required=True)
    listing = actions.add_parser(
        "list", help="the shipped checkpoints, and local ones", allow_abbrev=False
    )
    listing.add_argument(
        "folder",
        nargs="?",
        metavar="FOLDER",
        help=f"where to look for local ones; {_RUNS}, if it is there",
    )
    show = actions.add_parser("show", help="what one says of itself", allow_abbrev=False)
    verify = actions.add_parser("verify", help="whether one is sound", allow_abbrev=False)
    for action in (show, verify):
        action.add_argument("name", metavar="NAME", help="a checkpoint's name or folder")
    for action in (listing, show, verify):
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        return _list(args.folder, args.json)
    if args.action == "show":
        found = _described(checkpoints.read(args.name))
        print(json.dumps(found) if args.json else _in_words(found))
        return 0
    found = _described(checkpoints.verify(args.name))
    if args.json:
        print(json.dumps({key: found[key] for key in ("name", "path", "sha256")} | {"sound": True}))
    else:
        print(
            f"{found['name']}: sound; weights {found['sha256'][:12]}, {_count(found, 'examples')} agree"
        )
    return 0


def _list(folder: str | None, as_json: bool) -> int:
    """Print every checkpoint; status 1 if one of them is not sound."""
    rows = []
    for name in [*checkpoints.available(), *_below(folder)]:
        try:
            rows.append(_described(checkpoints.read(name)) | {"name": name})
        except CheckpointError as fault:
            rows.append({"name": name, "fault": str(fault)})
    if as_json:
        keys = ("name", "path", "sha256", "games", "architecture", "bench", "fault")
        print(json.dumps([{key: row[key] for key in keys if key in row} for row in rows]))
    elif not rows:
        print("no checkpoints")
    else:
        width = max(len(row["name"]) for row in rows)
        for row in rows:
            print(f"{row['name']:{width}}  {row['fault'] if 'fault' in row else _headline(row)}")
    return 1 if any("fault" in row for row in rows) else 0


def _below(folder: str | None) -> list[str]:
    """The checkpoint folders below `folder`; hidden ones are unfinished."""
    top = Path(folder or _RUNS)
    if folder and not top.is_dir():
        raise NotADirectoryError(20, "no such folder", folder)
    documents = sorted(top.rglob(checkpoints.DOCUMENT))
    return [str(d.parent) for d in documents if not any(p.startswith(".") for p in d.parts)]


def _described(checkpoint: Checkpoint) -> dict[str, Any]:
    """The document of a checkpoint with its name, its path, the number of its weights and the hash of
    the light network's."""
    num_weights = sum(weight.size for weight in checkpoint.weights.values())
    front = {"name": checkpoint.name, "path": str(checkpoint.path), "num_weights": num_weights}
    light = checkpoint.light
    return front | {"light_sha256": light.sha256 if light else None} | dict(checkpoint.document)


def _headline(found: dict[str, Any]) -> str:
    shape = found["architecture"]
    sizes = "-".join(map(str, shape["hidden"]))
    if shape.get("specialists"):
        sizes += " specialists"
    words = f"{found['games']:>12,} games  {shape['encoding']} {sizes}  {found['sha256'][:12]}"
    return "  ".join([words, *map(_bench, found.get("bench") or [])])


def _in_words(found: dict[str, Any]) -> str:
    shape = found["architecture"]
    versions = [f"{name} {version}" for name, version in (found.get("versions") or {}).items()]
    lines = [
        f"name          {found['name']}",
        f"path          {found['path']}",
        f"architecture  {shape['encoding']}, hidden {shape['hidden']}, {shape['activation']}"
        + (", a network for each class of positions" if shape.get("specialists") else ""),
        f"weights       {found['num_weights']:,} (SHA-256 {found['sha256']})",
        f"light         {found['light_sha256'] or 'none'}",
        f"games         {found['games']:,}",
        f"commit        {found.get('commit') or 'not recorded'}",
        f"versions      {', '.join(versions) or 'not recorded'}",
        f"examples      {_count(found, 'examples')} with the probabilities they must give",
    ]
    lines += [f"bench         {_bench(entry)}" for entry in found.get("bench") or []]
    lines += [f"config        {key} = {value}" for key, value in _flat("", found.get("config") or {})]
    return "\n".join(lines)


def _bench(entry: dict[str, Any]) -> str:
    """One entry of the bench in words: the match that `tdgammon bench --json` describes."""
    if not {"b", "ppg", "games"} <= set(entry):
        return json.dumps(entry)
    ppg = interval(entry["ppg"], entry.get("ci95"))
    return f"{ppg} v {entry['b']} ({entry['games']:,} games)"


def _count(found: dict[str, Any], key: str) -> str:
    number = len(found[key])
    return f"{number} position{'' if number == 1 else 's'}"


def _flat(prefix: str, fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Dotted keys and values, as `--set` takes them."""
    found: list[tuple[str, str]] = []
    for key, value in fields.items():
        found += (
            _flat(f"{prefix}{key}.", value)
            if isinstance(value, dict)
            else [(prefix + key, json.dumps(value))]
        )
    return found
