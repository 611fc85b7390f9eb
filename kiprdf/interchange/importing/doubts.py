"""What an import did that its reader may not expect: the warnings of its report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

FIRST = 3
"""How many of many a warning names."""


class Doubts:
    """Collects what a plan keeps otherwise than its data meant it, and tells it at the end."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []

    def keep_text(self, property: str, key: str, iri: str) -> None:
        """Note an IRI that became a text under a key."""
        self._texts.append((property, key, iri))

    def warnings(self, is_predicate: Callable[[str], bool]) -> Iterator[str]:
        """A sentence for each kind of doubt and each key, with the first examples."""
        undescribed: dict[str, list[str]] = defaultdict(list)
        for property, key, iri in self._texts:
            if is_predicate(property):
                undescribed[key].append(f"<{iri}>")
        for key, iris in sorted(undescribed.items()):
            yield f"{key}: {listed(iris)} {_are(iris)} not described; kept as a text."


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
