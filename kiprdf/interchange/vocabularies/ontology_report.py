"""The statements of an ontology that are in no definition, by subject and with a reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import Node, OntologyGraph, OntologyTriple, Term
from kiprdf.interchange.vocabularies.ontology_terms import PropertiesOf
from kiprdf.interchange.vocabularies.standards import (
    PREFIXES,
    SCHEMA,
    STANDARDS,
    owl,
    rdf,
    rdfs,
    sh,
)
from kiprdf.rdf import vocab

_MOST = 5
"""How many terms of an axiom are named."""
_PREFIXES: dict[str, str] = {
    **{namespace: prefix for prefix, namespace in PREFIXES.items()},
    vocab.RDF: "rdf",
    vocab.RDFS: "rdfs",
    vocab.XSD: "xsd",
    SCHEMA[1]: "schema",
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
"""Types of blank nodes that follow from their other statements."""
_INDIVIDUAL = owl + "NamedIndividual"
_LISTS = (vocab.FIRST, vocab.REST)
_CHOICES = ("owl:oneOf", "owl:hasValue", "sh:in")


class DefinedTerms(NamedTuple):
    """The terms that have definitions, and those of them that are attributes."""

    defined: Collection[str]
    attributes: Collection[str]
    mentioned: Collection[str]
    """Those of which nothing is said."""
    properties_of: PropertiesOf


class _Subject(NamedTuple):
    """The subject under which a statement is reported, and the classes whose shapes contain it."""

    node: Node
    classes: tuple[str, ...] = ()


def left_out(graph: OntologyGraph, terms: DefinedTerms) -> Iterator[Skipped]:
    """What is left out, one line for each subject and reason."""
    for iri in terms.mentioned:
        yield Skipped(iri, "mentioned, not described: give its ontology too")
    for triple in graph.about_statements:
        subject = triple.subject
        iri = subject.value if isinstance(subject, NamedNode) else triple.predicate.value
        yield Skipped(iri, "a statement about a statement, not a definition")
    subjects = _ReportedSubjects(graph, terms.properties_of)
    unused: dict[_Subject, set[OntologyTriple]] = defaultdict(set)
    for statement in graph.unused():
        if not _is_structure(graph, terms, statement):
            unused[subjects.of(statement[0])].add(statement)
    for reported, statements in unused.items():
        yield from _reasons(graph, terms, reported, statements)


def _is_structure(graph: OntologyGraph, terms: DefinedTerms, statement: OntologyTriple) -> bool:
    """Whether a statement has no meaning by itself, such as the cells of a list."""
    subject, predicate, term = statement
    if isinstance(subject, NamedNode):
        if predicate == vocab.TYPE:
            return term in (sh("NodeShape"), sh("PropertyShape"), owl("Ontology"))
        # The IRI of a term already has the namespace of its vocabulary.
        is_namespace = isinstance(term, NamedNode) and subject.value.startswith(term.value)
        return predicate == _DEFINED_BY and is_namespace and _is_of_schema(graph, terms, subject)
    return predicate in _LISTS or (predicate == vocab.TYPE and term in _KINDS)


class _ReportedSubjects:
    """The subjects under which statements are reported; for blank nodes what they belong to."""

    def __init__(self, graph: OntologyGraph, properties_of: PropertiesOf) -> None:
        self._properties_of = properties_of
        self._around: dict[Term, list[Node]] = defaultdict(list)
        for subject, _, term in graph.all_statements():
            if isinstance(term, BlankNode):
                self._around[term].append(subject)
        self._by_node: dict[Node, _Subject] = {}

    def of(self, node: Node) -> _Subject:
        """The property of a restriction or property shape, otherwise the nearest named node."""
        path: list[Node] = []
        while node not in self._by_node and node not in path:
            path.append(node)
            if node in self._properties_of:
                iri, classes = self._properties_of[node]
                self._by_node[node] = _Subject(NamedNode(iri), tuple(classes))
            elif isinstance(node, NamedNode) or not self._around[node]:
                self._by_node[node] = _Subject(node)
            else:
                node = min(self._around[node], key=str)
        if node not in self._by_node:
            # A ring of blank nodes, which no named node contains.
            self._by_node[node] = _Subject(min(path[path.index(node) :], key=str))
        subject = self._by_node[node]
        self._by_node.update(dict.fromkeys(path, subject))
        return subject


def _reasons(
    graph: OntologyGraph, terms: DefinedTerms, subject: _Subject, statements: set[OntologyTriple]
) -> Iterator[Skipped]:
    node = subject.node
    if isinstance(node, BlankNode):
        yield _of_axiom(graph, node, statements)
    elif graph.is_a(node, owl("Ontology")):
        if any(statement[1] == _IMPORTS for statement in statements):
            yield Skipped(node.value, "owl:imports is not followed; give the triples of both")
        if any(statement[1] != _IMPORTS for statement in statements):
            yield Skipped(node.value, "about the ontology itself, not about its terms")
    elif node.value.startswith(STANDARDS) and not subject.classes:
        yield Skipped(node.value, "a term of RDF, RDFS, OWL or XSD itself")
    elif _is_of_schema(graph, terms, node) or subject.classes:
        yield from _without_counterpart(terms, subject, statements)
    else:
        yield Skipped(node.value, "data, not a definition")


def _is_of_schema(graph: OntologyGraph, terms: DefinedTerms, node: NamedNode) -> bool:
    kinds = graph.named(node, vocab.TYPE)
    is_kind = any(kind.startswith((*STANDARDS, sh)) for kind in kinds if kind != _INDIVIDUAL)
    is_shape = any(one[1].value.startswith(sh) for one in graph.statements_of(node))
    return node.value in terms.defined or node in terms.properties_of or is_kind or is_shape


def _without_counterpart(
    terms: DefinedTerms, subject: _Subject, statements: set[OntologyTriple]
) -> Iterator[Skipped]:
    """The reasons for statements that a definition cannot express."""
    iri = subject.node.value
    where = "an instance_schema" if iri in terms.attributes else "a definition"
    by = ", ".join(f"<{one}>" for one in subject.classes)
    names = sorted({_predicate_name(statement) for statement in statements})
    choices = [name for name in names if name in _CHOICES and iri in terms.attributes]
    others = [name for name in names if name not in choices]
    if choices:
        reason = f"{', '.join(choices)}: an enum is for attributes that have one value at most"
        yield Skipped(iri, reason)
    if others:
        verb = "has" if len(others) == 1 else "have"
        prefix = f"{by}: " if by else ""
        yield Skipped(iri, f"{prefix}{', '.join(others)} {verb} no counterpart in {where}")


def _of_axiom(graph: OntologyGraph, node: BlankNode, statements: set[OntologyTriple]) -> Skipped:
    """An axiom or data with a blank node as subject: what it is, and what it is about."""
    kinds = graph.named(node, vocab.TYPE)
    predicates = sorted(statement[1].value for statement in statements)
    iri = kinds[0] if kinds else predicates[0]
    if not iri.startswith((*STANDARDS, sh)):
        return Skipped(iri, "data, not a definition")
    about = list(_named(graph, node))
    listed = ", ".join(f"<{one}>" for one in about[:_MOST]) + ("…" if len(about) > _MOST else "")
    names = ", ".join(dict.fromkeys(_short(one) for one in predicates if one != vocab.TYPE.value))
    of = f" of {listed}" if listed else ""
    return Skipped(iri, f"{_short(iri)}{of} ({names}) has no counterpart in a definition")


def _named(graph: OntologyGraph, node: BlankNode) -> Iterator[str]:
    """The terms to which a blank node refers, each once."""
    pending: list[Term] = [node]
    visited: set[Term] = set()
    while pending:
        term = pending.pop(0)
        if term in visited:
            continue
        visited.add(term)
        if isinstance(term, BlankNode):
            pending += [object_ for _, _, object_ in graph.statements_of(term)]
        elif isinstance(term, NamedNode) and not term.value.startswith(STANDARDS):
            yield term.value


def _predicate_name(statement: OntologyTriple) -> str:
    """The name of the predicate; for ``rdf:type`` that of the type."""
    _, predicate, term = statement
    if predicate == vocab.TYPE and isinstance(term, NamedNode):
        return f"a {_short(term.value)}"
    return _short(predicate.value)


def _short(iri: str) -> str:
    for namespace, prefix in _PREFIXES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri[len(namespace) :]}"
    return f"<{iri}>"
