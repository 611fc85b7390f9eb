"""The history of a nexus, or of a view: those of its members, in the order of time.

A commit in the history of a view has the name of its ``scope``, and its number there.
"""

from __future__ import annotations

import base64
import heapq
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

from kiprdf.errors import KipError
from kiprdf.execution import history as of_one
from kiprdf.store import NexusStore, OxigraphStore
from kiprdf.store.past import is_before
from kiprdf.store.view import ViewStore

Page: TypeAlias = dict[str, Any]
When: TypeAlias = int | str | datetime | None


def history(
    store: NexusStore,
    id: str,
    key: str | None = None,
    limit: int = of_one.LIMIT,
    cursor: str | None = None,
) -> Page:
    """The commits that changed an element, the newest first; it may be deleted.

    Raises ``KipError``: KIP_3002 for an element that the history does not mention.
    """
    if not isinstance(store, ViewStore):
        return of_one.history(store, id, key, limit, cursor)
    members = _members(store, [id])
    unmentioned: list[KipError] = []

    def read(member: OxigraphStore, cursor: str | None) -> Page:
        [own] = members[member]
        try:
            return of_one.history(member, own, key, limit, cursor)
        except KipError as error:
            if error.code != "KIP_3002":
                raise
            unmentioned.append(error)
            return _page("entries")

    page = _merged(list(members), "entries", read, limit, cursor, newest_first=True)
    if len(unmentioned) == len(members):
        message = f"The history does not mention {id}."
        raise KipError("KIP_3002", message, "Read its id with FIND(?link.id).")
    return {"id": id, **page}


def last_commits(
    store: NexusStore, ids: Sequence[str], until: int | None = None
) -> dict[str, dict[str, Any]]:
    """The newest entry of the history of each element that has one, in a nexus up to a commit."""
    if not isinstance(store, ViewStore):
        return of_one.last_commits(store, ids, until)
    newest: dict[str, dict[str, Any]] = {}
    for member, own in _members(store, ids).items():
        entries = of_one.last_commits(member, own)
        for id, entry in zip(ids, map(entries.get, own), strict=True):
            if entry and (id not in newest or entry["at"] > newest[id]["at"]):
                newest[id] = {"scope": member.scope, **entry}
    return newest


def changes(
    store: NexusStore,
    since: When,
    until: When = None,
    *,
    limit: int = of_one.LIMIT,
    cursor: str | None = None,
    **selection: Any,
) -> Page:
    """The commits after one, in their order, as those of one nexus are listed.

    Those of a view are selected by times.
    """
    if not isinstance(store, ViewStore):
        return of_one.changes(store, since, until, limit=limit, cursor=cursor, **selection)
    if isinstance(since, int) or isinstance(until, int):
        message = "The commits of a view are not numbered in one order."
        raise KipError("KIP_1001", message, "Give a time with an offset.")

    def read(member: OxigraphStore, cursor: str | None) -> Page:
        if until is not None and is_before(member, until):
            return _page("commits")
        begin = None if since is not None and is_before(member, since) else since
        return of_one.changes(member, begin, until, limit=limit, cursor=cursor, **selection)

    return _merged(list(_members(store)), "commits", read, limit, cursor, newest_first=False)


def _members(view: ViewStore, ids: Sequence[str] = ()) -> dict[OxigraphStore, list[str]]:
    """The members of a view, and of those that are views, each with its ids of elements."""
    members: dict[OxigraphStore, list[str]] = {}
    for number, member in enumerate(view.members):
        store, own = member.store, view.own_ids(number, ids)
        members |= _members(store, own) if isinstance(store, ViewStore) else {store: own}
    return members


def _page(name: str) -> Page:
    return {name: [], "next_cursor": None}


def _merged(
    members: Sequence[OxigraphStore],
    name: str,
    read: Callable[[OxigraphStore, str | None], Page],
    limit: int,
    cursor: str | None,
    *,
    newest_first: bool,
) -> Page:
    """A page of the members' pages, whose cursor has the place in each of them."""
    places = _places(cursor, len(members))
    pages = [read(member, place) for member, place in zip(members, places, strict=True)]
    listed = [[(one["at"], number, one) for one in page[name]] for number, page in enumerate(pages)]
    merged = heapq.merge(*listed, key=itemgetter(0), reverse=newest_first)
    entries: list[Any] = []
    taken = [0] * len(members)
    for _, number, one in islice(merged, limit):
        entries.append({"scope": members[number].scope, **one})
        taken[number] += 1
        places[number] = str(one["seq"])
    is_more = any(
        page["next_cursor"] is not None or number < len(page[name])
        for number, page in zip(taken, pages, strict=True)
    )
    next_cursor = _cursor(places) if is_more else None
    return {name: entries, "next_cursor": next_cursor, "earliest_seq": None}


def _cursor(places: Sequence[str | None]) -> str:
    return base64.urlsafe_b64encode(json.dumps(places).encode()).decode()


def _places(cursor: str | None, number: int) -> list[str | None]:
    """The place in each member that a cursor has; KIP_1001 for another text."""
    if cursor is None:
        return [None] * number
    with suppress(ValueError, TypeError, RecursionError):
        places = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        is_list = isinstance(places, list) and len(places) == number
        if is_list and all(place is None or isinstance(place, str) for place in places):
            return list(places)
    message = "The cursor is not valid for this call."
    raise KipError("KIP_1001", message, "Send the next_cursor of the previous page.")
