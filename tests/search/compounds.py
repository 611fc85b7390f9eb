"""How well parts of German and Dutch compounds find notes: ``python -m tests.search.compounds``.

A line of ``compounds.txt`` is a note, with words that must find it after ``+``, or words that must
not after ``-``. A word is right if its note is among the first ten.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from kiprdf.search import IndexRow, TextIndex
from kiprdf.search.words import sections

LINES = Path(__file__).with_suffix(".txt")


class Counts(NamedTuple):
    """The words that found their notes, of so many, and those that found what they must not."""

    right: int
    wanted: int
    wrong: int
    unwanted: int
    others: int
    """Other notes that wanted words found."""


def measure(language: str, show: bool = False) -> Counts:
    """Ask an index of all notes of a language."""
    lines = sections(LINES)[language].splitlines()
    parts = [re.split(r" ([+-]) ", line, maxsplit=1) for line in lines]
    index = TextIndex(None)
    texts = [note for note, _, _ in parts]
    rows = (IndexRow(t, "concept", "Note", f"note_{n}", (), "", t) for n, t in enumerate(texts))
    index.update(rows, [], 1)
    right = wanted = wrong = unwanted = others = 0
    for note, sign, words in parts:
        for word in words.split(", "):
            hits = [hit.key for hit in index.search("concept", word, limit=10)]
            is_hit = note in hits
            if sign == "+":
                wanted, right = wanted + 1, right + is_hit
                others += len(hits) - is_hit
            else:
                unwanted, wrong = unwanted + 1, wrong + is_hit
            if show and (is_hit == (sign == "-") or (sign == "+" and hits[1:])):
                print(f"{sign} {word}: {note}", *hits, sep="\n    ")
    return Counts(right, wanted, wrong, unwanted, others)


if __name__ == "__main__":
    for language in sections(LINES):
        print(language, measure(language, show="--show" in sys.argv))
