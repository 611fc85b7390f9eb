"""A nexus as a module: rules read and write concepts and propositions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import kiprdf
from kiprdf import chunks

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Dog"} }
  CONCEPT { {type: "$ConceptType", name: "Cat"} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT { {type: "$PropositionType", name: "kindof"} }
  CONCEPT ?f { {type: "Dog", name: "Fido"}
    SET ATTRIBUTES { age: 4, breed: "collie", tags: ["old", "big dog"], chip: {code: 7} } }
  CONCEPT ?r { {type: "Dog", name: "Rex"} SET ATTRIBUTES { age: 7 } }
  CONCEPT { {type: "Cat", name: "Tom cat"} SET ATTRIBUTES { age: 4 } }
  PROPOSITION { (?f, "likes", ?r) }
}
"""
DREAM = """
UPSERT { CONCEPT { {type: "Dog", name: "Ghost"} SET ATTRIBUTES { age: 4 } } }
WITH METADATA { context: "dream" }
"""


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as opened:
        opened.execute(SCHEMA)
        opened.execute(DREAM)
        yield opened


def run(nexus: kiprdf.Nexus, rules: str, goal: str = "start {}") -> chunks.Engine:
    engine = chunks.Engine(rules, {"facts": nexus})
    engine.goal(goal)
    engine.run(max_cycles=30)
    return engine


def facts(engine: chunks.Engine) -> tuple[str, str, dict[str, Any]]:
    buffer = engine.module("facts").buffer
    assert buffer is not None
    return str(buffer.type), str(buffer.id), dict(buffer.properties)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("Dog {@do get; age 7}", ("Dog", "Rex", {"age": 7})),
        ("Dog {@do get; @context dream}", ("Dog", "Ghost", {"age": 4, "@context": "dream"})),
        ("* {@do get; @id Rex}", ("Dog", "Rex", {"age": 7})),
        ('* {@do get; @id "Tom cat"}', ("Cat", "Tom cat", {"age": 4})),
        ("Dog {@do get; breed !; age !4}", ("Dog", "Rex", {"age": 7})),
        (
            "Dog {@do get; tags old, ?x}",
            ("Dog", "Fido", {"age": 4, "breed": "collie", "tags": ("old", "big dog")}),
        ),
        ("likes {@do get; @subject Fido}", ("likes", None, {"@subject": "Fido", "@object": "Rex"})),
        ("* {@do get; @object Rex}", ("likes", None, {"@subject": "Fido", "@object": "Rex"})),
    ],
)
def test_get_reads_concepts_and_propositions(
    nexus: kiprdf.Nexus, action: str, expected: tuple[str, str | None, dict[str, Any]]
) -> None:
    engine = run(nexus, f"start {{}} => {action.replace('{', '{@module facts; ')}")
    kind, identifier, properties = facts(engine)
    assert (kind, properties) == (expected[0], expected[2])
    assert identifier == expected[1] or identifier.startswith("P:")


@pytest.mark.parametrize(
    "action", ["Dog {@do get; age 99}", "Nothing {@do get}", "Cat {@do get; @id Rex; age 9}"]
)
def test_get_without_a_match_is_nomatch(nexus: kiprdf.Nexus, action: str) -> None:
    engine = run(nexus, f"start {{}} => {action.replace('{', '{@module facts; ')}")
    assert (engine.module("facts").buffer, engine.module("facts").status) == (None, "nomatch")


def test_next_visits_each_concept_of_a_type(nexus: kiprdf.Nexus) -> None:
    engine = chunks.Engine(
        """start {} => Dog {@module facts; @do next}, go {}
           go {}, Dog {@module facts; @id ?name} =>
             show {@do show; value ?name}, Dog {@module facts; @do next}""",
        {"facts": nexus},
    )
    shown: list[str] = []
    engine.operation("show", lambda call: shown.append(str(call.properties["value"])))
    engine.goal("start {}")
    engine.run()
    assert sorted(shown) == ["Fido", "Rex"]


def test_put_with_an_id_overwrites_the_attributes_and_keeps_what_is_no_value(
    nexus: kiprdf.Nexus,
) -> None:
    run(nexus, "start {} => Dog {@module facts; @do put; @id Fido; age 5; name_of_owner Ann}")
    (dog,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Dog", name: "Fido"} }')
    assert dog["attributes"] == {"age": 5, "chip": {"code": 7}, "name_of_owner": "Ann"}
    assert dog["metadata"]["_version"] == 2


def test_put_without_an_id_makes_a_new_concept_with_a_context(nexus: kiprdf.Nexus) -> None:
    run(
        nexus,
        """start {} => Dog {@module facts; @do put; age 1; @context c},
                       Dog {@module facts; @do put; age 2}""",
    )
    rows = nexus.execute(
        'FIND(?d.name, ?d.metadata.context) WHERE { ?d {type: "Dog"} '
        "FILTER(?d.attributes.age < 3) } ORDER BY ?d.name"
    )
    assert rows == [["Dog-4", "Dog-5"], ["c", None]]


def test_put_of_a_link_may_name_a_concept_of_the_same_rule(nexus: kiprdf.Nexus) -> None:
    engine = run(
        nexus,
        """start {} => Dog {@module facts; @do put; @id Bello; age 1},
                       likes {@module facts; @do put; @subject Rex; @object Bello; since 2020}""",
    )
    assert engine.module("facts").status == "okay"
    rows = nexus.execute(
        'FIND(?l.attributes.since) WHERE { ?l ({name: "Rex"}, "likes", {name: "Bello"}) }'
    )

    assert rows == [2020]


def test_a_quoted_id_is_a_name_with_spaces(nexus: kiprdf.Nexus) -> None:
    engine = run(
        nexus,
        """start {} => Dog {@module facts; @do put; @id "Old Shep"; age 9},
             likes {@module facts; @do put; @subject "Old Shep"; @object "Tom cat"},
             Dog {@module facts; @do get; @id "Old Shep"}, go {}
           go {}, Dog {@module facts; @id "Old Shep"} => done {}""",
    )
    assert facts(engine) == ("Dog", "Old Shep", {"age": 9})
    rows = nexus.execute('FIND(?x.name) WHERE { ({name: "Old Shep"}, "likes", ?x) }')
    assert rows == ["Tom cat"]
    goal = engine.module("goal").buffer
    assert goal is not None
    assert goal.type == "done"


def test_patch_writes_the_buffer_and_removes_what_the_action_negates(nexus: kiprdf.Nexus) -> None:
    run(
        nexus,
        """start {} => Dog {@module facts; @do get; @id Fido}, go {}
           go {} => Dog {@module facts; age 5}, save {}
           save {} => Dog {@module facts; @do patch; breed !}""",
    )
    (dog,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Dog", name: "Fido"} }')
    assert dog["attributes"] == {"age": 5, "tags": ["old", "big dog"], "chip": {"code": 7}}


def test_delete_removes_concepts_and_propositions(nexus: kiprdf.Nexus) -> None:
    run(nexus, "start {} => likes {@module facts; @do delete; @subject Fido}")
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?s, "likes", ?o) }') == 0
    run(nexus, "start {} => * {@module facts; @do delete; age 4}")
    assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Dog"} } ORDER BY ?d.name') == [
        "Ghost",
        "Rex",
    ]


def test_a_firing_is_one_transaction(nexus: kiprdf.Nexus) -> None:
    commit = nexus.info()["commit"]
    run(
        nexus,
        """start {} => Dog {@module facts; @do put; @id A; age 1},
             Dog {@module facts; @do put; @id B; age 1},
             Dog {@module facts; @do put; @id Fido; age 9},
             Cat {@module facts; @do delete}""",
    )
    assert nexus.info()["commit"] == commit + 1
    # One write that is not possible keeps the others from being written.
    engine = run(
        nexus,
        """start {} => Dog {@module facts; @do put; @id C; age 1},
             Unicorn {@module facts; @do put; @id U}""",
    )
    assert engine.module("facts").status == "failed"
    assert nexus.info()["commit"] == commit + 1


def test_a_firing_sees_what_it_has_written(nexus: kiprdf.Nexus) -> None:
    engine = run(
        nexus,
        """start {} => Dog {@module facts; @do put; @id A; age 77},
             Dog {@module facts; @do get; age 77}""",
    )
    assert facts(engine) == ("Dog", "A", {"age": 77})


def test_what_the_nexus_protects_is_forbidden(nexus: kiprdf.Nexus) -> None:
    events: list[chunks.Event] = []
    engine = chunks.Engine(
        "start {} => Domain {@module facts; @do delete; @id CoreSchema}", {"facts": nexus}
    )
    engine.on_event(events.append)
    engine.goal("start {}")
    engine.run()
    assert engine.module("facts").status == "forbidden"
    assert any(isinstance(event.detail, kiprdf.KipError) for event in events)


def test_an_attribute_key_that_kip_does_not_know_is_a_failure(nexus: kiprdf.Nexus) -> None:
    engine = run(nexus, "start {} => Dog {@module facts; @do put; a-b 1}")
    assert engine.module("facts").status == "failed"


def test_kindof_follows_propositions_of_the_nexus(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        """UPSERT {
          CONCEPT ?a { {type: "Cat", name: "Dog"} }
          CONCEPT ?b { {type: "Cat", name: "Animal"} }
          PROPOSITION { (?a, "kindof", ?b) }
        }"""
    )
    engine = run(nexus, "start {} => * {@module facts; @do get; @kindof Animal; age 7}")
    assert facts(engine)[1] == "Rex"


def test_properties_of_a_concept(nexus: kiprdf.Nexus) -> None:
    engine = chunks.Engine(
        """start {} => Dog {@module facts; @do get; @id Rex},
             item {@module facts; @do properties; @to goal}
           item {name ?n; value ?v} => show {@do show; value ?n, ?v}, item {@do next}""",
        {"facts": nexus},
    )
    shown: list[Any] = []
    engine.operation("show", lambda call: shown.append(call.properties["value"]))
    engine.goal("start {}")
    engine.run()
    assert shown == [("age", 7)]


def test_text_that_a_rule_writes_is_read_as_a_text(nexus: kiprdf.Nexus) -> None:
    run(nexus, 'start {} => Dog {@module facts; @do put; @id Rex; breed "collie"; age "old"}')
    later = run(nexus, 'start {} => Dog {@module facts; @do get; breed "collie"; age "old"}')
    assert facts(later) == ("Dog", "Rex", {"age": "old", "breed": "collie"})
    assert chunks.to_text(later.module("facts").buffer, compact=True) == (
        'Dog Rex {age "old"; breed "collie"}'
    )
    run(nexus, "start {} => Dog {@module facts; @do put; @id Rex; breed collie}")
    (rex,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Dog", name: "Rex"} }')
    assert "texts" not in rex["metadata"]
