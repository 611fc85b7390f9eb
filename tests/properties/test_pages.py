"""The pages of a FIND together are its rows, by its own plan and by one that texts share.

``KIPRDF_EXAMPLES`` sets how many graphs are tried.
"""

from __future__ import annotations

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

AGGREGATE = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX)\(")


@settings(max_examples=amount("EXAMPLES", 5))
@given(case=cases(), size=st.integers(1, 3))
def test_pages_have_each_row_once(case: Case, size: int) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        whole = re.sub(r" LIMIT \d+$", "", query)
        if AGGREGATE.search(whole):
            continue
        try:
            (rows,) = _pages(nexus, whole)
        except kiprdf.KipError:
            continue
        for number in range(4):
            if number >= 2:
                # Then the text is new, and has the plan of those that differ in literals only.
                nexus._engine.statements.forget_texts()
            pages = _pages(nexus, f"{whole} LIMIT {size}")
            assert sorted(row for page in pages for row in page) == sorted(rows), whole


def _pages(nexus: kiprdf.Nexus, query: str) -> Iterator[list[str]]:
    """The rows of each page, as texts."""
    has_columns = len(cast(ast.Find, parse(query)).expressions) > 1
    answer = nexus.answer(query)
    while True:
        rows = zip(*answer.result, strict=True) if has_columns else answer.result
        yield list(map(repr, rows))
        if answer.next_cursor is None:
            return
        answer = nexus.answer(f'{query} CURSOR "{answer.next_cursor}"')
