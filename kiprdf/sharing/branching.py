"""A branch: a copy of a nexus with its history, which notes where it began."""

from __future__ import annotations

import os

from kiprdf.execution.writer import Writer
from kiprdf.sharing.sides import BRANCH
from kiprdf.store import Delta, OxigraphStore
from kiprdf.store.past import journal_of

KIND = "BRANCH"
"""What the history of the copy calls its first own commit."""


def branch(writer: Writer, folder: str | os.PathLike[str]) -> int:
    """Copy a nexus into a folder, and return the commit at which the branch begins.

    Raises ``KipError``: KIP_1001 for a nexus without a history, from which no base can be known;
    ``StoreError`` as a backup does.
    """
    journal_of(writer.store)
    writer.store.backup(folder, history=True)
    copy = OxigraphStore.open(folder, history=True)
    try:
        number, head = copy.commit(), copy.journal and copy.journal.head
        delta = Delta(records={BRANCH: f"{number} {head}"}, origin=writer.origin(KIND))
        copy.write(lambda: copy.apply(delta))
    finally:
        copy.close()
    return number
