"""What was imported under the IRIs of two merged concepts leaves under each of them as it came.

What a second file replaces of an earlier one, or cannot keep beside it, is in the report.
"""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from tests.interchange.originals import PREFIXES, canonical, imported, original
from tests.nexus.support import empty, facts, restored

DOCUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "values that contradict, and values of one alone": (
        """:a a :T ; rdfs:label "A" ; :p 1.10 ; :q 5 . :b a :T ; rdfs:label "B" ; :p 2, 3 .""",
        {},
    ),
    "names as attributes and aliases": (
        """:a a foaf:Person ; foaf:name "A" ; foaf:nick "x", "y" ; foaf:age 1 .
        :b a foaf:Person ; foaf:name "B" ; foaf:nick "z" .""",
        {"mapping": "foaf"},
    ),
    "other classes and IRIs": (
        """:a a :T, :U ; rdfs:label "A" ; owl:sameAs :other .
        :b a :T, :V ; rdfs:label "B" ; owl:sameAs :another .""",
        {},
    ),
    "links from one and to one": (
        """:a a :T ; rdfs:label "A" ; :knows :c . :b a :T ; rdfs:label "B" .
        :c a :T ; :likes :a .""",
        {},
    ),
    "the same links": (
        """:a a :T ; rdfs:label "A" ; :knows :c ~ :r {| :since 1 |} .
        :b a :T ; rdfs:label "B" ; :knows :c {| :since 2 |} . :c a :T ; :likes :a, :b .""",
        {},
    ),
    "links to each other": (
        """:a a :T ; rdfs:label "A" ; :matches :b {| :sure 0.5 |} .
        :b a :T ; rdfs:label "B" ; :matches :a .""",
        {},
    ),
    "lists": (
        """:a a :T ; rdfs:label "A" ; :l ( :c :d ), ( 1 2 ) . :c a :T . :d a :T ; :m ( :a :b ) .
        :b a :T ; rdfs:label "B" ; :l ( :d ) .""",
        {},
    ),
    "a list that has the other in it": (
        """:a a :T ; rdfs:label "A" ; :l ( :c :b ( :d :b ) ) . :b a :T ; rdfs:label "B" .
        :c a :T . :d a :T .""",
        {},
    ),
    "lists of resources and literals": (
        """:a a :T ; rdfs:label "A" ; :l ( 1 :c ) . :b a :T ; rdfs:label "B" ; :l ( :c 3 ) .
        :c a :T .""",
        {},
    ),
    "a link of one in a list with a literal of the other": (
        """:a a :T ; rdfs:label "A" ; :q :d . :b a :T ; rdfs:label "B" ; :q ( :d 1 ) .
        :d a :T .""",
        {},
    ),
    "a link of one in a list of the other": (
        """:a a :T ; rdfs:label "A" ; :q ( :d ) . :b a :T ; rdfs:label "B" ; :q :d .
        :d a :T .""",
        {},
    ),
    "a link with a value of one in a list with a literal of the other": (
        """:a a :T ; rdfs:label "A" ; :q ( :d 1 ) . :b a :T ; rdfs:label "B" ;
        :q :d {| :since 1 |} . :d a :T .""",
        {},
    ),
    "blank nodes": (
        """[] a :T ; rdfs:label "A" ; :p 1 . :b a :T ; rdfs:label "B" ; :at [ a :U ] .""",
        {},
    ),
}
MERGE = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: :source} ?b {name: :target} }"


def merge(nexus: kiprdf.Nexus, source: str = "A", target: str = "B") -> None:
    assert nexus.execute(MERGE, source=source, target=target)["merged"]


@pytest.mark.parametrize("direction", [("A", "B"), ("B", "A")])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_two_merged_concepts_leave_as_they_came_and_a_second_import_changes_nothing(
    case: str, direction: tuple[str, str]
) -> None:
    text, options = DOCUMENTS[case]
    nexus = imported(text, **options)
    merge(nexus, *direction)
    assert original(nexus) == canonical(text)
    before = facts(nexus)
    again = nexus.import_rdf(PREFIXES + text, **options)
    assert again["skipped"] == []
    for kind in ("concepts", "propositions"):
        assert again[kind]["created"] == again[kind]["updated"] == 0, kind
    assert facts(nexus) == before
    assert original(nexus) == canonical(text)
    assert restored(nexus).snapshot() == nexus.snapshot()
    assert nexus.check()["faults"] == []


AFTER_A_MERGE = [
    # What was imported before the merge, what is imported after it, and whether that comes home.
    (":a :matches :b .", ":a :matches :b .", True),
    (":a :matches :b .", ":b :matches :a .", True),
    (":a :matches :b .", ":b :likes :a .", True),
    (":a :matches :b .", ":c :matches :a, :b .", True),
    ("", ":a :matches :b .", True),
    (":a :matches :b {| :sure 0.5 |} .", ":a :matches :b {| :sure 0.5 |} .", True),
    (":a :matches :b {| :sure 0.5 |} .", ":a :matches :b {| :sure 0.6 |} .", False),
    (":a :l ( :c :b ) .", ":a :l ( :c :b ) .", True),
    (":a :l ( :c :b ) .", ":a :l ( :b :c ) .", False),
    (":a :l ( :c :b ) .", ":a :l :b .", False),
]


@pytest.mark.parametrize(("before", "after", "comes_home"), AFTER_A_MERGE)
def test_only_links_of_merged_concepts_that_do_not_come_home_are_in_the_report(
    before: str, after: str, comes_home: bool
) -> None:
    things = ':a a :T ; rdfs:label "A" . :b a :T ; rdfs:label "B" . :c a :T . '
    nexus = imported(things + before)
    merge(nexus)
    report = nexus.import_rdf(PREFIXES + things + after, define=True)
    assert (report["skipped"] == []) is comes_home
    if comes_home:
        both = things + before + ("" if after == before else after)
        assert original(nexus) == canonical(both)


def test_a_merged_concept_has_both_iris() -> None:
    nexus = imported(DOCUMENTS["links from one and to one"][0])
    merge(nexus)
    assert nexus.execute('FIND(?b.attributes.same_as) WHERE { ?b {name: "B"} }') == [
        ["https://example.org/b", "https://example.org/a"]
    ]


def test_a_file_that_names_either_iri_finds_the_merged_concept() -> None:
    nexus = imported(DOCUMENTS["links from one and to one"][0])
    merge(nexus)
    report = nexus.import_rdf(PREFIXES + ":d a :T ; :knows :a, :b .")
    assert report["concepts"] == {"created": 1, "updated": 0, "unchanged": 0}
    assert nexus.execute('FIND(?o.name) WHERE { ({name: "d"}, "knows", ?o) }') == ["B"]


def test_merges_one_after_the_other_keep_every_concept_apart() -> None:
    text = """:a a :T ; rdfs:label "A" ; :p 1 ; owl:sameAs :other .
        :b a :T ; rdfs:label "B" ; :p 2 ; :k :a .
        :c a :T ; rdfs:label "C" ; :p 3 ; :r 4 ; :k :a, :b ."""
    nexus = imported(text)
    merge(nexus, "A", "B")
    merge(nexus, "B", "C")
    assert original(nexus) == canonical(text)
    before = facts(nexus)
    nexus.import_rdf(PREFIXES + text)
    assert facts(nexus) == before


def test_a_new_concept_that_takes_over_an_imported_one_leaves_as_that_one() -> None:
    text = ':a a :T ; rdfs:label "A" ; :p 1 ; :knows :c . :c a :T ; :likes :a .'
    nexus = imported(text)
    nexus.execute('UPSERT { CONCEPT { {type: "T", name: "B"} SET ATTRIBUTES { p: 2, mine: 9 } } }')
    merge(nexus)
    assert original(nexus) == canonical(text)
    before = facts(nexus)
    nexus.import_rdf(PREFIXES + text)
    assert facts(nexus) == before


def test_what_changes_after_a_merge_is_written_under_the_first_iri() -> None:
    nexus = imported(':a a :T ; rdfs:label "A" ; :p 1 . :b a :T ; rdfs:label "B" ; :p 2 .')
    merge(nexus)
    nexus.execute('UPDATE ?b SET ATTRIBUTES { p: 7 } WHERE { ?b {name: "B"} }')
    expected = ':a a :T ; rdfs:label "A" ; :p 1 . :b a :T ; rdfs:label "B" ; :p 7 .'
    assert original(nexus) == canonical(expected)


def test_a_merge_of_concepts_that_no_import_brought_notes_nothing() -> None:
    nexus = imported(":a a :T .")
    nexus.execute("""UPSERT { CONCEPT { {type: "T", name: "A"} SET ATTRIBUTES { p: 1 } }
        CONCEPT { {type: "T", name: "B"} } }""")
    merge(nexus)
    (metadata,) = nexus.execute('FIND(?b.metadata) WHERE { ?b {name: "B"} }')
    assert "original" not in metadata
    assert metadata["_merged_from"] == ["T:A"]


@pytest.mark.parametrize("direction", [("A", "B"), ("B", "A")])
def test_links_of_merged_concepts_stay_in_their_graphs(direction: tuple[str, str]) -> None:
    text = """:a a :T ; rdfs:label "A" . :b a :T ; rdfs:label "B" . :d a :T .
        :g { :a :knows :d . } :h { :b :knows :d . }"""
    nexus = imported(text)
    merge(nexus, *direction)
    for _ in range(2):
        assert original(nexus) == canonical(text)
        again = nexus.import_rdf(PREFIXES + text, format="trig")
        assert again["propositions"] == {"created": 0, "updated": 0, "unchanged": 1}


# A second file --------------------------------------------------------------------------------


NAMES = """:a a :T ; rdfs:label "A" . :b a :T ; rdfs:label "B" . :c a :T . :d a :T . """
CASES = {
    "a list of resources": (
        NAMES + ":a :l (:b :c) .",
        NAMES + ":a :l (:b :d) .",
        "T/A has another list of <https://example.org/l> now; the link ",
    ),
    "blank reifiers": (
        NAMES + ":a :k :b {| :y 1 |} .",
        NAMES + ":a :k :b {| :y 2 |} .",
        ": a reifier without an IRI replaces the values of y that an earlier import brought.",
    ),
    "the default graph": (
        ":g { :a a :T ; :n 1 }",
        ":a a :T ; :n 1 .",
        "T/a: stated in other graphs by an earlier import; written in https://example.org/g alone,"
        " and not in @default.",
    ),
    "another graph": (
        ":g { :a a :T ; :n 1 }",
        ":h { :a a :T ; :n 1 }",
        "written in https://example.org/h alone, and not in https://example.org/g.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_second_file_replaces_is_reported(case: str) -> None:
    first, second, expected = CASES[case]
    nexus = empty()
    for _ in range(2):
        report = nexus.import_rdf(PREFIXES + first, define=True, format="trig")
        assert report["warnings"] == []
    (warning,) = nexus.import_rdf(PREFIXES + second, define=True, format="trig")["warnings"]
    assert expected in warning


def test_what_a_changed_file_states_of_a_merged_concept_is_reported() -> None:
    text = PREFIXES + ':a a :T ; rdfs:label "A" ; :n 1 . :b a :T ; rdfs:label "B" ; :n 2 .'
    nexus = empty()
    nexus.import_rdf(text, define=True)
    merge(nexus, "B", "A")
    assert nexus.import_rdf(text)["warnings"] == []
    (warning,) = nexus.import_rdf(text.replace(":n 2", ":n 3"))["warnings"]
    assert warning == (
        "<https://example.org/b> was merged into C:T/A: what it states now of n replaces the value "
        "there, and is written under its IRI."
    )
