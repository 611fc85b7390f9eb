"""Converts between the two profiles: RDF 1.2 as in the store, RDF 1.1 for all tools.

======================  =======================  ================================================
thing                   ``rdf12``                ``rdf11``
======================  =======================  ================================================
proposition             ``rdf:reifies``          an ``rdf:Statement`` of the same IRI
string with direction   ``"x"@ar--rtl``          ``"x"^^i18n:ar_rtl`` (JSON-LD 1.1, 10.2)
literal of ``i18n:…``   its JSON, in both, to distinguish it from the above
======================  =======================  ================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.formats import Profile
from kiprdf.interchange.formats.ordering import Memo
from kiprdf.interchange.n_triples import Node, StagingStore, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import read_value, written
from kiprdf.rdf.literals import normal
from kiprdf.rdf.reification import from_rdf11, to_rdf11

_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
_STATEMENT_PREDICATES = frozenset((vocab.TYPE, *_PARTS))
_REIFIES, _STATEMENT = str(vocab.REIFIES), str(vocab.STATEMENT)
_STATEMENT_TEXTS = tuple(map(str, (vocab.TYPE, *_PARTS)))


# Out ------------------------------------------------------------------------------------------


def to_profile(
    triples: Iterable[Triple], profile: Profile, *, directions: bool = False
) -> Iterator[Triple]:
    """The triples of a dataset in a profile; ``from_profile`` is the inverse.

    With ``directions`` strings with a direction are kept even in ``rdf11``.
    """
    directions = directions or profile == "rdf12"
    for triple in triples:
        value = triple.object
        if isinstance(value, Literal):
            yield _with_object(triple, value, written(value, directions))
        elif profile == "rdf11" and isinstance(value, Triple) and triple.predicate == vocab.REIFIES:
            yield from to_rdf11(cast(Node, triple.subject), value)
        else:
            yield triple


def to_text(text: str, *, directions: bool) -> str:
    """An object of a dataset as a profile writes it, its literals as KIP writes them.

    Both are N-Triples.
    """
    # Most objects are IRIs and plain strings, which stay as they are.
    if not text.startswith('"') or text.endswith('"'):
        return text
    value = normal(n_triples.literal(text))
    return str(written(value, directions) if isinstance(value, Literal) else value)


def to_lines(triples: StagingStore | Iterable[Triple]) -> list[str]:
    """The N-Triples of a dataset in the profile ``rdf11``, in any order.

    >>> [link, a, b] = map(NamedNode, ("urn:l", "urn:a", "urn:b"))
    >>> to_lines([Triple(link, vocab.REIFIES, Triple(a, b, a))])[1:3]
    ['<urn:l> <http://www.w3.org/1999/02/22-rdf-syntax-ns#subject> <urn:a> .',
     '<urn:l> <http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate> <urn:b> .']
    """
    lines: list[str] = []
    objects = Memo(partial(to_text, directions=False))

    def add(given: list[str]) -> None:
        for line in given:
            if line[-1] == '"' or (line[-1] == ">" and '"^^<' not in line and line[-2] != ">"):
                lines.append(f"{line} .")
                continue
            subject, predicate, value = line.split(" ", 2)
            if predicate == _REIFIES and value.startswith("<<("):
                parts = (_STATEMENT, *n_triples.parts(value))
                for name, part in zip(_STATEMENT_TEXTS, parts, strict=True):
                    lines.append(f"{subject} {name} {part} .")
            else:
                lines.append(f"{subject} {predicate} {objects[value]} .")

    n_triples.read(triples, add)
    return lines


# In -------------------------------------------------------------------------------------------


def from_profile(quads: Iterable[Quad]) -> Iterator[Quad]:
    """The quads of a dataset as the store holds them, written in either profile.

    Raises KIP_2002 for an ``rdf:Statement`` that does not stand for one fact.
    """
    for quad in _reified(quads):
        value = quad.object
        if isinstance(value, Literal) and (new := read_value(value)) is not value:
            yield Quad(quad.subject, quad.predicate, new)
        else:
            yield quad


def returned(triple: Triple) -> Triple:
    """A triple that is not part of a statement, as it is read back from either profile.

    >>> text = Triple(vocab.NULL, vocab.LABEL, Literal('"x"', datatype=vocab.JSON))
    >>> returned(text).object
    <Literal value=x datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#string>>
    """
    value = triple.object
    if not isinstance(value, Literal):
        return triple
    return _with_object(triple, value, read_value(written(value, directions=True)))


def _with_object(triple: Triple, old: Literal, new: Literal | NamedNode) -> Triple:
    return triple if new is old else Triple(triple.subject, triple.predicate, new)


def _reified(quads: Iterable[Quad]) -> Iterator[Quad]:
    """The quads, those of each ``rdf:Statement`` replaced by one reifying quad.

    A statement is complete when all four of its quads have come; in our own files they follow
    each other. Raises KIP_2002 as ``from_profile`` does.
    """
    pending: dict[Node, dict[NamedNode, Term]] = {}
    complete: dict[Node, Triple] = {}
    repeated: list[Quad] = []
    for quad in paced(quads):
        predicate = quad.predicate
        if predicate not in _STATEMENT_PREDICATES:
            yield quad
            continue
        value: Any = quad.object
        if predicate == vocab.TYPE and value != vocab.STATEMENT:
            yield quad
            continue
        link: Any = quad.subject
        if link in complete:
            repeated.append(quad)
            continue
        parts = pending.setdefault(link, {})
        if parts.setdefault(predicate, value) != value:
            repeated.append(quad)
        elif len(parts) == len(_STATEMENT_PREDICATES):
            complete[link] = _reifying(link, pending.pop(link))
            yield Quad(*complete[link])
    for link, parts in pending.items():
        if vocab.TYPE in parts:
            raise _no_fact(link)
        yield from (Quad(link, predicate, value) for predicate, value in parts.items())
    for quad in repeated:
        reifying = complete.get(cast(Node, quad.subject))
        if reifying is None:
            yield quad
        elif not _is_part(quad, cast(Triple, reifying.object)):
            raise _no_fact(quad.subject)


def _reifying(link: Node, parts: dict[NamedNode, Term]) -> Triple:
    """The reifying triple of a statement that has all its parts."""
    for node in (link, *parts.values()):
        if not isinstance(node, NamedNode):
            raise _no_fact(link)
    return from_rdf11(cast(NamedNode, link), cast("dict[NamedNode, NamedNode]", parts))


def _is_part(quad: Quad, fact: Triple) -> bool:
    """Whether a quad of a statement repeats what is known of its fact."""
    parts = dict(zip(_PARTS, fact, strict=True))
    return quad.predicate == vocab.TYPE or parts[quad.predicate] == quad.object


def _no_fact(link: Any) -> KipError:
    message = f"{link} has not exactly one rdf:subject, rdf:predicate and rdf:object."
    return KipError("KIP_2002", message, "Give each rdf:Statement one of each, as IRIs.")
