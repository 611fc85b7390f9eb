"""The Turtle file beside each page: the triples of one element."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import cast

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from kiprdf.rdf import vocab

_PREFIX = re.compile(r"@prefix [^:]*: <[^>]*> \.\n")
_PREFIXED = re.compile(r"(?<![:\w])([A-Za-z][\w.-]*):")
_SUBJECT = re.compile(r"^(?=\S)", re.MULTILINE)


class ElementTriples:
    """The triples of each element: those about it, and the facts that refer to it."""

    def __init__(
        self, elements: Container[object], dataset: Iterable[Triple], provenance: Iterable[Triple]
    ) -> None:
        self._by_subject: dict[str, list[Triple]] = defaultdict(list)
        self._by_object: dict[str, list[Triple]] = defaultdict(list)
        structural = (vocab.TYPE, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        for triple in dataset:
            self._by_subject[cast(NamedNode, triple.subject).value].append(triple)
            if triple.object in elements and triple.predicate not in structural:
                self._by_object[cast(NamedNode, triple.object).value].append(triple)
        for triple in provenance:
            self._by_subject[cast(NamedNode, triple.subject).value].append(triple)

    def of(self, nodes: Sequence[NamedNode]) -> Iterator[Triple]:
        """The triples of one file; those about its elements come first."""
        for index in (self._by_subject, self._by_object):
            yield from sorted({t for node in nodes for t in index.get(node.value, ())}, key=_order)


def _order(triple: Triple) -> tuple[str, bool, str, str]:
    subject, predicate = cast(NamedNode, triple.subject).value, triple.predicate
    return subject, predicate != vocab.TYPE, predicate.value, str(triple.object)


def turtle_text(triples: Iterable[Triple], prefixes: dict[str, str]) -> str:
    """Triples as Turtle in the given order, with the prefixes that are used.

    The engine lists prefixes in an arbitrary order; here the same triples give the same text.
    """
    text = cast(bytes, serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes)).decode()
    end = 0
    while match := _PREFIX.match(text, end):
        end = match.end()
    body = text[end:]
    used = set(_PREFIXED.findall(body))
    head = "".join(f"@prefix {name}: <{prefixes[name]}> .\n" for name in sorted(used & {*prefixes}))
    return head + _SUBJECT.sub("\n", body)
