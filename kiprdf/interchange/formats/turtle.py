"""Turtle and TriG, written in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first, no blank node of our own. The default
graph of TriG is written as Turtle is.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.interchange.formats import reading
from kiprdf.interchange.formats.layout import (
    Names,
    Output,
    header,
    in_full,
    in_order,
    namespaces,
    predicate_place,
    quoted,
    with_concept_types,
    without_engine_metadata,
)
from kiprdf.interchange.formats.names import Profile, check_profile
from kiprdf.interchange.formats.profiles import direction, written
from kiprdf.interchange.staged import Columns, Listed, Node, Term, triple_of
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import normal

__all__ = ["Profile", "Text", "gathered", "read", "write"]

_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)|true|false")
_INDENT = "    "


def write(
    triples: Iterable[Triple], base: str, profile: Profile = "rdf11", engine_metadata: bool = True
) -> str:
    """A dataset as Turtle text.

    ``rdf11``: a proposition is an ``rdf:Statement``. ``rdf12``: ``s p o ~ <link> .``. The first
    line names the format and the base, by which ``read`` knows them.
    """
    check_profile(profile)
    told = triples if engine_metadata else without_engine_metadata(triples)
    target = io.BytesIO()
    output = Output(target, None)
    gathered(Listed(told), Iris(base), profile).write(output)
    output.close()
    return target.getvalue().decode()


def read(text: str, base: str, source_base: str | None = None) -> list[Triple]:
    """The triples of a Turtle snapshot in either profile, under a base; see ``reading.read``."""
    return reading.read(text, "turtle", base, source_base=source_base)


def gathered(
    triples: Columns,
    iris: Iris,
    profile: Profile,
    prefixes: Mapping[str, str] | None = None,
    without: Container[NamedNode] = (),
) -> Text:
    """A dataset as the lines of a text, in a profile and in our spelling; all of it is read.

    The prefixes of a mapping are used too; what is said by some predicates may be left out.
    """
    known = namespaces(iris, prefixes or {})
    writer = _Writer(with_concept_types(known, triples.named(), iris), profile)
    names = sorted(triples.predicates(), key=lambda name: predicate_place(name.value))
    if vocab.REIFIES in names:
        names.remove(vocab.REIFIES)
        writer.add_links(triples)
    for predicate in names:
        if predicate not in without:
            writer.add_lines(predicate, triples)
    return Text(writer.lines, writer.names, iris, writer.reifiers)


class Text:
    """The lines of a text, by subject."""

    def __init__(
        self, lines: dict[str, list[str]], names: Names, iris: Iris, reifiers: int
    ) -> None:
        self._lines = lines
        self._names = names
        self._iris = iris
        self._reifiers = reifiers

    def write(self, output: Output) -> None:
        """Write them in their order, once; the prefixes in use stand before them."""
        subjects = in_order(self._lines, self._iris)
        beginnings = [_subject(subject, self._names) for subject in subjects]
        output.write(_beginning(self._names, self._iris))
        for subject, beginning in zip(subjects, beginnings, strict=True):
            block = "".join(self._lines.pop(subject))
            # One triple a line, each closed alike: a fact that comes or goes touches no other.
            output.write(f"\n{beginning} {block[len(_INDENT) :]}.\n")
            output.count(block.count("\n"))
        output.count(self._reifiers)


def _subject(subject: str, names: Names) -> str:
    """A subject by its IRI, which has a colon, or its label, which has none."""
    return names.short(subject) or in_full(subject) if ":" in subject else f"_:{subject}"


def _beginning(names: Names, iris: Iris) -> str:
    used = sorted(names.used.items())
    lines = (f"@prefix {name}: {in_full(namespace)} .\n" for name, namespace in used)
    return f"# {header(iris)}\n{''.join(lines)}"


class _Writer:
    """Puts triples into lines, predicate by predicate: there are few different ones of each."""

    def __init__(self, names: Names, profile: Profile) -> None:
        self.names = names
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.reifiers = 0
        self._behind: dict[Triple, list[str]] = {}
        self._ends: dict[Any, str] = {}
        self._is_rdf12 = profile == "rdf12"

    def add_links(self, triples: Columns) -> None:
        """Put what reifies facts into the words of the profile, before all other lines."""
        others = []
        for triple in triples.column(vocab.REIFIES):
            fact = triple.object
            if not isinstance(fact, Triple):
                others.append(triple_of(triple))
            elif not self._is_rdf12:
                self.lines[triple.subject.value].append(self._statement(fact))  # type: ignore[union-attr]
            elif fact in triples:
                self._behind.setdefault(fact, []).append(self.term(triple.subject))
                self.reifiers += 1
            else:
                # Without a fact of its own in the graph it cannot stand behind it.
                others.append(triple_of(triple))
        if others:
            self.add_lines(vocab.REIFIES, Listed(others))

    def _statement(self, fact: Triple) -> str:
        subject, predicate, value = map(self._end, fact)
        typed, of, says, what = self._parts
        return f"{typed}{of}{subject} ;\n{says}{predicate} ;\n{what}{value} ;\n"

    def _end(self, node: Any) -> str:
        """A term that stands in many facts."""
        known = self._ends.get(node)
        if known is None:
            known = self._ends[node] = self.term(node)
        return known

    @cached_property
    def _parts(self) -> tuple[str, str, str, str]:
        typed = f"{_INDENT}a {self.term(vocab.STATEMENT)} ;\n"
        parts = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        of, says, what = (f"{_INDENT}{self.term(part)} " for part in parts)
        return typed, of, says, what

    def add_lines(self, predicate: NamedNode, triples: Columns) -> None:
        """Put a line for each triple of a predicate behind those of its subject."""
        verb = "a" if predicate == vocab.TYPE else self.term(predicate)
        column: Iterable[Triple | Quad] = triples.column(predicate)
        if triples.is_repeated(predicate):
            # A subject has its values in their order.
            column = sorted(column, key=lambda triple: str(self._told(triple.object)))
        if predicate == vocab.TYPE:
            column = self._beside_statements(column)
        behind = self._behind if predicate in self._reified else {}
        lines = self.lines
        known: dict[Any, str] = {}
        for triple in column:
            value = triple.object
            line = known.get(value)
            if line is None:
                line = known[value] = f"{_INDENT}{verb} {self.term(self._told(value))} ;\n"
            if behind and (links := behind.get(triple_of(triple))):
                line = f"{line[:-3]} ~ {' ~ '.join(sorted(links))} ;\n"
            lines[triple.subject.value].append(line)  # type: ignore[union-attr]

    def _beside_statements(self, column: Iterable[Triple | Quad]) -> Iterator[Triple | Quad]:
        """The triples that give a type to what is no statement; those of one join its types."""
        # As of now: what gets its types in these lines may have several.
        statements = frozenset(self.lines)
        for triple in column:
            subject = cast(Node, triple.subject).value
            if subject not in statements:
                yield triple
                continue
            own = self.lines[subject]
            value = self._told(triple.object)
            typed, of, _, _ = self._parts
            before = typed if str(value) < str(vocab.STATEMENT) else of
            own[0] = own[0].replace(before, f"{_INDENT}a {self.term(value)} ;\n{before}", 1)

    @cached_property
    def _reified(self) -> set[NamedNode]:
        return {fact.predicate for fact in self._behind}

    def _told(self, value: Term) -> Term:
        """A value as it is written: in our spelling, the engine has its own, and in the profile."""
        if not isinstance(value, Literal):
            return value
        known = normal(value)
        return written(known, self._is_rdf12) if isinstance(known, Literal) else known

    def term(self, term: Any) -> str:
        """A term in Turtle."""
        if isinstance(term, NamedNode):
            return self._iri(term.value)
        if isinstance(term, Literal):
            return self._literal(term)
        if isinstance(term, Triple):
            return f"<<( {' '.join(map(self.term, term))} )>>"
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
        return self.names.short(iri) or in_full(iri)
