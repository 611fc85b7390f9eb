"""Compares two nexuses in KIP terms: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias, assert_never, cast
from typing import Literal as OneOf

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.differences.changes import (
    PARTS,
    Change,
    Content,
    Fact,
    Identity,
    KeyChange,
    Kind,
    rank,
    shown,
    shown_value,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Terms, json_map, read_element
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, to_json

DifferenceFormat: TypeAlias = OneOf["text", "json"]

VALUE_CHARACTERS = 200
"""Longer values are cut in the text, around the position at which they begin to differ."""
_CONTEXT = 30
"""How many characters before that position are shown."""

_SIGNS: dict[Kind, str] = {"added": "+", "removed": "-", "changed": "~"}


def difference(
    before: Iterable[Triple],
    after: Iterable[Triple],
    iris: Iris,
    *,
    after_iris: Iris | None = None,
    engine_metadata: bool = False,
    link_ids: bool = False,
) -> Difference:
    """The elements added, removed and changed between the datasets of two nexuses.

    ``iris`` are those of ``before``, and of ``after`` unless ``after_iris`` is given: another base
    is not a difference. ``engine_metadata`` compares ``_version`` and the two times as well,
    ``link_ids`` the ids of propositions that state the same. Both datasets must pass
    ``check_dataset``.
    """
    old = _contents(before, iris, engine_metadata)
    new = _contents(after, after_iris or iris, engine_metadata)
    pairs = (
        Change(identity, old.get(identity), new.get(identity)) for identity in paced({**old, **new})
    )
    changes = [change for change in pairs if _differs(change, link_ids)]
    return Difference(tuple(sorted(changes, key=lambda change: rank(change.identity))), link_ids)


def _differs(change: Change, link_ids: bool) -> bool:
    if change.kind != "changed" or (link_ids and change.ids is not None):
        return True
    return any(True for part in PARTS for _ in change.keys(part))


def _contents(
    triples: Iterable[Triple], iris: Iris, engine_metadata: bool
) -> dict[Identity, Content]:
    """Every element of a dataset by its identity."""
    elements = _elements(triples, iris)
    identities = _identities(elements)
    return {
        identities[node]: _content(element, iris, engine_metadata)
        for node, element in paced(elements.items())
    }


def _elements(triples: Iterable[Triple], iris: Iris) -> dict[NamedNode, Element]:
    by_subject: dict[NamedNode, list[Triple]] = {}
    for triple in paced(triples):
        if not triple.predicate.value.startswith(iris.predicates):
            by_subject.setdefault(cast(NamedNode, triple.subject), []).append(triple)
    elements = (
        (node, read_element(iris, node, about_node))
        for node, about_node in paced(by_subject.items())
    )
    return {node: element for node, element in elements if element is not None}


def _identities(elements: dict[NamedNode, Element]) -> dict[NamedNode, Identity]:
    """Not recursive, since facts about facts may nest deeper than Python's stack."""
    identities: dict[NamedNode, Identity] = {}
    pending = list(elements.values())
    while pending:
        element = pending[-1]
        if isinstance(element, Proposition):
            ends = (element.subject, element.object)
            unresolved = [elements[end] for end in ends if end not in identities]
            if unresolved:
                pending.extend(unresolved)
                continue
            subject, object_ = (identities[end] for end in ends)
            identities[element.node] = Fact.of(subject, element.predicate, object_)
        else:
            identities[element.node] = ConceptName(element.type, element.name)
        pending.pop()
    return identities


def _content(element: Element, iris: Iris, engine_metadata: bool) -> Content:
    metadata = element.metadata
    if not engine_metadata:
        metadata = {key: term for key, term in metadata.items() if key not in vocab.ENGINE_KEYS}
    content = Content(iris.id(element.node), element.attributes, metadata)
    if isinstance(element, Proposition):
        return replace(content, ends=(iris.id(element.subject), iris.id(element.object)))
    return content


@dataclass(frozen=True, slots=True)
class Difference:
    """The elements that differ, in order; false when there are none.

    Definitions come first, then other concepts, then propositions, those about others last.
    """

    changes: tuple[Change, ...]
    link_ids: bool = False

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def concepts(self) -> list[Change]:
        return [change for change in self.changes if isinstance(change.identity, ConceptName)]

    @property
    def propositions(self) -> list[Change]:
        return [change for change in self.changes if isinstance(change.identity, Fact)]

    def counts(self) -> dict[str, dict[Kind, int]]:
        """How many concepts and propositions were added, removed and changed."""
        return {"concepts": _counts(self.concepts), "propositions": _counts(self.propositions)}

    def text(self) -> str:
        """For people: ``+`` added, ``-`` removed, ``~`` changed; "" if nothing differs."""
        if not self:
            return ""
        parts = (("Concepts", self.concepts), ("Propositions", self.propositions))
        groups = [
            "\n".join([title, *chain.from_iterable(map(self._lines, changes))])
            for title, changes in parts
            if changes
        ]
        counts = [f"{title}: {_counts_text(changes)}" for title, changes in parts]
        return "\n\n".join([*groups, "\n".join(counts)]) + "\n"

    def _lines(self, change: Change) -> Iterator[str]:
        yield f"{_SIGNS[change.kind]} {shown(change.identity)}"
        if self.link_ids and change.ids is not None:
            yield "    ~ id: {} -> {}".format(*change.ids)
        for part in PARTS:
            for key in change.keys(part):
                yield f"    {_key_text(part, key)}"

    def to_json(self) -> dict[str, Json]:
        """JSON for programs: elements as in KIP, changed keys as ``{"before": …, "after": …}``.

        A side that does not have a key is left out; null is a value. Of a changed element the id,
        and the ends of a proposition, are those it has afterwards.
        """
        groups = (("concepts", self.concepts), ("propositions", self.propositions))
        return {
            title: {
                kind: [self._object(change) for change in changes if change.kind == kind]
                for kind in _SIGNS
            }
            for title, changes in groups
        } | {"counts": self.counts()}

    def _object(self, change: Change) -> dict[str, Json]:
        content = change.after or change.before
        assert content is not None
        element = _identity_object(change.identity, content)
        if self.link_ids and change.ids is not None:
            element["previous_id"] = change.ids[0]
        for part in PARTS:
            if change.kind == "changed":
                values: dict[str, Json] = {key.key: _sides(key) for key in change.keys(part)}
            else:
                terms: Terms = getattr(content, part)
                values = json_map(terms)
            if values:
                element[part] = values
        return element


# For people -----------------------------------------------------------------------------------


def render(difference: Difference, format: DifferenceFormat = "text") -> str:
    """The output of ``kiprdf diff``."""
    match format:
        case "text":
            return difference.text()
        case "json":
            return json.dumps(difference.to_json(), ensure_ascii=False, indent=2) + "\n"
        case _:
            assert_never(format)


def exit_status(difference: Difference) -> int:
    """The exit status of ``kiprdf diff``: 0 if nothing differs, otherwise 1."""
    return 1 if difference else 0


def _counts(changes: list[Change]) -> dict[Kind, int]:
    return {kind: sum(change.kind == kind for change in changes) for kind in _SIGNS}


def _counts_text(changes: list[Change]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in _counts(changes).items())


def _key_text(part: str, key: KeyChange) -> str:
    name = f"{part}.{key.key}"
    values = [shown_value(term) for term in (key.before, key.after) if term is not None]
    sign = "-" if key.after is None else "+" if key.before is None else "~"
    return f"{sign} {name}: {' -> '.join(_cut(values))}"


def _cut(values: list[str]) -> list[str]:
    """Shorten long values to the part around their first difference."""
    if all(len(value) <= VALUE_CHARACTERS for value in values):
        return values
    start = max(0, _first_difference(values[0], values[-1]) - _CONTEXT)
    end = start + VALUE_CHARACTERS
    return [
        ("…" if start else "") + value[start:end] + ("…" if len(value) > end else "")
        for value in values
    ]


def _first_difference(one: str, other: str) -> int:
    """The position of the first difference between two texts; 0 if they are equal."""
    if one == other:
        return 0
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


# For programs ---------------------------------------------------------------------------------


def _identity_object(identity: Identity, content: Content) -> dict[str, Any]:
    """The KIP JSON of an element, without its values."""
    if isinstance(identity, ConceptName):
        concept = {"_type": "ConceptNode", "id": content.id}
        return {**concept, "type": identity.type, "name": identity.name}
    assert content.ends is not None
    subject, object_ = content.ends
    link = {"_type": "PropositionLink", "id": content.id}
    return {**link, "subject": subject, "predicate": identity.predicate, "object": object_}


def _sides(key: KeyChange) -> dict[str, Json]:
    sides = (("before", key.before), ("after", key.after))
    return {name: to_json(term) for name, term in sides if term is not None}
