"""Rollouts with the cube: hand-made last rolls, exact endings, a slow twin, look-ahead, files."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
import reference
import reference_cube
from networks import ARCHITECTURES, random_weights

from tdgammon.decide import cubeful_plays, trials
from tdgammon.decide.bots import bot
from tdgammon.decide.cubeful import tables_of
from tdgammon.decide.decision import cube_equities
from tdgammon.decide.met import met
from tdgammon.decide.position_stakes import stakes_of
from tdgammon.decide.rollout import Rival, Rollout, RolloutSettings
from tdgammon.decide.rollout_of import rollout, rollout_of
from tdgammon.decide.saved_rollout import load_rollout, save_rollout
from tdgammon.decide.search import Searcher, SearchSettings
from tdgammon.game.board import START, flip, parse
from tdgammon.game.dice import ROLL_WEIGHTS, ROLLS, stratified_rolls
from tdgammon.game.moves import afterstates
from tdgammon.game.rules import GameRules
from tdgammon.game.stakes import CENTRED, OPPONENTS, OWN, Stakes
from tdgammon.kernels import cubeful as cubeful_kernel
from tdgammon.kernels import rollout as kernel
from tdgammon.notation.ids import Position
from tdgammon.value import bearoff
from tdgammon.value.evaluator import NetworkEvaluator


def net(name="tesauro-relu", seed=1, tables=False):
    return NetworkEvaluator(
        ARCHITECTURES[name], random_weights(ARCHITECTURES[name], seed, 0.5), None, tables
    )


def position(words, **changes):
    return Position(board=tuple(parse(words).tolist()), **changes)


def cube_action(words, player, settings, **changes):
    return rollout_of(position(words, **changes), player, settings)


def test_a_last_roll_is_worth_what_the_hand_says():
    # 27 of 36 rolls win: no double 0.5, and with the cube turned and no further roll twice that
    settings = RolloutSettings(trials=36, luck_control=False)
    found = cube_action("6:1 / 24:1", net(), settings).run()
    assert [estimate.name for estimate in found] == ["no double", "double, take"]
    assert [estimate.equity for estimate in found] == pytest.approx([0.5, 1.0])
    # at 2-2 away a double wins or loses the match: 3/4; without, 3/4 and 1/4 of 70 % and 30 %
    at_two = cube_action("6:1 / 24:1", net(), settings, length=2).run()
    assert at_two[1].match_chance == pytest.approx(0.75)
    # at double match point there is no cube to turn
    (alone,) = cube_action("6:1 / 24:1", net(), settings, length=1).run()
    assert alone.match_chance == pytest.approx(0.75)


def test_luck_control_with_exact_tables_leaves_nothing_to_chance():
    tables = bearoff.load()
    for words in ("6:2 3:1 / 24:2 22:1 19:1", "5:2 4:2 / 21:3 20:1"):
        board = parse(words)
        theirs = tables.equities(board)[0, 3]
        settings = RolloutSettings(trials=432, stop_at="end")
        found = cube_action(words, net(tables=tables), settings).run()
        for estimate, exact in zip(found, (_no_double(tables, board), 2 * theirs), strict=True):
            # the plays that luck is measured by are the best without the cube: hardly any is left
            assert estimate.equity == pytest.approx(exact, abs=3e-4)
            assert estimate.equity_se < 1e-3


SHORT_RACE = "6:2 3:1 / 24:2 22:1 19:1"


def test_a_race_in_a_match_is_played_to_its_end_for_the_tables_know_only_money():
    # after the Crawford game he needs 1 point and the player on roll 3: only that one turns the cube
    def worth(points):
        if points < 0 or points >= 3:
            return -1.0 if points < 0 else 1.0
        return 2 * float(met().chances(np.array([[3 - points, 1]]), np.array([True]))[0]) - 1

    board = tuple(parse(SHORT_RACE).tolist())
    exact = reference_cube.race_worth(
        board, 1, None, worth, lambda side, value: side == 0 and value < 3
    )
    expected = 2 * (exact + 1) / (worth(1) + 1) - 1
    player, settings = net(tables=bearoff.load()), RolloutSettings(trials=432)
    found = cube_action(SHORT_RACE, player, settings, length=3, scores=(2, 0)).run()
    assert found[0].equity == pytest.approx(expected, abs=1e-3)


def test_a_race_near_the_cube_limit_is_played_to_its_end():
    board = tuple(parse(SHORT_RACE).tolist())
    exact = reference_cube.race_worth(
        board, 1, None, float, lambda side, value: 2 * value <= 4, beavers=True
    )
    player, settings = net(tables=bearoff.load()), RolloutSettings(trials=432)
    found = cube_action(SHORT_RACE, player, settings, cube_limit=4, beavers=True).run()
    assert found[0].equity == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize(
    ("changes", "stop"),
    [
        ({}, kernel.AT_EXACT),
        ({"length": 5}, kernel.AT_END),
        ({"cube_limit": 4}, kernel.AT_END),
        ({"length": 1}, kernel.AT_EXACT),
        ({"length": 3, "scores": (2, 0), "is_crawford": True}, kernel.AT_EXACT),
        ({"length": 4, "cube_value": 4, "cube_owner": 0}, kernel.AT_EXACT),
    ],
)
def test_tables_end_a_race_where_they_are_exact(changes, stop):
    for stop_at in ("race", "exact"):
        settings = RolloutSettings(trials=36, stop_at=stop_at)
        asked = cube_action(SHORT_RACE, net(), settings, **changes)
        assert trials._stop(asked.positions()[0]) == stop


def test_equal_plays_are_not_given_up_and_exact_ones_are_without_a_warning():
    # whatever the player does, the opponent bears off his last two checkers
    settings = RolloutSettings(trials=144, min_trials=36, stop_jsd=1.0)
    lost = cube_action("6:1 5:1 / 24:2", net(tables=bearoff.load()), settings, dice=(2, 1)).run()
    assert [(e.jsd, e.given_up, e.trials) for e in lost] == [(0, False, 144)] * len(lost)
    # won at once: cube on 2 or on 1, and no luck in either
    (one, two) = cube_action("1:1 / 24:2", net(), settings).run()
    assert (one.equity, two.equity) == (pytest.approx(1), pytest.approx(2))
    assert one.given_up
    assert one.jsd > 1e6


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"board": (0,) * 6 + (2,) + (0,) * 19}, "the game is over"),
        ({"offer": "beaver"}, "a beaver waits for its answer"),
        ({"resigned": 2}, "a resignation of 2 waits"),
    ],
)
def test_only_a_game_that_goes_on_is_rolled_out(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        rollout_of(replace(position("start"), **changes), net(), RolloutSettings())


def _no_double(tables, board):
    return tables.cube_action(board, owned=False, beavers=False).no_double


def twin(board, stakes, turned, may_double, rolls, player, has_control, truncate):
    """Worth [1] of one trial to side 0, in the units of the stakes' table, decision by decision."""
    first_value = int(stakes.cube_values[0]) or 1
    value = first_value * 2**turned
    owner = {OWN: 0, OPPONENTS: 1, CENTRED: None}[int(stakes.cube_owners[0])] if not turned else 1
    is_match = bool(stakes.away.any())
    luck, turn = 0.0, 0
    while True:
        side = turn % 2
        scale = 1 if is_match else value / first_value
        sign = 1 - 2 * side
        if turn > 0 or may_double:
            found = cube_equities(player, board, _now(stakes, value, owner, side))
            if found.doubles[0]:
                if not found.takes[0]:
                    return sign * scale * found.win_worth[0] - luck
                beaver = found.beaver[0] < found.double_take[0]
                value *= 4 if beaver else 2
                owner = 1 - side
                scale = 1 if is_match else value / first_value
        now = _now(stakes, value, owner, side)
        roll = rolls(turn)
        if has_control:
            worths = [_worth(_plain_best(player, board, r, now), now, player) for r in ROLLS]
            actual = ROLLS.tolist().index(sorted(roll, reverse=True))
            luck += sign * scale * (worths[actual] - float(ROLL_WEIGHTS @ worths))
        board = cubeful_plays.choose(player, board, [roll], now)[0]
        turn += 1
        if turn == truncate or not (board < 0).any():
            return sign * scale * _worth(board, now, player) - luck


def _now(stakes, value, owner, side):
    seen = CENTRED if owner is None else OWN if owner == side else OPPONENTS
    return replace(
        stakes,
        cube_values=np.array([value]),
        cube_owners=np.array([seen], np.int8),
        away=stakes.away[:, :: 1 - 2 * side],
    )


def _plain_best(player, board, roll, now):
    rows, _ = afterstates(board, roll)
    table = tables_of(now)[0][0]
    return rows[(player.probabilities(rows) @ table.outcomes[1, 0].astype(np.float32)).argmin()]


def _worth(row, now, player):
    """What leaving an afterstate is worth, the opponent free to double."""
    table = tables_of(now)[0][0]
    worths = player.worths(row, table, side=1)
    decided = np.empty_like(worths)
    cubeful_kernel.decide_batch(worths, table, 1, decided)
    seen = {CENTRED: 0, OWN: 2, OPPONENTS: 1}[int(now.cube_owners[0])]
    return -float(decided[0, 0, seen])


@pytest.mark.parametrize(
    ("changes", "has_control"),
    [
        ({}, False),
        ({"jacoby": True, "beavers": True}, True),
        ({"cube_limit": 4}, True),
        ({"length": 5, "scores": (1, 2)}, False),
        ({"length": 7, "scores": (5, 3), "cube_value": 2, "cube_owner": 1}, True),
        ({"length": 5, "scores": (4, 2)}, False),
    ],
)
def test_trials_equal_those_of_the_twin(changes, has_control):
    player = net()
    words = "bar:1 8:2 6:3 5:3 4:3 3:2 2:1 / 24:4 22:3 21:3 20:2 19:2 1:1"
    num_trials, truncate = (3, 9) if has_control else (8, 30)
    settings = RolloutSettings(
        trials=num_trials, seed=3, truncate=truncate, luck_control=has_control, stop_at="end"
    )
    asked = cube_action(words, player, settings, **changes)
    asked.run()
    stakes = stakes_of(position(words, **changes))
    opening = stratified_rolls(3, 0, num_trials)
    for rival, rows in zip(asked.rivals, asked.rows, strict=True):
        for i in range(num_trials):
            key = reference.stream_key(3, i)

            def rolls(turn, i=i, key=key):
                return tuple(opening[i, turn].tolist()) if turn < 2 else reference.roll(key, turn)

            expected = twin(
                parse(words),
                stakes,
                rival.turned,
                rival.may_double,
                rolls,
                player,
                has_control,
                truncate,
            )
            assert rows[i, 6] == pytest.approx(expected, abs=5e-5)


def test_the_cube_of_plays_is_seen_by_the_opponent_who_is_on_roll():
    player = net()
    settings = RolloutSettings(trials=36, truncate=1, luck_control=False)
    asked = rollout_of(
        position("start", dice=(3, 1), cube_value=2, cube_owner=1), player, settings, num_plays=2
    )
    found = asked.run()
    assert asked.positions()[0].stakes.cube_owners.tolist() == [OPPONENTS]
    away = rollout_of(
        position("start", dice=(3, 1), length=7, scores=(2, 3)), player, settings, num_plays=2
    )
    assert away.positions()[0].stakes.away.tolist() == [[5, 4]]
    assert found[0].equity != found[1].equity


def test_plays_can_be_named_and_must_be_legal():
    settings = RolloutSettings(trials=36, truncate=1)
    asked = rollout_of(position("start", dice=(3, 1)), net(), settings, plays=["8/5 6/5", "24/20"])
    assert [rival.name for rival in asked.rivals] == ["8/5 6/5", "24/20"]
    with pytest.raises(ValueError, match="8/6"):
        rollout_of(position("start", dice=(3, 1)), net(), settings, plays=["8/6"])
    with pytest.raises(ValueError, match="need dice"):
        rollout_of(position("start"), net(), settings, plays=["8/5"])


@pytest.mark.parametrize("with_cube", [False, True])
@pytest.mark.parametrize("luck_control", [False, True])
def test_trials_side_by_side_equal_those_of_the_kernel(with_cube, luck_control):
    player = net()
    settings = RolloutSettings(trials=12, luck_control=luck_control, truncate=25, stop_at="end")
    asked = rollout_of(position("start"), player, settings, with_cube=with_cube)
    one = trials.Shared(player, None, asked.positions())
    other = trials.Shared(
        Searcher(evaluator=player, settings=SearchSettings(ply=0)), None, asked.positions()
    )
    fused = trials.play_unit(one, (0, 0, 12))
    by_hand = trials._play_side_by_side(
        other, other.player, other.positions[0], trials.streams(1, 12), stratified_rolls(1, 0, 12)
    )
    assert by_hand == pytest.approx(fused, abs=1e-5)


def test_a_player_that_looks_ahead_plays_what_its_search_chooses():
    player = Searcher(evaluator=net(), settings=SearchSettings(ply=1))
    settings = RolloutSettings(trials=36, truncate=1, luck_control=False)
    board = parse("6:4 5:3 4:3 3:3 2:2 / 24:3 23:3 22:3 21:2 20:2 1:2")
    (found,) = rollout_of(position("start"), player, settings, with_cube=False).run()
    rolls = np.array([[a, b] for a in range(1, 7) for b in range(1, 7)], np.int8)
    rows = player.choose(np.tile(START, (36, 1)), rolls)
    expected = player.probabilities(rows)[:, ::-1].mean(axis=0)
    assert found.probabilities == pytest.approx(expected, abs=1e-6)
    with_cube = cube_action("start", player, replace(settings, truncate=3)).run()
    assert with_cube[0].equity != with_cube[1].equity
    assert flip(board).shape == (26,)


def test_a_saved_rollout_is_played_on_as_one_long_run(tmp_path):
    path = tmp_path / "saved.json"
    short = RolloutSettings(trials=72, truncate=4)
    asked = rollout_of(position("start", length=5), _default(), short)
    asked.run()
    save_rollout(asked, "default", _sha256(), path)
    loaded, player = load_rollout(path, trials=144)
    assert player.name == "default"
    extended = loaded.run()
    whole = rollout_of(position("start", length=5), _default(), replace(short, trials=144)).run()
    assert [e.equity for e in extended] == [e.equity for e in whole]
    assert [e.equity_se for e in extended] == [e.equity_se for e in whole]
    with pytest.raises(ValueError, match="truncate is 4 in trials that were played, got 5"):
        load_rollout(path, truncate=5)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "checkpoint_sha256": "0"}))
    with pytest.raises(ValueError, match="another network"):
        load_rollout(path)
    path.write_text("{}")
    with pytest.raises(ValueError, match="not a saved rollout"):
        load_rollout(path)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (["settings", "luck_control"], "no"),
        (["settings", "stop_se"], True),
        (["settings", "trials"], 0),
        (["stakes", "away"], 2),
        (["stakes", "away", 0], 0),
        (["stakes", "away", 1], "5"),
        (["stakes", "cube_value"], 3),
        (["stakes", "cube_owner"], 7),
        (["stakes", "is_crawford"], True),
        (["stakes", "is_post_crawford"], "yes"),
        (["stakes", "rules", "caucasian"], True),
        (["of_plays"], None),
        (["rivals", 0, "name"], []),
        (["rivals", 0, "board"], [1]),
        (["rivals", 1, "turned"], 2),
        (["rivals", 1, "may_double"], 0),
        (["rivals", 1, "more"], 0),
        (["more"], 0),
        (["results", 0], "AAAA"),
        (["results", 1], base64.b64encode(np.full(7, np.nan).tobytes()).decode()),
    ],
)
def test_a_saved_rollout_with_a_wrong_field_is_refused_by_name(tmp_path, where, value):
    path = tmp_path / "saved.json"
    asked = rollout_of(position("start", length=5), _default(), RolloutSettings(trials=36, truncate=1))
    save_rollout(asked, "default", _sha256(), path)
    document = json.loads(path.read_text())
    inner = document
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"saved\.json: not a saved rollout"):
        load_rollout(path)


def _default():
    from tdgammon.decide.rollout_of import network_player

    return network_player("default").evaluator


def _sha256():
    from tdgammon.decide.rollout_of import network_player

    return network_player("default").sha256


def test_the_python_call_takes_a_board_and_names_the_plays():
    settings = RolloutSettings(trials=36, truncate=2)
    found = rollout(START, (3, 1), num_plays=2, settings=settings, workers=2)
    assert found[0].name == "8/5 6/5"
    assert found[0].equity > found[1].equity
    with pytest.raises(ValueError, match="only a network"):
        rollout(START, player="golden")


def test_a_rival_keeps_its_fields_in_files():
    rival = Rival(name="double, take", board=tuple(START.tolist()), turned=1, may_double=False)
    assert Rollout(net(), (rival,), RolloutSettings()).rivals == (rival,)
    assert isinstance(stakes_of(position("start", length=3)), Stakes)


def test_the_preset_that_rolls_out_settles_close_plays_and_cannot_roll_out_itself():
    player = bot("default,level=rollout")
    chosen = player.choose(np.stack([START, START]), [[3, 1], [6, 6]])
    expected = bot("default,level=strong").choose(np.stack([START, START]), [[3, 1], [6, 6]])
    assert (chosen == expected).all()
    with_cube = player.choose(START, [[6, 2]], stakes_of(position("start", length=5)))
    assert (with_cube[0] < 0).any()
    with pytest.raises(ValueError, match="only a network"):
        rollout(START, player="default,level=rollout")
    with pytest.raises(ValueError, match="default match table"):
        rollout(START, player="default,cube=dead")


@pytest.mark.parametrize(
    ("settings", "changes", "complaint"),
    [
        ("ply=0", {"caucasian": True}, "cannot be rolled out"),
        ("ply=1", {"last_roll_draw": True}, "cannot be rolled out"),
        ("met=woolsey-1992", {}, "met: rollouts with the cube go by the default match table"),
    ],
)
def test_the_preset_that_rolls_out_refuses_what_rollouts_do_not_know(settings, changes, complaint):
    name = f"default,level=rollout,{settings}"
    with pytest.raises(ValueError, match=f"player '{name}': .*{complaint}"):
        bot(name, GameRules(**changes))
    assert bot("default,level=rollout,met=woolsey-1992,cube=dead").name.endswith("dead")
