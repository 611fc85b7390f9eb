"""The dataset, its elements and its description as RDF documents."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, cast
from urllib.parse import unquote

from pyoxigraph import NamedNode, Triple

from kiprdf.interchange import description
from kiprdf.interchange.formats import Format, Profile
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.kql.reader import links_at
from kiprdf.nexus import Nexus
from kiprdf.rdf import vocab
from kiprdf.serve.negotiation import choose
from kiprdf.serve.replies import HttpError
from kiprdf.serve.sparql import RDF_FORMATS, write_triples
from kiprdf.store import Store

FORMAT_OF: dict[str, Format] = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
}


SPOOLED_BYTES = 2**20
"""A larger document is in a temporary file until it is sent."""


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
    for triple in store.describe(node):
        yield triple
        if triple.predicate == vocab.REIFIES:
            yield cast(Triple, triple.object)
    for link, _ in links_at(store, node):
        for triple in store.describe(link):
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
