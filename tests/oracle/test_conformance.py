"""The evaluator passes the engine-neutral cases: two independent readings of one page.

Those of FIND, and those of UPSERT, UPDATE, MERGE and DELETE with the FINDs behind them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.conformance.compare import verdict
from tests.oracle import Answer, Graph, evaluate
from tests.oracle.entailed import Entailed
from tests.oracle.statements import execute
from tests.oracle.upsert import upsert
from tests.properties.comparison import frozen

FOLDER = Path(__file__).parent.parent / "conformance"
# The evaluator's graphs are without Genesis, and elements without engine metadata.
BEYOND = {
    "the_root_type_defines_itself",
    "the_predicate_meta_type_is_a_concept_type",
    "a_registered_predicate_without_links_gives_no_rows",
    "a_new_element_has_version_one",
    "a_new_link_has_version_one",
}

Case = dict[str, Any]


PAGES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("kql_*.json"))}


def _is_ours(case: Case) -> bool:
    command = case["command"]
    return (
        isinstance(command, str)
        and command.startswith("FIND")
        and " CURSOR " not in command
        and case["name"] not in BEYOND
        and not case["expect"].keys().isdisjoint(("result", "error"))
    )


@pytest.mark.parametrize("page", PAGES)
def test_evaluator_passes_the_conformance_cases(page: str) -> None:
    cases = [case for case in PAGES[page]["cases"] if _is_ours(case)]
    wrong = {case["name"]: _fault(PAGES[page]["setup"], case) for case in cases}
    assert wrong == dict.fromkeys(wrong)


def _fault(setup: list[str], case: Case) -> str | None:
    """What is wrong with the evaluator's answer; None if nothing is."""
    graph = Graph()
    for text in setup:
        command = parse(text)
        assert isinstance(command, ast.Upsert)
        upsert(graph, command)
    if entail := case.get("entail"):
        graph = Entailed(graph, same_as=entail == "same_as")
    answer = _answer(case, graph)
    if "error" in case["expect"]:
        return None if answer == case["expect"]["error"] else f"answered {answer}"
    if not isinstance(answer, Answer):
        return answer
    expected, actual = case["expect"]["result"], answer.result
    if _comparable(expected, answer, case) == _comparable(actual, answer, case):
        return None
    return f"answered {actual}"


def _answer(case: Case, graph: Graph) -> Answer | str:
    try:
        command = bind(parse(case["command"]), case.get("parameters", {}))
        assert isinstance(command, ast.Find)
        return evaluate(command, graph)
    except KipError as error:
        return error.code


def _comparable(result: Any, answer: Answer, case: Case) -> Any:
    """The rows, as a multiset unless the case is ordered."""
    columns = [result] if answer.width == 1 else result
    if answer.scalar:
        columns = [[value] for value in columns]
    rows = [tuple(frozen(_bare(value)) for value in row) for row in zip(*columns, strict=True)]
    return rows if case.get("ordered") else Counter(rows)


def _bare(value: Any) -> Any:
    """An element without its metadata: the cases leave it open."""
    if isinstance(value, dict) and "_type" in value:
        return {key: item for key, item in value.items() if key != "metadata"}
    return value


# Statements -----------------------------------------------------------------------------------

STATEMENTS = ("kml_upsert", "kml_expect_version", "kml_update", "kml_merge", "kml_delete")
_WORDS = ("FIND", "UPSERT", "UPDATE", "MERGE", "DELETE")
# Genesis and what it protects, budgets, requests around a command.
_ELSEWHERE = re.compile(
    r"Domain|belongs_to_domain|Person|CoreSchema|Unsorted|KIP_4002|KIP_3004|CURSOR"
    r'|"(request|readonly|response)"'
)


def _is_a_statement_of_ours(case: Case) -> bool:
    steps = [case, *case.get("then", ())]
    words = [step.get("command", "").split("(")[0].split(" ")[0] for step in steps]
    return not (_ELSEWHERE.search(json.dumps(case)) or not set(words) <= set(_WORDS))


@pytest.mark.parametrize("name", STATEMENTS)
def test_model_passes_the_conformance_cases(name: str) -> None:
    page = json.loads((FOLDER / f"{name}.json").read_text())
    cases = [case for case in page["cases"] if _is_a_statement_of_ours(case)]
    wrong = {case["name"]: _fault_of_model(page["setup"], case) for case in cases}
    assert wrong == dict.fromkeys(wrong)


def _fault_of_model(setup: list[str], case: Case) -> str | None:
    """What is wrong with the first wrong answer of the model; None if nothing is."""
    graph = Graph()
    for text in setup:
        _run({"command": text}, graph)
    for step in (case, *case.get("then", ())):
        response, width = _run(step, graph)
        expect = {key: value for key, value in step["expect"].items() if "contains" not in key}
        wrong = verdict(expect or step["expect"], response, step.get("ordered", False), width)
        if wrong:
            return str(wrong)
    return None


def _run(step: Case, graph: Graph) -> tuple[dict[str, Any], int]:
    """The response to a step, and how many expressions it has."""
    try:
        command: Any = bind(parse(step["command"]), step.get("parameters", {}))
        if isinstance(command, ast.Find):
            return {"result": evaluate(command, graph).result}, len(command.expressions)
        return {"result": execute(command, graph, dry_run=step.get("dry_run", False))}, 1
    except KipError as error:
        return {"error": {"code": error.code, "hint": "", "message": ""}}, 1
