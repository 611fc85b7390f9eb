"""Keeps apart what was imported under the IRIs of two concepts that MERGE joins (decisions/124).

An import notes in the metadata key ``original`` how its data were written. ``parts`` of it are the
concepts that were merged into this one, as they were; ``own`` what the merge changed here,
``label`` another name; ``loops`` links between them, which the merge deletes. A link has in
``statements`` which of its ends had another IRI.
"""

from __future__ import annotations

import sys
from typing import Any

from kiprdf.rdf.elements import Concept, Element, Proposition, Terms, json_map
from kiprdf.rdf.literals import Json, canonical_json, to_json, to_term
from kiprdf.semantics.arguments import RESERVED_METADATA

STATED_BY = "stated_by"
"""The metadata key in which imports note what each source states."""
NO_LONGER_IN = "no_longer_in"
"""The metadata key of what an import superseded: the source that no longer states it."""
SAME_AS, ORIGINAL = "same_as", "original"
"""The attribute with IRIs, and the metadata key with what differs from the definitions' record."""
PARTS, OWN, LABEL, LOOPS = "parts", "own", "label", "loops"
STATEMENTS, POSITION = "statements", "position"
"""What each of several statements of a fact says (in ``original``: how), and places in lists."""
GRAPH, DEFAULT = "graph", "@default"
_OF_GRAPHS = (GRAPH, "graph_values")
_OF_IMPORTS = (*RESERVED_METADATA, *_OF_GRAPHS, ORIGINAL, STATED_BY, "imported_at", "source")
_FORMS = ("attributes", "metadata", "predicate", "lists")
_ABSENT = object()
OF_MERGES = (PARTS, OWN, LABEL, LOOPS)
"""The keys of a record that merges write."""


def items(term: Any) -> list[Json]:
    """The items of an array; any other value but null counts as one."""
    value = None if term is None else to_json(term)
    return value if isinstance(value, list) else [] if value is None else [value]


def each_once(values: list[Json]) -> list[Json]:
    return list({canonical_json(value): value for value in values}.values())


def unite_origins(source: Concept, target: Concept, before: Terms) -> None:
    """Give the target the IRIs of the source, and note how both were before the merge.

    ``before`` are the attributes that the target had. A target that no import brought takes over
    the record of the source.
    """
    mine, theirs = items(before.get(SAME_AS)), items(source.attributes.get(SAME_AS))
    if not theirs:
        return
    iris = each_once([*mine, *theirs])
    target.attributes[SAME_AS] = to_term(iris[0] if len(iris) == 1 else iris)
    record, other = _record(target), _record(source)
    base = before
    if mine:
        merged = _part(source, other), *_listed(other, PARTS)
        record[PARTS] = [*_listed(record, PARTS), *merged]
        loops = [_with_ends(loop, str(theirs[0])) for loop in _listed(other, LOOPS)]
        if loops or LOOPS in record:
            record[LOOPS] = [*_listed(record, LOOPS), *loops]
    else:
        record, base = {LABEL: source.name, **other}, source.attributes
    record[OWN] = _changes(json_map(base), json_map(target.attributes), record.get(OWN))
    target.metadata[ORIGINAL] = to_term(record)


def _changes(
    before: dict[str, Json], after: dict[str, Json], noted: Json
) -> dict[str, dict[str, Json]]:
    """The attributes that a merge changed: what they are now, and what they were if they were."""
    changes: dict[str, dict[str, Json]] = {}
    original = as_they_were(before, noted)
    for key in sorted({*original, *after} - {SAME_AS}):
        was, now = original.get(key, _ABSENT), after.get(key, _ABSENT)
        if was != now and now is not _ABSENT:
            changes[key] = {"now": now} | ({} if was is _ABSENT else {"was": was})
    return changes


def as_they_were(attributes: dict[str, Json], changes: Json) -> dict[str, Json]:
    """Attributes as they were before merges, except for those that have changed since."""
    original = dict(attributes)
    for key, change in changes.items() if isinstance(changes, dict) else ():
        if isinstance(change, dict) and key in original and original[key] == change.get("now"):
            del original[key]
            if "was" in change:
                original[key] = change["was"]
    return original


def merged_parts(record: Json) -> dict[str, dict[str, Any]]:
    """The concepts that MERGE joined to another one, by the IRI of each."""
    return {
        part["id"]: part
        for part in (_listed(record, PARTS) if isinstance(record, dict) else ())
        if isinstance(part.get("attributes"), dict) and "id" in part
    }


def kept_loops(record: Json, iri: str) -> dict[tuple[Json, Json, Json], dict[str, Any]]:
    """The links that MERGE deleted between concepts that are one now, by their ends and predicate.

    ``iri`` is that of the ends of which none is noted.
    """
    loops = _listed(record, LOOPS) if isinstance(record, dict) else []
    return {
        (part.get("subject", iri), loop.get("predicate"), part.get("object", iri)): loop
        for loop in loops
        for part in _listed(loop["metadata"].get(ORIGINAL, {}), STATEMENTS) or [{}]
    }


def merged_name(record: Json, iri: str) -> str | None:
    """The name that a concept had under an IRI, before it was merged into another one."""
    if not isinstance(record, dict):
        return None
    names = [part.get("name") for part in _listed(record, PARTS) if part.get("id") == iri]
    name = names[0] if names else record.get(LABEL)
    return name if isinstance(name, str) else None


def _part(concept: Concept, record: dict[str, Any]) -> dict[str, Json]:
    """A concept as it was imported: its IRIs, name, attributes and record."""
    iris = items(concept.attributes.get(SAME_AS))
    attributes = as_they_were(json_map(concept.attributes), record.get(OWN))
    graphs = {key: to_json(concept.metadata[key]) for key in _OF_GRAPHS if key in concept.metadata}
    parts = merged_parts(record).values()
    inner = [iri for part in parts for iri in items(to_term(part["attributes"].get(SAME_AS)))]
    return {
        "id": iris[0],
        "name": record.get(LABEL, concept.name),
        "attributes": {**attributes, SAME_AS: [iri for iri in iris if iri not in inner]},
        "metadata": {
            **graphs,
            ORIGINAL: {k: v for k, v in record.items() if k not in OF_MERGES},
        },
    }


def note_end(link: Proposition, old: Element | None, new: Element | None) -> None:
    """Note under which IRI an end of a link was imported, before the link is moved."""
    iri, other = (
        next(iter(items(one.attributes.get(SAME_AS))), None) if one else None for one in (old, new)
    )
    if old is None or iri is None or iri == other or not _is_imported(link):
        return
    ends = {"subject": link.subject, "object": link.object}
    moved = {key: iri for key, node in ends.items() if node == old.node}
    record = _record(link)
    record[STATEMENTS] = [{**moved, **part} for part in _listed(record, STATEMENTS) or [{}]]
    link.metadata[ORIGINAL] = to_term(record)


def keep_loop(link: Proposition, concept: Element | None) -> None:
    """Keep what was imported as a link between two concepts that are one now."""
    record = {} if concept is None else _record(concept)
    if concept is None or PARTS not in record or not _is_imported(link):
        return
    loop = {
        "predicate": link.predicate,
        "attributes": json_map(link.attributes),
        "metadata": {
            key: value
            for key, value in json_map(link.metadata).items()
            if key not in RESERVED_METADATA
        },
    }
    record[LOOPS] = [*_listed(record, LOOPS), loop]
    concept.metadata[ORIGINAL] = to_term(record)


def _with_ends(loop: dict[str, Any], iri: str) -> dict[str, Any]:
    """A loop whose ends have an IRI where they had none."""
    record = dict(loop["metadata"].get(ORIGINAL, {}))
    ends = {"subject": iri, "object": iri}
    record[STATEMENTS] = [{**ends, **part} for part in _listed(record, STATEMENTS) or [{}]]
    return {**loop, "metadata": {**loop["metadata"], ORIGINAL: record}}


def join_statements(link: Proposition, survivor: Element) -> None:
    """Keep what a link states beside what the link with the same fact states."""
    if not (isinstance(survivor, Proposition) and _is_imported(link) and _is_imported(survivor)):
        return
    both = [
        one for one in (*statements_of(survivor), *statements_of(link)) if not _states_nothing(*one)
    ]
    graphs = [items(one.metadata.get(GRAPH)) or [DEFAULT] for one in (survivor, link)]
    if graphs[0] == graphs[1]:
        for noted, _ in both:
            noted.pop(GRAPH, None)
    elif len(both) > 1 and "graph_values" not in survivor.metadata:
        survivor.metadata[GRAPH] = to_term(sorted(each_once([*graphs[0], *graphs[1]]), key=str))
    both.sort(key=lambda one: statement_order(*one))
    if both:
        write_statements(survivor, both)
    places = [*items(survivor.attributes.get(POSITION)), *items(link.attributes.get(POSITION))]
    if places:
        places = sorted(each_once(places), key=_by_number)
        survivor.attributes[POSITION] = to_term(places[0] if len(places) == 1 else places)


def write_statements(
    link: Proposition, statements: list[tuple[dict[str, Json], dict[str, Json]]]
) -> None:
    """Note what a link states, as ``statements_of`` returns it; its values stay."""
    record = _record(link)
    if len(statements) > 1:
        if any(shown for _, shown in statements):
            link.attributes[STATEMENTS] = to_term([shown for _, shown in statements])
        # Each statement has its own now.
        record.pop("predicate", None)
        graph = items(link.metadata.get(GRAPH)) or [DEFAULT]
        usual = {GRAPH: graph} if all(one.get(GRAPH) == graph for one, _ in statements) else {}
        record[STATEMENTS] = [
            {key: one for key, one in noted.items() if key not in usual} for noted, _ in statements
        ]
    else:
        noted = statements[0][0] if statements else {}
        ends = {key: noted[key] for key in ("subject", "object") if key in noted}
        record = {key: noted[key] for key in _FORMS if key in noted}
        record |= {STATEMENTS: [ends]} if ends else {}
        link.attributes.pop(STATEMENTS, None)
    link.metadata[ORIGINAL] = to_term(record)


def _by_number(place: Json) -> tuple[int, str]:
    return (place if isinstance(place, int) else sys.maxsize), canonical_json(place)


def _states_nothing(noted: dict[str, Json], shown: dict[str, Json]) -> bool:
    """Whether a link is only there so that KQL can follow a list, which is a value."""
    return noted.get("predicate") == [] and "lists" not in noted and not shown


def statements_of(link: Proposition) -> list[tuple[dict[str, Json], dict[str, Json]]]:
    """What is noted of each imported statement of a link, and what KQL sees of it."""
    if not _is_imported(link):
        return []
    record = _record(link)
    noted = _listed(record, STATEMENTS) or [{}]
    graph = items(link.metadata.get(GRAPH)) or [DEFAULT]
    if len(noted) > 1:
        shown = [*items(link.attributes.get(STATEMENTS)), *([{}] * len(noted))]
        usual: dict[str, Json] = {key: record[key] for key in ("predicate",) if key in record}
        return list(zip([{GRAPH: graph, **usual, **one} for one in noted], shown, strict=False))
    iris = items(link.attributes.get(SAME_AS))
    own = {"id": iris[0]} if iris else {}
    attributes, metadata = json_map(link.attributes), json_map(link.metadata)
    values = {key: value for key, value in metadata.items() if key not in _OF_IMPORTS}
    values |= {k: v for k, v in attributes.items() if k not in (SAME_AS, STATEMENTS, POSITION)}
    forms = {key: record[key] for key in _FORMS if key in record}
    return [({GRAPH: graph, **own, **forms, **noted[0]}, {**own, **values})]


def statement_identity(noted: dict[str, Json], shown: dict[str, Json]) -> list[Json]:
    """What makes one of several statements another one: its reifier, else its ends and values."""
    if "id" in noted:
        return [noted["id"]]
    return [noted.get("subject"), noted.get("object"), shown]


def statement_order(noted: dict[str, Json], shown: dict[str, Json]) -> str:
    """The sort key of one of several statements; the forms of its values make no difference."""
    own = {key: value for key, value in noted.items() if key not in ("attributes", "metadata")}
    return canonical_json([own, shown])


def _is_imported(link: Proposition) -> bool:
    return "imported_at" in link.metadata


def _record(element: Element) -> dict[str, Any]:
    term = element.metadata.get(ORIGINAL)
    record = None if term is None else to_json(term)
    return dict(record) if isinstance(record, dict) else {}


def _listed(record: dict[str, Any], key: str) -> list[Any]:
    values = record.get(key)
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
