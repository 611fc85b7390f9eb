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

FOLDER = Path(__file__).parent
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
CASES = [
    pytest.param(name, case, id=f"{name}-{case['name']}")
    for name, content in FILES.items()
    for case in content["cases"]
]


def _finds(case: Any) -> bool:
    """Whether a case asks with FIND, or writes where a WHERE finds."""
    return "WHERE" in json.dumps(case.values)


def _only_asks(steps: list[dict[str, Any]]) -> bool:
    """Whether nothing is written, so that no copy is needed."""
    return all(str(step.get("command")).lstrip().startswith("FIND") for step in steps)


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
    names = ("command", "parameters", "dry_run")
    return {name: step[name] for name in names if name in step}


def _run(nexus: kiprdf.Nexus, step: dict[str, Any], times: int) -> None:
    call = nexus.execute_kip_readonly if step.get("readonly") else nexus.execute_kip
    repeated = times if str(step.get("command")).lstrip().startswith("FIND") else 1
    for number in range(repeated):
        if number >= 3:
            # Then a text is new, and has the plan of those that differ in literals only.
            nexus._engine.plans.forget_texts()
        response = call(_request(step))
        wrong = verdict(
            step["expect"], response, step.get("ordered", False), _width(step.get("command"))
        )
        assert not wrong, wrong


@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(name: str, case: dict[str, Any]) -> None:
    # A FIND that comes again is remembered, and must answer as it did.
    _play(name, case, 5)


@pytest.mark.parametrize(("name", "case"), [case for case in CASES if _finds(case)])
def test_case_without_shortcuts(name: str, case: dict[str, Any]) -> None:
    with no_shortcuts():
        _play(name, case, 1, shortcuts=False)


def _play(name: str, case: dict[str, Any], times: int, shortcuts: bool = True) -> None:
    options, prepared = FILES[name].get("nexus", {}), _prepared(name, shortcuts)
    steps = [case, *case.get("then", ())]
    with nullcontext(prepared) if _only_asks(steps) else copied(prepared, **options) as nexus:
        for step in steps:
            _run(nexus, step, times)


@functools.lru_cache(maxsize=2)
def _prepared(name: str, shortcuts: bool) -> kiprdf.Nexus:
    """The nexus of a file behind its set-up, of which each case that writes gets a copy."""
    nexus = kiprdf.Nexus.memory(**FILES[name].get("nexus", {}))
    for step in FILES[name].get("setup", ()):
        response = nexus.execute_kip({"command": step} if isinstance(step, str) else step)
        assert "error" not in response, response
    return nexus


def test_every_case_names_its_section() -> None:
    assert len(CASES) >= 200
    assert all(case["spec"] for content in FILES.values() for case in content["cases"])
