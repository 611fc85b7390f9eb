"""Graphs in which links fall together when concepts merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.oracle.graph import Graph, concept_id, proposition_id
from tests.properties.strategies import PREDICATES, TYPES
from tests.properties.strategies import values as common_values

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

NAMES = ("A", "B", "C", "漢字", 'quo"te', "x/y z")
KEYS = ("a", "b", "aliases")
METADATA_KEYS = ("a", "m")
MOST_TANGLED = 16

BIG = (2**63 - 1, -(2**63), 2**62, 2**53, 2**53 + 1)
DOUBLES = (0.1, 1e308, -1e308, 5e-324, float(2**53), -0.0, 0.0)
numbers = st.sampled_from((0, 1, 2, 3, -1, 1.0, 3.0, 2.5, -0.5)) | st.sampled_from(BIG + DOUBLES)
values = common_values | numbers
some_aliases = st.lists(st.sampled_from((*NAMES[:3], 1, 1.0, True, None, ["A"])), max_size=4)
aliases = st.integers(0, 4).flatmap(lambda kind: values if kind == 4 else some_aliases)


def maps(keys: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Attributes or metadata of an element."""
    return st.fixed_dictionaries(
        {}, optional={key: aliases if key == "aliases" else values for key in keys}
    )


@st.composite
def mirrored_graphs(draw: Draw[Any]) -> Graph:
    """Up to five concepts, most of one type, and their links; then what is said of one of them is
    also said of another, so that links become equal once these two are one."""
    graph = Graph()
    graph.define(types=TYPES[:2], predicates=PREDICATES)
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True))
    namesakes = [graph.concept("T", name, *draw(_contents)) for name in names]
    others = [graph.concept("U", name, *draw(_contents)) for name in draw(_few_names)]
    if draw(st.integers(0, 5)) == 5:
        others.append(concept_id("$ConceptType", "T"))
    links: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        # Two predicates for most of the links, so that they meet.
        predicate = draw(st.sampled_from(PREDICATES[:2] * 3 + PREDICATES[2:]))
        subject = draw(st.sampled_from(namesakes) | st.sampled_from(namesakes + others + links))
        object_ = draw(st.sampled_from(others + links[-2:]) | st.sampled_from(namesakes))
        if draw(st.booleans()):
            subject, object_ = object_, subject
        links += _linked(draw, graph, (subject, predicate, object_))
    pairs = st.permutations(namesakes).map(lambda pair: pair[:2])
    for one, other in draw(st.lists(pairs, min_size=1, max_size=2)):
        _mirror(draw, graph, one, other)
    return graph


@st.composite
def number_graphs(draw: Draw[Any]) -> Graph:
    """Two concepts and a link with little but numbers."""
    graph = Graph()
    graph.define(types=TYPES[:1], predicates=PREDICATES[:1])
    held = st.fixed_dictionaries({}, optional=dict.fromkeys(("a", "b"), numbers | values))
    ends = [graph.concept("T", name, draw(held), draw(held)) for name in NAMES[:2]]
    graph.proposition(ends[0], "likes", ends[1], draw(held), draw(held))
    return graph


@st.composite
def tangles(draw: Draw[Any]) -> Graph:
    """Two concepts to merge, a bystander, and links of links of links, made class by class: once
    the two are one, all links of a class are one, unless they join something to itself."""
    graph = Graph()
    graph.define(types=TYPES[:1], predicates=PREDICATES[:1])
    concepts = [graph.concept("T", name, {name: 0}) for name in NAMES[:3]]
    classes = [concepts[:2], concepts[2:]]
    for _ in range(draw(st.integers(2, 7))):
        # Most often a class that is new with one that has several members.
        subjects = draw(st.sampled_from(classes) | st.sampled_from(classes[-2:]))
        several = [members for members in classes if len(members) > 1]
        objects = draw(st.sampled_from(classes) | st.sampled_from(several))
        ends = [(one, other) for one in subjects for other in objects]
        links: list[str] = []
        for subject, object_ in draw(st.permutations(ends))[: draw(st.integers(1, 4))]:
            number = len(graph.propositions)
            if number < MOST_TANGLED and proposition_id(subject, "likes", object_) not in graph:
                content = {f"a{number % 3}": number, f"k{number}": number}, {f"m{number}": None}
                links.append(graph.proposition(subject, "likes", object_, *content))
        classes += [links] if links else []
    return graph


_contents = st.tuples(maps(KEYS), maps(METADATA_KEYS))
_few_names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)


def _linked(draw: Draw[Any], graph: Graph, triple: tuple[str, str, str]) -> list[str]:
    """The new link, if there can be one."""
    if proposition_id(*triple) in graph:
        return []
    return [graph.proposition(*triple, *draw(_contents))]


def _mirror(draw: Draw[Any], graph: Graph, one: str, other: str) -> None:
    """Repeat links of one concept for another, then those about them, and so on; some by halves."""
    image = {one: other}
    for link in list(graph.propositions.values())[:12]:
        ends = [link["subject"], link["object"]]
        if image.keys().isdisjoint(ends) or draw(st.integers(0, 4)) == 4:
            continue
        kept = draw(st.sampled_from((None, None, 0, 1)))
        new = [end if kept == side else image.get(end, end) for side, end in enumerate(ends)]
        if new[0] != new[1]:
            triple = new[0], link["predicate"], new[1]
            _linked(draw, graph, triple)
            if kept is None:
                image[proposition_id(ends[0], link["predicate"], ends[1])] = proposition_id(*triple)
