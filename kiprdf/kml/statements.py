"""Writes UPSERT statements from elements, for EXPORT, differences and imports.

An element has a key by which others refer to it: a node, an id or an identity, as the caller
chooses. Each element that a proposition in the statement refers to gets a handle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain, islice
from typing import Generic, TypeAlias, TypeVar

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.language import ast
from kiprdf.language.parameters import from_json
from kiprdf.rdf.literals import Json

K = TypeVar("K", bound=Hashable)

MOST_NESTED = 4
"""From this height on a proposition about propositions is not nested in place.

Nested, a tower of shared parts would double with each level.
"""


@dataclass(frozen=True, slots=True)
class Concept(Generic[K]):
    """A concept to write, or to refer to by type and name."""

    key: K
    type: str
    name: str
    attributes: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposition(Generic[K]):
    """A proposition to write, or to refer to by what it states; its ends are keys."""

    key: K
    subject: K
    predicate: str
    object: K
    attributes: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)


Element: TypeAlias = Concept[K] | Proposition[K]
Resolve: TypeAlias = Callable[[K], Element[K] | str]
"""The element of a key, or the id by which a statement refers to it."""


def upsert(
    elements: Sequence[Element[K]],
    resolve: Resolve[K],
    metadata: Mapping[str, Json] | None = None,
    most: int | None = None,
) -> ast.Upsert:
    """One UPSERT block that writes elements in their order; no block if there are none.

    What a proposition refers to comes before it. ``resolve`` is called for ends that are not
    among the elements. ``metadata`` is written to all of them. Only ``most`` of them get a block.
    """
    if not elements:
        return ast.Upsert(())
    handles = _handles(elements, most)
    items = tuple(_block(element, handles, resolve) for element in paced(islice(elements, most)))
    return ast.Upsert((ast.UpsertBlock(items, _map(metadata or {})),))


def concept_matcher(type: str, name: str) -> ast.ConceptMatcher:
    """``{type: "…", name: "…"}``."""
    return ast.ConceptMatcher(type=ast.Scalar(type), name=ast.Scalar(name))


def proposition_matcher(
    link: Proposition[K], resolve: Resolve[K], handles: Mapping[K, ast.Variable] | None = None
) -> ast.PropositionMatcher:
    """``(subject, "predicate", object)``; ends without a handle are written out."""
    subject = _endpoint(link.subject, handles or {}, resolve)
    object_ = _endpoint(link.object, handles or {}, resolve)
    return ast.PropositionMatcher(subject, _predicates(link.predicate), object_)


@lru_cache(maxsize=1_024)
def _predicates(name: str) -> ast.Predicates:
    """The one predicate of a matcher; a statement has few, and each in many propositions."""
    return ast.Predicates((ast.PredicateName(ast.Scalar(name)),))


def tall_ends(
    links: Iterable[K], propositions_below: Callable[[K], Iterable[K]], height: Callable[[K], int]
) -> list[K]:
    """The propositions that others refer to and that are too tall to be nested.

    They become blocks without values in front of those that refer to them.
    """
    written = set(links)
    tall: dict[K, None] = {}
    pending = list(written)
    while pending:
        for end in propositions_below(pending.pop()):
            if end not in written and end not in tall and height(end) >= MOST_NESTED:
                tall[end] = None
                pending.append(end)
    return list(tall)


def _handles(elements: Sequence[Element[K]], most: int | None) -> dict[K, ast.Variable]:
    """``?c1``, ``?p2``, … for those of the first elements that a proposition refers to."""
    links = (element for element in elements if isinstance(element, Proposition))
    ends = chain.from_iterable((link.subject, link.object) for link in links)
    first = list(islice(elements, most))
    named = {element.key for element in first}.intersection(ends)
    referred = [element for element in first if element.key in named]
    return {
        element.key: ast.Variable(f"{'c' if isinstance(element, Concept) else 'p'}{number}")
        for number, element in enumerate(referred, 1)
    }


def _block(
    element: Element[K], handles: Mapping[K, ast.Variable], resolve: Resolve[K]
) -> ast.ConceptBlock | ast.PropositionBlock:
    handle = handles.get(element.key)
    attributes, metadata = _map(element.attributes), _map(element.metadata)
    if isinstance(element, Concept):
        matcher = concept_matcher(element.type, element.name)
        return ast.ConceptBlock(handle, matcher, attributes, None, metadata)
    fact = proposition_matcher(element, resolve, handles)
    return ast.PropositionBlock(handle, fact, attributes, metadata)


def _endpoint(key: K, handles: Mapping[K, ast.Variable], resolve: Resolve[K]) -> ast.Endpoint:
    if key in handles:
        return handles[key]
    match resolve(key):
        case Concept(type=type, name=name):
            return ast.ConceptClause(None, concept_matcher(type, name))
        case Proposition() as link:
            return ast.PropositionClause(None, proposition_matcher(link, resolve, handles))
        case str() as id if id.startswith("P:"):
            return ast.PropositionClause(None, ast.PropositionId(ast.Scalar(id)))
        case id:
            return ast.ConceptClause(None, ast.ConceptMatcher(id=ast.Scalar(id)))


def _map(values: Mapping[str, Json]) -> ast.Object | None:
    """Values by key, in alphabetical order; None for an empty map."""
    entries = tuple(ast.Entry(key, from_json(values[key])) for key in sorted(values))
    return ast.Object(entries) if entries else None
