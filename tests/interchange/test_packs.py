"""What the packs make of documents as their vocabularies are used: what is a link stays one.

Each document of ``packs/*.txt`` is followed by all that it becomes: concepts with their values,
then propositions.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiprdf.interchange.mapping.contexts import packs
from tests.nexus.support import empty

PREFIXES = """
@prefix : <https://example.org/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


OURS = ("same_as", "imported_at")
FOLDER = Path(__file__).parent / "packs"


def read(turtle: str, pack: str) -> list[str]:
    """What a document becomes: concepts as ``Type name {values}``, propositions as sentences."""
    nexus = empty()
    nexus.import_rdf(PREFIXES + turtle, mapping=pack, define=True, default_type="Thing")
    columns = nexus.execute(
        "FIND(?c.type, ?c.name, ?c.attributes, ?c.metadata) WHERE { ?c {} } "
        "ORDER BY ?c.type ASC, ?c.name ASC"
    )
    lines = []
    for type_, name, attributes, metadata in zip(*columns, strict=True):
        if type_.startswith("$"):
            continue
        values = {**attributes, **metadata}
        shown = {
            key: values[key]
            for key in sorted(values)
            if not key.startswith("_") and key not in OURS
        }
        lines.append(f"{type_} {name}" + (f" {json.dumps(shown)}" if shown else ""))
    facts = nexus.execute("FIND(?s.name, ?f.predicate, ?o.name) WHERE { ?f (?s, ?p, ?o) }")
    return lines + sorted(" ".join(map(str, row)) for row in zip(*facts, strict=True))


def documents(pack: str) -> list[tuple[str, list[str]]]:
    """The documents of a pack and what each becomes, in indented lines below it."""
    blocks = (FOLDER / f"{pack}.txt").read_text("utf-8").strip().split("\n\n")
    return [
        (
            "\n".join(line for line in block.split("\n") if not line.startswith("    ")),
            [line.strip() for line in block.split("\n") if line.startswith("    ")],
        )
        for block in blocks
    ]


@pytest.mark.parametrize(
    ("pack", "turtle", "expected"),
    [
        (path.stem, turtle, expected)
        for path in sorted(FOLDER.glob("*.txt"))
        for turtle, expected in documents(path.stem)
    ],
)
def test_a_document_becomes_what_it_states(pack: str, turtle: str, expected: list[str]) -> None:
    assert read(turtle, pack) == expected


def test_each_pack_is_tried_on_ten_documents() -> None:
    assert {path.stem: len(documents(path.stem)) for path in FOLDER.glob("*.txt")} == dict.fromkeys(
        packs(), 10
    )
