"""What an import would write: plain data, a report, and the UPSERT that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kiprdf.interchange.importing.foreign import Skipped
from kiprdf.kml import statements
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json

JsonMap = dict[str, Json]


@dataclass(slots=True)
class PlannedConcept:
    """A concept to be created or updated; attributes and metadata are merged key by key."""

    type: str
    name: str
    attributes: JsonMap = field(default_factory=dict)
    metadata: JsonMap = field(default_factory=dict)
    is_new: bool = True

    @property
    def id(self) -> str:
        return ConceptName(self.type, self.name).id


@dataclass(slots=True)
class PlannedProposition:
    """A proposition to be created or updated; its ends are ids, of the plan or of the nexus."""

    id: str
    subject: str
    predicate: str
    object: str
    attributes: JsonMap = field(default_factory=dict)
    metadata: JsonMap = field(default_factory=dict)
    is_new: bool = True


class ReplacedText(NamedTuple):
    """An IRI that an earlier import stored as a string and that is a proposition now."""

    id: str
    key: str
    text: str


@dataclass(slots=True)
class Plan:
    """Definitions, concepts, propositions, each after those that it refers to.

    ``metadata`` is written to all of them. ``skipped`` lists what is left out, and why,
    ``warnings`` what users may not expect. ``replaced_texts`` are strings of the nexus that are
    propositions now, ``superseded`` maps ids of concepts to those that replace them. Without
    ``update`` only new elements are written. ``changed`` are the ids of what was changed, set by
    the nexus when it carries the plan out.
    """

    definitions: list[PlannedConcept] = field(default_factory=list)
    concepts: list[PlannedConcept] = field(default_factory=list)
    propositions: list[PlannedProposition] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metadata: JsonMap = field(default_factory=dict)
    replaced_texts: list[ReplacedText] = field(default_factory=list)
    superseded: dict[str, str] = field(default_factory=dict)
    update: bool = True
    triples: int = 0
    changed: frozenset[str] = frozenset()

    def report(self) -> dict[str, Any]:
        """Counts, created definitions, and everything skipped with its reason, as JSON."""
        return {
            "triples": self.triples,
            "concepts": self._counts(self.concepts),
            "propositions": self._counts(self.propositions),
            "definitions": {
                "concept_types": [d.name for d in self.definitions if d.type == META_TYPES[0]],
                "predicates": [d.name for d in self.definitions if d.type == META_TYPES[1]],
            },
            "skipped": [skipped._asdict() for skipped in self.skipped],
            "warnings": list(self.warnings),
        }

    def _counts(
        self, elements: Sequence[PlannedConcept] | Sequence[PlannedProposition]
    ) -> dict[str, int]:
        created = sum(element.is_new for element in elements)
        updated = sum(not one.is_new and one.id in self.changed for one in elements)
        unchanged = len(elements) - created - updated
        return {"created": created, "updated": updated, "unchanged": unchanged}


def to_upsert(plan: Plan) -> ast.Upsert:
    """The plan as one UPSERT block: definitions, concepts, propositions, in this order.

    It runs as any other UPSERT: checked, protected, one transaction. Without anything to write it
    has no block.
    """
    elements: list[statements.Element[str]] = [
        *(
            statements.Concept(c.id, c.type, c.name, c.attributes, c.metadata)
            for c in (*plan.definitions, *plan.concepts)
            if plan.update or c.is_new
        ),
        *(
            statements.Proposition(p.id, p.subject, p.predicate, p.object, p.attributes, p.metadata)
            for p in plan.propositions
            if plan.update or p.is_new
        ),
    ]
    return statements.upsert(elements, lambda id: id, plan.metadata)
