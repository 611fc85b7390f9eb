"""The rows that ``Nexus.find`` and ``Nexus.sparql`` return."""

from __future__ import annotations

import html
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from kiprdf.errors import KipWarning
from kiprdf.loading import load

SHOWN_ROWS = 20
"""The rows that ``repr`` shows."""
SHOWN_CHARACTERS = 60
"""The characters of a value that ``repr`` shows."""


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows as dictionaries by column name; iterable, sized, indexable.

    A column that is selected twice is once in the dictionaries, twice in ``tuples``. Without rows,
    ``warnings`` say why.

    >>> rows = Rows(("?d.name",), (("Aspirin",), ("Ibuprofen",)))
    >>> len(rows), rows[0], [row["?d.name"] for row in rows]
    (2, {'?d.name': 'Aspirin'}, ['Aspirin', 'Ibuprofen'])
    >>> rows
    ?d.name
    'Aspirin'
    'Ibuprofen'
    2 rows
    """

    columns: tuple[str, ...]
    tuples: tuple[tuple[Any, ...], ...]
    next_cursor: str | None = None
    warnings: tuple[KipWarning, ...] = ()

    def __repr__(self) -> str:
        table = [list(self.columns), *self._shown_rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table if self.columns
        ]
        return "\n".join([*lines, self._count(), *(f"Warning: {w}" for w in self.warnings)])

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        lines = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
            for cells in self._shown_rows()
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
        return f"{table}<p>{self._count()}</p>"

    def _shown_rows(self) -> list[list[str]]:
        return [list(map(_shown, values)) for values in self.tuples[:SHOWN_ROWS]]

    def _count(self) -> str:
        count = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        return count if len(self) <= SHOWN_ROWS else f"{count}, {SHOWN_ROWS} shown"

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
            load("pandas")
            import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame(list(self.tuples), columns=list(self.columns))


def _shown(value: Any) -> str:
    """A value in one short line; a concept or a proposition as its id, an RDF term as in SPARQL."""
    if isinstance(value, dict) and "_type" in value:
        value = value.get("id")
    if value is None or isinstance(value, str | int | float | list | dict):
        text = _short.repr(value)
    else:
        text = str(value)
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


_short = reprlib.Repr()
_short.maxstring = _short.maxother = SHOWN_CHARACTERS
