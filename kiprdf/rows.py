"""The rows that ``Nexus.find`` and ``Nexus.sparql`` return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows as dictionaries by column name; iterable, sized, indexable.

    A column that is selected twice is once in the dictionaries, twice in ``tuples``.

    >>> rows = Rows(("?d.name",), (("Aspirin",), ("Ibuprofen",)))
    >>> len(rows), rows[0], [row["?d.name"] for row in rows]
    (2, {'?d.name': 'Aspirin'}, ['Aspirin', 'Ibuprofen'])
    """

    columns: tuple[str, ...]
    tuples: tuple[tuple[Any, ...], ...]
    next_cursor: str | None = None

    def __repr__(self) -> str:
        return f"<Rows: {len(self)} of ({', '.join(self.columns)})>"

    def __len__(self) -> int:
        return len(self.tuples)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._row(values) for values in self.tuples)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self._row(values) for values in self.tuples[index]]
        return self._row(self.tuples[index])

    def _row(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.columns, values, strict=True))

    def column(self, name: str) -> list[Any]:
        """The values of one column, top to bottom; ``KeyError`` for another name."""
        if name not in self.columns:
            raise KeyError(f"There is no column {name}; there are {', '.join(self.columns)}.")
        index = self.columns.index(name)
        return [values[index] for values in self.tuples]

    def to_pandas(self) -> Any:
        """A pandas DataFrame; needs pandas, which kiprdf does not install."""
        try:
            import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame(list(self.tuples), columns=list(self.columns))
