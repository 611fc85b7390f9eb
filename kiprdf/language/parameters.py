"""Replaces placeholders in the tree by values (KIP 6.1); a parameter never becomes syntax."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from kiprdf import budget
from kiprdf.errors import KipError, nearest, shown
from kiprdf.language import ast, limits, values
from kiprdf.language.names import is_identifier
from kiprdf.language.sizes import Sizes
from kiprdf.source import NOWHERE, Span
from kiprdf.trees import parts, walk

C = TypeVar("C", bound=ast.Command)


Fill: TypeAlias = Callable[[ast.Placeholder], ast.Value]
Frame: TypeAlias = Callable[[Fill], Any]
"""Builds a node or tuple from the values of its placeholders; shares what contains none."""


# After a letter or digit the colon is part of an id or an IRI, such as "C:Drug/Aspirin".
_EMBEDDED = re.compile(r"(?<![A-Za-z0-9_:]):([A-Za-z_][A-Za-z0-9_]*)")
_FOREIGN = re.compile(r"[$@](\w+)|\$?\{(\w+)\}|\{\{\s*(\w+)\s*\}\}|<(\w+)>|%\((\w+)\)s")
"""A placeholder as other languages write it, which is a whole string."""

_LONG = 1_000
"""A list with more items is traversed with checks of the deadline."""


def bind(command: C, parameters: Mapping[str, Any]) -> C:
    """The command with every placeholder replaced by its parameter's value.

    Parameters are JSON values by placeholder name. Raises KIP_1001 for a placeholder without
    a parameter, for a placeholder inside a string literal, and for a value that is not JSON.

    >>> from kiprdf.language import parse, to_text
    >>> to_text(bind(parse("DESCRIBE CONCEPT TYPE :type"), {"type": "Drug"}))
    'DESCRIBE CONCEPT TYPE "Drug"'
    """
    return Template(command).bind(parameters)


_OPTIONS = {"dryrun": "dry_run", "dry": "dry_run", "readonly": "readonly"}


def refuse_misspelt_options(command: object, parameters: Mapping[str, object]) -> None:
    """Raise TypeError for a parameter that is meant as an option, and is no placeholder.

    It would be ignored, and what was to be tried would be written.

    >>> refuse_misspelt_options("DESCRIBE DOMAINS", {"read_only": True})
    Traceback (most recent call last):
    TypeError: There is no option read_only. Did you mean readonly?
    """
    for name in parameters:
        option = _OPTIONS.get(name.replace("_", "").lower())
        if option is not None and f":{name}" not in str(command):
            raise TypeError(f"There is no option {name}. Did you mean {option}?")


class Template(Generic[C]):
    """A command whose placeholders can be replaced repeatedly; its tree is inspected only once.

    >>> from kiprdf.language import parse, to_text
    >>> template = Template(parse("DESCRIBE CONCEPT TYPE :type"))
    >>> [to_text(template.bind({"type": name})) for name in ("Drug", "Symptom")]
    ['DESCRIBE CONCEPT TYPE "Drug"', 'DESCRIBE CONCEPT TYPE "Symptom"']
    """

    def __init__(self, command: C) -> None:
        self.command = command
        texts, self._names = _survey(command)
        self._is_sound = values.is_encodable(texts)
        self._embedded = list(_embedded(command)) if _EMBEDDED.search(texts) else []
        self._foreign = list(_foreign(command)) if _FOREIGN.search(texts) else []
        self._frame = framed(command) if self._names else None

    def bind(self, parameters: Mapping[str, Any]) -> C:
        """Replace the placeholders; returns and raises what the function ``bind`` does."""
        for name in parameters:
            # Names of placeholders are identifiers, so the first test is usually enough.
            if name not in self._names and not (isinstance(name, str) and is_identifier(name)):
                message = f"The parameter name {_key_text(name)} is not an identifier."
                hint = "Use the name of the placeholder, without the ':'."
                raise KipError("KIP_1001", message, hint)
        for name, span in self._embedded:
            if name in parameters:
                message = f"The placeholder :{name} is inside a string literal."
                hint = "A placeholder replaces a whole value; send the whole text as a parameter."
                if span.end - span.start == len(name) + 3:
                    hint = f'Remove the quotes: write `:{name}` instead of `":{name}"`.'
                raise KipError("KIP_1001", message, hint, span)
        for text, name, span in self._foreign:
            if name in parameters and name not in self._names:
                message = f"{text} is a string, and the command has no placeholder :{name}."
                hint = f'Placeholders are :name. Write `:{name}` instead of `"{text}"`.'
                raise KipError("KIP_1001", message, hint, span)
        filled: list[ast.Value] = []
        bound = self.command
        if self._frame is not None:
            sizes = Sizes("The set of parameters")

            def fill(placeholder: ast.Placeholder) -> ast.Value:
                filled.append(_filled(placeholder, parameters, sizes))
                return filled[-1]

            bound = self._frame(fill)
        if isinstance(bound, ast.Update):
            bound = dataclasses.replace(
                bound,
                attributes=_assignments(bound.attributes, "SET ATTRIBUTES"),
                metadata=_assignments(bound.metadata, "SET METADATA"),
            )
        if not (self._is_sound and values.is_encodable("\n".join(map(_text, filled)))):
            # Finds the faulty string; the error depends on its place.
            _check_characters(bound)
        budget.check()
        return bound


def _survey(node: ast.Node | tuple[ast.Node, ...]) -> tuple[str, set[str]]:
    """All strings of a tree, joined by newlines, and the names of its placeholders.

    One pass shows that most commands have nothing to replace and nothing to refuse.
    """
    texts: list[str] = []
    names: set[str] = set()
    for part in walk(node):
        kind = type(part)
        if kind is str:
            texts.append(part)
        elif kind is ast.Placeholder:
            names.add(part.name)
        elif kind is tuple and len(part) > _LONG:
            budget.check()
    return "\n".join(texts), names


def _text(value: ast.Value) -> str:
    """All strings of a value, joined by newlines."""
    if isinstance(value, ast.Scalar):
        return value.value if isinstance(value.value, str) else ""
    return _survey(value)[0]


def _assignments(value: Any, section: str) -> ast.Assignments | None:
    """The assignments of an UPDATE; a parameter provides them as an object."""
    if value is None or isinstance(value, ast.Assignments):
        return value
    if not isinstance(value, ast.Object):
        raise KipError("KIP_1001", f"{section} takes an object.", "Send {key: value}.", value.span)
    entries = (ast.Assignment(e.key, e.value, span=e.span) for e in value.entries)
    return ast.Assignments(tuple(entries), span=value.span)


def _check_characters(node: Any) -> None:
    """Raise KIP_1001 for a lone surrogate; names of concepts are checked later (KIP_1002)."""
    if isinstance(node, ast.Scalar):
        if isinstance(node.value, str):
            values.check_characters(node.value, node.span)
    elif isinstance(node, ast.ConceptMatcher):
        for part in (node.id, node.type):
            _check_characters(part)
    elif isinstance(node, ast.Key):
        values.check_characters(node.name, node.span)
    elif isinstance(node, ast.Entry | ast.Assignment):
        values.check_characters(node.key, node.span)
        _check_characters(node.value)
    else:
        for part in parts(node):
            _check_characters(part)


def _embedded(command: ast.Node) -> Iterator[tuple[str, Span]]:
    """The names in string literals that look like placeholders."""
    for text, span in _string_literals(command):
        for name in _EMBEDDED.findall(text):
            yield name, span


def _foreign(command: ast.Node) -> Iterator[tuple[str, str, Span]]:
    """The strings that are placeholders of other languages, with their names."""
    for text, span in _string_literals(command):
        name = foreign_placeholder(text)
        if name is not None:
            yield text, name, span


def foreign_placeholder(text: str) -> str | None:
    """The name of a placeholder as other languages write it.

    >>> foreign_placeholder("{{ name }}")
    'name'
    """
    match = _FOREIGN.fullmatch(text)
    return None if match is None else next(filter(None, match.groups()))


def _string_literals(command: ast.Node) -> Iterator[tuple[str, Span]]:
    for node in walk(command):
        if isinstance(node, ast.Scalar) and isinstance(node.value, str):
            yield node.value, node.span


def opens_map(node: ast.Node) -> bool:
    """Whether a placeholder of a command takes a whole map of attributes or metadata.

    >>> from kiprdf.language import parse
    >>> text = 'UPDATE ?d SET ATTRIBUTES %s WHERE { ?d {type: "Drug"} }'
    >>> opens_map(parse(text % ":values")), opens_map(parse(text % "{risk: :risk}"))
    (True, False)
    """
    maps = (getattr(part, name, None) for part in walk(node) for name in ("attributes", "metadata"))
    return any(isinstance(value, ast.Placeholder) for value in maps)


def framed(node: Any) -> Frame | None:
    """The frame of a node or tuple; None without placeholders."""
    kind = type(node)
    if kind is ast.Placeholder:
        return lambda fill: fill(node)
    own = parts(node)
    frames = ((place, framed(part)) for place, part in enumerate(own))
    holes = tuple((place, frame) for place, frame in frames if frame is not None)
    if not holes:
        return None
    if len(holes) == 1 and kind is not tuple:
        # As most nodes: their other fields need no list.
        ((only, frame),) = holes
        before, after, span = own[:only], own[only + 1 :], node.span
        return lambda fill: kind(*before, frame(fill), *after, span=span)

    def build(fill: Fill) -> Any:
        filled = list(own)
        for place, frame in holes:
            filled[place] = frame(fill)
        return tuple(filled) if kind is tuple else kind(*filled, span=node.span)

    return build


def _filled(node: ast.Placeholder, parameters: Mapping[str, Any], sizes: Sizes) -> ast.Value:
    if node.name not in parameters:
        message = f"The placeholder :{node.name} has no parameter."
        close = nearest(node.name, parameters)
        hint = f'Send it: {{"parameters": {{"{node.name}": …}}}}.'
        if close:
            hint = f"Did you mean :{close[0]}? Otherwise send it: parameters.{node.name}."
        for name, value in parameters.items():
            if isinstance(value, Mapping) and node.name in value:
                hint = f"It is inside the parameter '{name}'; send it without '{name}' around it."
        raise KipError("KIP_1001", message, hint, node.span)
    value = parameters[node.name]
    try:
        sizes.add(value, node.span)
        return from_json(value, node.span)
    except KipError as error:
        error.message = f"Parameter '{node.name}': {error.message}"
        raise


def check_json(value: Any) -> None:
    """Raise what ``bind`` raises for a parameter: KIP_1001 if not JSON, KIP_4002 if too large."""
    Sizes("The value").add(value)
    node = from_json(value)
    if not values.is_encodable(_text(node)):
        _check_characters(node)


def from_json(value: Any, span: Span = NOWHERE, depth: int = 0) -> ast.Value:
    """Convert a JSON value, as Python objects, to a node.

    Accepts dictionaries with string keys, lists, tuples, strings, finite numbers of 64 bits,
    booleans and None; KIP_1001 for anything else.
    """
    if depth == limits.NESTING and isinstance(value, list | tuple | Mapping):
        message = f"A value nests deeper than {limits.NESTING} levels."
        raise KipError("KIP_4002", message, "Flatten the value.", span)
    if isinstance(value, str):
        if len(value) > limits.STRING_BYTES // 4:
            values.check_length(value, span)
        return ast.Scalar(str(value), span=span)
    if value is None or isinstance(value, bool):
        return ast.Scalar(value, span=span)
    if isinstance(value, int | float):
        values.check_number(value, span)
        return ast.Scalar(value, span=span)
    if isinstance(value, list | tuple | Mapping):
        budget.check()
    if isinstance(value, list | tuple):
        items = value if len(value) < _LONG else budget.paced(value)
        return ast.Array(tuple(from_json(item, span, depth + 1) for item in items), span=span)
    if isinstance(value, Mapping):
        return ast.Object(tuple(_entries(value, span, depth)), span=span)
    message = f"A value of the Python type {type(value).__name__} is not JSON."
    hint = "Send strings, numbers, booleans, null, lists, objects."
    raise KipError("KIP_1001", message, hint, span)


def _entries(value: Mapping[Any, Any], span: Span, depth: int) -> Iterator[ast.Entry]:
    for key, item in budget.paced(value.items()) if len(value) > _LONG else value.items():
        if not isinstance(key, str):
            message = f"The object key {_key_text(key)} is not a string."
            raise KipError("KIP_1001", message, "Object keys are strings.", span)
        values.check_length(key, span)
        yield ast.Entry(key, from_json(item, span, depth + 1), span=span)


def _key_text(key: object) -> str:
    """A key of any type for a message; only its type if it is too long."""
    if isinstance(key, str):
        return repr(shown(key))
    is_short = key is None or isinstance(key, float) or (isinstance(key, int) and abs(key) < 2**64)
    return repr(key) if is_short else f"of the type {type(key).__name__}"


def to_json(value: ast.Value) -> Any:
    """Convert a node without placeholders to a JSON value: the inverse of ``from_json``."""
    match value:
        case ast.Scalar():
            return value.value
        case ast.Array():
            return [to_json(item) for item in value.items]
        case ast.Object():
            return {entry.key: to_json(entry.value) for entry in value.entries}
        case ast.Placeholder():
            raise AssertionError(f"unbound placeholder :{value.name}")
