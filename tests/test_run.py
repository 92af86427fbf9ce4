"""The run folder: state there and back, damage refused, and a log that survives a crash."""

import errno
import json
import os
import pickle

import numpy as np
import pytest
import safetensors.numpy

from tdgammon.learn import run
from tdgammon.value import checkpoint
from tdgammon.value.checkpoint import CheckpointError

ARRAYS = {
    "steps": np.array(12),
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "nothing": np.empty((0, 4), np.int8),
}
FACTS = {"progress": {"games": 7}, "config": {"words": 'λ \n " é'}, "odd": [1.5, None, 1e-300]}


def log(folder, *games):
    for count in games:
        run.append_log(folder, {"games": count, "loss": count / 3})


def games_logged(folder):
    return [record["games"] for record in run.read_log(folder)]


def test_what_is_saved_is_loaded(tmp_path):
    run.save_state(tmp_path, ARRAYS, FACTS)
    arrays, facts = run.load_state(tmp_path)
    assert facts == FACTS
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert (arrays[name] == array).all()


def test_a_folder_without_a_run_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "nosuch", tmp_path / ("x" * 5000)):
        with pytest.raises(CheckpointError, match=r"no run to resume in .* is missing"):
            run.load_state(folder)


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 60, 500, -1])
def test_a_state_that_was_cut_off_is_refused(tmp_path, keep):
    run.save_state(tmp_path, ARRAYS, FACTS)
    file = tmp_path / run.STATE
    file.write_bytes(file.read_bytes()[:keep])
    refused(tmp_path)


def test_no_changed_byte_goes_unnoticed(tmp_path):
    run.save_state(tmp_path, ARRAYS, FACTS)
    file = tmp_path / run.STATE
    data = file.read_bytes()
    for at in range(0, len(data), 2):
        changed = bytearray(data)
        changed[at] ^= 1
        file.write_bytes(changed)
        try:
            arrays, facts = run.load_state(tmp_path)
        except CheckpointError as fault:
            assert str(file) in str(fault)  # noqa: PT017
            assert "\n" not in str(fault)  # noqa: PT017
        else:  # a blank that pads the header, say
            assert facts == FACTS
            assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())


def refused(folder, complaint=""):
    with pytest.raises(CheckpointError, match=complaint or "is damaged") as caught:
        run.load_state(folder)
    assert run.STATE in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"format": "1"},
        {"format": "1", "facts": "{}"},
        {"format": "1", "facts": "{", "sha256": ""},
        {"format": "1", "facts": "[]", "sha256": ""},
    ],
)
def test_weights_that_are_no_state_are_refused(tmp_path, metadata):
    data = safetensors.numpy.save({"w": np.zeros(3, np.float32)}, metadata)
    (tmp_path / run.STATE).write_bytes(data)
    refused(tmp_path, "is damaged|format None")


def test_a_state_of_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "FORMAT", 2)
    run.save_state(tmp_path, ARRAYS, FACTS)
    monkeypatch.undo()
    refused(tmp_path, "format 2, this version reads 1")


def test_a_pickle_is_refused(tmp_path):
    (tmp_path / run.STATE).write_bytes(pickle.dumps({"w": 1}))
    refused(tmp_path)


def test_facts_cannot_be_changed_unnoticed(tmp_path):
    run.save_state(tmp_path, ARRAYS, {"games": 1111})
    file = tmp_path / run.STATE
    file.write_bytes(file.read_bytes().replace(b"1111", b"1112"))
    refused(tmp_path)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_state_that_cannot_be_written_leaves_the_last_one(tmp_path, broken, monkeypatch):
    run.save_state(tmp_path, ARRAYS, FACTS)

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, broken, full)
        with pytest.raises(OSError, match="No space left") as caught:
            run.save_state(tmp_path, {"steps": np.array(13)}, {})
    assert caught.value.filename == str(tmp_path / run.STATE)
    assert run.load_state(tmp_path)[1] == FACTS
    assert [path.name for path in tmp_path.iterdir()] == [run.STATE]


def test_a_file_is_put_in_place_in_one_step(tmp_path):
    file = tmp_path / "file"
    checkpoint.replace_file(file, b"one")
    checkpoint.replace_file(file, b"two")
    assert file.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [file]


def test_the_log_is_read_as_it_was_written(tmp_path):
    assert run.read_log(tmp_path) == []
    log(tmp_path, 1, 2)
    assert run.read_log(tmp_path) == [{"games": 1, "loss": 1 / 3}, {"games": 2, "loss": 2 / 3}]
    assert [json.loads(line)["games"] for line in (tmp_path / run.LOG).read_text().splitlines()] == [
        1,
        2,
    ]


def test_an_empty_log_is_no_log(tmp_path):
    (tmp_path / run.LOG).write_text("")
    assert run.read_log(tmp_path) == []
    run.cut_log(tmp_path, 10)
    assert run.read_log(tmp_path) == []


@pytest.mark.parametrize("tail", ["{", '{"games": 3, "lo', '{"games": 3}x', "3", '"words"', "\x00\x00"])
def test_a_last_line_that_a_crash_cut_off_is_left_out(tmp_path, tail):
    log(tmp_path, 1, 2)
    with (tmp_path / run.LOG).open("a") as file:
        file.write(tail)
    assert games_logged(tmp_path) == [1, 2]
    run.cut_log(tmp_path, 10)
    log(tmp_path, 4)
    assert games_logged(tmp_path) == [1, 2, 4]


def test_a_crash_in_the_middle_of_a_letter_is_left_out_too(tmp_path):
    log(tmp_path, 1)
    with (tmp_path / run.LOG).open("ab") as file:
        file.write('{"games": 2, "λ'.encode()[:-1])
    assert games_logged(tmp_path) == [1]


@pytest.mark.parametrize("line", ["nonsense", "{", "3", '{"loss": 1}', '{"games": "many"}', "\x00"])
def test_a_line_that_is_no_record_is_named(tmp_path, line):
    log(tmp_path, 1)
    with (tmp_path / run.LOG).open("a") as file:
        file.write(line + "\n")
    log(tmp_path, 2)
    for call in (lambda: run.read_log(tmp_path), lambda: run.cut_log(tmp_path, 10)):
        with pytest.raises(ValueError, match="line 2 ") as caught:
            call()
        assert str(tmp_path / run.LOG) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_was_logged_after_the_state_is_dropped(tmp_path):
    log(tmp_path, 1, 5, 9, 9, 12)
    run.cut_log(tmp_path, 9)
    assert games_logged(tmp_path) == [1, 5, 9, 9]
    run.cut_log(tmp_path, 0)
    assert games_logged(tmp_path) == []
    run.cut_log(tmp_path / ".", 0)


def test_only_one_run_at_a_time_may_use_a_folder(tmp_path):
    with (
        run.locked(tmp_path),
        pytest.raises(ValueError, match="is in use by another run"),
        run.locked(tmp_path),
    ):
        pytest.fail("a second run was let in")
    with run.locked(tmp_path):
        pass
