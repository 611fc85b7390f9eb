"""A history leaves a nexus as a log of RDF Patches, and is restored as it was."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import kiprdf
from kiprdf.interchange.differences import patch_log
from tests.long_runs import SEED, amount
from tests.store.test_past import SCHEMA, change

STATEMENTS = amount("HISTORIES", 40)


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    """A nexus with random commits, some of an author."""
    chance = random.Random(SEED)
    result = kiprdf.Nexus.memory(history=True)
    result.execute(SCHEMA)
    value = 'UPSERT { CONCEPT { {type: "Drug", name: "D9"} SET ATTRIBUTES {note: :value} } }'
    for zero in (0.0, -0.0, 1.0):
        result.execute(value, value=zero)
    for number in range(STATEMENTS):
        with result.acting(author=f'agent \u2028 "{number % 3}"', session="s\n1"):
            change(result, chance)
    return result


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_restored_history_is_the_same(nexus: kiprdf.Nexus, place: str, tmp_path: Path) -> None:
    nexus.undo(seq=nexus.info()["commit"], conflicts="skip")
    last = nexus.info()["commit"]
    text = nexus.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    in_folder = place == "folder"
    options = {"history": True}
    copy = kiprdf.Nexus.open(tmp_path / "kb") if in_folder else kiprdf.Nexus.memory(**options)
    with copy:
        copy.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
        assert (copy.snapshot(), copy.info()["commit"]) == (text, last)
        assert copy.changes(since=0) == nexus.changes(since=0)
        assert copy.history("C:Drug/D1") == nexus.history("C:Drug/D1")
        with copy.at(last - 7) as past, nexus.at(last - 7) as expected:
            assert past.snapshot() == expected.snapshot()
        copy.snapshot(history=tmp_path / "again.rdfp")
        logs = [(tmp_path / name).read_text() for name in ("again.rdfp", "m.rdfp")]
        # Another nexus has another id.
        ids = [re.findall("H replica .*\n", log) for log in logs]
        assert len({*ids[0]}) == len({*ids[1]}) == 1
        assert ids[0] != ids[1]
        assert logs[0].replace(ids[0][0], ids[1][0]) == logs[1]
        report = copy.check()
        assert (report["faults"], report["index"]) == ([], "sound")
        assert report["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}
        copy.execute('UPSERT { CONCEPT { {type: "Drug", name: "Another"} } }')
        assert copy.info()["commit"] == last + 1
        assert copy.execute('SEARCH CONCEPT "another" LIMIT 1')[0]["name"] == "Another"
    if in_folder:
        with kiprdf.Nexus.open(tmp_path / "kb") as opened:
            assert opened.check()["history"]["state"] == "sound"
            assert opened.info()["commit"] == last + 1


def test_compacted_history_begins_with_the_whole_dataset(
    nexus: kiprdf.Nexus, tmp_path: Path
) -> None:
    last = nexus.info()["commit"]
    report = nexus.compact_history(last - 5)
    assert report == {"earliest_seq": last - 5, "commits": last - 5}
    assert nexus.compact_history("2020-01-01") == {"earliest_seq": last - 5, "commits": 0}
    with pytest.raises(kiprdf.KipError, match="KIP_3002 The history begins at commit"):
        nexus.at(last - 6)
    text = nexus.snapshot(history=tmp_path / "m.rdfp")
    copy = kiprdf.Nexus.memory(history=True)
    copy.restore(text, history=tmp_path / "m.rdfp")
    for place in (nexus, copy):
        expected = {"state": "sound", "earliest_seq": last - 5, "faults": []}
        assert place.check()["history"] == expected
        with place.at(last - 5) as past:
            assert past.check()["faults"] == []


Damage = Callable[[str], str]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda log: "", "KIP_1001 The log has no patch"),
        (lambda log: log.partition("TC .\n")[2], "The patch before commit 2 is missing"),
        (lambda log: log.replace("H seq", "H number", 1), "A patch of the log cannot be read"),
        (lambda log: log + "no row\n", "'no row' is not a row of a log"),
        (lambda log: log.rpartition("H id")[0], "KIP_2002 The history does not lead to the snap"),
        (lambda log: log.replace('"Drug"', '"Dru"', 1), "KIP_2002 The history does not lead"),
    ],
)
def test_log_that_does_not_lead_to_the_snapshot_is_refused(
    nexus: kiprdf.Nexus, tmp_path: Path, damage: Damage, message: str
) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Last"} } }')
    text = nexus.snapshot(history=tmp_path / "m.rdfp")
    (tmp_path / "m.rdfp").write_text(damage((tmp_path / "m.rdfp").read_text("utf-8")), "utf-8")
    copy = kiprdf.Nexus.memory(history=True)
    before = copy.snapshot()
    with pytest.raises(kiprdf.KipError, match=message):
        copy.restore(text, history=tmp_path / "m.rdfp")
    assert copy.snapshot() == before


def test_history_needs_a_nexus_that_has_one_and_a_whole_snapshot(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory()
    with pytest.raises(kiprdf.KipError, match="KIP_1001 This nexus has no history"):
        nexus.snapshot(history=tmp_path / "m.rdfp")
    nexus = kiprdf.Nexus.memory(history=True)
    with pytest.raises(kiprdf.KipError, match="KIP_1001 A history can only be written beside"):
        nexus.snapshot(domain="System", history=tmp_path / "m.rdfp")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("was", "is_filled"), [(True, False), (False, True), (False, False)])
def test_what_is_strict_stays_strict(tmp_path: Path, was: bool, is_filled: bool) -> None:
    source = kiprdf.Nexus.memory(history=True, strict_schema=was)
    drug = '{ {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES {description: "A medicine."} }'
    source.execute(f"UPSERT {{ CONCEPT {drug} }}")
    source.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder, genesis=False, strict_schema=is_filled) as copy:
        copy.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
        assert copy.strict_schema is (was or is_filled)
    with kiprdf.Nexus.open(folder, genesis=False) as copy:
        assert copy.strict_schema is (was or is_filled)
        assert copy.check()["history"]["state"] == "sound"


def test_log_that_begins_in_the_middle_continues_the_one_before(nexus: kiprdf.Nexus) -> None:
    store, last = nexus.store, nexus.info()["commit"]
    whole = [*patch_log.written(store)]
    assert len(whole) == last
    assert [*patch_log.written(store, last - 3)] == whole[-3:]
    assert [*patch_log.written(store, last)] == []
    nexus.compact_history(last - 5)
    (number, base), *rest = patch_log.written(store)
    assert number == last - 5
    assert f'H seq "{last - 5}" .\n' in base
    assert 'H kind "BASE" .\n' in base
    assert [*patch_log.written(store, last - 5)] == rest
    assert [(number, text.partition("TX .\n")[2]) for number, text in rest] == [
        (number, text.partition("TX .\n")[2]) for number, text in whole[-5:]
    ]
    for number in (last - 6, last + 1):
        with pytest.raises(kiprdf.KipError, match="KIP_3002"):
            next(patch_log.written(store, number))
