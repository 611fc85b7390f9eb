"""A write as data: the triples that go, the triples that come, the elements concerned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

Written: TypeAlias = Triple | tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
"""A triple, or its three terms, of which the engine would have to make one for nobody."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What one atomic commit changes in the default graph; what stands twice counts once.

    ``touched`` are the elements whose rows in the text index must be made again. ``records`` are
    the nexus's own notes, written to the bookkeeping graph in the same commit.
    """

    removed: Sequence[Written] = ()
    added: Sequence[Written] = ()
    touched: Sequence[NamedNode] = ()
    records: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.records)
