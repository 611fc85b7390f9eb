"""The hierarchy of types and of predicates: propositions between definitions.

``(?nurse, "subclass_of", ?practitioner)`` links two concept types, ``subproperty_of`` two
predicates (docs/decisions/083).
"""

from __future__ import annotations

from collections import defaultdict

from pyoxigraph import NamedNode

from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.vocabularies.standards import rdfs
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import Store

ABOVE = {META_TYPES[0]: "subclass_of", META_TYPES[1]: "subproperty_of"}
"""The predicate from a definition to those directly above it, by meta-type."""
ORIGINALS = {META_TYPES[0]: rdfs("subClassOf"), META_TYPES[1]: rdfs("subPropertyOf")}
"""The properties of RDFS that state the same."""
_DESCRIPTIONS = {
    META_TYPES[0]: "Every instance of the first concept type is one of the second, too.",
    META_TYPES[1]: "What the first predicate links, the second one links, too.",
}


def link_definition(meta_type: str) -> JsonMap:
    """The attributes of the predicate between the definitions of a meta-type.

    >>> link_definition("$ConceptType")["same_as"]
    'http://www.w3.org/2000/01/rdf-schema#subClassOf'
    """
    return {
        "description": _DESCRIPTIONS[meta_type],
        "subject_types": [meta_type],
        "object_types": [meta_type],
        "is_symmetric": False,
        "is_transitive": True,
        SAME_AS: ORIGINALS[meta_type].value,
    }


def read_parents(store: Store) -> dict[ConceptName, set[str]]:
    """The names of the definitions directly above each definition that has some."""
    parents: dict[ConceptName, set[str]] = defaultdict(set)
    for meta_type, predicate in ABOVE.items():
        for triple in store.match(None, store.iris.predicate(predicate), None):
            ends = [
                store.iris.name(term.value) if isinstance(term, NamedNode) else None
                for term in (triple.subject, triple.object)
            ]
            match ends:
                case [ConceptName() as below, ConceptName() as above]:
                    if below.type == above.type == meta_type:
                        parents[below].add(above.name)
    return parents
