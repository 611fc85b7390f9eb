"""Receipts: what a commit did, when, and who wrote it, without what it wrote.

A receipt has the digest of the record of its commit, by which it is compared with a history
(docs/decisions/192).
"""

from __future__ import annotations

from typing import Any

from kiprdf.actors import OWNER
from kiprdf.errors import KipError
from kiprdf.execution.forgetting import FORGOTTEN, REWRITTEN
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.history import by_subject
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import NexusStore
from kiprdf.store.journal import reading
from kiprdf.store.journal_files import Commit, decoded, link_of
from kiprdf.store.past import journal_of, number_at

_COUNTED = [
    f"{elements}_{change}"
    for elements in ("concepts", "propositions")
    for change in ("added", "removed", "changed")
]


def content(store: NexusStore, seq: int) -> dict[str, Any]:
    """What the receipt of a commit says; KIP_3002 for one that has no record of itself."""

    def read() -> dict[str, Any]:
        journal, last = journal_of(store), store.commit()
        if not isinstance(seq, int):
            message = f"A receipt is of a commit, not of {type(seq).__name__}."
            raise KipError("KIP_1001", message, "Give the number of a commit.")
        number_at(journal, seq, last)
        begin = journal.earliest(last)
        with reading():
            data = next(journal.records(seq - 1, seq), None)
            commit = None if data is None or seq <= begin else decoded(data)
        if data is None or commit is None or commit.since is not None:
            message = f"The history has no record of commit {seq} alone."
            hint = f"Give a number above {begin}." if begin < last else "Give that of a later one."
            raise KipError("KIP_3002", message, hint)
        return {**facts_of(commit), **_counts(store, commit), "head": link_of(data)}

    return store.read(read)


def facts_of(commit: Commit) -> dict[str, Any]:
    """What a commit was, when, and by whom: all that is the same when its record is rewritten."""
    origin = commit.origin
    by = origin.actor or origin.author or OWNER.signature
    return {"seq": commit.number, "kind": origin.kind, "at": origin.at, "by": by}


def _counts(store: NexusStore, commit: Commit) -> dict[str, int]:
    """How many elements a commit changed; of one that forgets, what it says itself."""
    if commit.origin.kind == FORGET:
        noted = {key: after for key, (_, after) in commit.records.items()}
        names = ((FORGOTTEN, "forgotten"), (REWRITTEN, "commits_rewritten"))
        return {name: int(noted[key]) for key, name in names if key in noted}
    counts = dict.fromkeys(_COUNTED, 0)
    removed, added = (by_subject(store, side) for side in (commit.removed, commit.added))
    for node in {**removed, **added}:
        is_concept = isinstance(store.iris.name(node.value), ConceptName)
        had, has = (
            any(key in side.get(node, ()) for key in vocab.IDENTITY) for side in (removed, added)
        )
        change = "changed" if had == has else "added" if has else "removed"
        counts[f"{'concepts' if is_concept else 'propositions'}_{change}"] += 1
    return counts
