"""Turtle and TriG, written in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first. A dataset has one graph, so its TriG is
its Turtle.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange.formats.names import Profile
from kiprdf.interchange.formats.ordering import UNSHOWN, Dataset, header, node_name
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.formats.prefixes import Prefixes, namespaces, with_concept_types
from kiprdf.interchange.formats.profiles import direction
from kiprdf.interchange.staging_store import Node, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

_BARE = {
    vocab.INTEGER: re.compile(r"-?(?:0|[1-9][0-9]*)"),
    vocab.BOOLEAN: re.compile(r"true|false"),
}
"""Literals that are written without quotes."""
_INDENT = "    "
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(rf'["\\\x00-\x1f{UNSHOWN}]')


def write(
    dataset: Dataset, output: Output, iris: Iris, profile: Profile, prefixes: Mapping[str, str]
) -> None:
    """Write a dataset in a profile, under the prefixes of a mapping too.

    ``rdf11``: a proposition is an ``rdf:Statement``. ``rdf12``: ``s p o ~ <link>``, or a reifying
    triple when the fact itself is not in the dataset.
    """
    terms = Terms(with_concept_types(namespaces(iris, prefixes), dataset.subjects, iris))
    links = _links(dataset) if profile == "rdf12" else {}

    def body() -> None:
        for subject, own in dataset.blocks(iris, terms.text):
            lines = [f"{terms.verb(predicate)} {text}" for predicate, _, text in own]
            for number, (predicate, key, _) in enumerate(own if subject in links else ()):
                for link in links[subject].pop((predicate, key), ()):
                    lines[number] += f" ~ {terms.node(link)}"
                    output.count(1)
            # One triple a line, each closed alike: a fact that comes or goes touches no other.
            text = f" ;\n{_INDENT}".join(lines)
            output.write(f"\n{terms.node(subject)} {text} ;\n.\n")
            output.count(len(own))

    output.write_after(body, lambda: terms.beginning(iris))


def _links(dataset: Dataset) -> dict[str, dict[tuple[str, str], list[str]]]:
    """The links that are written beside their facts, ``~ <link>``: they leave the dataset.

    They are given by the subject of the fact, then by its predicate and object.
    """
    reifying: dict[str, list[str]] = defaultdict(list)
    for link, own in dataset.subjects.items():
        for rank, text in own:
            if rank[2] == vocab.REIFIES.value:
                reifying[text].append(link)
    facts: dict[str, list[tuple[str, Triple]]] = defaultdict(list)
    for text in reifying:
        fact = dataset.values[text]
        if isinstance(fact, Triple):
            facts[node_name(cast(Node, fact.subject))].append((text, fact))
    links: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(dict)
    for subject, texts in facts.items():
        present = {(rank[2], value) for rank, value in dataset.subjects.get(subject, ())}
        for text, fact in texts:
            key = fact.predicate.value, str(fact.object)
            if key in present:
                links[subject][key] = sorted(reifying[text])
                for link in reifying[text]:
                    dataset.remove(link, vocab.REIFIES.value, text)
    return links


class Terms:
    """Terms as they are written in Turtle."""

    def __init__(self, prefixes: Prefixes) -> None:
        self._prefixes = prefixes
        self._verbs = {vocab.TYPE.value: "a"}

    def beginning(self, iris: Iris) -> str:
        """The header of a text, and the prefixes that are in use so far."""
        used = sorted(self._prefixes.used.items())
        lines = (f"@prefix {name}: {_in_full(namespace)} .\n" for name, namespace in used)
        return f"# {header(iris)}\n{''.join(lines)}"

    def text(self, term: Term) -> str:
        if isinstance(term, NamedNode):
            return self.iri(term.value)
        if isinstance(term, Literal):
            return self._literal(term)
        if isinstance(term, Triple):
            return f"<<( {' '.join(map(self.text, term))} )>>"
        return node_name(term)

    def node(self, name: str) -> str:
        """A subject, by its IRI or by ``_:`` and its label."""
        return name if name.startswith("_:") else self.iri(name)

    def verb(self, predicate: str) -> str:
        verb = self._verbs.get(predicate)
        if verb is None:
            verb = self._verbs[predicate] = self.iri(predicate)
        return verb

    def iri(self, iri: str) -> str:
        return self._prefixes.short(iri) or _in_full(iri)

    def _literal(self, literal: Literal) -> str:
        datatype = literal.datatype
        if datatype in _BARE and _BARE[datatype].fullmatch(literal.value):
            return literal.value
        text = f'"{_ESCAPED.sub(_escape, literal.value)}"'
        if literal.language is not None:
            towards = "" if literal.direction is None else f"--{direction(literal)}"
            return f"{text}@{literal.language}{towards}"
        return text if datatype == vocab.STRING else f"{text}^^{self.iri(datatype.value)}"


def _in_full(iri: str) -> str:
    return f"<{iri}>" if iri.isascii() else f"<{_ESCAPED.sub(_escape, iri)}>"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"
