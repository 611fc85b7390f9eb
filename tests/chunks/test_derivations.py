"""What rules write into a nexus notes the rule, and the facts that its conditions match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib

import kiprdf
from kiprdf import chunks
from tests.cli.runner import invoke

FACTS = """
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "parent"} }
  CONCEPT { {type: "$PropositionType", name: "grandparent"} }
  CONCEPT { {type: "$PropositionType", name: "elder"} }
  CONCEPT ?a { {type: "Person", name: "ann"} }
  CONCEPT ?b { {type: "Person", name: "bob"} SET ATTRIBUTES { age: 50 } }
  CONCEPT ?c { {type: "Person", name: "cid"} }
  PROPOSITION { (?a, "parent", ?b) }
  PROPOSITION { (?b, "parent", ?c) }
} WITH METADATA { source: "a register", confidence: 0.7 }
"""
ANN_BOB, BOB_CID = "P:d4cee8c0ca8444eb:parent", "P:ec35097b909e3a84:parent"
GRAND, ELDER = "P:be8bc25104e64a64:grandparent", "P:e024a3b6dba551af:elder"
JOIN = (
    "go {}, parent {@module up; @subject ?x; @object ?y}, "
    "parent {@module down; @subject ?y; @object ?z} => "
    "grandparent {@module up; @do put; @subject ?x; @object ?z}, done {}"
)
GRANDPARENTS = f"""
start {{}} => parent {{@module up; @do get; @object bob}},
  parent {{@module down; @do get; @subject bob}}, go {{}}
{JOIN}
"""
ELDERS = """
old {} => grandparent {@module up; @do get}, older {who ann}
rule old-people {@condition c1, c2; @action a1, a2}
older c1 {who ?who}
grandparent c2 {@module up; @subject ?who; @object ?of}
elder a1 {@module up; @do put; @subject ?who; @object ?of}
older a2 {@do clear}
"""


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(history=True) as opened:
        opened.execute(FACTS)
        yield opened


def run(nexus: kiprdf.Nexus, rules: str, goal: str = "start {}") -> list[chunks.Firing]:
    engine = chunks.Engine(rules, {"up": nexus, "down": nexus})
    engine.on_event(lambda event: pytest.fail(str(event.detail)) if is_error(event) else None)
    engine.goal(goal)
    return engine.run(max_cycles=30)


def is_error(event: chunks.Event) -> bool:
    return isinstance(event.detail, Exception)


def derivations(nexus: kiprdf.Nexus, predicate: str) -> list[tuple[Any, list[str]]]:
    """The rules of each fact with a predicate, and what it is derived from."""
    facts = nexus.execute("FIND(?l) WHERE { ?l (?s, :predicate, ?o) }", predicate=predicate)
    sources = 'FIND(?x.id) WHERE { ((id: :id), "derived_from", ?x) }'
    return [
        (one["metadata"].get("derived_by"), sorted(nexus.execute(sources, id=one["id"])))
        for one in facts
    ]


def test_a_derived_fact_has_its_rule_and_the_facts_that_the_conditions_match(
    nexus: kiprdf.Nexus,
) -> None:
    firings = run(nexus, GRANDPARENTS)
    assert derivations(nexus, "grandparent") == [(JOIN, [ANN_BOB, BOB_CID])]
    assert derivations(nexus, "parent") == [(None, []), (None, [])]
    assert [firing.sources for firing in firings] == [set(), {ANN_BOB, BOB_CID}]


def test_why_follows_a_derived_fact_back_over_several_levels(nexus: kiprdf.Nexus) -> None:
    run(nexus, GRANDPARENTS)
    run(nexus, ELDERS, "old {}")
    explained = nexus.why('FIND(?x.name) WHERE { (?x, "elder", {name: "cid"}) }')
    evidence = explained.evidence()
    assert [(id, one["derived_by"], one["derived_from"]) for id, one in evidence.items()] == [
        (ELDER, "old-people", [GRAND]),
        (GRAND, JOIN, [ANN_BOB, BOB_CID]),
        (ANN_BOB, None, []),
        (BOB_CID, None, []),
    ]
    assert evidence[BOB_CID]["source"] == "a register"
    (derivation,) = explained.to_json()[0]["derivations"]
    assert derivation["inferred"] == [{"by": "old-people", "of": ELDER, "from": [GRAND]}]
    stated = nexus.why('FIND(?x.name) WHERE { (?x, "parent", {name: "cid"}) }')
    assert stated.to_json()[0]["derivations"][0]["inferred"] == []


def test_the_proof_has_the_rules_as_activities_and_all_that_the_fact_is_derived_from(
    nexus: kiprdf.Nexus,
) -> None:
    run(nexus, GRANDPARENTS)
    run(nexus, ELDERS, "old {}")
    explained = nexus.why('FIND(?x.name) WHERE { (?x, "elder", {name: "cid"}) }')
    for profile in ("rdf11", "rdf12"):
        proof = rdflib.Graph() if profile == "rdf11" else None
        text = explained.to_turtle(profile)
        assert text.count("a prov:Activity") == 2
        if proof is None:
            continue
        proof.parse(data=text, format="turtle")
        node = {
            id: rdflib.URIRef(f"urn:kip:nexus/$proposition/{id[2:18]}/{id[19:]}")
            for id in (ELDER, GRAND, ANN_BOB, BOB_CID)
        }
        derived = rdflib.PROV.wasDerivedFrom
        assert set(proof.objects(node[ELDER], derived)) == {node[GRAND]}
        assert set(proof.objects(node[GRAND], derived)) == {node[ANN_BOB], node[BOB_CID]}
        (activity,) = proof.objects(node[ELDER], rdflib.PROV.wasGeneratedBy)
        assert str(proof.value(activity, rdflib.DCTERMS.description)) == "old-people"
        assert (
            str(proof.value(node[BOB_CID], rdflib.URIRef("urn:kip:metadata/source")))
            == "a register"
        )


def test_a_value_that_the_goal_carries_comes_from_the_fact_that_it_was_read_from(
    nexus: kiprdf.Nexus,
) -> None:
    run(
        nexus,
        """
        start {} => parent {@module up; @do get; @subject ann}, first {}
        first {}, parent {@module up; @subject ?x; @object ?y} =>
          parent {@module up; @do get; @subject ?y}, second {from ?x; @to by; @push ?y}
        second {from ?x}, parent {@module up; @object ?z} =>
          grandparent {@module up; @do put; @subject ?x; @object ?z}, third {by none}
        third {by ?w}, parent {@module up; @object ?z} =>
          elder {@module up; @do put; @subject ann; @object ?z}, done {}
        """,
    )
    assert derivations(nexus, "grandparent")[0][1] == [ANN_BOB, BOB_CID]
    assert derivations(nexus, "elder")[0][1] == [BOB_CID]


def test_values_keep_their_sources_in_lists_queues_graphs_and_operations(
    nexus: kiprdf.Nexus,
) -> None:
    engine = chunks.Engine(
        """
        start {} => parent {@module up; @do get; @subject ann}, first {}
        first {}, parent {@module up; @object ?y} =>
          note {@module notes; @do put; @id n1; of ?y}, note {@module notes; @do get}, second {}
        second {}, note {@module notes; of ?y} => say {@do ask; of ?y}, wait {@do clear}
        told {of ?y} => later {@do queue; of ?y}, told {@do clear}
        later {of ?y} => item {@for ann, ?y; @module list; @from 1}, loop {}
        loop {}, item {@module list; value ?y} =>
          elder {@module up; @do put; @subject ?y; @object cid}, done {}
        """,
        {"up": nexus, "notes": "", "list": ""},
    )
    engine.operation("ask", lambda call: f"told {{of {call.properties['of']}}}")
    engine.goal("start {}")
    engine.run()
    assert derivations(nexus, "elder")[0][1] == [ANN_BOB]


def test_a_concept_is_a_source_if_an_attribute_was_read(nexus: kiprdf.Nexus) -> None:
    run(
        nexus,
        """
        start {} => Person {@module up; @do get; @id bob}, go {}
        go {}, Person {@module up; @id ?x; age ?a; @gt ?a, 40} =>
          elder {@module up; @do put; @subject ?x; @object cid},
          Insight {@module up; @do put; @id "On age"; description ?a}, more {}
        more {}, Person {@module up; @id ?x} =>
          grandparent {@module up; @do put; @subject ?x; @object ann}, done {}
        """,
    )
    assert derivations(nexus, "elder")[0][1] == ["C:Person/bob"]
    assert derivations(nexus, "grandparent")[0][1] == []
    command = 'FIND(?i.name) WHERE { ?i {type: "Insight"} }'
    request = {"command": command, "why": True}
    (derivation,) = nexus.execute_kip(request)["why"][0]["derivations"]
    (rule,) = derivation["inferred"]
    assert (rule["of"], rule["from"]) == ("C:Insight/On age", ["C:Person/bob"])
    about = '(?i, "derived_from", {name: "bob"}) FILTER(IS_NOT_NULL(?i.metadata.derived_by))'
    assert nexus.execute(f'FIND(?i.name) WHERE {{ ?i {{type: "Insight"}} {about} }}') == ["On age"]


def test_what_a_writer_stated_keeps_its_provenance(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { PROPOSITION { ({type: "Person", name: "ann"}, "grandparent", '
        '{type: "Person", name: "cid"}) } } WITH METADATA { source: "Ann", author: "ann" }'
    )
    run(nexus, GRANDPARENTS)
    assert derivations(nexus, "grandparent") == [(None, [])]
    (fact,) = nexus.execute('FIND(?l) WHERE { ?l (?x, "grandparent", ?z) }')
    assert (fact["metadata"]["source"], fact["metadata"]["_version"]) == ("Ann", 1)


def test_two_rules_that_derive_one_fact_are_both_noted_and_a_second_run_changes_nothing(
    nexus: kiprdf.Nexus,
) -> None:
    run(nexus, GRANDPARENTS)
    other = GRANDPARENTS.replace("go {}, parent {@module up; @subject ?x; @object ?y}, ", "go {}, ")
    other = other.replace("@subject ?x;", "@subject ann;")
    run(nexus, other)
    (rule,) = other.strip().splitlines()[2:]
    assert derivations(nexus, "grandparent") == [([JOIN, rule], [ANN_BOB, BOB_CID])]
    before = nexus.snapshot()
    run(nexus, GRANDPARENTS)
    assert nexus.snapshot() == before


def test_trust_and_forgetting_follow_what_a_fact_is_derived_from(nexus: kiprdf.Nexus) -> None:
    run(nexus, GRANDPARENTS)
    run(nexus, ELDERS, "old {}")
    assert kiprdf.trust(nexus, ELDER) == "active"
    nexus.execute(
        'UPDATE ?l SET METADATA { status: "retracted" } WHERE { ?l (id: :id) }', id=BOB_CID
    )
    assert kiprdf.trust(nexus, ELDER) == "retracted"
    explained = nexus.why('FIND(?x.name) WHERE { (?x, "elder", ?z) }')
    assert (explained.rows[0].trust, explained.evidence()[GRAND]["trust"]) == ("retracted",) * 2
    assert "unsupported" not in nexus.forget([ANN_BOB], dry_run=True)
    assert nexus.forget([ANN_BOB, BOB_CID], dry_run=True)["unsupported"] == [GRAND, ELDER]
    assert nexus.forget([ANN_BOB, BOB_CID], derived=True)["derived"] == [GRAND, ELDER]
    assert nexus.execute('FIND(?x.name) WHERE { (?x, "elder", ?z) }') == []


def test_a_cycle_of_derivations_ends(nexus: kiprdf.Nexus) -> None:
    swap = """
    start {{}} => {0} {{@module up; @do get}}, go {{}}
    go {{}}, {0} {{@module up; @subject ?x; @object ?y}} =>
      {1} {{@module up; @do put; @subject ?x; @object ?y}}, done {{}}
    """
    run(nexus, GRANDPARENTS)
    run(nexus, swap.format("grandparent", "elder"))
    run(nexus, swap.format("elder", "grandparent"))
    assert ELDER in derivations(nexus, "grandparent")[0][1]
    assert derivations(nexus, "elder")[0][1] == [GRAND]
    evidence = nexus.why('FIND(?x.name) WHERE { (?x, "elder", ?z) }').evidence()
    assert list(evidence) == [ELDER, GRAND, ANN_BOB, BOB_CID]
    assert kiprdf.trust(nexus, ELDER) == "active"


def test_a_source_that_the_rule_deletes_is_not_linked(nexus: kiprdf.Nexus) -> None:
    run(
        nexus,
        """
        start {} => parent {@module up; @do get; @subject ann}, go {}
        go {}, parent {@module up; @id ?p; @subject ?x; @object ?y} =>
          elder {@module up; @do put; @subject ?x; @object ?y},
          parent {@module up; @do delete; @subject ?x; @object ?y}, done {}
        """,
    )
    ((rule, sources),) = derivations(nexus, "elder")
    assert rule.startswith("go {}, parent {@module up; @id ?p;")
    assert sources == []
    assert nexus.execute('FIND(?x.name) WHERE { (?x, "parent", ?y) }') == ["bob"]


def test_a_merge_a_snapshot_and_an_undo_keep_derivations_right(nexus: kiprdf.Nexus) -> None:
    before = nexus.snapshot()
    with nexus.acting(author="owner", session="tidy", kind="human"):
        run(nexus, GRANDPARENTS)
    copy = kiprdf.Nexus.memory()
    copy.restore(nexus.snapshot())
    assert derivations(copy, "grandparent") == [(JOIN, [ANN_BOB, BOB_CID])]
    copy.execute('UPSERT { CONCEPT { {type: "Person", name: "Robert"} } }')
    copy.execute(
        'MERGE CONCEPT ?b INTO ?r WHERE { ?b {type: "Person", name: "bob"} ?r {name: "Robert"} }'
    )
    rows = copy.execute(
        'FIND(?x.name, ?y.name) WHERE { (?g, "derived_from", ?p) ?g (?s, "grandparent", ?o) '
        '?p (?x, "parent", ?y) } ORDER BY ?x.name'
    )
    assert rows == [["Robert", "ann"], ["cid", "Robert"]]
    nexus.undo(session="tidy")
    assert nexus.snapshot() == before


def test_a_nexus_without_the_predicate_gets_its_definition(nexus: kiprdf.Nexus) -> None:
    predicate = "urn:kip:nexus/$PropositionType/derived_from"
    lines = nexus.snapshot(format="ntriples").splitlines(keepends=True)
    bare = kiprdf.Nexus.memory()
    links = {line.split()[0] for line in lines if predicate in line}
    kept = (x for x in lines if predicate not in x and x.split()[0] not in links)
    bare.restore("".join(kept), format="ntriples")
    assert "derived_from" not in bare.names()["predicates"]
    run(bare, GRANDPARENTS)
    assert derivations(bare, "grandparent") == [(JOIN, [ANN_BOB, BOB_CID])]
    where = '?p {type: "$PropositionType", name: "derived_from"}'
    assert bare.execute(f"FIND(?p.attributes.object_types) WHERE {{ {where} }}") == [["*"]]


def test_the_command_line_shows_what_a_rule_matched_and_why_what_it_derived(
    nexus: kiprdf.Nexus, tmp_path: Path
) -> None:
    folder, rules = tmp_path / "kb", tmp_path / "family.chk"
    with kiprdf.Nexus.open(folder) as opened:
        opened.execute(FACTS)
    rules.write_text(GRANDPARENTS)
    modules = [f"--module=up={folder}", f"--module=down={folder}"]
    traced = invoke(
        "chunks", "run", "--rules", str(rules), *modules, "--goal", "start {}", "--trace"
    )
    assert f"x = ann, y = bob, z = cid, from {ANN_BOB}, {BOB_CID}" in traced.stdout
    why = invoke("why", "--nexus", str(folder), 'FIND(?x.name) WHERE { (?x, "grandparent", ?z) }')
    assert why.stdout.splitlines()[1:] == [
        f"  - (Person:ann, grandparent, Person:cid)  derived by {JOIN}",
        "      from (Person:ann, parent, Person:bob)  source a register, confidence 0.7",
        "      from (Person:bob, parent, Person:cid)  source a register, confidence 0.7",
        "    Person:ann has name 'ann'",
    ]
