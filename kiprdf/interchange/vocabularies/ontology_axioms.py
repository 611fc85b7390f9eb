"""What ontologies say that definitions have no words for."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import Graph
from kiprdf.interchange.vocabularies.standards import owl, sh


def skipped_axioms(graph: Graph) -> Iterator[Skipped]:
    """The axioms and constraints that are left out, once for each term that has them."""
    for predicate, reason in _UNSAID.items():
        for node in graph.having(predicate):
            # A node without a name is reported under the term that it has.
            iri = predicate.value if isinstance(node, BlankNode) else node.value
            yield Skipped(iri, reason)


_UNSAID: dict[NamedNode, str] = {
    **{
        owl(name): f"owl:{name} has no counterpart in a definition"
        for name in (
            "disjointWith", "disjointUnionOf", "complementOf", "hasKey", "propertyChainAxiom",
            "propertyDisjointWith", "hasSelf", "withRestrictions",
        )
    },
    **{
        sh(name): f"sh:{name} has no counterpart in an instance_schema"
        for name in (
            "pattern", "minLength", "maxLength", "minInclusive", "maxInclusive", "minExclusive",
            "maxExclusive", "languageIn", "uniqueLang", "equals", "disjoint", "lessThan",
            "lessThanOrEquals", "not", "closed", "qualifiedValueShape", "sparql", "hasValue",
        )
    },
    owl("imports"): "owl:imports is not followed; give the triples of both",
}  # fmt: skip
