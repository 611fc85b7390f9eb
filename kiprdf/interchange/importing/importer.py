"""Foreign RDF as concepts and propositions: what an import would write (docs/how-to/import.md).

``foreign``, ``lists`` and ``blanks`` make triples easy to read, ``naming`` and ``identities`` say
what is a concept and what it is called, ``roles`` tells facts from values, ``values`` turns
literals into JSON, ``facts`` puts propositions in order, ``missing`` makes what is not defined,
``doubts`` makes warnings, ``plan`` is the result. Nothing is written here, and nothing but the
arguments is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import cast

from pyoxigraph import NamedNode, Quad

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.importing import lists
from kiprdf.interchange.importing.blanks import blank_names, is_blank
from kiprdf.interchange.importing.doubts import Doubts
from kiprdf.interchange.importing.facts import NO_ELEMENT, Fact, Facts, PlacedFact
from kiprdf.interchange.importing.foreign import (
    Foreign,
    Node,
    Object,
    Statement,
    collect,
    replaced_in,
    separate_reifiers,
    statement_text,
)
from kiprdf.interchange.importing.identities import (
    Allowed,
    Identifier,
    Resource,
    claimed,
    own_claims,
)
from kiprdf.interchange.importing.known import SAME_AS, Known
from kiprdf.interchange.importing.missing import made_definitions, require_defined
from kiprdf.interchange.importing.naming import Naming
from kiprdf.interchange.importing.plan import (
    JsonMap,
    Plan,
    PlannedConcept,
    PlannedProposition,
    StaleText,
)
from kiprdf.interchange.importing.roles import Roles, stubs
from kiprdf.interchange.importing.values import Gathered, to_value, together
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, base_fault
from kiprdf.rdf.literals import Json
from kiprdf.semantics.places import RESERVED_METADATA

OTHER_TYPES = "other_types"
"""The attribute that keeps the classes, as IRIs, that the type of a concept does not tell."""
GRAPH = "graph"
"""The metadata key that keeps the IRI of a named graph, or several."""


def plan(
    quads: Iterable[Quad],
    mapping: Mapping,
    *,
    iris: Iris,
    known: Known,
    define: bool = False,
    default_type: str | None = None,
    language: str | None = None,
    metadata: JsonMap | None = None,
    source_base: str | None = None,
    update: bool = True,
) -> Plan:
    """What quads become under a mapping, in the nexus that ``iris`` and ``known`` tell of.

    ``define`` creates the types and predicates that are missing; otherwise they are KIP_2001, all
    of them at once. ``default_type`` is the type of resources without one, and of the undescribed
    ends of predicates that the mapping names. ``language`` is preferred for names.
    ``metadata`` tells where everything comes from, and no quad tells otherwise. ``source_base`` is
    the base of the nexus that wrote the quads, if one did. Without ``update`` only what is new is
    written. The order of the quads makes no difference.
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
    allowed, own = Allowed(define), dict(metadata or {})
    importer = _Importer(foreign, mapping, bases, known, allowed, default_type, language, own)
    made = importer.plan()
    missing = importer.missing()
    if not define:
        require_defined(missing)
    made.definitions = made_definitions(missing, foreign.statements, language)
    made.metadata, made.triples, made.update = own, count, update
    return made


def read_foreign(quads: Iterable[Quad]) -> tuple[Foreign, int]:
    """Quads without blank nodes, with lists as values and reifiers apart; how many there were.

    Statements are in the order of their texts.
    """
    collected, skipped = collect(quads)
    gathered, broken = lists.gather(collected)
    names: dict[Node, Object] = dict(blank_names([*gathered.values(), *broken]).items())
    graphs: dict[Statement, list[str]] = defaultdict(list)
    for original, statement in gathered.items():
        graphs[replaced_in(statement, names)].extend(collected[original])
    foreign = Foreign(sorted(graphs, key=statement_text), graphs, {}, skipped)
    for statement in broken:
        foreign.skip(replaced_in(statement, names), lists.BROKEN)
    separate_reifiers(foreign)
    return foreign, len(collected)


class _Importer:
    def __init__(
        self,
        foreign: Foreign,
        mapping: Mapping,
        bases: list[Iris],
        known: Known,
        allowed: Allowed,
        default_type: str | None,
        language: str | None,
        metadata: JsonMap,
    ) -> None:
        self._foreign = foreign
        self._metadata = metadata
        said = foreign.by_subject()
        own = own_claims(said, allowed, Naming(mapping, known, bases), known)
        claiming = known.claiming(own)
        naming = Naming(mapping, claiming, bases)
        expected = stubs(said, foreign, naming, claiming) if default_type is not None else set()
        identifier = Identifier(naming, claiming, allowed, default_type, language)
        self._identities = identifier.identify(said, expected)
        self._naming = naming
        outgrown = self._identities.outgrown
        self._known = known.without(outgrown).claiming(self._identities.originals)
        owners = self._owners()
        self._roles = Roles(foreign, naming, self._known, self._identities, owners)
        self._facts = Facts(foreign, naming, self._known, self._roles)
        self._gathered: dict[NamedNode, Gathered] = defaultdict(Gathered)
        self._classes: dict[str, set[str]] = defaultdict(set)
        """The classes that each type stands for."""
        self._doubts = Doubts()

    def _owners(self) -> dict[NamedNode, Statement]:
        """What the IRIs stand for that reifiers have, or are said to be the same as.

        Of several statements that claim an IRI, the first has it.
        """
        reified = self._foreign.reified
        owners = dict(reified)
        for statement in paced(self._foreign.statements):
            fact = reified.get(cast(NamedNode, statement.subject))
            if fact is None or not self._naming.is_claim(statement.predicate.value):
                continue
            for text in claimed(statement):
                if self._known.element(text) is None and not self._naming.is_below_base(text):
                    with suppress(ValueError):  # not every text is an IRI
                        owners.setdefault(NamedNode(text), fact)
        return owners

    def plan(self) -> Plan:
        """The plan without definitions."""
        links = [s for s in paced(self._foreign.statements) if not self._take(s)]
        for statement in paced(self._facts.place(links)):
            self._take_unlinked(statement)
        propositions = self._propositions()
        self._tell_claims(propositions)
        concepts = self._concepts()
        skipped = sorted(dict.fromkeys(self._foreign.skipped))
        warnings = [*self._identities.warnings, *self._naming.warnings()]
        warnings += self._doubts.warnings(self._is_predicate)
        if self._foreign.statements and self._naming.mapping_is_in_vain():
            warnings.append("The mapping has no word for any type or property of these data.")
        made = Plan([], concepts, propositions, skipped, warnings)
        made.stale = list(self._stale(links, [*concepts, *propositions]))
        for old, node in self._identities.outgrown.items():
            new = made.outgrown[old] = self._identities.resources[node].identity.id
            told = f"{shown(old)} was made of its IRI alone and becomes {shown(new)}."
            made.warnings.append(told)
        return made

    def _is_predicate(self, property: str) -> bool:
        """Whether a property links where its objects are described."""
        return self._facts.uses(property) or self._naming.is_known_predicate(property)

    def _stale(
        self,
        links: Iterable[Statement],
        elements: Iterable[PlannedConcept | PlannedProposition],
    ) -> Iterator[StaleText]:
        """What an earlier import kept of these links, if their objects were texts for it."""
        there = {element.id: element.attributes for element in elements if not element.is_new}
        for statement in paced(links):
            subject = cast(NamedNode, statement.subject)
            id, text = self._id(subject), str(getattr(statement.object, "value", ""))
            if id not in there or not self._facts.is_placed(statement):
                continue
            key, is_metadata = self._roles.key(statement, self._identities.resources.get(subject))
            if key is None or is_metadata or text in _listed(there[id].get(key.name)):
                continue
            yield StaleText(id, key.name, text)

    def missing(self) -> dict[ConceptName, set[str]]:
        """The names that must be defined, and the IRIs that need them."""
        wanted: dict[ConceptName, set[str]] = defaultdict(set)
        resources = self._identities.resources.values()
        for resource in resources:
            if resource.identity.type not in META_TYPES:
                name = ConceptName(META_TYPES[0], resource.identity.type)
                wanted[name].update(self._classes[name.name])
        for fact, placed in self._facts.placed.items():
            wanted[ConceptName(META_TYPES[1], fact[1])].update(placed.properties)
        defined = {resource.identity for resource in resources}
        return {
            name: {iri for iri in iris if not self._naming.is_below_base(iri)}
            for name, iris in wanted.items()
            if name not in defined and not self._is_defined(name)
        }

    def _is_defined(self, name: ConceptName) -> bool:
        is_type = name.type == META_TYPES[0]
        return name.name in (self._known.concept_types if is_type else self._known.predicates)

    # Which statement is what ------------------------------------------------------------------

    def _take(self, statement: Statement) -> bool:
        """Take a statement as a value, or leave it out; False for one that is a fact."""
        subject = statement.subject
        assert isinstance(subject, NamedNode)
        reason = self._identities.refused.get(subject)
        resource = self._identities.resources.get(subject)
        if reason is not None:
            self._foreign.skip(statement, reason)
        elif statement.predicate == vocab.TYPE:
            self._take_type(statement, subject, resource)
        elif self._roles.is_fact(statement, resource):
            return False
        elif resource is None or not self._roles.is_name(statement, resource):
            self._take_value(statement, subject, resource)
        return True

    def _take_type(
        self, statement: Statement, subject: NamedNode, resource: Resource | None
    ) -> None:
        """The type of a concept stands in its identity, other classes in an attribute."""
        if not isinstance(statement.object, NamedNode) or is_blank(statement.object):
            self._foreign.skip(statement, "a type is an IRI")
            return
        gathered = self._gathered[subject]
        gathered.graphs.update(self._foreign.graphs[statement])
        iri = statement.object.value
        if resource is None or iri in resource.types:
            gathered.attributes.add(OTHER_TYPES, iri, always_array=True)
        else:
            self._classes[resource.identity.type].add(iri)
            if resource.class_iri is not None:
                self._naming.note("concept type", resource.identity.type, iri)

    def _take_unlinked(self, statement: Statement) -> None:
        """Take a statement whose object might have been a proposition, but is not."""
        property, subject = statement.predicate.value, statement.subject
        assert isinstance(subject, NamedNode)
        if self._naming.is_own_predicate(property) or self._naming.is_mapped_predicate(property):
            self._foreign.skip(statement, NO_ELEMENT)
        else:
            self._take_value(statement, subject, self._identities.resources.get(subject))

    # Values -----------------------------------------------------------------------------------

    def _take_value(
        self, statement: Statement, subject: NamedNode, resource: Resource | None
    ) -> None:
        """Keep a value under its key, or say why not."""
        property = statement.predicate.value
        key, is_metadata = self._roles.key(statement, resource)
        fault = self._roles.fault(statement, key, resource)
        if fault is not None:
            self._foreign.skip(statement, fault)
            return
        assert key is not None
        if is_metadata and key.name in RESERVED_METADATA:
            return  # what an engine noted of its own writing; this one will note ours
        try:
            value = to_value(statement.object, key.term)
        except ValueError as reason:
            self._foreign.skip(statement, str(reason))
            return
        if is_metadata and key.name in self._metadata:
            if key.is_own:
                self._foreign.skip(statement, f"the metadata key '{key.name}' is this import's own")
                return
            is_metadata = False
        gathered = self._gathered[subject]
        gathered.graphs.update(self._foreign.graphs[statement])
        if key.name == SAME_AS and not is_metadata:
            self._take_claim(statement, gathered, value)
            return
        if not key.is_own:
            self._naming.note("metadata key" if is_metadata else "attribute", key.name, property)
        values = gathered.metadata if is_metadata else gathered.attributes
        always_array = key.term is not None and key.term.container is not None
        values.add(key.name, value, always_array, key.is_own)
        self._doubts.keep_numbers(key.name, statement.object, value)
        if isinstance(statement.object, NamedNode) and not is_metadata:
            self._doubts.keep_text(property, key.name, statement.object.value)

    def _take_claim(self, statement: Statement, gathered: Gathered, value: Json) -> None:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            self._foreign.skip(statement, "what an element is the same as is an IRI")
        gathered.same_as.update(text for text in texts if isinstance(text, str))

    def _tell_claims(self, links: Iterable[PlannedProposition]) -> None:
        """Skip what was said to be the same as an element, and is another one."""
        kept = {link.id: _listed(link.attributes.get(SAME_AS)) for link in links}
        kept |= {id: list(iris) for id, iris in self._known.originals.items() if id not in kept}
        for statement in paced(self._foreign.statements):
            id = self._id(cast(NamedNode, statement.subject))
            if id is None or not self._naming.is_claim(statement.predicate.value):
                continue
            for text in claimed(statement):
                if text not in kept.get(id, ()):
                    self._foreign.skip(statement, f"<{text}> stands for an element already")

    def _id(self, subject: NamedNode) -> str | None:
        """The id of what a subject becomes."""
        if subject in self._facts.fact_of:
            return self._facts.placed[self._facts.fact_of[subject]].id
        resource = self._identities.resources.get(subject)
        return None if resource is None else resource.identity.id

    # The elements -----------------------------------------------------------------------------

    def _propositions(self) -> list[PlannedProposition]:
        """The propositions by height, then by what they say; reifiers of none are skipped."""
        made = [
            self._proposition(fact, placed) for fact, placed in paced(self._facts.placed.items())
        ]
        heights = self._facts.heights()
        for statement in paced(self._foreign.statements):
            reifier = cast(NamedNode, statement.subject)
            if reifier in self._foreign.reified and reifier not in self._facts.fact_of:
                reason = "it annotates a triple that is no proposition"
                subject = cast(NamedNode, self._foreign.reified[reifier].subject)
                self._foreign.skip(statement, self._identities.refused.get(subject, reason))
        return sorted(made, key=lambda p: (heights[p.id], p.subject, p.predicate, p.object))

    def _proposition(self, fact: Fact, placed: PlacedFact) -> PlannedProposition:
        link = PlannedProposition(placed.id, *fact, is_new=not self._known.exists(placed.id))
        gathered = Gathered()
        self._doubts.unite(link, (self._gathered[reifier] for reifier in placed.reifiers))
        for reifier in sorted(placed.reifiers, key=str):
            gathered.merge(self._gathered[reifier])
            if not self._naming.is_below_base(reifier.value) and not is_blank(reifier):
                gathered.same_as.add(reifier.value)
        gathered.graphs = placed.graphs
        before = self._known.originals.get(link.id, ())
        more = {iri for iri in gathered.same_as if self._is_free(iri, link.id)}
        self._fill(link, gathered, [*before, *sorted(more - {*before})])
        return link

    def _is_free(self, iri: str, id: str) -> bool:
        """Whether an IRI that a proposition claims is no other element's."""
        if self._naming.is_below_base(iri) or self._facts.owner(iri) not in (None, id):
            return False
        return self._known.other_element(iri, id) is None

    def _concepts(self) -> list[PlannedConcept]:
        """Definitions of the data, then other concepts, by type and name.

        Several resources may be one concept, by an earlier import.
        """
        nodes: dict[ConceptName, list[NamedNode]] = defaultdict(list)
        for node, resource in self._identities.resources.items():
            nodes[resource.identity].append(node)
        rank = {name: place for place, name in enumerate(META_TYPES)}
        order = sorted(nodes, key=lambda name: (rank.get(name.type, len(rank)), name))
        return [self._concept(identity, nodes[identity]) for identity in paced(order)]

    def _concept(self, identity: ConceptName, nodes: list[NamedNode]) -> PlannedConcept:
        concept = PlannedConcept(*identity, is_new=not self._known.exists(identity.id))
        gathered = Gathered()
        for node in nodes:
            gathered.merge(self._gathered[node])
        self._fill(concept, gathered, self._known.originals.get(identity.id, ()))
        return concept

    def _fill(
        self,
        element: PlannedConcept | PlannedProposition,
        gathered: Gathered,
        same_as: Sequence[str],
    ) -> None:
        element.attributes = gathered.attributes.json()
        if same_as:
            element.attributes[SAME_AS] = same_as[0] if len(same_as) == 1 else list(same_as)
        element.metadata = gathered.metadata.json()
        if gathered.graphs:
            # As other metadata that the import gives itself (``_take_value``).
            is_free = GRAPH not in self._metadata
            (element.metadata if is_free else element.attributes)[GRAPH] = together(gathered.graphs)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
