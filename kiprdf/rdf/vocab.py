"""The IRIs that the mapping names, and the prefixes people read them by."""

from __future__ import annotations

from functools import lru_cache

from pyoxigraph import NamedNode

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
KIP = "urn:kip:vocab/"
FUNCTION = KIP + "function/"
"""The functions that queries call; they are no terms of the dataset."""
ATTRIBUTE = "urn:kip:attribute/"
METADATA = "urn:kip:metadata/"
GRAPH = "urn:kip:graph/"
LIST = "urn:kip:list/"
BLANK = "urn:kip:blank/"
"""What the names of blank nodes begin with, which are knowledge like other resources."""
OWN = (KIP, ATTRIBUTE, METADATA, GRAPH, LIST)
"""The namespaces of the project, in which nothing else has its IRIs."""
RECEIPTS = "urn:kip:receipt/"
"""What a receipt says of a commit; the receipt is named by the digest of the commit's record."""
CAPSULES = "urn:kip:capsule/"
"""Capsules that are signed, by the digests of their texts."""
DOCUMENTS = (RECEIPTS, CAPSULES)
"""The namespaces of what signed documents are about; where they are imported, it is knowledge."""
DEFAULT_BASE = "urn:kip:nexus/"

ID = NamedNode(KIP + "id")
"""The id of an element that is written under its original IRI."""
TYPE = NamedNode(RDF + "type")
REIFIES = NamedNode(RDF + "reifies")
IDENTITY = (TYPE, REIFIES)
"""Each element has a value of one of these."""
STATEMENT = NamedNode(RDF + "Statement")
SUBJECT = NamedNode(RDF + "subject")
PREDICATE = NamedNode(RDF + "predicate")
OBJECT = NamedNode(RDF + "object")
JSON = NamedNode(RDF + "JSON")
LANG_STRING = NamedNode(RDF + "langString")
DIR_LANG_STRING = NamedNode(RDF + "dirLangString")
LABEL = NamedNode(RDFS + "label")
FIRST = NamedNode(RDF + "first")
REST = NamedNode(RDF + "rest")
NIL = NamedNode(RDF + "nil")

STRING = NamedNode(XSD + "string")
BOOLEAN = NamedNode(XSD + "boolean")
INTEGER = NamedNode(XSD + "integer")
DECIMAL = NamedNode(XSD + "decimal")
DOUBLE = NamedNode(XSD + "double")
XML_LITERAL = NamedNode(RDF + "XMLLiteral")
OWN_BOOLEAN = NamedNode("urn:kip:boolean")
OWN_DOUBLE = NamedNode("urn:kip:double")
OWN_XML_LITERAL = NamedNode("urn:kip:XMLLiteral")
"""Datatypes in a store whose engine rewrites literals of the standard ones."""

RECEIPT = NamedNode(KIP + "Receipt")
CAPSULE = NamedNode(KIP + "capsule")
"""The text of a capsule that is signed."""
NULL = NamedNode(KIP + "null")
"""An attribute or metadata key that is present with the value null."""
LIST_VALUE = NamedNode(KIP + "list")
"""The datatype of an array of a command, which is compared as a whole; never stored."""
NONE = NamedNode(KIP + "none")
"""Stands for an unbound variable inside a query, so that it joins with nothing; never stored."""

BOOKKEEPING = NamedNode(GRAPH + "nexus")
"""The named graph and the subject of the store's own records."""
TEXTS = NamedNode(GRAPH + "texts")
"""The named graph of the texts, numbers and booleans in arrays, tagged texts and typed values."""
MANY = NamedNode(KIP + "many")
"""In that graph, the numbers of an array which has too many."""
FORMAT = NamedNode(KIP + "format")
BASE = NamedNode(KIP + "base")
COMMIT = NamedNode(KIP + "commit")
CHAIN = NamedNode(KIP + "chain")
SAYS = NamedNode(KIP + "says")
"""What several nexuses say of an element, as JSON; its subject may be no element by now."""
UNSETTLED = NamedNode(KIP + "unsettled")
"""Says that what is said of an element is not what is shown of it."""
REWRITTEN = NamedNode(KIP + "rewritten")

VERSION = "_version"
CREATED_AT = "_created_at"
UPDATED_AT = "_updated_at"
MERGED_FROM = "_merged_from"
ACTOR = "_actor"
MENTIONED = "_mentioned"
"""Of a fact that another nexus states, and this one only names (docs/decisions/195)."""
"""The kind and the name of the principal who wrote an element last."""
ENGINE_KEYS = (VERSION, CREATED_AT, UPDATED_AT, ACTOR)
"""The metadata that changes with every write and describes no knowledge."""


@lru_cache(maxsize=4_096)
def attribute(key: str) -> NamedNode:
    """The predicate of an attribute."""
    return NamedNode(ATTRIBUTE + key)


@lru_cache(maxsize=4_096)
def metadata(key: str) -> NamedNode:
    """The predicate of a metadata key."""
    return NamedNode(METADATA + key)


def prefixes(base: str) -> dict[str, str]:
    """The prefixes that people read the dataset of one nexus by."""
    return {
        "rdf": RDF,
        "rdfs": RDFS,
        "xsd": XSD,
        "kip": KIP,
        "attr": ATTRIBUTE,
        "meta": METADATA,
        "type": base + "$ConceptType/",
        "pred": base + "$PropositionType/",
    }


def query_prefixes(base: str) -> dict[str, str]:
    """The prefixes of a query on the dataset of a nexus."""
    return prefixes(base) | {"fn": FUNCTION}
