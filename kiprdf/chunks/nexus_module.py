"""A nexus as the graph of a module: rules read and write an agent's memory.

A concept is a chunk: its type, its name as the id, its attributes as properties. A proposition is
a link with ``@subject`` and ``@object``. ``@context`` is the metadata key ``context``; ``texts``
lists the attributes that are texts although they are written like names. Reads are KQL; what one
firing writes is one transaction of KML (docs/decisions/071).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kiprdf.chunks import matching
from kiprdf.chunks.model import Chunk, Name, Text, Value, to_value
from kiprdf.errors import KipError

if TYPE_CHECKING:
    from kiprdf.nexus import Nexus

ABSENT = ("KIP_2001", "KIP_3002")
"""The errors of a query that names what is not there: it finds nothing."""
_KEY = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
LINK_ENDS = ("@subject", "@object")
_ANY = Name("*")

Statement = tuple[str, dict[str, Any]]


class NexusModule:
    """Has the methods of a ``Graph`` that the operations of a rule engine use.

    They see what the running firing has written; ``commit`` writes it to the nexus.
    """

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._written: dict[Name, Chunk | None] = {}
        self._types: dict[Name, Name] = {}
        self._counts: dict[Name, int] = {}

    # Reading ----------------------------------------------------------------------------------

    def match(self, pattern: Chunk) -> list[Chunk]:
        """The concepts, or the propositions, that match a pattern, in the order of their ids.

        KQL finds candidates by type, name, ends and plain values; matching decides.
        """
        compiled = matching.compile(pattern)
        stored = self._propositions(pattern) if self._is_link(pattern) else self._concepts(pattern)
        candidates = [chunk for chunk in stored if chunk.id not in self._written]
        candidates += [chunk for chunk in self._written.values() if chunk is not None]
        return [
            chunk for chunk in candidates if compiled.match(chunk, {}, self.is_kind) is not None
        ]

    def get(self, identifier: str) -> Chunk | None:
        """The concept with a name, or the proposition with an id.

        Of several concepts with one name it is the one that was read last, or else the first.
        """
        name = Name(identifier)
        if name in self._written:
            return self._written[name]
        if name.startswith("P:"):
            elements = self._find("FIND(?l) WHERE { ?l (id: :id) }", id=name)
            return self._proposition(elements[0]) if elements else None
        elements = self._find("FIND(?x) WHERE { ?x {name: :name} }", name=name)
        elements.sort(key=lambda element: element["type"] != self._types.get(name))
        return self._concept(elements[0]) if elements else None

    def __contains__(self, identifier: object) -> bool:
        return isinstance(identifier, str) and self.get(identifier) is not None

    def is_kind(self, type: str, kind: str) -> bool:
        """Whether a type is a kind, or leads to it by a chain of ``kindof``."""
        query = 'FIND(?k) WHERE { ({name: :type}, "kindof"{1,}, ?k {name: :kind}) } LIMIT 1'
        return type == kind or bool(self._find(query, type=type, kind=kind))

    def _is_link(self, pattern: Chunk) -> bool:
        if "@subject" in pattern or "@object" in pattern:
            return True
        query = 'FIND(?p) WHERE { ?p {type: "$PropositionType", name: :name} }'
        return pattern.type != _ANY and bool(self._find(query, name=pattern.type))

    def _concepts(self, pattern: Chunk) -> Iterator[Chunk]:
        matcher, filters = [], []
        parameters: dict[str, Any] = {}
        for key, value in (("type", _type(pattern)), ("name", pattern.get("@id"))):
            if isinstance(value, Name) and value != _ANY:
                matcher.append(f"{key}: :{key}")
                parameters[key] = str(value)
        for number, (name, value) in enumerate(pattern.properties.items()):
            if _KEY.fullmatch(name) and _is_plain(value):
                filters.append(f"FILTER(?x.attributes.{name} == :v{number})")
                parameters[f"v{number}"] = to_json(value)
        query = f"FIND(?x) WHERE {{ ?x {{{', '.join(matcher)}}} {' '.join(filters)} }}"
        return map(self._concept, sorted(self._find(query, **parameters), key=_id))

    def _propositions(self, pattern: Chunk) -> Iterator[Chunk]:
        kind = _type(pattern)
        if isinstance(pattern.get("@id"), Name):
            elements = self._find("FIND(?l) WHERE { ?l (id: :id) }", id=str(pattern["@id"]))
            return map(self._proposition, elements)
        parameters: dict[str, str] = {}
        parts = ["?s", "?o"]
        for place, end in enumerate(LINK_ENDS):
            name = pattern.get(end)
            if isinstance(name, Name) and name != _ANY and not name.startswith("P:"):
                parts[place] += f" {{name: :{end[1:]}}}"
                parameters[end[1:]] = str(name)
        predicate = "?p"
        if isinstance(kind, Name) and kind != _ANY:
            predicate, parameters["type"] = ":type", str(kind)
        query = f"FIND(?l) WHERE {{ ?l ({parts[0]}, {predicate}, {parts[1]}) }}"
        return map(self._proposition, sorted(self._find(query, **parameters), key=_id))

    def _find(self, query: str, **parameters: Any) -> list[Any]:
        """The elements that a query with one expression finds."""
        try:
            elements = self._nexus.answer(query, parameters, readonly=True).result
        except KipError as error:
            if error.code in ABSENT:
                return []
            raise
        return elements if isinstance(elements, list) else [elements]

    def _concept(self, element: Mapping[str, Any]) -> Chunk:
        name = Name(element["name"])
        self._types[name] = Name(element["type"])
        return element_chunk(element, element["type"], name, {})

    def _proposition(self, element: Mapping[str, Any]) -> Chunk:
        ends: dict[str, Value] = {
            "@subject": self._end(element["subject"]),
            "@object": self._end(element["object"]),
        }
        return element_chunk(element, element["predicate"], Name(element["id"]), ends)

    def _end(self, identifier: str) -> Name:
        """The name of a concept, the id of a proposition."""
        if identifier.startswith("P:"):
            return Name(identifier)
        (name,) = self._find("FIND(?x.name) WHERE { ?x {id: :id} }", id=identifier)
        return Name(name)

    # Writing ----------------------------------------------------------------------------------

    def add(self, chunk: Chunk) -> Chunk:
        """Write a chunk; one without an id gets a name made of its type and a number."""
        if chunk.id is None:
            chunk = Chunk._make(chunk.type, dict(chunk.properties), self._new_name(chunk.type))
        assert chunk.id is not None
        self._types[chunk.id] = chunk.type
        self._written[chunk.id] = chunk
        return chunk

    def remove(self, identifier: str) -> None:
        """Delete a concept with its propositions, or a proposition."""
        self._written[Name(identifier)] = None

    def commit(self) -> None:
        """Write what was added and removed, in one transaction; raises ``KipError``.

        Afterwards nothing is left to write, even if it was not possible.
        """
        written, self._written = self._written, {}
        new = {chunk.id: chunk.type for chunk in written.values() if chunk is not None}
        statements: list[Statement] = []
        for identifier, chunk in written.items():
            stored = self.get(identifier)
            if chunk is None:
                if stored is not None:
                    statements.append(_deletion(stored))
                continue
            if stored is not None and stored.type == chunk.type:
                statements += _removals(stored, chunk)
            statements.append(self._upsert(chunk, new))
        if statements:
            self._nexus._engine.write_together(statements)

    def _upsert(self, chunk: Chunk, new: Mapping[Name | None, Name]) -> Statement:
        parameters: dict[str, Any] = {}
        if "@subject" in chunk and "@object" in chunk:
            ends = [self._matcher(chunk[end], end[1:], new, parameters) for end in LINK_ENDS]
            element = f"PROPOSITION {{ ({ends[0]}, :type, {ends[1]})"
        else:
            parameters["name"] = str(chunk.id)
            element = "CONCEPT { {type: :type, name: :name}"
        parameters["type"] = str(chunk.type)
        entries = []
        for number, (name, value) in enumerate(plain_properties(chunk).items()):
            entries.append(f"{json.dumps(name)}: :v{number}")
            parameters[f"v{number}"] = to_json(value)
        attributes = f"SET ATTRIBUTES {{ {', '.join(entries)} }}" if entries else ""
        metadata = element_metadata(chunk, chunk.properties)
        parameters.update(metadata)
        written = ", ".join(f"{key}: :{key}" for key in metadata)
        block = f"WITH METADATA {{ {written} }}" if metadata else ""
        return f"UPSERT {{ {element} {attributes} }} }} {block}", parameters

    def _matcher(
        self,
        name: Value,
        end: str,
        new: Mapping[Name | None, Name],
        parameters: dict[str, Any],
    ) -> str:
        """How a statement names an end of a proposition, which exists or is written with it."""
        if isinstance(name, Name) and name.startswith("P:"):
            parameters[end] = str(name)
            return f"(id: :{end})"
        stored = self.get(name) if isinstance(name, Name) and name not in new else None
        type = stored.type if stored is not None else new.get(name)  # type: ignore[arg-type]
        if type is None:
            message = f"There is no concept with the name {name}."
            raise KipError("KIP_3002", message, "Put it in the same rule, or before.")
        parameters[end], parameters[f"{end}_type"] = str(name), str(type)
        return f"{{type: :{end}_type, name: :{end}}}"

    def _new_name(self, type: Name) -> Name:
        """A name that no concept of the type has: the type and a number."""
        if type not in self._counts:
            query = "FIND(COUNT(?x)) WHERE { ?x {type: :type} }"
            self._counts[type] = next(iter(self._find(query, type=type)), 0)
        while True:
            self._counts[type] += 1
            name = Name(f"{type}-{self._counts[type]}")
            if name not in self:
                return name


def _id(element: Mapping[str, Any]) -> str:
    """What elements are sorted by, so that a seed decides every choice."""
    identifier: str = element["id"]
    return identifier


def _type(pattern: Chunk) -> Value:
    """The type that a pattern asks for; ``*`` for any."""
    return _ANY if "@kindof" in pattern else pattern.get("@type", pattern.type)


def plain_properties(chunk: Chunk) -> dict[str, Value]:
    return {name: value for name, value in chunk.properties.items() if name[0] != "@"}


def element_chunk(
    element: Mapping[str, Any], type: str, name: Name, ends: dict[str, Value]
) -> Chunk:
    """A chunk of an element; attributes that are no values of chunks are left out."""
    properties = {**ends}
    attributes = element.get("attributes", {})
    metadata = element.get("metadata", {})
    texts = metadata.get("texts")
    places = set(texts) if isinstance(texts, list) and _is_value(texts) else set()
    for key, value in attributes.items():
        if isinstance(value, list) and _is_value(value):
            items = [_to_value(item, f"{key}.{at}" in places) for at, item in enumerate(value)]
            properties[key] = to_value(items)
        elif _is_value(value):
            properties[key] = _to_value(value, key in places)
    context = metadata.get("context")
    if _is_value(context):
        properties["@context"] = to_value(context)
    return Chunk._make(Name(type), properties, name)


def element_metadata(chunk: Chunk, keys: Iterable[str]) -> dict[str, Any]:
    """The metadata of a chunk's element: its context, and the texts that are written like names.

    ``keys`` are the names of the attributes that the properties become, in their order. An item of
    a list is ``key.0``, ``key.1``, and so on.
    """
    metadata: dict[str, Any] = {}
    if "@context" in chunk:
        metadata["context"] = to_json(chunk["@context"])
    texts: list[str] = []
    for key, (name, value) in zip(keys, chunk.properties.items(), strict=True):
        if name[0] == "@":
            continue
        if isinstance(value, tuple):
            texts += [f"{key}.{at}" for at, item in enumerate(value) if _is_like_name(item)]
        elif _is_like_name(value):
            texts.append(key)
    return {**metadata, "texts": texts} if texts else metadata


def _is_like_name(value: Value) -> bool:
    """Whether a value is a text that would be read as a name."""
    return isinstance(value, Text) and not isinstance(_to_value(str(value)), Text)


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str | int | float) for item in value)
    return isinstance(value, str | int | float)


def _to_value(value: Any, is_text: bool = False) -> Value:
    """JSON as a value of chunks; ``*`` is a text, since as a name it would match anything."""
    return Text(value) if value == "*" or (is_text and isinstance(value, str)) else to_value(value)


def to_json(value: Value) -> Any:
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _is_plain(value: Value) -> bool:
    """Whether a query can compare a value: one that is no list, variable, negation or ``*``."""
    return isinstance(value, str | int | float) and value != _ANY


def _deletion(stored: Chunk) -> Statement:
    if "@subject" in stored:
        return "DELETE PROPOSITIONS ?x WHERE { ?x (id: :id) }", {"id": str(stored.id)}
    return (
        "DELETE CONCEPT ?x DETACH WHERE { ?x {type: :type, name: :name} }",
        {"type": str(stored.type), "name": str(stored.id)},
    )


def _removals(stored: Chunk, chunk: Chunk) -> list[Statement]:
    """Statements that remove what a concept has and the chunk that overwrites it has not."""
    if "@subject" in stored:
        target, parameters = "?x (id: :id)", {"id": str(stored.id)}
    else:
        target = "?x {type: :type, name: :name}"
        parameters = {"type": str(stored.type), "name": str(stored.id)}
    statements: list[Statement] = []
    keys = [json.dumps(name) for name in plain_properties(stored) if name not in chunk]
    if keys:
        text = f"DELETE ATTRIBUTES {{ {', '.join(keys)} }} FROM ?x WHERE {{ {target} }}"
        statements.append((text, dict(parameters)))
    before, after = (element_metadata(item, item.properties) for item in (stored, chunk))
    keys = [json.dumps(name) for name in before if name not in after]
    if keys:
        text = f"DELETE METADATA {{ {', '.join(keys)} }} FROM ?x WHERE {{ {target} }}"
        statements.append((text, dict(parameters)))
    return statements
