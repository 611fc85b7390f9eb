"""What an import did that its reader may not expect: the warnings of its report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyoxigraph import Literal

from kiprdf.errors import shown
from kiprdf.interchange.importing.foreign import Items, Object
from kiprdf.interchange.importing.plan import PlannedProposition
from kiprdf.interchange.importing.values import Gathered, is_number
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, canonical_json

FIRST = 3
"""How many of many a warning names."""


class Doubts:
    """Collects what a plan keeps otherwise than its data meant it, and tells it at the end."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []
        self._numbers: dict[str, list[str]] = defaultdict(list)
        self._told_twice: list[str] = []

    def keep_text(self, property: str, key: str, iri: str) -> None:
        """Note an IRI that became a text under a key."""
        self._texts.append((property, key, iri))

    def keep_numbers(self, key: str, term: Object, value: Json) -> None:
        """Note the numbers of a value that JSON has not."""
        if isinstance(term, Items) and isinstance(value, list):
            for item, kept in zip(term.terms, value, strict=True):
                self.keep_numbers(key, item, kept)
        elif isinstance(term, Literal) and isinstance(value, dict) and is_number(term):
            name = term.datatype.value.removeprefix(vocab.XSD)
            self._numbers[key].append(f'"{shown(term.value)}"^^xsd:{name}')

    def unite(self, link: PlannedProposition, told: Iterable[Gathered]) -> None:
        """Note a proposition of several reifiers, if they tell different things."""
        found = (canonical_json([g.attributes.json(), g.metadata.json()]) for g in told)
        if len({text for text in found if text != "[{},{}]"}) > 1:
            self._told_twice.append(f"{link.subject} {link.predicate} {link.object}")

    def warnings(self, is_predicate: Callable[[str], bool]) -> Iterator[str]:
        """A sentence for each kind of doubt and each key, with the first examples."""
        undescribed: dict[str, list[str]] = defaultdict(list)
        for property, key, iri in self._texts:
            if is_predicate(property):
                undescribed[key].append(f"<{iri}>")
        for key, iris in sorted(undescribed.items()):
            yield f"{key}: {listed(iris)} {_are(iris)} not described; kept as a text."
        for key, numbers in sorted(self._numbers.items()):
            yield f"{key}: JSON has no number {listed(numbers)}; kept with the datatype."
        if self._told_twice:
            what = "Several reifiers tell different things of one triple"
            yield f"{what}; who told what is not kept: {listed(sorted(self._told_twice))}."


def listed(texts: Iterable[str]) -> str:
    """The first of several texts, and how many more there are.

    >>> listed("abcde")
    'a, b, c and 2 more'
    """
    found = list(dict.fromkeys(texts))
    more = len(found) - FIRST
    return ", ".join(found[:FIRST]) + (f" and {more} more" if more > 0 else "")


def _are(texts: Sequence[str]) -> str:
    return "is" if len(set(texts)) == 1 else "are"
