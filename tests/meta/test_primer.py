"""The primer shows what is there, within a size (KIP 5.1.1, docs/decisions/056)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import StoppedClock

MOST_BYTES = 8 * 1024


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def nexus(clock: StoppedClock) -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(clock=clock)


def upsert(nexus: kiprdf.Nexus, *blocks: str) -> None:
    nexus.apply_capsule("UPSERT {\n" + "\n".join(blocks) + "\n}")


def primer(nexus: kiprdf.Nexus) -> dict[str, Any]:
    return dict(nexus.execute("DESCRIBE PRIMER"))


def domain(nexus: kiprdf.Nexus, name: str) -> dict[str, Any]:
    (entry,) = [item for item in primer(nexus)["domain_map"] if item["name"] == name]
    return dict(entry)


def size(page: dict[str, Any]) -> int:
    return len(json.dumps(page, ensure_ascii=False).encode())


# Domains


def test_definitions_and_members_share_the_key_types_most_used_first(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT ?g { {type: "Domain", name: "Garden"} }',
        'CONCEPT { {type: "$ConceptType", name: "Plant"}'
        ' SET PROPOSITIONS { ("belongs_to_domain", ?g) } }',
        'CONCEPT { {type: "$ConceptType", name: "Tool"} }',
        *(f'CONCEPT {{ {{type: "Plant", name: "p{n}"}} }}' for n in range(3)),
        *(
            f'CONCEPT {{ {{type: "Tool", name: "t{n}"}}'
            ' SET PROPOSITIONS { ("belongs_to_domain", ?g) } }'
            for n in range(2)
        ),
    )
    assert domain(nexus, "Garden") == {
        "name": "Garden",
        "description": None,
        "key_concept_types": ["Plant", "Tool"],
        "key_proposition_types": [],
        "key_concepts": ["t0", "t1"],
        "concept_count": 3,
    }


@pytest.mark.parametrize("definition_first", [True, False])
def test_a_member_of_a_type_that_its_domain_defines_counts_once(
    nexus: kiprdf.Nexus, definition_first: bool
) -> None:
    filed = ' SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } }'
    upsert(nexus, *(f'CONCEPT {{ {{type: "$ConceptType", name: "{name}"}} }}' for name in "AB"))
    steps = [
        'CONCEPT { {type: "$ConceptType", name: "A"}' + filed,
        *(f'CONCEPT {{ {{type: "A", name: "a{n}"}}{filed}' for n in range(2)),
        *(f'CONCEPT {{ {{type: "B", name: "b{n}"}}{filed}' for n in range(3)),
    ]
    for step in steps if definition_first else reversed(steps):
        upsert(nexus, step)
    assert domain(nexus, "Unsorted")["key_concept_types"] == ["B", "A"]


def test_a_concept_with_the_name_of_a_definition_keeps_its_links(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT ?d { {type: "Domain", name: "D"} }',
        'CONCEPT { {type: "$ConceptType", name: "Plant"}'
        ' SET PROPOSITIONS { ("belongs_to_domain", ?d) } }',
        'CONCEPT ?ann { {type: "Person", name: "Ann"}'
        ' SET PROPOSITIONS { ("belongs_to_domain", ?d) } }',
        'CONCEPT ?plant { {type: "Insight", name: "Plant"}'
        ' SET PROPOSITIONS { ("belongs_to_domain", ?d) ("derived_from", ?ann) } }',
    )
    assert domain(nexus, "D")["key_concepts"] == ["Ann", "Plant"]


def test_a_predicate_is_shown_by_the_domain_that_defines_it(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT ?g { {type: "Domain", name: "Garden"} }',
        'CONCEPT { {type: "$PropositionType", name: "grows_near"}'
        ' SET PROPOSITIONS { ("belongs_to_domain", ?g) } }',
    )
    assert domain(nexus, "Garden")["key_proposition_types"] == ["grows_near"]


def test_the_domain_of_the_definitions_shows_the_types_in_use_first(nexus: kiprdf.Nexus) -> None:
    upsert(nexus, *(f'CONCEPT {{ {{type: "Event", name: "e{n}"}} }}' for n in range(20)))
    assert domain(nexus, "CoreSchema")["key_concept_types"][0] == "Event"


def test_a_domain_counts_what_its_line_leaves_out(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT ?d { {type: "Domain", name: "D"} }',
        *(
            f'CONCEPT {{ {{type: "Insight", name: "i{n}"}}'
            ' SET PROPOSITIONS { ("belongs_to_domain", ?d) } }'
            for n in range(7)
        ),
    )
    entry = domain(nexus, "D")
    assert (entry["key_concepts"], entry["left_out"]) == (
        ["i0", "i1", "i2", "i3", "i4"],
        {"key_concepts": 2},
    )


# What waits


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        ('status: "open"', 1),
        ('status: "pending"', 1),
        ("status: null", 1),
        ("importance: 2", 1),
        ('status: "kept"', 0),
        ('status: "broken"', 0),
        ('status: "released"', 0),
    ],
)
def test_a_promise_waits_until_it_is_closed(nexus: kiprdf.Nexus, status: str, waits: int) -> None:
    upsert(nexus, f'CONCEPT {{ {{type: "Commitment", name: "c"}} SET ATTRIBUTES {{ {status} }} }}')
    assert primer(nexus)["waiting"]["commitments"]["count"] == waits


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        ('"pending"', 1),
        ('"in_progress"', 1),
        ("null", 1),
        ('"completed"', 0),
        ('"failed"', 0),
        ('"cancelled"', 0),
    ],
)
def test_a_task_waits_until_it_has_ended(nexus: kiprdf.Nexus, status: str, waits: int) -> None:
    upsert(
        nexus,
        f'CONCEPT {{ {{type: "SleepTask", name: "t"}} SET ATTRIBUTES {{ status: {status} }} }}',
    )
    assert primer(nexus)["waiting"]["sleep_tasks"]["count"] == waits


@pytest.mark.parametrize(
    ("due_at", "due"),
    [
        ("2026-01-02T03:04:05.678Z", 1),
        ("2026-01-02T03:04:05.679Z", 0),
        ("2026-01-02", 1),
        ("2026-01-03", 0),
    ],
)
def test_a_promise_is_due_from_its_time_on(nexus: kiprdf.Nexus, due_at: str, due: int) -> None:
    upsert(
        nexus,
        'CONCEPT { {type: "Commitment", name: "c"}'
        f' SET ATTRIBUTES {{ status: "open", due_at: "{due_at}" }} }}',
    )
    assert primer(nexus)["waiting"]["commitments"]["due"] == due


def test_promises_are_listed_by_the_time_they_are_due_then_by_importance(
    nexus: kiprdf.Nexus,
) -> None:
    promises = {
        "undated": "importance: 9",
        "late": 'due_at: "2025-12-01"',
        "next, small": 'due_at: "2026-02-01", importance: 1',
        "next, great": 'due_at: "2026-02-01", importance: 5',
    }
    upsert(
        nexus,
        *(
            f'CONCEPT {{ {{type: "Commitment", name: "{name}"}} SET ATTRIBUTES {{ {keys} }} }}'
            for name, keys in promises.items()
        ),
    )
    listed = [entry["name"] for entry in primer(nexus)["waiting"]["commitments"]["next"]]
    assert listed == ["late", "next, great", "next, small", "undated"]


def test_tasks_are_listed_by_priority_and_the_others_are_counted(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        *(
            f'CONCEPT {{ {{type: "SleepTask", name: "t{n}"}} SET ATTRIBUTES {{ priority: {n} }} }}'
            for n in range(8)
        ),
    )
    page = primer(nexus)
    tasks = page["waiting"]["sleep_tasks"]
    listed = [entry["name"] for entry in tasks["next"]]
    assert (tasks["count"], listed) == (8, ["t7", "t6", "t5", "t4", "t3"])
    assert page["left_out"] == {"sleep_tasks": 3}


# Recent changes


def test_the_last_changed_come_first(nexus: kiprdf.Nexus, clock: StoppedClock) -> None:
    for name in "abcdefg":
        clock.forward(minutes=1)
        upsert(nexus, f'CONCEPT {{ {{type: "Event", name: "{name}"}} }}')
    clock.forward(minutes=1)
    upsert(nexus, 'CONCEPT { {type: "Event", name: "b"} SET ATTRIBUTES { outcome: "new" } }')
    changed = primer(nexus)["recent_changes"]["concepts"]
    assert [(entry["id"], entry["changed_at"]) for entry in changed] == [
        ("C:Event/b", "2026-01-02T03:12:05.678Z"),
        ("C:Event/g", "2026-01-02T03:11:05.678Z"),
        ("C:Event/f", "2026-01-02T03:10:05.678Z"),
        ("C:Event/e", "2026-01-02T03:09:05.678Z"),
        ("C:Event/d", "2026-01-02T03:08:05.678Z"),
    ]


def test_recent_changes_are_believed(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT { {type: "Person", name: "Ann"} } CONCEPT { {type: "Insight", name: "tea"} }'
        'CONCEPT { {type: "Insight", name: "gone"} } WITH METADATA { status: "retracted" }',
        'CONCEPT { {type: "Insight", name: "later"} } WITH METADATA { valid_from: "2999-01-01" }',
        'CONCEPT { {type: "Insight", name: "over"} } WITH METADATA { valid_until: "2001-01-01" }',
        'PROPOSITION { ({type: "Person", name: "Ann"}, "prefers", {type: "Insight", name: "tea"}) }'
        'PROPOSITION { ({type: "Insight", name: "tea"}, "knows", {type: "Person", name: "Ann"}) }'
        " WITH METADATA { superseded: true }",
    )
    recent = primer(nexus)["recent_changes"]
    assert [entry["id"] for entry in recent["concepts"]] == ["C:Insight/tea", "C:Person/Ann"]
    assert recent["propositions"] == [
        {
            "id": "P:c75e1b6d56196e82:prefers",
            "subject": "C:Person/Ann",
            "predicate": "prefers",
            "object": "C:Insight/tea",
            "changed_at": "2026-01-02T03:04:05.678Z",
        }
    ]


def test_filing_a_concept_is_no_recent_change(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT { {type: "Insight", name: "i"} SET PROPOSITIONS '
        '{ ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } }',
    )
    assert primer(nexus)["recent_changes"] == {
        "concepts": [{"id": "C:Insight/i", "changed_at": "2026-01-02T03:04:05.678Z"}],
        "propositions": [],
    }


def test_a_bundled_concept_is_a_recent_change_once_it_changes(nexus: kiprdf.Nexus) -> None:
    upsert(nexus, 'CONCEPT { {type: "Person", name: "$self"} SET ATTRIBUTES { name: "Ada" } }')
    changed = primer(nexus)["recent_changes"]["concepts"]
    assert [entry["id"] for entry in changed] == ["C:Person/$self"]


# Size


def _crowded(nexus: kiprdf.Nexus, letter: str) -> None:
    """Fill a nexus with many domains, types and promises, all of them with long texts."""
    long = letter * 300
    upsert(
        nexus,
        *(
            f'CONCEPT ?d{n} {{ {{type: "Domain", name: "{n}{long}"}}'
            f' SET ATTRIBUTES {{ description: "{long * 3}" }} }}'
            for n in range(60)
        ),
        *(
            f'CONCEPT {{ {{type: "$ConceptType", name: "Type{n}"}}'
            f' SET PROPOSITIONS {{ ("belongs_to_domain", ?d{n % 60}) }} }}'
            for n in range(150)
        ),
        *(
            f'CONCEPT {{ {{type: "Commitment", name: "{n}{long}"}}'
            f' SET ATTRIBUTES {{ description: "{long * 3}" }}'
            f' SET PROPOSITIONS {{ ("belongs_to_domain", ?d{n % 60}) }} }}'
            for n in range(120)
        ),
        f'CONCEPT {{ {{type: "Person", name: "$self"}} SET ATTRIBUTES {{ persona: "{long * 9}",'
        f" capabilities: {json.dumps([long] * 50)} }} }}",
    )


@pytest.mark.parametrize("letter", ["x", "知", "😀", '\\"'])
def test_a_primer_fits_into_its_size(nexus: kiprdf.Nexus, letter: str) -> None:
    _crowded(nexus, letter)
    assert 4096 < size(primer(nexus)) <= MOST_BYTES


def test_what_a_small_page_leaves_out_is_counted(nexus: kiprdf.Nexus) -> None:
    _crowded(nexus, "x")
    page = primer(nexus)
    rest = page["left_out"]
    assert len(page["domain_map"]) + rest["domain_map"] == page["total_domains"] == 64
    assert len(page["totals"]["concept_types"]) + rest["concept_types"] == 13 + 150
    waiting = page["waiting"]["commitments"]
    assert len(waiting["next"]) + rest["commitments"] == waiting["count"] == 120
    assert page["identity"]["persona"].endswith("…")
    shown = page["identity"]["capabilities"]
    assert shown[-1] == f"… {50 - (len(shown) - 1)} more"


def test_of_many_domains_the_largest_are_listed(nexus: kiprdf.Nexus) -> None:
    _crowded(nexus, "x")
    listed = [entry["concept_count"] for entry in primer(nexus)["domain_map"]]
    # 60 domains have 4 or 5 members, CoreSchema 28, and three of the bootstrap none.
    assert (max(listed), min(listed) >= 4) == (28, True)


def test_a_text_is_shown_on_one_line(nexus: kiprdf.Nexus) -> None:
    upsert(
        nexus,
        'CONCEPT { {type: "Domain", name: "D"} '
        'SET ATTRIBUTES { description: "a\\n\\tb\\u0000c\\u202ed" } }',
    )
    assert domain(nexus, "D")["description"] == "a b c d"


def test_a_primer_is_no_matter_of_rows(nexus: kiprdf.Nexus) -> None:
    upsert(nexus, *(f'CONCEPT {{ {{type: "SleepTask", name: "t{n}"}} }}' for n in range(30)))
    with nexus.limited(max_rows=1):
        page = primer(nexus)
    assert page["waiting"]["sleep_tasks"]["count"] == 30


def test_a_primer_ends_when_its_time_is_over(nexus: kiprdf.Nexus) -> None:
    with nexus.limited(timeout_s=1e-9), pytest.raises(kiprdf.KipError) as raised:
        primer(nexus)
    assert raised.value.code == "KIP_4001"
