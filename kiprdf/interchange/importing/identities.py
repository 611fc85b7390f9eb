"""Finds the concepts among the subjects of external RDF, with their types and names."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.collector import cached
from kiprdf.dataclasses import dataclass
from kiprdf.errors import shown
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import ElementIndex, meta_type
from kiprdf.interchange.importing.external import (
    GENERIC,
    ONTOLOGY,
    ExternalData,
    ExternalTriple,
    Items,
    Node,
    Object,
    is_definition_class,
    is_of_ontology,
    leaves,
)
from kiprdf.interchange.importing.names import (
    OWL_SAME_AS,
    Names,
    Naming,
    concept_name,
    labels_of,
    name_candidates,
    names_by_iri,
    ranks_of,
    unique_name,
)
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.importing.values import to_value
from kiprdf.interchange.vocabularies.standards import STANDARDS
from kiprdf.language.names import (
    META_TYPES,
    is_definition_name,
    is_identifier,
    is_key,
    name_fault,
    without_outer_blanks,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import ACTORS, SYSTEM

BySubject: TypeAlias = Mapping[Node, list[ExternalTriple]]
"""Statements by their subjects."""


@dataclass(slots=True)
class Resource:
    """A subject that is a concept; ``types`` are its other classes."""

    identity: ConceptName
    id: str
    """That of the identity."""
    iri: str
    is_ours: bool
    """Whether its IRI is below the base of the nexus, or of the one that wrote the data."""
    types: list[str] = field(default_factory=list)
    class_iri: str | None = None
    """The class that its type comes from."""


@dataclass(slots=True)
class Identities:
    """The concepts among the subjects, and the reasons why others are not concepts.

    ``names`` are the identities of all concepts, ``originals`` their original IRIs by their ids.
    """

    resources: dict[Node, Resource] = field(default_factory=dict)
    names: set[ConceptName] = field(default_factory=set)
    originals: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[Node, str] = field(default_factory=dict)
    superseded: dict[str, Node] = field(default_factory=dict)
    """Ids of concepts that were created for an IRI alone and get another type now."""
    warnings: list[str] = field(default_factory=list)


def claimed(statement: ExternalTriple) -> list[str]:
    """The IRIs that a statement declares to be the same as its subject."""
    with suppress(ValueError):
        return [text for text in listed(to_value(statement.object)) if isinstance(text, str)]
    return []


def _claims(
    statements: Iterable[ExternalTriple], identity: ConceptName, naming: Naming
) -> set[str]:
    """The IRIs that a subject is declared the same as, except those of other elements."""
    claims = [s for s in statements if naming.is_claim(s.predicate.value)]
    if not claims:
        return set()
    iris = {iri for statement in claims for iri in claimed(statement)}
    external = {iri for iri in iris if not naming.is_below_base(iri)}
    if meta_type(identity.id):
        return external
    return {iri for iri in external if naming.index.other_element(iri, identity.id) is None}


def claims_by_element(by_subject: BySubject, define: bool, naming: Naming) -> dict[str, list[str]]:
    """The IRIs that concepts written by kiprdf are the same as, by their ids.

    Other subjects of the same data may have these IRIs.
    """
    claims: dict[str, list[str]] = {}
    for node, statements in by_subject.items():
        name = naming.element(node.value)
        if isinstance(name, ConceptName):
            with suppress(ValueError):
                claims[checked(name, define).id] = sorted(_claims(statements, name, naming))
    return claims


def stubs(
    external: ExternalData, by_subject: BySubject, naming: Naming, every_link: bool
) -> set[Node]:
    """The undescribed objects of properties that the mapping names, if they are not values.

    With a default type they become concepts that have nothing but their IRI. With ``every_link``
    so do those of all other properties but the terms of RDF, RDFS and OWL.
    """
    never = (vocab.TYPE.value, OWL_SAME_AS)
    return {
        item
        for statement in external.statements
        for item in ends_of(statement.object)
        if isinstance(item, NamedNode)
        and item not in by_subject
        and item not in external.reified
        and statement.predicate.value not in never
        and not is_blank(item)
        and not naming.is_below_base(item.value)
        and naming.index.element(item.value) is None
        and (
            naming.is_link(statement.predicate.value)
            or (every_link and not statement.predicate.value.startswith((*STANDARDS, *vocab.OWN)))
        )
    }


def ends_of(term: Object) -> list[Object]:
    """A term, or the items of a list."""
    return [item for _, item in leaves(term)] if isinstance(term, Items) else [term]


def checked(name: ConceptName, define: bool) -> ConceptName:
    """An identity that an import may write. Raises ValueError for others."""
    if name.type not in META_TYPES and not is_identifier(name.type):
        raise ValueError(f"'{shown(name.type)}' cannot be a concept type")
    fault = name_fault(name.name)
    if fault is not None:
        raise ValueError(f"a concept cannot have this name: it {fault}")
    if name.name != without_outer_blanks(name.name):
        raise ValueError("a concept cannot have this name: it begins or ends with a blank")
    if name.type in META_TYPES and not is_definition_name(name.type, name.name):
        raise ValueError(f"'{shown(name.name)}' cannot be a definition")
    if name in SYSTEM:
        raise ValueError("its subject belongs to the core schema, which stays as it is")
    if name in ACTORS:
        raise ValueError("its subject is the nexus itself, which stays as it is")
    if name.type in META_TYPES and not define:
        raise ValueError("its subject is a definition, and the import must not define anything")
    return name


@dataclass
class Identifier:
    """Finds the identities of all subjects of one import."""

    by_subject: BySubject
    types: Mapping[Node, list[Object]]
    """The classes of subjects."""
    naming: Naming
    define: bool
    default_type: str | None
    language: str | None
    names: Names | None
    has_claims: bool
    """Whether a property of the data has the IRIs of its subjects."""
    identities: Identities = field(default_factory=Identities)

    def __post_init__(self) -> None:
        # Data have few classes.
        self._rank = cached(Identifier._rank_of, self)
        self._is_of_things = cached(Identifier._is_class_of_things, self)
        self._type_of = cached(Identifier._type_of_classes, self)

    def identify(self, stubs: Iterable[Node]) -> Identities:
        """The identities of subjects, and of nodes without statements.

        First those that have one already, by their IRI or by an earlier import; then the others
        in the order of their IRIs, each with a unique name.
        """
        new = []
        index = self.naming.index
        nodes = sorted({*self.by_subject, *stubs}, key=lambda node: node.value)
        index.prefetch(filter(None, (index.element(node.value) for node in nodes)))
        for node in paced(nodes):
            try:
                identity = self._identity(node)
            except ValueError as fault:
                self.identities.refused[node] = str(fault)
                continue
            if identity is None:
                new.append(node)
            else:
                self._add(node, identity, self._classes(node))
        for node in paced(new):
            try:
                self._name(node)
            except ValueError as fault:
                self.identities.refused[node] = str(fault)
        self._warn_of_existing(new)
        self._claim({node.value: node for node in new if node in self.identities.refused})
        return self.identities

    def _claim(self, refused: dict[str, Node]) -> None:
        """Give each concept its original IRIs: its own, then those that it is the same as.

        A refused subject with such an IRI becomes a part of the concept.
        """
        originals: dict[str, list[str]] = defaultdict(list)
        every = sorted(self.identities.resources.items(), key=lambda item: item[1].iri)
        for _, resource in every:
            if not resource.is_ours:
                originals[resource.id].append(resource.iri)
        pending = deque(node for node, _ in every if self.has_claims)
        owners = {
            (meta_type(resource.id), resource.iri): resource.identity
            for resource in self.identities.resources.values()
            if self.has_claims
        }
        claims: dict[str, set[str]] = defaultdict(set)
        while pending:
            node = pending.popleft()
            identity = self.identities.resources[node].identity
            for iri in sorted(_claims(self._statements(node), identity, self.naming)):
                # One IRI may be a class, a property and a thing, but only one thing.
                if owners.setdefault((meta_type(identity.id), iri), identity) != identity:
                    continue
                claims[identity.id].add(iri)
                if iri in refused and not meta_type(identity.id):
                    part = refused.pop(iri)
                    del self.identities.refused[part]
                    self._add(part, identity, self._classes(part))
                    pending.append(part)
        for id, iris in claims.items():
            originals[id] += sorted(iris)
        self.identities.originals |= originals

    def _classes(self, node: Node) -> list[str]:
        """The IRIs of the classes of a subject, sorted."""
        classes = self.types.get(node, ())
        if len(classes) == 1 and isinstance(classes[0], NamedNode) and not is_blank(classes[0]):
            return [classes[0].value]
        return sorted({c.value for c in classes if isinstance(c, NamedNode) and not is_blank(c)})

    def _statements(self, node: Node) -> list[ExternalTriple]:
        return self.by_subject.get(node, [])

    def _add(
        self,
        node: Node,
        identity: ConceptName,
        classes: Sequence[str],
        class_iri: str | None = None,
    ) -> None:
        others = [iri for iri in classes if iri != class_iri]
        other_types = [iri for iri in others if self.naming.type(iri) != identity.type]
        iri, is_ours = node.value, self.naming.is_below_base(node.value)
        resource = Resource(identity, identity.id, iri, is_ours, other_types, class_iri)
        self.identities.resources[node] = resource
        self.identities.names.add(identity)

    def _identity(self, node: Node) -> ConceptName | None:
        """The concept that an IRI names, here or in the nexus; ValueError if there is none."""
        name = self.naming.element(node.value)
        if isinstance(name, ConceptName):
            return checked(name, self.define)
        if self.naming.is_below_base(node.value):
            raise ValueError("an IRI below the base of the nexus that is not that of a concept")
        if node.value.startswith(vocab.OWN):
            raise ValueError("a term of the vocabulary of kiprdf, not knowledge")
        id = self.naming.index.element(node.value)
        if id is None:
            return None
        if id.startswith("P:"):
            raise ValueError(f"the IRI is that of the proposition {id}")
        name = checked(_concept_of(id), self.define)
        return None if self._supersedes(node, name) else name

    def _supersedes(self, node: Node, stub: ConceptName) -> bool:
        """Whether the data give a type to a concept that an import created for an IRI alone.

        Only a concept of the default type changes its type: data said that others have theirs.
        """
        by_iri_alone = self.naming.index.is_bare(stub.id) and stub.name in names_by_iri(node.value)
        if not by_iri_alone or self.naming.index.originals[stub.id] != (node.value,):
            return False
        try:
            type_name, class_iri = self._type(node, self._classes(node))
        except ValueError:
            return False
        if class_iri is None or type_name == stub.type:
            return False
        if stub.type == self.default_type:
            self.identities.superseded[stub.id] = node
            return True
        warning = f"<{node.value}> is a {type_name} in the data, but remains {shown(stub.id)}"
        hint = f"an import with the default type {stub.type} changes it"
        self.identities.warnings.append(f"{warning}; {hint}.")
        return False

    def _name(self, node: Node) -> None:
        """Give a subject a new identity. Raises ValueError if it has no type or no name."""
        statements = self._statements(node)
        classes = self._classes(node)
        type_name, class_iri = self._type(node, classes)
        ranks = ranks_of(self.naming.labels(type_name))
        labels = labels_of(statements, ranks, self.language)
        name = concept_name(labels[0]) if labels and self.names != "local" else None
        if name is None:
            candidates = name_candidates(node.value, labels, self.names)
            name = next(filter(None, map(concept_name, candidates)), None)
        if name is None:
            raise ValueError("neither its labels nor its IRI can be the name of a concept")
        identity = ConceptName(type_name, name)
        if not self._is_free(identity):
            iri = node.value
            name = unique_name(name, iri, lambda text: self._is_free(ConceptName(type_name, text)))
            identity = ConceptName(type_name, name)
        self._add(node, identity, classes, class_iri)

    def _warn_of_existing(self, new: Iterable[Node]) -> None:
        """Warn of the new subjects whose names are those of concepts."""
        index, resources = self.naming.index, self.identities.resources
        every = [resources[node] for node in new if node in resources]
        index.prefetch(one.id for one in every)
        for one in every:
            if not index.is_unused("C", one.identity.type) and index.exists(one.id):
                existing = f"{shown(one.id)} exists without an original IRI"
                warning = f"{existing} and is considered the same as <{one.iri}>."
                self.identities.warnings.append(warning)

    def _is_free(self, identity: ConceptName) -> bool:
        """Whether no other resource, of this import or an earlier one, has the name."""
        if identity in self.identities.names or identity in SYSTEM or identity in ACTORS:
            return False
        originals = self.naming.index.originals
        return not originals or identity.id not in originals

    def _type(self, node: Node, classes: list[str]) -> tuple[str, str | None]:
        """The type of a resource, and the class it comes from. Raises ValueError for none."""
        typed = self._type_of(tuple(classes))
        if typed is not None:
            return typed
        things = any(map(self._is_of_things, classes))
        if ONTOLOGY.value in classes:
            raise ValueError(
                "the head of an ontology; import it as one, or define its type to keep it as data"
            )
        if (classes and not things) or is_of_ontology(self._statements(node)):
            raise ValueError(
                "a class, property or shape is not a concept; import it as an ontology"
            )
        if self.default_type is not None:
            return self.default_type, None
        what = "has no type that is an identifier" if classes else "has no type"
        raise ValueError(f"its subject {what}, and no default type is given")

    def _type_of_classes(self, classes: tuple[str, ...]) -> tuple[str, str] | None:
        """The type of what has some classes, and the class it comes from."""
        for iri in filter(self._is_of_things, sorted(classes, key=self._rank)):
            name = self.naming.type(iri)
            if name is not None and is_key(name):
                return name, iri
        return None

    def _is_class_of_things(self, iri: str) -> bool:
        if iri == ONTOLOGY.value:
            return self.define or self.naming.type(iri) in self.naming.index.concept_types
        return self.naming.is_mapped_type(iri) or not is_definition_class(iri)

    def _rank_of(self, iri: str) -> tuple[int, str]:
        """Classes that the mapping names, those that the nexus defines, others, generic ones."""
        if self.naming.is_mapped_type(iri):
            return 0, iri
        if iri in GENERIC:
            return 3, iri
        return 1 if self.naming.type(iri) in self.naming.index.concept_types else 2, iri


def _concept_of(id: str) -> ConceptName:
    return ConceptName(*id.removeprefix("C:").split("/", 1))


# What the passes share --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Context:
    """The statements, their names and identities, and the nexus with the IRIs of this import.

    ``metadata`` are those that the import gives to every element, ``originals`` what imports and
    merges noted of elements, by their ids.
    """

    external: ExternalData
    naming: Naming
    index: ElementIndex
    identities: Identities
    metadata: JsonMap
    originals: Mapping[str, Json]
