"""What rows come from: values, paths, branches, evidence, and the proof as RDF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib

import kiprdf
from kiprdf import KipError
from kiprdf.execution import why

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$ConceptType", name: "Page"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "is_a"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT { {type: "$PropositionType", name: "states"} }
  CONCEPT { {type: "$PropositionType", name: "derived_from"} }
}
"""
FACTS = """
UPSERT {
  CONCEPT ?feeling { {type: "Symptom", name: "Feeling"} }
  CONCEPT ?pain { {type: "Symptom", name: "Pain"} SET PROPOSITIONS { ("is_a", ?feeling) } }
  CONCEPT ?ache { {type: "Symptom", name: "Headache"} SET PROPOSITIONS { ("is_a", ?pain) } }
  CONCEPT ?aspirin { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 2 } }
  CONCEPT { {type: "Drug", name: "Placebo"} }
  PROPOSITION ?treats { (?aspirin, "treats", ?ache) } WITH METADATA {
    source: "leaflet", author: "ada", confidence: 0.8, evidence: ["https://x.org/1"]
  }
  PROPOSITION { (?aspirin, "treats", ?pain) } WITH METADATA { confidence: 0.3, status: "draft" }
  CONCEPT ?page { {type: "Page", name: "p1"} } WITH METADATA { source: "web" }
  PROPOSITION { (?page, "states", ?treats) }
  PROPOSITION { (?treats, "derived_from", ?page) }
}
"""
TREATS = "P:48ec6e8e3fe50dea:treats"
TREATS_PAIN = "P:cd9cb90c82d6008b:treats"


@pytest.fixture(params=["memory", "folder", "rdflib"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[kiprdf.Nexus]:
    """The same facts in memory, in a folder with a history, and in a SPARQL store."""
    kinds: dict[str, Any] = {
        "memory": kiprdf.Nexus.memory,
        "folder": lambda: kiprdf.Nexus.open(tmp_path / "kb", history=True),
        "rdflib": lambda: kiprdf.Nexus.connect(rdflib.Graph()),
    }
    with kinds[request.param]() as opened:
        opened.execute(SCHEMA)
        opened.execute(FACTS)
        yield opened


def derivations(nexus: kiprdf.Nexus, command: str) -> list[list[dict[str, Any]]]:
    return [row["derivations"] for row in nexus.why(command).to_json()]  # type: ignore[misc]


def test_a_derivation_has_what_is_matched_and_read(nexus: kiprdf.Nexus) -> None:
    command = """
    FIND(?d.name) WHERE {
      ?d {type: "Drug"} (?d, "treats", {name: "Headache"}) FILTER(?d.attributes.risk > 1)
    } ORDER BY ?d.metadata.source
    """
    (row,) = nexus.why(command).to_json()
    assert row == {
        "row": 0,
        "derivations": [
            {
                "propositions": [TREATS],
                "concepts": ["C:Drug/Aspirin", "C:Symptom/Headache"],
                "values": [
                    {"of": "C:Drug/Aspirin", "key": "attributes.risk", "value": 2},
                    {"of": "C:Drug/Aspirin", "key": "name", "value": "Aspirin"},
                    {"of": "C:Drug/Aspirin", "key": "metadata.source", "value": None},
                ],
                "paths": [],
                "absent": [],
                "branch": None,
                "inferred": [],
            }
        ],
        "more": 0,
        "group": None,
        "confidence": 0.8,
        "trust": "active",
    }


def test_the_best_derivation_comes_first_and_makes_the_confidence(nexus: kiprdf.Nexus) -> None:
    (row,) = nexus.why('FIND(?d) WHERE { ?d {name: "Aspirin"} (?d, "treats", ?s) }').rows
    assert [one.propositions for one in row.derivations] == [(TREATS,), (TREATS_PAIN,)]
    assert (row.confidence, row.trust, row.more) == (0.8, "active", 0)


def test_hops_give_a_shortest_path(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?s.name) WHERE { (?s, "is_a"{0,}, {name: "Feeling"}) } ORDER BY ?s.name'
    explained = nexus.why(command)
    assert explained.result == ["Feeling", "Headache", "Pain"]
    paths = [row.derivations[0].paths for row in explained.rows]
    assert [len(path) for (path,) in paths] == [0, 2, 1]
    assert paths[1][0][1:] == paths[2][0]


def test_what_is_absent_and_which_branch(nexus: kiprdf.Nexus) -> None:
    command = """FIND(?x.name, ?y.name) WHERE {
  ?x {type: "Drug"} NOT { (?x, "treats", ?s) }
  UNION { ?x {name: "Feeling"} }
  OPTIONAL { (?x, "is_a", ?y) }
} ORDER BY ?x.name"""
    feeling, placebo = derivations(nexus, command)
    assert (feeling[0]["branch"], feeling[0]["absent"]) == ("UNION at 3:3", ["OPTIONAL at 4:3"])
    assert placebo[0]["branch"] is None
    assert placebo[0]["absent"] == ["NOT at 2:21", "OPTIONAL at 4:3"]


def test_a_group_has_its_size(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name, COUNT(?s)) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) }'
    (row,) = nexus.why(command).to_json()
    assert row["group"] == {"size": 2}
    (none,) = nexus.why('FIND(COUNT(?d)) WHERE { (?d, "is_a", {name: "Nix"}) }').to_json()
    assert (none["group"], none["derivations"]) == ({"size": 0}, [])


def test_a_fact_about_a_fact_cites_both(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?p.name) WHERE { (?p, "states", (?d, "treats", ?s)) }'
    ((one,),) = derivations(nexus, command)
    assert len(one["propositions"]) == 2
    assert one["propositions"][1] == TREATS


def test_pages_explain_the_rows_that_they_show(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?s.name) WHERE { ?s {type: "Symptom"} } ORDER BY ?s.name LIMIT 2'
    first = nexus.why(command)
    second = nexus.why(f'{command} CURSOR "{first.next_cursor}"')
    concepts = [row.derivations[0].concepts for row in (*first.rows, *second.rows)]
    assert concepts == [("C:Symptom/Feeling",), ("C:Symptom/Headache",), ("C:Symptom/Pain",)]
    assert nexus.execute_kip({"command": command})["next_cursor"] == first.next_cursor


def test_one_row_and_parameters(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?s.name) WHERE { ({name: :name}, "treats", ?s) } ORDER BY ?s.name'
    for _ in range(3):  # then its plan is kept
        (row,) = nexus.why(command, row=1, name="Aspirin").rows
        assert (row.row, row.derivations[0].propositions) == (1, (TREATS_PAIN,))
    with pytest.raises(KipError, match="The answer has no row 2; it has 2, from 0 on"):
        nexus.why(command, row=2, name="Aspirin")


def test_what_is_believed_is_explained_by_that(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name) WHERE { (?d, "treats", ?s) }'
    assert len(nexus.why(command).rows[0].derivations) == 2
    (row,) = nexus.why(kiprdf.believed(command)).rows
    assert [one.propositions for one in row.derivations] == [(TREATS,)]
    request = {"command": command, "view": "believed", "why": True}
    assert nexus.execute_kip(request)["why"] == [row.to_json()]


def test_the_request_field_in_a_batch_and_for_other_commands(nexus: kiprdf.Nexus) -> None:
    find = 'FIND(?d.name) WHERE { (?d, "treats", {name: "Pain"}) }'
    batch = {"commands": [find, {"command": find, "why": True}]}
    plain, explained = nexus.execute_kip_readonly(batch)["result"]
    assert "why" not in plain
    assert explained["result"] == plain["result"] == ["Aspirin"]
    assert explained["why"][0]["trust"] == "draft"
    error = nexus.execute_kip({"command": "DESCRIBE PRIMER", "why": True})["error"]
    assert (error["code"], error["message"]) == ("KIP_1001", "1:1 Only a FIND says why.")
    empty = nexus.execute_kip({"command": find.replace("Pain", "Nix"), "why": True})
    assert (empty["why"], empty["warnings"][0]["name"]) == ([], "NoSolution")


def test_evidence_follows_facts_to_what_they_come_from(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name) WHERE { (?d, "treats", {name: "Headache"}) }'
    evidence = nexus.why(command).evidence()
    assert list(evidence) == [TREATS, "C:Page/p1"]
    fact, page = evidence.values()
    assert (fact["source"], fact["author"], fact["evidence"]) == (
        "leaflet",
        "ada",
        ["https://x.org/1"],
    )
    assert (fact["derived_from"], fact["states"], page["source"]) == (
        ["C:Page/p1"],
        ["C:Page/p1"],
        "web",
    )
    (other,) = fact["beside"]
    assert (other["object"], other["status"]) == ("C:Symptom/Pain", "draft")
    if nexus.info()["history"]:
        assert fact["written"]["statement"]["kind"] == "UPSERT"
    else:
        assert fact["written"] is None


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_proof_is_part_of_the_snapshot(nexus: kiprdf.Nexus, profile: Any) -> None:
    explained = nexus.why('FIND(?d.name) WHERE { (?d, "treats", {name: "Headache"}) }')
    text = explained.to_turtle(profile)
    assert text == explained.to_turtle(profile)
    proof = lines(text)
    snapshot = lines(nexus.snapshot(profile=profile))
    fact = "<urn:kip:nexus/$proposition/48ec6e8e3fe50dea/treats>"
    derived = f"<http://www.w3.org/ns/prov#wasDerivedFrom> {fact} ."
    assert sum(line.endswith(derived) for line in proof) == 2  # the answer, and its row
    cited = {line for line in proof if line.startswith(fact) and "urn:kip:" in line.split()[1]}
    assert len(cited) >= 5
    assert cited <= snapshot


def lines(turtle: str) -> set[str]:
    """The triples of a document by the parser of the engine, as N-Triples."""
    quads = pyoxigraph.parse(turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    triples = (quad.triple for quad in quads)
    return {f"{triple.subject} {triple.predicate} {triple.object} ." for triple in triples}


def test_a_later_commit_is_not_mixed_in(tmp_path: Path) -> None:
    command = 'FIND(?d.name) WHERE { (?d, "treats", {name: "Headache"}) }'
    with kiprdf.Nexus.open(tmp_path / "kb", history=True) as kept, kiprdf.Nexus.memory() as other:
        for nexus in (kept, other):
            nexus.execute(SCHEMA)
            nexus.execute(FACTS)
        before = [nexus.why(command) for nexus in (kept, other)]
        for nexus in (kept, other):
            nexus.execute('UPDATE ?l SET METADATA { source: "x" } WHERE { ?l (?d, "treats", ?s) }')
        assert before[0].evidence()[TREATS]["source"] == "leaflet"
        assert '"leaflet"' in before[0].to_turtle()
        with pytest.raises(KipError, match="keeps no history"):
            before[1].evidence()


def test_of_many_combinations_some_are_shown_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nexus = kiprdf.Nexus.memory()
    concepts = " ".join(f'CONCEPT {{ {{type: "Person", name: "p{n}"}} }}' for n in range(500))
    nexus.execute(f"UPSERT {{ {concepts} }}")
    command = 'FIND(COUNT(?a)) WHERE { ?a {type: "Person"} ?b {type: "Person"} }'
    people = 502  # with $self and $system
    explained = nexus.why(command)
    assert explained.warnings == ()
    (row,) = explained.rows
    assert len(row.derivations) == 3
    assert (row.more, row.group) == (people**2 - 3, {"size": people**2})
    monkeypatch.setattr(why, "MOST_COUNTED", 1_000)
    explained = nexus.why(command)
    (row,) = explained.rows
    assert (len(row.derivations), row.more, row.group) == (3, None, {"size": None})
    assert [warning.name for warning in explained.warnings] == ["NotCounted"]
