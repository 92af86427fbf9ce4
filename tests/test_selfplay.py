"""Self-play: the games of the fused kernel are those of a slow twin, whoever plays them."""

from concurrent.futures import ThreadPoolExecutor

import networks
import numpy as np
import pytest
import reference
from networks import ARCHITECTURES, random_weights

from tdgammon.game.board import START, parse
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS, rolls_at
from tdgammon.game.rules import STANDARD
from tdgammon.kernels import selfplay as kernel
from tdgammon.learn.selfplay import (
    BLOCK_GAMES,
    ExactSettings,
    Work,
    _packed,
    _unpacked,
    begin,
    in_blocks,
    join,
    play_block,
    with_exact_targets,
)
from tdgammon.learn.targets import NEAR, rivals
from tdgammon.value.evaluator import NetworkEvaluator
from tdgammon.value.outcome import VALUES
from tdgammon.value.tables import Architecture

SEED = 77
NEAR_TIE = 1e-5
"""Points by which rounding to float32 may let the second best play pass for the best."""


def player(name):
    return NetworkEvaluator(ARCHITECTURES[name], random_weights(ARCHITECTURES[name]))


def compare_with_the_twin(name, num_games, first=0):
    """Check every turn of some games; how many choices there were and how many were the twin's."""
    architecture, weights = ARCHITECTURES[name], random_weights(ARCHITECTURES[name])
    games = play_block(
        NetworkEvaluator(architecture, weights), begin(STANDARD, SEED, num_games, first), 3000
    )
    assert games.num_dropped == 0
    assert games.num_games == num_games
    num_choices = num_equal = row = 0
    for game, length in enumerate(games.lengths):
        key = reference.stream_key(SEED, first + game)
        assert tuple(games.boards[row].tolist()) == reference.START
        assert not games.probabilities[row].any()
        for turn in range(length - 1):
            board = tuple(games.boards[row + turn].tolist())
            assert networks.outcome(board) is None, "a game goes on after its end"
            after = sorted(reference.afterstates(board, reference.roll(key, turn)))
            seen = networks.probabilities(after, architecture, weights)
            equities = -seen @ VALUES.astype(np.float64)
            choice = after.index(tuple(games.boards[row + turn + 1].tolist()))
            assert equities[choice] >= equities.max() - NEAR_TIE
            assert games.probabilities[row + turn + 1] == pytest.approx(seen[choice], abs=1e-5)
            num_choices += 1
            num_equal += equities[choice] == equities.max()
        row += length
        assert games.last_rows[game] == row - 1
        end = networks.outcome(games.boards[row - 1].tolist())
        assert end is not None, "a game has no end"
        assert games.probabilities[row - 1].tolist() == end
    assert row == len(games.boards) == len(games.probabilities)
    return num_choices, num_equal


@pytest.mark.parametrize("name", ["tesauro-relu", "counts-sigmoid", "windows-relu"])
def test_games_equal_those_of_the_slow_twin(name):
    num_choices, num_equal = compare_with_the_twin(name, 2)
    assert num_equal >= 0.999 * num_choices


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_many_games_equal_those_of_the_slow_twin(name):
    num_choices, num_equal = compare_with_the_twin(name, 20, first=1000)
    assert num_equal >= 0.999 * num_choices


def test_all_results_and_sizes_of_them_come_up_and_are_counted_by_the_twin():
    games = play_block(player("counts-relu"), begin(STANDARD, SEED, 350), 3000)
    for row in games.last_rows:
        assert games.probabilities[row].tolist() == networks.outcome(games.boards[row].tolist())
    by_size = games.probabilities[games.last_rows].sum(axis=0)
    assert by_size[:3].sum() == 0, "the winner has just played, so the player on roll has lost"
    assert (by_size[3:] > 0).all()
    on_the_bar = (games.boards[games.last_rows][:, 25] > 0) & (
        games.probabilities[games.last_rows, 5] == 1
    )
    assert on_the_bar.any(), "no backgammon with a checker on the bar"


def same(one, other):
    return (
        np.array_equal(one.boards, other.boards)
        and np.array_equal(one.probabilities, other.probabilities)
        and np.array_equal(one.lengths, other.lengths)
        and one.num_dropped == other.num_dropped
    )


def all_games(num_helpers, num_games=70, max_turns=120, reverse=False):
    net = player("tesauro-relu")
    begun = in_blocks(begin(STANDARD, SEED, num_games, 5))
    with ThreadPoolExecutor(4) as pool:
        work = Work(
            pool, 0 if reverse else num_helpers, lambda block: play_block(net, block, max_turns), begun
        )
        if reverse:
            work._todo.reverse()
        return join(work.finish())


@pytest.mark.parametrize("num_games", [1, BLOCK_GAMES, 70])
def test_games_do_not_depend_on_the_number_of_threads_or_the_order_of_blocks(num_games):
    alone = all_games(0, num_games)
    assert alone.num_games + alone.num_dropped == num_games
    for helpers in (1, 2, 4):
        assert same(alone, all_games(helpers, num_games))
    assert same(alone, all_games(0, num_games, reverse=True))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_thread_of_its_own_changes_no_bit(name):
    # threads have heaps of their own: loops that looked at where their arrays lie rounded otherwise
    keys, net = begin(STANDARD, SEED, 4, 90), player(name)
    with ThreadPoolExecutor(1) as pool:
        assert same(play_block(net, keys, 500), pool.submit(play_block, net, keys, 500).result())


def test_a_game_does_not_depend_on_those_played_beside_it():
    keys = begin(STANDARD, SEED, 12)
    together = play_block(player("counts-relu"), keys, 3000)
    assert same(
        together, join(play_block(player("counts-relu"), keys[i : i + 1], 3000) for i in range(12))
    )
    assert not same(together, play_block(player("counts-relu"), begin(STANDARD, SEED + 1, 12), 3000))


def test_games_that_take_too_long_are_dropped_and_counted():
    keys = begin(STANDARD, SEED, 40)
    full = play_block(player("tesauro-relu"), keys, 3000)
    max_turns = int(np.median(full.lengths)) - 1
    cut = play_block(player("tesauro-relu"), keys, max_turns)
    short = full.lengths - 1 <= max_turns
    assert 0 < cut.num_dropped == (~short).sum() < 40
    assert cut.lengths.tolist() == full.lengths[short].tolist()
    rows = np.repeat(short, full.lengths)
    assert (cut.boards == full.boards[rows]).all()
    assert (cut.probabilities == full.probabilities[rows]).all()


def test_a_game_of_exactly_the_most_turns_counts():
    keys = begin(STANDARD, SEED, 1)
    num_turns = int(play_block(player("tesauro-relu"), keys, 3000).lengths[0]) - 1
    assert play_block(player("tesauro-relu"), keys, num_turns).num_games == 1
    assert play_block(player("tesauro-relu"), keys, num_turns - 1).num_games == 0


def test_a_batch_of_which_every_game_is_dropped_is_empty():
    games = play_block(player("tesauro-relu"), begin(STANDARD, SEED, 3), 2)
    assert (games.num_games, games.num_dropped, len(games.boards)) == (0, 3, 0)
    assert len(games.last_rows) == 0
    assert all_games(1, max_turns=2).num_dropped == 70


def test_nothing_is_written_beyond_the_rows_that_were_asked_for():
    begun = begin(STANDARD, SEED, 6)
    max_turns = 60
    guard = 50
    capacity = len(begun.keys) * (max_turns + 2)
    boards = np.full((capacity + guard, 26), 99, np.int8)
    chances = np.full((capacity + guard, 6), 99, np.float32)
    lengths = np.empty(len(begun.keys), np.int32)
    net = player("tesauro-relu").network
    used = kernel.play_games(
        begun.boards,
        begun.first_turns,
        begun.keys,
        net,
        VALUES,
        max_turns,
        False,
        boards,
        chances,
        lengths,
    )
    assert used == lengths.sum()
    assert (boards[capacity:] == 99).all()
    assert (chances[capacity:] == 99).all()


def test_a_share_of_games_begins_from_boards_of_kinds_with_any_roll():
    plain, mixed = begin(STANDARD, SEED, 4000, 7), begin(STANDARD, SEED, 4000, 7, from_kinds=0.25)
    from_kind = mixed.first_turns == 1
    assert (plain.boards == START).all()
    assert not plain.first_turns.any()
    assert (plain.keys == mixed.keys).all()
    # 4000 draws of chance 0.25: standard deviation 27
    assert abs(from_kind.sum() - 1000) < 4 * 27
    assert (mixed.boards[~from_kind] == START).all()
    assert (mixed.boards[from_kind] != START).any(axis=1).all()
    rolls = rolls_at(mixed.keys[from_kind], mixed.first_turns[from_kind])
    assert (rolls[:, 0] == rolls[:, 1]).any(), "doubles may come first"
    games = play_block(player("counts-relu"), mixed[:40], 3000)
    begun = mixed.boards[:40]
    firsts = games.boards[games.last_rows - games.lengths + 1]
    assert games.num_dropped == 0
    assert (firsts == begun).all()


def test_begun_games_are_the_same_again_and_others_with_another_first_game():
    one, again, other = (begin(STANDARD, SEED, 50, first, 0.5) for first in (3, 3, 4))
    assert (one.boards == again.boards).all()
    assert (one.boards != other.boards).any()


def test_exact_targets_are_the_mean_over_rolls_of_a_share_of_games():
    net = player("counts-relu")
    games = play_block(net, begin(STANDARD, SEED, 60), 3000)
    exact = with_exact_targets(games, net, ExactSettings(share=0.2), 3000, seed=3)
    met = {board.tobytes() for board in games.boards[games.goes_on]}
    # 60 draws of chance 0.2: standard deviation 3.1; every game passes the start
    num_games = (exact.exact_boards == START).all(axis=1).sum()
    assert abs(num_games - 12) < 3 * 3.1
    assert all(board.tobytes() in met for board in exact.exact_boards)
    for board, target in list(zip(exact.exact_boards, exact.exact_targets, strict=True))[::29]:
        assert target == pytest.approx(mean_over_rolls(net, board), abs=2e-6)


def mean_over_rolls(net, board):
    mean = np.zeros(6)
    for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
        mean += weight * net.probabilities(net.choose(board, roll))[0][::-1]
    return mean


def test_with_lambda_1_an_exact_target_is_the_result_less_the_luck_of_the_rolls():
    net = player("counts-relu")
    games = play_block(net, begin(STANDARD, SEED, 3), 3000)
    exact = with_exact_targets(games, net, ExactSettings(share=1, lambda_=1), 3000, seed=3)
    going_on = np.flatnonzero(games.goes_on)
    assert (exact.exact_boards == games.boards[going_on]).all()
    last = games.last_rows[0]
    luck = np.zeros(6)
    for t in range(last - 1, last - 9, -1):
        luck = luck[::-1] + games.probabilities[t + 1][::-1] - mean_over_rolls(net, games.boards[t])
        result = games.probabilities[last] if (last - t) % 2 == 0 else games.probabilities[last][::-1]
        target = exact.exact_targets[np.flatnonzero(going_on == t)[0]]
        assert target == pytest.approx(result - luck, abs=2e-5)


def test_games_from_rivals_take_the_place_of_a_share():
    net = player("counts-relu")
    games = play_block(net, begin(STANDARD, SEED, 60), 3000)
    exact = with_exact_targets(games, net, ExactSettings(share=1, rivals=0.25), 3000, seed=3)
    # 60 draws of chance 0.75: standard deviation 3.4
    num_games = (exact.exact_boards == START).all(axis=1).sum()
    assert abs(num_games - 45) < 3 * 3.4
    kept = {board.tobytes() for board in games.boards}
    others = [board for board in exact.exact_boards if board.tobytes() not in kept]
    assert len(others) > 15
    assert (np.abs(exact.exact_targets.sum(axis=1) - 1) < 1e-5).all()


def test_rivals_are_left_by_good_plays_of_some_roll():
    net = player("counts-relu")
    boards = play_block(net, begin(STANDARD, SEED, 4), 3000).boards
    boards = boards[(boards > 0).any(axis=1) & (boards < 0).any(axis=1)][::7]
    good = set()
    best = set()
    for board in boards:
        for roll in ROLLS:
            rows, _, equities = net.rank(board, roll)[:3]
            near = equities >= equities.max() - NEAR - 1e-6
            good |= {row.tobytes() for row in rows[near]}
            best.add(rows[equities.argmax()].tobytes())
    found = rivals(net, boards, np.random.default_rng(4))
    assert 0.9 * len(boards) < len(found) <= len(boards)
    assert {row.tobytes() for row in found} <= good
    assert not {row.tobytes() for row in found} <= best


def test_a_play_that_ends_the_game_is_no_rival():
    net = player("counts-relu")
    over = np.array([parse("1:1 / 24:3")])
    assert len(rivals(net, over, np.random.default_rng(1))) == 0


def test_joined_blocks_keep_their_exact_targets_and_so_does_packing():
    net = player("counts-relu")
    blocks = [
        with_exact_targets(
            play_block(net, begin(STANDARD, SEED, 3, first), 3000),
            net,
            ExactSettings(share=0.7, rivals=0.5),
            3000,
            first,
        )
        for first in (0, 3)
    ]
    joined = join(blocks)
    boards = np.concatenate([block.exact_boards for block in blocks])
    assert (joined.exact_boards == boards).all()
    assert len(joined.exact_targets) == len(boards)
    again = _unpacked(_packed(joined))
    assert same(joined, again)
    assert (again.exact_boards == boards).all()
    assert (again.exact_targets == joined.exact_targets).all()


def test_a_network_of_zeros_plays_the_first_afterstate_to_the_end():
    architecture = Architecture(hidden=(1,))
    zeros = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes.items()}
    games = play_block(NetworkEvaluator(architecture, zeros), begin(STANDARD, SEED, 4), 5000)
    assert games.num_games + games.num_dropped == 4
