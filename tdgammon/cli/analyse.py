"""Analyse a position: its chances, the ranked plays of a roll, and the cube decision.

POSITION is an XGID, a GNU ID or Position ID, a FIBS or Snowie line, or a board in words such as
`6:2 5:1 / 20:3`, seen by the player on roll. Equities are cubeful: points per unit of the cube, or in
a match normalised so that winning the cube is +1. --score-map gives the verdict at every score;
--plot draws equity against the chance of winning with the market window.

Example:
  tdgammon analyse start --dice 31
  tdgammon analyse "XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:1:00:0:0:0:7:10" --ply 2
  tdgammon analyse "6:5 5:5 4:3 / 19:5 20:4 21:3" --score-map 7 --plot market.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdgammon.analysis.positions import Analysis
    from tdgammon.decide.decision import CubeDecision
    from tdgammon.notation.ids import Position

PLY = "2"
NUM_PLAYS = 8
"""Plays that the text lists; the JSON document has all."""

_OUTCOMES = ("win bg", "win g", "win", "lose", "lose g", "lose bg")
_MAP_SIGNS = {  # the first that a verdict holds
    "too good": "G",
    "optional": "O",
    "no double": ".",
    "double, take": "T",
    "double, beaver": "T",
    "double, pass": "P",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("position", metavar="POSITION", help="what to analyse")
    parser.add_argument("--dice", metavar="31", help="the roll to play, if POSITION does not say it")
    parser.add_argument(
        "--player", metavar="NAME", default="default", help="a network (default `default`)"
    )
    parser.add_argument("--ply", metavar="P", help=f"rolls that it looks ahead, 0 to 4 (default {PLY})")
    parser.add_argument("--met", metavar="NAME", help="match equity table, by name or file")
    parser.add_argument(
        "--score-map",
        metavar="N",
        type=int,
        nargs="?",
        const=True,
        help="verdicts at all scores up to N points away (default 9, or the match's length)",
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the market window (.svg)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    from tdgammon.analysis import positions
    from tdgammon.cli.positions import typed_position
    from tdgammon.decide.bots import NetworkBot, bot

    if args.plot and args.plot.suffix.lower() != ".svg":
        raise ValueError(f"--plot {str(args.plot)!r}: drawings are SVG: a name ending in .svg expected")
    position = typed_position(args.position, args.dice)
    settings = [] if args.met is None else [f"met={args.met}"]
    has_ply = any(word.startswith(("ply=", "level=")) for word in args.player.split(","))
    if args.ply is not None or not has_ply:
        settings.append(f"ply={PLY if args.ply is None else args.ply}")
    player = bot(",".join([args.player, *settings]))
    if not isinstance(player, NetworkBot):
        raise ValueError(f"--player {args.player!r}: only a network gives equities")
    if player.is_dead_cube:
        raise ValueError(f"--player {args.player!r}: only decisions with a live cube are analysed")
    found = positions.analyse(position, player)
    drawing = None
    if args.plot:
        from tdgammon.analysis.market_plot import market_svg

        drawing = market_svg(found, player)
    document, text = found.to_json(), _text(found)
    if args.score_map is not None:
        size = args.score_map
        if size is True:
            size = min(position.length or positions.MAP_SIZE, 25)
        verdicts = positions.score_map(position, player, size, progress=True)
        document["score_map"] = [
            {"away": [own, theirs], **vars(decision)}
            for own, row in enumerate(verdicts, 1)
            for theirs, decision in enumerate(row, 1)
        ]
        text += "\n\n" + _map_text(verdicts)
    if drawing is not None:
        args.plot.write_text(drawing, encoding="utf-8")
    print(json.dumps(document, indent=1) if args.json else text)
    return 0


def _text(found: Analysis) -> str:
    from tdgammon.notation.ids import xgid

    chances = zip(_OUTCOMES, found.probabilities, strict=True)
    lines = [
        f"{xgid(found.position)}  {_stakes(found.position)}",
        f"{found.player}, {found.ply}-ply",
        ", ".join(f"{name} {100 * chance:.2f}" for name, chance in chances) + " %",
        f"cubeless equity {found.equity:+.4f}",
        "",
    ]
    if found.plays:
        return "\n".join([*lines, *_plays(found)])
    return "\n".join([*lines, *_cube(found)])


def _stakes(position: Position) -> str:
    own, other = position.scores[position.on_roll], position.scores[1 - position.on_roll]
    owner = "centred" if position.cube_owner is None else "the opponent's"
    if position.cube_owner == position.on_roll:
        owner = "his own"
    cube = "no cube" if position.cube_limit == 1 else f"cube {position.cube_value}, {owner}"
    if position.length:
        crawford = ", Crawford game" if position.is_crawford else ""
        return f"match to {position.length}, {own}-{other}{crawford}; {cube}"
    options = ", Jacoby" * position.jacoby + ", beavers" * position.beavers
    return f"money{options}; {cube}"


def _plays(found: Analysis) -> list[str]:
    shown = found.plays[:NUM_PLAYS]
    width = max(len(play.notation) for play in shown)
    lines = [f"    {'':{width}}  ply  equity     loss    win   gammons won, lost"]
    for number, play in enumerate(shown, 1):
        chances = play.probabilities
        loss = f"{-play.loss:+.4f}" if number > 1 else ""
        lines.append(
            f"{number:2}. {play.notation:{width}}  {play.ply:3}  {play.equity:+.4f}  {loss:7}  "
            f"{sum(chances[:3]):5.1%}  {sum(chances[:2]):5.1%}, {sum(chances[4:]):5.1%}"
        )
    if len(found.plays) > NUM_PLAYS:
        lines.append(f"    and {len(found.plays) - NUM_PLAYS} more")
    return lines


def _cube(found: Analysis) -> list[str]:
    cube = found.cube
    rows: list[tuple[str, float | None]] = [
        ("no double", cube.no_double),
        ("double, take", cube.double_take),
        ("double, beaver", cube.beaver),
        ("double, pass", cube.double_pass),
    ]
    lines = []
    for name, equity in rows:
        if equity is None:
            continue
        chance = ""
        if cube.match_chances and name in cube.match_chances:
            chance = f"  {cube.match_chances[name]:.2%} of matches"
        lines.append(f"  {name:14}  {equity:+.4f}{chance}")
    lines.append(f"verdict: {cube.verdict} ({cube.reason})")
    wrong = [f"{action} {cost:.4f}" for action, cost in cube.errors.items() if cost > 0]
    if wrong:
        lines.append(f"errors cost: {', '.join(wrong)}")
    if found.market:
        market = found.market
        line = f"market window {market.double_point:.1%} to {market.cash_point:.1%}"
        if market.too_good_point < 1:
            line += f", too good from {market.too_good_point:.1%}"
        lines.append(f"{line}; he wins {sum(found.probabilities[:3]):.1%}")
    return lines


def _map_text(verdicts: list[list[CubeDecision]]) -> str:
    head = "     " + "".join(f"{theirs:3}" for theirs in range(1, len(verdicts) + 1))
    lines = ["points away: the player on roll down, the opponent across", head]
    for own, row in enumerate(verdicts, 1):
        lines.append(f"  {own:2} " + "".join(f"  {_sign(decision)}" for decision in row))
    lines.append(". no double, T double/take, P double/pass, G too good, O optional, - no cube to turn")
    lines.append("1 away is after the Crawford game")
    return "\n".join(lines)


def _sign(decision: CubeDecision) -> str:
    if decision.double_take is None:
        return "-"
    words = decision.verdict.replace("redouble", "double")
    return next(sign for name, sign in _MAP_SIGNS.items() if name in words)
