"""The system prompt that teaches a language model KIP, and what this memory contains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiprdf.errors import ERROR_CODES

if TYPE_CHECKING:
    from kiprdf.nexus import Nexus

_LANGUAGE = Path(__file__).with_suffix(".md")
CHARACTERS_PER_TOKEN = 3.5
"""A cautious estimate for English and JSON; a character beyond ASCII counts as a token."""
_TYPES_WITH_USE = 40
_ATTRIBUTES_OF_TYPE = 8
_RELATIONS_OF_TYPE = 8


def instructions(nexus: Nexus | None = None, *, budget_tokens: int = 4000) -> str:
    """The system prompt for a model that uses a nexus as its memory, in Markdown.

    It says what the memory is, teaches the language with examples, and lists the schema of a
    ``nexus`` as it is now: types with their attributes and relations, predicates, domains. What
    exceeds ``budget_tokens`` (estimated) is left out, and this is said.
    Raises ``ValueError`` for a budget that cannot hold the language itself.

    >>> text = instructions()
    >>> "FIND" in text and "KIP_2001" in text
    True
    """
    parts = [_LANGUAGE.read_text("utf-8").strip(), _recoveries()]
    needed = sum(map(tokens, parts)) + 2
    if needed > budget_tokens:
        raise ValueError(f"The instructions need a budget of at least {needed:.0f} tokens.")
    if nexus is not None:
        schema = _within(_schema(nexus), budget_tokens - needed)
        if schema:
            parts.append(schema)
    return "\n\n".join(parts) + "\n"


def tokens(text: str) -> float:
    """An estimate of the tokens of a text, including its newline.

    >>> tokens("FIND(?d)"), tokens("药")
    (2.5714285714285716, 1.2857142857142856)
    """
    beyond = sum(character > "\x7f" for character in text)
    return beyond + (len(text) + 1 - beyond) / CHARACTERS_PER_TOKEN


def _recoveries() -> str:
    lines = (f"- `{row.code}` {row.meaning} {row.recovery}" for row in ERROR_CODES.values())
    return "\n".join(["## Errors", "", *lines])


def _within(lines: Iterator[str], most: float) -> str:
    """The first lines of a text, as many as fit, and how many were left out."""
    note = "- … and {} more lines: ask DESCRIBE PRIMER and DESCRIBE CONCEPT TYPES."
    kept: list[str] = []
    left = most - tokens(note)
    for line in lines:
        left -= tokens(line)
        if left < 0:
            omitted = 1 + sum(1 for _ in lines)
            return "\n".join([*kept, note.format(omitted)]) if kept else ""
        kept.append(line)
    return "\n".join(kept)


def _schema(nexus: Nexus) -> Iterator[str]:
    """The live schema, what is used most first."""
    primer: Any = nexus.execute("DESCRIBE PRIMER")
    totals = primer["totals"]
    yield "## What this memory contains now"
    yield ""
    yield f"{totals['concepts']} concepts and {totals['propositions']} propositions."
    yield ""
    yield "Domains:"
    for domain in primer["domain_map"]:
        description = f": {domain['description']}" if domain.get("description") else ""
        yield f"- `{domain['name']}` ({domain['concept_count']} concepts){description}"
    yield ""
    yield "Concept types, with the attributes and relations of their concepts:"
    types = {name: count for name, count in totals["concept_types"].items() if name[0] != "$"}
    for number, (name, count) in enumerate(types.items()):
        use = nexus.execute("DESCRIBE CONCEPT TYPE :name", name=name) if count else {}
        yield from _type(name, count, use.get("usage", {}) if number < _TYPES_WITH_USE else {})
    yield from _left_out(primer, "concept_types")
    yield ""
    yield "Predicates:"
    for name, count in totals["proposition_types"].items():
        yield f"- `{name}` ({count})"
    yield from _left_out(primer, "proposition_types")


def _left_out(primer: dict[str, Any], key: str) -> Iterator[str]:
    number = primer.get("left_out", {}).get(key)
    if number:
        yield f"- … and {number} more: ask DESCRIBE {key.replace('_', ' ').upper()}."


def _type(name: str, count: int, usage: dict[str, Any]) -> Iterator[str]:
    yield f"- `{name}` ({count})"
    attributes = list(usage.get("attributes", {}).items())[:_ATTRIBUTES_OF_TYPE]
    if attributes:
        shown = (f"{key}, such as {_example(use)}" for key, use in attributes)
        yield f"  - attributes: {'; '.join(shown)}"
    outgoing = list(usage.get("outgoing", {}).items())[:_RELATIONS_OF_TYPE]
    if outgoing:
        ends = (f'"{predicate}" → {", ".join(use["types"])}' for predicate, use in outgoing)
        yield f"  - as subject: {'; '.join(ends)}"
    incoming = list(usage.get("incoming", {}).items())[:_RELATIONS_OF_TYPE]
    if incoming:
        ends = (f'{", ".join(use["types"])} "{predicate}" →' for predicate, use in incoming)
        yield f"  - as object: {'; '.join(ends)}"


def _example(use: dict[str, Any]) -> str:
    return f"`{json.dumps(use['examples'][0], ensure_ascii=False)}`" if use["examples"] else "null"
