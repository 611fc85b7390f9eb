"""Writes Turtle in three layouts, and N-Triples.

- ``write``: one triple a line, ``a`` first, as snapshots are. In RDF 1.2, a proposition is the
  reifier of its fact: ``<fact> ~ <link>`` (RDF 1.2 Turtle, docs/mapping.md).
- ``nested``: blank nodes in ``[ … ]`` and ``( … )``, as is usual for OWL and SHACL.
- ``write_lines``: N-Triples, in RDF 1.2 with triple terms.

A dataset has one graph, so its TriG is its Turtle, and its N-Quads are its N-Triples. Only the
prefixes in use are declared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from pyoxigraph import Triple

from kiprdf.interchange import n_triples
from kiprdf.interchange.formats.ordering import (
    UNSHOWN,
    Dataset,
    Memo,
    header,
    node_name,
    predicate_of,
)
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.formats.prefixes import Prefixes, namespaces, with_concept_types
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

_BARE = re.compile(
    rf'"(-?(?:0|[1-9][0-9]*))"\^\^{re.escape(str(vocab.INTEGER))}'
    rf'|"(true|false)"\^\^{re.escape(str(vocab.BOOLEAN))}'
)
"""Literals that are written without quotes."""
_INDENT = "    "
_ESCAPED = re.compile(rf"\\.|[{UNSHOWN}]")
_NO_ESCAPES = {"\\b": "\\u0008", "\\f": "\\u000C"}
"""Escapes of N-Triples that are written as numbers."""
_HIDDEN = re.compile(f"[{UNSHOWN}]")


def write(dataset: Dataset, output: Output, iris: Iris, prefixes: Mapping[str, str]) -> None:
    """Write a dataset, under the prefixes of a mapping too."""
    terms = Terms(with_concept_types(namespaces(iris, prefixes), dataset.named(), iris))
    verbs, objects = Memo(lambda key: terms.verb(predicate_of(key))), Memo(terms.object)
    output.hold()
    for subject, entries in dataset.blocks(iris):
        lines = [f"{verbs[key]} {objects[value]}" for key, value in entries]
        output.count(len(entries))
        links = dataset.links.get(subject, {})
        for number, entry in enumerate(entries if links else ()):
            for link in sorted(map(node_name, links.pop(entry, ()))):
                lines[number] += f" ~ {terms.nodes[link]}"
                output.count(1)
        # One triple a line with the same end: adding or removing one changes no other line.
        text = f" ;\n{_INDENT}".join(lines)
        output.write(f"\n{terms.nodes[subject]} {text} ;\n.\n")
    output.release(terms.beginning(iris))


class Terms:
    """Converts N-Triples to Turtle with prefixes."""

    def __init__(self, prefixes: Prefixes) -> None:
        self._prefixes = prefixes
        self.nodes = Memo(self._node)
        """Nodes as Turtle, by their IRIs or by ``_:`` and a label."""

    def beginning(self, iris: Iris) -> str:
        """The header of a text, with the prefixes used so far."""
        used = sorted(self._prefixes.used.items())
        lines = (f"@prefix {name}: {_in_full(namespace)} .\n" for name, namespace in used)
        return f"# {header(iris)}\n{''.join(lines)}"

    def _node(self, name: str) -> str:
        return name if name.startswith("_:") else self._prefixes.short(name) or _in_full(name)

    def verb(self, predicate: str) -> str:
        """A predicate, by its IRI."""
        return "a" if predicate == vocab.TYPE.value else self.nodes[predicate]

    def object(self, text: str) -> str:
        """A subject, predicate or object, by its N-Triples."""
        if text.startswith('"'):
            return self._literal(text)
        if text.startswith("<<("):
            return f"<<( {' '.join(map(self.object, n_triples.parts(text)))} )>>"
        return self.nodes[node_name(text)]

    def _literal(self, text: str) -> str:
        bare = _BARE.fullmatch(text)
        if bare:
            return bare[1] or bare[2]
        string, _, suffix = text.rpartition('"')
        datatype = f"^^{self.nodes[suffix[3:-1]]}" if suffix.startswith("^^") else suffix
        return f'{_escaped(string)}"{datatype}'


def _in_full(iri: str) -> str:
    return f"<{_escaped(iri)}>"


def _escaped(text: str) -> str:
    """N-Triples as Turtle, with invisible characters escaped."""
    is_plain = text.isascii() and "\\" not in text
    return text if is_plain else _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    text = match.group()
    return _NO_ESCAPES.get(text, text) if text.startswith("\\") else f"\\u{ord(text):04X}"


# Nested ----------------------------------------------------------------------------------------

Pair: TypeAlias = tuple[str, str]
"""The IRI of a predicate, and an object as N-Triples."""

_CELL = [vocab.FIRST.value, vocab.REST.value]
_NIL = str(vocab.NIL)
_WIDTH = 88
"""How many characters a bracket may have on one line."""


def nested(triples: Iterable[Triple], iris: Iris, prefixes: Mapping[str, str]) -> str:
    """Triples as Turtle, each blank node inside the node that refers to it.

    One that is referred to twice, or never, has a label and its own block. Otherwise the order is
    that of snapshots: same triples, same bytes. Blank nodes do not refer to themselves, nor to each
    other in a circle.
    """
    dataset = Dataset(dict.fromkeys(triples), "triples", lambda text: text)
    terms = Terms(with_concept_types(namespaces(iris, prefixes), dataset.subjects, iris))
    by_subject = {
        subject: [(predicate_of(key), value) for key, value in entries]
        for subject, entries in dataset.blocks(iris)
    }
    texts = [f"\n{text}" for text in _Nested(terms, by_subject).blocks()]
    return "".join([terms.beginning(iris), *texts])


class _Nested:
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


# N-Triples -------------------------------------------------------------------------------------


def write_lines(dataset: Dataset, output: Output, iris: Iris) -> None:
    """Write a dataset as N-Triples, after a comment that names the base."""
    output.write(f"# {header(iris)}\n")
    predicates = Memo(lambda key: _line_node(predicate_of(key)))
    objects = Memo(_line_object)
    for subject, entries in dataset.blocks(iris):
        beginning = _line_node(subject)
        lines = [f"{beginning} {predicates[key]} {objects[value]} .\n" for key, value in entries]
        output.write("".join(lines))
        output.count(len(entries))


def _line_object(text: str) -> str:
    if text.startswith("<<("):
        return f"<<( {' '.join(map(_line_object, n_triples.parts(text)))} )>>"
    return node_name(text) if text.startswith("_:") else _shown(text)


def _line_node(name: str) -> str:
    return name if name.startswith("_:") else _shown(f"<{name}>")


def _shown(text: str) -> str:
    return text if text.isascii() else _HIDDEN.sub(lambda c: f"\\u{ord(c.group()):04X}", text)
