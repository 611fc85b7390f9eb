"""A graph of graphiti (``graphiti-core`` 0.31.2, from 0.3 on) as concepts, facts and notes.

The file is ``{"nodes": […], "edges": […], "episodes": […]}``; each item is what ``model_dump`` or
the driver returns, and is known by its fields, in any of the lists. An entity is a concept. The
edges with the same ends and name are one fact, and their intervals its periods; the text of each
edge is a note that ``states`` the fact, and so does each of its episodes (docs/decisions/235).
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiprdf.errors import KipError
from kiprdf.execution.support import MENTIONS, STATES
from kiprdf.importers.plan import Plan, keep_apart, read_json, usable_name
from kiprdf.importers.times import moment
from kiprdf.memory import texts
from kiprdf.semantics import periods
from kiprdf.semantics.periods import Interval

UNKNOWN = "Entity"
"""The type of a node without another label."""
_TIMES = ("created_at", "valid_at", "invalid_at", "expired_at", "reference_time")
_ENDS = ("source_node_uuid", "target_node_uuid")
_NODE = ("uuid", "name", "labels", "created_at")
_EPISODE = ("uuid", "content", "created_at", "valid_at", "entity_edges")
_EDGE = ("uuid", "name", "fact", "episodes", *_TIMES, *_ENDS)
_LISTS, _TEXTS = ("labels", "episodes", "entity_edges"), ("name", "fact", "content")
_KEPT = ("created_at", "expired_at", "reference_time")
"""The times that are metadata under their own names."""
_WHOLE = ("", "_")
"""The group of a graph that is not divided."""
Json = dict[str, Any]
Node = tuple[str, str]


def graphiti(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of a file with the nodes, edges and episodes of a graph.

    What ended before now is superseded; what will end is valid until then. Raises ``KipError``:
    KIP_1001 for a file that has none of them.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "graph.json"
    >>> _ = file.write_text('{"nodes": [{"uuid": "n1", "name": "Ada"}]}')
    >>> graphiti(file).concepts[0]["name"]
    'Ada'
    """
    plan = Plan("graphiti", source or Path(path).name)
    content = read_json(path)
    content = {"edges": content} if isinstance(content, list) else content
    graph = _Graph(plan)
    for name, items in content.items() if isinstance(content, dict) else ():
        if isinstance(items, list):
            for number, item in enumerate(items, 1):
                graph.sort(item, f"{name} {number}", name)
        else:
            plan.skip({name: items}, f"{name} is no list")
    if not any((graph.nodes, graph.edges, graph.episodes)):
        message = f"{plan.source} has no nodes, edges or episodes of graphiti."
        hint = 'Write {"nodes": […], "edges": […], "episodes": […]} to it.'
        raise KipError("KIP_1001", message, hint)
    graph.add()
    return plan


@dataclass
class _Graph:
    """The items of a file by their uuids, and the elements that they become."""

    plan: Plan
    nodes: dict[str, Json] = field(default_factory=dict)
    edges: dict[str, Json] = field(default_factory=dict)
    episodes: dict[str, Json] = field(default_factory=dict)
    links: dict[str, Json] = field(default_factory=dict)
    """Edges without a fact, between entities, episodes, communities and sagas."""
    elements: dict[str, Node] = field(default_factory=dict)
    embedded: int = 0

    def sort(self, given: Any, place: str, listed: str) -> None:
        """Put an item where it belongs by its fields."""
        if not isinstance(given, dict) or not _text(given.get("uuid")):
            self.plan.skip(given, f"{place} is no object with a uuid")
            return
        item = self._plain(given, place)
        if all(_text(item.get(key)) for key in _ENDS):
            kind = self.edges if "fact" in item or "name" in item else self.links
        elif "content" in item or "entity_edges" in item:
            kind = self.episodes
        elif "name" in item:
            kind = self.nodes
            of_list = {"communities": "Community", "sagas": "Saga"}.get(listed)
            if of_list and not item.get("labels"):
                item["labels"] = [of_list]
        else:
            self.plan.skip(given, f"{place} is no node, edge or episode")
            return
        if kind.setdefault(item["uuid"], item) != item:
            self.plan.skip(given, f"{place}: an item before it has its uuid and other values")

    def _plain(self, given: Json, place: str) -> Json:
        """An item with its attributes beside it, without vectors and what a driver says twice."""
        item = {key: value for key, value in given.items() if value is not None}
        more = item.pop("attributes", None)
        if isinstance(more, str):  # Kuzu
            with suppress(ValueError, RecursionError):
                more = json.loads(more)
        more = more if isinstance(more, dict) else {"attributes": more}
        for key, value in more.items():
            if value is not None and value != item.setdefault(key, value) and key not in _TIMES:
                keep_apart(item, key, value)
        for end, stored in zip(_ENDS, ("source_uuid", "target_uuid"), strict=True):
            if stored in item and item.setdefault(end, item[stored]) == item[stored]:
                del item[stored]
        for key in [key for key in item if key.endswith("_embedding")]:
            del item[key]
            self.embedded += 1
        for key in [key for key in item if key in (*_LISTS, *_TEXTS)]:
            value = item[key]
            if value != (_texts(value) if key in _LISTS else str(value)):
                keep_apart(item, key, value)
        for key in [key for key in _TIMES if key in item]:
            time = moment(item[key])
            if time is None:
                self.plan.warn(f"{place}: its {key} is no time.")
                keep_apart(item, key, item.pop(key))
            else:
                item[key] = time
        return item

    def add(self) -> None:
        """Add all to the plan."""
        taken: set[Node] = set()
        for item in sorted(self.nodes.values(), key=_age):
            self._add_node(item, taken)
        sagas = {
            link["target_node_uuid"]: _text(self.nodes[link["source_node_uuid"]]["name"])
            for link in self.links.values()
            if link["source_node_uuid"] in self.nodes
        }
        for item in self.episodes.values():
            self._add_episode(item, sagas.get(item["uuid"]))
        stating: dict[str, list[str]] = defaultdict(list)
        for episode in self.episodes.values():
            for edge in _texts(episode.get("entity_edges")):
                stating[edge].append(episode["uuid"])
        facts: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
        for item in self.edges.values():
            stating[item["uuid"]] += _texts(item.get("episodes"))
            ends = (item[key] for key in _ENDS)
            facts[next(ends), _text(item.get("name")) or "RELATES_TO", next(ends)].append(item)
        for (start, name, end), edges in facts.items():
            self._add_fact(start, name, end, sorted(edges, key=_start), stating)
        for item in self.links.values():
            self._add_link(item)
        if self.embedded:
            self.plan.warn(f"{self.embedded} vectors are left out: `kiprdf embed` makes others.")

    def _add_node(self, item: Json, taken: set[Node]) -> None:
        labels = sorted(label for label in _texts(item.get("labels")) if label != UNKNOWN)
        labels = [label for label in labels if not label.startswith(f"{UNKNOWN}_")]
        type, name = (labels or [UNKNOWN])[0], _text(item["name"]) or item["uuid"]
        rest = {key: value for key, value in item.items() if key not in _NODE}
        if len(labels) > 1:
            rest["labels"] = labels
        if (type, usable_name(name)) in taken:
            self.plan.warn(
                f"Several nodes are called {name!r}: later ones have uuids in their names."
            )
            rest["original_name"] = name
            name = f"{name} ({item['uuid']})"
        taken.add((type, usable_name(name)))
        self.elements[item["uuid"]] = self.plan.add_concept(
            type, name, rest, original_id=item["uuid"], metadata=_kept(item)
        )

    def _add_episode(self, item: Json, saga: str | None) -> None:
        text, group = _text(item.get("content")), _text(item.get("group_id"))
        if not text:
            self.plan.skip(item, "an episode without content")
            return
        session = saga or (None if group in _WHOLE else group)
        note = self.plan.add_note_if_valid(
            text,
            id=item["uuid"],
            timestamp=item.get("valid_at") or item.get("created_at"),
            session=session and usable_name(session),
            attributes={key: value for key, value in item.items() if key not in _EPISODE},
            metadata=_kept(item),
        )
        if note is not None:
            self.elements[item["uuid"]] = note

    def _add_fact(
        self,
        start: str,
        name: str,
        end: str,
        edges: list[Json],
        stating: Mapping[str, Iterable[str]],
    ) -> None:
        """Add the edges of the same ends and name: a fact, its periods, and its evidence."""
        plan, last, fact = self.plan, edges[-1], None
        missing = [uuid for uuid in (start, end) if uuid not in self.elements]
        if not missing:
            fact = plan.add_proposition(
                self.elements[start],
                name,
                self.elements[end],
                {key: value for key, value in last.items() if key not in _EDGE},
                metadata={
                    "original_id": last["uuid"] if len(edges) == 1 else [e["uuid"] for e in edges],
                    **_kept(last),
                },
            )
            marks, former = _validity(edges)
            plan.propositions[-1]["metadata"] |= marks
            for period in former:
                # The Period exists by its name; one that there is already is not of this source.
                plan.add_proposition(fact, periods.PREDICATE, (periods.TYPE, period.name))
        for edge in edges:
            self._add_evidence(edge, fact, dict.fromkeys(stating[edge["uuid"]]), last)
            if missing:
                plan.skip(edge, f"its node {missing[0]} is not in the file; its text is a note")

    def _add_evidence(self, edge: Json, fact: Any, episodes: Iterable[str], last: Json) -> None:
        """Add the text of an edge as a note: it states the fact, as the episodes do."""
        rest = {key: value for key, value in edge.items() if key not in _EDGE}
        rest = {} if edge is last and fact else rest
        unknown = [uuid for uuid in episodes if uuid not in self.episodes]
        notes = [self.elements[uuid] for uuid in episodes if uuid in self.elements]
        if text := _text(edge.get("fact")):
            note = self.plan.add_note_if_valid(
                text,
                id=edge["uuid"],
                timestamp=edge.get("valid_at") or edge.get("created_at"),
                attributes={**rest, "episodes": unknown or None},
                metadata={**_kept(edge), **_validity([edge])[0]},
            )
            notes += [note] if note else []
        elif edge is not last or unknown:
            self.plan.skip(edge, "an edge without a text: its interval is kept, and its ends are")
        for note in notes if fact else ():
            self.plan.add_proposition(note, STATES, fact)

    def _add_link(self, item: Json) -> None:
        """Add an edge without a fact; what it says depends on its ends."""
        start, end = (item[key] for key in _ENDS)
        if not {start, end} <= self.elements.keys():
            self.plan.skip(item, "an end of it is not in the file")
            return
        if start in self.episodes:
            name = "next_episode" if end in self.episodes else MENTIONS
        else:
            name = "has_episode" if end in self.episodes else "has_member"
        rest = {key: value for key, value in item.items() if key not in _EDGE}
        self.plan.add_proposition(
            self.elements[start],
            name,
            self.elements[end],
            rest,
            original_id=item["uuid"],
            metadata=_kept(item),
        )


def _validity(edges: Sequence[Json]) -> tuple[Json, list[Interval]]:
    """The metadata of a fact that says when it holds, and the periods before.

    The last interval is in the metadata, where the next import changes it; a period is over. Of
    several edges, the keys that do not hold are null: an import before may have written them.
    """
    ends = [edge.get("invalid_at") or edge.get("expired_at") for edge in edges]
    starts = [edge.get("valid_at") for edge in edges]
    start, end, former = starts[-1], ends[-1], list[Interval]()
    if len(edges) > 1:
        given = map(Interval, starts, ends)
        intervals = [one for one in (periods.interval(each.name) for each in given) if one]
        if intervals:
            *former, last = periods.united(intervals)
            written = {periods.moment(time): time for time in (*starts, *ends) if time}
            start, end = written.get(last.start), written.get(last.end)
    is_end_of_validity = end in (edge.get("invalid_at") for edge in edges)
    has_ended = end is not None and end <= texts.iso_time(texts.now())
    marks = {
        periods.VALID_FROM: start,
        periods.VALID_UNTIL: end if is_end_of_validity else None,
        "superseded": True if has_ended else None,
        "superseded_at": end if has_ended else None,
    }
    if len(edges) == 1:
        marks = {key: value for key, value in marks.items() if value is not None}
    return marks, former


def _kept(item: Json) -> Json:
    return {key: item.get(key) for key in _KEPT}


def _age(item: Json) -> tuple[str, str]:
    return item.get("created_at", ""), item["uuid"]


def _start(edge: Json) -> tuple[str, str, str]:
    return edge.get("valid_at", ""), *_age(edge)


def _text(value: object) -> str:
    """A text that is not blank; empty for another value."""
    return value if isinstance(value, str) and value.strip() else ""


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
