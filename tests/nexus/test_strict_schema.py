"""Whether a nexus is strict is stored in it (docs/decisions/054)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, Quad

import kiprdf

SENSOR = """
UPSERT { CONCEPT { {type: "$ConceptType", name: "Sensor"}
  SET ATTRIBUTES {
    description: "Measures something.",
    instance_schema: {unit: {type: "string", is_required: true}}
  } } }
"""
BAD = 'UPSERT { CONCEPT { {type: "Sensor", name: "t1"} } }'


def strict_folder(folder: Path, **options: Any) -> Path:
    """A strict nexus with a type that has a required attribute."""
    with kiprdf.Nexus.open(folder, strict_schema=True, **options) as nexus:
        nexus.execute(SENSOR)
    return folder


def refuses_bad(nexus: kiprdf.Nexus) -> bool:
    """Whether a nexus refuses an instance without its required attribute."""
    response = nexus.execute_kip({"command": BAD, "dry_run": True})
    return response.get("error", {}).get("code") == "KIP_2002"


@pytest.mark.parametrize("genesis", [True, False])
def test_a_strict_nexus_stays_strict_when_it_is_opened_without_the_argument(
    tmp_path: Path, genesis: bool
) -> None:
    folder = strict_folder(tmp_path / "kb", genesis=genesis)
    with kiprdf.Nexus.open(folder, genesis=genesis) as nexus:
        assert (nexus.strict_schema, refuses_bad(nexus)) == (True, True)


def test_the_argument_changes_what_is_stored_in_both_directions(tmp_path: Path) -> None:
    folder = strict_folder(tmp_path / "kb")
    kiprdf.Nexus.open(folder, strict_schema=False).close()
    with kiprdf.Nexus.open(folder) as nexus:
        assert (nexus.strict_schema, refuses_bad(nexus)) == (False, False)
    kiprdf.Nexus.open(folder, strict_schema=True).close()
    with kiprdf.Nexus.open(folder) as nexus:
        assert (nexus.strict_schema, refuses_bad(nexus)) == (True, True)


def test_a_new_nexus_is_not_strict(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert nexus.strict_schema is False
    assert kiprdf.Nexus.memory().strict_schema is False


def test_an_argument_that_agrees_with_what_is_stored_writes_nothing(tmp_path: Path) -> None:
    folder = strict_folder(tmp_path / "kb")
    with kiprdf.Nexus.open(folder, strict_schema=True) as nexus:
        commit = nexus.info()["commit"]
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.info()["commit"] == commit


def test_info_says_whether_a_nexus_is_strict() -> None:
    assert kiprdf.Nexus.memory(strict_schema=True).info()["strict_schema"] is True
    assert kiprdf.Nexus.memory().info()["strict_schema"] is False


def test_a_backup_is_strict_too(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(strict_folder(tmp_path / "kb")) as nexus:
        nexus.backup(tmp_path / "copy")
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert (copy.strict_schema, refuses_bad(copy)) == (True, True)


def test_a_backup_of_a_strict_nexus_in_memory_is_strict(tmp_path: Path) -> None:
    kiprdf.Nexus.memory(strict_schema=True).backup(tmp_path / "copy")
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert copy.strict_schema is True


def test_read_only_obeys_what_is_stored(tmp_path: Path) -> None:
    folder = strict_folder(tmp_path / "kb")
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert nexus.strict_schema is True
    with kiprdf.Nexus.open(folder, read_only=True, strict_schema=True) as nexus:
        assert nexus.strict_schema is True


@pytest.mark.parametrize("strict", [True, False])
def test_read_only_refuses_to_change_what_is_stored(tmp_path: Path, strict: bool) -> None:
    kiprdf.Nexus.open(tmp_path / "kb", strict_schema=strict).close()
    with pytest.raises(kiprdf.StoreError) as raised:
        kiprdf.Nexus.open(tmp_path / "kb", read_only=True, strict_schema=not strict)
    state = "strict" if strict else "not strict"
    assert str(raised.value) == f"The nexus is {state}; open it for writing to change that."


def test_a_nexus_that_was_only_made_strict_is_still_empty_for_restore(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory() as source:
        source.execute(SENSOR)
        snapshot = source.snapshot()
    for genesis in (True, False):
        with kiprdf.Nexus.open(
            tmp_path / str(genesis), genesis=genesis, strict_schema=True
        ) as nexus:
            nexus.restore(snapshot)
            assert (nexus.strict_schema, refuses_bad(nexus)) == (True, True)


def test_a_nexus_with_knowledge_is_not_empty_for_restore_after_it_was_made_strict(
    tmp_path: Path,
) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SENSOR)
        snapshot = nexus.snapshot()
    with (
        kiprdf.Nexus.open(tmp_path / "kb", strict_schema=True) as nexus,
        pytest.raises(kiprdf.KipError, match="KIP_2002"),
    ):
        nexus.restore(snapshot)


def test_a_restore_takes_what_the_schema_would_refuse() -> None:
    with kiprdf.Nexus.memory() as source:
        source.execute(SENSOR)
        source.execute(BAD)
        snapshot = source.snapshot()
    with kiprdf.Nexus.memory(strict_schema=True) as nexus:
        nexus.restore(snapshot)
        assert nexus.execute('FIND(?s.name) WHERE { ?s {type: "Sensor"} }') == ["t1"]


def test_a_snapshot_is_the_same_text_whether_a_nexus_is_strict_or_not() -> None:
    snapshots = [
        kiprdf.Nexus.memory(strict_schema=strict).snapshot(engine_metadata=False)
        for strict in (True, False)
    ]
    assert snapshots[0] == snapshots[1]


def test_capsules_and_imports_obey_what_is_stored(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(strict_folder(tmp_path / "kb")) as nexus:
        with pytest.raises(kiprdf.KipError, match="lacks the required attribute 'unit'"):
            nexus.apply_capsule(BAD)
        with pytest.raises(kiprdf.KipError, match="lacks the required attribute 'unit'"):
            nexus.import_rdf(
                "<https://example.org/t1> a <https://example.org/Sensor> .",
                format="turtle",
                mapping={"@context": {"Sensor": "https://example.org/Sensor"}},
            )


def test_a_schema_that_the_bundled_capsules_violate_does_not_keep_a_nexus_from_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", strict_schema=True) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} SET ATTRIBUTES '
            '{ instance_schema: {email: {type: "string", is_required: true}} } } }'
        )
    from kiprdf import resources

    changed = [
        bundled._replace(text=bundled.text + "\n", digest="changed")
        for bundled in resources.bundled_capsules()
        if bundled.name == "21_system.kip"
    ]
    monkeypatch.setattr(resources, "bundled_capsules", lambda: changed)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert nexus.strict_schema is True


def test_check_reports_a_record_of_strictness_that_is_neither_true_nor_false(
    tmp_path: Path,
) -> None:
    folder = strict_folder(tmp_path / "kb")
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.check()["faults"] == []
        engine = nexus.store.engine
        [quad] = [quad for quad in engine if quad.predicate.value.endswith("record/strict_schema")]
        assert quad.object == Literal("true")
        engine.add(Quad(quad.subject, quad.predicate, Literal("maybe"), quad.graph_name))
        [fault] = nexus.check()["faults"]
        assert fault.startswith("The record strict_schema is ")
        assert fault.endswith('; it is either "true" or "false".')


@pytest.mark.parametrize("value", ["yes", 1, 0])
def test_an_argument_that_is_no_boolean_is_refused_before_a_folder_is_created(
    tmp_path: Path, value: Any
) -> None:
    with pytest.raises(kiprdf.KipError, match="The argument strict_schema is True or False"):
        kiprdf.Nexus.open(tmp_path / "kb", strict_schema=value)
    assert not (tmp_path / "kb").exists()
