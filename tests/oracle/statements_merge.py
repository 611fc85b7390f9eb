"""MERGE CONCEPT: one concept becomes another, and links that become equal become one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kiprdf.errors import KipError
from tests.oracle.graph import META_TYPES, Graph
from tests.oracle.protection import refuse_merge
from tests.oracle.statements_targets import RESERVED, canonical


def merge(pairs: list[tuple[str, str]], graph: Graph) -> dict[str, Any]:
    """Rule: "0 bindings KIP_3002, more than one KIP_3003, different types KIP_2002, same node a
    no-op success … Two definitions do not merge: KIP_2002". The same node
    "answers `merged: true` with zero counts"."""
    if len(pairs) != 1:
        raise KipError("KIP_3003" if pairs else "KIP_3002", f"{len(pairs)} pairs are bound.")
    ((source, target),) = pairs
    if source == target:
        counts = ("links_repointed", "links_deduplicated", "attributes_filled")
        return {"merged": True, **dict.fromkeys(counts, 0)}
    refuse_merge(source, target)
    types = {graph.concepts[end]["type"] for end in (source, target)}
    if len(types) > 1 or types & set(META_TYPES):
        raise KipError("KIP_2002", "Only instances of one type merge.")
    before = {identifier: dict(link) for identifier, link in graph.propositions.items()}
    _Repointing(graph).run(source, target)
    receipt = {
        "merged": True,
        "links_repointed": sum(
            any(link[role] != before[identifier][role] for role in ("subject", "object"))
            for identifier, link in graph.propositions.items()
        ),
        "links_deduplicated": len(before) - len(graph.propositions),
        "attributes_filled": _fill(graph.concepts[source], graph.concepts[target]),
    }
    del graph.concepts[source]
    return receipt


class _Repointing:
    """Replaces one end by another in every link, until no two links are the same."""

    def __init__(self, graph: Graph) -> None:
        self._links = graph.propositions
        self._replacements: list[tuple[str, str]] = []

    def run(self, source: str, target: str) -> None:
        """First the source by the target, then each link that was dropped for being equal to
        another by that other, in the order dropped."""
        self._replacements.append((source, target))
        for old, new in self._replacements:
            for identifier in sorted(self._about(old)):
                # An earlier one may have taken it along.
                if identifier in self._links:
                    self._replace(identifier, old, new)

    def _about(self, end: str) -> list[str]:
        return [i for i, link in self._links.items() if end in (link["subject"], link["object"])]

    def _replace(self, identifier: str, old: str, new: str) -> None:
        link = self._links[identifier]
        was_to_itself = link["subject"] == link["object"]
        for role in ("subject", "object"):
            if link[role] == old:
                link[role] = new
        if link["subject"] == link["object"] and not was_to_itself:
            self._drop(identifier)
            return
        holder = self._same_as(identifier)
        if holder is None:
            return
        del self._links[identifier]
        for part in ("attributes", "metadata"):
            _fill_missing(link[part], self._links[holder][part], but=RESERVED)
        # The list grows under the loop over it: this replacement waits for its turn.
        self._replacements.append((identifier, holder))

    def _same_as(self, identifier: str) -> str | None:
        triple = _triple(self._links[identifier])
        for other, link in self._links.items():
            if other != identifier and _triple(link) == triple:
                return other
        return None

    def _drop(self, identifier: str) -> None:
        """Drop a link "with everything about it": also what is about links that it has replaced,
        or is about to replace."""
        self._links.pop(identifier, None)
        for other in self._about(identifier):
            self._drop(other)
        for old, new in self._replacements:
            if new == identifier:
                self._drop(old)


def _triple(link: dict[str, Any]) -> tuple[str, str, str]:
    return link["subject"], link["predicate"], link["object"]


def _fill_missing(source: dict[str, Any], target: dict[str, Any], *, but: Iterable[str]) -> int:
    """How many keys the target lacked and gained; one that is null is not lacking."""
    missing = {k: v for k, v in source.items() if k not in target and k not in but}
    target |= missing
    return len(missing)


def _fill(source: dict[str, Any], target: dict[str, Any]) -> int:
    """Rule: "Missing attributes are filled; `aliases` are united and gain the source's name (one
    filled attribute); `_merged_from` inherits the source's and gains `Type:name`"."""
    filled = _fill_missing(source["attributes"], target["attributes"], but=("aliases",))
    aliases_before = _items(target["attributes"].get("aliases"))
    aliases = _once([*aliases_before, *_items(source["attributes"].get("aliases")), source["name"]])
    if canonical(aliases) != canonical(target["attributes"].get("aliases")):
        filled += 1
    target["attributes"]["aliases"] = aliases
    origin = f"{source['type']}:{source['name']}"
    inherited = _items(source["metadata"].get("_merged_from"))
    merged_from = [*_items(target["metadata"].get("_merged_from")), *inherited, origin]
    target["metadata"]["_merged_from"] = _once(merged_from)
    return filled


def _items(value: Any) -> list[Any]:
    """Null is none, what is no array is one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _once(items: list[Any]) -> list[Any]:
    """Each item by its first occurrence; 1 and 1.0 are two."""
    first: dict[str, Any] = {}
    for item in items:
        first.setdefault(canonical(item), item)
    return list(first.values())
