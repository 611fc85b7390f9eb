"""Paths of files in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kiprdf.memory.extraction.words import word_set

_BEFORE = r"(?<![^\s\"'`“”‘’«»(\[{,=:;|])"
_WINDOWS_NAME = r"[^\\/:*?\"'`<>|\s]{1,100}"
_PATH = re.compile(
    # In quotation marks, blanks included.
    r"(?P<mark>[\"'`])(?P<quoted>(?:(?:\.{1,2}|~)?/|[A-Za-z]:[\\/]|\\\\)[^\"'`\n<>"
    r"|]{1,500})(?P=mark)"
    rf"|{_BEFORE}(?P<unix>(?:\.{{1,2}}|~)?/(?![/*])(?:\\ |[\w.+@%~=#$/-])+)"
    rf"|(?<!\w)(?P<windows>(?:[A-Za-z]:(?:\\{{1,2}}|/(?!/))|(?<!\\)\\\\(?!\\))"
    rf"(?:{_WINDOWS_NAME}(?:[ ]{_WINDOWS_NAME}){{0,3}}[\\/]{{1,2}}){{0,40}}(?:{_WINDOWS_NAME})?)"
)
_RELATIVE = re.compile(
    rf"{_BEFORE}(?:(?:\.?[\w-]{{1,63}}/){{0,8}}[\w-](?:[\w.-]{{0,62}}[\w-])?\.(?:md|rst|adoc"
    r"|txt|py|ipynb|rs|go|tsx?|jsx|sql|sh|rb|java|kts?|c|h|cpp|cs|css|scss|html|xml|csv|tsv|json"
    r"|ya?ml|toml|ini|cfg|conf|env|lock|log|zig|nix|tf|proto|svelte|swift|php|lua|jl|exs?|hs|tex"
    r"|bib|pdf|png|jpe?g|svg|docx?|xlsx?|pptx?|odt|ods|epub|do|dta|gradle))(?![\w/@-]|\.\w)"
    rf"|{_BEFORE}(?:(?:\.?[\w-]{{1,63}}/){{1,8}}[\w.-]{{1,62}}\.(?:js|vue|r|R|ml|dart))"
    r"(?![\w/@-]|\.\w)"
)
"""A path without a mark at its beginning: its end is that of a file."""
_ROOTS = word_set(
    "app applications bin boot data dev etc home lib library media mnt opt proc root run srv sys"
    " tmp users usr var volumes work workspace"
)
_ROUTE = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|endpoint|route)\s+$")
_EXTENSION = re.compile(r"\.\w{1,8}$")
_NUMBER = re.compile(r"[\d.,:-]+")
_LONGEST = 1000


class FileMention(NamedTuple):
    """A path in a text."""

    start: int
    end: int
    name: str


def mentions(text: str) -> Iterator[FileMention]:
    """The paths that a text mentions, in its order.

    >>> [path.name for path in mentions("See /etc/hosts, docs/plan.md, 1/2 and C:\\\\Temp.")]
    ['/etc/hosts', 'docs/plan.md', 'C:\\\\Temp']
    """
    end = 0
    marked = list(_marked(text))
    for path in [*marked, FileMention(len(text), len(text), "")]:
        for match in _RELATIVE.finditer(text, end, path.start):
            yield FileMention(*match.span(), match[0])
        if path.name:
            yield path
        end = path.end


def _marked(text: str) -> Iterator[FileMention]:
    """The paths whose beginning shows what they are."""
    place = 0
    while match := _PATH.search(text, place):
        group = match.lastgroup
        assert group is not None
        start, path = match.start(group), match[group]
        if group != "quoted":
            path = path.rstrip(".,;:!?)]}'\"-")
        is_path = _is_path(path) and not _ROUTE.search(text, max(0, start - 12), start)
        if is_path:
            yield FileMention(start, start + len(path), path)
        # A quotation that is no path may contain one.
        place = match.end() if is_path or group != "quoted" else match.start() + 1


def _is_path(path: str) -> bool:
    parts = [part for part in re.split(r"[\\/]+", path) if part and not part.endswith(":")]
    parts = [part for part in parts if part not in (".", "..", "~")]
    if not parts or len(path) > _LONGEST or all(_NUMBER.fullmatch(part) for part in parts):
        return False
    if " " in parts[-1].replace("\\ ", "") and not _EXTENSION.search(path):
        return False
    if path.startswith("\\\\"):
        return len(parts) > 1
    if path.startswith("/") and len(parts) == 1:
        return parts[0].casefold() in _ROOTS or _EXTENSION.search(parts[0]) is not None
    return True
