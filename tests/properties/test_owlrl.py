"""What follows in a nexus is what OWL RL infers: small random graphs, closed by ``owlrl``.

The rules of a nexus are stated as axioms of RDFS and OWL. ``subject_types`` and ``object_types``
never type anything, so there is no domain and no range. ``KIPRDF_OWLRL`` sets how many graphs are
tried.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from owlrl import DeductiveClosure, OWLRL_Semantics
from rdflib import OWL, RDF, RDFS, URIRef
from rdflib import Graph as RdfGraph

import kiprdf
from tests.long_runs import SEED, amount
from tests.oracle import Graph
from tests.oracle.entailed import Entailed
from tests.oracle.graph import concept_id, proposition_id
from tests.properties.entailed import RULES, Entail
from tests.properties.test_engine_equals_oracle import build

GRAPHS = amount("OWLRL", 9)
TYPES = ("R", "S", "T", "U")
PREDICATES = ("f", "g", "h", "k")
TYPE, PREDICATE = "$ConceptType", "$PropositionType"
AXIOMS = {"subclass_of": RDFS.subClassOf, "subproperty_of": RDFS.subPropertyOf}


def test_what_follows_is_what_owl_rl_infers() -> None:
    choose = random.Random(SEED)
    for number in range(GRAPHS):
        graph = random_graph(choose)
        # Where nothing is the same, the closure takes half the time.
        compare(graph, "same_as" if number % 3 == 2 else True)


def compare(graph: Graph, entail: Entail) -> None:
    """That a nexus, and the oracle, have the pairs of each predicate and the elements of each
    type."""
    inferred = Inferred(graph, same_as=entail == "same_as")
    entailed = Entailed(graph, same_as=entail == "same_as")
    nexus: kiprdf.Nexus = build(graph)
    for name in PREDICATES:
        pairs = inferred.pairs(name)
        rows = nexus.find(f'FIND(?a.id, ?b.id) WHERE {{ (?a, "{name}", ?b) }}', entail=entail)
        assert sorted(rows.tuples()) == sorted(pairs), (name, graph)
        assert entailed.pairs(name) == pairs, (name, graph)
        for one in sorted({one for one, _ in pairs})[:2]:
            end = f'(id: "{one}")' if one in graph.propositions else f'{{id: "{one}"}}'
            rows = nexus.find(f'FIND(?b.id) WHERE {{ ({end}, "{name}", ?b) }}', entail=entail)
            assert sorted(rows.tuples()) == sorted((o,) for s, o in pairs if s == one), (one, graph)
    for name in TYPES:
        elements = inferred.elements(name)
        rows = nexus.find(f'FIND(?x.id) WHERE {{ ?x {{type: "{name}"}} }}', entail=entail)
        assert sorted(rows.tuples()) == sorted((one,) for one in elements), (name, graph)
        assert elements == {
            entailed.representative(one) for one in graph.concepts if entailed.is_of_type(one, name)
        }


def random_graph(choose: random.Random) -> Graph:
    """Six concepts of four types, eight facts of four predicates, and some rules about them."""
    graph = Graph()
    graph.define(types=TYPES, predicates=(*PREDICATES, *RULES))
    concepts = [graph.concept(choose.choice(TYPES), name) for name in "abcdef"]
    ends = list(concepts)
    for _ in range(8):
        one, other = choose.sample(ends, 2)
        predicate = choose.choice(PREDICATES)
        if proposition_id(one, predicate, other) not in graph:
            ends.append(graph.proposition(one, predicate, other))
    for name in PREDICATES:
        attributes = graph.concepts[concept_id(PREDICATE, name)]["attributes"]
        for key in ("is_symmetric", "is_transitive"):
            if choose.random() < 0.3:
                attributes[key] = True
        if choose.random() < 0.25:
            attributes["inverse_of"] = choose.choice(PREDICATES)
    types = [concept_id(TYPE, name) for name in TYPES]
    predicates = [concept_id(PREDICATE, name) for name in PREDICATES]
    for predicate, group in zip(RULES, (types, predicates, concepts), strict=True):
        for _ in range(choose.choice((0, 1, 2, 3))):
            one, other = choose.sample(group, 2)
            if proposition_id(one, predicate, other) not in graph:
                graph.proposition(one, predicate, other)
    return graph


Pairs = dict[Any, set[tuple[Any, Any]]]


def closure(graph: Graph, *, same_as: bool) -> Pairs:
    """The pairs of each property that follow in OWL RL."""
    triples = RdfGraph()
    for identifier, one in graph.concepts.items():
        if one["type"] in TYPES:
            triples.add((iri(identifier), RDF.type, iri(one["type"])))
        elif one["type"] == PREDICATE:
            add_kinds(triples, one["name"], one["attributes"])
    for link in graph.propositions.values():
        subject, predicate, object_ = link["subject"], link["predicate"], link["object"]
        if predicate in AXIOMS:
            names = (graph.concepts[end]["name"] for end in (subject, object_))
            one, other = map(iri, names)
            triples.add((one, AXIOMS[predicate], other))
        elif predicate != "same_as":
            triples.add((iri(subject), iri(predicate), iri(object_)))
        elif same_as:
            triples.add((iri(subject), OWL.sameAs, iri(object_)))
    DeductiveClosure(OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(
        triples
    )
    properties = (*map(iri, PREDICATES), RDF.type, OWL.sameAs)
    return {one: set(triples.subject_objects(one)) for one in properties}


def add_kinds(triples: RdfGraph, name: str, attributes: dict[str, Any]) -> None:
    kinds = {"is_symmetric": OWL.SymmetricProperty, "is_transitive": OWL.TransitiveProperty}
    for key, kind in kinds.items():
        if attributes.get(key):
            triples.add((iri(name), RDF.type, kind))
    if "inverse_of" in attributes:
        triples.add((iri(name), OWL.inverseOf, iri(attributes["inverse_of"])))


class Inferred:
    """The closure of a graph, in which one id stands for all that are the same."""

    def __init__(self, graph: Graph, *, same_as: bool) -> None:
        self._closed = closure(graph, same_as=same_as)
        self._first: dict[str, str] = {}
        for one, other in self._closed[OWL.sameAs]:
            if local(one) in graph.concepts and local(other) in graph.concepts:
                first = self._first.get(local(one), local(one))
                self._first[local(one)] = min(first, local(other))

    def pairs(self, name: str) -> set[tuple[str, str]]:
        return {(self._one(s), self._one(o)) for s, o in self._closed[iri(name)]}

    def elements(self, name: str) -> set[str]:
        return {self._one(s) for s, o in self._closed[RDF.type] if o == iri(name)}

    def _one(self, node: URIRef) -> str:
        return self._first.get(local(node), local(node))


def iri(identifier: str) -> URIRef:
    return URIRef(f"urn:x:{identifier}")


def local(node: Any) -> str:
    return str(node).removeprefix("urn:x:")


@pytest.mark.parametrize("key", ["is_symmetric", "is_transitive", "inverse_of"])
def test_the_test_has_graphs_in_which_something_follows(key: str) -> None:
    choose = random.Random(SEED)
    graphs = [random_graph(choose) for _ in range(20)]
    stated = [one for one in graphs if any(key in c["attributes"] for c in one.concepts.values())]
    assert any(Entailed(one).pairs(name) > one.pairs(name) for one in stated for name in PREDICATES)
