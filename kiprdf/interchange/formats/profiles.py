"""The two profiles of a dataset: RDF 1.2 as the store holds it, RDF 1.1 for every tool.

======================  =======================  ================================================
thing                   ``rdf12``                ``rdf11``
======================  =======================  ================================================
proposition             ``rdf:reifies``          an ``rdf:Statement`` of the same IRI
string with direction   ``"x"@ar--rtl``          ``"x"^^i18n:ar_rtl`` (JSON-LD 1.1, 10.2)
literal of ``i18n:…``   its JSON, in both, since otherwise it could not be told from the above
======================  =======================  ================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal as OneOf
from typing import TypeAlias, cast, get_args

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, canonical_json, to_json, to_term
from kiprdf.rdf.reification import from_rdf11, to_rdf11

Profile: TypeAlias = OneOf["rdf11", "rdf12"]
Node: TypeAlias = NamedNode | BlankNode

_I18N = "https://www.w3.org/ns/i18n#"
_DIRECTED = re.compile(re.escape(_I18N) + r"([a-z]{1,8}(?:-[a-z0-9]{1,8})*)_(ltr|rtl)")
_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)


def check_profile(profile: str) -> None:
    """Raise KIP_1001 for anything but ``rdf11`` and ``rdf12``."""
    if profile not in get_args(Profile):
        message = f"There is no Turtle profile {profile!r}."
        raise KipError("KIP_1001", message, 'The profiles are "rdf11" and "rdf12".')


def direction(literal: Literal) -> str:
    """``ltr`` or ``rtl``, of a literal that has a direction."""
    return str(literal.direction).rsplit(".", maxsplit=1)[-1].lower()


def as_json(literal: Literal) -> Literal:
    """A literal as the text of its JSON value, from which ``from_profile`` makes it again."""
    return Literal(canonical_json(to_json(literal)), datatype=vocab.JSON)


# Out ------------------------------------------------------------------------------------------


def to_profile(
    triples: Iterable[Triple], profile: Profile, *, directions: bool = False
) -> Iterator[Triple]:
    """The triples of a dataset in a profile; ``from_profile`` is the inverse.

    ``directions`` tells that strings with a direction can be written as such even in ``rdf11``.
    """
    directions = directions or profile == "rdf12"
    for triple in triples:
        value = triple.object
        if isinstance(value, Literal):
            yield _with_object(triple, value, _written(value, directions))
        elif profile == "rdf11" and triple.predicate == vocab.REIFIES:
            yield from to_rdf11(cast(NamedNode, triple.subject), cast(Triple, value))[1:]
        else:
            yield triple


def _written(literal: Literal, directions: bool) -> Literal:
    if literal.language is not None:
        if literal.direction is None or directions:
            return literal
        datatype = NamedNode(f"{_I18N}{literal.language}_{direction(literal)}")
        return Literal(literal.value, datatype=datatype)
    return as_json(literal) if literal.datatype.value.startswith(_I18N) else literal


# In -------------------------------------------------------------------------------------------


def from_profile(triples: Iterable[Triple]) -> Iterator[Triple]:
    """The triples of a dataset as the store holds them, written in either profile.

    Raises KIP_2002 for an ``rdf:Statement`` that does not stand for one fact.
    """
    for triple in _reified(list(triples)):
        value = triple.object
        if isinstance(value, Literal):
            yield _with_object(triple, value, _read(value))
        else:
            yield triple


def returned(triple: Triple) -> Triple:
    """A triple that is no part of a statement as it comes back, written in either profile.

    >>> text = Triple(vocab.NULL, vocab.LABEL, Literal('"x"', datatype=vocab.JSON))
    >>> returned(text).object
    <Literal value=x datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#string>>
    """
    value = triple.object
    if not isinstance(value, Literal):
        return triple
    return _with_object(triple, value, _read(_written(value, directions=True)))


def _with_object(triple: Triple, old: Literal, new: Literal | NamedNode) -> Triple:
    return triple if new is old else Triple(triple.subject, triple.predicate, new)


def _read(literal: Literal) -> Literal | NamedNode:
    """An ``rdf:JSON`` text of what is no array or object stands for the term of that value."""
    if literal.datatype == vocab.JSON:
        text = literal.value
        # Cheap to tell: an array or an object with other keys stays as it is.
        if not text.startswith(('"', "{")) or (text[0] == "{" and '"@value"' not in text):
            return literal
        with suppress(ValueError, RecursionError):
            return to_term(json.loads(text))
        return literal
    match = _DIRECTED.fullmatch(literal.datatype.value)
    if match is None:
        return literal
    language, towards = match.groups()
    return Literal(literal.value, language=language, direction=DIRECTIONS[towards])


def _reified(triples: list[Triple]) -> Iterator[Triple]:
    """Every ``rdf:Statement`` becomes the reifying triple that it stands for."""
    links = {
        triple.subject
        for triple in triples
        if triple.object == vocab.STATEMENT and triple.predicate == vocab.TYPE
    }
    facts: dict[object, dict[NamedNode, list[object]]] = {
        link: {part: [] for part in _PARTS} for link in sorted(links, key=str)
    }
    for triple in triples:
        if triple.subject not in links:
            yield triple
        elif triple.predicate in _PARTS:
            facts[triple.subject][triple.predicate].append(triple.object)
        elif triple.object != vocab.STATEMENT or triple.predicate != vocab.TYPE:
            yield triple
    for link, parts in facts.items():
        ends = {part: found[0] for part, found in parts.items() if len(found) == 1}
        nodes = (link, *ends.values())
        if len(ends) < len(_PARTS) or not all(isinstance(n, NamedNode) for n in nodes):
            message = f"{link} has not exactly one rdf:subject, rdf:predicate and rdf:object."
            raise KipError("KIP_2002", message, "A statement stands for one fact, by IRIs.")
        yield from_rdf11(cast(NamedNode, link), cast(dict[NamedNode, NamedNode], ends))
