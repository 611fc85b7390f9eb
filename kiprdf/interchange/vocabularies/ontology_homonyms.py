"""Terms that are called like a definition of the nexus (docs/decisions/031)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kiprdf.interchange.vocabularies.existing import Definitions
from kiprdf.interchange.vocabularies.ontology_names import own_name
from kiprdf.interchange.vocabularies.schema import end_types
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics.protected import SYSTEM


class Homonyms:
    """What tells the same from the equally named.

    A definition that says which terms it is the same as is no other term. One that does not is
    taken for the same unless it contradicts: a predicate by the types of its ends.
    """

    def __init__(self, meta_type: str, existing: Definitions) -> None:
        self._meta_type = meta_type
        self._existing = existing

    def is_free(self, iri: str, name: str, ends: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether a term of an ontology may have a name; ``ends`` are its types by role."""
        found = self._existing.get(ConceptName(self._meta_type, name))
        if found is None or self._is_core(name):
            return True
        return not found.originals and all(
            _allows(end_types(found.attributes, role), types) for role, types in ends.items()
        )

    def is_homonym(self, iri: str, name: str, given: str | None) -> bool:
        """Whether a term has the name of a definition and nobody says that it is the same.

        Nexuses that give a definition the same name do not say so either.
        """
        is_given = name == given and name != own_name(self._meta_type, iri)
        return not is_given and self._has(name)

    def warnings(self, names: Mapping[str, str], plain: Mapping[str, str]) -> Iterator[str]:
        """What was taken for the same, and what was told apart; ``plain`` are the terms' own names.

        Only terms that nobody gave a name are among them.
        """
        for iri, wanted in plain.items():
            if self._is_core(wanted):
                continue
            if self._has(names[iri]):
                yield (
                    f"<{iri}> is taken for '{names[iri]}' of the nexus because it is called so; "
                    "a mapping can tell them apart."
                )
            elif self._has(wanted):
                yield (
                    f"<{iri}> is called '{names[iri]}': '{wanted}' of the nexus is another; "
                    "a mapping can say that they are the same."
                )

    def _has(self, name: str) -> bool:
        return ConceptName(self._meta_type, name) in self._existing

    def _is_core(self, name: str) -> bool:
        return (self._meta_type, name) in SYSTEM


def _allows(allowed: list[str] | None, types: tuple[str, ...]) -> bool:
    """Whether a definition lets an end be of all the types that a term says, if both say any."""
    return allowed is None or "*" in types or set(types) <= set(allowed)
