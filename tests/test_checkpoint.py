"""Checkpoints: there and back, every damage refused in one line, and no instant without a sound one."""

import builtins
import errno
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import networks
import numpy as np
import pytest
import safetensors.numpy
from networks import ARCHITECTURES, random_weights

from tdgammon.cli.main import main
from tdgammon.game.board import START
from tdgammon.value import checkpoint
from tdgammon.value.checkpoint import CheckpointError, find, load_evaluator, read, verify, write
from tdgammon.value.tables import Architecture

SMALL = Architecture(hidden=(4,))
FACTS = {"games": 1234, "config": {"games": 5000}, "commit": "abc", "bench": [{"ppg": 0.5}]}


@pytest.fixture
def folder(tmp_path):
    """A sound checkpoint."""
    write(tmp_path / "some net", SMALL, random_weights(SMALL), **FACTS)
    return tmp_path / "some net"


def weights_file(folder):
    (file,) = folder.glob("*.safetensors")
    return file


def edit(folder, **changes):
    """Change keys of the document; None takes one out."""
    file = folder / checkpoint.DOCUMENT
    document = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({key: value for key, value in document.items() if value is not None}))


def put_weights(folder, data):
    """Other weights with a document that vouches for them."""
    weights_file(folder).write_bytes(data)
    edit(folder, sha256=hashlib.sha256(data).hexdigest())


def refuses(folder, complaint):
    """Reading raises one line that names the folder."""
    with pytest.raises(CheckpointError, match=complaint) as caught:
        read(folder)
    assert "\n" not in str(caught.value)
    assert folder.name in str(caught.value)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_what_is_written_is_read(name, tmp_path):
    weights = random_weights(ARCHITECTURES[name])
    sha256 = write(tmp_path / "net", ARCHITECTURES[name], weights, **FACTS)
    found = read(tmp_path / "net")
    assert (found.name, found.path, found.sha256) == ("net", tmp_path / "net", sha256)
    assert found.architecture == ARCHITECTURES[name]
    assert {key: found.document[key] for key in FACTS} == FACTS
    assert set(found.weights) == set(weights)
    assert all((found.weights[key] == weights[key]).all() for key in weights)
    twin = networks.probabilities([START.tolist()], ARCHITECTURES[name], weights)
    assert load_evaluator(tmp_path / "net").probabilities(START) == pytest.approx(twin, abs=1e-5)
    assert verify(tmp_path / "net").sha256 == sha256


def test_half_the_precision_makes_half_the_file(tmp_path):
    weights = random_weights(SMALL)
    for half in (False, True):
        sha256 = write(tmp_path / str(half), SMALL, weights, **FACTS, half=half)
        assert verify(tmp_path / str(half)).sha256 == sha256
    sizes = [weights_file(tmp_path / str(half)).stat().st_size for half in (False, True)]
    assert sizes[0] - sizes[1] == 2 * sum(weight.size for weight in weights.values())
    for name, weight in read(tmp_path / "True").weights.items():
        assert weight.dtype == np.float32
        assert weight == pytest.approx(weights[name], rel=2**-11, abs=2**-25)


def test_a_weight_too_large_for_half_the_precision_is_refused(tmp_path):
    weights = random_weights(SMALL)
    weights["output.bias"][1] = 1e5
    with pytest.raises(ValueError, match=r"weight output\.bias: holds numbers that are not finite"):
        write(tmp_path / "net", SMALL, weights, **FACTS, half=True)
    assert not (tmp_path / "net").exists()


def test_the_document_holds_what_a_reader_wants_to_know(folder):
    document = json.loads((folder / checkpoint.DOCUMENT).read_text())
    assert document["format"] == 1
    assert document["architecture"] == {
        "encoding": "tesauro",
        "hidden": [4],
        "activation": "relu",
        "num_checkers": 15,
        "specialists": False,
    }
    assert hashlib.sha256((folder / document["weights"]).read_bytes()).hexdigest() == document["sha256"]
    assert set(document["versions"]) == {"python", "numpy", "numba", "torch"}
    assert len(document["examples"]) >= 3
    for example in document["examples"]:
        assert sum(example["probabilities"]) == pytest.approx(1, abs=1e-5)


def test_equal_weights_make_equal_files_and_others_change_the_name(folder, tmp_path):
    write(tmp_path / "again", SMALL, random_weights(SMALL), **FACTS)
    assert weights_file(tmp_path / "again").name == weights_file(folder).name
    assert weights_file(tmp_path / "again").read_bytes() == weights_file(folder).read_bytes()
    before = weights_file(folder).name
    write(folder, SMALL, random_weights(SMALL, seed=2), **FACTS)
    assert weights_file(folder).name != before
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [checkpoint.DOCUMENT, weights_file(folder).name]
    )


def test_a_folder_its_document_or_the_run_that_holds_it_all_name_a_checkpoint(tmp_path, monkeypatch):
    inside = tmp_path / "run" / checkpoint.RUN_CHECKPOINT
    write(inside, SMALL, random_weights(SMALL), **FACTS)
    for named in (inside, str(inside), inside / checkpoint.DOCUMENT, tmp_path / "run", f"{inside}/"):
        assert find(named) == inside
    monkeypatch.chdir(tmp_path)
    assert find("run") == Path("run") / checkpoint.RUN_CHECKPOINT


@pytest.mark.parametrize("name", ["nosuch", "no/such", "", ".", "..", "nosuch\0", "x" * 5000])
def test_an_unknown_name_is_quoted(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="no checkpoint") as caught:
        read(name)
    assert repr(name) in str(caught.value)


def test_a_shipped_name_is_found_before_a_folder_of_that_name(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "_SHELVES", (tmp_path,))
    monkeypatch.chdir(folder)
    assert find("some net") == folder
    assert checkpoint.available() == ["some net"]
    with pytest.raises(CheckpointError, match=r"'other' \(shipped: some net;"):
        read("other")


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 100, -1])
def test_weights_that_were_cut_off_are_refused(folder, keep):
    data = weights_file(folder).read_bytes()
    weights_file(folder).write_bytes(data[:keep])
    refuses(folder, "is damaged: SHA-256")
    put_weights(folder, data[:keep])
    refuses(folder, "some net")


@pytest.mark.parametrize("at", [0, 9, 200, -1])
def test_one_changed_byte_is_noticed(folder, at):
    data = bytearray(weights_file(folder).read_bytes())
    data[at] ^= 1
    weights_file(folder).write_bytes(data)
    refuses(folder, "is damaged: SHA-256")


def test_missing_weights_are_noticed(folder):
    weights_file(folder).unlink()
    refuses(folder, "is missing")


KEYS = [
    "format",
    "architecture",
    "weights",
    "sha256",
    "games",
    "versions",
    "config",
    "bench",
    "examples",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [None, 3.5, "nonsense", True])
def test_a_document_without_its_keys_or_with_others_in_them_is_refused(folder, key, value):
    edit(folder, **{key: value})
    try:
        found = verify(folder)
    except CheckpointError as fault:
        assert "some net" in str(fault)  # noqa: PT017
        assert "\n" not in str(fault)  # noqa: PT017
    else:
        pytest.fail(f"accepted {key} = {value!r}: {found}")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", '"words"', "\x00", '{"format": 1}', "NaN", "[" * 100_000]
)
def test_a_document_that_is_none_is_refused(folder, text):
    (folder / checkpoint.DOCUMENT).write_text(text)
    refuses(folder, "checkpoint document")


def test_a_document_that_is_no_text_is_refused(folder):
    (folder / checkpoint.DOCUMENT).write_bytes(b"\xff\xfe\x00")
    refuses(folder, "cannot be read")


@pytest.mark.parametrize("number", [0, 2, -1, True, 10**30])
def test_another_format_is_refused(folder, number):
    edit(folder, format=number)
    refuses(folder, "format")


@pytest.mark.parametrize(
    "architecture",
    [
        {},
        {"encoding": "counts", "hidden": [4], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [5], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [4, 4], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [], "activation": "relu"},
        {"encoding": "tesauro", "hidden": ["4"], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [4.0], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [True, 4], "activation": "relu"},
        {"encoding": "tesauro", "hidden": 4, "activation": "relu"},
        {"encoding": "tesauro", "hidden": None, "activation": "relu"},
        {"encoding": "tesauro", "hidden": [10**30], "activation": "relu"},
        {"encoding": ["tesauro"], "hidden": [4], "activation": "relu"},
        {"encoding": "tesauro", "hidden": [4], "activation": {}},
        {"encoding": "tesauro", "hidden": [4], "activation": "relu", "depth": 3},
    ],
    ids=str,
)
def test_another_architecture_is_refused(folder, architecture):
    edit(folder, architecture=architecture)
    refuses(folder, "some net")


def test_weights_that_are_no_numbers_are_refused(folder):
    weights = random_weights(SMALL)
    weights["output.bias"][3] = np.nan
    put_weights(folder, safetensors.numpy.save(weights))
    refuses(folder, "output.bias: .*not finite")
    with pytest.raises(ValueError, match="weight output"):
        write(folder, SMALL, weights, **FACTS)


def test_weights_of_another_type_are_refused(folder):
    weights = {name: value.astype(np.float64) for name, value in random_weights(SMALL).items()}
    put_weights(folder, safetensors.numpy.save(weights))
    refuses(folder, "float32 .* expected, got float64")


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_in_place_of_weights_is_refused_and_not_executed(folder, tmp_path):
    put_weights(folder, pickle.dumps(Bomb(tmp_path / "exploded")))
    refuses(folder, "some net")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("file", ["../other.safetensors", "/etc/passwd", "a/b", "", ".", "..", "\0"])
def test_weights_outside_the_folder_are_refused(folder, tmp_path, file):
    shutil.copy(weights_file(folder), tmp_path / "other.safetensors")
    edit(folder, weights=file)
    refuses(folder, "weights")


def test_verify_notices_other_probabilities_and_read_does_not_care(folder):
    document = json.loads((folder / checkpoint.DOCUMENT).read_text())
    document["examples"][1]["probabilities"][2] += 0.001
    edit(folder, examples=document["examples"])
    read(folder)
    with pytest.raises(CheckpointError, match=r"'bar:1 22:1 .* gives .* the document says"):
        verify(folder)


@pytest.mark.parametrize(
    "example",
    [
        None,
        {},
        {"board": "start"},
        {"board": "start", "probabilities": [0.5, 0.5]},
        {"board": "start", "probabilities": "certain"},
        {"board": "start", "probabilities": [float("nan")] * 6},
        {"board": "start", "probabilities": [[0] * 6]},
        {"board": "26:1 / -", "probabilities": [0] * 6},
        {"board": 3, "probabilities": [0] * 6},
    ],
    ids=str,
)
def test_verify_refuses_examples_that_are_none(folder, example):
    edit(folder, examples=[example])
    with pytest.raises(CheckpointError, match="some net") as caught:
        verify(folder)
    assert "\n" not in str(caught.value)


def test_verify_refuses_a_document_without_examples(folder):
    edit(folder, examples=[])
    with pytest.raises(CheckpointError, match="examples"):
        verify(folder)


STEPS = 40
"""More than the calls that write a checkpoint: the last round finds nothing to break."""


class Killed(BaseException):
    """Ends a process in a test: nothing after it touches the disk."""


class Disk:
    """Fails at the call number `fails_at` that writes, forces, renames or makes a folder."""

    def __init__(self, patch, fails_at, error):
        self.calls, self.fails_at, self.error, self.dead = 0, fails_at, error, False
        for owner, name in ((os, "replace"), (os, "fsync"), (Path, "mkdir"), (Path, "unlink")):
            patch.setattr(owner, name, self.watched(getattr(owner, name), name != "unlink"))
        patch.setattr(checkpoint, "open", self.open, raising=False)

    def count(self):
        self.calls += 1
        if self.calls == self.fails_at:
            self.dead = isinstance(self.error, Killed)
            raise self.error

    def watched(self, original, can_fail):
        def call(*args, **kwargs):
            if can_fail:
                self.count()
            return None if self.dead else original(*args, **kwargs)

        return call

    def open(self, path, mode):
        self.count()
        return HalfWriter(builtins.open(path, mode, buffering=0), self)


class HalfWriter:
    """A file that can fail when half of what is written has arrived."""

    def __init__(self, file, disk):
        self._file, self._disk = file, disk

    def write(self, data):
        self._file.write(data[: len(data) // 2])
        self._disk.count()
        self._file.write(data[len(data) // 2 :])

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._file.close()


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error"), Killed()],
    ids=["full", "broken", "killed"],
)
def test_a_sound_checkpoint_is_there_whatever_fails_while_another_is_written(
    folder, error, monkeypatch
):
    old = random_weights(SMALL)
    new = random_weights(SMALL, seed=2)
    old_sha256 = read(folder).sha256
    for step in range(1, STEPS):
        with monkeypatch.context() as patch:
            disk = Disk(patch, step, error)
            try:
                write(folder, SMALL, new, **FACTS)
            except (OSError, Killed) as raised:
                assert raised is error  # noqa: PT017
        found = verify(folder)
        if disk.calls < step:
            break
        assert found.sha256 == old_sha256
        assert (found.weights["output.bias"] == old["output.bias"]).all()
    assert step > 8, "the failures have not met the calls that matter"
    assert found.sha256 != old_sha256
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".safetensors"]


def test_a_reader_that_comes_between_two_writes_gets_the_new_checkpoint(folder, monkeypatch):
    original = Path.read_bytes
    new = random_weights(SMALL, seed=2)
    late = []

    def read_late(path):
        if not late:
            late.append(write(folder, SMALL, new, **FACTS))
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", read_late)
    assert read(folder).sha256 == late[0]


def test_old_weights_that_cannot_be_deleted_do_no_harm(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
        write(folder, SMALL, random_weights(SMALL, seed=2), **FACTS)
    assert len(list(folder.glob("*.safetensors"))) == 2
    verify(folder)


def test_reading_needs_no_torch(folder):
    code = (
        "import sys; from tdgammon.value.checkpoint import verify\n"
        f"verify({str(folder)!r})\n"
        "sys.exit('torch was loaded' if 'torch' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_light_network_comes_along_and_is_verified_too(folder):
    assert read(folder).light is None
    assert read(folder).evaluator().light is None
    tiny = Architecture(hidden=(2,))
    write(folder / checkpoint.LIGHT, tiny, random_weights(tiny), **FACTS)
    light = read(folder).evaluator().light
    assert light is not None
    assert light.architecture == tiny
    assert verify(folder).light is not None
    edit(folder / checkpoint.LIGHT, sha256="0" * 64)
    with pytest.raises(CheckpointError, match=r"light.*is damaged"):
        verify(folder)


def test_a_light_folder_without_a_document_or_of_another_game_is_refused(folder, capsys):
    light = folder / checkpoint.LIGHT
    light.mkdir()
    with pytest.raises(CheckpointError, match=r"light'?: checkpoint\.json is missing"):
        read(folder).evaluator()
    light.rmdir()
    other = Architecture(hidden=(2,), num_checkers=3)
    write(light, other, random_weights(other), **FACTS)
    for use in (verify, lambda path: read(path).evaluator()):
        with pytest.raises(CheckpointError, match=r"light.*3 checkers a side, .* with 15"):
            use(folder)
    assert main(["checkpoint", "show", str(folder)]) == 2
    assert "3 checkers a side" in capsys.readouterr().err
