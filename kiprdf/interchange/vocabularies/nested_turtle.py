"""The schema in Turtle as people write OWL and SHACL: ``[ … ]`` and ``( … )`` where they belong.

A blank node stands where it is referred to. Only one that is referred to twice, or never, has a
label and a block of its own. Otherwise it is the order of snapshots: same triples, same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.interchange.formats.ordering import (
    Names,
    blocks,
    header,
    in_full,
    namespaces,
    quoted,
    with_concept_types,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)|true|false")
_WIDTH = 88
"""What is longer is written on several lines."""
_INDENT = "    "

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = Node | Literal


def write_nested(triples: Iterable[Triple], iris: Iris, prefixes: Mapping[str, str]) -> str:
    """Triples as Turtle, blank nodes inside of what refers to them; they are in no circle."""
    own = dict(blocks(dict.fromkeys(triples), iris))
    names = with_concept_types(namespaces(iris, prefixes), (node.value for node in own), iris)
    texts = list(_Writer(names, own).blocks())
    used = (f"@prefix {name}: {in_full(space)} .\n" for name, space in sorted(names.used.items()))
    return "".join([f"# {header(iris)}\n", *used, *(f"\n{text}" for text in texts)])


class _Writer:
    def __init__(self, names: Names, own: Mapping[Node, list[Triple]]) -> None:
        self._names = names
        self._own = own
        terms = (cast(Term, triple.object) for said in own.values() for triple in said)
        self._references = Counter(term for term in terms if isinstance(term, BlankNode))

    def blocks(self) -> Iterator[str]:
        """The subjects that stand in no other, each with all that is said of it."""
        for subject, said in self._own.items():
            if not self._is_nested(subject):
                lines = "".join(f"{_INDENT}{line}\n" for line in self._lines(said))
                yield f"{self._term(subject)} {lines.lstrip()}.\n"

    def _is_nested(self, node: Term) -> bool:
        return isinstance(node, BlankNode) and node in self._own and self._references[node] == 1

    def _lines(self, said: list[Triple]) -> list[str]:
        """One predicate and object a line; of one predicate, in the order of what is written."""
        order = {triple.predicate: place for place, triple in enumerate(said)}
        shown = [(order[t.predicate], self._verb(t.predicate), self._object(t)) for t in said]
        pairs = (f"{verb} {text} ;" for _, verb, text in sorted(shown))
        return [line for pair in pairs for line in pair.split("\n")]

    def _verb(self, predicate: NamedNode) -> str:
        return "a" if predicate == vocab.TYPE else self._iri(predicate.value)

    def _object(self, triple: Triple) -> str:
        return self._value(cast(Term, triple.object))

    def _value(self, term: Term) -> str:
        if term == vocab.NIL:
            return "()"
        if not self._is_nested(term):
            return self._term(term)
        members = self._members(cast(Node, term))
        if members is None:
            return _bracketed("[", self._lines(self._own[cast(Node, term)]), "]")
        return _bracketed("(", [line for one in members for line in one.split("\n")], ")")

    def _members(self, head: Node) -> list[str] | None:
        """What stands in a list; None for what is no list, or one that others point into."""
        found: list[str] = []
        while head != vocab.NIL:
            said = self._own.get(head, [])
            if not self._is_nested(head) or [t.predicate for t in said] != [
                vocab.FIRST,
                vocab.REST,
            ]:
                return None
            found.append(self._object(said[0]))
            head = cast(Node, said[1].object)
        return found

    def _term(self, term: Term) -> str:
        if isinstance(term, NamedNode):
            return self._iri(term.value)
        return self._literal(term) if isinstance(term, Literal) else f"_:{term.value}"

    def _literal(self, literal: Literal) -> str:
        if literal.language is not None:
            return f"{quoted(literal.value)}@{literal.language}"
        if literal.datatype in (vocab.INTEGER, vocab.BOOLEAN) and _BARE.fullmatch(literal.value):
            return literal.value
        text = quoted(literal.value)
        is_string = literal.datatype == vocab.STRING
        return text if is_string else f"{text}^^{self._iri(literal.datatype.value)}"

    def _iri(self, iri: str) -> str:
        return self._names.short(iri) or in_full(iri)


def _bracketed(opening: str, lines: list[str], closing: str) -> str:
    """On one line where there is room; the mark behind the last pair is left out there."""
    inline = " ".join(lines).removesuffix(" ;")
    # The line of a nested node begins with white space only when it stands on several.
    if len(inline) <= _WIDTH and not any(line.startswith(_INDENT) for line in lines):
        return f"{opening} {inline} {closing}"
    return "\n".join([opening, *(f"{_INDENT}{line}" for line in lines), closing])
