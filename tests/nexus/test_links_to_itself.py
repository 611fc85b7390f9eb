"""A link from an element to itself: found, counted once, drawn, merged and undone."""

from __future__ import annotations

import kiprdf

FOLLOWS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "follows"} }
  CONCEPT ?a { {type: "T", name: "a"} SET PROPOSITIONS { ("follows", {type: "T", name: "b"}) } }
  PROPOSITION ?own { (?a, "follows", ?a) SET ATTRIBUTES { n: 1 } }
  PROPOSITION { (?own, "follows", ?own) }
}
"""


def nexus() -> kiprdf.Nexus:
    one = kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False)
    one.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
    one.execute('UPSERT { CONCEPT { {type: "T", name: "b"} } }')
    one.execute(FOLLOWS)
    return one


def test_it_is_one_of_the_facts_of_its_element() -> None:
    one = nexus()
    a = one.store.iris.concept("T", "a")
    assert len(one.store.facts(a)) == 2
    rows = one.execute('FIND(?y.name) WHERE { ({name: "a"}, "follows", ?y) } ORDER BY ?y.name ASC')
    assert rows == ["a", "b"]
    itself = 'FIND(?x.name) WHERE { ?x {type: "T"} (?x, "follows", ?x) }'
    assert one.execute(itself) == ["a"]
    assert str(one.draw("C:T/a")) == "<Drawing: The neighbours of a: 2 elements, 2 links>"
    assert one.check()["faults"] == []


def test_it_is_deleted_once_with_what_is_about_it() -> None:
    deleted = nexus().execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "T", name: "a"} }')
    assert deleted == {"deleted_concepts": 1, "deleted_propositions": 3}


def test_a_merge_moves_it_and_drops_what_joins_the_two() -> None:
    one = nexus()
    receipt = one.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "T", name: "a"} ?b {type: "T", name: "b"} }'
    )
    assert (receipt["links_repointed"], receipt["links_deduplicated"]) == (1, 1)
    rows = one.find('FIND(?l.attributes.n) WHERE { ?l ({name: "b"}, "follows", {name: "b"}) }')
    assert list(rows.tuples()) == [(1,)]


def test_a_snapshot_and_a_capsule_bring_it_back() -> None:
    one = nexus()
    copy = kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False)
    copy.restore(one.snapshot())
    assert copy.snapshot() == one.snapshot()
    capsule = one.execute('EXPORT ?l WHERE { ?l (?x, "follows", ?x) }')["capsule"]
    one.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?x, "follows", ?x) }')
    assert one.execute('FIND(COUNT(?l)) WHERE { ?l (?x, "follows", ?x) }') == 0
    one.execute(capsule)
    assert one.snapshot(engine_metadata=False) == copy.snapshot(engine_metadata=False)
