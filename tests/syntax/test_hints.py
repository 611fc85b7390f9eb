"""Hints that must not mislead: what they say is true of the place they speak of."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

import kiprdf
from kiprdf.advice.corrections import corrections
from kiprdf.advice.rows import all_rows, hint_of
from kiprdf.advice.texts import PARTS
from kiprdf.errors import KipError
from kiprdf.language import parse


def error_of(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        parse(text)
    return caught.value


def test_select_is_not_taken_for_delete() -> None:
    assert "DELETE" not in error_of('SELECT ?d WHERE { ?d {type: "Drug"} }').hint


def test_detach_is_not_taken_for_search() -> None:
    assert "SEARCH" not in error_of('DETACH DELETE ?d WHERE { ?d {type: "Drug"} }').hint


def test_a_keyword_in_the_plural_is_reported_whole() -> None:
    error = error_of('DELETE CONCEPTS ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert error.position == (1, 8)
    assert error.message == (
        "Expected ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT, found 'CONCEPTS'."
    )


def test_a_keyword_glued_to_a_word_is_reported_whole() -> None:
    error = error_of('FIND(?d) WHEREX { ?d {type: "Drug"} }')
    assert error.position == (1, 10)
    assert error.message == "Expected WHERE, found 'WHEREX'."


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET {n: 1} } }',
        'UPSERT { {type: "Drug", name: "A"} }',
        'DELETE CONCEPT {type: "Drug", name: "A"} DETACH',
        "DELETE {",
    ],
    ids=["SET", "UPSERT", "DELETE_CONCEPT", "DELETE"],
)
def test_a_brace_outside_of_where_gets_no_hint_about_where(text: str) -> None:
    assert "A concept clause in WHERE" not in error_of(text).hint


def test_a_block_in_a_block_gets_no_hint_about_matchers() -> None:
    error = error_of('FIND(?d) WHERE { { ?d {type: "A"} } UNION { ?d {type: "B"} } }')
    assert "UNION" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT {type: "Drug", name: "A"} }',
        'UPSERT { CONCEPT ?a {type: "Drug", name: "A"} { SET ATTRIBUTES {n: 1} } }',
    ],
    ids=["without_handle", "with_handle"],
)
def test_a_matcher_in_place_of_a_block_gets_no_hint_about_upper_case(text: str) -> None:
    assert "upper case" not in error_of(text).hint


WHERE = 'WHERE { ?d {type: "Drug"} }'


@pytest.mark.parametrize("shown", ["*", "COUNT(*)"])
def test_a_star_in_find_gets_no_hint_about_hops(shown: str) -> None:
    assert "hops" not in error_of(f"FIND({shown}) {WHERE}").hint


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_arithmetic_gets_no_hint_about_hops(operator: str) -> None:
    text = f'FIND(?d) WHERE {{ ?d {{type: "Drug"}} FILTER(?d.attributes.n {operator} 1 > 3) }}'
    assert "hops" not in error_of(text).hint


@pytest.mark.parametrize(("path", "hops"), [("*", "{0,}"), ("+", "{1,}")])
def test_a_path_operator_of_sparql_gets_a_hint_about_hops(path: str, hops: str) -> None:
    assert hops in error_of(f'FIND(?s) WHERE {{ (?d, "follows"{path}, ?s) }}').hint


def test_set_propositions_in_a_proposition_block_is_not_what_is_hinted_at() -> None:
    ends = '({id: "C:Drug/A"}, "treats", {id: "C:Symptom/S"})'
    error = error_of(f"UPSERT {{ PROPOSITION {{ {ends} SET PROPOSITIONS {{ }} }} }}")
    assert "Write SET PROPOSITIONS" not in error.hint


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t\r\n", "// later", "  // a\n// b", "\ufeff", "\u00a0"]
)
def test_an_empty_command_says_so(text: str) -> None:
    error = error_of(text)
    assert (error.code, error.message) == ("KIP_1001", "The command is empty.")
    assert "`DESCRIBE PRIMER`" in error.hint


def test_a_text_that_is_no_command_is_not_called_empty() -> None:
    assert error_of("// later\nhello").message.startswith("A command begins with FIND")


@pytest.mark.parametrize(
    "name", ["Headach", "Hiccups", 'the "hiccups"', "back\\slash", "阿司匹林", "x" * 500, "it's"]
)
@pytest.mark.parametrize(
    "write",
    [
        'UPSERT { PROPOSITION { ({type: "Drug", name: "A"}, "treats", '
        '{type: "Symptom", name: :n}) } }',
        'UPDATE ?d SET ATTRIBUTES {x: 1} WHERE { (?d, "treats", {type: "Symptom", name: :n}) }',
    ],
)
def test_the_creation_of_an_unknown_concept_lets_the_write_run(write: str, name: str) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "Drug"} }
      CONCEPT { {type: "$ConceptType", name: "Symptom"} }
      CONCEPT { {type: "$PropositionType", name: "treats"} }
      CONCEPT { {type: "Drug", name: "A"} }
      CONCEPT { {type: "Symptom", name: "Headache"} }
    }""")
    with pytest.raises(KipError) as caught:
        nexus.execute(write, n=name)
    assert caught.value.code == "KIP_3002"
    assert ("'Headache'" in caught.value.hint) == (name == "Headach")
    creation = re.search("create it first: `(.*)`", caught.value.hint)
    assert creation is not None
    nexus.execute(creation[1])
    nexus.execute(write, n=name)
    command = 'FIND(?s) WHERE { ?s {type: "Symptom", name: :n} }'
    assert len(nexus.execute(command, n=name)) == 1


@pytest.mark.parametrize("name", [" Headache", "a`b", "{{name}}"])
def test_what_cannot_be_created_or_quoted_is_not_offered(name: str) -> None:
    nexus = kiprdf.Nexus.memory()
    write = """UPSERT {
      CONCEPT {
        {type: "Person", name: "Ada"}
        SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: :n}) }
      }
    }"""
    with pytest.raises(KipError) as caught:
        nexus.execute(write, n=name)
    assert "create it first" not in caught.value.hint


def test_sparql_that_explain_returns_says_what_it_is_for() -> None:
    nexus = kiprdf.Nexus.memory()
    text = nexus.explain(
        'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 3) }'
    )
    assert "fn:" in text
    with pytest.raises(KipError) as caught:
        nexus.sparql(text)
    assert re.fullmatch(r"Only FIND has the function fn:[a-z-]+\.", caught.value.message)
    assert caught.value.hint.startswith("Run the FIND that was explained")
    with pytest.raises(KipError, match="The engine refused"):
        nexus.sparql("SELECT * { ?s ?p ?o FILTER(<urn:other:f>(?o)) }")


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "A", name: "b"} SET ATTRIBUTES { type: "a" | "b" } } }',
        'UPSERT { CONCEPT { {type: "A", name: "b"} } WITH METADATA { name: "a" or "b" } }',
        'UPSERT { CONCEPT { {type: "A", name: "b"} SET ATTRIBUTES { x: { type: "a" | "b" } } } }',
        'UPSERT { CONCEPT { {type: "A", name: "b"} SET ATTRIBUTES { x: [{ type: "a" | "b" }] } } }',
        'UPDATE ?x SET ATTRIBUTES { type: "a" | "b" } WHERE { ?x {type: "A"} }',
    ],
)
def test_an_object_is_no_matcher(text: str) -> None:
    assert not re.search("UNION|A concept has one", error_of(text).hint)


@pytest.mark.parametrize("filler", [" " * 200_000, "a, " * 60_000, "type: " * 30_000, "(" * 99])
def test_a_long_matcher_is_refused_soon(filler: str) -> None:
    begun = time.process_time()
    error_of(f"FIND(?x) WHERE {{ ?x {{type: {filler} }} }}")
    assert time.process_time() - begun < 2


def test_an_error_without_a_place_has_no_corrections() -> None:
    error = KipError("KIP_2001", "X.", "Did you mean 'Drug'?", source="FIND(?x) WHERE { ?x {} }")
    assert corrections(error) == []
    assert corrections(KipError("KIP_2001", "X.", "Write `a` instead of `b`.")) == []


@pytest.mark.parametrize(
    ("name", "other", "is_near"),
    [("Basil", "Skill", False), ("true", "treats", False), ("Skil", "Skill", True)],
)
def test_a_name_that_shares_half_of_its_letters_is_not_suggested(
    name: str, other: str, is_near: bool
) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Herb"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Herb", name: :n} } }', n=other)
    warnings = nexus.answer(f'FIND(?x) WHERE {{ ?x {{name: "{name}"}} }}').warnings
    assert warnings
    assert (f'Did you mean "{other}"?' in " ".join(map(str, warnings))) == is_near


@pytest.mark.parametrize("field", ["x" * 700, "x`y"])
def test_a_field_that_no_row_repairs_keeps_the_hint_of_its_place(field: str) -> None:
    hint = error_of(f'FIND(?d.{field}) WHERE {{ ?d {{type: "Drug"}} }}').hint
    assert hint.startswith("Concepts have .id .type .name, propositions .id")
    assert "None" not in hint


def test_tables_of_mistakes_are_loaded_at_the_first_error() -> None:
    code = """
import sys, kiprdf
from kiprdf.language import parse
print("pyparsing" in sys.modules, "kiprdf.advice" in sys.modules, "tomllib" in sys.modules)
parse("DESCRIBE PRIMER")
print("pyparsing" in sys.modules, "kiprdf.advice" in sys.modules, "tomllib" in sys.modules)
try:
    parse("describe PRIMER")
except kiprdf.KipError as error:
    print(error.hint)
print("kiprdf.advice" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert done.stdout.splitlines() == [
        "False False False",
        "True False False",
        "Did you mean DESCRIBE? Keywords are upper case.",
        "True",
    ]


def test_every_row_names_only_what_there_is() -> None:
    rows = [*all_rows(), *all_rows("last")]
    assert len(rows) > 450
    for row in rows:
        named = re.findall(r"\{[A-Z_]+\}", f"{row.expected} {row.pattern} {row.hint} {row.new}")
        assert PARTS.keys() >= set(named)
        hint_of([row._replace(expected="")], f"{row.command} x", 0, "")
