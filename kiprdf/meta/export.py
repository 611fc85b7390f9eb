"""EXPORT: a selection as a knowledge capsule that any KIP engine reads (KIP 1.0, EXPORT)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from pyoxigraph import NamedNode

from kiprdf.kql import cursor
from kiprdf.kql.find import nodes
from kiprdf.kql.reader import Reader
from kiprdf.language import ast, to_text
from kiprdf.language.names import META_TYPES
from kiprdf.language.parameters import from_json
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms
from kiprdf.rdf.literals import to_json
from kiprdf.semantics.places import RESERVED_METADATA, page_size
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM
from kiprdf.store import Store

TALLEST_NESTED = 4
"""The height from which a proposition outside of a page is a block of its own, without values."""


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
    heights = _Heights(reader)
    selected = _ordered(nodes(command.target, command.where, store), reader, heights)
    start, limit = cursor.decode(command), page_size(command.limit)
    end = len(selected) if limit is None else start + limit
    page = selected[start:end]
    concepts = sum(isinstance(element, Concept) for element in page)
    result = {
        "capsule": _text(page, reader, heights, is_bundled),
        "concepts": concepts,
        "propositions": len(page) - concepts,
    }
    following = cursor.encode(command, store.commit(), end) if end < len(selected) else None
    return result, following


def capsule(selection: Iterable[NamedNode], store: Store, is_bundled: bool) -> str:
    """The capsule of some elements; empty when there are none."""
    reader = Reader(store)
    heights = _Heights(reader)
    return _text(_ordered(selection, reader, heights), reader, heights, is_bundled)


# The order ------------------------------------------------------------------------------------


class _Heights:
    """How many propositions stand below each: none below a fact about concepts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[NamedNode, int] = {}

    def of(self, link: Proposition) -> int:
        """Not recursive, since facts about facts may be stacked higher than Python's stack."""
        pending = [link]
        while pending:
            top = pending[-1]
            below = _propositions_below(top, self._reader)
            unknown = [found for found in below if found.node not in self._known]
            if unknown:
                pending.extend(unknown)
            else:
                heights = (self._known[found.node] + 1 for found in below)
                self._known[top.node] = max(heights, default=0)
                pending.pop()
        return self._known[link.node]


def _propositions_below(link: Proposition, reader: Reader) -> list[Proposition]:
    """The propositions among the ends of one."""
    ends = (_element(end, reader) for end in (link.subject, link.object))
    return [end for end in ends if isinstance(end, Proposition)]


def _element(node: NamedNode, reader: Reader) -> Element:
    element = reader.element(node)
    assert element is not None, node
    return element


def _ordered(selection: Iterable[NamedNode], reader: Reader, heights: _Heights) -> list[Element]:
    """Definitions, other concepts, propositions, propositions about these."""
    elements = [_element(node, reader) for node in selection]
    concepts = [element for element in elements if isinstance(element, Concept)]
    links = [element for element in elements if isinstance(element, Proposition)]
    return [*sorted(concepts, key=_concept_rank), *_ordered_links(links, heights)]


def _concept_rank(element: Concept) -> tuple[int, str]:
    is_definition = element.type in META_TYPES
    rank = META_TYPES.index(element.type) if is_definition else len(META_TYPES)
    return rank, element.node.value


def _ordered_links(links: Iterable[Proposition], heights: _Heights) -> list[Proposition]:
    """By what they say: their own IRIs are others in another nexus."""
    levels: dict[int, list[Proposition]] = {}
    for link in links:
        levels.setdefault(heights.of(link), []).append(link)
    places: dict[NamedNode, int] = {}

    def rank(node: NamedNode) -> tuple[int, str]:
        return (places[node], "") if node in places else (-1, node.value)

    ordered: list[Proposition] = []
    for level in sorted(levels):
        said = sorted(
            levels[level], key=lambda link: (rank(link.subject), link.predicate, rank(link.object))
        )
        places.update((link.node, len(ordered) + n) for n, link in enumerate(said))
        ordered.extend(said)
    return ordered


# The text -------------------------------------------------------------------------------------


def _text(page: list[Element], reader: Reader, heights: _Heights, is_bundled: bool) -> str:
    """One UPSERT; what others in it refer to has a handle."""
    if not page:
        return ""
    concepts = [element for element in page if isinstance(element, Concept)]
    links = [element for element in page if isinstance(element, Proposition)]
    outside = _tall_ends(links, reader, heights)
    links = _ordered_links([*links, *outside], heights) if outside else links
    written: list[Element] = [*concepts, *links]
    writer = _Writer(written, outside, reader, is_bundled)
    block = ast.UpsertBlock(tuple(writer.block(element) for element in written))
    return to_text(ast.Upsert((block,))) + "\n"


def _tall_ends(
    links: Iterable[Proposition], reader: Reader, heights: _Heights
) -> list[Proposition]:
    """Propositions outside of a page that its own stand on, and that are too tall to be nested.

    Written out in place, a tower of shared parts would grow with the power of its height.
    """
    page = {link.node for link in links}
    found: dict[NamedNode, Proposition] = {}
    pending = list(links)
    while pending:
        for end in _propositions_below(pending.pop(), reader):
            is_outside = end.node not in page and end.node not in found
            if is_outside and heights.of(end) >= TALLEST_NESTED:
                found[end.node] = end
                pending.append(end)
    return list(found.values())


class _Writer:
    """One page. With ``is_bundled`` the bundled capsules brought what is protected."""

    def __init__(
        self,
        written: Sequence[Element],
        outside: Iterable[Proposition],
        reader: Reader,
        is_bundled: bool,
    ) -> None:
        self._reader = reader
        self._is_bundled = is_bundled
        self._named_only = {link.node for link in outside}
        links = [element for element in written if isinstance(element, Proposition)]
        ends = {end for link in links for end in (link.subject, link.object)}
        referred = [element for element in written if element.node in ends]
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
            case Proposition() if element.node in self._named_only:
                return ast.PropositionBlock(handle, self._fact(element))
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
