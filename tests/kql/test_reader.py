"""Values of nodes for one command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import NamedNode, Triple

import kiprdf
from kiprdf.kql.reader import Reader, link_of, links_at, read_catalog
from kiprdf.store import Store

SETUP = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT ?a { {type: "T", name: "a b"} SET ATTRIBUTES {x: 1, n: null} }
  CONCEPT ?b { {type: "T", name: "b"} }
  PROPOSITION ?l { (?a, "p", ?b) SET ATTRIBUTES {y: 2.0} } WITH METADATA {m: "x"}
  PROPOSITION { (?b, "p", ?l) }
}
"""


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(SETUP)
        yield nexus.store


def node(store: Store, id: str) -> NamedNode:
    node = store.iris.from_id(id)
    assert node is not None
    return node


def link(store: Store) -> NamedNode:
    a, b = node(store, "C:T/a b"), node(store, "C:T/b")
    link = link_of(store, Triple(a, store.iris.predicate("p"), b))
    assert link is not None
    return link


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        ("id", None, "C:T/a b"),
        ("type", None, "T"),
        ("name", None, "a b"),
        ("subject", None, None),
        ("predicate", None, None),
        ("object", None, None),
        ("attributes", "x", 1),
        ("attributes", "n", None),
        ("attributes", "none", None),
        ("attributes", None, {"n": None, "x": 1}),
        ("metadata", "_version", 1),
    ],
)
def test_value_of_a_concept(store: Store, field: str, key: str | None, value: object) -> None:
    assert Reader(store).value(node(store, "C:T/a b"), field, key) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        ("type", None, None),
        ("name", None, None),
        ("subject", None, "C:T/a b"),
        ("predicate", None, "p"),
        ("object", None, "C:T/b"),
        ("attributes", None, {"y": 2.0}),
        ("metadata", "m", "x"),
    ],
)
def test_value_of_a_link(store: Store, field: str, key: str | None, value: object) -> None:
    assert Reader(store).value(link(store), field, key) == value  # type: ignore[arg-type]


def test_an_element_is_read_once(store: Store) -> None:
    reader = Reader(store)
    assert reader.element(node(store, "C:T/b")) is reader.element(node(store, "C:T/b"))


def test_links_at_a_node_are_those_from_it_and_to_it(store: Store) -> None:
    subjects = {p.subject.value.rsplit("/", 1)[1] for _, p in links_at(store, node(store, "C:T/b"))}
    assert subjects == {"a%20b", "b"}


def test_links_at_a_link_are_those_about_it(store: Store) -> None:
    ((_, about),) = links_at(store, link(store))
    assert about.object == link(store)


def test_a_fact_that_is_not_asserted_has_no_link(store: Store) -> None:
    a, b = node(store, "C:T/a b"), node(store, "C:T/b")
    assert link_of(store, Triple(b, store.iris.predicate("p"), a)) is None


def test_the_catalog_holds_types_and_predicates(store: Store) -> None:
    catalog = read_catalog(store)
    assert (catalog.concept_types, catalog.predicates) == (frozenset({"T"}), frozenset({"p"}))
