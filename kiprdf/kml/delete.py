"""DELETE in its four forms (KIP 4.2)."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft, definition_name
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition
from kiprdf.source import Span


def delete(command: ast.Delete, draft: Draft) -> dict[str, int]:
    """Carry out a checked DELETE in a draft and return its receipt."""
    match command:
        case ast.DeleteAttributes():
            return _delete_keys(command, draft, attributes=True)
        case ast.DeleteMetadata():
            return _delete_keys(command, draft, attributes=False)
        case ast.DeletePropositions():
            draft.delete(_targets(command, draft, Proposition))
            return {"deleted_propositions": _count(draft, Proposition)}
        case ast.DeleteConcept():
            draft.delete(_targets(command, draft, Concept))
            return {
                "deleted_concepts": _count(draft, Concept),
                "deleted_propositions": _count(draft, Proposition),
            }
        case _:
            assert_never(command)


def _targets(
    command: ast.Delete, draft: Draft, kind: type[Concept] | type[Proposition]
) -> list[NamedNode]:
    """The distinct elements of one kind that are bound to the target."""
    shown = draft.shown
    targets = shown.targeted(command, "delete")
    shown.store.prefetch(targets)
    return draft.owned([node for node in targets if isinstance(shown.element(node), kind)])


def _count(draft: Draft, kind: type[Concept] | type[Proposition]) -> int:
    return sum(isinstance(element, kind) for element in draft.deleted.values())


def _delete_keys(
    command: ast.DeleteAttributes | ast.DeleteMetadata, draft: Draft, attributes: bool
) -> dict[str, int]:
    """Delete keys; the receipt counts the elements that had one."""
    counts = {Concept: 0, Proposition: 0}
    targets = draft.owned(draft.shown.targeted(command, "delete"), partial(keys_of, command))
    draft.store.prefetch(targets)
    for node in targets:
        element = draft.element(node)
        assert element is not None
        keys = keys_of(command, element)
        terms = element.attributes if attributes else element.metadata
        for key in keys:
            del terms[key]
        counts[type(element)] += bool(keys)
    return {"updated_concepts": counts[Concept], "updated_propositions": counts[Proposition]}


def keys_of(command: ast.DeleteAttributes | ast.DeleteMetadata, element: Element) -> list[str]:
    """Those of the keys that a command deletes that an element has."""
    is_attribute = isinstance(command, ast.DeleteAttributes)
    terms = element.attributes if is_attribute else element.metadata
    return [key.name for key in command.keys if key.name in terms]


def check_unused(draft: Draft, span: Span, remedy: str = "Delete") -> None:
    """Raise KIP_2002 for deleted definitions that still have instances.

    ``remedy`` is the verb of the hint.
    """
    store = draft.store
    for node in draft.deleted:
        name = definition_name(node, store)
        if name is None:
            continue
        if name.type == "$ConceptType":
            typed = store.match(None, vocab.TYPE, node)
            used = [triple for triple in typed if triple.subject not in draft.deleted]
            what = "concept"
        else:
            deleted = {
                (e.subject, e.object)
                for e in draft.deleted.values()
                if isinstance(e, Proposition) and e.predicate == name.name
            }
            facts = store.match(None, node, None)
            used = [fact for fact in facts if (fact.subject, fact.object) not in deleted]
            what = "proposition"
        if used:
            few = len(used) == 1
            message = f"'{name.name}' still has {len(used)} {what if few else what + 's'}."
            hint = f"{remedy} {'it' if few else 'them'} first."
            raise KipError("KIP_2002", message, hint, span)
