"""SEARCH by words, by meaning or both, and the rows that the index is made of (KIP 5.2)."""

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
from kiprdf.search import EmbeddingError, Hit, IndexRow, Kind, TextIndex, fuse, segment_term
from kiprdf.semantics.places import Mode, page_size, search_mode, text_of, threshold
from kiprdf.store import Store
from kiprdf.store.cancellation import run_cancellable

MOST_HITS = 100
FUSED_HITS = 1000
"""How far down the rankings of a hybrid search are looked at; far beyond what is shown, since an
element in the middle of both may beat one at the top of one."""
_MICRO = 1_000_000
"""A score is shown in millionths, and 1 is out of reach."""

ByMeaning = Callable[[Kind, str, str | None, int], list[Hit]]
"""The semantic ranking of a kind, for a term, a type and a limit; raises ``EmbeddingError``."""
Ranking = Callable[[int], list[Hit]]
_log = logging.getLogger(__name__)


def search(
    command: ast.Search, store: Store, index: TextIndex, by_meaning: ByMeaning | None = None
) -> list[Json]:
    """The elements that fit a term best, each with ``metadata._score`` in [0, 1).

    A mode that cannot be served degrades to keyword: without ``by_meaning``, or when it fails.
    Raises KIP_1001 for a term without a word.
    """
    mode = search_mode(command.mode)
    term = text_of(command.term, "The term of SEARCH")
    wanted = None if command.type is None else text_of(command.type, "The type of SEARCH")
    limit = min(page_size(command.limit) or MOST_HITS, MOST_HITS)
    kind: Kind = "concept" if command.kind == "CONCEPT" else "proposition"
    if not segment_term(term):
        message = "The term of SEARCH holds no word."
        hint = "Search for a name, an alias or a word of a description."
        raise KipError("KIP_1001", message, hint, command.term.span)

    by_words = partial(index.search, kind, term, wanted)
    by_sense = by_meaning and partial(by_meaning, kind, term, wanted)
    hits = _ranked(mode, limit, by_words, by_sense)
    least = threshold(command.threshold) or 0.0
    reader = Reader(store)
    scored = ((NamedNode(hit.key), _shown(hit.score)) for hit in hits)
    found = ((reader.element(node), score) for node, score in scored if score >= least)
    # Beside a writer, the index may know of more than a read-only nexus shows.
    return [_hit(store.iris, element, score) for element, score in found if element is not None]


def _ranked(mode: Mode, limit: int, by_words: Ranking, by_meaning: Ranking | None) -> list[Hit]:
    """The best hits of a mode, or of the words where the mode cannot be served (KIP 5.2)."""
    if mode == "keyword" or by_meaning is None:
        return by_words(limit)
    try:
        meant = _left_behind(by_meaning, limit if mode == "semantic" else FUSED_HITS)
    except EmbeddingError as fault:
        _log.warning("The embedder failed, SEARCH looks for words only: %s", fault)
        return by_words(limit)
    return meant if mode == "semantic" else fuse([by_words(FUSED_HITS), meant], limit)


def _left_behind(by_meaning: Ranking, limit: int) -> list[Hit]:
    """The semantic ranking, on a thread of its own, since no embedder can be told to stop.

    When the time is over it is left behind (KIP_4001); what the embedder gives then is kept.
    """
    context = copy_context()  # its clock, and whether an embedder asks
    return run_cancellable(lambda _: context.run(by_meaning, limit), current())


def _shown(score: float) -> float:
    """A score as it is shown, and compared with a THRESHOLD."""
    return min(round(score * _MICRO), _MICRO - 1) / _MICRO


def _hit(iris: Iris, element: Element, score: float) -> Json:
    shown = to_object(iris, element)
    cast(dict[str, Json], shown.setdefault("metadata", {}))["_score"] = score
    return shown


def index_rows(
    store: Store,
    nodes: Iterable[NamedNode],
    known: Mapping[NamedNode, Element | None] = MappingProxyType({}),
) -> Iterator[IndexRow]:
    """The index rows of those among some nodes that are elements; what is known is not read."""
    rows = _Rows(store)
    for node in nodes:
        element = known.get(node) or read_element(store.iris, node, store.describe(node))
        if element is not None:
            yield rows.of(element)


def all_elements(store: Store) -> Iterator[NamedNode]:
    """Every concept and every proposition of a store."""
    for predicate in (vocab.TYPE, vocab.REIFIES):
        for triple in store.match(None, predicate, None):
            yield cast(NamedNode, triple.subject)


class _Rows:
    """Makes rows of elements; what metadata say is not searched, and not looked at."""

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
        return IndexRow(
            key=element.node.value,
            kind="concept",
            type=element.type,
            name=element.name,
            aliases=tuple(_strings(attributes.get("aliases"))),
            description=" ".join(_strings(attributes.get("description"))),
            text=_text(attributes),
        )

    def _end_name(self, node: NamedNode) -> str:
        """The name of an endpoint; for a proposition, its predicate."""
        name = self._store.iris.name(node.value)
        assert name is not None, node
        return name.name if isinstance(name, ConceptName) else name.predicate

    def _description(self, predicate: str) -> str:
        """The description of a predicate, which is read once."""
        if predicate not in self._descriptions:
            node = self._store.iris.predicate(predicate)
            found = self._reader.value(node, "attributes", "description")
            self._descriptions[predicate] = found if isinstance(found, str) else ""
        return self._descriptions[predicate]


def _text(attributes: Terms, description: bool = False) -> str:
    """The other text attributes in one."""
    own = () if description else ("aliases", "description")
    found = (_strings(attributes[key]) for key in sorted(attributes) if key not in own)
    return "\n".join(text for strings in found for text in strings)


def _strings(term: Term | None) -> list[str]:
    """Every string in a value, those inside arrays and objects included."""
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
