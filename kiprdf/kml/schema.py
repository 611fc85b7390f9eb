"""Instance schemas and the ends of predicates, enforced when the nexus is strict (KIP 2.9, A2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kml.draft import Draft
from kiprdf.rdf.elements import Concept, Element, Proposition, json_map
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json
from kiprdf.source import Span

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
    """Raise KIP_2002 or KIP_2003 for a changed element that its definition does not allow."""
    for edit in list(draft.changes()):
        draft.spans.setdefault(edit.after.node, span)
        element = edit.after
        if isinstance(element, Concept):
            _check_concept(element, draft)
        elif edit.before is None:
            _check_ends(element, draft)


def _fault(code: str, message: str, hint: str, element: Element, draft: Draft) -> KipError:
    return KipError(code, message, hint, draft.spans[element.node])


def _definition(draft: Draft, node: NamedNode) -> dict[str, Json]:
    element = draft.element(node)
    return {} if element is None else json_map(element.attributes)


def _check_concept(element: Concept, draft: Draft) -> None:
    schema = _definition(draft, draft.store.iris.type(element.type)).get("instance_schema")
    if not isinstance(schema, dict):
        return
    attributes = json_map(element.attributes)
    for key, rule in schema.items():
        if isinstance(rule, dict):
            _check_attribute(element, key, attributes.get(key), rule, draft)


def _check_attribute(
    element: Concept, key: str, value: Json, rule: dict[str, Any], draft: Draft
) -> None:
    hint = f'The schema is shown by DESCRIBE CONCEPT TYPE "{element.type}".'
    owner = f"{element.type} '{element.name}'"
    if value is None:
        if rule.get("is_required") is True:
            message = f"{owner} lacks the required attribute '{key}'."
            raise _fault("KIP_2002", message, hint, element, draft)
        return
    wanted = rule.get("type")
    if not _fits(value, wanted):
        message = f"'{key}' of {owner} is of type {_type_name(value)}, not {wanted}."
        raise _fault("KIP_2003", message, hint, element, draft)
    items: Iterable[Json] = value if isinstance(value, list) else ()
    if any(not _fits(item, rule.get("item_type")) for item in items):
        message = f"'{key}' of {owner} holds items that are not of type {rule['item_type']}."
        raise _fault("KIP_2003", message, hint, element, draft)
    options = rule.get("enum")
    if isinstance(options, list) and not any(_same(value, option) for option in options):
        message = f"'{key}' of {owner} is none of {canonical_json(options)}."
        raise _fault("KIP_2003", message, hint, element, draft)


def _fits(value: Json, wanted: Json) -> bool:
    """Whether a value has a JSON type; an unknown name of a type allows everything."""
    types = _JSON_TYPES.get(wanted) if isinstance(wanted, str) else None
    if types is None:
        return True
    if isinstance(value, bool):
        return bool in types
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, types)


def _same(value: Json, option: Json) -> bool:
    return isinstance(value, bool) == isinstance(option, bool) and bool(value == option)


def _type_name(value: Json) -> str:
    names = ("boolean", "string", "number", "array", "object")
    return next(name for name in names if _fits(value, name))


def _check_ends(element: Proposition, draft: Draft) -> None:
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
            raise _fault("KIP_2002", message, hint, element, draft)
