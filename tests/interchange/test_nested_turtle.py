"""The schema and the shapes in Turtle with nested nodes."""

from __future__ import annotations

from typing import Any

import pytest
import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

import kiprdf
from kiprdf.interchange.formats.turtle import nested
from kiprdf.interchange.vocabularies.schema import Each, Members, described, schema_triples
from kiprdf.interchange.vocabularies.shapes import shapes
from kiprdf.rdf.iris import Iris
from tests.interchange.graphs import isomorphic

EX = "https://example.org/"
A, P, Q = (NamedNode(EX + name) for name in ("a", "p", "q"))


def written(triples: list[Triple]) -> str:
    """The text without its first two lines, which name the base and the prefix."""
    text = nested(triples, Iris("urn:kip:nexus/"), {"ex": EX})
    assert isomorphic(rdflib.Graph().parse(data=text), triples)
    return "".join(line + "\n" for line in text.split("\n")[3:-1])


def test_descriptions_and_lists_stand_where_they_are_referred_to() -> None:
    description: Any = {P: {Q: Members([Literal("x"), {Q: A}, Members()])}}
    assert (
        written(list(described(A, description)))
        == """\
ex:a ex:p [ ex:q ( "x" [ ex:q ex:a ] () ) ] ;
.
"""
    )


def test_what_is_long_stands_on_several_lines() -> None:
    words = Members(Literal(letter * 30) for letter in "abc")
    assert (
        written(list(described(A, {P: {Q: words}})))
        == f"""\
ex:a ex:p [
        ex:q (
            "{"a" * 30}"
            "{"b" * 30}"
            "{"c" * 30}"
        ) ;
    ] ;
.
"""
    )


def test_nodes_of_one_predicate_are_in_the_order_of_what_is_written() -> None:
    both: Any = {P: Each([{Q: Literal("z")}, {Q: Literal("y", language="de")}])}
    assert (
        written(list(described(A, both)))
        == """\
ex:a ex:p [ ex:q "y"@de ] ;
    ex:p [ ex:q "z" ] ;
.
"""
    )


def test_a_node_that_two_refer_to_and_one_that_none_does_have_labels() -> None:
    shared, single = BlankNode("s"), BlankNode("t")
    triples = [Triple(A, P, shared), Triple(single, P, shared), Triple(shared, Q, A)]
    assert (
        written(triples)
        == """\
_:s ex:q ex:a ;
.

_:t ex:p _:s ;
.

ex:a ex:p _:s ;
.
"""
    )


def test_what_only_looks_like_a_list_is_written_as_nodes() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    first, rest, nil = (NamedNode(rdf + name) for name in ("first", "rest", "nil"))
    cell = BlankNode("c")
    odd = [Triple(A, P, cell), Triple(cell, first, A), Triple(cell, rest, nil), Triple(cell, Q, A)]
    assert "[ rdf:first ex:a ; rdf:rest () ; ex:q ex:a ]" in nested(
        odd, Iris("urn:kip:nexus/"), {"ex": EX}
    )
    assert isomorphic(rdflib.Graph().parse(data=nested(odd, Iris("urn:kip:nexus/"), {})), odd)


@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_the_shapes_of_the_bundled_types_lose_nothing(profile: Any) -> None:
    nexus = kiprdf.Nexus.memory()
    text = nexus.shapes(profile=profile)
    assert isomorphic(rdflib.Graph().parse(data=text), shapes(nexus.store, profile))
    assert "_:" not in text


def test_the_schema_of_the_bundled_types_loses_nothing() -> None:
    nexus = kiprdf.Nexus.memory()
    graph = rdflib.Graph().parse(data=nexus.schema())
    assert isomorphic(graph, schema_triples(nexus.store))
