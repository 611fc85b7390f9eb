"""The terms of RDFS, OWL, SKOS and SHACL that the schema is written in and read from."""

from __future__ import annotations

from pyoxigraph import NamedNode

from kiprdf.rdf import vocab

OWL = "http://www.w3.org/2002/07/owl#"
SH = "http://www.w3.org/ns/shacl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA = ("https://schema.org/", "http://schema.org/")
"""schema.org has two namespaces; the first is written, both are read."""
DCAM = "http://purl.org/dc/dcam/"
PREFIXES = {"dcam": DCAM, "owl": OWL, "schema": SCHEMA[0], "sh": SH, "skos": SKOS}
"""The prefixes that people read the schema by."""


def rdf(name: str) -> NamedNode:
    return NamedNode(vocab.RDF + name)


def rdfs(name: str) -> NamedNode:
    return NamedNode(vocab.RDFS + name)


def xsd(name: str) -> NamedNode:
    return NamedNode(vocab.XSD + name)


def owl(name: str) -> NamedNode:
    return NamedNode(OWL + name)


def sh(name: str) -> NamedNode:
    """A term of SHACL.

    >>> sh("minCount")
    <NamedNode value=http://www.w3.org/ns/shacl#minCount>
    """
    return NamedNode(SH + name)


def skos(name: str) -> NamedNode:
    return NamedNode(SKOS + name)


def schema(name: str) -> NamedNode:
    return NamedNode(SCHEMA[0] + name)
