"""Writes changes of elements, named by what they are, as one commit that ``Nexus.undo`` takes back.

What the nexus has erased or rejected is left out; for the rest the rules of any write hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.actors import acting_on
from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.execution.replacing import is_trusted, is_usual
from kiprdf.execution.writer import Writer
from kiprdf.interchange.differences.difference import Fact, Identity, Part, rank
from kiprdf.kml.draft import Draft
from kiprdf.kml.erased import drop_erased
from kiprdf.kml.rejections import drop_rejected
from kiprdf.kml.trust import MARKS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.elements import Element, Term, Terms
from kiprdf.rdf.literals import to_json
from kiprdf.source import NOWHERE
from kiprdf.store import Delta


@dataclass(slots=True)
class ElementChange:
    """What is written of an element: values by part and key, None to delete a key.

    An element that is not there is created, and left out where its definition or an end is missing.
    ``carried`` is metadata of the engine that it brings along, such as the time of
    its creation and ``_actor``; without any the engine writes its own.
    """

    identity: Identity
    terms: dict[tuple[Part, str], Term | None] = field(default_factory=dict)
    carried: Terms = field(default_factory=dict)
    deletes: bool = False


class Applied(NamedTuple):
    """What was, or would be, written: ``erased`` and ``rejected`` were left out.

    A rejected value is the id of an element and the key of an attribute, "" for a fact. ``nodes``
    has those of all that was named.
    """

    draft: Draft
    erased: int
    rejected: list[tuple[str, str]]
    nodes: dict[Identity, NamedNode]
    delta: Delta


def apply_changes(
    writer: Writer,
    changes: Iterable[ElementChange],
    kind: str,
    *,
    draft: Draft | None = None,
    nodes: Mapping[Identity, NamedNode] | None = None,
    records: dict[str, str] | None = None,
    finish: Callable[[Draft, Delta, list[tuple[str, str]]], Delta] | None = None,
    dry_run: bool = False,
) -> Applied:
    """Write changes of elements, and records of the nexus, as one commit of a kind.

    The writer's lock is held, unless this is a dry run. ``nodes`` are those of elements that the
    nexus has; a ``draft`` is one with edits that come before. ``finish`` may add to what is
    written; it is called with what was rejected, too.

    Raises ``KipError`` as a statement does: for what is protected, and by the schema, the shapes
    and the status of elements.
    """
    draft = writer.new_draft() if draft is None else draft
    draft.listed = writer.erasures
    resolved = dict(nodes or {})
    trusted = is_trusted(acting_on(writer))
    marks: dict[NamedNode, dict[str, Term | None]] = {}
    ordered = sorted(changes, key=lambda change: rank(change.identity))
    gone = (_node(change.identity, draft, resolved) for change in ordered if change.deletes)
    draft.delete([node for node in gone if node is not None])
    for change in paced(one for one in ordered if not one.deletes):
        element = _element(change.identity, draft, resolved)
        if element is not None:
            resolved[change.identity] = element.node
            for (part, key), term in change.terms.items():
                values = element.attributes if part == "attributes" else element.metadata
                if term is None:
                    values.pop(key, None)
                else:
                    values[key] = term
            if trusted and change.carried:
                draft.carried[element.node] = {
                    key: term
                    for key, term in change.carried.items()
                    if is_usual(key, to_json(term))
                }
            given = [key for key in MARKS if ("metadata", key) in change.terms]
            if trusted and given:
                marks[element.node] = {key: change.terms["metadata", key] for key in given}
    drop_erased(draft)
    has_rejections = writer.has_rejections(draft.store)
    rejected = drop_rejected(draft, writer.rejected_in(draft.store)) if has_rejections else []
    writer.check(draft, NOWHERE, restores=trusted)
    for node in marks.keys() & draft.edits.keys():
        kept = {key: term for key, term in marks[node].items() if term is not None}
        draft.edits[node].after.metadata.update(kept)
    delta = replace(draft.delta(), records=records or {})
    if finish is not None:
        delta = finish(draft, delta, rejected)
    if not dry_run:
        writer.commit(delta, kind)
    return Applied(draft, len(draft.erased), rejected, resolved, delta)


def _node(
    identity: Identity, draft: Draft, resolved: dict[Identity, NamedNode]
) -> NamedNode | None:
    """The node of an element of the draft; None if there is none."""
    pending = [identity]
    while pending:  # facts about facts may be stacked higher than Python's stack
        one = pending[-1]
        if one in resolved:
            pending.pop()
        elif isinstance(one, Fact):
            ends = (one.subject, one.object)
            unknown = [end for end in ends if end not in resolved]
            if unknown:
                pending += unknown
                continue
            link = draft.find_link(resolved[one.subject], one.predicate, resolved[one.object])
            if link is None:
                return None
            resolved[one] = link
        else:
            node = draft.named(*one)
            if draft.element(node) is None:
                return None
            resolved[one] = node
    node = resolved[identity]
    return None if node in draft.deleted else node


def _element(
    identity: Identity, draft: Draft, resolved: dict[Identity, NamedNode]
) -> Element | None:
    """The element of an identity, created if there is none; None if it cannot be."""
    if (stored := resolved.get(identity)) is not None and stored not in draft.deleted:
        return draft.element(stored)
    iris = draft.store.iris
    if not isinstance(identity, Fact):
        is_defined = identity.type in META_TYPES or draft.exists(iris.type(identity.type))
        return draft.concept(*identity) if is_defined else None
    subject, object_ = (_node(end, draft, resolved) for end in (identity.subject, identity.object))
    is_defined = draft.exists(iris.predicate(identity.predicate))
    if subject is None or object_ is None or not is_defined:
        return None
    if subject == object_ and identity.subject != identity.object:
        return None  # its ends were merged
    return draft.link(subject, identity.predicate, object_)
