"""Parts of a nexus: a domain, the answer of a selection. Each is the dataset of a nexus."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import NamedNode, Triple

import kiprdf
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.snapshots import domain, elements
from tests.interchange.nexuses import demonstration, hostile, small, turtle_of
from tests.nexus.support import empty, restored_from

FACTS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Domain"} }
  CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "A drug." } }
  CONCEPT { {type: "$ConceptType", name: "Shop"} }
  CONCEPT { {type: "$PropositionType", name: "belongs_to_domain"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "doubts"} }
  CONCEPT { {type: "$PropositionType", name: "sells"} }
}
UPSERT {
  CONCEPT ?medicine { {type: "Domain", name: "Medicine"} SET ATTRIBUTES { of: "health" } }
  CONCEPT { {type: "Domain", name: "Trade"} }
  CONCEPT ?a {
    {type: "Drug", name: "A"}
    SET PROPOSITIONS { ("belongs_to_domain", ?medicine) WITH METADATA { since: 2020 } }
  }
  CONCEPT ?b {
    {type: "Drug", name: "B"}
    SET ATTRIBUTES { risk: 2 }
    SET PROPOSITIONS {
      ("belongs_to_domain", ?medicine)
      ("treats", ?a) WITH METADATA { source: "s" }
    }
  }
  CONCEPT ?c { {type: "Drug", name: "C"} SET PROPOSITIONS { ("treats", ?a) } }
  CONCEPT ?s { {type: "Shop", name: "S"} SET PROPOSITIONS { ("sells", ?a) } }
  PROPOSITION { (?a, "doubts", (?b, "treats", ?a)) SET ATTRIBUTES { why: "x" } }
  PROPOSITION { (?s, "doubts", (?b, "treats", ?a)) }
}
"""


def shops() -> kiprdf.Nexus:
    nexus = empty()
    nexus.execute(FACTS)
    return nexus


def store(nexus: kiprdf.Nexus) -> Any:
    return nexus.store


def node(nexus: kiprdf.Nexus, identifier: str) -> NamedNode:
    iri = store(nexus).iris.from_id(identifier)
    assert iri is not None
    return iri


def nexus_of(nexus: kiprdf.Nexus, part: list[Triple]) -> kiprdf.Nexus:
    """A new nexus that holds a part of another one."""
    return restored_from(turtle_of(part, nexus.base_iri), nexus.base_iri)


def ids(nexus: kiprdf.Nexus) -> set[str]:
    """The concepts by id, the propositions by what they say."""
    iris = store(nexus).iris
    identifiers = set()
    for triple in store(nexus).match(None, None, None):
        if triple.predicate.value.endswith("#label"):
            identifiers.add(iris.id(triple.subject))
        elif isinstance(triple.object, Triple):
            fact = triple.object
            ends = [iris.id(end).split(":", 2)[-1] for end in (fact.subject, fact.object)]
            identifiers.add(f"{ends[0]} {iris.name(fact.predicate.value).name} {ends[1]}")
    return identifiers


DEFINITIONS = {
    "C:$ConceptType/Domain",
    "C:$ConceptType/Drug",
    "C:$PropositionType/belongs_to_domain",
    "C:$PropositionType/doubts",
    "C:$PropositionType/treats",
}


def test_a_domain_is_its_members_and_the_propositions_among_them() -> None:
    nexus = shops()
    assert ids(nexus_of(nexus, domain(store(nexus), "Medicine"))) == DEFINITIONS | {
        "C:Domain/Medicine",
        "C:Drug/A",
        "C:Drug/B",
        "Drug/A belongs_to_domain Domain/Medicine",
        "Drug/B belongs_to_domain Domain/Medicine",
        "Drug/B treats Drug/A",
        "Drug/A doubts treats",
    }


def test_a_domain_keeps_attributes_and_metadata() -> None:
    nexus = shops()
    part = nexus_of(nexus, domain(store(nexus), "Medicine"))
    for command in (
        'FIND(?d) WHERE { ?d {type: "Drug", name: "B"} }',
        'FIND(?l) WHERE { ?l (?s, "treats", ?o) FILTER(?s.name == "B") }',
        'FIND(?l) WHERE { ?l (?s, "belongs_to_domain", ?o) } ORDER BY ?l.id',
        'FIND(?d) WHERE { ?d {type: "$ConceptType", name: "Drug"} }',
    ):
        assert part.execute(command) == nexus.execute(command)


def test_an_empty_domain_is_itself_and_its_definition() -> None:
    nexus = shops()
    part = nexus_of(nexus, domain(store(nexus), "Trade"))
    assert ids(part) == {"C:Domain/Trade", "C:$ConceptType/Domain"}


def test_a_proposition_may_belong_to_a_domain() -> None:
    nexus = shops()
    nexus.execute(
        'UPSERT { PROPOSITION { (({type: "Shop", name: "S"}, "sells", {type: "Drug", name: "A"}), '
        '"belongs_to_domain", {type: "Domain", name: "Trade"}) } }'
    )
    identifiers = ids(nexus_of(nexus, domain(store(nexus), "Trade")))
    assert {
        "Shop/S sells Drug/A",
        "sells belongs_to_domain Domain/Trade",
        "C:Shop/S",
    } <= identifiers


def test_a_domain_that_there_is_not_names_the_nearest() -> None:
    with pytest.raises(kiprdf.KipError, match="medicine") as raised:
        domain(store(shops()), "medicine")
    assert (raised.value.code, "'Medicine'" in raised.value.hint) == ("KIP_3002", True)


def test_a_selected_concept_comes_with_its_definition_only() -> None:
    nexus = shops()
    part = nexus_of(nexus, elements(store(nexus), [node(nexus, "C:Drug/B")]))
    assert ids(part) == {"C:Drug/B", "C:$ConceptType/Drug"}


def test_a_selected_proposition_comes_with_its_ends_and_its_predicate() -> None:
    nexus = shops()
    (identifier,) = nexus.execute(
        'FIND(?l.id) WHERE { ?l (?s, "doubts", ?o) FILTER(?s.name == "S") }'
    )
    part = nexus_of(nexus, elements(store(nexus), [node(nexus, identifier)]))
    assert ids(part) == {
        "Shop/S doubts treats",
        "Drug/B treats Drug/A",
        "C:Shop/S",
        "C:Drug/A",
        "C:Drug/B",
        "C:$ConceptType/Drug",
        "C:$ConceptType/Shop",
        "C:$PropositionType/doubts",
        "C:$PropositionType/treats",
    }


def test_nothing_selected_is_nothing() -> None:
    assert elements(store(shops()), []) == []


def test_every_triple_is_given_once() -> None:
    nexus = shops()
    part = elements(store(nexus), [node(nexus, "C:Drug/B"), node(nexus, "C:Drug/B")])
    assert len(part) == len(set(part))


def test_a_node_of_another_nexus_is_refused() -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        elements(store(shops()), [NamedNode("urn:kip:nexus/Drug/Z")])
    assert raised.value.code == "KIP_3002"


@pytest.mark.parametrize("nexus", [small, hostile, demonstration])
def test_each_element_alone_is_the_dataset_of_a_nexus(nexus: Any) -> None:
    nexus = nexus()
    iris = store(nexus).iris
    nodes = {triple.subject for triple in store(nexus).match(None, None, None)}
    whole = set(store(nexus).match(None, None, None))
    for node in nodes:
        part = elements(store(nexus), [node])
        assert check_dataset(normalized(part), iris) > 0
        assert whole.issuperset(part)


def test_all_elements_together_are_the_whole_dataset() -> None:
    nexus = demonstration()
    nodes = sorted({t.subject for t in store(nexus).match(None, None, None)}, key=str)
    assert set(elements(store(nexus), nodes)) == set(store(nexus).match(None, None, None))


@pytest.mark.parametrize("name", ["CoreSchema", "Medicine", "Unsorted"])
def test_a_bundled_domain_restores(name: str) -> None:
    nexus = demonstration()
    if not store(nexus).describe(node(nexus, f"C:Domain/{name}")):
        nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: :name} } }', name=name)
    part = nexus_of(nexus, domain(store(nexus), name))
    assert part.info()["concepts"] > 0
