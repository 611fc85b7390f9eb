"""The gate: shapes that every write must satisfy."""

from __future__ import annotations

from kiprdf.kml.draft import Draft
from kiprdf.source import Span
from kiprdf.store import NexusStore


class Gate:
    """The shapes of one nexus, and the check of its writes."""

    def __init__(self, store: NexusStore) -> None:
        self._store = store
        self._text: str | None = None

    def text(self) -> str | None:
        """The shapes as Turtle; None where there are none."""
        return self._text

    def set(self, text: str | None) -> None:
        """Keep shapes, or none; the writer's lock is held."""
        self._text = text

    def check(self, draft: Draft, span: Span) -> None:
        """Raise KIP_2002 if the dataset would violate the shapes after a draft."""
        if self.text() is None:
            return
