"""Commands that language models get wrong, and the error for each.

Every ``kip`` block of ``bad/*.md`` is followed by an ``error`` block: code, place and message; the
hint; the line with carets under the fault. ``--update-golden`` rewrites the error blocks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kiprdf.errors import KipError
from kiprdf.language import bind, parse
from kiprdf.semantics import Catalog, check
from tests.golden.pages import FencedBlock, fenced_blocks, with_bodies

PAGES = sorted(Path(__file__).parent.glob("bad/*.md"))
CATALOG = Catalog(
    frozenset(("Drug", "Symptom", "Person", "Event", "Domain")),
    frozenset(("treats", "stated", "knows", "follows", "has_side_effect", "belongs_to_domain")),
)


def _pairs(page: str) -> list[tuple[FencedBlock, FencedBlock]]:
    blocks = fenced_blocks(page)
    return list(zip(blocks[::2], blocks[1::2], strict=True))


CASES = [
    pytest.param(path, index, id=f"{path.stem}-{index + 1}")
    for path in PAGES
    for index in range(len(_pairs(path.read_text("utf-8"))))
]


def _error_text(text: str) -> str:
    try:
        check(bind(parse(text), {}), CATALOG)
    except KipError as fault:
        error = fault.in_source(text)
        lines = [f"{error.code} {error.located_message}", f"Hint: {error.hint}"]
        return "\n".join([*lines, *([error.excerpt] if error.excerpt else [])])
    return "no error"


@pytest.mark.parametrize(("path", "index"), CASES)
def test_the_error_of_a_wrong_command(path: Path, index: int, update_golden: bool) -> None:
    page = path.read_text("utf-8")
    command, error = _pairs(page)[index]
    assert (command.language, error.language) == ("kip", "error")
    actual = _error_text(command.body)
    if update_golden and actual != error.body:
        path.write_text(with_bodies(page, {error.start: actual}), "utf-8")
    else:
        assert actual == error.body


def test_there_are_sixty_wrong_commands() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_mistake_passes(path: Path) -> None:
    assert all(error.body != "no error" for _, error in _pairs(path.read_text("utf-8")))
