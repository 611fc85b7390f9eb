"""What an import does not keep is in its report; everything else comes home."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rdflib import Dataset, Graph, URIRef
from rdflib.compare import isomorphic

import kiprdf
from tests.interchange.odd_graphs import OddGraphs, by_graph
from tests.interchange.originals import PREFIXES, canonical, check_home, imported, original
from tests.interchange.test_same_graph import CONCEPTS, REIFIERS
from tests.long_runs import amount
from tests.nexus.support import empty, restored

SKIPPED = {
    "a reifier of a literal": (
        ":a a :T ; :p 1 {| :q 2 |} .",
        {":reifies <<( :a :p 1 )>>", ":q 2"},
    ),
    "a blank reifier without annotations": (
        ":a a :T ; :p :b . :b a :T . [] rdf:reifies <<( :a :p :b )>> .",
        {":reifies <<( :a :p :b )>>"},
    ),
    "a fact about itself": (":a a :T ; :p :a ; :q ( :a :a ) . :a :p :a ~ :r . :r :n 1 .", set()),
}
EXAMPLES = amount("EXAMPLES", 20)
SEED = 1000 * amount("SEED", 1)


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
    nexus = empty()
    for text in FILES[case]:
        nexus.import_rdf(PREFIXES + CONCEPTS + text, define=True)
    assert original(nexus) == canonical(CONCEPTS + " ".join(FILES[case]))
    assert restored(nexus).snapshot() == nexus.snapshot()


def test_a_reifier_that_says_something_else_now_is_updated() -> None:
    nexus = empty()
    for year in (1999, 2005):
        nexus.import_rdf(
            f"{PREFIXES + CONCEPTS} :a :worked :b ~ :r {{| :since {year} |}} .", define=True
        )
    (attributes,) = nexus.execute('FIND(?l.attributes) WHERE { ?l (?a, "worked", ?b) }')
    assert attributes == {"same_as": "https://example.org/r", "since": 2005}


def test_kql_sees_each_of_two_statements_and_all_of_their_values() -> None:
    nexus = imported(CONCEPTS + REIFIERS["two IRIs"])
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
    nexus = imported(CONCEPTS + REIFIERS["two IRIs"])
    r1, r2 = ("https://example.org/r1", "https://example.org/r2")
    nexus.execute(
        'UPDATE ?l SET ATTRIBUTES { statements: :new } WHERE { ?l (?a, "worked", ?b) }',
        new=[{"id": r1, "since": 1999}, {"id": r2, "since": 2002}],
    )
    text = nexus.snapshot(mapping="original", only="imported")
    written = Graph().parse(data=text, format="turtle")
    since = URIRef("https://example.org/since")
    assert [written.value(URIRef(one), since).toPython() for one in (r1, r2)] == [1999, 2002]


def home(nexus: kiprdf.Nexus) -> Dataset:
    text = nexus.snapshot(mapping="original", only="imported", format="nquads")
    return Dataset().parse(data=text, format="nquads")  # type: ignore[return-value]


def differences(first: Dataset, second: Dataset) -> list[str]:
    """The graphs that two datasets do not have in common."""
    graphs = by_graph(first), by_graph(second)
    return [
        name
        for name in graphs[0] | graphs[1]
        if not isomorphic(*(one.get(name, Graph()) for one in graphs))
    ]


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
    assert (original(nexus) != canonical(text)) is is_renamed


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


NAMES: tuple[Any, ...] = (None, "local", "label")


@pytest.mark.parametrize("kind", ["one graph", "named graphs", "reifiers"])
def test_random_containers_and_names_come_home_and_a_second_import_changes_nothing(
    kind: str,
) -> None:
    for seed in range(SEED, SEED + EXAMPLES):
        odd = OddGraphs(
            seed, named=kind == "named graphs", reifiers=kind == "reifiers", containers=True
        )
        nexus, text = empty(), odd.dataset.serialize(format="nquads")
        options: dict[str, Any] = {"define": True, "default_type": "Thing", "format": "nquads"}
        report = nexus.import_rdf(text, names=NAMES[seed % 3], **options)
        written = home(nexus)
        if not report["skipped"]:
            assert differences(odd.dataset, written) == [], (seed, text)
        again = nexus.import_rdf(text, names=NAMES[(seed + 1) % 3], **options)
        for what in ("concepts", "propositions"):
            assert again[what]["created"] == 0, (seed, text, again)
        assert again["definitions"] == {"concept_types": [], "predicates": []}
        assert differences(written, home(nexus)) == [], (seed, text)


THINGS = " :a a :T . :b a :T ."


@pytest.mark.parametrize(
    "annotation",
    [":since :b", ":since ( :b )", ":n 1 ; :since :b", ":by [ a rdf:Seq ; rdf:_1 :b ]"],
)
def test_an_annotation_without_an_iri_is_one_statement_in_a_second_import(annotation: str) -> None:
    check_home(f":s a :T ; :l :a {{| {annotation} |}} ." + THINGS)


def test_a_link_of_the_only_reifier_comes_home_when_another_import_brings_others() -> None:
    nexus = imported(":s a :T ; :l :a {| :n 1 |} ." + THINGS)
    nexus.import_rdf(PREFIXES + ":s a :T ; :l :a {| :since :b |} ." + THINGS, define=True)
    both = ":s a :T ; :l :a {| :n 1 |} {| :since :b |} ."
    assert original(nexus) == canonical(both + THINGS)


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


def test_blank_nodes_alike_get_their_graphs_in_the_order_of_the_document() -> None:
    nexus = kiprdf.Nexus.memory()
    alike = ":g2 { :a :p [ :q 'x' ] } :g1 { :a :p [ :q 'x' ] }"
    text = f"{PREFIXES} :g1 {{ :a a :T }} {alike}"
    nexus.import_rdf(text, format="trig", define=True, default_type="Thing")
    graphs = 'FIND(?b.metadata.graph) WHERE { ?b {type: "Thing"} } ORDER BY ?b.name'
    assert nexus.execute(graphs) == ["https://example.org/g2", "https://example.org/g1"]


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (":C a owl:Class .", []),
        (
            ":g { :C a owl:Class }",
            ["Definitions have no graphs; these are not kept: <https://example.org/g>."],
        ),
        (
            "_:g { :C a owl:Class } _:h { :D a owl:Class }",
            ["Definitions have no graphs; these are not kept: graph 1, graph 2."],
        ),
    ],
)
def test_the_graphs_of_an_ontology_are_in_the_report(text: str, warnings: list[str]) -> None:
    nexus = kiprdf.Nexus.memory()
    assert nexus.import_ontology(PREFIXES + text, format="trig")["warnings"] == warnings
