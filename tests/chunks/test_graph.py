"""Graphs: identifiers, matching, links, kinds, dates, rules and IRIs."""

from __future__ import annotations

import pytest

from kiprdf.chunks import Chunk, ChunksError, Graph, Link, RuleError, Text, parse, to_text
from tests.cases import each_case

ANIMALS = Graph(
    """
    penguin kindof bird
    bird kindof animal
    penguin p6 {name Pingou; likes p7; born 1879-03-14}
    penguin p7 {name "Pongo"; list a, b, c; flag true; n 1}
    belief b1 {@context tom; name Pingou}
    """
)


def ids(pattern: str, graph: Graph = ANIMALS) -> list[str | None]:
    return [chunk.id for chunk in graph.match(pattern)]


@each_case(
    "pattern, expected",
    [
        ("penguin {}", ["p6", "p7"]),
        ("penguin {name Pingou}", ["p6"]),
        ("penguin {name Pongo}", []),
        ('penguin {name "Pongo"}', ["p7"]),
        ("penguin {name !Pingou}", ["p7"]),
        ("penguin {likes !}", ["p7"]),
        ("penguin {likes !p8}", ["p6"]),
        ("penguin {likes *}", ["p6"]),
        ("penguin {list a, *, !b}", ["p7"]),
        ("penguin {list a, !b, c}", []),
        ("penguin {list ?x, ?y}", []),
        ("penguin {list ?x, ?y, ?z}", ["p7"]),
        ("penguin {list ?x, ?x, ?y}", []),
        ("penguin {list ?x}", ["p7"]),
        ("penguin {flag 1}", []),
        ("penguin {n 1.0}", ["p7"]),
        ("penguin {n true}", []),
        ("* {@kindof animal; name *}", ["p6", "p7"]),
        ("* {@kindof bird}", ["p6", "p7"]),
        ("* {@kindof fish}", []),
        ("* {@type penguin; name Pingou}", ["p6"]),
        ("dog {@type penguin; name Pingou}", ["p6"]),
        ("* {@type !penguin; @id !_:1; @subject !}", []),
        ("* {@id p7}", ["p7"]),
        ("bird {@id p7}", []),
        ("penguin {@id !p6}", ["p7"]),
        ("penguin {@id !!p6}", ["p6"]),
        ("* {name Pingou}", ["p6"]),
        ("* {@context tom}", ["b1"]),
        ("* {@context ?c; name ?n}", ["b1"]),
        ("* {@context mary}", []),
        ("penguin kindof bird", ["_:1"]),
        ("kindof {@object animal}", ["_:2"]),
        ("iso8601 {year 1879}", ["1879-03-14"]),
        ("* {@id 1879-03-14}", ["1879-03-14"]),
        ("* {@do get; @module facts; name Pingou}", ["p6"]),
    ],
)
def test_pattern_matches_these_chunks(pattern: str, expected: list[str]) -> None:
    assert ids(pattern) == expected


def test_length_counts_links_and_the_parts_of_compact_rules() -> None:
    assert len(Graph("a {} b c d e {}, !f {} => g {}")) == 6


def test_later_chunk_replaces_an_earlier_one_of_its_identifier() -> None:
    graph = Graph("dog d {age 4} cat c {} cat d {name Tom}")
    assert [chunk.id for chunk in graph] == ["c", "d"]
    assert graph["d"] == Chunk("cat", {"name": "Tom"}, id="d")
    assert ids("dog {}", graph) == []


def test_given_identifiers_avoid_those_that_are_stated_later() -> None:
    graph = Graph("a {} b _:1 {}")
    assert [(chunk.type, chunk.id) for chunk in graph] == [("a", "_:2"), ("b", "_:1")]


def test_chunks_can_be_added_and_removed() -> None:
    graph = Graph()
    dog = graph.add(Chunk("dog", {"age": 4}))
    assert dog.id is not None
    assert dog.id.startswith("_:")
    graph.add(Link("dog", "kindof", "mammal"))
    assert (graph[dog.id], dog.id in graph, graph.is_kind("dog", "mammal")) == (dog, True, True)
    assert ids("* {age 4}", graph) == [dog.id]
    assert graph.remove(dog.id) == dog
    assert (graph.get(dog.id), ids("* {age 4}", graph), len(graph)) == (None, [], 1)
    with pytest.raises(KeyError):
        graph.remove(dog.id)
    with pytest.raises(KeyError):
        graph["nobody"]


def test_links_are_stated_or_implied_by_values_that_name_chunks() -> None:
    graph = Graph(
        "friend f1 {likes f2, f3, f2; knows f9; @context c} friend f2 {} friend f3 {} f2 likes f9"
    )
    likes = [Link("f2", "likes", "f9"), Link("f1", "likes", "f2"), Link("f1", "likes", "f3")]
    assert graph.links() == likes
    assert graph.links(label="likes") == likes
    assert graph.links("f1") == likes[1:]
    assert graph.links(object="f3") == [likes[2]]
    assert graph.links("f1", "likes", "f2") == [likes[1]]
    assert graph.links(label="knows") == []


def test_chunk_of_any_type_is_no_link() -> None:
    graph = Graph("a {} => * a1 {@subject x; @object y}")
    graph.activate("a1", 0)
    assert graph.links() == []


def test_implied_links_are_matched_in_the_context_of_their_chunk() -> None:
    graph = Graph("friend f1 {likes f2; @context c} friend f2 {likes f1}")
    assert graph.match("likes {@subject ?x}") == [
        Chunk("likes", {"@subject": "f2", "@object": "f1"})
    ]
    assert [link["@object"] for link in graph.match("* {@subject f1; @context ?c}")] == ["f2"]
    assert len(graph) == 2


def test_link_that_is_stated_is_not_implied_as_well() -> None:
    assert ids("kindof {@subject dog}", Graph("animal dog {kindof m} m m {} dog kindof m")) == [
        "_:1"
    ]


def test_kinds_follow_links_and_properties_through_cycles() -> None:
    graph = Graph("animal dog {kindof mammal} mammal kindof animal animal kindof mammal")
    assert graph.is_kind("dog", "animal")
    assert graph.is_kind("animal", "animal")
    assert not graph.is_kind("animal", "dog")
    graph.add(Link("animal", "kindof", "dog"))
    assert graph.is_kind("mammal", "dog")


def test_dates_have_read_only_chunks() -> None:
    graph = Graph("person {born 1879-03-14; met 1997-07-16T19:20:30.5+01:00}")
    date = Chunk("iso8601", {"year": 1879, "month": 3, "day": 14}, id="1879-03-14")
    assert (graph["1879-03-14"], graph.get("1879-03"), len(graph)) == (
        date,
        Chunk("iso8601", {"year": 1879, "month": 3}, id="1879-03"),
        1,
    )
    time = graph.of_type("iso8601")[1]
    assert (time["hour"], time["minute"], time["second"], time["zone"]) == (19, 20, 30.5, "+01:00")
    assert graph.add(date) == date
    with pytest.raises(ChunksError, match="read-only"):
        graph.add(Chunk("iso8601", {"year": 1880}, id="1879-03-14"))


def test_rules_are_compact_or_explicit() -> None:
    graph = Graph(
        "a {}, !b {} => c {}\nrule r1 {@condition !c1; @action a1, a2}\nx c1 {} y a1 {} z a2 {}"
    )
    compact, explicit = graph.rules
    assert [condition.negated for condition in compact.conditions] == [False, True]
    assert [chunk.type for chunk in compact.actions] == ["c"]
    assert (
        explicit
        == parse("rule r1 {@condition !c1; @action a1, a2} x c1 {} y a1 {} z a2 {}").rules[0]
    )
    assert graph[str(compact.id)]["@action"] == compact.actions[0].id


def test_rule_that_cites_a_missing_chunk_is_an_error_with_its_line() -> None:
    graph = Graph("a c1 {}\nrule r1 {@condition c1; @action a1}")
    with pytest.raises(RuleError, match=r"^Line 2: The rule 'r1' cites 'a1', which is not a chunk"):
        _ = graph.rules


def test_chunk_of_type_rule_without_action_is_no_rule() -> None:
    assert Graph("rule r1 {condition c1; action a1}").rules == []


VOCABULARY = """
@rdfmap {image http://example.org/image}
prefix first {foaf http://example.org/ns/}
prefix last {foaf http://xmlns.com/foaf/0.1/}
@rdfmap {@base http://example.org/ns#; @prefix first; nick foaf:nick; dog animal/dog}
@rdfmap {@prefix last; image http://schema.org/image}
"""


@pytest.mark.parametrize(
    ("name", "iri"),
    [
        ("image", "http://schema.org/image"),
        ("nick", "http://xmlns.com/foaf/0.1/nick"),
        ("foaf:name", "http://xmlns.com/foaf/0.1/name"),
        ("age", "http://example.org/ns#age"),
        ("dog", "http://example.org/ns#animal/dog"),
        ("http://a.b/c", "http://a.b/c"),
    ],
)
def test_names_are_iris(name: str, iri: str) -> None:
    assert Graph(VOCABULARY).iri(name) == iri


def test_name_that_nothing_maps_has_no_iri() -> None:
    assert Graph("@rdfmap {a http://b.c}").iri("b") is None
    assert Graph("@rdfmap {@base http://b.c/}").iri("@do") is None


def test_text_of_a_graph_is_the_text_of_its_statements() -> None:
    text = "a {x 1}\nb c d\ne {}, !f {} => g {}\ne e1 {x _:9}\nh _:9 {}\n"
    assert to_text(Graph(text), compact=True) == text


def test_graph_of_chunks_built_in_python() -> None:
    graph = Graph([Chunk("dog", {"name": Text("Fido")}), Link("a", "b", "c")])
    assert to_text(graph) == 'dog {\n  name "Fido"\n}\na b c\n'
