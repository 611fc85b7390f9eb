"""Sets the shapes of the gate, and checks a whole nexus against them (docs/decisions/205)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kiprdf.actors import acting_on
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.execution.gate import GATE, VIOLATION, Kept, OnViolation
from kiprdf.execution.writer import Writer
from kiprdf.shapes import Shapes, Violation, require_validator, violations
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


@dataclass(frozen=True)
class ShapesReport:
    """Where a nexus does not satisfy its shapes; ``warnings`` are what these name and it lacks."""

    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def conforms(self) -> bool:
        """Whether no element violates a shape; those of the severities Warning and Info may be."""
        return not any(one.severity == VIOLATION for one in self.violations)

    @property
    def counts(self) -> dict[str, int]:
        """The number of violations by the IRI of the shape, the largest first."""
        return dict(Counter(one.shape for one in self.violations).most_common())

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "conforms": self.conforms,
            "counts": self.counts,
            "violations": [asdict(one) for one in self.violations],
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        if not self.violations:
            return "Everything satisfies the shapes."
        parts = (f"<{shape}>: {number}" for shape, number in self.counts.items())
        number = len(self.violations)
        return f"{number} violation{'s' if number > 1 else ''}: {', '.join(parts)}"


def set_shapes(
    writer: Writer, text: str | None, mapping: Mapping | None, on_violation: OnViolation
) -> ShapesReport:
    """Keep shapes, or none, as one commit; the report is on the nexus as it is."""
    actor = acting_on(writer)
    actor.require("admin")
    actor.require_person("sets shapes")
    writer.require_one_nexus("Setting shapes")
    writer.require_writable()
    if text is not None and on_violation == "propose" and writer.store.embedded is None:
        message = "A nexus in a SPARQL store keeps no proposals."
        raise KipError("KIP_1001", message, 'Set the shapes with on_violation="refuse".')

    kept, report = None, ShapesReport()
    if text is not None:
        require_validator()
        # Before anything is written: it may take too long.
        report = _report(Shapes.parsed(text, writer.store, mapping), writer.store)
        context = None if mapping is None else {"@context": mapping.context()}
        kept = Kept(text, context, on_violation)
    if kept != writer.gate.kept():
        writer.keep({GATE: "" if kept is None else kept.record})
    return report


def check_shapes(writer: Writer) -> ShapesReport:
    """Where a nexus does not satisfy the shapes that are kept."""

    store = writer.store
    kept = store.read(writer.gate.kept)
    return ShapesReport() if kept is None else _report(kept.parsed(store), store)


def _report(shapes: Shapes, store: Store) -> ShapesReport:
    results = store.read(lambda: tuple(violations(shapes, store, None)))
    return ShapesReport(results, shapes.warnings)
