"""Sanity of the shipped network: at 2-ply it opens as GNU Backgammon does, ties taken as ties."""

import json
from pathlib import Path

import numpy as np

import tdgammon
from tdgammon.notation.plays import read_play

TIE = 0.015
"""Differences below this change from ply to ply (reference/openings.md)."""


def test_every_opening_is_the_best_or_a_tie(shared: Path) -> None:
    openings = json.loads((shared / "reference" / "openings.json").read_text())["rolls"]
    assert len(openings) == 15
    wrong = {}
    for roll, rated in openings.items():
        dice = [int(die) for die in roll]
        good = []
        for ply in ("two_ply", "three_ply"):
            best = rated[ply][0][1]
            good += [play for play, equity in rated[ply] if equity > best - TIE]
        chosen = tdgammon.search(tdgammon.START, dice, ply=2).rows[0]
        rows = [read_play(play, tdgammon.START, dice).afterstate for play in good]
        if not any((chosen == np.array(row)).all() for row in rows):
            wrong[roll] = tdgammon.text(tdgammon.flip(chosen))
    assert not wrong
