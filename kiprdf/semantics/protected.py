"""The elements that every nexus needs and no statement changes (KIP Appendix 4)."""

from __future__ import annotations

SYSTEM = (
    ("$ConceptType", "$ConceptType"),
    ("$ConceptType", "$PropositionType"),
    ("$ConceptType", "Domain"),
    ("$PropositionType", "belongs_to_domain"),
    ("Domain", "CoreSchema"),
)
"""Definitions and domains that keep their attributes, metadata and links."""
ACTORS = (("Person", "$self"), ("Person", "$system"))
"""Who stays, and keeps its ``CORE_DIRECTIVES``."""
CORE_DIRECTIVES = "core_directives"
REJECTION = "Rejection"
"""The type of concepts that only a rejection, or lifting it, writes and deletes."""


def is_rejection(type: str, name: str) -> bool:
    """Whether a concept is a rejection, or the definition of their type: it is no knowledge."""
    return type == REJECTION or (type, name) == ("$ConceptType", REJECTION)
