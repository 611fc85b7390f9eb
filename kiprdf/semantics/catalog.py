"""Which concept types and predicates a nexus knows, at one commit."""

from __future__ import annotations

from dataclasses import dataclass

from kiprdf.errors import KipError, nearest, shown
from kiprdf.language.names import META_TYPES, is_identifier
from kiprdf.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Catalog:
    """The registered names. The two meta-types are always registered (KIP 2.9.1)."""

    concept_types: frozenset[str] = frozenset()
    predicates: frozenset[str] = frozenset()

    def extended(self, meta_type: str, name: str) -> Catalog:
        """The catalog with one definition more."""
        if meta_type == "$ConceptType":
            return Catalog(self.concept_types | {name}, self.predicates)
        return Catalog(self.concept_types, self.predicates | {name})

    def require_type(self, name: str, span: Span = NOWHERE) -> None:
        """Raise KIP_2001 for a concept type that is not registered."""
        if name not in self.concept_types and name not in META_TYPES:
            raise self._unknown("Concept type", name, self.concept_types, span)

    def require_predicate(self, name: str, span: Span = NOWHERE) -> None:
        """Raise KIP_2001 for a predicate that is not registered."""
        if name not in self.predicates:
            raise self._unknown("Predicate", name, self.predicates, span)

    def _unknown(self, what: str, name: str, names: frozenset[str], span: Span) -> KipError:
        message = f"{what} '{shown(name)}' is not defined."
        meta = "$ConceptType" if what == "Concept type" else "$PropositionType"
        listing = "CONCEPT" if what == "Concept type" else "PROPOSITION"
        close = nearest(name, names)
        if close:
            choice = " or ".join(f"'{candidate}'" for candidate in close)
            hint = f"Did you mean {choice}? Names are case-sensitive."
        elif is_identifier(name):
            definition = f'{{type: "{meta}", name: "{shown(name)}"}}'
            hint = (
                f"Register it first: UPSERT {{ CONCEPT ?t {{ {definition} … }} }}, or look it up "
                f"with DESCRIBE {listing} TYPES."
            )
        else:
            hint = f"This is not an identifier. Look the name up with DESCRIBE {listing} TYPES."
        return KipError("KIP_2001", message, hint, span)
