"""Measure players: a duplicate-dice match of two, or a file of graded decisions.

A match plays every stream of dice from both seats and prints the points a game of the first player
with a 95 % interval. Games are for money without a cube; --cube adds it, --length plays whole matches,
and --rules or --option changes what is played. With --decisions, each player decides on every line
of a checker, cube or values file.

The result is the same for any number of workers, here or on a Ray cluster. With --journal, a match that
was broken off is played on by the same command; --games may have grown.

A player is random, racer, golden or pubeval, a checkpoint's name or folder, or MODULE:FUNCTION. A
network looks ahead by settings after a comma: level=fast, normal, strong or deep (0 to 3 plies) or
rollout, or ply=0 to 4; filter=narrow, normal, wide or full (plays looked into); threads=N.
--ply and --ply-b set ply.
cube=dead has a network double as if the cube were not turned again; met=NAME or a file sets the match
equity table. For a cube file, a field of chances such as probs_gnubg is a player: our formulas on it.

Example:
  tdgammon bench pubeval random --games 2000
  tdgammon bench default pubeval --length 7 --games 200
  tdgammon bench default pubeval --cube --rules standard-money --option cube_limit=8
  tdgammon bench default default --ply 1 --games 200
  tdgammon bench default pubeval --ply 2 --games 10000 --workers 8 --journal strong.units
  tdgammon bench --decisions plays.jsonl.gz pubeval default default,level=strong
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdgammon.bench.arena import MatchResult, Side
    from tdgammon.decide.units import Runner

GAMES = 1000
SEED = 1
_OF_MATCHES = ("games", "seed", "ply_b", "cube", "length", "rules", "option", "save", "save_format")
_HOW = ("workers", "ray", "journal")
_MONEY_OPTIONS = ("jacoby", "beavers", "raccoons", "automatic_doubles")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", metavar="PLAYER", nargs="+", help="two for a match")
    parser.add_argument(
        "--games", type=int, metavar="N", help=f"games, an even number (default {GAMES})"
    )
    parser.add_argument("--seed", type=int, metavar="S", help=f"seed of the dice (default {SEED})")
    parser.add_argument(
        "--ply", metavar="P", help="rolls that the first player looks ahead; all of --decisions"
    )
    parser.add_argument("--ply-b", metavar="P", help="rolls that the second player looks ahead")
    parser.add_argument("--cube", action="store_true", help="play with the doubling cube")
    parser.add_argument(
        "--length", type=int, metavar="N", help="play matches to N points; --games counts matches"
    )
    parser.add_argument("--rules", metavar="NAME", help="a preset (default standard)")
    parser.add_argument(
        "--option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a rule, e.g. jacoby=true",
    )
    parser.add_argument(
        "--save", metavar="FOLDER", type=Path, help="write every game or match to a file there"
    )
    parser.add_argument(
        "--save-format", metavar="FORMAT", help="of these files: mat, sgf or json (default mat)"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default 1: this one), or CPUs of Ray (all)"
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on this Ray cluster (`auto`: the one that is running)",
    )
    parser.add_argument(
        "--journal", metavar="FILE", type=Path, help="keep what is finished there, and go on from it"
    )
    parser.add_argument(
        "--decisions", metavar="FILE", help="grade on this file (JSON lines, plain or .gz)"
    )
    parser.add_argument(
        "--truth", metavar="FIELD", help="field of the plays' equities in it (default equity)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    if args.decisions is not None:
        for option in _OF_MATCHES + _HOW:
            if getattr(args, option) not in (None, False, []):
                raise ValueError(f"--{option.replace('_', '-')} has no meaning with --decisions")
        players = [_at_ply(player, args.ply) for player in args.players]
        return _decisions(args.decisions, players, args.truth, args.json)
    if args.truth is not None:
        raise ValueError(f"--truth {args.truth!r}: has no meaning without --decisions")
    if len(args.players) != 2:
        raise ValueError(f"a match is between two players, got {len(args.players)}: {args.players}")
    from tdgammon.bench.arena import match
    from tdgammon.game import rules

    if args.save_format and not args.save:
        raise ValueError(f"--save-format {args.save_format!r}: needs --save FOLDER")
    for option in args.option:
        key = option.partition("=")[0]
        if key in _MONEY_OPTIONS and (args.length or not args.cube):
            raise ValueError(f"--option {option!r}: is a rule of money games with --cube")
        if key == "cube_limit" and not (args.length or args.cube):
            raise ValueError(f"--option {option!r}: has no meaning without --cube or --length")
    if args.length is not None and args.length < 1:
        raise ValueError(f"--length: at least 1 point expected, got {args.length}")
    a, b = map(_at_ply, args.players, (args.ply, args.ply_b))
    try:
        result = match(
            a,
            b,
            GAMES if args.games is None else args.games,
            SEED if args.seed is None else args.seed,
            rules=rules.options(
                args.option, rules.rules("standard" if args.rules is None else args.rules)
            ),
            cube=args.cube,
            length=args.length or 0,
            progress=True,
            save=args.save,
            save_format=args.save_format or "mat",
            runner=_runner(args),
        )
    except KeyboardInterrupt:
        if args.journal is None:
            raise
        print(f"tdgammon: interrupted; the same command goes on from {args.journal}", file=sys.stderr)
        return 130  # 128 + SIGINT, as shells report it
    print(json.dumps(result.to_json(), indent=1) if args.json else _match_text(result))
    return 0


def _runner(args: argparse.Namespace) -> Runner | None:
    """Who plays the match in parts; None = this process, in one piece."""
    if args.save and (args.ray is not None or args.journal):
        raise ValueError(
            f"--save {str(args.save)!r}: games are written without --ray and --journal only"
        )
    if args.ray is None and args.journal is None and args.workers in (None, 1):
        return None
    from tdgammon.learn.farm import runner

    return runner(args.workers, args.ray, args.journal, lambda terms: terms.key, use_processes=True)


def _at_ply(player: str, ply: str | None) -> str:
    return player if ply is None else f"{player},ply={ply}"


def _match_text(result: MatchResult) -> str:
    from tdgammon.bench.arena import half_width
    from tdgammon.bench.report import interval, table

    num_games = result.num_games
    lines = [
        f"{result.a.name} v {result.b.name}: {interval(result.ppg, result.ci95)} points a game (95 %), "
        f"{num_games:,} games, seed {result.seed}"
    ]
    if result.length:
        rate, spread = result.match_win_rate, half_width(result.pair_wins)
        lines.append(
            f"matches to {result.length}: {interval(100 * rate, 100 * spread, 1, '')} % won by "
            f"{result.a.name}, {result.counted_games:,} matches"
        )
    if result.dropped_pairs:
        lines.append(
            f"{2 * result.dropped_pairs} games were dropped: a pair ran over the limit of turns"
        )
    head = ["", "wins", "", "gammons", "backgammons", "doubles", "CPU ms/decision"]
    rows = [_side_cells(side, num_games) for side in (result.a, result.b)]
    return "\n".join([*lines, "", table([head, *rows])])


def _side_cells(side: Side, num_games: int) -> list[str]:
    return [
        side.name,
        f"{side.wins:,}",
        f"{side.wins / num_games:.1%}",
        f"{side.gammons:,}",
        f"{side.backgammons:,}",
        f"{side.doubles:,}",
        f"{side.cpu_ms_per_decision:.4f}",
    ]


def _decisions(file: str, players: list[str], truth: str | None, as_json: bool) -> int:
    from tdgammon.bench.decisions import grade

    truth = "equity" if truth is None else truth
    document = grade(file, players, truth=truth, progress=True).to_json()
    print(json.dumps(document, indent=1) if as_json else _decisions_text(document))
    return 0


_COLUMNS: dict[str, dict[str, Callable[[dict[str, Any]], str]]] = {
    "checker": {
        "PR": lambda p: f"{p['pr']:.2f}{_error(p['se'], 2)}",
        "best": lambda p: f"{p['best_share']:.1%}",
        "loss >= .02": lambda p: f"{p['loss_02_share']:.1%}",
        "loss >= .08": lambda p: f"{p['loss_08_share']:.1%}",
    },
    "cube": {
        "millipoints": lambda p: f"{1e3 * p['mean_cost']:.2f}{_error(p['se'], 2, 1e3)}",
        "doubling": lambda p: f"{1e3 * p['double_cost']:.2f}",
        "a take": lambda p: f"{1e3 * p['take_cost']:.2f}",
        "wrong doubles": lambda p: f"{p['wrong_double_share']:.1%}",
        "wrong takes": lambda p: f"{p['wrong_take_share']:.1%}",
    },
    "values": {
        "equity MAE": lambda p: f"{p['mae_equity']:.4f}{_error(p['se'], 4)}",
        "RMSE": lambda p: f"{p['rmse_equity']:.4f}",
        "bias": lambda p: f"{p['bias_equity']:+.4f}",
        "win MAE": lambda p: f"{p['mae_win']:.4f}",
        "win RMSE": lambda p: f"{p['rmse_win']:.4f}",
    },
}


def _decisions_text(document: dict[str, Any]) -> str:
    from tdgammon.bench.report import table

    kind, players = document["kind"], document["players"]
    columns = _COLUMNS[kind]
    head = ["", *columns, "CPU ms/decision"]
    rows = [
        [p["name"], *(cell(p) for cell in columns.values()), f"{p['cpu_ms_per_decision']:.4f}"]
        for p in players
    ]
    lines = [f"{document['file']}: {players[0]['n']:,} {kind} items (+- is one standard error)", ""]
    lines.append(table([head, *rows]))
    for p in players[1:]:
        key = {"checker": "pr", "values": "mae_equity", "cube": "mean_cost"}[kind]
        apart = p["difference"]
        lines.append(f"{p['name']} less {apart['from']}: {apart[key]:+.4f}{_error(apart['se'], 4)}")
    if players[0]["buckets"]:
        main, cell = next(iter(columns.items()))
        by_bucket = [[f"{main} by bucket", "n", *(p["name"] for p in players)]]
        for name, first in players[0]["buckets"].items():
            by_bucket.append([name, str(first["n"]), *(cell(p["buckets"][name]) for p in players)])
        lines += ["", table(by_bucket)]
    return "\n".join(lines)


def _error(standard_error: float | None, digits: int, unit: float = 1) -> str:
    return "" if standard_error is None else f" +- {unit * standard_error:.{digits}f}"
