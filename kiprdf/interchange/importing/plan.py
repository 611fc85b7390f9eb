"""The plan of an import: plain data, a report, and the UPSERT that writes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from kiprdf.dataclasses import dataclass
from kiprdf.interchange.formats.lenient import BadLine
from kiprdf.interchange.importing.external import Skipped
from kiprdf.kml import statements
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json

JsonMap = dict[str, Json]
Concept: TypeAlias = statements.Concept[str]
Proposition: TypeAlias = statements.Proposition[str]
Element: TypeAlias = Concept | Proposition
"""An element by its id; the ends of a proposition are ids, of the plan or of the nexus."""


def concept(name: ConceptName, attributes: JsonMap, metadata: JsonMap | None = None) -> Concept:
    """A concept to be created or updated; attributes and metadata are merged key by key."""
    return statements.Concept(name.id, name.type, name.name, attributes, metadata or {})


class ReplacedText(NamedTuple):
    """An IRI that an earlier import stored as a string and that is a proposition now."""

    id: str
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Definitions, concepts, propositions, each after those that it refers to.

    ``recorded`` is what definitions record: the IRIs that their instances had in the data.
    ``existing`` are the ids of those concepts and propositions that the nexus has. ``metadata`` is
    written to all elements. ``skipped`` lists what is left out, and why, ``warnings`` what users
    may not expect. ``replaced_texts`` are strings of the nexus that are propositions now,
    ``superseded`` maps ids of concepts to those that replace them. Without ``update`` only new
    elements are written. ``same`` are the ids of those that state nothing new.
    What a ``source`` states is noted; if the plan ``replaces``, what it no longer states ends.
    ``statements`` are the identities of the statements that make the same fact, by its id, where
    the nexus has others of it or there are several.
    """

    definitions: Sequence[Concept] = ()
    concepts: Sequence[Concept] = ()
    propositions: Sequence[Proposition] = ()
    existing: frozenset[str] = frozenset()
    skipped: Sequence[Skipped | BadLine] = ()
    warnings: Sequence[str] = ()
    metadata: JsonMap = field(default_factory=dict)
    replaced_texts: Sequence[ReplacedText] = ()
    superseded: Mapping[str, str] = field(default_factory=dict)
    update: bool = True
    triples: int = 0
    recorded: Sequence[Concept] = ()
    same: frozenset[str] = frozenset()
    source: str | None = None
    replaces: bool = False
    statements: Mapping[str, list[list[Json]]] = field(default_factory=dict)

    def report(self, changed: Collection[str] = (), erased: Collection[str] = ()) -> dict[str, Any]:
        """Counts, created definitions, and everything skipped with its reason, as JSON.

        ``changed`` are the ids of the elements that carrying out the plan changed, ``erased`` those
        that the erasure list names, of which the report has the number.
        """
        return {
            "triples": self.triples,
            "concepts": self._counts(self.concepts, changed, erased),
            "propositions": self._counts(self.propositions, changed, erased),
            **({"erased": len(erased)} if erased else {}),
            "definitions": {
                "concept_types": [d.name for d in self.definitions if d.type == META_TYPES[0]],
                "predicates": [d.name for d in self.definitions if d.type == META_TYPES[1]],
            },
            "skipped": [skipped._asdict() for skipped in self.skipped],
            "warnings": list(self.warnings),
        }

    def _counts(
        self, elements: Sequence[Element], changed: Collection[str], erased: Collection[str]
    ) -> dict[str, int]:
        ids = {element.key for element in elements}.difference(erased)
        updated = len((ids & self.existing).intersection(changed))
        created = len(ids - self.existing)
        return {"created": created, "updated": updated, "unchanged": len(ids) - created - updated}


def written(plan: ImportPlan) -> list[Element]:
    """What a plan writes: definitions, concepts, propositions, in this order."""
    kept = plan.same if plan.update else plan.same | plan.existing
    elements: tuple[Element, ...] = (*plan.definitions, *plan.concepts, *plan.propositions)
    return [one for one in elements if one.key not in kept]


def to_upsert(
    plan: ImportPlan, elements: Sequence[Element] | None = None, most: int | None = None
) -> ast.Upsert:
    """The plan as one UPSERT, or that of some of its elements, with the first blocks only.

    It runs as any other UPSERT: checked, protected, one transaction. Without anything to write it
    has no block. What is recorded in definitions gets no metadata of the import.
    """
    elements = written(plan) if elements is None else elements
    command = statements.upsert(elements, lambda id: id, plan.metadata, most)
    recorded = statements.upsert(plan.recorded, lambda id: id)
    return ast.Upsert((*command.blocks, *recorded.blocks))
