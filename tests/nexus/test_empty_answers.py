"""An empty answer says why: where the warnings are, when there are none, and what hints do."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, Quad

import kiprdf
from kiprdf.budget import Cancellation, cancellable
from kiprdf.execution import empty_answers
from kiprdf.rdf.literals import to_term
from kiprdf.rdf.vocab import ATTRIBUTE
from kiprdf.store import OxigraphStore, sorted_values
from tests.nexus.support import StoppedClock, copied
from tests.nexus.test_budget import wait_for_the_last, with_nodes

TABLE = json.loads((Path(__file__).parent.parent / "conformance/kql_empty.json").read_text("utf-8"))
NOTHING = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == "2") }'
WHY = [
    {
        "name": "NoSolution",
        "message": '1:41 FILTER(?d.attributes.risk_level == "2") is true for none of the solutions '
        "before it.",
        "hint": "Before it, ?d.attributes.risk_level is 2, 3.",
    },
    {
        "name": "NeverTrue",
        "message": '1:48 ?d.attributes.risk_level == "2" is never true: ?d.attributes.risk_level '
        'is a number and "2" is a string.',
        "hint": "Write ?d.attributes.risk_level == 2",
    },
]


@pytest.fixture(scope="module")
def medicine() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False, clock=StoppedClock())
    for command in TABLE["setup"]:
        nexus.execute(command)
    return nexus


@pytest.fixture
def nexus(medicine: kiprdf.Nexus) -> Iterator[kiprdf.Nexus]:
    with copied(medicine, genesis=False) as copy:
        yield copy


# Where they are -------------------------------------------------------------------------------


def test_a_response_and_each_response_of_a_batch_has_the_warnings(nexus: kiprdf.Nexus) -> None:
    everything = 'FIND(?s.name) WHERE { ?s {type: "Symptom", name: "Fever"} }'
    for call in (nexus.execute_kip, nexus.execute_kip_readonly):
        assert call({"command": NOTHING}) == {"result": [], "warnings": WHY}
        assert call({"commands": [NOTHING, everything]}) == {
            "result": [{"result": [], "warnings": WHY}, {"result": ["Fever"]}]
        }


def test_rows_and_answers_have_the_warnings_with_their_places(nexus: kiprdf.Nexus) -> None:
    rows, answer = nexus.find(NOTHING), nexus.answer(NOTHING)
    assert rows.warnings == answer.warnings
    clause, never = rows.warnings
    assert (clause.name, clause.position, never.name, never.position) == (
        "NoSolution",
        (1, 41),
        "NeverTrue",
        (1, 48),
    )
    assert never.excerpt is not None
    assert never.excerpt.endswith(" " * 47 + "^" * 31)
    assert str(never) == f"{WHY[1]['message']} Hint: {WHY[1]['hint']}"


def test_parameters_are_shown_with_their_values(nexus: kiprdf.Nexus) -> None:
    command = "FIND(?d) WHERE { ?d {type: :type} FILTER(?d.attributes.risk_level == :risk) }"
    for _ in range(3):  # the third one has a cached plan
        rows = nexus.find(command, type="Drug", risk="3")
        assert [warning.hint for warning in rows.warnings] == [
            "Before it, ?d.attributes.risk_level is 2, 3.",
            "Write ?d.attributes.risk_level == 3",
        ]


def test_a_nexus_that_is_open_read_only_says_why(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        for command in TABLE["setup"]:
            nexus.execute(command)
    with kiprdf.Nexus.open(tmp_path / "brain", genesis=False, read_only=True) as reader:
        assert reader.execute_kip({"command": NOTHING}) == {"result": [], "warnings": WHY}
        with pytest.raises(kiprdf.KipError, match="read-only"):
            reader.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {name: "x"} }')


DRUG = '?d {type: "Drug"}'
KEY = "No Drug has the attribute 'risk'."
ABSENT = "There is nothing to delete: {} is another one. Name it only if that is meant."
OTHER_COMMANDS: dict[str, tuple[str, Any, list[tuple[str, str]]]] = {
    "UPDATE": (
        f'UPDATE ?d SET ATTRIBUTES {{ x: 1 }} WHERE {{ {DRUG} FILTER(?d.name == "aspirin") }}',
        {"updated": 0, "matched": 0},
        [
            (
                'FILTER(?d.name == "aspirin") is true for none of the solutions before it.',
                'Before it, ?d.name is "Aspirin", "Ibuprofen".',
            ),
            (
                'No Drug is called "aspirin".',
                'Did you mean "Aspirin"? If it is new, create it first with UPSERT.',
            ),
        ],
    ),
    "UPDATE of null": (
        f'UPDATE ?s SET ATTRIBUTES {{ x: 1 }} WHERE {{ {DRUG} OPTIONAL {{ (?d, "causes", ?s) }} }}',
        {"updated": 0, "matched": 0},
        [
            (
                'OPTIONAL never matches: (?d, "causes", ?s) matches none of the solutions '
                "before it.",
                "",
            ),
            ("No solution binds ?s to an element.", ""),
        ],
    ),
    "DELETE ATTRIBUTES": (
        f'DELETE ATTRIBUTES {{"risk", "colour_"}} FROM ?d WHERE {{ {DRUG} }}',
        {"updated_concepts": 0, "updated_propositions": 0},
        [
            (KEY, ABSENT.format("?d.attributes.risk_level")),
            ("No Drug has the attribute 'colour_'.", ABSENT.format("?d.attributes.colour")),
        ],
    ),
    "DELETE METADATA": (
        'DELETE METADATA {"confidense"} FROM ?l WHERE { ?l (?d, "treats", ?s) }',
        {"updated_concepts": 0, "updated_propositions": 0},
        [
            (
                "No \"treats\" proposition has the metadata key 'confidense'.",
                ABSENT.format("?l.metadata.confidence"),
            )
        ],
    ),
    "DELETE PROPOSITIONS": (
        'DELETE PROPOSITIONS ?l WHERE { ?l (?d, "treats", {name: "Feever"}) }',
        {"deleted_propositions": 0},
        [
            ('?l (?d, "treats", {name: "Feever"}) matches nothing.', ""),
            ('No concept is called "Feever".', ABSENT.format('"Fever"')),
        ],
    ),
    "DELETE PROPOSITIONS of concepts": (
        'DELETE PROPOSITIONS ?d WHERE { (?d, "treats", ?s) }',
        {"deleted_propositions": 0},
        [("No solution binds ?d to a proposition.", "")],
    ),
    "DELETE CONCEPT": (
        'DELETE CONCEPT ?g DETACH WHERE { ?g {type: "Ghost"} }',
        {"deleted_concepts": 0, "deleted_propositions": 0},
        [('?g {type: "Ghost"} matches nothing.', "")],
    ),
    "EXPORT": (
        'EXPORT ?g WHERE { ?g {type: "Ghost"} }',
        {"capsule": "", "concepts": 0, "propositions": 0},
        [('?g {type: "Ghost"} matches nothing.', "")],
    ),
    "SEARCH": (
        'SEARCH CONCEPT "Asprinn"',
        [],
        [('No concept is called "Asprinn".', 'Did you mean "Aspirin"?')],
    ),
    "SEARCH WITH TYPE": (
        'SEARCH CONCEPT "Aspirin" WITH TYPE "Symptom"',
        [],
        [("No Symptom matches.", "Without WITH TYPE it matches: Drug.")],
    ),
}


@pytest.mark.parametrize(
    ("command", "result", "warnings"), OTHER_COMMANDS.values(), ids=OTHER_COMMANDS
)
def test_another_command_that_finds_nothing_says_why(
    command: str, result: Any, warnings: list[tuple[str, str]], nexus: kiprdf.Nexus
) -> None:
    for dry_run in (False, True):
        answer = nexus.answer(command, dry_run=dry_run)
        assert answer.result == result
        assert [(w.message, w.hint or "") for w in answer.warnings] == warnings


def test_a_search_above_all_scores_names_the_best_one(nexus: kiprdf.Nexus) -> None:
    command = 'SEARCH CONCEPT "Aspirin" THRESHOLD 1'
    (warning,) = nexus.answer(command).warnings
    score = nexus.execute('SEARCH CONCEPT "Aspirin"')[0]["metadata"]["_score"]
    assert warning.hint == f"Write THRESHOLD {score}, or leave it out."
    assert len(nexus.execute(command.replace("THRESHOLD 1", f"THRESHOLD {score}"))) == 1


def test_a_merge_that_finds_no_pair_says_why_in_its_hint(nexus: kiprdf.Nexus) -> None:
    command = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: "aspirin"} ?b {name: "Ibuprofen"} }'
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(command)
    assert raised.value.code == "KIP_3002"
    assert raised.value.hint.startswith('No concept is called "aspirin". Did you mean "Asp')


# When there are none --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        'UPDATE ?d SET ATTRIBUTES { n: ADD(?d.attributes.x, 1) } WHERE { ?d {type: "Drug"} }',
        'DELETE ATTRIBUTES {"otc"} FROM ?d WHERE { ?d {type: "Drug", name: "Ibuprofen"} }',
        "DESCRIBE CONCEPT TYPES LIMIT 1",
        'SEARCH CONCEPT "aspirin"',
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} } }',
    ],
)
def test_what_finds_something_has_no_warnings(command: str, nexus: kiprdf.Nexus) -> None:
    assert nexus.answer(command).warnings == ()


def test_an_empty_page_after_the_last_one_has_no_warnings(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 1'
    cursor = nexus.find(command).next_cursor
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert nexus.execute_kip({"command": f'{command} CURSOR "{cursor}"'}) == {"result": []}


def test_there_are_none_if_the_nexus_has_changed_since_the_answer(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = empty_answers._explained

    def change_first(*arguments: Any) -> Any:
        nexus.execute('UPSERT { CONCEPT { {type: "Ghost", name: "Casper"} } }')
        return explained(*arguments)

    monkeypatch.setattr(empty_answers, "_explained", change_first)
    assert nexus.execute_kip({"command": NOTHING}) == {"result": []}


def test_a_fault_in_the_explanation_leaves_the_answer(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(empty_answers, "_explained", lambda *_: 1 / 0)
    with caplog.at_level(logging.CRITICAL):
        assert nexus.execute_kip({"command": NOTHING}) == {"result": []}


# Hints ----------------------------------------------------------------------------------------

FOLLOWED = ("Write ", "Did you mean ", "The other way round it matches: ")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["name"])
        for case in TABLE["cases"]
        if any(w.get("hint", "").startswith(FOLLOWED) for w in case["expect"]["warnings"])
    ],
)
def test_a_command_in_which_its_hints_are_followed_finds_something(
    case: dict[str, Any], nexus: kiprdf.Nexus
) -> None:
    command = case["command"]
    for warning in sorted(nexus.answer(command).warnings, key=lambda w: -w.span.start):
        for beginning in FOLLOWED:
            if warning.hint and warning.hint.startswith(beginning):
                text = warning.hint[len(beginning) :].removesuffix("?")
                command = command[: warning.span.start] + text + command[warning.span.end :]
    answer = nexus.answer(command)
    assert answer.warnings == ()
    assert answer.result not in ([], 0)


# The whole account ----------------------------------------------------------------------------


def test_diagnose_counts_the_solutions_after_each_clause(nexus: kiprdf.Nexus) -> None:
    diagnosis = nexus.diagnose(
        """FIND(?d.name)
WHERE {
  ?d {type: "Drug"}
  OPTIONAL { ?l (?d, "treats", ?s) FILTER(?l.metadata.confidence > 0.75 && ?s.name != "x") }
  NOT { (?d, "treats", {name: :name}) }
  UNION { ?d {type: "Symptom"} (?d, "causes", ?s) }
}""",
        name="Fever",
    )
    assert repr(diagnosis) == (
        '2 solutions after 3:3 ?d {type: "Drug"}\n'
        "2 solutions after 4:3 OPTIONAL {…}\n"
        '2 solutions after   4:14 ?l (?d, "treats", ?s)\n'
        "2 solutions after   4:43 FILTER(?l.metadata.confidence > 0.75)\n"
        '2 solutions after   4:76 FILTER(?s.name != "x")\n'
        " 1 solution after 5:3 NOT {…}\n"
        ' 1 solution after   5:9 (?d, "treats", {name: "Fever"})\n'
        " 1 solution after 6:3 UNION {…}\n"
        '2 solutions after   6:11 ?d {type: "Symptom"}\n'
        '0 solutions after   6:32 (?d, "causes", ?s)'
    )
    assert diagnosis.warnings == ()
    assert diagnosis.steps[3].position == (4, 43)


def test_diagnose_takes_any_command_with_a_where_and_does_not_run_it(nexus: kiprdf.Nexus) -> None:
    diagnosis = nexus.diagnose('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert [step.solutions for step in diagnosis.steps] == [2]
    assert nexus.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 2
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.diagnose("DESCRIBE PRIMER")
    assert (raised.value.code, raised.value.position) == ("KIP_1001", (1, 1))


def test_diagnose_refuses_what_the_command_would(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.diagnose('FIND(?d) WHERE { ?d {type: "Drug", name: "Nothing"} }')
    with pytest.raises(kiprdf.KipError, match="KIP_2001"):
        nexus.diagnose('FIND(?d) WHERE { ?d {type: "drug"} }')


# The clock ------------------------------------------------------------------------------------

SLACK = 20
"""A loaded machine may take so many times as long."""


@pytest.fixture(scope="module")
def large() -> kiprdf.Nexus:
    """50 000 concepts with an attribute."""
    nexus = with_nodes(50_000, 200)
    iris = nexus.store.iris
    size = kiprdf.rdf.vocab.NamedNode(ATTRIBUTE + "size")
    quads = (
        Quad(iris.concept("N", f"n{i}"), size, to_term(i), DefaultGraph()) for i in range(50_000)
    )
    nexus.store.engine.extend(quads)
    return nexus


@pytest.mark.parametrize(
    "where",
    [
        '?x {type: "N"} FILTER(?x.attributes.size == "7") ?x {name: "none"}',
        '?x {type: "N"} ?y {type: "N"} FILTER(?x.attributes.size > 60000 && ?y.name == "none")',
        '(?x, "knows", ?y) (?y, "knows", ?z) (?z, "knows", ?w) FILTER(?w.name == "none")',
        '?x {type: "N"} FILTER(CONTAINS(?x.attributes.sise, "x"))',
    ],
)
def test_an_explanation_ends_with_its_time(
    where: str, large: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(empty_answers, "SECONDS", 0.05)
    find = kiprdf.parse(f"FIND(?x) WHERE {{ {where} }}")
    engine = large._engine
    limits = large.limited(timeout_s=30.0)
    with limits:
        started = time.monotonic()
        engine.request(
            lambda: empty_answers.reasons(
                find, "", engine.store.commit(), engine.store, engine.indexer
            )
        )
    assert time.monotonic() - started < empty_answers.SECONDS * SLACK
    wait_for_the_last()


def test_the_time_of_an_explanation_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that can be cancelled has begun before, when it waited for a thread."""
    explain = empty_answers._explained

    def slowly(*arguments: Any) -> Iterator[kiprdf.KipWarning]:
        time.sleep(0.02)
        yield from explain(*arguments)

    monkeypatch.setattr(empty_answers, "_explained", slowly)
    monkeypatch.setattr(empty_answers, "SECONDS", 1.0)
    cancellation = Cancellation()
    cancellation.begun -= 10
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
        nexus.execute('UPSERT { CONCEPT { {type: "N", name: "Aspirin"} } }')
        request = {"command": 'SEARCH CONCEPT "Asprinn"'}
        answer = cancellable(cancellation, lambda: nexus.execute_kip(request))
        assert [warning["name"] for warning in answer["warnings"]] == ["UnknownName"]
        cancellation.begun -= 30
        late = cancellable(cancellation, lambda: nexus.execute_kip(request))
        assert late["error"]["code"] == "KIP_4001"


def test_a_misspelt_key_is_seen_in_a_large_nexus(large: kiprdf.Nexus) -> None:
    rows = large.find('FIND(?x) WHERE { ?x {type: "N"} FILTER(?x.attributes.sise > 3) }')
    assert rows.warnings[-1].message == "No N has the attribute 'sise'."
    assert rows.warnings[-1].hint == "Did you mean ?x.attributes.size?"


@pytest.mark.parametrize("name", ["n 299", "Other 299", "OTHER 299"])
def test_a_name_in_another_case_and_an_alias_are_seen_among_many(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(empty_answers, "SECONDS", 0.2)
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
        blocks = (
            f'CONCEPT {{ {{type: "N", name: "N {i}"}} SET ATTRIBUTES '
            f'{{ aliases: ["other {i}", "Other {i}"] }} }}'
            for i in range(1_000)
        )
        nexus.execute(f"UPSERT {{ {' '.join(blocks)} }}")
        rows = nexus.find(f'FIND(?x) WHERE {{ ?x {{name: "{name}"}} }}')
        hints = [warning.hint for warning in rows.warnings if warning.name == "UnknownName"]
        assert hints == ['Did you mean "N 299"?']


# What they cost -----------------------------------------------------------------------------------

MOST_QUERIES = {
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == "2") }': 3,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.colour == "blue") }': 3,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.risk_level, ["2", "3"])) }': 3,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(5 == ?d.attributes.code) }': 3,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.attributes.risk_level, "2")) }': 4,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level > 7) }': 4,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_lvl == 1) }': 3,
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == "aspirin") }': 3,
    'FIND(?l) WHERE { ?l (?d, "treats", ?s) FILTER(?l.metadata.confidence == "0.9") }': 3,
    'FIND(?d) WHERE { (?d, "treats", {name: "Headache"}) FILTER(?d.attributes.colour == 5) }': 2,
    'FIND(?s) WHERE { ({type: "Drug", name: "Aspirin"}, "causes", ?s) }': 1,
    'FIND(?d) WHERE { ?d {type: "Drug"} (?d, "causes", ?s) }': 3,
    'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk_level == "2") }': 4,
    'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "Aspirin"} }': 2,
}
"""By question: the SPARQL queries of its empty answer and of the reasons."""


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SPARQL queries that the engine has been asked."""
    queries: list[str] = []
    select = OxigraphStore.select

    def noted(store: OxigraphStore, query: str, *arguments: Any, **options: Any) -> Any:
        queries.append(query)
        return select(store, query, *arguments, **options)

    monkeypatch.setattr(OxigraphStore, "select", noted)
    # On a slow machine a few questions are worth an index of values, which answers without a query.
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", math.inf)
    return queries


@pytest.mark.parametrize("question", MOST_QUERIES)
def test_an_empty_answer_asks_the_engine_a_few_times(
    question: str, nexus: kiprdf.Nexus, queries: list[str]
) -> None:
    first = nexus.answer(question)
    queries.clear()
    assert nexus.answer(question) == first
    assert len(first.warnings) > 0
    assert len(queries) == MOST_QUERIES[question], queries
    assert len(set(queries)) == len(queries)


def test_an_empty_answer_of_a_text_with_other_literals_asks_for_it_once(
    nexus: kiprdf.Nexus, queries: list[str]
) -> None:
    text = 'FIND(?d.name) WHERE {{ ?d {{type: "Drug"}} FILTER(?d.attributes.risk_level > {}) }}'
    for limit in range(10, 16):
        queries.clear()
        warnings = nexus.answer(text.format(limit)).warnings
    assert len([query for query in queries if "15" in query]) == 1
    assert f"FILTER(?d.attributes.risk_level > {limit}) is true for none" in warnings[0].message
    assert str(warnings[0]).startswith("1:41 FILTER")
