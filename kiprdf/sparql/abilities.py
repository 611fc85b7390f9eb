"""The abilities of a SPARQL engine, as a value that the query compiler reads."""

from __future__ import annotations

from typing import Literal, TypeAlias

from kiprdf.dataclasses import dataclass

Links: TypeAlias = Literal["rdf11", "rdf12"]
"""How a store keeps a link: as an ``rdf:Statement``, or as a reifier of a triple term."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an engine can do beyond, or short of, SPARQL 1.1, and how a store on it keeps links.

    ``triple_terms``. ``lookups``: the engine is in this process. Reading one pattern from its index
    costs less than parsing a query, it has LATERAL and calls custom functions, and its store has
    the graph of the texts in values (docs/decisions/050).
    ``own_datatypes``: doubles, booleans and XML literals are kept under datatypes of kiprdf, as in
    ``"0.1"^^<urn:kip:double>``, since the engine rewrites the standard ones.
    ``unicode_constants``: texts beyond ASCII are equal to constants in any expression, and are
    whole in any update.
    ``unions_in_order``: the rows of the last branch of a UNION come last.
    ``tables``: rows in tab-separated values have every term as it is.
    ``default_graph``: an IRI by which a request can name the default graph of the store.
    ``code_points``: texts are ordered by code point, not by the units of UTF-16.
    ``exact_doubles``: neighbouring doubles are not equal.
    ``deletes_typed``: an update of several graphs removes literals of any datatype that it names,
    and those with a language.
    ``keeps_datatypes``: an update that is undone does not affect the datatypes of others.
    ``isolates``: concurrent updates behave as if they ran one by one. The others are limits, None
    where none is known: rows of one answer, triples of one INSERT DATA, triples that one operation
    with a WHERE removes and adds by name, and bytes of an IRI.
    """

    triple_terms: bool = True
    lookups: bool = True
    links: Links = "rdf12"
    unions_in_order: bool = True
    tables: bool = True
    default_graph: str | None = None
    own_datatypes: bool = False
    unicode_constants: bool = True
    code_points: bool = True
    exact_doubles: bool = True
    deletes_typed: bool = True
    keeps_datatypes: bool = True
    isolates: bool = True
    max_rows: int | None = None
    max_triples: int | None = None
    max_named_triples: int | None = None
    max_iri_bytes: int | None = None


EMBEDDED = Abilities()
"""The engine in this process."""
