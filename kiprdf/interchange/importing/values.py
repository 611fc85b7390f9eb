"""Converts RDF terms to JSON values; other literals become JSON-LD value objects."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeAlias

from pyoxigraph import Literal

from kiprdf.dataclasses import dataclass
from kiprdf.interchange.forms import form
from kiprdf.interchange.importing.external import DEFAULT, ExternalTriple, Items, Object
from kiprdf.interchange.mapping.contexts import Term
from kiprdf.interchange.mapping.datatypes import INTEGER_TYPES
from kiprdf.language import limits
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, Json, canonical_json, to_json

_FRACTIONS = frozenset(f"{vocab.XSD}{name}" for name in ("decimal", "double", "float"))
_TIMES = frozenset(
    [
        *(
            f"{vocab.XSD}{name}"
            for name in ("date", "dateTime", "dateTimeStamp", "time", "gYear", "gYearMonth")
        ),
        *(
            f"{scheme}://schema.org/{name}"
            for scheme in ("http", "https")
            for name in ("Date", "DateTime", "Time")
        ),
    ]
)
"""ISO 8601 dates and times, which are strings in KIP."""
TEXTS = _TIMES | {vocab.STRING.value}
"""The datatypes of literals whose text is their value."""
_ANY_URI = f"{vocab.XSD}anyURI"
LONG = limits.STRING_BYTES // 4
"""Only longer texts may be too long for a value."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_DIGITS = 400
"""Longer numbers are not read as doubles."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def to_value(term: Object, mapped: Term | None = None) -> Json:
    """The JSON value of a term.

    Numbers, booleans and strings keep their kind; times are strings. A literal with a language or
    another datatype is an object ``{"@value", "@language"}`` or ``{"@value", "@type"}``, or a
    string if the mapping gives that language or datatype. An IRI is a string, a list an array.
    Raises ValueError with the reason if there is no such value.

    >>> to_value(Literal("Kopfschmerz", language="de"))
    {'@value': 'Kopfschmerz', '@language': 'de'}
    """
    if isinstance(term, Literal):
        is_text = mapped is not None and _is_brought_back(term, mapped)
        return _plain(term, checked(term.value) if is_text else None)
    if isinstance(term, Items):
        return [to_value(item, mapped) for item in term.terms]
    if isinstance(term, ExternalTriple):
        raise ValueError("a triple term is not a value")
    return None if term == vocab.NULL else checked(term.value)


def is_number(literal: Literal) -> bool:
    """Whether the datatype of a literal is one of numbers."""
    return literal.datatype.value in INTEGER_TYPES | _FRACTIONS


def checked(text: str) -> str:
    """A text that is short enough for a value. Raises ValueError for others."""
    if len(text) > LONG and len(text.encode()) > limits.STRING_BYTES:
        raise ValueError("a string of more than 1 MiB is too long")
    return text


def _is_brought_back(literal: Literal, mapped: Term) -> bool:
    """Whether the mapping gives a plain string the language or datatype of this literal."""
    if literal.language is not None:
        direction = DIRECTIONS.get(mapped.direction or "")
        tag = (mapped.language or "").lower()
        return (literal.language, literal.direction) == (tag, direction)
    if mapped.is_iri:
        return literal.datatype.value == _ANY_URI
    return mapped.datatype is not None and literal.datatype == mapped.datatype


def _plain(literal: Literal, text: str | None) -> Json:
    """A literal by its datatype; ``text`` if no JSON value fits."""
    datatype, value = literal.datatype.value, checked(literal.value)
    if datatype in TEXTS:
        return value
    if literal.language is not None:
        return to_json(literal) if text is None else text
    if datatype in INTEGER_TYPES and (number := _integer(value)) is not None:
        return number
    other = {"@value": value, "@type": datatype} if text is None else text
    if datatype in _FRACTIONS:
        return _fraction(value, other)
    if datatype == vocab.BOOLEAN.value:
        return _BOOLEANS.get(value, other)
    if datatype == vocab.JSON.value:
        return _json(value, other)
    return other


def _integer(text: str) -> int | None:
    """An integer of 64 bits."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if limits.INTEGER_MINIMUM <= number <= limits.INTEGER_MAXIMUM else None


def _fraction(text: str, other: Json) -> Json:
    """A finite number, if no digit is lost."""
    if len(text) > _DIGITS or not _FRACTION.fullmatch(text):
        return other
    number = float(text)
    with suppress(InvalidOperation):
        if math.isfinite(number) and Decimal(repr(number)) == Decimal(text):
            return number
    return other


def _json(text: str, other: Json) -> Json:
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        canonical_json(value).encode()  # no NaN, no lone surrogate
        if _is_within_limits(value, limits.NESTING - 1):
            return value
    return other


def _is_within_limits(value: Json, depth: int) -> bool:
    """Whether a command could contain a value: its integers, strings and nesting."""
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return limits.INTEGER_MINIMUM <= value <= limits.INTEGER_MAXIMUM
    if isinstance(value, str):
        return len(value.encode()) <= limits.STRING_BYTES
    if not isinstance(value, list | dict):
        return True
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return depth > 0 and all(_is_within_limits(item, depth - 1) for item in items)


EXAMPLES = 3
"""How many examples a warning shows."""


def examples(texts: Iterable[str]) -> str:
    """The first of several texts, and how many more there are.

    >>> examples("abcde")
    'a, b, c and 2 more'
    """
    distinct = list(dict.fromkeys(texts))
    more = len(distinct) - EXAMPLES
    return ", ".join(distinct[:EXAMPLES]) + (f" and {more} more" if more > 0 else "")


def one_or_all(values: Sequence[Json]) -> Json:
    """A single value by itself, otherwise all as a list; so ``same_as`` holds IRIs."""
    return values[0] if len(values) == 1 else list(values)


def together(values: Iterable[Json], always_array: bool = False) -> Json:
    """Several values as one: the only one, or a sorted array.

    >>> together(["b", 10, 9, "a", "b"])
    [9, 10, 'a', 'b']
    """
    ordered = list(values)
    if len(ordered) > 1:
        distinct = {canonical_json(value): value for value in ordered}
        ordered = sorted(distinct.values(), key=_order)
    if len(ordered) == 1 and (not always_array or isinstance(ordered[0], list)):
        return ordered[0]
    return ordered


def _order(value: Json) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, float(value), canonical_json(value))
    return (1 if isinstance(value, str) else 2, 0.0, canonical_json(value))


@dataclass(slots=True)
class Values:
    """Values by key, before they become one value each."""

    external: dict[str, list[Json]] = field(default_factory=dict)
    native: dict[str, list[Json]] = field(default_factory=dict)
    """Values that kiprdf wrote itself; each is the whole value of its key."""
    arrays: frozenset[str] = frozenset()

    def add(
        self, key: str, value: Json, always_array: bool = False, is_native: bool = False
    ) -> None:
        (self.native if is_native else self.external).setdefault(key, []).append(value)
        if always_array:
            self.arrays |= {key}

    def merge(self, other: Values) -> None:
        for mine, theirs in ((self.external, other.external), (self.native, other.native)):
            for key, values in theirs.items():
                mine.setdefault(key, []).extend(values)
        self.arrays |= other.arrays

    def json(self) -> dict[str, Json]:
        if not (self.external or self.native):
            return {}
        if not (self.arrays or self.native):
            return {
                key: values[0] if len(values) == 1 else together(values)
                for key, values in self.external.items()
            }
        return {
            key: together(values, key in self.arrays and key not in self.native)
            for key, values in {**self.external, **self.native}.items()
        }

    def apart(self) -> dict[str, Json]:
        """As ``json``, but a value that is a list, or null, is an item of an array."""
        return {
            key: [value]
            if value in self.external.get(key, ()) and (value is None or isinstance(value, list))
            else value
            for key, value in self.json().items()
        }


Usage: TypeAlias = tuple[tuple[str, str], ...]
"""What a value says about its key: the property, and the datatype, language or container."""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A key, the property that it comes from, and what its values are; many values share one."""

    is_metadata: bool
    key: str
    property: str
    usage: Usage
    kind: str
    """The datatype or language; "" for lists."""


class Origin(NamedTuple):
    """A value, and the use of its key and the term that it comes from."""

    use: Use
    term: Object
    value: Json

    @property
    def is_metadata(self) -> bool:
        return self.use.is_metadata

    @property
    def key(self) -> str:
        return self.use.key

    @property
    def property(self) -> str:
        return self.use.property

    def written(self) -> dict[str, Json]:
        """The term with its property: no other value of the key has both."""
        return {**form(self.term), "property": self.property}


@dataclass(slots=True)
class NodeValues:
    """The values of one node, and what they come from; ``same_as`` are further IRIs of it.

    ``places`` are the graphs of each value, ``stated`` its graphs, key, and what it comes from.
    """

    attributes: Values = field(default_factory=Values)
    metadata: Values = field(default_factory=Values)
    graphs: frozenset[str] = frozenset()
    places: frozenset[tuple[str, ...]] = frozenset()
    stated: list[tuple[tuple[str, ...], str, Json, Origin | None]] = field(default_factory=list)
    same_as: frozenset[str] = frozenset()
    origins: list[Origin] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    """The classes that the type comes from."""
    label: str = ""
    """The property that states nothing but the name."""

    def note_graphs(
        self, graphs: Iterable[str], key: str, value: Json, origin: Origin | None = None
    ) -> None:
        """Remember which named graphs state a value."""
        names = tuple(sorted(graphs))
        self.places |= {names}
        self.stated.append((names, key, value, origin))

    def graph_values(self) -> dict[str, Json]:
        """What each named graph states, unless all values are in the same graphs.

        Of the default graph only what has other values, or the same ones, in a named graph. A value
        that several terms have, or that its term alone does not give, is written as its term.
        """
        if len(self.places) < 2:
            return {}
        forms: dict[tuple[str, str], set[str]] = defaultdict(set)
        for _, key, value, origin in self.stated:
            if origin is not None:
                forms[key, canonical_json(value)].add(canonical_json(origin.written()))
        by_graph: dict[str, Values] = defaultdict(Values)
        for graphs, key, value, origin in self.stated:
            is_clear = len(forms[key, canonical_json(value)]) < 2
            if origin is not None and not (is_clear and to_value(origin.term) == value):
                value = origin.written()
            for graph in graphs:
                by_graph[graph].add(key, value)
        stated = {graph: values.apart() for graph, values in sorted(by_graph.items())}
        named = {key for graph, values in stated.items() if graph != DEFAULT for key in values}
        default = {k: v for k, v in stated.pop(DEFAULT, {}).items() if k in named}
        stated = ({DEFAULT: default} if default else {}) | stated
        return stated or {graph: {} for graph in sorted(self.graphs - {DEFAULT})}

    def merge(self, other: NodeValues) -> None:
        self.attributes.merge(other.attributes)
        self.metadata.merge(other.metadata)
        self.graphs |= other.graphs
        self.places |= other.places
        self.stated += other.stated
        self.same_as |= other.same_as
        self.origins += other.origins
        self.classes += other.classes
        self.label = self.label or other.label
