"""Responses cut to a number of characters (docs/decisions/239)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kiprdf.budget import without_limit
from kiprdf.errors import KipError
from kiprdf.execution.engine import CommandEngine
from kiprdf.kql.beliefs import is_marked
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast, to_text
from kiprdf.protocol import LEAST_CHARS, error_response
from kiprdf.rdf.elements import is_element

EACH = 100
"""The characters of a response in a batch for which there is no room: it says so."""
_MARK = "…"
_PAGED = ast.Find | ast.DescribeDomains | ast.DescribeTypes | ast.Search


class Sent(NamedTuple):
    """A command as it was sent: ``fields`` are those of its request beside it, for a hint."""

    engine: CommandEngine
    text: str
    parameters: Mapping[str, Any]
    entail: Entail | None
    dry_run: bool
    fields: Mapping[str, Any]

    def again(self, command: ast.Command, most: int) -> str:
        """The request that runs a bound command, as the words of a hint."""
        # The line that ``believed`` writes is no part of the command.
        line = f"{self.text.splitlines()[0]}\n" if is_marked(self.text) else ""
        request = {"command": line + to_text(command), **self.fields, "max_chars": most}
        return f"Send {json.dumps(request, ensure_ascii=False)}."


def size(value: Any) -> int:
    """The characters of a value as JSON.

    >>> size({"result": ["é"]})
    17
    """
    return len(json.dumps(value, ensure_ascii=False))


def fitted(response: dict[str, Any], most: int, sent: Sent) -> dict[str, Any]:
    """A response of at most so many characters: whole, or with a warning that says what is cut.

    Of rows there are fewer, and a cursor that goes on after them; a row that is larger alone, and
    what has no rows, has shorter values. KIP_4002 where that is still too much.
    """
    if size(response) <= most or "error" in response:
        return short(response, most)
    command, cursor_after = without_limit(
        lambda: sent.engine.paged(sent.text, sent.parameters, sent.entail)
    )
    if isinstance(command, ast.Manipulation):
        hint = "Everything was written: do not send it again."
        if sent.dry_run:
            hint = f"Send it again with max_chars {size(response)}."
        return short(response, most, hint)
    try:
        if isinstance(command, ast.Export):
            return _fewer_elements(response, most, sent, command)
        if (
            isinstance(command, _PAGED)
            and not _is_scalar(command)
            and _columns(command, response)[0]
        ):
            return _fewer_rows(response, most, sent, command, cursor_after)
    except KipError as error:
        return error_response(error)
    return short(response, most, sent.again(command, size(response)))


def shared(response: dict[str, Any], most: int, sent: Sent) -> dict[str, Any]:
    """A response of a batch in its share of the characters, at least ``EACH``."""
    if size(response) <= most or most >= LEAST_CHARS:
        return fitted(response, most, sent)
    if "error" in response:
        return {"error": shortened(response["error"], most - len('{"error": }'))}
    note = {"name": "Truncated", "message": "Send it alone for its result."}
    if isinstance(sent.engine.prepare(sent.text, sent.parameters), ast.Manipulation):
        note["message"] = "It was run, without a receipt."
    return {"result": None, "warnings": [note]}


def _is_scalar(command: ast.Command) -> bool:
    """Whether a FIND has aggregates alone, and so one row of scalars."""
    return isinstance(command, ast.Find) and all(
        isinstance(one, ast.Aggregate) for one in command.expressions
    )


def _columns(command: ast.Command, response: Mapping[str, Any]) -> Any:
    """The columns of a paged answer, one or more."""
    is_one = not isinstance(command, ast.Find) or len(command.expressions) == 1
    return [response["result"]] if is_one else response["result"]


def _warning(message: str, hint: str) -> dict[str, str]:
    return {"name": "Truncated", "message": message, "hint": hint}


def short(response: dict[str, Any], most: int, hint: str = "") -> dict[str, Any]:
    """A response of at most so many characters, with shorter values if it has more."""
    if size(response) <= most:
        return response
    if not hint or size(hint) > most // 2:
        hint = f"Send max_chars {size(response)} for all of it."
    message = f"max_chars is {most}, and this has {size(response)} characters: see {_MARK} in it."
    warnings = [*response.get("warnings", ()), _warning(message, hint)]
    part = "error" if "error" in response else "result"
    new = {**response, part: None, "warnings": warnings}
    if size(new) > most // 2:
        new["warnings"] = warnings[-1:]
    if "why" in new:
        new["why"] = shortened(new["why"], most // 4)
    room = most - size(new) + len("null")
    return {**new, part: shortened(response[part], room)}


def _fewer_rows(
    response: dict[str, Any],
    most: int,
    sent: Sent,
    command: ast.Find | ast.DescribeDomains | ast.DescribeTypes | ast.Search,
    cursor_after: Callable[[int], str],
) -> dict[str, Any]:
    columns = _columns(command, response)
    is_one = columns is not response["result"]
    explained = response.get("why", [])
    total = len(columns[0])
    before = response.get("warnings", [])
    if size(before) > most // 4:
        before = [shortened(before[0], most // 4)]

    def page(columns: Sequence[Any], count: int, why: Any, *new: dict[str, str]) -> dict[str, Any]:
        result = {"result": columns[0] if is_one else columns}
        following = cursor_after(count) if count < total else response.get("next_cursor")
        if following is not None:
            result["next_cursor"] = following
        result["warnings"] = [*before, *new]
        if "why" in response:
            result["why"] = why
        return {**result, **{key: response[key] for key in response.keys() - result.keys()}}

    def first(count: int) -> dict[str, Any]:
        more = "" if "next_cursor" not in response else ", and there are more"
        message = f"max_chars is {most}: these are the first {count} of {total} rows{more}."
        hint = "Send the command and its parameters again with CURSOR and next_cursor for more."
        shown = [column[:count] for column in columns]
        why = [row for row in explained if row["row"] < count]
        return page(shown, count, why, _warning(message, hint))

    room = most - size(first(0))
    count = 0
    while count < total and room >= 0:
        room -= sum(size(column[count]) + 2 for column in columns)
        room -= sum(size(row) + 2 for row in explained[count : count + 1])
        count += 1
    while count and size(first(count)) > most:
        count -= 1
    if count:
        return first(count)
    values = [column[0] for column in columns]
    whole = {"result": [[value] for value in values], "why": explained[:1]}
    needed = size(whole) + 2 * LEAST_CHARS
    message = f"max_chars is {most}, and the first of {total} rows is longer: see {_MARK} in it."
    note = _warning(message, _way_to_whole(command, values, needed, cursor_after(0), sent, most))
    room = most - size(page([[] for _ in columns], 1, [], note)) - 4 * len(columns) - 2
    parts = _parts([*values, explained[:1]] if explained else values, room)
    why = parts.pop() if explained else []
    cut = page([[value] for value in parts], 1, why, note)
    if size(cut) > most:
        hint = f"Send it with max_chars {needed}, or ask for fewer values."
        raise KipError("KIP_4002", f"max_chars is {most}, and one row is longer.", hint)
    return cut


def _way_to_whole(
    command: ast.Command, values: list[Any], most: int, cursor: str, sent: Sent, room: int
) -> str:
    """The request that gives a row whole: its element by id, or else the row alone."""
    ids = [value["id"] for value in values if is_element(value)]
    if len(values) == len(ids) == 1 and "why" not in sent.fields:
        id = json.dumps(ids[0], ensure_ascii=False)
        pattern = f"?x {{id: {id}}}" if values[0]["_type"] == "ConceptNode" else f"?x (id: {id})"
        request = {"command": f"FIND(?x) WHERE {{ {pattern} }}", "max_chars": most}
        moment = {key: value for key, value in sent.fields.items() if key == "as_of"}
        hint = f"Send {json.dumps({**request, **moment}, ensure_ascii=False)}."
    else:
        assert isinstance(command, _PAGED)
        page = replace(command, limit=ast.Scalar(1), cursor=ast.Scalar(cursor))
        hint = sent.again(page, most)
    if size(hint) > room // 3:
        # The LIMIT of a SEARCH is the number of its hits, not the rows of a page.
        limit = "" if isinstance(command, ast.Search) else "LIMIT 1 "
        hint = f'Send the command again with {limit}CURSOR "{cursor}" and max_chars {most}.'
    return hint


def _fewer_elements(
    response: dict[str, Any], most: int, sent: Sent, command: ast.Export
) -> dict[str, Any]:
    """The first elements of an EXPORT as a capsule, which cannot be cut."""
    result = response["result"]
    total = count = result["concepts"] + result["propositions"]
    needed = size(response)
    while count > 1:
        count = max(1, min(count - 1, count * most // needed))
        page = sent.engine.export_page(command, sent.text, count)
        note = _warning(
            f"max_chars is {most}: this is a capsule of the first {count} of {total} elements.",
            "Send the command and its parameters again with CURSOR and next_cursor for more.",
        )
        page = {**response, **page, "warnings": [note]}
        needed = size(page)
        if needed <= most:
            return page
    message = f"max_chars is {most}, and the capsule of one element has more characters."
    hint = f"Send it with max_chars {needed}."
    return error_response(KipError("KIP_4002", message, hint))


def shortened(value: Any, room: int) -> Any:
    """A value with ends cut off, at most so many characters as JSON; ``…`` says where.

    >>> shortened({"name": "Ada", "text": "x" * 100}, 40)
    {'name': 'Ada', 'text': 'xxxxxxxxxx…'}
    >>> shortened(list(range(1000)), 30)
    [0, 1, 2, 3, '… 996 more']
    """
    if size(value) <= room:
        return value
    if isinstance(value, str):
        length = min(len(value), max(room - 3, 0))
        while length and size(value[:length] + _MARK) > room:
            length = min(length - 1, length * room // size(value[:length] + _MARK))
        return value[:length] + _MARK
    if isinstance(value, list):
        kept: list[Any] = []
        room -= len(f'["{_MARK} {len(value)} more"]')
        for one in value:
            part = one if kept or size(one) + 2 <= room else shortened(one, room - 2)
            room -= size(part) + 2
            if room < 0:
                break
            kept.append(part)
        return [*kept, f"{_MARK} {len(value) - len(kept)} more"]
    if isinstance(value, dict):
        keys: list[str] = []
        room -= len(f'{{"{_MARK}": "{len(value)} more"}}')
        needed = 0
        for key, one in value.items():
            needed += size(key) + 4 + min(size(one), 8)
            if needed > room:
                break
            keys.append(key)
        parts = _parts([value[key] for key in keys], room - sum(size(key) + 4 for key in keys))
        left_out = len(value) - len(keys)
        rest = {_MARK: f"{left_out} more"} if left_out else {}
        return {**dict(zip(keys, parts, strict=True)), **rest}
    return _MARK


def _parts(values: Sequence[Any], room: int) -> list[Any]:
    """Values within some room together: small ones whole, the others an equal share each."""
    sizes = list(map(size, values))
    parts = list(values)
    for done, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        share = max(room, 0) // (len(sizes) - done)
        parts[index] = shortened(values[index], share)
        room -= size(parts[index])
    return parts
