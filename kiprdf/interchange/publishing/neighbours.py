"""The Turtle beside each page: the triples around one element, as text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import cast

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from kiprdf.interchange.publishing.knowledge import Knowledge
from kiprdf.rdf import vocab


class Neighbours:
    """The triples around each element: its own, the facts that lead to it, its provenance."""

    def __init__(
        self, known: Knowledge, written: Iterable[Triple], added: Iterable[Triple]
    ) -> None:
        self._own: dict[str, list[Triple]] = defaultdict(list)
        self._leading: dict[str, list[Triple]] = defaultdict(list)
        structural = (vocab.TYPE, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        for triple in written:
            self._own[cast(NamedNode, triple.subject).value].append(triple)
            if triple.object in known.elements and triple.predicate not in structural:
                self._leading[cast(NamedNode, triple.object).value].append(triple)
        for triple in added:
            # A measurement stands with the element that it measures.
            about = cast(NamedNode, triple.subject).value.partition("#")[0]
            self._own[about].append(triple)

    def of(self, node: NamedNode) -> Iterator[Triple]:
        """The triples of one file, its own first."""
        yield from sorted(set(self._own.get(node.value, ())), key=_order)
        yield from sorted(set(self._leading.get(node.value, ())), key=_order)


def _order(triple: Triple) -> tuple[str, bool, str, str]:
    subject, predicate = cast(NamedNode, triple.subject).value, triple.predicate
    return subject, predicate != vocab.TYPE, predicate.value, str(triple.object)


_PREFIX = re.compile(r"@prefix [^:]*: <[^>]*> \.\n")
_PREFIXED = re.compile(r"(?<![:\w])([A-Za-z][\w.-]*):")
_SUBJECT = re.compile(r"^(?=\S)", re.MULTILINE)


def turtle_text(triples: Iterable[Triple], prefixes: dict[str, str]) -> str:
    """Triples as Turtle in the order given, with those of the prefixes that are used.

    The engine lists prefixes in an order of its own; here the same triples are the same text.
    """
    written = cast(bytes, serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes)).decode()
    end = 0
    while match := _PREFIX.match(written, end):
        end = match.end()
    body = written[end:]
    used = set(_PREFIXED.findall(body))
    head = "".join(f"@prefix {name}: <{prefixes[name]}> .\n" for name in sorted(used & {*prefixes}))
    return head + _SUBJECT.sub("\n", body)
