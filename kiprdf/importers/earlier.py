"""What a nexus has of earlier imports: what vanished since, and notes of other sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from kiprdf.language.names import META_TYPES
from kiprdf.memory import texts
from kiprdf.memory.graph import ITEM
from kiprdf.nexus import Nexus

_CONCEPTS = "FIND(?x) WHERE { ?x {} FILTER(?x.metadata.source == :source) }"
_LINKS = """
FIND(?a.type, ?a.name, ?p.predicate, ?b.type, ?b.name)
WHERE { ?a {} ?b {} ?p (?a, ?any, ?b) FILTER(?p.metadata.source == :source) }
"""
_NOTES = "FIND(?n.name, ?n.metadata.source) WHERE { ?n {type: :type} }"
_SHOWN = 5
Row = dict[str, Any]


def rename(
    nexus: Nexus, source: str, concepts: list[Row], propositions: list[Row], warnings: list[str]
) -> None:
    """Give notes of titles that notes of other sources have the source behind their names.

    So neither is written over the other.
    """
    existing = nexus.find(_NOTES, type=ITEM) if ITEM in _types(nexus) else ()
    others = {row["?n.name"]: row["?n.metadata.source"] for row in existing}
    taken = {
        (ITEM, row["name"]): (ITEM, f"{row['name']} ({source})")
        for row in concepts
        if row["type"] == ITEM and others.get(row["name"], source) != source
    }
    if not taken:
        return
    (_, first), (_, now) = next(iter(taken.items()))
    warnings.append(
        f"{len(taken)} titles are those of notes of another source, such as '{first}' of"
        f" {others[first]!r}: they are written as '{now}' and so on. If this is the same folder,"
        " give the source that it had."
    )

    def own(end: Any) -> Any:
        return taken.get(end, end)

    for row in concepts:
        row["name"] = own((row["type"], row["name"]))[1]
    for row in propositions:
        row |= {"subject": own(row["subject"]), "object": own(row["object"])}


def vanished(
    nexus: Nexus, source: str, concepts: Iterable[Row], propositions: Iterable[Row]
) -> Iterator[Row]:
    """What an earlier import of a source wrote, and its rows do not: concepts, links, attributes.

    Of a note that was changed, the attributes of its text that it no longer has become null in its
    row, so that its old end does not remain.
    """
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in concepts:
        rows[row["type"], row["name"]].append(row)
    elements = nexus.find(_CONCEPTS, source=source).column("?x")
    for element in elements:
        type, name = element["type"], element["name"]
        if type in META_TYPES:
            continue
        own = rows.get((type, name), [])
        is_of_tool = "original_id" in element.get("metadata", {})
        if not own or (is_of_tool and not any("original_id" in row["metadata"] for row in own)):
            yield {"type": type, "name": name}
            continue
        before = element.get("attributes", {})
        now = dict(pair for row in own for pair in row["attributes"].items())
        if all(before.get(key) == value for key, value in now.items()):
            continue
        for key in before.keys() - now.keys():
            if type == ITEM and key in texts.KEYS:
                own[-1]["attributes"] = {**own[-1]["attributes"], key: None}
            else:
                yield {"type": type, "name": name, "attribute": key}
    if elements:
        links = {(row["subject"], row["predicate"], row["object"]) for row in propositions}
        for start, first, predicate, end, last in nexus.find(_LINKS, source=source).tuples():
            if ((start, first), predicate, (end, last)) not in links:
                subject, object = {"type": start, "name": first}, {"type": end, "name": last}
                yield {"subject": subject, "predicate": predicate, "object": object}


def warning_of(vanished: list[Row]) -> str:
    """A warning that names the first of what vanished."""
    names = [_named(row) for row in vanished[:_SHOWN]]
    more = f" and {len(vanished) - _SHOWN} more" if len(vanished) > _SHOWN else ""
    return f"These are in the nexus and not in the source any more: {', '.join(names)}{more}."


def _named(row: Row) -> str:
    if "predicate" in row:
        return f"{row['subject']['name']} –{row['predicate']}→ {row['object']['name']}"
    return f"{row['name']}.{row['attribute']}" if "attribute" in row else str(row["name"])


def _types(nexus: Nexus) -> list[str]:
    types: list[str] = nexus.execute("DESCRIBE CONCEPT TYPES")
    return types
