"""Turtle and TriG, written in both profiles (RDF 1.2 Turtle, docs/mapping.md).

One triple a line, only the prefixes in use, ``a`` first, no blank node of our own. The default
graph of TriG is written as Turtle is.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Mapping
from functools import cached_property
from itertools import compress
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import check, paced
from kiprdf.interchange.formats import reading
from kiprdf.interchange.formats.names import Profile, check_profile
from kiprdf.interchange.formats.ordering import (
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
from kiprdf.interchange.formats.profiles import direction, written
from kiprdf.interchange.staging_store import Column, Columns, Listed, Term, parts_of
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
    every = (name for name in triples.predicates() if name not in without)
    names = sorted(every, key=lambda name: predicate_place(name.value))
    types = with_concept_types(known, triples.named(), iris)
    writer = _Writer(types, profile, triples.column, triples.term)
    if profile == "rdf12":
        writer.put_links_behind_facts(name for name in names if name != vocab.REIFIES)
    else:
        writer.add_statements()
    for predicate in names:
        check()
        writer.add_lines(predicate)
    return Text(writer.lines, writer.names, iris, writer.reifiers)


class Text:
    """The lines of a text, by subject in SPARQL."""

    def __init__(
        self, lines: dict[str, list[str]], names: Names, iris: Iris, reifiers: int
    ) -> None:
        self._lines = lines
        self._names = names
        self._iris = iris
        self._reifiers = reifiers

    def write(self, output: Output) -> None:
        """Write them in their order, once; the prefixes in use stand before them."""
        # By their IRIs, or the labels of blank nodes.
        texts = {text[1:-1] if text[0] == "<" else text[2:]: text for text in self._lines}
        subjects = [texts[name] for name in in_order(texts, self._iris)]
        beginnings = [self._names.node(subject) for subject in paced(subjects)]
        output.write(_beginning(self._names, self._iris))
        for start in range(0, len(subjects), _SOME):
            check()
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


def _beginning(names: Names, iris: Iris) -> str:
    used = sorted(names.used.items())
    lines = (f"@prefix {name}: {in_full(namespace)} .\n" for name, namespace in used)
    return f"# {header(iris)}\n{''.join(lines)}"


class _Known(dict[str, str]):
    """What a function makes of texts, each of which comes many times."""

    def __init__(self, made: Callable[[str], str]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, text: str) -> str:
        found = self[text] = self._made(text)
        return found


class _Writer:
    """Puts triples into lines, predicate by predicate: there are few different ones of each."""

    def __init__(
        self,
        names: Names,
        profile: Profile,
        column: Callable[[NamedNode], Column],
        term_of: Callable[[str], Term],
    ) -> None:
        self.names = names
        self._column = column
        self._term_of = term_of
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.reifiers = 0
        self._begun: dict[NamedNode, tuple[Column, list[str]]] = {}
        self._is_rdf12 = profile == "rdf12"

    # What reifies facts -----------------------------------------------------------------------

    def add_statements(self) -> None:
        """Put what reifies facts into the words of rdf11, before all other lines."""
        links, values = self._column(vocab.REIFIES)
        if not any(map(parts_of, values)):
            # No word of a statement is used.
            self._begin_reifiers(list(zip(links, values, strict=True)))
            return
        typed, of, says, what = self._parts
        # What stands in many facts.
        nodes = _Known(self.names.node)
        ends = _Known(lambda value: self.term(self._term_of(value)))
        lines = self.lines
        others = []
        for link, value in zip(links, values, strict=True):
            if fact := parts_of(value):
                subject, predicate, end = fact
                lines[link].append(
                    f"{typed}{of}{nodes[subject]} ;\n"
                    f"{says}{nodes[predicate]} ;\n{what}{ends[end]} ;\n"
                )
            else:
                others.append((link, value))
        self._begin_reifiers(others)

    def put_links_behind_facts(self, predicates: Iterable[NamedNode]) -> None:
        """Put what reifies facts behind their lines, as rdf12 has it; the facts have predicates."""
        links, values = self._column(vocab.REIFIES)
        written = list(map(self.names.node, links))
        behind = dict(zip(values, written, strict=True))
        if len(behind) < len(values):
            # Two links of one fact are a fault, and nearly never there.
            behind = _all_of_each(values, written)
        reified = {fact[1] for fact in map(parts_of, behind) if fact}
        for predicate in predicates:
            if str(predicate) in reified:
                column = self._column(predicate)
                self._begun[predicate] = column, self._with_links(predicate, column, behind)
        # Without a fact of its own in the graph a link cannot stand behind it.
        others = [pair for pair in zip(links, values, strict=True) if pair[1] in behind]
        self.reifiers = len(links) - len(others)
        self._begin_reifiers(others)

    def _with_links(
        self, predicate: NamedNode, column: Column, behind: dict[str, str]
    ) -> list[str]:
        """The lines of facts, with the links that are to stand behind them; these are taken."""
        line = self._line(predicate)
        begun = _Known(lambda value: line(value).removesuffix(_CLOSED))
        verb = f" {predicate} "
        lines = []
        for subject, value in zip(*column, strict=True):
            link = behind.pop(f"<<( {subject}{verb}{value} )>>", None)
            end = _CLOSED if link is None else f" ~ {link}{_CLOSED}"
            lines.append(f"{begun[value]}{end}")
        return lines

    def _begin_reifiers(self, others: list[tuple[str, str]]) -> None:
        """Let what reifies no fact have lines as other triples have."""
        column = [link for link, _ in others], [value for _, value in others]
        lines = list(map(self._line(vocab.REIFIES), column[1])) if others else []
        self._begun[vocab.REIFIES] = column, lines

    @cached_property
    def _parts(self) -> tuple[str, str, str, str]:
        typed = f"{_INDENT}a {self.term(vocab.STATEMENT)} ;\n"
        parts = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
        of, says, what = (f"{_INDENT}{self.term(part)} " for part in parts)
        return typed, of, says, what

    # Everything else --------------------------------------------------------------------------

    def add_lines(self, predicate: NamedNode) -> None:
        """Put a line for each triple of a predicate behind those of its subject."""
        if predicate in self._begun:
            (subjects, values), lines = self._begun.pop(predicate)
        else:
            subjects, values = self._column(predicate)
            lines = list(map(_Known(self._line(predicate)).__getitem__, values))
        if len(set(subjects)) < len(subjects):
            subjects, values, lines = _permuted(self._order(values), subjects, values, lines)
        if predicate == vocab.TYPE and self.lines:
            subjects, lines = self._beside_statements(subjects, values, lines)
        # A step of the interpreter's for each of them takes twice as long.
        deque(map(list.append, map(self.lines.__getitem__, subjects), lines), maxlen=0)

    def _line(self, predicate: NamedNode) -> Callable[[str], str]:
        """What makes a line of a value."""
        verb = "a" if predicate == vocab.TYPE else self.term(predicate)
        return lambda value: (
            f"{_INDENT}{verb} {self.term(self._told(self._term_of(value)))}{_CLOSED}"
        )

    def _order(self, values: list[str]) -> list[int]:
        """A subject has its values in their order."""
        told = sorted(set(values), key=lambda value: (self._place(value), value))
        place = dict(zip(told, range(len(told)), strict=True))
        places = list(map(place.__getitem__, values))
        return sorted(range(len(places)), key=places.__getitem__)

    def _place(self, value: str) -> str:
        return str(self._told(self._term_of(value)))

    def _beside_statements(
        self, subjects: list[str], values: list[str], lines: list[str]
    ) -> tuple[list[str], list[str]]:
        """What gives a type to what is no statement; the types of one join its own."""
        is_other = [subject not in self.lines for subject in subjects]
        typed, of, _, _ = self._parts
        for subject, value, line, other in zip(subjects, values, lines, is_other, strict=True):
            if not other:
                own = self.lines[subject]
                before = typed if self._place(value) < str(vocab.STATEMENT) else of
                own[0] = own[0].replace(before, f"{line}{before}", 1)
        return list(compress(subjects, is_other)), list(compress(lines, is_other))

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


def _all_of_each(values: list[str], links: list[str]) -> dict[str, str]:
    """Each value with all its links in their order, as one text."""
    found: dict[str, list[str]] = defaultdict(list)
    for value, link in zip(values, links, strict=True):
        found[value].append(link)
    return {value: " ~ ".join(sorted(own)) for value, own in found.items()}


def _permuted(order: list[int], *lists: list[str]) -> list[list[str]]:
    return [list(map(own.__getitem__, order)) for own in lists]
