"""Bots: what each of them chooses, and who is found under which name."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import reference
from positions import from_random_play
from reference import Board, flipped

from tdgammon.decide import golden, pubeval
from tdgammon.decide.bots import BOTS, Bot, NetworkBot, bot
from tdgammon.game.board import START, Boards, flip, parse
from tdgammon.game.moves import afterstates
from tdgammon.value import checkpoint
from tdgammon.value.tables import Architecture

NUMBERS = json.loads(Path(pubeval.__file__).with_name("pubeval.json").read_text())


def positions_met(num_positions: int, seed: int) -> tuple[Boards, Boards]:
    """Boards and rolls from random play."""
    met = list(from_random_play(random.Random(seed), num_positions))
    return np.array([b for b, _ in met], np.int8), np.array([r for _, r in met], np.int8)


def chosen_by(player: Bot | str, board: str, roll: tuple[int, int]) -> Boards:
    """The afterstate chosen, in the mover's own view."""
    return flip(bot(player).choose(parse(board), roll)[0])


def pubeval_value(is_race: bool, board: Board) -> float:
    """Value of an afterstate in the mover's own view, written from the published description."""
    w = NUMBERS["race" if is_race else "contact"]
    off = 15 - sum(n for n in board if n > 0)
    if off == 15:
        return float("inf")
    value: float = w[120] * -board[0] / 2 + w[121] * off / 15
    for j in range(24):
        n = board[24 - j]
        value += w[5 * j] * (n == -1) + w[5 * j + 1] * (n == 1) + w[5 * j + 2] * (n >= 2)
        value += w[5 * j + 3] * (n == 3) + w[5 * j + 4] * (n - 3) / 2 * (n > 3)
    return value


def race_before(board: Board) -> bool:
    own = [p for p in range(26) if board[p] > 0]
    opposing = [p for p in range(26) if board[p] < 0]
    return not board[0] and not board[25] and max(own) < min(opposing)


def test_pubeval_chooses_the_highest_value_of_the_published_description() -> None:
    boards, rolls = positions_met(1500, seed=1)
    boards = np.concatenate([boards, [parse("9:2 6:3 3:4 / 12:1 19:5 24:2"), parse("3:2 1:1 / 24:3")]])
    rolls = np.concatenate([rolls, [[6, 1], [2, 1]]])
    chosen = bot("pubeval").choose(boards, rolls)
    kinds = Counter()
    for board, roll, choice in zip(boards.tolist(), rolls.tolist(), chosen.tolist(), strict=True):
        is_race = race_before(tuple(board))
        kinds[is_race] += 1
        # the reference gives afterstates flipped
        values = {
            row: pubeval_value(is_race, flipped(row))
            for row in reference.afterstates(tuple(board), (roll[0], roll[1]))
        }
        assert values[tuple(choice)] == pytest.approx(max(values.values()), abs=1e-9)
    assert min(kinds.values()) > 100


def test_pubeval_takes_the_win_whatever_the_weights_say() -> None:
    assert not (chosen_by("pubeval", "2:1 1:1 / 24:2", (2, 1)) > 0).any()
    assert not (chosen_by("pubeval", "6:2 / bar:1 1:2", (6, 6)) > 0).any()


def test_pubeval_has_the_published_numbers(shared: Path) -> None:
    published = json.loads((shared / "data" / "pubeval_weights.json").read_text())
    assert {kind: published[kind] for kind in ("contact", "race")} == NUMBERS


def test_racer_wastes_no_pip() -> None:
    # 3/off 1/off or 3/off 2/1 leaves two pips; 3/2/off would leave three
    left = chosen_by("racer", "3:1 2:1 1:1 / 24:2", (3, 1))
    assert sum(place * max(int(count), 0) for place, count in enumerate(left)) == 2


def test_racer_moves_its_rearmost_checker_where_pips_are_equal() -> None:
    assert chosen_by("racer", "start", (6, 5))[24] == 1


def test_racer_leaves_the_lowest_pip_count_that_a_roll_allows() -> None:
    boards, rolls = positions_met(300, seed=2)
    for board, roll, choice in zip(boards, rolls, bot("racer").choose(boards, rolls), strict=True):
        rows, _ = afterstates(board, roll)
        pips = np.maximum(flip(rows), 0) @ np.arange(26)
        assert np.maximum(flip(choice), 0) @ np.arange(26) == pips.min()


def test_random_picks_every_afterstate_equally_often() -> None:
    rows, _ = afterstates(START, (6, 4))
    num_seeds = 200 * len(rows)
    counts = Counter(
        bot(f"random,seed={seed}").choose(START, (6, 4))[0].tobytes() for seed in range(num_seeds)
    )
    chi_square = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert len(counts) == len(rows)
    # mean k - 1, variance 2 (k - 1): five standard deviations
    freedom = len(rows) - 1
    assert abs(chi_square - freedom) < 5 * (2 * freedom) ** 0.5


def test_random_depends_on_seed_board_and_roll_but_not_on_the_order_of_the_dice() -> None:
    boards, rolls = positions_met(200, seed=3)
    default = bot("random").choose(boards, rolls)
    np.testing.assert_array_equal(default, bot("random,seed=0").choose(boards, rolls[:, ::-1]))
    other = bot("random,seed=5").choose(boards, rolls)
    assert (default != other).any(axis=1).sum() > 50


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_plays_legally_and_the_same_in_a_batch_and_alone(name: str) -> None:
    player = bot(name)
    boards, rolls = positions_met(150, seed=4)
    before = boards.copy(), rolls.copy()
    chosen = player.choose(boards, rolls)
    np.testing.assert_array_equal(boards, before[0])
    np.testing.assert_array_equal(rolls, before[1])
    assert chosen.dtype == np.int8
    for board, roll, choice in zip(boards, rolls, chosen, strict=True):
        assert tuple(choice.tolist()) in reference.afterstates(
            tuple(board.tolist()), tuple(roll.tolist())
        )
        np.testing.assert_array_equal(player.choose(board, roll), choice[None])
    assert player.choose(boards[:0], rolls[:0]).shape == (0, 26)


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_takes_read_only_boards_and_refuses_impossible_ones(name: str) -> None:
    assert bot(name).choose(START, (3, 1)).shape == (1, 26)
    with pytest.raises(ValueError, match="dice must be 1 to 6"):
        bot(name).choose(START, (7, 1))
    with pytest.raises(ValueError, match="more than 15 checkers"):
        bot(name).choose([0, *[1] * 16, *[0] * 9], (3, 1))


def golden_terms(board: str, bar_before: int = 0) -> dict[str, float]:
    """Terms of an afterstate given in the mover's own view, without those that are 0."""
    found = golden.terms(flip(parse(board))[None], np.array([bar_before], np.int8))
    return {name: float(term[0]) for name, term in found.items() if term[0]}


def test_golden_tells_blots_in_reach_from_blots_out_of_reach() -> None:
    # the enemy on 2 is 7 pips behind 9 and 8 pips behind 10; nothing is behind the blot on 1
    terms = golden_terms("10:1 9:1 1:1 / 2:2 24:2")
    assert terms["blots"] == 2
    assert terms["blots_in_reach"] == 1
    assert terms["pips_in_reach"] == 25 - 9


def test_golden_counts_an_enemy_on_the_bar_as_behind_every_blot() -> None:
    terms = golden_terms("8:1 7:1 / bar:1 24:2", bar_before=1)
    assert terms["blots"] == 2
    assert terms["blots_in_reach"] == 1
    assert "safe_hits" not in terms
    assert "exposed_hits" not in terms


def test_golden_counts_points_at_home_and_anchors_and_stacks() -> None:
    terms = golden_terms("23:2 13:4 6:5 5:2 3:2 / 1:2 24:2")
    assert terms["points"] == 5
    assert terms["home_points"] == 3
    assert terms["anchors"] == 1
    assert terms["stacked"] == (4 - 3) + (5 - 3)
    assert "blots" not in terms


def test_golden_prefers_two_on_four_points_to_four_on_two() -> None:
    weights = golden.Weights()
    spread, heaped = golden_terms("14:2 13:2 12:2 11:2 / 1:2"), golden_terms("13:4 12:4 / 1:2")
    value = [
        sum(getattr(weights, name) * x for name, x in t.items() if name not in ("pips", "outside"))
        for t in (spread, heaped)
    ]
    assert value[0] > value[1]


def test_golden_tells_safe_hits_from_exposed_ones() -> None:
    assert golden_terms("8:2 6:2 / bar:2 24:2", bar_before=1)["safe_hits"] == 1
    terms = golden_terms("8:2 6:1 / bar:2 24:2")
    assert terms["exposed_hits"] == 2
    assert "safe_hits" not in terms


def test_golden_does_not_hit_where_that_leaves_a_blot_to_a_return_hit() -> None:
    # 6/4* with the 2 would leave blots on 4 and 6 in front of the bar; 13/11 13/10 or others do not
    loose = chosen_by("golden", "13:5 8:3 6:2 / 4:1 12:5 19:5 24:4", (2, 2))
    assert loose[4] != 1


def test_golden_looks_at_the_race_alone_once_contact_is_over() -> None:
    terms = golden_terms("7:2 6:4 1:1 / 12:2")
    assert terms == {"off": 8, "pips": 39, "outside": 2}


def test_golden_bears_off_when_it_can() -> None:
    left = chosen_by("golden", "6:2 5:2 4:2 2:1 1:1 / 24:5", (6, 5))
    assert int(left[left > 0].sum()) == 6


def test_golden_wins_when_it_can() -> None:
    assert not (chosen_by("golden", "3:2 1:2 / 20:3", (3, 3)) > 0).any()


def test_every_golden_rule_has_a_weight_and_a_term() -> None:
    names = set(golden.terms(afterstates(START, (3, 1))[0], np.zeros(1, np.int8)))
    assert names == set(golden.Weights.__dataclass_fields__)


def test_a_bot_is_found_by_name_and_a_bot_is_its_own_player() -> None:
    assert [bot(name).name for name in BOTS] == list(BOTS)
    assert bot("random,seed=5").name == "random,seed=5"
    player = bot("racer")
    assert bot(player) is player


@pytest.mark.parametrize(
    ("player", "fault"),
    [
        ("nobody", r"unknown player 'nobody'.*random, racer, golden, pubeval"),
        ("", "unknown player ''"),
        ("pubeval,seed=1", "pubeval takes no settings, got 'seed=1'"),
        ("random,ply=2", "got 'ply=2'"),
        ("random,seed=x", "seed must be .* got 'x'"),
        ("random,seed=-1", "seed must be .* got '-1'"),
        ("no_such_module_here:f", "no_such_module_here"),
        ("scripted_bots:missing", "missing"),
        ("scripted_bots:NO_FUNCTION", "no function, got 3"),
    ],
)
def test_an_unknown_player_is_refused_and_quoted(player: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        bot(player)


def test_what_is_no_player_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a name or a bot, got 3"):
        bot(3)  # type: ignore[arg-type]


def test_a_function_plays_what_it_returns() -> None:
    boards, rolls = positions_met(50, seed=5)
    rows, offsets = afterstates(boards, rolls)
    np.testing.assert_array_equal(bot("scripted_bots:first").choose(boards, rolls), rows[offsets[:-1]])


def test_a_function_cannot_change_the_boards_it_is_given() -> None:
    boards, rolls = positions_met(50, seed=5)
    before = boards.copy(), rolls.copy()
    bot("scripted_bots:vandal").choose(boards, rolls)
    np.testing.assert_array_equal(boards, before[0])
    np.testing.assert_array_equal(rolls, before[1])


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        ("unflipped", r"\[.*\] is no legal afterstate of \[0, -2, .*\] with \[3, 1\]"),
        ("too_few", r"expected afterstates \[1, 26\], got int8 \[0, 26\]"),
        ("nothing", "got object .*None"),
        ("ragged", "expected afterstates, got"),
        ("shy", r"expected afterstates, got Shy\(\)"),
        ("failing", r"'scripted_bots:failing': KeyError: 'spam' \(scripted_bots.py:\d+\)"),
        ("unfinished", r"AttributeError: .*spam.* \(scripted_bots.py:\d+\)"),
        ("leaving", r"SystemExit: 0 \(scripted_bots.py:\d+\)"),
    ],
)
def test_an_answer_that_is_no_legal_afterstate_is_quoted(function: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        bot(f"scripted_bots:{function}").choose(START, (3, 1))


def test_a_module_that_cannot_be_imported_is_one_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "half_written.py").write_text("def choose(:\n")
    (tmp_path / "divides.py").write_text("1 / 0\n")
    with pytest.raises(
        ValueError, match=r"player 'half_written:choose': SyntaxError: .*half_written.py, line 1\)$"
    ):
        bot("half_written:choose")
    with pytest.raises(ValueError, match=r"ZeroDivisionError: .* \(divides.py:1\)"):
        bot("divides:choose")


def test_what_a_function_prints_stays_off_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    bot("scripted_bots:talking").choose(START, (3, 1))
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "thinking\n")


@pytest.fixture
def make_checkpoint(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        architecture = Architecture(hidden=(8,))
        rng = np.random.default_rng(7)
        weights = {
            name: rng.normal(0, 0.3, shape).astype(np.float32)
            for name, shape in architecture.shapes.items()
        }
        path = tmp_path / "small"
        checkpoint.write(path, architecture, weights, games=0, config={}, bench=[], commit=None)
        return path

    return make


def test_a_checkpoint_plays_under_the_path_of_its_folder(make_checkpoint: Callable[[], Path]) -> None:
    path = make_checkpoint()
    player = bot(str(path))
    assert isinstance(player, NetworkBot)
    assert player.name == str(path)
    assert player.sha256 == checkpoint.read(path).sha256
    boards, rolls = positions_met(100, seed=6)
    for board, roll, choice in zip(boards, rolls, player.choose(boards, rolls), strict=True):
        rows, _ = afterstates(board, roll)
        # the opponent is on roll in an afterstate: the lowest equity is the best
        equities = player.evaluator.equity(rows)
        mine = player.evaluator.equity(choice)[0]
        assert mine == pytest.approx(equities.min(), abs=1e-5)


def test_a_damaged_checkpoint_is_refused(make_checkpoint: Callable[[], Path]) -> None:
    path = make_checkpoint()
    for weights in path.glob("*.safetensors"):
        weights.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="damaged"):
        bot(str(path))
