"""Graphs of chunks (Chunks and Rules: Chunks and graphs).

Links that values imply, and the ``iso8601`` chunks of dates, are computed when they are asked for
and do not count as chunks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kiprdf.chunks import matching
from kiprdf.chunks.model import (
    Chunk,
    ChunksError,
    Date,
    Document,
    Link,
    Name,
    Negated,
    Rule,
    Statement,
    Text,
    Value,
    Variable,
    chunks_of,
    is_date,
    is_name,
    names_in,
    rule_chunk,
)
from kiprdf.chunks.parser import parse, parse_chunk
from kiprdf.chunks.vocabulary import Vocabulary

_KINDOF = Name("kindof")
_ISO8601 = Name("iso8601")
_FEW = 8
DECAY = 0.5
"""The part that is lost per unit of time, as a rate: after one unit e^-0.5 of a boost is left."""
SPACING = 1.0
"""The time after which a repeated boost has 63 % of its full size."""
PASSED_ON = 0.5
THRESHOLD = 0.01


class Graph:
    """Chunks with their identifiers; a later chunk replaces an earlier one of its identifier.

    ``source`` is a text, a document, or chunks, links and rules. A compact rule becomes a ``rule``
    chunk and the chunks that it cites. Identifiers that are given out begin with ``_:``.

    >>> graph = Graph("dog kindof mammal\\ndog dog1 {name Fido; age 4}")
    >>> len(graph), graph["dog1"]["age"], graph.is_kind("dog", "mammal")
    (2, 4, True)
    >>> [str(chunk.id) for chunk in graph.match("* {age 4}")]
    ['dog1']
    """

    def __init__(self, source: str | Document | Iterable[Statement] | None = None) -> None:
        self._chunks: Bucket = {}
        self._places: dict[str | None, int] = {}
        self._index = Index(self._chunks)
        self._kinds: dict[str, frozenset[str]] = {}
        self._vocabulary: Vocabulary | None = None
        self._activation = Activation()
        self._numbers, self._counter = itertools.count(1), itertools.count()
        self.update(parse(source) if isinstance(source, str) else source or ())

    # Chunks -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._chunks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(list(self._chunks.values()))

    def __getitem__(self, id: str) -> Chunk:
        chunk = self.get(id)
        if chunk is None:
            raise KeyError(id)
        return chunk

    def get(self, id: str) -> Chunk | None:
        """The chunk of an identifier, or None; a date has a read-only ``iso8601`` chunk."""
        chunk = self._chunks.get(id)
        if chunk is None and is_date(id):
            return _date_chunk(Date(id))
        return chunk

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.get(id) is not None

    def of_type(self, type: str) -> list[Chunk]:
        """The chunks of exactly this type, in order."""
        dates = map(_date_chunk, self._index.dates()) if type == _ISO8601 else ()
        return [*self._index.of_type(type).values(), *dates]

    def add(self, chunk: Chunk | Link) -> Chunk:
        """Add a chunk, and return it with its identifier.

        Raises ``ChunksError`` for another chunk with the identifier of a date.
        """
        chunk = self._identified(chunk.chunk if isinstance(chunk, Link) else chunk, ())
        if isinstance(chunk.id, Date):
            return _same_date_chunk(chunk)
        assert chunk.id is not None
        if chunk.id in self._chunks:
            self._take_out(chunk.id)
        self._chunks[chunk.id] = chunk
        self._places[chunk.id] = next(self._counter)
        self._index.add(chunk)
        self._forget_derived(chunk)
        return chunk

    def update(self, statements: Document | Iterable[Statement]) -> None:
        """Add all statements of a document, or chunks, links and rules."""
        items = statements.statements if isinstance(statements, Document) else list(statements)
        # An identifier that is stated later is not given to a chunk that has none.
        stated = {part.id for item in items for part in chunks_of(item)}
        for item in items:
            parts = [self._identified(part, stated) for part in chunks_of(item)]
            if isinstance(item, Rule):
                self.add(self._identified(rule_chunk(item, [part.id for part in parts]), stated))
            for part in parts:
                self.add(part)

    def remove(self, id: str) -> Chunk:
        """Remove a chunk, and return it; raises ``KeyError``."""
        chunk = self._take_out(id)
        self._activation.forget(id)
        return chunk

    def _take_out(self, id: str) -> Chunk:
        chunk = self._chunks.pop(id)
        del self._places[chunk.id]
        self._index.remove(chunk)
        self._forget_derived(chunk)
        return chunk

    def _identified(self, chunk: Chunk, reserved: Container[Name | None]) -> Chunk:
        if chunk.id is not None:
            return chunk
        for number in self._numbers:
            id = Name(f"_:{number}")
            if id not in self._chunks and id not in reserved:
                break
        return Chunk._make(chunk.type, chunk._properties, id, chunk.line, chunk.sources)

    def _forget_derived(self, chunk: Chunk) -> None:
        self._vocabulary = None
        if chunk.type == _KINDOF or _KINDOF in chunk:
            self._kinds.clear()

    def may_name(self, id: Name) -> bool:
        """Whether a chunk that a rule writes may have this identifier."""
        return is_name(id)

    # Matching ---------------------------------------------------------------------------------

    def match(self, pattern: Chunk | str) -> list[Chunk]:
        """The chunks that match a pattern, a chunk or its text, in order.

        A pattern without ``@context`` matches chunks of the default context only. A pattern with
        ``@subject`` or ``@object`` matches links that values imply, too.

        >>> graph = Graph("dog d1 {age 4; likes d2} dog d2 {age 5}")
        >>> [str(chunk.id) for chunk in graph.match("dog {age !4}")]
        ['d2']
        >>> graph.match("likes {@subject ?x}")[0]["@object"]
        Name('d2')
        """
        chunk = parse_chunk(pattern) if isinstance(pattern, str) else pattern
        prepared = matching.Pattern(chunk)
        return [
            candidate
            for candidate in self._candidates(prepared)
            if prepared.match(candidate, {}, self.is_kind) is not None
        ]

    def _candidates(self, pattern: matching.Pattern) -> Iterator[Chunk]:
        id = pattern.chunk.get("@id")
        if isinstance(id, Name) and id != "*":
            chunk = self.get(id)
            return iter(() if chunk is None else (chunk,))
        return itertools.chain(self._stated_candidates(pattern), self._implied_candidates(pattern))

    def _stated_candidates(self, pattern: matching.Pattern) -> Iterable[Chunk]:
        kind = pattern.chunk.get("@kindof")
        types: list[str] | None = None if pattern.type is None else [pattern.type]
        if types is None and isinstance(kind, Name) and kind != "*":
            types = [type for type in self._index.by_type if self.is_kind(type, kind)]
        return self._smallest(types, pattern.required)

    def _smallest(
        self, types: Sequence[str] | None, required: Iterable[tuple[str, Value]]
    ) -> Iterable[Chunk]:
        """The chunks, in order, of the index entry that is smallest and has all matches."""
        best: list[Mapping[str | None, Chunk]] = [self._chunks]
        if types is not None:
            best = [self._index.of_type(type) for type in types]
        size = sum(map(len, best))
        for name, value in required:
            if size <= _FEW:
                break
            buckets = self._index.of_property(name).may_equal(value)
            if sum(map(len, buckets)) < size:
                best, size = buckets, sum(map(len, buckets))
        if len(best) == 1:
            return list(best[0].values())
        chunks = [chunk for bucket in best for chunk in bucket.values()]
        return sorted(chunks, key=lambda chunk: self._places[chunk.id])

    def _implied_candidates(self, pattern: matching.Pattern) -> Iterator[Chunk]:
        """The chunks of dates and of links that values imply, as far as the pattern asks."""
        if pattern.type == _ISO8601:
            yield from map(_date_chunk, self._index.dates())
        chunk = pattern.chunk
        if "@subject" in chunk or "@object" in chunk:
            ends = (_constant(chunk.get(name)) for name in ("@subject", "@object"))
            yield from self._implied(next(ends), pattern.type, next(ends))

    # Links and kinds --------------------------------------------------------------------------

    def links(
        self, subject: str | None = None, label: str | None = None, object: str | None = None
    ) -> list[Link]:
        """Links, those that are stated and those that values imply, each once.

        A value implies a link if it names a chunk of the graph.

        >>> Graph("friend f34 {} friend f35 {likes f34}").links("f35")
        [Link(subject=Name('f35'), label=Name('likes'), object=Name('f34'))]
        """
        required: list[tuple[str, Value]] = []
        for name, end in (("@subject", subject), ("@object", object)):
            if end is not None:
                required.append((name, Name(end)))
        stated = self._smallest(None if label is None else [label], required)
        links = [
            link
            for chunk in itertools.chain(stated, self._implied(subject, label, object))
            for link in _links_of(chunk)
            if (subject in (None, link.subject))
            and (label in (None, link.label))
            and (object in (None, link.object))
        ]
        return list(dict.fromkeys(links))

    def _implied(
        self, subject: str | None, label: str | None, object: str | None
    ) -> Iterator[Chunk]:
        """The chunks of links that values imply and that are not stated."""
        sources: Iterable[Chunk | None]
        if subject is not None:
            sources = (self._chunks.get(Name(subject)),)
        elif object is not None:
            sources = self._index.references.get(Name(object), {}).values()
        elif label is not None:
            sources = self._index.of_property(label).chunks.values()
        else:
            sources = self._chunks.values()
        for source in [source for source in sources if source is not None]:
            for name, value in source._properties.items():
                if name[0] == "@" or label not in (None, name):
                    continue
                for item in dict.fromkeys(names_in(value)):
                    if object in (None, item) and item in self._chunks:
                        link = _link_chunk(source, Name(name), item)
                        if not self._is_stated(link):
                            yield link

    def _is_stated(self, link: Chunk) -> bool:
        buckets = self._index.of_property("@subject").may_equal(link["@subject"])
        return any(
            chunk.type == link.type and chunk._properties == link._properties
            for bucket in buckets
            for chunk in bucket.values()
        )

    def is_kind(self, type: str, kind: str) -> bool:
        """Whether a type is a kind, or a chain of ``kindof`` links leads from it to the kind."""
        kinds = self._kinds.get(type)
        if kinds is None:
            reached, waiting = {type}, [type]
            while waiting:
                parents = self._parents(waiting.pop()) - reached
                reached |= parents
                waiting.extend(parents)
            kinds = self._kinds[type] = frozenset(reached)
        return kind in kinds

    def _parents(self, type: str) -> set[str]:
        """The objects of ``kindof``, which need not be chunks."""
        chunk = self._chunks.get(Name(type))
        parents: set[str] = set() if chunk is None else set(names_in(chunk.get(_KINDOF, ())))
        for bucket in self._index.of_property("@subject").may_equal(Name(type)):
            for link in bucket.values():
                if link.type == _KINDOF and link["@subject"] == type != "*":
                    parents.update(names_in(link.get("@object", ())))
        return parents

    # Activation -------------------------------------------------------------------------------

    def activate(self, id: str, now: float) -> None:
        """Boost a chunk that was recalled or changed, and those that it refers to, in waves.

        Times are numbers of any one unit, as those of ``activation``. Does nothing for an
        identifier that is not in the graph.

        >>> graph = Graph("friend f34 {} friend f35 {likes f34}")
        >>> graph.activate("f35", now=0)
        >>> graph.activation("f35", now=0), graph.activation("f34", now=0)
        (1.0, 0.5)
        """
        if id in self._chunks:
            self._activation.spread(id, now, self._related)

    def activation(self, id: str, now: float, decay: float = DECAY) -> float:
        """The activation of a chunk; it decays at this rate, and is 0.0 before the first boost."""
        return self._activation.level(id, now, decay)

    def _related(self, id: str) -> list[str]:
        """The chunks that the values of a chunk name, and those that it is linked to."""
        values = self._chunks[id].properties.values()
        named = [name for value in values for name in names_in(value)]
        linked = [link.object for link in self.links(id)]
        return [name for name in dict.fromkeys([*named, *linked]) if name in self._chunks]

    # Rules and IRIs ---------------------------------------------------------------------------

    @property
    def rules(self) -> list[Rule]:
        """The rules with the identifiers of their ``rule`` chunks, in order.

        Raises ``RuleError`` if a rule cites a chunk that is missing.
        """
        return Document(tuple(self)).rules

    def iri(self, name: str) -> str | None:
        """The IRI of a name by the ``@rdfmap`` chunks, or None.

        >>> Graph("@rdfmap {@base http://schema.org/}").iri("name")
        'http://schema.org/name'
        """
        return self.vocabulary.iri(name)

    @property
    def vocabulary(self) -> Vocabulary:
        """The names, prefixes and base of all ``@rdfmap`` chunks."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.of_type("@rdfmap"), self.get)
        return self._vocabulary


def _date_chunk(date: Date) -> Chunk:
    """The read-only chunk of a date: its parts as numbers, its zone as a text or name."""
    parts: dict[str, Any] = {}
    for name, written in date.parts.items():
        if written is not None:
            parts[name] = written if name == "zone" else _number(written)
    return Chunk(_ISO8601, parts, id=date)


def _number(written: str) -> int | float:
    return float(written) if "." in written else int(written)


def _same_date_chunk(chunk: Chunk) -> Chunk:
    assert isinstance(chunk.id, Date)
    date_chunk = _date_chunk(chunk.id)
    if chunk != date_chunk:
        message = f"The chunk of the date {chunk.id} is read-only."
        raise ChunksError(message, line=chunk.line or None)
    return date_chunk


def _constant(value: Value | None) -> Name | None:
    return value if isinstance(value, Name) and value != "*" else None


def _link_chunk(source: Chunk, label: Name, object: Name) -> Chunk:
    """The chunk of an implied link, in the context of the chunk whose value implies it."""
    assert source.id is not None
    properties: dict[str, Value] = {"@subject": source.id, "@object": object}
    if "@context" in source:
        properties["@context"] = source["@context"]
    return Chunk._make(label, properties, None)


def _links_of(chunk: Chunk) -> Iterator[Link]:
    if chunk.type == "*":
        return
    for subject in names_in(chunk.get("@subject", ())):
        for object in names_in(chunk.get("@object", ())):
            yield Link(subject, chunk.type, object)


# Indexes ------------------------------------------------------------------------------------------


Bucket: TypeAlias = dict[str | None, Chunk]
"""Chunks by their identifiers, in the order of the graph."""
_EMPTY: Bucket = {}


class PropertyIndex:
    """The chunks with one property, all of them and by their values."""

    def __init__(self) -> None:
        self.chunks: Bucket = {}
        self._by_value: dict[object, Bucket] = {}

    def add(self, chunk: Chunk, value: Value) -> None:
        self.chunks[chunk.id] = chunk
        self._by_value.setdefault(_key(value), {})[chunk.id] = chunk

    def remove(self, chunk: Chunk, value: Value) -> None:
        del self.chunks[chunk.id]
        _take(self._by_value, _key(value), chunk)

    def may_equal(self, value: Value) -> list[Mapping[str | None, Chunk]]:
        """Chunks whose value can be equal: those with this value, and those with an operator."""
        key = _key(value)
        if key is None:
            return [self.chunks]
        with_operator = self._by_value.get(None)
        equal = self._by_value.get(key, _EMPTY)
        return [equal] if with_operator is None else [equal, with_operator]


class Index:
    """All indexes of a graph."""

    def __init__(self, chunks: Bucket) -> None:
        self._chunks = chunks
        self.by_type: dict[str, Bucket] = {}
        self._properties: dict[str, PropertyIndex] = {}
        self._references: dict[Name, Bucket] | None = None

    def add(self, chunk: Chunk) -> None:
        self.by_type.setdefault(chunk.type, {})[chunk.id] = chunk
        for name in chunk._properties.keys() & self._properties.keys():
            self._properties[name].add(chunk, chunk._properties[name])
        if self._references is not None:
            for item in references_of(chunk):
                self._references.setdefault(item, {})[chunk.id] = chunk

    def remove(self, chunk: Chunk) -> None:
        _take(self.by_type, chunk.type, chunk)
        for name in chunk._properties.keys() & self._properties.keys():
            self._properties[name].remove(chunk, chunk._properties[name])
        if self._references is not None:
            for item in references_of(chunk):
                _take(self._references, item, chunk)

    def of_type(self, type: str) -> Bucket:
        return self.by_type.get(type, _EMPTY)

    def of_property(self, name: str) -> PropertyIndex:
        """The chunks with a property; the index is built on first use."""
        index = self._properties.get(name)
        if index is None:
            index = self._properties[name] = PropertyIndex()
            for chunk in self._chunks.values():
                if name in chunk._properties:
                    index.add(chunk, chunk._properties[name])
        return index

    @property
    def references(self) -> dict[Name, Bucket]:
        """The chunks by the names in their values; built on first use."""
        if self._references is None:
            self._references = {}
            for chunk in self._chunks.values():
                for item in references_of(chunk):
                    self._references.setdefault(item, {})[chunk.id] = chunk
        return self._references

    def dates(self) -> Iterator[Date]:
        """The dates in the values of chunks."""
        return (name for name in self.references if isinstance(name, Date))


def references_of(chunk: Chunk) -> Iterable[Name]:
    """The names in the values of the properties without ``@``, each once, in order."""
    return dict.fromkeys(
        item
        for name, value in chunk._properties.items()
        if name[0] != "@"
        for item in names_in(value)
    )


def _take(buckets: dict, key: object, chunk: Chunk) -> None:  # type: ignore[type-arg]
    bucket = buckets[key]
    del bucket[chunk.id]
    if not bucket:
        del buckets[key]


def _key(value: Value) -> object:
    """What two equal values have in common; None for one with ``*``, ``!`` or a variable."""
    match value:
        case tuple():
            keys = tuple(map(_key, value))
            return None if None in keys else keys
        case bool():
            return bool, value
        case Text():
            return Text, str(value)
        case Variable() | Negated():
            return None
    return None if value == "*" else value


# Activation ---------------------------------------------------------------------------------------


_REMEMBERED = 32


class Activation:
    """The boosts of the chunks of one graph, by identifier (Mimicking Human Memory).

    A boost raises the activation of a chunk, which then decays like a leaky capacitor. A boost
    soon after another one is smaller (spacing effect). It spreads to the chunks that are referred
    to: a fixed amount is divided among them, each takes a part and passes the rest on, until too
    little is left. Activation has nothing to do with the confidence of KIP.

    >>> activation = Activation()
    >>> activation.boost("dog1", now=0.0)
    >>> activation.level("dog1", now=0.0), round(activation.level("dog1", now=2.0), 3)
    (1.0, 0.368)
    """

    def __init__(self) -> None:
        self._boosts: dict[str, list[tuple[float, float]]] = {}

    def level(self, id: str, now: float, decay: float = DECAY) -> float:
        """What is left of all boosts; 0.0 without any. Only the latest 32 boosts count."""
        return sum(
            amount * math.exp(-decay * max(0.0, now - time))
            for time, amount in self._boosts.get(id, ())
        )

    def boost(self, id: str, now: float, amount: float = 1.0) -> None:
        """Boost one chunk, less if the last boost was a short time ago."""
        boosts = self._boosts.setdefault(id, [])
        if boosts:
            amount *= 1 - math.exp(-max(0.0, now - boosts[-1][0]) / SPACING)
        boosts.append((now, amount))
        del boosts[:-_REMEMBERED]

    def spread(self, id: str, now: float, related: Callable[[str], Iterable[str]]) -> None:
        """Boost a chunk, then in waves the chunks that it is related to, each at most once."""
        reached, wave = {id}, [(id, 1.0)]
        while wave:
            following: list[tuple[str, float]] = []
            for source, energy in wave:
                self.boost(source, now, energy)
                targets = [target for target in related(source) if target not in reached]
                share = energy * PASSED_ON / max(1, len(targets))
                if share >= THRESHOLD:
                    reached.update(targets)
                    following += [(target, share) for target in targets]
            wave = following

    def forget(self, id: str) -> None:
        """Remove the boosts of a chunk."""
        self._boosts.pop(id, None)
