"""The acts that add a fact or a concept, and that merge two concepts."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.given_json import strict_json
from kiprdf.kml.draft import version
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.pages.page import words
from kiprdf.rdf.elements import Concept, attribute, read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import is_same
from kiprdf.semantics.protected import REJECTION
from kiprdf.serve.explorer.acting import Act, Field, Given, Plan, Statement, Subject, short
from kiprdf.serve.explorer.choosing import NEW, PREDICATE, chosen, element_of, search_field
from kiprdf.serve.explorer.element_acts import is_rejected_value
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage, element_path
from kiprdf.serve.http import HttpError

_PART = "attribute_"
_OBJECT = 'JSON, such as {"since": 2020}. May be empty.'
_CONFIDENCE = re.compile(r"0|1|[01]?\.\d+", re.ASCII)
_TYPE = "$ConceptType"


def _types(explorer: Explorer) -> tuple[str, ...]:
    """The types of which people add concepts."""
    names = explorer.nexus._engine.writer.catalog().concept_types
    return tuple(sorted(name for name in names if not name.startswith("$") and name != REJECTION))


def _pattern(variable: str, id: str) -> str:
    """The pattern of an element whose id is a parameter."""
    return f"(id: :{variable})" if id.startswith("P:") else f"{{id: :{variable}}}"


def _name_of(on: Subject) -> str:
    return on.element.name if isinstance(on.element, Concept) else "this fact"


def _require(text: str, message: str, hint: str) -> str:
    if not text.strip():
        raise KipError("KIP_1001", message, hint)
    return text


# Add a fact -----------------------------------------------------------------------------------


class AddFact(Act):
    """Add a fact with the element of the page as its subject or object."""

    name = "fact"

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        # A fact is beside what others change of the element.
        return super().subject(explorer, path, key)._replace(version=0)

    def offer(self, on: Subject) -> str | None:
        assert on.element is not None
        return None if is_rejected_value(on.element) else "Add a fact"

    def title(self, on: Subject) -> str:
        return "Add a fact"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        explorer, name = on.explorer, _name_of(on)
        sides = (("subject", f"{name} → the other"), ("object", f"the other → {name}"))
        note = "Words, or an id such as C:Person/Ada or that of a fact."
        predicate = search_field(
            explorer, given, "predicate", "Predicate", "Such as knows.", PREDICATE
        )
        if given.get("predicate", "") in explorer.nexus._engine.writer.catalog().predicates:
            predicate = predicate._replace(candidates=None)
        return [
            Field("side", "Direction", "choice", given.get("side", "subject"), sides),
            predicate,
            search_field(explorer, given, "other", "Other", note, types=_types(explorer)),
            Field("source", "Source", "text", given.get("source", ""), note="May be empty."),
            Field("confidence", "Confidence", "text", given.get("confidence", ""), note="0 to 1."),
            Field("attributes", "Attributes", "text", given.get("attributes", ""), note=_OBJECT),
        ]

    def plan(self, on: Subject, given: Given) -> Plan | None:
        predicate = _predicate(on, given)
        _require(given.get("other", ""), "The fact names nothing else.", "Say what it is about.")
        value = chosen(given, "other")
        other = element_of(value)
        if predicate is None or (other is None and value != NEW):
            return None
        attributes, metadata = _attributes(given), _metadata(given)
        parameters: dict[str, Any] = {"this": on.id, "predicate": predicate}
        if other is None:
            new, named = _new(on, given, parameters), "?other"
        else:
            new, named = "", _pattern("other", other.id)
            parameters["other"] = other.id
        ends = [_pattern("this", on.id), named]
        subject, object_ = reversed(ends) if given.get("side") == "object" else ends
        keys = "".join(f", {key}: :{key}" for key in metadata)[2:]
        sets = "".join(f", {key}: :{_PART}{key}" for key in attributes)[2:]
        parameters |= metadata | {f"{_PART}{key}": value for key, value in attributes.items()}
        text = (
            f"UPSERT {{\n{new}  PROPOSITION {{ ({subject}, :predicate, {object_})"
            f"{f' SET ATTRIBUTES {{ {sets} }}' if sets else ''} }}"
            f"{f' WITH METADATA {{ {keys} }}' if keys else ''}\n}}"
        )
        return Statement(text, parameters, notes=[_ends(on, predicate)])


def _new(on: Subject, given: Given, parameters: dict[str, Any]) -> str:
    """The block of a concept that does not exist yet."""
    type, name = given.get("other_type", ""), given.get("other", "").strip()
    _absent(on, type, name)
    parameters |= {"type": type, "name": name}
    expected = "" if on.is_view else " EXPECT VERSION 0"
    return f"  CONCEPT ?other {{ {{type: :type, name: :name}}{expected} }}\n"


def _absent(on: Subject, type: str, name: str) -> NamedNode:
    """The node of a new concept; KIP_2002 where there is one of this name."""
    store = on.explorer.store
    node = store.iris.concept(type, name)
    if store.describe(node):
        message = f"{store.iris.id(node)} exists already."
        raise KipError("KIP_2002", message, "Choose it where it is, or give another name.")
    return node


def _predicate(on: Subject, given: Given) -> str | None:
    """The predicate of the words in a form; None where it has to be chosen first."""
    hint = "Write words of it, and choose one."
    text = _require(given.get("predicate", ""), "There is no predicate.", hint).strip()
    if text in on.explorer.nexus._engine.writer.catalog().predicates:
        return text
    picked = element_of(chosen(given, "predicate"))
    node = None if picked is None else on.explorer.store.iris.from_id(picked.id)
    name = None if node is None else on.explorer.store.iris.name(node.value)
    return name.name if isinstance(name, ConceptName) and name.type == PREDICATE else None


def _ends(on: Subject, predicate: str) -> str:
    """The types that a predicate joins, as a sentence."""
    store = on.explorer.store
    node = store.iris.predicate(predicate)
    definition = read_element(store.iris, node, store.describe(node))
    ends = []
    for key in ("subject_types", "object_types"):
        types = attribute(definition, key) if definition else None
        names = list(map(str, types)) if isinstance(types, list) else ["*"]
        ends.append("anything" if "*" in names else " or ".join(names))
    return f"{predicate} joins {ends[0]} with {ends[1]}."


def _metadata(given: Given) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if given.get("source", "").strip():
        metadata["source"] = given["source"].strip()
    confidence = given.get("confidence", "").strip()
    if confidence:
        if not _CONFIDENCE.fullmatch(confidence) or float(confidence) > 1:
            message = f"{shown(confidence)!r} is no confidence."
            raise KipError("KIP_1001", message, "Write a number from 0 to 1, such as 0.8.")
        metadata["confidence"] = float(confidence)
    return metadata


def _attributes(given: Given) -> dict[str, Any]:
    text = given.get("attributes", "").strip()
    if not text:
        return {}
    attributes = None
    with suppress(ValueError, RecursionError):
        attributes = strict_json(text)
    if not (isinstance(attributes, dict) and all(is_key(key) for key in attributes)):
        message = f"{shown(text)!r} is no object of attributes."
        raise KipError("KIP_1001", message, 'Write it as {"since": 2020}, or leave it empty.')
    return attributes


# Add a concept --------------------------------------------------------------------------------


class AddConcept(Act):
    """Add a concept, of the type of the page, or of one that is chosen."""

    name = "concept"

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        if not path:
            return Subject(explorer, path)
        on = super().subject(explorer, path, key)
        if self.offer(on) is None:
            raise HttpError(404, f"{on.id} is no type of concepts.", "Open the page of a type.")
        return on._replace(version=0)

    def offer(self, on: Subject) -> str | None:
        type = on.element
        is_type = isinstance(type, Concept) and type.type == _TYPE
        is_own = is_type and _name_of(on) in _types(on.explorer)
        return f"Add a concept of {_name_of(on)}" if is_own else None

    def title(self, on: Subject) -> str:
        return self.offer(on) or "Add a concept" if on.path else "Add a concept"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        types = [(one, one) for one in _types(on.explorer)]
        type = Field("type", "Type", "choice", given.get("type", ""), types)
        return [
            *([] if on.path else [type]),
            Field("name", "Name", "text", given.get("name", ""), (), True),
            Field("description", "Description", "area", given.get("description", "")),
        ]

    def plan(self, on: Subject, given: Given) -> Plan:
        type = _name_of(on) if on.path else given.get("type", "")
        name = _require(given.get("name", ""), "There is no name.", "Write one.").strip()
        parameters = {"type": type, "name": name}
        sets = ""
        if given.get("description", "").strip():
            sets, parameters["description"] = "{ description: :description }", given["description"]
        node = _absent(on, type, name)
        change = f" SET ATTRIBUTES {sets}" if sets else ""
        expected = "" if on.is_view else " EXPECT VERSION 0"
        text = f"UPSERT {{\n  CONCEPT {{ {{type: :type, name: :name}}{expected}{change} }}\n}}"
        target = f"page/{element_path(on.explorer.store.iris.base, node.value)}"
        return Statement(text, parameters, target=target)

    def target(self, on: Subject) -> str:
        return f"page/{on.path}" if on.path else "explore/"


def add_link(explorer: Explorer, page: ExplorerPage, type: str = "") -> str | None:
    """The address of the form that adds a concept, of a type; None for who may not."""
    if explorer.acts is None or (type and type not in _types(explorer)):
        return None
    iris = explorer.store.iris
    path = element_path(iris.base, iris.concept(_TYPE, type).value) if type else ""
    return page.href(f"explore/act/concept/{path}")


# Merge ----------------------------------------------------------------------------------------


class Merge(Act):
    """Make one concept of two of a type: one stays, with the facts and names of both."""

    name = "merge"

    def offer(self, on: Subject) -> str | None:
        element = on.element
        if not isinstance(element, Concept) or is_rejected_value(element):
            return None
        return None if element.type in META_TYPES else "Merge"

    def title(self, on: Subject) -> str:
        return "Merge with another concept"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        element = _concept(on)
        sides = (("this", f"{element.name} stays"), ("other", "The other one stays"))
        note = f"Another {element.type}: its name, or words."
        search = search_field(on.explorer, given, "other", "Other", note, element.type)
        if search.candidates:
            others = [one for one in search.candidates["options"] if not _is_own(on, one["value"])]
            search.candidates["options"] = others
        return [search, Field("side", "Which stays", "choice", given.get("side", "this"), sides)]

    def plan(self, on: Subject, given: Given) -> Plan | None:
        self.check(on)
        _require(given.get("other", ""), "There is no other concept.", "Write its name.")
        value = chosen(given, "other")
        picked = element_of(value)
        if picked is None or _is_own(on, value):
            return None
        store = on.explorer.store
        node = store.iris.from_id(picked.id)
        other = None if node is None else read_element(store.iris, node, store.describe(node))
        if not isinstance(other, Concept):
            raise KipError("KIP_3002", f"{shown(picked.id)} is not there.", "Choose another one.")
        seen = _version_of(on, other)
        if seen not in (None, picked.version):
            message = f"{picked.id} has changed since it was chosen: nothing is written."
            raise KipError("KIP_3005", message, "Look at its page, and choose it again.")
        mine = (_concept(on), on.id, on.version)
        theirs = (other, picked.id, picked.version)
        kept, gone = (theirs, mine) if given.get("side") == "other" else (mine, theirs)
        filter = ""
        parameters: dict[str, Any] = {"gone": gone[1], "kept": kept[1]}
        for end, one in (("gone", gone), ("kept", kept)):
            if not on.is_view and "_version" in one[0].metadata:
                filter += f"\n  FILTER(?{end}.metadata._version == :{end}_version)"
                parameters[f"{end}_version"] = one[2]
        text = (
            "MERGE CONCEPT ?gone INTO ?kept\nWHERE {\n"
            f"  ?gone {{id: :gone}}\n  ?kept {{id: :kept}}{filter}\n}}"
        )
        summary = (
            f"{kept[0].name} stays, with the facts of both. {gone[0].name} is deleted, and its "
            "name becomes an alias."
        )
        target = f"page/{element_path(store.iris.base, kept[0].node.value)}"
        return Statement(text, parameters, summary, _lost(kept[0], gone[0]), target)


def _concept(on: Subject) -> Concept:
    assert isinstance(on.element, Concept)
    return on.element


def _is_own(on: Subject, value: str) -> bool:
    picked = element_of(value)
    return picked is not None and picked.id == on.id


def _version_of(on: Subject, element: Concept) -> int | None:
    """The version of the other concept; None where each member of a view has its own."""
    return None if on.is_view else version(element)


def _lost(kept: Concept, gone: Concept) -> list[str]:
    """The values of a concept that another one does not take over."""
    return [
        f"{words(key)}: {short(attribute(kept, key))} stays, {short(attribute(gone, key))} is lost."
        for key in sorted(gone.attributes)
        if key in kept.attributes
        and key != "aliases"
        and not is_same(kept.attributes[key], gone.attributes[key])
    ]
