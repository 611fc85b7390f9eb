"""What ``metadata.status`` means for writers (docs/decisions/176).

People review and retract; models and jobs may not undo that. Only the effect counts, compared with
the state before the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.actors import HUMAN
from kiprdf.errors import KipError, shown
from kiprdf.kml.draft import Draft, Edit, changed_keys, timestamp
from kiprdf.kml.merged_origins import STATED_BY
from kiprdf.rdf.elements import Term, Terms
from kiprdf.rdf.literals import is_same, to_term
from kiprdf.rdf.readings import read
from kiprdf.semantics.arguments import RESERVED_METADATA
from kiprdf.source import NOWHERE, Span

STATUS = "status"
RETRACTED_BY = "retracted_by"
RETRACTED_AT = "retracted_at"
RETRACTED = "retracted"
ACTIVE = "active"
DRAFT = "draft"
REVIEWED = "reviewed"
STATUSES = (RETRACTED, "deprecated", DRAFT, ACTIVE, REVIEWED)
"""From the least trusted to the most."""
MARKS = (RETRACTED_BY, RETRACTED_AT)
_NO_VALUES = frozenset((STATUS, STATED_BY, *MARKS, *RESERVED_METADATA))
"""The metadata that states nothing about the world."""


def statuses(metadata: Terms) -> tuple[str, ...]:
    """The texts that a FILTER finds in the status of an element."""
    term = metadata.get(STATUS)
    return () if term is None else _texts(term)


@lru_cache(maxsize=256)
def _texts(term: Term) -> tuple[str, ...]:
    reading = read(term)
    items = reading if isinstance(reading, list) else [reading]
    return tuple(item for item in items if isinstance(item, str))


def check_status(draft: Draft, span: Span = NOWHERE) -> None:
    """Raise KIP_3004 if a draft does what only people may do to what they reviewed or retracted.

    Otherwise the draft gets what the engine writes: ``retracted_by`` and ``retracted_at``, and the
    status ``active`` where others than people changed a value of what was reviewed.
    """
    draft.unreviewed.clear()
    if draft.deleted and not draft.actor.is_person:
        check_deleted(draft.deleted, draft, span)
    restated = set() if draft.actor.is_person else _restated(draft)
    for node, edit in draft.edits.items():
        before, after = edit.before, edit.after.metadata
        if (
            STATUS in after
            or RETRACTED_BY in after
            or RETRACTED_AT in after
            or (before is not None and STATUS in before.metadata)
        ) and node not in draft.deleted:
            old = {} if before is None else before.metadata
            if not draft.actor.is_person:
                _check_changed(edit, old, draft, span, is_restated=node in restated)
            _note_retraction(old, after, draft)


def with_unreviewed(receipt: dict[str, Any], draft: Draft) -> dict[str, Any]:
    """A receipt with ``unreviewed``, the ids of what is no longer reviewed, if there are any."""
    return {**receipt, "unreviewed": list(draft.unreviewed)} if draft.unreviewed else receipt


def check_deleted(nodes: Iterable[NamedNode], draft: Draft, span: Span) -> None:
    """Raise KIP_3004 if people judged one of the elements, which a draft has read."""
    for node in nodes:
        before = draft.edits[node].before
        if before is None or STATUS not in before.metadata:
            continue
        if REVIEWED in statuses(before.metadata):
            reason = "is reviewed"
        elif _is_retracted_by_human(before.metadata):
            reason = _retraction(before.metadata)
        else:
            continue
        message = f"{shown(draft.id(node))} {reason}: only a person may delete or merge it."
        raise KipError("KIP_3004", message, "Keep it, or leave this to a person.", span)


def _restated(draft: Draft) -> set[NamedNode]:
    """The facts about facts that get other ends: they state something else, too."""
    pending = [node for node, edit in draft.edits.items() if edit.repointed]
    restated: set[NamedNode] = set()
    for node in pending:
        above = {link.node for link in draft.links_at(node)} - restated
        restated |= above
        pending += above
    return restated


def _check_changed(edit: Edit, old: Terms, draft: Draft, span: Span, *, is_restated: bool) -> None:
    """Judge the status that a model or a job leaves to an element."""
    new = edit.after.metadata
    before, after = statuses(old), statuses(new)
    if REVIEWED not in before and REVIEWED not in after and RETRACTED not in before:
        return
    is_kept = is_same(old.get(STATUS), new.get(STATUS))
    is_other = is_restated or _has_other_value(edit)
    if REVIEWED in before and is_other and (is_kept or after in ((), (ACTIVE,))):
        new[STATUS] = to_term(ACTIVE)
        draft.unreviewed.append(draft.id(edit.after.node))
        return
    if is_kept:
        return
    if _is_retracted_by_human(old):
        reason = f"{_retraction(old)}: only a person changes its status."
        hint = "Leave out the status. A person can lift the retraction."
    elif REVIEWED in before:
        reason = "is reviewed: only a person changes its status."
        hint = "Leave out the status. A new value makes the element active again."
    elif REVIEWED in after:
        reason = "would be reviewed: only a person may say so."
        hint = 'Leave out the status, or write "draft", and let a person review it.'
    else:
        return
    place = draft.spans.get(edit.after.node, span)
    raise KipError("KIP_3004", f"{shown(draft.id(edit.after.node))} {reason}", hint, place)


def _has_other_value(edit: Edit) -> bool:
    before, after = edit.before, edit.after
    return before is not None and bool(
        edit.repointed
        or changed_keys(before.attributes, after.attributes)
        or not _NO_VALUES.issuperset(changed_keys(before.metadata, after.metadata))
    )


def _note_retraction(old: Terms, new: Terms, draft: Draft) -> None:
    """Write who retracted an element, and when; only the engine changes these marks."""
    was, is_retracted = RETRACTED in statuses(old), RETRACTED in statuses(new)
    if not (was or is_retracted or RETRACTED_BY in new or RETRACTED_AT in new):
        return
    # Who rejects what a model has retracted, retracts it: else the model could lift that.
    is_taken_over = draft.rejects and not _is_retracted_by_human(old)
    marks: dict[str, Term | None] = {key: old.get(key) for key in MARKS}
    if is_retracted and (not was or is_taken_over):
        time = to_term(timestamp(draft.clock()))
        marks = {RETRACTED_BY: to_term(draft.actor.signature), RETRACTED_AT: time}
    elif was and not is_retracted:
        marks = dict.fromkeys(MARKS)
    for key, term in marks.items():
        if term is None:
            new.pop(key, None)
        else:
            new[key] = term


def _is_retracted_by_human(metadata: Terms) -> bool:
    by = metadata.get(RETRACTED_BY)
    return by is not None and by.value.startswith(f"{HUMAN}/") and RETRACTED in statuses(metadata)


def _retraction(metadata: Terms) -> str:
    by, at = (metadata.get(key) for key in MARKS)
    time = f" at {at.value}" if at is not None else ""
    return f"was retracted by {shown(by.value if by is not None else 'a person')}{time}"
