"""Turtle and TriG, written in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first, no blank node of our own. The default
graph of TriG is written as Turtle is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.interchange.formats import reading
from kiprdf.interchange.formats.layout import (
    Names,
    Output,
    Told,
    blocks,
    header,
    in_full,
    namespaces,
    quoted,
    spelled,
    with_concept_types,
    without_engine_metadata,
)
from kiprdf.interchange.formats.profiles import Node, Profile, check_profile, direction, to_profile
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

__all__ = ["Profile", "read", "write", "write_to"]

_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)|true|false")
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple


def write(
    triples: Iterable[Triple], base: str, profile: Profile = "rdf11", engine_metadata: bool = True
) -> str:
    """A dataset as Turtle text.

    ``rdf11``: a proposition is an ``rdf:Statement``. ``rdf12``: ``s p o ~ <link> .``. The first
    line names the format and the base, by which ``read`` knows them.
    """
    check_profile(profile)
    written = spelled(triples if engine_metadata else without_engine_metadata(triples))
    target = io.BytesIO()
    output = Output(target, None)
    write_to(written, output, Iris(base), profile)
    output.close()
    return target.getvalue().decode()


def read(text: str, base: str, source_base: str | None = None) -> list[Triple]:
    """The triples of a Turtle snapshot in either profile, under a base; see ``reading.read``."""
    return reading.read(text, "turtle", base, source_base=source_base)


def write_to(
    triples: Iterable[Triple],
    output: Output,
    iris: Iris,
    profile: Profile,
    prefixes: Mapping[str, str] | None = None,
) -> None:
    """Write a dataset in a profile; the prefixes of a mapping are used too."""
    told: Told | None = None
    if profile == "rdf12":
        facts, reifiers = _reified(to_profile(triples, profile))
    else:
        facts, reifiers, told = list(triples), {}, partial(to_profile, profile=profile)
    known = namespaces(iris, prefixes or {})
    names = with_concept_types(known, (cast(Node, triple.subject) for triple in facts), iris)
    writer = _Writer(names, reifiers)
    # Which prefixes are in use is known behind the last triple, and they stand before the first.
    with output.behind(lambda: _beginning(names, iris)):
        for subject, own in blocks(facts, iris, told):
            output.write(f"\n{writer.block(subject, own)}")
            output.count(len(own))
    output.count(sum(len(links) for links in reifiers.values()))


def _reified(triples: Iterable[Triple]) -> tuple[list[Triple], dict[Triple, list[Node]]]:
    """The triples to be written as such, and the reifiers that stand behind some of them."""
    facts: list[Triple] = []
    reifiers: dict[Triple, list[Node]] = {}
    for triple in triples:
        if triple.predicate == vocab.REIFIES and isinstance(triple.object, Triple):
            reifiers.setdefault(triple.object, []).append(cast(Node, triple.subject))
        else:
            facts.append(triple)
    # A reifier without a fact of its own in the graph cannot stand behind it.
    absent = set(reifiers).difference(facts)
    for term in [term for term in reifiers if term in absent]:
        facts.extend(Triple(link, vocab.REIFIES, term) for link in reifiers.pop(term))
    return facts, reifiers


def _beginning(names: Names, iris: Iris) -> str:
    used = sorted(names.used.items())
    lines = (f"@prefix {name}: {in_full(namespace)} .\n" for name, namespace in used)
    return f"# {header(iris)}\n{''.join(lines)}"


class _Writer:
    def __init__(self, names: Names, reifiers: dict[Triple, list[Node]]) -> None:
        self._names = names
        self._reifiers = reifiers

    def block(self, subject: Node, own: list[Triple]) -> str:
        # One triple a line, each closed alike: a fact that comes or goes touches no other line.
        lines = [f"    {self._verb(t.predicate)} {self._object(t)} ;\n" for t in own]
        return f"{self._term(subject)} {''.join(lines).lstrip()}.\n"

    def _verb(self, predicate: NamedNode) -> str:
        return "a" if predicate == vocab.TYPE else self._iri(predicate.value)

    def _object(self, triple: Triple) -> str:
        shown = self._term(triple.object)
        for link in sorted(self._reifiers.get(triple, ()), key=str) if self._reifiers else ():
            shown = f"{shown} ~ {self._term(link)}"
        return shown

    def _term(self, term: Term) -> str:
        if isinstance(term, NamedNode):
            return self._iri(term.value)
        if isinstance(term, Literal):
            return self._literal(term)
        if isinstance(term, Triple):
            parts = (term.subject, term.predicate, term.object)
            return f"<<( {' '.join(self._term(part) for part in parts)} )>>"
        return f"_:{term.value}"

    def _literal(self, literal: Literal) -> str:
        if literal.language is not None:
            towards = "" if literal.direction is None else f"--{direction(literal)}"
            return f"{quoted(literal.value)}@{literal.language}{towards}"
        datatype = literal.datatype
        if datatype in (vocab.INTEGER, vocab.BOOLEAN) and _BARE.fullmatch(literal.value):
            return literal.value
        text = quoted(literal.value)
        return text if datatype == vocab.STRING else f"{text}^^{self._iri(datatype.value)}"

    def _iri(self, iri: str) -> str:
        return self._names.short(iri) or in_full(iri)
