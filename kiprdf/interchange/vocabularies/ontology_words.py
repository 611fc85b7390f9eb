"""The words in which ontologies are read: of texts, of domains and ranges, of datatypes."""

from __future__ import annotations

from pyoxigraph import NamedNode

from kiprdf.interchange.vocabularies.standards import DCAM, OWL, SCHEMA, owl, rdf, rdfs, skos
from kiprdf.rdf import vocab

EVERYTHING = (rdfs("Resource").value, owl("Thing").value)
STANDARDS = (vocab.RDF, vocab.RDFS, vocab.XSD, OWL)
"""Namespaces whose terms are the language of ontologies and never definitions themselves."""
_INTEGERS = [
    "integer",
    "int",
    "long",
    "short",
    "byte",
    "nonNegativeInteger",
    "positiveInteger",
    "nonPositiveInteger",
    "negativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
]
JSON_TYPES: dict[str, str | None] = {
    **{vocab.XSD + name: "integer" for name in _INTEGERS},
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
    # Texts with a language are objects in KIP, others strings: either may come.
    **{vocab.RDF + name: None for name in ("langString", "PlainLiteral", "JSON")},
    vocab.RDFS + "Literal": None,
}
"""The JSON types of datatypes; those that are not listed are written as strings."""


LABELS = (vocab.LABEL, skos("prefLabel"))
DESCRIPTIONS = (
    skos("definition"),
    rdfs("comment"),
    NamedNode("http://purl.org/dc/terms/description"),
    NamedNode("http://purl.org/dc/elements/1.1/description"),
    NamedNode("http://www.w3.org/ns/prov#definition"),
    NamedNode("http://purl.obolibrary.org/obo/IAO_0000115"),
)
"""Texts that say what a term means, in the order in which they stand together."""
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
