"""Divides statements into those of ontologies and those of data (docs/decisions/127).

An import of data and an import of an ontology take one part each, so that nothing of a file with
both is read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.importing.external import ExternalTriple, Node, by_subject
from kiprdf.interchange.vocabularies.standards import owl, rdfs, sh
from kiprdf.rdf import vocab

ONTOLOGY = owl("Ontology")
GENERIC = frozenset((f"{owl}Thing", f"{owl}NamedIndividual", f"{vocab.RDFS}Resource"))
"""Classes of everything: the type of a resource only if it has no other."""
_OF_TERMS = frozenset(map(rdfs, ("subClassOf", "subPropertyOf", "domain", "range")))
_OF_DATA = frozenset(map(owl, ("sameAs", "differentFrom", "versionInfo", "deprecated")))


def is_definition_class(iri: str) -> bool:
    """Whether the members of a class are classes, properties, shapes or ontologies."""
    if iri in GENERIC:
        return False
    return iri == f"{vocab.RDF}Property" or iri.startswith((vocab.RDFS, owl, sh))


def is_of_ontology(about: Collection[ExternalTriple]) -> bool:
    """Whether a subject is an ontology, a class, a property, a shape, an axiom, or a part of one.

    It has such a class; without any class, a property that only they have.
    """
    classes = [s.object for s in about if s.predicate == vocab.TYPE]
    if classes:
        return any(isinstance(c, NamedNode) and is_definition_class(c.value) for c in classes)
    return any(_is_of_terms(s.predicate) for s in about)


@lru_cache(maxsize=1_024)
def _is_of_terms(predicate: NamedNode) -> bool:
    """Whether only classes, properties, shapes and axioms have a property."""
    is_standard = predicate.value.startswith((owl, sh)) and predicate not in _OF_DATA
    return is_standard or predicate in _OF_TERMS


def _is_hint(statement: ExternalTriple) -> bool:
    """Whether a statement alone may say that its subject belongs to an ontology."""
    if statement.predicate != vocab.TYPE:
        return _is_of_terms(statement.predicate)
    return isinstance(statement.object, NamedNode) and is_definition_class(statement.object.value)


def below(roots: Iterable[Node], groups: Mapping[Node, list[ExternalTriple]]) -> set[Node]:
    """Some nodes, and the blank nodes and cells of lists that they lead to."""
    pending = list(roots)
    visited = set(pending)
    while pending:
        for statement in groups.get(pending.pop(), ()):
            node = statement.object
            if isinstance(node, Node) and node not in visited and is_inner(node, groups):
                visited.add(node)
                pending.append(node)
    return visited


def is_inner(node: Node, groups: Mapping[Node, Collection[ExternalTriple]]) -> bool:
    """Whether a node belongs to what leads to it: a blank node, or a cell of a list."""
    is_cell = any(statement.predicate == vocab.FIRST for statement in groups.get(node, ()))
    return is_cell or _is_blank(node)


def _is_blank(node: Node) -> bool:
    return isinstance(node, BlankNode) or node.value.startswith(vocab.BLANK)


def unlinked_lists(groups: Mapping[Node, list[ExternalTriple]]) -> set[Node]:
    """The heads of lists that nothing refers to, with parts of axioms: values for ``sh:or``."""
    cells = {
        s.subject
        for about in groups.values()
        for s in about
        if s.predicate == vocab.FIRST and isinstance(s.object, Node) and _is_blank(s.object)
        if is_of_ontology(groups.get(s.object, ()))
    }
    if not cells:
        return cells
    every = [statement for about in groups.values() for statement in about]
    before = {s.object: s.subject for s in every if s.predicate == vocab.REST}
    heads: set[Node] = set()
    for cell in cells:
        visited = {cell}
        while cell in before and before[cell] not in visited:
            cell = before[cell]
            visited.add(cell)
        heads.add(cell)
    return heads - {s.object for s in every}


def recorded_and_inner(
    statements: Collection[ExternalTriple], is_recorded: Callable[[str], bool]
) -> tuple[set[Node], set[Node]]:
    """The nodes that an import of data does not read: recorded heads, and insides of axioms.

    Blank nodes below the head of an ontology belong to it. A head that the nexus has not recorded
    is data.
    """
    candidates = dict.fromkeys(s.subject for s in statements if _is_hint(s))
    if not candidates:
        return set(), set()
    groups = by_subject(statements)
    heads: list[Node] = []
    roots: list[Node] = []
    for node in candidates:
        about = groups[node]
        if not is_of_ontology(about):
            continue
        if isinstance(node, BlankNode) or all(s.object != ONTOLOGY for s in about):
            roots.append(node)
        elif is_recorded(node.value):
            heads.append(node)
    roots += unlinked_lists(groups)
    recorded = below(heads, groups)
    return recorded, {one for one in below(roots, groups) - recorded if is_inner(one, groups)}
