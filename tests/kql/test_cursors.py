"""Page tokens: opaque, bound to their command, every solution once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from kiprdf.errors import KipError
from kiprdf.kql import cursor
from kiprdf.language import ast, bind, parse
from tests.cases import each_case

COMMAND = 'FIND(?d.name) WHERE { ?d {type: "T"} }'


def command(text: str, **parameters: Any) -> ast.Find:
    command = bind(parse(text), parameters)
    assert isinstance(command, ast.Find)
    return command


def token(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.fixture(scope="module")
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        concepts = "".join(f'CONCEPT {{ {{type: "T", name: "N{i:02}"}} }} ' for i in range(25))
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "T"}} }} {concepts} }}')
        yield nexus


def test_a_token_decodes_to_its_offset() -> None:
    made = cursor.encode(command(COMMAND), commit=7, offset=20)
    assert cursor.decode(command(f'{COMMAND} CURSOR "{made}"')) == 20


def test_without_a_cursor_the_offset_is_zero() -> None:
    assert cursor.decode(command(COMMAND)) == 0


def test_a_token_is_base64url_of_format_digest_commit_and_offset() -> None:
    made = cursor.encode(command(COMMAND), commit=7, offset=20)
    content = json.loads(base64.urlsafe_b64decode(made + "=" * (-len(made) % 4)))
    assert content == [1, cursor.digest(command(COMMAND)), 7, 20]


def test_layout_comments_limit_and_cursor_do_not_change_the_command() -> None:
    other = f'// c\n{COMMAND.replace(" ", "  ")} LIMIT 5 CURSOR "x"'
    assert cursor.digest(command(other)) == cursor.digest(command(COMMAND))


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?d.id) WHERE { ?d {type: "T"} }',
        'FIND(?d.name) WHERE { ?d {type: "U"} }',
        COMMAND + " ORDER BY ?d.name",
    ],
)
def test_another_command_has_another_digest(text: str) -> None:
    assert cursor.digest(command(text)) != cursor.digest(command(COMMAND))


def test_other_parameters_make_another_command() -> None:
    text = "FIND(?d) WHERE { ?d {name: :n} }"
    assert cursor.digest(command(text, n="a")) != cursor.digest(command(text, n="b"))


GARBAGE = [
    "", "x", "garbage", "====", "é", "a b", "AAAA", token([]), token({}), token(None), token("x"),
    token([1, "d", 1]), token([2, cursor.digest(command(COMMAND)), 1, 0]),
    token([1, cursor.digest(command(COMMAND)), 1, -1]),
    token([1, cursor.digest(command(COMMAND)), 1, 1.5]),
    token([1, cursor.digest(command(COMMAND)), 1, True]),
    token([1, cursor.digest(command(COMMAND)), 1, "1"]),
    "A" * 100_000, base64.urlsafe_b64encode(b"[" * 50_000).decode(),
]  # fmt: skip


@each_case("made", GARBAGE)
def test_garbage_is_a_syntax_error(nexus: kiprdf.Nexus, made: str) -> None:
    response = nexus.execute_kip({"command": COMMAND + " CURSOR :c", "parameters": {"c": made}})
    assert response["error"]["code"] == "KIP_1001"


@pytest.mark.parametrize("offset", [2**63, 2**64, 10**30])
@pytest.mark.parametrize("tail", ["", " ORDER BY ?d.name"])
def test_an_offset_beyond_64_bits_is_no_engine_error(
    nexus: kiprdf.Nexus, offset: int, tail: str
) -> None:
    made = token([1, cursor.digest(command(COMMAND + tail)), 1, offset])
    request = {"command": COMMAND + tail + " CURSOR :c", "parameters": {"c": made}}
    response = nexus.execute_kip(request)
    assert response == {"result": []} or response["error"]["code"] == "KIP_1001"


def test_an_offset_beyond_the_last_row_is_an_empty_page(nexus: kiprdf.Nexus) -> None:
    made = token([1, cursor.digest(command(COMMAND)), 1, 1_000])
    assert nexus.execute(COMMAND + " CURSOR :c", c=made) == []


@pytest.mark.parametrize("limit", [2**31, 2**63 - 2, 2**63 - 1])
@pytest.mark.parametrize("tail", ["", " ORDER BY ?d.name"])
def test_the_largest_limits_return_everything(nexus: kiprdf.Nexus, limit: int, tail: str) -> None:
    assert sorted(nexus.execute(f"{COMMAND}{tail} LIMIT {limit}")) == NAMES


def test_the_token_of_another_command_is_a_syntax_error(nexus: kiprdf.Nexus) -> None:
    made = nexus.execute_kip({"command": COMMAND + " LIMIT 5"})["next_cursor"]
    text = f'FIND(?d.id) WHERE {{ ?d {{type: "T"}} }} CURSOR "{made}"'
    with pytest.raises(KipError) as caught:
        nexus.execute(text)
    assert (caught.value.code, caught.value.message) == (
        "KIP_1001",
        "The cursor belongs to another command.",
    )


def pages(nexus: kiprdf.Nexus, text: str, limits: list[int]) -> list[list[Any]]:
    """The pages of a command, one limit after the other, then the last one again and again."""
    results, made = [], None
    while True:
        limit = limits.pop(0) if len(limits) > 1 else limits[0]
        parameters: dict[str, Any] = {"l": limit}
        tail = " LIMIT :l"
        if made is not None:
            parameters["c"], tail = made, " LIMIT :l CURSOR :c"
        response = nexus.execute_kip({"command": text + tail, "parameters": parameters})
        results.append(response["result"])
        made = response.get("next_cursor")
        if made is None:
            return results


NAMES = [f"N{i:02}" for i in range(25)]


@pytest.mark.parametrize("limit", [1, 5, 7, 24, 25, 26])
def test_ordered_pages_concatenate(nexus: kiprdf.Nexus, limit: int) -> None:
    paged = pages(nexus, COMMAND + " ORDER BY ?d.name", [limit])
    assert [name for page in paged for name in page] == NAMES
    assert all(page for page in paged)


@pytest.mark.parametrize("limit", [1, 5, 7, 24, 25, 26])
def test_unordered_pages_hold_every_solution_once(nexus: kiprdf.Nexus, limit: int) -> None:
    paged = pages(nexus, COMMAND, [limit])
    assert sorted(name for page in paged for name in page) == NAMES


def test_the_limit_may_change_between_pages(nexus: kiprdf.Nexus) -> None:
    paged = pages(nexus, COMMAND + " ORDER BY ?d.name", [1, 10, 3])
    assert [len(page) for page in paged] == [1, 10, 3, 3, 3, 3, 2]
    assert [name for page in paged for name in page] == NAMES


def test_grouped_pages_concatenate(nexus: kiprdf.Nexus) -> None:
    text = 'FIND(?d.name, COUNT(?d)) WHERE { ?d {type: "T"} } ORDER BY ?d.name DESC'
    paged = pages(nexus, text, [10])
    assert [name for page in paged for name in page[0]] == NAMES[::-1]


def test_a_full_last_page_has_no_next_cursor(nexus: kiprdf.Nexus) -> None:
    assert "next_cursor" not in nexus.execute_kip({"command": COMMAND + " LIMIT 25"})


def test_without_a_limit_there_is_no_next_cursor(nexus: kiprdf.Nexus) -> None:
    assert "next_cursor" not in nexus.execute_kip({"command": COMMAND})


def test_types_are_paged(nexus: kiprdf.Nexus) -> None:
    paged = pages(nexus, "DESCRIBE CONCEPT TYPES", [1])
    assert [name for page in paged for name in page] == nexus.execute("DESCRIBE CONCEPT TYPES")
