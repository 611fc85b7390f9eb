"""A temporary store of triples that are not checked yet, and triples as lines of N-Triples.

The engine writes N-Triples faster than Python creates term objects, and strings are faster to
compare and to sort. So snapshots are written, and datasets checked, from this text.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    serialize,
)
from pyoxigraph import Store as Engine

from kiprdf.budget import check, paced
from kiprdf.rdf.literals import DIRECTIONS

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple


class StagingStore:
    """The triples in the default graph of an engine.

    >>> a, b = NamedNode("urn:a"), NamedNode("urn:b")
    >>> store = StagingStore.of(Quad(a, b, Literal(value)) for value in ("x", "x", "y"))
    >>> sorted(triple.object.value for triple in store)
    ['x', 'y']
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def of(cls, quads: Iterable[Quad]) -> StagingStore:
        """Quads of the default graph in a new engine."""
        engine = Engine()
        engine.extend(paced(quads))
        return cls(engine)

    def __iter__(self) -> Iterator[Triple]:
        """The triples as the engine holds them, doubles in its own form."""
        quads = self.engine.quads_for_pattern(None, None, None, DefaultGraph())
        return (quad.triple for quad in quads)


# Lines ----------------------------------------------------------------------------------------


_FORMAT = RdfFormat.N_TRIPLES


def read(triples: StagingStore | Iterable[Triple], receive: Callable[[list[str]], object]) -> None:
    """Call a function with the line of each triple, without its final ``.``.

    >>> a = NamedNode("urn:a")
    >>> read([Triple(a, a, a), Triple(a, a, Literal("x"))], print)
    ['<urn:a> <urn:a> <urn:a>', '<urn:a> <urn:a> "x"']
    """
    lines: Any = _Lines(receive)
    if isinstance(triples, StagingStore):
        triples.engine.dump(lines, _FORMAT, from_graph=DefaultGraph())
    else:
        serialize(triples, lines, _FORMAT)


class _Lines(io.RawIOBase):
    """A binary file that passes each written line to a function."""

    def __init__(self, receive: Callable[[list[str]], object]) -> None:
        self._receive = receive
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        check()
        lines, line_break, rest = data.rpartition(b"\n")
        if line_break:
            text = b"".join([*self._pieces, lines]).decode()
            self._pieces = [rest]
            # No term holds a line break: N-Triples escapes them.
            self._receive(text.removesuffix(" .").split(" .\n"))
        else:
            self._pieces.append(rest)
        return len(data)


def parts(text: str) -> list[str]:
    """Subject, predicate and object of a triple term.

    >>> parts("<<( <urn:a> <urn:b> <urn:c> )>>")
    ['<urn:a>', '<urn:b>', '<urn:c>']
    """
    return text[4:-4].split(" ", 2)


def term(text: str) -> Term:
    """The term of a text.

    >>> term('"Schmerz"@de')
    <Literal value=Schmerz language=de>
    """
    if text.startswith("<<("):
        terms: Any = map(term, parts(text))
        return Triple(*terms)
    if text.startswith("<"):
        return NamedNode(text[1:-1])
    return literal(text) if text.startswith('"') else BlankNode(text[2:])


def literal(text: str) -> Literal:
    """The literal of a text."""
    quoted, _, suffix = text.rpartition('"')
    # The engine escapes as JSON does.
    value = json.loads(f'{quoted}"')
    if suffix.startswith("@"):
        language, _, direction = suffix[1:].partition("--")
        return Literal(value, language=language, direction=DIRECTIONS.get(direction))
    return Literal(value, datatype=NamedNode(suffix[3:-1])) if suffix else Literal(value)
