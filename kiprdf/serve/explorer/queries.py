"""The pane for commands that read: text, answer, and the SPARQL of a FIND."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from kiprdf.advice.corrections import corrections
from kiprdf.errors import KipError, KipWarning
from kiprdf.pages.page import View, count
from kiprdf.serve.explorer import why_page
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage

_EXAMPLES = (
    ("Types and their members", "DESCRIBE PRIMER"),
    (
        "What changed last",
        "FIND(?x) WHERE { ?x {} } ORDER BY ?x.metadata._updated_at DESC LIMIT 10",
    ),
    ("Concepts by domain", 'FIND(?d.name, COUNT(?c)) WHERE { (?c, "belongs_to_domain", ?d) }'),
    (
        "All predicates",
        'FIND(?p.name, ?p.attributes.description) WHERE { ?p {type: "$PropositionType"} }',
    ),
)


def queries(explorer: Explorer, command: str | None) -> str:
    """The pane, with the answer to a command."""
    page = explorer.page("explore/kql", command=command)
    return page.html(
        "explorer/kql.html",
        "Query",
        command=_EXAMPLES[1][1] if command is None else command,
        examples=[(title, page.query_link(example)) for title, example in _EXAMPLES],
        answer=None if command is None else _answer(explorer, page, command),
    )


def _answer(explorer: Explorer, page: ExplorerPage, command: str) -> View:
    nexus = explorer.nexus
    try:
        rows = nexus.find(command)
    except KipError as error:
        if error.message.startswith("This call takes FIND only"):
            return _other_answer(explorer, page, command)
        return {"problems": [_problem(page, error)], "result": None}
    columns, tuples = rows.columns, rows.tuples()
    response = nexus.execute_kip_readonly({"command": command})
    return {
        "problems": [_problem(page, one) for one in rows.warnings],
        "result": "table",
        "number": count(len(tuples), "row") + (", more follow" if rows.next_cursor else ""),
        "columns": columns,
        "rows": [
            (
                [_cell(explorer, page, value) for value in row],
                why_page.href(page, command, number),
            )
            for number, row in enumerate(tuples)
        ],
        "sparql": nexus.explain(command),
        "json": json.dumps(response, indent=2, ensure_ascii=False),
    }


def why(explorer: Explorer, command: str, row: int) -> str:
    """The page of a row of an answer: what it comes from."""
    page = explorer.page(why_page.PATH, command=command, row=str(row))
    view: View = {"command": command, "number": row, "query": page.query_link(command)}
    try:
        explained = explorer.nexus.why(command, row=row)
    except KipError as error:
        view["problems"] = [_problem(page, error)]
    else:
        values = (column[row] for column in explained.outcome.columns)
        cells = [_cell(explorer, page, value) for value in values]
        view["cells"] = list(zip(explained.outcome.rendering.names, cells, strict=False))
        view |= why_page.view(page, partial(explorer.link, page), explained)
    return page.html("explorer/why.html", "Why", **view)


def _cell(explorer: Explorer, page: ExplorerPage, value: Any) -> View:
    """A value of an answer; an element is a link to its page."""
    if isinstance(value, dict) and isinstance(value.get("id"), str) and "_type" in value:
        return {"kind": "link", "link": explorer.link(page, value["id"])}
    return page.value(value)


def _other_answer(explorer: Explorer, page: ExplorerPage, command: str) -> View:
    """The answer to DESCRIBE, SEARCH and EXPORT."""
    try:
        answer = explorer.nexus.answer(command, readonly=True)
    except KipError as error:
        return {"problems": [_problem(page, error)], "result": None}
    problems = [_problem(page, one) for one in answer.warnings]
    return {"problems": problems, "result": "value", "value": page.value(answer.result)}


def _problem(page: ExplorerPage, problem: KipError | KipWarning) -> View:
    """An error or a warning with its place and hint, and links to the commands that follow it."""
    return {
        "code": problem.code if isinstance(problem, KipError) else None,
        "message": problem.located_message,
        "excerpt": problem.excerpt,
        "hint": problem.hint,
        "corrections": [(one, page.query_link(one)) for one in corrections(problem)],
    }
