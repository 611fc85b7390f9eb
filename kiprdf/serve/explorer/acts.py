"""All acts by name, what the page of an element offers of them, and the page of rejections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kiprdf.errors import KipError
from kiprdf.execution.rejecting import REJECT, rejections_of
from kiprdf.pages.page import View
from kiprdf.rdf.elements import Element, Proposition
from kiprdf.semantics.protected import REJECTION
from kiprdf.serve.explorer import element_acts as acts
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.acting import Act, Subject, link, of_element
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.time_pages import shown_time

PATH = "explore/rejections"
PAGE = 25
"""The rejections of a page."""
ACTS: dict[str, Act] = {
    act.name: act
    for act in (acts.Edit(), acts.Retract(), acts.Restore(), acts.Reject(), acts.Lift())
}


def of_page(
    explorer: Explorer, page: ExplorerPage, element: Element, query: Mapping[str, str]
) -> View | None:
    """What the page of an element offers: the links to the forms, and what the last act wrote.

    None for who may do nothing.
    """
    if explorer.acts is None:
        return None
    on = of_element(explorer, page.path.removeprefix("page/"))
    row, notes = [], []
    for act in ACTS.values():
        offered = act.offer(on) if explorer.actor.may(act.access) else None
        refusal = None if offered is None else act.refusal(on)
        if refusal is not None:
            notes.append({"text": refusal})
        elif offered is not None:
            row.append((offered, link(page, act, on)))
    writer = explorer.nexus._engine.writer
    if isinstance(element, Proposition):
        for name in rejections_of(writer, element):
            href = page.href(f"page/{REJECTION}/{name}")
            notes.append({"text": "Rejected for good: it is written again when that is lifted."})
            notes[-1]["href"] = href
    if writer.has_rejections(explorer.store):
        row.append(("Rejections", page.href(f"{PATH}?of={quote(on.id, safe='')}")))
    return {
        "row": row,
        "notes": notes,
        "edits": _edits(page, on),
        "notice": notice(explorer, page, query),
    }


def _edits(page: ExplorerPage, on: Subject) -> dict[str, str]:
    """The addresses of the forms that edit a value, by the key with its part."""
    element = on.element
    assert element is not None
    if acts.is_rejected_value(element):
        return {}
    keys = [f"attributes.{key}" for key in element.attributes]
    keys += [f"metadata.{key}" for key in element.metadata if acts.is_own(key)]
    return {key: link(page, ACTS["edit"], on, key) for key in keys}


def notice(explorer: Explorer, page: ExplorerPage, query: Mapping[str, str]) -> View | None:
    """What the last act wrote, which the address of a page names; None without one."""
    if explorer.acts is None:
        return None
    if query.get("proposed"):
        id, is_person = query["proposed"], explorer.actor.is_person
        href = page.href(f"explore/proposals/{quote(id, safe='')}") if is_person else None
        return {"proposed": id, "href": href}
    done = query.get("done", "")
    if not (done.isascii() and done.isdecimal()) or len(done) > 15:
        return None
    seq, store = int(done), explorer.nexus.store
    if store.journal is None or not store.journal.earliest(store.commit()) < seq <= store.commit():
        return {"seq": None}
    (commit,) = explorer.nexus.changes(seq - 1, seq)["commits"] or ({},)
    rows = list(time_pages.changed_rows(page, commit)) if "concepts" in commit else []
    undo = page.href(f"explore/act/undo/{seq}") if explorer.actor.may("write") else None
    return {"seq": seq, "rows": rows[: time_pages.SHOWN], "undo": undo}


def rejections(explorer: Explorer, of: str, first: int, query: Mapping[str, str]) -> str:
    """The page of the rejections, the newest first, or of those of one element."""
    page = explorer.page(PATH, of=of)
    listed: list[dict[str, Any]] = explorer.nexus.rejections()[::-1]
    if of and explorer.nexus.store.journal is not None:
        names = _names_of(explorer, of)
        listed = [each for each in listed if each["name"] in names]
    may_lift = explorer.acts is not None and explorer.actor.may("write")
    is_person = explorer.actor.is_person
    return page.html(
        "explorer/act/rejections.html",
        "Rejections",
        of=explorer.link(page, of) if of else None,
        all=page.href(PATH),
        number=f"{len(listed):,}",
        notice=notice(explorer, page, query),
        rejections=[
            {
                "href": page.href(f"page/{REJECTION}/{each['name']}"),
                "name": str(each["name"])[:12],
                "by": each["by"],
                "time": shown_time(str(each["at"])),
                "reason": each["reason"],
                "rows": _took_back(explorer, page, str(each["name"])),
                "lift": page.href(f"explore/act/lift/{REJECTION}/{each['name']}"),
            }
            for each in listed[first : first + PAGE]
        ],
        may_lift=may_lift and is_person,
        note="Only a person lifts a rejection." if may_lift and not is_person else None,
        pager=page.pager(first, PAGE, len(listed)),
    )


def _names_of(explorer: Explorer, of: str) -> set[str]:
    """The names of the rejections that took something back of an element."""
    nexus = explorer.nexus
    try:
        entries = nexus.history(of)["entries"]
    except KipError:
        return set()
    rejecting = [entry["seq"] for entry in entries if entry["statement"]["kind"] == REJECT]
    commits = (nexus.changes(seq - 1, seq, type=REJECTION)["commits"] for seq in rejecting)
    return {
        concept["name"] for each in commits for one in each for concept in one["concepts"]["added"]
    }


def _took_back(explorer: Explorer, page: ExplorerPage, name: str) -> list[View]:
    """What a rejection took back; empty without a history, and where it took nothing back."""
    nexus = explorer.nexus
    if explorer.nexus.store.journal is None:
        return []
    seq = nexus.history(f"C:{REJECTION}/{name}")["entries"][-1]["seq"]
    (commit,) = nexus.changes(seq - 1, seq)["commits"]
    rows = time_pages.changed_rows(page, commit)
    return [row for row in rows if row["kind"] == "changed"]
