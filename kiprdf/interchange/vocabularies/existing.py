"""The definitions that a nexus has, as far as an ontology has to know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.vocabularies.schema import attribute_rules, definitions
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.store import Store

_IMPORTED_AT = "imported_at"
"""Every import writes this metadata key, and nobody else does."""


class Existing(NamedTuple):
    """The attributes of a definition, and whether an import made it."""

    attributes: JsonMap
    is_imported: bool = False

    @property
    def originals(self) -> list[Json]:
        """The IRIs that it has in ``same_as``, that of its making first."""
        return listed(self.attributes.get(SAME_AS))

    @property
    def rules(self) -> dict[str, JsonMap]:
        """The rules of its ``instance_schema`` by attribute."""
        return attribute_rules(self.attributes)

    def is_made_from(self, iris: Iterable[str]) -> bool:
        """Whether its words are those of an ontology for a term, and not the nexus's own."""
        return self.is_imported and bool(self.originals) and self.originals[0] in iris


Definitions: TypeAlias = Mapping[ConceptName, Existing]


def read_definitions(store: Store) -> dict[ConceptName, Existing]:
    """All definitions of a nexus."""
    return {
        ConceptName(concept.type, concept.name): Existing(
            attributes, _IMPORTED_AT in concept.metadata
        )
        for meta_type in META_TYPES
        for concept, attributes in definitions(store, meta_type)
    }


def listed(value: Json) -> list[Json]:
    """The items of a list; one value as a list, null as none."""
    return value if isinstance(value, list) else [] if value is None else [value]
