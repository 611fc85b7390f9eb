"""The gate: shapes that every write must satisfy (docs/decisions/204, 205)."""

from __future__ import annotations

import json
from collections.abc import Collection
from collections.abc import Mapping as Records
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, KipWarning
from kiprdf.kml.draft import Draft
from kiprdf.loading import Lazy
from kiprdf.rdf.literals import canonical_json
from kiprdf.source import NOWHERE, Span
from kiprdf.store import Delta, NexusStore, Store
from kiprdf.store.view import ViewStore

if TYPE_CHECKING:
    from kiprdf import shapes as shacl
    from kiprdf.interchange.mapping import contexts
    from kiprdf.meta.consequences import Demands
    from kiprdf.shapes import Shapes, Violation
    from kiprdf.shapes import demands as demanding
else:
    contexts = Lazy("kiprdf.interchange.mapping.contexts")
    demanding = Lazy("kiprdf.shapes.demands")
    shacl = Lazy("kiprdf.shapes")

OnViolation: TypeAlias = Literal["refuse", "propose"]
VIOLATION = "Violation"
"""The severity of what the gate refuses; that of others is a warning."""
GATE = "gate"
"""The record of the shapes, as JSON; empty after they were removed."""


MOST_NAMED = 10
"""How many violations an error, or the warnings of a response, list."""
_NOWHERE: Records[Any, Span] = {}


class Kept(NamedTuple):
    """Shapes as they were set, with their mapping as one context of JSON-LD."""

    text: str
    mapping: Any
    on_violation: OnViolation

    @property
    def record(self) -> str:
        """The record that keeps them."""
        return canonical_json(self._asdict())

    def loaded_mapping(self) -> contexts.Mapping | None:
        """The mapping in whose words the shapes are."""
        return None if self.mapping is None else contexts.Mapping.load(self.mapping)

    def parsed(self, store: Store) -> Shapes:
        """The shapes to validate with, which warn of what the nexus in a store lacks by now."""
        shacl.require_validator()
        return shacl.Shapes.parsed(self.text, store, self.loaded_mapping())

    @classmethod
    def read(cls, record: str | None) -> Kept | None:
        """What a record keeps."""
        return cls(**json.loads(record)) if record else None


class Gate:
    """The shapes of one nexus, and the check of its writes.

    They are a record of the nexus, which the commit that sets them writes: so they are in its
    backups, and in its history.
    """

    def __init__(self, store: NexusStore, records: Records[str, str]) -> None:
        self._store = store
        # Each member of a view has its own.
        self._has_one = not isinstance(store, ViewStore)
        self._kept = self._read(records)
        self._seen: int | None = store.commit()
        """The last commit at which the record is known."""
        self._parsed: tuple[Kept, Shapes] | None = None
        if self._kept is not None and not store.read_only:
            shacl.require_validator()

    def text(self) -> str | None:
        """The shapes as Turtle; None where there are none."""
        kept = self.kept()
        return None if kept is None else kept.text

    @property
    def mode(self) -> OnViolation | None:
        """What becomes of a statement that does not fit; None where there are no shapes."""
        kept = self.kept()
        return None if kept is None else kept.on_violation

    def kept(self) -> Kept | None:
        """The shapes as they were set."""
        store = self._store
        if self._seen is None or (store.is_shared and self._seen != store.commit()):
            self._seen = store.commit()
            kept = self._read(store.records())
            self._kept = self._kept if kept == self._kept else kept
        return self._kept

    def shapes(self) -> Shapes | None:
        """The shapes to validate with; None where there are none."""
        kept = self.kept()
        if kept is None:
            return None
        if self._parsed is None or self._parsed[0] is not kept:
            self._parsed = kept, kept.parsed(self._store)
        return self._parsed[1]

    def demands(self) -> Demands:
        """What the shapes demand, in their words, by the names of types."""
        kept, iris = self.kept(), self._store.iris
        if kept is None:
            return {}
        mapping = kept.loaded_mapping()

        def type_name(iri: str) -> str | None:
            if iri.startswith(iris.concept_types):
                return iris.concept_name(iri)
            return None if mapping is None else mapping.type_of(iri)

        return demanding.demands(kept.text, type_name)

    def expire(self) -> None:
        """Read the record again: a commit may have changed it."""
        self._seen = None

    def follow(self, commit: int) -> None:
        """Note a commit of this nexus that has not changed the record."""
        if self._seen == commit - 1:
            self._seen = commit

    def check(self, draft: Draft, span: Span) -> None:
        """Raise KIP_2002 if the dataset would violate the shapes after a
        draft; what has another severity becomes a warning of the draft."""
        shapes = self.shapes()
        if shapes is None:
            return
        touched = {edit.after.node for edit in draft.changes()} | draft.deleted.keys()
        results = shacl.violations(shapes, draft.store, touched, draft.delta())
        # What is only named here has its values in another nexus.
        stubs = set(map(draft.id, draft.stubs))
        spans = {draft.id(node): place for node, place in draft.spans.items()}
        draft.warnings = refuse([one for one in results if one.element not in stubs], span, spans)

    def require(
        self,
        dataset: Store,
        touched: Collection[NamedNode] | None = None,
        delta: Delta | None = None,
    ) -> None:
        """Raise KIP_2002 if a dataset violates the shapes, after a delta of it.

        See ``kiprdf.shapes.violations``.
        """
        shapes = self.shapes()
        if shapes is not None:
            refuse(shacl.violations(shapes, dataset, touched, delta))

    def _read(self, records: Records[str, str]) -> Kept | None:
        return Kept.read(records.get(GATE)) if self._has_one else None


def refuse(
    results: Collection[Violation], span: Span = NOWHERE, spans: Records[str, Span] = _NOWHERE
) -> tuple[KipWarning, ...]:
    """Raise KIP_2002 for the violations among the results of a validation.

    The hints are theirs, the place is that of the first one; ``spans`` are places by ids.
    """
    faults = [one for one in results if one.severity == VIOLATION]
    if not faults:
        listed = list(results)[:MOST_NAMED]
        some = [KipWarning(f"Shape{one.severity}", str(one), one.hint) for one in listed]
        if more := len(results) - len(listed):
            hint = "kiprdf gate check lists them."
            some.append(KipWarning("ShapeWarning", f"There are {more} more such warnings.", hint))
        return tuple(some)
    first, more = faults[0], len(faults) - MOST_NAMED
    message = " ".join(map(str, faults[:MOST_NAMED]))
    if len(faults) > 1:
        message = f"{len(faults)} violations of shapes: {message}"
        message += f" And {more} more." if more > 0 else ""
    hints = dict.fromkeys(one.hint for one in faults[:MOST_NAMED] if one.hint)
    default = f"Write what the shape <{first.shape}> asks for; kiprdf gate show prints it."
    place = spans.get(first.element, span)
    error = KipError("KIP_2002", message, " ".join(hints) or default, place)
    error.breaks_shape = True
    raise error
