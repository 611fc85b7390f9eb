"""What no statement may change (KIP_3004, KIP Appendix 4).

Only the effect counts, compared with the state before the statement: creating a protected element
is allowed, and so is a write that changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft
from kiprdf.rdf.elements import Concept, Proposition
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import is_same
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, REJECTION, SYSTEM, is_rejection
from kiprdf.source import NOWHERE, Span


def is_system(node: NamedNode, iris: Iris) -> bool:
    """Whether a node is one of the definitions and domains of the core schema."""
    return iris.name(node.value) in SYSTEM


def is_actor(node: NamedNode, iris: Iris) -> bool:
    """Whether a node is ``$self`` or ``$system``."""
    return iris.name(node.value) in ACTORS


def is_rejection_node(node: NamedNode, iris: Iris) -> bool:
    """Whether a node is a rejection, or the definition of their type."""
    return node.value.startswith(f"{iris.base}{REJECTION}/") or node == iris.type(REJECTION)


def check_merge(nodes: Iterable[NamedNode], iris: Iris, span: Span) -> None:
    """Raise KIP_3004 if the source or the target of a MERGE is protected."""
    for node in nodes:
        if is_system(node, iris) or is_actor(node, iris):
            raise _refused(f"{iris.id(node)} cannot be merged.", span)


def check_protection(draft: Draft, span: Span = NOWHERE) -> None:
    """Raise KIP_3004 if a draft changes or deletes what is protected."""
    iris = draft.store.iris
    if not draft.rejects:
        _check_rejections(draft, span)
    for node in filter(_protected(iris).__contains__, draft.edits):
        edit = draft.edits[node]
        if edit.before is None or not edit.changed or node in draft.deleted:
            continue
        place = draft.spans.get(node, span)
        if is_system(node, iris):
            message = f"{iris.id(node)} belongs to the core schema and cannot be changed."
            raise _refused(message, place)
        directives = (e.attributes.get(CORE_DIRECTIVES) for e in (edit.before, edit.after))
        if is_actor(node, iris) and not is_same(*directives):
            raise _refused(f"The core_directives of {iris.id(node)} cannot be changed.", place)
    for node, element in draft.deleted.items():
        if is_system(node, iris) or is_actor(node, iris):
            raise _refused(f"{iris.id(node)} cannot be deleted.", span)
        if node in draft.superseded:
            continue
        if isinstance(element, Proposition) and is_system(element.subject, iris):
            message = f"The proposition {iris.id(node)} of the core schema cannot be deleted."
            raise _refused(message, span)


def _check_rejections(draft: Draft, span: Span) -> None:
    """Raise KIP_3004 if a draft writes, changes or deletes a rejection."""
    for node, edit in draft.edits.items():
        after = edit.after
        if (
            isinstance(after, Concept)
            and REJECTION in (after.type, after.name)
            and is_rejection(after.type, after.name)
            and (node in draft.deleted or edit.changed)
        ):
            message = f"{draft.id(node)} is written by a rejection alone."
            hint = "A person rejects a value with kiprdf reject, and lifts that with kiprdf lift."
            raise KipError("KIP_3004", message, hint, draft.spans.get(node, span))


@lru_cache(maxsize=16)
def _protected(iris: Iris) -> frozenset[NamedNode]:
    return frozenset(iris.concept(*name) for name in (*SYSTEM, *ACTORS))


def _refused(message: str, span: Span) -> KipError:
    hint = (
        "Leave it out. The meta-types, Domain, belongs_to_domain and CoreSchema cannot be changed, "
        "merged or deleted; $self and $system cannot be merged or deleted, and keep their "
        "core_directives."
    )
    return KipError("KIP_3004", message, hint, span)
