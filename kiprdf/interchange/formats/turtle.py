"""Turtle and TriG, written in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first, no blank node of our own. The default
graph of TriG is written as Turtle is.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

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
from kiprdf.interchange.staged import Column, Columns, Listed, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import normal

__all__ = ["Profile", "Text", "gathered", "read", "write"]

_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)|true|false")
_INDENT = "    "
_CLOSED = " ;\n"
_SOME = 16
"""How many subjects are written at once."""


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
    with triples.reading() as reading:
        reading.announce([vocab.REIFIES])
        names = sorted(triples.predicates(), key=lambda name: predicate_place(name.value))
        names = [name for name in names if name != vocab.REIFIES]
        if profile == "rdf12":
            # A line of a fact needs its reifiers, and they the facts.
            reading.announce([name for name in names if name.value.startswith(iris.predicates)])
        reading.announce(name for name in names if name not in without)
        types = with_concept_types(known, triples.named(), iris)
        writer = _Writer(types, profile, triples, reading.column)
        writer.add_links(names)
        for predicate in names:
            if predicate not in without:
                writer.add_lines(predicate)
    # By their IRIs, or the labels of blank nodes, which have no colon.
    lines = {text[1:-1] if text[0] == "<" else text[2:]: own for text, own in writer.lines.items()}
    return Text(lines, writer.names, iris, writer.reifiers)


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
        for start in range(0, len(subjects), _SOME):
            end = start + _SOME
            blocks = map("".join, map(self._lines.pop, subjects[start:end]))
            # One triple a line, each closed alike: a fact that comes or goes touches no other.
            text = "".join(
                f"\n{beginning} {block[len(_INDENT) :]}.\n"
                for beginning, block in zip(beginnings[start:end], blocks, strict=True)
            )
            output.write(text)
            output.count(text.count(_CLOSED))
        output.count(self._reifiers)


def _subject(subject: str, names: Names) -> str:
    """A subject by its IRI, which has a colon, or its label, which has none."""
    return names.short(subject) or in_full(subject) if ":" in subject else f"_:{subject}"


def _beginning(names: Names, iris: Iris) -> str:
    used = sorted(names.used.items())
    lines = (f"@prefix {name}: {in_full(namespace)} .\n" for name, namespace in used)
    return f"# {header(iris)}\n{''.join(lines)}"


class _Known(dict[Any, Any]):
    """What a function makes of values, each of which comes many times."""

    def __init__(self, made: Callable[[Any], Any]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, value: Any) -> Any:
        found = self[value] = self._made(value)
        return found


class _Writer:
    """Puts triples into lines, predicate by predicate: there are few different ones of each."""

    def __init__(
        self,
        names: Names,
        profile: Profile,
        triples: Columns,
        column: Callable[[NamedNode], Column],
    ) -> None:
        self.names = names
        self._triples = triples
        self._column = column
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.reifiers = 0
        self._facts: dict[NamedNode, Column] = {}
        self._behind: dict[str, dict[tuple[str, Any], list[str]]] = {}
        # What stands in many facts.
        self._nodes = _Known(self._node)
        self._ends = _Known(lambda value: self.term(triples.term(value)))
        self._is_rdf12 = profile == "rdf12"

    def add_links(self, predicates: list[NamedNode]) -> None:
        """Put what reifies facts into the words of the profile, before all other lines.

        The facts have some of the predicates.
        """
        links, values = self._column(vocab.REIFIES)
        facts = list(map(self._triples.parts, values))
        reified = {fact[1] for fact in facts if fact is not None}
        stated = self._stated(reified, predicates) if self._is_rdf12 else {}
        others: list[tuple[str, Any]] = []
        for link, value, fact in zip(links, values, facts, strict=True):
            if fact is None:
                others.append((link, value))
            elif not self._is_rdf12:
                self.lines[link].append(self._statement(fact))
            elif (ends := fact[::2]) in stated.get(fact[1], ()):
                behind = self._behind.setdefault(fact[1], {})
                behind.setdefault(ends, []).append(self._node(link))
                self.reifiers += 1
            else:
                # Without a fact of its own in the graph it cannot stand behind it.
                others.append((link, value))
        if others:
            self._add(vocab.REIFIES, others, is_sorted=False)

    def _stated(
        self, reified: set[str], predicates: list[NamedNode]
    ) -> dict[str, set[tuple[str, Any]]]:
        """The ends of what is stated, by each predicate of which there are reified facts."""
        for predicate in predicates:
            if str(predicate) in reified:
                self._facts[predicate] = self._column(predicate)
        return {str(name): set(zip(*column, strict=True)) for name, column in self._facts.items()}

    def _statement(self, fact: tuple[str, str, Any]) -> str:
        subject, predicate, value = fact
        typed, of, says, what = self._parts
        whose, verb, end = self._nodes[subject], self._nodes[predicate], self._ends[value]
        return f"{typed}{of}{whose} ;\n{says}{verb} ;\n{what}{end} ;\n"

    def _node(self, text: str) -> str:
        """An IRI or a blank node, which SPARQL and Turtle write alike."""
        return self._iri(text[1:-1]) if text[0] == "<" else text

    @cached_property
    def _parts(self) -> tuple[str, str, str, str]:
        typed = f"{_INDENT}a {self.term(vocab.STATEMENT)} ;\n"
        parts = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        of, says, what = (f"{_INDENT}{self.term(part)} " for part in parts)
        return typed, of, says, what

    def add_lines(self, predicate: NamedNode) -> None:
        """Put a line for each triple of a predicate behind those of its subject."""
        column = self._facts.pop(predicate, None) or self._column(predicate)
        subjects, _ = column
        is_repeated = len(set(subjects)) < len(subjects)
        self._add(predicate, zip(*column, strict=True), is_sorted=not is_repeated)

    def _add(self, predicate: NamedNode, pairs: Iterable[tuple[str, Any]], is_sorted: bool) -> None:
        verb = "a" if predicate == vocab.TYPE else self.term(predicate)
        told = _Known(lambda value: self._told(self._triples.term(value)))
        if not is_sorted:
            # A subject has its values in their order.
            order = _Known(lambda value: str(told[value]))
            pairs = sorted(pairs, key=lambda pair: order[pair[1]])
        if predicate == vocab.TYPE:
            pairs = self._beside_statements(pairs, told)
        known = _Known(lambda value: f"{_INDENT}{verb} {self.term(told[value])} ;\n")
        lines, behind = self.lines, self._behind.get(str(predicate))
        if behind is None:
            for subject, value in pairs:
                lines[subject].append(known[value])
            return
        for pair in pairs:
            line = known[pair[1]]
            if links := behind.get(pair):
                # Two links of one fact are a fault, and nearly never there.
                told_by = links[0] if len(links) == 1 else " ~ ".join(sorted(links))
                line = f"{line[:-3]} ~ {told_by} ;\n"
            lines[pair[0]].append(line)

    def _beside_statements(
        self, pairs: Iterable[tuple[str, Any]], told: Mapping[Any, Term]
    ) -> Iterator[tuple[str, Any]]:
        """What gives a type to what is no statement; the types of one join its own."""
        # As of now: what gets its types in these lines may have several.
        statements = frozenset(self.lines)
        for subject, value in pairs:
            if subject not in statements:
                yield subject, value
                continue
            own = self.lines[subject]
            typed, of, _, _ = self._parts
            before = typed if str(told[value]) < str(vocab.STATEMENT) else of
            line = f"{_INDENT}a {self.term(told[value])} ;\n"
            own[0] = own[0].replace(before, f"{line}{before}", 1)

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
