"""A nexus as two dictionaries, and the UPSERT requests that create the same one in an engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

BASE = "urn:kip:nexus/"
META_TYPES = ("$ConceptType", "$PropositionType")
ENGINE_METADATA = ("_version", "_created_at", "_updated_at")

Map = Mapping[str, Any]
Request = dict[str, Any]
Pair = tuple[str, str]


def concept_id(concept_type: str, name: str) -> str:
    """
    >>> concept_id("Drug", "Aspirin")
    'C:Drug/Aspirin'
    """
    return f"C:{concept_type}/{name}"


def proposition_id(subject: str, predicate: str, object_: str) -> str:
    """
    >>> proposition_id("C:Drug/Aspirin", "treats", "C:Symptom/Headache")
    'P:48ec6e8e3fe50dea:treats'
    """
    text = json.dumps([subject, predicate, object_], ensure_ascii=False, separators=(",", ":"))
    return f"P:{hashlib.sha256(text.encode()).hexdigest()[:16]}:{predicate}"


class Graph:
    """Concepts and propositions by id; the definitions of types and predicates are concepts too."""

    def __init__(self) -> None:
        self.concepts: dict[str, dict[str, Any]] = {}
        self.propositions: dict[str, dict[str, Any]] = {}

    def define(self, *, types: tuple[str, ...] = (), predicates: tuple[str, ...] = ()) -> None:
        """Register concept types and predicates, as concepts of the two meta-types."""
        for name in types:
            self.concept("$ConceptType", name)
        for name in predicates:
            self.concept("$PropositionType", name)

    def concept(
        self,
        concept_type: str,
        name: str,
        attributes: Map | None = None,
        metadata: Map | None = None,
    ) -> str:
        """Add a concept and return its id."""
        identifier = concept_id(concept_type, name)
        self.concepts[identifier] = {
            "type": concept_type,
            "name": name,
            "attributes": dict(attributes or {}),
            "metadata": dict(metadata or {}),
        }
        return identifier

    def proposition(
        self,
        subject: str,
        predicate: str,
        object_: str,
        attributes: Map | None = None,
        metadata: Map | None = None,
    ) -> str:
        """Add a proposition between two elements given by id, and return its id."""
        assert subject in self
        assert object_ in self
        identifier = proposition_id(subject, predicate, object_)
        self.propositions[identifier] = {
            "subject": subject,
            "predicate": predicate,
            "object": object_,
            "attributes": dict(attributes or {}),
            "metadata": dict(metadata or {}),
        }
        return identifier

    def __contains__(self, identifier: str) -> bool:
        return identifier in self.concepts or identifier in self.propositions

    def __repr__(self) -> str:
        return f"Graph(concepts={self.concepts!r}, propositions={self.propositions!r})"

    def elements(self) -> Iterator[str]:
        """The ids of all concepts, then of all propositions."""
        yield from self.concepts
        yield from self.propositions

    def element(self, identifier: str) -> dict[str, Any]:
        return self.concepts.get(identifier) or self.propositions[identifier]

    def is_type(self, name: str) -> bool:
        return name in META_TYPES or concept_id("$ConceptType", name) in self.concepts

    def is_predicate(self, name: str) -> bool:
        return concept_id("$PropositionType", name) in self.concepts

    # What patterns match; `Entailed` also has what follows.

    def is_of_type(self, identifier: str, name: str) -> bool:
        """Whether a concept is matched by ``{type: name}``."""
        return bool(self.concepts[identifier]["type"] == name)

    def representative(self, identifier: str) -> str:
        """The element that variables are bound to in place of another one."""
        return identifier

    def steps(self, predicate: str) -> Iterator[tuple[Pair, str]]:
        """The pairs that one proposition connects by a predicate, each with that proposition."""
        for identifier, link in self.propositions.items():
            if link["predicate"] == predicate:
                yield (link["subject"], link["object"]), identifier

    def pairs(self, predicate: str) -> set[Pair]:
        """The pairs that are connected by a predicate."""
        return {pair for pair, _ in self.steps(predicate)}

    def iri(self, identifier: str) -> str:
        """The IRI of an element: what ties in ORDER BY are broken by."""
        if identifier in self.concepts:
            concept = self.concepts[identifier]
            return f"{BASE}{encode(concept['type'])}/{encode(concept['name'])}"
        _, digest, predicate = identifier.split(":", 2)
        return f"{BASE}$proposition/{digest}/{predicate}"

    def node(self, identifier: str) -> dict[str, Any]:
        """An element as FIND shows it; empty maps are left out (Result)."""
        kind = "ConceptNode" if identifier in self.concepts else "PropositionLink"
        shown = {"_type": kind, "id": identifier, **self.element(identifier)}
        return {
            key: value
            for key, value in shown.items()
            if value != {} or key not in ("attributes", "metadata")
        }

    def requests(self) -> list[Request]:
        """UPSERT requests that create this graph: definitions, concepts, then propositions."""
        definitions = [i for i, c in self.concepts.items() if c["type"] in META_TYPES]
        instances = [i for i in self.concepts if i not in definitions]
        requests = [self._upsert_concepts(definitions), self._upsert_concepts(instances)]
        requests.append(self._upsert_propositions(list(self.propositions)))
        return [request for request in requests if request is not None]

    def _upsert_concepts(self, identifiers: list[str]) -> Request | None:
        parameters: dict[str, Any] = {}
        blocks = []
        for number, identifier in enumerate(identifiers):
            concept = self.concepts[identifier]
            matcher = self._concept_matcher(identifier, f"c{number}", parameters)
            blocks.append(_block("CONCEPT", "", matcher, concept, f"c{number}", parameters))
        return _request(blocks, parameters)

    def _upsert_propositions(self, identifiers: list[str]) -> Request | None:
        """Endpoints that are propositions are written by handle and structurally, in turns."""
        parameters: dict[str, Any] = {}
        handles: dict[str, str] = {}
        blocks = []
        # A proposition can only be added behind its endpoints, so this order always works.
        for number, identifier in enumerate(identifiers):
            proposition = self.propositions[identifier]
            usable = handles if number % 2 == 0 else {}
            matcher = self._proposition_matcher(identifier, f"p{number}", parameters, usable)
            handle = f"?p{number}"
            blocks.append(
                _block("PROPOSITION", handle, matcher, proposition, f"p{number}", parameters)
            )
            handles[identifier] = handle
        return _request(blocks, parameters)

    def _concept_matcher(self, identifier: str, prefix: str, parameters: dict[str, Any]) -> str:
        concept = self.concepts[identifier]
        parameters[f"{prefix}_type"] = concept["type"]
        parameters[f"{prefix}_name"] = concept["name"]
        return f"{{type: :{prefix}_type, name: :{prefix}_name}}"

    def _proposition_matcher(
        self, identifier: str, prefix: str, parameters: dict[str, Any], handles: Mapping[str, str]
    ) -> str:
        proposition = self.propositions[identifier]
        ends = []
        for role in ("subject", "object"):
            end, end_prefix = proposition[role], f"{prefix}_{role}"
            if end in handles:
                ends.append(handles[end])
            elif end in self.concepts:
                ends.append(self._concept_matcher(end, end_prefix, parameters))
            else:
                ends.append(self._proposition_matcher(end, end_prefix, parameters, handles))
        return f'({ends[0]}, "{proposition["predicate"]}", {ends[1]})'


def _block(
    keyword: str,
    handle: str,
    matcher: str,
    element: Map,
    prefix: str,
    parameters: dict[str, Any],
) -> str:
    text = f"{keyword} {handle} {{ {matcher}"
    if element["attributes"]:
        parameters[f"{prefix}_attributes"] = element["attributes"]
        text += f" SET ATTRIBUTES :{prefix}_attributes"
    text += " }"
    if element["metadata"]:
        parameters[f"{prefix}_metadata"] = element["metadata"]
        text += f" WITH METADATA :{prefix}_metadata"
    return text


def _request(blocks: list[str], parameters: dict[str, Any]) -> Request | None:
    if not blocks:
        return None
    return {"command": "UPSERT {\n" + "\n".join(blocks) + "\n}", "parameters": parameters}


_KEPT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~$")
_UCSCHAR = (
    (0xA0, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFDF0, 0xFFEF),
    *((plane * 0x10000, plane * 0x10000 + 0xFFFD) for plane in range(1, 14)),
    (0xE1000, 0xEFFFD),
)
_ENCODED = (
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200F),
    (0x2028, 0x202F),
    (0x205F, 0x206F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
    (0xFFF0, 0xFFFF),
    (0xE0000, 0xE0FFF),
)


def encode(name: str) -> str:
    """A type or name, encoded for an IRI.

    >>> encode("a/b 薬")
    'a%2Fb%20薬'
    """
    return "".join(map(_encode_character, name))


def _encode_character(character: str) -> str:
    if character in _KEPT or (_within(character, _UCSCHAR) and not _within(character, _ENCODED)):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= ord(character) <= high for low, high in ranges)
