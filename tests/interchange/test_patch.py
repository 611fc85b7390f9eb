"""RDF Patch: what a patch writes, applied to one dataset, gives the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

import kiprdf
from kiprdf.interchange.differences import patch
from kiprdf.rdf import vocab
from tests.interchange import nexuses
from tests.interchange.pairs import opened, triples
from tests.long_runs import amount
from tests.nexus.support import empty, medical, untouched
from tests.oracle.graph import Graph
from tests.properties.strategies import graphs

EXAMPLES = amount("EXAMPLES", 25) // 2
A, B, C = (Triple(NamedNode(f"urn:{n}"), NamedNode("urn:p"), Literal(n)) for n in "abc")


# A patch applied to a nexus ------------------------------------------------------------------


def changed() -> tuple[kiprdf.Nexus, str]:
    """A nexus, and the patch that it takes to a later state of it."""
    before, after = medical(), medical()
    after.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} SET ATTRIBUTES { dose: 0.5 } '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Fever"}) } } }'
    )
    after.execute('DELETE CONCEPT ?u DETACH WHERE { ?u {type: "User", name: "Ann"} }')
    return before, patch.write(*patch.between(triples(before), triples(after)))


def test_a_patch_is_applied_as_one_commit_that_search_follows() -> None:
    nexus, text = changed()
    nexus.execute('SEARCH CONCEPT "Ann"')
    number = nexus.info()["commit"]
    # A concept has a type, a label and three times and versions; a link a triple and a reifier.
    assert nexus.apply_patch(text) == {"deleted": 5 + 6, "added": 6 + 5}
    assert nexus.info()["commit"] == number + 1
    assert nexus.execute('FIND(?d.attributes.dose) WHERE { ?d {name: "Ibuprofen"} }') == [0.5]
    assert nexus.execute('SEARCH CONCEPT "Ann"') == []
    assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "Ibuprofen"')] == ["Ibuprofen"]
    assert nexus.check()["faults"] == []


def test_a_patch_of_another_state_writes_nothing() -> None:
    nexus, text = changed()
    nexus.apply_patch(text)
    with untouched(nexus), pytest.raises(kiprdf.KipError, match="KIP_2002") as raised:
        nexus.apply_patch(text)
    assert "deletes a triple that is absent" in raised.value.message


def test_a_patch_that_would_break_the_nexus_writes_nothing() -> None:
    nexus = medical()
    row = "D <urn:kip:nexus/$ConceptType/Drug> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    with untouched(nexus), pytest.raises(kiprdf.KipError):
        nexus.apply_patch(row + "<urn:kip:nexus/$ConceptType/$ConceptType> .\n")


@pytest.mark.parametrize(
    "row", ["A <urn:a> <urn:b> .", "PA ex <urn:x> .", "A ex:a ex:b ex:c .", "TA .", "hello"]
)
def test_what_is_no_row_is_shown_with_its_place(row: str) -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 2:1") as raised:
        medical().apply_patch(f"TX .\n{row}\nTC .\n")
    assert repr(row) in raised.value.message


def test_what_a_patch_adds_and_deletes_again_has_not_changed() -> None:
    nexus = medical()
    row = "<urn:kip:nexus/Drug/Aspirin> <urn:kip:attribute/x> <urn:kip:vocab/null> ."
    with untouched(nexus):
        assert nexus.apply_patch(f"A {row}\nD {row}\n") == {"deleted": 0, "added": 0}


# The text -------------------------------------------------------------------------------------


def test_a_patch_is_one_transaction_of_sorted_rows_deletions_first() -> None:
    before = empty()
    before.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "D"} } '
        'CONCEPT { {type: "$PropositionType", name: "p"} } CONCEPT ?b { {type: "D", name: "B"} } '
        'CONCEPT { {type: "D", name: "A"} SET ATTRIBUTES { a: 1.5 } } }'
    )
    old = triples(before)
    before.execute(
        'UPSERT { CONCEPT { {type: "D", name: "A"} SET ATTRIBUTES { a: null, t: "l\\nine" } '
        'SET PROPOSITIONS { ("p", {type: "D", name: "B"}) } } }'
    )
    link = next(t.subject for t in triples(before) if t.predicate == vocab.REIFIES)
    stamps = [
        f'<urn:kip:metadata/_{key}_at> "2026-01-02T03:04:05.678Z"' for key in ("created", "updated")
    ]
    xsd = "http://www.w3.org/2001/XMLSchema#"
    one = "<urn:kip:nexus/D/A>"
    stated = f"{one} <urn:kip:nexus/$PropositionType/p> <urn:kip:nexus/D/B>"
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    text = patch.write(*patch.between(old, triples(before)))
    assert text.split("\n")[1:] == [
        "TX .",
        f'D {one} <urn:kip:attribute/a> "1.5"^^<{xsd}double> .',
        f'D {one} <urn:kip:metadata/_version> "1"^^<{xsd}integer> .',
        f"A {link} <{rdf}reifies> <<( {stated} )>> .",
        f"A {link} {stamps[0]} .",
        f"A {link} {stamps[1]} .",
        f'A {link} <urn:kip:metadata/_version> "1"^^<{xsd}integer> .',
        f"A {one} <urn:kip:attribute/a> <urn:kip:vocab/null> .",
        f'A {one} <urn:kip:attribute/t> "l\\nine" .',
        f'A {one} <urn:kip:metadata/_version> "2"^^<{xsd}integer> .',
        f"A {stated} .",
        "TC .",
        "",
    ]


def test_the_id_of_a_patch_follows_from_its_rows() -> None:
    first, second, other = (patch.write([A], [B]), patch.write([A], [B]), patch.write([A], [C]))
    assert first == second
    assert first.split("\n")[0].startswith("H id <uuid:")
    assert first.split("\n")[0] != other.split("\n")[0]


def test_the_order_of_triples_leaves_no_trace() -> None:
    assert patch.write([A, B], [C]) == patch.write([B, A], [C])


def test_a_patch_of_nothing_is_an_empty_transaction() -> None:
    assert patch.write([], []).split("\n")[1:] == ["TX .", "TC .", ""]


# What rows do ---------------------------------------------------------------------------------


def read(text: str) -> patch.Patch:
    """The rows of a patch, read by an N-Triples parser."""
    removed, added = (
        frozenset(
            quad.triple
            for quad in parse(
                "".join(f"{line[2:]}\n" for line in text.split("\n") if line.startswith(operation)),
                format=RdfFormat.N_TRIPLES,
            )
        )
        for operation in ("D ", "A ")
    )
    return patch.Patch(removed, added)


@pytest.mark.parametrize("made", [medical, nexuses.small, nexuses.hostile, nexuses.demonstration])
def test_the_rows_are_the_difference(made: Callable[[], kiprdf.Nexus]) -> None:
    difference = patch.between(triples(medical()), triples(made()))
    assert read(patch.write(*difference)) == difference


@pytest.mark.parametrize("made", [nexuses.small, nexuses.hostile])
def test_a_patch_makes_one_dataset_the_other_and_its_inverse_undoes_it(
    made: Callable[[], kiprdf.Nexus],
) -> None:
    before, after = patch.dataset(triples(medical())), patch.dataset(triples(made()))
    rows = read(patch.write(*patch.between(before, after)))
    assert before - rows.removed | rows.added == after
    assert after - rows.added | rows.removed == before


def test_an_engine_that_takes_the_rows_has_the_other_dataset() -> None:
    before, after = triples(nexuses.small()), triples(nexuses.hostile())
    rows = read(patch.write(*patch.between(before, after)))
    store, expected = stored(before), stored(after)
    for triple in rows.removed:
        store.remove(quad(triple))
    store.extend(map(quad, rows.added))
    assert set(store) == set(expected)


def stored(triples: list[Triple]) -> Store:
    store = Store()
    store.extend(map(quad, triples))
    return store


def quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)


def test_numbers_that_an_engine_spells_otherwise_are_no_change() -> None:
    nodes = NamedNode("urn:s"), NamedNode("urn:p")
    one, other = (Triple(*nodes, Literal(text, datatype=vocab.DOUBLE)) for text in ("1", "1.0"))
    assert patch.between([one], [other]) == patch.Patch(frozenset(), frozenset())


@settings(max_examples=EXAMPLES)
@given(pair=st.tuples(graphs(), graphs()))
def test_every_patch_makes_one_dataset_the_other(pair: tuple[Graph, Graph]) -> None:
    with opened(pair) as nexus:
        before, after = (patch.dataset(triples(one)) for one in nexus)
        rows = read(patch.write(*patch.between(before, after)))
        assert before - rows.removed | rows.added == after


@settings(max_examples=EXAMPLES)
@given(graph=graphs())
def test_equal_datasets_have_an_empty_patch(graph: Graph) -> None:
    with opened([graph, graph]) as (one, other):
        assert patch.between(triples(one), triples(other)) == patch.Patch(frozenset(), frozenset())
