"""A write as data: removed triples, added triples, and the elements that they touch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from kiprdf.dataclasses import dataclass
from kiprdf.language import ast
from kiprdf.rdf.elements import Element

Written: TypeAlias = Triple | tuple[NamedNode, NamedNode, NamedNode | Literal | Triple]
"""A triple, or its three terms, which the engine accepts without a triple being created."""


Use: TypeAlias = tuple[str, str, str]
"""The kind of a subject, a predicate, and the kind of an object, "" for a value."""
_UNUSED: Mapping[Use, int] = {}


class Lines(Sequence[Written]):
    """The triples of new elements as N-Triples, which are parsed where their terms are asked for.

    ``elements`` are those that are new, ``time`` is their ``_updated_at``, ``values`` are the
    triples with arrays, objects, tagged texts and typed values, ``uses`` are the numbers of triples
    that ``totals`` counts. ``others`` are triples of the same commit that are no lines: nothing of
    them is in the rest.

    >>> lines = Lines(["<urn:a> <urn:b> <urn:c> .\\n<urn:a> <urn:b> <urn:d> ."], 2)
    >>> len(lines), lines[1].object
    (2, <NamedNode value=urn:d>)
    """

    __slots__ = ("_number", "elements", "others", "rows", "time", "uses", "values")

    def __init__(
        self,
        rows: Sequence[str],
        number: int,
        elements: Sequence[NamedNode] = (),
        time: Any = None,
        values: Sequence[Written] = (),
        uses: Mapping[Use, int] = _UNUSED,
        others: Sequence[Written] = (),
    ) -> None:
        self._number, self.rows, self.others = number, rows, others
        self.elements, self.time, self.values, self.uses = elements, time, values, uses

    def __len__(self) -> int:
        return self._number + len(self.others)

    def __iter__(self) -> Iterator[Written]:
        yield from self.others
        for quad in parse("\n".join(self.rows), RdfFormat.N_TRIPLES, lenient=True):
            yield quad.triple

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


class Origin(NamedTuple):
    """Where a commit comes from: the time in UTC, the kind of statement, who sent it.

    ``undoes`` are the numbers of the commits that it takes back, ``digest`` is that of the outline
    of its statement, ``kind_of_author`` is human, model or job.
    """

    at: str = ""
    kind: str = ""
    author: str | None = None
    session: str | None = None
    undoes: Sequence[int] = ()
    digest: str | None = None
    kind_of_author: str | None = None

    @property
    def actor(self) -> str | None:
        """The kind and the name of the author, if the kind was recorded."""
        return f"{self.kind_of_author}/{self.author}" if self.kind_of_author else None


UNKNOWN = Origin()


@dataclass(frozen=True, slots=True)
class Delta:
    """What one atomic commit changes in the default graph; duplicates count once.

    ``touched`` are the elements whose rows in the text index must be updated. ``elements`` are
    those of them whose state after the commit is known, so that it need not be read. ``records``
    are written to the bookkeeping graph in the same commit. ``commands`` and ``origin`` are for the
    journal.
    """

    removed: Sequence[Written] = ()
    added: Sequence[Written] = ()
    touched: Sequence[NamedNode] = ()
    elements: Sequence[Element] = ()
    records: dict[str, str] = field(default_factory=dict)
    commands: Sequence[ast.Manipulation] = ()
    origin: Origin = UNKNOWN

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.records)


def difference(
    before: Iterable[Triple], dataset: Iterable[Quad], records: dict[str, str], origin: Origin
) -> Delta:
    """What leads from some triples to those of a dataset."""
    earlier, after = set(before), {quad.triple: None for quad in dataset}
    removed = tuple(triple for triple in earlier if triple not in after)
    added = tuple(triple for triple in after if triple not in earlier)
    return Delta(removed, added, records=records, origin=origin)
