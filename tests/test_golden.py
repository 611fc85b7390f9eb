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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.golden.pages import fenced_blocks, json_text, with_bodies

FOLDER = Path(__file__).parent / "golden"
PAGES = sorted(FOLDER.glob("*.md"))
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
        self.found: dict[int, str] = {}
        self.expected: dict[int, str] = {}
        with kiprdf.Nexus.memory(clock=_clock) as nexus:
            for name in _LINK.findall(text):
                nexus.apply_capsule(FOLDER / name)
            for block in fenced_blocks(text):
                answer = self._answer(nexus, block.language, block.note, block.body)
                if answer is not None:
                    self.found[block.start] = answer
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
    assert page.found, "a page answers at least one command"
    if update_golden:
        path.write_text(with_bodies(text, page.found), "utf-8")
    else:
        assert page.found == page.expected


def test_every_page_begins_with_a_title_and_its_section() -> None:
    for path in PAGES:
        title, blank, prose = path.read_text("utf-8").split("\n")[:3]
        assert title.startswith("# "), path
        assert "(KIP " in title, path
        assert blank == "", path
        assert prose, path
