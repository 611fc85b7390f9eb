"""External RDF as concepts and propositions, beside the engine that loads the same file."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph

import kiprdf
from tests.benchmarks.measure import Ratio

PREFIXES = """@prefix : <https://data.example.org/id/> .
@prefix v: <https://data.example.org/vocabulary#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
LANGUAGES = ("ar", "bg", "cs", "de", "el", "es", "fa", "fr", "he", "hi", "it", "ja", "pl", "zh")


def measured(propositions: int) -> Iterator[Ratio]:
    """Resources with links, units with labels in many languages, and as many classes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ttl"
        for name, text, target in (
            ("resources", resources(propositions // 3), 20.0),
            ("units", units(propositions // 40), 30.0),
            ("classes", classes(propositions // 40), 30.0),
        ):
            path.write_text(text)
            yield imported(f"import {name}", path, target)


def imported(name: str, path: Path, target: float) -> Ratio:
    """An import into a new nexus in memory, in processor time: the engine may use several cores."""
    ratios = []
    for _ in range(3):
        nexus = kiprdf.Nexus.memory()
        started = time.process_time()
        if name == "import classes":
            report = nexus.import_ontology(path)
        else:
            report = nexus.import_rdf(path, define=True)
        between = time.process_time()
        pyoxigraph.Store().load(path=str(path), format=pyoxigraph.RdfFormat.TURTLE)
        ratios.append(Ratio(name, between - started, time.process_time() - between, target))
        if not report["concepts"]["created"] and not report["propositions"]["created"]:
            sys.exit(f"{name}: nothing was imported")
    return sorted(ratios, key=lambda ratio: ratio.ratio)[1]


def resources(number: int) -> str:
    """Eight triples each: a type, a name, three values, three links."""
    chance = random.Random(7)
    texts = [PREFIXES]
    for place in range(number):
        ends = [f":r{chance.randrange(number)}" for _ in range(3)]
        texts.append(
            f':r{place} a v:Kind{place % 8} ; rdfs:label "Resource {place}" ; '
            f'v:note "What is said of {place}" ; v:size {place % 1000} ; '
            f'v:day "2020-01-{place % 28 + 1:02}"^^xsd:date ; '
            f"v:reads {ends[0]} ; v:is_part {ends[1]} ; v:is_near {ends[2]} .\n"
        )
    return "".join(texts)


def units(number: int) -> str:
    """Some thirty triples each, as a vocabulary of units has them."""
    chance = random.Random(7)
    texts = [PREFIXES]
    for place in range(number):
        kinds = ", ".join(f":kind{one}" for one in chance.sample(range(number), 3))
        texts.append(
            f":unit{place} a v:Unit, v:DerivedUnit ; rdfs:label {_labels(place, chance)} ; "
            f'dcterms:description "\\\\(x^{{{place}}}\\\\) is $\\\\frac{{1}}{{2}}$"^^v:Latex ; '
            f'v:multiplier "{place}.0000001"^^xsd:decimal ; v:offset 0.0 ; '
            f'v:symbol "u{place}" ; v:code "u{place}"^^v:Code ; v:has_kind {kinds} ; '
            f"v:dimension :dimension{place % 97} ; v:system v:SI ; "
            f"owl:sameAs <https://other.example.org/unit{place}> ; "
            f"skos:exactMatch :unit{place * 7 % number} .\n"
            f':kind{place} a v:Kind ; rdfs:label "kind {place}"@en ; v:of :unit{place} .\n'
        )
    dimensions = (f":dimension{one} a v:Dimension ; v:length {one} .\n" for one in range(97))
    return "".join([*texts, *dimensions])


def classes(number: int) -> str:
    """As many classes, below each other, with labels in many languages."""
    chance = random.Random(7)
    texts = [PREFIXES]
    for place in range(number):
        texts.append(
            f"v:Class{place} a owl:Class ; rdfs:subClassOf v:Class{place // 4} ; "
            f'rdfs:label {_labels(place, chance)} ; rdfs:comment "A class {place}"@en ; '
            f'skos:notation "c{place}" ; skos:exactMatch v:Class{place * 7 % number} ; '
            f"owl:disjointWith v:Class{place * 3 % number} .\n"
        )
    return "".join(texts)


def _labels(place: int, chance: random.Random) -> str:
    tags = ["en", *chance.sample(LANGUAGES, 12)]
    return ", ".join(f'"thing {place} {tag}"@{tag}' for tag in tags)
