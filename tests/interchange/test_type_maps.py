"""Type maps of JSON-LD 1.1 are read, though the parser has none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

from kiprdf.interchange.formats.parsing import parse_foreign

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
