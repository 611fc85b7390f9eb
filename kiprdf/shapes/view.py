"""The dataset that shapes see: a store, with a delta applied, as a graph of RDF 1.1.

It is that of a snapshot in the profile ``rdf11``. Nothing is copied: each pattern is read from the
store. Through a mapping, an element is mapped when it is first read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

import rdflib
from pyoxigraph import Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine
from rdflib.store import Store as RdflibStore

from kiprdf import budget
from kiprdf.interchange.formats.graphs import rdf_term, rdflib_term
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.mapped import applied
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import read_value, written
from kiprdf.rdf.literals import normal
from kiprdf.rdf.reification import to_rdf11
from kiprdf.store import Delta, Store

Node: TypeAlias = rdflib.URIRef | rdflib.BNode | rdflib.Literal
Statement: TypeAlias = tuple[Any, Any, Any]
"""A triple of rdflib's terms."""
_NONE = Delta()
_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)


class View(RdflibStore):
    """A store as one of rdflib, to read; ``graph`` is the graph in it."""

    def __init__(self, store: Store, delta: Delta = _NONE, mapping: Mapping | None = None) -> None:
        super().__init__()
        self._store = store
        self._mapping = mapping
        self._removed, self._added = Engine(), Engine()
        self._removed.extend(Quad(*triple) for triple in delta.removed)
        # What is there already is not added.
        self._added.extend(
            quad
            for quad in (Quad(*triple) for triple in delta.added)
            if not store.lookup(quad.subject, quad.predicate, quad.object, 1)
            or quad in self._removed
        )
        self._is_changed = bool(delta)
        self._mapped = rdflib.Graph(bind_namespaces="none")
        self._loaded: set[Any] = set()
        self.graph = rdflib.Graph(self, bind_namespaces="none")

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[Any]:
        budget.check()
        for triple in self._matching(*triple_pattern):
            yield triple, iter(())

    def __len__(self, context: Any = None) -> int:
        return 1  # to count would be to read everything; pySHACL asks whether there is anything

    def namespaces(self) -> Iterator[Any]:
        return iter(())

    def statements(self, triples: Iterable[Triple]) -> Iterator[Statement]:
        """Triples of one subject as shapes see them."""
        if self._mapping is not None:
            triples = applied(normalized(triples), self._store.iris, self._mapping)
        for triple in triples:
            value = triple.object
            if isinstance(value, Triple):
                for part in to_profile([triple], "rdf11"):
                    yield _statement(part, part.object)
            elif isinstance(value, Literal):
                yield _statement(triple, written(cast(Literal, normal(value)), directions=False))
            else:
                yield _statement(triple, value)

    def of(self, subject: Any) -> Iterator[Statement]:
        """What a subject has."""
        return self.statements(self._match(subject, None, None))

    # Patterns ---------------------------------------------------------------------------------

    def _matching(self, *pattern: Any) -> Iterable[Statement]:
        subject, predicate, value = map(_native, pattern)
        is_subject = subject is None or isinstance(subject, NamedNode)
        if not (is_subject and (predicate is None or isinstance(predicate, NamedNode))):
            return ()
        if self._mapping is not None:
            self._load(subject, predicate, value)
            return self._mapped.triples(pattern)
        if predicate in _PARTS or predicate is None or predicate == vocab.TYPE:
            return self._with_parts(subject, predicate, value)
        return self.statements(self._match(subject, predicate, value))

    def _with_parts(self, subject: Any, predicate: Any, value: Any) -> Iterator[Statement]:
        triples = self._match(subject, predicate, value)
        yield from self.statements(one for one in triples if one.predicate != vocab.REIFIES)
        parts = (part for link in self._links(subject, predicate, value) for part in link)
        for part in dict.fromkeys(parts):
            if predicate in (None, part.predicate) and value in (None, part.object):
                yield from self.statements([part])

    def _links(self, subject: Any, predicate: Any, value: Any) -> Iterator[tuple[Triple, ...]]:
        """The parts of each link that may have a part which matches a pattern."""
        propositions = self._store.iris.propositions
        if subject is not None:
            if not subject.value.startswith(propositions):
                return
            reifying: Iterable[Triple] = self._match(subject, vocab.REIFIES, None)
        elif value is None or value == vocab.STATEMENT:
            reifying = self._match(None, vocab.REIFIES, None)
        elif isinstance(value, NamedNode) and predicate != vocab.TYPE:
            facts = {
                fact
                for part, place in zip(_PARTS, range(3), strict=True)
                if predicate in (None, part)
                for fact in self._match(*(value if place == at else None for at in range(3)))
                if fact.predicate.value.startswith(self._store.iris.predicates)
            }
            reifying = (one for fact in facts for one in self._match(None, vocab.REIFIES, fact))
        else:
            return
        for one in reifying:
            fact: Any = one.object
            yield to_rdf11(one.subject, fact)  # type: ignore[arg-type]

    def _match(self, subject: Any, predicate: Any, value: Any) -> Iterator[Triple]:
        triples = self._store.match(subject, predicate, value)
        if not self._is_changed:
            yield from triples
            return
        for triple in triples:
            if Quad(*triple) not in self._removed:
                yield triple
        for quad in self._added.quads_for_pattern(subject, predicate, value):
            yield quad.triple

    # Through a mapping ------------------------------------------------------------------------

    def _load(self, subject: Any, predicate: Any, value: Any) -> None:
        """Map the elements that may match a pattern."""
        for node in self._candidates(subject, predicate, value) - self._loaded:
            budget.check()
            self._loaded.add(node)
            for triple in self.of(node):
                self._mapped.add(triple)

    def _candidates(self, subject: Any, predicate: Any, value: Any) -> set[Any]:
        mapping, iris = self._mapping, self._store.iris
        assert mapping is not None
        if subject is not None:
            return {subject}
        if isinstance(value, NamedNode) and predicate is not None and predicate not in _PARTS:
            iri = predicate.value
            terms = (*mapping.attributes_of(iri), *mapping.all_metadata_of(iri))
            if predicate == vocab.TYPE:
                name = mapping.type_of(value.value)
                classes = [value] if name is None else [value, iris.type(name)]
                triples = (one for type in classes for one in self._match(None, vocab.TYPE, type))
                return {one.subject for one in triples}
            if not any(term.is_iri for _, term in terms):
                return {one.subject for one in self._match(None, None, value)}
        return {one.subject for one in self._match(None, None, None)}


def changed(store: Store, delta: Delta, mapping: Mapping | None) -> set[Statement]:
    """The triples of the dataset that a delta removes and adds, as shapes see them."""
    before = View(store, mapping=mapping)
    if mapping is not None:
        subjects = {triple[0] for triple in (*delta.removed, *delta.added)}
        views = (before, View(store, delta, mapping))
        sides = ({one for node in subjects for one in view.of(node)} for view in views)
        return next(sides) ^ next(sides)
    return {
        statement
        for side in (delta.removed, delta.added)
        for statement in before.statements(Triple(*triple) for triple in side)
    }


def _statement(triple: Triple, value: Any) -> Statement:
    return rdflib_term(triple.subject), rdflib_term(triple.predicate), rdflib_term(value)


def _native(term: Any) -> Any:
    """A term of rdflib as the store has it."""
    native = None if term is None else rdf_term(term)
    return read_value(native) if isinstance(native, Literal) else native
