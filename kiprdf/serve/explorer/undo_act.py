"""The act that undoes a commit, from the pages of changes and the notice of what was written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from kiprdf.errors import KipError
from kiprdf.execution import proposals, undo
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.proposals import Preview
from kiprdf.execution.rejecting import LIFT, REJECT
from kiprdf.pages.page import count, words
from kiprdf.serve.explorer.acting import Act, Call, Field, Given, Plan, Subject, short
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.time_pages import omitted, shown_time
from kiprdf.serve.http import HttpError
from kiprdf.serve.state import number_of

_NOT_UNDONE = (REJECT, LIFT, FORGET)
"""A rejection is lifted, a lifted one is made again, and what is forgotten is gone."""
_DIGITS, _USERS, _SHOWN = 15, 3, 100


def is_undone(commit: Mapping[str, Any]) -> bool:
    """Whether a commit changed elements in a way that an undo takes back."""
    return not ({"forgotten", "gate"} & commit.keys() or commit["kind"] in _NOT_UNDONE)


def undo_link(explorer: Explorer, page: ExplorerPage, seq: int) -> str | None:
    """The address at which a commit is undone; None for who may not."""
    may = explorer.acts is not None and explorer.actor.may("write")
    is_view = bool(explorer.nexus._engine.writer.place)
    return page.href(f"explore/act/undo/{seq}") if may and not is_view else None


class Undo(Act):
    """Take back what a commit wrote, by another commit; what has changed again stays."""

    name = "undo"
    access = "write"

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        commit, nexus = _commit_of(explorer, path), explorer.nexus
        plan = undo.preview(nexus._engine.writer, commit["seq"])
        notes = [_note(conflict) for conflict in plan.conflicts[:_SHOWN]]
        more = omitted(len(plan.conflicts), _SHOWN)
        notes += [f"{more}."] if more else []

        def dry_run() -> Preview:
            return Preview(proposals.difference_of(plan.draft), plan.draft.warnings)

        def run() -> Any:
            return nexus.undo(seq=commit["seq"], conflicts="skip")

        call = Call(_words(commit, bool(notes)), dry_run, run, f"UNDO {path}", notes)
        # What was shown is written only if the undo still does the same.
        seen = zlib.crc32(json.dumps(plan.report(), sort_keys=True).encode())
        return Subject(explorer, path, version=seen, plan=call)

    def offer(self, on: Subject) -> str | None:
        return None

    def title(self, on: Subject) -> str:
        return f"Undo commit {on.path}"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        return []

    def plan(self, on: Subject, given: Given) -> Plan:
        assert on.plan is not None
        return on.plan

    def target(self, on: Subject) -> str:
        return "explore/log"


def _commit_of(explorer: Explorer, path: str) -> dict[str, Any]:
    """The commit with a number; 404 where there is none that can be undone."""
    nexus = explorer.nexus
    seq = number_of(path) or 0
    try:
        is_one = seq > 0 and not nexus._engine.writer.place
        commits = nexus.changes(seq - 1, seq)["commits"] if is_one else []
    except KipError:
        commits = []
    if not (commits and is_undone(commits[0])):
        message = f"There is no commit {path[:_DIGITS]} that can be undone."
        raise HttpError(404, message, "The page Changes lists the commits.")
    commit: dict[str, Any] = commits[0]
    return commit


def _words(commit: dict[str, Any], has_conflicts: bool) -> str:
    """What a commit was, and what its undo does."""
    who = commit.get("actor") or commit["author"] or "the owner"
    changed = [
        count(sum(len(commit[group][kind]) for group in ("concepts", "propositions")), one)
        for kind, one in (("added", "new element"), ("changed", "change"), ("removed", "removal"))
    ]
    text = (
        f"Commit {commit['seq']} is of {shown_time(commit['at'])['text']}, by {who} "
        f"({commit['kind']}): {', '.join(one for one in changed if not one.startswith('0 '))}. "
        "A new commit takes it back; the history keeps both."
    )
    stays = " Not all of it: the list at the end says what stays, and why."
    return text + stays if has_conflicts else text


def _note(conflict: dict[str, Any]) -> str:
    """What an undo leaves as it is, and why."""
    id = conflict["id"]
    if "used_by" in conflict:
        users = conflict["used_by"]
        more = f" and {len(users) - _USERS:,} more" if len(users) > _USERS else ""
        return f"{id} stays: it is used by {', '.join(users[:_USERS])}{more}."
    if "missing_end" in conflict:
        return f"{id} is not restored: {conflict['missing_end']} is not there."
    if "stated_by" in conflict:
        return f"{id} is not restored: {conflict['stated_by']} states the same."
    if "protected" in conflict:
        return f"{id} stays: {conflict['protected']}"
    key = words(conflict["key"].partition(".")[2] or conflict["key"])
    by = f" by commit {conflict['theirs']}" if conflict["theirs"] else ""
    value = short(conflict["found"]) if "found" in conflict else "absent"
    return f"{id}: {key} was changed again{by}, and stays {value}."
