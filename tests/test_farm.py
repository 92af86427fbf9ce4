"""Units of work on threads, processes and a Ray cluster: same rows, none lost, none counted twice."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from tdgammon.game.board import START
from tdgammon.learn.farm import connected, runner
from tdgammon.learn.journal import Journal

UNITS = [(i, i % 3) for i in range(40)]


def rows_of(shared, unit):
    """A unit whose rows are its numbers times what is shared."""
    return np.array([[shared["factor"] * unit[0], unit[1]]], np.float64)


def slow_rows_of(shared, unit):
    """As `rows_of`, leaving a mark for each time that it is done."""
    time.sleep(shared["sleep_s"])
    with open(os.path.join(shared["folder"], f"{unit[0]}"), "a") as file:
        file.write("x")
    return rows_of(shared, unit)


def expected(factor=2.5):
    return np.concatenate([rows_of({"factor": factor}, unit) for unit in UNITS])


def done(run, function=rows_of, **shared):
    return np.concatenate(list(run(function, {"factor": 2.5, **shared}, iter(UNITS))))


@pytest.mark.parametrize("workers", [None, 1, 2, 7])
def test_threads_give_the_rows_in_order(workers):
    assert np.array_equal(done(runner(workers)), expected())


def test_processes_give_the_same_rows():
    assert np.array_equal(done(runner(2, use_processes=True)), expected())


def test_finished_units_are_kept_and_not_done_again(tmp_path):
    path, marks = tmp_path / "units", tmp_path / "marks"
    marks.mkdir()
    shared = {"sleep_s": 0, "folder": str(marks)}
    results = runner(2, journal=path)(slow_rows_of, {"factor": 2.5, **shared}, iter(UNITS))
    for _ in range(10):
        next(results)
    results.close()
    with open(path, "ab") as file:
        file.write(b'{"unit": [39, 0], "sha')  # a crash in the middle of a line
    assert np.array_equal(done(runner(3, journal=path), slow_rows_of, **shared), expected())
    assert np.array_equal(done(runner(1, journal=path), slow_rows_of, **shared), expected())
    assert {path.name: path.read_text() for path in marks.iterdir()} == {
        str(i): "x" for i in range(len(UNITS))
    }


@pytest.mark.parametrize("content", ["notes", "notes\nand more\n", '{"tdgammon_units": 2, '])
def test_a_file_of_something_else_is_left_alone(content, tmp_path):
    (tmp_path / "units").write_text(content)
    with pytest.raises(ValueError, match="units: is a file of something else than finished units"):
        done(runner(1, journal=tmp_path / "units"))
    assert (tmp_path / "units").read_text() == content


def test_a_journal_with_a_bad_line_is_refused(tmp_path):
    path = tmp_path / "units"
    done(runner(1, journal=path))
    lines = path.read_text().splitlines(keepends=True)
    for bad in ("nonsense\n", "[]\n", '{"unit": [1, 1], "shape": [2, 9], "rows": ""}\n'):
        path.write_text("".join([*lines[:3], bad, *lines[3:]]))
        with pytest.raises(ValueError, match="units: line 4 is no finished unit"):
            done(runner(1, journal=path))


def test_a_crash_in_the_first_line_leaves_a_new_journal(tmp_path):
    path = tmp_path / "units"
    path.write_text('{"tdgammon_units": 1, "key": "e3b0')
    assert np.array_equal(done(runner(1, journal=path)), expected())
    with closing(Journal(path, "")) as kept:
        assert sorted(kept.rows) == sorted(UNITS)


def test_a_unit_is_written_once(tmp_path):
    with closing(Journal(tmp_path / "units", "key")) as journal:
        journal.add((1, 2), np.ones((2, 3)))
        journal.add((1, 2), np.zeros((2, 3)))
    with closing(Journal(tmp_path / "units", "key")) as journal:
        assert list(journal.rows) == [(1, 2)]
        assert journal.rows[1, 2].tolist() == np.ones((2, 3)).tolist()


def test_a_journal_of_other_work_is_refused(tmp_path):
    done(runner(1, journal=tmp_path / "units", key="one"))
    with pytest.raises(ValueError, match="keeps units of other work; remove it"):
        done(runner(1, journal=tmp_path / "units", key="other"))


def test_what_is_shared_may_tell_the_key(tmp_path):
    def run():
        return runner(1, journal=tmp_path / "units", key=lambda shared: str(shared["factor"]))

    done(run())
    assert np.array_equal(done(run()), expected())
    with pytest.raises(ValueError, match="keeps units of other work; remove it"):
        list(run()(rows_of, {"factor": 3.0}, UNITS))


def fails(shared, unit):
    """A unit that cannot be done."""
    raise RuntimeError(f"unit {unit[0]}")


def test_a_unit_that_fails_is_heard_of(tmp_path):
    for run in (runner(1), runner(2), runner(2, journal=tmp_path / "units")):
        with pytest.raises(RuntimeError, match="unit 0"):
            done(run, fails)


def test_what_cannot_be_sent_is_told():
    with pytest.raises(ValueError, match="workers cannot be sent what they need: Can't pickle"):
        done(runner(2, use_processes=True), fails, unsendable=lambda: 1)


class Elsewhere:
    """Is sent, and does not arrive."""

    def __reduce__(self):
        return __import__, ("no_such_module",)


def test_what_workers_lack_is_told():
    with pytest.raises(ValueError, match="a worker lacks what it needs: No module named 'no_such"):
        done(runner(1, use_processes=True), thing=Elsewhere())


def dies_once(shared, unit):
    """A unit whose worker is killed the first time that it is done."""
    mark = os.path.join(shared["folder"], f"{unit[0]}")
    if unit[0] % 10 == 3 and not os.path.exists(mark):
        with open(mark, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return rows_of(shared, unit)


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_process_that_dies_loses_no_unit(is_kept, tmp_path):
    journal, marks = tmp_path / "units" if is_kept else None, tmp_path / "marks"
    marks.mkdir()
    run = runner(2, journal=journal, use_processes=True)
    assert np.array_equal(done(run, dies_once, folder=str(marks)), expected())
    assert len(os.listdir(marks)) == 4


def always_dies(shared, unit):
    """A unit that no worker survives, after five good ones."""
    if unit[0] == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows_of(shared, unit)


def test_processes_that_die_again_and_again_are_told(tmp_path):
    results = runner(1, use_processes=True)(always_dies, {"factor": 2.5}, iter(UNITS))
    assert np.array_equal(np.concatenate([next(results) for _ in range(5)]), expected()[:5])
    with pytest.raises(ChildProcessError, match=r"processes died 3 times in units from \(5, 2\) on"):
        next(results)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'tdgammon\[ray\]'"):
        runner(ray_address="auto")


@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.parametrize("address", ["127.0.0.1:1", "[::1]:1", "localhost:99999"])
def test_an_address_where_nobody_answers_is_told_at_once(address):
    pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
    with (
        pytest.raises(ValueError, match=f"--ray: no cluster at '{re.escape(address)}': "),
        connected(address),
    ):
        pass


KILLED = """
import sys
sys.path.insert(0, {tests!r})
import test_farm
from pathlib import Path
run = test_farm.runner(2, journal=Path({journal!r}), use_processes={use_processes})
test_farm.done(run, test_farm.slow_rows_of, sleep_s=0.05, folder={folder!r})
"""


@pytest.mark.parametrize("use_processes", [False, True])
def test_a_driver_that_is_killed_loses_no_finished_unit(use_processes, tmp_path):
    journal, marks = tmp_path / "units", tmp_path / "marks"
    marks.mkdir()
    script = KILLED.format(
        tests=os.path.dirname(__file__),
        journal=str(journal),
        folder=str(marks),
        use_processes=use_processes,
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    deadline_s = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 5):
        assert time.monotonic() < deadline_s
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)  # its workers hold the pipe too: they end with it
    with closing(Journal(journal, "")) as kept:
        finished = {str(unit[0]) for unit in kept.rows}
    assert len(finished) >= 5
    shared = {"sleep_s": 0, "folder": str(marks)}
    assert np.array_equal(done(runner(2, journal=journal), slow_rows_of, **shared), expected())
    assert all((marks / name).read_text() == "x" for name in finished)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_node_that_is_lost_takes_no_unit_with_it(cluster, tmp_path):
    nodes, (first, _) = cluster
    marks = tmp_path / "marks"
    marks.mkdir()
    shared = {"factor": 2.5, "sleep_s": 0.1, "folder": str(marks)}
    run = runner(ray_address=nodes.address, journal=tmp_path / "units")
    results = run(slow_rows_of, shared, iter(UNITS))
    found = [next(results) for _ in range(6)]
    nodes.remove_node(first, allow_graceful=False)
    found += results
    assert np.array_equal(np.concatenate(found), expected())
    with closing(Journal(tmp_path / "units", "")) as kept:
        assert sorted(kept.rows) == sorted(UNITS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_rollout_on_ray_equals_one_without_also_when_a_node_is_lost(cluster):
    from tdgammon.decide.rollout import RolloutSettings
    from tdgammon.decide.rollout_of import network_player, rollout_of
    from tdgammon.notation.ids import Position

    nodes, (first, _) = cluster
    position = Position(board=tuple(START.tolist()), dice=(6, 2))
    settings = RolloutSettings(trials=288, truncate=6, min_trials=72, stop_jsd=4)
    player = network_player("default").evaluator
    alone = rollout_of(position, player, settings, num_plays=3)
    expected_equities = [estimate.equity for estimate in alone.run()]
    on_ray = rollout_of(position, player, settings, num_plays=3)
    run = runner(ray_address=nodes.address)

    def losing_a_node(function, shared, units):
        for number, rows in enumerate(run(function, shared, units)):
            if number == 2:
                nodes.remove_node(first, allow_graceful=False)
            yield rows

    assert [estimate.equity for estimate in on_ray.run(losing_a_node)] == expected_equities
    for one, other in zip(alone.rows, on_ray.rows, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_unit_that_fails_on_ray_is_told_as_without(cluster):
    with pytest.raises(RuntimeError) as caught:
        done(runner(ray_address=cluster[0].address), fails)
    assert str(caught.value) == "unit 0"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_loses_no_unit(cluster, tmp_path):
    run = runner(ray_address=cluster[0].address)
    assert np.array_equal(done(run, dies_once, folder=str(tmp_path)), expected())
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_training_on_ray_ends_with_the_weights_of_one_without_also_when_a_node_is_lost(
    cluster, tmp_path
):
    from tdgammon.learn.config import from_document
    from tdgammon.learn.train import train
    from tdgammon.value import checkpoint

    nodes, (first, _) = cluster
    config = from_document(
        {
            "games": 300,
            "network": {"hidden": [6]},
            "learning": {"games_per_iteration": 70, "exact": 0.1},
            "bench": {"against": [], "games": 2},
        }
    )
    train(config, tmp_path / "here")
    seen = []

    def lose_a_node():
        seen.append(1)
        if len(seen) == 3:
            nodes.remove_node(first, allow_graceful=False)
        return False

    with connected(nodes.address):
        train(
            config,
            tmp_path / "ray",
            runner=runner(ray_address=nodes.address),
            should_stop=lose_a_node,
        )
    weights = [checkpoint.read(tmp_path / name / "checkpoint").sha256 for name in ("here", "ray")]
    assert len(seen) > 3
    assert weights[0] == weights[1]
