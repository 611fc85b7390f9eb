"""UPSERT texts to a graph, so that the conformance cases can be put to the evaluator as well.

Well-formed input only: nothing is checked.
"""

from __future__ import annotations

from typing import Any, assert_never

from kiprdf.language import ast
from kiprdf.language.parameters import to_json
from tests.oracle.graph import Graph, concept_id, proposition_id

Handles = dict[str, str]


def upsert(graph: Graph, command: ast.Upsert) -> None:
    """Apply the blocks of a bound UPSERT in written order."""
    for block in command.blocks:
        handles: Handles = {}
        outer = _json(block.metadata)
        for item in block.items:
            if isinstance(item, ast.ConceptBlock):
                identifier = _upsert_concept(graph, item, outer, handles)
            else:
                identifier = _upsert_proposition(graph, item, outer, handles)
            if item.handle is not None:
                handles[item.handle.name] = identifier


def _upsert_concept(
    graph: Graph, block: ast.ConceptBlock, outer: dict[str, Any], handles: Handles
) -> str:
    """Rule: "Metadata of a block = outer ⊕ own; of a SET PROPOSITIONS link = outer ⊕ its CONCEPT
    block's ⊕ its own; key by key"."""
    identifier = _concept(block.matcher)
    if identifier not in graph:
        assert block.matcher.type is not None
        assert block.matcher.name is not None
        graph.concept(to_json(block.matcher.type), to_json(block.matcher.name))
    metadata = outer | _json(block.metadata)
    _merge(graph, identifier, _json(block.attributes), metadata)
    if block.handle is not None:
        handles[block.handle.name] = identifier
    for link in block.propositions or ():
        target = _endpoint(link.target, handles)
        linked = _link(graph, identifier, link.predicate.name, target)
        _merge(graph, linked, {}, metadata | _json(link.metadata))
    return identifier


def _upsert_proposition(
    graph: Graph, block: ast.PropositionBlock, outer: dict[str, Any], handles: Handles
) -> str:
    if isinstance(block.matcher, ast.PropositionId):
        identifier = str(to_json(block.matcher.id))
    else:
        identifier = _link(graph, *_triple(block.matcher, handles))
    _merge(graph, identifier, _json(block.attributes), outer | _json(block.metadata))
    return identifier


def _link(graph: Graph, subject: str, predicate: str, object_: str) -> str:
    identifier = proposition_id(subject, predicate, object_)
    if identifier not in graph:
        graph.proposition(subject, predicate, object_)
    return identifier


def _merge(
    graph: Graph, identifier: str, attributes: dict[str, Any], metadata: dict[str, Any]
) -> None:
    element = graph.element(identifier)
    element["attributes"] |= attributes
    element["metadata"] |= metadata


def _json(value: ast.Value | None) -> dict[str, Any]:
    return {} if value is None else dict(to_json(value))


def _concept(matcher: ast.ConceptMatcher) -> str:
    if matcher.id is not None:
        return str(to_json(matcher.id))
    assert matcher.type is not None
    assert matcher.name is not None
    return concept_id(to_json(matcher.type), to_json(matcher.name))


def _endpoint(endpoint: ast.Endpoint, handles: Handles) -> str:
    match endpoint:
        case ast.Variable():
            return handles[endpoint.name]
        case ast.ConceptClause():
            return _concept(endpoint.matcher)
        case ast.PropositionClause():
            if isinstance(endpoint.matcher, ast.PropositionId):
                return str(to_json(endpoint.matcher.id))
            return proposition_id(*_triple(endpoint.matcher, handles))
        case _:
            assert_never(endpoint)


def _triple(matcher: ast.PropositionMatcher, handles: Handles) -> tuple[str, str, str]:
    assert isinstance(matcher.predicate, ast.Predicates)
    (predicate,) = matcher.predicate.alternatives
    subject = _endpoint(matcher.subject, handles)
    return subject, predicate.name, _endpoint(matcher.object, handles)
