"""The acts on one element: edit a value, retract and restore a fact, reject for good, and lift."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NamedTuple

from kiprdf.errors import KipError, shown
from kiprdf.execution import proposals, rejecting
from kiprdf.execution.proposals import Preview
from kiprdf.given_json import strict_json
from kiprdf.kml.rejections import SPELLING_OF
from kiprdf.kml.trust import RETRACTED, RETRACTED_AT, RETRACTED_BY, STATUS, statuses
from kiprdf.language.names import is_key
from kiprdf.pages.page import words
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms, attribute, metadata
from kiprdf.rdf.literals import Json, to_json
from kiprdf.semantics.protected import REJECTION, is_rejection
from kiprdf.serve.explorer.acting import (
    MOST_SHORT,
    Act,
    Call,
    Field,
    Given,
    Plan,
    Statement,
    Subject,
    short,
)

REASON = "retraction_reason"
"""The metadatum with why a fact was retracted."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What a form would not send as it is."""
_KINDS = (
    ("text", "Text"),
    ("number", "Number"),
    ("true", "Yes"),
    ("false", "No"),
    ("json", "List or object (JSON)"),
    ("null", "Null: known to be nothing"),
    ("remove", "Remove the key"),
)
_FIXED: dict[str, Json] = {"true": True, "false": False, "null": None}
_PARTS = (("attributes", "an attribute"), ("metadata", "metadata"))
_ITEMS = 50


def is_rejected_value(element: Element) -> bool:
    """Whether an element is a rejection, or defines what one is."""
    return isinstance(element, Concept) and is_rejection(element.type, element.name)


def rejected_as(on: Subject) -> list[str]:
    """The names of the rejections of a fact."""
    element, writer = on.element, on.explorer.nexus._engine.writer
    return rejecting.rejections_of(writer, element) if isinstance(element, Proposition) else []


def is_own(key: str) -> bool:
    """Whether people write a key of metadata, and not the engine."""
    return not key.startswith("_") and key not in (RETRACTED_BY, RETRACTED_AT)


def _element(on: Subject) -> Element:
    assert on.element is not None
    return on.element


def _upsert(on: Subject, change: str, parameters: dict[str, Any], metadata: str = "") -> Statement:
    """An UPSERT of an element of the version that was seen."""
    is_fact = isinstance(on.element, Proposition)
    block = "PROPOSITION { (id: :id)" if is_fact else "CONCEPT { {id: :id}"
    # A view shows what its members hold, and each has another version.
    expected = "" if on.is_view else " EXPECT VERSION :version"
    closed = f" WITH METADATA {{ {metadata} }}" if metadata else ""
    text = f"UPSERT {{\n  {block}{expected}{change} }}{closed}\n}}"
    return Statement(text, {"id": on.id, **_version(on), **parameters})


def _delete(on: Subject, part: str, *keys: str) -> Statement:
    """A DELETE of keys of an element of the version that was seen."""
    pattern = "(id: :id)" if isinstance(on.element, Proposition) else "{id: :id}"
    has_version = "_version" in _element(on).metadata and not on.is_view
    filter = " FILTER(?x.metadata._version == :version)" if has_version else ""
    named = ", ".join(f'"{key}"' for key in keys)
    text = f"DELETE {part.upper()} {{{named}}} FROM ?x\nWHERE {{ ?x {pattern}{filter} }}"
    return Statement(text, {"id": on.id, **(_version(on) if has_version else {})})


def _version(on: Subject) -> dict[str, int]:
    return {} if on.is_view else {"version": on.version}


# Edit -----------------------------------------------------------------------------------------


class Edit(Act):
    """Set or remove the value of a key, such as ``attributes.risk``; without one, add a key."""

    name = "edit"

    def offer(self, on: Subject) -> str | None:
        return None if is_rejected_value(_element(on)) else "Add a value"

    def title(self, on: Subject) -> str:
        return f"Edit {words(on.key.partition('.')[2])}" if on.key else "Add a value"

    def check(self, on: Subject) -> None:
        super().check(on)
        part, _, key = on.key.partition(".")
        if on.key and not _is_editable(on, part, key):
            message = f"{on.id} has no {shown(on.key)}."
            raise KipError("KIP_3002", message, "Open its page: it may have been removed.")

    def fields(self, on: Subject, given: Given) -> list[Field]:
        value = _stored(on) if on.key else ""
        kind = given.get("kind", kind_of(value))
        # A browser sends an empty field, and what is empty is left out.
        text = given.get("value", "") if given else text_of(value)
        is_long = len(text) > MOST_SHORT or "\n" in text or kind == "json"
        kinds = _KINDS if on.key else _KINDS[:-1]
        fields = [
            Field("kind", "Type", "choice", kind, kinds),
            Field("value", "Value", "area" if is_long else "text", text),
        ]
        if on.key:
            return fields
        return [
            Field("part", "Kind", "choice", given.get("part", "attributes"), _PARTS),
            Field("name", "Key", "text", given.get("name", ""), is_required=True),
            *fields,
        ]

    def plan(self, on: Subject, given: Given) -> Plan:
        part, _, key = on.key.partition(".")
        if not on.key:
            part, key = given.get("part", ""), given.get("name", "").strip()
            if _is_editable(on, part, key):
                message = f"{on.id} has {part}.{key} already."
                raise KipError("KIP_2002", message, "Edit it where it stands.")
        if part not in dict(_PARTS) or not is_key(key):
            message = f"{shown(key)!r} is no key of attributes or metadata."
            hint = "A key has letters, digits and underscores, such as risk_level."
            raise KipError("KIP_1002", message, hint)
        if given.get("kind") == "remove" and on.key:
            return _delete(on, part, key)
        value = _value(on, given)
        if part == "metadata":
            return _upsert(on, "", {"value": value}, f"{key}: :value")
        return _upsert(on, f" SET ATTRIBUTES {{ {key}: :value }}", {"value": value})


def _terms(on: Subject, part: str) -> Terms:
    element = _element(on)
    return element.attributes if part == "attributes" else element.metadata


def _is_editable(on: Subject, part: str, key: str) -> bool:
    """Whether an element has a key, with a value that people write."""
    is_written = part == "attributes" or (part == "metadata" and is_own(key))
    return is_written and key in _terms(on, part)


def _stored(on: Subject) -> Json:
    part, _, key = on.key.partition(".")
    term = _terms(on, part).get(key)
    return "" if term is None else to_json(term)


def kind_of(value: Json) -> str:
    """The kind of a value in a form.

    >>> [kind_of(each) for each in ("a", 1.5, True, None, ["a"], "\\r")]
    ['text', 'number', 'true', 'null', 'json', 'json']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) and not _CONTROL.search(value) else "json"


def text_of(value: Json) -> str:
    """The text of a value in a form: a text as it is, and JSON of the others."""
    kind = kind_of(value)
    if kind == "text":
        return str(value)
    if kind in _FIXED:
        return ""
    text = json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict) else None)
    return json.dumps(value) if _CONTROL.search(text.replace("\n", "")) else text


def _value(on: Subject, given: Given) -> Json:
    """The value that was sent, of its kind."""
    kind, text = given.get("kind", ""), given.get("value", "")
    if kind in _FIXED:
        return _FIXED[kind]
    if kind == "text":
        return text
    try:
        if kind not in ("json", "number"):
            raise ValueError
        value = strict_json(text)
        if kind == "number" and kind_of(value) != kind:
            raise ValueError
    except (ValueError, RecursionError) as fault:
        what = "number" if kind == "number" else "JSON"
        hints = {"number": "Write it as 3 or 3.5.", "JSON": 'Write it as ["a", "b"] or {"a": 1}.'}
        reason = f": {fault}" if str(fault) and what == "JSON" else ""
        message = f"{shown(text)!r} is no {what}{reason}."
        raise KipError("KIP_1001", message, hints[what]) from None
    return value


# Retract, restore -----------------------------------------------------------------------------


class Retract(Act):
    """Take a fact back: it is not believed any more, and stays readable."""

    name = "retract"

    def offer(self, on: Subject) -> str | None:
        element = _element(on)
        is_open = isinstance(element, Proposition) and RETRACTED not in statuses(element.metadata)
        return "Retract" if is_open else None

    def title(self, on: Subject) -> str:
        return "Retract this fact"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        note = "It is kept, and marked: the fact is no longer believed."
        return [Field("reason", "Reason", "text", given.get("reason", ""), (), True, note)]

    def plan(self, on: Subject, given: Given) -> Plan:
        reason = _reason(given)
        change = f'{STATUS}: "{RETRACTED}", {REASON}: :reason'
        return _upsert(on, "", {"reason": reason}, change)


def _reason(given: Given) -> str:
    reason = given.get("reason", "").strip()
    if not reason:
        message = "There is no reason."
        raise KipError("KIP_1001", message, "Say in a sentence why it is wrong.")
    return reason


class Restore(Act):
    """Take a retraction back."""

    name = "restore"

    def offer(self, on: Subject) -> str | None:
        is_retracted = RETRACTED in statuses(_element(on).metadata)
        return "Restore" if is_retracted and not rejected_as(on) else None

    def refusal(self, on: Subject) -> str | None:
        element, actor = _element(on), on.explorer.actor
        if rejected_as(on):
            return "It is rejected for good: lift the rejection first."
        by = metadata(element, RETRACTED_BY)
        if actor.is_person or not (isinstance(by, str) and by.startswith("human/")):
            return None
        at = metadata(element, RETRACTED_AT)
        return f"{by} retracted it at {at}. Only a person restores it, and {actor.label} is none."

    def title(self, on: Subject) -> str:
        return "Restore what was retracted"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        return []

    def plan(self, on: Subject, given: Given) -> Plan:
        return _delete(on, "metadata", STATUS, REASON)


# Reject, lift ---------------------------------------------------------------------------------


class Reject(Act):
    """Reject a fact or a value: no later write may state it."""

    name = "reject"
    access = "write"

    def offer(self, on: Subject) -> str | None:
        element = _element(on)
        is_offered = on.explorer.actor.is_person and not is_rejected_value(element)
        has_any = isinstance(element, Proposition) or element.attributes
        return "Reject for good" if is_offered and has_any and not rejected_as(on) else None

    def refusal(self, on: Subject) -> str | None:
        actor = on.explorer.actor
        return None if actor.is_person else f"Only a person rejects, and {actor.label} is none."

    def title(self, on: Subject) -> str:
        return "Reject for good"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        choices = [(name, one.label) for name, one in _choices(_element(on)).items()]
        note = "Say why, without the value itself: the reason is kept, and the value is not."
        return [
            Field("what", "What", "choice", given.get("what", ""), choices),
            Field("reason", "Reason", "text", given.get("reason", ""), (), True, note),
        ]

    def plan(self, on: Subject, given: Given) -> Plan:
        reason, choice = _reason(given), _choices(_element(on)).get(given.get("what", ""))
        if choice is None:
            message = f"{on.id} does not have this value."
            raise KipError("KIP_3005", message, "Choose one that it has.")
        if not choice.key and rejected_as(on):
            raise KipError(
                "KIP_2002", f"{on.id} is rejected already.", "Its page has who, and why."
            )
        what = (on.id, f"attributes.{choice.key}", choice.value) if choice.key else on.id
        words_ = (
            f"Rejects {choice.label}. It is taken back, and every later write of it is refused, "
            "however it is spelled, until a person lifts that. A paraphrase passes."
        )
        writer = on.explorer.nexus._engine.writer

        def dry_run() -> Preview:
            draft = rejecting.preview(writer, what, reason)
            return Preview(proposals.difference_of(draft))

        def run() -> str:
            return on.explorer.nexus.reject(what, reason=reason)

        return Call(words_, dry_run, run, "REJECT")


class _Choice(NamedTuple):
    """The fact, or a value of a key."""

    label: str
    key: str = ""
    value: Json = None


def _choices(element: Element) -> dict[str, _Choice]:
    """The fact, the attributes and the items of lists, each of which can be rejected.

    Their names are made of the values: what others write meanwhile has other ones.
    """
    choices = {"": _Choice("the fact")} if isinstance(element, Proposition) else {}
    for key in sorted(element.attributes):
        value = attribute(element, key)
        for one in [value, *(value[:_ITEMS] if isinstance(value, list) else ())]:
            name = hashlib.sha256(json.dumps([key, one]).encode()).hexdigest()
            choices[name] = _Choice(f"{words(key)}: {short(one)}", key, one)
    return choices


class Lift(Act):
    """Lift a rejection, which is the element of the page."""

    name = "lift"
    access = "write"

    def offer(self, on: Subject) -> str | None:
        element = _element(on)
        is_one = isinstance(element, Concept) and element.type == REJECTION
        return "Lift" if is_one else None

    def refusal(self, on: Subject) -> str | None:
        actor = on.explorer.actor
        if actor.is_person:
            return None
        return f"Only a person lifts a rejection, and {actor.label} is none."

    def title(self, on: Subject) -> str:
        return "Lift this rejection"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        return []

    def plan(self, on: Subject, given: Given) -> Plan:
        element = _element(on)
        assert isinstance(element, Concept)
        main = attribute(element, SPELLING_OF)
        name = main if isinstance(main, str) else element.name
        by, at, reason = (attribute(element, key) for key in ("by", "at", "reason"))
        words_ = (
            f"{by} rejected it at {at}: {reason} It may be written again. What the rejection took "
            "back stays so: a fact is restored on its page, a value is written again."
        )
        return Call(words_, lambda: None, lambda: on.explorer.nexus.lift(name), "LIFT")

    def target(self, on: Subject) -> str:
        return "explore/rejections"
