"""Connects to a SPARQL store: recognizes the engine, and checks the content of the store."""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.budget import Budget, spend, without_row_limit
from kiprdf.errors import KipError, StoreError
from kiprdf.rdf import vocab
from kiprdf.sparql import requests, updates
from kiprdf.sparql.abilities import Abilities, Links
from kiprdf.store.endpoint import Endpoint
from kiprdf.store.folder import FORMAT, checked_base, index_folder
from kiprdf.store.layout import HEAD, LINKS, Head, Place
from kiprdf.store.remote import RemoteStore
from kiprdf.store.remote_commits import WRITERS

if TYPE_CHECKING:
    from kiprdf.options import ConnectOptions
import re
from typing import NamedTuple

from kiprdf.sparql.requests import QUESTIONS
from kiprdf.store.base import Solutions
from kiprdf.store.http import EndpointFault

Profile: TypeAlias = OneOf["auto", "rdf11", "rdf12"]


def connect(url: str, options: ConnectOptions) -> RemoteStore:
    """The store behind a SPARQL endpoint, which holds a nexus, or nothing.

    Without an ``update_url`` it is read-only. Raises ``StoreError`` with one sentence.
    """
    default_graph, read_only = options.default_graph, options.read_only
    place = _place(default_graph)
    base = None if options.base_iri is None else checked_base(options.base_iri)
    endpoint = Endpoint(url, options.update_url, options.auth, options.headers)

    def open() -> RemoteStore:
        engine, abilities = recognize(endpoint)
        if default_graph is None and engine in UNION_DEFAULT:
            raise StoreError(
                f"The default graph of {engine} is the union of all graphs: name a graph for the "
                "nexus as default_graph."
            )
        is_read_only = read_only or options.update_url is None
        if not is_read_only and engine not in WRITERS:
            raise StoreError(
                f"Concurrent writers could lose commits in the store at {endpoint.url}, whose "
                f"engine is {engine}: connect with read_only."
            )
        opening = _Opening(endpoint, place, abilities, engine, is_read_only)
        store = opening.store(base, options.profile, options.index, accepts_others=read_only)
        if not is_read_only:
            # It changes nothing, but a store that refuses updates is found now.
            own = place.bookkeeping
            endpoint.update(updates.delete([Quad(own, vocab.COMMIT, Literal("none"), own)]))
        return store

    try:
        return spend(options.budget or Budget(), lambda: without_row_limit(open))
    except KipError as error:
        endpoint.close()
        is_late = error.code == "KIP_4001"
        message = f"The store at {endpoint.url} did not answer: {error.message}"
        raise StoreError(message if is_late else error.message) from None
    except BaseException:
        endpoint.close()
        raise


def _place(default_graph: str | None) -> Place:
    try:
        place = Place.of(default_graph)
    except (ValueError, TypeError):
        raise StoreError(f"default_graph must be an IRI, not {default_graph!r}.") from None
    if place.graph is not None and place.graph.value.startswith(vocab.GRAPH):
        raise StoreError(
            f"The graph {default_graph} is reserved for kiprdf: name another default_graph."
        )
    return place


class _Opening:
    """Checks what a store holds when it is connected."""

    def __init__(
        self, endpoint: Endpoint, place: Place, abilities: Abilities, engine: str, read_only: bool
    ) -> None:
        self._endpoint = endpoint
        self._place = place
        self._abilities = abilities
        self._engine = engine
        self._read_only = read_only

    def store(
        self,
        base: str | None,
        profile: Profile,
        index: str | os.PathLike[str] | None,
        *,
        accepts_others: bool,
    ) -> RemoteStore:
        """The store, after checking that its content agrees with the arguments."""
        url = self._endpoint.url
        notes = self._notes()
        is_nexus = vocab.COMMIT in notes
        if not is_nexus:
            self._require_empty(accepts_others)
        self._require_format(notes.get(vocab.FORMAT))
        noted = notes.get(vocab.BASE)
        if noted is not None and base not in (None, noted):
            raise StoreError(
                f"The nexus in {url} has the base {noted}, not {base}: leave the base out."
            )
        links = self._links(profile, notes.get(LINKS))
        identity = Head.read(Literal(notes[HEAD])).identity if HEAD in notes else None
        first_identity = None if is_nexus or self._read_only else secrets.token_hex(16)
        number = notes.get(vocab.COMMIT, "0")
        store = RemoteStore(
            self._endpoint,
            self._place,
            replace(self._abilities, links=links),
            noted or base or vocab.DEFAULT_BASE,
            engine_name=self._engine,
            identity=identity,
            first_identity=first_identity,
            index_folder=index_folder(index, self._owner(identity or first_identity or "")),
            read_only=self._read_only,
        )
        if number.isdecimal():
            store.reached(int(number), None)
        return store

    def _owner(self, identity: str) -> str:
        """The name of a folder for the index of this store, which is wrong for every other one.

        A store that was replaced by another one at the same URL has another identity.
        """
        parts = self._endpoint.url, self._place.bookkeeping.value, identity
        return hashlib.sha256(" ".join(parts).strip().encode()).hexdigest()[:16]

    def _rows(self, query: str) -> list[Any]:
        return list(self._endpoint.select(query, self._place.dataset).rows)

    def _notes(self) -> dict[NamedNode, str]:
        rows = self._rows(requests.notes(self._place.bookkeeping))
        return {key: getattr(value, "value", "") for key, value in rows}

    def _require_empty(self, accepts_others: bool) -> None:
        url = self._endpoint.url
        where = (
            url if self._place.graph is None else f"the graph {self._place.graph.value} of {url}"
        )
        has_triples = bool(self._rows(requests.any_triple()))
        if has_triples and not accepts_others:
            message = f"There is no nexus in {where}, but other data, which kiprdf does not change"
            hint = "name another default_graph, or connect with read_only"
            raise StoreError(f"{message}; {hint}.")
        if not has_triples and self._read_only:
            hint = "give update_url, and not read_only, to create one"
            raise StoreError(f"There is no nexus in {where}: {hint}.")

    def _require_format(self, noted: str | None) -> None:
        if noted is not None and not (noted.isdecimal() and int(noted) <= FORMAT):
            url = self._endpoint.url
            message = f"The nexus in {url} has format {noted}; this kiprdf reads up to {FORMAT}"
            raise StoreError(f"{message}: use a newer kiprdf.")

    def _links(self, profile: Profile, noted: str | None) -> Links:
        """How the store keeps links, or will."""
        url = self._endpoint.url
        kept: Links | None = None
        for links in ("rdf12", "rdf11"):
            if noted == links or (noted is None and self._has_links(links)):
                kept = links
                break
        wanted: Links = self._abilities.links if profile == "auto" else profile
        if kept is not None and profile not in ("auto", kept):
            message = f"The nexus in {url} keeps links as {kept}, not as {profile}"
            raise StoreError(f"{message}: leave the profile out.")
        links = kept or wanted
        if links == "rdf12" and not self._abilities.triple_terms:
            raise StoreError(
                f"The engine at {url} does not support triple terms, which {links} needs."
            )
        return links

    def _has_links(self, links: Links) -> bool:
        if links == "rdf12" and not self._abilities.triple_terms:
            return False
        return bool(self._rows(requests.any_link(links)))


# Recognizing an engine ------------------------------------------------------------------------


_REMOTE = Abilities(lookups=False, unions_in_order=False, isolates=False)
_STANDARD = replace(
    _REMOTE,
    triple_terms=False,
    links="rdf11",
    tables=False,
)
"""What every engine is expected to do."""
ENGINES: dict[str, Abilities] = {
    "oxigraph": _REMOTE,
    "fuseki": replace(
        _REMOTE,
        isolates=True,
        unions_in_order=True,
        code_points=False,
        default_graph="urn:x-arq:DefaultGraph",
    ),
    "virtuoso": replace(
        _STANDARD,
        unions_in_order=True,
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
        links = abilities.links if has_terms else "rdf11"
        abilities = replace(abilities, triple_terms=has_terms, links=links)
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
