"""Single facts of a nexus as nanopublications, and nanopublications as facts (decision 216)."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.errors import KipError
from kiprdf.execution import imports
from kiprdf.execution.engine import CommandEngine
from kiprdf.interchange import files, mapped, proofs, provenance
from kiprdf.interchange.formats import graphs, guard_xml, parsing
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.prefixes import namespaces
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.reading import rebased
from kiprdf.interchange.formats.writing import write_foreign
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing import importer
from kiprdf.interchange.importing.element_index import (
    IMPORTED_AT,
    SAME_AS,
    ElementIndex,
    read_element_index,
)
from kiprdf.interchange.importing.node_values import GRAPH, GRAPH_VALUES
from kiprdf.interchange.importing.plan import ImportPlan, JsonMap
from kiprdf.interchange.importing.values import one_or_all
from kiprdf.interchange.imports import Document
from kiprdf.interchange.knowledge import PERSON, Knowledge
from kiprdf.interchange.vocabularies.standards import Namespace, dc, dcterms, prov, xsd
from kiprdf.kml.draft import timestamp
from kiprdf.kml.merged_origins import ORIGINAL
from kiprdf.kml.statements import Concept, Proposition
from kiprdf.loading import load
from kiprdf.rdf import elements, vocab
from kiprdf.rdf.elements import json_map, metadata, read_element
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import canonical_json
from kiprdf.sharing import nanopublication_form as form
from kiprdf.sharing import nanopublication_signatures as signatures
from kiprdf.sharing.conflicts import CONFLICT
from kiprdf.sharing.nanopublication_form import DRAFT, Nanopublication, np, npx
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping
    from kiprdf.options import NanopublicationOptions

pav = Namespace("http://purl.org/pav/")
SOURCE, VIA = "source", "via"
"""The metadata keys with the nanopublication that a fact comes from; the second where it came from
another nexus, whose own source it has."""
_SHOWN = frozenset((vocab.TYPE, vocab.LABEL, vocab.attribute(SAME_AS)))
"""What is of_metadata of the ends of a fact, so that it can be understood."""
_OWN_KEYS = (*vocab.ENGINE_KEYS, IMPORTED_AT, GRAPH, GRAPH_VALUES, ORIGINAL, CONFLICT)
_UNSENT = frozenset(map(vocab.metadata, _OWN_KEYS))
"""The metadata that a nexus notes for itself."""
_NAMING = ("author", SOURCE, "evidence", "superseded_by", "license")
"""The metadata keys whose texts may name elements."""


def nanopublication(
    engine: CommandEngine, id: str, mapping: Mapping | None, key: object = None
) -> str:
    """A proposition, and what is known of it, in TriG; signed, if there is a key."""
    # The faults of a key are not those of the engine.
    signer = None if key is None else signatures.Signer(key)
    store = engine.store
    one = engine.boundary.run(
        lambda: store.read(lambda: form.complete(_of(store, id, mapping), signer))
    )
    content = io.BytesIO()
    prefixes = {
        **namespaces(store.iris, {} if mapping is None else mapping.prefixes),
        **provenance.PREFIXES,
        "np": np,
        "npx": npx,
        "this": one.iri.value,
        "sub": f"{one.iri.value}#",
    }
    write_foreign(one.quads, content, "trig", prefixes)
    return content.getvalue().decode()


def _of(store: Store, id: str, mapping: Mapping | None) -> dict[str, Iterable[Triple]]:
    if mapping is not None and mapping.is_original:
        message = "A nanopublication is not written with the mapping original."
        raise KipError("KIP_1001", message, "Give what nexus.context() or kiprdf context writes.")
    link = store.iris.from_id(id) if isinstance(id, str) else None
    fact = None if link is None else read_element(store.iris, link, store.describe(link))
    if not isinstance(fact, elements.Proposition):
        message = f"There is no proposition {id}."
        raise KipError("KIP_3002", message, "Read its id with FIND(?link.id).")
    knowledge = Knowledge.of(_needed(store, fact), store.iris)
    about = form.node("assertion")

    def written(triples: Iterable[Triple]) -> Iterator[Triple]:
        own: Iterable[Triple] = normalized(triples)
        if mapping is not None:
            own = mapped.applied(own, store.iris, mapping)
        return to_profile(own, "rdf11")

    stated = list(dict.fromkeys(_stated(store, fact.node)))
    of_metadata = [
        t for t in store.describe(fact.node) if _is_metadata(t) and t.predicate not in _UNSENT
    ]
    origin = [
        Triple(about, prov("specializationOf"), fact.node),
        *provenance.of_element(knowledge, fact, about),
    ]
    return {
        "assertion": written(stated),
        "provenance": [*map(_checkable, origin), *written(of_metadata)],
        "pubinfo": map(_checkable, _published(store, knowledge, fact, stated)),
    }


def _needed(store: Store, fact: elements.Proposition) -> Iterator[Triple]:
    """What the provenance of a fact needs: it, what it is derived from, what its metadata name."""
    texts = [t for key in _NAMING for t in listed(metadata(fact, key)) if isinstance(t, str)]
    named = [store.iris.from_id(text) for text in texts]
    people = [store.iris.concept(PERSON, text) for text in texts if text]
    yield from proofs.described(store, [fact.node])
    for node in filter(None, (*named, *people)):
        yield from store.describe(node)


def _stated(store: Store, link: NamedNode) -> Iterator[Triple]:
    """A fact and its attributes, and of its ends what says which they are."""
    pending = [link]
    for node in pending:
        for triple in store.describe(node):
            if triple.predicate == vocab.REIFIES:
                fact = cast(Triple, triple.object)
                yield from (triple, fact)
                ends = (cast(NamedNode, end) for end in (fact.subject, fact.object))
                pending += [end for end in ends if end not in pending]
            elif triple.predicate in _SHOWN or (node == link and not _is_metadata(triple)):
                yield triple


def _is_metadata(triple: Triple) -> bool:
    return triple.predicate.value.startswith(vocab.METADATA)


def _published(
    store: Store, knowledge: Knowledge, fact: elements.Proposition, stated: list[Triple]
) -> Iterator[Triple]:
    """Who made a nanopublication and when, its license, its nexus, and labels of what it uses."""
    yield Triple(DRAFT, vocab.BASE, Literal(store.iris.base))
    for key in (vocab.UPDATED_AT, vocab.CREATED_AT):
        if (moment := provenance.time_literal(metadata(fact, key))) is not None:
            yield Triple(DRAFT, dcterms("created"), moment)
            break
    creators = list(provenance.of_author(knowledge, DRAFT, fact))
    actor = metadata(fact, vocab.ACTOR)
    if not creators and isinstance(actor, str):
        creators = [Triple(DRAFT, dc("creator"), Literal(actor))]
    yield from creators
    for text in listed(metadata(fact, "license")):
        resource = provenance.resource_of(knowledge, text) if isinstance(text, str) else None
        if resource is not None:
            yield Triple(DRAFT, dcterms("license"), resource)
    for term in dict.fromkeys(
        t.object if t.predicate == vocab.TYPE else t.predicate for t in stated
    ):
        yield from store.match(cast(NamedNode, term), vocab.LABEL, None)


def _checkable(triple: Triple) -> Triple:
    """A triple with its time as tools of Python write it, which digest what they have read."""
    value = triple.object
    if isinstance(value, Literal) and value.datatype == xsd("dateTime"):
        moment = datetime.fromisoformat(value.value).isoformat()
        return Triple(triple.subject, triple.predicate, Literal(moment, datatype=value.datatype))
    return triple


# Importing ------------------------------------------------------------------------------------


def import_nanopublications(
    engine: CommandEngine, source: Any, options: NanopublicationOptions
) -> dict[str, Any]:
    """Import all nanopublications of one or several documents, or none; return the report."""
    quads: dict[Quad, None] = {}
    warnings: list[str] = []
    for one in source if isinstance(source, list) else [source]:
        read, noted = _read(one, options)
        quads.update(dict.fromkeys(read))
        warnings += noted
    signed = list(signatures.require_trusted(form.split(quads), options.trusted))
    document = _Document(signed, warnings, options, timestamp(engine.clock()))
    report = imports.run(engine, cast(Document, document), dry_run=options.dry_run)
    return {"nanopublications": document.entries, **report}


def _read(source: Any, options: NanopublicationOptions) -> tuple[list[Quad], list[str]]:
    """The quads of a document, which is in TriG where nothing says otherwise."""
    if graphs.is_graph(source):
        return parsing.parse_foreign(graphs.to_nquads(source), "nquads")
    content = files.content(source)
    format = options.format or files.format_of(source) or "trig"
    text = content if isinstance(content, str) else content[:9999].decode("utf-8", "replace")
    if text.lstrip("\ufeff \t\r\n").startswith("<") and "<TriX" in text[:9999]:
        return parsing.parse_foreign(_from_trix(content), "nquads")
    return parsing.parse_foreign(content, format)


def _from_trix(content: str | bytes) -> str:
    """The N-Quads of TriX, which only rdflib reads."""
    load("rdflib")
    import rdflib

    dataset = rdflib.Dataset()
    dataset.parse(data=guard_xml.checked(parsing.decoded(content, "rdfxml")), format="trix")
    return graphs.to_nquads(dataset)


class _Document:
    """Nanopublications, ready to be planned for a store."""

    text = None

    def __init__(
        self,
        signed: list[tuple[Nanopublication, list[str]]],
        warnings: list[str],
        options: NanopublicationOptions,
        imported_at: str,
    ) -> None:
        self._every, self._warnings = [one for one, _ in signed], warnings
        self._signers = {one.iri: signers for one, signers in signed}
        self._options, self._imported_at = options, imported_at
        self.entries: list[dict[str, Any]] = []
        """What the report says of each, after the last plan."""

    def plan(self, store: Store) -> ImportPlan:
        """The elements that they become in a store."""
        quads = [quad for one in self._every for quad in _facts(one, store.iris.base)]
        index = read_element_index(store)
        plan = importer.plan(quads, self._options, index, provenance={})
        before = {key: index.metadata(key) for key in (SOURCE, VIA)}
        by_graph = {one.graphs["assertion"].value: one for one in self._every}
        origins = {one.iri: (_main_id(one), _provenance_of(one)) for one in self._every}
        stated_by: dict[str, set[str]] = defaultdict(set)
        """The graphs that state an element, by its id."""
        facts: dict[str, list[str]] = defaultdict(list)
        """The ids of the facts of each graph."""
        for fact in plan.propositions:
            for graph in listed(fact.metadata.get(GRAPH)):
                facts[graph].append(fact.key)
                for id in (fact.key, fact.subject, fact.object):
                    stated_by[id].add(graph)

        def with_origin(element: Concept[str] | Proposition[str]) -> JsonMap:
            stated = dict(element.metadata)
            names = stated_by[element.key].union(listed(stated.get(GRAPH)))
            every = [by_graph[name] for name in sorted(names)]
            is_foreign = any(one.origin is None for one in every)
            for key in (*_NOTES, *(_OF_ORIGIN if is_foreign else ())):
                stated.pop(key, None)
            is_new, is_fact = element.key not in plan.existing, isinstance(element, Proposition)
            for one in every if is_new and is_fact else ():
                main, provenance = origins[one.iri]
                if one.origin is None:
                    stated |= provenance
                elif main == element.key:
                    stated = {**provenance, **stated}
            brings = is_new or (is_fact and not _has(index, replace(element, metadata=stated)))
            for key, own in ((SOURCE, False), (VIA, True)):
                iris = [one.iri.value for one in every if (one.origin is not None) == own]
                if iris and (brings or (is_fact and key == SOURCE)):
                    earlier = listed(before[key].get(element.key))
                    stated[key] = one_or_all(list(dict.fromkeys([*earlier, *iris])))
            if is_new and is_foreign:
                stated[IMPORTED_AT] = self._imported_at
            return stated

        concepts = [replace(one, metadata=with_origin(one)) for one in plan.concepts]
        propositions = [replace(one, metadata=with_origin(one)) for one in plan.propositions]
        self.entries = [
            {
                "iri": one.iri.value,
                "propositions": facts[name],
                "signers": self._signers[one.iri],
                **_withdrawals(one),
            }
            for name, one in by_graph.items()
        ]
        warnings = [*plan.warnings, *self._warnings, *_withdrawn(self.entries, before)]
        return replace(plan, concepts=concepts, propositions=propositions, warnings=warnings)


def _has(index: ElementIndex, fact: Concept[str] | Proposition[str]) -> bool:
    """Whether the nexus has all that is stated of a fact."""
    link = index.link(fact.key)
    if link is None:
        return False
    before = [json_map(link.attributes), json_map(link.metadata)]
    after = [before[0] | dict(fact.attributes), before[1] | dict(fact.metadata)]
    return canonical_json(before) == canonical_json(after)


def _main_id(one: Nanopublication) -> str | None:
    """The id of the proposition that a nanopublication of another nexus is of."""
    values = one.values("provenance", prov("specializationOf"))
    iris = [value.value for value in values if isinstance(value, NamedNode)]
    name = Iris(one.origin or "").name(iris[0]) if len(iris) == 1 else None
    return None if name is None else name.id


def _facts(one: Nanopublication, base: str) -> Iterable[Quad]:
    """The quads of the assertion; of one of another nexus also the metadata of its facts, and all
    below the base of this one."""
    assertion = one.graphs["assertion"]
    quads = [form.quad_of(triple, assertion) for triple in one.of("assertion")]
    if one.origin is None:
        return quads
    links = {quad.subject for quad in quads if quad.object == vocab.STATEMENT}
    quads += [form.quad_of(t, assertion) for t in one.of("provenance") if t.subject in links]
    return (form.quad_of(q.triple, assertion) for q in rebased(quads, one.origin, base))


def _provenance_of(one: Nanopublication) -> JsonMap:
    """Who says a fact, since when, with which license and by which evidence."""
    values_of: JsonMap = {}
    for key, properties in _METADATA.items():
        named = one.values("provenance", *properties) or one.values("pubinfo", *properties)
        values = [value.value for value in named if not isinstance(value, BlankNode)]
        if values and (key != "evidence" or one.origin is None):
            values_of[key] = one_or_all(values)
    return values_of


_METADATA = {
    "author": [
        prov("wasAttributedTo"),
        *(pav(name) for name in ("authoredBy", "createdBy")),
        *(space("creator") for space in (dcterms, dc)),
    ],
    "created_at": [prov("generatedAtTime"), dcterms("created"), pav("createdOn")],
    "license": [dcterms("license"), dcterms("rights")],
    "evidence": [
        *(prov(name) for name in ("hadPrimarySource", "wasDerivedFrom")),
        *(space("source") for space in (dcterms, dc)),
    ],
}
"""The properties of metadata, in the provenance or else in the publication info."""
_NOTES = (GRAPH, GRAPH_VALUES, VIA, IMPORTED_AT, CONFLICT)
"""What each nexus notes for itself."""
_OF_ORIGIN = (SOURCE, *_METADATA)
"""What the assertion of another tool cannot say itself."""


def _withdrawals(one: Nanopublication) -> dict[str, list[str]]:
    """The nanopublications that one retracts, and that it supersedes."""
    return {
        name: sorted(
            {
                t.object.value
                for t in one.triples
                if t.predicate == npx(name) and isinstance(t.object, NamedNode)
            }
        )
        for name in ("retracts", "supersedes")
    }


def _withdrawn(entries: Iterable[dict[str, Any]], arrivals: dict[str, JsonMap]) -> Iterator[str]:
    """A sentence for each nanopublication that is withdrawn and from which facts came."""
    came: dict[str, set[str]] = defaultdict(set)
    for origins in arrivals.values():
        for id, value in origins.items():
            for iri in listed(value):
                if isinstance(iri, str):
                    came[iri].add(id)
    for entry in entries:
        for name in ("retracts", "supersedes"):
            for iri in entry[name]:
                if iri in came:
                    number = len(came[iri])
                    yield f"<{entry['iri']}> {name} <{iri}>. Of it came {number} elements."
