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
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeGuard

from kiprdf.chunks import matching
from kiprdf.chunks.model import Chunk, Name, Sources, Text, Value, to_value
from kiprdf.errors import KipError
from kiprdf.language.names import DERIVED_BY, DERIVED_FROM

if TYPE_CHECKING:
    from kiprdf.chunks.rules import CompiledRule
    from kiprdf.execution.transaction import Transaction
    from kiprdf.nexus import Nexus

ABSENT = ("KIP_2001", "KIP_3002")
"""The errors of a query that names what is not there: it finds nothing."""
_KEY = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
LINK_ENDS = ("@subject", "@object")
_DEFINITION: dict[str, Any] = {
    "type": "$PropositionType",
    "name": DERIVED_FROM,
    "attributes": {
        "description": "The subject rests on the object.",
        "subject_types": ["*"],
        "object_types": ["*"],
    },
}
_ANY = Name("*")
_LINK = "?l (?s, ?p, ?o)"


class NexusModule:
    """The ``ChunkStore`` of a module that is a nexus.

    It shows what the running firing has written; ``commit`` writes it to the nexus.
    """

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._written: dict[Name, Chunk | None] = {}
        self._origins: dict[Name, frozenset[str]] = {}
        self._patterns: dict[str, tuple[str, dict[str, str]]] = {}
        self._types: dict[Name, Name] = {}
        self._counts: dict[Name, int] = {}

    # Reading ----------------------------------------------------------------------------------

    def match(self, pattern: Chunk) -> list[Chunk]:
        """The concepts, or the propositions, that match a pattern, in the order of their ids.

        KQL finds candidates by type, name, ends and plain values; matching decides.
        """
        compiled = matching.Pattern(pattern)
        stored = self._propositions(pattern) if self._is_link(pattern) else self._concepts(pattern)
        candidates = [chunk for chunk in stored if chunk.id not in self._written]
        candidates += [chunk for chunk in self._written.values() if chunk is not None]
        return [
            chunk for chunk in candidates if compiled.match(chunk, {}, self.is_kind) is not None
        ]

    def get(self, id: str) -> Chunk | None:
        """The concept with a name, or the proposition with an id.

        Of several concepts with one name it is the one that was read last, or else the first.
        """
        name = Name(id)
        if name in self._written:
            return self._written[name]
        if name.startswith("P:"):
            return next(self._links(f"?l (id: :id) {_LINK}", id=id), None)
        (elements,) = self._columns("?x", "?x {name: :name}", name=id)
        elements.sort(key=lambda element: element["type"] != self._types.get(name))
        return self._concept(elements[0]) if elements else None

    def is_kind(self, type: str, kind: str) -> bool:
        """Whether a type is a kind, or leads to it by a chain of ``kindof``."""
        where = '({name: :type}, "kindof"{1,}, ?k {name: :kind})'
        return type == kind or bool(self._columns("?k", where, type=type, kind=kind)[0])

    def may_name(self, id: Name) -> bool:
        """A concept may have any name."""
        return True

    def activate(self, id: str, now: float) -> None:
        """A nexus has no activation."""

    def activation(self, id: str, now: float, decay: float) -> float:
        return 0.0

    def _is_link(self, pattern: Chunk) -> bool:
        if "@subject" in pattern or "@object" in pattern:
            return True
        where = '?p {type: "$PropositionType", name: :name}'
        return pattern.type != _ANY and bool(self._columns("?p", where, name=pattern.type)[0])

    def _concepts(self, pattern: Chunk) -> Iterator[Chunk]:
        matcher = []
        parameters: dict[str, Any] = {}
        for key, value in (("type", _type(pattern)), ("name", pattern.get("@id"))):
            if _is_constant(value):
                matcher.append(f"{key}: :{key}")
                parameters[key] = str(value)
        where = f"?x {{{', '.join(matcher)}}}"
        for number, (name, value) in enumerate(pattern.properties.items()):
            if _KEY.fullmatch(name) and _is_plain(value):
                where += f" FILTER(?x.attributes.{name} == :v{number})"
                parameters[f"v{number}"] = to_json(value)
        (elements,) = self._columns("?x", where, **parameters)
        return map(self._concept, sorted(elements, key=itemgetter("id")))

    def _propositions(self, pattern: Chunk) -> Iterator[Chunk]:
        if isinstance(pattern.get("@id"), Name):
            return self._links(f"?l (id: :id) {_LINK}", id=str(pattern["@id"]))
        where, parameters = _LINK, dict[str, str]()
        for variable, name in (("?s", pattern.get("@subject")), ("?o", pattern.get("@object"))):
            if _is_constant(name) and not name.startswith("P:"):
                where = where.replace(variable, f"{variable} {{name: :{variable[1]}}}")
                parameters[variable[1]] = str(name)
        if _is_constant(kind := _type(pattern)):
            where, parameters["type"] = where.replace("?p", ":type"), str(kind)
        return self._links(where, **parameters)

    def _links(self, where: str, **parameters: str) -> Iterator[Chunk]:
        """The propositions ``?l`` with their ends: the name of a concept, the id of another."""
        columns = self._columns("?l, ?s.name, ?o.name", where, **parameters)
        for element, *names in sorted(zip(*columns, strict=True), key=lambda row: row[0]["id"]):
            ends = (element["subject"], element["object"])
            subject, object = (Name(name or id) for name, id in zip(names, ends, strict=True))
            named: dict[str, Value] = {"@subject": subject, "@object": object}
            yield element_chunk(element, element["predicate"], Name(element["id"]), named)

    def _columns(self, expressions: str, where: str, **parameters: Any) -> list[Any]:
        """What a FIND finds, by expression; nothing where it names what is not there."""
        count = expressions.count("?")
        try:
            command = f"FIND({expressions}) WHERE {{ {where} }}"
            columns = self._nexus.answer(command, parameters, readonly=True, entail=False).result
        except KipError as error:
            if error.code not in ABSENT:
                raise
            return [[] for _ in range(count)]
        return columns if count > 1 else [columns]

    def _concept(self, element: Mapping[str, Any]) -> Chunk:
        name = Name(element["name"])
        self._types[name] = Name(element["type"])
        return element_chunk(element, element["type"], name, {})

    # Writing ----------------------------------------------------------------------------------

    def add(self, chunk: Chunk) -> Chunk:
        """Write a chunk; one without an id gets a name made of its type and a number."""
        id = self._new_name(chunk.type) if chunk.id is None else chunk.id
        self._origins[id] = frozenset().union(*chunk.sources.values())
        properties = dict(chunk.properties)
        sources = _own_sources(properties, id, "@subject" in properties)
        self._types[id] = chunk.type
        self._written[id] = chunk = Chunk._make(chunk.type, properties, id, 0, sources)
        return chunk

    def remove(self, id: str) -> None:
        """Delete a concept with its propositions, or a proposition."""
        self._written[Name(id)] = None

    def commit(self, rule: CompiledRule, sources: frozenset[str]) -> None:
        """Write what a rule added and removed, in one transaction; raises ``KipError``.

        What is new, or derived by rules before, is noted as derived by this one, from ``sources``
        and those of the values (docs/decisions/206). Afterwards nothing is left to write, even if
        it was not possible.
        """
        written, self._written = self._written, {}
        origins_of, self._origins = self._origins, {}
        new = {chunk.id: chunk.type for chunk in written.values() if chunk is not None}
        stored = {id: self.get(id) for id in written}
        elements, derived = [], []
        for name, chunk in written.items():
            if chunk is not None:
                elements.append(element := self._element(chunk, new))
                self._patterns[name] = _where(element)
                id = self._note_rule(element, rule)
                if id is not None:
                    origins = self.resolved(sources | origins_of[name]) - {id}
                    derived.append((element, origins))

        def write(transaction: Transaction) -> None:
            for id, chunk in written.items():
                before = stored[id]
                if before is not None and chunk is None:
                    _delete(transaction, before)
                elif before is not None and chunk is not None and before.type == chunk.type:
                    _delete_values(transaction, before, chunk)
            links = [
                {"subject": element, "predicate": DERIVED_FROM, "object": id}
                for element, ids in derived
                for id in sorted(filter(transaction.exists, ids))
            ]
            definitions = [_DEFINITION] if links and not self._defines_derived_from else []
            transaction.write([*definitions, *elements, *links])

        if elements or any(stored.values()):
            self._nexus.transaction(write)

    def _note_rule(self, element: dict[str, Any], rule: CompiledRule) -> str | None:
        """Note the rule of an element, and return its id, "" for a new one.

        None for what is there and was not derived: it is known from elsewhere.
        """
        where, parameters = _where(element)
        ids, noted = self._columns("?x.id, ?x.metadata.derived_by", where, **parameters)
        if ids and noted[0] is None:
            return None
        rules = noted[0] if ids and isinstance(noted[0], list) else noted
        rules = [*dict.fromkeys([*rules, rule.reference])]
        element["metadata"][DERIVED_BY] = rules[0] if len(rules) == 1 else rules
        return ids[0] if ids else ""

    def resolved(self, ids: Iterable[str]) -> frozenset[str]:
        """The ids of elements, of which those that rules wrote are named by their chunks."""
        elements = set[str]()
        for id in ids:
            where, parameters = self._patterns.get(id, ("", {}))
            elements.update(self._columns("?x.id", where, **parameters)[0] if where else (id,))
        return frozenset(elements)

    @cached_property
    def _defines_derived_from(self) -> bool:
        where, parameters = _where(_DEFINITION)
        return bool(self._columns("?x", where, **parameters)[0])

    def _element(self, chunk: Chunk, new: Mapping[Name | None, Name]) -> dict[str, Any]:
        values = {
            "attributes": {name: to_json(item) for name, item in plain_properties(chunk).items()},
            "metadata": element_metadata(chunk, chunk.properties),
        }
        if "@subject" not in chunk or "@object" not in chunk:
            return {"type": str(chunk.type), "name": str(chunk.id), **values}
        subject, object = (self._end(chunk[end], new) for end in LINK_ENDS)
        return {"subject": subject, "predicate": str(chunk.type), "object": object, **values}

    def _end(self, name: Value, new: Mapping[Name | None, Name]) -> str | dict[str, str]:
        """An end of a proposition, which exists or is written with it."""
        if isinstance(name, Name) and name.startswith("P:"):
            return str(name)
        stored = self.get(name) if isinstance(name, Name) and name not in new else None
        type = stored.type if stored is not None else new.get(name)  # type: ignore[arg-type]
        if type is None:
            message = f"There is no concept with the name {name}."
            raise KipError("KIP_3002", message, "Put it in the same rule, or before.")
        return {"type": str(type), "name": str(name)}

    def _new_name(self, type: Name) -> Name:
        """A name that no concept of the type has: the type and a number."""
        if type not in self._counts:
            (count,) = self._columns("COUNT(?x)", "?x {type: :type}", type=type)
            self._counts[type] = count or 0
        while True:
            self._counts[type] += 1
            name = Name(f"{type}-{self._counts[type]}")
            if self.get(name) is None:
                return name


def _where(element: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """A pattern of the element ``?x``, and its parameters."""
    if "name" in element:
        return "?x {type: :type, name: :name}", {key: element[key] for key in ("type", "name")}
    parameters, ends = {"predicate": element["predicate"]}, []
    for end in ("subject", "object"):
        value = element[end]
        keys = {"id": value} if isinstance(value, str) else value
        parameters |= {f"{end}_{key}": one for key, one in keys.items()}
        matcher = ", ".join(f"{key}: :{end}_{key}" for key in keys)
        ends.append(f"({matcher})" if "id" in keys else f"{{{matcher}}}")
    return f"?x ({ends[0]}, :predicate, {ends[1]})", parameters


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
    sources = _own_sources(properties, element["id"], "predicate" in element)
    return Chunk._make(Name(type), properties, name, 0, sources)


def _own_sources(properties: Iterable[str], id: str, is_link: bool) -> Sources:
    """What the properties of an element come from: it.

    Whoever matches a proposition uses that it is stated, also without a property.
    """
    return dict.fromkeys((*properties, "@id") if is_link else properties, frozenset((id,)))


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


def _is_constant(value: Value | None) -> TypeGuard[Name]:
    return isinstance(value, Name) and value != _ANY


def _is_plain(value: Value) -> bool:
    """Whether a query can compare a value: one that is no list, variable, negation or ``*``."""
    return isinstance(value, str | int | float) and value != _ANY


def _pattern_of(stored: Chunk) -> tuple[str, dict[str, str]]:
    """A pattern of the element ``?x`` of a chunk, and its parameters."""
    if "@subject" in stored:
        return "?x (id: :id)", {"id": str(stored.id)}
    return "?x {type: :type, name: :name}", {"type": str(stored.type), "name": str(stored.id)}


def _delete(transaction: Transaction, stored: Chunk) -> None:
    where, parameters = _pattern_of(stored)
    what = "PROPOSITIONS ?x" if "@subject" in stored else "CONCEPT ?x DETACH"
    transaction.execute(f"DELETE {what} WHERE {{ {where} }}", **parameters)


def _delete_values(transaction: Transaction, stored: Chunk, chunk: Chunk) -> None:
    """Remove what an element has and the chunk that overwrites it has not."""
    where, parameters = _pattern_of(stored)
    before, after = (element_metadata(item, item.properties) for item in (stored, chunk))
    for part, keys in (
        ("ATTRIBUTES", [name for name in plain_properties(stored) if name not in chunk]),
        ("METADATA", [name for name in before if name not in after]),
    ):
        if keys:
            names = ", ".join(map(json.dumps, keys))
            command = f"DELETE {part} {{ {names} }} FROM ?x WHERE {{ {where} }}"
            transaction.execute(command, **parameters)
