"""The pages of ``golden``: commands, the SPARQL they become, and what they answer.

A page is run from top to bottom on a fresh nexus in memory. A link to a ``.kip`` file loads it.
Fenced blocks, in order: ``json parameters`` (for the next command), ``kip`` (a command; behind the
word may stand ``dry_run`` or ``readonly``), ``json request`` (a whole request), ``sparql`` (what
the command above becomes), ``json`` (its response). ``--update-golden`` rewrites the last two.
A cursor is shown as ``<next_cursor>``, and stands for the last one in parameters; a score is shown
as ``<score>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

import kiprdf
from kiprdf.kql.optimize.cardinality import without_unread_links
from kiprdf.kql.optimize.deadlines import add_deadline_checks
from kiprdf.kql.optimize.fetch_values import fetch_values
from kiprdf.kql.optimize.implied_patterns import implied_patterns
from kiprdf.kql.optimize.order_joins import order_joins
from kiprdf.kql.plan import plan_find
from kiprdf.kql.queries import as_statements
from kiprdf.language import ast, bind, parse
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.vocab import INTEGER, prefixes
from kiprdf.sparql.abilities import EMBEDDED
from kiprdf.sparql.algebra import Pattern, Select
from kiprdf.sparql.text import render
from tests.golden.pages import fenced_blocks, json_text, with_bodies
from tests.standard_sparql import STANDARD

FOLDER = Path(__file__).parent / "golden"
PAGES = sorted(FOLDER.glob("*.md"))
PASSES = sorted(FOLDER.glob("optimize/*.md"))
_LINK = re.compile(r"\]\(([a-z_]+\.kip)\)")


def _clock() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)


def _shown(value: Any) -> Any:
    """A response without what depends on the capsules that came before."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, dict):
        return value
    masks = {"next_cursor": "<next_cursor>", "_score": "<score>"}
    return {key: masks.get(key) or _shown(item) for key, item in value.items()}


class Page:
    """One run of a page: what its answer blocks should hold, by their start."""

    def __init__(self, text: str) -> None:
        self._command = ""
        self._request: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}
        self._response: Any = None
        self.answers: dict[int, str] = {}
        self.expected: dict[int, str] = {}
        with kiprdf.Nexus.memory(clock=_clock) as nexus:
            for name in _LINK.findall(text):
                nexus.apply_capsule(FOLDER / name)
            for block in fenced_blocks(text):
                answer = self._answer(nexus, block.language, block.note, block.body)
                if answer is not None:
                    self.answers[block.start] = answer
                    self.expected[block.start] = block.body

    def _answer(self, nexus: kiprdf.Nexus, language: str, note: str, body: str) -> str | None:
        match language, note:
            case "json", "parameters":
                cursor = (self._response or {}).get("next_cursor", "")
                self._parameters = json.loads(body.replace("<next_cursor>", cursor))
            case "json", "request":
                self._response = nexus.execute_kip(json.loads(body))
            case "kip", _:
                self._command = body
                request = {"command": body, "parameters": self._parameters}
                if note == "dry_run":
                    request["dry_run"] = True
                call = nexus.execute_kip_readonly if note == "readonly" else nexus.execute_kip
                self._request, self._parameters = request, {}
                self._response = call(request)
            case "sparql", _:
                return nexus.explain(self._command, **self._request["parameters"])
            case "json", _:
                return json_text(_shown(self._response))
            case _:
                raise AssertionError(f"a block of the unknown kind {language} {note}")
        return None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(path: Path, update_golden: bool) -> None:
    text = path.read_text("utf-8")
    page = Page(text)
    assert page.answers, "a page answers at least one command"
    if update_golden:
        path.write_text(with_bodies(text, page.answers), "utf-8")
    else:
        assert page.answers == page.expected


@pytest.mark.parametrize("path", PASSES, ids=lambda path: path.stem)
def test_pass(path: Path, update_golden: bool) -> None:
    """``sparql before`` and ``sparql after`` a pass, for a command; the page is named after it."""
    text = path.read_text("utf-8")
    kip, *blocks = fenced_blocks(text)
    answers = dict(zip(("before", "after"), sparql_of_pass(path.stem, kip.body), strict=True))
    assert [block.note for block in blocks] == ["before", "after"]
    if update_golden:
        bodies = {block.start: answers[block.note] for block in blocks}
        path.write_text(with_bodies(text, bodies), "utf-8")
    else:
        assert answers == {block.note: block.body for block in blocks}


INTEGERS = frozenset((INTEGER,))
"""The datatypes of all values, in the pages of what another engine is asked."""


def _rendered(select: Select) -> str:
    return render(select, prefixes("urn:kip:nexus/"))


def sparql_of_pass(name: str, command: str) -> tuple[str, str]:
    """A command before and after the pass that a page is named after."""
    iris = Iris("urn:kip:nexus/")
    is_other = name.startswith(("as_statements", "cover"))
    abilities = STANDARD if is_other else EMBEDDED
    plan = plan_find(cast(ast.Find, bind(parse(command), {})), iris, abilities=abilities)
    if name.startswith("cover"):
        question = plan.question(dict.fromkeys(plan.needed_keys, INTEGERS))
        assert question.select is not None
        whole = Select(plan.variables, plan.where.pushed, distinct=False)
        return _rendered(whole), render(question.select, prefixes(iris.base), STANDARD)
    translation, needed = plan.translation, set(plan.variables)
    values, namer = translation.values, translation.namer
    passes: dict[str, Callable[[Pattern], Pattern]] = {
        "implied_patterns": lambda p: implied_patterns(p, values, iris, namer, abilities.lookups),
        "order_joins": lambda p: order_joins(p, needed, values, namer),
        "fetch_values": lambda p: fetch_values(p, values, namer, iris),
        "unread_links": lambda p: without_unread_links(p, needed, iris),
        "deadlines": add_deadline_checks,
    }
    if is_other:
        passes = {"order_joins": passes["order_joins"], "as_statements": as_statements}
    pattern = translation.pattern
    for pass_name, function in passes.items():
        before, pattern = pattern, function(pattern)
        if name.startswith(pass_name):
            forms = (before, pattern)
            first, second = (_rendered(Select(plan.variables, f, distinct=False)) for f in forms)
            return first, second
    raise AssertionError(f"{name} names no pass")


def test_every_page_begins_with_a_title_and_its_section() -> None:
    for path in PAGES:
        title, blank, prose = path.read_text("utf-8").split("\n")[:3]
        assert title.startswith("# "), path
        assert "(KIP " in title, path
        assert blank == "", path
        assert prose, path
