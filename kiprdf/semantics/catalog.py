"""The concept types and predicates that a nexus defines, at one commit."""

from __future__ import annotations

import re

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, nearest, shown
from kiprdf.language.names import META_TYPES, is_identifier
from kiprdf.source import NOWHERE, Span

_HOPS = {"*": "{0,}", "+": "{1,}", "?": "{0,1}"}
_WITH_HOPS = re.compile(r"(\w+)\s*([*+?]|\{[0-9]+(?:,[0-9]*)?\})")


def _predicate_with_operators(name: str) -> str | None:
    """What is written for a predicate with its hops or alternatives in one string."""
    with_hops = _WITH_HOPS.fullmatch(name)
    if with_hops is not None:
        return f'"{with_hops[1]}"{_HOPS.get(with_hops[2], with_hops[2])}'
    alternatives = [part.strip() for part in name.split("|")]
    if len(alternatives) > 1 and all(map(is_identifier, alternatives)):
        return " | ".join(f'"{part}"' for part in alternatives)
    return None


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
        definition = f'UPSERT {{ CONCEPT {{ {{type: "{meta}", name: "{shown(name)}"}} }} }}'
        close = nearest(name, names)
        types = re.split(r"\s*[|,/]+\s*", name) if what == "Concept type" else []
        operators = _predicate_with_operators(name) if what == "Predicate" else None
        if name in self.predicates:
            hint = f"'{name}' is a predicate: a link is matched by (?s, \"{name}\", ?o)."
        elif name in self.concept_types:
            hint = f"'{name}' is a concept type: a concept is matched by {{type: \"{name}\"}}."
        elif operators is not None:
            hint = (
                f'Operators are outside of the quotes: write `{operators}` instead of `"{name}"`.'
            )
        elif len(types) > 1 and all(each in self.concept_types for each in types):
            others = "".join(f' UNION {{ ?x {{type: "{each}"}} }}' for each in types[1:])
            union = f'?x {{type: "{types[0]}"}}{others}'
            hint = f"A matcher has one type. Several: FIND(?x.name) WHERE {{ {union} }}."
        elif close:
            choice = " or ".join(f"'{candidate}'" for candidate in close)
            hint = f"Did you mean {choice}? Names are case-sensitive."
        elif is_identifier(name):
            hint = (
                f"DESCRIBE {listing} TYPES lists what is defined; before a write, define it: "
                f"{definition}."
            )
        else:
            hint = f"This is not an identifier. Look the name up with DESCRIBE {listing} TYPES."
        error = KipError("KIP_2001", message, hint, span)
        error.definition = definition if close and is_identifier(name) else None
        return error
