"""Training: stopped anywhere and resumed it ends with the weights of a run that never stopped."""

import errno
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tdgammon.bench.arena import match
from tdgammon.cli import main as cli
from tdgammon.decide.bots import NetworkBot
from tdgammon.game.board import START
from tdgammon.learn import farm, methods, run, train
from tdgammon.learn.config import from_document
from tdgammon.learn.diagnostics import HEADS, REFERENCE_POSITIONS
from tdgammon.learn.learning import Learner
from tdgammon.value import checkpoint
from tdgammon.value.evaluator import NetworkEvaluator

FORWARD = {
    "games": 150,
    "log_every_games": 40,
    "network": {"hidden": [6]},
    "learning": {
        "lambda_": [[0, 0.9], [150, 0.3]],
        "rate": [[0, 0.01], [150, 0.001]],
        "batch_size": [[0, 32], [100, 128]],
        "games_per_iteration": [[0, 10], [60, 20], [150, 35]],
        "averaging": 0.99,
    },
    "bench": {"against": ["random"], "games": 4, "every_games": 60},
}
EXACT = FORWARD | {
    "learning": FORWARD["learning"]
    | {
        "from_kinds": 0.5,
        "exact": [[0, 0.0], [50, 0.0], [60, 0.1]],
        "bearoff": True,
        "replay": 2.5,
        "replay_size": 300,
        "rivals": 0.5,
    }
}
ONLINE = {
    "games": 5,
    "log_every_games": 2,
    "network": {"hidden": [4], "activation": "sigmoid"},
    "learning": {"method": "online", "rate": 0.1, "games_per_iteration": 1, "max_turns": 400},
    "bench": {"against": [], "games": 2},
}
WAITING = FORWARD | {
    "log_every_games": 30,
    "learning": FORWARD["learning"] | {"exact": 0.1, "exact_when_worth": 1.5},
}
DOCUMENTS = {
    "forward": FORWARD,
    "forward on two cores": FORWARD | {"workers": 2},
    "exact": EXACT,
    "exact when worth it": WAITING,
    "specialists": EXACT
    | {
        "network": {"hidden": [6], "specialists": True},
        "learning": EXACT["learning"] | {"overlap": 0.4},
    },
    "online": ONLINE,
}


class Crash(Exception):
    """Ends a run without a word, as a crash would."""


def until(iterations, error=None):
    """A `should_stop` that stops, or crashes, after so many iterations."""
    counted = itertools.count()

    def should_stop():
        if next(counted) < iterations:
            return False
        if error:
            raise error
        return True

    return should_stop


def bench(evaluator, player, games):
    return match(NetworkBot("the run", evaluator), player, games).to_json()


def go(folder, document, **options):
    return train.train(from_document(document), folder, bench=bench, **options)


def result(folder):
    """All that training leaves behind: the checkpoint's weights and the state's arrays, as bytes."""
    found = checkpoint.verify(folder)
    arrays, facts = run.load_state(folder)
    progress = {key: facts["progress"][key] for key in ("games", "dropped", "next_game", "turns")}
    return found.sha256, {name: array.tobytes() for name, array in arrays.items()}, progress


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Folders of runs that were never stopped, by their name in DOCUMENTS."""
    folders = {}
    for name, document in DOCUMENTS.items():
        folders[name] = tmp_path_factory.mktemp("straight")
        go(folders[name], document)
    return folders


def command(capsys, *words):
    """Exit status, stdout and stderr of `tdgammon train`."""
    status = cli.main(["train", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def config_file(folder, document=FORWARD):
    """The document as a TOML file."""
    lines = [
        f"{key} = {json.dumps(value)}" for key, value in document.items() if type(value) is not dict
    ]
    for group, fields in document.items():
        if type(fields) is dict:
            lines += [f"[{group}]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())]
    file = folder / "config.toml"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("stops", [[0], [2], [1, 1, 1, 1], [99]], ids=str)
def test_a_run_stopped_and_resumed_ends_with_the_weights_of_one_that_never_stopped(
    name, stops, straight, tmp_path
):
    resume = False
    for iterations in stops:
        go(tmp_path, DOCUMENTS[name], resume=resume, should_stop=until(iterations))
        resume = True
        checkpoint.verify(tmp_path)
    progress = go(tmp_path, DOCUMENTS[name], resume=True)
    assert progress.games >= DOCUMENTS[name]["games"]
    assert result(tmp_path) == result(straight[name])


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_run_that_crashed_goes_on_from_its_last_save(name, iterations, straight, tmp_path):
    with pytest.raises(Crash):
        go(tmp_path, DOCUMENTS[name], should_stop=until(iterations, Crash()))
    assert run.load_state(tmp_path)[1]["progress"]["games"] == 0
    go(tmp_path, DOCUMENTS[name], resume=True)
    assert result(tmp_path) == result(straight[name])
    assert logged(tmp_path) == logged(straight[name])


def test_exact_targets_wait_until_they_are_worth_it(straight):
    lines = run.read_log(straight["exact when worth it"])
    worths = [line["train/exact_worth"] for line in lines if "train/exact_worth" in line]
    progress = run.load_state(straight["exact when worth it"])[1]["progress"]
    at = [line["games"] for line in lines if line.get("train/exact_worth", 0) >= 1.5]
    assert worths
    assert progress["exact_from"] == (at[0] if at else None)
    learning = from_document(WAITING).learning
    assert methods.exact_share(learning, 500, None) == 0
    assert methods.exact_share(learning, 500, 500) == 0
    assert methods.exact_share(learning, 501, 500) == 0.1


def test_a_run_may_grow_from_another(straight, tmp_path):
    document = FORWARD | {
        "network": {"hidden": [9], "encoding": "tesauro"},
        "grow_from": str(straight["forward"] / checkpoint.RUN_CHECKPOINT),
    }
    go(tmp_path / "grown", document, should_stop=until(0))
    small = checkpoint.read(straight["forward"] / checkpoint.RUN_CHECKPOINT)
    large = checkpoint.read(tmp_path / "grown" / checkpoint.RUN_CHECKPOINT)
    assert large.architecture.hidden == (9,)
    wanted = small.evaluator().probabilities(START)
    assert large.evaluator().probabilities(START) == pytest.approx(wanted, abs=1e-6)
    go(tmp_path / "grown", document, resume=True)
    go(tmp_path / "again", document)
    assert result(tmp_path / "grown") == result(tmp_path / "again")


def test_weights_do_not_depend_on_the_number_of_workers(straight):
    assert result(straight["forward"]) == result(straight["forward on two cores"])


@pytest.mark.parametrize("name", ["forward", "exact"])
def test_weights_do_not_depend_on_who_plays_the_games(name, straight, tmp_path):
    go(tmp_path, DOCUMENTS[name], runner=farm.runner(3))
    assert result(tmp_path) == result(straight[name])
    assert logged(tmp_path) == logged(straight[name])


def test_online_learning_plays_its_own_games(tmp_path):
    with pytest.raises(ValueError, match=r"--ray: needs learning\.method 'forward', got 'online'"):
        go(tmp_path, ONLINE, runner=farm.runner(2))


def test_a_run_may_change_its_workers_and_its_end(straight, tmp_path):
    go(tmp_path, FORWARD | {"games": 60, "workers": 2})
    go(tmp_path, FORWARD, resume=True)
    assert result(tmp_path) == result(straight["forward"])


def test_other_seeds_give_other_weights(straight, tmp_path):
    go(tmp_path, FORWARD | {"seed": 2})
    assert result(tmp_path)[0] != result(straight["forward"])[0]


def logged(folder):
    """The log without times and without means since the last line, which a stop cuts in two."""
    passing = ("cpu_s", "speed/", "train/loss", "train/turns", "train/points", "train/dropped")
    return [
        {key: value for key, value in record.items() if not key.startswith(passing)}
        for record in run.read_log(folder)
    ]


@pytest.mark.parametrize("stops", [[1], [2, 2], [5]], ids=str)
def test_the_log_of_a_resumed_run_is_that_of_one_that_never_stopped(stops, straight, tmp_path):
    go(tmp_path, FORWARD, should_stop=until(stops[0]))
    for iterations in stops[1:]:
        go(tmp_path, FORWARD, resume=True, should_stop=until(iterations))
    go(tmp_path, FORWARD, resume=True)
    assert logged(tmp_path) == logged(straight["forward"])


SCALARS = {
    "games",
    "cpu_s",
    "train/loss",
    "train/turns_per_game",
    "train/points_per_game",
    "train/dropped_games",
    "train/lambda",
    "train/rate",
    "train/bellman_residual",
    "train/luck_sd",
    "train/exact_worth",
    "speed/games_per_s",
    "speed/games_per_cpu_s",
    *(f"loss/{head}" for head in HEADS),
    *(f"calibration/{head}" for head in HEADS),
    *(f"reference/{name}" for name in REFERENCE_POSITIONS),
}


def test_the_log_holds_every_scalar_at_its_games(straight):
    records = run.read_log(straight["forward"])
    figures = [record for record in records if "train/loss" in record]
    benches = [record for record in records if "train/loss" not in record]
    assert all(set(record) == SCALARS for record in figures)
    assert all(
        set(record) == {"games", "cpu_s", "bench/ppg_v_random", "bench/ci95_v_random"}
        for record in benches
    )
    for lines, every in ((figures, 40), (benches, 60)):
        games = [record["games"] for record in lines]
        assert games == sorted(set(games))
        crossed = sorted({at // every for at in games} - {0})
        assert crossed == list(range(1, games[-1] // every + 1))
        assert games[-1] >= FORWARD["games"]
    for record in figures:
        assert all(math.isfinite(value) for value in record.values())
        assert 1.2 < record["train/loss"] < 2.2
        assert 30 < record["train/turns_per_game"] < 200
        assert 1 <= record["train/points_per_game"] <= 3
        assert record["speed/games_per_cpu_s"] > 0
        assert sum(record[f"loss/{head}"] for head in HEADS) < 2.2
        assert all(0 <= record[f"calibration/{head}"] <= 1 for head in HEADS)
        assert 0 < record["train/luck_sd"] < 2
        assert 0 < record["train/bellman_residual"] < 2
    assert figures[0]["train/lambda"] == pytest.approx(0.9 - 0.6 * figures[0]["games"] / 150)


def test_tensorboard_reads_the_same_figures(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    go(tmp_path, FORWARD, should_stop=until(4))
    with pytest.raises(Crash):
        go(tmp_path, FORWARD, resume=True, should_stop=until(3, Crash()))
    go(tmp_path, FORWARD, resume=True)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    records = run.read_log(tmp_path)
    names = {key for record in records for key in record} - {"games", "cpu_s"}
    assert set(events.Tags()["scalars"]) == names
    for name in names:
        curve = [(record["games"], record[name]) for record in records if name in record]
        read = [(event.step, event.value) for event in events.Scalars(name)]
        assert [step for step, _ in read] == [step for step, _ in curve], name
        if not name.startswith("speed/"):
            assert [v for _, v in read] == pytest.approx([v for _, v in curve], rel=1e-6), name


def test_the_checkpoint_of_a_run_says_where_it_is_from(straight):
    found = checkpoint.verify(straight["forward"])
    arrays, facts = run.load_state(straight["forward"])
    assert found.document["games"] == facts["progress"]["games"] >= 150
    assert from_document(found.document["config"]) == from_document(FORWARD)
    assert [result["b"] for result in found.document["bench"]] == ["random"]
    assert {"ppg", "ci95", "games", "sides"} <= set(found.document["bench"][0])
    for name, weight in found.weights.items():
        assert (weight == arrays[f"average.{name}"]).all()


def test_games_that_take_too_long_are_dropped_and_counted(tmp_path):
    learning = FORWARD["learning"] | {"max_turns": 100, "games_per_iteration": 10}
    progress = go(tmp_path, FORWARD | {"games": 40, "learning": learning})
    assert progress.dropped > 0
    assert progress.games >= 40
    assert progress.next_game == progress.games + progress.dropped
    records = [record for record in run.read_log(tmp_path) if "train/loss" in record]
    assert sum(record["train/dropped_games"] for record in records) == progress.dropped


def test_a_bench_of_a_single_pair_has_no_interval(tmp_path, capsys):
    words = (config_file(tmp_path), "--run", tmp_path / "run", "--set", "bench.games=2")
    status, out, err = command(capsys, *words, "--set", "games=20")
    assert (status, err) == (0, "")
    assert re.search(r"v random: [+-]\d\.\d+ ppg in 2 games", out)
    assert "bench/ci95_v_random" not in run.read_log(tmp_path / "run")[-1]


def test_a_player_that_fails_costs_no_training(straight, tmp_path):
    def failing(evaluator, player, games):
        raise Crash

    with pytest.raises(Crash):
        train.train(from_document(FORWARD), tmp_path, bench=failing)
    assert run.load_state(tmp_path)[1]["progress"]["games"] >= 60
    go(tmp_path, FORWARD, resume=True)
    assert result(tmp_path) == result(straight["forward"])


def test_training_teaches_to_win(tmp_path):
    document = {
        "games": 1500,
        "network": {"hidden": [10]},
        "learning": {"games_per_iteration": 20, "batch_size": 64, "rate": 0.01, "averaging": 0.9},
        "bench": {"against": []},
    }
    go(tmp_path, document)
    found = bench(checkpoint.load_evaluator(tmp_path), "random", 200)
    assert found["ppg"] - found["ci95"] > 1.5
    (line,) = run.read_log(tmp_path)
    assert line["reference/sure_win"] > 1 > -1 > line["reference/sure_loss"]


def test_online_learning_teaches_the_end_of_the_game(tmp_path):
    document = ONLINE | {"games": 40, "log_every_games": 40, "network": {"hidden": [6]}}
    go(tmp_path, document)
    (line,) = run.read_log(tmp_path)
    assert line["reference/sure_win"] > line["reference/sure_loss"] + 0.3


def untrained(seed):
    config = from_document({"games": 1, "seed": seed, "network": {"hidden": [20]}})
    weights = methods.first_weights(config)
    return NetworkBot(f"seed {seed}", NetworkEvaluator(config.network, weights))


def test_untrained_nets_win_nothing_from_each_other_on_the_whole():
    # different nets may differ by chance: over pairs of them the mean is 0
    means = np.array([match(untrained(2 * k), untrained(2 * k + 1), 100).ppg for k in range(8)])
    half_width = 2.36 * means.std(ddof=1) / len(means) ** 0.5  # Student's t, 7 degrees, 95 %
    assert abs(means.mean()) < half_width
    assert match(untrained(1), untrained(1), 20).ppg == 0
    start = np.array([untrained(k).evaluator.equity(START)[0] for k in range(30)])
    assert abs(start.mean()) < 3 * start.std() / 30**0.5


# --- the command ---------------------------------------------------------------------------------


def test_the_command_trains_and_says_what_came_of_it(straight, tmp_path, capsys):
    status, out, err = command(capsys, config_file(tmp_path), "--run", tmp_path / "run")
    assert (status, err) == (0, "")
    assert f"checkpoint: {tmp_path}/run/checkpoint" in out
    assert re.search(r"v random: [+-]\d\.\d+ \+- \d\.\d+ ppg", out)
    assert result(tmp_path / "run")[0] == result(straight["forward"])[0]
    status, out, err = command(capsys, "--resume", tmp_path / "run", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["run"] == f"{tmp_path}/run"
    assert document["finished"] is True
    assert document["games"] >= 150


def one_line(status, out, err, *words):
    assert (status, out) == (2, ""), err
    assert err.startswith("tdgammon: ")
    assert err.count("\n") == 1
    for word in words:
        assert str(word) in err


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ([], "CONFIG is missing"),
        (["nosuch"], "nosuch"),
        (["nosuch.toml"], "nosuch.toml"),
        (["."], "'.'"),
        (["config.toml", "--set", "network=3"], "network: a group of keys expected, got 3"),
        (["config.toml", "--set", "network.hidden=[]"], "network.hidden: "),
        (["config.toml", "--set", "network.hidden=[0]"], "(0,)"),
        (
            ["config.toml", "--set", "learning.lambda_=-0.5"],
            "learning.lambda_: must be 0 to 1, got -0.5",
        ),
        (["config.toml", "--set", "games=0"], "games: must be at least 1, got 0"),
        (["config.toml", "--set", "games=1e9"], "games: int expected, got 1000000000.0"),
        (["config.toml", "--set", "workers=1000"], "workers: must be 1 to 64, got 1000"),
        (
            ["config.toml", "--set", 'bench.against=["nosuch"]'],
            "bench.against: unknown player 'nosuch'",
        ),
        (["config.toml", "--set", 'bench.against=[""]'], "bench.against: unknown player ''"),
        (
            [
                "config.toml",
                *("--set", "rules=hypergammon", "--set", "network.num_checkers=3"),
                *("--set", 'bench.against=["default"]'),
            ],
            "bench.against: player 'default': rules with 3 checkers a side for a network",
        ),
        (["config.toml", "--set", "nosuch=1"], "nosuch: unknown key"),
        (["config.toml", "--set", "games"], "'games'"),
        (["--resume", "nosuch"], "no run to resume in 'nosuch'"),
        (["--resume", "."], "no run to resume in '.'"),
        (["config.toml", "--resume", "."], "--resume '.' takes CONFIG and DIR from the run"),
        (["--run", "a", "--resume", "b"], "--resume 'b' takes CONFIG and DIR from the run"),
        (["config.toml", "--run", "config.toml"], "config.toml: File exists"),
        (["config.toml", "--run", "config.toml/run"], "config.toml/run: Not a directory"),
    ],
    ids=str,
)
def test_bad_input_is_one_line_and_writes_nothing(words, quoted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    config_file(tmp_path)
    one_line(*command(capsys, *words), quoted)
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


@pytest.fixture
def stopped(tmp_path):
    """A run that was stopped after two iterations."""
    go(tmp_path / "run", FORWARD, should_stop=until(2))
    return tmp_path / "run"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_that_holds_a_run_is_not_overwritten(stopped, tmp_path, capsys):
    before = contents(stopped)
    one_line(*command(capsys, config_file(tmp_path), "--run", stopped), stopped, "already holds a run")
    (stopped / run.STATE).unlink()
    one_line(*command(capsys, config_file(tmp_path), "--run", stopped), "already holds a run")
    one_line(*command(capsys, "--resume", stopped), "no run to resume in", stopped)
    before.pop(stopped / run.STATE)
    assert contents(stopped) == before


@pytest.mark.parametrize("damage", ["cut", "byte", "empty", "text"])
def test_a_damaged_state_is_refused_and_left_alone(damage, stopped, capsys):
    file = stopped / run.STATE
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes({"cut": data[:-9], "byte": data, "empty": b"", "text": b"words\n"}[damage])
    before = contents(stopped)
    one_line(*command(capsys, "--resume", stopped), file, "is damaged")
    assert contents(stopped) == before


@pytest.mark.parametrize(
    ("override", "quoted"),
    [
        ("network.hidden=[7]", "network: cannot change"),
        ('network.encoding="counts"', "network: cannot change"),
        ("seed=2", "seed: cannot change when a run is resumed, from 1 to 2"),
        ("learning.method=online", "learning.method: cannot change"),
        ("games=0", "games: must be at least 1, got 0"),
    ],
)
def test_what_cannot_change_when_a_run_is_resumed_is_refused(override, quoted, stopped, capsys):
    before = contents(stopped)
    one_line(*command(capsys, "--resume", stopped, "--set", override), quoted)
    assert contents(stopped) == before


def test_a_log_with_a_line_that_is_none_is_named(stopped, capsys):
    with (stopped / run.LOG).open("a") as file:
        file.write("nonsense\n{}\n")
    one_line(*command(capsys, "--resume", stopped), stopped / run.LOG, "line 1 ")


def test_a_log_that_was_emptied_or_cut_off_or_deleted_does_not_stop_a_run(stopped, capsys, straight):
    for text in ("", '{"games": 1, "tr', None):
        if text is None:
            (stopped / run.LOG).unlink(missing_ok=True)
        else:
            (stopped / run.LOG).write_text(text)
        go(stopped, FORWARD, resume=True, should_stop=until(1))
    status, _, err = command(capsys, "--resume", stopped)
    assert (status, err) == (0, "")
    assert result(stopped) == result(straight["forward"])


def test_two_runs_at_once_do_not_share_a_folder(stopped, tmp_path, capsys):
    with run.locked(stopped):
        one_line(*command(capsys, "--resume", stopped), "in use by another run", stopped)
    (tmp_path / "fresh").mkdir()
    with run.locked(tmp_path / "fresh"):
        one_line(*command(capsys, config_file(tmp_path), "--run", tmp_path / "fresh"), "in use")
    assert not list((tmp_path / "fresh").iterdir())


def after_iterations(monkeypatch, count, act):
    """Call `act` in the middle of the iteration after `count` others."""
    original = methods.ForwardMethod._learn
    counted = itertools.count()

    def learn(self, *args):
        if next(counted) == count:
            act()
        return original(self, *args)

    monkeypatch.setattr(methods.ForwardMethod, "_learn", learn)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_says_how_to_go_on(number, status, straight, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        after_iterations(patch, 2, lambda: os.kill(os.getpid(), number))
        handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        found, out, err = command(capsys, config_file(tmp_path), "--run", folder)
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert (found, out) == (status, "")
    games = run.load_state(folder)[1]["progress"]["games"]
    assert games > 20
    assert (
        err == f"tdgammon: stopped after {games} games; go on with: tdgammon train --resume {folder}\n"
    )
    assert checkpoint.verify(folder).document["games"] == games
    assert command(capsys, "--resume", folder)[0] == 0
    assert result(folder) == result(straight["forward"])


@pytest.mark.parametrize("call", [1, 2, 3, 4, 6, 8, 9])
def test_a_full_disk_leaves_the_last_good_state(call, straight, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        calls = itertools.count(1)
        original = os.fsync

        def fsync(handle):
            if next(calls) >= call:
                raise OSError(errno.ENOSPC, "No space left on device")
            original(handle)

        patch.setattr(os, "fsync", fsync)
        words = (config_file(tmp_path), "--run", folder, "--set", "save_every_s=1e-9")
        one_line(*command(capsys, *words), folder, "No space left on device")
    if call > 1:
        run.load_state(folder)
        status, _, err = command(capsys, "--resume", folder)
    else:
        assert not (folder / run.STATE).exists()
        status, _, err = command(capsys, *words)
    assert (status, err) == (0, "")
    assert result(folder) == result(straight["forward"])


def test_a_full_disk_in_the_log_is_one_line_too(straight, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:

        def full(folder, record):
            with checkpoint.naming(folder / run.LOG):
                raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(run, "append_log", full)
        one_line(*command(capsys, config_file(tmp_path), "--run", folder), folder / run.LOG, "No space")
    assert command(capsys, "--resume", folder)[0] == 0
    assert result(folder) == result(straight["forward"])


def poison_loss(patch):
    original = Learner.accumulate_gradients
    counted = itertools.count()

    def gradients(self, boards, targets):
        loss = original(self, boards, targets)
        return math.nan if next(counted) == 70 else loss

    patch.setattr(Learner, "accumulate_gradients", gradients)


def poison_weights(patch):
    original = methods.ForwardMethod._learn
    counted = itertools.count()

    def learn(self, *args):
        loss = original(self, *args)
        if next(counted) == 3:
            self._learner._average[2].fill_(math.inf)
        return loss

    patch.setattr(methods.ForwardMethod, "_learn", learn)


@pytest.mark.parametrize(
    ("poison", "reason"),
    [(poison_loss, "loss is nan at step 70"), (poison_weights, "weights are not finite after ")],
)
def test_numbers_that_are_not_finite_stop_a_run_with_the_reason(
    poison, reason, straight, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        poison(patch)
        words = (config_file(tmp_path), "--run", folder, "--set", "save_every_s=1e-9")
        status, out, err = command(capsys, *words)
    assert (status, out) == (1, "")
    assert err.startswith(f"tdgammon: training stopped: {reason}")
    assert err.count("\n") == 1
    arrays, facts = run.load_state(folder)
    assert facts["progress"]["games"] > 20
    assert all(np.isfinite(array).all() for array in arrays.values())
    checkpoint.verify(folder)
    assert command(capsys, "--resume", folder)[0] == 0
    assert result(folder) == result(straight["forward"])


def test_an_online_run_whose_weights_run_away_stops_with_the_reason(tmp_path, monkeypatch, capsys):
    original = methods.OnlineLearner.play_game

    def play_game(self, *args):
        boards = original(self, *args)
        self._weights["output.weight"][0, 0] = np.nan
        return boards

    monkeypatch.setattr(methods.OnlineLearner, "play_game", play_game)
    words = (config_file(tmp_path, ONLINE), "--run", tmp_path / "run")
    status, out, err = command(capsys, *words)
    assert (status, out) == (1, "")
    assert "weights are not finite after" in err
    assert err.count("\n") == 1
    checkpoint.verify(tmp_path / "run")


def start_process(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "tdgammon", "train", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} does not appear"
        time.sleep(0.005)


LONG = FORWARD | {
    "games": 600,
    "log_every_games": 200,
    "save_every_s": 0.01,
    "learning": FORWARD["learning"] | {"games_per_iteration": 20},
    "bench": {"against": [], "games": 2},
}


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow),
    ],
)
def test_a_process_that_gets_a_signal_stops_soundly(number, status, tmp_path, capsys):
    folder = tmp_path / "run"
    endless = LONG | {"games": 1_000_000}
    process = start_process(config_file(tmp_path, endless), "--run", folder)
    wait_for(folder / "checkpoint" / checkpoint.DOCUMENT)
    process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, out) == (status, ""), err
    assert err.count("\n") == 1
    assert f"go on with: tdgammon train --resume {folder}" in err
    checkpoint.verify(folder)
    run.load_state(folder)


@pytest.mark.parametrize("kills", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_a_process_killed_at_any_moment_can_be_resumed(kills, tmp_path):
    folder, uninterrupted = tmp_path / "run", tmp_path / "other"
    rng = np.random.default_rng(kills)
    words = (config_file(tmp_path, LONG), "--run", folder)
    for _ in range(kills):
        process = start_process(*words)
        wait_for(folder / "checkpoint" / checkpoint.DOCUMENT)
        time.sleep(rng.uniform(0, 0.4) + (1.5 if words[0] == "--resume" else 0))
        process.kill()
        process.communicate()
        checkpoint.verify(folder)
        run.load_state(folder)
        words = ("--resume", folder)
    go(folder, LONG, resume=True)
    go(uninterrupted, LONG)
    assert result(folder) == result(uninterrupted)
    assert [record["games"] for record in run.read_log(folder)] == [
        record["games"] for record in run.read_log(uninterrupted)
    ]
