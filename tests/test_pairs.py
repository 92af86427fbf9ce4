"""Matches in parts: the same result in one piece, in units of any size, on processes, from a journal,
on Ray."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scripted_bots

from tdgammon.bench import arena, pairs
from tdgammon.bench.arena import match
from tdgammon.bench.pairs import Terms
from tdgammon.cli.main import main
from tdgammon.decide.bots import BOTS, bot
from tdgammon.decide.cube import NeverDoubles
from tdgammon.decide.units import here
from tdgammon.game.rules import STANDARD, GameRules, rules, without_cube
from tdgammon.learn.farm import runner
from tdgammon.value import checkpoint


def terms(a="pubeval", b="golden", length=0, seed=1, played=STANDARD):
    """Terms of a match, mostly without a cube."""
    played = played if length else without_cube(played)
    return Terms(
        players=(bot(a, played), bot(b, played)),
        seed=seed,
        rules=played,
        length=length,
        max_turns=2000,
        lanes=2048,
    )


def figures(result):
    """All that a match tells but the CPU times."""
    document = result.to_json()
    for side in document["sides"].values():
        del side["cpu_ms_per_decision"]
    sides = [(side.decisions, side.doubles) for side in (result.a, result.b)]
    arrays = [np.nan_to_num(rows, nan=99).tolist() for rows in (result.pair_means, result.pair_wins)]
    return document, sides, arrays, result.num_games, result.turns


def in_parts_of(size, run=here):
    """A runner that cuts units into smaller ones, the last of each as it comes out."""

    def cut(function, shared, units):
        smaller = (
            (start, min(size, first + number - start))
            for first, number in units
            for start in range(first, first + number, size)
        )
        return run(function, shared, smaller)

    return cut


def sent(function, shared, units):
    """A runner that sends what is shared, as to another machine, and plays the last unit first."""
    found = {unit: function(pickle.loads(pickle.dumps(shared)), unit) for unit in [*units][::-1]}
    yield from (found[unit] for unit in sorted(found))


CASES = {
    "money": ("pubeval", "golden", {}),
    "cube": ("default", "golden", {"cube": True}),
    "options": ("pubeval", "racer", {"cube": True, "rules": rules("004")}),
    "matches": ("default", "pubeval", {"length": 3}),
    "rules": ("golden", "pubeval", {"rules": GameRules(caucasian=True, next_start="loser")}),
    "look-ahead": ("default,ply=1", "default", {}),
    "function": ("scripted_bots:first", "random,seed=3", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_match_in_parts_is_the_match_in_one_piece(name):
    a, b, options = CASES[name]
    whole = match(a, b, 14, seed=4, **options)
    for run in (here, in_parts_of(1), in_parts_of(3, sent)):
        assert figures(match(a, b, 14, seed=4, runner=run, **options)) == figures(whole)


def test_pairs_that_are_dropped_are_the_same_in_parts(monkeypatch):
    monkeypatch.setattr(arena, "MAX_TURNS", 45)
    whole = match("golden", "random", 60)
    assert 0 < whole.dropped_pairs < 30
    assert figures(match("golden", "random", 60, runner=in_parts_of(7, sent))) == figures(whole)


def test_cpu_seconds_are_the_sum_of_those_of_the_parts():
    seen = []

    def noting(function, shared, units):
        for rows in here(function, shared, units):
            seen.append(rows[-1, 2:4].tolist())
            yield rows

    result = match("golden", "pubeval", 40, runner=in_parts_of(6, noting))
    assert len(seen) == 4  # 20 pairs: 6, 6, 6 and 2
    assert [result.a.cpu_s, result.b.cpu_s] == pytest.approx(np.sum(seen, axis=0).tolist())
    assert result.a.cpu_s > 0


@pytest.mark.parametrize(
    ("a", "b", "length", "expected"),
    [
        ("pubeval", "golden", 0, [(0, 512), (512, 512), (1024, 276)]),
        ("default", "random", 7, [(256 * k, 256) for k in range(5)] + [(1280, 20)]),
        ("default", "default,ply=1", 0, [(32 * k, 32) for k in range(40)] + [(1280, 20)]),
        ("default,ply=2", "racer", 7, [(8 * k, 8) for k in range(162)] + [(1296, 4)]),
        ("default,level=deep", "racer", 0, [(2 * k, 2) for k in range(650)]),
        ("default,ply=4", "racer", 0, [(k, 1) for k in range(1300)]),
        ("default,level=rollout", "default,ply=1", 0, [(k, 1) for k in range(1300)]),
        ("scripted_bots:first", "racer", 0, [(64 * k, 64) for k in range(20)] + [(1280, 20)]),
    ],
)
def test_units_are_smaller_for_players_who_look_ahead(a, b, length, expected):
    assert list(pairs.units(terms(a, b, length), 1300)) == expected


@pytest.mark.parametrize(
    "name", [*BOTS, "default", "default,ply=1,met=computed", "scripted_bots:first"]
)
def test_bots_are_sent_as_they_are(name):
    player = bot(name)
    again = pickle.loads(pickle.dumps(player))
    assert again.name == player.name
    assert figures(match(again, player, 10)) == figures(match(name, name, 10))


def test_a_network_goes_along_where_its_checkpoint_is_not(tmp_path):
    folder = tmp_path / "net"
    shutil.copytree(checkpoint.find("default"), folder)
    data = pickle.dumps(terms(str(folder)))
    shutil.rmtree(folder)
    rows = pairs.play_unit(pickle.loads(data), (3, 2))
    expected = pairs.play_unit(terms("default"), (3, 2))
    assert np.array_equal(rows[:-1], expected[:-1], equal_nan=True)


def test_a_function_is_imported_where_it_is_sent(tmp_path, monkeypatch):
    (tmp_path / "own_bots.py").write_text(
        "import scripted_bots\nf = lambda *a: scripted_bots.first(*a)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    data = pickle.dumps(bot("own_bots:f"))
    assert pickle.loads(data).choose(np.array([arena.STANDARD.start_board]), [[3, 1]]).shape == (1, 26)
    monkeypatch.delitem(sys.modules, "own_bots")
    (tmp_path / "own_bots.py").unlink()
    with pytest.raises(ValueError, match="player 'own_bots:f': No module named 'own_bots'"):
        pickle.loads(data)


def test_a_bot_that_cannot_be_sent_is_told():
    class Local(NeverDoubles):
        name = "local"

        def choose(self, boards, rolls, stakes=None):
            return scripted_bots.first(boards, rolls)

    with pytest.raises(ValueError, match=r"workers cannot be sent what they need: .*Local"):
        match(Local(), "random", 4, runner=runner(2, use_processes=True))
    assert match(Local(), "random", 4, runner=in_parts_of(1)).games == 4


def test_bad_terms_are_told_before_anything_is_played(tmp_path):
    for options in ({"seed": -1}, {"length": 65}):
        with pytest.raises(ValueError, match=r"seed|length"):
            match("racer", "random", 4, save=tmp_path / "games", runner=here, **options)
    assert not (tmp_path / "games").exists()


def test_two_processes_give_the_result_and_the_files_of_one(tmp_path):
    options = {"length": 2, "seed": 3}
    whole = match("pubeval", "golden", 24, save=tmp_path / "one", **options)
    run = in_parts_of(5, runner(2, use_processes=True))
    halves = match("pubeval", "golden", 24, save=tmp_path / "two", runner=run, **options)
    assert figures(halves) == figures(whole)
    one, two = ({p.name: p.read_text() for p in (tmp_path / f).iterdir()} for f in ("one", "two"))
    assert sorted(one) == [f"{k:05d}.mat" for k in range(1, 25)]
    assert one == two


def test_the_key_of_a_match_says_all_that_its_pairs_depend_on():
    same = [terms().key, terms().key, terms("pubeval", "golden").key]
    assert len(set(same)) == 1
    others = [
        terms("golden", "pubeval"),
        terms(seed=2),
        terms(length=5),
        terms(length=7),
        terms(played=rules("nackgammon")),
        terms("default"),
        terms("default,ply=1"),
        terms("default,met=computed"),
    ]
    assert len({same[0], *(other.key for other in others)}) == 9


def test_a_key_changes_with_the_numbers_of_a_table_in_a_file(tmp_path):
    keys = []
    path = tmp_path / "own.json"
    for name in ("met_kazaross_xg2.json", "met_woolsey_1992.json"):
        shutil.copy(Path(arena.__file__).parents[1] / "decide" / name, path)
        keys.append(terms(f"default,met={path}", length=3).key)
    assert keys[0] != keys[1]


def test_a_match_goes_on_from_its_journal_and_may_grow(tmp_path, monkeypatch):
    played = []
    original = pairs.play

    def noting(terms, first, num_pairs, *ended):
        played.append((first, num_pairs))
        return original(terms, first, num_pairs, *ended)

    monkeypatch.setattr(pairs, "play", noting)

    def kept(games, seed=1):
        played.clear()
        run = runner(2, journal=tmp_path / "units", key=lambda terms: terms.key)
        return figures(match("pubeval", "golden", games, seed=seed, runner=run))

    monkeypatch.setattr(pairs, "_pairs_at_a_time", lambda player: 16)
    expected = {games: figures(match("pubeval", "golden", games)) for games in (80, 120)}
    assert kept(80) == expected[80]
    assert sorted(played) == [(0, 16), (16, 16), (32, 8)]
    lines = (tmp_path / "units").read_text().splitlines(keepends=True)
    lost = next(line for line in lines if "[16, 16]" in line)
    (tmp_path / "units").write_text("".join(line for line in lines if line != lost) + lost[:40])
    assert kept(80) == expected[80]
    assert played == [(16, 16)]
    assert kept(120) == expected[120]
    assert sorted(played) == [(32, 16), (48, 12)]
    assert kept(80) == expected[80]
    assert played == []
    with pytest.raises(ValueError, match="keeps units of other work; remove it to begin anew"):
        kept(80, seed=2)


def document(capsys, *words):
    """What the command prints, without CPU times."""
    assert main(["bench", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for side in found["sides"].values():
        del side["cpu_ms_per_decision"]
    return found


def test_the_command_plays_on_processes_and_from_a_journal(capsys, tmp_path):
    words = ["pubeval", "racer", "--seed", "5", "--cube"]
    path = tmp_path / "units"
    kept = document(capsys, *words, "--games", "40", "--workers", "2", "--journal", str(path))
    assert kept == document(capsys, *words, "--games", "40")
    assert path.read_bytes().count(b"\n") == 2  # a header and one unit
    again = document(capsys, *words, "--games", "50", "--journal", str(path))
    assert again == document(capsys, *words, "--games", "50")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--workers", "0"], "workers: 1 to 1024 expected, got 0"),
        (["--workers", "1025"], "workers: 1 to 1024 expected, got 1025"),
        (["--workers", "two"], "argument --workers: invalid int value: 'two'"),
        (["--journal", "nowhere/x"], "nowhere/x: No such file"),
        (["--journal", "{notes}"], "notes: is a file of something else than finished units"),
        (["--journal", "x", "--save", "games"], "--save 'games': games are written without --ray and"),
        (["--ray", "auto", "--save", "games"], "--save 'games': games are written without --ray and"),
        (["--workers", "2", "--length", "65"], "length: 0 (money) to 64 expected, got 65"),
        (["--workers", "2", "--seed", "-1"], "seed: must be 0 .. 2**63 - 1, got -1"),
        (["--workers", "2", "--games", "3"], "games: must be even"),
    ],
)
def test_impossible_requests_are_one_line(words, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").write_text("my own")
    words = [word.format(notes=tmp_path / "notes") for word in words]
    try:
        status = main(["bench", "random", "golden", "--games", "4", *words])
    except SystemExit as left:
        status = left.code
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert complaint in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    assert (tmp_path / "notes").read_text() == "my own"


def test_what_a_function_raises_on_a_worker_is_one_line(capsys):
    words = ["scripted_bots:failing_in_play", "random", "--games", "4", "--workers", "2"]
    assert main(["bench", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "tdgammon: player 'scripted_bots:failing_in_play': KeyError: 'spam' (scripted"
    )
    assert err.count("\n") == 1


def test_with_decisions_workers_mean_nothing(capsys):
    for words in (["--workers", "2"], ["--ray", "auto"], ["--journal", "x"]):
        assert main(["bench", "--decisions", "x.jsonl", "random", *words]) == 2
        assert f"{words[0]} has no meaning with --decisions" in capsys.readouterr().err


def test_a_match_that_is_interrupted_goes_on_from_its_journal(tmp_path, capsys):
    path = tmp_path / "units"
    words = ["scripted_bots:first", "random", "--games", "100000", "--workers", "2"]
    words += ["--journal", str(path)]
    child = subprocess.Popen(
        [sys.executable, "-m", "tdgammon", "bench", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parent,
    )
    deadline_s = time.monotonic() + 240
    while not (path.exists() and path.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < deadline_s
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)  # as Ctrl-C in a terminal: the workers get it too
    output, errors = child.communicate(timeout=60)
    assert (child.returncode, output) == (130, "")
    assert errors == f"tdgammon: interrupted; the same command goes on from {path}\n"
    finished = path.read_text().splitlines()
    assert 2 <= len(finished) < 700  # of 782 units
    words[3] = "256"
    assert document(capsys, *words) == document(capsys, *words[:4])
    assert path.read_text().splitlines()[: len(finished)] == finished


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_match_on_ray_equals_one_without_also_when_a_node_is_lost(cluster, tmp_path):
    nodes, (first, _) = cluster
    folder = tmp_path / "net"
    shutil.copytree(checkpoint.find("default"), folder)
    players = (f"{folder},ply=1", "pubeval")
    whole = match(*players, 200, seed=2, length=1)
    bots = [bot(player) for player in players]
    shutil.rmtree(folder)  # the nodes never see it
    run = runner(ray_address=nodes.address, journal=tmp_path / "units")
    seen = []

    def losing_a_node(function, shared, units):
        for rows in run(function, shared, units):
            seen.append(len(rows))
            if len(seen) == 3:
                nodes.remove_node(first, allow_graceful=False)
            yield rows

    found = match(*bots, 200, seed=2, length=1, runner=in_parts_of(7, losing_a_node))
    assert len(seen) == 16  # 100 pairs in units of 32, 32, 32 and 4: thrice 7, 7, 7, 7, 4, and 4
    assert figures(found) == figures(whole)
    assert (tmp_path / "units").read_bytes().count(b"\n") == 17
    again = match(*bots, 200, seed=2, length=1, runner=in_parts_of(7, run))
    assert figures(again) == figures(whole)
    assert (again.a.cpu_s, again.b.cpu_s) == (found.a.cpu_s, found.b.cpu_s)
    with pytest.raises(ValueError, match=r"^player 'scripted_bots:failing_in_play': KeyError: 'spam'"):
        match("scripted_bots:failing_in_play", "random", 8, runner=runner(ray_address=nodes.address))
