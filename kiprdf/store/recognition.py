"""Recognizes the engine at an endpoint, and finds out what it can do."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from kiprdf.errors import KipError
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.requests import QUESTIONS
from kiprdf.store.base import Solutions
from kiprdf.store.endpoint import Endpoint
from kiprdf.store.http import EndpointFault

_REMOTE = Abilities(
    functions=False, lookups=False, texts=False, unions_in_order=False, isolates=False
)
_STANDARD = replace(
    _REMOTE,
    lateral=False,
    triple_terms=False,
    links="rdf11",
    tables=False,
    regex="characters",
)
"""What every engine is expected to do."""
ENGINES: dict[str, Abilities] = {
    "oxigraph": _REMOTE,
    # Within LATERAL, Fuseki does not pass outer variables on to inner groups.
    "fuseki": replace(
        _REMOTE,
        isolates=True,
        lateral=False,
        unions_in_order=True,
        code_points=False,
        one_zero=False,
        regex="characters",
        default_graph="urn:x-arq:DefaultGraph",
    ),
    "virtuoso": replace(
        _STANDARD,
        nested_groups=False,
        unions_in_order=True,
        regex="bytes",
        own_datatypes=True,
        unicode_constants=False,
        exact_doubles=False,
        deletes_typed=False,
        keeps_datatypes=False,
        isolates=True,
        max_rows=10_000,
        max_triples=4_000,
        max_named_triples=800,
        max_iri_bytes=1_900,
    ),
    "rdf4j": _STANDARD,
}
"""The abilities of engines, as measured."""
UNION_DEFAULT = frozenset(("virtuoso", "rdf4j", "graphdb"))
"""Engines whose default graph is the union of all graphs."""
_SERVERS = {
    "oxigraph": "oxigraph",
    "fuseki": "fuseki",
    "jena": "fuseki",
    "virtuoso": "virtuoso",
    "graphdb": "graphdb",
    "rdf4j": "rdf4j",
    "blazegraph": "blazegraph",
    "stardog": "stardog",
    "qlever": "qlever",
}


class Recognized(NamedTuple):
    """The name of an engine, or ``unknown``, and what it can do."""

    engine: str
    abilities: Abilities


def recognize(endpoint: Endpoint) -> Recognized:
    """Ask an endpoint what it can do.

    Raises ``EndpointFault`` where it does not answer queries.
    """
    # As a form: every engine takes a short one.
    endpoint.uses_forms = True
    _ask(endpoint, "nothing")
    engine = _named(endpoint.server) or _by_answers(endpoint)
    endpoint.uses_forms = engine == "virtuoso"
    abilities = ENGINES.get(engine)
    if abilities is None:
        abilities = _tried(endpoint)
    elif abilities.triple_terms:
        # An older version of an engine may not have it.
        has_terms = _takes(endpoint, "triple_term")
        has_lateral = abilities.lateral and _takes(endpoint, "lateral")
        links = abilities.links if has_terms else "rdf11"
        abilities = replace(abilities, triple_terms=has_terms, lateral=has_lateral, links=links)
    return Recognized(engine, abilities)


def _named(server: str) -> str | None:
    words = re.findall(r"[a-z0-9]+", server.lower())
    return next((_SERVERS[word] for word in words if word in _SERVERS), None)


def _by_answers(endpoint: Endpoint) -> str:
    """The engine by what only it calculates, where something hides its name."""
    for engine in ("virtuoso", "fuseki", "oxigraph"):
        if _takes(endpoint, engine):
            return engine
    return "unknown"


def _tried(endpoint: Endpoint) -> Abilities:
    """What an engine without a name can do."""
    has_terms = _takes(endpoint, "triple_term")
    return replace(
        _STANDARD,
        triple_terms=has_terms,
        links="rdf12" if has_terms else "rdf11",
        lateral=_takes(endpoint, "lateral"),
        own_datatypes=not _takes(endpoint, "double"),
        code_points=_takes(endpoint, "code_points"),
    )


def _takes(endpoint: Endpoint, question: str, once_more: bool = True) -> bool:
    """Whether an engine answers a query as expected; a refusal is a no.

    A failure may have another reason: then it is asked once more.
    """
    try:
        return _ask(endpoint, question)
    except EndpointFault as fault:
        if fault.status in (None, 401, 403, 408, 429, 502, 503, 504):
            raise
        is_failure = fault.status != 400 and once_more
        return is_failure and _takes(endpoint, question, once_more=False)
    except KipError as error:
        if error.code != "KIP_4002":
            raise
        return False


def _ask(endpoint: Endpoint, question: str) -> bool:
    query, expected = QUESTIONS[question]
    answer = endpoint.query(query)
    if not isinstance(answer, Solutions) or answer.names != ("answer",):
        raise EndpointFault(
            f"{endpoint.url} answered a query wrongly: check that it is a SPARQL query URL.",
            status=200,
        )
    return [getattr(cell, "value", None) for (cell,) in answer.rows] == [expected]
