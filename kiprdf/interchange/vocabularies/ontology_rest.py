"""What of an ontology no definition has taken in: each statement under its subject, with why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import Graph, Node, Statement, Term
from kiprdf.interchange.vocabularies.ontology_uses import Homes
from kiprdf.interchange.vocabularies.ontology_words import STANDARDS
from kiprdf.interchange.vocabularies.standards import (
    DCAM,
    OWL,
    SCHEMA,
    SH,
    SKOS,
    owl,
    rdf,
    rdfs,
    sh,
)
from kiprdf.rdf import vocab

_MOST = 5
"""As many of the terms that an axiom is about are named."""
_PREFIXES = {
    vocab.RDF: "rdf",
    vocab.RDFS: "rdfs",
    vocab.XSD: "xsd",
    OWL: "owl",
    SH: "sh",
    SKOS: "skos",
    DCAM: "dcam",
    **dict.fromkeys(SCHEMA, "schema"),
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/dc/elements/1.1/": "dc",
}
_IMPORTS, _DEFINED_BY = owl("imports"), rdfs("isDefinedBy")
_KINDS = frozenset(
    (
        *map(owl, ("Class", "Restriction", "DataRange", "Axiom")),
        *map(rdfs, ("Class", "Datatype")),
        *map(sh, ("NodeShape", "PropertyShape")),
        rdf("List"),
    )
)
"""What nodes without a name are: it follows from what else is said of them."""
_INDIVIDUAL = OWL + "NamedIndividual"
_LISTS = (vocab.FIRST, vocab.REST)
_CHOICES = ("owl:oneOf", "owl:hasValue", "sh:in")


class Terms(NamedTuple):
    """What the definitions are made of."""

    defined: Collection[str]
    attributes: Collection[str]
    mentioned: Collection[str]
    """Those of which nothing is said."""
    homes: Homes


class _Place(NamedTuple):
    """Where a statement is reported: the subject, and the classes that say it of a property."""

    subject: Node
    classes: tuple[str, ...] = ()


def rest(graph: Graph, terms: Terms) -> Iterator[Skipped]:
    """What was left out, one line for each subject and reason."""
    for iri in terms.mentioned:
        yield Skipped(iri, "mentioned, not described: give its ontology too")
    for triple in graph.about_statements:
        subject = triple.subject
        iri = subject.value if isinstance(subject, NamedNode) else triple.predicate.value
        yield Skipped(iri, "a statement about a statement, not a definition")
    places = _Places(graph, terms.homes)
    found: dict[_Place, set[Statement]] = defaultdict(set)
    for statement in graph.unused():
        if not _is_said_elsewhere(statement):
            found[places.of(statement[0])].add(statement)
    for place, statements in found.items():
        yield from _reasons(graph, terms, place, statements)


def _is_said_elsewhere(statement: Statement) -> bool:
    """Whether a statement has no meaning of its own: the structure of nodes without a name."""
    subject, predicate, term = statement
    if isinstance(subject, NamedNode):
        if predicate == vocab.TYPE:
            return term in (sh("NodeShape"), sh("PropertyShape"), owl("Ontology"))
        # That the namespace of a term is its vocabulary is in its IRI.
        is_namespace = isinstance(term, NamedNode) and subject.value.startswith(term.value)
        return predicate == _DEFINED_BY and is_namespace
    return predicate in _LISTS or (predicate == vocab.TYPE and term in _KINDS)


class _Places:
    """Where statements are reported: nodes without a name under what they are a part of."""

    def __init__(self, graph: Graph, homes: Homes) -> None:
        self._homes = homes
        self._around: dict[Term, list[Node]] = defaultdict(list)
        for subject, _, term in graph.all_statements():
            if isinstance(term, BlankNode):
                self._around[term].append(subject)
        self._known: dict[Node, _Place] = {}

    def of(self, node: Node) -> _Place:
        """The property of a restriction or a property shape, else the nearest named node."""
        path: list[Node] = []
        while node not in self._known and node not in path:
            path.append(node)
            if node in self._homes:
                iri, classes = self._homes[node]
                self._known[node] = _Place(NamedNode(iri), tuple(classes))
            elif isinstance(node, NamedNode) or not self._around[node]:
                self._known[node] = _Place(node)
            else:
                node = min(self._around[node], key=str)
        if node not in self._known:
            # A ring of nodes without a name, which begins nowhere.
            self._known[node] = _Place(min(path[path.index(node) :], key=str))
        place = self._known[node]
        self._known.update(dict.fromkeys(path, place))
        return place


def _reasons(
    graph: Graph, terms: Terms, place: _Place, statements: set[Statement]
) -> Iterator[Skipped]:
    node = place.subject
    if isinstance(node, BlankNode):
        yield _of_axiom(graph, node, statements)
    elif graph.is_a(node, owl("Ontology")):
        if any(statement[1] == _IMPORTS for statement in statements):
            yield Skipped(node.value, "owl:imports is not followed; give the triples of both")
        if any(statement[1] != _IMPORTS for statement in statements):
            yield Skipped(node.value, "about the ontology itself, not about its terms")
    elif node.value.startswith(STANDARDS) and not place.classes:
        yield Skipped(node.value, "a term of RDF, RDFS, OWL or XSD itself")
    elif _is_of_schema(graph, terms, node) or place.classes:
        yield from _unsaid(terms, place, statements)
    else:
        yield Skipped(node.value, "data, not a definition")


def _is_of_schema(graph: Graph, terms: Terms, node: NamedNode) -> bool:
    kinds = graph.named(node, vocab.TYPE)
    is_kind = any(kind.startswith((*STANDARDS, SH)) for kind in kinds if kind != _INDIVIDUAL)
    is_shape = any(one[1].value.startswith(SH) for one in graph.statements_of(node))
    return node.value in terms.defined or node in terms.homes or is_kind or is_shape


def _unsaid(terms: Terms, place: _Place, statements: set[Statement]) -> Iterator[Skipped]:
    """What the words of a definition are not enough for."""
    iri = place.subject.value
    where = "an instance_schema" if iri in terms.attributes else "a definition"
    by = ", ".join(f"<{one}>" for one in place.classes)
    names = sorted({_said(statement) for statement in statements})
    choices = [name for name in names if name in _CHOICES and iri in terms.attributes]
    others = [name for name in names if name not in choices]
    if choices:
        reason = f"{', '.join(choices)}: an enum is for attributes that have one value at most"
        yield Skipped(iri, reason)
    if others:
        verb = "has" if len(others) == 1 else "have"
        prefix = f"{by}: " if by else ""
        yield Skipped(iri, f"{prefix}{', '.join(others)} {verb} no counterpart in {where}")


def _of_axiom(graph: Graph, node: BlankNode, statements: set[Statement]) -> Skipped:
    """An axiom, or data, whose subject has no name: what it is, and what it is about."""
    kinds = graph.named(node, vocab.TYPE)
    predicates = sorted(statement[1].value for statement in statements)
    iri = kinds[0] if kinds else predicates[0]
    if not iri.startswith((*STANDARDS, SH)):
        return Skipped(iri, "data, not a definition")
    about = list(_named(graph, node))
    listed = ", ".join(f"<{one}>" for one in about[:_MOST]) + ("…" if len(about) > _MOST else "")
    names = ", ".join(dict.fromkeys(_short(one) for one in predicates if one != vocab.TYPE.value))
    of = f" of {listed}" if listed else ""
    return Skipped(iri, f"{_short(iri)}{of} ({names}) has no counterpart in a definition")


def _named(graph: Graph, node: BlankNode) -> Iterator[str]:
    """The terms that a node without a name speaks of, each once."""
    pending: list[Term] = [node]
    seen: set[Term] = set()
    while pending:
        one = pending.pop(0)
        if isinstance(one, BlankNode) and one not in seen:
            pending += [term for _, _, term in graph.statements_of(one)]
        elif isinstance(one, NamedNode) and one not in seen and not one.value.startswith(STANDARDS):
            yield one.value
        seen.add(one)


def _said(statement: Statement) -> str:
    """The predicate, and of a type which one."""
    _, predicate, term = statement
    if predicate == vocab.TYPE and isinstance(term, NamedNode):
        return f"a {_short(term.value)}"
    return _short(predicate.value)


def _short(iri: str) -> str:
    for namespace, prefix in _PREFIXES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri[len(namespace) :]}"
    return f"<{iri}>"
