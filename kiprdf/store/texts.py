"""The texts in arrays, tagged texts and typed values, as quads of a separate graph.

A FILTER that asks for a text finds it there by index (docs/decisions/050). They are derived data:
every write changes them together with the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Variable
from pyoxigraph import Store as Engine

from kiprdf.rdf import vocab
from kiprdf.rdf.readings import PLAIN, hidden_texts
from kiprdf.sparql.algebra import BGP, Call, Filter, In, Negation, Select, TriplePattern
from kiprdf.sparql.text import render
from kiprdf.store.delta import Written

Text: TypeAlias = tuple[NamedNode, NamedNode, Literal, NamedNode]
"""A quad, as its four terms."""
_NAMES = Variable("s"), Variable("p"), Variable("o")
_IS_PLAIN = In(Call("DATATYPE", (_NAMES[2],)), tuple(sorted(PLAIN, key=str)))
_OTHER_VALUES = render(
    Select(_NAMES, Filter(BGP((TriplePattern(*_NAMES),)), Negation(_IS_PLAIN)), distinct=False)
)


def texts_of(triples: Iterable[Written]) -> list[Text]:
    """The quads of the texts that the objects of some triples hold."""
    # Nearly all values are plain: they are tested here, since a call would cost more than the test.
    return [
        (subject, predicate, Literal(text), vocab.TEXTS)
        for subject, predicate, value in triples
        if isinstance(value, Literal) and value.datatype not in PLAIN
        for text in hidden_texts(value)
    ]


def texts_in(engine: Engine) -> Iterator[Quad]:
    """Those of all values in the default graph."""
    rows = cast(QuerySolutions, engine.query(_OTHER_VALUES))
    return starmap(Quad, texts_of(cast(Any, map(tuple, rows))))


def stored_texts(engine: Engine) -> Iterator[Quad]:
    """Those that are stored."""
    return iter(engine.quads_for_pattern(None, None, None, vocab.TEXTS))


def rebuild_texts(engine: Engine) -> None:
    """Write the texts of all values again."""
    engine.remove_graph(vocab.TEXTS)
    engine.extend(texts_in(engine))
