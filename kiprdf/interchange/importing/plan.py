"""What an import would write: plain data, its report, and the UPSERT that writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kiprdf.budget import paced
from kiprdf.interchange.importing.foreign import Skipped
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.language.parameters import from_json
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
    """A fact to be created or updated; its ends are ids, of the plan or of the nexus."""

    id: str
    subject: str
    predicate: str
    object: str
    attributes: JsonMap = field(default_factory=dict)
    metadata: JsonMap = field(default_factory=dict)
    is_new: bool = True


class StaleText(NamedTuple):
    """An IRI that an earlier import kept as a text, and that this one makes a proposition of."""

    id: str
    key: str
    text: str


@dataclass(slots=True)
class Plan:
    """Definitions, then concepts, then propositions, each behind those that it stands on.

    ``metadata`` is for all of them. ``skipped`` tells what is left out, and why; ``warnings`` what
    a reader may not expect. ``stale`` are texts of the nexus that propositions stand for now,
    ``outgrown`` the ids of concepts that become others. Without ``update`` what is there stays as
    it is. ``changed`` are the ids of what a nexus would write, once it has tried.
    """

    definitions: list[PlannedConcept] = field(default_factory=list)
    concepts: list[PlannedConcept] = field(default_factory=list)
    propositions: list[PlannedProposition] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metadata: JsonMap = field(default_factory=dict)
    stale: list[StaleText] = field(default_factory=list)
    outgrown: dict[str, str] = field(default_factory=dict)
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

    It runs as any other UPSERT: checked, protected, one transaction. What others of the plan
    refer to has a handle, everything else is named by its id. Without anything to write it has
    no block.
    """
    concepts = [c for c in (*plan.definitions, *plan.concepts) if plan.update or c.is_new]
    links = [link for link in plan.propositions if plan.update or link.is_new]
    if not concepts and not links:
        return ast.Upsert(())
    handles = _handles(concepts, links)
    items: list[ast.ConceptBlock | ast.PropositionBlock] = []
    items.extend(_concept_block(concept, handles) for concept in paced(concepts))
    items.extend(_proposition_block(link, handles) for link in paced(links))
    return ast.Upsert((ast.UpsertBlock(tuple(items), _map(plan.metadata)),))


def _handles(
    concepts: list[PlannedConcept], links: list[PlannedProposition]
) -> dict[str, ast.Variable]:
    ends = {end for link in links for end in (link.subject, link.object)}
    ids = [id for id in (*(c.id for c in concepts), *(link.id for link in links)) if id in ends]
    return {id: ast.Variable(f"{id[0].lower()}{number}") for number, id in enumerate(ids, 1)}


def _concept_block(
    concept: PlannedConcept, handles: Mapping[str, ast.Variable]
) -> ast.ConceptBlock:
    matcher = ast.ConceptMatcher(type=ast.Scalar(concept.type), name=ast.Scalar(concept.name))
    handle = handles.get(concept.id)
    return ast.ConceptBlock(handle, matcher, _map(concept.attributes), None, _map(concept.metadata))


def _proposition_block(
    link: PlannedProposition, handles: Mapping[str, ast.Variable]
) -> ast.PropositionBlock:
    predicate = ast.Predicates((ast.PredicateName(link.predicate),))
    ends = (_endpoint(link.subject, handles), _endpoint(link.object, handles))
    matcher = ast.PropositionMatcher(ends[0], predicate, ends[1])
    handle = handles.get(link.id)
    return ast.PropositionBlock(handle, matcher, _map(link.attributes), _map(link.metadata))


def _endpoint(id: str, handles: Mapping[str, ast.Variable]) -> ast.Endpoint:
    """A handle for what the plan holds, an id for what is in the nexus."""
    if id in handles:
        return handles[id]
    if id.startswith("P:"):
        return ast.PropositionClause(None, ast.PropositionId(ast.Scalar(id)))
    return ast.ConceptClause(None, ast.ConceptMatcher(id=ast.Scalar(id)))


def _map(values: JsonMap) -> ast.Object | None:
    """Values by key, in alphabetical order; None for an empty map."""
    entries = tuple(ast.Entry(key, from_json(values[key])) for key in sorted(values))
    return ast.Object(entries) if entries else None
