"""A dataset in an engine of its own, where it is judged before it is anybody's.

What is asked of all triples is asked of the engine: to look at each in Python takes several times
as long as to parse and store them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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

from kiprdf.budget import check, paced
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, normal
from kiprdf.sparql import algebra
from kiprdf.sparql.text import COUNTS, render

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple
Statement = TypeVar("Statement", Triple, Quad)

_DEFAULT = DefaultGraph()
_ANY = (Variable("subject"), Variable("predicate"), Variable("object"))


Column: TypeAlias = tuple[list[str], list[str]]
"""The subjects of the triples of a predicate and their objects, in SPARQL."""


class Columns(Protocol):
    """Triples that are read predicate by predicate."""

    def predicates(self) -> list[NamedNode]:
        """What is said."""

    def column(self, predicate: NamedNode) -> Column:
        """The triples of a predicate."""

    def term(self, text: str) -> Term:
        """The term of a text, as it is spelled where it comes from."""

    def named(self) -> Iterable[str]:
        """The IRIs of the subjects, those of propositions perhaps left out."""


class Counts(NamedTuple):
    """How many triples a predicate has, and how many subjects."""

    triples: int
    subjects: int


class StagingStore:
    """The triples in the default graph of an engine.

    >>> a, b = NamedNode("urn:a"), NamedNode("urn:b")
    >>> staged = StagingStore.of(Quad(a, b, Literal(value)) for value in ("x", "x", "y"))
    >>> staged.counts()
    {<NamedNode value=urn:b>: Counts(triples=2, subjects=1)}
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._counts: dict[NamedNode, Counts] | None = None
        self._objects: dict[NamedNode, list[Term]] = {}

    @classmethod
    def of(cls, quads: Iterable[Quad]) -> StagingStore:
        """Quads of the default graph in a new engine; it keeps none when they raise."""
        engine = Engine()
        engine.extend(paced(quads))
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
        return (quad.triple for quad in paced(found))

    def counts(self) -> dict[NamedNode, Counts]:
        """Every predicate."""
        check()
        if self._counts is None:
            rows = cast(Any, self.engine.query(COUNTS))
            self._counts = {name: Counts(int(n.value), int(own.value)) for name, n, own in rows}
        return self._counts

    def predicates(self) -> list[NamedNode]:
        table = self._table(_ANY[1:2], None, distinct=True)
        return [NamedNode(text[1:-1]) for text in table.decode().split("\n")[1:-1]]

    def column(self, predicate: NamedNode) -> Column:
        return _split(self._table(_ANY[::2], predicate, distinct=False))

    def term(self, text: str) -> Term:
        return term_of(text)

    def is_repeated(self, predicate: NamedNode) -> bool:
        """Whether a subject has several triples of a predicate."""
        counts = self.counts()[predicate]
        return counts.subjects < counts.triples

    def named(self) -> Iterable[str]:
        return (cast(NamedNode, triple.subject).value for triple in self.match(None, vocab.TYPE))

    def subject_texts(self) -> list[str]:
        """What there is a triple of, in SPARQL: a text is written faster than a term is made."""
        return self._lines(None)

    def lines(self, predicate: NamedNode) -> list[str]:
        """The subject and the object of each triple of a predicate in SPARQL, with a tab between.

        A tab or a line end in a string is escaped there, as are quotes.
        """
        return self._lines(predicate)

    def _lines(self, what: NamedNode | None) -> list[str]:
        """The triples of a predicate, or all subjects, a line each."""
        variables = _ANY[:1] if what is None else _ANY[::2]
        return self._table(variables, what, distinct=what is None).decode().split("\n")[1:-1]

    def _table(
        self, variables: tuple[Variable, ...], predicate: NamedNode | None, *, distinct: bool
    ) -> bytes:
        """The answer to a query as a text, a row a line behind the names of the columns."""
        found = self.engine.query(_select(variables, predicate, distinct=distinct))
        return cast(bytes, cast(Any, found).serialize(format=QueryResultsFormat.TSV))

    def objects(self, predicate: NamedNode) -> list[Term]:
        """The values under a predicate, each once."""
        if predicate not in self._objects:
            query = _select(_ANY[2:], predicate, distinct=True)
            self._objects[predicate] = [row[0] for row in cast(Any, self.engine.query(query))]
        return self._objects[predicate]

    def change_objects(self, predicate: NamedNode, told: Callable[[Term], Term]) -> None:
        """Put what a function makes of the values of a predicate in their place."""
        for value in paced(self.objects(predicate)):
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


def _split(table: bytes) -> Column:
    # To split once is faster than line by line; neither part holds a tab or a line end.
    cells = table.decode().replace("\n", "\t").split("\t")
    return cells[2:-1:2], cells[3:-1:2]


class Listed:
    """Triples that are in no engine, which would put some literals into its own spelling."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._terms: dict[str, Term] = {}
        """The values of the column that was read last, which need not be read from their texts."""
        self._lists: dict[NamedNode, list[Triple]] = defaultdict(list)
        for triple in paced(triples):
            self._lists[triple.predicate].append(triple)

    def predicates(self) -> list[NamedNode]:
        return list(self._lists)

    def column(self, predicate: NamedNode) -> Column:
        triples = self._lists[predicate]
        # Once for each value: many triples may share a long one.
        texts = {value: text_of(value) for value in {triple.object for triple in triples}}
        self._terms = {text: value for value, text in texts.items()}
        subjects = [str(triple.subject) for triple in paced(triples)]
        return subjects, [texts[t.object] for t in triples]

    def term(self, text: str) -> Term:
        return self._terms.get(text) or term_of(text)

    def named(self) -> Iterable[str]:
        every = (triple for triples in self._lists.values() for triple in triples)
        return {cast(NamedNode, triple.subject).value for triple in every}


# Texts ----------------------------------------------------------------------------------------


def text_of(term: Term) -> str:
    """A term in SPARQL, from which ``term_of`` makes the same."""
    return f"<<( {' '.join(map(text_of, term))} )>>" if isinstance(term, Triple) else str(term)


def node_of(text: str) -> Node:
    """An IRI or a blank node in SPARQL."""
    return NamedNode(text[1:-1]) if text[0] == "<" else BlankNode(text[2:])


def parts_of(text: str) -> tuple[str, str, str] | None:
    """The parts of a triple term in SPARQL; None for other terms."""
    if not text.startswith("<<("):
        return None
    # Neither of the first two has a space in it.
    subject, predicate, value = text[4:-4].split(" ", 2)
    return subject, predicate, value


def term_of(text: str) -> Term:
    """A term as it stands in a table of SPARQL (SPARQL 1.2 TSV).

    >>> term_of('"say \\\\"x\\\\""@en')
    <Literal value=say "x" language=en>
    """
    if parts := parts_of(text):
        subject, predicate, value = parts
        return Triple(node_of(subject), NamedNode(predicate[1:-1]), term_of(value))
    if text.startswith(("<", "_:")):
        return node_of(text)
    end = text.rfind('"') + 1
    if end == 0:
        return Literal(text, datatype=_datatype_of(text))
    # The escapes are some of those of JSON, and what else there is stands for itself.
    value, behind = json.loads(text[:end], strict=False), text[end:]
    if not behind:
        return Literal(value)
    if behind.startswith("^^"):
        return Literal(value, datatype=NamedNode(behind[3:-1]))
    language, _, direction = behind[1:].partition("--")
    return Literal(value, language=language, direction=DIRECTIONS.get(direction))


def _datatype_of(text: str) -> NamedNode:
    """What a literal without quotes is."""
    if text in ("true", "false"):
        return vocab.BOOLEAN
    if "e" in text or "E" in text:
        return vocab.DOUBLE
    return NamedNode(f"{vocab.XSD}decimal") if "." in text else vocab.INTEGER
