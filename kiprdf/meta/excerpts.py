"""Values shortened for a context window; a cut is marked with ``…``."""

from __future__ import annotations

from kiprdf.rdf.literals import Json

DEEPEST = 3
"""How deep arrays and objects are shown."""


def text(value: str, characters: int) -> str:
    """A name, a description: at most so many characters.

    >>> text("abcdef", 4)
    'abc…'
    """
    return value if len(value) <= characters else value[: characters - 1] + "…"


def excerpt(value: Json, characters: int, items: int, deepest: int = DEEPEST) -> Json:
    r"""A value on one line, its texts, arrays and objects cut.

    White space and characters that cannot be printed become single spaces.

    >>> excerpt(["a\nb", "abcdef", 3, 4], characters=4, items=3)
    ['a b', 'abc…', 3, '… 1 more']
    """
    if isinstance(value, str):
        # The rest of a long text need not be read.
        start = value[: 2 * characters]
        line = " ".join("".join(c if c.isprintable() else " " for c in start).split())
        cut = len(value) > len(start) and len(line) <= characters
        return text(line + "…" if cut else line, characters)
    if not isinstance(value, list | dict):
        return value
    if not deepest:
        return "…"
    left_out = len(value) - items
    more = f"… {left_out} more"
    if isinstance(value, list):
        shown = [excerpt(item, characters, items, deepest - 1) for item in value[:items]]
        return [*shown, more] if left_out > 0 else shown
    entries = {
        text(key, characters): excerpt(item, characters, items, deepest - 1)
        for key, item in list(value.items())[:items]
    }
    return {**entries, "…": more} if left_out > 0 else entries
