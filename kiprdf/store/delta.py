"""A write as data: the triples that go, the triples that come, the elements concerned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.rdf.elements import Element

Written: TypeAlias = Triple | tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
"""A triple, or its three terms, of which the engine would have to make one for nobody."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What one atomic commit changes in the default graph; what stands twice counts once.

    ``touched`` are the elements whose rows in the text index must be made again, ``elements`` those
    of them that are known as the commit leaves them, so that nobody has to read them again.
    ``records`` are the nexus's own notes, written to the bookkeeping graph in the same commit.
    """

    removed: Sequence[Written] = ()
    added: Sequence[Written] = ()
    touched: Sequence[NamedNode] = ()
    elements: Sequence[Element] = ()
    records: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.records)
