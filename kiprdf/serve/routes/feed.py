"""The commits as a feed: a Linked Data Event Stream, RDF Patches, and server-sent events.

The members of the stream are versions of elements, in pages (docs/decisions/199, 212).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Triple
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from kiprdf import protocol
from kiprdf.errors import KipError, ReplacedError, StoreError
from kiprdf.execution.versions import Page, Place, Version
from kiprdf.interchange.differences.patch_log import written
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.vocabularies.standards import dcterms, ldes, prov, tree, xsd
from kiprdf.rdf import vocab
from kiprdf.serve.http import HttpError, choose, json_response, run_for
from kiprdf.serve.observation import LOGGER
from kiprdf.serve.routes.linked import (
    RDF_FORMATS,
    SENT_BYTES,
    Variant,
    has_tag,
    variant,
    write_triples,
)
from kiprdf.serve.state import Routes, Server
from kiprdf.store.past import journal_of, number_at
from kiprdf.store.view import ViewStore

DELETED = NamedNode("https://www.w3.org/ns/activitystreams#Delete")
PATCH, EVENTS = "application/rdf-patch", "text/event-stream"
LAST_PAGE_SECONDS = 5
"""How long the last page, which grows, is kept by a cache."""
YEAR_SECONDS = 31_536_000
"""How long the others are."""
LOOK_SECONDS = 0.25
"""The time between two looks, in memory, at the number of the last commit."""
BEAT_SECONDS = 15.0
STREAM_SECONDS = 600.0
"""How long a stream of events is open: whoever connects again shows a token that is still valid."""
MOST_EVENT_STREAMS = 100
UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"
"""What was written before there was a history has no time, and comes before what has one."""
_NUMBER = re.compile("[0-9]{1,18}")
_PLACE = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?")


async def get_feed(server: Server, request: Request) -> Response:
    """/feed: the first node of the stream, or patches."""
    _require_history(server)
    format = request.query_params.get("format")
    if format not in (None, "patch"):
        raise HttpError(400, "The format is patch, or left out.", "Send ?format=patch.")
    offers = [PATCH, EVENTS] if format else [*RDF_FORMATS, PATCH, EVENTS]
    accepted = choose(request.headers.get("accept"), offers)
    if accepted is None:
        raise HttpError(406, "No accepted type is there.", f"The types are {', '.join(offers)}.")
    last_event = request.headers.get("last-event-id") if accepted[0] == EVENTS else None
    after = _after(server, last_event or request.query_params.get("from", "0"))
    if isinstance(after, Response):
        return after
    if accepted[0] == EVENTS:
        return _events(server, request, after)
    if accepted[0] == PATCH:
        return await _patches(server, request, after)
    chosen = variant(request.headers.get("accept"), "rdf11")
    make = partial(_first_node, server, request, after, chosen)
    return await _document(server, request, chosen, make)


async def get_page(server: Server, request: Request) -> Response:
    """/feed/{mark}/{place}: a page of the stream."""
    _require_history(server)
    chosen = variant(request.headers.get("accept"), "rdf11")
    match = _PLACE.fullmatch(request.path_params["place"])
    if match is None or int(match[1]) > server.store.commit() + 1:
        raise HttpError(404, "There is no such page.", "Begin at /feed.")
    place, versions = Place(int(match[1]), int(match[2] or 0)), server.versions
    epoch, _, link = request.path_params["mark"].partition("-")

    def make() -> _Made:
        if place.number < versions.first().number or link != versions.link(place):
            hint = "Begin at /feed: what it leads to is complete."
            raise HttpError(410, "The history before this page was replaced.", hint)
        if epoch != versions.epoch():
            return _Made(b"", 0, _address(server, request, Place(place.number)))
        page = versions.page(place)
        triples = _page(server, request, place, page)
        _require_epoch(server, epoch)
        seconds = LAST_PAGE_SECONDS if page.next is None else YEAR_SECONDS
        return _Made(write_triples([*triples], chosen.media_type), seconds)

    return await _document(server, request, chosen, make)


def _require_history(server: Server) -> None:
    """Raise 404 for a nexus without a history; of a view, its members have one each."""
    store = server.store
    if isinstance(store, ViewStore):
        feeds = [f"/scopes/{quote(member.store.scope)}/feed" for member in store.members]
        listed = f": {', '.join(feeds)}" if server.of else ", if it is served"
        hint = f"Each nexus in it has one{listed}."
        raise HttpError(404, "A view of several nexuses has no feed.", hint)
    try:
        journal_of(store)
    except KipError as error:
        raise HttpError(404, error.message, error.hint) from None


def _require_epoch(server: Server, epoch: str) -> None:
    """Raise ``ReplacedError`` where the history was rewritten: what was read may be forgotten."""
    if server.versions.epoch() != epoch:
        raise ReplacedError("The history was rewritten meanwhile.")


def _after(server: Server, text: str) -> int | Response:
    """The last commit that a client has, or 410 where the next ones are gone."""
    store = server.store
    if not _NUMBER.fullmatch(text):
        hint = "Send the number of the last commit that you have, or 0 for all."
        raise HttpError(400, "from is the number of a commit.", hint)
    after, last = int(text), store.commit()
    try:
        return number_at(journal_of(store), after, last) if after else 0
    except KipError as error:
        if after > last:
            raise
        hint = "Begin again with from=0: it gives the dataset as of that commit, and what followed."
        gone = KipError(error.code, error.message, hint)
        return json_response(protocol.error_response(gone), 410)


# The stream -----------------------------------------------------------------------------------


class _Made(NamedTuple):
    """A document, and how long a cache keeps it; or the address where it is by now."""

    content: bytes
    seconds: int
    moved_to: str = ""


async def _document(
    server: Server, request: Request, chosen: Variant, make: Callable[[], _Made]
) -> Response:
    """A document of the stream, whose ETag is a digest of its content."""
    store = server.store
    made = await run_for(request, server.threads, lambda: store.read(make))
    server.note(request.scope, None)
    # A token, or a cookie, decides whose feed it is.
    is_private = server.options.has_token
    headers = {"Vary": "Accept, Authorization, Cookie" if is_private else "Accept"}
    if made.moved_to:
        return RedirectResponse(made.moved_to, 302, headers | {"Cache-Control": "no-store"})
    headers["ETag"] = f'"{hashlib.sha256(made.content).hexdigest()[:32]}"'
    kept = f"{'private' if is_private else 'public'}, max-age={made.seconds}"
    headers["Cache-Control"] = kept + (", immutable" if made.seconds == YEAR_SECONDS else "")
    if has_tag(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(made.content, 200, {**headers, "Content-Type": chosen.content_type})


def _first_node(server: Server, request: Request, after: int, chosen: Variant) -> _Made:
    """The description of the stream, and the address of its first page."""
    stream, place = _stream(server, request), server.versions.first()
    node = stream.value.partition("#")[0]
    if after:
        node, place = f"{node}?from={after}", Place(after + 1)
    view, relation = NamedNode(node), NamedNode(f"{node}#first")
    triples = [
        *_description(stream),
        Triple(stream, tree("view"), view),
        Triple(view, vocab.TYPE, tree("Node")),
        Triple(view, tree("relation"), relation),
        Triple(relation, vocab.TYPE, tree("Relation")),
        Triple(relation, tree("node"), NamedNode(_address(server, request, place))),
    ]
    return _Made(write_triples(triples, chosen.media_type), LAST_PAGE_SECONDS)


def _page(server: Server, request: Request, place: Place, page: Page) -> Iterator[Triple]:
    """The triples of a page: its members, and where the next page is."""
    stream, address = _stream(server, request), _address(server, request, place)
    node = NamedNode(address)
    yield from _description(stream)
    yield Triple(node, vocab.TYPE, tree("Node"))
    for version in page.versions:
        member = NamedNode(f"{version.node.value}#commit-{version.number}-{version.link[:8]}")
        yield Triple(stream, tree("member"), member)
        yield from _member(member, version)
    if page.next is not None:
        relation = NamedNode(f"{address}#next")
        next = NamedNode(_address(server, request, page.next))
        yield Triple(node, ldes("immutable"), Literal(True))
        yield Triple(node, tree("relation"), relation)
        yield Triple(relation, vocab.TYPE, tree("GreaterThanOrEqualToRelation"))
        yield Triple(relation, tree("node"), next)
        yield Triple(relation, tree("path"), prov("generatedAtTime"))
        yield Triple(relation, tree("value"), _time(page.versions[-1].at))


def _description(stream: NamedNode) -> Iterator[Triple]:
    yield Triple(stream, vocab.TYPE, ldes("EventStream"))
    yield Triple(stream, ldes("timestampPath"), prov("generatedAtTime"))
    yield Triple(stream, ldes("sequencePath"), vocab.COMMIT)
    yield Triple(stream, ldes("versionOfPath"), dcterms("isVersionOf"))
    yield Triple(stream, ldes("versionDeletePath"), vocab.TYPE)
    yield Triple(stream, ldes("versionDeleteObject"), DELETED)


def _member(member: NamedNode, version: Version) -> Iterator[Triple]:
    """An element as of a commit: its triples in RDF 1.1, or that it was deleted."""
    yield Triple(member, dcterms("isVersionOf"), version.node)
    yield Triple(member, prov("generatedAtTime"), _time(version.at))
    number = Literal(str(version.number), datatype=vocab.INTEGER)
    yield Triple(member, vocab.COMMIT, number)
    if not version.state:
        yield Triple(member, vocab.TYPE, DELETED)
    # The order in which a state was put together depends on what was read before.
    values = sorted(version.state.items(), key=lambda item: item[0].value)
    triples = (Triple(member, key, value) for key, value in values)
    yield from to_profile(triples, "rdf11")


def _stream(server: Server, request: Request) -> NamedNode:
    return NamedNode(f"{server.address(request)}feed#stream")


def _address(server: Server, request: Request, place: Place) -> str:
    """The address of a page, which is another one when the history before it is."""
    mark = f"{server.versions.epoch()}-{server.versions.link(place)}"
    return f"{server.address(request)}feed/{mark}/{place}"


def _time(at: str) -> Literal:
    return Literal(at or UNKNOWN_TIME, datatype=xsd("dateTime"))


# Patches --------------------------------------------------------------------------------------


async def _patches(server: Server, request: Request, after: int) -> Response:
    """The commits above a number as one document of RDF Patches, sent while they are read."""
    tag = f'"{server.start}-{server.versions.epoch()}-{server.store.commit()}-{after}"'
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "no-cache"}
    if has_tag(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    patches = _patches_above(server, after)
    # What cannot be read is an error before anything is sent.
    first = await run_for(request, server.threads, partial(next, patches, None))
    server.note(request.scope, None)
    content = (
        ()
        if request.method == "HEAD"
        else _pieces(patches if first is None else chain([first], patches))
    )
    return StreamingResponse(content, 200, headers, f"{PATCH}; charset=utf-8")


def _patches_above(server: Server, after: int) -> Iterator[tuple[int, str]]:
    """The patches above a number; an error ends them where the history is rewritten meanwhile."""
    epoch = server.versions.epoch()
    for patch in written(server.store, after):
        _require_epoch(server, epoch)
        yield patch


def _pieces(patches: Iterator[tuple[int, str]]) -> Iterator[bytes]:
    piece = bytearray()
    for _, text in patches:
        piece += text.encode()
        if len(piece) > SENT_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _events(server: Server, request: Request, after: int) -> Response:
    """Each commit above a number as an event, until the server ends, or the client."""
    headers = {"Vary": "Accept", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    content = () if request.method == "HEAD" else _stream_events(server, after)
    if server.service.event_streams >= MOST_EVENT_STREAMS:
        hint = "Send the request again later, or ask for ?format=patch now and then."
        message = f"{MOST_EVENT_STREAMS} streams of events are open."
        raise HttpError(503, message, hint, {"Retry-After": "10"})
    return StreamingResponse(content, 200, headers, EVENTS)


async def _stream_events(server: Server, after: int) -> AsyncIterator[str]:
    service, ended = server.service, server.streams_ended
    service.event_streams += 1
    try:
        if service.event_streams > MOST_EVENT_STREAMS:
            return  # Others that were let in at the same moment were first.
        yield ":\n\n"
        beat = time.monotonic()
        until = beat + STREAM_SECONDS
        while not service.is_closing and ended == server.streams_ended and time.monotonic() < until:
            if server.store.commit() > after:
                patches = _patches_above(server, after)
                take = partial(next, patches, None)
                while (event := await server.threads.run(take)) is not None:
                    after, text = event
                    lines = text.rstrip("\n").replace("\n", "\ndata: ")
                    yield f"id: {after}\ndata: {lines}\n\n"
                    if service.is_closing or ended != server.streams_ended:
                        return
                beat = time.monotonic()
            elif time.monotonic() > beat + BEAT_SECONDS:
                yield ":\n\n"
                beat = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
    except (KipError, StoreError) as fault:
        # Whoever connects again gets the reason as an answer.
        LOGGER.info("A stream of events ends: %s", fault)
    finally:
        service.event_streams -= 1


ROUTES: Routes = (("/feed", ("GET",), get_feed), ("/feed/{mark}/{place}", ("GET",), get_page))
