"""Play against a bot in the terminal.

Without further options it is one game without a cube. --length plays a match, with the cube. --cube,
--rules and --option play games for money until you leave, with a running balance, and with the cube
if the rules have one. --no-cube takes it away from either. A bot must know the rules: a net of
games with 15 checkers does not play hypergammon.

The board is drawn from your side and plays are typed in any usual notation: 8/5 6/5, bar/20*,
24/18(2), 13/7/4. `help` at the prompt lists what else can be typed. Without a seed the dice are
new each time. What is left by `quit`, Ctrl-C or a closed terminal is saved and can be resumed.

Example:
  tdgammon play --against pubeval
  tdgammon play --length 5
  tdgammon play --rules standard-money --option cube_limit=8
"""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tdgammon.cli.play_table import Table
from tdgammon.decide import bots
from tdgammon.game import rules as game_rules
from tdgammon.notation.saved_game import Session, load_session, session
from tdgammon.notation.saving import check_ending


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--against", metavar="PLAYER", help="who to play (default: default)")
    parser.add_argument("--length", type=int, metavar="N", help="play a match to N points")
    parser.add_argument(
        "--cube",
        action=argparse.BooleanOptionalAction,
        help="play for money with the cube; or take it away",
    )
    parser.add_argument(
        "--rules", metavar="NAME", help=f"one of {', '.join(game_rules.PRESETS)} (default standard)"
    )
    parser.add_argument(
        "--option",
        metavar="KEY=VALUE",
        action="append",
        help="change a rule, e.g. jacoby=true",
    )
    parser.add_argument("--seed", type=int, metavar="S", help="dice of this seed, 0 .. 2**63 - 1")
    parser.add_argument(
        "--type-dice",
        action="store_true",
        default=None,
        help="ask for the dice, for a game on a real board",
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with what was saved")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where it is saved when it is left")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write what was played as .mat, .sgf, .txt or .json, after each game and at the end",
    )


def run(args: argparse.Namespace) -> int:
    played = _session(args)
    player = bots.bot(played.against, played.match.rules)
    table = Table(played, player, args.save or args.resume, _ask, print, args.record)
    with _signals_interrupt():
        try:
            table.play()
        except (EOFError, KeyboardInterrupt):
            table.leave("\n")
        except Exception:
            table.save()  # a game is not lost to a player that fails or a terminal that goes away
            raise
        finally:
            table.write_record()
    return 0


def _ask(prompt: str) -> str:
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)  # as a terminal would show it
    return line


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """A request to end, or a terminal that hangs up, is taken as Ctrl-C, once."""

    def interrupt(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _session(args: argparse.Namespace) -> Session:
    if args.save and not args.save.parent.is_dir():
        raise ValueError(f"--save: there is no folder {str(args.save.parent)!r}")
    if args.record:
        check_ending(args.record)
        if not args.record.parent.is_dir():
            raise ValueError(f"--record: there is no folder {str(args.record.parent)!r}")
        saved = args.save or args.resume
        if saved and saved.resolve() == args.record.resolve():
            raise ValueError(f"--record: {str(args.record)!r} is where the game is saved to go on")
    if args.resume:
        for option in ("against", "length", "cube", "rules", "option", "seed", "type_dice"):
            if getattr(args, option) is not None:
                raise ValueError(
                    f"--{option.replace('_', '-')}: a resumed game keeps its player, rules and dice"
                )
        return load_session(args.resume)
    if args.seed is not None and not 0 <= args.seed < 2**63:
        raise ValueError(f"--seed: must be 0 .. 2**63 - 1, got {args.seed}")
    if args.type_dice and args.seed is not None:
        raise ValueError("--seed: dice that are typed have no seed")
    if args.length is not None and args.length < 1:
        raise ValueError(f"--length: at least 1 point expected, got {args.length}")
    rules = game_rules.options(args.option or [], game_rules.rules(args.rules or "standard"))
    if args.cube and rules.cube_limit == 1:
        raise ValueError("--cube: these rules have no cube (cube_limit is 1)")
    is_one_game = not (args.length or args.cube or args.rules or args.option)
    if is_one_game or args.cube is False:
        rules = game_rules.without_cube(rules)
    seed = args.seed
    if seed is None and not args.type_dice:
        seed = secrets.randbelow(2**31)
    return session(args.against or "default", seed, rules, args.length or 0, is_one_game)
