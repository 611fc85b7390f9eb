"""What a foreign statement becomes: a fact, an attribute, metadata, or nothing."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.importing.blanks import is_blank
from kiprdf.interchange.importing.foreign import Foreign, Statement
from kiprdf.interchange.importing.identities import Identities, Resource, Said
from kiprdf.interchange.importing.known import Known
from kiprdf.interchange.importing.naming import OWL_SAME_AS, Key, Names
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES

_DEFINITIONS = tuple(f"C:{meta_type}/" for meta_type in META_TYPES)


def stubs(said: Said, foreign: Foreign, names: Names, known: Known) -> set[NamedNode]:
    """The undescribed ends of predicates that the mapping names.

    With a default type they are concepts, of which nothing is known but the IRI.
    """
    never = (vocab.TYPE.value, OWL_SAME_AS)
    return {
        statement.object
        for statement in foreign.statements
        if isinstance(statement.object, NamedNode)
        and statement.object not in said
        and statement.object not in foreign.reified
        and statement.predicate.value not in never
        and not is_blank(statement.object)
        and not names.is_below_base(statement.object.value)
        and known.element(statement.object.value) is None
        and names.is_mapped_predicate(statement.predicate.value)
    }


class Roles:
    """Decides about one statement at a time; of a link, ``resource`` is None."""

    def __init__(
        self, foreign: Foreign, names: Names, known: Known, identities: Identities
    ) -> None:
        self._foreign = foreign
        self._names = names
        self._known = known
        self._identities = identities
        self._made = {identity.id for identity in identities.taken}

    def id(self, node: NamedNode) -> str | None:
        """The id of a concept of the data, or of an element that the nexus has.

        Definitions only where the data describe them: those that an import makes itself would
        otherwise be strings the first time, and ends of facts the second time.
        """
        resource = self._identities.resources.get(node)
        if resource is not None:
            return resource.identity.id
        name = self._names.element(node.value)
        id = self._known.element(node.value) if name is None else name.id
        if id is None or not self._is_element(id):
            return None
        return id

    def _is_element(self, id: str) -> bool:
        if id in self._made:
            return True
        return not id.startswith(_DEFINITIONS) and self._known.exists(id)

    def is_name(self, statement: Statement, resource: Resource) -> bool:
        """Whether a statement says nothing but the name that a concept has anyway."""
        property, type_name = statement.predicate.value, resource.identity.type
        if statement.object != Literal(resource.identity.name):
            return False
        if property == vocab.LABEL.value:
            return not self._names.is_mapped_attribute(property, type_name)
        # What kiprdf wrote under a mapping tells the name twice.
        is_own = self._names.is_below_base(str(getattr(statement.subject, "value", "")))
        return is_own and property == self._names.labels(type_name)[0]

    def is_fact(self, statement: Statement, resource: Resource | None) -> bool:
        """Whether a statement links two elements, and is not said to be an attribute."""
        property = statement.predicate.value
        if not isinstance(statement.object, NamedNode) or property == OWL_SAME_AS:
            return False
        if property.startswith((vocab.ATTRIBUTE, vocab.METADATA)):
            return False
        if self._names.is_own_predicate(property):
            return True
        if statement.object not in self._foreign.reified and self.id(statement.object) is None:
            return False
        if self._names.is_mapped_predicate(property):
            return True
        type_name = resource.identity.type if resource else None
        is_attribute = self._names.is_mapped_attribute(property, type_name)
        return not is_attribute and not self._names.is_mapped_metadata(property)

    def key(self, statement: Statement, resource: Resource | None) -> tuple[Key | None, bool]:
        """The key of a value, and whether it is metadata.

        A property that is both is an attribute of concepts and metadata of propositions.
        """
        property = statement.predicate.value
        metadata = self._names.metadata(property, statement.object)
        if property.startswith(vocab.METADATA):
            return metadata, True
        type_name = resource.identity.type if resource else None
        is_attribute = resource and self._names.is_mapped_attribute(property, type_name)
        if metadata is not None and not is_attribute:
            return metadata, True
        return self._names.attribute(property, type_name, statement.object), False

    def fault(self, statement: Statement, key: Key | None, resource: Resource | None) -> str | None:
        """Why a statement can be no value; None when it can."""
        if resource is not None and resource.is_fixed:
            return f"{resource.identity.id} belongs to the core schema; it stays as it is"
        if key is None:
            return "of its predicate no identifier can be made"
        if resource is not None and resource.identity in ACTORS and key.name == CORE_DIRECTIVES:
            return f"the core_directives of {resource.identity.id} stay as they are"
        object_ = statement.object
        if not isinstance(object_, NamedNode) or not is_blank(object_):
            return None
        if object_ in self._identities.refused:
            return "its object is a blank node that is no concept"
        is_told = object_ in self._identities.resources or object_ in self._foreign.reified
        return None if is_told else "nothing is said of the blank node that is its object"
