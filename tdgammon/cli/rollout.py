"""Roll a position out: play it on many times and say what it, its plays or its cube action are worth.

POSITION is an XGID, a GNU ID or Position ID, a FIBS or Snowie line, or a board in words such as
`6:2 5:1 / 20:3`, seen by the player on roll. With dice, in it or by --dice, the best plays are
compared; without, no double and double, take. All rivals get the same dice. Each of the first two
rolls comes equally often in multiples of 36 trials, and the luck of every roll is taken off.

The result is the same for any number of workers. Ctrl-C prints what there is so far; with --save it can
be played on by --resume, with more --trials or another rule to stop.

Example:
  tdgammon rollout start --dice 31 --trials 1296 --stop-jsd 3
  tdgammon rollout "XGID=-a-B--D-C---eD---d-e----B-:0:0:1:00:0:0:0:5:10" --save double.json
  tdgammon rollout --resume double.json --trials 5184
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdgammon.decide.rollout import Estimate, Rollout

_SETTINGS = ("trials", "seed", "truncate", "stop_at", "min_trials", "stop_se", "stop_jsd")
_OF_A_POSITION = ("position", "dice", "play", "top", "cubeless", "player", "ply")
_OUTCOMES = ("win bg", "win g", "win", "lose", "lose g", "lose bg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("position", metavar="POSITION", nargs="?", help="what to roll out")
    add("--dice", metavar="31", help="the roll to play, if POSITION does not say it")
    add("--play", metavar="PLAY", action="append", help="compare this play; more than once")
    add("--top", type=int, metavar="N", help="compare the best N plays (default 5)")
    add("--cubeless", action="store_true", help="without the cube: points, or gammons at their price")
    add("--player", metavar="NAME", help="the network that plays (default `default`)")
    add("--ply", metavar="P", help="rolls that it looks ahead, 0 to 4")
    add("--trials", type=int, metavar="N", help="of each rival (default 1296)")
    add("--seed", type=int, metavar="S", help="of the dice (default 1)")
    add("--truncate", type=int, metavar="N", help="end a trial after N rolls (default: at the end)")
    add("--stop-at", metavar="WHERE", help="race, exact or end: tables end a trial there (race)")
    add("--no-luck-control", action="store_true", help="leave the luck of the dice in")
    add("--min-trials", type=int, metavar="N", help="before a rule stops it (default 144)")
    add("--stop-se", type=float, metavar="E", help="stop when all standard errors are below E")
    add("--stop-jsd", type=float, metavar="D", help="give up rivals D joint standard deviations behind")
    add("--workers", type=int, metavar="N", help="threads (default 1), or CPUs of Ray (all)")
    add("--ray", metavar="ADDRESS", help="play on this Ray cluster (`auto`: the one that is running)")
    add("--save", type=Path, metavar="FILE", help="keep it, to be resumed")
    add("--resume", type=Path, metavar="FILE", help="play on what was saved, and keep it there")
    add("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    from tdgammon.learn.farm import runner

    path = _path(args)
    rollout, player, sha256 = _resumed(args) if args.resume else _new(args)
    journal = None if path is None else _journal(path)
    units = runner(args.workers, args.ray, journal, f"{player} {sha256} {rollout.positions()}")
    started_s, interrupted = time.monotonic(), False
    try:
        rollout.run(units, progress=True)
    except KeyboardInterrupt:
        interrupted = True
    wall_s = time.monotonic() - started_s
    if path is not None:
        from tdgammon.decide.saved_rollout import save_rollout

        save_rollout(rollout, player, sha256, path)
        if not interrupted:  # else it holds units that were played while an earlier one was waited for
            _journal(path).unlink(missing_ok=True)
    found = rollout.estimates()
    report = {
        "player": player,
        "checkpoint_sha256": sha256,
        "seed": rollout.settings.seed,
        "with_cube": rollout.stakes is not None,
        "complete": not interrupted,
        "wall_s": wall_s,
        "rivals": [_estimate(estimate) for estimate in found],
        "cube": _cube(rollout, found),
    }
    print(json.dumps(report) if args.json else _in_words(report))
    if interrupted:
        print(f"tdgammon: interrupted{_how_to_go_on(path)}", file=sys.stderr)
    return 130 if interrupted else 0  # 128 + SIGINT, as shells report it


def _path(args: argparse.Namespace) -> Path | None:
    """Where the rollout is kept; ValueError if there is none to resume, or another one is there."""
    if args.save and args.resume:
        raise ValueError("--save: a resumed rollout is kept where it was")
    path: Path | None = args.resume or args.save
    if path is None:
        return None
    option = "--resume" if args.resume else "--save"
    if not path.name:
        raise ValueError(f"{option}: a file expected, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {str(path.parent)!r}")
    if args.save and path.exists():
        raise ValueError(f"--save: {path} is there already; resume it, remove it or name another file")
    if args.resume and not path.exists() and _journal(path).exists():
        raise ValueError(
            f"--resume: {path} was not saved yet, but {_journal(path)} keeps what was played: "
            f"give the command with --save {path} again"
        )
    return path


def _journal(path: Path) -> Path:
    """Where finished units are kept until the rollout is saved."""
    return path.with_name(f"{path.name}.units")


def _how_to_go_on(path: Path | None) -> str:
    return f"; go on with --resume {path}" if path else ""


def _new(args: argparse.Namespace) -> tuple[Rollout, str, str | None]:
    from tdgammon.cli.positions import typed_position
    from tdgammon.decide.rollout import RolloutSettings
    from tdgammon.decide.rollout_of import NUM_PLAYS, network_player, rollout_of

    if args.position is None:
        raise ValueError("POSITION is missing (or --resume FILE)")
    if args.play and args.top is not None:
        raise ValueError(f"--top: has no meaning with --play, got {args.top}")
    name = args.player or "default"
    if args.ply is not None:
        name = f"{name},ply={args.ply}"
    settings = RolloutSettings(**_settings(args), luck_control=not args.no_luck_control)
    player = network_player(name)
    position = typed_position(args.position, args.dice)
    if args.top is not None and position.dice is None:
        raise ValueError(f"--top: plays need dice, got {args.top} without")
    rollout = rollout_of(
        position,
        player.evaluator,
        settings,
        with_cube=not args.cubeless,
        plays=args.play or (),
        num_plays=NUM_PLAYS if args.top is None else args.top,
    )
    return rollout, name, player.sha256


def _resumed(args: argparse.Namespace) -> tuple[Rollout, str, str | None]:
    from tdgammon.decide.saved_rollout import load_rollout

    for option in _OF_A_POSITION:
        if getattr(args, option) not in (None, False):
            raise ValueError(f"--resume: keeps its position and player, got {option}")
    changes = _settings(args)
    if args.no_luck_control:
        changes["luck_control"] = False
    rollout, player = load_rollout(args.resume, **changes)
    return rollout, player.name, player.sha256


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in _SETTINGS}
    return {name: value for name, value in given.items() if value is not None}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    from tdgammon.bench.report import or_none

    return {
        "name": estimate.name,
        "trials": estimate.trials,
        "equity": estimate.equity,
        "equity_se": or_none(estimate.equity_se),
        "ci95": or_none(estimate.ci95),
        "match_chance": estimate.match_chance,
        "cubeless_equity": estimate.cubeless_equity,
        "cubeless_se": or_none(estimate.cubeless_se),
        "probabilities": estimate.probabilities.tolist(),
        "probability_ses": [or_none(float(se)) for se in estimate.probability_ses],
        "jsd": or_none(estimate.jsd),
        "given_up": estimate.given_up,
    }


def _cube(rollout: Rollout, found: list[Estimate]) -> dict[str, Any] | None:
    """The cube action, if that is what was rolled out."""
    from tdgammon.decide.rollout_of import DOUBLE_TAKE, NO_DOUBLE
    from tdgammon.game.stakes import OWN
    from tdgammon.value.verdict import verdict

    by_name = {estimate.name: estimate.equity for estimate in found}
    if rollout.stakes is None or set(by_name) != {NO_DOUBLE, DOUBLE_TAKE}:
        return None
    no_double, double_take = by_name[NO_DOUBLE], by_name[DOUBLE_TAKE]
    owned = bool(rollout.stakes.cube_owners[0] == OWN)
    beaver = 2 * double_take if rollout.stakes.rules.beavers else None
    return {
        "no_double": no_double,
        "double_take": double_take,
        "double_pass": 1.0,
        "verdict": verdict(no_double, double_take, owned=owned, beaver=beaver),
    }


def _in_words(report: dict[str, Any]) -> str:
    if not report["rivals"]:
        return "nothing was played"
    rivals = sorted(report["rivals"], key=lambda rival: -rival["equity"])
    if report["cube"]:
        rivals = report["rivals"]
    width = max(len(rival["name"]) for rival in rivals)
    best = max(rival["equity"] for rival in rivals)
    lines = []
    for rival in rivals:
        line = f"{rival['name']:{width}}  {rival['equity']:+.4f} ± {rival['ci95'] or 0:.4f}"
        if len(rivals) > 1:
            behind = f"({rival['equity'] - best:+.4f})" if rival["equity"] < best else ""
            line += f"  {behind:9}"
        if rival["match_chance"] is not None:
            line += f"  {100 * rival['match_chance']:.2f} % of matches"
        lines.append(f"{line}  {rival['trials']} trials{', given up' * rival['given_up']}".rstrip())
        chances = zip(_OUTCOMES, rival["probabilities"], strict=True)
        shown = ", ".join(f"{name} {100 * p:.2f}" for name, p in chances)
        cubeless = f"cubeless {rival['cubeless_equity']:+.4f}; " if report["with_cube"] else ""
        lines.append(f"{'':{width}}  {cubeless}{shown} %")
    if report["cube"]:
        lines.append(f"double, pass +1; {report['cube']['verdict']}")
    return "\n".join(lines)
