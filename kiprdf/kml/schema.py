"""Enforces instance schemas and the ends of predicates in a strict nexus (KIP 2.9, A2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft, Edit
from kiprdf.rdf.elements import Concept, Element, Proposition, json_map
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json
from kiprdf.source import Span

MOST_NAMED = 10
"""How many faults an error lists."""

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def check_schema(draft: Draft, span: Span) -> None:
    """Raise KIP_2002 or KIP_2003 for changed elements that violate their definitions.

    The code is that of the first fault; the message lists the others, too.
    """
    faults = [
        fault for edit in paced(list(draft.changes())) for fault in _faults(edit, draft, span)
    ]
    if not faults:
        return
    first = faults[0]
    if len(faults) == 1:
        raise first
    listed = " ".join(fault.message for fault in faults[:MOST_NAMED])
    more = len(faults) - MOST_NAMED
    message = f"{len(faults)} violations of the schema: {listed}"
    message += f" And {more} more." if more > 0 else ""
    raise KipError(first.code, message, first.hint, first.span)


def _faults(edit: Edit, draft: Draft, span: Span) -> Iterator[KipError]:
    element = edit.after
    draft.spans.setdefault(element.node, span)
    if isinstance(element, Concept):
        yield from _faults_of_concept(element, draft)
    elif edit.before is None or edit.repointed:
        yield from _faults_of_ends(element, draft)


def _fault(code: str, message: str, hint: str, element: Element, draft: Draft) -> KipError:
    return KipError(code, message, hint, draft.spans[element.node])


def _definition(draft: Draft, node: NamedNode) -> dict[str, Json]:
    element = draft.element(node)
    return {} if element is None else json_map(element.attributes)


def _faults_of_concept(element: Concept, draft: Draft) -> Iterator[KipError]:
    schema = _definition(draft, draft.store.iris.type(element.type)).get("instance_schema")
    if not isinstance(schema, dict):
        return
    attributes = json_map(element.attributes)
    for key, rule in schema.items():
        if isinstance(rule, dict):
            fault = _fault_of_attribute(element, key, attributes.get(key), rule, draft)
            if fault is not None:
                yield fault


def _fault_of_attribute(
    element: Concept, key: str, value: Json, rule: dict[str, Any], draft: Draft
) -> KipError | None:
    hint = f'The schema is shown by DESCRIBE CONCEPT TYPE "{element.type}".'
    owner = f"{element.type} '{element.name}'"
    if value is None:
        if rule.get("is_required") is True:
            message = f"{owner} lacks the required attribute '{key}'."
            return _fault("KIP_2002", message, hint, element, draft)
        return None
    expected = rule.get("type")
    if not _fits(value, expected):
        message = f"'{key}' of {owner} is of type {_type_name(value)}, not {expected}."
        return _fault("KIP_2003", message, hint, element, draft)
    items: Iterable[Json] = value if isinstance(value, list) else ()
    if any(not _fits(item, rule.get("item_type")) for item in items):
        message = f"'{key}' of {owner} holds items that are not of type {rule['item_type']}."
        return _fault("KIP_2003", message, hint, element, draft)
    options = rule.get("enum")
    if isinstance(options, list) and not any(_same(value, option) for option in options):
        message = f"'{key}' of {owner} is not one of {canonical_json(options)}."
        return _fault("KIP_2003", message, hint, element, draft)
    return None


def _fits(value: Json, json_type: Json) -> bool:
    """Whether a value has a JSON type; an unknown name of a type allows everything."""
    types = _JSON_TYPES.get(json_type) if isinstance(json_type, str) else None
    if types is None:
        return True
    if isinstance(value, bool):
        return bool in types
    if json_type == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, types)


def _same(value: Json, option: Json) -> bool:
    return isinstance(value, bool) == isinstance(option, bool) and bool(value == option)


def _type_name(value: Json) -> str:
    names = ("boolean", "string", "number", "array", "object")
    return next(name for name in names if _fits(value, name))


def _faults_of_ends(element: Proposition, draft: Draft) -> Iterator[KipError]:
    """``subject_types`` and ``object_types``: the allowed types of the ends, or ``*``."""
    definition = _definition(draft, draft.store.iris.predicate(element.predicate))
    ends = (("subject", element.subject), ("object", element.object))
    for role, node in ends:
        allowed = definition.get(f"{role}_types")
        if not isinstance(allowed, list) or "*" in allowed:
            continue
        name = draft.store.iris.name(node.value)
        type_name = name.type if isinstance(name, ConceptName) else "a proposition"
        if type_name not in allowed:
            shown = ", ".join(map(str, allowed))
            message = (
                f"The {role} of '{element.predicate}' may be {shown}, and is {type_name} "
                f"({draft.store.iris.id(node)})."
            )
            hint = f'DESCRIBE PROPOSITION TYPE "{element.predicate}" shows what it links.'
            yield _fault("KIP_2002", message, hint, element, draft)
