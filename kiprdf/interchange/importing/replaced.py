"""Sentences about what earlier imports brought and this one replaces or cannot keep beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kiprdf.errors import shown
from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.context import Context
from kiprdf.interchange.importing.facts import Fact
from kiprdf.interchange.importing.foreign import DEFAULT
from kiprdf.interchange.importing.import_warnings import listed as listed_texts
from kiprdf.interchange.importing.node_values import GRAPH, ValueReader
from kiprdf.interchange.importing.origins import LISTS
from kiprdf.interchange.importing.values import listed
from kiprdf.kml.merged_origins import merged_parts


def replaced(facts: Iterable[Fact], context: Context, values: ValueReader) -> Iterator[str]:
    """What of earlier imports does not leave as it came, once this import is written."""
    placed = list(facts)
    yield from _of_merged(context, values)
    yield from _of_lists(placed, context)
    yield from _of_reifiers(placed, context, values)
    yield from _of_graphs(context, values)


def _of_merged(context: Context, values: ValueReader) -> Iterator[str]:
    for node, resource in context.identities.resources.items():
        id = resource.identity.id
        part = merged_parts(context.originals.get(id)).get(node.value)
        if part is None:
            continue
        stated = values.by_node[node].attributes.json()
        changed = sorted(key for key, one in stated.items() if part["attributes"].get(key) != one)
        if changed:
            yield (
                f"{node} was merged into {shown(id)}: what it states now of "
                f"{listed_texts(changed)} replaces the value there, and is written under its IRI."
            )


def _of_lists(facts: list[Fact], context: Context) -> Iterator[str]:
    """Lists of elements of which an earlier import has links that this one does not state."""
    stated = {(fact.subject, str(one[0]), str(one[1])) for fact in facts for one in fact.lists}
    ids = {fact.id for fact in facts}
    for id, record in context.originals.items() if stated else ():
        places = listed(record.get(LISTS)) if isinstance(record, dict) and id not in ids else []
        link = context.index.link(id) if places else None
        subject = None if link is None else context.index.store.iris.id(link.subject)
        for place in places:
            if isinstance(place, list) and (subject, str(place[0]), str(place[1])) in stated:
                yield (
                    f"{shown(str(subject))} has another list of <{place[0]}> now; the link "
                    f"{shown(id)} of the earlier list stays in it. Delete it if it is wrong."
                )


def _of_reifiers(facts: list[Fact], context: Context, values: ValueReader) -> Iterator[str]:
    """Values of a reifier without an IRI that replace those of another one."""
    for fact in facts:
        if len(fact.reifiers) != 1 or not is_blank(fact.reifiers[0]):
            continue
        stated = values.by_node[fact.reifiers[0]].attributes.json()
        before = context.index.attributes(fact.id) if context.index.exists(fact.id) else {}
        changed = sorted(key for key in stated if key in before and before[key] != stated[key])
        if changed:
            yield (
                f"{shown(fact.id)}: a reifier without an IRI replaces the values of "
                f"{listed_texts(changed)} that an earlier import brought."
            )


def _of_graphs(context: Context, values: ValueReader) -> Iterator[str]:
    """Concepts that earlier imports brought in other graphs: they have those of one import."""
    before = context.index.metadata(GRAPH)
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node, resource in context.identities.resources.items() if before else ():
        id, now = resource.identity.id, values.by_node[node].graphs
        earlier = {*map(str, listed(before.get(id)))}
        is_same = now <= earlier if now == {DEFAULT} else now - {DEFAULT} == earlier - {DEFAULT}
        if earlier and now and not is_same and not merged_parts(context.originals.get(id)):
            kept, lost = sorted(earlier - now), sorted(now - earlier)
            if now != {DEFAULT}:
                kept, lost = sorted(now), kept
            if not lost:
                continue
            moved[listed_texts(kept), listed_texts(lost)].append(shown(resource.identity.id))
    for (graphs, others), ids in sorted(moved.items()):
        yield (
            f"{listed_texts(ids)}: stated in other graphs by an earlier import; "
            f"written in {graphs} alone, and not in {others}."
        )
