"""SEARCH over the text index, and the rows that the index is made of (KIP 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Terms
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, to_json
from kiprdf.search import IndexRow, Kind, TextIndex
from kiprdf.semantics.places import page_size, text_of
from kiprdf.store import Store

MOST_HITS = 100


def search(command: ast.Search, store: Store, index: TextIndex) -> list[Json]:
    """The elements that fit a term best, each with ``metadata._score`` in [0, 1).

    Raises KIP_1001 for a term without a word.
    """
    term = text_of(command.term, "The term of SEARCH")
    wanted = None if command.type is None else text_of(command.type, "The type of SEARCH")
    limit = min(page_size(command.limit) or MOST_HITS, MOST_HITS)
    kind: Kind = "concept" if command.kind == "CONCEPT" else "proposition"
    try:
        hits = index.search(kind, term, wanted, limit)
    except ValueError:
        message = "The term of SEARCH holds no word."
        hint = "Search for a name, an alias or a word of a description."
        raise KipError("KIP_1001", message, hint, command.term.span) from None
    reader = Reader(store)
    nodes = [(NamedNode(hit.key), hit.score) for hit in hits]
    # Beside a writer, the index may know of more than a read-only nexus shows.
    return [_hit(reader, node, score) for node, score in nodes if reader.element(node)]


def _hit(reader: Reader, node: NamedNode, score: float) -> Json:
    shown = reader.object(node)
    shown["metadata"] = {**shown.get("metadata", {}), "_score": int(score * 1_000_000) / 1_000_000}
    return shown


def index_rows(store: Store, nodes: Iterable[NamedNode]) -> Iterator[IndexRow]:
    """The index rows of those among some nodes that are elements."""
    reader = Reader(store)
    for node in nodes:
        element = reader.element(node)
        if element is not None:
            yield _row(element, reader)


def all_elements(store: Store) -> Iterator[NamedNode]:
    """Every concept and every proposition of a store."""
    for predicate in (vocab.TYPE, vocab.REIFIES):
        for triple in store.match(None, predicate, None):
            yield cast(NamedNode, triple.subject)


def _row(element: Element, reader: Reader) -> IndexRow:
    if isinstance(element, Concept):
        aliases = _strings(element.attributes.get("aliases"))
        description = " ".join(_strings(element.attributes.get("description")))
        return IndexRow(
            key=element.node.value,
            kind="concept",
            type=element.type,
            name=element.name,
            aliases=tuple(aliases),
            description=description,
            text=_text(element.attributes),
        )
    definition = reader.iris.predicate(element.predicate)
    description = reader.value(definition, "attributes", "description")
    return IndexRow(
        key=element.node.value,
        kind="proposition",
        type=element.predicate,
        name=element.predicate,
        aliases=tuple(_end_names(element.subject, reader) + _end_names(element.object, reader)),
        description=description if isinstance(description, str) else "",
        text=_text(element.attributes, description=True),
    )


def _end_names(node: NamedNode, reader: Reader) -> list[str]:
    """The name of an endpoint; for a proposition, its predicate."""
    name = reader.iris.name(node.value)
    assert name is not None, node
    return [name.name if isinstance(name, ConceptName) else name.predicate]


def _text(attributes: Terms, description: bool = False) -> str:
    """The other text attributes in one."""
    own = () if description else ("aliases", "description")
    found = (_strings(term) for key, term in sorted(attributes.items()) if key not in own)
    return "\n".join(text for strings in found for text in strings)


def _strings(term: object) -> list[str]:
    """Every string in a value, those inside arrays and objects included."""
    return [] if term is None else list(_strings_in(to_json(term)))  # type: ignore[arg-type]


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings_in(item)
