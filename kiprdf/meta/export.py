"""EXPORT: a selection as a knowledge capsule that any KIP engine reads (KIP 1.0, EXPORT)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import nsmallest
from operator import attrgetter
from types import MappingProxyType
from typing import Any, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.kml import statements
from kiprdf.kml.protection import is_rejection_node
from kiprdf.kql import cursor
from kiprdf.kql.beliefs import name_of
from kiprdf.kql.find import bindings, nodes
from kiprdf.kql.reader import Reader, link_of
from kiprdf.language import ast, to_text
from kiprdf.rdf.elements import Concept, Element, Proposition, json_map
from kiprdf.rdf.literals import Json
from kiprdf.semantics.arguments import RESERVED_METADATA, page_size
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM
from kiprdf.store import Store

_VALUE = attrgetter("value")
_VARIABLE = re.compile(r"\?\w+")


def export(
    command: ast.Export, store: Store, is_bundled: bool
) -> tuple[dict[str, Any], str | None]:
    """One page of a checked EXPORT, and the cursor of the next if there is one.

    ``is_bundled``: the bundled capsules have written what is protected. It is then exported by
    name only, since any other nexus has it, too.

    The pages follow the order of the whole selection, so that they can be applied one after the
    other: definitions, other concepts, propositions, propositions about them.
    """
    reader = Reader(store)
    heights = _Heights(reader)
    of = name_of(store)
    start, limit = cursor.decode(command, of), page_size(command.limit)
    end = None if limit is None else start + limit
    selected = None if end is None else _first_facts(command, store, end + 1)
    if selected is None or end is None:
        selection = nodes(command.target, command.where, store)
        # No statement may write them.
        selection = [node for node in selection if not is_rejection_node(node, store.iris)]
        ordered = _ordered(selection, reader, heights, end)
        number, shown = len(ordered), ordered[start:end]
    else:
        number, shown = len(selected), _links_of(selected[start:end], store)
    reader.prefetch(shown)
    page = [_element(node, reader) for node in shown]
    concepts = sum(isinstance(element, Concept) for element in page)
    result = {
        "capsule": _text(page, reader, heights, is_bundled),
        "concepts": concepts,
        "propositions": len(page) - concepts,
    }
    is_last = end is None or end >= number
    following = None if is_last else cursor.encode(command, store.commit(), cast(int, end), of)
    return result, following


def export_of(selection: str) -> str:
    """The EXPORT for a selection, of which its WHERE suffices; another command as it is.

    >>> export_of('?d {type: "Drug"}')
    'EXPORT ?d WHERE { ?d {type: "Drug"} }'
    """
    text, variable = selection.strip(), _VARIABLE.search(selection)
    if variable is None:
        return selection
    if text[:5].upper() == "WHERE":
        return f"EXPORT {variable[0]} {text}"
    where = {"{": text, "?": f"{{ {text} }}", "(": f"{{ {text} }}"}.get(text[0])
    return selection if where is None else f"EXPORT {variable[0]} WHERE {where}"


def capsule(selection: Iterable[NamedNode], store: Store, is_bundled: bool) -> str:
    """The capsule of some elements; empty when there are none."""
    reader = Reader(store)
    heights = _Heights(reader)
    ordered = _ordered(selection, reader, heights)
    return _text([_element(node, reader) for node in ordered], reader, heights, is_bundled)


# The order ------------------------------------------------------------------------------------


class _Heights:
    """How many propositions stand below each: none below a fact about concepts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._heights: dict[NamedNode, int] = {}

    def of(self, link: NamedNode) -> int:
        """Not recursive, since facts about facts may be stacked higher than Python's stack."""
        pending = [link]
        while pending:
            top = pending[-1]
            below = _propositions_below(top, self._reader)
            unmeasured = [end for end in below if end not in self._heights]
            if unmeasured:
                pending.extend(unmeasured)
            else:
                heights = (self._heights[end] + 1 for end in below)
                self._heights[top] = max(heights, default=0)
                pending.pop()
        return self._heights[link]


def _propositions_below(link: NamedNode, reader: Reader) -> list[NamedNode]:
    """The propositions among the ends of one."""
    fact = _fact(link, reader)
    return [end for end in (fact.subject, fact.object) if _is_link(end, reader)]


def _is_link(node: NamedNode, reader: Reader) -> bool:
    return node.value.startswith(reader.iris.propositions)


def _fact(link: NamedNode, reader: Reader) -> Any:
    fact = reader.fact(link)
    assert fact is not None, link
    return fact


def _element(node: NamedNode, reader: Reader) -> Element:
    element = reader.element(node)
    assert element is not None, node
    return element


def _ordered(
    selection: Iterable[NamedNode], reader: Reader, heights: _Heights, end: int | None = None
) -> list[NamedNode]:
    """Definitions, other concepts, propositions, propositions about these.

    What is behind ``end`` may be in any order. Of concepts nothing is read, of links the fact.
    """
    iris = reader.iris
    kinds: dict[str, list[NamedNode]] = {
        prefix: [] for prefix in (iris.concept_types, iris.predicates, iris.propositions, "")
    }
    prefixes = [*kinds]
    for node in paced(selection):
        kinds[next(filter(node.value.startswith, prefixes))].append(node)
    links = kinds.pop(iris.propositions)
    concepts = [node for some in kinds.values() for node in sorted(some, key=_VALUE)]
    if end is None or end > len(concepts):
        reader.prefetch(links)
        links = _ordered_links(links, reader, heights)
    return concepts + links


def _ordered_links(
    links: Iterable[NamedNode], reader: Reader, heights: _Heights
) -> list[NamedNode]:
    """By subject, predicate and object: IRIs of propositions differ from nexus to nexus."""
    levels: dict[int, list[NamedNode]] = {}
    for link in paced(links):
        levels.setdefault(heights.of(link), []).append(link)
    positions: dict[NamedNode, int] = {}

    def rank(node: NamedNode) -> tuple[int, str]:
        return (positions[node], "") if node in positions else (-1, node.value)

    def key(link: NamedNode) -> tuple[tuple[int, str], str, tuple[int, str]]:
        fact = _fact(link, reader)
        return rank(fact.subject), fact.predicate.value, rank(fact.object)

    ordered: list[NamedNode] = []
    for level in sorted(levels):
        same_height = sorted(levels[level], key=key)
        positions.update((link, len(ordered) + n) for n, link in enumerate(same_height))
        ordered.extend(same_height)
    return ordered


# The first links ------------------------------------------------------------------------------


def _first_facts(command: ast.Export, store: Store, most: int) -> list[Triple] | None:
    """What the first links of a selection state, in the order of ``_ordered``.

    None where the selection is not the links of one pattern, and where facts about facts are among
    those that would be returned. The links themselves are not read: finding one takes the engine
    four times as long as finding what it states.
    """
    pattern = _pattern_of(command)
    if pattern is None:
        return None
    block, clause = pattern
    matcher: Any = clause.matcher
    facts: set[tuple[NamedNode, ...]] = set()
    for alternative in matcher.predicate.alternatives:
        one = replace(clause, matcher=replace(matcher, predicate=ast.Predicates((alternative,))))
        clauses = tuple(one if part is clause else part for part in block.clauses)
        predicate = store.iris.predicate(alternative.name)
        ends = bindings([matcher.subject, matcher.object], replace(block, clauses=clauses), store)
        facts.update((subject, predicate, object) for subject, object in ends)
    links = store.iris.propositions
    of_concepts = [f for f in paced(facts) if not any(end.value.startswith(links) for end in f)]
    if len(of_concepts) < min(most, len(facts)):
        return None
    first = nsmallest(most, of_concepts, key=lambda fact: [*map(_VALUE, fact)])
    return [Triple(*fact) for fact in first]


def _pattern_of(command: ast.Export) -> tuple[ast.Block, ast.PropositionClause] | None:
    """The WHERE with variables as the ends of the clause that binds the target, and the clause.

    None where several clauses bind it, or where it may bind other elements.
    """
    clauses = [*command.where.clauses]
    binding = [
        clause
        for clause in clauses
        if isinstance(clause, ast.PropositionClause) and clause.variable == command.target
    ]
    if len(binding) != 1 or any(isinstance(clause, ast.Union) for clause in clauses):
        return None
    matcher = binding[0].matcher
    if (
        not isinstance(matcher, ast.PropositionMatcher)
        or isinstance(matcher.predicate, ast.Variable)
        or any(predicate.hops for predicate in matcher.predicate.alternatives)
    ):
        return None
    text = to_text(command)
    ends: list[ast.Variable] = []
    for end, name in ((matcher.subject, "subject"), (matcher.object, "object")):
        if isinstance(end, ast.PropositionClause):
            return None
        if isinstance(end, ast.ConceptClause):
            while f"?{name}" in text:
                name += "_"
            end = replace(end, variable=end.variable or ast.Variable(name))
            clauses.append(end)
        ends.append(cast(ast.Variable, end.variable if isinstance(end, ast.ConceptClause) else end))
    if len({*ends, command.target}) < 3:
        return None
    clause = replace(binding[0], matcher=replace(matcher, subject=ends[0], object=ends[1]))
    clauses[clauses.index(binding[0])] = clause
    return replace(command.where, clauses=tuple(clauses)), clause


def _links_of(facts: list[Triple], store: Store) -> list[NamedNode]:
    store.prefetch((), facts)
    return [cast(NamedNode, link_of(store, fact)) for fact in facts]


# The text -------------------------------------------------------------------------------------


def _text(page: list[Element], reader: Reader, heights: _Heights, is_bundled: bool) -> str:
    """One UPSERT; propositions outside of the page that are too tall to be nested come with it."""
    concepts = [element for element in page if isinstance(element, Concept)]
    links = [element for element in page if isinstance(element, Proposition)]
    tall = statements.tall_ends(
        [link.node for link in links],
        lambda node: _propositions_below(node, reader),
        heights.of,
    )
    if tall:
        ordered = _ordered_links([*(link.node for link in links), *tall], reader, heights)
        links = [cast(Proposition, _element(node, reader)) for node in ordered]
    references = set(tall)
    elements: list[Element] = [*concepts, *links]
    written = [
        _reference(element) if element.node in references else _written(element, is_bundled)
        for element in elements
    ]
    command = statements.upsert(written, lambda node: _reference(_element(node, reader)))
    return to_text(command) + "\n" if command.blocks else ""


def _reference(
    element: Element,
    attributes: Mapping[str, Json] = MappingProxyType({}),
    metadata: Mapping[str, Json] = MappingProxyType({}),
) -> statements.Element[NamedNode]:
    """An element as a statement shows it, without values if none are given."""
    node, values = element.node, (attributes, metadata)
    if isinstance(element, Concept):
        return statements.Concept(node, element.type, element.name, *values)
    ends = element.subject, element.predicate, element.object
    return statements.Proposition(node, *ends, *values)


def _written(element: Element, is_bundled: bool) -> statements.Element[NamedNode]:
    """An element with the values that a statement may write."""
    identity = (element.type, element.name) if isinstance(element, Concept) else None
    if is_bundled and identity in SYSTEM:
        return _reference(element)
    attributes = json_map(element.attributes)
    if is_bundled and identity in ACTORS:
        attributes.pop(CORE_DIRECTIVES, None)
    own = {key: term for key, term in element.metadata.items() if key not in RESERVED_METADATA}
    return _reference(element, attributes, json_map(own))
