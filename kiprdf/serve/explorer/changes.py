"""The pages of changes: the commits, and the history of an element."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode

from kiprdf.pages.page import View
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.time_pages import shown_time


def log(explorer: Explorer, until: int | None) -> str:
    """The commits, newest first; without a history, the elements that changed last."""
    moment = explorer.moment
    if moment is None:
        return _changed_last(explorer)
    last = moment.latest if until is None else min(moment.latest, until)
    page = explorer.page_of_all_commits("explore/log")
    view = time_pages.log(page, explorer.nexus, moment, last)
    return page.html("explorer/log.html", "Changes", **view)


def history(explorer: Explorer, node: NamedNode, cursor: str | None) -> str:
    """The changes of an element, which may be deleted."""
    page = explorer.page_of_all_commits("explore/history")
    view = time_pages.history(page, explorer.nexus, explorer.store.iris.id(node), cursor)
    return page.html("explorer/history.html", "History", of=page.node_link(node), **view)


def _changed_last(explorer: Explorer) -> str:
    page = explorer.page("explore/log")
    command = "FIND(?x.id, ?x.metadata._updated_at, ?x.metadata._version, ?x.metadata.author)"
    rows: list[tuple[Any, ...]] = []
    for pattern in ("?x {}", "?x (?s, ?p, ?o)"):
        order = "ORDER BY ?x.metadata._updated_at DESC LIMIT 60"
        answer = explorer.nexus.find(f"{command} WHERE {{ {pattern} }} {order}", entail=False)
        rows += answer.tuples()
    rows.sort(key=lambda row: (row[1] or "", row[0]), reverse=True)
    groups: dict[str, list[View]] = {}
    for identity, moment, version, author in rows[:60]:
        kind = "new" if version == 1 else f"version {version}"
        note = " · ".join(filter(None, (kind, author if isinstance(author, str) else "")))
        link = {**explorer.link(page, identity), "note": note}
        groups.setdefault(moment or "", []).append(link)
    view = {
        "commit": explorer.store.commit(),
        "groups": [(shown_time(moment), links) for moment, links in groups.items()],
    }
    return page.html("explorer/changed.html", "Changes", **view)
