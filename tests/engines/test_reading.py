"""A store on each engine reads as an embedded one with the same dataset, in few requests."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus, StoreError
from kiprdf.sparql.abilities import Links
from tests.engines.filling import fill
from tests.engines.forwarding import at, forward
from tests.engines.servers import Engine
from tests.meta.test_same_text import MISSING, empty
from tests.meta.test_same_text import fill as write
from tests.nexus.support import StoppedClock
from tests.store.answering import answering

TEXT = "a\u0000b\r\n\U0001f34e e\u0301 \\ \" ' ?x } #"
VALUES = {
    "double": 0.1 + 0.2,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "whole": 1.0,
    "integer": 1,
    "long": 2**63 - 1,
    "least": -(2**63),
    "yes": True,
    "no": False,
    "null": None,
    "text": TEXT,
    "array": [1, 1.0, "a", None, {"k": [TEXT]}],
    "language": {"@value": "Kopfweh", "@language": "de-ch"},
    "typed": {"@value": "1.50", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
    "own": {"@value": "x", "@type": "http://kb.example/own"},
}


@pytest.fixture(scope="module")
def embedded() -> Iterator[Nexus]:
    with Nexus.memory() as nexus:
        nexus.execute(
            """UPSERT {
              CONCEPT { {type: "$ConceptType", name: "Drug"} }
              CONCEPT { {type: "$ConceptType", name: "Symptom"} }
              CONCEPT { {type: "$PropositionType", name: "treats"} }
              CONCEPT { {type: "$PropositionType", name: "states"} }
            }"""
        )
        nexus.execute(
            """UPSERT {
              CONCEPT ?h { {type: "Symptom", name: "Headache"} }
              CONCEPT ?p { {type: "Person", name: "Ada <b> / ü"} }
              CONCEPT ?a { {type: "Drug", name: "Aspirin"}
                SET ATTRIBUTES :values SET PROPOSITIONS { ("treats", ?h) } }
              CONCEPT { {type: "Drug", name: "Paracetamol"}
                SET ATTRIBUTES { double: 0.25 } SET PROPOSITIONS { ("treats", ?h) } }
              PROPOSITION { (?p, "states", (?a, "treats", ?h)) }
            } WITH METADATA { confidence: 0.9 }""",
            values=VALUES,
        )
        yield nexus


def connected(server: Engine, **arguments: Any) -> Nexus:
    """The nexus on a server, which is only read."""
    given = {"target": server.target, "default_graph": server.default_graph, **arguments}
    return Nexus.connect(**given)


FINDS = {
    "type": 'FIND(?d) WHERE { ?d {type: "Drug"} }',
    "named": 'FIND(?s) WHERE { ?d {type: "Drug", name: "Aspirin"} (?d, "treats", ?s) }',
    "links": 'FIND(?l, ?d.name) WHERE { ?l (?d, "treats", ?s) }',
    "facts about facts": 'FIND(?p.name, ?l) WHERE { (?p, "states", ?l) }',
    "values": (
        "FIND(?d.name, ?d.attributes.double) WHERE { ?d {} FILTER(?d.attributes.double > 0.26) }"
    ),
    "text in an array": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.attributes.array, "a")) }'
    ),
    "ordered": 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.double DESC',
    "grouped": 'FIND(?s.name, COUNT(?d)) WHERE { (?d, "treats", ?s) }',
    "map": 'FIND(?d.attributes) WHERE { ?d {type: "Drug"} }',
}


def _rows(result: Any) -> list[str]:
    """The rows of columns, in an order of their own."""
    columns = result if result and isinstance(result[0], list) else [result]
    return sorted(json.dumps(row, sort_keys=True) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("links", ["rdf11", None])
def test_a_nexus_reads_as_the_embedded_one(
    server: Engine, embedded: Nexus, links: Links | None
) -> None:
    fill(server, embedded, links)
    with connected(server) as nexus:
        for name, command in FINDS.items():
            assert _rows(nexus.execute(command)) == _rows(embedded.execute(command)), name
        assert nexus.snapshot() == embedded.snapshot()
        assert nexus.check() == embedded.check()
        for command in ("DESCRIBE CONCEPT TYPES", 'SEARCH CONCEPT "aspirin"'):
            assert nexus.execute(command) == embedded.execute(command)


def test_the_info_names_the_store(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    name = server.name.partition("-")[0]
    with connected(server) as nexus:
        info = nexus.info()
        assert (info["endpoint"], info["engine"]) == (server.target, name)
        assert info["profile"] == ("rdf11" if name == "virtuoso" else "rdf12")
        assert info["folder"] is None
        assert {key: info[key] for key in embedded.info().keys() - {"read_only", "folder"}} == {
            key: value
            for key, value in embedded.info().items()
            if key not in ("read_only", "folder")
        }


REQUESTS = {
    # The definitions, the answer, its elements; again the answer.
    'FIND(?s) WHERE { ?d {type: "Drug", name: "Aspirin"} (?d, "treats", ?s) }': (3, 1),
    'FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }': (2, 1),
    'FIND(?l) WHERE { ?l ({type: "Drug", name: "Aspirin"}, "treats", ?s) }': (2, 1),
    'FIND(?d.attributes.whole) WHERE { ?d {type: "Drug", name: "Aspirin"} }': (1, 1),
}


def test_a_find_takes_few_requests_on_one_connection(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    with (
        answering(lambda request: forward(server, request)) as proxy,
        connected(server, target=at(proxy.url, server.target)) as nexus,
    ):
        for command, most in REQUESTS.items():
            for number in most:
                proxy.requests.clear()
                assert _rows(nexus.execute(command)) == _rows(embedded.execute(command))
                assert len(proxy.requests) <= number, command
        assert len(proxy.clients) == 1
        # The proxy has another name than the engine.
        assert nexus.info()["engine"] == server.name.partition("-")[0]


def test_a_triple_is_there_beside_others_of_the_same_ends(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        iris = nexus.store.iris
        names = ["apart", "beside", "within"]
        types = "\n".join(f'CONCEPT {{ {{type: "$PropositionType", name: "{n}"}} }}' for n in names)
        links = " ".join(f'("{name}", ?b)' for name in names)
        nexus.execute(
            f"""UPSERT {{ {types} CONCEPT ?b {{ {{type: "Domain", name: "B"}} }}
            CONCEPT {{ {{type: "Domain", name: "A"}} SET PROPOSITIONS {{ {links} }} }} }}"""
        )
        a, b = (iris.concept("Domain", name) for name in "AB")
        for name in names:
            assert len(nexus.store.lookup(a, iris.predicate(name), b, 1)) == 1


def test_a_missing_element_has_the_same_error(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    command = 'FIND(?d) WHERE { ?d {type: "Drug", name: "Asprin"} }'
    with connected(server) as nexus:
        errors = []
        for each in (nexus, embedded):
            with pytest.raises(KipError) as caught:
                each.execute(command)
            errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_raw_sparql_reads_the_knowledge_only(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    with connected(server) as nexus:
        rows = nexus.sparql(
            "SELECT ?n { ?d a ?t ; <http://www.w3.org/2000/01/rdf-schema#label> ?n "
            'FILTER(?n = "Aspirin") }'
        )
        assert [value.value for value in rows.column("n")] == ["Aspirin"]
        assert nexus.sparql("ASK { ?x <urn:kip:vocab/commit> ?n }") is False
        double = "<urn:kip:attribute/double>"
        for form in (f"CONSTRUCT {{ <urn:x> {double} ?v }}", "DESCRIBE ?d"):
            where = f"WHERE {{ ?d {double} ?v FILTER(?d != <urn:kip:nexus/Drug/Paracetamol>) }}"
            triples = nexus.sparql(f"{form} {where}")
            values = [t.object.value for t in triples if str(t.predicate) == double]
            assert [float(value) for value in values] == [0.1 + 0.2]
        assert nexus.sparql("DESCRIBE <urn:kip:graph/nexus>") == []
        for refused, query in {
            "GRAPH": "ASK { GRAPH ?g { ?x <urn:kip:vocab/commit> ?n } }",
            "DEFINE": "DEFINE input:default-graph-uri <urn:g> SELECT ?s { ?s ?p ?o }",
            "<bif:sys_stat>": "SELECT (<bif:sys_stat>('st_host_name') AS ?host) { }",
            "sql:f": "SELECT (sql:f() AS ?x) { }",
        }.items():
            with pytest.raises(KipError, match=f"{refused} is refused"):
                nexus.sparql(query)


def test_raw_sparql_is_not_cut(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    with connected(server) as nexus:
        nexus.store.abilities = replace(nexus.store.abilities, max_rows=5)
        for query in ("SELECT ?s { ?s ?p ?o } LIMIT 5", "CONSTRUCT WHERE { ?s ?p ?o } LIMIT 5"):
            with pytest.raises(KipError, match="at most 5 rows"):
                nexus.sparql(query)


def test_a_store_that_is_no_nexus_is_left_alone(server: Engine) -> None:
    place = server.target
    graph = server.default_graph
    where = place if graph is None else f"the graph {graph} of {place}"
    with pytest.raises(StoreError) as caught:
        connected(server)
    assert str(caught.value) == (
        f"There is no nexus in {where}: give update_url, and not read_only, to create one."
    )
    triple = "<urn:a> <urn:b> <urn:c>"
    server.update(
        f"INSERT DATA {{ {triple if graph is None else f'GRAPH <{graph}> {{ {triple} }}'} }}"
    )
    with pytest.raises(StoreError) as caught:
        connected(server)
    assert str(caught.value) == (
        f"There is no nexus in {where}, but other data, which kiprdf does not change; name another "
        "default_graph, or connect with read_only."
    )
    with connected(server, read_only=True) as nexus:
        assert nexus.sparql("ASK { <urn:a> <urn:b> <urn:c> }") is True
        assert nexus.execute("FIND(?x) WHERE { ?x {} }") == []


def test_what_contradicts_the_store_is_refused(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded, "rdf11")
    where = server.target
    with pytest.raises(StoreError) as caught:
        connected(server, profile="rdf12")
    assert (
        str(caught.value)
        == f"The nexus in {where} keeps links as rdf11, not as rdf12: leave the profile out."
    )
    with pytest.raises(StoreError) as caught:
        connected(server, base_iri="http://kb.example/other/")
    assert str(caught.value) == (
        f"The nexus in {where} has the base urn:kip:nexus/, not http://kb.example/other/: "
        "leave the base out."
    )


def test_a_folder_of_indexes_has_one_for_each_store(server: Engine, tmp_path: Path) -> None:
    hits = {}
    with answering(lambda request: forward(server, request)) as proxy:
        for name, target in (("Apple", server.target), ("Pear", at(proxy.url, server.target))):
            server.clear()
            with Nexus.memory() as nexus:
                nexus.execute(
                    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Fruit"} } '
                    'CONCEPT { {type: "Fruit", name: :name} } }',
                    name=name,
                )
                fill(server, nexus)
            with connected(server, target=target, index=tmp_path) as nexus:
                hits[name] = [
                    hit["name"]
                    for word in ("apple", "pear")
                    for hit in nexus.execute(f'SEARCH CONCEPT "{word}" WITH TYPE "Fruit"')
                ]
    assert hits == {"Apple": ["Apple"], "Pear": ["Pear"]}


def test_a_store_that_replaced_another_one_at_its_url_has_its_own_index(
    server: Engine, tmp_path: Path
) -> None:
    fruit = 'UPSERT { CONCEPT { {type: "Fruit", name: :name} } }'
    for names in (["Apple"], ["Pear", "Plum", "Fig"]):
        server.clear()
        with Nexus.connect(**server.arguments) as nexus:
            nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Fruit"} } }')
            for name in names:
                nexus.execute(fruit, name=name)
        with Nexus.connect(**server.arguments, index=tmp_path) as nexus:
            hits = nexus.execute('SEARCH CONCEPT "apple pear" WITH TYPE "Fruit"')
            assert [hit["name"] for hit in hits] == names[:1]
    assert len(list(tmp_path.glob("*/search.sqlite3"))) == 2


def test_texts_are_compared_by_code_point(server: Engine) -> None:
    last = ["z", "\ud7ff", "\ud7ffz", "\ue000", "\uff5e", "\U0001f600"]
    names = [*(f"a{name}" for name in last), *last]
    with Nexus.connect(**server.arguments) as nexus:
        items = "\n".join(f'CONCEPT {{ {{type: "Item", name: "{name}"}} }}' for name in names)
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Item"}} }} {items} }}')
        pairs = nexus.find(
            'FIND(?a.name, ?b.name) WHERE { ?a {type: "Item"} ?b {type: "Item"}'
            " FILTER(?a.name < ?b.name) }"
        )
        assert set(pairs.tuples()) == set(itertools.combinations(names, 2))
        for number, name in enumerate(names):
            above = nexus.find(
                'FIND(?a.name) WHERE { ?a {type: "Item"} FILTER(?a.name > :name) }', name=name
            )
            assert {row[0] for row in above.tuples()} == set(names[number + 1 :])


# Each name with the doubles that are equal to its value.
NEIGHBOURS = {
    "zero": (0.0, ["minus", "zero"]),
    "minus": (-0.0, ["minus", "zero"]),
    "least": (5e-324, ["least"]),
    "third": (0.3, ["third"]),
    "sum": (0.1 + 0.2, ["sum"]),
    "large": (1e300, ["large"]),
    "larger": (1.0000000000000002e300, ["larger"]),
}


def test_doubles_are_compared_bit_by_bit_but_for_the_sign_of_zero(server: Engine) -> None:
    items = " ".join(
        f'CONCEPT {{ {{type: "Item", name: "{name}"}} SET ATTRIBUTES {{ size: :{name} }} }}'
        for name in NEIGHBOURS
    )
    values = {name: value for name, (value, _) in NEIGHBOURS.items()}
    ascending = ["minus", "zero", "least", "third", "sum", "large", "larger"]
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }')
        nexus.execute(f"UPSERT {{ {items} }}", **values)
        find = 'FIND(?i.name) WHERE { ?i {type: "Item"} %s }'
        for name, (value, equal) in NEIGHBOURS.items():
            at = ascending.index(equal[-1]) + 1
            for condition, expected in (
                ("?i.attributes.size == :value", equal),
                ("IN(?i.attributes.size, [:value, 7, 0.25])", equal),
                ("?i.attributes.size > :value", ascending[at:]),
                ("?i.attributes.size <= :value", ascending[:at]),
            ):
                names = nexus.execute(find % f"FILTER({condition})", value=value)
                assert sorted(names) == sorted(expected), (name, condition)
        names = nexus.execute(find % "" + " ORDER BY ?i.attributes.size ASC LIMIT 6")
        assert names == ascending[:6]


def test_a_plan_that_is_kept_follows_the_arrays_under_its_keys(server: Engine) -> None:
    drug = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { tags: :tags } } }'
    questions = [
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.tags == "a") }',
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.attributes.tags, "a")) }',
    ]
    with Nexus.connect(**server.arguments, genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        for name, tags, names in (
            ("A", "a", ["A"]),
            ("B", ["a", "b"], ["A", "B"]),
            ("C", ["a"], ["A", "B", "C"]),
            ("B", "b", ["A", "C"]),
        ):
            nexus.execute(drug, name=name, tags=tags)
            # The first answer compiles the text, the second the plan, the third takes that.
            for question in questions * 3:
                assert sorted(nexus.execute(question)) == names, (name, question)


OPEN_HOPS = (
    '({type: "N", name: "a"}, "next"{0,}, ?b)',
    '(?b, "next"{0,}, {type: "N", name: "d"})',
    '({type: "N", name: "a"}, "next", ?a) (?a, "next"{1,}, ?b)',
    '({type: "N", name: "b"}, "next"{2,}, ?b)',
    '({type: "N", name: "a"}, "next"{0,}, ?b) ?b {type: "N"}',
    '({type: "N", name: "a"}, "next"{0,}, ?b) ?c {type: "M"} '
    'OPTIONAL { ({type: "N", name: "a"}, "next", ?b) }',
)


def test_a_product_with_parameters_can_be_asked_again(server: Engine) -> None:
    command = (
        'FIND(?b.name) WHERE { (?a, "q"{2}, ?a) UNION { (?b {type: "V", name: "B"}, "q", '
        '((id: "P:2e53c223a14ddcec:q"), "q", {id: :x})) (?c, "q", ?d) } }'
    )
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            """UPSERT {
              CONCEPT { {type: "$ConceptType", name: "V"} }
              CONCEPT { {type: "$PropositionType", name: "q"} }
              CONCEPT { {type: "V", name: "A"} }
            }"""
        )
        assert [nexus.execute(command, x="C:V/A") for _ in range(3)] == [[], [], []]


def test_open_hops_follow_cycles(server: Engine) -> None:
    links = " ".join(
        f'PROPOSITION {{ ({{type: "N", name: "{start}"}}, "next", {{type: "N", name: "{end}"}}) }}'
        for start, end in ("ab", "bc", "ca", "cd", "db", "ac")
    )
    nodes = " ".join(f'CONCEPT {{ {{type: "N", name: "{name}"}} }}' for name in "abcde")
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } '
            'CONCEPT { {type: "$ConceptType", name: "M"} } '
            'CONCEPT { {type: "$PropositionType", name: "next"} } '
            f'CONCEPT {{ {{type: "M", name: "m"}} }} {nodes} {links} }}'
        )
        for where in OPEN_HOPS:
            find = f"FIND(?b.name, ?b.attributes.size, ?b.attributes.missing) WHERE {{ {where} }}"
            for _ in range(3):
                assert sorted(nexus.find(find).column("?b.name")) == list("abcd"), where


def test_what_an_optional_does_not_bind_is_not_counted(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            """UPSERT {
              CONCEPT { {type: "$ConceptType", name: "N"} }
              CONCEPT { {type: "$PropositionType", name: "next"} }
              CONCEPT ?a { {type: "N", name: "a"} }
              CONCEPT ?b { {type: "N", name: "b"} SET PROPOSITIONS { ("next", ?a) } }
              CONCEPT { {type: "N", name: "c"} SET PROPOSITIONS { ("next", ?a) ("next", ?b) } }
            }"""
        )
        where = 'WHERE { ?n {type: "N"} OPTIONAL { (?from, "next", ?n) } }'
        counts = nexus.execute(f"FIND(?n.name, COUNT(?from)) {where} ORDER BY ?n.name")
        assert counts == [["a", "b", "c"], [2, 1, 0]]
        whole = nexus.execute(f"FIND(COUNT(?from), COUNT(DISTINCT ?from), COUNT(?n)) {where}")
        assert whole == [3, 2, 4]
        linked = 'WHERE { ?n {name: "c"} OPTIONAL { ?l (?from, "next", ?n) } }'
        counts = nexus.execute(f"FIND(?n.attributes.x, COUNT(?from), COUNT(?l)) {linked}")
        assert counts == [[None], [0], [0]]


def test_what_open_hops_reach_on_a_cycle_is_counted_once(server: Engine) -> None:
    links = " ".join(
        f'PROPOSITION {{ ({{type: "N", name: "{start}"}}, "next", {{type: "N", name: "{end}"}}) }}'
        for start, end in ("ab", "ba", "za", "zb")
    )
    concepts = " ".join(f'CONCEPT {{ {{type: "N", name: "{name}"}} }}' for name in "abz")
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            f"""UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "N"}} }}
            CONCEPT {{ {{type: "$PropositionType", name: "next"}} }} {concepts} {links} }}"""
        )
        where = 'WHERE { ?n {type: "N"} ?l (?from, "next", ?n) (?n, "next"{%s}, ?to) }'
        for hops in ("0,", "1,"):
            counts = f"FIND(?from.name, COUNT(?to)) {where % hops} ORDER BY ?from.name"
            assert nexus.execute(counts) == [["a", "b", "z"], [2, 2, 4]], hops


TEXTS = ["a", "a\n", "ab", "A1", "1\r", "x.y", "é", "٣", "\U0001f600"]
REGEXES = {
    "a$": ["a"],
    "^(?:a|x.y)$": ["a", "x.y"],
    "^.$": ["a", "é", "٣", "\U0001f600"],
    "^..$": ["ab", "A1", "1\r"],
    "x\\.y": ["x.y"],
    "[A-Z][0-9]": ["A1"],
    "[[:alpha:]]": ["a", "a\n", "ab", "A1", "x.y"],
    "\\d": ["A1", "1\r", "٣"],
    "(?i)É": ["é"],
    "(?P<n>b)": ["ab"],
    "(?x) b # c": ["ab"],
}


def test_regular_expressions_are_those_of_rust(server: Engine) -> None:
    items = " ".join(
        f'CONCEPT {{ {{type: "Item", name: "{number}"}} SET ATTRIBUTES {{ text: :t{number} }} }}'
        for number in range(len(TEXTS))
    )
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }')
        nexus.execute(
            f"UPSERT {{ {items} }}", **{f"t{number}": text for number, text in enumerate(TEXTS)}
        )
        find = (
            'FIND(?i.attributes.text) WHERE { ?i {type: "Item"} '
            "FILTER(REGEX(?i.attributes.text, :regex)) }"
        )
        for regex, expected in REGEXES.items():
            assert sorted(nexus.execute(find, regex=regex)) == sorted(expected), regex


BESIDE = {
    # NOT beside a named element, alone and with values; equalities in NOT; both ends alike.
    '?d {type: "N", name: "a"} NOT { (?x, "next", ?d) }': [],
    '?d {type: "N"} NOT { ?d {type: "N", name: "a"} ?d {} }': ["b", "c"],
    '?n {type: "M", name: "m"} (?d, "next", ?e) NOT { ?d {} }': [],
    '(?d, "next", ?d) OPTIONAL { (?d, "likes", ?e) }': [],
    # OPTIONALs that read what is outside, and that nothing is joined with.
    '?c {type: "N", name: "a"} OPTIONAL { (?d, "next", ?c) ?d {type: "M"} } '
    "FILTER(IS_NOT_NULL(?d))": [],
    '?d {type: "M"} OPTIONAL { (?a, "likes", ?b) FILTER(?b.attributes.size == 3) } '
    "FILTER(IS_NULL(?a))": [],
    '(?c, "likes", {type: "N"}) OPTIONAL { FILTER(?c.name != ?c.attributes.size) '
    '(?c, "next", ?d) }': ["b"],
    # A FILTER after UNION, and after a hop range, which is one.
    '?d {type: "N", name: "a"} UNION { ?l (?c, ?p, {type: "N", name: "b"}) } '
    'FILTER(?c.attributes.size <= "a")': [],
    '({}, "next", ?d) ?l (?d, "next"{1,3}, ?d)': ["a", "b", "c"],
    # Values that are null, empty texts, alternatives of a regular expression.
    '(?c, "likes", ?d) FILTER(IS_NULL(?d.type))': [None],
    '?d {type: "N"} FILTER(CONTAINS(?d.name, ?d.attributes.text))': ["a", "b"],
    '?d {type: "N"} FILTER(REGEX(?d.name, "x|a|c"))': ["a", "c"],
    '?d {type: "N", name: "a"} FILTER(ENDS_WITH(?d.name, ""))': ["a"],
    # Numbers beside other values, and alternatives of predicates.
    '?d {type: "N"} (?d, "next" | "likes", ?e) FILTER(?e.attributes.mark > 2)': ["a", "b"],
    '?d {type: "N"} (?d, "next" | "likes", ?e) FILTER(?e.attributes.mark != 0)': ["a", "b", "c"],
    '?d {type: "N"} (?d, "next" | "likes", ?e) NOT { ?k (?d, "likes", ?f) } '
    "FILTER(?e.name >= ?d.name)": ["b"],
    # A value and itself, and two values of one OPTIONAL.
    '?d {type: "N"} OPTIONAL { ?k (?d, "likes", ?e) } '
    "FILTER(?k.attributes.size <= ?k.attributes.size)": [],
    '?d {type: "N"} OPTIONAL { (?d, "next", ?e) } '
    "FILTER(STARTS_WITH(?e.attributes.note, ?e.attributes.text))": [],
    # One link cannot be two.
    '?l (?d, "next"{1,2}, ?e) ?l (?b, "next"{2,3}, ?c)': [],
}


def test_conditions_hold_beside_other_groups(server: Engine) -> None:
    links = " ".join(
        f'PROPOSITION {{ ({{type: "N", name: "{start}"}}, "next", {{type: "N", name: "{end}"}}) }}'
        for start, end in ("ab", "bc", "ca")
    )
    with Nexus.connect(**server.arguments) as nexus:
        nexus.execute(
            f"""UPSERT {{
            CONCEPT {{ {{type: "$ConceptType", name: "N"}} }}
            CONCEPT {{ {{type: "$ConceptType", name: "M"}} }}
            CONCEPT {{ {{type: "$PropositionType", name: "next"}} }}
            CONCEPT {{ {{type: "$PropositionType", name: "likes"}} }}
            CONCEPT {{ {{type: "M", name: "m"}} }}
            CONCEPT {{ {{type: "N", name: "a"}} SET ATTRIBUTES {{ size: 1, text: "", mark: "x" }} }}
            CONCEPT {{ {{type: "N", name: "b"}} SET ATTRIBUTES {{ text: "b", mark: 2 }} }}
            CONCEPT {{ {{type: "N", name: "c"}}
              SET ATTRIBUTES {{ size: 3, mark: 2.5, note: "n" }} }}
            {links}
            PROPOSITION {{ ({{type: "N", name: "a"}}, "likes", {{type: "N", name: "c"}}) }}
            PROPOSITION {{
              ({{type: "M", name: "m"}}, "likes",
               ({{type: "N", name: "a"}}, "next", {{type: "N", name: "b"}})) }}
            }}"""
        )
        sizes = {"a": 1, "b": None, "c": 3, None: None}
        for where, names in BESIDE.items():
            for _ in range(3):
                shown = nexus.find(f"FIND(?d.name) WHERE {{ {where} }}").column("?d.name")
                assert sorted(shown) == names, where
                rows = nexus.find(f"FIND(?d.name, ?d.attributes.size) WHERE {{ {where} }}").tuples()
                assert sorted(rows) == [(name, sizes[name]) for name in names], where
        values = nexus.find(
            "FIND(?d.name, ?d.attributes.size, ?e.attributes.text) "
            'WHERE { (?e, "next", ?d) OPTIONAL { ?d {type: "M"} } }'
        )
        assert sorted(values.tuples()) == [("a", 1, None), ("b", None, ""), ("c", 3, "b")]


def test_models_read_the_same_text_on_each_engine(server: Engine) -> None:
    embedded = empty()
    write(embedded, random.Random(1))
    with Nexus.connect(**server.arguments, genesis=False, clock=StoppedClock()) as nexus:
        nexus.restore(embedded.snapshot())
        commands = ('DESCRIBE CONCEPT TYPE "Drug"', MISSING[0])
        for command in commands:
            answers = [each.execute_kip({"command": command}) for each in (nexus, embedded)]
            assert json.dumps(answers[0]) == json.dumps(answers[1]), command


def test_a_product_is_refused_before_it_is_read(server: Engine, embedded: Nexus) -> None:
    fill(server, embedded)
    with connected(server) as nexus, nexus.limited(max_product_rows=3):
        for parts in (
            '?d {type: "Drug"} ?e {type: "Drug"}',
            '(?d, "treats", ?s) ?e {type: "Drug"}',
        ):
            with pytest.raises(KipError, match="and have 4 combinations; 3 are allowed"):
                nexus.execute(f"FIND(?d, ?e) WHERE {{ {parts} }}")
        assert len(nexus.find('FIND(?d, ?s) WHERE { ?d {type: "Drug"} ?s {type: "Symptom"} }')) == 2
