"""Values, chunks, links, rules and documents (Chunks and Rules: Data types, Chunks and graphs).

Everything here is immutable and compares by content. A ``Name`` and a ``Text`` of the same letters
are different values, and so are ``true`` and ``1``, although Python compares both as equal:
``identical`` decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard

from kiprdf.language.values import LONE_SURROGATE

NAME_CHARACTER = r"[A-Za-z0-9._\-/:]"
IRI_TAIL = r"://[A-Za-z0-9._\-/:#%~?=&+]++"
NAME = rf"(?>[A-Za-z][A-Za-z0-9.-]*{IRI_TAIL}|{NAME_CHARACTER}++)"
"""A name; an IRI may contain more characters than other names (docs/decisions/068)."""
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
DATE = (
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}(?:\.[0-9]++)?))?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2}))?)?"
)
_NAME, _NUMBER, _DATE = re.compile(NAME), re.compile(NUMBER), re.compile(DATE)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class ChunksError(Exception):
    """A mistake in chunks or rules: a sentence and, if it is known, its place (both from 1)."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        column = "" if self.column is None else f", column {self.column}"
        return f"Line {self.line}{column}: {self.message}"


class ChunksSyntaxError(ChunksError, ValueError):
    """A text that is not in the notation of chunks."""


class RuleError(ChunksError):
    """A rule that cannot be run: a module or chunk is missing, or ``!`` is used wrongly."""


# Values ---------------------------------------------------------------------------------------


class Name(str):
    """A name, ``*`` or an IRI: a string without quotes in the notation.

    The name of a concept of a nexus may have other characters; ``to_text`` escapes them.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Date(Name):
    """A date or time of the W3C profile of ISO 8601; the text is kept as it is written.

    >>> Date("1879-03-14").month
    3
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Date:
        if not is_date(text):
            raise ChunksError(f"'{text}' is not a date such as 1879-03-14.")
        return super().__new__(cls, text)

    @property
    def year(self) -> int:
        return int(self[:4])

    @property
    def month(self) -> int | None:
        return _number(self.parts["month"])

    @property
    def day(self) -> int | None:
        return _number(self.parts["day"])

    @property
    def parts(self) -> dict[str, str | None]:
        """The parts by name, as written: year, month, day, hour, minute, second, zone."""
        match = _DATE.fullmatch(self)
        assert match is not None
        return match.groupdict()


class Text(str):
    """A string literal, without its quotes and with its escapes resolved."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; ``name`` is without ``?``."""

    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ChunksError(f"'?{self.name}' is not a variable.")

    def __str__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True, slots=True)
class Negated:
    """``!value``, or the bare ``!`` if ``value`` is None."""

    value: Any = None

    def __post_init__(self) -> None:
        if self.value is not None:
            value = to_value(self.value)
            is_wildcard = isinstance(value, Name) and value == "*"
            if isinstance(value, tuple | Negated) or is_wildcard:
                raise ChunksError("'!' negates one name, number, text or variable.")
            object.__setattr__(self, "value", value)

    def __str__(self) -> str:
        return "!" if self.value is None else f"!{self.value}"


Atom: TypeAlias = "Name | Text | int | float | bool | Variable | Negated"
Value: TypeAlias = "Atom | tuple[Atom, ...]"


def is_date(text: str) -> bool:
    """Whether a text is a date of the profile with a month and valid parts."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month = int(match["year"]), int(match["month"])
    if not 1 <= month <= 12:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 28 if month == 2 and not leap else _DAYS[month - 1]
    return (
        1 <= int(match["day"] or 1) <= days
        and int(match["hour"] or 0) < 24
        and int(match["minute"] or 0) < 60
        and float(match["second"] or 0) < 60
    )


def is_name(text: str) -> bool:
    """Whether a text is written like a name: not a number, not ``true`` or ``false``."""
    if text in ("true", "false") or _NUMBER.fullmatch(text):
        return False
    return text == "*" or bool(_NAME.fullmatch(text)) or is_date(text)


def to_value(value: Any) -> Value:
    """A Python value as a value of chunks; a ``str`` is a ``Name`` if it is written like one.

    >>> to_value(["Fido", "a dog", 4])
    (Name('Fido'), Text('a dog'), 4)
    """
    if isinstance(value, tuple | list):
        items = tuple(map(_to_atom, value))
        if not items:
            raise ChunksError("A list needs at least one item.")
        return items if len(items) > 1 else items[0]
    return _to_atom(value)


def _to_atom(value: Any) -> Atom:
    match value:
        case bool() | Variable() | Negated():
            return value
        case Text():
            return Text(_checked(value))
        case Name():
            return _to_name(value)
        case str():
            is_reserved = value[:1] == "@" and bool(_NAME.fullmatch(value, 1))
            return _to_name(value) if is_reserved or is_name(value) else Text(_checked(value))
        case int() | float():
            return _to_number(value)
    raise ChunksError(f"A value of type {type(value).__name__} cannot be a property.")


def _to_number(value: float) -> float:
    if math.isnan(value):
        raise ChunksError("NaN is not a number of chunks.")
    if isinstance(value, int) and value.bit_length() > 1_024:
        raise ChunksError("The number is too large.")
    return value


def _to_name(text: str, what: str = "a name") -> Name:
    if isinstance(text, Date):
        return text
    if is_date(text):
        return Date(text)
    if isinstance(text, Name):
        return text
    if is_name(text) or (text[:1] == "@" and _NAME.fullmatch(text, 1)):
        return Name(text)
    raise ChunksError(f"'{text}' is not {what}.")


def _checked(text: str) -> str:
    if LONE_SURROGATE.search(text):
        raise ChunksError("A text contains half of a surrogate pair.")
    return text


def items(value: Value | tuple[()]) -> tuple[Atom, ...]:
    """The items of a list; a value that is none is one item."""
    return value if isinstance(value, tuple) else (value,)


def names_in(value: Value | tuple[()]) -> Iterator[Name]:
    """The names in a value, without ``*``."""
    return (item for item in items(value) if isinstance(item, Name) and item != "*")


def cited_in(value: Value | tuple[()]) -> Iterator[Name]:
    """The identifiers that a value cites; ``!c1`` cites ``c1``."""
    for item in items(value):
        name = item.value if isinstance(item, Negated) else item
        if isinstance(name, Name):
            yield name


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


_KINDS: dict[type, object] = {int: float, Date: Name}


def identical(one: Any, other: Any) -> bool:
    """Whether two values are the same for chunks: of one kind and equal.

    >>> identical(4, 4.0), identical(Name("Fido"), Text("Fido")), identical(True, 1)
    (True, False, False)
    """
    if one != other:
        return False
    kind, other_kind = type(one), type(other)
    if kind is tuple and other_kind is tuple:
        return all(map(identical, one, other))
    if kind is Negated and other_kind is Negated:
        return identical(one.value, other.value)
    return _KINDS.get(kind, kind) is _KINDS.get(other_kind, other_kind)


# Chunks ---------------------------------------------------------------------------------------


Sources: TypeAlias = Mapping[str, frozenset[str]]
NO_SOURCES: Sources = {}


class Chunk:
    """A type, an optional identifier and properties.

    ``properties`` maps names to values; ``to_value`` converts them. ``line`` is the line of the
    document in which the chunk begins, or 0. ``sources`` are the ids of the elements of a nexus
    that each property comes from. Neither counts for ``==``.

    >>> chunk = Chunk("dog", {"name": "Fido", "age": 4}, id="dog1")
    >>> chunk["age"], chunk.get("owner"), "name" in chunk
    (4, None, True)
    """

    __slots__ = ("_properties", "id", "line", "sources", "type")

    type: Name
    id: Name | None
    line: int
    sources: Sources
    _properties: dict[str, Value]

    def __init__(
        self, type: str, properties: Mapping[str, Any] | None = None, *, id: str | None = None
    ) -> None:
        values: dict[str, Value] = {}
        for name, value in (properties or {}).items():
            values[_to_name(name, "the name of a property")] = to_value(value)
        if "*" in values:
            raise ChunksError("'*' is not the name of a property.")
        if id == "*":
            raise ChunksError("'*' is not an identifier.")
        identifier = None if id is None else _to_name(id, "an identifier")
        self._set(_to_name(type, "a type"), values, identifier, 0)
        object.__setattr__(self, "sources", NO_SOURCES)

    @classmethod
    def _make(
        cls,
        type: Name,
        properties: dict[str, Value],
        id: Name | None,
        line: int = 0,
        sources: Sources = NO_SOURCES,
    ) -> Chunk:
        """A chunk of parts that are known to be valid; the dictionary is not copied."""
        chunk = cls.__new__(cls)
        chunk._set(type, properties, id, line)
        object.__setattr__(chunk, "sources", sources)
        return chunk

    def _set(self, type: Name, properties: dict[str, Value], id: Name | None, line: int) -> None:
        put = object.__setattr__
        put(self, "type", type)
        put(self, "id", id)
        put(self, "_properties", properties)
        put(self, "line", line)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A chunk cannot be changed; use with_().")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A chunk cannot be changed; use with_().")

    @property
    def properties(self) -> Mapping[str, Value]:
        """The properties in their order, read-only."""
        return MappingProxyType(self._properties)

    def __getitem__(self, name: str) -> Value:
        return self._properties[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self._properties.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._properties

    def with_(
        self,
        *,
        properties: Mapping[str, Any] | None = None,
        type: str | None = None,
        id: str | None = None,
    ) -> Chunk:
        """A chunk with other properties, another type or another identifier.

        >>> Chunk("dog", {"age": 4}).with_(id="dog1").id
        Name('dog1')
        """
        chunk = Chunk(
            self.type if type is None else type,
            self._properties if properties is None else properties,
            id=self.id if id is None else id,
        )
        object.__setattr__(chunk, "line", self.line)
        object.__setattr__(chunk, "sources", self.sources)
        return chunk

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chunk):
            return NotImplemented
        mine, others = self._properties, other._properties
        return (
            self.type == other.type
            and self.id == other.id
            and mine.keys() == others.keys()
            and all(identical(value, others[name]) for name, value in mine.items())
        )

    def __hash__(self) -> int:
        return hash((self.type, self.id, frozenset(self._properties.items())))

    def __repr__(self) -> str:
        identifier = "" if self.id is None else f", id={str(self.id)!r}"
        return f"Chunk({str(self.type)!r}, {self._properties!r}{identifier})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Chunk._make, (self.type, self._properties, self.id, self.line, self.sources)


@dataclass(frozen=True, slots=True)
class Link:
    """A labelled connection from one chunk to another, in the notation ``subject label object``."""

    subject: Name
    label: Name
    object: Name
    line: int = field(default=0, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        for part in ("subject", "label", "object"):
            text = getattr(self, part)
            if text == "*":
                raise ChunksError(f"'*' is not the {part} of a link.")
            object.__setattr__(self, part, _to_name(text, f"the {part} of a link"))

    @property
    def chunk(self) -> Chunk:
        """The link as a chunk: its type is the label."""
        ends: dict[str, Value] = {"@subject": self.subject, "@object": self.object}
        return Chunk._make(self.label, ends, None, self.line)


@dataclass(frozen=True, slots=True)
class Condition:
    """A chunk that a buffer has to match, or must not match if ``negated``."""

    chunk: Chunk
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions, which must all hold, and actions, which are applied in order.

    A ``Chunk`` among the conditions is a condition that is not negated.
    """

    conditions: tuple[Condition, ...]
    actions: tuple[Chunk, ...]
    id: Name | None = None
    line: int = field(default=0, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        conditions = tuple(
            Condition(item) if isinstance(item, Chunk) else item for item in self.conditions
        )
        if not conditions or not self.actions:
            raise ChunksError("A rule needs a condition and an action.")
        object.__setattr__(self, "conditions", conditions)
        object.__setattr__(self, "actions", tuple(self.actions))
        if self.id is not None:
            object.__setattr__(self, "id", _to_name(self.id, "an identifier"))

    @property
    def chunks(self) -> Iterator[Chunk]:
        """The chunks of the conditions, then the actions."""
        yield from (condition.chunk for condition in self.conditions)
        yield from self.actions


Statement: TypeAlias = Chunk | Link | Rule


@dataclass(frozen=True, slots=True)
class Document:
    """The statements of a text, in their order."""

    statements: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "statements", tuple(self.statements))

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks, without links and without the conditions and actions of compact rules."""
        return [item for item in self.statements if isinstance(item, Chunk)]

    @property
    def links(self) -> list[Link]:
        """The links in the compact form."""
        return [item for item in self.statements if isinstance(item, Link)]

    @property
    def rules(self) -> list[Rule]:
        """Compact rules, and ``rule`` chunks with the chunks that they cite.

        Raises ``RuleError`` if a cited chunk is missing.
        """
        parts = (chunk for item in self.statements for chunk in chunks_of(item))
        cited: dict[str | None, Chunk] = {chunk.id: chunk for chunk in parts}
        rules = []
        for item in self.statements:
            if isinstance(item, Rule):
                rules.append(item)
            elif is_rule(item) and (item.id is None or cited[item.id] is item):
                rules.append(resolve_rule(item, cited))
        return rules


def chunks_of(item: Statement) -> Iterator[Chunk]:
    """The chunks of a statement, without the ``rule`` chunk of a compact rule."""
    match item:
        case Rule():
            yield from item.chunks
        case Link():
            yield item.chunk
        case Chunk():
            yield item
        case _:
            raise ChunksError(f"{item!r} is not a chunk, a link or a rule.")


def is_rule(item: Statement) -> TypeGuard[Chunk]:
    """Whether a statement is a chunk of type ``rule``, with ``@condition`` and ``@action``."""
    names = {"@condition", "@action"}
    return isinstance(item, Chunk) and item.type == "rule" and names <= item._properties.keys()


def resolve_rule(chunk: Chunk, chunks: Mapping[str | None, Chunk]) -> Rule:
    """The rule of a ``rule`` chunk; ``chunks`` are those it can cite, by their identifiers."""

    def cited(value: Atom) -> Chunk:
        chunk_cited = chunks.get(value) if isinstance(value, Name) else None
        if chunk_cited is None:
            label = "rule" if chunk.id is None else f"rule '{chunk.id}'"
            message = f"The {label} cites '{value}', which is not a chunk here."
            raise RuleError(message, line=chunk.line or None)
        return chunk_cited

    conditions = []
    for value in items(chunk["@condition"]):
        negated = isinstance(value, Negated)
        conditions.append(Condition(cited(value.value if negated else value), negated))  # type: ignore[union-attr]
    actions = tuple(map(cited, items(chunk["@action"])))
    return Rule(tuple(conditions), actions, chunk.id, line=chunk.line)


def rule_chunk(rule: Rule, ids: Sequence[Name | None]) -> Chunk:
    """The ``rule`` chunk of a rule; ``ids`` are those of its conditions, then of its actions."""
    conditions = [
        Negated(id) if condition.negated else id
        for condition, id in zip(rule.conditions, ids, strict=False)
    ]
    actions = ids[len(rule.conditions) :]
    chunk = Chunk("rule", {"@condition": conditions, "@action": list(actions)}, id=rule.id)
    object.__setattr__(chunk, "line", rule.line)
    return chunk
