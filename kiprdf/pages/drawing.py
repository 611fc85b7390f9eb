"""What drawings share."""

from __future__ import annotations


def columns_of(text: str) -> int:
    """The width of a text, in characters."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)
