"""The pages of changes: the commits, and the history of an element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.pages.page import View
from kiprdf.serve.explorer import acts, time_pages
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.time_pages import shown_time
from kiprdf.serve.explorer.undo_act import is_undone, undo_link
from kiprdf.serve.state import number_of

WHOLE = 100
"""The elements on a page of one commit."""


def log(explorer: Explorer, until: int | None, query: Mapping[str, str]) -> str:
    """The commits, newest first; without a history, the elements that changed last.

    A ``query`` names what the last act wrote.
    """
    moment = explorer.moment
    if moment is None:
        return _changed_last(explorer)
    last = moment.latest if until is None else min(moment.latest, until)
    page = explorer.page_of_all_commits("explore/log")
    one, first = (number_of(query.get(key, "")) for key in ("commit", "first"))
    if one is not None and moment.earliest < one <= moment.latest:
        view = _commit(explorer, page, one, first or 0)
    else:
        view = time_pages.log(page, explorer.nexus, moment, last)
    for commit in view["commits"]:
        is_open = commit["note"] is None and is_undone(commit)
        commit["undo"] = undo_link(explorer, page, commit["seq"]) if is_open else None
    notice = acts.notice(explorer, page, query)
    return page.html("explorer/log.html", "Changes", **{"notice": notice, "pager": None, **view})


def _commit(explorer: Explorer, page: ExplorerPage, seq: int, first: int) -> View:
    """A commit with all that it changed, in pages."""
    (commit,) = explorer.nexus.changes(seq - 1, seq, limit=1)["commits"]
    rows = time_pages.rows_of(page, commit)
    first = first if first < len(rows) else 0
    view = time_pages.commit_view(page, commit)
    view |= {"rows": rows[first : first + WHOLE], "more": None}
    pager = page.pager(first, WHOLE, len(rows), {"commit": seq})
    return {"last": seq, "commits": [view], "older": None, "pager": pager}


def history(explorer: Explorer, node: NamedNode, cursor: str | None) -> str:
    """The changes of an element, which may be deleted."""
    page = explorer.page_of_all_commits("explore/history")
    view = time_pages.history(page, explorer.nexus, explorer.store.iris.id(node), cursor)
    for entry in view["entries"]:
        entry["undo"] = undo_link(explorer, page, entry["seq"]) if is_undone(entry) else None
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
