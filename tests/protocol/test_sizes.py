"""Responses of at most ``max_chars``: rows with a cursor, longer values with a way to the whole."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

import kiprdf
from kiprdf.execution.sizes import short, shortened, size

NOTES = 60
FACES = "é\U0001f600 "
_SENT = re.compile(r"Send (\{.*\})\.")


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } '
        'CONCEPT { {type: "$PropositionType", name: "after"} } }'
    )
    for number in range(NOTES):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Note", name: :name} '
            "SET ATTRIBUTES {text: :text, rank: :rank, items: :items} } }",
            name=f"note {number:02}",
            text=FACES * (number % 7 * 20 + 1),
            rank=number % 5,
            items=list(range(number)),
        )
    for number in range(1, 20):
        nexus.execute(
            'UPSERT { PROPOSITION { ({type: "Note", name: :one}, "after", '
            '{type: "Note", name: :other}) } }',
            one=f"note {number:02}",
            other=f"note {number - 1:02}",
        )
    return nexus


def ask(nexus: kiprdf.Nexus, most: int | None = None, **request: Any) -> dict[str, Any]:
    """The response to a request, which keeps to its size."""
    response = nexus.execute_kip({**request, "max_chars": most})
    text = json.dumps(response, ensure_ascii=False)
    assert most is None or len(text) <= most
    text.encode()
    return response


def pages(
    nexus: kiprdf.Nexus, command: str, most: int | None, **request: Any
) -> list[dict[str, Any]]:
    """All responses to a command, each asked for with the cursor of the one before."""
    answers = [ask(nexus, most, command=command, **request)]
    while "next_cursor" in answers[-1]:
        cursor = answers[-1]["next_cursor"]
        answers.append(ask(nexus, most, command=f'{command} CURSOR "{cursor}"', **request))
    return answers


def rows_of(response: dict[str, Any], columns: int) -> list[Any]:
    assert "error" not in response, response
    return response["result"] if columns == 1 else list(zip(*response["result"], strict=True))


def named(warning: dict[str, str]) -> dict[str, Any]:
    """The request that a hint names."""
    answers = _SENT.fullmatch(warning["hint"])
    assert answers is not None, warning
    return json.loads(answers[1])  # type: ignore[no-any-return]


COMMANDS = [
    ('FIND(?n.name) WHERE { ?n {type: "Note"} }', 1),
    ('FIND(?n) WHERE { ?n {type: "Note"} } ORDER BY ?n.attributes.rank DESC', 1),
    ('FIND(?n.name, ?n.attributes) WHERE { ?n {type: "Note"} } ORDER BY ?n.name', 2),
    ('FIND(?n.attributes.rank, ?n.attributes.text) WHERE { ?n {type: "Note"} }', 2),
    ('FIND(?n.attributes.text, COUNT(DISTINCT ?n)) WHERE { ?n {type: "Note"} }', 2),
    ('FIND(?l) WHERE { ?l (?a, "after", ?b) } LIMIT 7', 1),
    ('FIND(?n.name) WHERE { ?n {type: "Note"} OPTIONAL { (?n, "after", ?m) } } LIMIT 25', 1),
    ("DESCRIBE CONCEPT TYPES", 1),
    ("DESCRIBE DOMAINS", 1),
    ('SEARCH CONCEPT "note" LIMIT 30', 1),
    ('SEARCH PROPOSITION "after note"', 1),
]


@pytest.mark.parametrize("most", [400, 701, 2_000])
@pytest.mark.parametrize(("command", "columns"), COMMANDS, ids=[one for one, _ in COMMANDS])
def test_no_row_is_lost_and_none_comes_twice(
    nexus: kiprdf.Nexus, command: str, columns: int, most: int
) -> None:
    whole = [row for page in pages(nexus, command, None) for row in rows_of(page, columns)]
    cut = pages(nexus, command, most)
    shown = [(row, page) for page in cut for row in rows_of(page, columns)]
    assert len(shown) == len(whole)
    for (row, page), expected in zip(shown, whole, strict=True):
        if row == expected:
            continue
        # A row that is too long stands alone, and the hint gives the whole of it.
        (warning,) = page["warnings"]
        assert warning["name"] == "Truncated"
        assert "…" in json.dumps(row, ensure_ascii=False)
        if warning["hint"].startswith("Send {"):
            full = nexus.execute_kip(named(warning))
            assert "warnings" not in full
            assert rows_of(full, columns)[0] == expected or "_score" in str(expected)


def test_a_short_answer_is_as_it_was(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name LIMIT 3'
    assert ask(nexus, 400, command=command) == nexus.execute_kip({"command": command})


def test_what_is_cut_is_said(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name LIMIT 50'
    response = ask(nexus, 500, command=command)
    (warning,) = response["warnings"]
    shown = len(response["result"])
    assert 10 < shown < 50
    assert warning["message"] == (
        f"max_chars is 500: these are the first {shown} of 50 rows, and there are more."
    )
    assert "next_cursor" in response


def test_options_of_a_request_go_on_with_its_cursor(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'
    seq = nexus.info()["commit"]
    for options in ({"view": "believed"}, {"entail": True}, {"as_of": {"seq": seq}}):
        cut = pages(nexus, command, 600, **options)
        names = [name for page in cut for name in page["result"]]
        assert names == [f"note {number:02}" for number in range(NOTES)]
    explained = ask(nexus, 3_000, command=command, why=True)
    assert [row["row"] for row in explained["why"]] == list(range(len(explained["result"])))
    assert 0 < len(explained["result"]) < NOTES


def test_the_way_to_a_long_row_keeps_what_was_asked() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } '
        'CONCEPT { {type: "Note", name: "long"} SET ATTRIBUTES {text: :text} } }',
        text=FACES * 3_000,
    )
    command = 'FIND(?n.name, ?n.attributes) WHERE { ?n {type: "Note"} } ORDER BY ?n.name DESC'
    seq = nexus.info()["commit"]
    for options in ({"view": "believed"}, {"entail": True}, {"as_of": {"seq": seq}}):
        sent = named(ask(nexus, 1_500, command=command, **options)["warnings"][0])
        assert sent["max_chars"] > 9_000
        assert {key: sent[key] for key in options} == options
        whole = nexus.execute_kip({"command": f"{command} LIMIT 1", **options})
        assert nexus.execute_kip(sent)["result"] == whole["result"]
    marked = "// Believed now\n" + command
    sent = named(ask(nexus, 1_500, command=marked)["warnings"][0])
    assert sent["command"].startswith("// Believed now\nFIND(")
    assert nexus.execute_kip(sent)["result"] == whole["result"]


def test_what_has_no_rows_has_shorter_values(nexus: kiprdf.Nexus) -> None:
    for command in ("DESCRIBE PRIMER", 'DESCRIBE CONCEPT TYPE "Person"'):
        response = ask(nexus, 600, command=command)
        (warning,) = response["warnings"]
        request = named(warning)
        assert request["command"] == command
        assert "warnings" not in nexus.execute_kip(request)


def test_a_capsule_is_never_cut(nexus: kiprdf.Nexus) -> None:
    command = 'EXPORT ?n WHERE { ?n {type: "Note"} }'
    copied = kiprdf.Nexus.memory()
    copied.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
    for page in pages(nexus, command, 3_000):
        copied.apply_capsule(page["result"]["capsule"])
    find = 'FIND(?n.attributes) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'
    assert copied.execute(find) == nexus.execute(find)
    one = ask(nexus, 400, command=command.replace('"Note"', '"Note", name: "note 06"'))
    assert one["error"]["code"] == "KIP_4002"
    assert re.search(r"max_chars \d+\.$", one["error"]["hint"])


def test_receipts_say_that_all_is_written(nexus: kiprdf.Nexus) -> None:
    blocks = " ".join(f'CONCEPT {{ {{type: "Note", name: "new {n}"}} }}' for n in range(100))
    copied = kiprdf.Nexus.memory()
    copied.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
    response = ask(copied, 500, command=f"UPSERT {{ {blocks} }}")
    ids = response["result"]["upsert_concept_nodes"]
    assert ids[0] == "C:Note/new 0"
    assert ids[-1] == f"… {100 - len(ids) + 1} more"
    assert response["warnings"][0]["hint"] == "Everything was written: do not send it again."
    assert copied.execute('FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }') == 100


def test_errors_keep_to_the_size(nexus: kiprdf.Nexus) -> None:
    name = "x" * 1_000
    response = ask(nexus, 400, command=f'FIND(?n) WHERE {{ ?n {{type: "Note", name: "{name}"}} }}')
    assert response["error"]["code"] == "KIP_3002"
    assert "…" in response["error"]["message"]
    error = {"code": "KIP_1001", "name": "InvalidSyntax", "message": "m" * 900, "hint": "Do so."}
    cut = short({"error": error}, 400)
    assert size(cut) <= 400
    assert cut["error"] == {**error, "message": cut["error"]["message"]}
    assert cut["error"]["message"].endswith("m…")
    assert cut["warnings"][0]["hint"] == f"Send max_chars {size({'error': error})} for all of it."


def test_a_batch_shares_the_size(nexus: kiprdf.Nexus) -> None:
    command = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'
    commands = [command, "FIND(?x", "DESCRIBE PRIMER", command, "FIND(COUNT(?n)) WHERE { ?n {} }"]
    first, error, primer, last, count = ask(nexus, 4_000, commands=commands)["result"]
    assert first["result"][0] == "note 00"
    assert "next_cursor" in first or len(first["result"]) == NOTES
    assert error["error"]["code"] == "KIP_1001"
    assert primer["warnings"][0]["name"] == "Truncated"
    assert len(last["result"]) == NOTES
    assert count["result"] > NOTES
    assert [*count] == ["result"]
    many = ask(nexus, 1_500, commands=[command] * 12)["result"]
    assert len(many) == 12
    assert all("warnings" in one for one in many)
    refused = ask(nexus, 400, commands=[command] * 12)
    assert refused["error"]["hint"] == "Send max_chars 1300, or fewer commands."
    assert len(ask(nexus, 1_300, commands=[command] * 12)["result"]) == 12


@pytest.mark.parametrize("most", [0, -1, 399, "many", 1.5, True])
def test_a_bound_that_is_too_small_is_refused(nexus: kiprdf.Nexus, most: Any) -> None:
    response = nexus.execute_kip({"command": "DESCRIBE DOMAINS", "max_chars": most})
    assert response["error"]["code"] == "KIP_1001"


def test_a_row_of_many_values_is_an_error_that_says_what_it_needs(nexus: kiprdf.Nexus) -> None:
    values = ", ".join(f"?n.attributes.k{number}" for number in range(60))
    command = f'FIND({values}) WHERE {{ ?n {{type: "Note"}} }}'
    error = ask(nexus, 400, command=command)["error"]
    assert error["code"] == "KIP_4002"
    most = int(re.search(r"max_chars (\d+)", error["hint"])[1])  # type: ignore[index]
    assert "result" in ask(nexus, most, command=command)


def test_many_keys_are_cut_in_one_pass() -> None:
    keys = {f"key {number}": "x" * 20 for number in range(20_000)}
    before = time.process_time()
    assert list(shortened(keys, 60)) == ["key 0", "key 1", "…"]
    assert time.process_time() - before < 5


def test_a_long_hit_of_a_search_can_be_read_whole() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
    names = [f"word {one * 200}" for one in "ab"]
    for name in names:
        write = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: :text} } }'
        nexus.execute(write, name=name, text="x" * 900)
    command = 'SEARCH CONCEPT "word" LIMIT 2'
    whole = ask(nexus, command=command)["result"]
    for page, expected in zip(pages(nexus, command, 800), whole, strict=True):
        (warning,) = page["warnings"]
        answers = re.fullmatch(
            r"Send the command again with (CURSOR \S+) and max_chars (\d+)\.", warning["hint"]
        )
        assert answers is not None, warning
        again = ask(nexus, int(answers[2]), command=f"{command} {answers[1]}")
        assert again["result"][0] == expected


def test_a_long_map_that_looks_like_an_element_is_asked_for_as_a_row() -> None:
    nexus = kiprdf.Nexus.memory()
    look = {"_type": "ConceptNode", "text": "x" * 2000}
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { look: :look } } }',
        look=look,
    )
    question = 'FIND(?p.attributes.look) WHERE { ?p {type: "Person", name: "Ada"} }'
    (warning,) = nexus.execute_kip({"command": question, "max_chars": 800})["warnings"]
    request = _SENT.search(warning["hint"])
    assert request is not None
    assert nexus.execute_kip(json.loads(request[1]))["result"] == [look]
