"""The pages of a FIND together are its rows, by its own plan and by one that texts share.

``KIPRDF_EXAMPLES`` sets how many graphs are tried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

import kiprdf
from kiprdf.language import ast, parse
from tests.long_runs import amount
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build

MOST = 50
"""The rows of an answer that is read in pages of a few."""
AGGREGATE = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX)\(")


@settings(max_examples=amount("EXAMPLES", 5))
@given(case=cases(), size=st.integers(1, 3))
def test_pages_have_each_row_once(case: Case, size: int) -> None:
    nexus = build(case.graph)
    for whole, rows in _answers(nexus, case):
        for number in range(4):
            if number >= 2:
                # Then the text is new, and has the plan of those that differ in literals only.
                nexus._engine.statements.forget_texts()
            pages = _pages(nexus, f"{whole} LIMIT {size}")
            assert sorted(row for page in pages for row in page) == sorted(rows), whole


@settings(max_examples=amount("EXAMPLES", 5))
@given(case=cases(), most=st.integers(400, 700))
def test_answers_that_were_cut_have_each_row_once(case: Case, most: int) -> None:
    nexus = build(case.graph)
    for whole, rows in _answers(nexus, case):
        if len(rows) > MOST:
            continue
        cut = list(_pages(nexus, whole, most))
        shown = [row for page in cut for row in page]
        assert len(shown) == len(rows), whole
        # A row that is too long stands alone.
        long = [row for page in cut for row in page if "…" in row]
        assert not set(shown) - set(rows) - set(long), whole
        if not long:
            assert sorted(shown) == sorted(rows), whole


def _answers(nexus: kiprdf.Nexus, case: Case) -> Iterator[tuple[str, list[str]]]:
    """The queries that are answered with rows, without their LIMIT, and the rows."""
    for query in case.queries:
        whole = re.sub(r" LIMIT \d+$", "", query)
        if AGGREGATE.search(whole):
            continue
        try:
            (rows,) = _pages(nexus, whole)
        except kiprdf.KipError:
            continue
        yield whole, rows


def _pages(nexus: kiprdf.Nexus, query: str, most: int | None = None) -> Iterator[list[str]]:
    """The rows of each page, as texts; of ``most`` characters each."""
    has_columns = len(cast(ast.Find, parse(query)).expressions) > 1
    text = query
    while True:
        if most is None:
            answer = nexus.answer(text)
            result, following = answer.result, answer.next_cursor
        else:
            response = nexus.execute_kip({"command": text, "max_chars": most})
            assert len(json.dumps(response, ensure_ascii=False)) <= most
            assert "error" not in response, (text, response)
            result, following = response["result"], response.get("next_cursor")
        rows = zip(*result, strict=True) if has_columns else result
        yield list(map(repr, rows))
        if following is None:
            return
        text = f'{query} CURSOR "{following}"'
