"""Match records: what they come to, and that every format gives back what was written."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matches import MONEY_RULES, random_match

from tdgammon.game.board import START, parse
from tdgammon.game.rules import GameRules
from tdgammon.notation import columns, document, sgf
from tdgammon.notation.detect import read_text, record_positions
from tdgammon.notation.ids import position_id
from tdgammon.notation.plays import IllegalPlay, NotationError, read_play, write_play
from tdgammon.notation.record import (
    CubeAction,
    GameRecord,
    GameWriter,
    MatchRecord,
    Resignation,
    SetPosition,
    Turn,
    applied,
    outcome,
    replayed,
    size_won,
)
from tdgammon.notation.written import quick_steps

WRITERS = {
    "mat": columns.write_mat,
    "xg": columns.write_xg,
    "sgf": sgf.write_sgf,
    "json": document.write_json,
}

OPENING = tuple(START.tolist())

RULES = {
    "money": MONEY_RULES,
    "limit": GameRules(cube_limit=64),
    "no cube": GameRules(cube_limit=1),
    "nackgammon": GameRules(
        start=tuple(parse("24:2 23:2 13:4 8:3 6:4 / 1:2 2:2 12:4 17:3 19:4").tolist())
    ),
}

matches = st.builds(
    random_match,
    st.integers(0, 10**9),
    st.sampled_from([0, 0, 1, 3, 5, 9, 15]),
    cube=st.sampled_from([0.0, 0.03, 0.2]),
    resigning=st.sampled_from([0.0, 0.004, 0.03]),
)


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=15, deadline=None)
@given(match=matches)
def test_a_match_survives_the_format(name: str, match: MatchRecord) -> None:
    reading = read_text(WRITERS[name](match))
    assert reading.record == match
    assert reading.warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=1000, deadline=None)
@given(match=matches)
def test_a_thousand_matches_survive_the_format(name: str, match: MatchRecord) -> None:
    reading = read_text(WRITERS[name](match))
    assert reading.record == match
    assert reading.warnings == ()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", WRITERS)
def test_rules_survive_the_format(name: str, rules: str) -> None:
    match = random_match(3, 0, 4, RULES[rules], cube=0.1)
    reading = read_text(WRITERS[name](match))
    assert reading.record == match
    assert reading.warnings == ()


@pytest.mark.parametrize("name", WRITERS)
def test_rules_that_no_other_program_knows_survive_the_format(name: str) -> None:
    rules = GameRules(
        cube_limit=4096,
        end_counts="mars",
        automatic_doubles="one",
        resign_by_board=True,
        caucasian=True,
    )
    match = random_match(5, 0, 4, replace(rules, next_start="alternate"), resigning=0)
    reading = read_text(WRITERS[name](match))
    assert reading.record == match
    assert reading.warnings == ()


texts = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from('\n\t\\]":;[('), max_size=40
)


@settings(max_examples=25, deadline=None)
@given(texts, texts, st.integers(0, 20))
def test_comments_survive_every_format(comment: str, of_game: str, place: int) -> None:
    match = random_match(5, 3)
    game = match.games[0]
    events = list(game.events)
    place %= len(events)
    if isinstance(events[place], Turn | CubeAction):
        events[place] = replace(events[place], comment=comment)
    game = replace(game, events=tuple(events), comment=of_game)
    match = replace(match, games=(game, *match.games[1:]))
    for write in WRITERS.values():
        again = read_text(write(match)).record
        assert again.games[0].comment == of_game
        assert again == match, write


def test_what_the_columns_cannot_say_survives_them() -> None:
    set_up = SetPosition(tuple(parse("13:5 8:3 6:5 24:2 / 19:5 17:3 12:5 1:2").tolist()), 4, None)
    illegal = Turn(0, (3, 1), ((8, 4), (6, 5)), is_legal=False)
    tags = (("Event", "Open"), ("Round", "1"), ("", "a remark"))
    games = [
        GameRecord(number=3, start_score=(2, 4), is_crawford=False, events=(set_up, illegal)),
        GameRecord(
            number=4,
            start_score=(2, 4),
            is_crawford=True,
            events=(Turn(1, (5, 2), None), Resignation(1, 3)),
            winner=0,
            points=3,
        ),
    ]
    match = MatchRecord(players=("Ann", "Bob"), length=5, games=tuple(games), tags=tags)
    for name, write in WRITERS.items():
        assert read_text(write(match)).record == match, name


def test_a_game_without_events_survives_every_format() -> None:
    won = GameRecord(number=1, start_score=(0, 0), events=(), winner=None)
    match = MatchRecord(players=("", ""), length=3, games=(won,))
    for name, write in WRITERS.items():
        assert read_text(write(match)).record == match, name


@pytest.mark.parametrize("name", WRITERS)
def test_every_end_of_a_beaver_survives_the_format(name: str) -> None:
    opening = Turn(1, (2, 1), ((13, 11), (6, 5)))
    double, beaver = CubeAction(0, "double"), CubeAction(1, "beaver")
    raccoon, take = CubeAction(0, "raccoon"), CubeAction(0, "take")
    roll = Turn(0, (3, 1), ((8, 5), (6, 5)))
    ends = {
        "passed": (beaver, CubeAction(0, "pass")),
        "taken and resigned": (beaver, take, Resignation(0, 1)),
        "taken and resigned after a roll": (beaver, take, Turn(0, (3, 1), None), Resignation(0, 2)),
        "resigned later": (beaver, take, roll, Resignation(1, 3)),
        "raccoon taken": (beaver, raccoon, CubeAction(1, "take"), roll, Resignation(1, 1)),
        "raccoon passed": (beaver, raccoon, CubeAction(1, "pass")),
        "broken off": (beaver, take),
    }
    for end, events in ends.items():
        game = GameRecord(number=1, start_score=(0, 0), events=(opening, double, *events))
        result = outcome(game, 0, MONEY_RULES)
        if result.winner is not None:
            points = result.points_by_rule or result.cube_value * (result.size or 1)
            game = replace(game, winner=result.winner, points=points)
        match = MatchRecord(players=("Ann", "Bob"), length=0, games=(game,), rules=MONEY_RULES)
        reading = read_text(WRITERS[name](match))
        assert (reading.record, reading.warnings) == (match, ()), end


def test_outcomes_agree_with_the_state_of_the_match() -> None:
    # `random_match` takes winner and points from game.match, which knows nothing of records
    for seed in range(60):
        match = random_match(seed, (0, 1, 3, 7)[seed % 4], cube=0.1)
        for game in match.games:
            result = outcome(game, match.length, match.rules)
            assert result.winner == game.winner
            if result.winner is None:
                assert result.end == "unfinished"
                continue
            points = result.points_by_rule
            if result.end == "resignation":
                assert points is None
                jacoby = match.rules.jacoby and not match.length and cube_is_centred(game)
                points = result.cube_value * (1 if jacoby else result.size)
            if match.length:
                points = min(points, match.length - game.start_score[game.winner])
            assert points == game.points


def cube_is_centred(game: GameRecord) -> bool:
    return not any(isinstance(event, CubeAction) for event in game.events)


@pytest.mark.parametrize(
    ("board", "size"),
    [
        ("- / 24:2", 1),
        ("6 / 24:2", 0),
        ("- / 24:15", 2),
        ("- / 7:1 19:14", 2),
        ("- / 6:1 19:14", 3),
        ("- / bar:1 19:14", 3),
    ],
)
def test_the_size_of_a_game(board: str, size: int) -> None:
    assert size_won(tuple(parse(board).tolist()), 15) == size


def test_jacoby_pays_a_gammon_only_with_a_turned_cube() -> None:
    last = SetPosition(tuple(parse("1 / 6:1 19:14").tolist()), 1, None)
    turned = SetPosition(last.board, 2, 0)
    for start, points in ((last, 1), (turned, 6)):
        game = GameRecord(number=1, start_score=(0, 0), events=(start, Turn(0, (2, 1), ((1, 0),))))
        result = outcome(game, 0, MONEY_RULES)
        assert (result.size, result.points_by_rule) == (3, points)
        assert outcome(game, 0).points_by_rule == 3 * result.cube_value


def test_a_play_onto_a_closed_point_cannot_be_replayed() -> None:
    assert applied(OPENING, [(24, 19)]) is None
    assert applied(OPENING, [(23, 20)]) is None
    game = GameRecord(number=1, start_score=(0, 0), events=(Turn(0, (5, 1), ((24, 19),)),))
    with pytest.raises(NotationError, match="cannot be made"):
        list(replayed(game))


def test_the_game_writer_refuses_an_illegal_play_and_an_unknown_word() -> None:
    writer = GameWriter()
    with pytest.raises(ValueError, match="action"):
        writer.cube(0, "raise")
    writer.turn(0, START, (3, 1), START)
    with pytest.raises(NotationError, match="no play"):
        writer.finished(None, None)


def test_positions_of_a_match_are_its_decisions() -> None:
    match = random_match(1, 5, cube=0.2)
    found = record_positions(match)
    events = [event for game in match.games for event in game.events]
    decisions = [event for event in events if isinstance(event, Turn | CubeAction)]
    assert len(found) == len(decisions)
    assert position_id(found[0][1].board) == "4HPwATDgc/ABMA"
    for (_, position), event in zip(found, decisions, strict=True):
        assert position.decider == event.player
        if isinstance(event, Turn):
            assert position.dice == event.dice


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans())
def test_the_quick_reader_of_plays_agrees_with_the_careful_one(
    seed: int, joined: bool, hits: bool
) -> None:
    match = random_match(seed, 1, cube=0.0, resigning=0.0, breaking_off=False)
    for moment in list(replayed(match.games[0]))[::5]:
        event = moment.event
        if not isinstance(event, Turn) or not event.steps:
            continue
        written = write_play(moment.board, event.steps) if joined else plain(event.steps)
        if not hits:
            written = written.replace("*", "")
        steps = quick_steps(written, moment.board, event.dice)
        if steps is not None:
            careful = read_play(written, moment.board, event.dice)
            assert applied(moment.board, steps) == applied(moment.board, careful.steps), written


def plain(steps) -> str:
    return " ".join(f"{source}/{to}" for source, to in steps)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.tuples(st.integers(1, 25), st.integers(0, 24)), min_size=1, max_size=4),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
)
def test_a_play_the_careful_reader_refuses_is_never_read_as_a_legal_one(seed, parts, dice) -> None:
    match = random_match(seed % 50, 1, cube=0.0, resigning=0.0)
    moments = [moment for moment in replayed(match.games[0]) if isinstance(moment.event, Turn)]
    board = moments[seed % len(moments)].board
    written = " ".join(f"{source}/{to}" for source, to in parts)
    event = SetPosition(board)
    letters = "".join("-" if not c else chr((64 if c > 0 else 96) + abs(c)) for c in event.board)
    source = " 1 point match\n\n Game 1\n A : 0     B : 0\n"
    source += f"; Set Pos={letters}/0\n 1) {dice[0]}{dice[1]}: {written}\n"
    reading = read_text(source)
    turn = reading.record.games[0].events[1]
    try:
        steps = read_play(written, board, dice).steps
    except IllegalPlay:
        assert turn.steps is None or not turn.is_legal
        assert reading.warnings
    except NotationError:
        assert turn.steps is None
        assert reading.warnings
    else:
        assert (turn.steps, turn.is_legal) == (steps, True)
        assert not [warning for warning in reading.warnings if "play" in warning.message]


@pytest.mark.parametrize(
    "damage",
    [
        {"length": "7"},
        {"length": -1},
        {"players": ["Ann"]},
        {"players": ["Ann", 7]},
        {"players": ["Ann", "\ud800"]},
        {"rules": {"jacoby": 1}},
        {"rules": {"speed": 1}},
        {"rules": []},
        {"tags": [["a"]]},
        {"games": 7},
        {"games": [{}]},
        {"games": [None]},
    ],
)
def test_a_damaged_document_is_refused(damage) -> None:
    match = document.match_document(random_match(2, 3))
    with pytest.raises(NotationError, match="match document"):
        document.read_json(document.json.dumps(match | damage))


@pytest.mark.parametrize(
    "damage",
    [
        {"type": "dance"},
        {"player": 2},
        {"dice": [7, 1]},
        {"dice": [3]},
        {"steps": [[8, 9]]},
        {"steps": [[8, 5, 3]]},
        {"steps": 5},
        {"legal": "yes"},
        {"comment": 5},
        {"steps": [[24, 19]]},
    ],
)
def test_a_damaged_event_is_refused(damage) -> None:
    match = document.match_document(random_match(2, 3))
    match["games"][0]["events"][0] |= damage
    with pytest.raises(NotationError):
        document.read_json(document.json.dumps(match))
