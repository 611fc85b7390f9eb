"""A FIND that is compiled once and asked again with other names (docs/decisions/037).

What agents send again and again differs in the names of concepts alone. Such a command is compiled
with marks in the place of these names; a mark stands in the SPARQL where the name would, in an IRI
or as a literal, and is replaced there.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.kql import cursor
from kiprdf.kql.find import Query, plan, rows, shaped
from kiprdf.kql.probe import check_patterns, exists
from kiprdf.kql.segments import required
from kiprdf.language import ast
from kiprdf.language.names import name_fault
from kiprdf.rdf.iris import encode
from kiprdf.rdf.literals import Json
from kiprdf.store import Store

_MARK = f"mark-{secrets.token_hex(8)}-"
"""What no name begins with; its hyphens keep an IRI with a mark from being shortened."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled FIND; ``required`` are the elements that must exist. All have marks in them."""

    find: ast.Find
    query: Query
    required: tuple[str, ...]


def marks(command: ast.Command) -> dict[str, str] | None:
    """A mark for each placeholder of a FIND, if all of them name concepts; None otherwise."""
    if not isinstance(command, ast.Find) or command.cursor is not None:
        return None
    names = {p.name for p in _placeholders(command.where, in_names=True)}
    others = list(_placeholders(command, in_names=False))
    return None if others else {name: f"{_MARK}{name}-end" for name in names}


def _placeholders(node: Any, in_names: bool) -> Iterator[ast.Placeholder]:
    """The placeholders that are names of concepts, or all the others."""
    if isinstance(node, ast.Placeholder):
        if not in_names:
            yield node
    elif isinstance(node, ast.ConceptMatcher) and isinstance(node.name, ast.Placeholder):
        if in_names:
            yield node.name
        yield from _placeholders((node.id, node.type), in_names)
    elif isinstance(node, ast.Node):
        for name in node.__dataclass_fields__:
            yield from _placeholders(getattr(node, name), in_names)
    elif isinstance(node, tuple):
        for item in node:
            yield from _placeholders(item, in_names)


def prepare(find: ast.Find, store: Store, marks: Collection[str]) -> Prepared | None:
    """Compile a checked FIND that was bound to marks; None for one whose size must be looked at."""
    query = Query(plan(find, store.iris), store.iris, marks)
    if query.products:
        return None
    check_patterns(find.where, store)
    return Prepared(find, query, tuple(node.value for node in required(find.where, store.iris)))


def values(marks: Mapping[str, str], parameters: Mapping[str, Any]) -> dict[str, str] | None:
    """The name for each mark; None where there is none, or one that a closer look is due."""
    if marks.keys() != parameters.keys():
        return None
    found = {mark: parameters[name] for name, mark in marks.items()}
    is_plain = all(type(text) is str and name_fault(text) is None for text in found.values())
    return found if is_plain else None


def run(
    prepared: Prepared,
    names: Mapping[str, str],
    store: Store,
    bound: Callable[[], ast.Find],
) -> tuple[list[list[Json]], str | None] | None:
    """The columns and the cursor of the next page; None when an element that is named is missing.

    ``bound`` gives the command with its values, which the cursor is made of.
    """
    for iri in prepared.required:
        for mark, name in names.items():
            iri = iri.replace(mark, encode(name))
        if not exists(NamedNode(iri), store):
            return None
    query = prepared.query
    found = rows(query, store, names)
    columns, offset = shaped(prepared.find, query.plan, found, store, 0)
    if offset is None:
        return columns, None
    return columns, cursor.encode(bound(), store.commit(), offset)
