"""The conformance cases, written from the seeds clause by clause; each names its section."""

from __future__ import annotations

import functools
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.language import ast
from tests.conformance.compare import verdict
from tests.nexus.support import copied
from tests.shortcuts import no_shortcuts
from tests.standard_sparql import standard_sparql

FOLDER = Path(__file__).parent
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def _finds(case: dict[str, Any]) -> bool:
    """Whether a case asks with FIND, or writes where a WHERE finds."""
    return "WHERE" in json.dumps(case)


def _only_asks(steps: list[dict[str, Any]]) -> bool:
    """Whether nothing is written, so that no copy is needed."""
    return all(str(step.get("command")).lstrip().startswith("FIND") for step in steps)


@functools.cache
def _width(command: str | None) -> int:
    """How many expressions a FIND has; anything else answers with one value."""
    try:
        parsed = kiprdf.parse(command or "")
    except kiprdf.KipError:
        return 1
    return len(parsed.expressions) if isinstance(parsed, ast.Find) else 1


def _request(step: dict[str, Any]) -> dict[str, Any]:
    if "request" in step:
        return dict(step["request"])
    names = ("command", "parameters", "dry_run", "entail")
    return {name: step[name] for name in names if name in step}


def _run(nexus: kiprdf.Nexus, step: dict[str, Any], times: int) -> str:
    """What is wrong with the first wrong answer; empty if nothing is."""
    call = nexus.execute_kip_readonly if step.get("readonly") else nexus.execute_kip
    repeated = times if str(step.get("command")).lstrip().startswith("FIND") else 1
    for number in range(repeated):
        if number >= 3:
            # Then a text is new, and has the plan of those that differ in literals only.
            nexus._engine.statements.forget_texts()
        response = call(_request(step))
        wrong = verdict(
            step["expect"], response, step.get("ordered", False), _width(step.get("command"))
        )
        if wrong:
            return wrong
    return ""


@pytest.mark.parametrize("name", FILES)
def test_cases(name: str) -> None:
    cases = FILES[name]["cases"]
    # A FIND that comes again is remembered, and must answer as it did.
    wrong = _play(name, cases, 5)
    with no_shortcuts():
        wrong |= _play(name, [case for case in cases if _finds(case)], 1, "without shortcuts")
    if name.startswith("kql_"):
        with standard_sparql():
            wrong |= _play(name, cases, 1, "in standard SPARQL")
    assert not wrong, wrong


def _play(
    name: str, cases: list[dict[str, Any]], times: int, way: str = "as usual"
) -> dict[str, str]:
    """What is wrong, by the names of the cases."""
    # Each way has its own nexus: the other one remembers plans.
    options, prepared = FILES[name].get("nexus", {}), _prepared(name, way)
    faults = {}
    for case in cases:
        steps = [case, *case.get("then", ())]
        with nullcontext(prepared) if _only_asks(steps) else copied(prepared, **options) as nexus:
            wrong = next(filter(None, (_run(nexus, step, times) for step in steps)), "")
        if wrong:
            faults[f"{case['name']} {way}"] = wrong
    return faults


@functools.lru_cache(maxsize=3)
def _prepared(name: str, way: str) -> kiprdf.Nexus:
    """The nexus of a file behind its set-up, of which each case that writes gets a copy."""
    nexus = kiprdf.Nexus.memory(**FILES[name].get("nexus", {}))
    for step in FILES[name].get("setup", ()):
        response = nexus.execute_kip({"command": step} if isinstance(step, str) else step)
        assert "error" not in response, response
    return nexus


def test_every_case_names_its_section() -> None:
    cases = [case for content in FILES.values() for case in content["cases"]]
    assert len(cases) >= 200
    assert all(case["spec"] for case in cases)
