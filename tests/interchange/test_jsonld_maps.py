"""JSON-LD 1.1 is read where the parser refuses or misreads it: maps, contexts of types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

from kiprdf.interchange.formats.parsing import parse_foreign
from kiprdf.rdf.vocab import RDF

THING = {"@id": "https://example.org/thing", "@container": "@type"}
CONTEXT: dict[str, Any] = {"@vocab": "https://example.org/", "things": THING, "kind": "@type"}


@pytest.mark.parametrize(
    "things",
    [
        {"Cat": {"@id": "urn:cat:1"}},
        {"Cat": {"@id": "urn:cat:1", "@type": "Pet"}, "Dog": {"kind": ["Pet", "Guard"]}},
        {"@none": {"@id": "urn:any:1", "name": "thing"}},
        {"Cat": {"@id": "urn:cat:1", "things": {"Dog": {"@id": "urn:dog:1"}}}},
    ],
)
def test_a_type_map_is_read_as_another_processor_reads_it(things: dict[str, Any]) -> None:
    text = json.dumps({"@context": CONTEXT, "@id": "urn:a:1", "@type": "T", "things": things})
    quads, warnings = parse_foreign(text, "jsonld")
    read = Graph().parse(data="\n".join(f"{quad.triple} ." for quad in quads), format="nt")
    assert isomorphic(read, Graph().parse(data=text, format="json-ld"))
    assert warnings == []


def test_a_type_map_has_several_nodes_of_a_type() -> None:
    things = {"Cat": [{"@id": "urn:cat:1"}, {"name": "Kit"}], "Dog": "urn:dog:1"}
    plain = [
        {"@id": "urn:cat:1", "@type": "Cat"},
        {"@type": "Cat", "name": "Kit"},
        {"@id": "urn:dog:1", "@type": "Dog"},
    ]
    first, second = (
        parse_foreign(
            json.dumps({"@context": context, "@id": "urn:a:1", "things": value}), "jsonld"
        )[0]
        for context, value in (
            (CONTEXT, things),
            ({"@vocab": "https://example.org/", "things": THING["@id"]}, plain),
        )
    )
    read = [
        Graph().parse(data="\n".join(f"{quad.triple} ." for quad in quads), format="nt")
        for quads in (first, second)
    ]
    assert len(read[0]) == 7
    assert isomorphic(*read)


def test_a_term_that_is_defined_again_has_no_type_map() -> None:
    inner = {"@context": {"things": "https://example.org/thing"}, "things": {"Cat": "x"}}
    text = json.dumps({"@context": CONTEXT, "@id": "urn:a:1", "in": inner})
    quads, _ = parse_foreign(text, "jsonld")
    assert "https://example.org/Cat" in {quad.predicate.value for quad in quads}


V = {"@vocab": "https://example.org/"}
BY_TYPE = {"@id": "https://example.org/thing", "@container": "@type"}
READ: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a type map of a term's context": (
        [V, {"in": {"@context": {"things": BY_TYPE}}}],
        {"in": {"@id": "urn:i", "things": {"Cat": {"@id": "urn:c"}}}, "things": {"Cat": "x"}},
        "<urn:s> :in <urn:i> . <urn:i> :thing <urn:c> . <urn:c> a :Cat ."
        ' <urn:s> :things [ :Cat "x" ] .',
    ),
    "a type map of a type's context": (
        [V, {"Box": {"@context": {"things": BY_TYPE}}}],
        {"@type": "Box", "things": {"Cat": {"@id": "urn:c", "things": {"Cat": "x"}}}},
        '<urn:s> a :Box ; :thing <urn:c> . <urn:c> a :Cat ; :things [ :Cat "x" ] .',
    ),
    "strings that are terms, or relative": (
        [V, {"@base": "urn:b:", "t": {**BY_TYPE, "@type": "@vocab"}, "u": BY_TYPE}],
        {"t": {"Cat": ["Tom", "urn:c"]}, "u": {"Dog": "urn:d", "@none": {"@id": "urn:n"}}},
        "<urn:s> :thing :Tom , <urn:c> , <urn:d> , <urn:n> . :Tom a :Cat . <urn:c> a :Cat ."
        " <urn:d> a :Dog .",
    ),
    "the context of a type in a type map": (
        [V, {"things": BY_TYPE, "Cat": {"@context": {"name": "urn:name"}}, "none": "@none"}],
        {"things": {"Cat": {"@id": "urn:c", "name": "T"}, "none": {"@id": "urn:d", "name": "U"}}},
        '<urn:s> :thing <urn:c> , <urn:d> . <urn:c> a :Cat ; <urn:name> "T" . <urn:d> :name "U" .',
    ),
    "the context of a node's type in a type map": (
        [
            V,
            {
                "things": BY_TYPE,
                "B": {"@context": {"p": "urn:b"}},
                "A": {"@context": {"p": "urn:a"}},
            },
        ],
        {"things": {"B": {"@id": "urn:c", "@type": "A", "p": 1, "in": {"p": 2}}}},
        "<urn:s> :thing <urn:c> . <urn:c> a :A , :B ; <urn:a> 1 ; :in [ <urn:b> 2 ] .",
    ),
    "a map by id, an array there, and an alias": (
        [V, {"by": {"@container": "@id"}, "id": "@id"}],
        {"by": {"urn:a": {"n": 1}, "@none": {"n": 2}}, "x": {"by": [{"n": 3}, {"id": "urn:d"}]}},
        "<urn:s> :by <urn:a> , [ :n 2 ] ; :x [ :by [ :n 3 ] , <urn:d> ] . <urn:a> :n 1 .",
    ),
    "maps by index and by type in each other": (
        [V, {"things": BY_TYPE, "by": {"@container": "@index"}}],
        {"by": {"1": {"things": {"Cat": {"@id": "urn:c", "by": {"2": {"@id": "urn:d"}}}}}}},
        "<urn:s> :by [ :thing <urn:c> ] . <urn:c> a :Cat ; :by <urn:d> .",
    ),
    "a type map within @nest and @included": (
        [V, {"things": BY_TYPE, "group": "@nest"}],
        {
            "group": {"things": {"Cat": {"@id": "urn:c"}}},
            "@included": [{"@id": "urn:i", "things": {"Dog": {"@id": "urn:d"}}}],
        },
        "<urn:s> :thing <urn:c> . <urn:c> a :Cat . <urn:i> :thing <urn:d> . <urn:d> a :Dog .",
    ),
    "what is in a value without a meaning": (
        {"name": "https://example.org/name", "of": {"@id": "https://example.org/of"}},
        {"name": "S", "more": {"of": {"@id": "urn:m", "name": "M"}}},
        '<urn:s> :name "S" .',
    ),
    "two types with contexts": (
        [V, {"A": {"@context": {"p": "urn:p"}}, "B": {"@context": {"q": "urn:q"}}}],
        {"@type": ["A", "B"], "p": 1, "q": {"@type": "B", "p": 2, "q": 3}},
        "<urn:s> a :A , :B ; <urn:p> 1 ; <urn:q> [ a :B ; :p 2 ; <urn:q> 3 ] .",
    ),
    "JSON with a context in it": (
        [V, {"data": {"@type": "@json"}, "things": BY_TYPE}],
        {"data": {"@context": "urn:none", "things": {"Cat": {"@id": "c"}}}},
        '<urn:s> :data """{"@context":"urn:none","things":{"Cat":{"@id":"c"}}}"""^^rdf:JSON .',
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_the_parser_refuses_or_misreads_is_read(case: str) -> None:
    context, node, expected = READ[case]
    text = json.dumps({"@context": context, "@id": "urn:s", **node})
    quads, warnings = parse_foreign(text, "jsonld")
    read = Graph().parse(data="\n".join(f"{quad.triple} ." for quad in quads), format="nt")
    prefixes = f"@prefix : <https://example.org/> . @prefix rdf: <{RDF}> ."
    assert isomorphic(read, Graph().parse(data=f"{prefixes} {expected}", format="turtle"))
    assert warnings == []


def test_a_map_of_graphs_by_their_ids_has_named_graphs() -> None:
    context = [V, {"in": {"@container": ["@graph", "@id"]}}]
    graphs = {"urn:g": {"@id": "urn:a", "n": 1}, "@none": {"@id": "urn:b", "n": 2}}
    quads, _ = parse_foreign(json.dumps({"@context": context, "in": graphs}), "jsonld")
    named = {str(q.subject): str(q.graph_name) for q in quads if q.predicate.value.endswith("/n")}
    assert named["<urn:a>"] == "<urn:g>"
    assert named["<urn:b>"].startswith("_:")
    array = {"@context": context, "@id": "urn:s", "in": [{"@id": "urn:a", "n": {"@id": "urn:b"}}]}
    quads, _ = parse_foreign(json.dumps(array), "jsonld")
    assert {str(quad.graph_name) for quad in quads} == {"DEFAULT"}
    assert len(quads) == 2


TEXT = {"@id": "https://example.org/text", "@container": "@language"}
TAGS: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [
    (
        {"text": TEXT},
        {"text": {"en_US": "}", "a b": ["c"], "en-US": "d"}},
        '<urn:s> :text "}"@en-us , "d"@en-us , "c" .',
        2,
    ),
    (
        {"A": {"@context": {"text": TEXT}}},
        {"@type": "B", "text": {"a_b": "x"}},
        '<urn:s> a :B ; :text [ :a_b "x" ] .',
        0,
    ),
    (
        {"text": TEXT, "data": {"@type": "@json"}},
        {"data": {"text": {"en_US": 1}, "@language": "a b"}},
        """<urn:s> :data '{"@language":"a b","text":{"en_US":1}}'^^rdf:JSON .""",
        0,
    ),
    (
        {"@language": "en_US", "n": {"@language": "a b"}, "tag": "@language"},
        {"m": "x", "n": "y", "o": {"@value": "z", "tag": "de_AT"}},
        '<urn:s> :m "x"@en-us ; :n "y" ; :o "z"@de-at .',
        3,
    ),
]


@pytest.mark.parametrize(("terms", "node", "expected", "warned"), TAGS)
def test_language_tags_are_corrected_where_they_are_tags(
    terms: dict[str, Any], node: dict[str, Any], expected: str, warned: int
) -> None:
    text = json.dumps({"@context": [V, terms], "@id": "urn:s", **node})
    quads, warnings = parse_foreign(text, "jsonld")
    read = Graph().parse(data="\n".join(f"{quad.triple} ." for quad in quads), format="nt")
    prefixes = f"@prefix : <https://example.org/> . @prefix rdf: <{RDF}> ."
    assert isomorphic(read, Graph().parse(data=f"{prefixes} {expected}", format="turtle"))
    assert len(warnings) == warned
