"""What a foreign statement becomes: a fact, an attribute, metadata, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.foreign import Foreign, Statement
from kiprdf.interchange.importing.identities import BySubject, Identities, Resource
from kiprdf.interchange.importing.naming import OWL_SAME_AS, Key, Naming
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import PropositionName

Awaited: TypeAlias = Statement | str
"""What must become a proposition first: a statement, or the proposition of an id."""

_DEFINITIONS = tuple(f"C:{meta_type}/" for meta_type in META_TYPES)


def stubs(
    by_subject: BySubject, foreign: Foreign, naming: Naming, index: ElementIndex
) -> set[NamedNode]:
    """The undescribed ends of predicates that the mapping names.

    With a default type they become concepts that have nothing but their IRI.
    """
    never = (vocab.TYPE.value, OWL_SAME_AS)
    return {
        statement.object
        for statement in foreign.statements
        if isinstance(statement.object, NamedNode)
        and statement.object not in by_subject
        and statement.object not in foreign.reified
        and statement.predicate.value not in never
        and not is_blank(statement.object)
        and not naming.is_below_base(statement.object.value)
        and index.element(statement.object.value) is None
        and naming.is_mapped_predicate(statement.predicate.value)
    }


class Roles:
    """Decides about one statement at a time; of a link, ``resource`` is None."""

    def __init__(
        self,
        foreign: Foreign,
        naming: Naming,
        index: ElementIndex,
        identities: Identities,
        owners: Mapping[NamedNode, Statement],
    ) -> None:
        self._foreign = foreign
        self._naming = naming
        self._index = index
        self._identities = identities
        self._new_ids = {identity.id for identity in identities.names}
        self._owners = {node.value: statement for node, statement in owners.items()}

    def id(self, node: NamedNode) -> str | None:
        """The id of a concept of the data, or of an element that the nexus has.

        Definitions only if the data describe them. Otherwise those that an import creates would be
        strings in the first import and ends of facts in the second.
        """
        resource = self._identities.resources.get(node)
        if resource is not None:
            return resource.identity.id
        name = self._naming.element(node.value)
        id = self._index.element(node.value) if name is None else name.id
        if id is None or not self._is_element(id):
            return None
        return id

    def _is_element(self, id: str) -> bool:
        if id in self._new_ids:
            return True
        return not id.startswith(_DEFINITIONS) and self._index.exists(id)

    def owner(self, iri: str) -> Statement | None:
        """The statement that an IRI reifies, by itself or as ``same_as`` of a reifier."""
        return self._owners.get(iri)

    def awaited(self, node: NamedNode) -> Awaited | None:
        """What must become a proposition before a node is an end; None for other ends."""
        if node.value in self._owners:
            return self._owners[node.value]
        name = self._naming.element(node.value)
        is_new = isinstance(name, PropositionName) and not self._index.exists(name.id)
        return name.id if name is not None and is_new else None

    def is_name(self, statement: Statement, resource: Resource) -> bool:
        """Whether a statement only repeats the name of a concept."""
        property, type_name = statement.predicate.value, resource.identity.type
        if statement.object != Literal(resource.identity.name):
            return False
        if property == vocab.LABEL.value:
            return not self._naming.is_mapped_attribute(property, type_name)
        # Under a mapping kiprdf writes the name twice.
        is_native = self._naming.is_below_base(str(getattr(statement.subject, "value", "")))
        return is_native and property == self._naming.labels(type_name)[0]

    def is_fact(self, statement: Statement, resource: Resource | None) -> bool:
        """Whether a statement links two elements, and the mapping makes it no attribute."""
        property = statement.predicate.value
        if not isinstance(statement.object, NamedNode) or self._naming.is_claim(property):
            return False
        if property.startswith((vocab.ATTRIBUTE, vocab.METADATA)):
            return False
        if self._naming.is_native_predicate(property):
            return True
        if self.awaited(statement.object) is None and self.id(statement.object) is None:
            return False
        if self._naming.is_mapped_predicate(property):
            return True
        type_name = resource.identity.type if resource else None
        is_attribute = self._naming.is_mapped_attribute(property, type_name)
        return not is_attribute and not self._naming.is_mapped_metadata(property)

    def key(self, statement: Statement, resource: Resource | None) -> tuple[Key | None, bool]:
        """The key of a value, and whether it is metadata.

        A property that is both is an attribute of concepts and metadata of propositions.
        """
        property = statement.predicate.value
        metadata = self._naming.metadata(property, statement.object)
        if property.startswith(vocab.METADATA):
            return metadata, True
        type_name = resource.identity.type if resource else None
        is_attribute = resource and self._naming.is_mapped_attribute(property, type_name)
        if metadata is not None and not is_attribute:
            return metadata, True
        return self._naming.attribute(property, type_name, statement.object), False

    def fault(self, statement: Statement, key: Key | None, resource: Resource | None) -> str | None:
        """Why a statement cannot become a value; None if it can."""
        if key is None:
            return "its predicate cannot be made an identifier"
        if key.name == SAME_AS and not self._naming.is_claim(statement.predicate.value):
            return "same_as holds original IRIs; a mapping can give this property another name"
        object_ = statement.object
        if not isinstance(object_, NamedNode) or not is_blank(object_):
            return None
        if object_ in self._identities.refused:
            return "its object is a blank node that is not a concept"
        is_described = object_ in self._identities.resources or object_ in self._foreign.reified
        return None if is_described else "its object is a blank node without statements"
