"""Receipts: what a commit did, when, and who wrote it, without what it wrote.

A receipt has the digest of the record of its commit, by which it is compared with a history
(docs/decisions/192).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyoxigraph as ox
from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.actors import OWNER
from kiprdf.errors import KipError
from kiprdf.execution.forgetting import FORGOTTEN, REWRITTEN
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.history import by_subject
from kiprdf.interchange import files
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.signing import documents
from kiprdf.signing.canonical import canonical_lines
from kiprdf.store import NexusStore
from kiprdf.store.chain import record_of
from kiprdf.store.journal import reading
from kiprdf.store.journal_files import Commit, decoded, link_of, links_of, span_of
from kiprdf.store.past import KIND as BASE
from kiprdf.store.past import journal_of, number_at

_DATE_TIME = NamedNode(vocab.XSD + "dateTime")
_DIGITS = 18
"""The digits of a number in a receipt at most."""
_COUNTED = [
    f"{elements}_{change}"
    for elements in ("concepts", "propositions")
    for change in ("added", "removed", "changed")
]


def signed(facts: dict[str, Any], key: object) -> str:
    """The signed document of what a receipt says."""
    return documents.sign(_quads(facts), key)


def _quads(facts: dict[str, Any]) -> list[Quad]:
    """What a receipt says as RDF."""
    node = NamedNode(f"{vocab.RECEIPTS}{facts['head']}")
    quads = [Quad(node, vocab.TYPE, vocab.RECEIPT)]
    for name, value in facts.items():
        datatype = vocab.INTEGER if isinstance(value, int) else vocab.STRING
        literal = Literal(str(value), datatype=_DATE_TIME if name == "at" else datatype)
        quads.append(Quad(node, NamedNode(f"{vocab.RECEIPTS}{name}"), literal))
    return quads


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
            is_later = begin < last
            hint = f"Give a number above {begin}." if is_later else "Give that of a later one."
            raise KipError("KIP_3002", message, hint)
        return {**_lasting(commit), **_counts(store, commit), "head": link_of(data)}

    return store.read(read)


def _lasting(commit: Commit) -> dict[str, Any]:
    """What is the same when the record of a commit is written again."""
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


# Compared -------------------------------------------------------------------------------------


def compared(
    folder: Path,
    report: Mapping[str, Any],
    document: files.Source,
    trusted: Iterable[str] | None,
) -> dict[str, Any]:
    """What a receipt says, its ``signer``, and as ``fault`` why the history does not show it.

    ``report`` is that of the history in the folder. ``fault`` is None where the signature holds and
    the commit has this record, or one that was written in the place of it: ``rewritten``.
    """
    verified, lines = documents.read(document, trusted)
    facts = _facts_in(lines)
    fault: str | None = None
    is_rewritten = False
    if not verified:
        fault = verified.reasons[0]
    elif not facts:
        fault = "This document is signed, and is no receipt."
    elif report["fault"] is not None:
        fault = "The history is not as it was written."
    elif facts["seq"] > report["last"]:
        fault = f"The history ends at commit {report['last']}."
    else:
        fault, is_rewritten = _difference(facts, record_of(folder, facts["seq"]))
    return {**facts, "signer": verified.signer, "rewritten": is_rewritten, "fault": fault}


def _difference(facts: dict[str, Any], data: bytes | None) -> tuple[str | None, bool]:
    """What is not as a receipt says, and whether the record was written again."""
    seq = facts["seq"]
    if data is None or span_of(data) != (seq, seq):
        lost = "it was compacted, or has a gap"
        return f"The history has no record of commit {seq} alone: {lost}.", False
    kind = links_of(data).kind
    is_rewritten = links_of(data).replaced is not None
    has_facts = kind == BASE or _lasting(decoded(data)).items() <= facts.items()
    if link_of(data) != facts["head"] or not has_facts:
        return f"Commit {seq} of the history is another one.", is_rewritten
    return None, is_rewritten


def _facts_in(lines: list[str]) -> dict[str, Any]:
    """What the lines of a document say as a receipt; empty for another document."""
    facts: dict[str, Any] = {}
    try:
        for quad in ox.parse("\n".join(lines), format=ox.RdfFormat.N_QUADS):
            if isinstance(quad.object, Literal):
                text = quad.object.value
                is_number = quad.object.datatype == vocab.INTEGER and len(text) <= _DIGITS
                facts[quad.predicate.value.removeprefix(vocab.RECEIPTS)] = (
                    int(text) if is_number else text
                )
        is_receipt = isinstance(facts["seq"], int) and canonical_lines(_quads(facts)) == lines
    except (LookupError, ValueError):
        return {}
    return facts if is_receipt else {}
