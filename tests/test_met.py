"""Match equity tables: the published numbers, longer matches, a user's own, and our own recursion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tdgammon.decide import own_met
from tdgammon.decide.met import COMPUTED, NAMES, MatchEquityTable, met, table_of

ALL = [*NAMES, COMPUTED]

XML = """<?xml version="1.0"?>
<met><info><name>Tiny</name><length>3</length></info>
<pre-crawford-table type="explicit">
<row><me>0.5</me><me>0.68</me><me>0.75</me></row>
<row><me>0.32</me><me>0.5</me><me>0.6</me></row>
<row><me>0.25</me><me>0.4</me><me>0.5</me></row>
</pre-crawford-table>
<post-crawford-table type="explicit" player="both">
<row><me>0.5</me><me>0.49</me><me>0.32</me></row>
</post-crawford-table></met>"""


def chance(table: MatchEquityTable, own: int, theirs: int, *, post: bool = False) -> float:
    return float(table.chances(np.array([[own, theirs]]), np.array([post]))[0])


def test_kazaross_xg2_is_the_default_and_has_its_published_values() -> None:
    rows = {
        1: [0.5, 0.67736, 0.75076, 0.81436, 0.84179, 0.88731, 0.90724],
        2: [0.32264, 0.5, 0.59947, 0.6687, 0.74359],
        3: [0.24924, 0.40053, 0.5, 0.5715, 0.64795],
    }
    for own, values in rows.items():
        assert [chance(met(), own, k) for k in range(1, len(values) + 1)] == values
    trailer = [0.5, 0.48803, 0.32264, 0.31002, 0.19012, 0.18072]
    assert [chance(met(), k, 1, post=True) for k in range(1, 7)] == trailer
    assert chance(met(), 1, 2, post=True) == pytest.approx(1 - 0.48803)


def test_woolsey_1992_has_its_published_values() -> None:
    table = met("woolsey-1992")
    assert [chance(table, 1, k) for k in range(1, 6)] == [0.5, 0.7, 0.75, 0.83, 0.85]
    assert chance(table, 3, 4) == 0.59
    trailer = [0.5, 0.485, 0.3, 0.296, 0.18, 0.18]
    assert [chance(table, k, 1, post=True) for k in range(1, 7)] == trailer


@pytest.mark.parametrize("name", ALL)
def test_the_two_players_chances_sum_to_one_and_fall_with_the_points_needed(name: str) -> None:
    table = met(name)
    for chances in (table.before[1:, 1:], table.after[1:, 1:]):
        assert chances + chances.T == pytest.approx(np.ones((64, 64)), abs=1e-6)
        assert (np.diff(chances, axis=0) <= 1e-12).all()
        assert (np.diff(chances, axis=1) >= -1e-12).all()


@pytest.mark.parametrize("name", ALL)
def test_a_match_that_is_won_is_certain(name: str) -> None:
    for needed in (0, -3):
        assert chance(met(name), needed, 5) == 1
        assert chance(met(name), 5, needed) == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_notices_of_the_authors_are_kept(name: str) -> None:
    assert met(name).notice.startswith("Copyright (C) ")
    assert "preserved" in met(name).notice


def test_longer_matches_go_on_where_the_table_ends() -> None:
    short = json.loads(Path(own_met.__file__).with_name(NAMES["kazaross-xg2"]).read_text())
    full = np.array(short["pre_crawford"])
    cut = table_of("cut", full[:15, :15], np.array(short["post_crawford"][:15]))
    assert cut.before[1:26, 1:26] == pytest.approx(full, abs=0.008)
    assert cut.after[1:26, 1] == pytest.approx(np.array(short["post_crawford"]), abs=2e-4)


def test_the_table_that_is_computed_is_close_to_the_published_one() -> None:
    ours, published = met(COMPUTED).before, met().before
    assert np.abs(ours - published)[1:16, 1:16].mean() < 0.003
    assert np.abs(ours - published)[1:16, 1:16].max() < 0.015
    # Crawford game, 2-away: half of the games are lost, the trailer's 27 % gammons end the match
    assert chance(met(COMPUTED), 2, 1) == pytest.approx(0.5 * (0.27 + 0.73 * 0.5))


def test_more_gammons_help_the_side_that_is_behind() -> None:
    few, many = own_met.computed(gammons=0.1, length=5), own_met.computed(gammons=0.4, length=5)
    assert chance(many, 2, 1) > chance(few, 2, 1)
    assert chance(many, 4, 1, post=True) > chance(few, 4, 1, post=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gammons": 1.5}, "shares of wins"),
        ({"life": -1.0}, "life"),
        ({"length": 2}, "length: 3 to 64"),
    ],
)
def test_a_table_is_not_computed_from_impossible_numbers(change: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        own_met.computed(**change)  # type: ignore[arg-type]


def test_a_users_own_table_is_read_from_xml_and_json(tmp_path: Path) -> None:
    xml, document = tmp_path / "tiny.xml", tmp_path / "tiny.json"
    xml.write_text(XML)
    rows = [[0.5, 0.68, 0.75], [0.32, 0.5, 0.6], [0.25, 0.4, 0.5]]
    post = [0.5, 0.49, 0.32]
    document.write_text(json.dumps({"name": "Tiny", "pre_crawford": rows, "post_crawford": post}))
    for path in (xml, document):
        table = met(path)
        assert table.name == "Tiny"
        assert table.length == 3
        assert chance(table, 2, 3) == 0.6
        assert chance(table, 2, 1, post=True) == 0.49
        assert (table.before == met(str(path)).before).all()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("0.68", "0.7", "1-away against 2-away: 0.7 and 0.32 do not sum to 1"),
        ("<me>0.75</me></row>", "</row>", "no match equity table"),
        ('type="explicit"', 'type="zadeh"', "type 'zadeh'"),
        ("0.68", "much", "no match equity table"),
        ("0.49", "nan", "a chance expected, got 'nan'"),
        ("</met>", "", "no match equity table"),
        ("<me>0.6</me>", "<me>0.45</me>", "do not sum to 1"),
    ],
)
def test_a_table_that_is_not_sound_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(XML.replace(old, new))
    with pytest.raises(ValueError, match=f"bad.xml: .*{fault}"):
        met(path)


TINY = {
    "name": "Tiny",
    "pre_crawford": [[0.5, 0.68, 0.75], [0.32, 0.5, 0.6], [0.25, 0.4, 0.5]],
    "post_crawford": [0.5, 0.49, 0.32],
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"post_crawford": [0.5, 0.49, 10**400]}, "too large"),
        ({"post_crawford": [0.4, 0.39, 0.2]}, "post-Crawford row: 0.5 expected at 1-away, got 0.4"),
        ({"post_crawford": [0.5, 0.3, 0.4]}, "rises from 0.3 at 2-away to 0.4 at 3-away"),
        ({"post_crawford": [0.5, 0.3, 1e-12]}, "1e-12 at 3-away is too small"),
        ({"pre_crawford": [[0.5] * 3] * 3}, "2-away against 2-away: a point won gains nothing"),
    ],
)
def test_numbers_that_no_match_has_are_refused(
    tmp_path: Path, change: dict[str, object], fault: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**TINY, **change}))
    with pytest.raises(ValueError, match=f"bad.json: no match equity table: .*{fault}"):
        met(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [("deep.json", "[" * 100_000), ("odd.xml", '<?xml version="1.0" encoding="odd"?><met/>')],
)
def test_a_file_that_cannot_be_parsed_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{name}: no match equity table"):
        met(path)


@pytest.mark.parametrize("name", ALL)
def test_a_point_is_worth_something_at_every_score(name: str) -> None:
    before, after = met(name).before, met(name).after
    assert (before[:-1, 1:] > before[1:, :-1]).all()  # a point won, a point lost
    assert (after[1:, 1] > 0).all()
    assert (after[1, 1:] < 1).all()


def test_a_name_that_no_table_has_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"kazaross-xg2, .*computed.*got 'zadeh'"):
        met("zadeh")
    with pytest.raises(ValueError, match=r"none\.json: No such file"):
        met(tmp_path / "none.json")
