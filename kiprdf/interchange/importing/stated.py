"""What each source states of an element: the note that imports keep in ``stated_by``.

It has a digest of each value by its key, for each source (docs/decisions/231).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, cast

from pyoxigraph import Literal

from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS, SOURCE, ElementIndex
from kiprdf.interchange.importing.plan import Element as Planned
from kiprdf.interchange.importing.plan import ImportPlan
from kiprdf.kml import statements
from kiprdf.kml.merged_origins import (
    NO_LONGER_IN,
    ORIGINAL,
    STATED_BY,
    statement_identity,
    statements_of,
)
from kiprdf.kml.trust import MARKS, STATUS
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Term, Terms
from kiprdf.rdf.literals import Json, canonical_json, to_json, to_term
from kiprdf.semantics.arguments import RESERVED_METADATA
from kiprdf.semantics.periods import VALID_FROM, VALID_UNTIL

CLASSES, MADE_BY = "@type", "@statements"
"""The keys of a note with the classes that a source gives a concept, if they are not those of its
type, and with the digests of the statements of a fact that it makes, where there are several."""
SUPERSEDED, SUPERSEDED_AT = "superseded", "superseded_at"
OF_METADATA = "metadata."
_ENDS = (SUPERSEDED, SUPERSEDED_AT, "superseded_by", NO_LONGER_IN, VALID_FROM, VALID_UNTIL)
NOT_OF_SOURCES = frozenset(
    (
        *(*RESERVED_METADATA, *_ENDS, STATUS, *MARKS),
        *(ORIGINAL, STATED_BY, SOURCE, IMPORTED_AT, vocab.MERGED_FROM),
    )
)
"""The metadata keys that the engine and imports write, and marks."""

Values: TypeAlias = dict[str, Json]
"""What a source states of an element: a digest of each value by its key; a list with the value
itself where that of another source is in its place, or those of several together."""
Stated: TypeAlias = dict[str, Values]
"""By the names of the sources; "" is what there was before any source."""


def with_note(one: Planned, plan: ImportPlan) -> Mapping[str, Json]:
    """The metadata of a new element, with what the source of the plan states of it."""
    is_fact = isinstance(one, statements.Proposition)
    stated = {key: one.attributes[key] for key in one.attributes if is_fact or key != SAME_AS}
    own = {**plan.metadata, **one.metadata}
    stated |= {OF_METADATA + key: own[key] for key in own if key not in NOT_OF_SOURCES}
    digests = {key: digest(to_term(value)) for key, value in stated.items()}
    return {**one.metadata, STATED_BY: {plan.source: digests}}


def write_note(terms: Terms, stated: Stated) -> None:
    """Write a note, unless it is there."""
    before = terms.get(STATED_BY)
    if before is None or to_json(cast(Literal, before)) != stated:
        terms[STATED_BY] = to_term(cast(Json, stated))


def place_of(element: Element, key: str) -> tuple[Terms, Term | None]:
    """The values among which that of a key is, and this value."""
    terms = element.metadata if key.startswith(OF_METADATA) else element.attributes
    return terms, terms.get(key.removeprefix(OF_METADATA))


def digest_at(element: Element, key: str) -> str | None:
    """The digest of a value, if the element has it."""
    term = place_of(element, key)[1]
    return None if term is None else digest(term)


def written_keys(element: Element) -> set[str]:
    """The keys of values that a source or a person has written, without marks."""
    places = (("", element.attributes), (OF_METADATA, element.metadata))
    keys = (place + key for place, terms in places for key in terms)
    return {key for key in keys if is_of_source(key, element)}


def is_of_source(key: str, element: Element) -> bool:
    """Whether a key is not one that the engine or each import writes."""
    if key.startswith(OF_METADATA):
        return key.removeprefix(OF_METADATA) not in NOT_OF_SOURCES
    # A concept is known by its IRI; that of a reifier may stand for another fact.
    return key != SAME_AS or isinstance(element, Proposition)


def digest(term: Term) -> str:
    """A short digest of a value."""
    return digest_of(to_json(cast(Literal, term)))


def digest_of(value: Json) -> str:
    """The same, of a value as JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:12]


def renewing(index: ElementIndex, source: str) -> ElementIndex:
    """A copy in which the propositions that nobody but a source states are as if they were new.

    Those that others state, too, have no IRIs that only the source gives them: it may give them to
    other facts now.
    """
    stated, ended = index.metadata(STATED_BY), index.metadata(NO_LONGER_IN)
    own = {id for id, one in stated.items() if isinstance(one, dict) and one.keys() <= {source}}
    named = {id for id, one in index.metadata(SOURCE).items() if one == source}
    ids = frozenset(id for id in own | (named - stated.keys()) | ended.keys() if id[0] == "P")
    left = replace(index.without(ids), renewed=ids)
    originals = dict(left.originals)
    for id, one in stated.items() if originals else ():
        if id[0] == "P" and id in originals and isinstance(one, dict) and source in one:
            only = _only_of(source, cast(Stated, one), left, id)
            originals[id] = tuple(iri for iri in originals[id] if iri not in only)
    return replace(left, originals={id: iris for id, iris in originals.items() if iris})


def _only_of(source: str, stated: Stated, index: ElementIndex, id: str) -> set[Json]:
    """The IRIs of reifiers that only a source gives a fact of several."""
    others = [values for name, values in stated.items() if name != source]
    link = index.link(id)
    if link is None or any(SAME_AS in one and MADE_BY not in one for one in others):
        return set()
    made = made_by(others)
    mine = (noted for noted, shown in statements_of(link) if identity(noted, shown) not in made)
    return {iri for one in mine if "id" in one for iri in (one["id"], *listed(one.get(SAME_AS)))}


def made_by(notes: Iterable[Values]) -> set[str]:
    """The statements of a fact that sources with such notes make."""
    return {one for values in notes for one in str(values.get(MADE_BY, "")).split()}


def identity(noted: dict[str, Json], shown: dict[str, Json]) -> str:
    """The digest of what makes one of several statements another one."""
    return digest_of(statement_identity(noted, shown))
