"""Small random datasets of what is easily lost: lists, containers, reifiers, named graphs, names.

Properties are reflexive at times, resources and properties have labels and IRIs that say nothing.
"""

from __future__ import annotations

import random
from typing import Any

import rdflib
from rdflib import FOAF, OWL, RDF, RDFS, SKOS, XSD, BNode, Dataset, Literal, URIRef

EXAMPLE = "https://example.org/"
_LITERALS = [
    Literal("x"),
    Literal(1),
    Literal("1.10", datatype=XSD.decimal),
    Literal("e", lang="en"),
    Literal(True),
    Literal("x", datatype=URIRef(EXAMPLE + "code")),
]
_VCARD_NAME = URIRef("http://www.w3.org/2006/vcard/ns#fn")
_PROPERTIES = [URIRef(EXAMPLE + name) for name in ("p", "q")]


class OddGraphs:
    """The random dataset of a seed; with one graph, or with two named graphs beside it."""

    def __init__(self, seed: int, *, named: bool, reifiers: bool, containers: bool = False) -> None:
        self._random = random.Random(seed)
        self._names = 0
        self._has_containers = containers
        self._properties = _PROPERTIES + [URIRef(EXAMPLE + "GO_0008150")] * containers
        self.dataset = Dataset()
        graphs = [self.dataset.default_graph]
        if named:
            graphs += [self.dataset.graph(URIRef(EXAMPLE + name)) for name in ("g1", "g2")]
        self._graphs: list[Any] = graphs
        self._subjects: list[Any] = [URIRef(EXAMPLE + name) for name in "abc"]
        self._subjects += [BNode() for _ in range(self._random.randint(0, 2))]
        for subject in self._subjects:
            for graph in self._some_graphs():
                graph.add((subject, RDF.type, URIRef(EXAMPLE + self._random.choice("TU"))))
        for one in [*self._subjects, self._properties[-1]] if containers else ():
            self._label(one)
        facts = [self._statement() for _ in range(self._random.randint(2, 7))]
        for _ in range(self._random.randint(0, 3) if reifiers else 0):
            self._reifier(*self._random.choice(facts))

    def _label(self, node: Any) -> None:
        property = self._random.choice([RDFS.label, SKOS.prefLabel, FOAF.name, _VCARD_NAME, None])
        if property is not None:
            label = self._random.choice(["Grün", "Чай", "茶", "a", "Ωμέγα x", " "])
            language = self._random.choice([None, None, "en", "de"])
            self._graphs[0].add((node, property, Literal(label, lang=language)))

    def _some_graphs(self) -> list[Any]:
        if self._random.random() < 0.6:
            return self._graphs[:1]
        return self._random.sample(self._graphs, self._random.randint(1, len(self._graphs)))

    def _term(self) -> Any:
        undescribed = URIRef(EXAMPLE + "undescribed")
        return self._random.choice([self._random.choice(self._subjects), undescribed, *_LITERALS])

    def _statement(self) -> tuple[Any, ...]:
        choose = self._random.choice
        graph, subject = choose(self._graphs), choose(self._subjects)
        property = choose(self._properties)
        kind, value = self._random.random(), self._term()
        if kind < 0.15:
            property, value = OWL.sameAs, choose([subject, URIRef(EXAMPLE + "other")])
        elif kind < 0.5 and self._has_containers and self._random.random() < 0.6:
            value = self._container(graph)
        elif kind < 0.5:
            items = self._items()
            value = self._list(graph, items, plain=False)
            if self._random.random() < 0.3:
                graph.add((subject, property, self._list(graph, items, plain=True)))
        graph.add((subject, property, value))
        if kind >= 0.5 and self._random.random() < 0.4:
            choose(self._graphs).add((subject, property, value))
        return graph, subject, property, value

    def _items(self, depth: int = 2) -> list[Any]:
        kinds = [lambda: self._random.choice(_LITERALS), self._term]
        item = self._random.choice([*kinds, lambda: self._random.choice(self._subjects)])
        nested = depth > 0 and self._random.random() < 0.2
        items = [item() for _ in range(self._random.randint(0, 3))]
        return [*items, self._items(depth - 1)] if nested else items

    def _container(self, graph: Any, depth: int = 1) -> Any:
        """A container; some have an IRI, a gap, an item or a class too many, or are empty."""
        choose, odd = self._random.choice, self._random.random
        node: Any = BNode() if odd() < 0.85 else self._iri(self._random.randint(1, 9))
        graph.add((node, RDF.type, choose([RDF.Seq, RDF.Bag, RDF.Alt])))
        if odd() < 0.1:
            choose(self._graphs).add((node, RDF.type, choose([RDF.Seq, URIRef(EXAMPLE + "T")])))
        for number in range(1, 1 + self._random.randint(0, 4)):
            inner = depth > 0 and odd() < 0.15
            item = self._list(graph, self._items(1), plain=odd() < 0.7) if inner else self._term()
            if inner and odd() < 0.5:
                item = self._container(graph, 0)
            number += odd() < 0.05
            graph.add((node, RDF[f"_{number}"], choose([*self._subjects, item])))
        if odd() < 0.08:
            graph.add((choose(self._subjects), choose(self._properties), node))
        return node

    def _list(self, graph: Any, items: list[Any], *, plain: bool) -> Any:
        cells: list[Any] = [self._cell(plain) for _ in items]
        is_typed = not plain and self._random.random() < 0.2
        for cell, item, rest in zip(cells, items, [*cells, RDF.nil][1:], strict=True):
            first = self._list(graph, item, plain=plain) if isinstance(item, list) else item
            graph.add((cell, RDF.first, first))
            graph.add((cell, RDF.rest, rest))
            if is_typed and self._random.random() < 0.8:
                graph.add((cell, RDF.type, RDF.List))
        return cells[0] if cells else RDF.nil

    def _cell(self, plain: bool) -> Any:
        self._names += 1
        return BNode() if plain or self._random.random() < 0.85 else self._iri(self._names)

    def _iri(self, number: int) -> URIRef:
        return URIRef(f"{EXAMPLE}cell{number}")

    def _reifier(self, graph: Any, subject: Any, property: Any, value: Any) -> None:
        reifier: Any = BNode()
        if self._random.random() < 0.5:
            reifier = URIRef(f"{EXAMPLE}r{self._random.randint(0, 3)}")
        parts = (RDF.subject, subject), (RDF.predicate, property), (RDF.object, value)
        for part, term in ((RDF.type, RDF.Statement), *parts):
            graph.add((reifier, part, term))
        for _ in range(self._random.randint(0, 2)):
            property = self._random.choice([*self._properties, URIRef(EXAMPLE + "since")])
            graph.add((reifier, property, self._term()))


def by_graph(dataset: Dataset) -> dict[str, rdflib.Graph]:
    """The graphs of a dataset that have triples, by their names."""
    return {str(graph.identifier): graph for graph in dataset.graphs() if len(graph)}
