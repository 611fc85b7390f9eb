"""What an import does not keep is in its report; everything else comes home."""

from __future__ import annotations

import re

import pytest
from pyoxigraph import RdfFormat, Triple, parse, serialize
from rdflib import Dataset, Graph, URIRef
from rdflib.compare import isomorphic

import kiprdf
from kiprdf.rdf.reification import to_rdf11
from tests.interchange.odd_graphs import OddGraphs, by_graph
from tests.long_runs import amount
from tests.nexus.support import empty

PREFIXES = """
@prefix : <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
KEPT = {
    "a triple in the default graph and a named graph": """
        :a a :T ; :p 1 ; :knows :b . :b a :T . :g { :a :p 1 ; :knows :b . }""",
    "values of one key in the default graph and a named graph": """
        :a a :T ; :p 1, 2 . :g { :a :p 2, 3 . }""",
    "everything in both graphs": ":a a :T . :g { :a a :T . }",
    "a list in a named graph beside its items": """
        :a a :T . :g { :a :p ( 1 2 ) . } :h { :a :p 1 . }""",
    "an empty list in a named graph": ":a a :T . :g { :a :p ( ) . }",
    "annotations in another graph than the fact": """
        :a a :T . :b a :T . :h { :r :since 1 . }
        :g { :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b . }""",
    "reifiers of one triple in two graphs": """:a a :T . :b a :T .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 1 . }
        :h { :a :knows :b . :s a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 2 . }""",
    "a reifier in another graph than the fact": """:a a :T . :b a :T . :g { :a :knows :b . }
        :h { :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ;
        :since 1 . }""",
    "a reifier in the default graph": """:a a :T . :b a :T . :g { :a :knows :b . }
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ;
        :since 1 .""",
    "an rdf:Statement in several graphs": """:a a :T . :b a :T . :f { :a :knows :b . }
        :g { :r a rdf:Statement . } :h { :r rdf:subject :a ; :since 1 . }
        :i { :r rdf:predicate :knows ; rdf:object :b . :r rdf:subject :a . }""",
    "an rdf:Statement partly with its triple": """:a a :T . :b a :T .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a . }
        :h { :r rdf:predicate :knows ; rdf:object :b ; :since 1 . }""",
    "two of one triple in several graphs": """:a a :T . :b a :T . :g { :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :since 1 . }
        :g { :s a rdf:Statement ; rdf:subject :a . } :h { :s rdf:predicate :knows ;
        rdf:object :b . } :g { :s :since 2 . }""",
    "annotations in a graph of a fact in none": """:a a :T . :b a :T ; :p 1 . :a :knows :b .
        :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :until 2 .
        :g { :r :since 1 . }""",
    "a reifier without an IRI, in several graphs": """:a a :T . :b a :T . :a :knows :b .
        _:r a rdf:Statement ; rdf:subject :a . :g { _:r rdf:predicate :knows ; rdf:object :b ;
        :since 1 . }""",
    "a fact in both graphs and its reifier in one": """:a a :T . :b a :T . :a :knows :b .
        :g { :a :knows :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ;
        rdf:object :b ; :since 1 . }""",
    "owl:sameAs in a named graph": ":a a :T . :g { :a owl:sameAs :other . }",
    "cells with a class": """
        :a a :T ; :p :first . :first a rdf:List ; rdf:first 1 ; rdf:rest [ a rdf:List ;
        rdf:first 2 ; rdf:rest rdf:nil ] .""",
    "a list of resources with a class": """
        :a a :T ; :p [ a rdf:List ; rdf:first :b ; rdf:rest () ] . :b a :T .""",
    "a list with an IRI": ":a a :T ; :p :l . :l rdf:first 1 ; rdf:rest ( 2 ) .",
    "a list of resources with an IRI": """
        :a a :T ; :p :l . :l rdf:first :b ; rdf:rest () . :b a :T .""",
    "two equal lists": ":a a :T ; :p ( 1 2 ), ( 1 2 ), ( 1 2 ) .",
    "two equal lists of resources": ":a a :T ; :p ( :b ), ( :b ) . :b a :T .",
    "equal lists in a list": ":a a :T ; :p ( ( 1 ) ( 1 ) ) .",
    "an IRI and a list": ":a a :T ; :p :x, ( 1 ) .",
    "reflexive owl:sameAs": ":a a :T ; owl:sameAs :a . :b a :T ; owl:sameAs :b, :c .",
}
SKIPPED = {
    "a reifier of a literal": (
        ":a a :T ; :p 1 {| :q 2 |} .",
        {":reifies <<( :a :p 1 )>>", ":q 2"},
    ),
    "a blank reifier without annotations": (
        ":a a :T ; :p :b . :b a :T . [] rdf:reifies <<( :a :p :b )>> .",
        {":reifies <<( :a :p :b )>>"},
    ),
    "a fact about itself": (":a a :T ; :p :a .", {":a :p :a"}),
}
EXAMPLES = amount("EXAMPLES", 20)


REIFIERS = {
    "two IRIs": ":a :worked :b ~ :r1 {| :since 1999 |} ~ :r2 {| :since 2001 |} .",
    "two blank nodes": """:a :worked :b {| :since 1999 ; :until "2000"^^:year |}
        {| :since 2001 |} .""",
    "one form for two numbers": ":a :worked :b ~ :r1 {| :n 1.0 |} ~ :r2 {| :n 1.00 |} .",
    "two IRIs and nothing else": ":a :worked :b ~ :r1 ~ :r2 .",
    "one says nothing": ":a :worked :b ~ :r1 ~ :r2 {| :since 2001 |} .",
    "statements about one of two": """:a :worked :b ~ :r1 {| :since 1999 |} ~ :r2 .
        :c :doubts :r2 . :r1 :because :c . :r2 :because :a .""",
    "owl:sameAs of one reifier": ":a :worked :b ~ :r {| owl:sameAs :q ; :since 1999 |} .",
    "owl:sameAs of a blank node": ":a :worked :b {| owl:sameAs :q, :s ; :since 1999 |} .",
    "owl:sameAs of two reifiers": """:a :worked :b ~ :r1 {| owl:sameAs :r1, :q1 |}
        ~ :r2 {| owl:sameAs :r2, :q2 ; :since 2001 |} {| owl:sameAs :q3 |} .""",
    "a statement about a reifier with owl:sameAs": """:a :worked :b ~ :r {| owl:sameAs :q |} .
        :c :doubts :r .""",
    "an attribute with the name of ours": """:a :worked :b ~ :r1 {| :id "5" |}
        ~ :r2 {| :id "6" |} .""",
}


def as_rdf11(text: str) -> str:
    """RDF 1.2 with the reifiers as ``rdf:Statement``, which rdflib reads."""
    triples: list[Triple] = []
    for quad in parse(PREFIXES + text, format=RdfFormat.TURTLE):
        fact = quad.object
        if isinstance(fact, Triple):
            triples += to_rdf11(quad.subject, fact)
        else:
            triples.append(quad.triple)
    return serialize(triples, format=RdfFormat.N_TRIPLES).decode()


@pytest.mark.parametrize("case", REIFIERS)
def test_what_two_reifiers_say_of_one_triple_stays_apart(case: str) -> None:
    nexus, text = empty(), f"{PREFIXES} :a a :P . :b a :P . :c a :P . {as_rdf11(REIFIERS[case])}"
    assert nexus.import_rdf(text, define=True)["skipped"] == []
    assert isomorphic(
        Graph().parse(data=nexus.snapshot(mapping="original", only="imported"), format="turtle"),
        Graph().parse(data=text, format="turtle"),
    )
    again = nexus.import_rdf(text)
    assert again["propositions"]["created"] == again["propositions"]["updated"] == 0


FILES = {
    "two IRIs": (
        ":a :worked :b ~ :r1 {| :since 1999 |} .",
        ":a :worked :b ~ :r2 {| :since 2001 |} .",
    ),
    "a triple alone": (":a :worked :b ~ :r1 {| :since 1999 |} .", ":a :worked :b ."),
    "a blank node and an IRI": (
        ":a :worked :b {| :since 1999 ; :until 2000 |} .",
        ":a :worked :b ~ :r2 {| :since 2001 |} .",
    ),
    "statements about each": (
        ":a :worked :b ~ :r1 {| :since 1999 |} . :c :doubts :r1 .",
        ":a :worked :b ~ :r2 {| :since 2001 |} . :r2 :because :c .",
        ":a :worked :b ~ :r3 .",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_what_reifiers_of_several_files_say_of_one_triple_stays_apart(case: str) -> None:
    nexus, concepts = empty(), f"{PREFIXES} :a a :P . :b a :P . :c a :P . "
    for text in FILES[case]:
        nexus.import_rdf(concepts + text, define=True)
    text = nexus.snapshot(mapping="original", only="imported")
    expected = concepts + as_rdf11(" ".join(FILES[case]))
    assert isomorphic(
        Graph().parse(data=text, format="turtle"), Graph().parse(data=expected, format="turtle")
    )


def test_a_reifier_that_says_something_else_now_is_updated() -> None:
    nexus, concepts = empty(), f"{PREFIXES} :a a :P . :b a :P . "
    for year in (1999, 2005):
        nexus.import_rdf(f"{concepts} :a :worked :b ~ :r {{| :since {year} |}} .", define=True)
    (attributes,) = nexus.execute('FIND(?l.attributes) WHERE { ?l (?a, "worked", ?b) }')
    assert attributes == {"same_as": "https://example.org/r", "since": 2005}


def test_kql_sees_each_of_two_statements_and_all_of_their_values() -> None:
    nexus = empty()
    nexus.import_rdf(f"{PREFIXES} :a a :P . :b a :P . {REIFIERS['two IRIs']}", define=True)
    (attributes,) = nexus.execute('FIND(?l.attributes) WHERE { ?l (?a, "worked", ?b) }')
    assert attributes == {
        "same_as": ["https://example.org/r1", "https://example.org/r2"],
        "since": [1999, 2001],
        "statements": [
            {"id": "https://example.org/r1", "since": 1999},
            {"id": "https://example.org/r2", "since": 2001},
        ],
    }


def test_a_change_of_one_statement_is_written_under_its_iri() -> None:
    nexus, text = empty(), f"{PREFIXES} :a a :P . :b a :P . {REIFIERS['two IRIs']}"
    nexus.import_rdf(text, define=True)
    r1, r2 = ("https://example.org/r1", "https://example.org/r2")
    nexus.execute(
        'UPDATE ?l SET ATTRIBUTES { statements: :new } WHERE { ?l (?a, "worked", ?b) }',
        new=[{"id": r1, "since": 1999}, {"id": r2, "since": 2002}],
    )
    text = nexus.snapshot(mapping="original", only="imported")
    written = Graph().parse(data=text, format="turtle")
    since = URIRef("https://example.org/since")
    assert [written.value(URIRef(one), since).toPython() for one in (r1, r2)] == [1999, 2002]


def home(nexus: kiprdf.Nexus, format: str = "nquads") -> Dataset:
    text = nexus.snapshot(mapping="original", only="imported", format=format)  # type: ignore[arg-type]
    dataset = Dataset()
    dataset.parse(data=text, format=format)
    return dataset


def differences(first: Dataset, second: Dataset) -> list[str]:
    """The graphs that two datasets do not have in common."""
    graphs = by_graph(first), by_graph(second)
    return [
        name
        for name in graphs[0] | graphs[1]
        if not isomorphic(*(one.get(name, Graph()) for one in graphs))
    ]


@pytest.mark.parametrize("case", KEPT)
def test_what_is_easily_lost_comes_home(case: str) -> None:
    nexus, text = empty(), PREFIXES + KEPT[case]
    assert nexus.import_rdf(text, format="trig", define=True)["skipped"] == []
    expected = Dataset()
    expected.parse(data=text, format="trig")
    assert differences(home(nexus), expected) == []
    again = nexus.import_rdf(text, format="trig")
    assert again["concepts"]["updated"] == again["propositions"]["updated"] == 0


@pytest.mark.parametrize(
    ("text", "is_renamed"),
    [
        (":c a :T ; owl:sameAs :z . :d a :T ; :k :z .", True),
        (":c a :T ; owl:sameAs :z . :d a :T ; :k ( :c :z ) .", True),
        (":c a :T ; owl:sameAs :z . :z :n 1 .", True),
        (":c a :T ; owl:sameAs :z . :d a :T ; :k :c .", False),
        (":c a :T ; owl:sameAs :c . :d a :T ; :k :c .", False),
    ],
)
def test_triples_with_another_iri_of_a_concept_are_in_the_report(
    text: str, is_renamed: bool
) -> None:
    nexus = empty()
    report = nexus.import_rdf(PREFIXES + text, define=True)
    z, c = "<https://example.org/z>", "<https://example.org/c>"
    warning = f"{z} is the same as {c}: triples with it are exported with {c}."
    assert report.get("warnings", []) == [warning] * is_renamed
    expected = Dataset()
    expected.parse(data=PREFIXES + text, format="trig")
    assert (differences(home(nexus), expected) != []) is is_renamed


@pytest.mark.parametrize("case", SKIPPED)
def test_what_is_lost_is_in_the_report(case: str) -> None:
    text, expected = SKIPPED[case]
    skipped = empty().import_rdf(PREFIXES + text, define=True)["skipped"]
    shown = {
        re.sub(r"\^\^<[^>]*>|<https://example.org/|<urn:kip:blank[^>]*> ", "", one["triple"])
        for one in skipped
    }
    for part in expected:
        plain = part.replace(":", "").replace("reifies", "-rdf-syntax-ns#reifies")
        words = [re.escape(word) for word in plain.replace("1", '"1"').replace("2", '"2"').split()]
        assert any(re.search(">? .*?".join(words), one) for one in shown), (part, shown)


@pytest.mark.parametrize("kind", ["one graph", "named graphs", "reifiers"])
def test_a_random_dataset_comes_home_except_for_what_the_report_names(kind: str) -> None:
    whole = 0
    for seed in range(EXAMPLES):
        odd = OddGraphs(seed, named=kind == "named graphs", reifiers=kind == "reifiers")
        nexus = empty()
        text = odd.dataset.serialize(format="nquads")
        skipped = nexus.import_rdf(text, format="nquads", define=True, default_type="Thing")[
            "skipped"
        ]
        written = home(nexus)
        if differences(odd.dataset, written):
            missing = sum(map(len, by_graph(odd.dataset).values()))
            missing -= sum(map(len, by_graph(written).values()))
            named = sum(map(triples_of, (one["triple"] for one in skipped)))
            most = named * len(by_graph(odd.dataset))
            assert 0 < missing <= most, (seed, text, skipped)
        else:
            whole += 1
    assert whole > EXAMPLES / 6


def triples_of(skipped: str) -> int:
    """The number of triples that a line of a report names: with the cells of a list, or parts."""
    if "ns#reifies> <<(" in skipped:
        return 5
    cells = (
        re.findall(r'<[^>]*>|"[^"]*"|\(', skipped[skipped.find("( ") :]) if "( " in skipped else []
    )
    return 1 + 3 * len(cells)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (":g { :a a :T ; :l (1 2) } :h { :b a :T ; :l (1 2) }", []),
        (
            ":g { :a a :T ; :l (1 2) } :h { :a :l (1 2) }",
            ["an equal list is in another graph; both are written as one list"],
        ),
        (
            ":a a :T ; :l _:x . :g { _:x rdf:first 1 ; rdf:rest () }",
            ["it is written to the graph of its list"] * 2,
        ),
    ],
)
def test_a_list_that_loses_its_graph_is_in_the_report(text: str, reasons: list[str]) -> None:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf(PREFIXES + text, format="trig", define=True)
    assert [one["reason"] for one in report["skipped"]] == reasons


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (":C a owl:Class .", []),
        (
            ":g { :C a owl:Class }",
            ["Definitions have no graphs; these are not kept: <https://example.org/g>."],
        ),
    ],
)
def test_the_graphs_of_an_ontology_are_in_the_report(text: str, warnings: list[str]) -> None:
    nexus = kiprdf.Nexus.memory()
    assert nexus.import_ontology(PREFIXES + text, format="trig")["warnings"] == warnings
