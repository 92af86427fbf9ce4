"""The command line as a whole: help, bad input, exit statuses, what is loaded."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from networks import ARCHITECTURES, random_weights

import tdgammon
from tdgammon.cli import main as cli
from tdgammon.value import checkpoint
from tdgammon.value.tables import Architecture

OPENING = "start ; 31\n"
NEGATIVE_LAMBDA = "lambda_=-0.5"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command line."""
    try:
        status = cli.main(words)
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def in_new_process(*words: str, code: str = "") -> subprocess.CompletedProcess[str]:
    start = ["-c", code] if code else ["-m", "tdgammon"]
    return subprocess.run([sys.executable, *start, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_subcommand_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, name, "--help")
    assert (status, err) == (0, "")
    assert "Example:" in out
    assert f"tdgammon {name}" in out.partition("Example:")[2]


def test_top_help_lists_every_subcommand_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in cli.COMMANDS:
        (line,) = [line for line in out.splitlines() if line.startswith(f"  {name} ")]
        assert len(line.split()) > 3


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"tdgammon {tdgammon.__version__}\n", "")


BAD_COMMAND_LINES = [
    ([], "missing"),
    (["nonsense"], "'nonsense'"),
    (["--nonsense"], "--nonsense"),
    (["perft"], "FILE"),
    (["perft", "nosuch.jsonl"], "nosuch.jsonl"),
    (["perft", "."], "."),
    (["bench", "random"], "random"),
    (["bench", "random", "nosuch"], "'nosuch'"),
    (["bench", "random", "nosuch.module:function"], "nosuch.module"),
    (["bench", "random", "golden", "--games", "many"], "'many'"),
    (["bench", "random", "golden", "--games", "0"], "0"),
    (["bench", "random", "golden", "--games", "-2"], "-2"),
    (["bench", "random", "golden", "--seed", "-1"], "-1"),
    (["bench", "random,nonsense=1", "golden"], "nonsense"),
    (["bench", "default", "golden", "--ply", "9"], "ply: 0 to 4 expected, got 9"),
    (["bench", "golden", "default", "--ply-b", "x"], "'x'"),
    (["bench", "golden", "default", "--ply", "1"], "golden takes no settings, got 'ply=1'"),
    (["bench", "--decisions", "x.jsonl", "default", "--ply-b", "1"], "--ply-b has no meaning"),
    (["bench", "--decisions", "nosuch.jsonl", "random"], "nosuch.jsonl"),
    (["league", "random", "nosuch"], "'nosuch'"),
    (["play", "--against", "nosuch"], "'nosuch'"),
    (["checkpoint", "show", "nosuch"], "nosuch"),
    (["checkpoint", "verify", "nosuch"], "nosuch"),
    (["checkpoint", "nonsense"], "nonsense"),
    (["train", "nosuch.toml"], "nosuch.toml"),
]


@pytest.mark.parametrize(("words", "quoted"), BAD_COMMAND_LINES, ids=lambda value: str(value))
def test_bad_input_is_one_line_and_exit_status_2(
    words: list[str],
    quoted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *words)
    assert status == 2, err
    assert out == ""
    assert err.startswith("tdgammon: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert quoted in err
    assert list(tmp_path.iterdir()) == []


BAD_LINES = [
    "start",
    "start ; 3",
    "start ; 07",
    "6:2 24:2 ; 31",
    "6:16 / 24:2 ; 31",
    "6:2 / 6:2 ; 31",
    "26:2 / 24:2 ; 31",
    '{"board": [1, 2], "dice": [3, 1]}',
    '{"board": "start", "dice": [3, 1]}',
    '{"dice": [3, 1]}',
    '{"board": [0,-2,0,0,0,0,5,0,3,0,0,0,-5,5,0,0,0,-3,0,-5,0,0,0,0,2,0], "dice": [3, 1], "n": "16"}',
    '{"board": [0,-2,0,0,0,0,5,0,3,0,0,0,-5,5,0,0,0,-3,0,-5,0,0,0,0,3,0], "dice": [3, 1]}',
    '{"board":',
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_perft_names_the_line_it_cannot_read(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "positions.txt"
    file.write_text(f"{OPENING}\n{line}\n")
    status, out, err = run(capsys, "perft", str(file))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"tdgammon: {file}:3: ")
    assert repr(line)[1:-1] in err


def test_perft_counts_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # the opening roll 31 leaves 16 different boards
    board = tdgammon.START.tolist()
    file = tmp_path / "positions.jsonl"
    file.write_text(OPENING + json.dumps({"board": board, "dice": [1, 3], "n": 16}) + "\n")
    status, out, err = run(capsys, "perft", str(file), "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert (found["positions"], found["afterstates"], found["compared"]) == (2, 32, 1)
    assert found["different"] == 0
    file.write_text(json.dumps({"board": board, "dice": [1, 3], "n": 15, "hash": "0" * 16}) + "\n")
    status, out, _ = run(capsys, "perft", str(file))
    assert status == 1
    assert "line 1: n 16, expected 15" in out
    assert "line 1: hash" in out


def test_bench_looks_as_far_ahead_as_each_side_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("bench", "default", "default", "--ply", "1", "--ply-b", "0", "--games", "2", "--json")
    status, out, _ = run(capsys, *words)
    document = json.loads(out)
    assert status == 0
    assert document["a"] == "default,ply=1"
    assert document["b"] == "default,ply=0"


def test_bench_prints_exactly_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "bench", "random", "racer", "--games", "2", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["games"] == 2
    assert {"a", "b", "seed", "ppg", "ci95", "sides"} <= set(found)


@pytest.mark.parametrize("player", ["random", "default"])
def test_a_match_does_not_load_torch(player: str) -> None:
    done = in_new_process(
        code="import sys; from tdgammon.cli.main import main\n"
        f"status = main(['bench', {player!r}, 'random', '--games', '2'])\n"
        "sys.exit(status or ('torch was loaded' if 'torch' in sys.modules else 0))"
    )
    assert done.returncode == 0, done.stderr


def test_help_loads_neither_torch_nor_numba() -> None:
    done = in_new_process(
        code="import sys; from tdgammon.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit('loaded' if {'torch', 'numba'} & set(sys.modules) else 0)"
    )
    assert done.returncode == 0, done.stderr


def command(run: object) -> SimpleNamespace:
    return SimpleNamespace(__doc__="A command.", add_arguments=lambda parser: None, run=run)


def raising(error: BaseException) -> SimpleNamespace:
    def run(args: object) -> int:
        raise error

    return command(run)


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> object:
    """Puts a module in the place of the `perft` command."""

    def replace(module: SimpleNamespace) -> None:
        monkeypatch.setitem(sys.modules, cli.COMMANDS["perft"], module)

    return replace


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\nlines"), "two lines"),
        (FileNotFoundError(2, "No such file", "a.toml"), "a.toml: No such file"),
        (OSError("no device"), "no device"),
        (MemoryError("Unable to allocate 36 TiB"), "Unable to allocate 36 TiB"),
    ],
)
def test_expected_errors_are_one_line(replaced, error, line, capsys) -> None:
    replaced(raising(error))
    assert run(capsys, "perft") == (2, "", f"tdgammon: {line}\n")


def test_an_interrupt_is_one_line_and_status_130(replaced, capsys) -> None:
    replaced(raising(KeyboardInterrupt()))
    assert run(capsys, "perft") == (130, "", "tdgammon: interrupted\n")


def test_a_bug_shows_its_traceback(replaced) -> None:
    replaced(raising(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        cli.main(["perft"])


def test_the_status_of_a_command_is_passed_on(replaced) -> None:
    replaced(command(lambda args: 1))
    assert cli.main(["perft"]) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes close in another way here")
def test_a_reader_that_leaves_early_causes_no_complaint(tmp_path: Path) -> None:
    file = tmp_path / "positions.txt"
    file.write_text(OPENING)
    with subprocess.Popen(
        [sys.executable, "-m", "tdgammon", "perft", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == cli.PIPE_CLOSED


@pytest.fixture
def checkpoint_folder(tmp_path: Path) -> Path:
    """A checkpoint with random weights, written as training writes one."""
    architecture = Architecture(hidden=(4,))
    generator = np.random.default_rng(1)
    weights = {
        name: generator.standard_normal(shape).astype(np.float32)
        for name, shape in architecture.shapes.items()
    }
    folder = tmp_path / "some run"
    match = {"b": "pubeval", "ppg": 0.25, "ci95": 0.125, "games": 2000}
    checkpoint.write(
        folder,
        architecture,
        weights,
        games=1234,
        config={"learning": {"rate": 0.5}},
        bench=[match],
        commit=None,
    )
    return folder


def test_checkpoint_show_prints_what_the_document_says(checkpoint_folder, capsys) -> None:
    status, out, err = run(capsys, "checkpoint", "show", str(checkpoint_folder))
    assert (status, err) == (0, "")
    for words in ("1,234", "learning.rate = 0.5", "+0.250 +- 0.125 v pubeval (2,000 games)"):
        assert words in out
    status, out, _ = run(capsys, "checkpoint", "show", str(checkpoint_folder), "--json")
    assert (status, json.loads(out)["games"]) == (0, 1234)


def test_checkpoint_list_and_show_name_specialists(tmp_path, capsys) -> None:
    architecture = ARCHITECTURES["specialists"]
    facts = {"games": 1, "config": {}, "bench": [], "commit": None}
    checkpoint.write(tmp_path / "net", architecture, random_weights(architecture), **facts)
    assert "shots 11 specialists" in run(capsys, "checkpoint", "list", str(tmp_path))[1]
    found = run(capsys, "checkpoint", "show", str(tmp_path / "net"))[1]
    assert "shots, hidden [11], sigmoid, a network for each class of positions" in found


def test_checkpoint_list_finds_local_ones_and_says_which_are_damaged(checkpoint_folder, capsys) -> None:
    words = ("checkpoint", "list", str(checkpoint_folder.parent))
    status, out, _ = run(capsys, *words)
    assert status == 0
    assert f"{checkpoint_folder} " in out
    (weights,) = checkpoint_folder.glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1])
    status, out, _ = run(capsys, *words)
    assert status == 1
    assert "damaged" in out


def test_checkpoint_verify_compares_the_probabilities(checkpoint_folder, capsys) -> None:
    words = ("checkpoint", "verify", str(checkpoint_folder))
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    num_examples = len(json.loads((checkpoint_folder / "checkpoint.json").read_text())["examples"])
    assert f"{num_examples} positions agree" in out
    file = checkpoint_folder / checkpoint.DOCUMENT
    document = json.loads(file.read_text())
    document["examples"][0]["probabilities"][0] += 0.01
    file.write_text(json.dumps(document))
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
