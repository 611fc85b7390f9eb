"""Placeholders that stay open when a WHERE is compiled (docs/decisions/037).

A name, an id or a value in a FILTER does not change how a WHERE is compiled: it becomes a ``Hole``
of the algebra, and each call fills it. Any other argument (a type, LIMIT, a REGEX pattern) is
compiled in and is part of the key of its plan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.language import ast, limits
from kiprdf.language.names import name_fault
from kiprdf.language.parameters import from_json, to_json
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import to_term
from kiprdf.sparql.algebra import Hole
from kiprdf.trees import parts, replaced

Role: TypeAlias = OneOf["name", "concept id", "proposition id", "operand", "compiled in", "written"]
Roles: TypeAlias = dict[str, Role]
"""What each placeholder of a FIND, UPDATE or DELETE is used as."""
PlanKey: TypeAlias = tuple[tuple[str, Any], ...]
"""The arguments that share a compiled plan: of each its kind, and its value where that matters, or
the first argument that it is equal to."""

P = TypeVar("P", bound=ast.Find | ast.Targeted)

_CONCEPT_ID = re.compile(r"C:[^/]+/.+")
_PROPOSITION_ID = re.compile(r"P:[0-9a-f]{16}:[a-zA-Z_][a-zA-Z0-9_]*")
_MOST_PLACEHOLDERS = 100
_COMPARED = ("id", "type", "subject", "object")
"""Fields whose comparison with a string is compiled into a pattern that names an element."""


@dataclass(frozen=True, slots=True)
class OpenPlaceholder(ast.Placeholder):
    """A placeholder; only the kind of its value is known."""

    kind: OneOf["iri", "text", "number", "large number"]


class ConceptOf(NamedTuple):
    """The key of a hole: the concept of a type whose name is a parameter."""

    type: str
    parameter: str

    def term(self, parameters: Mapping[str, Any], iris: Iris) -> NamedNode:
        return iris.concept(self.type, parameters[self.parameter])


class ElementOf(NamedTuple):
    """The key of a hole: the element whose id is a parameter."""

    parameter: str

    def term(self, parameters: Mapping[str, Any], iris: Iris) -> NamedNode:
        node = iris.from_id(parameters[self.parameter])
        assert node is not None, parameters
        return node


class ValueOf(NamedTuple):
    """The key of a hole: a parameter as a literal."""

    parameter: str

    def term(self, parameters: Mapping[str, Any], iris: Iris) -> NamedNode | Literal:
        return to_term(parameters[self.parameter])


class NumberOf(NamedTuple):
    """The key of a hole: a parameter as a number of one datatype."""

    parameter: str
    is_double: bool

    def term(self, parameters: Mapping[str, Any], iris: Iris) -> NamedNode | Literal:
        return as_number(parameters[self.parameter], self.is_double)


class Arguments(dict[Hole, NamedNode | Literal]):
    """The terms for the holes of a plan, made from parameters, each when it is first read."""

    def __init__(self, parameters: Mapping[str, Any], iris: Iris) -> None:
        self._parameters = parameters
        self._iris = iris

    def __missing__(self, hole: Hole) -> NamedNode | Literal:
        key = cast(ConceptOf | ElementOf | ValueOf | NumberOf, hole.key)
        term = self[hole] = key.term(self._parameters, self._iris)
        return term


MOST_EXACT = 2**53
"""Smaller integers are equal to one double each, and no other."""


def as_number(value: float, is_double: bool) -> Literal | NamedNode:
    """The double or the integer that is equal to a small number; ``kip:none`` where there is none.

    >>> as_number(7.0, False).value, as_number(7, True).value
    ('7', '7.0')
    """
    if is_double:
        return to_term(float(value))
    return to_term(int(value)) if int(value) == value else vocab.NONE


def value_term(value: ast.Value) -> Literal | NamedNode | Hole:
    """The term of a value; an open placeholder is a hole."""
    if isinstance(value, OpenPlaceholder):
        return Hole(ValueOf(value.name), value.kind)
    return to_term(to_json(value))


def argument(hole: Hole) -> Hole:
    """The hole for a whole parameter, of which a hole may have a part."""
    key = hole.key
    return Hole(ValueOf(key.parameter), hole.kind) if isinstance(key, NumberOf) else hole


def concept_term(type: str, name: ast.Value, iris: Iris) -> NamedNode | Hole:
    """The node of a concept by type and name."""
    if isinstance(name, OpenPlaceholder):
        return Hole(ConceptOf(type, name.name), "iri")
    return iris.concept(type, to_json(name))


# Where placeholders are used ----------------------------------------------------------------------


def placeholder_roles(command: ast.Command) -> Roles | None:
    """The placeholders of a FIND, UPDATE or DELETE; None for a command whose plan is not kept.

    What a statement writes has no part in its plan.
    """
    written: Iterable[tuple[str, Role]] = ()
    if isinstance(command, ast.Find) and command.cursor is None:
        used = _roles(command, "compiled in")
    elif isinstance(command, ast.Targeted):
        used = _roles(command.where, "compiled in")
        written = _roles(replace(command, where=ast.Block(())), "written")
    else:
        return None
    roles: dict[str, set[Role]] = {}
    for name, role in used:
        roles.setdefault(name, set()).add(role)
    for name, role in written:
        roles.setdefault(name, {role})
    if len(roles) > _MOST_PLACEHOLDERS:
        return None
    return {name: _common(common) for name, common in roles.items()}


def _common(roles: set[Role]) -> Role:
    """A name can be used wherever any string can; other roles do not mix."""
    if roles == {"name", "operand"}:
        return "name"
    return roles.pop() if len(roles) == 1 else "compiled in"


def _roles(node: Any, role: Role) -> Iterator[tuple[str, Role]]:
    match node:
        case ast.Placeholder():
            yield node.name, role
        case ast.ConceptMatcher():
            yield from _roles(node.id, "concept id")
            yield from _roles(node.type, "compiled in")
            yield from _roles(node.name, "name")
        case ast.PropositionId():
            yield from _roles(node.id, "proposition id")
        case ast.Comparison():
            sides = (node.left, node.right)
            by_id = any(isinstance(s, ast.Path) and s.field in _COMPARED for s in sides)
            yield from _roles(sides, "compiled in" if by_id else "operand")
        case ast.StringTest():
            is_regex = node.function == "REGEX"
            yield from _roles(node.operand, "operand")
            yield from _roles(node.argument, "compiled in" if is_regex else "operand")
        case ast.Membership(options=ast.Array(items=items)):
            yield from _roles((node.operand, items), "operand")
        case ast.Membership(options=ast.Path()):
            yield from _roles(node.operand, "operand")
        case ast.Node():
            inner: Role = "written" if role == "written" else "compiled in"
            for part in parts(node):
                yield from _roles(part, inner)
        case tuple():
            for item in node:
                yield from _roles(item, role)


def plan_key(roles: Roles, parameters: Mapping[str, Any]) -> PlanKey | None:
    """The plan that parameters need; None where the parameters must be checked one by one."""
    if roles.keys() != parameters.keys():
        return None
    names: list[str] = []
    key: list[tuple[str, Any]] = []
    for name, role in roles.items():
        if role == "written":
            continue
        value = parameters[name]
        kind = _kind(value, role)
        if kind is None:
            return None
        names.append(name)
        key.append((kind, value if kind.startswith("the ") else None))
    if len({parameters[name] for name in names}) < len(key):
        _merge(key, names, parameters)
    return tuple(key)


def _merge(key: list[tuple[str, Any]], names: list[str], parameters: Mapping[str, Any]) -> None:
    """Let equal arguments share the hole of the first: they join as one constant does."""
    firsts: dict[tuple[str, object], str] = {}
    for number, name in enumerate(names):
        kind, value = key[number][0], parameters[name]
        if not kind.startswith("the "):
            # Of 7 and 7.0, one is enough: a list would find twice what has one of them.
            same = float(value) if kind == "number" else (type(value), repr(value))
            first = firsts.setdefault((kind, same), name)
            key[number] = kind, None if first == name else first


def _kind(value: Any, role: Role) -> str | None:
    """The kind of an argument that becomes a hole, "the …" for one that is compiled in."""
    kind = type(value)
    if kind is str:
        if role == "compiled in":
            return "the str" if len(value) <= limits.NAME_CHARACTERS else None
        # A name that is refused gets its error where it is checked, and so do odd strings.
        if name_fault(value) is not None:
            return None
        if role in ("concept id", "proposition id"):
            shape = _CONCEPT_ID if role == "concept id" else _PROPOSITION_ID
            return "iri" if shape.fullmatch(value) else None
        return "text"
    if role == "name" or kind not in (int, float, bool, type(None)):
        return None
    if role == "operand" and kind in (int, float):
        is_storable = -(2**63) <= value < 2**63 if kind is int else math.isfinite(value)
        if not is_storable:
            return None
        # Two doubles are zero, and an array has one of them.
        if value == 0:
            return f"the {kind.__name__}"
        return "number" if abs(value) < MOST_EXACT else "large number"
    return f"the {kind.__name__}"


def with_holes(command: P, roles: Roles, key: PlanKey) -> P:
    """A parsed command whose placeholders are open, or bound to the values that the key holds;
    those of what it writes stay."""
    names = (name for name, role in roles.items() if role != "written")
    values: dict[str, ast.Value] = {
        name: from_json(value) if kind.startswith("the ") else OpenPlaceholder(value or name, kind)  # type: ignore[arg-type]
        for name, (kind, value) in zip(names, key, strict=True)
    }

    def filled(node: Any) -> Any:
        return values.get(node.name, node) if isinstance(node, ast.Placeholder) else node

    return cast(P, replaced(command, filled))
