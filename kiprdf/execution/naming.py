"""The id of an element that is named as people write it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.execution.history import is_mentioned
from kiprdf.language.names import is_identifier, name_fault
from kiprdf.loading import load
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName, proposition_digits
from kiprdf.rows import Rows
from kiprdf.store.base import NexusStore

Find = Callable[..., Rows]

_TYPED = re.compile(r"(\$?[A-Za-z_]\w*):(.+)", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(),]|[^"(),]+|"', re.DOTALL)
_NAMED = "FIND(?c.type) WHERE { ?c {name: :name} } ORDER BY ?c.type"
_IDENTIFIED = "FIND(?c.id) WHERE { ?c {type: :type, name: :name} }"
_LINK = "FIND(?l.id) WHERE { OPTIONAL { ?l (id: :id) } }"
_DEEPEST = 4
"""How deep a proposition about propositions is read."""
_SHOWN = 3
"""The number of elements in the hint for a name that several have."""


def node_of(id: object, iris: Iris) -> NamedNode:
    """The node of an id that a caller sent; raises KIP_1001 for what is not one."""
    node = iris.from_id(id) if isinstance(id, str) else None
    if node is None:
        named = f"'{shown(id)}'" if isinstance(id, str) else f"{id!r:.100}"
        raise KipError("KIP_1001", f"{named} is no id.", "Send ids that FIND showed.")
    return node


def id_of(text: str, find: Find, store: NexusStore, depth: int = _DEEPEST) -> str:
    """The id that is meant by an id, ``Aspirin``, ``Drug:Aspirin`` or ``(Drug:A, treats, B)``.

    A name with its type, and a proposition, may be those of a deleted element. Raises KIP_3002 for
    a name that no element has, KIP_3003 for one that several have.
    """
    if store.iris.from_id(text) is not None:
        return text
    parts = _parts(text) if depth else None
    if parts is not None:
        subject, object = (id_of(end, find, store, depth - 1) for end in (parts[0], parts[2]))
        with suppress(KipError):  # an end, or the predicate, may be deleted
            if (stated := fact_between(subject, parts[1], object, find)) is not None:
                return str(stated["id"])
        link = PropositionName(proposition_digits(subject, parts[1], object), parts[1]).id
        if None in find(_LINK, id=link).column("?l.id") and not is_mentioned(store, link):
            message = f"There is no proposition {shown(text)}."
            raise KipError("KIP_3002", message, "Find it with SEARCH PROPOSITION.")
        return link
    typed = _TYPED.fullmatch(text)
    concept = ConceptName(typed[1], _unquoted(typed[2])) if typed else None
    if concept is not None and concept.type in _types(concept.name, find)[0]:
        return concept.id
    name = _unquoted(text)
    types, hint = _types(name, find)
    if len(types) == 1:
        return ConceptName(types[0], name).id
    if types:
        raise _several(text, [ConceptName(type, name) for type in types])
    if concept is not None:
        if is_mentioned(store, concept.id):
            return concept.id
        _require(concept, find)
    hint += " Name a deleted element with its type, as Drug:Aspirin, or by its id."
    raise KipError("KIP_3002", f"No element is named {shown(text)!r}.", hint)


def fact_between(subject: str, predicate: str, object: str, find: Find) -> Any:
    """The proposition with some ends, by their ids, as FIND shows it; None if there is none.

    Its id may be another one than that of its ends, after a MERGE.
    """
    ends = {"subject": subject, "object": object}
    first, last = (
        f"(id: :{name})" if id.startswith("P:") else f"{{id: :{name}}}" for name, id in ends.items()
    )
    asked = f"FIND(?l) WHERE {{ OPTIONAL {{ ?l ({first}, :predicate, {last}) }} }}"
    return find(asked, predicate=predicate, **ends).column("?l")[0]


def _types(name: str, find: Find) -> tuple[list[str], str]:
    """The types of the concepts with a name, and a hint if there are none."""
    if name_fault(name):
        return [], "Find it with SEARCH."
    rows = find(_NAMED, name=name)
    hints = [warning.hint for warning in rows.warnings if warning.hint]
    return rows.column("?c.type"), hints[0] if hints else "Find it with SEARCH."


def _require(concept: ConceptName, find: Find) -> None:
    """Raise the error of a FIND for a concept that does not exist, without its place."""
    try:
        find(_IDENTIFIED, type=concept.type, name=concept.name)
    except KipError as error:
        raise KipError(error.code, error.message, error.hint) from None


def _several(text: str, concepts: list[ConceptName]) -> KipError:
    message = f"{shown(text)!r} is the name of {len(concepts)} elements."
    load("kiprdf.interchange.differences.difference")
    from kiprdf.interchange.differences import difference

    names = [difference.shown(concept) for concept in concepts[:_SHOWN]]
    more = " or another one" if len(concepts) > _SHOWN else ""
    return KipError("KIP_3003", message, f"Write {' or '.join(names)}{more}.")


def _parts(text: str) -> tuple[str, str, str] | None:
    """Subject, predicate and object of a proposition; None for what is not written as one."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    parts, depth = [""], 0
    for token in _TOKEN.findall(text[1:-1]):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and not depth:
            parts.append("")
        else:
            parts[-1] += token
    if len(parts) != 3:
        return None
    subject, predicate, object = (part.strip() for part in parts)
    predicate = _unquoted(predicate)
    return (subject, predicate, object) if is_identifier(predicate) else None


def _unquoted(name: str) -> str:
    """A name without the quotes in which it is shown if it has a comma, for example."""
    try:
        value = json.loads(name) if name.startswith('"') else name
    except ValueError:
        return name
    return str(value)
