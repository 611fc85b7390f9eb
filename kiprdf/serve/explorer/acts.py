"""All acts by name, what the page of an element offers of them, and the page of rejections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kiprdf.errors import KipError
from kiprdf.execution.rejecting import REJECT, rejections_of
from kiprdf.kml.trust import RETRACTED
from kiprdf.pages.page import View
from kiprdf.rdf.elements import Element, Proposition, read_element
from kiprdf.resources import example_capsule
from kiprdf.semantics.protected import REJECTION
from kiprdf.serve.explorer import element_acts as acts
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.acting import (
    Act,
    Call,
    Field,
    Given,
    Plan,
    Subject,
    changed,
    link,
    of_element,
)
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.fact_acts import AddConcept, AddFact, Merge
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.time_pages import shown_time
from kiprdf.serve.explorer.undo_act import Undo, is_undone, undo_link
from kiprdf.serve.http import HttpError
from kiprdf.serve.state import number_of

PATH = "explore/rejections"
PAGE = 25
"""The rejections of a page."""
MOST_FACTS = 1000
"""The retracted facts of which it is found whether they are rejected."""
MEDICAL = "medical"
"""The bundled example, which the start page of an empty nexus offers."""


class LoadExample(Act):
    """Load a small pharmacy to look around in."""

    name = "example"
    access = "write"

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        if path != MEDICAL:
            raise HttpError(404, "There is no such example.", f"There is {MEDICAL}.")
        return Subject(explorer, path)

    def offer(self, on: Subject) -> str | None:
        return None

    def title(self, on: Subject) -> str:
        return "Load the example"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        return []

    def plan(self, on: Subject, given: Given) -> Plan:
        capsule, nexus = example_capsule(on.path), on.explorer.nexus
        words = (
            "Writes drugs, symptoms and what is said of them: types, predicates, facts, and facts "
            "about facts. None of it is medical advice. Undoing the commit takes all of it back."
        )
        return Call(words, lambda: None, lambda: nexus.apply_capsule(capsule.text), capsule.name)

    def target(self, on: Subject) -> str:
        return "explore/"


ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        AddFact(),
        AddConcept(),
        acts.Edit(),
        acts.Retract(),
        acts.Restore(),
        Merge(),
        acts.Reject(),
        acts.Lift(),
        Undo(),
        LoadExample(),
    )
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
            notes.append({"text": refusal.rstrip(".")})
        elif offered is not None:
            row.append((offered, link(page, act, on)))
    for name in acts.rejected_as(on):
        href = page.href(f"page/{REJECTION}/{name}")
        notes.append({"text": "It is rejected for good: to restore it, lift", "href": href})
    if explorer.nexus._engine.writer.has_rejections(explorer.store):
        row.append(("Rejections", _rejections_of(page, on.id)))
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
    proposed = query.get("proposed")
    if proposed:
        try:
            explorer.nexus.proposal(proposed)
        except KipError:
            return None
        href = page.href(f"explore/proposals/{quote(proposed, safe='')}")
        return {"proposed": proposed, "href": href if explorer.actor.is_person else None}
    seq, store = number_of(query.get("done", "")), explorer.nexus.store
    if seq is None:
        return None
    if store.journal is None:
        return {"seq": None}
    if not store.journal.earliest(store.commit()) < seq <= store.commit():
        return None
    commits = explorer.nexus.changes(seq - 1, seq)["commits"]
    kept = (each for each in commits if "forgotten" not in each)
    rows = [row for each in kept for row in changed(page, each)]
    undo = undo_link(explorer, page, seq) if all(map(is_undone, commits)) else None
    most = time_pages.SHOWN
    more = time_pages.omitted(len(rows), most)
    return {"seq": seq, "rows": rows[:most], "more": more, "undo": undo}


# Rejections -----------------------------------------------------------------------------------


def _rejections_of(page: ExplorerPage, id: str) -> str:
    return page.href(f"{PATH}?of={quote(id, safe='')}")


def rejections(explorer: Explorer, of: str, first: int, query: Mapping[str, str]) -> str:
    """The page of the rejections, the newest first, or of those of one element."""
    page = explorer.page(PATH, of=of)
    listed: list[dict[str, Any]] = explorer.nexus.rejections()[::-1]
    facts = _rejected_facts(explorer) if listed else {}
    if of and listed:
        names = _names_of(explorer, of)
        listed = [each for each in listed if each["name"] in names]
    first = min(first, max(0, len(listed) - 1) // PAGE * PAGE)
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
                "by": each["by"],
                "time": shown_time(str(each["at"])),
                "reason": each["reason"],
                "facts": [explorer.link(page, fact) for fact in facts.get(each["name"], ())],
                "rows": _taken_values(explorer, page, str(each["name"])),
                "lift": page.href(f"explore/act/lift/{REJECTION}/{each['name']}"),
            }
            for each in listed[first : first + PAGE]
        ],
        may_lift=may_lift and is_person,
        note="Only a person lifts a rejection." if may_lift and not is_person else None,
        pager=page.pager(first, PAGE, len(listed)),
    )


def _rejected_facts(explorer: Explorer) -> dict[str, list[str]]:
    """The ids of retracted facts by the names of their rejections, which are only digests."""
    command = (
        "FIND(?fact.id) WHERE { ?fact (?subject, ?predicate, ?object) "
        f'FILTER(?fact.metadata.status == "{RETRACTED}") }} LIMIT {MOST_FACTS}'
    )
    facts = defaultdict[str, list[str]](list)
    for (id,) in explorer.nexus.find(command, entail=False).tuples():
        for name in _names_of_fact(explorer, id):
            facts[name].append(id)
    return facts


def _names_of_fact(explorer: Explorer, id: str) -> list[str]:
    """The names of the rejections of a fact; empty for another element."""
    store, node = explorer.store, explorer.store.iris.from_id(id)
    fact = None if node is None else read_element(store.iris, node, store.describe(node))
    writer = explorer.nexus._engine.writer
    return rejections_of(writer, fact) if isinstance(fact, Proposition) else []


def _names_of(explorer: Explorer, of: str) -> set[str]:
    """The names of the rejections of a fact, or of values that an element had."""
    names = set(_names_of_fact(explorer, of))
    nexus = explorer.nexus
    if nexus.store.journal is None:
        return names
    try:
        entries = nexus.history(of)["entries"]
    except KipError:
        return names
    rejecting = [entry["seq"] for entry in entries if entry["statement"]["kind"] == REJECT]
    for seq in rejecting:
        for commit in nexus.changes(seq - 1, seq, type=REJECTION)["commits"]:
            names.update(concept["name"] for concept in commit["concepts"]["added"])
    return names


def _taken_values(explorer: Explorer, page: ExplorerPage, name: str) -> list[View]:
    """The values that a rejection took back; none without a history."""
    nexus = explorer.nexus
    if nexus.store.journal is None:
        return []
    seq = nexus.history(f"C:{REJECTION}/{name}")["entries"][-1]["seq"]
    (commit,) = nexus.changes(seq - 1, seq)["commits"]
    rows = time_pages.changed_rows(page, commit)
    return [row for row in rows if row["kind"] == "changed" and "name" in row["link"]]
