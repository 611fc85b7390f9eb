"""The indexes of a graph: chunks by type, by property and value, and by the names they refer to.

Those of properties and names are built when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from kiprdf.chunks.model import Chunk, Date, Name, Negated, Text, Value, Variable, names_in

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
