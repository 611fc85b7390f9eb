"""The data that the passes of an import share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.foreign import Foreign
from kiprdf.interchange.importing.identities import Identities
from kiprdf.interchange.importing.naming import Naming
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.rdf.literals import Json


@dataclass(frozen=True, slots=True)
class Context:
    """The statements, their names and identities, and the nexus with the IRIs of this import.

    ``metadata`` are those that the import gives to every element, ``originals`` what imports and
    merges noted of elements, by their ids.
    """

    foreign: Foreign
    naming: Naming
    index: ElementIndex
    identities: Identities
    metadata: JsonMap
    originals: Mapping[str, Json]
