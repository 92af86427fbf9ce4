"""GNU Backgammon takes what we write: same scores, no warnings, 100 games."""

import shutil
import subprocess
from pathlib import Path

import pytest
from matches import random_match

from tdgammon.notation import columns, sgf
from tdgammon.notation.detect import read_text

GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")

COMPLAINTS = (
    "warning",
    "unrecognised",
    "unrecognized",
    "doesn't follow",
    "invalid",
    "not a valid",
    "error",
)


def matches():
    """Matches of together 100 games or more, finished, with cubes, beavers and resignations."""
    found, num_games, seed = [], 0, 0
    while num_games < 100:
        match = random_match(seed, (0, 1, 3, 5, 7)[seed % 5], cube=0.05, breaking_off=False)
        found.append(match)
        num_games += len(match.games)
        seed += 1
    return found


@pytest.mark.slow
@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed (Debian package gnubg)")
def test_gnu_backgammon_imports_100_games_with_the_same_scores(tmp_path: Path) -> None:
    written = matches()
    commands = ["set confirm new off", "set confirm save off", "set automatic game off"]
    for index, match in enumerate(written):
        mat, tree = tmp_path / f"{index}.mat", tmp_path / f"{index}.sgf"
        mat.write_text(columns.write_mat(match))
        tree.write_text(sgf.write_sgf(match))
        commands += [f"import mat {mat}", f"save match {tmp_path}/{index}.from_mat"]
        commands += [f"load match {tree}", f"save match {tmp_path}/{index}.from_sgf"]
    done = subprocess.run(
        [str(GNUBG), "-t", "-q", "-r"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        env={"HOME": str(tmp_path), "LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/games"},
        check=False,
    )
    banner = "NO WARRANTY", "`show warranty'"
    for line in (done.stdout + done.stderr).splitlines():
        if not any(words in line for words in banner):
            assert not any(word in line.lower() for word in COMPLAINTS), line
    for index, match in enumerate(written):
        wanted = [(game.start_score, game.winner, game.points) for game in match.games]
        for source in ("from_mat", "from_sgf"):
            record = read_text((tmp_path / f"{index}.{source}").read_text()).record
            assert record.length == match.length
            assert [scored(game, match.length) for game in record.games] == wanted, (index, source)


def scored(game, length):
    """Score and result of a game; GNU Backgammon counts also points that the winner did not need."""
    points = game.points
    if length:
        points = min(points, length - game.start_score[game.winner])
    return game.start_score, game.winner, points
