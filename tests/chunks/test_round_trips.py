"""Texts and RDF lose nothing, tried with random documents."""

from __future__ import annotations

from typing import Any

import pyoxigraph as ox
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kiprdf.chunks import (
    ChunksError,
    Document,
    Graph,
    Negated,
    Text,
    Variable,
    from_rdf,
    parse,
    to_rdf,
    to_text,
)
from kiprdf.chunks.matching import equals
from kiprdf.chunks.model import to_value
from tests.chunks import strategies
from tests.long_runs import amount


@given(strategies.documents, st.booleans())
def test_text_of_a_document_is_read_as_the_same_statements(
    document: Document, compact: bool
) -> None:
    text = to_text(document, compact=compact)
    assert parse(text) == document
    assert to_text(parse(text), compact=compact) == text


@given(strategies.documents)
def test_text_of_a_graph_is_read_as_the_same_text(document: Document) -> None:
    text = to_text(Graph(document))
    assert to_text(Graph(text)) == text


@given(strategies.documents)
def test_rdf_of_a_graph_is_read_as_the_same_chunks(document: Document) -> None:
    graph = Graph(document)
    assert list(from_rdf(to_rdf(graph))) == list(graph)


VOCABULARY = """
prefix p1 {p http://x.org/; q http://y.org/#}
@rdfmap {@base http://x.org/; @prefix p1; dog q:dog; a http://x.org/b; kindof "no IRI"; p:q q:dog}
"""


@given(strategies.documents, st.sampled_from(["urn:chunks:", "http://x.org/", "http://y.org/#a/"]))
def test_rdf_of_mapped_names_is_read_as_the_same_chunks(document: Document, base: str) -> None:
    graph = Graph(VOCABULARY)
    graph.update(document)
    text = to_rdf(graph, base=base)
    assert list(from_rdf(text)) == list(graph)
    assert list(ox.parse(text, format=ox.RdfFormat.TRIG))


FILE = {
    "@context": {
        "x": "http://x.org/",
        "dog": {"@id": "x:Dog", "@context": {"a": "http://x.org/dogs-a", "p": "x:p"}},
        "kindof": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "a": "http://www.w3.org/1999/02/22-rdf-syntax-ns#first",
        "b": "x:Dog",
    }
}


@given(strategies.documents, st.booleans(), st.sampled_from([FILE, [FILE, "foaf"]]))
def test_rdf_of_names_mapped_by_files_is_read_as_the_same_chunks(
    document: Document, has_vocabulary: bool, files: Any
) -> None:
    graph = Graph(VOCABULARY if has_vocabulary else None)
    graph.update(document)
    graph.update(parse("dog {a b; p dog; kindof c}"))
    context: Any = {"@context": [FILE["@context"], {"@vocab": "http://v.org/"}]}
    for mapping in (files, context):
        assert list(from_rdf(to_rdf(graph, mapping=mapping), mapping=mapping)) == list(graph)


@settings(max_examples=amount("EXAMPLES", 100))
@given(st.text('ab1 {};,=>!?*@#"\\\n\x00\ud800é-.:/', max_size=30))
def test_any_text_is_a_document_or_an_error_with_a_place(text: str) -> None:
    fault = None
    try:
        document = parse(text)
    except ChunksError as error:
        fault = error
    if fault is None:
        assert parse(to_text(document)) == document
        return
    assert fault.line is not None
    assert fault.column is not None
    assert 1 <= fault.column <= len(text.split("\n")[fault.line - 1]) + 1
    assert fault.message.endswith(".")


def test_a_text_of_one_star_can_be_negated() -> None:
    document = parse('a {x !"*"}')
    assert document.chunks[0]["x"] == Negated(Text("*"))
    assert parse(to_text(document)) == document


@given(strategies.values, strategies.values)
@example(["", "a", "b"], [Variable("x"), "a", Variable("x")])
def test_equality_is_symmetric(one: object, other: object) -> None:
    first, second = to_value(one), to_value(other)
    assert equals(first, second) == equals(second, first)
