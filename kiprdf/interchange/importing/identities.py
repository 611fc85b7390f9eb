"""Which subjects of foreign RDF are concepts, and of which type and name."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import shown
from kiprdf.interchange.importing.blanks import is_blank
from kiprdf.interchange.importing.foreign import Statement
from kiprdf.interchange.importing.known import Known
from kiprdf.interchange.importing.naming import (
    GENERIC,
    Naming,
    concept_name,
    is_definition_class,
    is_name_text,
    name_candidates,
    names_by_iri,
    told_apart,
)
from kiprdf.interchange.importing.values import to_value
from kiprdf.language.names import META_TYPES, is_definition_name, is_identifier, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics.protected import ACTORS, SYSTEM

Said: TypeAlias = Mapping[NamedNode, list[Statement]]
"""Statements by their subjects."""


@dataclass(slots=True)
class Resource:
    """A subject that is a concept; ``types`` are the classes that its type does not tell."""

    identity: ConceptName
    types: list[str] = field(default_factory=list)
    class_iri: str | None = None
    """The class that its type was made of."""


@dataclass(slots=True)
class Identities:
    """The concepts among the subjects, why others are none, and what was taken for the same.

    ``taken`` are the identities of all concepts, ``originals`` their original IRIs by their ids.
    """

    resources: dict[NamedNode, Resource] = field(default_factory=dict)
    taken: set[ConceptName] = field(default_factory=set)
    originals: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[NamedNode, str] = field(default_factory=dict)
    outgrown: dict[str, NamedNode] = field(default_factory=dict)
    """Concepts of the nexus that were made of an IRI alone, and are of another type now."""
    warnings: list[str] = field(default_factory=list)


def claimed(statement: Statement) -> list[str]:
    """The IRIs that a statement says its subject to be the same as."""
    with suppress(ValueError):
        value = to_value(statement.object)
        texts = value if isinstance(value, list) else [value]
        return [text for text in texts if isinstance(text, str)]
    return []


def _claims(
    own: Iterable[Statement], identity: ConceptName, naming: Naming, known: Known
) -> set[str]:
    """The IRIs that a subject is said to be the same as, but for those of other elements."""
    claiming = (s for s in own if naming.is_claim(s.predicate.value))
    texts = {iri for statement in claiming for iri in claimed(statement)}
    found = {iri for iri in texts if not naming.is_below_base(iri)}
    if _meta_type(identity):
        return found
    return {iri for iri in found if known.other_element(iri, identity.id) is None}


def _meta_type(identity: ConceptName) -> str:
    return identity.type if identity.type in META_TYPES else ""


def own_claims(said: Said, allowed: Allowed, naming: Naming, known: Known) -> dict[str, list[str]]:
    """What the elements that kiprdf wrote are the same as, by their ids.

    Other subjects may be meant by these IRIs, of the same data too.
    """
    found: dict[str, list[str]] = {}
    for node, own in said.items():
        name = naming.element(node.value)
        if isinstance(name, ConceptName):
            with suppress(ValueError):
                found[allowed(name).id] = sorted(_claims(own, name, naming, known))
    return found


@dataclass(frozen=True, slots=True)
class Allowed:
    """Lets the identities pass that an import may write. Raises ValueError for others."""

    define: bool

    def __call__(self, name: ConceptName) -> ConceptName:
        _check(name)
        if name in SYSTEM:
            raise ValueError("its subject belongs to the core schema, which stays as it is")
        if name in ACTORS:
            raise ValueError("its subject is the nexus itself, which stays as it is")
        if name.type in META_TYPES and not self.define:
            raise ValueError("its subject is a definition, and the import is to define nothing")
        return name


class Identifier:
    """Finds the identities of all subjects of one import."""

    def __init__(
        self,
        naming: Naming,
        known: Known,
        allowed: Allowed,
        default_type: str | None,
        language: str | None,
    ) -> None:
        self._naming = naming
        self._known = known
        self._allowed = allowed
        self._default_type = default_type
        self._language = language
        self._found = Identities()

    def identify(self, said: Said, stubs: set[NamedNode]) -> Identities:
        """The identities of subjects, and of nodes that nothing is said of.

        First those that have one already, by their IRI or by an earlier import; then the others
        in the order of their IRIs, each with a name of its own.
        """
        nodes = sorted({*said, *stubs}, key=lambda node: node.value)
        new = [node for node in nodes if not self._is_settled(node, said.get(node, []))]
        for node in new:
            self._name(node, said.get(node, []))
        self._claim(said, {node.value: node for node in new if node in self._found.refused})
        return self._found

    def _is_settled(self, node: NamedNode, own: list[Statement]) -> bool:
        """Whether a subject has an identity, or can have none."""
        try:
            identity = self._identity(node, own)
        except ValueError as fault:
            self._found.refused[node] = str(fault)
            return True
        if identity is None:
            return False
        self._settle(node, own, identity)
        return True

    def _claim(self, said: Said, refused: dict[str, NamedNode]) -> None:
        """Give each concept its original IRIs: its own, then those of what is the same.

        A refused subject that is the same becomes a part of it.
        """
        originals: dict[str, list[str]] = defaultdict(list)
        pending = deque(sorted(self._found.resources, key=lambda node: node.value))
        for node in pending:
            if not self._naming.is_below_base(node.value):
                originals[self._found.resources[node].identity.id].append(node.value)
        owners = {
            (_meta_type(resource.identity), node.value): resource.identity
            for node, resource in self._found.resources.items()
        }
        claims: dict[str, set[str]] = defaultdict(set)
        while pending:
            node = pending.popleft()
            identity = self._found.resources[node].identity
            for iri in sorted(_claims(said.get(node, ()), identity, self._naming, self._known)):
                # One IRI may be a class, a property and a thing, but only one thing.
                if owners.setdefault((_meta_type(identity), iri), identity) != identity:
                    continue
                claims[identity.id].add(iri)
                if iri in refused and not _meta_type(identity):
                    same = refused.pop(iri)
                    del self._found.refused[same]
                    self._settle(same, said[same], identity)
                    pending.append(same)
        for id in {**originals, **claims}:
            self._found.originals[id] = [*originals[id], *sorted(claims[id])]

    def _settle(self, node: NamedNode, own: list[Statement], identity: ConceptName) -> None:
        self._found.resources[node] = Resource(identity, self._other_types(own, identity))
        self._found.taken.add(identity)

    def _identity(self, node: NamedNode, own: list[Statement]) -> ConceptName | None:
        """What an IRI names by itself, or named before. Raises ValueError for what it cannot."""
        name = self._naming.element(node.value)
        if isinstance(name, ConceptName):
            return self._allowed(name)
        if self._naming.is_below_base(node.value):
            raise ValueError("an IRI below the base of the nexus that names none of its concepts")
        if node.value.startswith(vocab.OWN):
            raise ValueError("the vocabulary of kiprdf is no knowledge")
        id = self._known.element(node.value)
        if id is None:
            return None
        if id.startswith("P:"):
            raise ValueError(f"the IRI stands for the proposition {id}")
        name = self._allowed(_concept_of(id))
        return None if self._outgrows(node, own, name) else name

    def _outgrows(self, node: NamedNode, own: list[Statement], stub: ConceptName) -> bool:
        """Whether the data give a type to what an earlier import made of an IRI alone.

        Only what is of the default type changes its type: others were said to be of theirs.
        """
        by_iri_alone = self._known.is_bare(stub.id) and stub.name in names_by_iri(node.value)
        if not by_iri_alone or self._known.originals[stub.id] != (node.value,):
            return False
        try:
            type_name, class_iri = self._type(own)
        except ValueError:
            return False
        if class_iri is None or type_name == stub.type:
            return False
        if stub.type == self._default_type:
            self._found.outgrown[stub.id] = node
            return True
        told = f"<{node.value}> is a {type_name} in the data and stays {shown(stub.id)}"
        hint = f"with the default type {stub.type} it becomes one"
        self._found.warnings.append(f"{told}; {hint}.")
        return False

    def _name(self, node: NamedNode, own: list[Statement]) -> None:
        try:
            type_name, class_iri = self._type(own)
        except ValueError as fault:
            self._found.refused[node] = str(fault)
            return
        labels = [_texts(own, property) for property in self._naming.labels(type_name)]
        candidates = name_candidates(node.value, labels, self._language)
        name = next(filter(None, map(concept_name, candidates)), None)
        if name is None:
            self._found.refused[node] = "nothing of it can be the name of a concept"
            return
        name = told_apart(name, node.value, lambda text: self._is_free(type_name, text))
        identity = ConceptName(type_name, name)
        self._found.taken.add(identity)
        types = self._other_types(own, identity)
        self._found.resources[node] = Resource(identity, types, class_iri)
        if self._known.exists(identity.id):
            text = f"{shown(identity.id)} is there without an original IRI and is taken for"
            self._found.warnings.append(f"{text} <{node.value}>.")

    def _is_free(self, type_name: str, name: str) -> bool:
        """Whether a name is no other resource's, of this import or of an earlier one."""
        identity = ConceptName(type_name, name)
        if identity in self._found.taken or identity in SYSTEM or identity in ACTORS:
            return False
        return identity.id not in self._known.originals

    def _type(self, own: list[Statement]) -> tuple[str, str | None]:
        """The type of a resource, and the class it was made of. Raises ValueError for none."""
        classes = _classes(own)
        things = [iri for iri in classes if self._is_of_things(iri)]
        for iri in sorted(things, key=self._rank):
            name = self._naming.type(iri)
            if name is not None and is_key(name):
                return name, iri
        if classes and not things:
            raise ValueError("a class, property or shape is no concept; import it as an ontology")
        if self._default_type is not None:
            return self._default_type, None
        what = "has no type that is an identifier" if classes else "has no type"
        raise ValueError(f"its subject {what}, and no default type is given")

    def _other_types(self, own: list[Statement], identity: ConceptName) -> list[str]:
        return [iri for iri in _classes(own) if self._naming.type(iri) != identity.type]

    def _is_of_things(self, iri: str) -> bool:
        return self._naming.is_mapped_type(iri) or not is_definition_class(NamedNode(iri))

    def _rank(self, iri: str) -> tuple[int, str]:
        """What the mapping names, what the nexus defines, the others; generic classes last."""
        if self._naming.is_mapped_type(iri):
            return 0, iri
        if iri in GENERIC:
            return 3, iri
        return 1 if self._naming.type(iri) in self._known.concept_types else 2, iri


def _classes(own: list[Statement]) -> list[str]:
    """The IRIs of the classes that a subject is said to be of, sorted."""
    found = (s.object for s in own if s.predicate == vocab.TYPE)
    return sorted({c.value for c in found if isinstance(c, NamedNode) and not is_blank(c)})


def _texts(own: list[Statement], property: str) -> list[Literal]:
    found = (s.object for s in own if s.predicate.value == property)
    return [text for text in found if isinstance(text, Literal) and is_name_text(text)]


def _concept_of(id: str) -> ConceptName:
    return ConceptName(*id.removeprefix("C:").split("/", 1))


def _check(name: ConceptName) -> None:
    """Raise ValueError for an identity that no nexus can hold."""
    if name.type not in META_TYPES and not is_identifier(name.type):
        raise ValueError(f"'{shown(name.type)}' can be no concept type")
    fault = name_fault(name.name)
    if fault is not None:
        raise ValueError(f"a concept cannot be named so: the name {fault}")
    if name.type in META_TYPES and not is_definition_name(name.type, name.name):
        raise ValueError(f"'{shown(name.name)}' can be no definition")
