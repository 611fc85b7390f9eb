"""What the bundled capsules define, and that it can be used as they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import resources
from tests.cases import each_case
from tests.nexus.support import StoppedClock, code, commit, dataset, element, untouched

JSON_TYPES = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}
RULE_KEYS = {"type", "is_required", "item_type", "enum", "default_value", "description"}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "capsules.md"

EXPERIENCE = """
UPSERT {
  CONCEPT ?first {
    {type: "ExperienceStep", name: "fix:1#1"}
    SET ATTRIBUTES { position: 1, action: "Ran the tests.", status: "succeeded",
      observation: "One of them hangs.", input: { timeout: 60 } }
  }
  CONCEPT ?second {
    {type: "ExperienceStep", name: "fix:1#2"}
    SET ATTRIBUTES { position: 2, action: "Raised the limit.", status: "failed",
      observation: "It still hangs.", duration_seconds: 60.5 }
    SET PROPOSITIONS { ("caused_by", ?first) }
  }
  CONCEPT ?insight {
    {type: "Insight", name: "HangsAreLocks"}
    SET ATTRIBUTES { description: "A test that hangs waits for a lock." }
  }
  CONCEPT ?skill {
    {type: "Skill", name: "FindTheLock"}
    SET ATTRIBUTES {
      description: "Find out what a hanging test waits for.", trigger: "A test hangs.",
      procedure: ["Print the stacks of all threads.", "Look for acquire."],
      preconditions: ["It hangs each time."], inputs: [{ name: "test" }],
      status: "trusted", version: 2, run_count: 4, success_count: 3, success_rate: 0.75
    }
    SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: "System"}) }
  }
  CONCEPT ?experience {
    {type: "Experience", name: "fix:1"}
    SET ATTRIBUTES {
      goal: "The tests end.", situation: "One of them hangs.", status: "failed",
      start_time: "2026-01-01T09:00:00Z", lessons: ["Look first."], cost: { seconds: 90 }
    }
    SET PROPOSITIONS {
      ("has_step", ?first) ("has_step", ?second) ("derived_insight", ?insight)
      ("compiled_to", ?skill)
    }
  }
  CONCEPT { {type: "Insight", name: "HangsAreLocks"} SET PROPOSITIONS { ("compiled_to", ?skill) } }
  CONCEPT ?event {
    {type: "Event", name: "e"}
    SET ATTRIBUTES { event_class: "ToolExecution", start_time: "2026-01-01T09:00:00Z",
      content_summary: "A test run." }
    SET PROPOSITIONS { ("derived_insight", ?insight) }
  }
  PROPOSITION { (?experience, "caused_by", ?event) }
}
"""
COMMITMENT = """
UPSERT {
  CONCEPT {
    {type: "Commitment", name: "c"}
    SET ATTRIBUTES {
      description: "I send the figures by Friday.", status: "open", promised_by: "$self",
      promised_to: "ann", made_at: "2026-01-01T09:00:00Z", due_at: "2026-01-02T09:00:00Z"
    }
  }
  CONCEPT {
    {type: "SleepTask", name: "t"}
    SET ATTRIBUTES { requested_action: "review_expired", status: "pending" }
  }
}
"""


def opened(**options: Any) -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(clock=StoppedClock(), **options)


@pytest.fixture
def strict() -> Iterator[kiprdf.Nexus]:
    with opened(strict_schema=True) as nexus:
        nexus.execute(EXPERIENCE)
        nexus.execute(COMMITMENT)
        yield nexus


def definitions(meta: str) -> list[dict[str, Any]]:
    with opened() as nexus:
        definitions = nexus.execute("FIND(?t) WHERE { ?t {type: :meta} }", meta=meta)
    return list(definitions)


def rules() -> list[tuple[str, dict[str, Any]]]:
    """Every attribute that a bundled type describes, with its name."""
    return [
        (f"{definition['name']}.{key}", rule)
        for definition in definitions("$ConceptType")
        for key, rule in definition["attributes"]["instance_schema"].items()
    ]


def has_type(value: Any, name: str) -> bool:
    return isinstance(value, JSON_TYPES[name]) and isinstance(value, bool) == (name == "boolean")


# What the definitions say


@each_case("attribute, rule", rules())
def test_an_attribute_is_described_in_known_words(attribute: str, rule: dict[str, Any]) -> None:
    assert {"type", "is_required", "description"} <= set(rule) <= RULE_KEYS
    assert rule["type"] in JSON_TYPES
    assert isinstance(rule["is_required"], bool)
    assert rule["description"].endswith(".")
    assert ("item_type" in rule) == (rule["type"] == "array")
    assert rule.get("item_type", "string") in JSON_TYPES


@each_case("attribute, rule", rules())
def test_defaults_and_options_conform_to_their_schema(attribute: str, rule: dict[str, Any]) -> None:
    options = rule.get("enum", [])
    assert all(has_type(option, rule["type"]) for option in options)
    assert len(set(options)) == len(options)
    if "default_value" in rule:
        assert has_type(rule["default_value"], rule["type"])
        assert not options or rule["default_value"] in options
    assert [option for option in options if f"'{option}'" not in rule["description"]] == []


def test_predicates_link_types_that_are_defined() -> None:
    type_names = {definition["name"] for definition in definitions("$ConceptType")} | {"*"}
    for predicate in definitions("$PropositionType"):
        for end in ("subject_types", "object_types"):
            types = predicate["attributes"][end]
            assert types, predicate["name"]
            assert set(types) <= type_names, predicate["name"]


def test_every_definition_is_filed_under_the_core_schema_alone() -> None:
    with opened() as nexus:
        types = nexus.execute("DESCRIBE CONCEPT TYPES") + nexus.execute(
            "DESCRIBE PROPOSITION TYPES"
        )
        filed, domains = nexus.execute(
            'FIND(?x.name, ?d.name) WHERE { (?x, "belongs_to_domain", ?d) }'
        )
    assert sorted(filed) == sorted(types)
    assert set(domains) == {"CoreSchema"}


@each_case(
    "clause",
    [
        '?x {type: "$ConceptType"}',
        '?x {type: "$PropositionType"}',
        '?x {type: "Domain"}',
        '?x {type: "Person"}',
        "?x (?s, ?p, ?o)",
    ],
)
def test_everything_bundled_says_where_it_comes_from(clause: str) -> None:
    keys = ("source", "author", "confidence", "status")
    paths = ", ".join(f"?x.metadata.{key}" for key in keys)
    with opened() as nexus:
        columns = nexus.execute(f"FIND(?x, {paths}) WHERE {{ {clause} }}")
    assert set(zip(*columns[1:], strict=True)) == {("SystemBootstrap", "$system", 1.0, "active")}


def test_the_domain_system_has_the_form_of_the_other_domains() -> None:
    with opened() as nexus:
        system, archived = (element(nexus, f"C:Domain/{name}") for name in ("System", "Archived"))
    assert set(system["attributes"]) == set(archived["attributes"])
    assert system["attributes"]["steward"] == "$system"


@each_case("capsule", resources.bundled_capsules())
def test_a_bundled_capsule_has_a_line_on_the_page_of_capsules(capsule: resources.Capsule) -> None:
    row = re.search(
        rf"^\| \[{re.escape(capsule.name)}\]\(.*\) \| (.+) \|$", PAGE.read_text("utf-8"), re.M
    )
    assert row
    defined = re.findall(
        r'^    \{type: "(?:\$\w+|Domain|Person)", name: "([^"]+)"\}\n    SET ATTR',
        capsule.text,
        re.M,
    )
    assert sorted(re.findall("`([^`]+)`", row[1])) == sorted(defined)


# Applying them, and applying them again


def test_a_new_nexus_has_one_commit_as_of_its_clock(tmp_path: Path) -> None:
    moment = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
    created = 'FIND(?x.metadata._created_at) WHERE { ?x {type: "Domain", name: "System"} }'
    for base in ("urn:a/", "urn:b/", "urn:a/"):
        with kiprdf.Nexus.memory(base, clock=lambda: moment) as nexus:
            assert nexus.info()["commit"] == 1
            assert nexus.execute(created) == ["2031-05-04T03:02:01.000Z"]
            assert f"<{base}Domain/System>" in nexus.snapshot(format="ntriples")
    folder = tmp_path / "kb"
    for _ in range(2):
        with kiprdf.Nexus.open(folder, clock=lambda: moment) as nexus:
            assert nexus.info()["commit"] == 1
            assert [one["seq"] for one in nexus.changes(0)["commits"]] == [1]
            assert nexus.check()["faults"] == []


def test_the_bundled_capsules_may_be_applied_twice_without_a_commit() -> None:
    with opened() as nexus:
        before = commit(nexus), dataset(nexus)
        for capsule in resources.bundled_capsules():
            if capsule.name not in ("20_self.kip", "21_system.kip"):
                nexus.apply_capsule(capsule.text)
        assert (commit(nexus), dataset(nexus)) == before


# The examples in their comments


def examples() -> list[Any]:
    """The queries in the comments: indented lines from FIND up to one that is not."""
    return [
        pytest.param(re.sub("^//   ", "", text, flags=re.M), id=capsule.name)
        for capsule in resources.bundled_capsules()
        for text in re.findall(r"^//   FIND.*\n(?://   .*\n)*", capsule.text, re.M)
    ]


def test_the_capsules_that_must_show_a_query_do() -> None:
    shown = {example.id for example in examples()}
    assert shown >= {
        "12_sleep_task.kip",
        "16_commitment.kip",
        "17_experience.kip",
        "18_skill.kip",
        "19_system_domain.kip",
    }


@pytest.mark.parametrize("query", examples())
def test_a_query_of_a_comment_finds_what_it_is_about(strict: kiprdf.Nexus, query: str) -> None:
    columns = strict.execute(query, now="2026-06-01T00:00:00Z", experience="fix:1")
    assert all(column and None not in column for column in columns)


def test_the_steps_are_in_the_order_of_their_positions(strict: kiprdf.Nexus) -> None:
    (query,) = (example.values[0] for example in examples() if example.id == "17_experience.kip")
    positions, actions, _ = strict.execute(query, experience="fix:1")
    assert (positions, actions) == ([1, 2], ["Ran the tests.", "Raised the limit."])


def test_a_promise_that_is_not_yet_due_is_not_late(strict: kiprdf.Nexus) -> None:
    (query,) = (example.values[0] for example in examples() if example.id == "16_commitment.kip")
    assert strict.execute(query, now="2026-01-02T08:59:59Z") == [[], [], []]


# A strict nexus


def test_a_strict_nexus_leads_from_an_event_to_a_skill(strict: kiprdf.Nexus) -> None:
    assert strict.execute(
        'FIND(?s.name) WHERE { ({type: "Event", name: "e"}, "derived_insight", ?i) '
        '(?i, "compiled_to", ?s) }'
    ) == ["FindTheLock"]


@each_case(
    "subject, predicate, object_",
    [
        ("Skill/FindTheLock", "has_step", "ExperienceStep/fix:1#1"),
        ("ExperienceStep/fix:1#1", "has_step", "ExperienceStep/fix:1#2"),
        ("Experience/fix:1", "has_step", "Event/e"),
        ("Experience/fix:1", "has_step", "Skill/FindTheLock"),
        ("Insight/HangsAreLocks", "caused_by", "Event/e"),
        ("Event/e", "caused_by", "Skill/FindTheLock"),
        ("ExperienceStep/fix:1#1", "derived_insight", "Insight/HangsAreLocks"),
        ("Experience/fix:1", "derived_insight", "Skill/FindTheLock"),
        ("Event/e", "compiled_to", "Skill/FindTheLock"),
        ("Experience/fix:1", "compiled_to", "Insight/HangsAreLocks"),
    ],
)
def test_a_strict_nexus_refuses_ends_of_the_wrong_type(
    strict: kiprdf.Nexus, subject: str, predicate: str, object_: str
) -> None:
    command = f'UPSERT {{ PROPOSITION {{ ({{id: :s}}, "{predicate}", {{id: :o}}) }} }}'
    with untouched(strict):
        assert code(strict, command, s=f"C:{subject}", o=f"C:{object_}") == "KIP_2002"


@each_case(
    "identifier, attributes, expected",
    [
        ("ExperienceStep/fix:1#1", {"position": None}, "KIP_2002"),
        ("ExperienceStep/fix:1#1", {"position": 1.5}, "KIP_2003"),
        ("ExperienceStep/fix:1#1", {"status": "done"}, "KIP_2003"),
        ("Experience/fix:1", {"situation": None}, "KIP_2002"),
        ("Experience/fix:1", {"status": "pending"}, "KIP_2003"),
        ("Experience/fix:1", {"lessons": "Look first."}, "KIP_2003"),
        ("Skill/FindTheLock", {"procedure": None}, "KIP_2002"),
        ("Skill/FindTheLock", {"procedure": [{"do": "look"}]}, "KIP_2003"),
        ("Skill/FindTheLock", {"version": "2"}, "KIP_2003"),
        ("Skill/FindTheLock", {"success_rate": "high"}, "KIP_2003"),
        ("Commitment/c", {"promised_to": None}, "KIP_2002"),
        ("Commitment/c", {"status": "late"}, "KIP_2003"),
        ("Commitment/c", {"due_at": 5}, "KIP_2003"),
    ],
)
def test_a_strict_nexus_refuses_attributes_that_the_bundled_types_do_not_allow(
    strict: kiprdf.Nexus, identifier: str, attributes: dict[str, Any], expected: str
) -> None:
    command = "UPSERT { CONCEPT { {id: :id} SET ATTRIBUTES :attributes } }"
    with untouched(strict):
        assert code(strict, command, id=f"C:{identifier}", attributes=attributes) == expected


@pytest.mark.parametrize(
    ("type_name", "status"),
    [
        *(("Commitment", status) for status in ("open", "kept", "broken", "released")),
        *(("Skill", status) for status in ("draft", "trusted", "suspended", "retired")),
        ("Experience", "running"),
        ("Experience", "partly_succeeded"),
        ("Experience", "abandoned"),
        ("ExperienceStep", "skipped"),
        ("ExperienceStep", "unclear"),
    ],
)
def test_a_strict_nexus_accepts_every_documented_status(
    strict: kiprdf.Nexus, type_name: str, status: str
) -> None:
    (name, *_) = strict.execute("FIND(?x.name) WHERE { ?x {type: :t} }", t=type_name)
    command = "UPSERT { CONCEPT { {type: :t, name: :n} SET ATTRIBUTES { status: :s } } }"
    strict.execute(command, t=type_name, n=name, s=status)
    assert element(strict, f"C:{type_name}/{name}")["attributes"]["status"] == status
