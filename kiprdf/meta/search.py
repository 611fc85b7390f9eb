"""SEARCH by words, by meaning or both, and the rows of the index (KIP 5.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import copy_context
from functools import partial
from types import MappingProxyType
from typing import cast

from pyoxigraph import NamedNode

from kiprdf.budget import current
from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Term, Terms, read_element, to_object
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, to_json
from kiprdf.search import (
    EmbeddingError,
    Hit,
    IndexRow,
    Kind,
    TextIndex,
    fuse,
    is_exact,
    segment_term,
)
from kiprdf.semantics.arguments import Mode, page_size, search_mode, text_of, threshold
from kiprdf.store import Store
from kiprdf.store.cancellation import run_cancellable

MOST_HITS = 100
FUSED_HITS = 1000
"""The hits of each ranking that a hybrid search merges; far more than it returns, since an element
in the middle of both rankings may beat one at the top of one."""
_MICRO = 1_000_000
"""A score is rounded to millionths, and stays below 1."""

ByMeaning = Callable[[Kind, str, str | None, int], list[Hit]]
"""The semantic ranking of a kind, for a term, a type and a limit; raises ``EmbeddingError``."""
Ranking = Callable[[int], list[Hit]]
_log = logging.getLogger(__name__)


def search(
    command: ast.Search, store: Store, index: TextIndex, by_meaning: ByMeaning | None = None
) -> list[Json]:
    """The elements that match a term best, each with ``metadata._score`` in [0, 1).

    Without ``by_meaning``, or when it fails, every mode degrades to keyword. Raises KIP_1001 for a
    term without a word.
    """
    mode = search_mode(command.mode)
    term = text_of(command.term, "The term of SEARCH")
    type = None if command.type is None else text_of(command.type, "The type of SEARCH")
    limit = min(page_size(command.limit) or MOST_HITS, MOST_HITS)
    kind: Kind = "concept" if command.kind == "CONCEPT" else "proposition"
    if not segment_term(term):
        message = "The term of SEARCH contains no word."
        hint = "Search for a name, an alias or a word of a description."
        raise KipError("KIP_1001", message, hint, command.term.span)

    by_words = partial(index.search, kind, term, type)
    by_sense = by_meaning and partial(by_meaning, kind, term, type)
    hits = _ranked(mode, limit, by_words, by_sense)
    least = threshold(command.threshold) or 0.0
    reader = Reader(store)
    scored = ((NamedNode(hit.key), _rounded(hit.score)) for hit in hits)
    elements = ((reader.element(node), score) for node, score in scored if score >= least)
    # Beside a writer, the index may contain elements that a read-only nexus does not see.
    return [_hit(store.iris, element, score) for element, score in elements if element is not None]


def _ranked(mode: Mode, limit: int, by_words: Ranking, by_meaning: Ranking | None) -> list[Hit]:
    """The best hits of a mode, or those by words if the mode cannot be served (KIP 5.2).

    In every mode those come first whose name or alias is the term.
    """
    if mode == "keyword" or by_meaning is None:
        return by_words(limit)
    try:
        hits = _run_abandonable(by_meaning, limit if mode == "semantic" else FUSED_HITS)
    except EmbeddingError as fault:
        _log.warning("The embedder failed, SEARCH looks for words only: %s", fault)
        return by_words(limit)
    words = by_words(limit if mode == "semantic" else FUSED_HITS)
    ranked = hits if mode == "semantic" else fuse([words, hits], len(words) + len(hits))
    exact = {hit.key: hit for hit in words if is_exact(hit)}
    return [*exact.values(), *(hit for hit in ranked if hit.key not in exact)][:limit]


def _run_abandonable(by_meaning: Ranking, limit: int) -> list[Hit]:
    """The semantic ranking, on a separate thread, since an embedder cannot be cancelled.

    When the time is over the thread is abandoned (KIP_4001); the vectors that the embedder returns
    later are stored.
    """
    context = copy_context()  # the deadline, and whether an embedder is running
    return run_cancellable(lambda _: context.run(by_meaning, limit), current())


def _rounded(score: float) -> float:
    """A score as it is returned, and compared with a THRESHOLD."""
    return min(round(score * _MICRO), _MICRO - 1) / _MICRO


def _hit(iris: Iris, element: Element, score: float) -> Json:
    hit = to_object(iris, element)
    cast(dict[str, Json], hit.setdefault("metadata", {}))["_score"] = score
    return hit


def index_rows(
    store: Store,
    nodes: Iterable[NamedNode],
    elements: Mapping[NamedNode, Element | None] = MappingProxyType({}),
) -> Iterator[IndexRow]:
    """The index rows of the nodes that are elements; those in ``elements`` are not read again."""
    rows = _Rows(store)
    for node in nodes:
        element = elements.get(node) or read_element(store.iris, node, store.describe(node))
        if element is not None:
            yield rows.of(element)


def all_elements(store: Store) -> Iterator[NamedNode]:
    """Every concept and every proposition of a store."""
    for predicate in (vocab.TYPE, vocab.REIFIES):
        for triple in store.match(None, predicate, None):
            yield cast(NamedNode, triple.subject)


class _Rows:
    """Converts elements to rows, without their metadata; but former names are aliases."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = Reader(store)
        self._descriptions: dict[str, str] = {}

    def of(self, element: Element) -> IndexRow:
        """The row of an element."""
        attributes = element.attributes
        if isinstance(element, Proposition):
            predicate = element.predicate
            return IndexRow(
                key=element.node.value,
                kind="proposition",
                type=predicate,
                name=predicate,
                aliases=(self._end_name(element.subject), self._end_name(element.object)),
                description=self._description(predicate),
                text=_text(attributes, description=True),
            )
        # MERGE adds the name to the aliases, but a later write may remove it.
        merged = _strings(element.metadata.get(vocab.MERGED_FROM))
        former = (name.partition(":")[2] for name in merged)
        return IndexRow(
            key=element.node.value,
            kind="concept",
            type=element.type,
            name=element.name,
            aliases=tuple(dict.fromkeys([*_strings(attributes.get("aliases")), *former])),
            description=" ".join(_strings(attributes.get("description"))),
            text=_text(attributes),
        )

    def _end_name(self, node: NamedNode) -> str:
        """The name of an endpoint; for a proposition, its predicate."""
        name = self._store.iris.name(node.value)
        assert name is not None, node
        return name.name if isinstance(name, ConceptName) else name.predicate

    def _description(self, predicate: str) -> str:
        """The description of a predicate, read once."""
        if predicate not in self._descriptions:
            node = self._store.iris.predicate(predicate)
            text = self._reader.value(node, "attributes", "description")
            self._descriptions[predicate] = text if isinstance(text, str) else ""
        return self._descriptions[predicate]


def _text(attributes: Terms, description: bool = False) -> str:
    """The strings of all other attributes, joined."""
    skipped = () if description else ("aliases", "description")
    values = (_strings(attributes[key]) for key in sorted(attributes) if key not in skipped)
    return "\n".join(text for strings in values for text in strings)


def _strings(term: Term | None) -> list[str]:
    """All strings in a value, also inside arrays and objects."""
    return [] if term is None else list(_strings_in(to_json(term)))


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings_in(item)
