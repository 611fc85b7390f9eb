"""Valid time: facts that are valid during Periods, and FINDs that ask for a time."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from typing import Any

import pytest

import kiprdf
from tests.cases import each_case
from tests.long_runs import SEED, amount

FACTS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Company"} }
  CONCEPT { {type: "$PropositionType", name: "works_for"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  CONCEPT ?bo { {type: "Person", name: "Bo"} }
  CONCEPT ?acme { {type: "Company", name: "Acme"} }
  CONCEPT ?free { {type: "Company", name: "Free"} }
  PROPOSITION ?fact { (?ada, "works_for", ?acme) }
  PROPOSITION { (?ada, "works_for", ?free) }
  PROPOSITION { (?bo, "stated", ?fact) }
}
"""
JOB = '({type: "Person", name: "Ada"}, "works_for", {type: "Company", name: "Acme"})'
EMPLOYERS = kiprdf.valid_at(
    'FIND(?c.name) WHERE { ({type: "Person", name: "Ada"}, "works_for", ?c) } ORDER BY ?c.name'
)


def employed(*periods: str, **metadata: str) -> kiprdf.Nexus:
    """A nexus in which Ada works for Free at any time, and for Acme in these intervals."""
    nexus = kiprdf.Nexus.memory()
    nexus.execute(FACTS)
    links = "".join(
        f'PROPOSITION {{ (?fact, "valid_during", {{type: "Period", name: "{name}"}}) }} '
        for name in periods
    )
    nexus.execute(
        f"UPSERT {{ PROPOSITION ?fact {{ {JOB} }} WITH METADATA :metadata {links} }}",
        metadata=metadata,
    )
    return nexus


def is_employed(nexus: kiprdf.Nexus, t: Any) -> bool:
    names = nexus.find(EMPLOYERS, t=t).column("?c.name")
    assert names in (["Acme", "Free"], ["Free"])
    return names == ["Acme", "Free"]


def job(nexus: kiprdf.Nexus) -> str:
    (id,) = nexus.execute(f"FIND(?l.id) WHERE {{ ?l {JOB} }}")
    return str(id)


@each_case(
    "time, is_valid",
    [
        ("2018-12-31T23:59:59Z", False),
        ("2019-01-01", True),
        ("2019-01-01T00:00:00+01:00", False),
        ("2018-12-31T23:00:00-01:00", True),
        ("2021-12-31T23:59:59.999Z", True),
        ("2022-01-01", False),
        ("2022-01-01T00:00:00Z", False),
        ("2023", False),
        ("2024-02", True),
        ("9999-12-31", True),
        (date(2019, 1, 1), True),
        (datetime(2022, 1, 1, tzinfo=UTC), False),
    ],
)
def test_a_fact_is_valid_from_the_beginning_to_before_the_end(time: Any, is_valid: bool) -> None:
    nexus = employed("2019-01-01/2022-01-01", "2024-01-01T00:00:00Z/..")
    assert is_employed(nexus, time) is is_valid
    assert nexus.validity(job(nexus)) == [
        {"from": "2019-01-01", "until": "2022-01-01"},
        {"from": "2024-01-01", "until": None},
    ]


@pytest.mark.parametrize(
    ("metadata", "time", "is_valid"),
    [
        ({"valid_from": "2019-01-01"}, "2019-01-01T00:00:00Z", True),
        ({"valid_from": "2019-01-01T00:00:00Z"}, "2019-01-01", True),
        ({"valid_from": "2019-01-01T00:00:00.000Z"}, "2018-12-31", False),
        ({"valid_until": "2022-01-01T00:00:00.000Z"}, "2022-01-01", False),
        ({"valid_until": "2022-01-01"}, "2021-12-31T23:59:59Z", True),
        ({"valid_from": "2019", "valid_until": "2022"}, "2022-01-01", False),
        ({"valid_from": "2019", "valid_until": "2022"}, "2019-01-01", True),
    ],
)
def test_valid_from_and_valid_until_are_an_interval(
    metadata: dict[str, str], time: str, is_valid: bool
) -> None:
    assert is_employed(employed(**metadata), time) is is_valid
    both = employed("2030/2031", **metadata)
    assert is_employed(both, time) is is_valid
    assert is_employed(both, "2030-06-01")


def test_validity_unites_periods_and_metadata() -> None:
    nexus = employed("2019/2021", "2020/2022", "2030/..", valid_from="2022", valid_until="2023")
    assert nexus.validity(job(nexus)) == [
        {"from": "2019-01-01", "until": "2023-01-01"},
        {"from": "2030-01-01", "until": None},
    ]
    assert employed("../..").validity(job(nexus)) == [{"from": None, "until": None}]
    assert employed().validity(job(nexus)) == []
    assert is_employed(employed("../.."), "1000-01-01")


def test_overlapping_periods_give_one_row_and_links_keep_their_ids() -> None:
    plain, nexus = employed(), employed("2019/2022", "2020/2023", valid_from="2018")
    counted = kiprdf.valid_at(f"FIND(COUNT(?l), ?l.id) WHERE {{ ?l {JOB} }}")
    assert nexus.execute(counted, t="2021-01-01") == [[1], [job(plain)]]


@pytest.mark.parametrize(
    "where",
    [
        '(?a, "works_for" | "stated", ?c)',
        '({type: "Person"}, "works_for", ?c)',
        '?l ({type: "Person"}, ?p, ?c)',
        '?a {type: "Person"} (?a, "works_for"{1}, ?c)',
        '?c {type: "Company"} NOT { ?c {type: "Person"} } (?a, "works_for", ?c)',
        '(?b, "stated", (?a, "works_for", ?c))',
        '?s ({}, "stated", ({}, "works_for", ?c))',
        '(?x, "works_for", {type: "Company", name: "Free"}) UNION { (?b, "works_for", ?c) }',
    ],
)
def test_every_kind_of_pattern_matches_valid_facts_only(where: str) -> None:
    nexus = employed("2019/2022", "2020/2023", "2030/..")
    command = f'FIND(?c.name, COUNT(?c)) WHERE {{ {where} ?c {{type: "Company"}} }}'
    before = dict(zip(*nexus.execute(command), strict=True))
    rewritten = kiprdf.valid_at(command)
    without_acme = {name: count for name, count in before.items() if name != "Acme"}
    assert "Acme" in before
    assert dict(zip(*nexus.execute(rewritten, t="2021"), strict=True)) == before
    assert dict(zip(*nexus.execute(rewritten, t="2025"), strict=True)) == without_acme


def test_blocks_ask_for_the_same_time() -> None:
    nexus = employed("2019/2022")
    optional = kiprdf.valid_at(
        'FIND(?c.name, ?a.name) WHERE { ?c {type: "Company"} '
        'OPTIONAL { (?a, "works_for", ?c) } } ORDER BY ?c.name'
    )
    without = kiprdf.valid_at(
        'FIND(?c.name) WHERE { ?c {type: "Company"} NOT { ({type: "Person"}, "works_for", ?c) } }'
    )
    assert nexus.execute(optional, t="2020") == [["Acme", "Free"], ["Ada", "Ada"]]
    assert nexus.execute(optional, t="2023") == [["Acme", "Free"], [None, "Ada"]]
    assert (nexus.execute(without, t="2020"), nexus.execute(without, t="2023")) == ([], ["Acme"])


def test_a_rewritten_command_is_kip_and_runs_in_requests() -> None:
    nexus = employed("2019/2022")
    assert kiprdf.parse(EMPLOYERS)
    for time, names in (("2020-01-01T00:00:00+02:00", ["Acme", "Free"]), ("2022", ["Free"])):
        request = {"command": EMPLOYERS, "parameters": {"t": time}}
        assert nexus.execute_kip_readonly(request) == {"result": names}
    refused = nexus.execute_kip({"command": EMPLOYERS, "parameters": {"t": "soon"}})["error"]
    assert refused["code"] == "KIP_1001"
    assert refused["message"] == "Parameter 't': 'soon' is not a time."


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('DELETE CONCEPT ?c DETACH WHERE { ?c {type: "Company"} }', "Only a FIND"),
        ('FIND(?c) WHERE { (?a, "works_for"{1,3}, ?c) }', "range of hops"),
        ("FIND(?c) WHERE { ?c {type: :t} }", "placeholder :t"),
        ("FIND(?c", "1:"),
    ],
)
def test_what_cannot_be_asked_for_a_time_is_refused(command: str, message: str) -> None:
    with pytest.raises(kiprdf.KipError, match=message) as refused:
        kiprdf.valid_at(command)
    assert refused.value.code == "KIP_1001"


def test_a_period_is_created_where_it_is_mentioned_and_has_its_ends() -> None:
    nexus = employed("2019-01-01T02:00:00+02:00/..")
    assert nexus.execute('FIND(?p.name, ?p.attributes.from, ?p.attributes.until) '
                         'WHERE { ?p {type: "Period"} }') == [
        ["2019-01-01T02:00:00+02:00/.."], ["2019-01-01"], [".."],
    ]  # fmt: skip
    for name in ("2022/2019", "2019", "soon/later", "2019-01-01/2019-01-01", "/"):
        with pytest.raises(kiprdf.KipError) as refused:
            employed(name)
        assert refused.value.code == "KIP_3002"
        assert str(refused.value.hint).startswith('Write a Period as "2019-01-01/2022-01-01"')


def test_a_period_whose_name_is_no_interval_limits_nothing() -> None:
    nexus = employed()
    nexus.execute(
        'UPSERT { CONCEPT ?p { {type: "Period", name: "Bronze Age"} } PROPOSITION '
        f'{{ ({JOB}, "valid_during", ?p) }} }}'
    )
    assert nexus.validity(job(nexus)) == []
    assert is_employed(nexus, "2020")


@pytest.mark.parametrize(
    ("id", "code"), [("P:0000000000000000:works_for", "KIP_3002"), ("Ada", "KIP_1001")]
)
def test_validity_of_what_does_not_exist_is_refused(id: str, code: str) -> None:
    with pytest.raises(kiprdf.KipError) as refused:
        kiprdf.Nexus.memory().validity(id)
    assert refused.value.code == code


def test_random_facts_are_valid_exactly_in_their_intervals() -> None:
    chance = random.Random(SEED)
    days = [f"20{year}-0{month}-01" for year in range(10, 30) for month in range(1, 9)]
    expected: dict[str, list[tuple[str, str]]] = {}
    nexus = kiprdf.Nexus.memory()
    nexus.execute(FACTS)
    for number in range(amount("VALID_FACTS", 40)):
        name = f"P{number}"
        intervals = [
            tuple(sorted(chance.sample(days, 2))) for _ in range(chance.choice([0, 1, 1, 2, 3]))
        ]
        expected[name] = [*intervals]
        metadata = {}
        if chance.random() < 0.4:
            start, end = sorted(chance.sample(days, 2))
            if chance.random() < 0.5:
                metadata["valid_from"] = start
            if not metadata or chance.random() < 0.5:
                metadata["valid_until"] = end
            expected[name].append(
                (metadata.get("valid_from", ""), metadata.get("valid_until", "9999"))
            )
        links = "".join(
            f'PROPOSITION {{ (?fact, "valid_during", {{type: "Period", name: "{start}/{end}"}}) }} '
            for start, end in intervals
        )
        nexus.execute(
            'UPSERT { CONCEPT ?p { {type: "Person", name: :name} } PROPOSITION ?fact '
            '{ (?p, "works_for", {type: "Company", name: "Acme"}) } WITH METADATA :metadata '
            f"{links} }}",
            name=name,
            metadata=metadata,
        )
    question = 'FIND(?p.name) WHERE { (?p, "works_for", {type: "Company", name: "Acme"}) }'
    for time in chance.sample(days, 8):
        names = set(nexus.execute(kiprdf.valid_at(question), t=time))
        assert names == {"Ada"} | {
            name
            for name, intervals in expected.items()
            if not intervals or any(start <= time < end for start, end in intervals)
        }
