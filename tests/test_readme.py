"""What README.md shows does run, and names what exists."""

import re
from pathlib import Path

import numpy as np
import pytest

import tdgammon
from tdgammon.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.partition("\n")[0])
def test_the_python_code_runs(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_the_bot_of_the_readme_plays_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tdgammon.bench.arena import match

    (source,) = [block for block in BLOCKS if "def tallest" in block]
    (tmp_path / "mybots_of_readme.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    result = match("mybots_of_readme:tallest", "random", 4)
    assert result.counted_games == 4


def test_every_command_is_in_the_readme() -> None:
    for name in COMMANDS:
        assert f"`tdgammon {name}" in README


def test_every_file_linked_or_named_exists() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("http") or (ROOT / link).exists(), link
    for script in re.findall(r"scripts/\w+", README):
        assert (ROOT / script).exists(), script


def test_the_text_form_of_a_board_is_as_shown() -> None:
    assert "bar:1 6:5 / 24:2" in README
    board = tdgammon.parse("bar:1 6:5 / 24:2")
    assert (board[25], board[6], board[24]) == (1, 5, -2)
    assert np.count_nonzero(board) == 3
