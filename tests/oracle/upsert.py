"""UPSERT over the two dictionaries of a ``Graph`` (KIP 4.1).

First what the text alone and the registered names decide, for all blocks; then the blocks in
written order, where identities must exist and versions be those that were expected.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any, assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.parameters import to_json
from tests.oracle.graph import META_TYPES, Graph, concept_id
from tests.oracle.statements_targets import check_key

Handles = dict[str, str]
ZERO_WIDTH = "\u200b\u2060\ufeff"
"""Blanks that ``str.strip`` keeps."""


def upsert(graph: Graph, command: ast.Upsert) -> dict[str, Any]:
    """Apply the blocks of a bound UPSERT and return its receipt; a refused one changes nothing."""
    _check(graph, command)
    work = _Upsert(graph)
    for block in command.blocks:
        work.block(block)
    graph.concepts, graph.propositions = work.after.concepts, work.after.propositions
    return {
        "blocks": len(command.blocks),
        "upsert_concept_nodes": work.concepts,
        "upsert_proposition_links": work.propositions,
    }


# What the text alone decides ------------------------------------------------------------------


def _check(graph: Graph, command: ast.Upsert) -> None:
    """Rule: "what one block registers, the next may use" (2.9.1); handles live in their block."""
    names = _Names(graph)
    for block in command.blocks:
        names.handles = set()
        _check_metadata(block.metadata)
        for item in block.items:
            _check_version(item.expected_version)
            for key in _json(item.attributes):
                check_key("attributes", key)
            _check_metadata(item.metadata)
            names.item(item)
            if item.handle is not None:
                names.handles.add(item.handle.name)


def _check_version(version: ast.Value | None) -> None:
    """Rule: a version is an integer, and none is below 0."""
    number = 0 if version is None else to_json(version)
    if type(number) is not int or number < 0:
        raise KipError("KIP_1001", "EXPECT VERSION takes an integer.")


def _check_metadata(metadata: ast.Value | None) -> None:
    for key in _json(metadata):
        check_key("metadata", key)


class _Names:
    """The types, predicates and handles that are known at a place of the text."""

    def __init__(self, graph: Graph) -> None:
        self._graph = copy.deepcopy(graph)
        self.handles: set[str] = set()

    def item(self, item: ast.ConceptBlock | ast.PropositionBlock) -> None:
        if isinstance(item, ast.PropositionBlock):
            self._matcher(item.matcher)
            return
        self._concept(item.matcher)
        if item.matcher.type is not None and to_json(_given(item.matcher.type)) in META_TYPES:
            name = to_json(_given(item.matcher.name))
            self._graph.concept(str(to_json(_given(item.matcher.type))), str(name))
        for link in item.propositions or ():
            self._predicate(link.predicate.name)
            self._endpoint(link.target)
            _check_metadata(link.metadata)

    def _concept(self, matcher: ast.ConceptMatcher) -> None:
        if matcher.id is None and (matcher.type is None or matcher.name is None):
            raise KipError("KIP_1001", "UPSERT takes exact identities.")
        if matcher.type is not None and not self._graph.is_type(str(to_json(matcher.type))):
            raise KipError("KIP_2001", "The type is not defined.")

    def _predicate(self, name: str) -> None:
        if not self._graph.is_predicate(name):
            raise KipError("KIP_2001", "The predicate is not defined.")

    def _matcher(self, matcher: ast.PropositionMatcher | ast.PropositionId) -> None:
        if isinstance(matcher, ast.PropositionMatcher):
            self._endpoint(matcher.subject)
            self._predicate(_predicate(matcher))
            self._endpoint(matcher.object)

    def _endpoint(self, endpoint: ast.Endpoint) -> None:
        match endpoint:
            case ast.Variable():
                if endpoint.name not in self.handles:
                    raise KipError("KIP_3001", "The handle is not defined above.")
            case ast.ConceptClause():
                self._concept(endpoint.matcher)
            case ast.PropositionClause():
                self._matcher(endpoint.matcher)
            case _:
                assert_never(endpoint)


# The blocks -----------------------------------------------------------------------------------


class _Upsert:
    """The graph as the blocks so far leave it, and what they have matched or created."""

    def __init__(self, graph: Graph) -> None:
        self._before = graph
        self.after = copy.deepcopy(graph)
        self._handles: Handles = {}
        self.concepts: list[str] = []
        self.propositions: list[str] = []

    def block(self, block: ast.UpsertBlock) -> None:
        self._handles = {}
        outer = _json(block.metadata)
        for item in block.items:
            if isinstance(item, ast.ConceptBlock):
                identifier = self._concept_block(item, outer)
                self.concepts.append(identifier)
            else:
                identifier = self._proposition_block(item, outer)
                self.propositions.append(identifier)
            if item.handle is not None:
                self._handles[item.handle.name] = identifier

    def _concept_block(self, block: ast.ConceptBlock, outer: dict[str, Any]) -> str:
        """Rule: "Metadata of a block = outer ⊕ own; of a SET PROPOSITIONS link = outer ⊕ its
        CONCEPT block's ⊕ its own; key by key"."""
        if block.matcher.id is None:
            named = _concept(block.matcher)
            if named not in self.after:
                concept_type = str(to_json(_given(block.matcher.type)))
                name = str(to_json(_given(block.matcher.name)))
                if name != name.strip() or name[0] in ZERO_WIDTH or name[-1] in ZERO_WIDTH:
                    raise KipError("KIP_1002", "A new name has blanks around it.")
                self.after.concept(concept_type, name)
        identifier = self._existing(_concept(block.matcher))
        self._expect_version(block, identifier)
        metadata = outer | _json(block.metadata)
        self._merge(identifier, _json(block.attributes), metadata)
        for link in block.propositions or ():
            target = self._endpoint(link.target)
            linked = self._link(identifier, link.predicate.name, target)
            self._merge(linked, {}, metadata | _json(link.metadata))
        return identifier

    def _proposition_block(self, block: ast.PropositionBlock, outer: dict[str, Any]) -> str:
        if isinstance(block.matcher, ast.PropositionId):
            identifier = self._existing(str(to_json(block.matcher.id)))
        else:
            identifier = self._link(*self._triple(block.matcher))
        self._expect_version(block, identifier)
        self._merge(identifier, _json(block.attributes), outer | _json(block.metadata))
        return identifier

    def _expect_version(
        self, block: ast.ConceptBlock | ast.PropositionBlock, identifier: str
    ) -> None:
        """Rule: the version before the statement; 0 when the element did not exist."""
        if block.expected_version is None:
            return
        version = 0
        if identifier in self._before:
            version = self._before.element(identifier)["metadata"].get("_version", 1)
        if to_json(block.expected_version) != version:
            raise KipError("KIP_3005", f"The version is {version}.")

    def _link(self, subject: str, predicate: str, object_: str) -> str:
        existing = self._stated(subject, predicate, object_)
        if existing is not None:
            return existing
        identifier = _free_id(self.after, subject, predicate, object_)
        ends = {"subject": subject, "predicate": predicate, "object": object_}
        self.after.propositions[identifier] = {**ends, "attributes": {}, "metadata": {}}
        return identifier

    def _stated(self, *fact: str) -> str | None:
        """Looked up by its ends: after a MERGE, ids no longer follow from the ends."""
        for identifier, link in self.after.propositions.items():
            if (link["subject"], link["predicate"], link["object"]) == fact:
                return identifier
        return None

    def _merge(self, identifier: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> None:
        element = self.after.element(identifier)
        element["attributes"] |= attributes
        element["metadata"] |= metadata

    def _existing(self, identifier: str) -> str:
        if identifier not in self.after:
            raise KipError("KIP_3002", f"There is no {identifier}.")
        return identifier

    def _endpoint(self, endpoint: ast.Endpoint) -> str:
        match endpoint:
            case ast.Variable():
                return self._handles[endpoint.name]
            case ast.ConceptClause():
                return self._existing(_concept(endpoint.matcher))
            case ast.PropositionClause():
                if isinstance(endpoint.matcher, ast.PropositionId):
                    return self._existing(str(to_json(endpoint.matcher.id)))
                existing = self._stated(*self._triple(endpoint.matcher))
                if existing is None:
                    raise KipError("KIP_3002", "There is no such proposition.")
                return existing
            case _:
                assert_never(endpoint)

    def _triple(self, matcher: ast.PropositionMatcher) -> tuple[str, str, str]:
        subject = self._endpoint(matcher.subject)
        return subject, _predicate(matcher), self._endpoint(matcher.object)


def _free_id(graph: Graph, subject: str, predicate: str, object_: str) -> str:
    """Rule: the digits are those of the ends (2.8); past a taken id, "1", "2", … are added."""
    parts = [subject, predicate, object_]
    while True:
        text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        identifier = f"P:{hashlib.sha256(text.encode()).hexdigest()[:16]}:{predicate}"
        if identifier not in graph:
            return identifier
        parts.append(str(len(parts) - 2))


def _predicate(matcher: ast.PropositionMatcher) -> str:
    assert isinstance(matcher.predicate, ast.Predicates)
    (predicate,) = matcher.predicate.alternatives
    return predicate.name


def _concept(matcher: ast.ConceptMatcher) -> str:
    if matcher.id is not None:
        return str(to_json(matcher.id))
    return concept_id(to_json(_given(matcher.type)), to_json(_given(matcher.name)))


def _given(value: ast.Value | None) -> ast.Value:
    assert value is not None
    return value


def _json(value: ast.Value | None) -> dict[str, Any]:
    return {} if value is None else dict(to_json(value))
