"""Decision benchmarks: figures worked by hand, known results, and files that are not sound."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdgammon.bench.decisions import grade
from tdgammon.cli.main import main
from tdgammon.decide.cube import NeverDoubles
from tdgammon.game.board import checked_boards, flip, parse
from tdgammon.game.moves import afterstates

Write = Callable[[list[Any]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes objects (or text as it is) as lines of a file."""

    def write_lines(items: list[Any]) -> Path:
        path = tmp_path / "items.jsonl"
        lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
        path.write_text("".join(line + "\n" for line in lines))
        return path

    return write_lines


def checker(board: str, roll: tuple[int, int], losses: dict[int, float], **more: Any) -> dict[str, Any]:
    """An item whose candidate i, in the order of `afterstates`, loses losses[i], or 1.0."""
    rows, _ = afterstates(parse(board), roll)
    candidates = [
        {"board": flip(row).tolist(), "equity": 0.4 - losses.get(i, 1.0)} for i, row in enumerate(rows)
    ]
    candidates.sort(key=lambda each: -each["equity"])
    return {"board": parse(board).tolist(), "dice": list(roll), "candidates": candidates, **more}


class Fixed(NeverDoubles):
    """Gives the same probabilities whatever the board."""

    name = "fixed"

    def __init__(self, probabilities: list[float]) -> None:
        self.row, self.evaluator = np.array(probabilities, np.float32), self

    def choose(self, boards: Any, rolls: Any, stakes: Any = None) -> Any:
        raise AssertionError("a values file asks for no plays")

    def probabilities(self, boards: Any) -> Any:
        return np.tile(self.row, (len(checked_boards(boards)), 1))


def test_a_checker_file_is_graded_by_the_equity_lost(write: Write) -> None:
    # scripted_bots:first takes candidate 0 of each item
    path = write(
        [
            checker("start", (3, 1), {0: 0.02, 1: 0.0}, bucket="opening"),
            checker("start", (6, 5), {0: 0.0, 2: 0.5}, bucket="opening"),
            checker("6:3 5:2 / 20:2", (4, 1), {0: 0.10, 1: 0.0}, bucket="race"),
        ]
    )
    player = grade(path, ["scripted_bots:first"]).to_json()["players"][0]
    assert player["n"] == 3
    assert player["pr"] == pytest.approx(500 * 0.04)
    # losses 0.02 0 0.10: squared deviations 0.0004 0.0016 0.0036, sd = sqrt(0.0028)
    assert player["se"] == pytest.approx(500 * (0.0028 / 3) ** 0.5)
    assert player["best_share"] == pytest.approx(1 / 3)
    assert player["loss_02_share"] == pytest.approx(2 / 3)
    assert player["loss_08_share"] == pytest.approx(1 / 3)
    assert player["buckets"]["opening"]["n"] == 2
    assert player["buckets"]["opening"]["pr"] == pytest.approx(5)
    assert player["buckets"]["race"]["pr"] == pytest.approx(50)
    assert player["buckets"]["race"]["se"] is None


def test_two_players_are_compared_item_by_item(write: Write) -> None:
    path = write(
        [checker("6:1 1:1 / 24:2", (5, 1), {}), checker("3:2 1:2 / 24:2", (2, 1), {0: 0.0, 1: 0.2})]
    )
    first, other = grade(path, ["scripted_bots:first", "racer"]).to_json()["players"]
    assert "difference" not in first
    assert other["difference"]["from"] == "scripted_bots:first"
    assert other["difference"]["pr"] == pytest.approx(other["pr"] - first["pr"])
    same = grade(path, ["racer", "racer"]).to_json()["players"][1]
    assert same["difference"] == {"from": "racer", "pr": 0.0, "se": 0.0}


def test_a_values_file_is_graded_by_win_chance_and_equity(write: Write) -> None:
    board = parse("start").tolist()
    path = write(
        [
            {"board": board, "probs": [0.5, 0.1, 0.0, 0.1, 0.0], "bucket": "a"},
            {"board": board, "probs": [0.7, 0.2, 0.1, 0.1, 0.0], "bucket": "b"},
        ]
    )
    # win 0.6, win gammon 0.3, win bg 0.1, lose gammon 0.2: equity 0.2 + 0.3 + 0.1 - 0.2 = 0.4
    player = grade(path, [Fixed([0.1, 0.2, 0.3, 0.2, 0.2, 0.0])]).to_json()["players"][0]
    # truth: equity 0.0 and 0.4 + 0.2 + 0.1 - 0.1 = 0.6
    assert player["mae_win"] == pytest.approx(0.1, abs=1e-6)
    assert player["mae_equity"] == pytest.approx((0.4 + 0.2) / 2, abs=1e-6)
    assert player["bias_equity"] == pytest.approx((0.4 - 0.2) / 2, abs=1e-6)
    assert player["rmse_equity"] == pytest.approx(((0.16 + 0.04) / 2) ** 0.5, abs=1e-6)
    # |errors| 0.4 and 0.2: sd 0.141421, over sqrt(2)
    assert player["se"] == pytest.approx(0.1, abs=1e-6)
    assert player["buckets"]["b"]["mae_equity"] == pytest.approx(0.2, abs=1e-6)


def test_a_gzip_file_is_known_by_its_content(write: Write, tmp_path: Path) -> None:
    plain = write([checker("start", (3, 1), {0: 0.05, 1: 0.0})])
    packed = tmp_path / "packed.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    both = [grade(path, ["scripted_bots:first"]).grades[0].errors.tolist() for path in (plain, packed)]
    assert both[0] == both[1] == [pytest.approx(0.05)]


GOOD = checker("start", (3, 1), {})
VALUES = {"board": parse("start").tolist(), "probs": [0.5, 0.1, 0.0, 0.1, 0.0]}


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ([], "holds no decisions"),
        (["", GOOD, "{"], "line 3: no JSON"),
        ([GOOD, {"board": [0] * 26}], "line 2: no checker decision"),
        ([GOOD, VALUES], "line 2: no checker decision"),
        ([[1, 2]], r"line 1: no decision.*\[1, 2\]"),
        ([{**GOOD, "candidates": []}], "line 1: "),
        ([{**GOOD, "candidates": 3}], "line 1: "),
        ([{**GOOD, "candidates": None}], "line 1: "),
        ([{**GOOD, "candidates": [{"board": [0] * 26}]}], "line 1: "),
        ([{k: v for k, v in GOOD.items() if k != "dice"}], "line 1: 'dice' is missing"),
        ([{**GOOD, "dice": [0, 7]}], "line 1: rolls: dice must be 1 to 6"),
        ([{**GOOD, "dice": "31"}], "line 1: "),
        ([{**GOOD, "board": [1] * 26}], "line 1: boards: "),
        ([{**GOOD, "board": [[0] * 26, [0] * 3]}], "line 1: "),
        ([{**GOOD, "board": [10**30] + [0] * 25}], "line 1: "),
        ([VALUES, {**VALUES, "probs": [0.5]}], "line 2: 5 numbers expected"),
        (
            [VALUES, {**VALUES, "probs": [0.5, 0, 0, 0, float("nan")]}],
            "line 2: finite numbers expected",
        ),
    ],
)
def test_a_line_that_is_not_sound_is_quoted_by_file_and_number(
    write: Write, items: list[Any], fault: str
) -> None:
    path = write(items)
    with pytest.raises(ValueError, match=fault) as caught:
        grade(path, [Fixed([1, 0, 0, 0, 0, 0]) if VALUES in items else "racer"])
    assert str(caught.value).startswith(str(path))


def test_a_choice_that_is_no_candidate_is_quoted(write: Write) -> None:
    item = checker("start", (3, 1), {0: 0.0})
    item["candidates"] = item["candidates"][1:]  # without the one that `first` plays
    with pytest.raises(ValueError, match=r"line 1: 'scripted_bots:first' chose .* with \[3, 1\]"):
        grade(write([item]), ["scripted_bots:first"])


def test_a_truncated_or_binary_file_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    noise = json.dumps({**GOOD, "note": rng.bytes(20000).hex()}).encode() + b"\n"
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(noise * 3)[:15000])
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(noise)[:100] + bytes(200))
    for path in (cut, binary, damaged):
        with pytest.raises(ValueError, match=f"{path.name}: line "):
            grade(path, ["racer"])


CUBE = {
    "board": parse("start").tolist(),
    "cube_value": 1,
    "cube_owner": "centered",
    "jacoby": False,
    "away": None,
    "crawford": False,
    "beavers": False,
    "nd": 0.6,
    "dt": 0.9,
    "dp": 1.0,
    "probs_even": [0.5, 0.1, 0, 0.1, 0],
    "probs_strong": [0.9, 0, 0, 0, 0],
}


def test_the_cost_of_cube_decisions_is_worked_by_hand(write: Write) -> None:
    items = [CUBE, {**CUBE, "nd": 1.2, "dt": 1.6}, {**CUBE, "nd": 0.3, "dt": -0.4, "bucket": "a"}]
    players = grade(write(items), ["probs_even", "probs_strong", "racer"]).to_json()["players"]
    even, strong, racer = players  # the racer counts pips: level here, no double and take
    # does not double, takes: 0.3; too good: right, the take is right to ask and costs 0.6; nothing
    assert even["mean_cost"] == pytest.approx((0.3 + 0.6 + 0) / 3)
    # doubles, passes: 0.1; doubles 0.2, pass is right; doubles 0.7, which is too bad to ask for a take
    assert strong["mean_cost"] == pytest.approx((0.1 + 0.2 + 0.7) / 3)
    assert strong["double_cost"] == pytest.approx((0.2 + 0.7) / 3)
    assert strong["take_cost"] == pytest.approx(0.1 / 2)
    assert racer["mean_cost"] == pytest.approx(even["mean_cost"])
    assert strong["difference"]["mean_cost"] == pytest.approx(0.1 / 3)
    assert strong["buckets"]["a"]["mean_cost"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cube_owner": "opponent"}, "cube_owner: centered or player expected, got 'opponent'"),
        ({"cube_value": 3}, "cube: a power of 2 .*expected, got 3"),
        ({"away": [0, 2]}, "away: .*two numbers above 0"),
        ({"jacoby": 1}, "jacoby: true or false expected, got 1"),
        ({"beavers": True}, "beavers: false expected"),
        ({"board": [0] * 25}, "board"),
        ({"cube_value": 2.5}, "cube: a power of 2 .* got 2.5"),
        ({"cube_value": 8192}, "cube: a power of 2 up to 4096 expected, got 8192"),
        ({"away": [2.5, 3]}, r"away: .* got \[2.5, 3\]"),
        ({"away": []}, r"away: .* got \[\]"),
        ({"away": [65, 3]}, "away: .* up to 64"),
        ({"away": [5, 5], "crawford": True}, r"crawford: one side 1 point away expected, got \[5, 5\]"),
        ({"nd": float("nan")}, "finite numbers expected"),
        ({"dt": "0.9"}, "3 numbers expected"),
        ({"dp": True}, "3 numbers expected"),
        ({"cube_owner": []}, r"cube_owner: .* got \[\]"),
    ],
)
def test_a_cube_item_that_is_not_sound_is_refused_with_its_line(
    write: Write, change: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ValueError, match=f"line 2: .*{fault}"):
        grade(write([CUBE, {**CUBE, **change}]), ["racer"])


def test_a_field_of_chances_is_a_player_for_cube_files_that_have_it(write: Write) -> None:
    with pytest.raises(ValueError, match="'probs_odd': not every item has five chances"):
        grade(write([CUBE]), ["probs_odd"])
    with pytest.raises(ValueError, match=r"'probs_even': .* for cube files only"):
        grade(write([VALUES]), ["probs_even"])


@pytest.mark.parametrize(
    "chances", [5, None, ["a"] * 5, [0.5, 0.1], [float("nan")] * 5, [0.5, 0.6, 0, 0, 0], [10**400] * 5]
)
def test_chances_that_cannot_be_are_refused(write: Write, chances: Any) -> None:
    with pytest.raises(ValueError, match=r"player 'probs_even': .* expected, got"):
        grade(write([{**CUBE, "probs_even": chances}]), ["probs_even"])
    with pytest.raises(ValueError, match=r"line 1: .* expected, got"):
        grade(write([{**VALUES, "probs": chances}]), ["racer"])


def test_a_line_of_brackets_in_brackets_is_refused(write: Write) -> None:
    with pytest.raises(ValueError, match="line 1: no JSON"):
        grade(write(["[" * 100_000]), ["racer"])


def test_never_doubling_has_its_known_cost_on_the_open_cube_file(shared: Path) -> None:
    report = grade(shared / "data" / "bench_cube_open.jsonl.gz", ["random", "probs_gnubg"])
    never, formulas = report.to_json()["players"]
    assert never["n"] == 500
    assert never["mean_cost"] == pytest.approx(0.25660, abs=1e-5)
    assert never["take_cost"] == pytest.approx(0.24059, abs=1e-5)
    assert never["wrong_double_share"] == pytest.approx(0.492)
    assert formulas["mean_cost"] < 0.0071  # what GNU Backgammon's static player costs


def test_a_player_without_probabilities_cannot_do_a_values_file(write: Write) -> None:
    with pytest.raises(ValueError, match="player 'racer' gives no probabilities"):
        grade(write([VALUES]), ["racer"])


def test_a_missing_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--decisions", "no/such/file.gz", "racer"]) == 2
    assert capsys.readouterr().err == "tdgammon: no/such/file.gz: No such file or directory\n"


def test_games_have_no_meaning_for_decisions(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--decisions", str(write([GOOD])), "racer", "--games", "10"]) == 2
    assert "--games has no meaning with --decisions" in capsys.readouterr().err


def test_plays_are_graded_by_another_truth_where_the_file_has_it(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    item = checker("start", (3, 1), {0: 0.05, 1: 0.0})
    for each in item["candidates"]:
        each["deeper"] = -each["equity"]
    path = write([item])
    worst = grade(path, ["scripted_bots:first"], truth="deeper").to_json()["players"][0]
    assert worst["pr"] == pytest.approx(500 * (1.0 - 0.05))
    words = ["bench", "--decisions", str(path), "racer", "--truth"]
    assert main([*words, "deeper"]) == 0
    assert main([*words, "gnubg"]) == 2
    assert "line 1: 'gnubg' is missing" in capsys.readouterr().err
    assert main(["bench", "random", "racer", "--truth", "deeper"]) == 2
    assert "--truth 'deeper': has no meaning without --decisions" in capsys.readouterr().err
    values = write([{"board": parse("start").tolist(), "probs": [0.5, 0, 0, 0, 0]}])
    with pytest.raises(ValueError, match="truth 'deeper': only the plays"):
        grade(values, ["default"], truth="deeper")


def test_the_command_prints_a_table_or_one_json_document(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write([checker("start", (3, 1), {0: 0.05, 1: 0.0}, bucket="opening"), GOOD])
    words = ["bench", "--decisions", str(path), "scripted_bots:first", "racer"]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == str(path)
    assert document["kind"] == "checker"
    assert [p["name"] for p in document["players"]] == ["scripted_bots:first", "racer"]
    assert {"n", "pr", "se", "cpu_ms_per_decision", "buckets"} <= set(document["players"][0])
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "2 checker items" in out
    assert "racer less scripted_bots:first" in out
    assert "opening" in out


def test_a_searching_player_is_graded_at_its_ply_on_plays_and_values(write: Write) -> None:
    # 27 of 36 throws bear the last checker off, and if not, the opponent is off: 2-ply is exact
    probs = [0.75, 0, 0, 0, 0]
    path = write([{"board": parse("6:1 / 24:1").tolist(), "probs": probs}])
    player = grade(path, ["default,ply=2"]).to_json()["players"][0]
    assert player["mae_equity"] == pytest.approx(0, abs=1e-6)
    plays = write([checker("24:1 / 19:2 20:2", (6, 5), {0: 0.0}), checker("start", (3, 1), {})])
    assert grade(plays, ["default,ply=1"]).to_json()["players"][0]["n"] == 2


# Known results: the table in ../shared/data/README.md.


def test_pubeval_has_its_known_figures_on_the_open_plays(shared: Path) -> None:
    player = grade(shared / "data" / "bench_checker_open.jsonl.gz", ["pubeval"]).to_json()["players"][0]
    assert player["n"] == 2379
    assert player["pr"] == pytest.approx(20.17, abs=0.01)
    assert player["se"] == pytest.approx(0.91, abs=0.01)
    assert player["best_share"] == pytest.approx(0.474, abs=0.001)
    assert player["loss_02_share"] == pytest.approx(0.372, abs=0.001)
    assert player["loss_08_share"] == pytest.approx(0.145, abs=0.001)
    known = {"opening": 7.08, "middle": 23.31, "race": 2.17, "containment": 21.60}
    assert {name: player["buckets"][name]["pr"] for name in known} == pytest.approx(known, abs=0.01)


@pytest.mark.parametrize(("half", "pr"), [("bgsage", 20.45), ("gnubg", 20.09)])
def test_pubeval_has_its_known_rating_by_each_half_of_the_truth(
    shared: Path, half: str, pr: float
) -> None:
    report = grade(shared / "data" / "bench_checker_open.jsonl.gz", ["pubeval"], truth=half)
    assert report.to_json()["players"][0]["pr"] == pytest.approx(pr, abs=0.01)


def test_random_has_its_known_rating_on_the_open_plays(shared: Path) -> None:
    player = grade(shared / "data" / "bench_checker_open.jsonl.gz", ["random"]).to_json()["players"][0]
    # another random choice than theirs, on the same items: three standard errors
    assert abs(player["pr"] - 126.74) < 3 * 3.01


def test_the_open_values_file_is_read(shared: Path) -> None:
    player = Fixed([0, 0.15, 0.35, 0.35, 0.15, 0])
    found = grade(shared / "data" / "bench_values_open.jsonl.gz", [player]).to_json()
    assert found["kind"] == "values"
    assert found["players"][0]["n"] == 3000
    assert sum(bucket["n"] for bucket in found["players"][0]["buckets"].values()) == 3000
