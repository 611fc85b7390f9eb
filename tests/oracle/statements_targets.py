"""What a statement is about: the elements its variables are bound to, and the keys it names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from kiprdf.errors import KipError
from kiprdf.language import ast
from tests.oracle.check import check, descendants
from tests.oracle.evaluate import evaluate
from tests.oracle.graph import Graph

Kinds: TypeAlias = frozenset[str]

CONCEPT: Kinds = frozenset({"concept"})
PROPOSITION: Kinds = frozenset({"proposition"})
BOTH: Kinds = CONCEPT | PROPOSITION
PREDICATE: Kinds = frozenset({"predicate"})

RESERVED = ("_version", "_created_at", "_updated_at", "_merged_from")
_IDENTIFIER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,127}")


def canonical(value: Any) -> str:
    """A JSON value as text: the same text for the same RDF terms.

    >>> canonical({"b": 1, "a": [1.0, True]})
    '{"a":[1.0,true],"b":1}'
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def check_key(part: str, key: str) -> None:
    """Rule: keys "are identifiers of at most 128 characters (KIP_1002)"; reserved metadata is
    "never writable or deletable (KIP_2002)"."""
    if not _IDENTIFIER.fullmatch(key):
        raise KipError("KIP_1002", f"'{key}' is not an identifier.")
    if part == "metadata" and key in RESERVED:
        raise KipError("KIP_2002", f"{key} is reserved.")


def targets(
    variable: ast.Variable,
    where: ast.Block,
    graph: Graph,
    *,
    kinds: Kinds,
    paths: Iterable[ast.Path] = (),
    limit: ast.Value | None = None,
) -> list[str]:
    """Rule: "Targets are the distinct elements bound to the variable; null rows and elements of
    the other kind are skipped; a target that can only be of the wrong kind is KIP_1001".

    ``paths`` and ``limit`` are only checked: the cut is the caller's.
    """
    rows = _rows((variable,), where, graph, kinds, paths, limit)
    return list({identifier: None for (identifier,) in rows})


def concept_pairs(
    source: ast.Variable, target: ast.Variable, where: ast.Block, graph: Graph
) -> list[tuple[str, str]]:
    """The distinct pairs of concepts that two variables are bound to."""
    rows = _rows((source, target), where, graph, CONCEPT)
    return list({(row[0], row[1]): None for row in rows})


def _rows(
    variables: tuple[ast.Variable, ...],
    where: ast.Block,
    graph: Graph,
    kinds: Kinds,
    paths: Iterable[ast.Path] = (),
    limit: ast.Value | None = None,
) -> Iterator[tuple[str, ...]]:
    """The ids of the variables in every row where each is an element of such a kind."""
    find = ast.Find((*variables, *paths), where, limit=limit)
    check(find, graph)
    for variable in variables:
        possible = possible_kinds(variable.name, where)
        if possible is not None and not possible & kinds:
            raise KipError("KIP_1001", f"?{variable.name} is of the wrong kind.")
    for row in evaluate(find, graph).rows:
        ids = tuple(value["id"] for value in row.values[: len(variables)] if value is not None)
        if len(ids) == len(variables) and all(
            _kind(identifier, graph) in kinds for identifier in ids
        ):
            yield ids


def _kind(identifier: str, graph: Graph) -> str:
    return "concept" if identifier in graph.concepts else "proposition"


def possible_kinds(name: str, block: ast.Block, before: Kinds | None = None) -> Kinds | None:
    """What a variable can be bound to behind a block; None when nothing binds it."""
    possible = before
    for clause in block.clauses:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                for kinds in _mentions(name, clause):
                    possible = kinds if possible is None else possible & kinds
            case ast.Optional() if possible is None:
                possible = possible_kinds(name, clause.block)
            case ast.Union():
                branch = possible_kinds(name, clause.block)
                possible = possible if branch is None else branch | (possible or frozenset())
            case _:
                # A NOT binds nothing, and a left join keeps what was bound before.
                pass
    return possible


def _mentions(name: str, clause: ast.Clause) -> Iterator[Kinds]:
    """The kinds that each position of the variable in a clause allows."""
    for each in descendants(clause):
        match each:
            case ast.ConceptClause(variable=ast.Variable(name=own)) if own == name:
                yield CONCEPT
            case ast.PropositionClause(variable=ast.Variable(name=own)) if own == name:
                yield PROPOSITION
            case ast.PropositionMatcher():
                if each.predicate == ast.Variable(name):
                    yield PREDICATE
                elif ast.Variable(name) in (each.subject, each.object):
                    yield BOTH
            case _:
                pass
