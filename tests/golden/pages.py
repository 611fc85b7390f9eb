"""Markdown pages whose fenced blocks are commands and what must come of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class FencedBlock:
    """One fenced block: the word behind the fence, what follows it, and the content."""

    language: str
    note: str
    body: str
    start: int
    end: int


def fenced_blocks(page: str) -> list[FencedBlock]:
    """The fenced blocks of a page, in order; the body is without its last line break."""
    blocks = []
    for match in _FENCE.finditer(page):
        language, _, note = match["info"].strip().partition(" ")
        body = match["body"].removesuffix("\n")
        blocks.append(
            FencedBlock(language, note.strip(), body, match.start("body"), match.end("body"))
        )
    return blocks


def with_bodies(page: str, bodies: dict[int, str]) -> str:
    """The page with the bodies of some blocks, by their start, replaced."""
    for block in reversed(fenced_blocks(page)):
        if block.start in bodies:
            page = page[: block.start] + bodies[block.start] + "\n" + page[block.end :]
    return page


def json_text(value: object, indent: int = 0, width: int = 96) -> str:
    """A JSON value on one line if it fits, otherwise one item a line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= width or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + 2
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {json_text(v, inner, width)}" for k, v in value.items()]
        opener, closer = "{", "}"
    else:
        items = [json_text(item, inner, width) for item in value]
        opener, closer = "[", "]"
    lines = ",\n".join(" " * inner + item for item in items)
    return f"{opener}\n{lines}\n{' ' * indent}{closer}"
