"""Foreign RDF as concepts and propositions: what an import would write (docs/how-to/import.md).

``foreign`` and ``blank_nodes`` turn triples into statements, ``naming`` looks IRIs up in the
mapping and the nexus, ``identities`` finds concepts and their names, ``roles`` separates facts from
values, ``values`` turns literals into JSON, ``facts`` puts propositions in order, ``missing``
defines what is not defined, ``import_warnings`` collects warnings, ``plan`` is the result.
``element_index`` is what the nexus has; ``corrections`` is used when a plan is carried out. A plan
depends on the arguments only, and nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import cast

from pyoxigraph import NamedNode, Quad

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.importing.blank_nodes import blank_names, is_blank
from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.facts import NO_ELEMENT, Fact, Facts, PlacedFact
from kiprdf.interchange.importing.foreign import (
    BROKEN_LIST,
    Foreign,
    Node,
    Object,
    Statement,
    collect,
    gather_lists,
    replaced_in,
    separate_reifiers,
    statement_text,
)
from kiprdf.interchange.importing.identities import (
    Identifier,
    Resource,
    claimed,
    claims_by_element,
)
from kiprdf.interchange.importing.import_warnings import Warnings
from kiprdf.interchange.importing.missing import missing_definitions, require_defined
from kiprdf.interchange.importing.naming import Naming
from kiprdf.interchange.importing.plan import (
    JsonMap,
    Plan,
    PlannedConcept,
    PlannedProposition,
    ReplacedText,
)
from kiprdf.interchange.importing.roles import Roles, stubs
from kiprdf.interchange.importing.values import NodeValues, to_value, together
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, base_fault
from kiprdf.rdf.literals import Json
from kiprdf.semantics.arguments import RESERVED_METADATA

OTHER_TYPES = "other_types"
"""The attribute with the IRIs of the classes of a concept beyond its type."""
GRAPH = "graph"
"""The metadata key with the IRI of a named graph, or several."""


def plan(
    quads: Iterable[Quad],
    mapping: Mapping,
    *,
    iris: Iris,
    index: ElementIndex,
    define: bool = False,
    default_type: str | None = None,
    language: str | None = None,
    metadata: JsonMap | None = None,
    source_base: str | None = None,
    update: bool = True,
) -> Plan:
    """What quads become under a mapping in a nexus, given by ``iris`` and ``index``.

    ``define`` creates the types and predicates that are missing; otherwise one KIP_2001 names all
    of them. ``default_type`` is the type of resources without one, and of the undescribed ends of
    predicates that the mapping names. ``language`` is preferred for names. ``metadata`` is the
    provenance of everything and overrides the quads. ``source_base`` is the base of the nexus that
    wrote the quads, if one did. Without ``update`` only new elements are written. The order of the
    quads makes no difference.
    """
    fault = None if source_base is None else base_fault(source_base)
    if fault is not None:
        message = f"The data name the base <{shown(str(source_base))}>, which {fault}."
        raise KipError("KIP_1001", message, "Correct the base, or leave that line out.")
    if default_type is not None and not is_key(default_type):
        message = f"The default type '{shown(default_type)}' is no identifier."
        raise KipError("KIP_1002", message)
    foreign, count = read_foreign(quads)
    bases = [iris] if source_base is None else [iris, Iris(source_base)]
    provenance = dict(metadata or {})
    importer = _Importer(foreign, mapping, bases, index, define, default_type, language, provenance)
    plan = importer.plan()
    missing = importer.missing()
    if not define:
        require_defined(missing)
    plan.definitions = missing_definitions(missing, foreign.statements, language)
    plan.metadata, plan.triples, plan.update = provenance, count, update
    return plan


def read_foreign(quads: Iterable[Quad]) -> tuple[Foreign, int]:
    """Statements without blank nodes, with lists as values, and the number of triples.

    What reifiers stand for is in ``reified``. Statements are sorted by their text.
    """
    collected, skipped = collect(quads)
    with_lists, broken = gather_lists(collected)
    names: dict[Node, Object] = dict(blank_names([*with_lists.values(), *broken]).items())
    graphs: dict[Statement, list[str]] = defaultdict(list)
    for original, statement in with_lists.items():
        graphs[replaced_in(statement, names)].extend(collected[original])
    foreign = Foreign(sorted(graphs, key=statement_text), graphs, {}, skipped)
    for statement in broken:
        foreign.skip(replaced_in(statement, names), BROKEN_LIST)
    separate_reifiers(foreign)
    return foreign, len(collected)


class _Importer:
    def __init__(
        self,
        foreign: Foreign,
        mapping: Mapping,
        bases: list[Iris],
        index: ElementIndex,
        define: bool,
        default_type: str | None,
        language: str | None,
        metadata: JsonMap,
    ) -> None:
        self._foreign = foreign
        self._metadata = metadata
        by_subject = foreign.by_subject()
        claims = claims_by_element(by_subject, define, Naming(mapping, index, bases), index)
        index = index.claiming(claims)
        naming = Naming(mapping, index, bases)
        undescribed = stubs(by_subject, foreign, naming, index) if default_type else set()
        identifier = Identifier(naming, index, define, default_type, language)
        self._identities = identifier.identify(by_subject, undescribed)
        self._naming = naming
        superseded = self._identities.superseded
        self._index = index.without(superseded).claiming(self._identities.originals)
        owners = self._owners()
        self._roles = Roles(foreign, naming, self._index, self._identities, owners)
        self._facts = Facts(foreign, naming, self._index, self._roles)
        self._values: dict[NamedNode, NodeValues] = defaultdict(NodeValues)
        self._classes: dict[str, set[str]] = defaultdict(set)
        """The classes that each type comes from."""
        self._warnings = Warnings()

    def _owners(self) -> dict[NamedNode, Statement]:
        """The statements that reifiers stand for, by the IRIs that reifiers have or claim.

        Of several statements that claim an IRI, the first has it.
        """
        reified = self._foreign.reified
        owners = dict(reified)
        for statement in paced(self._foreign.statements):
            fact = reified.get(cast(NamedNode, statement.subject))
            if fact is None or not self._naming.is_claim(statement.predicate.value):
                continue
            for text in claimed(statement):
                if self._index.element(text) is None and not self._naming.is_below_base(text):
                    with suppress(ValueError):  # not every text is an IRI
                        owners.setdefault(NamedNode(text), fact)
        return owners

    def plan(self) -> Plan:
        """The plan without definitions."""
        links = [s for s in paced(self._foreign.statements) if not self._add(s)]
        for statement in paced(self._facts.place(links)):
            self._add_unlinked(statement)
        propositions = self._propositions()
        self._skip_claims(propositions)
        concepts = self._concepts()
        skipped = sorted(dict.fromkeys(self._foreign.skipped))
        warnings = [*self._identities.warnings, *self._naming.warnings()]
        warnings += self._warnings.sentences(self._is_predicate)
        if self._foreign.statements and self._naming.mapping_is_unused():
            warnings.append("The mapping has no term for any type or property of the data.")
        plan = Plan([], concepts, propositions, skipped, warnings)
        plan.replaced_texts = list(self._replaced_texts(links, [*concepts, *propositions]))
        for old, node in self._identities.superseded.items():
            new = plan.superseded[old] = self._identities.resources[node].identity.id
            plan.warnings.append(f"{shown(old)} had nothing but its IRI and becomes {shown(new)}.")
        return plan

    def _is_predicate(self, property: str) -> bool:
        """Whether a property links where its objects are described."""
        return self._facts.uses(property) or self._naming.is_defined_predicate(property)

    def _replaced_texts(
        self,
        links: Iterable[Statement],
        elements: Iterable[PlannedConcept | PlannedProposition],
    ) -> Iterator[ReplacedText]:
        """What an earlier import stored of these links as strings."""
        existing = {element.id: element.attributes for element in elements if not element.is_new}
        for statement in paced(links):
            subject = cast(NamedNode, statement.subject)
            id, text = self._id(subject), str(getattr(statement.object, "value", ""))
            if id not in existing or not self._facts.is_placed(statement):
                continue
            key, is_metadata = self._roles.key(statement, self._identities.resources.get(subject))
            if key is None or is_metadata or text in _listed(existing[id].get(key.name)):
                continue
            yield ReplacedText(id, key.name, text)

    def missing(self) -> dict[ConceptName, set[str]]:
        """The names that must be defined, and the IRIs that need them."""
        needed: dict[ConceptName, set[str]] = defaultdict(set)
        resources = self._identities.resources.values()
        for resource in resources:
            if resource.identity.type not in META_TYPES:
                name = ConceptName(META_TYPES[0], resource.identity.type)
                needed[name].update(self._classes[name.name])
        for fact, placed in self._facts.placed.items():
            needed[ConceptName(META_TYPES[1], fact[1])].update(placed.properties)
        defined = {resource.identity for resource in resources}
        return {
            name: {iri for iri in iris if not self._naming.is_below_base(iri)}
            for name, iris in needed.items()
            if name not in defined and not self._is_defined(name)
        }

    def _is_defined(self, name: ConceptName) -> bool:
        is_type = name.type == META_TYPES[0]
        return name.name in (self._index.concept_types if is_type else self._index.predicates)

    # Which statement is what ------------------------------------------------------------------

    def _add(self, statement: Statement) -> bool:
        """Add a statement as a value, or skip it; False for one that is a fact."""
        subject = statement.subject
        assert isinstance(subject, NamedNode)
        reason = self._identities.refused.get(subject)
        resource = self._identities.resources.get(subject)
        if reason is not None:
            self._foreign.skip(statement, reason)
        elif statement.predicate == vocab.TYPE:
            self._add_type(statement, subject, resource)
        elif self._roles.is_fact(statement, resource):
            return False
        elif resource is None or not self._roles.is_name(statement, resource):
            self._add_value(statement, subject, resource)
        return True

    def _add_type(
        self, statement: Statement, subject: NamedNode, resource: Resource | None
    ) -> None:
        """The type of a concept is in its identity, other classes go to an attribute."""
        if not isinstance(statement.object, NamedNode) or is_blank(statement.object):
            self._foreign.skip(statement, "a type is an IRI")
            return
        node_values = self._values[subject]
        node_values.graphs.update(self._foreign.graphs[statement])
        iri = statement.object.value
        if resource is None or iri in resource.types:
            node_values.attributes.add(OTHER_TYPES, iri, always_array=True)
        else:
            self._classes[resource.identity.type].add(iri)
            if resource.class_iri is not None:
                self._naming.note("concept type", resource.identity.type, iri)

    def _add_unlinked(self, statement: Statement) -> None:
        """Add a statement whose object could have been a proposition, but is none."""
        property, subject = statement.predicate.value, statement.subject
        assert isinstance(subject, NamedNode)
        if self._naming.is_native_predicate(property) or self._naming.is_mapped_predicate(property):
            self._foreign.skip(statement, NO_ELEMENT)
        else:
            self._add_value(statement, subject, self._identities.resources.get(subject))

    # Values -----------------------------------------------------------------------------------

    def _add_value(
        self, statement: Statement, subject: NamedNode, resource: Resource | None
    ) -> None:
        """Add a value under its key, or skip it with a reason."""
        property = statement.predicate.value
        key, is_metadata = self._roles.key(statement, resource)
        fault = self._roles.fault(statement, key, resource)
        if fault is not None:
            self._foreign.skip(statement, fault)
            return
        assert key is not None
        if is_metadata and key.name in RESERVED_METADATA:
            return  # each engine writes its own
        try:
            value = to_value(statement.object, key.term)
        except ValueError as reason:
            self._foreign.skip(statement, str(reason))
            return
        if is_metadata and key.name in self._metadata:
            if key.is_native:
                self._foreign.skip(
                    statement, f"the metadata key '{key.name}' is set by the import itself"
                )
                return
            is_metadata = False
        node_values = self._values[subject]
        node_values.graphs.update(self._foreign.graphs[statement])
        if key.name == SAME_AS and not is_metadata:
            self._add_claim(statement, node_values, value)
            return
        if not key.is_native:
            self._naming.note("metadata key" if is_metadata else "attribute", key.name, property)
        values = node_values.metadata if is_metadata else node_values.attributes
        always_array = key.term is not None and key.term.container is not None
        values.add(key.name, value, always_array, key.is_native)
        self._warnings.note_numbers(key.name, statement.object, value)
        if isinstance(statement.object, NamedNode) and not is_metadata:
            self._warnings.note_text(property, key.name, statement.object.value)

    def _add_claim(self, statement: Statement, node_values: NodeValues, value: Json) -> None:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            self._foreign.skip(statement, "the value of same_as must be an IRI")
        node_values.same_as.update(text for text in texts if isinstance(text, str))

    def _skip_claims(self, links: Iterable[PlannedProposition]) -> None:
        """Skip the claims to IRIs that another element has."""
        originals = {link.id: _listed(link.attributes.get(SAME_AS)) for link in links}
        originals |= {
            id: list(iris) for id, iris in self._index.originals.items() if id not in originals
        }
        for statement in paced(self._foreign.statements):
            id = self._id(cast(NamedNode, statement.subject))
            if id is None or not self._naming.is_claim(statement.predicate.value):
                continue
            for text in claimed(statement):
                if text not in originals.get(id, ()):
                    self._foreign.skip(statement, f"<{text}> is the IRI of another element")

    def _id(self, subject: NamedNode) -> str | None:
        """The id of what a subject becomes."""
        if subject in self._facts.fact_of:
            return self._facts.placed[self._facts.fact_of[subject]].id
        resource = self._identities.resources.get(subject)
        return None if resource is None else resource.identity.id

    # The elements -----------------------------------------------------------------------------

    def _propositions(self) -> list[PlannedProposition]:
        """The propositions by height, then by what they state; other reifiers are skipped."""
        links = [
            self._proposition(fact, placed) for fact, placed in paced(self._facts.placed.items())
        ]
        heights = self._facts.heights()
        for statement in paced(self._foreign.statements):
            reifier = cast(NamedNode, statement.subject)
            if reifier in self._foreign.reified and reifier not in self._facts.fact_of:
                reason = "it annotates a triple that is not a proposition"
                subject = cast(NamedNode, self._foreign.reified[reifier].subject)
                self._foreign.skip(statement, self._identities.refused.get(subject, reason))
        return sorted(links, key=lambda p: (heights[p.id], p.subject, p.predicate, p.object))

    def _proposition(self, fact: Fact, placed: PlacedFact) -> PlannedProposition:
        link = PlannedProposition(placed.id, *fact, is_new=not self._index.exists(placed.id))
        node_values = NodeValues()
        self._warnings.note_reifiers(link, (self._values[reifier] for reifier in placed.reifiers))
        for reifier in sorted(placed.reifiers, key=str):
            node_values.merge(self._values[reifier])
            if not self._naming.is_below_base(reifier.value) and not is_blank(reifier):
                node_values.same_as.add(reifier.value)
        node_values.graphs = placed.graphs
        before = self._index.originals.get(link.id, ())
        more = {iri for iri in node_values.same_as if self._is_free(iri, link.id)}
        self._fill(link, node_values, [*before, *sorted(more - {*before})])
        return link

    def _is_free(self, iri: str, id: str) -> bool:
        """Whether no other element has an IRI that a proposition claims."""
        if self._naming.is_below_base(iri) or self._facts.owner(iri) not in (None, id):
            return False
        return self._index.other_element(iri, id) is None

    def _concepts(self) -> list[PlannedConcept]:
        """Definitions of the data, then other concepts, by type and name.

        By an earlier import several resources may be one concept.
        """
        nodes: dict[ConceptName, list[NamedNode]] = defaultdict(list)
        for node, resource in self._identities.resources.items():
            nodes[resource.identity].append(node)
        rank = {name: place for place, name in enumerate(META_TYPES)}
        order = sorted(nodes, key=lambda name: (rank.get(name.type, len(rank)), name))
        return [self._concept(identity, nodes[identity]) for identity in paced(order)]

    def _concept(self, identity: ConceptName, nodes: list[NamedNode]) -> PlannedConcept:
        concept = PlannedConcept(*identity, is_new=not self._index.exists(identity.id))
        node_values = NodeValues()
        for node in nodes:
            node_values.merge(self._values[node])
        self._fill(concept, node_values, self._index.originals.get(identity.id, ()))
        return concept

    def _fill(
        self,
        element: PlannedConcept | PlannedProposition,
        node_values: NodeValues,
        same_as: Sequence[str],
    ) -> None:
        element.attributes = node_values.attributes.json()
        if same_as:
            element.attributes[SAME_AS] = same_as[0] if len(same_as) == 1 else list(same_as)
        element.metadata = node_values.metadata.json()
        if node_values.graphs:
            # As in ``_add_value``: the metadata of the import itself come first.
            is_free = GRAPH not in self._metadata
            (element.metadata if is_free else element.attributes)[GRAPH] = together(
                node_values.graphs
            )


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
