"""The texts, numbers and booleans in arrays, tagged texts and typed values, as quads of a graph.

A FILTER that asks for one of them finds it there by index (docs/decisions/050). They are derived
data: every write changes them together with the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Variable
from pyoxigraph import Store as Engine

from kiprdf.rdf import vocab
from kiprdf.rdf.literals import normal
from kiprdf.rdf.readings import PLAIN, held
from kiprdf.sparql.algebra import BGP, Call, Filter, In, Negation, Select, TriplePattern
from kiprdf.sparql.text import render
from kiprdf.store.delta import Written

Text: TypeAlias = tuple[NamedNode, NamedNode, Literal | NamedNode, NamedNode]
"""A quad, as its four terms."""
_NAMES = Variable("s"), Variable("p"), Variable("o")
_IS_PLAIN = In(Call("DATATYPE", (_NAMES[2],)), tuple(sorted(PLAIN, key=str)))
_OTHER_VALUES = render(
    Select(_NAMES, Filter(BGP((TriplePattern(*_NAMES),)), Negation(_IS_PLAIN)), distinct=False)
)


def texts_of(triples: Iterable[Written]) -> list[Text]:
    """The quads of what the objects of some triples hold."""
    # Nearly all values are plain: they are tested here, since a call would cost more than the test.
    return [
        (subject, predicate, item, vocab.TEXTS)
        for subject, predicate, value in triples
        if isinstance(value, Literal) and value.datatype not in PLAIN
        for item in held(value)
    ]


def texts_in(engine: Engine) -> Iterator[Quad]:
    """Those of all values in the default graph."""
    rows = cast(QuerySolutions, engine.query(_OTHER_VALUES))
    return starmap(Quad, texts_of(cast(Any, map(tuple, rows))))


def stored_texts(engine: Engine) -> Iterator[Quad]:
    """Those that are stored."""
    for subject, predicate, item, graph in engine.quads_for_pattern(None, None, None, vocab.TEXTS):
        yield Quad(subject, predicate, normal(cast(Literal | NamedNode, item)), graph)


def rebuild_texts(engine: Engine) -> None:
    """Write the texts of all values again."""
    engine.remove_graph(vocab.TEXTS)
    engine.extend(texts_in(engine))
