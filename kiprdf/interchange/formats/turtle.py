"""Writes Turtle and TriG in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first. A dataset has one graph, so its TriG is
its Turtle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def write(dataset: Dataset, output: Output, iris: Iris, prefixes: Mapping[str, str]) -> None:
    """Write a dataset, under the prefixes of a mapping too."""
    terms = Terms(with_concept_types(namespaces(iris, prefixes), dataset.named(), iris))

    def body() -> None:
        verbs, objects = Memo(lambda key: terms.verb(predicate_of(key))), Memo(terms.object)
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

    output.write_after(body, lambda: terms.beginning(iris))


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
