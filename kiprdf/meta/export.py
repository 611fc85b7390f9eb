"""EXPORT: a selection as a knowledge capsule that any KIP engine reads (KIP 1.0, EXPORT)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from pyoxigraph import NamedNode

from kiprdf.kql import cursor
from kiprdf.kql.find import nodes
from kiprdf.kql.reader import Reader
from kiprdf.language import ast, to_text
from kiprdf.language.parameters import from_json
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms
from kiprdf.rdf.literals import to_json
from kiprdf.semantics.places import RESERVED_METADATA, page_size
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM
from kiprdf.store import Store

_DEFINITIONS = ("$ConceptType", "$PropositionType")


def export(
    command: ast.Export, store: Store, is_bundled: bool
) -> tuple[dict[str, Any], str | None]:
    """One page of a checked EXPORT, and the cursor of the next if there is one.

    ``is_bundled`` tells that the bundled capsules have made what is protected; it then stands by
    its name only, since any other nexus has its own.

    The pages follow the order of the whole selection, so that each may be applied behind those
    before it: definitions, other concepts, propositions, propositions about them.
    """
    reader = Reader(store)
    selected = _ordered(nodes(command.target, command.where, store), reader)
    start, limit = cursor.decode(command), page_size(command.limit)
    end = len(selected) if limit is None else start + limit
    page = selected[start:end]
    concepts = sum(isinstance(element, Concept) for element in page)
    result = {
        "capsule": _text(page, reader, is_bundled),
        "concepts": concepts,
        "propositions": len(page) - concepts,
    }
    following = cursor.encode(command, store.commit(), end) if end < len(selected) else None
    return result, following


def capsule(selection: Iterable[NamedNode], store: Store, is_bundled: bool) -> str:
    """The capsule of some elements; empty when there are none."""
    reader = Reader(store)
    return _text(_ordered(selection, reader), reader, is_bundled)


# The order ------------------------------------------------------------------------------------


def _ordered(selection: Iterable[NamedNode], reader: Reader) -> list[Element]:
    """Elements behind those that they need; otherwise concepts by IRI, propositions by what they
    say, since their own IRI is another one in another nexus."""
    heights: dict[NamedNode, int] = {}
    elements = [_element(node, reader) for node in selection]
    return sorted(elements, key=lambda found: (_rank(found, heights, reader), *_said(found)))


def _said(element: Element) -> tuple[str, ...]:
    if isinstance(element, Concept):
        return (element.node.value,)
    return (element.subject.value, element.predicate, element.object.value)


def _element(node: NamedNode, reader: Reader) -> Element:
    element = reader.element(node)
    assert element is not None, node
    return element


def _rank(element: Element, heights: dict[NamedNode, int], reader: Reader) -> tuple[int, int]:
    if isinstance(element, Proposition):
        return len(_DEFINITIONS) + 1, _height(element, heights, reader)
    is_definition = element.type in _DEFINITIONS
    return (_DEFINITIONS.index(element.type) if is_definition else len(_DEFINITIONS)), 0


def _height(link: Proposition, heights: dict[NamedNode, int], reader: Reader) -> int:
    """How many propositions stand below one: 0 for a fact about concepts.

    Not recursive, since facts about facts may be stacked higher than Python's stack.
    """
    pending = [link]
    while pending:
        top = pending[-1]
        below = [
            found
            for found in (_element(end, reader) for end in (top.subject, top.object))
            if isinstance(found, Proposition)
        ]
        unknown = [found for found in below if found.node not in heights]
        if unknown:
            pending.extend(unknown)
        else:
            heights[top.node] = max((heights[found.node] + 1 for found in below), default=0)
            pending.pop()
    return heights[link.node]


# The text -------------------------------------------------------------------------------------


def _text(page: Sequence[Element], reader: Reader, is_bundled: bool) -> str:
    """One UPSERT; what others in it refer to has a handle."""
    if not page:
        return ""
    writer = _Writer(page, reader, is_bundled)
    block = ast.UpsertBlock(tuple(writer.block(element) for element in page))
    return to_text(ast.Upsert((block,))) + "\n"


class _Writer:
    """One page. With ``is_bundled`` the bundled capsules brought what is protected."""

    def __init__(self, page: Sequence[Element], reader: Reader, is_bundled: bool) -> None:
        self._reader = reader
        self._is_bundled = is_bundled
        links = [element for element in page if isinstance(element, Proposition)]
        ends = {end for link in links for end in (link.subject, link.object)}
        referred = [element for element in page if element.node in ends]
        self._handles = {
            element.node: ast.Variable(f"{'c' if isinstance(element, Concept) else 'p'}{number}")
            for number, element in enumerate(referred, 1)
        }

    def block(self, element: Element) -> ast.ConceptBlock | ast.PropositionBlock:
        handle = self._handles.get(element.node)
        metadata = {k: v for k, v in element.metadata.items() if k not in RESERVED_METADATA}
        match element:
            case Concept():
                attributes = element.attributes
                if self._is_bundled:
                    attributes, metadata = _unprotected(element, metadata)
                return ast.ConceptBlock(
                    handle, _concept(element), _map(attributes), None, _map(metadata)
                )
            case Proposition():
                return ast.PropositionBlock(
                    handle, self._fact(element), _map(element.attributes), _map(metadata)
                )
            case _:
                assert_never(element)

    def _fact(self, link: Proposition) -> ast.PropositionMatcher:
        predicate = ast.Predicates((ast.PredicateName(link.predicate),))
        return ast.PropositionMatcher(
            self._endpoint(link.subject), predicate, self._endpoint(link.object)
        )

    def _endpoint(self, node: NamedNode) -> ast.Endpoint:
        """A handle; outside of the page, the name of a concept or the form of a fact."""
        if node in self._handles:
            return self._handles[node]
        element = _element(node, self._reader)
        if isinstance(element, Concept):
            return ast.ConceptClause(None, _concept(element))
        return ast.PropositionClause(None, self._fact(element))


def _unprotected(element: Concept, metadata: Terms) -> tuple[Terms, Terms]:
    """What a statement may write. The rest stands in every nexus, perhaps in other words."""
    identity = (element.type, element.name)
    if identity in SYSTEM:
        return {}, {}
    attributes = dict(element.attributes)
    if identity in ACTORS:
        attributes.pop(CORE_DIRECTIVES, None)
    return attributes, metadata


def _concept(element: Concept) -> ast.ConceptMatcher:
    return ast.ConceptMatcher(type=ast.Scalar(element.type), name=ast.Scalar(element.name))


def _map(terms: Terms) -> ast.Object | None:
    """Values by key, in alphabetical order; None for an empty map."""
    entries = tuple(ast.Entry(key, from_json(to_json(terms[key]))) for key in sorted(terms))
    return ast.Object(entries) if entries else None
