"""What is mutated: every command, document and query that the tests and pages hold."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kiprdf
from kiprdf import resources
from kiprdf.interchange.formats import NAMES, Format
from tests.interchange.nexuses import SMALL_BASE, small
from tests.nexus.support import FACTS, SCHEMA, medical

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
FORMATS: tuple[Format, ...] = tuple(NAMES)
_PROFILED: tuple[Format, ...] = ("turtle", "trig", "ntriples", "nquads")
_COMMAND = re.compile(r"\s*(?:FIND|UPSERT|UPDATE|MERGE|DELETE|DESCRIBE|SEARCH|EXPORT)\b")
_FENCED = re.compile(r"^```([a-z]+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


@functools.cache
def _conformance() -> list[Any]:
    files = sorted((TESTS / "conformance").glob("*.json"))
    return [json.loads(path.read_text("utf-8")) for path in files]


def _fenced(language: str) -> list[str]:
    """The blocks of one language on all pages."""
    pages = sorted((*DOCS.rglob("*.md"), *(TESTS / "golden").glob("*.md")))
    blocks = (match for page in pages for match in _FENCED.findall(page.read_text("utf-8")))
    return [text for name, text in blocks if name == language]


@functools.cache
def commands() -> tuple[str, ...]:
    """Short commands, the faulty ones of the conformance cases among them."""
    texts = [text for text in _strings(_conformance()) if _COMMAND.match(text)]
    texts += _fenced("kip")
    return tuple(text for text in dict.fromkeys(texts) if len(text) < 4_000)


@functools.cache
def parameters() -> tuple[dict[str, Any], ...]:
    """The parameters of the conformance cases."""
    cases = (case for content in _conformance() for case in content["cases"])
    return tuple(case["parameters"] for case in cases if isinstance(case.get("parameters"), dict))


@functools.cache
def capsules() -> tuple[str, ...]:
    paths = resources.directory("capsules").rglob("*.kip")
    return (SCHEMA, FACTS, *(path.read_text("utf-8") for path in sorted(paths)))


@functools.cache
def snapshots() -> tuple[tuple[Format, str], ...]:
    """A small nexus and a medical one in each format and profile."""
    documents: list[tuple[Format, str]] = []
    for nexus in (small(), medical()):
        documents += [(format, nexus.snapshot(format=format)) for format in FORMATS]
        documents += [
            (format, nexus.snapshot(format=format, profile="rdf12")) for format in _PROFILED
        ]
    return tuple(documents)


FOREIGN = """@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <https://example.org/a/> .
ex:ann a foaf:Person ; foaf:name "Ann"@en , "Änne"@de ; foaf:knows ex:bob , _:c ;
  foaf:age 41 ; ex:height 1.75 ; ex:born "1980-01-01"^^xsd:date ; ex:scores ( 1 2.5 "three" ) .
_:c a foaf:Person ; foaf:name "Cid" ; foaf:knows [ foaf:name "Dot" ; foaf:knows ex:ann ] .
ex:bob a foaf:Agent , ex:Robot ; rdfs:label "Bob" ; skos:broader ex:ann .
<< ex:ann foaf:knows ex:bob >> ex:since 2001 .
ex:ann foaf:knows ex:bob ~ ex:r {| ex:source "diary" |} .
"""
ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <https://example.org/v/> .
ex:Animal a owl:Class ; rdfs:label "Animal"@en ; rdfs:comment "What moves." .
ex:Dog a owl:Class ; rdfs:subClassOf ex:Animal ,
  [ a owl:Restriction ; owl:onProperty ex:owner ; owl:minCardinality 1 ] .
ex:owner a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( ex:Dog ex:Animal ) ] ;
  rdfs:range ex:Person ; owl:inverseOf ex:owns .
ex:weight a owl:DatatypeProperty ; rdfs:domain ex:Animal ; rdfs:range xsd:decimal .
ex:DogShape a sh:NodeShape ; sh:targetClass ex:Dog ;
  sh:property [ sh:path ex:weight ; sh:minInclusive 1 ; sh:maxCount 1 ; sh:in ( 1 2 3 ) ] .
"""
TRIG = """@prefix ex: <https://example.org/a/> .
ex:g { ex:s ex:p "o" , ex:t . ex:t a ex:T . } { ex:g ex:says "x"@en--ltr . }
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="https://example.org/a/">
<ex:Person rdf:about="https://example.org/a/ann" ex:name="Ann"><ex:knows rdf:parseType="Resource">
<ex:name xml:lang="en">Bob</ex:name></ex:knows><ex:list rdf:parseType="Collection">
<rdf:Description rdf:nodeID="b"/></ex:list><ex:text rdf:parseType="Literal"><b>x</b></ex:text>
</ex:Person></rdf:RDF>
"""
JSONLD = """{"@context": {"@vocab": "https://example.org/a/", "knows": {"@type": "@id"},
  "names": {"@container": "@language", "@id": "name"}, "list": {"@container": "@list"},
  "up": {"@reverse": "knows"}},
 "@id": "https://example.org/a/ann", "@type": "Person", "names": {"en": "Ann", "de": "Änne"},
 "age": 41, "list": [1, 2.5, {"@value": "x", "@type": "@json"}], "knows": "_:b",
 "@graph": [{"@id": "_:b", "up": {"@id": "_:c"}, "@included": [{"@id": "_:d", "n": null}]}]}
"""


@functools.cache
def foreign() -> tuple[tuple[Format, str], ...]:
    """Foreign data in each format, and snapshots, which are foreign data too."""
    quads = '<urn:s> <urn:p> "o\\u0041"@en <urn:g> .\n_:a <urn:p> <<( _:a <urn:q> 1 )>> .\n'
    own: list[tuple[Format, str]] = [
        ("turtle", FOREIGN),
        ("turtle", ONTOLOGY),
        ("trig", TRIG),
        ("ntriples", quads.replace(" <urn:g>", "").replace(" 1 ", ' "1" ')),
        ("nquads", quads.replace(" 1 ", ' "1" ')),
        ("rdfxml", XML),
        ("jsonld", JSONLD),
    ]
    return (*own, *(("turtle", text) for text in _fenced("turtle")), *snapshots())


QUERIES = (
    "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > 1) ORDER BY ?n LIMIT 3",
    "SELECT * { ?s a ?t OPTIONAL { ?s <urn:kip:attribute/risk> ?r } FILTER(?r > 1 || !BOUND(?r)) }",
    "ASK { ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s ?p ?o )>> }",
    "CONSTRUCT { ?s ?p ?o } WHERE { { ?s ?p ?o } UNION { ?o ?p ?s } MINUS { ?s a ?o } }",
    "SELECT * { VALUES (?a ?b) { (1 UNDEF) ('x'@en 2.5) } BIND(CONCAT(STR(?a), 'y') AS ?c) }",
    "SELECT * { ?s (<urn:a>|^<urn:b>)*/!(<urn:c>|a) ?o FILTER NOT EXISTS { ?o a ?s } }",
    "SELECT * { { SELECT DISTINCT ?s { ?s a ?t } } LATERAL { SELECT * { ?s ?p ?o } LIMIT 1 } }",
    "DESCRIBE <urn:kip:nexus/Drug/Aspirin>",
    "SELECT * { GRAPH ?g { ?s ?p ?o } FILTER REGEX(STR(?o), '^a.*b$', 'i') FILTER(?o IN (1, 2)) }",
)


@functools.cache
def queries() -> tuple[str, ...]:
    """SPARQL by hand, of the pages, and that which the commands become."""
    nexus = medical(genesis=True)
    texts = [*QUERIES, *_fenced("sparql")]
    for text in commands():
        try:
            texts.append(nexus.explain(text))
        except kiprdf.KipError:
            continue
    return tuple(dict.fromkeys(texts))


@functools.cache
def terms() -> tuple[str, ...]:
    """Terms of SEARCH: names, words in several scripts, and the syntax of FTS5."""
    return (
        "Aspirin", "side effect", "阿司匹林", "かたこり", "두통", "e\u0301tude", "a_b", "x-ray",
        '"a" NEAR/2 "b"', "name:aspirin", "asp*", "^aspirin", "a AND NOT b OR (c)", "'; DROP TABLE",
        "{name exact}: a", "a + b", "-- x", "\u200b", "💊",
    )  # fmt: skip


BASE = SMALL_BASE
