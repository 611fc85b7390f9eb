"""The dataset, its elements and its description as RDF documents."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, cast
from urllib.parse import parse_qs, unquote
from xml.parsers import expat

from pyoxigraph import NamedNode, Triple, serialize
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from kiprdf.interchange import description
from kiprdf.interchange.formats import Format, Profile
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.parsing import OXIGRAPH_FORMATS
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.vocabularies.standards import ldes, rdfs, tree
from kiprdf.kql.reader import links_at
from kiprdf.nexus import Nexus
from kiprdf.rdf import vocab
from kiprdf.serve.http import HttpError, choose, run_for
from kiprdf.serve.state import Routes, Server, path_after, root_of
from kiprdf.store import Store

_RDF11_ONLY = ("application/ld+json", "application/rdf+xml")
FORMAT_OF: dict[str, Format] = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
}
RDF_FORMATS = {name: OXIGRAPH_FORMATS[format] for name, format in FORMAT_OF.items()}
SPOOLED_BYTES = 2**20
"""A larger document is in a temporary file until it is sent."""
SENT_BYTES = 2**18
"""The size of the pieces in which a large document is sent."""


class Variant(NamedTuple):
    """The form of a document: its media type and profile."""

    media_type: str
    profile: Profile

    @property
    def content_type(self) -> str:
        """The value of Content-Type."""
        version = ";version=1.2" if self.profile == "rdf12" else ""
        charset = ";charset=utf-8" if self.media_type.startswith("text/") else ""
        return self.media_type + version + charset


HTML = Variant("text/html", "rdf11")


async def get_graph(server: Server, request: Request) -> Response:
    """The Graph Store Protocol, for reading."""
    names = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if "graph" in names:
        raise HttpError(404, "There is no such graph.", "Ask for /graph?default.")
    if "default" not in names:
        raise HttpError(400, "The request names no graph.", "Ask for /graph?default.")
    chosen = variant(request.headers.get("accept"), names.get("profile", [None])[0])
    make = partial(graph, server.nexus, chosen)
    return await document(server, request, chosen, make, limit=server.dumps)


async def get_data(server: Server, request: Request) -> Response:
    """/data/{path}: an element as RDF."""
    profile = request.query_params.get("profile")
    chosen = variant(request.headers.get("accept"), profile)
    path = path_after(request, "/data/")
    node = await server.read(request, partial(element_at, server.store, path))
    make = partial(element_document, server.store, node, chosen)
    return await document(server, request, chosen, make)


async def get_void(server: Server, request: Request) -> Response:
    """/.well-known/void."""
    chosen = variant(request.headers.get("accept"), None)
    title = server.options.title or f"Nexus {server.nexus.base_iri}"
    make = partial(void, server.nexus, server.store, server.address(request), title, chosen)
    return await document(server, request, chosen, make, limit=server.dumps)


async def dereference(server: Server, request: Request) -> Response:
    """The IRI of an element: 303 to a page or to data."""
    path = path_after(request, server.base_path)
    await server.read(request, partial(element_at, server.store, path))
    if request.method not in ("GET", "HEAD"):
        raise HTTPException(405, headers={"Allow": "GET, HEAD"})
    offers = [*RDF_FORMATS]
    if server.options.explorer:
        offers.append("text/html")
    chosen = choose(request.headers.get("accept"), offers)
    if chosen is None:
        raise HttpError(406, "No accepted type is there.", f"The types are {', '.join(offers)}.")
    kind = "page" if chosen[0] == "text/html" else "data"
    return RedirectResponse(f"{root_of(request)}/{kind}/{path}", 303, {"Vary": "Accept"})


async def document(
    server: Server,
    request: Request,
    chosen: Variant,
    make: Callable[[], bytes | IO[bytes]],
    limit: AbstractAsyncContextManager[Any] | None = None,
    reader: str = "",
) -> Response:
    """A document about the state of one commit, with a strong ETag.

    ``reader`` marks what is shown to some readers only.
    """
    commit = await server.read(request, server.store.commit)
    form = f"{chosen.media_type.rpartition('/')[2]}-{chosen.profile}"
    headers = {"ETag": f'"{server.start}-{commit}-{form}{reader}"', "Vary": "Accept"}
    if has_tag(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    async with limit or nullcontext():
        content = await run_for(request, server.threads, make)
    if server.store.commit() != commit:
        # Another commit came in between: the content may be of either.
        del headers["ETag"]
    server.note(request.scope, None, commit)
    headers["Content-Type"] = chosen.content_type
    if isinstance(content, bytes):
        return Response(content, 200, headers)
    headers["Content-Length"] = str(content.seek(0, os.SEEK_END))
    return StreamingResponse(_pieces(content, request.method), 200, headers)


def _pieces(content: IO[bytes], method: str) -> Iterator[bytes]:
    """The pieces of a file that is sent, which is closed at the end; none for HEAD."""
    with content:
        content.seek(0)
        while method != "HEAD" and (piece := content.read(SENT_BYTES)):
            yield piece


def has_tag(header: str | None, tag: str) -> bool:
    """Whether If-None-Match names a tag (RFC 9110 §13.1.2: weak comparison)."""
    if header is None:
        return False
    tags = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in tags or tag in tags


def variant(accept: str | None, profile: str | None) -> Variant:
    """The form that a request asks for; 406 or 400 if there is none."""
    if profile not in (None, "rdf11", "rdf12"):
        raise HttpError(400, "The profile is rdf11 or rdf12.", "Send ?profile=rdf12.")
    chosen = choose(accept, list(RDF_FORMATS))
    if chosen is None:
        raise HttpError(406, "No accepted type is RDF.", f"The types are {', '.join(RDF_FORMATS)}.")
    media_type, parameters = chosen
    asked = profile or ("rdf12" if parameters.get("version") == "1.2" else "rdf11")
    if asked == "rdf12" and media_type not in ("text/turtle", "application/n-triples"):
        raise HttpError(406, f"{media_type} cannot express RDF 1.2.", "Ask for text/turtle.")
    return Variant(media_type, cast(Profile, asked))


def graph(nexus: Nexus, chosen: Variant) -> IO[bytes]:
    """The whole dataset, in a temporary file if it is large."""
    content: Any = SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115  (closed when it is sent)
    nexus.write_snapshot(content, chosen.profile, format=FORMAT_OF[chosen.media_type])
    return cast("IO[bytes]", content)


def element_document(store: Store, node: NamedNode, chosen: Variant) -> bytes:
    """The triples about an element, and the propositions that refer to it."""
    content = io.BytesIO()
    triples = store.read(lambda: list(dict.fromkeys(_about(store, node))))
    format = FORMAT_OF[chosen.media_type]
    Serializer(triples, format, store.iris, profile=chosen.profile).write(content)
    return content.getvalue()


def _about(store: Store, node: NamedNode) -> Iterator[Triple]:
    for one in (node, *(link for link, _ in links_at(store, node))):
        for triple in store.describe(one):
            yield triple
            if triple.predicate == vocab.REIFIES:
                yield cast(Triple, triple.object)


def element_at(store: Store, path: str) -> NamedNode:
    """The element at a percent-encoded path below the base; 404 if there is none."""
    node = node_at(store, path)
    if not store.describe(node):
        raise no_element()
    return node


def no_element() -> HttpError:
    """The refusal of a path without an element."""
    return HttpError(404, "There is no such element.", "Search for it at /explore/.")


def node_at(store: Store, path: str) -> NamedNode:
    """The IRI of an element that may not exist; 404 for other paths."""
    segments = path.split("/")
    node = None
    try:
        texts = [unquote(segment, errors="strict") for segment in segments]
    except UnicodeDecodeError:
        texts = []
    if len(texts) == 2 and all(texts):
        node = store.iris.from_id(f"C:{texts[0]}/{texts[1]}") if "/" not in texts[0] else None
    elif len(texts) == 3 and texts[0] == "$proposition":
        node = store.iris.from_id(f"P:{texts[1]}:{texts[2]}")
    if node is None:
        raise no_element()
    return node


def void(nexus: Nexus, store: Store, address: str, title: str, chosen: Variant) -> bytes:
    """The description of the dataset in VoID and DCAT; the dataset is at ``/graph?default``."""

    def count() -> description.Counts:
        triples = normalized(store.match(None, None, None))
        return description.Counts.of(dict.fromkeys(to_profile(triples, "rdf11")))

    counts = store.read(count)
    # A published folder has these files; here they are routes.
    routes = {f"{address}void.ttl": f"{address}.well-known/void", f"{address}index.html": address}
    about = description.About(title)
    described = [
        Triple(_renamed(triple.subject, routes), triple.predicate, _renamed(triple.object, routes))
        for triple in description.describe(counts, nexus.base_iri, about=about, address=address)
    ]
    dataset = NamedNode(f"{address}.well-known/void#dataset")
    described += [
        Triple(dataset, description.void("sparqlEndpoint"), NamedNode(f"{address}sparql")),
        Triple(dataset, description.void("dataDump"), NamedNode(f"{address}graph?default")),
    ]
    embedded = nexus.store.embedded
    if embedded is not None and embedded.journal is not None:
        # Decision 212: no vocabulary has a relation from a dataset to its event stream.
        feed, stream = NamedNode(f"{address}feed"), NamedNode(f"{address}feed#stream")
        described += [
            Triple(dataset, rdfs("seeAlso"), stream),
            Triple(stream, vocab.TYPE, ldes("EventStream")),
            Triple(stream, tree("view"), feed),
        ]
    return write_triples(described, chosen.media_type)


def _renamed(term: Any, routes: Mapping[str, str]) -> Any:
    """An IRI, with another document before its fragment if there is one."""
    if not isinstance(term, NamedNode):
        return term
    document, mark, fragment = term.value.partition("#")
    return NamedNode(routes[document] + mark + fragment) if document in routes else term


def service_description(endpoint: str, chosen: Variant) -> bytes:
    """The SPARQL 1.1 Service Description of an endpoint."""
    service, sd = NamedNode(endpoint), "http://www.w3.org/ns/sparql-service-description#"
    features = [(sd + "supportedLanguage", sd + "SPARQL11Query"), (sd + "endpoint", endpoint)]
    results = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "Turtle")
    features += [(sd + "resultFormat", f"http://www.w3.org/ns/formats/{name}") for name in results]
    triples = [Triple(service, vocab.TYPE, NamedNode(sd + "Service"))]
    triples += [Triple(service, NamedNode(term), NamedNode(value)) for term, value in features]
    return write_triples(triples, chosen.media_type)


def write_triples(triples: Sequence[Triple], media_type: str) -> bytes:
    """Triples in a format; triple terms become ``rdf:Statement`` where the format lacks them."""
    if media_type in _RDF11_ONLY:
        triples = list(to_profile(triples, "rdf11"))
    prefixes = vocab.prefixes(vocab.DEFAULT_BASE) if media_type == "text/turtle" else None
    try:
        content = serialize(
            dict.fromkeys(triples), format=RDF_FORMATS[media_type], prefixes=prefixes
        )
    except (OSError, ValueError) as fault:
        message = f"The triples cannot be written as {media_type}: {fault}."
        raise HttpError(406, message, "Ask for text/turtle.") from None
    assert content is not None
    if media_type == "application/rdf+xml":
        _check_xml(content)
    return content


def _check_xml(content: bytes) -> None:
    """Refuse a document whose characters or names XML does not have."""
    try:
        expat.ParserCreate(namespace_separator=" ").Parse(content, True)
    except expat.ExpatError as fault:
        message = f"The triples cannot be written as application/rdf+xml: {fault}."
        raise HttpError(406, message, "Ask for text/turtle.") from None


ROUTES: Routes = (
    ("/graph", ("GET",), get_graph),
    ("/data/{path:path}", ("GET",), get_data),
    ("/.well-known/void", ("GET",), get_void),
)
