"""Placeholders filled in the tree (KIP 6.1). A parameter is data: it never becomes syntax."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from kiprdf.errors import KipError, nearest
from kiprdf.language import ast, limits, values
from kiprdf.language.names import is_identifier
from kiprdf.source import NOWHERE, Span

C = TypeVar("C", bound=ast.Command)


class _Frame(NamedTuple):
    """A placeholder, or a node or tuple with placeholders below it: its parts, which of them."""

    node: Any
    parts: tuple[Any, ...]
    holes: tuple[tuple[int, _Frame], ...]


# Preceded by a letter or digit it is part of an id or an IRI, such as "C:Drug/Aspirin".
_EMBEDDED = re.compile(r"(?<![A-Za-z0-9_:]):([A-Za-z_][A-Za-z0-9_]*)")


def bind(command: C, parameters: Mapping[str, Any]) -> C:
    """The command with every placeholder replaced by its parameter's value.

    Parameters are JSON values by placeholder name. Raises KIP_1001 for a placeholder without
    a parameter, for one inside a string literal, and for a value that is no JSON.

    >>> from kiprdf.language import parse, to_text
    >>> to_text(bind(parse("DESCRIBE CONCEPT TYPE :type"), {"type": "Drug"}))
    'DESCRIBE CONCEPT TYPE "Drug"'
    """
    return Template(command).bind(parameters)


class Template(Generic[C]):
    """A command to be bound, once or many times; its tree is looked through only when it is made.

    >>> from kiprdf.language import parse, to_text
    >>> template = Template(parse("DESCRIBE CONCEPT TYPE :type"))
    >>> [to_text(template.bind({"type": name})) for name in ("Drug", "Symptom")]
    ['DESCRIBE CONCEPT TYPE "Drug"', 'DESCRIBE CONCEPT TYPE "Symptom"']
    """

    def __init__(self, command: C) -> None:
        self.command = command
        self._embedded: list[tuple[str, Span]] = []
        self._is_sound = True
        self._frame = self._look(command)

    def bind(self, parameters: Mapping[str, Any]) -> C:
        """What ``bind`` of the module gives and raises."""
        for name in parameters:
            if not isinstance(name, str) or not is_identifier(name):
                message = f"The parameter name {name!r} is no identifier."
                hint = "Name it like the placeholder, without the ':'."
                raise KipError("KIP_1001", message, hint)
        for name, span in self._embedded:
            if name in parameters:
                message = f"The placeholder :{name} stands inside a string literal."
                hint = "A placeholder takes the place of a whole value: name: :name."
                raise KipError("KIP_1001", message, hint, span)
        filled: list[ast.Value] = []
        bound = self.command
        if self._frame is not None:
            bound = _bind(self._frame, parameters, filled)
        if isinstance(bound, ast.Update):
            bound = dataclasses.replace(
                bound,
                attributes=_assignments(bound.attributes, "SET ATTRIBUTES"),
                metadata=_assignments(bound.metadata, "SET METADATA"),
            )
        if not (self._is_sound and all(map(_is_sound, filled))):
            # Which one is at fault, and how, depends on its place.
            _check_characters(bound)
        return bound

    def _look(self, node: Any) -> _Frame | None:
        """A node as a frame, if it has placeholders; what its strings hold is noted on the way."""
        kind = type(node)
        if kind is ast.Scalar:
            if type(node.value) is str:
                self._look_into(node.value, node.span)
            return None
        if kind is ast.Placeholder:
            return _Frame(node, (), ())
        if kind is str:
            self._look_into(node, None)
            return None
        if kind is tuple:
            parts = node
        elif isinstance(node, ast.Node):
            if isinstance(node, ast.PredicateName):
                self._look_into(node.name, node.span)
            parts = tuple([getattr(node, name) for name in _parts(node)])
        else:
            return None
        holes: list[tuple[int, _Frame]] = []
        for place, part in enumerate(parts):
            frame = None if part is None else self._look(part)
            if frame is not None:
                holes.append((place, frame))
        return _Frame(node, parts, tuple(holes)) if holes else None

    def _look_into(self, text: str, span: Span | None) -> None:
        """``span`` is where a string literal stands, of which nothing is to be filled."""
        if span is not None and ":" in text:
            self._embedded += [(name, span) for name in _EMBEDDED.findall(text)]
        self._is_sound = self._is_sound and _is_whole(text)


_parts_by_kind: dict[type[ast.Node], tuple[str, ...]] = {}


def _parts(node: ast.Node) -> tuple[str, ...]:
    """The fields of a node that may hold others, or values; dataclasses take long to tell."""
    kind = type(node)
    if kind not in _parts_by_kind:
        names = (field.name for field in dataclasses.fields(kind))
        _parts_by_kind[kind] = tuple(name for name in names if name != "span")
    return _parts_by_kind[kind]


def _assignments(found: Any, what: str) -> ast.Assignments | None:
    """What UPDATE sets, which a parameter gives as an object."""
    if found is None or isinstance(found, ast.Assignments):
        return found
    if not isinstance(found, ast.Object):
        raise KipError("KIP_1001", f"{what} takes an object.", "Send {key: value}.", found.span)
    entries = (ast.Assignment(e.key, e.value, span=e.span) for e in found.entries)
    return ast.Assignments(tuple(entries), span=found.span)


def _check_characters(node: Any) -> None:
    """Lone surrogates: KIP_1002 in a name, KIP_1001 in any other string."""
    if isinstance(node, ast.Scalar):
        if isinstance(node.value, str):
            values.check_characters(node.value, node.span)
    elif isinstance(node, ast.ConceptMatcher):
        for part in (node.id, node.type):
            _check_characters(part)
    elif isinstance(node, ast.PredicateName | ast.Key):
        values.check_characters(node.name, node.span)
    elif isinstance(node, ast.Entry | ast.Assignment):
        values.check_characters(node.key, node.span)
        _check_characters(node.value)
    elif isinstance(node, ast.Node):
        for name in _parts(node):
            _check_characters(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            _check_characters(item)


def _is_sound(value: ast.Value) -> bool:
    """Whether a value that was filled in holds no lone surrogates."""
    if isinstance(value, ast.Scalar):
        return not isinstance(value.value, str) or _is_whole(value.value)
    try:
        _check_characters(value)
    except KipError:
        return False
    return True


def _is_whole(text: str) -> bool:
    if text.isascii():
        return True
    try:
        values.check_characters(text, NOWHERE)
    except KipError:
        return False
    return True


def _bind(frame: _Frame, parameters: Mapping[str, Any], filled: list[ast.Value]) -> Any:
    """Rebuild the parts of a tree that hold placeholders, and share the others."""
    node = frame.node
    if isinstance(node, ast.Placeholder):
        value = _filled(node, parameters)
        filled.append(value)
        return value
    parts = list(frame.parts)
    for place, inner in frame.holes:
        parts[place] = _bind(inner, parameters, filled)
    return tuple(parts) if type(node) is tuple else type(node)(*parts, span=node.span)


def _filled(node: ast.Placeholder, parameters: Mapping[str, Any]) -> ast.Value:
    if node.name not in parameters:
        message = f"The placeholder :{node.name} has no parameter."
        close = nearest(node.name, parameters)
        hint = f'Send it: {{"parameters": {{"{node.name}": …}}}}.'
        if close:
            hint = f"Did you mean :{close[0]}? Otherwise send it: parameters.{node.name}."
        raise KipError("KIP_1001", message, hint, node.span)
    try:
        return from_json(parameters[node.name], node.span)
    except KipError as error:
        error.message = f"Parameter '{node.name}': {error.message}"
        raise


def from_json(value: Any, span: Span = NOWHERE, depth: int = 0) -> ast.Value:
    """A JSON value, as Python holds it, as a value node.

    Dictionaries with string keys, lists, tuples, strings, finite numbers of 64 bits, booleans and
    None are JSON; anything else is KIP_1001.
    """
    if depth > limits.NESTING or (depth == limits.NESTING and isinstance(value, list | Mapping)):
        message = f"A value nests deeper than {limits.NESTING} levels."
        raise KipError("KIP_4002", message, "Flatten the value.", span)
    if isinstance(value, str):
        values.check_length(value, span)
        return ast.Scalar(str(value), span=span)
    if value is None or isinstance(value, bool):
        return ast.Scalar(value, span=span)
    if isinstance(value, int | float):
        values.check_number(value, span)
        return ast.Scalar(value, span=span)
    if isinstance(value, list | tuple):
        return ast.Array(tuple(from_json(item, span, depth + 1) for item in value), span=span)
    if isinstance(value, Mapping):
        return ast.Object(tuple(_entries(value, span, depth)), span=span)
    message = f"A value of the Python type {type(value).__name__} is no JSON."
    hint = "Send strings, numbers, booleans, null, lists, objects."
    raise KipError("KIP_1001", message, hint, span)


def _entries(value: Mapping[Any, Any], span: Span, depth: int) -> Iterator[ast.Entry]:
    for key, item in value.items():
        if not isinstance(key, str):
            message = f"The object key {key!r} is no string."
            raise KipError("KIP_1001", message, "Object keys are strings.", span)
        values.check_length(key, span)
        yield ast.Entry(key, from_json(item, span, depth + 1), span=span)


def to_json(value: ast.Value) -> Any:
    """The Python form of a bound value: the inverse of ``from_json``."""
    match value:
        case ast.Scalar():
            return value.value
        case ast.Array():
            return [to_json(item) for item in value.items]
        case ast.Object():
            return {entry.key: to_json(entry.value) for entry in value.entries}
        case ast.Placeholder():
            raise AssertionError(f"unbound placeholder :{value.name}")
