"""Writes datasets of a nexus, and parts of them, in every format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import (
    NAMES,
    Format,
    Profile,
    check_format,
    check_profile,
    jsonld,
    rdfxml,
    turtle,
)
from kiprdf.interchange.formats.ordering import Dataset, Reification, normalized
from kiprdf.interchange.formats.output import Advance, Output
from kiprdf.interchange.formats.profiles import to_text
from kiprdf.interchange.staging_store import StagingStore
from kiprdf.loading import load
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping

_ENGINE_METADATA = frozenset(NamedNode(vocab.METADATA + key) for key in vocab.ENGINE_KEYS)


class Serializer:
    """Has read a dataset, and writes it in one format, the same text for the same triples.

    The triples are those of a store, in any order; a part of a dataset is written alike. With a
    mapping it is written in its vocabulary. Raises KIP_1001 for an unknown format or profile.
    """

    def __init__(
        self,
        triples: StagingStore | Iterable[Triple],
        format: Format,
        iris: Iris,
        *,
        profile: Profile = "rdf11",
        mapping: Mapping | None = None,
        engine_metadata: bool = True,
    ) -> None:
        check_format(format)
        check_profile(profile)
        if format in ("jsonld", "rdfxml") and profile != "rdf11":
            message = f"{NAMES[format]} does not support RDF 1.2."
            raise KipError("KIP_1001", message, 'Use the profile "rdf11", or another format.')
        self._format = format
        self._iris = iris
        self._mapping = mapping
        reification: Reification = "triples"
        if profile == "rdf11":
            reification = "statements"
        elif format in ("turtle", "trig"):
            reification = "annotations"
        if not engine_metadata:
            triples = (triple for triple in triples if triple.predicate not in _ENGINE_METADATA)
        if mapping is not None:
            load("kiprdf.interchange.mapped")
            from kiprdf.interchange.mapped import applied

            triples = applied(normalized(triples), iris, mapping)

        def convert(text: str) -> str:
            if format == "rdfxml":
                return rdfxml.to_text(text)
            return to_text(text, directions=profile == "rdf12" or format == "jsonld")

        # Annotations join a link and its fact, and the terms of a mapping depend on all values.
        is_sorted_on_disk = mapping is None and reification != "annotations"
        self._dataset = Dataset(triples, reification, convert, iris if is_sorted_on_disk else None)

    def write(
        self,
        target: IO[bytes],
        *,
        prefixes: dict[str, str] | None = None,
        advance: Advance | None = None,
    ) -> int:
        """Write the dataset, once; returns the number of triples
        in the document.

        It may use ``prefixes`` besides those of the dataset and the mapping. ``advance`` is called
        with the number of triples written since its last call. Raises KIP_1001 for what a format
        cannot express.
        """
        mapped = {} if self._mapping is None else self._mapping.prefixes
        every_prefix = {**mapped, **(prefixes or {})}
        with Output(target, advance) as output:
            match self._format:
                case "turtle" | "trig":
                    turtle.write(self._dataset, output, self._iris, every_prefix)
                case "ntriples" | "nquads":
                    turtle.write_lines(self._dataset, output, self._iris)
                case "jsonld":
                    jsonld.write(self._dataset, output, self._iris, self._mapping)
                case "rdfxml":
                    rdfxml.write(self._dataset, output, self._iris, every_prefix)
        return output.triples
