"""What a nexus has of earlier imports: what vanished since, and notes of other sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import without_row_limit
from kiprdf.interchange.importing.element_index import SOURCE
from kiprdf.language.names import META_TYPES
from kiprdf.memory import texts
from kiprdf.memory.graph import ITEM, node_id
from kiprdf.nexus import Nexus
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import read_object
from kiprdf.rdf.iris import ConceptName, proposition_digits
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.store import Store

_ENDED = """
FIND(?x.type, ?x.name, ?x.metadata)
WHERE { ?x {} FILTER(?x.metadata.source == :source && ?x.metadata.superseded == true) }
"""
_ENDED_LINKS = """
FIND(?a.type, ?a.name, ?p.predicate, ?b.type, ?b.name, ?p.metadata)
WHERE {
  ?a {} ?b {} ?p (?a, ?any, ?b)
  FILTER(?p.metadata.source == :source && ?p.metadata.superseded == true)
}
"""
_MARKS = ("superseded", "superseded_at", "superseded_by", "valid_from", "valid_until", "expired_at")
_OF_FOLDERS = "FIND(?n.name, ?n.metadata.folder) WHERE { ?n {type: :type} }"
_MERGE = """
MERGE CONCEPT ?old INTO ?new WHERE { ?old {type: :type, name: :old} ?new {type: :type, name: :new} }
"""
_SHOWN = 5
_AT_ONCE = 1_000
"""The concepts whose attributes are read together."""
Row = dict[str, Any]
Key = tuple[str, str]
"""Type and name of a concept."""


def rename(
    nexus: Nexus, source: str, concepts: list[Row], propositions: list[Row], warnings: list[str]
) -> None:
    """Give notes and files of names that those of other sources have the source behind them.

    So neither is written over the other.
    """
    types = {row["type"] for row in concepts if "folder" in row["metadata"]} & {*_types(nexus)}
    others = {
        (type, name): folder
        for type in types
        for name, folder in _all(nexus, _OF_FOLDERS, type=type)
    }
    keys = [(row["type"], row["name"]) for row in concepts]
    taken = {
        key: (key[0], f"{key[1]} ({source})") for key in keys if others.get(key, source) != source
    }
    if not taken:
        return
    first, (_, now) = next(iter(taken.items()))
    warnings.append(
        f"{len(taken)} titles are those of notes of another source, such as '{first[1]}' of"
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
) -> tuple[list[Row], dict[Key, Key]]:
    """What an earlier import of a source wrote, and its rows do not: concepts, links, attributes.

    Then what has another type or name now, with the same id of the tool. Of a note that was
    changed, the attributes of its text that it no longer has become null in its row, so that its
    old end does not remain. It takes as long as it takes, as the import does.
    """

    def read(_: object) -> tuple[list[Row], dict[Key, Key]]:
        renamed: dict[Key, Key] = {}
        given = concepts, propositions
        gone = without_row_limit(lambda: [*_vanished(nexus, source, *given, renamed)])
        return gone, renamed

    return nexus.transaction(read, dry_run=True)


def restore(
    nexus: Nexus, source: str, concepts: list[Row], propositions: list[Row], warnings: list[str]
) -> None:
    """Let what an earlier import ended, and holds in its row, hold again: its marks become null.

    What an import ended has this time as ``valid_until`` or ``expired_at``, too. What others
    superseded stays so, with a warning.
    """
    ended: dict[Any, Row] = {
        (t, name): marks for t, name, marks in _all(nexus, _ENDED, source=source)
    }
    for start, first, predicate, *end, marks in _all(nexus, _ENDED_LINKS, source=source):
        ended[(start, first), predicate, tuple(end)] = marks
    for row in (*concepts, *propositions) if ended else ():
        keys = ("subject", "predicate", "object") if "predicate" in row else ("type", "name")
        before = ended.get(tuple(row[key] for key in keys))
        if before is None or row["metadata"].get("superseded"):
            continue
        end = before.get("superseded_at")
        if end and end in (before.get("valid_until"), before.get("expired_at")):
            own = {key: None for key in _MARKS if before.get(key) is not None}
            row["metadata"] = {**own, **row["metadata"]}
        else:
            shown = row.get("name") or row["predicate"]
            warnings.append(f"{shown!r} holds in the source, and is superseded in the nexus.")


def superseded(renamed: dict[Key, Key], warnings: list[str]) -> Iterator[Row]:
    """Rows for what has another type now: it is superseded by what it is now.

    Concepts of two types cannot be merged (KIP 4.4).
    """
    for (type, name), new in renamed.items():
        if type != new[0]:
            warnings.append(
                f"{name!r} is a {new[0]} now, and was a {type}, which is superseded: facts that"
                " others wrote about it are still there."
            )
            marks = {"superseded": True, "superseded_by": node_id(new)}
            yield {"type": type, "name": name, "metadata": marks}


def merge(nexus: Nexus, renamed: dict[Key, Key]) -> None:
    """Let what has another name now be one concept with what it was before."""
    for (type, name), new in renamed.items():
        if type == new[0]:
            nexus.execute(_MERGE, type=type, old=name, new=new[1])


def _vanished(
    nexus: Nexus,
    source: str,
    concepts: Iterable[Row],
    propositions: Iterable[Row],
    renamed: dict[Key, Key],
) -> Iterator[Row]:
    store = nexus.store
    iris = store.iris
    triples = store.match(None, vocab.metadata(SOURCE), to_term(source))
    written = {cast(NamedNode, triple.subject) for triple in triples}
    if not written:
        return
    rows: dict[Key, list[Row]] = defaultdict(list)
    for row in concepts:
        rows[row["type"], row["name"]].append(row)
    of_id = {str(row["metadata"].get("original_id")): k for k, own in rows.items() for row in own}
    links = {(row["subject"], row["predicate"], row["object"]) for row in propositions}
    # Most links have the ids that their ends make: they are not read.
    written.difference_update(iris.proposition(_digits(link), link[1]) for link in links)
    kept: list[Key] = []
    others: list[NamedNode] = []
    for node in sorted(written, key=lambda node: node.value):
        key = iris.name(node.value)
        if not isinstance(key, ConceptName):
            others.append(node)
            continue
        type, name = key
        if type in META_TYPES:
            continue
        own = rows.get((type, name), [])
        if any("original_id" in row["metadata"] for row in own):
            kept.append((type, name))
            continue
        noted = next(store.match(node, vocab.metadata("original_id"), None), None)
        original_id = None if noted is None else to_json(cast(Literal, noted.object))
        new = of_id.get(str(original_id)) if original_id else None
        has_title = new is not None and "folder" in rows[new][0]["metadata"]  # else, it has an id
        if not own and new is not None and (type != ITEM or has_title):
            renamed[type, name] = new
        elif not own or original_id:
            yield {"type": type, "name": name}
        else:
            kept.append((type, name))
    for at in range(0, len(kept), _AT_ONCE):
        yield from _attributes(nexus, {key: rows[key] for key in kept[at : at + _AT_ONCE]})
    for node in others:
        for start, predicate, end in _facts(store, node):
            is_renamed = start in renamed or end in renamed
            if not is_renamed and (start, predicate, end) not in links:
                subject, object = ({"type": type, "name": name} for type, name in (start, end))
                yield {"subject": subject, "predicate": predicate, "object": object}


def _digits(link: Any) -> str:
    """The digits of the usual id of a proposition, by its parts."""
    subject, predicate, object = link
    ends = (
        f"C:{end[0]}/{end[1]}" if len(end) == 2 else f"P:{_digits(end)}:{end[1]}"
        for end in (subject, object)
    )
    return proposition_digits(next(ends), predicate, next(ends))


def _facts(store: Store, node: NamedNode) -> Iterator[tuple[ConceptName, str, ConceptName]]:
    """What a proposition states, if both ends are concepts."""
    for triple in store.match(node, vocab.REIFIES, None):
        parts = [store.iris.name(one.value) for one in cast("tuple[NamedNode, ...]", triple.object)]
        start, predicate, end = parts
        if (
            isinstance(start, ConceptName)
            and isinstance(predicate, ConceptName)
            and isinstance(end, ConceptName)
        ):
            yield start, predicate.name, end


def _attributes(nexus: Nexus, rows: dict[Key, list[Row]]) -> Iterator[Row]:
    """The attributes that some concepts have, and their rows do not, where these are changed."""
    store = nexus.store
    nodes = {key: store.iris.concept(*key) for key in rows}
    store.prefetch(nodes.values())
    for (type, name), own in rows.items():
        statements = store.statements(nodes[type, name])
        now = dict(pair for row in own for pair in row["attributes"].items())
        keys = {
            each.predicate.value.removeprefix(vocab.ATTRIBUTE)
            for each in statements
            if each.predicate.value.startswith(vocab.ATTRIBUTE)
        }
        if keys <= now.keys():
            continue
        before = (read_object(store.iris, nodes[type, name], statements) or {}).get(
            "attributes", {}
        )
        if all(before.get(key) == value for key, value in now.items()):
            continue
        for key in sorted(before.keys() - now.keys()):
            if type == ITEM and key in texts.KEYS:
                own[-1]["attributes"] = {**own[-1]["attributes"], key: None}
            else:
                yield {"type": type, "name": name, "attribute": key}


def warning_of(vanished: list[Row]) -> str:
    """A warning that names the first of what vanished."""
    names = [_named(row) for row in vanished[:_SHOWN]]
    more = f" and {len(vanished) - _SHOWN} more" if len(vanished) > _SHOWN else ""
    return f"These are in the nexus and not in the source any more: {', '.join(names)}{more}."


def _named(row: Row) -> str:
    if "predicate" in row:
        return f"{row['subject']['name']} –{row['predicate']}→ {row['object']['name']}"
    return f"{row['name']}.{row['attribute']}" if "attribute" in row else str(row["name"])


def _all(nexus: Nexus, command: str, **values: Any) -> Sequence[Any]:
    """All rows of a FIND, without its limits of time and number."""

    def read(_: object) -> Sequence[Any]:
        return without_row_limit(lambda: nexus.find(command, **values).tuples())

    return nexus.transaction(read, dry_run=True)


def _types(nexus: Nexus) -> list[str]:
    types: list[str] = nexus.execute("DESCRIBE CONCEPT TYPES")
    return types
