"""The terms of RDFS, OWL, SKOS and SHACL in which the schema is written and ontologies are read."""

from __future__ import annotations

from pyoxigraph import NamedNode

from kiprdf.interchange.mapping.datatypes import INTEGER_TYPES
from kiprdf.rdf import vocab

OWL = "http://www.w3.org/2002/07/owl#"
SH = "http://www.w3.org/ns/shacl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA = ("https://schema.org/", "http://schema.org/")
"""schema.org has two namespaces; the first is written, both are read."""
DCAM = "http://purl.org/dc/dcam/"
PREFIXES = {"dcam": DCAM, "owl": OWL, "schema": SCHEMA[0], "sh": SH, "skos": SKOS}
"""The prefixes of the schema in Turtle."""


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


EVERYTHING = (rdfs("Resource").value, owl("Thing").value)
STANDARDS = (vocab.RDF, vocab.RDFS, vocab.XSD, OWL)
"""Namespaces whose terms never become definitions."""
JSON_TYPES: dict[str, str | None] = {
    **dict.fromkeys(INTEGER_TYPES, "integer"),
    **{vocab.XSD + name: "number" for name in ("decimal", "double", "float")},
    **{OWL + name: "number" for name in ("real", "rational")},
    vocab.XSD + "boolean": "boolean",
    **{space + "Integer": "integer" for space in SCHEMA},
    **{space + name: "number" for space in SCHEMA for name in ("Number", "Float")},
    **{space + "Boolean": "boolean" for space in SCHEMA},
    **{
        space + name: "string"
        for space in SCHEMA
        for name in ("Text", "URL", "Date", "DateTime", "Time", "CssSelectorType", "XPathType")
    },
    # Strings with a language are objects in KIP, others are strings: both are possible.
    **{vocab.RDF + name: None for name in ("langString", "PlainLiteral", "JSON")},
    vocab.RDFS + "Literal": None,
}
"""The JSON types of datatypes; values of other datatypes are strings."""


LABELS = (vocab.LABEL, skos("prefLabel"))
DESCRIPTIONS = (
    skos("definition"),
    rdfs("comment"),
    NamedNode("http://purl.org/dc/terms/description"),
    NamedNode("http://purl.org/dc/elements/1.1/description"),
    NamedNode("http://www.w3.org/ns/prov#definition"),
    NamedNode("http://purl.obolibrary.org/obo/IAO_0000115"),
)
"""The properties that describe a term, in the order in which their texts are joined."""
DOMAINS = (
    *(NamedNode(space + "domainIncludes") for space in SCHEMA),
    NamedNode(DCAM + "domainIncludes"),
)
RANGES = (
    *(NamedNode(space + "rangeIncludes") for space in SCHEMA),
    NamedNode(DCAM + "rangeIncludes"),
)
PROPERTIES = (
    rdf("Property"),
    *map(owl, ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "FunctionalProperty")),
    *map(owl, ("InverseFunctionalProperty", "SymmetricProperty", "TransitiveProperty")),
)
