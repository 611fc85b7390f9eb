"""RDF Patch: written and read as inverses, applied to one dataset it gives the other."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

import kiprdf
from kiprdf.errors import KipError
from kiprdf.interchange.differences import patch
from kiprdf.rdf import vocab
from tests.interchange import nexuses
from tests.interchange.pairs import opened, triples
from tests.nexus.support import StoppedClock, medical
from tests.oracle.graph import Graph
from tests.properties.strategies import graphs

EXAMPLES = int(os.environ.get("KIPRDF_EXAMPLES", "25"))
A, B, C = (Triple(NamedNode(f"urn:{n}"), NamedNode("urn:p"), Literal(n)) for n in "abc")
ROW = '<urn:a> <urn:p> "a" .'


def fact(name: str) -> str:
    return f'<urn:{name}> <urn:p> "{name}" .\n'


def refusal(text: str) -> KipError:
    with pytest.raises(KipError) as raised:
        patch.read(text)
    return raised.value


# The text -------------------------------------------------------------------------------------


def test_a_patch_is_one_transaction_of_sorted_rows_deletions_first() -> None:
    before = kiprdf.Nexus.memory(genesis=False, clock=StoppedClock())
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


def test_the_rows_are_ntriples_for_another_parser() -> None:
    text = patch.write([], triples(nexuses.hostile()))
    rows = "".join(f"{line[2:]}\n" for line in text.split("\n") if line.startswith("A "))
    found = parse(rows, format=RdfFormat.N_TRIPLES)
    assert {quad.triple for quad in found} == patch.dataset(triples(nexuses.hostile()))


# The way back ---------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [medical, nexuses.small, nexuses.hostile, nexuses.demonstration])
def test_reading_is_the_inverse_of_writing(made: Callable[[], kiprdf.Nexus]) -> None:
    found = patch.between(triples(medical()), triples(made()))
    assert patch.read(patch.write(*found)) == found


@pytest.mark.parametrize("made", [nexuses.small, nexuses.hostile])
def test_a_patch_makes_one_dataset_the_other_and_its_inverse_undoes_it(
    made: Callable[[], kiprdf.Nexus],
) -> None:
    before, after = triples(medical()), triples(made())
    found = patch.read(patch.write(*patch.between(before, after)))
    assert patch.apply(found, before) == patch.dataset(after)
    assert patch.apply(found.inverse(), after) == patch.dataset(before)


def test_an_engine_that_takes_the_rows_has_the_other_dataset() -> None:
    before, after = triples(nexuses.small()), triples(nexuses.hostile())
    found = patch.read(patch.write(*patch.between(before, after)))
    store, expected = stored(before), stored(after)
    for triple in found.removed:
        store.remove(quad(triple))
    store.extend(map(quad, found.added))
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
        before, after = map(triples, nexus)
        text = patch.write(*patch.between(before, after))
        assert patch.apply(patch.read(text), before) == patch.dataset(after)
        assert patch.write(*patch.read(text)) == text


@settings(max_examples=EXAMPLES)
@given(graph=graphs())
def test_equal_datasets_have_an_empty_patch(graph: Graph) -> None:
    with opened([graph, graph]) as (one, other):
        assert patch.between(triples(one), triples(other)) == patch.Patch(frozenset(), frozenset())


# What patches of others look like -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "removed", "added"),
    [
        ("", "", ""),
        (f"A {fact('a')}", "", "a"),
        (f"TX .\nA {fact('a')}D {fact('b')}TC .\n", "b", "a"),
        (f"TX .\nA {fact('a')}D {fact('a')}TC .\n", "a", ""),
        (f"TX .\nD {fact('a')}A {fact('a')}TC .\n", "", "a"),
        (f"TX .\nA {fact('a')}TA .\nTX .\nA {fact('b')}TC .\n", "", "b"),
        (f"TX .\nA {fact('a')}TC .\nTX .\nA {fact('b')}TA .\n", "", "a"),
        (f'H id <uuid:1> .\nH note "a . b" .\nPA "ex" <urn:> .\nPD "ex" .\nA {fact("a")}', "", "a"),
        (f"# what\n\n  TX .  # begin\n\tA  {fact('a')}TC.\n", "", "a"),
        (f"TX .\r\nA {ROW}\r\nTC .\r\n", "", "a"),
        (f"\ufeffA {ROW} # why", "", "a"),
    ],
)
def test_what_rows_do_in_the_end(text: str, removed: str, added: str) -> None:
    known = {"a": A, "b": B, "c": C}
    found = patch.read(text)
    assert found.removed == {known[n] for n in removed}
    assert found.added == {known[n] for n in added}


def test_deleting_what_is_absent_and_adding_what_is_there_does_nothing() -> None:
    assert patch.apply(patch.Patch(frozenset([A]), frozenset([B])), [B, C]) == {B, C}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"X {ROW}", (1, 1)),
        (f"TX .\nAA {ROW}", (2, 1)),
        ("TX .\n  add it\n", (2, 3)),
        ("TX", (1, 1)),
        ("A .", (1, 1)),
        ("A # nothing", (1, 1)),
        ('A VERSION "1.2"', (1, 1)),
        ("H id", (1, 1)),
        (f"A {ROW}\nA <urn:a> <urn:p> x .\n", (2, 19)),
        (f"A {ROW}\nA <urn:a> <urn:p> .\n", (2, 19)),
        (f"TX .\nD {ROW} {ROW}\n", (2, 25)),
        ("A <urn:a> <urn:p>\n", (2, 1)),
        (f"\n\nA {ROW[:-1]}<urn:g> .", (3, 1)),
        ("A _:a <urn:p> <urn:o> .", (1, 1)),
        ("A <urn:a> <urn:p> _:o .", (1, 1)),
        ("A <urn:a> <urn:p> <<( <urn:s> <urn:p> _:o )>> .", (1, 1)),
        ("\nA <a> <urn:p> <urn:o> .", (2, 3)),
        ('\nA <urn:a> <urn:p> "\ud800" .', (2, 1)),
    ],
)
def test_what_is_no_patch_is_refused_with_its_place(text: str, place: tuple[int, int]) -> None:
    error = refusal(text)
    assert (error.code, error.position) == ("KIP_1001", place), error


def test_nested_triple_terms_never_reach_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch, "parse_rdf", None)
    depth = 100_000
    nested = "<<( <urn:s> <urn:p> " * depth + "<urn:o> " + ")>> " * depth
    error = refusal(f"A <urn:a> <urn:p> {nested} .")
    assert error.code == "KIP_4002"


def test_a_string_full_of_brackets_is_a_string() -> None:
    text = 'A <urn:a> <urn:p> "<<( <<( \\" <<(" .'
    assert {t.object.value for t in patch.read(text).added} == {'<<( <<( " <<('}
