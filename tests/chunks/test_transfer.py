"""Graphs of chunks from a nexus and to one."""

from __future__ import annotations

import pytest

from kiprdf import Nexus
from kiprdf.chunks import Chunk, Graph, Link, from_nexus, from_rdf, to_nexus, to_rdf, to_text

TOWN = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "City"} }
  CONCEPT { {type: "$PropositionType", name: "lives_in"} }
  CONCEPT ?ann { {type: "Person", name: "Ann"} SET ATTRIBUTES {age: 41, tags: ["a b", true]} }
  CONCEPT ?york { {type: "City", name: "New York"} }
  PROPOSITION ?l { (?ann, "lives_in", ?york) SET ATTRIBUTES {since: 2019} }
  WITH METADATA {context: "story"}
  PROPOSITION { ({type: "Person", name: "$self"}, "knows", ?l) }
}
"""


@pytest.fixture(scope="module")
def town() -> Nexus:
    nexus = Nexus.memory()
    nexus.execute(TOWN)
    return nexus


def test_concepts_become_chunks_and_propositions_links(town: Nexus) -> None:
    graph = from_nexus(town)
    assert graph["Ann"] == Chunk("Person", {"age": 41, "tags": ["a b", True]}, id="Ann")
    assert graph["New York"].type == "City"
    (lives,) = graph.of_type("lives_in")
    assert (lives["@subject"], lives["@object"], lives["since"]) == ("Ann", "New York", 2019)
    assert lives["@context"] == "story"
    (knows,) = graph.of_type("knows")
    assert (knows["@subject"], knows["@object"]) == ("$self", lives.id)
    assert len(graph) == 4


def test_query_selects_the_elements(town: Nexus) -> None:
    graph = from_nexus(town, 'FIND(?p, ?l) WHERE { ?p {type: "Person"} ?l (?p, "lives_in", ?c) }')
    assert [chunk.type for chunk in graph] == ["Person", "lives_in"]
    assert [str(link.object) for link in graph.links("Ann")] == ["New York"]


def test_names_that_the_notation_cannot_write_survive_rdf_and_are_escaped_in_text(
    town: Nexus,
) -> None:
    graph = from_nexus(town, 'FIND(?c) WHERE { ?c {type: "City"} }')
    assert list(from_rdf(to_rdf(graph))) == list(graph)
    assert to_text(graph) == "City New_20_York {}\n"


def test_graph_is_written_with_the_definitions_that_it_needs() -> None:
    graph = Graph(
        """
        dog d1 {name Fido; age 4; likes cat1, "a b"; @context story}
        cat {}
        d1 chases cat1
        chases l1 {@subject d1; @object d2; often true}
        doubts {@subject Ann; @object l1}
        @rdfmap {@base http://x.org/}
        a {} => b {}
        """
    )
    nexus = Nexus.memory()
    to_nexus(graph, nexus)
    to_nexus(graph, nexus)
    dog = nexus.execute('FIND(?d) WHERE { ?d {type: "dog"} }')[0]
    assert (dog["name"], dog["metadata"]["context"]) == ("d1", "story")
    assert dog["attributes"] == {"name": "Fido", "age": 4, "likes": ["cat1", "a b"]}
    assert nexus.execute('FIND(?o.name) WHERE { ?s (?d, "chases", ?o) } ORDER BY ?o.name') == [
        "cat1",
        "d2",
    ]
    result = from_nexus(nexus)
    assert result["d1"] == graph["d1"]
    assert {chunk.type for chunk in result} == {"dog", "cat", "Thing", "chases", "doubts"}
    assert Link("d1", "chases", "cat1") in result.links()


def test_texts_that_are_written_like_names_stay_texts() -> None:
    graph = Graph(
        """
        dog d1 {age 4; kind Fido; likes d2, "d2", "a b", "4"; name "Fido"; since "2021-07"}
        dog d2 {}
        chases l1 {@subject d1; @object d2; how "fast"; often "true"}
        """
    )
    nexus = Nexus.memory()
    to_nexus(graph, nexus)
    result = from_nexus(nexus)
    assert (result["d1"], result["d2"]) == (graph["d1"], graph["d2"])
    assert result.of_type("chases")[0].properties == graph["l1"].properties
    assert repr(result.of_type("chases")[0]["how"]) == "Text('fast')"


def test_links_are_between_concepts_that_the_nexus_has_already(town: Nexus) -> None:
    nexus = Nexus.memory()
    nexus.execute(TOWN)
    to_nexus(Graph("Ann knows Bob"), nexus)
    query = 'FIND(?s.type, ?o.type) WHERE { (?s {name: "Ann"}, "knows", ?o) }'
    assert nexus.execute(query) == [["Person"], ["Thing"]]


def test_empty_graph_writes_nothing() -> None:
    nexus = Nexus.memory()
    to_nexus(Graph(), nexus)
    assert len(from_nexus(nexus)) == 0
