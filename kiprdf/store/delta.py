"""A write as data: the triples that go, the triples that come, the elements concerned."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Triple


@dataclass(frozen=True, slots=True)
class Delta:
    """What one atomic commit changes in the default graph.

    ``touched`` are the elements whose rows in the text index must be made again. ``records`` are
    the nexus's own notes, written to the bookkeeping graph in the same commit.
    """

    removed: tuple[Triple, ...] = ()
    added: tuple[Triple, ...] = ()
    touched: tuple[NamedNode, ...] = ()
    records: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.records)
