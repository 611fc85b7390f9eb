"""The page that says what a row of a query comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kiprdf.pages.page import View, count
from kiprdf.rdf.literals import Json

if TYPE_CHECKING:
    from kiprdf.execution.why import Explained
    from kiprdf.kql.derivations import Derivation
    from kiprdf.serve.explorer.page import ExplorerPage

PATH = "explore/why"
Link = Callable[[str], View]
"""A link to the element with an id."""
_MARKS = ("source", "author", "confidence", "status")
_VALUES = ("evidence", "derived_by", "trust", "valid", "superseded_by")


def view(page: ExplorerPage, link: Link, explained: Explained) -> View:
    """What the page of one row shows."""
    (row,) = explained.rows
    evidence = explained.evidence()
    marks = {"confidence": row.confidence, "trust": row.trust, **(row.group or {})}
    more = "An unknown number of derivations" if row.more is None else f"{row.more:,} derivations"
    return {
        "marks": _marks(marks, marks),
        "derivations": [_derivation(page, link, one, evidence) for one in row.derivations],
        "more": None if row.more == 0 else f"{more} more are not shown.",
        "evidence": [_evidence(page, link, id, one) for id, one in evidence.items()],
    }


def _derivation(
    page: ExplorerPage, link: Link, one: Derivation, evidence: Mapping[str, Any]
) -> View:
    def facts(ids: Iterable[str]) -> list[View]:
        return [{"link": link(id), "marks": _marks(evidence[id], _MARKS)} for id in ids]

    return {
        "branch": one.branch,
        "facts": facts(one.propositions),
        "paths": [
            {"title": f"By {count(len(path), 'hop')}:", "facts": facts(path)} for path in one.paths
        ],
        "concepts": list(map(link, one.concepts)),
        "values": [
            {"of": link(str(v["of"])), "key": v["key"], "value": page.value(v["value"])}
            for v in one.values
        ],
        "notes": [
            *(f"Nothing for {place}" for place in one.absent),
            *(f"By the rule {rule['by']} of {rule['of']}" for rule in one.inferred),
        ],
    }


def _evidence(page: ExplorerPage, link: Link, id: str, one: Mapping[str, Any]) -> View:
    written = one["written"] or {}
    values = {
        **{name: one[name] for name in (*_MARKS, *_VALUES)},
        **{f"written {name}": v for name, v in written.items() if name != "statement"},
    }
    sources = (("It comes from", "derived_from"), ("It is stated by", "states"))
    links = [(title, [{"link": link(i), "marks": []} for i in one[of]]) for title, of in sources]
    beside = [
        {"link": link(other["id"]), "marks": _marks(other, ("status", "superseded_by"))}
        for other in one["beside"]
    ]
    return {
        "link": link(id),
        "rows": [
            {"key": name, "words": name.replace("_", " "), "value": page.value(value)}
            for name, value in values.items()
            if value not in (None, [], {})
        ],
        "links": [(title, some) for title, some in [*links, ("Beside it:", beside)] if some],
    }


def _marks(one: Mapping[str, Json], names: Iterable[str]) -> list[str]:
    return [f"{name} {one[name]}" for name in names if one[name] is not None]
