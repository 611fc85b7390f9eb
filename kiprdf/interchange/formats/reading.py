"""Datasets of a nexus, read back from every format in which they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.formats import jsonld, native
from kiprdf.interchange.formats.names import NAMES, Format, check_format
from kiprdf.interchange.formats.ordering import FORMAT
from kiprdf.interchange.formats.parsing import check_tokens, checked_quads, decoded, quads
from kiprdf.interchange.formats.profiles import from_profile, read_value, reified
from kiprdf.interchange.staging_store import StagingStore, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, base_fault
from kiprdf.rdf.literals import normal

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping

_HEADER = re.compile(r"# kiprdf (\d{1,9}) base <([^>\n]*)>")
_OF_ONE_GRAPH = ("turtle", "ntriples", "rdfxml")
_XML_HEADER = re.compile(r"\s*(?:<\?xml\s[^>]*\?>\s*)?<\?kiprdf (\d{1,9}) base <([^>\n]*)>")


def read(
    content: str | bytes,
    format: Format,
    base: str,
    *,
    source_base: str | None = None,
    mapping: Mapping | None = None,
) -> list[Triple]:
    """The triples of a snapshot in any format and either profile, as the store holds them, each
    once.

    The base of the snapshot is the one it names at its beginning, or ``source_base``; its IRIs
    move to ``base``. A snapshot that was written with a mapping is read with it. Raises KIP_1001
    with line and column for a broken text, KIP_4002 for one that nests too deeply, KIP_2002 for
    what is no dataset of one graph.
    """
    return list(stage(content, format, base, source_base=source_base, mapping=mapping))


def stage(
    content: str | bytes,
    format: Format,
    base: str,
    *,
    source_base: str | None = None,
    mapping: Mapping | None = None,
) -> StagingStore:
    """The same, in an engine of their own."""
    check_format(format)
    text = decoded(content, format)
    origin = base_of(text, format) if source_base is None else source_base
    if origin is None:
        message = f"The {NAMES[format]} does not begin with the base of its IRIs, as ours does."
        raise KipError("KIP_1001", message, "Give base_iri, the base of its IRIs.")
    fault = base_fault(origin)
    if fault is not None:
        raise KipError("KIP_1001", f"The base <{origin}> {fault}.", "Correct the base.")
    found: Iterable[Quad]
    if format in native.FORMATS:
        tokens = check_tokens(text, format)
        is_as_told = origin == base and mapping is None
        staged = native.loaded(text, format, tokens) if is_as_told else None
        if staged is not None:
            _respell(staged, Iris(base), _value_of)
            return staged
        found = checked_quads(text, format)
    else:
        found = quads(text, format)
    return _restored(_default_graph(found, format), origin, base, mapping)


def base_of(text: str, format: Format) -> str | None:
    """The base that a snapshot names at its beginning; None where there is none.

    Raises KIP_1001 for a snapshot of a newer format.
    """
    if format == "jsonld":
        return jsonld.base_of(text)
    match = (_XML_HEADER if format == "rdfxml" else _HEADER).match(text)
    if match is None:
        return None
    if int(match.group(1)) > FORMAT:
        message = f"The snapshot has format {match.group(1)}; this kiprdf reads {FORMAT}."
        raise KipError("KIP_1001", message, "Use a newer kiprdf.")
    return match.group(2)


def restored(triples: Iterable[Triple], base: str, mapping: Mapping | None = None) -> StagingStore:
    """The dataset that triples of either profile stand for, under their own base."""
    return _restored((Quad(*triple) for triple in triples), base, base, mapping)


def _restored(
    found: Iterable[Quad], origin: str, base: str, mapping: Mapping | None
) -> StagingStore:
    if mapping is None:
        staged = StagingStore.of(_rebased(reified(found, Quad), origin, base))
        _respell(staged, Iris(base), _value_of)
        return staged
    from kiprdf.interchange.mapping.apply import undo_mapping

    # Before the base moves: a text that a mapping made an IRI does not move with it.
    triples = undo_mapping(from_profile(quad.triple for quad in found), Iris(origin), mapping)
    staged = StagingStore.of(_rebased((Quad(*triple) for triple in triples), origin, base))
    _respell(staged, Iris(base), normal)
    return staged


def _value_of(literal: Literal) -> Literal | NamedNode:
    return normal(read_value(literal))


def _respell(
    staged: StagingStore, iris: Iris, told: Callable[[Literal], Literal | NamedNode]
) -> None:
    """Put values into our spelling, except what the engine has its own spelling for."""

    def respelled(term: Term) -> Term:
        is_ours = not isinstance(term, Literal) or term.datatype == vocab.DOUBLE
        return term if is_ours else told(cast(Literal, term))

    for predicate in list(staged.counts()):
        # Facts, by far the most different objects, have no values.
        if predicate != vocab.REIFIES and not predicate.value.startswith(iris.predicates):
            staged.change_objects(predicate, respelled)


def _default_graph(found: Iterable[Quad], format: Format) -> Iterable[Quad]:
    """Quads of which none has another graph; KIP_2002 when one comes."""

    def checked() -> Iterator[Quad]:
        for quad in paced(found):
            if not isinstance(quad.graph_name, DefaultGraph):
                message = f"The snapshot holds the named graph {quad.graph_name}."
                raise KipError("KIP_2002", message, "A nexus is one graph, the default graph.")
            yield quad

    return found if format in _OF_ONE_GRAPH else checked()


def _rebased(quads: Iterable[Quad], origin: str, base: str) -> Iterable[Quad]:
    """Quads with the IRIs of one base moved to another."""

    def moved(term: Any) -> Any:
        if isinstance(term, NamedNode):
            rest = term.value.removeprefix(origin)
            return term if rest == term.value else NamedNode(base + rest)
        return Triple(*map(moved, term)) if isinstance(term, Triple) else term

    return quads if origin == base else (Quad(*map(moved, quad.triple)) for quad in paced(quads))
