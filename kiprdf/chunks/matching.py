"""Whether a chunk matches a pattern (Chunks and Rules: Equality, Matching chunks).

A ``Pattern`` is prepared once; its ``match`` then tests chunks against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import TypeAlias

from kiprdf.chunks.model import Chunk, Name, Negated, Value, Variable, identical

Bindings: TypeAlias = MutableMapping[str, Value]
IsKind: TypeAlias = Callable[[str, str], bool]
_CONTEXT = Name("@context")
_HEAD = ("@type", "@id")
_TESTED = frozenset((*_HEAD, _CONTEXT, "@subject", "@object", "@index", "@more"))
_NOTHING = Negated()
_COMPOSED = (tuple, Negated, Variable)


def equals(one: Value, other: Value) -> bool:
    """Whether two values are equal for matching; every variable is unbound.

    >>> equals(Name("dog"), Negated(Name("cat"))), equals((1, Name("*")), (1, 2))
    (True, True)
    """
    return _equal(one, other, None)


def _equal(one: Value, other: Value, bindings: Bindings | None) -> bool:
    """The draft's equality; an unbound variable of ``one`` is bound, unless it is negated.

    Without ``bindings`` no variable is ever bound.
    """
    if type(one) is type(other) and one == other and type(one) not in _COMPOSED:
        return True
    if _is_wildcard(one) or _is_wildcard(other):
        return True
    if isinstance(one, Negated):
        if one.value is None or other == _NOTHING:
            return False
        return not _equal(_resolved(one.value, bindings or {}), other, {})
    if isinstance(other, Negated):
        return other.value is not None and not _equal(one, other.value, {})
    if isinstance(one, Variable):
        if bindings is None:
            return True
        if one.name in bindings:
            return _equal(bindings[one.name], other, {})
        bindings[one.name] = other
        return True
    if isinstance(other, Variable):
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(
            _equal(item, counterpart, bindings)
            for item, counterpart in zip(one, other, strict=True)
        )
    return identical(one, other)


def bind(
    expected: Value, actual: Value | None, bindings: Mapping[str, Value]
) -> dict[str, Value] | None:
    """The bindings, extended by what makes two values equal; None if they are not.

    What is not there (None) equals a negation.
    """
    extended = dict(bindings)
    if actual is None:
        return extended if isinstance(expected, Negated) else None
    return extended if _equal(expected, actual, extended) else None


def _is_wildcard(value: Value) -> bool:
    return isinstance(value, Name) and value == "*"


def _resolved(value: Value, bindings: Mapping[str, Value]) -> Value:
    return bindings.get(value.name, value) if isinstance(value, Variable) else value


def _has_negated_variable(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_negated_variable, value))
    return isinstance(value, Negated) and isinstance(value.value, Variable)


class Pattern:
    """A chunk as a pattern.

    It looks at the type, the properties without ``@``, and ``@type``, ``@id``, ``@kindof``,
    ``@context``, ``@subject``, ``@object``, ``@index`` and ``@more``. ``type`` is the type that a
    chunk needs, or None for any; ``required`` are the properties that it needs, with values that
    may be variables.

    >>> pattern = Pattern(Chunk("dog", {"age": Variable("age")}))
    >>> pattern.match(Chunk("dog", {"age": 4, "name": "Fido"}), {}, lambda type, kind: False)
    {'age': 4}
    """

    __slots__ = ("_absent", "_checks", "_kind", "chunk", "required", "type")

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.type = None if "@type" in chunk or chunk.type == "*" else chunk.type
        self._kind = chunk.get("@kindof")
        tested = {
            name: value
            for name, value in chunk._properties.items()
            if name[0] != "@" or name in _TESTED
        }
        tested.setdefault(_CONTEXT, _NOTHING)
        absent = [name for name, value in tested.items() if value == _NOTHING and name != "@type"]
        self._absent = tuple(absent)
        checks = [check for check in tested.items() if check[0] not in absent]
        self.required = tuple(check for check in checks if check[0] not in _HEAD)
        # Variables are bound before a negated one is compared.
        self._checks = tuple(sorted(checks, key=lambda check: _has_negated_variable(check[1])))

    def match(
        self, chunk: Chunk, bindings: Mapping[str, Value], is_kind: IsKind
    ) -> dict[str, Value] | None:
        """The bindings, with those of this match added, or None if the chunk does not match.

        ``bindings`` maps the names of variables, without ``?``, to values.
        """
        if self.type is not None and chunk.type != self.type:
            return None
        properties = chunk._properties
        for name in self._absent:
            if name in properties or (name == "@id" and chunk.id is not None):
                return None
        extended = dict(bindings)
        for name, value in self._checks:
            if name in _HEAD:
                other: Value | None = chunk.type if name == "@type" else chunk.id
                if other is None and isinstance(value, Negated):
                    continue
            else:
                other = properties.get(name)
            if other is None or not _equal(value, other, extended):
                return None
        if self._kind is not None and not _is_of_kind(chunk.type, self._kind, extended, is_kind):
            return None
        return extended


def _is_of_kind(type: Name, kind: Value, bindings: Mapping[str, Value], is_kind: IsKind) -> bool:
    kind = _resolved(kind, bindings)
    if isinstance(kind, Negated):
        return kind.value is not None and not _is_of_kind(type, kind.value, bindings, is_kind)
    if isinstance(kind, Variable) or _is_wildcard(kind):
        return True
    return isinstance(kind, Name) and is_kind(type, kind)
