"""A FIND that is compiled once and asked again with other values (docs/decisions/037).

What agents send again and again differs in names, ids and the values of FILTERs. Such a command is
compiled with marks in the place of these; a mark stands in the SPARQL where the value would, in an
IRI or as a literal, and is replaced there. A value that decides how a command is compiled has no
mark: it tells one compiled form of the text from another.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode

from kiprdf.kql import cursor
from kiprdf.kql.find import Query, plan, rows, shaped
from kiprdf.kql.probe import check_patterns, exists
from kiprdf.kql.segments import required
from kiprdf.language import ast, limits
from kiprdf.language.names import name_fault
from kiprdf.rdf.iris import encode
from kiprdf.rdf.literals import Json, to_term
from kiprdf.sparql.algebra import Term
from kiprdf.sparql.text import Filling
from kiprdf.store import Store

Place: TypeAlias = OneOf["name", "id", "operand", "other"]
Places: TypeAlias = dict[str, Place]
"""Where a placeholder stands in a FIND."""
Form: TypeAlias = tuple[tuple[str, Any], ...]
"""What one compiled form of a text is for: the kind of each parameter, or its value."""

_SECRET = secrets.token_hex(8)
"""What no value begins with, so that a mark is found nowhere but where it was put."""
_DIGITS = secrets.randbits(64)
"""The same for the digits of a proposition's id, which must not be found in other marks."""
_CONCEPT_ID = re.compile(r"C:([^/]+)/(.+)")
_PROPOSITION_ID = re.compile(r"P:([0-9a-f]{16}):([a-zA-Z_][a-zA-Z0-9_]*)")
_MOST_PLACES = 100
_COMPARED = ("id", "subject", "object")
"""Fields whose comparison with a text is compiled by what the text begins with."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled FIND; ``required`` are the elements that must exist. All have marks in them."""

    find: ast.Find
    query: Query
    required: tuple[str, ...]


class Filled(NamedTuple):
    """Parameters as marks, and what takes their place.

    ``form`` tells which compiled form they belong to, ``marks`` are what it is bound to.
    """

    form: Form
    marks: dict[str, Json]
    filling: Filling


def places(command: ast.Command) -> Places | None:
    """Where the placeholders of a FIND stand; None for what is not remembered."""
    if not isinstance(command, ast.Find) or command.cursor is not None:
        return None
    found: dict[str, set[Place]] = {}
    for name, place in _places(command, "other"):
        found.setdefault(name, set()).add(place)
    if len(found) > _MOST_PLACES:
        return None
    return {name: _common(there) for name, there in found.items()}


def _common(places: set[Place]) -> Place:
    """A name can stand where any text can; everything else stands with its own kind."""
    if places == {"name", "operand"}:
        return "name"
    return places.pop() if len(places) == 1 else "other"


def _places(node: Any, place: Place) -> Iterator[tuple[str, Place]]:
    match node:
        case ast.Placeholder():
            yield node.name, place
        case ast.ConceptMatcher():
            yield from _places(node.id, "id")
            yield from _places(node.type, "other")
            yield from _places(node.name, "name")
        case ast.PropositionId():
            yield from _places(node.id, "id")
        case ast.Comparison():
            sides = (node.left, node.right)
            by_id = any(isinstance(s, ast.Path) and s.field in _COMPARED for s in sides)
            yield from _places(sides, "other" if by_id else "operand")
        case ast.StringTest():
            yield from _places(node.operand, "operand")
            yield from _places(node.argument, "other" if node.function == "REGEX" else "operand")
        case ast.Membership(options=ast.Array(items=items)):
            yield from _places((node.operand, items), "operand")
        case ast.Node():
            for name in node.__dataclass_fields__:
                yield from _places(getattr(node, name), "other")
        case tuple():
            for item in node:
                yield from _places(item, place)


def fill(places: Places, parameters: Mapping[str, Any]) -> Filled | None:
    """Parameters as marks; None where there are others, or one that a closer look is due."""
    if places.keys() != parameters.keys():
        return None
    form: list[tuple[str, Any]] = []
    marks: dict[str, Json] = {}
    literals: dict[Term, Term] = {}
    segments: dict[str, str] = {}
    for number, (name, place) in enumerate(places.items()):
        value = parameters[name]
        kind = _kind(value, place)
        mark = f"mark-{_SECRET}-{number}-end"
        if kind is None:
            return None
        form.append((kind, value if kind.startswith("value") else None))
        if kind == "text":
            marks[name], segments[mark] = mark, encode(value)
            literals[Literal(mark)] = Literal(value)
        elif kind == "number":
            marks[name] = int(f"7{int(_SECRET, 16) % 10**14:014}{number:03}")
            literals[to_term(marks[name])] = to_term(value)
        elif kind == "concept id":
            marks[name] = f"C:{mark}-type/{mark}-name"
            _, _, rest = value.partition(":")
            type_name, _, text = rest.partition("/")
            segments[f"{mark}-type"], segments[f"{mark}-name"] = encode(type_name), encode(text)
        elif kind == "proposition id":
            digits, predicate = f"{_DIGITS ^ number:016x}", f"mark_{_SECRET}_{number}_end"
            marks[name] = f"P:{digits}:{predicate}"
            _, segments[digits], segments[predicate] = value.split(":")
        else:
            marks[name] = value
    return Filled(tuple(form), marks, Filling(literals, segments))


def _kind(value: Any, place: Place) -> str | None:
    kind = type(value)
    if kind is str:
        # A name that the nexus refuses gets its error on the long way, and so do odd texts.
        if place != "other" and name_fault(value) is not None:
            return None
        # What tells a form from another is kept with it.
        if place == "other" and len(value) > limits.NAME_CHARACTERS:
            return None
        if place == "id":
            if _CONCEPT_ID.fullmatch(value):
                return "concept id"
            return "proposition id" if _PROPOSITION_ID.fullmatch(value) else "value of str"
        return "value of str" if place == "other" else "text"
    if place == "name" or kind not in (int, float, bool, type(None)):
        return None
    if place == "operand" and kind in (int, float):
        is_kept = -(2**63) <= value < 2**63 if kind is int else math.isfinite(value)
        return "number" if is_kept else None
    return f"value of {kind.__name__}"


def prepare(find: ast.Find, store: Store, filling: Filling) -> Prepared | None:
    """Compile a checked FIND that was bound to marks; None for one whose size must be looked at."""
    query = Query(plan(find, store.iris), store.iris, filling)
    if query.products:
        return None
    check_patterns(find.where, store)
    return Prepared(find, query, tuple(node.value for node in required(find.where, store.iris)))


def run(
    prepared: Prepared,
    filling: Filling,
    store: Store,
    bound: Callable[[], ast.Find],
) -> tuple[list[list[Json]], str | None] | None:
    """The columns and the cursor of the next page; None when an element that is named is missing.

    ``bound`` gives the command with its values, which the cursor is made of.
    """
    for iri in prepared.required:
        if not exists(NamedNode(filling.iri(iri)), store):
            return None
    query = prepared.query
    found = rows(query, store, filling)
    columns, offset = shaped(prepared.find, query.plan, found, store, 0)
    if offset is None:
        return columns, None
    return columns, cursor.encode(bound(), store.commit(), offset)
