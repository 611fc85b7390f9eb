"""The warnings of an import: results that users may not expect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyoxigraph import Literal

from kiprdf.errors import shown
from kiprdf.interchange.importing.foreign import Items, Object
from kiprdf.interchange.importing.values import is_number
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json

FIRST = 3
"""How many examples a warning shows."""


class Warnings:
    """Collects values that a plan stores differently from the data."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []
        self._numbers: dict[str, list[str]] = defaultdict(list)

    def note_text(self, property: str, key: str, iri: str) -> None:
        """Note an IRI that became a string under a key."""
        self._texts.append((property, key, iri))

    def note_numbers(self, key: str, term: Object, value: Json) -> None:
        """Note the numbers of a value that JSON cannot hold."""
        if isinstance(term, Items) and isinstance(value, list):
            for item, kept in zip(term.terms, value, strict=True):
                self.note_numbers(key, item, kept)
        elif isinstance(term, Literal) and isinstance(value, dict) and is_number(term):
            name = term.datatype.value.removeprefix(vocab.XSD)
            self._numbers[key].append(f'"{shown(term.value)}"^^xsd:{name}')

    def sentences(self, is_predicate: Callable[[str], bool]) -> Iterator[str]:
        """A sentence for each kind of warning and each key, with the first examples."""
        undescribed: dict[str, list[str]] = defaultdict(list)
        for property, key, iri in self._texts:
            if is_predicate(property):
                undescribed[key].append(f"<{iri}>")
        for key, iris in sorted(undescribed.items()):
            yield f"{key}: {listed(iris)} {_are(iris)} not described; kept as a string."
        for key, numbers in sorted(self._numbers.items()):
            yield f"{key}: JSON has no number {listed(numbers)}; kept with the datatype."


def listed(texts: Iterable[str]) -> str:
    """The first of several texts, and how many more there are.

    >>> listed("abcde")
    'a, b, c and 2 more'
    """
    distinct = list(dict.fromkeys(texts))
    more = len(distinct) - FIRST
    return ", ".join(distinct[:FIRST]) + (f" and {more} more" if more > 0 else "")


def _are(texts: Sequence[str]) -> str:
    return "is" if len(set(texts)) == 1 else "are"
