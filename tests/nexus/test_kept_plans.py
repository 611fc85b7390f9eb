"""A FIND with a cached plan returns the same as one that is planned again."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

import kiprdf
from kiprdf.kql import find
from kiprdf.language import limits
from tests.nexus.support import code, medical
from tests.shortcuts import no_lookups, no_shortcuts

TREATED = 'FIND(?s.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: :name} '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Fever"}) } } }',
        name='Odd "name" \\ <x> % é 阿',
    )
    return nexus


def plans(nexus: kiprdf.Nexus, command: str) -> dict[Any, Any]:
    return nexus._engine.statements._texts[command].checked[1]


def warm(nexus: kiprdf.Nexus, command: str, **parameters: Any) -> Any:
    """The answer when the plan of the text is cached."""
    for _ in range(3):
        nexus.execute(command, **parameters)
    assert any(plans(nexus, command).values())
    return nexus.execute(command, **parameters)


def test_other_names_have_other_answers(nexus: kiprdf.Nexus) -> None:
    assert sorted(warm(nexus, TREATED, name="Aspirin")) == ["Fever", "Headache"]
    assert nexus.execute(TREATED, name='Odd "name" \\ <x> % é 阿') == ["Fever"]


@pytest.mark.parametrize(
    "name",
    ['"} UNION { ?s ?p ?o', "> . ?s ?p ?o . <x", "mark-", "%41spirin", "Aspirin/", "Aspi\u200brin"],
)
def test_a_name_stays_a_name(name: str, nexus: kiprdf.Nexus) -> None:
    by_name = "FIND(?x.name) WHERE { ?x {name: :name} }"
    assert warm(nexus, by_name, name="Aspirin") == ["Aspirin"]
    assert nexus.execute(by_name, name=name) == []
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', name=name)
    assert nexus.execute(by_name, name=name) == [name]


ODD = ['"', "\\", "> . <x", '"} UNION { ?s ?p ?o', "C:Drug/Aspirin", "é 阿", "mark-", "7" * 18]
VARYING = {
    "FIND(?d.name) WHERE { ?d {type: :type} FILTER(?d.attributes.risk >= :least) }": [
        {"type": kind, "least": least}
        for kind in ("Drug", "Symptom")
        for least in (2, 1, 3, 2.0, 1.5, -5, -0.0, 10**18, 9007199254740993, True, None, "2")
    ],
    "FIND(?d.name) WHERE { ?d {name: :name} FILTER(?d.attributes.risk == :risk) }": [
        {"name": name, "risk": risk}
        for name in ("Aspirin", "Fever")
        for risk in (2, 2.0, "2", "white", True, None)
    ],
    "FIND(?x.id) WHERE { ?x {id: :id} }": [
        {"id": identifier} for identifier in ("C:Drug/Aspirin", "C:Symptom/Fever", "C:Drug/Aspirin")
    ],
    "FIND(?l.subject) WHERE { ?l (id: :id) }": [
        {"id": "P:48ec6e8e3fe50dea:treats"},
        {"id": "P:48ec6e8e3fe50dea:treats"},
    ],
    # The holes of ids are filled apart from those of names.
    'FIND(?d.name, ?l.subject, ?s.name) WHERE { ?d {type: "Drug"} '
    'OPTIONAL { ?l (id: :id) } OPTIONAL { ?s {type: "Symptom", name: :name} } }': [
        {"id": identifier, "name": name}
        for identifier in ("P:48ec6e8e3fe50dea:treats", "P:0000000000000000:treats")
        for name in ("Fever", "Headache")
    ],
    "FIND(?d.name) WHERE { ?d {name: :name} FILTER(CONTAINS(?d.name, :part) || ?d.type == :t) }": [
        {"name": name, "part": part, "t": kind}
        for name in ("Aspirin", 'Odd "name" \\ <x> % é 阿')
        for part in ("spir", "x", *ODD)
        for kind in ("Drug", "Symptom", '"')
    ],
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name || ?d.id == :id) }': [
        {"name": name, "id": name} for name in ("Aspirin", "C:Drug/Aspirin", *ODD)
    ],
    'FIND(?d.name) WHERE { ?d {type: "Symptom"} } LIMIT :most': [
        {"most": most} for most in (1, 5, 2, 3)
    ],
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.risk, [:a, :b])) }': [
        {"a": a, "b": b} for a in (2, 3, 2.0) for b in ("x", 2, 7, None)
    ],
    'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(REGEX(?d.name, :pattern)) }': [
        {"pattern": pattern} for pattern in ("^A", "n$", "z", "^A")
    ],
}


@pytest.mark.parametrize("command", VARYING)
def test_other_values_have_the_answers_of_a_new_plan(command: str, nexus: kiprdf.Nexus) -> None:
    for parameters in VARYING[command]:
        with no_shortcuts():
            new = nexus.execute(command, **parameters)
        for _ in range(4):
            assert nexus.execute(command, **parameters) == new, parameters
    assert any(plans(nexus, command).values())


@pytest.mark.parametrize(
    ("command", "parameters"),
    [
        ("FIND(?x) WHERE { ?x {id: :id} }", {"id": "C:Drug/Asprin"}),
        ("FIND(?x) WHERE { ?x {id: :id} }", {"id": "P:48ec6e8e3fe50dea:treats"}),
        ("FIND(?x) WHERE { ?x {id: :id} }", {"id": "Drug"}),
        ("FIND(?x) WHERE { ?x {id: :id} }", {"id": 5}),
        ("FIND(?l) WHERE { ?l (id: :id) }", {"id": "P:0000000000000000:treats"}),
        ("FIND(?l) WHERE { ?l (id: :id) }", {"id": "C:Drug/Aspirin"}),
        ('FIND(?x) WHERE { ?x {type: "Drug"} } LIMIT :id', {"id": 0}),
        ('FIND(?x) WHERE { ?x {type: "Drug"} } LIMIT :id', {"id": True}),
        ('FIND(?x) WHERE { ?x {type: "Drug"} FILTER(?x.name == :id) }', {"id": "a\ud800"}),
        ('FIND(?x) WHERE { ?x {type: "Drug"} FILTER(?x.name == :id) }', {"id": 2**70}),
    ],
)
def test_bad_values_raise_the_errors_of_a_new_plan(
    command: str, parameters: dict[str, Any], nexus: kiprdf.Nexus
) -> None:
    good = {"id": "C:Drug/Aspirin" if "{id:" in command else "P:48ec6e8e3fe50dea:treats"}
    if "LIMIT" in command:
        good = {"id": 2}  # type: ignore[dict-item]
    with no_shortcuts():
        new = code(nexus, command, **parameters)
    warm(nexus, command, **good)
    for _ in range(4):
        assert code(nexus, command, **parameters) == new


def test_rows_of_a_cached_plan_equal_those_of_a_new_one(nexus: kiprdf.Nexus) -> None:
    answers = [nexus.find(TREATED, name="Aspirin") for _ in range(4)]
    assert all(rows.columns == ("?s.name",) for rows in answers)
    assert all(sorted(rows.column("?s.name")) == ["Fever", "Headache"] for rows in answers)


def test_a_missing_name_is_an_error_with_a_cached_plan(nexus: kiprdf.Nexus) -> None:
    warm(nexus, TREATED, name="Aspirin")
    with pytest.raises(kiprdf.KipError, match="KIP_3002") as raised:
        nexus.execute(TREATED, name="Asprin")
    assert raised.value.hint == "Did you mean 'Aspirin'?"


@pytest.mark.parametrize(
    "parameters",
    [{}, *({"name": name} for name in (5, None, "", "a\ud800", "a\x00", ["Aspirin"], "x" * 2000))],
)
def test_bad_names_raise_the_errors_of_a_new_plan(
    parameters: dict[str, Any], nexus: kiprdf.Nexus
) -> None:
    new = code(medical(), TREATED, **parameters)
    warm(nexus, TREATED, name="Aspirin")
    assert code(nexus, TREATED, **parameters) == new


def test_a_cached_plan_notices_a_created_or_deleted_type(nexus: kiprdf.Nexus) -> None:
    members = 'FIND(?x.name) WHERE { ?x {type: "Herb"} }'
    for _ in range(4):
        assert code(nexus, members) == "KIP_2001"
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Herb"} } }')
    for _ in range(4):
        assert nexus.execute(members) == []
    nexus.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Herb"} }')
    assert code(nexus, members) == "KIP_2001"


def test_pages_continue_from_a_cached_plan(nexus: kiprdf.Nexus) -> None:
    paged = 'FIND(?s.name) WHERE { ({type: "Drug", name: :name}, "treats", ?s) } LIMIT 1'
    warm(nexus, paged, name="Aspirin")
    first = nexus.answer(paged, {"name": "Aspirin"})
    second = nexus.answer(
        paged + " CURSOR :cursor", {"name": "Aspirin", "cursor": first.next_cursor}
    )
    assert sorted([*first.result, *second.result]) == ["Fever", "Headache"]
    odd = nexus.answer(paged + " CURSOR :cursor", {"name": "Aspirin", "cursor": first.next_cursor})
    assert odd == second


def test_a_placeholder_in_a_string_stays_an_error(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?x) WHERE { ?x {type: "Drug", name: :name} FILTER(?x.name != ":name") }'
    for _ in range(4):
        assert code(nexus, command, name="Aspirin") == "KIP_1001"


def test_two_names_may_be_one(nexus: kiprdf.Nexus) -> None:
    pair = 'FIND(?b.name) WHERE { ?a {type: "Drug", name: :one} ?b {type: "Drug", name: :other} }'
    odd = 'Odd "name" \\ <x> % é 阿'
    assert warm(nexus, pair, one="Aspirin", other=odd) == [odd]
    assert nexus.execute(pair, one="Aspirin", other="Aspirin") == ["Aspirin"]


def test_equal_arguments_have_a_plan_of_their_own(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = (
        'FIND(?d.name) WHERE { (?d, "treats", {type: "Symptom", name: :one}) '
        '(?d, "treats", {type: "Symptom", name: :other}) FILTER(?d.name != :third) }'
    )
    compiled: list[object] = []
    plan_find = find.plan_find

    def noted(*arguments: Any, **options: Any) -> Any:
        compiled.append(arguments)
        return plan_find(*arguments, **options)

    fever = ["Aspirin", 'Odd "name" \\ <x> % é 阿']
    calls: list[tuple[str, str, str, list[str]]] = [
        ("Fever", "Headache", "x", ["Aspirin"]),
        ("Fever", "Fever", "x", fever),
        ("Headache", "Headache", "Fever", ["Aspirin"]),
        ("Fever", "Headache", "Fever", ["Aspirin"]),
        ("Fever", "Fever", "Fever", fever),
        ("Headache", "Headache", "Headache", ["Aspirin"]),
    ]

    def ask(one: str, other: str, third: str) -> list[str]:
        return sorted(nexus.execute(both, one=one, other=other, third=third))

    for *arguments, answer in calls * 2:
        assert ask(*arguments) == answer
    monkeypatch.setattr(find, "plan_find", noted)
    for *arguments, answer in calls:
        assert ask(*arguments) == answer
    assert compiled == []
    number = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(:a == :b && :b == :c) }'
    for values in ((7, 7.0, 7), (7, 7, 7), (0.0, -0.0, 0)):
        for _ in range(4):
            rows = nexus.execute(number, a=values[0], b=values[1], c=values[2])
            assert len(rows) == len(nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} }'))


def test_the_cache_is_bounded(nexus: kiprdf.Nexus) -> None:
    for number in range(600):
        for _ in range(2):
            nexus.execute(f'FIND(?x{number}) WHERE {{ ?x{number} {{type: "Drug"}} }}')
    assert len(nexus._engine.statements._texts) <= 256


def test_long_values_that_are_compiled_in_are_not_cached(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.id == :id) }'
    assert warm(nexus, command, id="C:Drug/Aspirin") == ["Aspirin"]
    for number in range(3):
        for _ in range(3):
            assert (
                nexus.execute(command, id=f"C:Drug/{number}" + "x" * limits.NAME_CHARACTERS) == []
            )
    assert len(plans(nexus, command)) == 1


@pytest.mark.parametrize("times", range(4))
def test_a_closed_nexus_says_so_even_when_the_plan_is_cached(times: int) -> None:
    nexus = medical()
    count = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'
    for _ in range(times):
        assert nexus.execute(count) == 1
    nexus.close()
    for _ in range(3):
        error = nexus.execute_kip({"command": count})["error"]
        assert (error["code"], error["message"]) == ("KIP_4003", "The nexus is closed.")


# Texts that differ in their literals ----------------------------------------------------------


def test_lists_of_one_length_share_a_plan(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {n: :n} } }',
            name=f"d{number}",
            n=number // 3 + 1,
        )
    sent = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.n, :list)) }'

    def ask(values: list[object]) -> list[str]:
        answer = sorted(nexus.execute(sent, list=values))
        if values:
            assert sorted(nexus.execute(sent.replace(":list", json.dumps(values)))) == answer
        with no_lookups():
            assert sorted(nexus.execute(sent, list=values)) == answer
        assert nexus.execute(sent.replace("?d.name", "COUNT(?d)"), list=values) == len(answer)
        return answer

    one, two, three = (["d0", "d1", "d2"], ["d3", "d4", "d5"], ["d6", "d7", "d8"])
    calls: list[tuple[list[object], list[str]]] = [
        ([1, 2], one + two),
        ([3, 1.0], one + three),
        ([1, 1.0], one),
        ([2, 2], two),
        (["x", 2], two),
        ([0, 3], three),
        ([None, 3], ["Aspirin", 'Odd "name" \\ <x> % é 阿', *three]),
        ([True, 3], three),
        ([[1], {"a": 2}], []),
        ([], []),
        (list(range(60)), one + two + three),
    ]
    for values, expected in calls * 3:
        assert ask(values) == sorted(expected), values
    compiled: list[object] = []
    monkeypatch.setattr(find, "plan_find", lambda *arguments, **_: compiled.append(arguments))
    for values, expected in calls[:4]:
        assert sorted(nexus.execute(sent, list=values)) == sorted(expected)
    assert compiled == []


NAMED = 'FIND(?s.name) WHERE {{ ({{type: "Drug", name: "{}"}}, "treats", ?s) }}'


def test_the_third_text_of_a_kind_has_the_plan_of_the_others(nexus: kiprdf.Nexus) -> None:
    for number in range(3):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: :name} '
            'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Fever"}) } } }',
            name=f"d{number}",
        )
    for number in range(3):
        assert nexus.execute(NAMED.format(f"d{number}")) == ["Fever"]
    assert NAMED.format("d2") not in nexus._engine.statements._texts
    assert sorted(nexus.execute(NAMED.format("Aspirin"))) == ["Fever", "Headache"]


def test_an_error_has_the_place_in_the_text_that_was_sent(nexus: kiprdf.Nexus) -> None:
    for name in ("Aspirin", "Aspirin", "Odd"):
        nexus._engine.statements.forget_texts()
        with suppress(kiprdf.KipError):
            nexus.execute(NAMED.format(name))
    with pytest.raises(kiprdf.KipError, match="KIP_3002 1:45") as raised:
        nexus.execute(NAMED.format("Asprin"))
    assert "Did you mean 'Aspirin'?" in raised.value.hint


def test_an_empty_answer_names_the_literal_that_was_sent(nexus: kiprdf.Nexus) -> None:
    text = 'FIND(?d.name) WHERE {{ ?d {{type: "Drug"}} FILTER(?d.attributes.colour == "{}") }}'
    for colour in ("white", "white ", "white", "Wihte"):
        nexus._engine.statements.forget_texts()
        answer = nexus.answer(text.format(colour))
    assert "Wihte" in answer.warnings[0].message


def test_a_page_goes_on_where_it_ended(nexus: kiprdf.Nexus) -> None:
    text = 'FIND(?s.name) WHERE { ({type: "Drug", name: "Aspirin"}, "treats", ?s) } LIMIT 1'
    pages = []
    for _ in range(3):
        nexus._engine.statements.forget_texts()
        first = nexus.answer(text)
        second = nexus.answer(text.replace("LIMIT 1", f'LIMIT 1 CURSOR "{first.next_cursor}"'))
        pages.append((first.result, second.result, second.next_cursor))
    assert pages == [pages[0]] * 3
    assert sorted(pages[0][0] + pages[0][1]) == ["Fever", "Headache"]


def test_pages_of_a_text_that_repeats_a_literal_have_each_row_once() -> None:
    """Equal constants join the branches of this text in another order than open ones would."""
    nexus = kiprdf.Nexus.memory()
    nexus.execute(
        "UPSERT { "
        'CONCEPT { {type: "$ConceptType", name: "T"} } '
        'CONCEPT { {type: "$ConceptType", name: "U"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } '
        'CONCEPT { {type: "$PropositionType", name: "says"} } '
        'CONCEPT { {type: "$PropositionType", name: "likes"} } '
        'CONCEPT { {type: "U", name: "B"} } CONCEPT ?q { {type: "T", name: "Q"} } '
        'CONCEPT { {type: "T", name: "B"} } CONCEPT { {type: "U", name: "Q"} } '
        'CONCEPT { {type: "U", name: "A"} SET PROPOSITIONS { ("likes", {type: "T", name: "B"}) } } '
        'PROPOSITION ?l { (?q, "likes", {type: "$ConceptType", name: "T"}) } '
        'PROPOSITION ?s { (?l, "says", {type: "U", name: "B"}) } '
        'CONCEPT { {type: "T", name: "A"} SET PROPOSITIONS { ("knows", ?s) } } }'
    )
    text = (
        'FIND(?b.id) WHERE { ?m (?l ({type: "T", name: "B"}, "likes", ?c), "knows", ?b) '
        'UNION { ?c {type: "T", name: "A"} ?m (?c, "knows", ?b) } '
        '(?c {type: "T", name: "A"}, "knows", ?b) '
        'UNION { ?c {type: "T", name: "A"} ?b {type: "U", name: "A"} '
        'UNION { OPTIONAL { (?c {type: "T"}, "knows", ?d) } } } } LIMIT 2'
    )
    for _ in range(5):
        nexus._engine.statements.forget_texts()
        first = nexus.answer(text)
        second = nexus.answer(f'{text} CURSOR "{first.next_cursor}"')
        rows = first.result + second.result
        assert rows.count(None) == 1
        assert rows.count("C:U/A") == 1
        assert len(rows) == 3
