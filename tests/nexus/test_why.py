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
from tests.cli.runner import invoke

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


def test_a_derivation_without_a_confidence_is_not_the_best_one(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT ?a { {type: "Symptom", name: "A"} } '
        'PROPOSITION { ({type: "Drug", name: "Aspirin"}, "treats", ?a) } }'
    )
    (row,) = nexus.why('FIND(?d.name) WHERE { (?d, "treats", ?s) }').rows
    objects = [one.concepts[1] for one in row.derivations]
    assert objects == ["C:Symptom/Headache", "C:Symptom/Pain", "C:Symptom/A"]
    assert row.confidence == 0.8
    (row,) = nexus.why('FIND(COUNT(?s)) WHERE { (?d, "treats", ?s) }').rows
    assert row.confidence == 0.8


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


def test_a_link_that_is_null_is_of_an_alternative_without_one_hop(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT ?a { {type: "Symptom", name: "A"} } CONCEPT ?b { {type: "Symptom", '
        'name: "B"} } PROPOSITION { (?a, "is_a", ?b) } PROPOSITION { (?b, "is_a", ?a) } }'
    )
    command = """FIND(?l.id) WHERE {
  ?l ({name: "A"}, "is_a"{2,3} | "is_a"{0,2}, {name: "B"})
} ORDER BY ?l.id"""
    explained = nexus.why(command)
    paths = {
        link is None: len(row.derivations[0].paths[0])
        for link, row in zip(explained.result, explained.rows, strict=True)
    }
    assert paths == {False: 1, True: 3}


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


def test_what_an_optional_misses_in_another_is_null_around_both(nexus: kiprdf.Nexus) -> None:
    command = """FIND(?x.name, ?y.name) WHERE {
  (?x, "treats", {name: "Headache"}) UNION { (?y, "is_a", {name: "Feeling"}) }
  OPTIONAL { OPTIONAL { (?x, "is_a", ?z) } OPTIONAL { (?y, "is_a", ?w) } }
  FILTER(IS_NULL(?z.name) && IS_NOT_NULL(?w.name))
}"""
    explained = nexus.why(command)
    assert explained.result == [[None], ["Pain"]]
    assert explained.rows[0].derivations[0].branch == "UNION at 2:38"


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


def test_a_proof_that_is_printed_is_all_that_is_printed(tmp_path: Path) -> None:
    folder, command = str(tmp_path / "kb"), 'FIND(?d.name) WHERE { (?d, "treats", ?s) }'
    with kiprdf.Nexus.open(folder) as opened:
        opened.execute(SCHEMA)
        opened.execute(FACTS)
        proof = opened.why(command).to_turtle()
    assert invoke("why", "--nexus", folder, command, "--turtle", "-").stdout == proof
    both = invoke("why", "--nexus", folder, command, "--turtle", "-", "--json")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "give --turtle a file" in both.stderr


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
        fact = before[0].evidence()[TREATS]
        assert (fact["source"], fact["written"]["seq"]) == ("leaflet", 3)
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


def test_a_million_combinations_stay_within_the_budget() -> None:
    nexus = kiprdf.Nexus.memory()
    concepts = " ".join(f'CONCEPT {{ {{type: "Person", name: "p{n}"}} }}' for n in range(1_100))
    nexus.execute(f"UPSERT {{ {concepts} }}")
    where = 'WHERE { ?a {type: "Person"} ?b {type: "Person"} }'
    with pytest.raises(KipError, match="KIP_4002"):
        nexus.why(f"FIND(COUNT(?a)) {where}")  # as the answer alone
    with nexus.limited(max_product_rows=None, max_rows=None, timeout_s=60):
        explained = nexus.why(f"FIND(COUNT(?a)) {where}")
        assert explained.result == 1_102**2
        (row,) = explained.rows
        assert (len(row.derivations), row.more, row.group) == (3, None, {"size": None})
        assert [warning.name for warning in explained.warnings] == ["NotCounted"]
        page = nexus.why(f"FIND(?a.name, ?b.name) {where} LIMIT 100")
        assert {(len(row.derivations), row.more) for row in page.rows} == {(1, 0)}
        assert len(page.rows) == 100


def test_the_best_derivation_of_all_branches_and_paths_comes_first() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    nexus.execute("""
    UPSERT {
      CONCEPT ?a { {type: "Symptom", name: "a"} }
      CONCEPT ?b { {type: "Symptom", name: "b"} }
      CONCEPT ?c { {type: "Symptom", name: "c"} }
      CONCEPT ?d { {type: "Drug", name: "d"} }
      PROPOSITION { (?d, "treats", ?a) } WITH METADATA { confidence: 0.1 }
      PROPOSITION { (?d, "treats", ?b) } WITH METADATA { confidence: 0.2 }
      PROPOSITION { (?d, "treats", ?c) } WITH METADATA { confidence: 0.3 }
      PROPOSITION { (?d, "is_a", ?a) } WITH METADATA { confidence: 0.9 }
    }
    """)
    command = """
    FIND(?d.name) WHERE {
      ?d {type: "Drug"} (?d, "treats", ?s) UNION { ?d {type: "Drug"} (?d, "is_a", ?s) }
    }
    """
    (row,) = nexus.why(command).rows
    names = [one.concepts[1] for one in row.derivations]
    assert names == ["C:Symptom/a", "C:Symptom/c", "C:Symptom/b"]
    assert [one.branch for one in row.derivations] == ["UNION at 3:44", None, None]
    assert (row.confidence, row.more) == (0.9, 1)
    (row,) = nexus.why('FIND(?d.name) WHERE { (?d, "treats"{1,2}, ?s) }').rows
    names = [one.concepts[1] for one in row.derivations]
    assert (names, row.confidence) == (["C:Symptom/c", "C:Symptom/b", "C:Symptom/a"], 0.3)


@pytest.mark.parametrize(
    "pattern",
    [
        '(?d, "treats", ?s)',
        '(?d, "treats", {type: "Symptom"})',
        '(?d, "treats"{1,2}, {type: "Symptom"})',
        '(?d, "treats"|"is_a", {type: "Symptom"})',
        '(?d, ?p, {type: "Symptom"})',
        'OPTIONAL { (?d, "treats", {type: "Symptom"}) }',
        'OPTIONAL { (?d, "treats", {type: "Symptom"}) UNION { (?d, "is_a", {name: "Nix"}) } }',
    ],
)
def test_many_derivations_of_a_row_of_a_page_are_all_counted(pattern: str) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    treated = " ".join(
        f'CONCEPT ?s{n} {{ {{type: "Symptom", name: "s{n}"}} }}'
        f' PROPOSITION {{ (?a, "treats", ?s{n}) }} PROPOSITION {{ (?b, "treats", ?s{n}) }}'
        for n in range(120)
    )
    drugs = " ".join(f'CONCEPT ?{name} {{ {{type: "Drug", name: "{name}"}} }}' for name in "ab")
    nexus.execute(f"UPSERT {{ {drugs} {treated} }}")
    where = f'WHERE {{ ?d {{type: "Drug"}} {pattern} }} ORDER BY ?d.name LIMIT 1'
    assert [(row.more, row.group) for row in nexus.why(f"FIND(?d.name) {where}").rows] == [
        (117, None)
    ]
    (row,) = nexus.why(f"FIND(?d.name, COUNT(?d)) {where}").rows
    assert (row.more, row.group) == (117, {"size": 120})


VALUES = '3 3.0 [3,2] [[3]] {a:3} true [true] null [] "3" 9007199254740993 9007199254740992.0'


@pytest.mark.parametrize(
    "command",
    [
        'FIND(?d.attributes.v, COUNT(?d)) WHERE { ?d {type: "Drug"} }',
        'FIND(?d.attributes, COUNT(?d)) WHERE { ?d {type: "Drug"} }',
        'FIND(?e.attributes, COUNT(?d)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } }',
        'FIND(?e, COUNT(?d)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } }',
        'FIND(?e.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } }',
        'FIND(?l) WHERE { ?d {type: "Drug"} OPTIONAL { ?l (?d, "is_a", ?e) } }',
        'FIND(?l, ?e.name) WHERE { ?l (?d, "is_a"{1,2}, ?e) }',
        'FIND(?e.name) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", ?e) } ?e {type: "Drug"} }',
        "FIND(?p, COUNT(?l)) WHERE { ?l (?d, ?p, ?e) }",
    ],
)
def test_a_row_by_itself_comes_from_the_same_as_among_all(command: str) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    drugs = " ".join(
        f'CONCEPT ?d{n} {{ {{type: "Drug", name: "d{n}"}} SET ATTRIBUTES {{ v: {value} }} }}'
        for n, value in enumerate(VALUES.split())
    )
    nexus.execute(
        f'UPSERT {{ {drugs} PROPOSITION {{ (?d1, "is_a", ?d0) }}'
        ' PROPOSITION { (?d2, "is_a", ?d1) } PROPOSITION { (?d3, "is_a", ?d1) } }'
    )
    rows = nexus.why(command).rows
    assert len(rows) > 1
    for number, row in enumerate(rows):
        assert nexus.why(command, row=number).rows == (row,)


def test_the_predicate_of_hops_is_a_parameter(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?s.name) WHERE { (?s, :predicate{2,}, {name: "Feeling"}) }'
    (row,) = nexus.why(command, predicate="is_a").rows
    assert [len(path) for path in row.derivations[0].paths] == [2]


@pytest.mark.parametrize("row", ["0", 0.0, True, -1])
def test_a_row_is_a_number(nexus: kiprdf.Nexus, row: Any) -> None:
    with pytest.raises(KipError, match="The answer has no row"):
        nexus.why('FIND(?s.name) WHERE { ?s {type: "Symptom"} }', row=row)


def test_warnings_are_those_of_the_answer(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.attributes.nix) WHERE { ?d {type: "Drug"} }'
    warnings = nexus.execute_kip({"command": command})["warnings"]
    assert [warning["message"] for warning in warnings] == ["1:6 No Drug has the attribute 'nix'."]
    for _ in range(3):  # then its plan is kept
        assert nexus.execute_kip({"command": command, "why": True})["warnings"] == warnings


def test_proofs_of_other_questions_have_other_names(nexus: kiprdf.Nexus) -> None:
    command = "FIND(?s.name) WHERE { ?s {name: :name} } // \ud800 \x00"
    proofs = [nexus.why(command, name=name).to_turtle() for name in ("Pain", "Headache", "Pain")]
    answers = [rdflib.Graph().parse(data=proof, format="turtle") for proof in proofs]
    names = [set(answer.objects(predicate=rdflib.PROV.hadMember)) for answer in answers]
    assert names[0] == names[2] != names[1]
    (text,) = answers[0].objects(predicate=rdflib.DCTERMS.description)
    assert str(text) == 'FIND(?s.name)\nWHERE {\n  ?s {name: "Pain"}\n}'
    believed = nexus.why(kiprdf.believed(command), name="Pain").to_turtle()
    (text,) = rdflib.Graph().parse(data=believed).objects(predicate=rdflib.DCTERMS.description)
    assert str(text).startswith("// Believed now\nFIND(?s.name)")


def test_the_evidence_of_facts_at_a_hub_is_of_bounded_size_and_time() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    facts = " ".join(
        f'CONCEPT ?s{n} {{ {{type: "Symptom", name: "s{n}"}} }}'
        f' PROPOSITION {{ (?d, "treats", ?s{n}) }}'
        for n in range(300)
    )
    nexus.execute(f'UPSERT {{ CONCEPT ?d {{ {{type: "Drug", name: "d"}} }} {facts} }}')
    explained = nexus.why('FIND(?s.name) WHERE { ({name: "d"}, "treats", ?s) }')
    evidence = explained.evidence()
    assert [len(one["beside"]) for one in evidence.values()] == [why.MOST_BESIDE] * 100
    assert {one["written"]["seq"] for one in evidence.values()} == {explained.commit}
    with nexus.limited(timeout_s=1e-6), pytest.raises(KipError, match="KIP_4001"):
        explained.evidence()


def test_the_evidence_of_a_view_says_in_which_scope_it_was_written() -> None:
    members = [kiprdf.Nexus.memory(history=True) for _ in range(2)]
    for member, name in zip(members, ("team", "ada"), strict=True):
        member.store.scope = name
        member.execute(SCHEMA)
        fact = 'CONCEPT { {type: "Symptom", name: :name} SET PROPOSITIONS { ("is_a", ?s) } }'
        member.execute(
            f'UPSERT {{ CONCEPT ?s {{ {{type: "Symptom", name: "Pain"}} }} {fact} }}', name=name
        )
    with kiprdf.View(members) as view:
        explained = view.why('FIND(?s.name) WHERE { (?s, "is_a", ?pain) } ORDER BY ?s.name')
        evidence = explained.evidence()
    assert explained.result == ["ada", "team"]
    cited = [row.derivations[0].propositions[0] for row in explained.rows]
    assert [evidence[id]["written"]["scope"] for id in cited] == ["ada", "team"]


@pytest.mark.parametrize(
    "command",
    [
        'FIND(?d.name, ?s.name) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) } LIMIT 4',
        'FIND(?s.name) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) } ORDER BY ?s.name LIMIT 4',
        'FIND(?d, ?d) WHERE { ?d {type: "Drug"} (?d, "treats", {name: "s1"}) } LIMIT 2',
        'FIND(?s, ?t) WHERE { ?s {type: "Symptom"} (?s, "is_a"{0,}, ?t) } ORDER BY ?s.name LIMIT 4',
        "FIND(?l) WHERE { ?l (?d, ?p, ?s) FILTER(?d.attributes.risk >= 2) } LIMIT 4",
        'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?e) } } LIMIT 4',
        'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "treats", {name: "s0"}) } } LIMIT 4',
        'FIND(?s.name, COUNT(?d)) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name LIMIT 4',
        'FIND(?d, ?e) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) UNION { ?e {type: "Drug"} } } '
        "LIMIT 4",
    ],
)
def test_a_page_comes_from_the_same_as_each_of_its_rows(command: str) -> None:
    symptoms = " ".join(f'CONCEPT ?s{n} {{ {{type: "Symptom", name: "s{n}"}} }}' for n in range(7))
    facts = " ".join(
        f'CONCEPT ?d{n} {{ {{type: "Drug", name: "d{n}"}} SET ATTRIBUTES {{ risk: {n} }} }} '
        + " ".join(
            f'PROPOSITION {{ (?d{n}, "treats", ?s{(n + k) % 7}) }}'
            f" WITH METADATA {{ confidence: 0.{n + k + 1} }}"
            for k in range(3)
        )
        for n in range(6)
    )
    parts = " ".join(f'PROPOSITION {{ (?s{n}, "is_a", ?s{n + 1}) }}' for n in range(6))
    for nexus in (kiprdf.Nexus.memory(), kiprdf.Nexus.connect(rdflib.Graph())):
        with nexus:
            nexus.execute(SCHEMA)
            nexus.execute(f"UPSERT {{ {symptoms} {facts} {parts} }}")
            for text in (command, kiprdf.believed(command)):
                rows = nexus.why(text).rows
                assert len(rows) == int(command[-1])
                assert all(row.derivations for row in rows)
                for number, row in enumerate(rows):
                    assert nexus.why(text, row=number).rows == (row,)


def test_the_rows_of_a_page_are_asked_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    with kiprdf.Nexus.connect(rdflib.Graph()) as nexus:
        nexus.execute(SCHEMA)
        facts = " ".join(
            f'CONCEPT {{ {{type: "Drug", name: "d{n}"}} SET PROPOSITIONS {{ ("treats", ?s) }} }}'
            for n in range(60)
        )
        nexus.execute(f'UPSERT {{ CONCEPT ?s {{ {{type: "Symptom", name: "s"}} }} {facts} }}')
        asked: list[str] = []
        select = nexus.store.select
        monkeypatch.setattr(
            nexus.store, "select", lambda text, *rest: (asked.append(text), select(text, *rest))[1]
        )
        command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) } LIMIT 50'
        rows = nexus.why(command).rows
        assert len({row.derivations[0].propositions for row in rows}) == 50
        assert len(asked) < 15


RULES = """
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
  CONCEPT { {type: "$PropositionType", name: "subproperty_of"} }
  CONCEPT { {type: "$PropositionType", name: "same_as"} }
}
UPSERT {
  CONCEPT ?place { {type: "$ConceptType", name: "Place"} }
  CONCEPT ?city {
    {type: "$ConceptType", name: "City"} SET PROPOSITIONS { ("subclass_of", ?place) }
  }
  CONCEPT { {type: "$ConceptType", name: "Capital"} SET PROPOSITIONS { ("subclass_of", ?city) } }
  CONCEPT {
    {type: "$PropositionType", name: "part_of"}
    SET ATTRIBUTES { is_transitive: true, inverse_of: "has_part" }
  }
  CONCEPT { {type: "$PropositionType", name: "has_part"} }
  CONCEPT ?near { {type: "$PropositionType", name: "near"} SET ATTRIBUTES { is_symmetric: true } }
  CONCEPT {
    {type: "$PropositionType", name: "next_to"} SET PROPOSITIONS { ("subproperty_of", ?near) }
  }
}
UPSERT {
  CONCEPT ?eu { {type: "Place", name: "EU"} }
  CONCEPT ?de { {type: "Place", name: "DE"} }
  CONCEPT ?berlin { {type: "Capital", name: "Berlin"} }
  CONCEPT ?potsdam { {type: "City", name: "Potsdam"} }
  PROPOSITION { (?de, "part_of", ?eu) } WITH METADATA { confidence: 0.9 }
  PROPOSITION { (?berlin, "part_of", ?de) } WITH METADATA { confidence: 0.5 }
  PROPOSITION { (?potsdam, "next_to", ?berlin) }
  PROPOSITION { (?potsdam, "same_as", ?berlin) }
}
"""
DE_EU, BERLIN_DE = "P:9dd14e3fbbeb5e1e:part_of", "P:0a997c230528e6d6:part_of"
NEXT_TO, BELOW_NEAR = "P:65f8ba68274f3fa6:next_to", "P:ac9979d8ab5e608f:subproperty_of"
CAPITAL_CITY, CITY_PLACE = "P:0bbca4b82a6f9a02:subclass_of", "P:d912e6d6232c54fb:subclass_of"
SAME = "P:89aeadf20fd000fd:same_as"


@pytest.mark.parametrize(
    ("where", "entail", "propositions", "inferred"),
    [
        ('?x {type: "Place", name: "DE"}', True, (), []),
        (
            '?x {type: "Place"} FILTER(?x.name == "Berlin")',
            True,
            (CAPITAL_CITY, CITY_PLACE),
            [("subclass_of", "Place", [CAPITAL_CITY, CITY_PLACE])],
        ),
        ('({name: "DE"}, "part_of", ?x)', True, (DE_EU,), []),
        (
            '({name: "Berlin"}, "part_of", ?x {name: "EU"})',
            True,
            (BERLIN_DE, DE_EU),
            [("is_transitive", "part_of", [BERLIN_DE, DE_EU])],
        ),
        (
            '({name: "EU"}, "has_part", ?x {name: "Berlin"})',
            True,
            (DE_EU, BERLIN_DE),
            [
                ("inverse_of", "has_part", [DE_EU, BERLIN_DE]),
                ("is_transitive", "part_of", [DE_EU, BERLIN_DE]),
            ],
        ),
        (
            '?l ({name: "Berlin"}, "near", ?x)',
            True,
            (NEXT_TO, BELOW_NEAR),
            [
                ("is_symmetric", "near", [NEXT_TO]),
                ("subproperty_of", "near", [BELOW_NEAR, NEXT_TO]),
            ],
        ),
        (
            '?x {name: "Potsdam"} (?x, "part_of", {name: "DE"})',
            "same_as",
            (BERLIN_DE, SAME),
            [("same_as", "C:Capital/Berlin", [SAME])],
        ),
    ],
)
def test_the_rules_by_which_a_row_follows(
    where: str, entail: Any, propositions: tuple[str, ...], inferred: list[tuple[str, str, Any]]
) -> None:
    for nexus in (kiprdf.Nexus.memory(), kiprdf.Nexus.connect(rdflib.Graph())):
        with nexus:
            nexus.execute(RULES)
            command = f"FIND(?x.name) WHERE {{ {where} }}"
            (row,) = nexus.why(command, entail=entail).rows
            (one,) = row.derivations
            assert one.propositions == propositions
            assert one.to_json()["inferred"] == [
                {"by": by, "of": of, "from": sources} for by, of, sources in inferred
            ]
            assert {*one.cited} <= nexus.why(command, entail=entail).evidence().keys()
            request = {"command": command, "entail": entail, "why": True}
            assert nexus.execute_kip(request)["why"] == [row.to_json()]
            if inferred:
                assert all(not row.derivations[0].inferred for row in nexus.why(command).rows)


def test_the_confidence_of_what_follows_is_that_of_its_weakest_source() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(RULES)
    command = 'FIND(?x.name) WHERE { (?x, "part_of", {name: "EU"}) } ORDER BY ?x.name'
    rows = nexus.why(command, entail=True).rows
    assert [row.confidence for row in rows] == [0.5, 0.9]
    (path,) = nexus.why('FIND(?x) WHERE { (?x, "part_of"{2}, ?y) }', entail=True).rows
    assert path.derivations[0].paths == ((BERLIN_DE, DE_EU),)
    assert path.derivations[0].inferred == ()
    proof = rdflib.Graph().parse(data=nexus.why(command, entail=True).to_turtle(), format="turtle")
    rules = [str(rule) for rule in proof.objects(predicate=rdflib.URIRef("urn:kip:vocab/rule"))]
    assert rules == ["is_transitive of part_of"]


def test_trust_is_that_of_the_best_of_all_derivations(nexus: kiprdf.Nexus) -> None:
    facts = " ".join(
        f'CONCEPT ?s{n} {{ {{type: "Symptom", name: "s{n}"}} }}'
        f' PROPOSITION {{ (?d, "treats", ?s{n}) }} WITH METADATA {{ confidence: {1 - n / 10},'
        f' status: "{status}" }}'
        for n, status in enumerate(("draft", "draft", "deprecated", "draft", "reviewed"))
    )
    with nexus.acting(author="ada", kind="human"):
        nexus.execute(f'UPSERT {{ CONCEPT ?d {{ {{type: "Drug", name: "d"}} }} {facts} }}')
    (row,) = nexus.why('FIND(?d.name) WHERE { ?d {name: "d"} (?d, "treats", ?s) }').rows
    assert (len(row.derivations), row.more, row.confidence, row.trust) == (3, 2, 1.0, "reviewed")
    (alone,) = nexus.why('FIND(?d.name) WHERE { ?d {name: "d"} }').rows
    assert (alone.confidence, alone.trust) == (None, None)
