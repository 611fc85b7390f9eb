"""UPSERT, UPDATE, MERGE CONCEPT and DELETE over the two dictionaries of a ``Graph`` (section 6).

In order: ``statements_targets`` (what a statement is about, by the evaluator's own WHERE),
``upsert``, ``statements_update``, ``statements_merge``, ``protection``, and here the four DELETE
forms and what holds for all.

Elements carry ``_version`` and ``_updated_at`` in their metadata.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any, TypeAlias, assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from tests.oracle.graph import Graph
from tests.oracle.protection import check_protection
from tests.oracle.statements_merge import merge
from tests.oracle.statements_targets import (
    BOTH,
    CONCEPT,
    PROPOSITION,
    canonical,
    check_key,
    concept_pairs,
    targets,
)
from tests.oracle.statements_update import update
from tests.oracle.upsert import upsert

Statement: TypeAlias = ast.Upsert | ast.Update | ast.MergeConcept | ast.Delete
Receipt: TypeAlias = dict[str, Any]


def execute(
    statement: Statement,
    graph: Graph,
    now: str = "",
    *,
    dry_run: bool = False,
    chosen: Collection[str] | None = None,
) -> Receipt:
    """Apply a bound statement and return its receipt; a refused one does not change the graph.

    ``now``: the time it is done at. ``chosen``: which of its targets an UPDATE with a LIMIT takes,
    since any will do; otherwise those that the evaluator finds first.
    """
    after = copy.deepcopy(graph)
    receipt = _apply(statement, after, chosen)
    check_protection(graph, after)
    _check_used_names(after)
    if dry_run:
        return receipt
    stamp(graph, after, now)
    graph.concepts, graph.propositions = after.concepts, after.propositions
    return receipt


def stamp(before: Graph, after: Graph, now: str = "") -> None:
    """Rule: "_version (1 on creation, +1 a changing statement)", and "An element without `_version`
    counts as version 1"."""
    for identifier in after.elements():
        metadata = after.element(identifier)["metadata"]
        if identifier not in before:
            metadata |= {"_version": 1, "_created_at": now, "_updated_at": now}
        elif canonical(after.element(identifier)) != canonical(before.element(identifier)):
            metadata |= {"_version": metadata.get("_version", 1) + 1, "_updated_at": now}


def _apply(statement: Statement, graph: Graph, chosen: Collection[str] | None) -> Receipt:
    match statement:
        case ast.Upsert():
            return upsert(graph, statement)
        case ast.Update():
            return update(statement, graph, chosen)
        case ast.MergeConcept():
            pairs = concept_pairs(statement.source, statement.target, statement.where, graph)
            return merge(pairs, graph)
        case ast.DeleteAttributes():
            return _delete_keys(statement, "attributes", graph)
        case ast.DeleteMetadata():
            return _delete_keys(statement, "metadata", graph)
        case ast.DeletePropositions():
            links = targets(statement.target, statement.where, graph, kinds=PROPOSITION)
            return {"deleted_propositions": _delete(links, graph)[1]}
        case ast.DeleteConcept():
            return _delete_concepts(statement, graph)
        case _:
            assert_never(statement)


def _delete_keys(
    statement: ast.DeleteAttributes | ast.DeleteMetadata, part: str, graph: Graph
) -> Receipt:
    """Rule: `{"updated_concepts", "updated_propositions"}` (those that lost a key)."""
    for key in statement.keys:
        check_key(part, key.name)
    lost = [0, 0]
    for identifier in targets(statement.target, statement.where, graph, kinds=BOTH):
        values = graph.element(identifier)[part]
        present = {key.name for key in statement.keys} & values.keys()
        for key in present:
            del values[key]
        lost[identifier in graph.propositions] += bool(present)
    return {"updated_concepts": lost[0], "updated_propositions": lost[1]}


def _delete_concepts(statement: ast.DeleteConcept, graph: Graph) -> Receipt:
    identifiers = targets(statement.target, statement.where, graph, kinds=CONCEPT)
    concepts, propositions = _delete(identifiers, graph)
    return {"deleted_concepts": concepts, "deleted_propositions": propositions}


def _check_used_names(graph: Graph) -> None:
    """Rule: "Deleting a type or predicate that still has instances after the statement's own
    deletions is refused with KIP_2002"."""
    types = {concept["type"] for concept in graph.concepts.values()}
    predicates = {link["predicate"] for link in graph.propositions.values()}
    if not all(map(graph.is_type, types)) or not all(map(graph.is_predicate, predicates)):
        raise KipError("KIP_2002", "A definition is still in use.")


def _delete(identifiers: Collection[str], graph: Graph) -> tuple[int, int]:
    """Delete elements "with the transitive cascade of links about links"; how many of each kind."""
    gone = [0, 0]
    waiting = list(identifiers)
    while waiting:
        identifier = waiting.pop()
        if identifier not in graph:
            continue
        gone[identifier in graph.propositions] += 1
        graph.concepts.pop(identifier, None)
        graph.propositions.pop(identifier, None)
        waiting += [
            other
            for other, link in graph.propositions.items()
            if identifier in (link["subject"], link["object"])
        ]
    return gone[0], gone[1]
