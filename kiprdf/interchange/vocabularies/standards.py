"""The terms of RDFS, OWL, SKOS and SHACL in which the schema is written and ontologies are read."""

from __future__ import annotations

from pyoxigraph import NamedNode

from kiprdf.interchange.mapping.datatypes import INTEGER_TYPES
from kiprdf.rdf import vocab


class Namespace(str):
    """A namespace; called with a local name it returns the term.

    >>> sh("minCount")
    <NamedNode value=http://www.w3.org/ns/shacl#minCount>
    """

    __slots__ = ()

    def __call__(self, name: str) -> NamedNode:
        return NamedNode(self + name)


rdf, rdfs, xsd = Namespace(vocab.RDF), Namespace(vocab.RDFS), Namespace(vocab.XSD)
owl = Namespace("http://www.w3.org/2002/07/owl#")
sh = Namespace("http://www.w3.org/ns/shacl#")
skos = Namespace("http://www.w3.org/2004/02/skos/core#")
prov = Namespace("http://www.w3.org/ns/prov#")
dc = Namespace("http://purl.org/dc/elements/1.1/")
dcterms = Namespace("http://purl.org/dc/terms/")
foaf = Namespace("http://xmlns.com/foaf/0.1/")
ldes, tree = Namespace("https://w3id.org/ldes#"), Namespace("https://w3id.org/tree#")
SCHEMA = (Namespace("https://schema.org/"), Namespace("http://schema.org/"))
"""schema.org has two namespaces; the first is written, both are read."""
schema = SCHEMA[0]
DCAM = Namespace("http://purl.org/dc/dcam/")
PREFIXES = {"dcam": DCAM, "owl": owl, "schema": schema, "sh": sh, "skos": skos}
"""The prefixes of the schema in Turtle."""

EVERYTHING = (rdfs("Resource").value, owl("Thing").value)
STANDARDS = (vocab.RDF, vocab.RDFS, vocab.XSD, owl)
"""Namespaces whose terms never become definitions."""
JSON_TYPES: dict[str, str | None] = {
    **dict.fromkeys(INTEGER_TYPES, "integer"),
    **{vocab.XSD + name: "number" for name in ("decimal", "double", "float")},
    **{owl + name: "number" for name in ("real", "rational")},
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
    *(space("description") for space in (dcterms, dc)),
    prov("definition"),
    NamedNode("http://purl.obolibrary.org/obo/IAO_0000115"),
)
"""The properties that describe a term, in the order in which their texts are joined."""
DOMAINS = (
    *(space("domainIncludes") for space in SCHEMA),
    DCAM("domainIncludes"),
)
RANGES = (
    *(space("rangeIncludes") for space in SCHEMA),
    DCAM("rangeIncludes"),
)
PROPERTIES = (
    rdf("Property"),
    *map(owl, ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "FunctionalProperty")),
    *map(owl, ("InverseFunctionalProperty", "SymmetricProperty", "TransitiveProperty")),
)
