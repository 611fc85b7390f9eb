"""What no statement may change (Appendix 4), read off two graphs: before and after."""

from __future__ import annotations

from kiprdf.errors import KipError
from tests.oracle.graph import Graph
from tests.oracle.statements_targets import canonical

SYSTEM = (
    "C:$ConceptType/$ConceptType",
    "C:$ConceptType/$PropositionType",
    "C:$ConceptType/Domain",
    "C:$PropositionType/belongs_to_domain",
    "C:Domain/CoreSchema",
)
ACTORS = ("C:Person/$self", "C:Person/$system")


def refuse_merge(*ends: str) -> None:
    """Rule: neither side of a MERGE is protected."""
    if set(ends) & {*SYSTEM, *ACTORS}:
        raise KipError("KIP_3004", "It cannot be merged.")


def check_protection(before: Graph, after: Graph) -> None:
    """Rule: judged by effect; what is new may be anything.

    A link of the core schema may still be replaced by an equal one in a MERGE; the graphs of the
    tests have no such link.
    """
    for identifier in before.elements():
        if identifier in after:
            if identifier in SYSTEM and _changed(before, after, identifier):
                raise KipError("KIP_3004", "The core schema stays as it is.")
            if identifier in ACTORS and _directives(before, identifier) != _directives(
                after, identifier
            ):
                raise KipError("KIP_3004", "The core_directives stay as they are.")
        elif identifier in (*SYSTEM, *ACTORS) or _is_of_the_system(before, identifier):
            raise KipError("KIP_3004", "It cannot be deleted.")


def _changed(before: Graph, after: Graph, identifier: str) -> bool:
    return canonical(before.element(identifier)) != canonical(after.element(identifier))


def _directives(graph: Graph, identifier: str) -> str | None:
    attributes = graph.element(identifier)["attributes"]
    return canonical(attributes["core_directives"]) if "core_directives" in attributes else None


def _is_of_the_system(graph: Graph, identifier: str) -> bool:
    link = graph.propositions.get(identifier)
    return link is not None and link["subject"] in SYSTEM
