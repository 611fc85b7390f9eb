"""Two nexuses compared in KIP terms, for people, for programs and as a capsule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias, assert_never, cast
from typing import Literal as OneOf

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.differences import change_statements
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
from kiprdf.language import to_text
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Terms, json_map, read_element
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, to_json

Form: TypeAlias = OneOf["text", "json", "capsule"]

VALUE_CHARACTERS = 200
"""Longer values are cut in the text, to where they begin to differ."""
_CONTEXT = 30
"""How much of what two long values have in common is shown in front of that place."""

_MARKS: dict[Kind, str] = {"added": "+", "removed": "-", "changed": "~"}
_GONE = "An UPSERT takes nothing away. What is gone, one statement at a time:"


def difference(
    before: Iterable[Triple],
    after: Iterable[Triple],
    iris: Iris,
    *,
    after_iris: Iris | None = None,
    engine_metadata: bool = False,
    link_ids: bool = False,
) -> Difference:
    """What was added, removed and changed between the datasets of two nexuses.

    ``iris`` are those of ``before``, and of ``after`` unless ``after_iris`` says otherwise: two
    bases are no difference. ``engine_metadata`` compares ``_version`` and the two times as well,
    ``link_ids`` the ids of propositions that state the same. Both datasets are such as
    ``check_dataset`` lets through.
    """
    old = _contents(before, iris, engine_metadata)
    new = _contents(after, after_iris or iris, engine_metadata)
    found = (
        Change(identity, old.get(identity), new.get(identity)) for identity in paced({**old, **new})
    )
    changes = [change for change in found if _differs(change, link_ids)]
    return Difference(tuple(sorted(changes, key=lambda change: rank(change.identity))), link_ids)


def _differs(change: Change, link_ids: bool) -> bool:
    if change.kind != "changed" or (link_ids and change.ids is not None):
        return True
    return any(True for part in PARTS for _ in change.keys(part))


def _contents(
    triples: Iterable[Triple], iris: Iris, engine_metadata: bool
) -> dict[Identity, Content]:
    """Every element of a dataset by what it is or states."""
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
    found = ((node, read_element(iris, node, own)) for node, own in paced(by_subject.items()))
    return {node: element for node, element in found if element is not None}


def _identities(elements: dict[NamedNode, Element]) -> dict[NamedNode, Identity]:
    """Not recursive, since facts about facts may be stacked higher than Python's stack."""
    known: dict[NamedNode, Identity] = {}
    pending = list(elements.values())
    while pending:
        element = pending[-1]
        if isinstance(element, Proposition):
            ends = (element.subject, element.object)
            unknown = [elements[end] for end in ends if end not in known]
            if unknown:
                pending.extend(unknown)
                continue
            known[element.node] = Fact.of(known[ends[0]], element.predicate, known[ends[1]])
        else:
            known[element.node] = ConceptName(element.type, element.name)
        pending.pop()
    return known


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
        """For people: ``+`` was added, ``-`` removed, ``~`` changed. Empty when nothing differs."""
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
        yield f"{_MARKS[change.kind]} {shown(change.identity)}"
        if self.link_ids and change.ids is not None:
            yield "    ~ id: {} -> {}".format(*change.ids)
        for part in PARTS:
            for found in change.keys(part):
                yield f"    {_key_text(part, found)}"

    def to_json(self) -> dict[str, Json]:
        """For programs: elements as KIP JSON, changed keys as ``{"before": …, "after": …}``.

        A side that does not have a key is left out; null is a value. A changed element has the
        id, and a proposition the ends, that it has afterwards.
        """
        groups = (("concepts", self.concepts), ("propositions", self.propositions))
        return {
            title: {
                kind: [self._object(change) for change in changes if change.kind == kind]
                for kind in _MARKS
            }
            for title, changes in groups
        } | {"counts": self.counts()}

    def _object(self, change: Change) -> dict[str, Json]:
        content = change.after or change.before
        assert content is not None
        found = _identity_object(change.identity, content)
        if self.link_ids and change.ids is not None:
            found["previous_id"] = change.ids[0]
        for part in PARTS:
            if change.kind == "changed":
                values: dict[str, Json] = {key.key: _sides(key) for key in change.keys(part)}
            else:
                terms: Terms = getattr(content, part)
                values = json_map(terms)
            if values:
                found[part] = values
        return found

    def capsule(self) -> str:
        """The additions and changes as one UPSERT, which ``apply_capsule`` takes.

        Behind it stands in comments what no UPSERT does: what is gone, with the statements of
        ``deletions``, and what cannot be written at all. Empty when nothing differs.
        """
        upsert = change_statements.upsert(self.changes)
        sections = [to_text(upsert)] if upsert.blocks else []
        deletions = self.deletions()
        if deletions:
            sections.append(_commented("\n\n".join([_GONE, *deletions])))
        beyond = list(change_statements.beyond(self.changes, self.link_ids))
        if beyond:
            sections.append(_commented("\n".join(beyond)))
        return "\n\n".join(sections) + "\n" if sections else ""

    def deletions(self) -> list[str]:
        """What is gone as DELETE statements, to be run in this order, each by itself."""
        return [to_text(statement) for statement in change_statements.deletions(self.changes)]


# For people -----------------------------------------------------------------------------------


def render(found: Difference, form: Form = "text") -> str:
    """What ``kiprdf diff`` prints."""
    match form:
        case "text":
            return found.text()
        case "json":
            return json.dumps(found.to_json(), ensure_ascii=False, indent=2) + "\n"
        case "capsule":
            return found.capsule()
        case _:
            assert_never(form)


def exit_status(found: Difference) -> int:
    """What ``kiprdf diff`` ends with: 0 when nothing differs, 1 otherwise; trouble is 2."""
    return 1 if found else 0


def _counts(changes: list[Change]) -> dict[Kind, int]:
    return {kind: sum(change.kind == kind for change in changes) for kind in _MARKS}


def _counts_text(changes: list[Change]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in _counts(changes).items())


def _key_text(part: str, found: KeyChange) -> str:
    name = f"{part}.{found.key}"
    values = [shown_value(term) for term in (found.before, found.after) if term is not None]
    mark = "-" if found.after is None else "+" if found.before is None else "~"
    return f"{mark} {name}: {' -> '.join(_cut(values))}"


def _cut(values: list[str]) -> list[str]:
    """Long values from a little before the place at which they begin to differ."""
    if all(len(value) <= VALUE_CHARACTERS for value in values):
        return values
    start = max(0, _first_difference(values[0], values[-1]) - _CONTEXT)
    end = start + VALUE_CHARACTERS
    return [
        ("…" if start else "") + value[start:end] + ("…" if len(value) > end else "")
        for value in values
    ]


def _first_difference(one: str, other: str) -> int:
    """Where two texts begin to differ; 0 where they do not."""
    if one == other:
        return 0
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _commented(text: str) -> str:
    return "\n".join(f"// {line}".rstrip() for line in text.split("\n"))


# For programs ---------------------------------------------------------------------------------


def _identity_object(identity: Identity, content: Content) -> dict[str, Any]:
    """The KIP JSON of an element, without its values."""
    if isinstance(identity, ConceptName):
        own = {"_type": "ConceptNode", "id": content.id}
        return {**own, "type": identity.type, "name": identity.name}
    assert content.ends is not None
    subject, object_ = content.ends
    own = {"_type": "PropositionLink", "id": content.id}
    return {**own, "subject": subject, "predicate": identity.predicate, "object": object_}


def _sides(found: KeyChange) -> dict[str, Json]:
    sides = (("before", found.before), ("after", found.after))
    return {name: to_json(term) for name, term in sides if term is not None}
