"""An answer with its proof as RDF: PROV-O over the elements that it cites (docs/decisions/201)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast
from uuid import NAMESPACE_URL, uuid5

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange import provenance
from kiprdf.interchange.formats import Profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.vocabularies.standards import dcterms, prov, rdf, xsd
from kiprdf.kql.reader import link_of
from kiprdf.language.names import DERIVED_FROM
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, canonical_json
from kiprdf.store import Store


class Row(NamedTuple):
    """The number and the values of a row, the ids of the elements that it is derived from, and the
    rules by which it follows from them."""

    number: int
    values: list[Json]
    cited: Sequence[str]
    rules: Sequence[str]


def turtle(store: Store, text: str, commit: int, rows: Sequence[Row], profile: Profile) -> str:
    """The answer to a command and its rows, each a ``prov:Entity``, and what they are derived from.

    That is the elements themselves, as a snapshot has them, and their provenance. Equal answers of
    one commit give equal text.
    """
    cited = dict.fromkeys(id for row in rows for id in row.cited)
    nodes = [node for node in map(store.iris.from_id, cited) if node is not None]
    elements = list(dict.fromkeys(described(store, nodes)))
    proof = dict.fromkeys(_proof(store, text, commit, rows))
    terms = provenance.of_elements(Knowledge.of(elements, store.iris))
    content = io.BytesIO()
    serializer = Serializer([*elements, *terms, *proof], "turtle", store.iris, profile=profile)
    serializer.write(content, prefixes=provenance.PREFIXES)
    return content.getvalue().decode()


def described(store: Store, nodes: Iterable[NamedNode]) -> Iterator[Triple]:
    """The triples of some elements, of the ends of propositions, and of what they derive from."""
    derived_from = store.iris.predicate(DERIVED_FROM)
    pending = list(dict.fromkeys(nodes))
    visited = set(pending)
    for node in pending:
        derivations = (link_of(store, fact) for fact in store.match(node, derived_from, None))
        links = [link for link in derivations if link is not None and link not in visited]
        pending += links
        visited.update(links)
        for triple in store.describe(node):
            yield triple
            if triple.predicate == vocab.REIFIES:
                fact = cast(Triple, triple.object)
                yield fact
                ends = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
                pending += [end for end in ends if end not in visited]
                visited.update(ends)


def _proof(store: Store, text: str, commit: int, rows: Sequence[Row]) -> Iterator[Triple]:
    content = canonical_json([store.iris.base, commit, text, *([*row] for row in rows)])
    answer = NamedNode(uuid5(NAMESPACE_URL, content).urn)
    yield Triple(answer, vocab.TYPE, prov("Collection"))
    yield Triple(answer, vocab.TYPE, prov("Entity"))
    yield Triple(answer, dcterms("description"), Literal(text))
    yield Triple(answer, _COMMIT, Literal(str(commit), datatype=xsd("integer")))
    for row in rows:
        entity = NamedNode(f"{answer.value}#row-{row.number}")
        yield Triple(answer, prov("hadMember"), entity)
        yield Triple(entity, vocab.TYPE, prov("Entity"))
        yield Triple(
            entity, prov("value"), Literal(canonical_json(row.values), datatype=rdf("JSON"))
        )
        for rule in row.rules:
            yield Triple(entity, _RULE, Literal(rule))
        for id in row.cited:
            node = store.iris.from_id(id)
            assert node is not None, id
            yield Triple(entity, prov("wasDerivedFrom"), node)
            yield Triple(answer, prov("wasDerivedFrom"), node)


_COMMIT, _RULE = NamedNode(vocab.KIP + "commit"), NamedNode(vocab.KIP + "rule")
