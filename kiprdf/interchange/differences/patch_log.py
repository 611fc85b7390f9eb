"""A history as a log of RDF Patches: one for each commit, with the id of the previous patch.

Headers keep what a record of the journal has besides its triples (docs/decisions/099).
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pyoxigraph import Literal, RdfFormat, Triple, parse

from kiprdf.errors import KipError, shown
from kiprdf.interchange import files
from kiprdf.interchange.differences.patch import CHANGE, dataset
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.source import Span
from kiprdf.store import NexusStore, Origin
from kiprdf.store.journal import digest_of_text
from kiprdf.store.journal_files import Commit, rows_of
from kiprdf.store.past import base_record, journal_of, number_at, require_embedded
from kiprdf.store.rebuilding import normal_triples
from kiprdf.store.replica import replica_of

T = TypeVar("T")
_IDS = uuid.UUID("0b3d5c0e-5b0f-5d58-8a52-6f6f3f0f2a64")
"""The namespace of the ids of patches."""
_HEADER = re.compile(r"H\s+(\S+)\s+(.+?)\s*\.")
_EXAMPLE = "Write it with snapshot(file, history=log)."


class Log(NamedTuple):
    """The commits of a log, in their order, and the texts of their statements."""

    commits: list[Commit]
    statements: list[str]

    def require(self, snapshot: StagingStore, number: int) -> None:
        """Raise KIP_2002 unless the log leads to a snapshot, and not to a commit before another."""
        present: dict[Any, None] = {}
        for commit in self.commits:
            for row in commit.removed:
                present.pop(tuple(row), None)
            present |= {tuple(row): None for row in commit.added}
        replayed = dataset(Triple(*terms) for terms in present)
        differing = len(replayed ^ dataset(snapshot))
        last = self.commits[-1].number
        if differing:
            message = f"The history does not lead to the snapshot: {differing} triples differ."
            hint = (
                "Use a snapshot and a log of one call of snapshot(), and the base of their nexus."
            )
            raise KipError("KIP_2002", message, hint)
        if last < number:
            message = f"The history ends at commit {last}; this nexus is at commit {number}."
            raise KipError("KIP_2002", message, "Restore into an empty nexus with genesis=False.")


def write_with(
    store: NexusStore,
    path: str | os.PathLike[str],
    write_snapshot: Callable[[], T],
    *,
    is_whole: bool,
) -> T:
    """Write a snapshot and the history that leads to it, as of one commit."""
    if not is_whole:
        message = "A history can only be written beside a snapshot of the whole nexus."
        raise KipError("KIP_1001", message, "Leave out what selects or changes a part of it.")
    journal_of(store)
    with nullcontext() if store.read_only else store.writing():
        result = write_snapshot()
        texts = (text.encode() for _, text in written(store))
        files.write_whole(Path(path), lambda file: file.writelines(texts))
        return result


def written(store: NexusStore, after: int = 0) -> Iterator[tuple[int, str]]:
    """The patches of the commits above a number, each with that of its commit.

    Above 0, the first one is that of the dataset before the earliest commit, if there is one.

    Raises ``KipError``: KIP_3002 for a commit that the history does not reach.
    """
    journal, last = journal_of(store), store.commit()
    replica = replica_of(require_embedded(store, "have a history"))
    where = f"H base {Literal(store.iris.base)} .\n"
    where += "" if replica is None else f"H replica {Literal(replica)} .\n"
    begin = number_at(journal, after, last) if after else journal.earliest(last)
    journal.require_statements()
    statements = journal.statements()
    # The record of a compacted history is what that commit's patch has each time.
    before = (
        next(journal.commits(begin - 1, begin), None) if after or begin == journal.base else None
    )
    if before is None and begin and not after:
        before = store.read(lambda: base_record(store, journal, begin))
    previous = None
    if before is not None:
        previous, patch = _patch(before, statements, None, where)
        if not after:
            yield before.number, patch
    for commit in journal.commits(begin, last):
        previous, patch = _patch(commit, statements, previous, where)
        yield commit.number, patch


def _patch(
    commit: Commit, statements: Mapping[str | None, str], previous: uuid.UUID | None, where: str
) -> tuple[uuid.UUID, str]:
    """The id of the patch of a commit, a digest of what it says, and its text.

    The headers of ``where`` say which nexus it is of.
    """
    origin = commit.origin
    headers = {
        "seq": str(commit.number),
        "since": None if commit.since is None else str(commit.since),
        "at": origin.at,
        "kind": origin.kind,
        "author": origin.author,
        "author-kind": origin.kind_of_author,
        "session": origin.session,
        "undoes": json.dumps(list(origin.undoes)) if origin.undoes else None,
        "records": json.dumps(commit.records) if commit.records else None,
        "statement": statements.get(origin.digest),
    }
    head = "".join(
        f"H {key} {Literal(value)} .\n" for key, value in headers.items() if value is not None
    )
    changes = (("D", commit.removed), ("A", commit.added))
    rows = "".join(
        f"{sign} {row}\n" for sign, triples in changes for row in rows_of(normal_triples(triples))
    )
    id = uuid.uuid5(_IDS, head + rows)
    link = "" if previous is None else f"H prev <uuid:{previous}> .\n"
    return id, f"H id <uuid:{id}> .\n{link}{where}{head}TX .\n{rows}TC .\n"


def read(source: files.Source) -> Log:
    """The commits of a log; KIP_1001 for another text, and where a patch is missing."""
    content = files.content(source)
    text = content.decode() if isinstance(content, bytes) else content
    commits: list[Commit] = []
    statements: list[str] = []
    previous = None
    start = 0
    for patch in re.split(r"(?<=\nTC \.\n)", text):
        if patch.strip():
            headers, commit = commit_of(patch, start)
            if headers.get("prev") != previous or (
                commits and commit.first != commits[-1].number + 1
            ):
                message = f"The patch before commit {commit.number} is missing."
                raise KipError("KIP_1001", message, "Use the unchanged log.", _at(start))
            previous = headers.get("id")
            commits.append(commit)
            if "statement" in headers:
                statements.append(headers["statement"])
        start += len(patch)
    if not commits:
        raise KipError("KIP_1001", "The log has no patch.", _EXAMPLE)
    return Log(commits, statements)


def commit_of(patch: str, start: int = 0) -> tuple[dict[str, str], Commit]:
    """The headers and the commit of a patch, which begins at a place."""
    headers: dict[str, str] = {}
    rows: dict[str, list[str]] = {"D": [], "A": []}
    for line in patch.split("\n"):
        if header := _HEADER.fullmatch(line):
            headers[header[1]] = _value(header[2], start)
        elif change := CHANGE.fullmatch(line):
            rows[change[1]].append(change[2])
        elif line not in ("TX .", "TC .", ""):
            raise _fault(f"{shown(line)!r} is not a row of a log.", start)
    try:
        removed, added = (_triples(side) for side in rows.values())
        records = {key: (was, now) for key, (was, now) in _json(headers, "records", {}).items()}
        undoes = tuple(_json(headers, "undoes", []))
        digest = digest_of_text(headers["statement"]) if "statement" in headers else None
        who = headers.get("author"), headers.get("session")
        kind_of_author = headers.get("author-kind")
        origin = Origin(headers["at"], headers["kind"], *who, undoes, digest, kind_of_author)
        number = int(headers["seq"])
        since = int(headers["since"]) if "since" in headers else None
        return headers, Commit(number, origin, removed, added, records, since)
    except (AttributeError, KeyError, SyntaxError, TypeError, ValueError) as fault:
        raise _fault(f"A patch of the log cannot be read: {fault}.", start) from None


def _triples(rows: list[str]) -> list[Triple]:
    return [quad.triple for quad in parse("\n".join(rows), format=RdfFormat.N_TRIPLES)]


def _json(headers: dict[str, str], key: str, default: Any) -> Any:
    return json.loads(headers[key]) if key in headers else default


def _value(term: str, start: int) -> str:
    """The text of a literal or an IRI."""
    try:
        (triple,) = _triples([f"<urn:x> <urn:x> {term} ."])
    except (SyntaxError, ValueError):
        raise _fault(f"{shown(term)!r} is not the value of a header.", start) from None
    return str(getattr(triple.object, "value", ""))


def _fault(message: str, start: int) -> KipError:
    return KipError("KIP_1001", message, _EXAMPLE, _at(start))


def _at(start: int) -> Span:
    return Span(start, start + 1)
