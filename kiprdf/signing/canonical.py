"""The canonical form of a dataset: RDF Dataset Canonicalization (RDFC-1.0), with bounded work.

Without blank nodes it is the sorted N-Quads. Blank nodes get labels that depend on nothing but the
dataset; a dataset can be made so that this takes longer than anybody waits (RDFC-1.0, 7.1), so the
steps are counted.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import groupby, permutations
from typing import Any, TypeAlias, cast

from pyoxigraph import DefaultGraph, Literal, Quad, RdfFormat, Triple, parse, serialize

from kiprdf.errors import KipError
from kiprdf.interchange import files
from kiprdf.interchange.formats import Format, graphs, parsing

STEPS = 100_000
"""How many mentions of blank nodes are followed at most, in about a second."""
_MARKS = ("_:", "<<(", '"@')
"""What lines contain that may have blank nodes, triple terms or directions; most have none."""
_Terms: TypeAlias = tuple[str, str, str, str]
"""Subject, predicate, object and graph of a quad in N-Quads; without a graph it is empty."""


def canonical(source: Any, format: Format | None = None) -> str:
    """The canonical N-Quads of a graph or a document (RDFC-1.0), the same for the same RDF.

    ``source`` is a graph or dataset of rdflib, quads of pyoxigraph, or a document: its text, a path
    or an open file. The ``format`` of a document is that of its suffix, or what its text can be
    read as. Language tags are in lower case. Raises KIP_1001 for what is no RDF 1.1, KIP_4002 for
    blank nodes that are too much alike, ``OSError`` for a file that cannot be read.

    >>> canonical("@prefix x: <urn:x:> . [] x:p x:b, 1 .").splitlines()
    ['_:c14n0 <urn:x:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
     '_:c14n0 <urn:x:p> <urn:x:b> .']
    """
    if graphs.is_graph(source):
        quads: Iterable[Quad] = parsing.quads(graphs.to_nquads(source), "nquads")
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        format = format or files.format_of(source)
        content = files.content(source)
        quads = parsing.quads(content, format) if format else _parsed(content)
    elif isinstance(source, Iterable):
        quads = source
    else:
        message = f"A graph or a document is needed, not {type(source).__name__}."
        raise KipError("KIP_1001", message, "Give a graph, quads, a text or a path.")
    try:
        lines = canonical_lines(quads)
    except TypeError:
        raise KipError("KIP_1001", "Not all that is given are quads.", "Give quads.") from None
    return "".join([f"{line}\n" for line in lines])


def _parsed(content: str | bytes) -> list[Quad]:
    """The quads of a document of unknown format."""
    beginning = content[:1000].lstrip()
    text = beginning if isinstance(beginning, str) else beginning.decode("utf-8", "replace")
    if text.startswith(("<?xml", "<rdf:RDF")):
        return list(parsing.quads(content, "rdfxml"))
    formats: tuple[Format, ...] = ("nquads", "jsonld") if text[:1] in "{[" else ("nquads",)
    for format in formats:
        with suppress(KipError):
            return list(parsing.quads(content, format))
    return list(parsing.quads(content, "trig"))


def canonical_lines(quads: Iterable[Quad]) -> list[str]:
    """The canonical N-Quads of a dataset as sorted lines, without their line breaks.

    Raises KIP_1001 for triple terms and strings with a direction, which RDFC-1.0 does not have,
    KIP_4002 for blank nodes that are so much alike that comparing them takes too many steps.

    >>> from pyoxigraph import BlankNode, NamedNode
    >>> a, b = BlankNode("a"), NamedNode("urn:b")
    >>> canonical_lines([Quad(a, b, Literal("x")), Quad(b, b, a)])
    ['<urn:b> <urn:b> _:c14n0 .', '_:c14n0 <urn:b> "x" .']
    """
    text = cast(bytes, serialize(quads, format=RdfFormat.N_QUADS)).decode()
    lines = ordered(text.split("\n")[:-1])
    if not any(mark in text for mark in _MARKS):
        return lines
    plain: list[str] = []
    others: list[str] = []
    for line in lines:
        (others if any(mark in line for mark in _MARKS) else plain).append(line)
    blank: list[_Terms] = []
    for line, quad in zip(others, parse("\n".join(others), format=RdfFormat.N_QUADS), strict=True):
        terms = _terms(quad)
        if any(term.startswith("_:") for term in terms):
            blank.append(terms)
        else:
            plain.append(line)
    labels = _Labels(blank).canonical()
    return sorted([*plain, *(_line(terms, labels) for terms in blank)])


def ordered(lines: Iterable[str]) -> list[str]:
    """Lines sorted, each once; mostly they are nearly sorted, which is faster than to hash them."""
    return [line for line, _ in groupby(sorted(lines))]


def _terms(quad: Quad) -> _Terms:
    """The terms of a quad; KIP_1001 for a term that RDF 1.1 does not have."""
    value = quad.object
    if isinstance(value, Triple) or (isinstance(value, Literal) and value.direction):
        kind = "triple term" if isinstance(value, Triple) else "string with a direction"
        message = f"{quad.subject} {quad.predicate} has a {kind}, which RDFC-1.0 does not have."
        raise KipError("KIP_1001", message, 'Write it in the profile "rdf11".')
    graph = "" if isinstance(quad.graph_name, DefaultGraph) else str(quad.graph_name)
    return str(quad.subject), str(quad.predicate), str(value), graph


def _line(terms: _Terms, labels: Mapping[str, str]) -> str:
    """A quad with other labels of its blank nodes."""
    return " ".join([*(labels.get(term, term) for term in terms if term), "."])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class _Issuer(dict[str, str]):
    """The identifiers that were issued for blank nodes, in order (RDFC-1.0, 4.5)."""

    def __init__(self, prefix: str, issued: Mapping[str, str] | None = None) -> None:
        super().__init__(issued or {})
        self._prefix = prefix

    def issue(self, node: str) -> str:
        return self.setdefault(node, f"{self._prefix}{len(self)}")

    def copy(self) -> _Issuer:
        return _Issuer(self._prefix, self)


class _Labels:
    """The canonical labels of the blank nodes of quads (RDFC-1.0, 4.4)."""

    def __init__(self, quads: Iterable[_Terms]) -> None:
        self._quads: dict[str, list[_Terms]] = defaultdict(list)
        """The quads that mention a blank node."""
        for quad in sorted(quads):
            for node in {term for term in quad if term.startswith("_:")}:
                self._quads[node].append(quad)
        self._issuer = _Issuer("_:c14n")
        self._steps = 0
        self._first = {node: self._first_degree(node) for node in self._quads}

    def canonical(self) -> dict[str, str]:
        """The label of each blank node."""
        alike: dict[str, list[str]] = defaultdict(list)
        for node, digest in self._first.items():
            alike[digest].append(node)
        groups = [alike[digest] for digest in sorted(alike)]
        for nodes in groups:
            if len(nodes) == 1:
                self._issuer.issue(nodes[0])
        try:
            for nodes in groups:
                self._distinguish(nodes)
        except RecursionError:
            raise self._too_much() from None
        return self._issuer

    def _distinguish(self, nodes: list[str]) -> None:
        """Label nodes of one first-degree hash by all that they are connected with."""
        results = []
        for node in nodes:
            if node not in self._issuer:
                issuer = _Issuer("_:b")
                issuer.issue(node)
                results.append(self._n_degree(node, issuer))
        for _, issued in sorted(results, key=lambda result: result[0]):
            for node in issued:
                self._issuer.issue(node)

    def _first_degree(self, node: str) -> str:
        """Hash First Degree Quads (RDFC-1.0, 4.6)."""
        marked = (
            _line(quad, {t: "_:a" if t == node else "_:z" for t in quad if t.startswith("_:")})
            for quad in self._quads[node]
        )
        return _digest("".join(f"{line}\n" for line in sorted(marked)))

    def _related(self, node: str, quad: _Terms, issuer: _Issuer, position: str) -> str:
        """Hash Related Blank Node (RDFC-1.0, 4.7)."""
        identifier = self._issuer.get(node) or issuer.get(node) or self._first[node]
        return _digest(position + (quad[1] if position != "g" else "") + identifier)

    def _n_degree(self, node: str, issuer: _Issuer) -> tuple[str, _Issuer]:
        """Hash N-Degree Quads (RDFC-1.0, 4.8)."""
        related: dict[str, list[str]] = defaultdict(list)
        for quad in self._quads[node]:
            self._step()
            for position, term in zip("spog", quad, strict=True):
                if term.startswith("_:") and term != node:
                    related[self._related(term, quad, issuer, position)].append(term)
        data = ""
        for digest in sorted(related):
            chosen: tuple[str, _Issuer] | None = None
            for order in permutations(related[digest]):
                # A single order needs no copy of what was issued before.
                issued = issuer if len(order) == 1 else self._copied(issuer)
                path = self._path(order, issued, chosen and chosen[0])
                if path is not None and (chosen is None or path[0] < chosen[0]):
                    chosen = path
            assert chosen is not None
            data += digest + chosen[0]
            issuer = chosen[1]
        return _digest(data), issuer

    def _path(
        self, order: tuple[str, ...], issuer: _Issuer, shortest: str | None
    ) -> tuple[str, _Issuer] | None:
        """The path along related nodes in an order; None if it is longer than another one."""
        path = ""
        unlabelled = []
        for node in order:
            self._step()
            if node in self._issuer:
                path += self._issuer[node]
            else:
                if node not in issuer:
                    unlabelled.append(node)
                path += issuer.issue(node)
            if _is_worse(path, shortest):
                return None
        for node in unlabelled:
            digest, issued = self._n_degree(node, issuer)
            path += f"{issuer.issue(node)}<{digest}>"
            issuer = issued
            if _is_worse(path, shortest):
                return None
        return path, issuer

    def _copied(self, issuer: _Issuer) -> _Issuer:
        self._step(len(issuer) // 32)
        return issuer.copy()

    def _step(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > STEPS:
            raise self._too_much()

    def _too_much(self) -> KipError:
        message = f"The {len(self._quads)} blank nodes are too much alike to be distinguished."
        return KipError("KIP_4002", message, "Give them IRIs.")


def _is_worse(path: str, shortest: str | None) -> bool:
    return shortest is not None and len(path) >= len(shortest) and path > shortest
