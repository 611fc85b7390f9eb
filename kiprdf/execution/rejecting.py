"""Rejects values, and lifts rejections: what a person has rejected is not written again.

``kml/rejections.py`` has what a rejection is, and checks each write against all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.actors import acting_on
from kiprdf.errors import KipError, shown
from kiprdf.execution.naming import node_of
from kiprdf.execution.writer import Writer
from kiprdf.kml.draft import Draft, changed_keys, timestamp
from kiprdf.kml.rejections import SPELLING_OF, FactKeys, fact_digests, value_keys
from kiprdf.kml.trust import RETRACTED, STATUS
from kiprdf.kql.identities import exists, merged_into
from kiprdf.kql.reader import link_of
from kiprdf.language.names import is_identifier, is_key
from kiprdf.language.parameters import check_json
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, json_map, read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, to_json, to_term
from kiprdf.semantics.protected import REJECTION
from kiprdf.source import NOWHERE
from kiprdf.spelling import key_of_name
from kiprdf.store import NexusStore

REJECT, LIFT = "REJECT", "LIFT"
"""What the history calls the commits."""
ATTRIBUTE = "attributes."
_DESCRIPTION = (
    "A value that a person has rejected, as a digest. Only a rejection, and lifting it, writes it."
)
_FORMS = "Give the id of a proposition, (id, predicate, id), or (id, 'attributes.KEY', value)."


class _Rejected(NamedTuple):
    """The element, the predicate or attribute key, and the names of the rejections of a value."""

    subject: NamedNode
    key: str
    digests: list[str]


def reject(writer: Writer, what: Any, reason: str) -> str:
    """Reject a fact or the value of an attribute, and return the name of the rejection.

    A stored fact becomes retracted, a stored value leaves its element.
    """

    def write() -> str:
        name, added, draft = _drafted(what, reason, writer)
        if added:
            writer.commit(draft.delta(), REJECT)
            writer.rejected.note(added)
        return name

    _check(what, reason, writer)
    writer.require_writable()
    return writer.store.write(write)


def preview(writer: Writer, what: Any, reason: str) -> Draft:
    """What ``reject`` would write; raises what it would raise."""
    _check(what, reason, writer)
    return writer.store.read(lambda: _drafted(what, reason, writer)[2])


def _check(what: Any, reason: str, writer: Writer) -> None:
    if not isinstance(reason, str) or not reason.strip():
        message = "A rejection has a reason."
        raise KipError("KIP_1001", message, "Say in a sentence why the value is wrong.")
    check_json([list(what) if isinstance(what, tuple) else what, reason])
    acting_on(writer).require_person("rejects a value")


def _drafted(what: Any, reason: str, writer: Writer) -> tuple[str, list[str], Draft]:
    """The name of a rejection, the names that are not stored yet, and what to write for them."""
    draft = Draft(writer.store, writer.clock, rejects=True)
    names = FactKeys(draft)
    rejected = _read(_owned(what, writer), draft, names)
    name = rejected.digests[0]
    stored = writer.store.iris.concept(REJECTION, name)
    if exists(stored, writer.store):
        element = draft.element(stored)
        assert element is not None
        main = element.attributes.get(SPELLING_OF)
        name = name if main is None else str(to_json(main))
    added = [each for each in rejected.digests if not _is_stored(each, writer.store)]
    if added:
        _take_back(rejected, draft, names)
        draft.actor = acting_on(writer)
        _write(name, added, reason, draft)
        writer.check(draft, NOWHERE)
    return name, added, draft


def lift(writer: Writer, name: str) -> None:
    """Lift a rejection: what it rejects may be written again; a retracted fact stays so."""

    def write() -> None:
        store = writer.store
        if not isinstance(name, str) or not _is_stored(name, store):
            if isinstance(name, str) and _is_stored(name, writer.shown):
                writer.new_draft().owned([writer.shown.iris.concept(REJECTION, name)])
            message = f"There is no rejection {shown(str(name))}."
            raise KipError("KIP_3002", message, "See the names of all: kiprdf rejections.")
        draft = Draft(store, writer.clock, rejects=True)
        spellings = store.match(None, vocab.attribute(SPELLING_OF), Literal(name))
        nodes = [cast(NamedNode, triple.subject) for triple in spellings]
        nodes.append(store.iris.concept(REJECTION, name))
        draft.delete(nodes)
        writer.check(draft, NOWHERE)
        writer.commit(draft.delta(), LIFT)
        writer.rejected.note(removed=[_name(node, store) for node in nodes])

    acting_on(writer).require_person("lifts a rejection")
    writer.require_writable()
    writer.store.write(write)


def rejections_of(writer: Writer, fact: Proposition) -> list[str]:
    """The names of the rejections of a fact, under the names that its ends have now."""
    store = writer.shown
    if not writer.has_rejections(store):
        return []
    digests = FactKeys(Draft(store, writer.clock)).digests(fact)
    return sorted(writer.rejected_in(store).among(digests, store))


def rejections(store: NexusStore) -> list[dict[str, Json]]:
    """All rejections, the oldest first, each with its ``name``, ``by``, ``at`` and ``reason``."""

    def read() -> list[dict[str, Json]]:
        kind = store.iris.type(REJECTION)
        nodes = [cast(NamedNode, each.subject) for each in store.match(None, vocab.TYPE, kind)]
        store.prefetch(nodes)
        listed = []
        for node in nodes:
            element = read_element(store.iris, node, store.statements(node))
            values = {} if element is None else json_map(element.attributes)
            if SPELLING_OF not in values:
                shown_keys = {key: values.get(key) for key in ("by", "at", "reason")}
                listed.append({"name": cast(Json, _name(node, store)), **shown_keys})
        return sorted(listed, key=lambda each: (str(each["at"]), str(each["name"])))

    return store.read(read)


def _name(node: NamedNode, store: NexusStore) -> str:
    return cast(ConceptName, store.iris.name(node.value)).name


def _is_stored(name: str, store: NexusStore) -> bool:
    is_digest = re.fullmatch("[0-9a-f]{64}", name) is not None
    return is_digest and exists(store.iris.concept(REJECTION, name), store)


# What is rejected -----------------------------------------------------------------------------


def _read(what: Any, draft: Draft, names: FactKeys) -> _Rejected:
    """The value that a caller names."""
    iris = draft.store.iris
    if isinstance(what, str):
        link = draft.element(node_of(what, iris))
        if isinstance(link, Proposition):
            return _Rejected(link.subject, link.predicate, names.digests(link))
        message = f"There is no proposition {shown(what)}."
        raise KipError("KIP_3002", message, _FORMS)
    if not isinstance(what, Sequence) or len(what) != 3 or not isinstance(what[1], str):
        raise KipError("KIP_1001", f"{what!r:.100} names no value.", _FORMS)
    id, key, value = what
    subject = _current(node_of(id, iris), draft)
    if key.startswith(ATTRIBUTE):
        key = key.removeprefix(ATTRIBUTE)
        if not is_key(key):
            raise KipError("KIP_1001", f"{shown(key)!r} is no key.", _FORMS)
        keys = value_keys(to_json(to_term(value)))
        return _Rejected(subject, key, fact_digests(names.of(subject)[0], key, keys))
    if not is_identifier(key):
        raise KipError("KIP_1001", f"{shown(key)!r} is no predicate.", _FORMS)
    object_ = _current(node_of(value, iris), draft)
    digests = fact_digests(names.of(subject)[0], key, names.of(object_)[1])
    return _Rejected(subject, key, digests)


def _owned(what: Any, writer: Writer) -> Any:
    """The same value in the nexus that is written, which may be a member of a view.

    KIP_3004 where it would be rejected, and only another scope has it.
    """
    seen, own = Draft(writer.shown, writer.clock, rejects=True), writer.new_draft()
    if own.shown is own:
        return what
    names = FactKeys(seen)
    _take_back(_read(what, seen, names), seen, names)
    for edit in seen.changes():
        before, after = cast(Element, edit.before), edit.after
        changed = changed_keys(before.attributes, after.attributes)
        own.owned([after.node], partial(_among, changed) if changed else None)

    def here(id: str) -> str:
        return writer.store.iris.id(own.node_of(node_of(id, writer.shown.iris)))

    if isinstance(what, str):
        return here(what)
    subject, key, value = what
    return here(subject), key, value if key.startswith(ATTRIBUTE) else here(value)


def _among(keys: list[str], element: Element) -> list[str]:
    return [key for key in keys if key in element.attributes]


def _current(node: NamedNode, draft: Draft) -> NamedNode:
    """A node, or that of the concept into which it was merged."""
    if draft.exists(node):
        return node
    name = draft.store.iris.name(node.value)
    if not isinstance(name, ConceptName):
        return node
    merged = merged_into(name.name, draft.store, name.type)
    return node if merged is None else draft.store.iris.concept(*merged)


def _take_back(rejected: _Rejected, draft: Draft, names: FactKeys) -> None:
    """Retract the facts of the element that state the value, and remove it from its attributes."""
    subject, key, digests = rejected
    store, wanted = draft.store, set(digests)
    for fact in list(store.match(subject, store.iris.predicate(key), None)):
        link = link_of(store, fact)
        if link is not None and not wanted.isdisjoint(names.digests_of(fact)):
            element = draft.element(link)
            assert element is not None
            element.metadata[STATUS] = to_term(RETRACTED)
    element = draft.element(subject)
    attributes = {} if element is None else element.attributes
    subjects = names.of(subject)[0]

    def is_wanted(value: Json, key: str) -> bool:
        return not wanted.isdisjoint(fact_digests(subjects, key, value_keys(value)))

    def without(items: list[Json], key: str) -> list[Json]:
        return [
            without(item, key) if isinstance(item, list) else item
            for item in items
            if not is_wanted(item, key)
        ]

    for each in [each for each in attributes if key_of_name(each) == key_of_name(key)]:
        value = to_json(attributes[each])
        if is_wanted(value, each):
            del attributes[each]
        elif isinstance(value, list):
            attributes[each] = to_term(without(value, each))


def _write(name: str, added: list[str], reason: str, draft: Draft) -> None:
    """Draft the rejection, and what other names of the ends need."""
    definition = draft.concept("$ConceptType", REJECTION)
    definition.attributes.setdefault("description", to_term(_DESCRIPTION))
    values = {"by": draft.actor.signature, "at": timestamp(draft.clock()), "reason": reason}
    for digest in added:
        own = values if digest == name else {**values, SPELLING_OF: name}
        attributes = draft.concept(REJECTION, digest).attributes
        attributes.update({key: to_term(value) for key, value in own.items()})
