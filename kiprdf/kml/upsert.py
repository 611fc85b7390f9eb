"""UPSERT: match or create, shallow merge, additive links (KIP 4.1, 2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.kml.draft import Draft
from kiprdf.kql.clauses import checked_text, exact_node
from kiprdf.kql.identities import merged_hint, missing_identity
from kiprdf.language import ast
from kiprdf.language.names import without_outer_blanks
from kiprdf.language.parameters import to_json
from kiprdf.language.printer import endpoint_text
from kiprdf.rdf.elements import Concept, Element, Terms
from kiprdf.rdf.iris import ConceptName, Iris, proposition_digits
from kiprdf.rdf.literals import to_term
from kiprdf.semantics import periods
from kiprdf.semantics.arguments import expected_version
from kiprdf.store import Store


def upsert(command: ast.Upsert, draft: Draft) -> dict[str, Any]:
    """Carry out a checked UPSERT in a draft and return its receipt.

    Raises KIP_3002 for a target that does not exist.
    """
    _read_ahead(command, draft.store)
    statement = _Statement(draft)
    for block in paced(command.blocks):
        statement.block(block)
    return {
        "blocks": len(command.blocks),
        "upsert_concept_nodes": list(map(draft.shown_id, statement.concepts)),
        "upsert_proposition_links": list(map(draft.shown_id, statement.propositions)),
    }


def _read_ahead(command: ast.Upsert, store: Store) -> None:
    """Read what the blocks name in two requests, where a read is a request."""
    if store.abilities.lookups:
        return
    iris = store.iris
    nodes: list[NamedNode] = []
    facts: list[Triple] = []
    for block in command.blocks:
        handles: dict[str, NamedNode] = {}
        for item in block.items:
            node = None
            if isinstance(item, ast.ConceptBlock):
                node = _named(ast.ConceptClause(None, item.matcher), handles, iris)
                links = [(node, link.predicate, link.target) for link in item.propositions or ()]
            elif isinstance(item.matcher, ast.PropositionMatcher):
                predicate = cast(ast.Predicates, item.matcher.predicate).alternatives[0]
                subject = _named(item.matcher.subject, handles, iris)
                links = [(subject, predicate, item.matcher.object)]
            else:
                node = _named(ast.PropositionClause(None, item.matcher), handles, iris)
                links = []
            if node is not None and item.handle is not None:
                handles[item.handle.name] = node
            for subject, predicate, target in links:
                object_ = _named(target, handles, iris)
                nodes += [end for end in (subject, object_) if end is not None]
                if subject is not None and object_ is not None:
                    facts.append(Triple(subject, iris.predicate(predicate.name), object_))
                    digits = proposition_digits(iris.id(subject), predicate.name, iris.id(object_))
                    nodes.append(iris.proposition(digits, predicate.name))
            nodes += [] if node is None else [node]
    store.prefetch(nodes, facts)


def _named(
    endpoint: ast.Endpoint, handles: Mapping[str, NamedNode], iris: Iris
) -> NamedNode | None:
    """The node that an endpoint names; None where it must be looked for, or is refused later."""
    if isinstance(endpoint, ast.Variable):
        return handles.get(endpoint.name)
    with suppress(KipError):
        return exact_node(endpoint, iris)
    return None


def _terms(values: ast.Value | None) -> Terms:
    """The RDF terms of a map of attributes or metadata."""
    if values is None:
        return {}
    return {
        entry.key: to_term(value.value if isinstance(value, ast.Scalar) else to_json(value))
        for entry in cast(ast.Object, values).entries
        for value in (entry.value,)
    }


def _identity(matcher: ast.ConceptMatcher) -> tuple[str, str]:
    """The type and the name of a matcher that was checked to have both."""
    return checked_text(cast(ast.Value, matcher.type)), checked_text(cast(ast.Value, matcher.name))


def _outer_blanks(matcher: ast.ConceptMatcher, name: str) -> KipError:
    """The refusal of a new concept whose name looks the same without its outer blanks."""
    span = cast(ast.Value, matcher.name).span
    repaired = without_outer_blanks(name)
    if not repaired:
        return KipError("KIP_1002", "The name consists of blanks.", "Send a name.", span)
    identity = replace(matcher, name=ast.Scalar(repaired, span=span))
    hint = f"Write {endpoint_text(ast.ConceptClause(None, identity, span=matcher.span))}."
    message = f"The name '{shown(name)}' of a new concept has blanks around it."
    return KipError("KIP_1002", message, hint, span)


class _Statement:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._handles: dict[str, NamedNode] = {}
        self.concepts: list[NamedNode] = []
        self.propositions: list[NamedNode] = []

    def block(self, block: ast.UpsertBlock) -> None:
        """Run one block; its handles are not visible in other blocks."""
        self._handles = {}
        outer = _terms(block.metadata)
        for item in paced(block.items):
            if isinstance(item, ast.ConceptBlock):
                element = self._concept_block(item, outer)
                self.concepts.append(element.node)
            else:
                element = self._proposition_block(item, outer)
                self.propositions.append(element.node)
            self._draft.spans[element.node] = item.matcher.span
            if item.handle is not None:
                self._handles[item.handle.name] = element.node

    def _concept_block(self, item: ast.ConceptBlock, outer: Terms) -> Element:
        element = self._matched_concept(item.matcher)
        self._expect_version(item, element)
        element.attributes.update(_terms(item.attributes))
        metadata = {**outer, **_terms(item.metadata)}
        element.metadata.update(metadata)
        for link in item.propositions or ():
            target = self._target(link.target)
            proposition = self._draft.link(element.node, link.predicate.name, target)
            proposition.metadata.update(metadata)
            proposition.metadata.update(_terms(link.metadata))
            self._draft.spans[proposition.node] = link.span
        return element

    def _matched_concept(self, matcher: ast.ConceptMatcher) -> Element:
        """``{type, name}`` matches or creates, ``{id}`` only matches."""
        if matcher.id is None:
            type_name, name = _identity(matcher)
            element = self._draft.concept(type_name, name)
            if name != without_outer_blanks(name) and self._draft.is_new(element.node):
                raise _outer_blanks(matcher, name)
            return element
        return self._element(ast.ConceptClause(None, matcher, span=matcher.span))

    def _existing(self, clause: ast.ConceptClause | ast.PropositionClause) -> NamedNode:
        matcher = clause.matcher
        if isinstance(matcher, ast.ConceptMatcher) and matcher.id is None:
            node = self._draft.named(*_identity(matcher))
        else:
            exact = exact_node(clause, self._draft.shown.store.iris)
            assert exact is not None
            node = self._draft.node_of(exact)
        if not self._draft.exists(node):
            name = self._draft.store.iris.name(node.value)
            if isinstance(name, ConceptName) and self._draft.is_listed(node):
                # What a copy says about it is left out with it.
                return self._draft.concept(*name).node
            if not isinstance(name, ConceptName) or name.type != periods.TYPE:
                raise missing_identity(clause, self._draft.store, "write")
            if not periods.attributes(*name):
                message = f"'{shown(name.name)}' is not the name of an interval."
                hint = 'Write a Period as "2019-01-01/2022-01-01", with ".." for an open end.'
                raise KipError("KIP_3002", message, hint, clause.span)
            # The name of a Period is all that can be known of it.
            self._draft.concept(*name)
        return node

    def _element(self, clause: ast.ConceptClause | ast.PropositionClause) -> Element:
        element = self._draft.element(self._existing(clause))
        assert element is not None, clause
        return element

    def _proposition_block(self, item: ast.PropositionBlock, outer: Terms) -> Element:
        """``(s, "p", o)`` matches or creates, ``(id:)`` only matches."""
        matcher = item.matcher
        if isinstance(matcher, ast.PropositionId):
            element = self._element(ast.PropositionClause(None, matcher, span=matcher.span))
        else:
            subject, predicate, object_ = self._fact(matcher)
            element = self._draft.link(subject, predicate.name, object_)
        self._expect_version(item, element)
        element.attributes.update(_terms(item.attributes))
        element.metadata.update({**outer, **_terms(item.metadata)})
        return element

    def _expect_version(
        self, item: ast.ConceptBlock | ast.PropositionBlock, element: Element
    ) -> None:
        """Raise KIP_3005 if an element was written since the caller read it."""
        expected = expected_version(item.expected_version)
        version = self._draft.version(element.node)
        if expected is None or expected == version:
            return
        assert item.expected_version is not None
        name = shown(self._draft.store.iris.id(element.node))
        message = f"{name} has version {version}, not {expected}."
        hint = None
        if version == 0 and not self._draft.is_new(element.node):
            message = f"{name} is in other scopes only; version {expected} was expected."
            hint = "EXPECT VERSION 0 writes it for the first time in the scope that is written."
        elif version == 0:
            message = f"{name} does not exist; version {expected} was expected."
            hint = "EXPECT VERSION 0 creates it; perhaps it was deleted meanwhile."
            if isinstance(element, Concept):
                merged = merged_hint(element.name, self._draft.store, element.type)
                hint = f"{merged} Write to that." if merged else hint
        elif expected == 0:
            message = f"{name} exists already, in version {version}."
            hint = f"Read it; EXPECT VERSION {version} writes to it."
        raise KipError("KIP_3005", message, hint, item.expected_version.span)

    def _fact(
        self, matcher: ast.PropositionMatcher
    ) -> tuple[NamedNode, ast.PredicateName, NamedNode]:
        predicate = cast(ast.Predicates, matcher.predicate).alternatives[0]
        return self._target(matcher.subject), predicate, self._target(matcher.object)

    def _target(self, endpoint: ast.Endpoint) -> NamedNode:
        """A handle, or an element that exists or was created above (KIP_3002 otherwise)."""
        if isinstance(endpoint, ast.Variable):
            return self._handles[endpoint.name]
        if not isinstance(endpoint.matcher, ast.PropositionMatcher):
            return self._existing(endpoint)
        subject, predicate, object_ = self._fact(endpoint.matcher)
        node = self._draft.find_link(subject, predicate.name, object_)
        if node is None and self._draft.listed:
            link = self._draft.link(subject, predicate.name, object_)
            node = link.node if self._draft.is_listed(link.node) else None
        if node is None:
            fact = endpoint_text(endpoint)
            hint = "Create it first with a PROPOSITION block, and use its handle."
            raise KipError("KIP_3002", f"There is no proposition {fact}.", hint, endpoint.span)
        return node
