"""Names of merged entities in snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiprdf import Nexus
from kiprdf.memory import Memory


@pytest.fixture
def merged() -> Memory:
    memory = Memory(Nexus.memory())
    memory.add("I'm working on meshalyzer.")
    memory.upsert_entity("project", "mesh analyzer")
    memory.merge("mesh analyzer", "meshalyzer")
    return memory


def projects(memory: Memory) -> list[str]:
    return [entity.name for entity in memory.entities("project")]


def test_a_snapshot_keeps_the_names_of_merged_entities(merged: Memory, tmp_path: Path) -> None:
    merged.export_file(tmp_path / "graph.json")
    for merge in (False, True):
        other = Memory(Nexus.memory())
        other.import_(tmp_path / "graph.json", merge=merge)
        other.add("I'm working on Mesh Analyzer.")
        assert projects(other) == ["Meshalyzer"]
        assert [hit.score for hit in other.search("mesh analyzer")] == [1.0]
        assert other.export()["entities"][1]["aliases"] == ["mesh analyzer"]


def test_only_an_entity_with_other_names_has_aliases(merged: Memory) -> None:
    user, project = merged.export()["entities"]
    assert "aliases" not in user
    assert project["aliases"] == ["mesh analyzer"]
    assert "aliases" not in project["metadata"]


def test_a_merge_of_snapshots_finds_an_entity_by_an_alias(merged: Memory) -> None:
    other = Memory(Nexus.memory())
    other.add("I'm working on Mesh Analyzer.")
    other.import_(merged.export(), merge=True)
    assert projects(other) == ["Mesh Analyzer"]
    other.add("I'm working on meshalyzer.")
    assert projects(other) == ["Mesh Analyzer"]
    assert len(other.edges("works_on")) == 1


def test_two_entities_of_a_snapshot_stay_two(merged: Memory) -> None:
    snapshot = merged.export()
    second = {**snapshot["entities"][1], "id": "entity:2", "name": "mesh analyzer"}
    snapshot["entities"].append({**second, "normalized_name": "mesh analyzer", "aliases": []})
    other = Memory(Nexus.memory())
    other.add("I'm working on Mesh Analyzer.")
    other.import_(snapshot, merge=True)
    assert projects(other) == ["Mesh Analyzer", "Meshalyzer"]


@pytest.mark.parametrize("aliases", ["mesh", [1], {"a": 1}])
def test_aliases_that_are_no_list_of_texts_are_refused(merged: Memory, aliases: object) -> None:
    snapshot = merged.export()
    snapshot["entities"][1]["aliases"] = aliases
    with pytest.raises(ValueError, match=r"aliases of the entity .* is a list of texts"):
        merged.import_(snapshot)
