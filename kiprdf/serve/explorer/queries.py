"""The pane for commands that read: the text, its answer in several views, and its SPARQL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args
from urllib.parse import urlencode

from kiprdf import protocol
from kiprdf.actors import Actor
from kiprdf.advice.corrections import corrections
from kiprdf.errors import KipError, KipWarning
from kiprdf.execution.engine import Answer as CommandAnswer
from kiprdf.kml.draft import timestamp
from kiprdf.kql.beliefs import is_marked
from kiprdf.language import ast
from kiprdf.language.names import KEYWORDS
from kiprdf.language.parser import parse
from kiprdf.language.printer import to_text
from kiprdf.nexus import Nexus
from kiprdf.pages.page import View, count
from kiprdf.rdf.elements import is_element
from kiprdf.rows import Rows
from kiprdf.serve.explorer import chart, why_page
from kiprdf.serve.explorer.csv_files import CSV, csv_bytes
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage, page_start
from kiprdf.serve.explorer.time_pages import shown_time
from kiprdf.serve.http import Answer, to_json
from kiprdf.store.refusals import writes

PATH = "explore/kql"
SAVED = "explore/questions"
GRAPH = "explore/graph"
ROWS = 100
"""Rows of a page."""
CHARACTERS = 200_000
"""Characters of the values of a page, of which each cell has its share."""
ADDRESS_BYTES = 6_000
"""The longest command in an address: proxies refuse those of 8 000 bytes. The form and the links
of a longer one send it in a body."""
VIEWS = ("table", "json", "chart", "graph", "sparql")
_WRITING = {
    *("UPSERT", "UPDATE", "MERGE", "DELETE", "SET", "ATTRIBUTES", "PROPOSITIONS", "METADATA"),
    *("EXPECT", "VERSION", "FROM", "DETACH", "INTO", *get_args(ast.NumberFunction)),
}
_NO_ROWS: View = {"problems": [], "number": None, "next": None, "pager": None}
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


def queries(explorer: Explorer, command: str | None, show: str = "table", first: int = 0) -> str:
    """The pane, with a view of the answer to a command, from a row on."""
    is_long = len(urlencode({"command": command or ""})) > ADDRESS_BYTES
    page = explorer.page(
        PATH,
        command=None if is_long else command,
        show=None if show == VIEWS[0] else show,
    )
    return page.html(
        "explorer/kql.html",
        "Query",
        command=_EXAMPLES[1][1] if command is None else command,
        is_long=is_long,
        address_bytes=ADDRESS_BYTES,
        names=page.href("explore/names"),
        reader=explorer.actor.label,
        show=show,
        examples=[(title, page.query_link(example)) for title, example in _EXAMPLES],
        saved=_saved(explorer, page),
        key=None if explorer.forms is None else explorer.forms.key(SAVED),
        answer=None if command is None else _answer(explorer, page, command, show, first),
    )


def change_saved(nexus: Nexus, actor: Actor, fields: Mapping[str, str]) -> None:
    """Save a question under a name, or remove the one that has it, as a form says."""
    writer, name = nexus._engine.writer, fields.get("name", "").strip()
    command = fields.get("command", "").replace("\r\n", "\n")
    by, at, questions = actor.label or "", timestamp(writer.clock()), writer.questions
    question = {"name": name, "command": command, "by": by, "at": at}
    if "remove" in fields:
        writer.store.write(lambda: questions.remove({name}))
    else:
        writer.store.write(lambda: questions.save(question))


def _saved(explorer: Explorer, page: ExplorerPage) -> list[View]:
    """The saved questions, the newest first."""
    return [
        {
            "name": one["name"],
            "href": page.query_link(one["command"]),
            "command": one["command"],
            "by": one["by"],
            "at": shown_time(one["at"]),
        }
        for one in reversed(explorer.nexus._engine.writer.questions.all())
    ]


def names(explorer: Explorer) -> bytes:
    """What a command that reads may be made of, for completion: keywords, and names in use."""
    keywords = sorted(KEYWORDS - _WRITING)
    return to_json({"keywords": keywords, **explorer.nexus.names()})


def download(explorer: Explorer, command: str, format: str) -> tuple[Answer, str | None]:
    """All rows of an answer, and the address of what its LIMIT leaves.

    They are the response of KIP in JSON, or CSV, which only a FIND has.
    """
    nexus, page = explorer.nexus, explorer.page(PATH)
    if format == "json":
        answer = nexus.answer(command, readonly=True)
        response = protocol.response_of(answer.result, answer.next_cursor, answer.warnings)
        return Answer(to_json(response), "application/json"), None
    if format != "csv":
        raise KipError("KIP_1001", "The format is csv or json.", "Send format=csv.")
    rows = nexus.find(command)
    content = csv_bytes(rows.columns, rows.tuples())
    following = _following(command, rows.next_cursor)
    link = following and f"{page.query_link(following)}&format=csv"
    return Answer(content, CSV, len(rows)), link


def _answer(explorer: Explorer, page: ExplorerPage, command: str, show: str, first: int) -> View:
    """A view of the answer to a command, or why there is none."""
    try:
        parsed = parse(command)
        if isinstance(parsed, ast.Find):
            return _rows(explorer, page, command, parsed, show, first)
        return _value(explorer, page, command, show)
    except KipError as error:
        problems = [_problem(page, error)]
        return {"problems": problems, "result": None, "is_write": writes(command)}


def _rows(
    explorer: Explorer, page: ExplorerPage, command: str, find: ast.Find, show: str, first: int
) -> View:
    """The answer to a FIND."""
    # The page of the graph takes a command in its address.
    has_graph = "command" in page.query and any(
        isinstance(one, ast.Variable) for one in find.expressions
    )
    view: View = {
        "result": show,
        "tabs": _tabs(page, show, [one for one in VIEWS if one != "graph" or has_graph]),
        "downloads": [(f"answer.{one}", _href(page, format=one)) for one in ("csv", "json")],
        "sparql": explorer.nexus.explain(command),
    }
    if show == "sparql":
        return {**_NO_ROWS, **view}
    if show == "json":
        return view | _response_of_rows(explorer, page, command, find, first)
    is_chart = show == "chart"
    rows, total = _read(explorer.nexus, command, find, None if is_chart else first + ROWS)
    columns, tuples = rows.columns, rows.tuples()
    plan = chart.chosen(columns, tuples) if is_chart else ""
    size = ROWS if isinstance(plan, str) else chart.SHOWN[plan[0]]
    first = page_start(first, size, len(tuples))
    part = slice(first, first + size)
    shown = tuples[part]
    share = CHARACTERS // (len(columns) * max(len(shown), 1))
    return view | {
        "problems": [_problem(page, one) for one in rows.warnings],
        "number": count(total, "row"),
        "next": _asking(page, _following(command, rows.next_cursor)),
        "pager": page.pager(first, size, total),
        "chart": plan if isinstance(plan, str) else chart.chart(columns, tuples, part, *plan),
        "columns": columns,
        "rows": [
            (
                [_cell(explorer, page, value, share) for value in row],
                _href(page, why_page.PATH, row=str(number)),
            )
            for number, row in enumerate(shown, start=first)
        ],
    }


def _read(nexus: Nexus, command: str, find: ast.Find, most: int | None) -> tuple[Rows, int]:
    """The rows of a FIND, or the first of them, and how many there are.

    Elements take most of the time: those that no page shows are counted by their ids.
    """
    is_whole = most is None or (find.limit, find.cursor) != (None, None) or is_marked(command)
    rows = None
    if not (is_whole or any(isinstance(one, ast.Aggregate) for one in find.expressions)):
        try:
            rows = nexus.find(f"{command}\nLIMIT {most}")
        except KipError as error:
            if error.code == "KIP_4001":
                raise
    # Hints and warnings are about the text as it is.
    rows = rows or nexus.find(command)
    if is_whole or rows.next_cursor is None:
        return rows, len(rows)
    ids = tuple(
        ast.Path(one, "id") if isinstance(one, ast.Variable) else one for one in find.expressions
    )
    try:
        number = len(nexus.find(to_text(replace(find, expressions=ids, order_by=()))))
    except KipError:
        # A variable of a predicate has no id.
        number = len(nexus.find(command))
    return replace(rows, next_cursor=None), number


def _response_of_rows(
    explorer: Explorer, page: ExplorerPage, command: str, find: ast.Find, first: int
) -> View:
    """The response of KIP to a FIND, with the rows of a page."""
    answer = explorer.nexus.answer(command, readonly=True)
    is_one, result = len(find.expressions) == 1, answer.result
    columns, number = [result] if is_one else result, 1
    if not all(isinstance(one, ast.Aggregate) for one in find.expressions):
        number = len(columns[0])
        first = page_start(first, ROWS, number)
        columns = [column[first : first + ROWS] for column in columns]
    return _json(page, command, answer, columns[0] if is_one else columns) | {
        "number": count(number, "row"),
        "pager": page.pager(first, ROWS, number),
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
        cells = [_cell(explorer, page, value, CHARACTERS) for value in values]
        view["cells"] = list(zip(explained.outcome.rendering.names, cells, strict=False))
        view |= why_page.view(page, partial(explorer.link, page), explained)
    return page.html("explorer/why.html", "Why", **view)


def _value(explorer: Explorer, page: ExplorerPage, command: str, show: str) -> View:
    """The answer to DESCRIBE, SEARCH and EXPORT."""
    answer = explorer.nexus.answer(command, readonly=True)
    tabs, downloads = _tabs(page, show, VIEWS[:2]), [("answer.json", _href(page, format="json"))]
    return {
        **_NO_ROWS,
        **_json(page, command, answer, answer.result),
        "result": "json" if show == "json" else "value",
        "tabs": tabs,
        "downloads": downloads,
        "sparql": None,
        "value": page.value(answer.result),
    }


def _json(page: ExplorerPage, command: str, answer: CommandAnswer, result: Any) -> View:
    """The first characters of a response, and what it says besides."""
    response = protocol.response_of(result, answer.next_cursor, answer.warnings)
    text = json.dumps(response, indent=2, ensure_ascii=False)
    more = len(text) - CHARACTERS
    return {
        "problems": [_problem(page, one) for one in answer.warnings],
        "next": _asking(page, _following(command, answer.next_cursor)),
        "json": text[:CHARACTERS],
        "cut": f"{more:,} more characters are in the download." if more > 0 else None,
    }


def _tabs(page: ExplorerPage, show: str, views: Sequence[str]) -> list[View]:
    """The views of an answer, each with its address; the graph is another page."""
    return [
        {
            "text": "SPARQL" if one == "sparql" else "JSON" if one == "json" else one.capitalize(),
            "href": _href(page, GRAPH) if one == "graph" else _href(page, show=one),
            "is_current": one == show,
        }
        for one in views
    ]


def _href(page: ExplorerPage, path: str = PATH, **fields: str) -> str:
    """The address of a view of the answer; that of a long command lacks the command."""
    given = {"command": page.query.get("command"), **fields}
    kept = {key: one for key, one in given.items() if one not in (None, VIEWS[0])}
    return page.href(f"{path}?{urlencode(kept)}")


def _following(command: str, cursor: str | None) -> str | None:
    """The command that goes on behind the LIMIT of another."""
    if cursor is None:
        return None
    old, new = getattr(parse(command), "cursor", None), json.dumps(cursor)
    if old is None:
        return f"{command.rstrip()}\nCURSOR {new}"
    return command[: old.span.start] + new + command[old.span.end :]


def _asking(page: ExplorerPage, command: str | None) -> View | None:
    """What asks another command: its address, or a form where that is too long."""
    if command is None:
        return None
    href = page.query_link(command)
    is_long = len(href) > ADDRESS_BYTES
    return {"command": command, "href": None if is_long else href, "action": page.href(PATH)}


def _cell(explorer: Explorer, page: ExplorerPage, value: Any, most: int) -> View:
    """A value of an answer: an element is a link to its page, a long one is cut."""
    if is_element(value):
        return {"kind": "link", "link": explorer.link(page, value["id"])}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= most:
        return page.value(value)
    note = f"{len(text) - most:,} more characters are in the downloads"
    return {"kind": "tagged", "text": f"{text[:most]}…", "language": None, "note": note}


def _problem(page: ExplorerPage, problem: KipError | KipWarning) -> View:
    """An error or a warning with its place and hint, and links to the commands that follow it."""
    return {
        "code": problem.code if isinstance(problem, KipError) else None,
        "message": problem.located_message,
        "excerpt": problem.excerpt,
        "hint": problem.hint,
        "corrections": [_asking(page, one) for one in corrections(problem)],
    }
