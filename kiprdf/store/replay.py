"""Replays the records of a journal, and compares the result with a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.rdf.literals import normal
from kiprdf.store.delta import Origin
from kiprdf.store.journal import Journal
from kiprdf.store.journal_files import Commit

NormalTriple: TypeAlias = tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
GAP = "GAP"
"""What the history calls what several commits have changed that were not recorded."""
LOST = "LOST"
"""The same, of commits whose records were lost."""


def replayed(commits: Iterable[Commit]) -> dict[NormalTriple, bool]:
    """The triples of some commits, and whether they are there afterwards."""
    present: dict[NormalTriple, bool] = {}
    for commit in commits:
        for triples, is_added in ((commit.removed, False), (commit.added, True)):
            present |= dict.fromkeys(normal_triples(triples), is_added)
    return present


def normal_triples(triples: Iterable[Iterable[Any]]) -> Iterator[NormalTriple]:
    """Triples with one spelling of each value; what was removed has that of the engine."""
    for subject, predicate, value in triples:
        yield subject, predicate, value if isinstance(value, Triple) else normal(value)


def noted(commits: Iterable[Commit]) -> dict[str, str]:
    """The records of a nexus after some commits."""
    return {key: value for commit in commits for key, (_, value) in commit.records.items()}


def gap_record(
    journal: Journal, number: int, triples: Iterable[Triple], records: Mapping[str, str], kind: str
) -> Commit | None:
    """What changed from the end of the journal to the last commit, as one record.

    ``triples`` and ``records`` are those of the last commit. None where the journal does not begin
    with the whole dataset, so that the state at its end is not recorded.
    """
    last = journal.last
    whole = journal.from_nothing(last)
    if whole is None:
        return None
    commits = list(whole)
    before = {triple for triple, is_there in replayed(commits).items() if is_there}
    after = set(normal_triples(triples))
    recorded = noted(commits)
    changed = {
        key: (recorded.get(key), value)
        for key, value in records.items()
        if recorded.get(key) != value
    }
    time = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    removed, added = sorted(before - after, key=str), sorted(after - before, key=str)
    return Commit(number, Origin(time, kind), removed, added, changed, since=last)
