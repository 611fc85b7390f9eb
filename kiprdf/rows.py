"""The rows that ``Nexus.find`` and ``Nexus.sparql`` return."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.errors import KipError, KipWarning
from kiprdf.loading import Lazy, load
from kiprdf.rdf import vocab

if TYPE_CHECKING:
    import html
else:
    html = Lazy("html")


SHOWN_ROWS = 20
"""The rows that ``repr`` shows."""
SHOWN_CHARACTERS = 60
"""The characters of a value that ``repr`` shows."""
_INTEGERS = range(-(2**63), 2**63)
_PANDAS = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
"""The types of pandas that have a null; each other column has the values as they are."""
_POLARS = {bool: "Boolean", int: "Int64", float: "Float64", str: "String", type(None): "Null"}


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows as dictionaries by column name; iterable, sized, indexable.

    A column that is selected twice is once in the dictionaries, twice in ``tuples()``. Without
    rows, ``warnings`` say why.

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
    _tuples: tuple[tuple[Any, ...], ...]
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
        return table + "".join(
            f"<p>{html.escape(line)}</p>"
            for line in (self._count(), *(f"Warning: {w}" for w in self.warnings))
        )

    def _shown_rows(self) -> list[list[str]]:
        return [list(map(_shown, values)) for values in self._tuples[:SHOWN_ROWS]]

    def _count(self) -> str:
        count = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        return count if len(self) <= SHOWN_ROWS else f"{count}, {SHOWN_ROWS} shown"

    def __len__(self) -> int:
        return len(self._tuples)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._row(values) for values in self._tuples)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self._row(values) for values in self._tuples[index]]
        return self._row(self._tuples[index])

    def _row(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.columns, values, strict=True))

    def column(self, name: str) -> list[Any]:
        """The values of one column, top to bottom; ``KeyError`` for another name."""
        if name not in self.columns:
            raise KeyError(f"There is no column {name}; there are {', '.join(self.columns)}.")
        index = self.columns.index(name)
        return [values[index] for values in self._tuples]

    def tuples(self) -> tuple[tuple[Any, ...], ...]:
        """The rows as tuples, in the order of ``columns``.

        >>> Rows(("?d.name", "?d.type"), (("Aspirin", "Drug"),)).tuples()
        (('Aspirin', 'Drug'),)
        """
        return self._tuples

    def single(self) -> dict[str, Any]:
        """The one row, as iteration gives it.

        Raises ``KipError``: KIP_3002 where there is none, with the reasons that are known;
        KIP_3003 where there are several. A LIMIT 1 in the command makes any row the one.

        >>> Rows(("?d.name",), (("Aspirin",),)).single()
        {'?d.name': 'Aspirin'}
        """
        if len(self) == 1:
            return self[0]
        if self._tuples:
            message = f"There are {len(self):,} rows, where single() expects one."
            hint = "Add a condition that only one row fulfils, or LIMIT 1 for any of them."
            raise KipError("KIP_3003", message, hint)
        reasons = [warning.located_message for warning in self.warnings]
        hints = [warning.hint for warning in self.warnings if warning.hint]
        message = " ".join(["There is no row, where single() expects one.", *reasons])
        hint = " ".join(hints) or "Iterate over the rows where there may be none."
        raise KipError("KIP_3002", message, hint)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas, which kiprdf does not install.

        A column of integers, numbers, booleans or texts has the type ``Int64``, ``Float64``,
        ``boolean`` or ``string``, and ``<NA>`` for null. Each other column has the values as they
        are, as objects: elements (dictionaries), lists, a mixture, integers beyond 64 bits. Dates
        are texts. A number or a boolean of SPARQL is its value, another term its text.

        Raises ``KipError``: KIP_1001 without pandas.
        """
        pandas = _installed("pandas")
        columns = {
            number: pandas.Series(values, dtype=_PANDAS.get(kind, object))
            for number, (kind, values) in enumerate(self._typed_columns())
        }
        frame = pandas.DataFrame(columns, index=range(len(self)))
        frame.columns = list(self.columns)
        return frame

    def to_polars(self) -> Any:
        """A DataFrame of Polars, which kiprdf does not install.

        A column of integers, numbers, booleans or texts has the type ``Int64``, ``Float64``,
        ``Boolean`` or ``String``, lists of one of them ``List``, a column of nulls ``Null``, each
        other ``Object`` with the values as they are, as in ``to_pandas``. A column that is selected
        twice is there once.

        Raises ``KipError``: KIP_1001 without Polars.
        """
        polars = _installed("polars")
        columns = {
            name: polars.Series(name, values, dtype=_polars_type(polars, kind, values))
            for name, (kind, values) in zip(self.columns, self._typed_columns(), strict=True)
        }
        return polars.DataFrame(list(columns.values()))

    def _typed_columns(self) -> Iterator[tuple[type, list[Any]]]:
        """The type of each column, ``object`` where there is no other, and its values."""
        for number in range(len(self.columns)):
            values = [_value(row[number]) for row in self._tuples]
            yield _kind(values), values


def _installed(library: str) -> Any:
    try:
        load(library)
        return import_module(library)
    except ImportError as fault:
        message = f"to_{library}() needs {library}, which is not installed."
        raise KipError("KIP_1001", message, f"pip install {library}") from fault


def _polars_type(polars: Any, kind: type, values: list[Any]) -> Any:
    if kind is list:
        member = _kind([one for value in values if value is not None for one in value])
        if member in _POLARS:
            return polars.List(getattr(polars, _POLARS[member]))
    return getattr(polars, _POLARS.get(kind, "Object"))


def _value(cell: Any) -> Any:
    """A cell of a data frame: a term of SPARQL as a number, a boolean or its text."""
    if isinstance(cell, Literal):
        kind = cell.datatype.value.removeprefix(vocab.XSD)
        with suppress(LookupError, ValueError):  # a literal that is not of its type
            if kind.lower().endswith(("integer", "int", "long", "short", "byte")):
                return int(cell.value)
            if kind in ("decimal", "double", "float"):
                return float(cell.value)
            if kind == "boolean":
                return {"true": True, "1": True, "false": False, "0": False}[cell.value]
        return cell.value
    if isinstance(cell, NamedNode):
        return cell.value
    if isinstance(cell, Triple):
        return f"<<( {cell} )>>"
    return str(cell) if isinstance(cell, BlankNode) else cell


def _kind(values: list[Any]) -> type:
    """The type that the values of a column have besides null; ``object`` if they have several."""
    kinds = {type(value) for value in values} - {type(None)}
    numbers = [value for value in values if type(value) is int]
    if kinds == {int} and any(n not in _INTEGERS for n in numbers):
        return object
    if kinds == {int, float} and all(n in _INTEGERS and float(n) == n for n in numbers):
        return float
    return kinds.pop() if len(kinds) == 1 else object if kinds else type(None)


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
