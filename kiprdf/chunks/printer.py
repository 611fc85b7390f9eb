"""Values, chunks, links, rules, documents as text: the inverse of ``parse``.

It writes the grammar of the draft, and beyond it several conditions of one rule, reserved names as
values and IRIs with ``#``.
"""

from __future__ import annotations

import json
import math

from kiprdf.chunks.model import Chunk, Document, Link, Name, Negated, Rule, Text, Value


def to_text(item: Chunk | Link | Rule | Document, compact: bool = False) -> str:
    """An item in the notation; ``compact`` writes each chunk and each rule in one line.

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
            return f"{item.subject} {item.label} {item.object}"
        case Rule():
            return _rule(item, compact)
    return "".join(f"{to_text(part, compact)}\n" for part in item.statements)


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
            return str(value)
        case Text():
            return json.dumps(value, ensure_ascii=False)
        case Negated():
            return "!" if value.value is None else f"!{value_text(value.value)}"
    return str(value)


def _number(value: float) -> str:
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value)


def _head(chunk: Chunk) -> str:
    return chunk.type if chunk.id is None else f"{chunk.type} {chunk.id}"


def _properties(chunk: Chunk) -> list[str]:
    return [f"{name} {value_text(value)}" for name, value in chunk.properties.items()]


def _chunk(chunk: Chunk) -> str:
    return f"{_head(chunk)} {{{'; '.join(_properties(chunk))}}}"


def _block(chunk: Chunk) -> str:
    lines = "".join(f"  {line}\n" for line in _properties(chunk))
    return f"{_head(chunk)} {{\n{lines}}}" if lines else f"{_head(chunk)} {{}}"


def _rule(rule: Rule, compact: bool) -> str:
    """A rule in the compact form; explicitly if it has an identifier and its chunks have, too."""
    if rule.id is not None and all(chunk.id is not None for chunk in rule.chunks):
        parts = [_explicit(rule), *rule.chunks]
        return "\n".join(to_text(part, compact) for part in parts)
    conditions = [
        f"{'!' * condition.negated}{_chunk(condition.chunk)}" for condition in rule.conditions
    ]
    actions = list(map(_chunk, rule.actions))
    if compact:
        return f"{', '.join(conditions)} => {', '.join(actions)}"
    next_condition, next_action = ",\n", ",\n   "
    return f"{next_condition.join(conditions)}\n=> {next_action.join(actions)}"


def _explicit(rule: Rule) -> Chunk:
    """The ``rule`` chunk that cites the conditions and actions of a rule."""
    conditions = [
        Negated(condition.chunk.id) if condition.negated else condition.chunk.id
        for condition in rule.conditions
    ]
    actions = [chunk.id for chunk in rule.actions]
    return Chunk("rule", {"@condition": conditions, "@action": actions}, id=rule.id)
