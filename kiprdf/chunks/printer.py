"""Values, chunks, links, rules, documents and graphs as text: the inverse of ``parse``.

It writes the grammar of the draft, and beyond it several conditions of one rule, reserved names as
values and IRIs with ``#``.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kiprdf.chunks.model import (
    NAME_CHARACTER,
    Chunk,
    Condition,
    Document,
    Link,
    Name,
    Negated,
    Rule,
    RuleError,
    Text,
    Value,
    cited_in,
    is_name,
    resolve_rule,
    rule_chunk,
)

_OTHER_CHARACTER = re.compile(f"(?!{NAME_CHARACTER}).", re.DOTALL)

if TYPE_CHECKING:
    from kiprdf.chunks.graph import Graph


def to_text(item: Chunk | Link | Rule | Condition | Document | Graph, compact: bool = False) -> str:
    """An item in the notation; ``compact`` writes each chunk and each rule in one line.

    A rule with an identifier is written as a ``rule`` chunk and the chunks that it cites; those
    without identifiers get some that begin with ``_:``.

    >>> from kiprdf.chunks import Chunk
    >>> print(to_text(Chunk("dog", {"name": "Fido", "age": 4}, id="dog1")))
    dog dog1 {
      name Fido
      age 4
    }
    >>> to_text(Chunk("dog", {"age": 4}), compact=True)
    'dog {age 4}'
    """
    match item:
        case Chunk():
            return _chunk(item) if compact else _block(item)
        case Link():
            return " ".join(map(_name, (item.subject, item.label, item.object)))
        case Condition(chunk, negated):
            return f"{'!' * negated}{to_text(chunk, compact)}"
        case Rule():
            return _rule(item, compact)
    statements = item.statements if isinstance(item, Document) else _statements(item)
    return "".join(f"{to_text(part, compact)}\n" for part in statements)


def _statements(graph: Graph) -> Iterator[Chunk | Link | Rule]:
    """The statements of a graph, without the identifiers that were given out but are not cited."""
    values = (value for chunk in graph for value in chunk.properties.values())
    cited: Counter[str | None] = Counter(id for value in values for id in cited_in(value))
    chunks: dict[str | None, Chunk] = {chunk.id: chunk for chunk in graph}
    rules: dict[str | None, Rule] = {}
    for chunk in graph.of_type("rule"):
        rule = None if cited[chunk.id] else _compact_rule(chunk, chunks)
        if rule is not None and all(cited[part.id] == 1 for part in rule.chunks):
            rules[chunk.id] = rule
    in_rules = {part.id for rule in rules.values() for part in rule.chunks}
    for chunk in graph:
        if chunk.id in rules:
            yield without_ids(rules[chunk.id])
        elif chunk.id not in in_rules:
            is_anonymous = _is_given(chunk.id) and not cited[chunk.id]
            yield _shortest(_without_id(chunk)) if is_anonymous else chunk


def without_ids(rule: Rule) -> Rule:
    """A rule without the identifiers of its parts, and of itself."""
    conditions = [Condition(_without_id(one.chunk), one.negated) for one in rule.conditions]
    return Rule(tuple(conditions), tuple(map(_without_id, rule.actions)))


def _compact_rule(chunk: Chunk, chunks: Mapping[str | None, Chunk]) -> Rule | None:
    """The rule of a chunk if none of its identifiers was stated."""
    if not _is_given(chunk.id) or chunk.properties.keys() != {"@condition", "@action"}:
        return None
    try:
        rule = resolve_rule(chunk, chunks)
    except RuleError:
        return None
    return rule if all(_is_given(part.id) for part in rule.chunks) else None


def _is_given(id: str | None) -> bool:
    """Whether a graph gave out an identifier."""
    return id is not None and id.startswith("_:")


def _without_id(chunk: Chunk) -> Chunk:
    return Chunk._make(chunk.type, chunk._properties, None)


def _shortest(chunk: Chunk) -> Chunk | Link:
    """A chunk as a link, if it is no more than that."""
    subject, object = chunk.get("@subject"), chunk.get("@object")
    names = isinstance(subject, Name) and isinstance(object, Name)
    if not names or len(chunk.properties) > 2 or "*" in (chunk.type, subject, object):
        return chunk
    if subject[:1] == "@" or object[:1] == "@":
        return chunk
    return Link(subject, chunk.type, object)


def value_text(value: Value) -> str:
    """A value in the notation.

    >>> value_text((4, True, Text("a dog")))
    '4, true, "a dog"'
    """
    match value:
        case tuple():
            return ", ".join(map(value_text, value))
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case Name():
            return _name(value)
        case Text():
            return json.dumps(value, ensure_ascii=False)
        case Negated():
            return "!" if value.value is None else f"!{value_text(value.value)}"
    return str(value)


def _number(value: float) -> str:
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value)


def _name(name: str) -> str:
    """A name as it can be written: ``_20_`` is a space."""
    if is_name(name.removeprefix("@")):
        return name
    escaped = _OTHER_CHARACTER.sub(lambda match: f"_{ord(match[0]):x}_", name)
    return escaped if is_name(escaped) else f"_{escaped}"


def _head(chunk: Chunk) -> str:
    return _name(chunk.type) if chunk.id is None else f"{_name(chunk.type)} {_name(chunk.id)}"


def _properties(chunk: Chunk) -> list[str]:
    return [f"{_name(name)} {value_text(value)}" for name, value in chunk.properties.items()]


def _chunk(chunk: Chunk) -> str:
    return f"{_head(chunk)} {{{'; '.join(_properties(chunk))}}}"


def _block(chunk: Chunk) -> str:
    lines = "".join(f"  {line}\n" for line in _properties(chunk))
    return f"{_head(chunk)} {{\n{lines}}}" if lines else f"{_head(chunk)} {{}}"


def _rule(rule: Rule, compact: bool) -> str:
    """A rule in the compact form; explicitly if it has an identifier."""
    if rule.id is not None:
        parts = [
            chunk.with_(id=chunk.id or Name(f"_:{rule.id}-{number}"))
            for number, chunk in enumerate(rule.chunks, start=1)
        ]
        explicit = [rule_chunk(rule, [part.id for part in parts]), *parts]
        return "\n".join(to_text(part, compact) for part in explicit)
    conditions = [to_text(condition, compact=True) for condition in rule.conditions]
    actions = list(map(_chunk, rule.actions))
    if compact:
        return f"{', '.join(conditions)} => {', '.join(actions)}"
    next_condition, next_action = ",\n", ",\n   "
    return f"{next_condition.join(conditions)}\n=> {next_action.join(actions)}"
