"""A graph of graphiti becomes concepts, facts with their periods, and notes as their evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus, importers
from kiprdf.memory import Memory
from tests.importers.exports import NOTHING, SAMPLES, counts, planned, recalled, sample
from tests.long_runs import amount

FACTS = 'FIND(?l.predicate, ?c.name) WHERE { ?l ({type: "Person", name: "Ada"}, ' + (
    '"WORKS_AT" | "ADVISES", ?c) }'
)
ACME = (
    'FIND(?l.id) WHERE { ?l ({type: "Person", name: "Ada"}, "WORKS_AT",'
    ' {type: "Organization", name: "Acme"}) }'
)
WORKS, GLOBEX, ADVISES = ("WORKS_AT", "Acme"), ("WORKS_AT", "Globex"), ("ADVISES", "Globex")


def rows(nexus: Nexus, command: str, **values: Any) -> set[tuple[Any, ...]]:
    return {*zip(*nexus.execute(command, **values), strict=True)}


def test_all_of_a_graph_is_found(tmp_path: Path) -> None:
    plan = importers.graphiti(SAMPLES / "graphiti.json")
    assert plan.skipped == []
    assert plan.warnings == ["2 vectors are left out: `kiprdf embed` makes others."]
    with Nexus.open(tmp_path / "brain") as nexus:
        plan.apply(nexus)
        # What ended is ended, what will end holds, and several intervals are periods.
        assert rows(nexus, FACTS) == {WORKS, GLOBEX, ADVISES}
        assert rows(nexus, kiprdf.believed(FACTS)) == {WORKS, ADVISES}
        expected = {
            "2018-12-31": set(),
            "2019-01-01": {WORKS},
            "2022-02-01": set(),
            "2022-03-01": {GLOBEX},
            "2024-01-01": {WORKS},
            "2025-01-01": {WORKS, ADVISES},
            "2126-01-01": {WORKS},
        }
        at = kiprdf.valid_at(FACTS)
        assert {day: rows(nexus, at, t=day) for day in expected} == expected
        [acme] = nexus.execute(ACME)
        assert nexus.validity(acme) == [
            {"from": "2019-01-01", "until": "2022-01-01"},
            {"from": "2024-01-01", "until": None},
        ]
        ended = 'FIND(?l.metadata) WHERE { ?l (?p, "WORKS_AT", {type: "Entity", name: "Globex"}) }'
        [metadata] = nexus.execute(ended)
        assert {key: value for key, value in metadata.items() if key[0] != "_"} == {
            "created_at": "2026-01-02T00:00:00Z",
            "expired_at": "2026-01-03T00:00:00Z",
            "original_id": "e-3",
            "source": "graphiti.json",
            "superseded": True,
            "superseded_at": "2024-01-01T00:00:00Z",
            "valid_from": "2022-03-01T00:00:00Z",
            "valid_until": "2024-01-01T00:00:00Z",
        }
        # Recall finds what holds, and what was said.
        assert set(recalled(nexus, "Where does Ada work?")) == {
            "Ada is back at Acme.",
            "Ada advises Globex.",
            "Ada: I spent three years at Acme, until 2022.",
        }
        [episode] = Memory(nexus).items(session="team")
        assert episode.timestamp == "2026-01-01T12:00:00Z"
        stating = 'FIND(?n.name, ?l.predicate) WHERE { (?n, "states", ?l) }'
        acme_notes = {("e-1", "WORKS_AT"), ("e-2", "WORKS_AT"), ("p-1", "WORKS_AT")}
        assert rows(nexus, stating) == acme_notes | {("e-3", "WORKS_AT"), ("e-4", "ADVISES")}
        [ada] = nexus.execute('FIND(?a) WHERE { ?a {type: "Person", name: "Ada"} }')
        assert ada["attributes"] == {
            "group_id": "team",
            "occupation": "engineer",
            "summary": "An engineer.",
        }
        [position] = nexus.execute(ACME.replace("?l.id", "?l.attributes"))
        assert position == {"group_id": "team", "position": "director"}
        note = 'FIND(?n.attributes) WHERE { ?n {type: "MemoryItem", name: :name} }'
        assert nexus.execute(note, name="e-1")[0]["position"] == "intern"
        assert nexus.execute(note, name="e-2")[0]["episodes"] == ["p-2"]
        Memory(nexus).rebuild()
        assert rows(nexus, stating) == acme_notes | {("e-3", "WORKS_AT"), ("e-4", "ADVISES")}
        member = 'FIND(?a.name) WHERE { ({type: "Community", name: "Work"}, "has_member", ?a) }'
        assert nexus.execute(member) == ["Ada"]


def test_a_second_import_ends_what_ended_meanwhile(tmp_path: Path) -> None:
    graph = sample("graphiti.json")
    first, second, *_ = graph["edges"]
    with Nexus.memory() as nexus:
        advises = graph["edges"][-1] | {"invalid_at": "2020-01-01T00:00:00Z"}
        graph["edges"] = [{**first, "invalid_at": None, "expired_at": None}, advises]
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert counts(planned("graphiti", tmp_path, graph).apply(nexus)) == NOTHING
        assert rows(nexus, kiprdf.believed(FACTS)) == {WORKS}
        graph["edges"] = [first]
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert rows(nexus, kiprdf.believed(FACTS)) == set()
        assert "Ada worked at Acme first." not in recalled(nexus, "Acme")
        # It becomes true again, ends again, and is true once more.
        graph["edges"] = [first, second]
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert rows(nexus, kiprdf.believed(FACTS)) == {WORKS}
        ended = {**second, "invalid_at": "2026-06-01T00:00:00Z"}
        third = {
            **second,
            "uuid": "e-9",
            "valid_at": "2026-09-01T00:00:00Z",
            "fact": "Ada returned.",
        }
        for edges in ([first, ended], [third, ended, first]):
            graph["edges"] = edges
            planned("graphiti", tmp_path, graph).apply(nexus)
            assert counts(planned("graphiti", tmp_path, graph).apply(nexus)) == NOTHING
            is_open = third in edges
            assert rows(nexus, kiprdf.believed(FACTS)) == ({WORKS} if is_open else set())
        [acme] = nexus.execute(ACME)
        assert nexus.validity(acme) == [
            {"from": "2019-01-01", "until": "2022-01-01"},
            {"from": "2024-01-01", "until": "2026-06-01"},
            {"from": "2026-09-01", "until": None},
        ]
        assert "Ada returned." in recalled(nexus, "Has Ada returned?")


NODE = {"uuid": "a", "name": "Ada", "labels": ["Entity"], "created_at": "2026-01-01T00:00:00Z"}
OTHER = {**NODE, "uuid": "b", "name": "Bob"}
EDGE = {
    "uuid": "e",
    "source_node_uuid": "a",
    "target_node_uuid": "b",
    "name": "KNOWS",
    "fact": "Ada knows Bob.",
    "created_at": "2026-01-01T00:00:00Z",
}
KNOWS = 'FIND(?l.metadata.valid_from, ?l.metadata.superseded_at) WHERE { ?l (?a, "KNOWS", ?b) }'


def neo4j_time(year: int) -> dict[str, Any]:
    """A time of the driver as ``json.dumps(…, default=vars)`` writes it."""
    day = {"_Date__ordinal": 0, "_Date__year": year, "_Date__month": 3, "_Date__day": 1}
    time = {"_Time__ticks": 0, "_Time__hour": 2, "_Time__minute": 0, "_Time__second": 0}
    zone = {"_Time__nanosecond": 0, "_Time__tzinfo": {"_minutes": 120}}
    return {"_DateTime__date": day, "_DateTime__time": {**time, **zone}}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"valid_at": neo4j_time(2020)}, ("2020-03-01T00:00:00Z", None)),
        ({"valid_at": "2020-03-01 00:00:00.000000000"}, ("2020-03-01T00:00:00Z", None)),
        ({"valid_at": 1583020800}, ("2020-03-01T00:00:00Z", None)),
        ({"expired_at": "2024-01-01T01:00:00+01:00"}, (None, "2024-01-01T00:00:00Z")),
        ({"valid_at": "some day"}, (None, None)),
        (
            {"invalid_at": "2126-01-01T00:00:00Z", "expired_at": "2024-01-01T00:00:00Z"},
            (None, None),
        ),
    ],
    ids=range(6),
)
def test_times_of_every_form(tmp_path: Path, times: Any, expected: tuple[Any, Any]) -> None:
    plan = planned("graphiti", tmp_path, {"nodes": [NODE, OTHER], "edges": [{**EDGE, **times}]})
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert rows(nexus, KNOWS) == {expected}
        assert (recalled(nexus, "Bob") == ["Ada knows Bob."]) == (expected[1] is None)
        assert plan.warnings == (
            ["edges 1: its valid_at is no time."] if "some day" in times.values() else []
        )


def test_records_of_drivers(tmp_path: Path) -> None:
    # Neo4j repeats all properties in the attributes, Kuzu has them as JSON.
    properties = {**NODE, "occupation": "engineer", "name_embedding": [0.1], "labels": None}
    node = {**NODE, "labels": ["Entity", "Entity_team", "Person"], "attributes": properties}
    other = {**OTHER, "attributes": '{"occupation": "pilot"}'}
    ends = {"source_uuid": "a", "target_uuid": "b"}
    edge = {**EDGE, "attributes": {**EDGE, **ends, "since": 2019}}
    with Nexus.memory() as nexus:
        planned("graphiti", tmp_path, {"nodes": [node, other], "edges": [edge]}).apply(nexus)
        occupations = "FIND(?c.attributes) WHERE { ?c {type: :type, name: :name} }"
        assert nexus.execute(occupations, type="Person", name="Ada") == [{"occupation": "engineer"}]
        assert nexus.execute(occupations, type="Entity", name="Bob") == [{"occupation": "pilot"}]
        assert nexus.execute('FIND(?l.attributes) WHERE { ?l (?a, "KNOWS", ?b) }') == [
            {"since": 2019}
        ]


def test_a_fact_whose_end_was_taken_back_holds_again(tmp_path: Path) -> None:
    end = {"invalid_at": "2026-02-01T00:00:00Z", "expired_at": "2026-02-02T00:00:00Z"}
    graph = {"nodes": [NODE, OTHER], "edges": [{**EDGE, **end}]}
    with Nexus.memory() as nexus:
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert rows(nexus, KNOWS) == {(None, "2026-02-01T00:00:00Z")}
        graph["edges"] = [EDGE]
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert rows(nexus, kiprdf.believed(KNOWS)) == {(None, None)}
        assert recalled(nexus, "Does Ada know Bob?") == ["Ada knows Bob."]
        assert counts(planned("graphiti", tmp_path, graph).apply(nexus)) == NOTHING


def test_namesakes_circles_and_loops_are_kept(tmp_path: Path) -> None:
    namesake = {**NODE, "uuid": "c", "created_at": "2026-02-01T00:00:00Z"}
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")]
    edges = [
        {**EDGE, "uuid": f"e{n}", "source_node_uuid": start, "target_node_uuid": end}
        for n, (start, end) in enumerate(pairs)
    ]
    graph = {"nodes": [namesake, NODE, OTHER], "edges": edges}
    with Nexus.memory() as nexus:
        planned("graphiti", tmp_path, graph).apply(nexus)
        assert rows(nexus, 'FIND(?a.name, ?b.name) WHERE { (?a, "KNOWS", ?b) }') == {
            ("Ada", "Bob"),
            ("Bob", "Ada (c)"),
            ("Ada (c)", "Ada"),
            ("Ada", "Ada"),
        }
        # A namesake that is older in the list changes no name.
        graph["nodes"].append({**NODE, "uuid": "d", "created_at": "2026-03-01T00:00:00Z"})
        report = planned("graphiti", tmp_path, graph).apply(nexus)
        assert report["concepts"]["created"] == 1


def test_an_entity_that_is_named_otherwise_now_is_one(tmp_path: Path) -> None:
    graph = {"nodes": [{**NODE, "name": "Ada L."}, OTHER], "edges": [EDGE]}
    with Nexus.memory() as nexus:
        planned("graphiti", tmp_path, graph).apply(nexus)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Entity", name: "Ada L."} SET ATTRIBUTES { own: 1 } } }'
        )
        graph["nodes"][0] |= {"name": "Ada Lovelace"}
        report = planned("graphiti", tmp_path, graph).apply(nexus)
        assert report["vanished"] == []
        assert counts(planned("graphiti", tmp_path, graph).apply(nexus)) == NOTHING
        ada = 'FIND(?c.attributes.own) WHERE { ?c {type: "Entity", name: "Ada Lovelace"} }'
        assert nexus.execute(ada) == [1]
        names = 'FIND(?c.name) WHERE { ?c {type: "Entity"} }'
        assert sorted(nexus.execute(names)) == ["Ada Lovelace", "Bob"]
        assert rows(nexus, 'FIND(?a.name, ?b.name) WHERE { (?a, "KNOWS", ?b) }') == {
            ("Ada Lovelace", "Bob")
        }
        stating = 'FIND(?n.name) WHERE { ?l (?a, "KNOWS", ?b) (?n, "states", ?l) }'
        assert nexus.execute(stating) == ["e"]
        # Concepts of two types do not merge: the first one is superseded.
        graph["nodes"][0] |= {"labels": ["Entity", "Person"]}
        report = planned("graphiti", tmp_path, graph).apply(nexus)
        assert report["vanished"] == []
        assert report["warnings"][0].startswith("'Ada Lovelace' is a Person now, and was a Entity")
        assert counts(planned("graphiti", tmp_path, graph).apply(nexus)) == NOTHING
        assert nexus.execute(kiprdf.believed(names)) == ["Bob"]
        linked = 'FIND(?a.type, ?a.name) WHERE { (?a, "KNOWS", ?b) }'
        assert rows(nexus, kiprdf.believed(linked)) == {("Person", "Ada Lovelace")}
        # Another entity in its place is another one.
        graph["nodes"][0] |= {"uuid": "z", "name": "Eve"}
        graph["edges"] = []
        report = planned("graphiti", tmp_path, graph).apply(nexus)
        assert {"type": "Person", "name": "Ada Lovelace"} in report["vanished"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({**EDGE, "uuid": "f", "target_node_uuid": "z"}, "its node z is not in the file"),
        ({"uuid": "p", "content": "", "entity_edges": []}, "an episode without content"),
        ({"name": "Eve"}, "more 1 is no object with a uuid"),
        ("Eve", "more 1 is no object with a uuid"),
        ({"uuid": "x"}, "more 1 is no node, edge or episode"),
        ({**NODE, "name": "Eve"}, "more 1: an item before it has its uuid and other values"),
        (
            {**EDGE, "uuid": "l", "fact": None, "name": None, "source_node_uuid": "z"},
            "an end of it",
        ),
    ],
    ids=range(7),
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, item: Any, reason: str) -> None:
    graph = {"nodes": [NODE, OTHER], "edges": [EDGE], "more": [item]}
    plan = planned("graphiti", tmp_path, graph)
    [skipped] = plan.skipped
    assert skipped["reason"].startswith(reason)
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert "Ada knows Bob." in recalled(nexus, "Bob")


@pytest.mark.parametrize("content", ['{"nodes": [{"uuid": "a", "na', "{}", "7", '{"nodes": []}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(KipError) as caught:
        planned("graphiti", tmp_path, content)
    assert "graphiti.json" in caught.value.message
    assert caught.value.hint


def test_many_edges(tmp_path: Path) -> None:
    number = amount("IMPORTED", 200)
    nodes = [{**NODE, "uuid": f"n{n}", "name": f"N{n}"} for n in range(number)]
    edges = [
        {**EDGE, "uuid": f"e{n}", "source_node_uuid": f"n{n}", "target_node_uuid": f"n{n - 1}",
         "fact": f"Fact {n}"}
        for n in range(1, number)
    ]  # fmt: skip
    with Nexus.open(tmp_path / "brain") as nexus:
        report = planned("graphiti", tmp_path, {"nodes": nodes, "edges": edges}).apply(nexus)
        assert report["propositions"]["created"] == 2 * (number - 1)
        nexus.build_index()
        assert recalled(nexus, f"fact {number - 1}")[0] == f"Fact {number - 1}"
