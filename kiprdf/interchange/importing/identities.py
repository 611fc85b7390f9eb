"""Which subjects of foreign RDF are concepts, and of which type and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import shown
from kiprdf.interchange.importing.blanks import is_blank
from kiprdf.interchange.importing.foreign import Statement
from kiprdf.interchange.importing.known import SAME_AS, Known
from kiprdf.interchange.importing.naming import (
    GENERIC,
    OWL_SAME_AS,
    Names,
    concept_name,
    is_definition_class,
    is_name_text,
    name_candidates,
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

    is_fixed: bool = False
    """Whether it is there and no statement may write it."""


@dataclass(slots=True)
class Identities:
    """The concepts among the subjects, why others are none, and what was taken for the same.

    ``taken`` are the identities of all concepts.
    """

    resources: dict[NamedNode, Resource] = field(default_factory=dict)
    taken: set[ConceptName] = field(default_factory=set)
    refused: dict[NamedNode, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def claims(own: Iterable[Statement]) -> list[str]:
    """The IRIs that a subject is said to be the same as, sorted."""
    found: set[str] = set()
    for statement in own:
        if statement.predicate.value in (OWL_SAME_AS, vocab.ATTRIBUTE + SAME_AS):
            with suppress(ValueError):
                value = to_value(statement.object)
                texts = value if isinstance(value, list) else [value]
                found.update(text for text in texts if isinstance(text, str))
    return sorted(found)


def own_claims(said: Said, names: Names) -> dict[str, list[str]]:
    """What the elements that kiprdf wrote are the same as, by their ids.

    Other subjects may be meant by these IRIs, of the same data too.
    """
    found: dict[str, list[str]] = {}
    for node, own in said.items():
        name = names.element(node.value)
        if isinstance(name, ConceptName):
            with suppress(ValueError):
                found[_valid(name).id] = claims(own)
    return found


def all_claims(said: Said, identities: Identities, names: Names) -> dict[str, list[str]]:
    """What all concepts are the same as, by their ids: first their own IRIs."""
    found: dict[str, list[str]] = {}
    others: dict[str, set[str]] = {}
    for node, resource in identities.resources.items():
        id = resource.identity.id
        if not names.is_below_base(node.value):
            found.setdefault(id, []).append(node.value)
        others.setdefault(id, set()).update(claims(said.get(node, ())))
    return {id: [*found.get(id, ()), *sorted(iris)] for id, iris in others.items()}


class Identifier:
    """Finds the identities of all subjects of one import."""

    def __init__(
        self, names: Names, known: Known, default_type: str | None, language: str | None
    ) -> None:
        self._names = names
        self._known = known
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
        return self._found

    def _is_settled(self, node: NamedNode, own: list[Statement]) -> bool:
        """Whether a subject has an identity, or can have none."""
        try:
            identity = self._identity(node)
        except ValueError as fault:
            self._found.refused[node] = str(fault)
            return True
        if identity is None:
            return False
        is_fixed = identity in SYSTEM and self._known.exists(identity.id)
        types = self._other_types(own, identity)
        self._found.resources[node] = Resource(identity, types, is_fixed=is_fixed)
        self._found.taken.add(identity)
        return True

    def _identity(self, node: NamedNode) -> ConceptName | None:
        """What an IRI names by itself, or named before. Raises ValueError for what it cannot."""
        name = self._names.element(node.value)
        if isinstance(name, ConceptName):
            return _valid(name)
        if self._names.is_below_base(node.value):
            raise ValueError("an IRI below the base of the nexus that names none of its concepts")
        if node.value.startswith(vocab.OWN):
            raise ValueError("the vocabulary of kiprdf is no knowledge")
        id = self._known.element(node.value)
        if id is None:
            return None
        if id.startswith("P:"):
            raise ValueError(f"the IRI stands for the proposition {id}")
        return ConceptName(*id.removeprefix("C:").split("/", 1))

    def _name(self, node: NamedNode, own: list[Statement]) -> None:
        try:
            type_name, class_iri = self._type(own)
        except ValueError as fault:
            self._found.refused[node] = str(fault)
            return
        labels = [_texts(own, property) for property in self._names.labels(type_name)]
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
            name = self._names.type(iri)
            if name is not None and is_key(name):
                return name, iri
        if classes and not things:
            raise ValueError("a class, property or shape is no concept; import it as an ontology")
        if self._default_type is not None:
            return self._default_type, None
        what = "has no type that is an identifier" if classes else "has no type"
        raise ValueError(f"its subject {what}, and no default type is given")

    def _other_types(self, own: list[Statement], identity: ConceptName) -> list[str]:
        return [iri for iri in _classes(own) if self._names.type(iri) != identity.type]

    def _is_of_things(self, iri: str) -> bool:
        return self._names.is_mapped_type(iri) or not is_definition_class(NamedNode(iri))

    def _rank(self, iri: str) -> tuple[int, str]:
        """What the mapping names, what the nexus defines, the others; generic classes last."""
        if self._names.is_mapped_type(iri):
            return 0, iri
        if iri in GENERIC:
            return 3, iri
        return 1 if self._names.type(iri) in self._known.concept_types else 2, iri


def _classes(own: list[Statement]) -> list[str]:
    """The IRIs of the classes that a subject is said to be of, sorted."""
    found = (s.object for s in own if s.predicate == vocab.TYPE)
    return sorted({c.value for c in found if isinstance(c, NamedNode) and not is_blank(c)})


def _texts(own: list[Statement], property: str) -> list[Literal]:
    found = (s.object for s in own if s.predicate.value == property)
    return [text for text in found if isinstance(text, Literal) and is_name_text(text)]


def _valid(name: ConceptName) -> ConceptName:
    """An identity that a nexus can hold. Raises ValueError for another."""
    if name.type not in META_TYPES and not is_identifier(name.type):
        raise ValueError(f"'{shown(name.type)}' can be no concept type")
    fault = name_fault(name.name)
    if fault is not None:
        raise ValueError(f"a concept cannot be named so: the name {fault}")
    if name.type in META_TYPES and not is_definition_name(name.type, name.name):
        raise ValueError(f"'{shown(name.name)}' can be no definition")
    return name
