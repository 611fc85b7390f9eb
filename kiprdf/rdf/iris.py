"""Names, ids and IRIs. Each is a pure function of the other: nothing is looked up.

========================  =========================  ===================================
element                   id                         IRI
========================  =========================  ===================================
concept ``{type, name}``  ``C:Type/name``            ``{base}Type/name``, encoded
proposition               ``P:<16 hex>:predicate``   ``{base}$proposition/<16 hex>/predicate``
predicate, type           of their definitions       ``{base}$PropositionType/name`` …
========================  =========================  ===================================
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property, lru_cache
from json.encoder import encode_basestring
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.loading import lazy_pattern
from kiprdf.rdf import vocab

_PROPOSITION = "$proposition/"
_W3C = "http://www.w3.org/"
_CONCEPT_ID = re.compile(r"C:([^/]+)/(.+)", re.DOTALL)
_PROPOSITION_ID = re.compile(r"P:([0-9a-f]{16}):([a-zA-Z_][a-zA-Z0-9_]*)")
_LINK_PATH = re.compile(r"([0-9a-f]{16})/([a-zA-Z_][a-zA-Z0-9_]*)")

# Kept in IRIs: RFC 3987 unreserved characters and `$`, without spaces, invisible formatting
# characters and specials. The ranges are written out, since an IRI must not change with the
# Unicode version of a Python.
_ENCODED = lazy_pattern(
    "[^A-Za-z0-9._~$"
    "\u00a1-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufefe\uff00-\uffef"
    "\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd\U00040000-\U0004fffd"
    "\U00050000-\U0005fffd\U00060000-\U0006fffd\U00070000-\U0007fffd\U00080000-\U0008fffd"
    "\U00090000-\U0009fffd\U000a0000-\U000afffd\U000b0000-\U000bfffd\U000c0000-\U000cfffd"
    "\U000d0000-\U000dfffd\U000e1000-\U000efffd-]"
)
_ENCODED_IN_ASCII = re.compile("[^A-Za-z0-9._~$-]")


_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def encode(text: str) -> str:
    """One path segment of an IRI.

    >>> encode("Vitamin C/阿司匹林")
    'Vitamin%20C%2F阿司匹林'
    """
    encoded = _ENCODED_IN_ASCII if text.isascii() else _ENCODED
    return encoded.sub(_escaped, text)


def decode(segment: str) -> str:
    """The text of one path segment.

    >>> decode("Vitamin%20C%2F阿司匹林")
    'Vitamin C/阿司匹林'
    """
    segment = segment.replace("%20", " ")  # most names with an escape have no other
    return _ESCAPED.sub(_unescaped, segment) if "%" in segment else segment


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or "".join(f"%{byte:02X}" for byte in match[0].encode())


# Nearly all characters that are encoded are these.
_ESCAPES = {character: f"%{ord(character):02X}" for character in " /'()&,:"}


def _unescaped(match: re.Match[str]) -> str:
    return bytes.fromhex(match.group().replace("%", "")).decode()


class ConceptName(NamedTuple):
    """A concept's identity."""

    type: str
    name: str

    @property
    def id(self) -> str:
        return f"C:{self.type}/{self.name}"


class PropositionName(NamedTuple):
    """What a proposition's id says; its endpoints are read from the store."""

    digits: str
    predicate: str

    @property
    def id(self) -> str:
        return f"P:{self.digits}:{self.predicate}"


ElementName = ConceptName | PropositionName


def proposition_digits(subject_id: str, predicate: str, object_id: str, salt: int = 0) -> str:
    """The hexadecimal part of a new proposition's id; the salt steps past a taken id.

    >>> proposition_digits("C:Drug/Aspirin", "treats", "C:Symptom/Headache")
    '48ec6e8e3fe50dea'
    """
    quoted = encode_basestring
    text = f"{quoted(subject_id)},{quoted(predicate)},{quoted(object_id)}"
    for step in range(salt):
        text += f',"{step + 1}"'
    return hashlib.sha256(f"[{text}]".encode()).digest()[:8].hex()


@dataclass(frozen=True)
class Iris:
    """The IRIs of one nexus, below its base.

    >>> iris = Iris("https://data.example.org/kb/")
    >>> iris.concept("Drug", "Vitamin C").value
    'https://data.example.org/kb/Drug/Vitamin%20C'
    >>> iris.id(iris.concept("Drug", "Vitamin C"))
    'C:Drug/Vitamin C'
    """

    base: str

    def concept(self, type: str, name: str) -> NamedNode:
        return _concept(self.base, type, name)

    def type(self, name: str) -> NamedNode:
        """The definition node of a concept type, which is its RDF class."""
        return self.concept("$ConceptType", name)

    def predicate(self, name: str) -> NamedNode:
        """The definition node of a predicate, which is its RDF property."""
        return self.concept("$PropositionType", name)

    def type_of(self, node: NamedNode) -> NamedNode | None:
        """The definition node of the type of a concept; None for what is no concept.

        >>> Iris("urn:x/").type_of(NamedNode("urn:x/Drug/Aspirin")).value
        'urn:x/$ConceptType/Drug'
        """
        iri = node.value
        if iri.startswith(self.propositions) or not iri.startswith(self.base):
            return None
        return _type(self.concept_types, iri[len(self.base) :].partition("/")[0])

    def proposition(self, digits: str, predicate: str) -> NamedNode:
        return NamedNode(f"{self.base}{_PROPOSITION}{digits}/{predicate}")

    @cached_property
    def concept_types(self) -> str:
        """What the IRI of every concept type begins with."""
        return f"{self.base}$ConceptType/"

    @cached_property
    def predicates(self) -> str:
        """What the IRI of every predicate begins with."""
        return f"{self.base}$PropositionType/"

    @cached_property
    def propositions(self) -> str:
        """What the IRI of every proposition begins with."""
        return f"{self.base}{_PROPOSITION}"

    def name(self, iri: str) -> ElementName | None:
        """The identity that an IRI names, or None when it names no element of this nexus."""
        if iri.startswith(self.propositions):
            match = _LINK_PATH.fullmatch(iri, len(self.propositions))
            return PropositionName(*match.groups()) if match else None
        if not iri.startswith(self.base):
            return None
        type, _, name = iri[len(self.base) :].partition("/")
        if "%" in iri:
            try:
                type, name = decode(type), decode(name)
            except UnicodeDecodeError:
                return None
        # To remember it would take as long, and longer in a large nexus.
        return ConceptName(type, name) if name else None

    def concept_name(self, iri: str) -> str | None:
        """The name of the concept that an IRI identifies, or None when it identifies no concept."""
        base = self.base
        if "%" not in iri and iri.startswith(base):
            # What has nothing to decode is read faster than remembered.
            type, _, text = iri[len(base) :].partition("/")
            return text if text and type != "$proposition" else None
        name = self.name(iri)
        return name.name if isinstance(name, ConceptName) else None

    def id(self, node: NamedNode) -> str:
        """The KIP id of an element of this nexus."""
        iri = node.value
        if "%" not in iri and iri.startswith(self.base) and not iri.startswith(self.propositions):
            path = iri[len(self.base) :]
            if path.partition("/")[2]:
                # Nothing to decode: most ids, and each write needs several.
                return f"C:{path}"
        name = self.name(iri)
        assert name is not None, node
        return name.id

    def from_id(self, id: str) -> NamedNode | None:
        """The IRI of a KIP id, or of an absolute IRI below the base; None for other texts."""
        match = _CONCEPT_ID.fullmatch(id)
        if match:
            return self.concept(*match.groups())
        match = _PROPOSITION_ID.fullmatch(id)
        if match:
            return self.proposition(*match.groups())
        name = self.name(id)
        return None if name is None else self.from_id(name.id)


@lru_cache(maxsize=65_536)
def _concept(base: str, type: str, name: str) -> NamedNode:
    return NamedNode(f"{base}{encode(type)}/{encode(name)}")


@lru_cache(maxsize=4_096)
def _type(types: str, encoded_name: str) -> NamedNode:
    return NamedNode(types + encoded_name)


def base_fault(base: str) -> str | None:
    """Why an IRI cannot be the base of a nexus, or None when it can.

    >>> base_fault("https://data.example.org/kb/")
    >>> base_fault("https://data.example.org/kb")
    "does not end in '/'"
    """
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:.", base):
        return "is not an absolute IRI"
    if "?" in base or "#" in base:
        return "has a query or a fragment"
    if not base.endswith("/"):
        return "does not end in '/'"
    try:
        NamedNode(base)
    except ValueError:
        return "is not an IRI"
    if _overlaps(base, *vocab.OWN, *vocab.DOCUMENTS, vocab.BLANK):
        return "overlaps a namespace of kiprdf's own vocabulary"
    return "overlaps a namespace of the W3C" if _overlaps(base, _W3C) else None


def _overlaps(base: str, *namespaces: str) -> bool:
    return any(base.startswith(other) or other.startswith(base) for other in namespaces)
