"""What drawings share."""

from __future__ import annotations

from itertools import accumulate


def columns_of(text: str) -> int:
    """The width of a text, in characters."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def cut(text: str, most: int) -> str:
    """A text, cut to so many columns of a terminal.

    >>> cut("abcdef", 6), cut("abcdef", 5), cut("阿司匹林", 6)
    ('abcdef', 'abcd…', '阿司…')
    """
    if columns_of(text) <= most:
        return text
    widths = accumulate(map(columns_of, text))
    return text[: sum(width < most for width in widths)].rstrip() + "…"
