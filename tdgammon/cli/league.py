"""Play a round robin and print the table, with a 95 % interval of each pairing.

Every pair of players meets on the same streams of dice, each played from both seats. Without names
the field is random, racer, golden, pubeval and the checkpoint `default`, if there is one. Players are
named as in `tdgammon bench`.

Example:
  tdgammon league random racer golden pubeval --games 500
"""

from __future__ import annotations

import argparse
import json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "players", metavar="PLAYER", nargs="*", help="two or more, or none for the usual field"
    )
    parser.add_argument(
        "--games", type=int, default=1000, metavar="N", help="games a pairing (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the dice (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    from tdgammon.bench.league import league

    found = league(args.players or default_field(), args.games, args.seed, progress=True)
    if args.json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        print(
            f"points a game of the row against the column, +- 95 %; {found.games:,} games a pairing\n"
        )
        print(found.text())
    return 0


def default_field() -> list[str]:
    """The heuristic bots, and the default checkpoint if one is shipped."""
    from tdgammon.decide.bots import BOTS
    from tdgammon.value import checkpoint

    return [*BOTS, *(["default"] if "default" in checkpoint.available() else [])]
