"""The options of each capability, once for the library, the command line and the server.

A method of ``Nexus`` lists and documents its arguments. The functions that it calls take them as
one of these classes, which checks its values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Self

from kiprdf.arguments import KINDS, check, mapping_of
from kiprdf.budget import Budget
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError

if TYPE_CHECKING:
    import rdflib

    from kiprdf.arguments import MappingSources
    from kiprdf.interchange import files
    from kiprdf.interchange.formats import Format, Profile
    from kiprdf.interchange.formats.given_contexts import Contexts
    from kiprdf.interchange.formats.output import Advance
    from kiprdf.interchange.importing.names import Names
    from kiprdf.interchange.importing.plan import JsonMap
    from kiprdf.interchange.mapping import contexts
    from kiprdf.pages.publish import Facts
    from kiprdf.store import connecting

PROFILES = ("auto", "rdf11", "rdf12")
"""How a nexus in a store may keep links."""
_TYPES_OF_STORES: dict[str, tuple[Any, str]] = {
    "update_url": (str, "a URL"),
    "headers": (Mapping, "a map of names and values"),
    "index": ((str, os.PathLike), "a folder"),
    "base_iri": (str, "an IRI"),
    "read_only": (bool, "True or False"),
    "budget": (Budget, "a Budget"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Options:
    """Options that have the names of a method's arguments."""

    def __post_init__(self) -> None:
        names = (one.name for one in fields(self) if one.name in KINDS)
        check(**{name: getattr(self, name) for name in names})

    @classmethod
    def given(cls, arguments: Mapping[str, Any]) -> Self:
        """The options among the ``locals()`` with which a method begins."""
        names = (one.name for one in fields(cls) if one.init and one.name in arguments)
        return cls(**{name: arguments[name] for name in names})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _MappedOptions(_Options):
    """Options with a mapping."""

    mapping: MappingSources = None
    vocabulary: contexts.Mapping | None = field(init=False)
    """What ``mapping`` stands for; several are stacked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "vocabulary", mapping_of(self.mapping))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ConnectOptions(_Options):
    """The arguments of ``Nexus.connect``, without those that only the nexus itself needs."""

    target: str | rdflib.Graph
    update_url: str | None = None
    default_graph: str | None = None
    profile: connecting.Profile = "auto"
    auth: tuple[str, str] | str | None = None
    headers: Mapping[str, str] | None = None
    index: str | os.PathLike[str] | None = None
    base_iri: str | None = None
    read_only: bool = False
    history: bool = False
    budget: Budget | None = None

    def __post_init__(self) -> None:
        check(history=self.history)
        if self.history:
            raise KipError(
                "KIP_1001",
                "A nexus in a SPARQL store has no history: other programs may write to the store.",
                "Leave history out, or use Nexus.open(folder).",
            )
        if not isinstance(self.target, str):
            return  # a graph of rdflib takes few of the options
        if self.profile not in PROFILES:
            names = ", ".join(PROFILES)
            raise StoreError(f"profile must be one of {names}, not {self.profile!r}.")
        for name, (kinds, words) in _TYPES_OF_STORES.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kinds):
                raise StoreError(f"{name} must be {words}, not {type(value).__name__}.")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SnapshotOptions(_MappedOptions):
    """The arguments of ``Nexus.snapshot`` and ``write_snapshot``: what is written, and how."""

    format: Format | None = None
    profile: Profile = "rdf11"
    domain: str | None = None
    select: str | None = None
    engine_metadata: bool = True
    advance: Advance | None = None
    only: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.only and (self.vocabulary is None or not self.vocabulary.is_original):
            message = "Only the mapping 'original' can select imported knowledge."
            raise KipError("KIP_1001", message, 'Give mapping="original", or leave only out.')

    @property
    def is_whole(self) -> bool:
        """Whether the snapshot has the whole dataset, in its own terms."""
        return self.engine_metadata and not (
            self.mapping or self.domain or self.select or self.only
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishOptions(_MappedOptions):
    """The arguments of ``Nexus.publish``."""

    title: str | None = None
    description: str | None = None
    publisher: str | None = None
    license: str | None = None
    address: str | None = None
    facts: Facts | None = None
    advance: Advance | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DocumentOptions(_MappedOptions):
    """What ``Nexus.import_rdf`` and ``import_ontology`` have in common."""

    format: Format | None = None
    base_iri: str | None = None
    metadata: JsonMap | None = None
    context: Contexts | None = None
    loader: contexts.Loader | None = None
    names: Names | None = None
    also: Sequence[files.Source] = ()
    update: bool = True
    lenient: bool = False
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ImportOptions(DocumentOptions):
    """The arguments of ``Nexus.import_rdf``."""

    source: str | None = None
    replace: bool = False
    ontology: bool = False
    define: bool = False
    default_type: str | None = None
    language: str | None = None
    every_link: bool = field(default=False, init=False)
    """Whether every IRI that a property links becomes a concept, described or not."""

    def of_ontology(self) -> OntologyOptions:
        """Those of the import of the definitions in the same document."""
        given = {one.name: getattr(self, one.name) for one in fields(DocumentOptions) if one.init}
        if self.source is not None:
            given["metadata"] = {**(self.metadata or {}), "source": self.source}
        return OntologyOptions(**given)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NanopublicationOptions(ImportOptions):
    """The arguments of ``Nexus.import_nanopublications``."""

    define: bool = True
    default_type: str | None = "Thing"
    source: str | None = field(default=None, init=False)
    every_link: bool = field(default=True, init=False)
    trusted: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OntologyOptions(DocumentOptions):
    """The arguments of ``Nexus.import_ontology``."""

    inherit: bool = False
