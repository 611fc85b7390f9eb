"""The subjects of foreign RDF that are concepts, with their types and names."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import shown
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import ElementIndex, meta_type
from kiprdf.interchange.importing.foreign import Statement
from kiprdf.interchange.importing.naming import (
    GENERIC,
    Naming,
    concept_name,
    is_definition_class,
    is_name_text,
    name_candidates,
    names_by_iri,
    unique_name,
)
from kiprdf.interchange.importing.values import to_value
from kiprdf.language.names import META_TYPES, is_definition_name, is_identifier, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics.protected import ACTORS, SYSTEM

BySubject: TypeAlias = Mapping[NamedNode, list[Statement]]
"""Statements by their subjects."""


@dataclass(slots=True)
class Resource:
    """A subject that is a concept; ``types`` are its classes beyond its type."""

    identity: ConceptName
    types: list[str] = field(default_factory=list)
    class_iri: str | None = None
    """The class that its type comes from."""


@dataclass(slots=True)
class Identities:
    """The concepts among the subjects, and why other subjects are none.

    ``names`` are the identities of all concepts, ``originals`` their original IRIs by their ids.
    """

    resources: dict[NamedNode, Resource] = field(default_factory=dict)
    names: set[ConceptName] = field(default_factory=set)
    originals: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[NamedNode, str] = field(default_factory=dict)
    superseded: dict[str, NamedNode] = field(default_factory=dict)
    """Ids of concepts that were created for an IRI alone and get another type now."""
    warnings: list[str] = field(default_factory=list)


def claimed(statement: Statement) -> list[str]:
    """The IRIs that a statement declares to be the same as its subject."""
    with suppress(ValueError):
        value = to_value(statement.object)
        texts = value if isinstance(value, list) else [value]
        return [text for text in texts if isinstance(text, str)]
    return []


def _claims(
    statements: Iterable[Statement], identity: ConceptName, naming: Naming, index: ElementIndex
) -> set[str]:
    """The IRIs that a subject is declared the same as, except those of other elements."""
    claims = (s for s in statements if naming.is_claim(s.predicate.value))
    iris = {iri for statement in claims for iri in claimed(statement)}
    foreign = {iri for iri in iris if not naming.is_below_base(iri)}
    if meta_type(identity.id):
        return foreign
    return {iri for iri in foreign if index.other_element(iri, identity.id) is None}


def claims_by_element(
    by_subject: BySubject, define: bool, naming: Naming, index: ElementIndex
) -> dict[str, list[str]]:
    """The IRIs that concepts written by kiprdf are the same as, by their ids.

    Other subjects of the same data may have these IRIs.
    """
    claims: dict[str, list[str]] = {}
    for node, statements in by_subject.items():
        name = naming.element(node.value)
        if isinstance(name, ConceptName):
            with suppress(ValueError):
                claims[checked(name, define).id] = sorted(_claims(statements, name, naming, index))
    return claims


def checked(name: ConceptName, define: bool) -> ConceptName:
    """An identity that an import may write. Raises ValueError for others."""
    if name.type not in META_TYPES and not is_identifier(name.type):
        raise ValueError(f"'{shown(name.type)}' cannot be a concept type")
    fault = name_fault(name.name)
    if fault is not None:
        raise ValueError(f"a concept cannot have this name: it {fault}")
    if name.type in META_TYPES and not is_definition_name(name.type, name.name):
        raise ValueError(f"'{shown(name.name)}' cannot be a definition")
    if name in SYSTEM:
        raise ValueError("its subject belongs to the core schema, which stays as it is")
    if name in ACTORS:
        raise ValueError("its subject is the nexus itself, which stays as it is")
    if name.type in META_TYPES and not define:
        raise ValueError("its subject is a definition, and the import must not define anything")
    return name


class Identifier:
    """Finds the identities of all subjects of one import."""

    def __init__(
        self,
        naming: Naming,
        index: ElementIndex,
        define: bool,
        default_type: str | None,
        language: str | None,
    ) -> None:
        self._naming = naming
        self._index = index
        self._define = define
        self._default_type = default_type
        self._language = language
        self._identities = Identities()

    def identify(self, by_subject: BySubject, stubs: set[NamedNode]) -> Identities:
        """The identities of subjects, and of nodes without statements.

        First those that have one already, by their IRI or by an earlier import; then the others
        in the order of their IRIs, each with a unique name.
        """
        nodes = sorted({*by_subject, *stubs}, key=lambda node: node.value)
        new = [node for node in nodes if not self._keep_identity(node, by_subject.get(node, []))]
        for node in new:
            self._name(node, by_subject.get(node, []))
        self._claim(
            by_subject, {node.value: node for node in new if node in self._identities.refused}
        )
        return self._identities

    def _keep_identity(self, node: NamedNode, statements: list[Statement]) -> bool:
        """Note the identity that a subject has, or why it can have none; False if it needs one."""
        try:
            identity = self._identity(node, statements)
        except ValueError as fault:
            self._identities.refused[node] = str(fault)
            return True
        if identity is None:
            return False
        self._add(node, statements, identity)
        return True

    def _claim(self, by_subject: BySubject, refused: dict[str, NamedNode]) -> None:
        """Give each concept its original IRIs: its own, then those that it is the same as.

        A refused subject with such an IRI becomes a part of the concept.
        """
        originals: dict[str, list[str]] = defaultdict(list)
        pending = deque(sorted(self._identities.resources, key=lambda node: node.value))
        for node in pending:
            if not self._naming.is_below_base(node.value):
                originals[self._identities.resources[node].identity.id].append(node.value)
        owners = {
            (meta_type(resource.identity.id), node.value): resource.identity
            for node, resource in self._identities.resources.items()
        }
        claims: dict[str, set[str]] = defaultdict(set)
        while pending:
            node = pending.popleft()
            identity = self._identities.resources[node].identity
            for iri in sorted(
                _claims(by_subject.get(node, ()), identity, self._naming, self._index)
            ):
                # One IRI may be a class, a property and a thing, but only one thing.
                if owners.setdefault((meta_type(identity.id), iri), identity) != identity:
                    continue
                claims[identity.id].add(iri)
                if iri in refused and not meta_type(identity.id):
                    part = refused.pop(iri)
                    del self._identities.refused[part]
                    self._add(part, by_subject[part], identity)
                    pending.append(part)
        for id in {**originals, **claims}:
            self._identities.originals[id] = [*originals[id], *sorted(claims[id])]

    def _add(self, node: NamedNode, statements: list[Statement], identity: ConceptName) -> None:
        other_types = self._other_types(statements, identity)
        self._identities.resources[node] = Resource(identity, other_types)
        self._identities.names.add(identity)

    def _identity(self, node: NamedNode, statements: list[Statement]) -> ConceptName | None:
        """The concept that an IRI names, now or in the nexus. Raises ValueError for none."""
        name = self._naming.element(node.value)
        if isinstance(name, ConceptName):
            return checked(name, self._define)
        if self._naming.is_below_base(node.value):
            raise ValueError("an IRI below the base of the nexus that is not that of a concept")
        if node.value.startswith(vocab.OWN):
            raise ValueError("a term of the vocabulary of kiprdf, not knowledge")
        id = self._index.element(node.value)
        if id is None:
            return None
        if id.startswith("P:"):
            raise ValueError(f"the IRI is that of the proposition {id}")
        name = checked(_concept_of(id), self._define)
        return None if self._supersedes(node, statements, name) else name

    def _supersedes(self, node: NamedNode, statements: list[Statement], stub: ConceptName) -> bool:
        """Whether the data give a type to a concept that an import created for an IRI alone.

        Only a concept of the default type changes its type: data said that others have theirs.
        """
        by_iri_alone = self._index.is_bare(stub.id) and stub.name in names_by_iri(node.value)
        if not by_iri_alone or self._index.originals[stub.id] != (node.value,):
            return False
        try:
            type_name, class_iri = self._type(statements)
        except ValueError:
            return False
        if class_iri is None or type_name == stub.type:
            return False
        if stub.type == self._default_type:
            self._identities.superseded[stub.id] = node
            return True
        warning = f"<{node.value}> is a {type_name} in the data and stays {shown(stub.id)}"
        hint = f"with the default type {stub.type} it becomes one"
        self._identities.warnings.append(f"{warning}; {hint}.")
        return False

    def _name(self, node: NamedNode, statements: list[Statement]) -> None:
        try:
            type_name, class_iri = self._type(statements)
        except ValueError as fault:
            self._identities.refused[node] = str(fault)
            return
        labels = [_texts(statements, property) for property in self._naming.labels(type_name)]
        candidates = name_candidates(node.value, labels, self._language)
        name = next(filter(None, map(concept_name, candidates)), None)
        if name is None:
            self._identities.refused[node] = (
                "neither its labels nor its IRI can be the name of a concept"
            )
            return
        name = unique_name(name, node.value, lambda text: self._is_free(type_name, text))
        identity = ConceptName(type_name, name)
        self._identities.names.add(identity)
        types = self._other_types(statements, identity)
        self._identities.resources[node] = Resource(identity, types, class_iri)
        if self._index.exists(identity.id):
            text = (
                f"{shown(identity.id)} exists without an original IRI and is considered the same as"
            )
            self._identities.warnings.append(f"{text} <{node.value}>.")

    def _is_free(self, type_name: str, name: str) -> bool:
        """Whether no other resource, of this import or an earlier one, has the name."""
        identity = ConceptName(type_name, name)
        if identity in self._identities.names or identity in SYSTEM or identity in ACTORS:
            return False
        return identity.id not in self._index.originals

    def _type(self, statements: list[Statement]) -> tuple[str, str | None]:
        """The type of a resource, and the class it comes from. Raises ValueError for none."""
        classes = _classes(statements)
        things = [iri for iri in classes if self._is_of_things(iri)]
        for iri in sorted(things, key=self._rank):
            name = self._naming.type(iri)
            if name is not None and is_key(name):
                return name, iri
        if classes and not things:
            raise ValueError(
                "a class, property or shape is not a concept; import it as an ontology"
            )
        if self._default_type is not None:
            return self._default_type, None
        what = "has no type that is an identifier" if classes else "has no type"
        raise ValueError(f"its subject {what}, and no default type is given")

    def _other_types(self, statements: list[Statement], identity: ConceptName) -> list[str]:
        return [iri for iri in _classes(statements) if self._naming.type(iri) != identity.type]

    def _is_of_things(self, iri: str) -> bool:
        return self._naming.is_mapped_type(iri) or not is_definition_class(NamedNode(iri))

    def _rank(self, iri: str) -> tuple[int, str]:
        """Classes that the mapping names, those that the nexus defines, others, generic ones."""
        if self._naming.is_mapped_type(iri):
            return 0, iri
        if iri in GENERIC:
            return 3, iri
        return 1 if self._naming.type(iri) in self._index.concept_types else 2, iri


def _classes(statements: list[Statement]) -> list[str]:
    """The IRIs of the classes of a subject, sorted."""
    classes = (s.object for s in statements if s.predicate == vocab.TYPE)
    return sorted({c.value for c in classes if isinstance(c, NamedNode) and not is_blank(c)})


def _texts(statements: list[Statement], property: str) -> list[Literal]:
    values = (s.object for s in statements if s.predicate.value == property)
    return [text for text in values if isinstance(text, Literal) and is_name_text(text)]


def _concept_of(id: str) -> ConceptName:
    return ConceptName(*id.removeprefix("C:").split("/", 1))
