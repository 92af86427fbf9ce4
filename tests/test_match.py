"""The match state: R2 and R12-R25 by name, worked by hand."""

import dataclasses
import itertools

import numpy as np
import pytest
from match_states import at_roll, board, last_roll_for_1, leave, refused, won

from tdgammon.game.board import START
from tdgammon.game.match import MAX_LENGTH, Match, Phase
from tdgammon.game.rules import GameRules, rules

MONEY = GameRules(jacoby=True, beavers=True, raccoons=True)


# ---- opening, R2


@pytest.mark.parametrize(("dice", "starter"), [((5, 3), 0), ((3, 5), 1), ((6, 1), 0), ((1, 2), 1)])
def test_r2_the_higher_die_starts_and_plays_both(dice, starter):
    match = Match().open(*dice)
    assert (match.phase, match.on_roll, match.starter, match.dice) == (
        Phase.PLAY,
        starter,
        starter,
        dice,
    )
    assert match.board == tuple(START.tolist())


def test_r2_equal_dice_are_rolled_again():
    assert Match().open(4, 4) == Match()
    assert Match().open(4, 4).open(2, 5).starter == 1


def test_r2_the_opening_roll_is_played_without_doubling():
    refused(Match().open(3, 1).double, "before rolling (R13)")
    refused(Match().double, "before rolling (R13)")


def test_turns_alternate_and_the_board_is_seen_by_who_is_on_roll():
    match = leave(Match().open(3, 1), "24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2")
    assert (match.phase, match.on_roll, match.opponent, match.decider) == (Phase.ROLL, 1, 0, 1)
    assert match.board == board("24:2 13:5 8:3 6:5 / 20:2 19:4 17:2 12:5 1:2")
    assert match.roll(6, 5).dice == (6, 5)


def test_a_player_who_cannot_move_plays_the_board_as_it_is():
    closed = "bar 6:14 / 24:2 23:2 22:2 21:2 20:2 19:2"
    match = at_roll(closed).roll(6, 6)
    assert len(match.afterstates()) == 1
    assert leave(match, closed).on_roll == 1


# ---- ends, R12


@pytest.mark.parametrize(
    ("opponent", "size"),
    [
        ("24:14", 1),
        ("bar 24:13", 1),  # one off: never a gammon, wherever the rest stand
        ("bar:14", 1),
        ("2:14", 1),
        ("24:15", 2),
        ("7:15", 2),
        ("18 24:14", 2),
        ("6 24:14", 3),
        ("bar 24:14", 3),
        ("bar:15", 3),
    ],
)
def test_r12_a_game_pays_1_2_or_3_by_where_the_loser_stands(opponent, size):
    match = won(opponent)
    assert match.phase == Phase.GAME_OVER
    assert (match.result.winner, match.result.size, match.result.points) == (0, size, size)
    assert (match.scores, match.balance) == ((size, 0), size)


def test_r12_backgammon_with_the_checker_on_the_bar_pays_3_times_the_cube():
    match = won("bar 24:14", cube_value=4, cube_owner=1)
    assert match.result.points == 12
    won_by_1 = won("bar 24:14", on_roll=1, starter=1, cube_value=2, cube_owner=0)
    assert (won_by_1.scores, won_by_1.balance) == ((0, 6), -6)


def test_r12_with_three_checkers_a_side_none_off_is_a_gammon():
    hyper = rules("hypergammon")
    assert won("24:2", rules=hyper).result.size == 1
    assert won("24:3", rules=hyper).result.size == 2
    assert won("24:2 bar", rules=hyper).result.size == 3


# ---- cube, R13 - R16


def test_r13_the_cube_starts_centred_at_1_and_either_player_may_double_before_rolling():
    match = at_roll()
    assert (match.cube_value, match.cube_owner) == (1, None)
    for player in (0, 1):
        assert at_roll(on_roll=player).may_double()
    offered = match.double()
    assert (offered.phase, offered.decider, offered.cube_value) == (Phase.DOUBLE, 1, 1)
    refused(match.roll(3, 1).double, "before rolling (R13)")
    refused(offered.double, "before rolling (R13)")
    refused(lambda: offered.roll(3, 1), "rolling belongs to phase roll")


def test_r13_who_takes_owns_the_cube_at_twice_the_value_and_the_doubler_rolls():
    match = at_roll().double().take()
    assert (match.cube_value, match.cube_owner) == (2, 1)
    assert (match.phase, match.on_roll) == (Phase.ROLL, 0)
    assert match.roll(3, 1).phase == Phase.PLAY


def test_r13_who_passes_loses_the_stake_in_force_before_the_offer():
    match = at_roll().double().pass_double()
    assert (match.phase, match.result.winner, match.result.points) == (Phase.GAME_OVER, 0, 1)
    again = at_roll(on_roll=1, cube_value=4, cube_owner=1).double().pass_double()
    assert (again.result.winner, again.result.points, again.scores) == (1, 4, (0, 4))
    assert again.result.size == 1


def test_r13_a_pass_is_a_single_game_even_where_a_backgammon_looms():
    match = at_roll("1:2 / bar:15").double().pass_double()
    assert (match.result.size, match.result.points) == (1, 1)


def test_r14_only_the_owner_may_redouble():
    match = at_roll().double().take()
    refused(match.double, "only the owner of the cube may redouble (R14)")
    assert not match.may_double()
    his_turn = dataclasses.replace(match, on_roll=1)
    assert his_turn.may_double()
    assert (his_turn.double().take().cube_value, his_turn.double().take().cube_owner) == (4, 0)


def test_r15_a_game_without_a_cube():
    refused(at_roll(rules=GameRules(cube_limit=1)).double, "without a cube (R15)")


@pytest.mark.parametrize("limit", [2, 4, 8, 16, 32, 64, 128])
def test_r15_the_cube_stops_at_its_limit(limit):
    match = at_roll(rules=GameRules(cube_limit=limit))
    value = 1
    while value < limit:
        match = match.double().take()
        value *= 2
        assert match.cube_value == value
        match = dataclasses.replace(match, on_roll=match.cube_owner)
    assert not match.may_double()
    refused(match.double, f"at its limit of {limit} (R15)")


def test_r15_64_times_3_is_the_most_a_game_pays():
    assert won("bar:15", cube_value=64, cube_owner=0).result.points == 192


def test_r15_the_limit_holds_for_beavers_raccoons_and_automatic_doubles():
    small = GameRules(cube_limit=2, beavers=True, raccoons=True, automatic_doubles="unlimited")
    refused(at_roll(rules=small).double().beaver, "limit of 2 (R15)")
    middle = dataclasses.replace(small, cube_limit=4)
    refused(at_roll(rules=middle).double().beaver().raccoon, "limit of 4 (R15)")
    assert at_roll(rules=middle).double().beaver().take().cube_value == 4
    match = Match(rules=middle)
    values = [(match := match.open(6, 6)).cube_value for _ in range(4)]
    assert values == [2, 4, 4, 4]
    assert match.automatic_doubles == 2


def test_r16_the_cube_multiplies_the_size_and_text_001_has_the_example():
    # "un Mars con el cubo en 4 da un coeficiente total de 2 x 4"
    assert won("24:15", cube_value=4, cube_owner=0).result.points == 8


def test_r16_it_holds_for_a_resignation_too():
    match = at_roll(cube_value=4, cube_owner=0).resign(2).accept()
    assert (match.phase, match.result.winner) == (Phase.GAME_OVER, 1)
    assert (match.result.size, match.result.points, match.scores) == (2, 8, (0, 8))


def test_r17_the_stake_cover_covers_the_worst_game():
    found = GameRules(cube_limit=8)
    assert found.stake_cover(1) == won("bar:15", cube_value=8, cube_owner=0, rules=found).result.points


# ---- matches, R18


def test_r18_a_single_win_at_6_5_in_7_makes_6_6_and_the_match_goes_on():
    match = won("24:14", length=7, scores=(5, 6), was_crawford=True)
    assert (match.phase, match.scores, match.winner) == (Phase.GAME_OVER, (6, 6), None)
    after = match.next_game()
    assert (after.phase, after.away, after.is_crawford) == (Phase.OPENING, (1, 1), False)
    assert after.is_post_crawford
    done = won("24:14", length=7, scores=(6, 6), was_crawford=True, on_roll=1, starter=1)
    assert (done.phase, done.scores, done.winner) == (Phase.MATCH_OVER, (6, 7), 1)
    refused(done.next_game, "this is phase match over")


def test_r18_the_trailers_cube_is_dead_in_the_crawford_game_and_alive_after_it():
    before = won("24:14", length=7, scores=(5, 3))
    crawford = before.next_game()
    assert (crawford.scores, crawford.is_crawford) == ((6, 3), True)
    for player in (0, 1):
        game = dataclasses.replace(crawford, phase=Phase.ROLL, starter=player, on_roll=player)
        refused(game.double, "no doubling in the Crawford game (R18)")
        assert not game.may_double()
    drawn_out = dataclasses.replace(
        crawford, phase=Phase.PLAY, dice=(2, 1), starter=1, on_roll=1, board=board("1 / 24:14")
    )
    after = leave(drawn_out, "- / 24:14").next_game()
    assert (after.scores, after.is_crawford, after.is_post_crawford) == ((6, 4), False, True)
    trailer = dataclasses.replace(after, phase=Phase.ROLL, starter=1, on_roll=1)
    assert trailer.may_double()
    assert not trailer.cube_is_dead
    assert trailer.double().take().cube_value == 2


def test_r18_the_crawford_game_is_played_once():
    flags = []
    match = Match(length=3)
    for winner in (0, 1, 1):  # 1-0, 1-1, 1-2 Crawford next
        match = dataclasses.replace(
            match, phase=Phase.ROLL, on_roll=winner, starter=winner, board=board("1 / 24:14")
        )
        flags.append(match.is_crawford)
        match = leave(match.roll(2, 1), "- / 24:14").next_game()
    flags.append(match.is_crawford)
    assert match.scores == (1, 2)
    assert flags == [False, False, False, True]
    match = dataclasses.replace(match, phase=Phase.ROLL, on_roll=0, starter=0, board=board("1 / 24:14"))
    match = leave(match.roll(2, 1), "- / 24:14").next_game()
    # 2-2: the other player has come within one point too, and there is no second Crawford game
    assert (match.scores, match.is_crawford, match.was_crawford) == ((2, 2), False, True)


def test_r18_a_score_that_jumps_over_the_last_point_but_one_has_no_crawford_game():
    match = won("24:15", length=7, scores=(5, 5))
    assert (match.phase, match.scores) == (Phase.MATCH_OVER, (7, 5))
    # from 3 points away to 1: the game after that is it
    match = won("24:15", length=7, scores=(4, 5)).next_game()
    assert (match.scores, match.is_crawford) == ((6, 5), True)


def test_r18_a_money_session_has_no_crawford_game():
    match = won("24:14", scores=(5, 0)).next_game()
    assert (match.is_crawford, match.was_crawford, match.away) == (False, False, (0, 0))


def test_r18_the_leaders_double_at_match_point_is_allowed_but_pointless():
    match = at_roll(length=7, scores=(6, 5), was_crawford=True)
    assert match.may_double()
    assert match.cube_is_dead
    assert match.double().take().cube_value == 2
    trailer = dataclasses.replace(match, on_roll=1)
    assert not trailer.cube_is_dead  # he needs 2
    assert dataclasses.replace(trailer, cube_value=2, cube_owner=1).cube_is_dead
    assert not at_roll(cube_value=64).cube_is_dead  # money


def test_r18_in_a_match_to_1_point_every_double_is_pointless():
    match = at_roll(length=1)
    assert match.cube_is_dead
    assert dataclasses.replace(match, on_roll=1).cube_is_dead
    assert won("bar:15", length=1).phase == Phase.MATCH_OVER


def test_r18_a_result_is_clipped_to_what_the_match_needs_and_both_values_are_kept():
    match = won("24:15", length=7, scores=(6, 5), was_crawford=True, cube_value=2, cube_owner=0)
    assert (match.result.points_by_rule, match.result.points) == (4, 1)
    assert (match.scores, match.winner) == ((7, 5), 0)
    match = won("bar:15", length=7, scores=(2, 5), cube_value=2, cube_owner=0)
    assert (match.result.points_by_rule, match.result.points, match.scores) == (6, 5, (7, 5))
    assert won("bar:15", cube_value=2).result.points == 6  # money


def test_r18_a_score_and_the_crawford_marks_belong_together():
    with pytest.raises(ValueError, match="is_crawford: nobody is one point from winning"):
        Match(length=7, scores=(5, 5), is_crawford=True)
    with pytest.raises(ValueError, match="was_crawford: nobody is one point from winning"):
        Match(was_crawford=True)
    with pytest.raises(ValueError, match="played once"):
        Match(length=7, scores=(6, 5), is_crawford=True, was_crawford=True)
    with pytest.raises(ValueError, match="set is_crawford or was_crawford"):
        Match(length=7, scores=(6, 5))


@pytest.mark.parametrize("length", [-1, 65, 7.0, "7", None, True])
def test_a_match_is_to_0_to_64_points(length):
    with pytest.raises(ValueError, match=r"length: 0 \(money\) to 64 expected, got"):
        Match(length=length)
    assert MAX_LENGTH == 64
    assert Match(length=64).away == (64, 64)


@pytest.mark.parametrize(("length", "scores"), [(7, (7, 0)), (7, (0, 8)), (7, (-1, 0)), (0, (0, -1))])
def test_scores_fit_the_match(length, scores):
    with pytest.raises(ValueError, match=f"scores: .* do not fit a match to {length}"):
        Match(length=length, scores=scores)


# ---- money play, R19 - R21


@pytest.mark.parametrize("opponent", ["24:15", "bar:15"])
def test_r19_under_jacoby_only_a_turned_cube_makes_gammons_count(opponent):
    match = won(opponent, rules=MONEY)
    assert match.result.size > 1
    assert (match.result.points_by_rule, match.result.points) == (1, 1)
    turned = at_roll(f"1 / {opponent}", rules=MONEY).double().take().roll(6, 5)
    turned = leave(turned, f"- / {opponent}")
    assert turned.result.points == 2 * turned.result.size


def test_r19_an_automatic_double_is_not_a_turned_cube():
    jacoby = GameRules(jacoby=True, automatic_doubles="one")
    match = Match(rules=jacoby).open(5, 5).open(6, 5)
    assert (match.cube_value, match.cube_owner, match.dice) == (2, None, (6, 5))
    match = dataclasses.replace(match, board=board("1 / bar:15"))
    match = leave(match, "- / bar:15")
    assert (match.result.size, match.result.points) == (3, 2)  # single game, cube on 2


def test_r19_a_double_that_is_passed_pays_one_stake():
    assert at_roll("1:2 / bar:15", rules=MONEY).double().pass_double().result.points == 1


def test_r19_jacoby_holds_for_resignations():
    assert at_roll(rules=MONEY).resign(2).accept().result.points == 1
    assert at_roll(rules=MONEY, cube_value=2, cube_owner=1).resign(2).accept().result.points == 4
    by_board = GameRules(jacoby=True, resign_by_board=True)
    match = at_roll("24 6:14 / 1:2", rules=by_board).resign()
    assert (match.result.size, match.result.points) == (3, 1)


def test_r19_r20_r21_a_match_to_points_does_not_use_them():
    every = GameRules(jacoby=True, beavers=True, raccoons=True, automatic_doubles="unlimited")
    assert won("24:15", rules=every, length=7).result.points == 2
    refused(at_roll(rules=every, length=7).double().beaver, "without beavers (R20)")
    assert Match(rules=every, length=7).open(3, 3).cube_value == 1


def test_r20_a_beaver_that_is_taken_puts_the_cube_on_4_and_its_player_keeps_it():
    offered = at_roll(rules=MONEY).double()
    beaver = offered.beaver()
    assert (beaver.phase, beaver.decider) == (Phase.BEAVER, 0)
    match = beaver.take()
    assert (match.cube_value, match.cube_owner, match.phase, match.on_roll) == (4, 1, Phase.ROLL, 0)
    refused(match.double, "only the owner of the cube may redouble (R14)")


def test_r20_a_beaver_that_is_passed_costs_the_doubler_the_stake_he_asked_for():
    match = at_roll(rules=MONEY).double().beaver().pass_double()
    assert (match.result.winner, match.result.points, match.result.cube_value) == (1, 2, 2)
    again = at_roll(rules=MONEY, on_roll=1, cube_value=4, cube_owner=1)
    assert again.double().beaver().pass_double().scores == (8, 0)


def test_r20_a_raccoon_that_is_taken_puts_the_cube_on_8():
    raccoon = at_roll(rules=MONEY).double().beaver().raccoon()
    assert (raccoon.phase, raccoon.decider) == (Phase.RACCOON, 1)
    match = raccoon.take()
    assert (match.cube_value, match.cube_owner, match.phase, match.on_roll) == (8, 1, Phase.ROLL, 0)


def test_r20_a_raccoon_that_is_passed_costs_the_beaver_4():
    match = at_roll(rules=MONEY).double().beaver().raccoon().pass_double()
    assert (match.result.winner, match.result.points, match.scores) == (0, 4, (4, 0))


def test_r20_beavers_and_raccoons_are_options():
    refused(at_roll().double().beaver, "without beavers (R20)")
    only_beavers = GameRules(beavers=True)
    refused(at_roll(rules=only_beavers).double().beaver().raccoon, "without raccoons (R20)")
    refused(at_roll(rules=MONEY).beaver, "a beaver belongs to phase double")
    refused(at_roll(rules=MONEY).double().raccoon, "a raccoon belongs to phase beaver")


def test_r21_equal_opening_dice_put_the_cube_on_2_and_it_stays_centred():
    match = Match(rules=GameRules(automatic_doubles="one")).open(3, 3)
    assert (match.cube_value, match.cube_owner, match.phase) == (2, None, Phase.OPENING)
    assert match.automatic_doubles == 1
    match = match.open(6, 6)  # limit of one
    assert (match.cube_value, match.automatic_doubles) == (2, 1)
    for player in (0, 1):
        game = dataclasses.replace(match, phase=Phase.ROLL, starter=player, on_roll=player)
        assert game.may_double()
        assert game.double().take().cube_value == 4
        assert game.double().pass_double().result.points == 2


def test_r21_unlimited_by_option_and_none_by_default():
    match = Match(rules=GameRules(automatic_doubles="unlimited"))
    for value in (2, 4, 8):
        match = match.open(1, 1)
        assert match.cube_value == value
    assert Match().open(1, 1).cube_value == 1


def test_r21_each_game_has_its_own_automatic_doubles():
    one = GameRules(automatic_doubles="one")
    match = won("24:14", rules=one, cube_value=2, automatic_doubles=1).next_game()
    assert (match.cube_value, match.automatic_doubles) == (1, 0)
    assert match.open(2, 2).cube_value == 2


# ---- sessions, R22


@pytest.mark.parametrize(("starter", "winner"), list(itertools.product((0, 1), repeat=2)))
def test_r22_the_next_game_is_started_by_the_dice_the_loser_or_alternately(starter, winner):
    def following(next_start):
        option = GameRules(next_start=next_start)
        return won("24:14", rules=option, starter=starter, on_roll=winner).next_game()

    assert (following("dice").phase, following("dice").starter) == (Phase.OPENING, None)
    assert (following("loser").phase, following("loser").on_roll) == (Phase.ROLL, 1 - winner)
    assert (following("alternate").phase, following("alternate").on_roll) == (Phase.ROLL, 1 - starter)
    for next_start in ("loser", "alternate"):
        game = following(next_start)
        assert game.starter == game.on_roll
        assert game.board == tuple(START.tolist())
        assert game.roll(4, 4).phase == Phase.PLAY  # an ordinary roll, which may be a double
        assert game.game_number == 2


@pytest.mark.parametrize("next_start", ["dice", "loser", "alternate"])
def test_r22_the_first_game_is_started_by_the_dice(next_start):
    assert Match(rules=GameRules(next_start=next_start)).phase == Phase.OPENING


@pytest.mark.parametrize("next_start", ["loser", "alternate"])
def test_r22_after_a_draw_the_other_player_starts(next_start):
    option = GameRules(next_start=next_start, last_roll_draw=True)
    draw = last_roll_for_1("2 1", option).roll(6, 5)
    draw = draw.play(np.zeros(26, np.int8))
    assert draw.result.winner is None
    assert draw.next_game().on_roll == 1


# ---- end counts, R23


@pytest.mark.parametrize(
    ("end_counts", "pays"), [("oin", (1, 1, 1)), ("mars", (1, 2, 2)), ("cox", (1, 2, 3))]
)
def test_r23_the_end_count_says_what_a_game_pays(end_counts, pays):
    option = GameRules(end_counts=end_counts)
    for opponent, size in (("24:14", 1), ("24:15", 2), ("bar:15", 3)):
        match = won(opponent, rules=option, cube_value=4, cube_owner=0)
        assert match.result.size == size
        assert match.result.points == 4 * pays[size - 1]
        resigned = at_roll(rules=option, cube_value=4, cube_owner=0).resign(size).accept()
        assert resigned.scores == (0, 4 * pays[size - 1])


# ---- resignations, R24


@pytest.mark.parametrize(
    ("loser", "size"),
    [
        ("6:14", 1),
        ("bar 6:13", 1),  # one off is never more
        ("24:14", 1),
        ("6:15", 2),
        ("18 6:14", 2),
        ("19 6:14", 3),
        ("24:2 13:5 8:3 6:5", 3),
        ("bar 6:14", 3),
    ],
)
@pytest.mark.parametrize(
    ("end_counts", "pays"), [("oin", (1, 1, 1)), ("mars", (1, 2, 2)), ("cox", (1, 2, 3))]
)
def test_r24_the_size_of_a_resignation_follows_from_the_losers_checkers(loser, size, end_counts, pays):
    option = GameRules(resign_by_board=True, end_counts=end_counts)
    for phase_of in (lambda match: match, lambda match: match.roll(3, 1)):
        match = phase_of(at_roll(f"{loser} / 1:2", rules=option)).resign()
        assert (match.phase, match.result.winner, match.dice) == (Phase.GAME_OVER, 1, None)
        assert (match.result.size, match.result.points) == (size, pays[size - 1])
    refused(lambda: at_roll(rules=option).resign(1), "the board says the size", "(R24)")


def test_r24_where_sizes_are_offered_the_opponent_answers():
    match = at_roll().resign(1)
    assert (match.phase, match.decider, match.resigned) == (Phase.RESIGNATION, 1, 1)
    assert match.accept().scores == (0, 1)
    rejected = match.reject()
    assert (rejected.phase, rejected.resigned, rejected.on_roll) == (Phase.ROLL, 0, 0)
    after_the_roll = at_roll().roll(3, 1).resign(2)
    assert after_the_roll.reject().phase == Phase.PLAY
    assert after_the_roll.reject().dice == (3, 1)
    assert after_the_roll.accept().dice is None


def test_r24_a_second_resignation_is_refused_while_one_waits():
    for size in (1, 2, 3):
        refused(lambda size=size: at_roll().resign(1).resign(size), "is waiting for its answer")


def test_r24_after_a_rejection_only_a_larger_one_in_that_turn():
    match = at_roll().resign(2).reject()
    refused(lambda: match.resign(1), "a gammon was rejected in this turn")
    refused(lambda: match.resign(2), "a gammon was rejected in this turn")
    assert match.resign(3).resigned == 3
    rolled = match.roll(3, 1)  # still the same turn
    refused(lambda: rolled.resign(2), "a gammon was rejected in this turn")
    assert rolled.resign(3).reject().refused == 3
    doubled = match.double().take()
    refused(lambda: doubled.resign(2), "a gammon was rejected in this turn")
    theirs = leave(rolled, "24:2 13:5 8:2 6:4 5:2 / 19:5 17:3 12:5 1:2")
    assert theirs.resign(1).resigned == 1  # the opponent's turn
    mine = dataclasses.replace(theirs, on_roll=0)
    assert mine.resign(1).resigned == 1  # the next turn


def test_r24_one_off_is_never_a_gammon_not_even_by_resigning():
    match = at_roll("6:14 / 1:2")
    for size in (2, 3):
        refused(lambda size=size: match.resign(size), "has borne off a checker", "R12")
    assert match.resign(1).accept().result.points == 1
    assert at_roll("6:15 / 1:2").resign(2).resigned == 2


@pytest.mark.parametrize("size", [0, 4, -1, 1.5, None, "1"])
def test_r24_a_resignation_has_size_1_2_or_3(size):
    refused(lambda: at_roll().resign(size), f"of size 1, 2 or 3, got {size!r}")


# ---- draw, R25


ALL_OFF = np.zeros(26, np.int8)


def test_r25_the_second_starter_gets_one_last_roll():
    match = last_roll_for_1("2 1")
    assert (match.phase, match.on_roll, match.is_last_roll, match.result) == (Phase.ROLL, 1, True, None)
    assert won("24:2").phase == Phase.GAME_OVER  # without the option


def test_r25_if_the_last_roll_bears_off_everything_the_game_is_a_draw():
    match = last_roll_for_1("2 1", scores=(3, 4)).roll(6, 5).play(ALL_OFF)
    assert (match.phase, match.result.winner, match.result.size) == (Phase.GAME_OVER, None, 0)
    assert (match.result.points, match.result.points_by_rule, match.scores) == (0, 0, (3, 4))
    assert match.next_game().game_number == 2


def test_r25_four_checkers_are_saved_by_a_double():
    match = last_roll_for_1("3 2 1:2").roll(3, 3).play(ALL_OFF)
    assert match.result.winner is None


def test_r25_otherwise_the_first_has_won_after_the_last_roll():
    match = last_roll_for_1("2:2 1", cube_value=2, cube_owner=0).roll(6, 5)
    match = leave(match, "1 / -")  # both dice bear off a checker of the 2-point
    assert (match.phase, match.result.winner, match.result.size) == (Phase.GAME_OVER, 0, 1)
    assert (match.result.points, match.scores) == (2, (2, 0))


@pytest.mark.parametrize(
    ("words", "dice", "leaves", "size"),
    [
        ("1:15", (2, 1), "1:13", 1),  # the gammon is saved by the last roll
        ("7 1:14", (2, 1), "5 1:13", 1),  # 7/5 1/off
        ("13 1:14", (6, 5), "2 1:14", 2),  # 13/2, and none is off
        ("19 1:14", (6, 5), "8 1:14", 2),  # it leaves the winner's home board
        ("23 1:14", (2, 1), "20 1:14", 3),
        ("bar 1:14", (2, 1), "22 1:14", 3),
        ("bar:2 1:13", (6, 5), "20 19 1:13", 3),
    ],
)
def test_r25_gammon_and_backgammon_are_judged_after_the_last_roll(words, dice, leaves, size):
    match = leave(last_roll_for_1(words).roll(*dice), f"{leaves} / -")
    assert (match.result.winner, match.result.size, match.result.points) == (0, size, size)


def test_r25_the_second_starter_who_finishes_first_wins_at_once():
    option = GameRules(last_roll_draw=True)
    match = won("24:2", rules=option, starter=1)  # player 0 wins, and 1 started
    assert (match.phase, match.result.winner, match.is_last_roll) == (Phase.GAME_OVER, 0, False)


def test_r25_before_the_last_roll_there_is_no_doubling_and_no_resigning():
    match = last_roll_for_1("2 1", cube_value=2, cube_owner=1)
    assert not match.may_double()
    refused(match.double, "before the last roll (R25)")
    refused(lambda: match.resign(1), "before the last roll (R25)")
    refused(lambda: match.roll(2, 1).resign(1), "before the last roll (R25)")
    by_board = last_roll_for_1("2 1", GameRules(last_roll_draw=True, resign_by_board=True))
    refused(by_board.resign, "before the last roll (R25)")


def test_r25_a_drawn_crawford_game_is_over_all_the_same():
    match = last_roll_for_1("2 1", length=7, scores=(6, 2), is_crawford=True).roll(6, 5).play(ALL_OFF)
    after = match.next_game()
    assert (after.scores, after.is_crawford, after.was_crawford) == ((6, 2), False, True)


def test_r25_in_a_match_the_last_roll_is_made_before_the_match_is_won():
    match = last_roll_for_1("2 1", length=7, scores=(5, 4), cube_value=2, cube_owner=0)
    assert match.phase == Phase.ROLL
    assert match.roll(6, 5).play(ALL_OFF).phase == Phase.GAME_OVER
    assert leave(last_roll_for_1("6:2", length=1).roll(2, 1), "5 4 / -").phase == Phase.MATCH_OVER
