"""Backgammon by temporal-difference self-play: train, bench and play.

Example:
  tdgammon bench default pubeval --games 2000
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

import tdgammon

COMMANDS = {
    "train": "tdgammon.cli.train",
    "bench": "tdgammon.cli.bench",
    "league": "tdgammon.cli.league",
    "play": "tdgammon.cli.play",
    "convert": "tdgammon.cli.convert",
    "checkpoint": "tdgammon.cli.checkpoint",
    "analyse": "tdgammon.cli.analyse",
    "bearoff": "tdgammon.cli.bearoff",
    "perft": "tdgammon.cli.perft",
    "rollout": "tdgammon.cli.rollout",
}
"""Each subcommand and the module that has its `add_arguments(parser)` and `run(args) -> status`."""

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE


class Parser(argparse.ArgumentParser):
    """An argparse parser whose complaints are one line on stderr."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, _line(f"{message} (see {self.prog} --help)"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status.

    Bad input (ValueError, OSError, MemoryError for sizes beyond the machine) is one line on stderr
    and status 2; any other exception is a bug and leaves with its traceback.
    `python -X dev -m tdgammon` shows every traceback.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _dispatch(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader is gone: give the interpreter somewhere to flush what is left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (ValueError, OSError, MemoryError) as error:
        if sys.flags.dev_mode:
            raise
        sys.stderr.write(_line(_words_of(error)))
        return BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write(_line("interrupted"))
        return INTERRUPTED


def command_parser(name: str, module: ModuleType) -> Parser:
    """The parser of one subcommand, described by its module's docstring."""
    parser = Parser(
        prog=f"tdgammon {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser


def _dispatch(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS:
        return _top(words)
    module = importlib.import_module(COMMANDS[words[0]])
    args = command_parser(words[0], module).parse_args(words[1:])
    return int(module.run(args))


def _top(words: list[str]) -> int:
    """`tdgammon --help`, `tdgammon --version`, or a complaint about anything else."""
    parser = Parser(
        prog="tdgammon",
        usage="tdgammon [--version] COMMAND ...",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tdgammon {tdgammon.__version__}")
    if any(word in ("-h", "--help") for word in words):
        width = max(map(len, COMMANDS))
        parser.epilog = "commands (each has --help):\n" + "\n".join(
            f"  {name:{width}}  {_first_line(path)}" for name, path in COMMANDS.items()
        )
    if words and not words[0].startswith("-"):
        parser.error(f"unknown command {words[0]!r}; commands: {', '.join(COMMANDS)}")
    parser.parse_args(words)
    parser.error(f"a command is missing: {', '.join(COMMANDS)}")


def _first_line(module_path: str) -> str:
    """First line of a module's docstring, without importing it."""
    spec = importlib.util.find_spec(module_path)
    assert spec is not None, module_path
    with open(str(spec.origin), encoding="utf-8") as file:
        return (ast.get_docstring(ast.parse(file.read())) or "").partition("\n")[0]


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


def _line(message: str) -> str:
    return f"tdgammon: {' '.join(message.splitlines())}\n"
