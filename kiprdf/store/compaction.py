"""The beginning of a history as one record: the whole dataset as of a commit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from pyoxigraph import Store as Engine

from kiprdf.errors import KipError
from kiprdf.store.base import NexusStore
from kiprdf.store.delta import Origin
from kiprdf.store.graph_files import notes_of
from kiprdf.store.journal import Journal
from kiprdf.store.journal_files import Commit, encoded
from kiprdf.store.past import journal_of, net, number_at, require_embedded
from kiprdf.store.replay import normal_triples, noted
from kiprdf.store.texts import texts_in

KIND = "BASE"
"""What the history calls the record of a dataset."""


def base_record(store: NexusStore, journal: Journal, number: int) -> Commit:
    """The dataset as of a commit as a record: all of it is added, nothing removed."""
    changes = net(journal.commits(number, store.commit()))
    present = dict.fromkeys(normal_triples(store.match(None, None, None)))
    for triple in changes.added:
        present.pop(triple, None)
    present |= dict.fromkeys(changes.removed)
    records = {**store.records(), **changes.records}
    notes: dict[str, tuple[str | None, str]]
    notes = {key: (None, value) for key, value in records.items() if value is not None}
    at = next((commit.origin.at for commit in journal.commits(number - 1, number)), "")
    return Commit(number, Origin(at, KIND), (), list(present), notes)


def compact(store: NexusStore, journal: Journal, before: int | str | date) -> dict[str, int]:
    """Replace the commits up to a number, or a time, by one record.

    The last of them is the first state that the history reaches afterwards. Returns its number as
    ``earliest_seq``, and the number of ``commits`` whose records are gone. The lock is held.
    """
    last = store.commit()
    earliest = journal.earliest(last)
    number = _boundary(journal, before, earliest, last)
    is_compact = number == (0 if journal.base is None else journal.base)
    if not is_compact:
        base = encoded(base_record(store, journal, number))
        kept = {commit.origin.digest for commit in journal.commits(number, last)}
        records = itertools.chain([base], map(encoded, journal.commits(number, last)))
        journal.prepare(records, lambda digest, text: digest in kept, has_base=True)
        if store.embedded is not None:
            store.embedded.flush()
        journal.adopt()
    return {"earliest_seq": number, "commits": number - earliest}


def replay(
    store: NexusStore, dataset: Engine, commits: Sequence[Commit], statements: Iterable[str]
) -> None:
    """Replace a store by a dataset and the commits that lead to it; the lock is held.

    The number of the last commit goes on. What is derived must be erased afterwards.
    """
    journal, store = journal_of(store), require_embedded(store, "have a history")
    digests = {journal.note_statement(text) for text in statements}
    has_base = commits[0].origin.kind == KIND
    notes = notes_of(store.iris.base, noted(commits), commits[-1].number)
    store.rewrite(
        itertools.chain(dataset, texts_in(dataset), notes),
        lambda: journal.prepare(
            map(encoded, commits), lambda digest, text: digest in digests, has_base=has_base
        ),
    )


def _boundary(journal: Journal, before: int | str | date, earliest: int, last: int) -> int:
    """The last commit that is compacted; a date means its beginning in UTC."""
    when: Any = before
    if isinstance(before, str) and len(before) == len("2026-01-01"):
        when = f"{before}T00:00:00Z"
    elif isinstance(before, date) and not isinstance(before, datetime):
        when = f"{before.isoformat()}T00:00:00Z"
    try:
        return number_at(journal, when, last)
    except KipError as error:
        if error.code == "KIP_3002" and not isinstance(when, int):
            return earliest
        raise
