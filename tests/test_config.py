"""Training configs: each fault is one ValueError that names the key in full and quotes the value."""

import dataclasses
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdgammon.learn.config import (
    BenchConfig,
    LearningConfig,
    Schedule,
    TrainConfig,
    from_document,
    load_config,
)
from tdgammon.value.tables import Architecture

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.toml"))


def refused(complaint, document, overrides=()):
    with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
        from_document(document, overrides)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_project_loads_and_says_what_it_is_for(path):
    config = load_config(path)
    assert config.games >= 1
    assert path.read_text(encoding="utf-8").startswith("# What for: ")
    assert from_document(config.document()) == config


def test_there_are_configs():
    assert {path.stem for path in CONFIGS} >= {"quick", "td80"}


def test_only_the_number_of_games_must_be_given():
    config = from_document({"games": 10})
    assert config == TrainConfig(games=10)
    assert config.network == Architecture()
    refused("games: missing", {})
    refused("games: missing", {"seed": 2})


UNKNOWN = [
    ({"game": 1}, "game: unknown key"),
    ({"learning": {"lambda": 0.5}}, "learning.lambda: unknown key"),
    ({"network": {"width": 80}}, "network.width: unknown key"),
    ({"bench": {"opponents": []}}, "bench.opponents: unknown key"),
    ({"": 1}, ": unknown key"),
]


@pytest.mark.parametrize(("document", "complaint"), UNKNOWN, ids=str)
def test_unknown_keys_are_named_and_the_known_ones_listed(document, complaint):
    refused(complaint, {"games": 10} | document)
    with pytest.raises(ValueError, match="known here are "):
        from_document({"games": 10} | document)


def kinds_of_keys():
    """Full name, type and group of every key."""
    groups = {
        "": TrainConfig,
        "network.": Architecture,
        "learning.": LearningConfig,
        "bench.": BenchConfig,
    }
    for prefix, kind in groups.items():
        for field in dataclasses.fields(kind):
            yield prefix + field.name, str(field.type)


WRONG = {
    "int": ["ten", 1.5, True, [1], {"a": 1}],
    "float": ["ten", True, [1], {"a": 1}, math.inf, math.nan],
    "bool": [1, "yes", 0.5, [True], {"a": 1}],
    "str": [1, True, ["relu"], {"a": 1}],
    "Schedule": ["fast", True, {"a": 1}, [], [1, 2], [[0]], [[0, 1, 2]], [[1, 0.5]], [[0, "x"]]],
    "tuple[int, ...]": [3, "80", 80.0, ["80"], [1.5], [True], {"a": 1}],
    "tuple[str, ...]": ["pubeval", 3, [3], [["pubeval"]], {"a": 1}],
    "Architecture": [3, "small", [80]],
    "LearningConfig": [3, "fast", [0.5]],
    "BenchConfig": [3, "pubeval", []],
}


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key, kind in kinds_of_keys() for value in WRONG[kind]],
    ids=str,
)
def test_a_value_of_the_wrong_type_names_its_key_and_is_quoted(key, value):
    document = {"games": 10}
    group, _, last = key.rpartition(".")
    (document.setdefault(group, {}) if group else document)[last] = value
    with pytest.raises(ValueError, match=re.escape(f"{key}: ")) as caught:
        from_document(document)
    assert "got " in str(caught.value)
    quoted = str(caught.value).partition("got ")[2]
    assert quoted in [repr(part) for part in parts_of(value)]


def parts_of(value):
    """A value and all that it holds; tuples for lists too."""
    yield value
    if isinstance(value, list):
        yield tuple(value)
        for inner in value:
            yield from parts_of(inner)


OUT_OF_RANGE = [
    ({"games": 0}, "games: must be at least 1, got 0"),
    ({"games": -5}, "games: must be at least 1, got -5"),
    ({"seed": -1}, "seed: must be 0 to 2**31 - 1, got -1"),
    ({"seed": 2**31}, "seed: must be 0 to 2**31 - 1, got 2147483648"),
    ({"rules": "chess"}, "rules: "),
    (
        {"network": {"num_checkers": 3}},
        "network.num_checkers: rules 'standard' have 15 checkers a side, got 3",
    ),
    ({"network": {"num_checkers": 16}}, "network.num_checkers: must be 1 to 15, got 16"),
    ({"workers": 0}, "workers: must be 1 to 64, got 0"),
    ({"workers": 65}, "workers: must be 1 to 64, got 65"),
    ({"log_every_games": 0}, "log_every_games: must be at least 1, got 0"),
    ({"save_every_s": 0}, "save_every_s: must be above 0, got 0"),
    ({"save_every_s": -1.5}, "save_every_s: must be above 0, got -1.5"),
    ({"network": {"hidden": []}}, "network.hidden: sizes must be 1 to 4096, got ()"),
    ({"network": {"hidden": [0]}}, "network.hidden: sizes must be 1 to 4096, got (0,)"),
    ({"network": {"hidden": [80, -1]}}, "network.hidden: sizes must be 1 to 4096, got (80, -1)"),
    ({"network": {"hidden": [10**9]}}, "network.hidden: sizes must be 1 to 4096, got (1000000000,)"),
    (
        {"network": {"encoding": "pixels"}},
        "network.encoding: one of tesauro, counts, pairs, windows, shots expected, got 'pixels'",
    ),
    (
        {"network": {"activation": "tanh"}},
        "network.activation: one of relu, sigmoid expected, got 'tanh'",
    ),
    ({"learning": {"method": "magic"}}, "learning.method: 'forward' or 'online' expected, got 'magic'"),
    ({"learning": {"lambda_": -0.5}}, "learning.lambda_: must be 0 to 1, got -0.5"),
    ({"learning": {"lambda_": [[0, 0.5], [9, 1.5]]}}, "learning.lambda_: must be 0 to 1, got 1.5"),
    ({"learning": {"rate": 0}}, "learning.rate: must be 1e-09 to 1, got 0"),
    ({"learning": {"rate": -1e-3}}, "learning.rate: must be 1e-09 to 1, got -0.001"),
    ({"learning": {"rate": 2}}, "learning.rate: must be 1e-09 to 1, got 2"),
    ({"learning": {"batch_size": 0}}, "learning.batch_size: must be 1 to 65536, got 0"),
    ({"learning": {"batch_size": 1e9}}, "learning.batch_size: must be 1 to 65536, got 1e+09"),
    (
        {"learning": {"games_per_iteration": 0.4}},
        "learning.games_per_iteration: must be 1 to 65536, got 0.4",
    ),
    ({"learning": {"averaging": 1}}, "learning.averaging: must be 0 to below 1, got 1"),
    ({"learning": {"averaging": -0.1}}, "learning.averaging: must be 0 to below 1, got -0.1"),
    ({"learning": {"max_turns": 99}}, "learning.max_turns: must be 100 to 10000, got 99"),
    (
        {"learning": {"exact_when_worth": -1}},
        "learning.exact_when_worth: must be 0 to 1e6, got -1",
    ),
    *(
        ({"learning": {key: value}}, f"learning.{key}: needs learning.exact above 0")
        for key, value in (
            ("exact_when_worth", 20),
            ("rivals", 0.5),
            ("replay", [[0, 1], [1000, 8]]),
            ("replay_size", 5000),
        )
    ),
    ({"learning": {"overlap": 0.4}}, "learning.overlap: needs network.specialists"),
    (
        {"network": {"specialists": True}, "learning": {"overlap": 1.1}},
        "learning.overlap: must be 0 to 1, got 1.1",
    ),
    (
        {"network": {"specialists": True}, "learning": {"method": "online"}},
        "network.specialists: needs learning.method 'forward', got 'online'",
    ),
    ({"network": {"specialists": 1}}, "network.specialists: bool expected, got 1"),
    ({"learning": {"rivals": 1.1}}, "learning.rivals: must be 0 to 1, got 1.1"),
    ({"learning": {"replay": 0.5}}, "learning.replay: must be 1 to 100, got 0.5"),
    (
        {"learning": {"replay_size": 0}},
        "learning.replay_size: must be 1 to 20000000, got 0",
    ),
    ({"learning": {"exact": 1.5}}, "learning.exact: must be 0 to 1, got 1.5"),
    ({"learning": {"from_kinds": -0.1}}, "learning.from_kinds: must be 0 to 1, got -0.1"),
    (
        {"learning": {"method": "online", "exact": 0.5}},
        "learning.exact: needs learning.method 'forward', got 'online'",
    ),
    (
        {"learning": {"method": "online", "from_kinds": 0.5}},
        "learning.from_kinds: needs learning.method 'forward', got 'online'",
    ),
    (
        {"learning": {"method": "online", "rivals": 0.5}},
        "learning.rivals: needs learning.method 'forward', got 'online'",
    ),
    (
        {"learning": {"method": "online", "replay": 2}},
        "learning.replay: needs learning.method 'forward', got 'online'",
    ),
    (
        {"learning": {"method": "online", "exact_when_worth": 20}},
        "learning.exact_when_worth: needs learning.method 'forward', got 'online'",
    ),
    (
        {"rules": "caucasian", "learning": {"exact": 0.5}},
        "learning.exact: not for Caucasian hits, got rules 'caucasian'",
    ),
    (
        {
            "rules": "hypergammon",
            "network": {"num_checkers": 3},
            "learning": {"from_kinds": [[0, 0], [10, 0.1]]},
        },
        "learning.from_kinds: boards have 15 checkers a side, rules 'hypergammon' have 3",
    ),
    ({"bench": {"games": 3}}, "bench.games: an even number, 2 to 1000000, expected, got 3"),
    ({"bench": {"games": 0}}, "bench.games: an even number, 2 to 1000000, expected, got 0"),
    (
        {"bench": {"games": 10**12}},
        "bench.games: an even number, 2 to 1000000, expected, got 1000000000000",
    ),
    ({"bench": {"every_games": -1}}, "bench.every_games: must not be negative, got -1"),
    (
        {"network": {"hidden": [8, 8]}, "learning": {"method": "online"}},
        "network.hidden: one layer expected with learning.method 'online', got (8, 8)",
    ),
]


@pytest.mark.parametrize(("document", "complaint"), OUT_OF_RANGE, ids=lambda v: str(v)[:60])
def test_a_value_out_of_range_names_its_key_and_is_quoted(document, complaint):
    refused(complaint, {"games": 10} | document)


def test_numbers_too_large_for_a_float_are_refused():
    refused("save_every_s: ", {"games": 10, "save_every_s": 10**400})
    refused("learning.rate: ", {"games": 10, "learning": {"rate": 10**400}})
    refused("learning.lambda_: ", {"games": 10, "learning": {"lambda_": [[0, 0.5], [10**400, 1]]}})


def test_a_schedule_goes_from_point_to_point():
    schedule = Schedule(((0, 1.0), (100, 3.0), (200, 0.5)))
    assert [schedule.at(g) for g in (-5, 0, 50, 100, 150, 200, 1e9)] == [1, 1, 2, 3, 1.75, 0.5, 0.5]
    rate = Schedule(((0, 1e-2), (100, 1e-4)))
    assert [rate.at_geometric(g) for g in (0, 50, 100, 500)] == pytest.approx([1e-2, 1e-3, 1e-4, 1e-4])
    assert Schedule(((0, 0.7),)).at(123) == 0.7


@pytest.mark.parametrize("games", [[5, 10], [0, 0], [0, 10, 5], [0, -1]])
def test_the_games_of_a_schedule_must_rise_from_0(games):
    points = [[at, 0.5] for at in games]
    refused(
        f"learning.lambda_: games must rise from 0, got {points}",
        {"games": 10, "learning": {"lambda_": points}},
    )


OVERRIDES = [
    ("learning.rate=1e-3", lambda c: c.learning.rate == Schedule(((0, 1e-3),))),
    ("learning.rate = [[0, 1e-3], [50, 1e-4]]", lambda c: len(c.learning.rate.points) == 2),
    ("network.hidden=[40, 20]", lambda c: c.network.hidden == (40, 20)),
    ("network.encoding=counts", lambda c: c.network.encoding == "counts"),
    ('network.encoding="counts"', lambda c: c.network.encoding == "counts"),
    ("games=20", lambda c: c.games == 20),
    ("games=20_000", lambda c: c.games == 20_000),
    (" games =20", lambda c: c.games == 20),
    ("bench.against=[]", lambda c: c.bench.against == ()),
    ('bench.against=["random", "runs/a=b"]', lambda c: c.bench.against == ("random", "runs/a=b")),
]


@pytest.mark.parametrize(("override", "holds"), OVERRIDES, ids=lambda value: str(value))
def test_overrides_are_toml_values_or_words(override, holds):
    assert holds(from_document({"games": 10, "network": {"hidden": [5]}}, [override]))


def test_the_last_override_of_a_key_wins_and_the_document_is_left_alone():
    document = {"games": 10, "network": {"hidden": [5]}}
    config = from_document(document, ["network.hidden=[6]", "games=1", "network.hidden=[7]"])
    assert (config.network.hidden, config.games) == ((7,), 1)
    assert document == {"games": 10, "network": {"hidden": [5]}}


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("games", "--set: KEY=VALUE expected, got 'games'"),
        ("", "--set: KEY=VALUE expected, got ''"),
        ("=3", "--set: KEY=VALUE expected, got '=3'"),
        ("learning.=3", "--set: KEY=VALUE expected, got 'learning.=3'"),
        ("games=", "games: int expected, got ''"),
        ("games=ten", "games: int expected, got 'ten'"),
        ("game=10", "game: unknown key"),
        ("network=3", "network: a group of keys expected, got 3"),
        ("network=[80]", "network: a group of keys expected, got [80]"),
        ("network.hidden=[0]", "network.hidden: sizes must be 1 to 4096, got (0,)"),
        ("network.hidden=80", "network.hidden: a list expected, got 80"),
        ("games.more=3", "games is not a group of keys"),
        ("learning.rate.at=3", "learning.rate: "),
        ("learning.lambda_=-0.5", "learning.lambda_: must be 0 to 1, got -0.5"),
        ("learning.lambda_=nan", "learning.lambda_: a finite number expected, got nan"),
        ("save_every_s=inf", "save_every_s: a finite number expected, got inf"),
        ("games=1\nseed=2", "games: int expected, got '1\\nseed=2'"),
        ("seed=2026-01-01", "seed: int expected, got datetime.date(2026, 1, 1)"),
    ],
)
def test_overrides_that_cannot_be_are_refused(override, complaint):
    refused(complaint, {"games": 10}, [override])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"games = ", "Invalid value"),
        (b"games = 1\ngames = 2", "overwrite"),
        (b"\xff\xfe", "cannot be read"),
        (b"network = 3\ngames = 1", "network: a group of keys expected, got 3"),
        (b"", "games: missing"),
        (b"games = 1\n[[network]]\nhidden = [4]", "network: a group of keys expected, got [{"),
        (b"a = " + b"[" * 3000, "config "),
    ],
)
def test_files_that_are_no_configs_are_refused_in_one_line(text, complaint, tmp_path):
    file = tmp_path / "odd.toml"
    file.write_bytes(text)
    with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
        load_config(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nosuch.toml", "x" * 5000, "nul\0"])
def test_a_file_that_is_not_there_is_named(name, tmp_path):
    with pytest.raises(ValueError, match="config ") as caught:
        load_config(name)
    assert repr(name) in str(caught.value)
    with pytest.raises(ValueError, match="cannot be read"):
        load_config(tmp_path)


schedules = st.one_of(
    st.floats(0.001, 1),
    st.lists(st.floats(0.001, 1), min_size=1, max_size=4).map(
        lambda values: [[float(100 * k), value] for k, value in enumerate(values)]
    ),
)


@given(
    st.integers(1, 10**9),
    st.integers(0, 2**31 - 1),
    st.lists(st.integers(1, 4096), min_size=1, max_size=3),
    schedules,
    schedules,
    st.lists(st.sampled_from(["pubeval", "random", "a/b"]), max_size=3),
)
def test_document_writes_what_from_document_reads(games, seed, hidden, rate, lambda_, against):
    config = from_document(
        {
            "games": games,
            "seed": seed,
            "network": {"hidden": hidden},
            "learning": {"rate": rate, "lambda_": lambda_},
            "bench": {"against": against},
        }
    )
    assert from_document(json.loads(json.dumps(config.document()))) == config


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TrainConfig(games=1).games = 2
