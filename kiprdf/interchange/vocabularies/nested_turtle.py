"""Writes the schema in Turtle with ``[ … ]`` and ``( … )``, as is usual for OWL and SHACL.

A blank node is written where it is referred to. Only one that is referred to twice, or never, has a
label and its own block. Otherwise the order is that of snapshots: same triples, same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from pyoxigraph import Triple

from kiprdf.interchange.formats.ordering import Dataset, node_name, predicate_of
from kiprdf.interchange.formats.prefixes import namespaces, with_concept_types
from kiprdf.interchange.formats.turtle import Terms
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

Pair: TypeAlias = tuple[str, str]
"""The IRI of a predicate, and an object as N-Triples."""

_CELL = [vocab.FIRST.value, vocab.REST.value]
_NIL = str(vocab.NIL)
_WIDTH = 88
"""How many characters a bracket may have on one line."""
_INDENT = "    "


def write_nested(triples: Iterable[Triple], iris: Iris, prefixes: Mapping[str, str]) -> str:
    """Triples as Turtle, each blank node inside the node that refers to it.

    Blank nodes do not refer to themselves, nor to each other in a circle.
    """
    dataset = Dataset(dict.fromkeys(triples), "triples", lambda text: text)
    terms = Terms(with_concept_types(namespaces(iris, prefixes), dataset.subjects, iris))
    by_subject = {
        subject: [(predicate_of(key), value) for key, value in entries]
        for subject, entries in dataset.blocks(iris)
    }
    texts = [f"\n{text}" for text in _Writer(terms, by_subject).blocks()]
    return "".join([terms.beginning(iris), *texts])


class _Writer:
    def __init__(self, terms: Terms, by_subject: Mapping[str, list[Pair]]) -> None:
        self._terms = terms
        self._by_subject = by_subject
        objects = (value for pairs in by_subject.values() for _, value in pairs)
        self._references = Counter(node_name(value) for value in objects if value.startswith("_:"))

    def blocks(self) -> Iterator[str]:
        """The subjects that are not written inside others, each with its triples."""
        for subject, pairs in self._by_subject.items():
            if not self._is_nested(subject):
                lines = "".join(f"{_INDENT}{line}\n" for line in self._lines(pairs))
                yield f"{self._terms.nodes[subject]} {lines.lstrip()}.\n"

    def _is_nested(self, name: str) -> bool:
        is_blank = name.startswith("_:") and name in self._by_subject
        return is_blank and self._references[name] == 1

    def _lines(self, pairs: list[Pair]) -> list[str]:
        """One predicate and object a line; those of one predicate in the order of their texts."""
        order = {name: number for number, (name, _) in enumerate(pairs)}
        written = sorted((order[name], self._value(value), name) for name, value in pairs)
        lines = (f"{self._terms.verb(name)} {text} ;" for _, text, name in written)
        return [line for text in lines for line in text.split("\n")]

    def _value(self, value: str) -> str:
        if value == _NIL:
            return "()"
        name = node_name(value) if value.startswith("_:") else ""
        if not self._is_nested(name):
            return self._terms.object(value)
        members = self._members(name)
        if members is None:
            return _bracketed("[", self._lines(self._by_subject[name]), "]")
        return _bracketed("(", [line for one in members for line in one.split("\n")], ")")

    def _members(self, head: str) -> list[str] | None:
        """The members of a list; None if a node is not a list, or is referred to elsewhere."""
        members: list[str] = []
        while head != vocab.NIL.value:
            cell = self._by_subject.get(head, [])
            if not self._is_nested(head) or [name for name, _ in cell] != _CELL:
                return None
            members.append(self._value(cell[0][1]))
            head = node_name(cell[1][1])
        return members


def _bracketed(opening: str, lines: list[str], closing: str) -> str:
    """Brackets on one line if they fit, without the last semicolon."""
    inline = " ".join(lines).removesuffix(" ;")
    # A line of a nested node begins with white space only when that node takes several lines.
    if len(inline) <= _WIDTH and not any(line.startswith(_INDENT) for line in lines):
        return f"{opening} {inline} {closing}"
    return "\n".join([opening, *(f"{_INDENT}{line}" for line in lines), closing])
