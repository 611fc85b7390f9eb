"""A dataset in an engine of its own, where it is judged before it is anybody's.

What is asked of all triples is asked of the engine: to look at each in Python takes several times
as long as to parse and store them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    Triple,
    Variable,
)
from pyoxigraph import Store as Engine

from kiprdf.rdf import vocab
from kiprdf.rdf.literals import normal
from kiprdf.sparql import algebra
from kiprdf.sparql.text import COUNTS, render

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple
Statement = TypeVar("Statement", Triple, Quad)

_DEFAULT = DefaultGraph()
_ANY = (Variable("subject"), Variable("predicate"), Variable("object"))


class Columns(Protocol):
    """Triples that are read predicate by predicate."""

    def predicates(self) -> list[NamedNode]:
        """What is said."""

    def column(self, predicate: NamedNode) -> Iterable[Triple | Quad]:
        """The triples of a predicate, as they are spelled where they come from."""

    def is_repeated(self, predicate: NamedNode) -> bool:
        """Whether a subject has several triples of a predicate."""

    def named(self) -> Iterable[str]:
        """The IRIs of the subjects, those of propositions perhaps left out."""

    def __contains__(self, triple: Triple) -> bool: ...


class Counts(NamedTuple):
    """How many triples a predicate has, and how many subjects."""

    triples: int
    subjects: int


class Staged:
    """The triples in the default graph of an engine.

    >>> a, b = NamedNode("urn:a"), NamedNode("urn:b")
    >>> staged = Staged.of(Quad(a, b, Literal(value)) for value in ("x", "x", "y"))
    >>> staged.counts()
    {<NamedNode value=urn:b>: Counts(triples=2, subjects=1)}
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._counts: dict[NamedNode, Counts] | None = None
        self._objects: dict[NamedNode, list[Term]] = {}

    @classmethod
    def of(cls, quads: Iterable[Quad]) -> Staged:
        """Quads of the default graph in a new engine; it keeps none when they raise."""
        engine = Engine()
        engine.extend(quads)
        return cls(engine)

    def __iter__(self) -> Iterator[Triple]:
        """The triples, their literals in our spelling; the engine has its own for doubles."""
        for triple in self.match(None, None):
            value = triple.object
            if isinstance(value, Literal) and (known := normal(value)) is not value:
                yield Triple(triple.subject, triple.predicate, known)
            else:
                yield triple

    def __len__(self) -> int:
        return sum(count.triples for count in self.counts().values())

    def __contains__(self, triple: Triple) -> bool:
        return Quad(*triple) in self.engine

    def match(self, subject: Node | None, predicate: NamedNode | None) -> Iterator[Triple]:
        """The triples of a subject or a predicate, as the engine spells them."""
        found = self.engine.quads_for_pattern(subject, predicate, None, _DEFAULT)
        return (quad.triple for quad in found)

    def counts(self) -> dict[NamedNode, Counts]:
        """Every predicate."""
        if self._counts is None:
            rows = cast(Any, self.engine.query(COUNTS))
            self._counts = {name: Counts(int(n.value), int(own.value)) for name, n, own in rows}
        return self._counts

    def predicates(self) -> list[NamedNode]:
        return list(self.counts())

    def column(self, predicate: NamedNode) -> Iterable[Triple | Quad]:
        return self.engine.quads_for_pattern(None, predicate, None, _DEFAULT)

    def is_repeated(self, predicate: NamedNode) -> bool:
        counts = self.counts()[predicate]
        return counts.subjects < counts.triples

    def named(self) -> Iterable[str]:
        return (cast(NamedNode, triple.subject).value for triple in self.match(None, vocab.TYPE))

    def subject_texts(self) -> list[str]:
        """What there is a triple of, in SPARQL: a text is written faster than a term is made."""
        return self._lines(_ANY[:1], None)

    def lines(self, predicate: NamedNode) -> list[str]:
        """The subject and the object of each triple of a predicate in SPARQL, with a tab between.

        A tab or a line end in a string is escaped there, as are quotes.
        """
        return self._lines((_ANY[0], _ANY[2]), predicate)

    def _lines(self, variables: tuple[Variable, ...], predicate: NamedNode | None) -> list[str]:
        query = _select(variables, predicate, distinct=len(variables) == 1)
        written = cast(Any, self.engine.query(query)).serialize(format=QueryResultsFormat.TSV)
        return cast(bytes, written).decode().split("\n")[1:-1]

    def objects(self, predicate: NamedNode) -> list[Term]:
        """The values under a predicate, each once."""
        if predicate not in self._objects:
            query = _select(_ANY[2:], predicate, distinct=True)
            self._objects[predicate] = [row[0] for row in cast(Any, self.engine.query(query))]
        return self._objects[predicate]

    def change_objects(self, predicate: NamedNode, told: Callable[[Term], Term]) -> None:
        """Put what a function makes of the values of a predicate in their place."""
        for value in self.objects(predicate):
            other = told(value)
            if other is value or other == value:
                continue
            old = list(self.engine.quads_for_pattern(None, predicate, cast(Any, value), _DEFAULT))
            self.engine.extend(Quad(quad.subject, predicate, other) for quad in old)
            for quad in old:
                self.engine.remove(quad)
            self._counts = None
            self._objects.pop(predicate, None)


def _select(variables: tuple[Variable, ...], predicate: NamedNode | None, *, distinct: bool) -> str:
    """A query for parts of all triples, or of those of a predicate."""
    subject, any_predicate, object_ = _ANY
    pattern = algebra.TriplePattern(subject, predicate or any_predicate, object_)
    return render(algebra.Select(variables, algebra.BGP((pattern,)), distinct=distinct))


class Listed:
    """Triples that are in no engine, which would put some literals into its own spelling."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._lists: dict[NamedNode, list[Triple]] = defaultdict(list)
        for triple in triples:
            self._lists[triple.predicate].append(triple)

    def predicates(self) -> list[NamedNode]:
        return list(self._lists)

    def column(self, predicate: NamedNode) -> list[Triple]:
        return self._lists[predicate]

    def is_repeated(self, predicate: NamedNode) -> bool:
        triples = self._lists[predicate]
        return len({triple.subject for triple in triples}) < len(triples)

    def named(self) -> Iterable[str]:
        every = (triple for triples in self._lists.values() for triple in triples)
        return {cast(NamedNode, triple.subject).value for triple in every}

    def __contains__(self, triple: Triple) -> bool:
        return triple in self._sets[triple.predicate]

    @cached_property
    def _sets(self) -> dict[NamedNode, set[Triple]]:
        return defaultdict(set, {name: set(triples) for name, triples in self._lists.items()})


def triple_of(statement: Triple | Quad) -> Triple:
    """The triple of a quad."""
    return statement.triple if isinstance(statement, Quad) else statement
