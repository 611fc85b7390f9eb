"""Copies an element from one scope to another, with its source noted (docs/decisions/197)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from kiprdf.errors import KipError
from kiprdf.execution.naming import fact_between, node_of
from kiprdf.execution.transaction import Transaction
from kiprdf.interchange.differences.difference import Fact, Identity, shown
from kiprdf.kml.trust import RETRACTED_AT, RETRACTED_BY
from kiprdf.language.limits import NESTING
from kiprdf.nexus import Nexus
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import canonical_json
from kiprdf.semantics.arguments import RESERVED_METADATA

Element = dict[str, Any]
_TYPE, _PREDICATE = "$ConceptType", "$PropositionType"
_NOTHING: Element = {}
_OF_ENGINE = (*RESERVED_METADATA, RETRACTED_BY, RETRACTED_AT)


def copy_element(
    element: str, source: Nexus, target: Nexus, scope: str, *, dry_run: bool = False
) -> list[Element]:
    """Write an element of a nexus, named as ``id_of`` takes it, to another nexus.

    It comes with its attributes and metadata, and without what is stated about it. Of what it
    refers to, what the target lacks comes with it: definitions, and the ends of a proposition,
    which have an identity only. All of that has ``scope:SCOPE`` as ``metadata.source``, and the
    source that the element had is its ``original_source``.

    Returns what was, or would be, ``created`` or ``changed``, with the values of its keys before
    and after. Raises ``KipError`` as a write does: KIP_3002 for an element that is not there,
    KIP_3004 for what the target has rejected or erased.
    """
    parts: dict[str, Identity] = {}
    iris = source.store.iris
    # An IRI is an id, too.
    main = _identity(source, iris.id(node_of(source.id_of(element), iris)), parts)
    definitions = dict.fromkeys(map(_definition, parts.values()))
    contents: dict[Identity, Element] = {}
    for one in definitions:
        if one is not None:
            contents[one] = _read(source, one.id)
            # It names other elements of the source.
            contents[one].get("attributes", {}).pop("key_instances", None)
    contents |= dict.fromkeys(parts.values(), _NOTHING)
    contents[main] = _read(source, next(id for id, one in parts.items() if one == main))

    def write(tx: Transaction) -> list[Element]:
        present: dict[Identity, Element | None] = {}
        elements: dict[Identity, Element] = {}
        written, report = [], []
        for one, content in contents.items():
            before = present[one] = _in_target(tx, one, present)
            elements[one] = _reference(one, elements)
            if before is None or one == main:
                after = _with_source(content, f"scope:{scope}")
                written.append(elements[one] | after)
                if keys := list(_keys(before or _NOTHING, after)):
                    change = "created" if before is None else "changed"
                    report.append({"element": shown(one), "change": change, "keys": keys})
        tx.write(written)
        if tx.drop_erased():
            message = f"{shown(main)} is on the erasure list, or refers to what is."
            hint = "Nothing was copied. An UPSERT writes again what was erased."
            raise KipError("KIP_3004", message, hint)
        return report

    return target.transaction(write, dry_run=dry_run)


def _read(nexus: Nexus, id: str) -> Element:
    """An element as FIND shows it; the error for one that is not there has no place."""
    matcher = "(id: :id)" if id.startswith("P:") else "{id: :id}"
    try:
        rows = nexus.find(f"FIND(?e) WHERE {{ ?e {matcher} }}", entail=False, id=id)
    except KipError as error:
        raise KipError(error.code, error.message, error.hint) from None
    return dict(rows.column("?e")[0])


def _identity(nexus: Nexus, id: str, parts: dict[str, Identity], depth: int = 0) -> Identity:
    """What an element is; it and its ends are noted as ``parts`` by their ids, the ends first."""
    if depth > NESTING:
        message = f"The element is nested in more than {NESTING} propositions."
        raise KipError("KIP_4002", message, "Copy what it is about.")
    if id not in parts:
        element = _read(nexus, id)
        if "name" in element:
            parts[id] = ConceptName(element["type"], element["name"])
        else:
            ends = (element["subject"], element["object"])
            subject, object = (_identity(nexus, end, parts, depth + 1) for end in ends)
            parts[id] = Fact.of(subject, element["predicate"], object)
    return parts[id]


def _definition(identity: Identity) -> ConceptName | None:
    """The definition of the type or the predicate of an element; None for a meta-type."""
    if isinstance(identity, Fact):
        return ConceptName(_PREDICATE, identity.predicate)
    return None if identity.type.startswith("$") else ConceptName(_TYPE, identity.type)


def _in_target(
    tx: Transaction, identity: Identity, present: dict[Identity, Element | None]
) -> Element | None:
    """An element of the target as FIND shows it; None where it, or what it refers to, is absent."""
    find = partial(tx.find, entail=False)
    if isinstance(identity, ConceptName):
        rows = find("FIND(?e) WHERE { OPTIONAL { ?e {id: :id} } }", id=identity.id)
        return cast(Element | None, rows.column("?e")[0])
    subject, object = present[identity.subject], present[identity.object]
    is_defined = present[ConceptName(_PREDICATE, identity.predicate)] is not None
    if subject is None or object is None or not is_defined:
        return None
    fact = fact_between(subject["id"], identity.predicate, object["id"], find)
    return cast(Element | None, fact)


def _reference(identity: Identity, elements: dict[Identity, Element]) -> Element:
    """An identity as ``Transaction.write`` takes it."""
    if isinstance(identity, ConceptName):
        return identity._asdict()
    ends = {"subject": elements[identity.subject], "object": elements[identity.object]}
    return {"predicate": identity.predicate, **ends}


def _with_source(content: Element, noted: str) -> Element:
    """The attributes and metadata of a copy."""
    given = content.get("metadata", {})
    metadata = {key: value for key, value in given.items() if key not in _OF_ENGINE}
    if metadata.get("source", noted) != noted:
        metadata.setdefault("original_source", metadata["source"])
    return {"attributes": content.get("attributes", {}), "metadata": metadata | {"source": noted}}


def _keys(before: Element, after: Element) -> Iterator[Element]:
    """The keys that a copy adds or changes, with their values."""
    for part, values in after.items():
        had = before.get(part, {})
        for key, value in sorted(values.items()):
            if key not in had or canonical_json(had[key]) != canonical_json(value):
                old = {"before": had[key]} if key in had else {}
                yield {"key": f"{part}.{key}", **old, "after": value}
