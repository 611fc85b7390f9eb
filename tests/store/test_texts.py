"""Every write keeps the texts that FILTER finds by index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from pyoxigraph import Literal, NamedNode, Quad

import kiprdf
from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.store.bookkeeping import stored_texts

SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }'
ASA = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.aliases == "ASA") }'


def drug(name: str, aliases: str) -> str:
    return (
        f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{name}"}} '
        f"SET ATTRIBUTES {{ aliases: {aliases} }} }} }}"
    )


def texts(nexus: kiprdf.Nexus) -> list[str]:
    assert nexus.store.has_right_texts()
    quads = stored_texts(nexus.store.engine)
    return sorted(q.object.value for q in quads if q.predicate == vocab.attribute("aliases"))


@pytest.fixture(params=["memory", "disk"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> kiprdf.Nexus:
    on_disk = request.param == "disk"
    nexus = kiprdf.Nexus.open(tmp_path / "nexus") if on_disk else kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    nexus.execute(drug("Aspirin", '["ASA", "Acetylsalicylic acid", 3]'))
    return nexus


def test_an_array_has_the_texts_of_its_items(nexus: kiprdf.Nexus) -> None:
    assert texts(nexus) == ["3.0", "ASA", "Acetylsalicylic acid"]
    assert nexus.execute(ASA) == ["Aspirin"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('["ASA", "Aspro"]', ["ASA", "Aspro"]),
        ('"ASA"', []),
        ('{"@value": "ASA", "@language": "en"}', ["ASA"]),
        ("null", []),
    ],
)
def test_another_value_replaces_the_texts(
    nexus: kiprdf.Nexus, value: str, expected: list[str]
) -> None:
    nexus.execute(drug("Aspirin", value))
    assert texts(nexus) == expected
    assert nexus.execute(ASA) == (["Aspirin"] if value != "null" else [])


def test_a_deleted_value_has_no_texts(nexus: kiprdf.Nexus) -> None:
    nexus.execute('DELETE ATTRIBUTES {"aliases"} FROM ?d WHERE { ?d {type: "Drug"} }')
    assert texts(nexus) == []
    assert nexus.execute(ASA) == []


def test_a_deleted_concept_has_no_texts(nexus: kiprdf.Nexus) -> None:
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert texts(nexus) == []


def test_a_merged_concept_has_the_texts_of_both(nexus: kiprdf.Nexus) -> None:
    nexus.execute(drug("Aspro", '["ASA 100"]'))
    where = '?a {type: "Drug", name: "Aspro"} ?b {type: "Drug", name: "Aspirin"}'
    nexus.execute(f"MERGE CONCEPT ?a INTO ?b WHERE {{ {where} }}")
    texts(nexus)
    assert nexus.execute(ASA) == ["Aspirin"]


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_restored_nexus_has_the_texts(nexus: kiprdf.Nexus, profile: str, tmp_path: Path) -> None:
    snapshot = nexus.snapshot(profile=profile)  # type: ignore[arg-type]
    assert "urn:kip:graph/texts" not in snapshot
    for other in (kiprdf.Nexus.memory(), kiprdf.Nexus.open(tmp_path / "other")):
        other.restore(snapshot)
        assert texts(other) == ["3.0", "ASA", "Acetylsalicylic acid"]
        assert other.execute(ASA) == ["Aspirin"]


def test_a_copy_and_a_backup_have_the_texts(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    nexus.backup(tmp_path / "backup")
    copy = kiprdf.Nexus.open(tmp_path / "backup", read_only=True)
    assert texts(copy) == ["3.0", "ASA", "Acetylsalicylic acid"]
    assert nexus.store.copy().has_right_texts()


def test_check_repairs_wrong_texts(nexus: kiprdf.Nexus) -> None:
    wrong = Quad(NamedNode("urn:kip:nexus/Drug/Aspirin"), vocab.attribute("aliases"),
                 Literal("Aspro"), vocab.TEXTS)  # fmt: skip
    nexus.store.engine.add(wrong)
    assert nexus.check()["faults"] == [
        "FILTER finds some texts of arrays, tagged or typed values wrongly; repair it."
    ]
    assert nexus.check(repair=True)["faults"] == []
    assert nexus.check()["faults"] == []
    assert texts(nexus) == ["3.0", "ASA", "Acetylsalicylic acid"]


@pytest.fixture(params=[1, 2])
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of format 1, which has no texts, or of format 2, which has no numbers."""
    folder = tmp_path / "earlier"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(drug("Aspirin", '["ASA", 3, true]'))
        engine = nexus.store.engine
        for quad in list(stored_texts(engine)):
            if request.param == 1 or cast(Literal, quad.object).datatype != vocab.STRING:
                engine.remove(quad)
        for quad in list(engine.quads_for_pattern(None, vocab.FORMAT, None, None)):
            engine.remove(quad)
            number = Literal(request.param)
            engine.add(Quad(quad.subject, vocab.FORMAT, number, quad.graph_name))
    manifest = {"format": request.param, "base": "urn:kip:nexus/"}
    (folder / "nexus.json").write_text(json.dumps(manifest))
    return folder


def test_a_folder_of_an_earlier_format_is_converted(earlier: Path) -> None:
    with kiprdf.Nexus.open(earlier) as nexus:
        assert nexus.execute(ASA) == ["Aspirin"]
        for value in ("3", "true"):
            assert nexus.execute(ASA.replace('"ASA"', value)) == ["Aspirin"]
        assert nexus.check()["faults"] == []
    assert json.loads((earlier / "nexus.json").read_text())["format"] == 3
    with kiprdf.Nexus.open(earlier, read_only=True) as nexus:
        assert nexus.execute(ASA) == ["Aspirin"]


def test_a_converted_folder_has_its_graph_where_it_was(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "optimized"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(drug("Aspirin", '["ASA"]'))
        nexus.optimize()
    manifest = json.loads((folder / "nexus.json").read_text())
    assert manifest["graph"] == "graph.2"
    (folder / "nexus.json").write_text(json.dumps({**manifest, "format": 2}))
    with kiprdf.Nexus.open(folder) as nexus:
        assert json.loads((folder / "nexus.json").read_text()) == manifest
        assert nexus.execute(ASA) == ["Aspirin"]
    for read_only in (True, False):
        with kiprdf.Nexus.open(folder, read_only=read_only) as nexus:
            assert nexus.execute(ASA) == ["Aspirin"]
            assert nexus.check()["faults"] == []


def test_a_folder_of_an_earlier_format_is_not_opened_read_only(earlier: Path) -> None:
    number = json.loads((earlier / "nexus.json").read_text())["format"]
    with pytest.raises(StoreError) as caught:
        kiprdf.Nexus.open(earlier, read_only=True)
    assert str(caught.value) == (
        f"The nexus in {earlier} has the earlier format {number}; 'kiprdf check' converts it, as "
        "any opening for writing does."
    )
