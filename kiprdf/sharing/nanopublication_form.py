"""The form of a nanopublication: four graphs that are checked, a trusty URI, a signature.

The guidelines (nanopub.net/guidelines) say which graphs it has. Its trusty URI (trustyuri.net,
module ``RA``) ends in a digest of its quads, so that a changed one shows.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.interchange.mapping.datatypes import fits
from kiprdf.interchange.vocabularies.standards import Namespace
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import base_fault
from kiprdf.rdf.literals import normal

if TYPE_CHECKING:
    from kiprdf.sharing.nanopublication_signatures import Signer

np = Namespace("http://www.nanopub.org/nschema#")
npx = Namespace("http://purl.org/nanopub/x/")

HOME = "https://w3id.org/np/"
"""What the IRIs of nanopublications begin with, on the whole web of them."""
_PLACE = f"RA{'!' * 43}"
"""Where the digest will be. The IRIs of a nexus have no ``!``."""
_CODE = re.compile(r"(?<![A-Za-z0-9_-])RA[A-Za-z0-9_-]{43}(?=[#/.]?\Z)")
_PARTS = {
    "assertion": "hasAssertion",
    "provenance": "hasProvenance",
    "pubinfo": "hasPublicationInfo",
}


@dataclass(frozen=True)
class Nanopublication:
    """One that is well-formed; each graph as triples."""

    iri: NamedNode
    quads: Sequence[Quad]
    graphs: dict[str, NamedNode] = field(default_factory=dict)
    """The names of the graphs ``assertion``, ``provenance`` and ``pubinfo``."""

    @property
    def triples(self) -> Iterator[Triple]:
        """The triples of all graphs."""
        return (quad.triple for quad in self.quads)

    def of(self, part: str) -> list[Triple]:
        """The triples of a graph."""
        return [quad.triple for quad in self.quads if quad.graph_name == self.graphs[part]]

    def values(self, part: str, *properties: NamedNode) -> list[Any]:
        """What a graph says with some properties of what it is about, each once.

        The provenance is about the assertion, the publication info about the nanopublication.
        """
        about = self.graphs["assertion"] if part == "provenance" else self.iri
        own = (triple for triple in self.of(part) if triple.subject == about)
        return list(dict.fromkeys(one.object for one in own if one.predicate in properties))

    @cached_property
    def origin(self) -> str | None:
        """The base of the nexus that made it; None for one of another tool."""
        bases = [value.value for value in self.values("pubinfo", vocab.BASE)]
        return bases[0] if len(bases) == 1 and base_fault(bases[0]) is None else None

    @property
    def code(self) -> str | None:
        """The digest in a trusty URI; None for another IRI."""
        match = _CODE.search(self.iri.value)
        return None if match is None else match.group()


# Reading --------------------------------------------------------------------------------------


def split(quads: Iterable[Quad]) -> list[Nanopublication]:
    """The nanopublications of a dataset, in the order of their IRIs.

    Raises KIP_2002 for the first that is not well-formed, or that is not what its trusty URI says;
    also for triples that are in no nanopublication, and where there is none at all.
    """
    graphs: dict[Any, list[Quad]] = defaultdict(list)
    for quad in quads:
        graphs[quad.graph_name].append(quad)
    heads = [quad for own in graphs.values() for quad in own if _is_head(quad)]
    if not heads:
        raise KipError("KIP_2002", "The document has no nanopublication.", "Import it as RDF.")
    nanopublications = []
    taken: set[Any] = set()
    several = {iri for iri, number in Counter(head.subject for head in heads).items() if number > 1}
    for head in sorted(heads, key=str):
        if head.subject in several:
            raise malformed(head.subject, "it has several heads")
        one = _checked(head, graphs)
        own = {head.graph_name, *one.graphs.values()}
        if not taken.isdisjoint(own):
            raise malformed(one.iri, "it shares a graph with another one")
        taken |= own
        nanopublications.append(one)
    for graph, own_quads in graphs.items():
        if graph not in taken:
            raise malformed(heads[0].subject, f"{own_quads[0]} is in none of its graphs")
    return list(map(_verified, nanopublications))


def _verified(one: Nanopublication) -> Nanopublication:
    """One whose content is that of its trusty URI, if it has one.

    Tools write numbers in forms of their own, so its numbers may also be as KIP writes them.
    """
    code = one.code
    usual = replace(one, quads=[quad_of(_usual(q.triple), q.graph_name) for q in one.quads])
    for form in (one, usual):
        if code is None or digest(form.quads, code) == code:
            return form
    raise malformed(one.iri, "its content is not that of its trusty URI: it was changed")


def _usual(triple: Triple) -> Triple:
    value = triple.object
    if isinstance(value, Literal):
        return Triple(triple.subject, triple.predicate, normal(value))
    return triple


def _is_head(quad: Quad) -> bool:
    return quad.predicate == vocab.TYPE and quad.object == np("Nanopublication")


def _checked(head: Quad, graphs: dict[Any, list[Quad]]) -> Nanopublication:
    iri = head.subject
    if not isinstance(iri, NamedNode):
        raise malformed(iri, "it has no IRI")
    names: dict[str, NamedNode] = {}
    for part, term in _PARTS.items():
        links = graphs[head.graph_name]
        linked = [q.object for q in links if (q.subject, q.predicate) == (iri, np(term))]
        if len(linked) != 1 or not isinstance(linked[0], NamedNode):
            raise malformed(iri, f"its head has {len(linked)} np:{term}, not one IRI")
        names[part] = linked[0]
        if not graphs.get(linked[0]):
            raise malformed(iri, f"its {part} {linked[0]} is empty")
    own = [head.graph_name, *names.values()]
    if len({iri, *own}) != 5:
        raise malformed(iri, "its four graphs and itself have not five IRIs")
    for graph in own:
        if not isinstance(graph, NamedNode) or not graph.value.startswith(iri.value):
            raise malformed(iri, f"the IRI of its graph {graph} does not begin with its own")
    one = Nanopublication(iri, [quad for graph in own for quad in graphs[graph]], names)
    for part, about in (("provenance", names["assertion"]), ("pubinfo", iri)):
        if all(about not in (t.subject, t.object) for t in one.of(part)):
            raise malformed(iri, f"its {part} says nothing of {about}")
    for triple in (quad.triple for quad in one.quads):
        if isinstance(triple.object, Triple):
            raise malformed(iri, f"{triple} is RDF 1.2")
    for value in (triple.object for triple in one.of("assertion")):
        if isinstance(value, Literal) and not fits(value.value, value.datatype):
            raise malformed(iri, f"{value} is not a literal of its datatype")
    return one


def malformed(iri: Any, why: str) -> KipError:
    message = f"The nanopublication {iri} is refused: {why}."
    hint = "Nothing was imported. Ask its author, or remove it from the document."
    return KipError("KIP_2002", message, hint)


# Trusty URIs ----------------------------------------------------------------------------------


def normalized(quads: Iterable[Quad], code: str) -> str:
    """The text of quads that is digested and signed, a blank in the place of the digest."""

    def text(term: Any) -> str:
        return str(term.value).replace(code, " ")

    rows = {
        (*map(text, (q.graph_name, q.subject, q.predicate)), *_value(q.object, text)) for q in quads
    }
    return "".join("\n".join((*row[:3], row[-1], "")) for row in sorted(rows))


def _value(term: Any, text: Any) -> tuple[Any, ...]:
    """An object as it is sorted, and as it is written: IRIs, then literals by their text."""
    if not isinstance(term, Literal):
        return False, text(term), "", "", text(term)
    language = (term.language or "").lower()
    datatype = "" if language else term.datatype.value
    escaped = term.value.replace("\\", "\\\\").replace("\n", "\\n")
    kind = f"@{language}" if language else f"^{datatype}"
    return True, term.value, datatype, language, f"{kind} {escaped}"


def digest(quads: Iterable[Quad], code: str) -> str:
    """The end of the trusty URI of quads in which ``code`` is in its place."""
    hashed = hashlib.sha256(normalized(quads, code).encode()).digest()
    return "RA" + urlsafe_b64encode(hashed).decode().rstrip("=")


# Writing --------------------------------------------------------------------------------------

DRAFT = NamedNode(HOME + _PLACE)
"""The IRI of a nanopublication before its digest is known."""


def node(name: str) -> NamedNode:
    """A node of the nanopublication that is being made, such as one of its graphs."""
    return NamedNode(f"{DRAFT.value}#{name}")


def complete(parts: Mapping[str, Iterable[Triple]], signer: Signer | None) -> Nanopublication:
    """The nanopublication of the triples of three graphs, which name it by ``DRAFT``."""
    head = [Triple(DRAFT, vocab.TYPE, np("Nanopublication"))]
    head += [Triple(DRAFT, np(term), node(part)) for part, term in _PARTS.items()]
    quads = [
        quad_of(triple, node(part))
        for part, triples in {"Head": head, **parts}.items()
        for triple in dict.fromkeys(triples)
    ]
    if signer is not None:
        about, graph = node("sig"), node("pubinfo")
        quads += [quad_of(triple, graph) for triple in signer.statements(about, DRAFT)]
        quads.append(quad_of(signer.signature(about, normalized(quads, _PLACE)), graph))
    code = digest(quads, _PLACE)

    def named(term: Any) -> Any:
        if not isinstance(term, NamedNode):
            return term
        return NamedNode(term.value.replace(_PLACE, code))

    return split(Quad(*map(named, quad)) for quad in quads)[0]


def quad_of(triple: Triple, graph: Any) -> Quad:
    """A triple in a graph."""
    return Quad(triple.subject, triple.predicate, triple.object, graph)
