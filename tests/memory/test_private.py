"""No secret and no personal data is in an entity; ``private.txt`` has the sentences."""

from __future__ import annotations

import re
from pathlib import Path

from kiprdf.memory import extract
from tests.cases import each_case

HIDDEN, KEPT = (
    [line.replace("\\n", "\n") for line in section.splitlines() if not line.startswith("# What")]
    for section in Path(__file__).with_name("private.txt").read_text("utf-8").split("\n\n")
)


def marked(line: str) -> tuple[str, list[str]]:
    """The sentence of a line, and what is marked in it."""
    return re.sub("[‹›]", "", line), re.findall("‹(.*?)›", line.lower())


def names(text: str) -> str:
    """All that is kept of a text, in lower case."""
    extraction = extract(text)
    edges = [*extraction.edges, *extraction.ended]
    edges += [edge.superseded_by for edge in edges if edge.superseded_by]
    entities = [
        *extraction.entities,
        *(end for edge in edges for end in (edge.subject, edge.object)),
    ]
    return "\n".join(f"{each.name}\n{each.pattern}" for each in entities).lower()


def test_what_is_private_is_in_no_entity() -> None:
    leaks = []
    for text, secrets in map(marked, HIDDEN[1:]):
        parts = {part for secret in secrets for part in (secret, max(secret.split(), key=len))}
        leaks += [(text, part) for part in parts if part in names(text)]
    assert leaks == []
    assert len(HIDDEN) > 200


def test_numbers_and_words_that_are_not_private_are_kept() -> None:
    lost = [
        (text, part)
        for text, parts in map(marked, KEPT)
        for part in parts
        if part not in names(text)
    ]
    assert lost == []
    assert len(KEPT) > 100


@each_case(
    "text, tools",
    [
        ("We flew to Fiji and stayed a week.", []),
        ("Delphi's ancient ruins are worth a day.", []),
        ("Cordova's villages are quiet.", []),
        ("We love Phoenix airport.", []),
        ("Java's garbage collector is good.", ["Java"]),
        ("We moved to Java 21.", ["Java"]),
    ],
)
def test_a_place_with_the_name_of_a_tool_is_no_tool(text: str, tools: list[str]) -> None:
    assert [entity.name for entity in extract(text).entities] == tools
