"""Rows of iterables and data frames, as concepts and propositions to load."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from kiprdf.errors import KipError, nearest, shown
from kiprdf.language import limits
from kiprdf.language.parameters import check_json
from kiprdf.language.sizes import Sizes
from kiprdf.language.values import is_encodable
from kiprdf.loading import load
from kiprdf.rdf.literals import Json, to_term
from kiprdf.semantics.arguments import check_key, refuse_reserved
from kiprdf.source import NOWHERE

End: TypeAlias = str | tuple[Any, ...]
"""An id; the type and the name of a concept; or subject, predicate and object of a proposition."""
READ_AT_ONCE = 4_096
"""The rows of a data frame that are values of Python at one time."""
_METADATA = "metadata."
_SAFE = 2**53
_LONG = 1_000
_LARGE = 1_000_000
_NUMBERS = frozenset((int, float))
_PLAIN = frozenset((str, int, bool, type(None)))
_EMPTY = frozenset(("NAType", "NaTType"))
"""The types of what pandas has in an empty cell, beside NaN and None."""
_END = "Write (type, name), {'type': …, 'name': …}, or an id, such as 'C:Person/Ada'."
_TYPED = "In a data frame, subject_type and object_type have the types."


class ConceptRow(NamedTuple):
    """A concept to write; its row is counted from 1."""

    number: int
    type: str
    name: str
    attributes: dict[str, Json]
    metadata: dict[str, Json]
    size: int

    def __str__(self) -> str:
        return f"Row {self.number} of concepts ({shown(f'{self.type} {self.name!r}', 120)})"


class PropositionRow(NamedTuple):
    """A proposition to write; its row is counted from 1."""

    number: int
    subject: End
    predicate: str
    object: End
    attributes: dict[str, Json]
    metadata: dict[str, Json]
    size: int

    def __str__(self) -> str:
        fact = f"{_end_text(self.subject)}, {self.predicate}, {_end_text(self.object)}"
        return f"Row {self.number} of propositions ({shown(fact, 160)})"


Row: TypeAlias = ConceptRow | PropositionRow


class _RowKind(NamedTuple):
    """What a row of one kind has, in the order of a tuple."""

    kind: str
    required: tuple[str, ...]
    columns: tuple[str, ...]
    """What a data frame has beside attributes and metadata."""
    example: str


_CONCEPT = _RowKind(
    "concepts", ("type", "name"), ("type", "name"), "('Person', 'Ada', {'born': 1815})"
)
_PROPOSITION = _RowKind(
    "propositions",
    ("subject", "predicate", "object"),
    ("subject", "predicate", "object", "subject_type", "object_type"),
    "(('Person', 'Ada'), 'knows', ('Person', 'Charles'))",
)


def concept_rows(source: Any) -> Iterator[ConceptRow]:
    """The rows of an iterable, or of a data frame; KIP_1001 for what is none, with its row."""
    for number, parts, attributes, metadata, size in _rows(source, _CONCEPT):
        type_, name = parts[0], parts[1]
        row = ConceptRow(number, type_, name, attributes, metadata, size)
        if type(type_) is not str or type(name) is not str:
            row = row._replace(type=_text("type", type_, row), name=_text("name", name, row))
        yield row


def proposition_rows(source: Any) -> Iterator[PropositionRow]:
    """The rows of an iterable, or of a data frame; KIP_1001 for what is none, with its row."""
    for number, parts, attributes, metadata, size in _rows(source, _PROPOSITION):
        subject, predicate, object_ = parts[0], parts[1], parts[2]
        row = PropositionRow(number, subject, predicate, object_, attributes, metadata, size)
        if not (_is_pair(subject) and type(predicate) is str and _is_pair(object_)):
            row = row._replace(
                subject=_end(subject, "subject", row),
                predicate=_text("predicate", predicate, row),
                object=_end(object_, "object", row),
            )
        yield row


def _is_pair(end: Any) -> bool:
    """Whether an end is a type and a name, as most are."""
    return type(end) is tuple and len(end) == 2 and type(end[0]) is str and type(end[1]) is str


def located(error: KipError, row: Row | str) -> KipError:
    """The error with the row that it concerns in its message."""
    error.message = f"{row}: {error.message}"
    error.span, error.source = NOWHERE, None
    return error


_Parts: TypeAlias = tuple[int, Sequence[Any], dict[str, Json], dict[str, Json], int]


def _rows(source: Any, kind: _RowKind) -> Iterator[_Parts]:
    columns = _columns(source)
    if columns is not None:
        yield from _frame_rows(*columns, kind)
        return
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        message = f"The argument {kind.kind} is an iterable of rows, or a data frame, not "
        hint = f"Give a list of rows: [{kind.example}]."
        raise KipError("KIP_1001", f"{message}{type(source).__name__}.", hint)
    width = len(kind.required)
    keys: tuple[set[str], set[str]] = set(), set()
    parts: Sequence[Any]
    for number, item in enumerate(source, 1):
        try:
            if type(item) is tuple and width <= len(item) <= width + 2:
                parts = item
                attributes = item[width] if len(item) > width else None
                metadata = item[-1] if len(item) > width + 1 else None
            else:
                parts, attributes, metadata = _split(item, kind)
            own, size = _values(attributes, keys[0], "attributes") if attributes else ({}, 0)
            about, more = _values(metadata, keys[1], "metadata") if metadata else ({}, 0)
        except KipError as error:
            place = f"Row {number} of {kind.kind} ({shown(reprlib.repr(item), 120)})"
            raise located(error, place) from None
        yield number, parts, own, about, size + more


def _split(item: Any, form: _RowKind) -> tuple[Sequence[Any], Any, Any]:
    """What a mapping, a tuple or a list says."""
    width = len(form.required)
    if isinstance(item, Mapping):
        for key in item:
            if key not in form.required and key not in ("attributes", "metadata"):
                names = (*form.required, "attributes", "metadata")
                close = nearest(str(key), names)
                hint = f"Did you mean {close[0]!r}? " if close else ""
                hint += f"A row has {', '.join(names)}; other values belong in attributes."
                raise KipError("KIP_1001", f"There is no key {shown(repr(key))}.", hint)
        missing = [key for key in form.required if item.get(key) is None]
        if missing:
            message = f"The row lacks {' and '.join(map(repr, missing))}."
            raise KipError("KIP_1001", message, f"A row has {', '.join(form.required)}.")
        parts = [item[key] for key in form.required]
        return parts, item.get("attributes"), item.get("metadata")
    if isinstance(item, tuple | list):
        if not width <= len(item) <= width + 2:
            message = f"The row has {len(item)} items, not {width} to {width + 2}."
            hint = f"Write ({', '.join(form.required)}, attributes, metadata); the last two may"
            raise KipError("KIP_1001", message, f"{hint} be left out.")
        return item[:width], *(*item[width:], None, None)[:2]
    message = f"A row is a mapping or a tuple, not {type(item).__name__}."
    raise KipError("KIP_1001", message, f"Write {form.example}.")


def _values(values: Any, keys: set[str], what: str) -> tuple[dict[str, Json], int]:
    """Attributes or metadata as JSON, and their size; ``keys`` are those that were checked."""
    if not values:
        if values is None or isinstance(values, Mapping):
            return {}, 0
    elif isinstance(values, Mapping):
        checked, size = dict(values), len(values)
        for key, value in checked.items():
            if key not in keys:
                _check_key(key, what == "metadata")
                keys.add(key)
            # Nearly all texts are plain, and nearly all numbers small.
            kind = type(value)
            if kind is str and len(value) < _LONG and (value.isascii() or is_encodable(value)):
                size += len(value)
            elif kind not in _NUMBERS or not -_SAFE < value < _SAFE:
                checked[key], own = _json(value, key)
                size += own
        return checked, size
    message = f"The {what} of a row are a mapping, not {type(values).__name__}."
    raise KipError("KIP_1001", message, f"Write {{'key': 'value'}} as {what}.")


def _check_key(key: Any, is_metadata: bool) -> None:
    if not isinstance(key, str):
        raise KipError("KIP_1001", f"The key {reprlib.repr(key)} is not a text.", "Keys are texts.")
    check_key(key, NOWHERE)
    if is_metadata:
        refuse_reserved(key, NOWHERE)


def _json(value: Any, key: str) -> tuple[Json, int]:
    """A value as JSON, and its size: scalars and arrays of NumPy as those of Python, times as
    texts."""
    kind = type(value)
    if kind is bool or value is None:
        return value, 0
    try:
        sizes = Sizes("The value")
        sizes.add(value)
        converted = _converted(value)
        check_json(converted)
        if sizes.total > _LARGE:
            to_term(converted)  # raises KIP_4002 for what no value can hold
    except KipError as error:
        error.message = f"The value of {key!r}: {error.message}"
        raise
    return converted, sizes.total


def _converted(value: Any, depth: int = 0) -> Json:
    if type(value) in _PLAIN or type(value) is float:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if is_empty(value):
        message = f"{type(value).__name__} stands for no value."
        raise KipError("KIP_1001", message, "Leave it out, or write None.")
    if isinstance(value, list | tuple | Mapping) and depth < limits.NESTING:
        if isinstance(value, Mapping):
            return {key: _converted(item, depth + 1) for key, item in value.items()}
        return [_converted(item, depth + 1) for item in value]
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M":
        return _converted(value.astype("datetime64[us]").tolist(), depth)
    if kind and kind not in "mV":
        return _converted(value.tolist(), depth)
    if isinstance(value, date | time):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Decimal) and value.is_finite():
        number = int(value) if value == value.to_integral_value() else float(value)
        if Decimal(str(number)) == value:
            return number
    return value


def is_empty(cell: Any) -> bool:
    """Whether a cell of a data frame has no value.

    >>> is_empty(None), is_empty(float("nan")), is_empty("")
    (True, True, False)
    """
    if cell is None:
        return True
    kind = type(cell)
    if kind in _PLAIN:
        return False
    if kind is not float and getattr(getattr(cell, "dtype", None), "kind", "") in ("f", "M"):
        return getattr(cell, "shape", None) == () and bool(cell != cell)
    return (isinstance(cell, float) and cell != cell) or kind.__name__ in _EMPTY


def _text(what: str, value: Any, row: Row) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    message = f"The {what} is a text, not {type(value).__name__}."
    raise located(KipError("KIP_1001", message, f"Write the {what} as a text."), row)


def _end(end: Any, what: str, row: Row, depth: int = 0) -> End:
    """An end of a proposition as texts; KIP_1001 for another form."""
    if isinstance(end, str):
        if ":" in end:
            return end
        error = KipError("KIP_1001", f"The {what} {shown(repr(end))} is no id.", f"{_END} {_TYPED}")
        raise located(error, row)
    if isinstance(end, Mapping):
        keys = {key for key in end if key not in ("attributes", "metadata")}
        for form in (_CONCEPT, _PROPOSITION):
            if keys == {*form.required}:
                end = tuple(end[key] for key in form.required)
    if isinstance(end, tuple | list):
        if len(end) == 2:
            return _text(f"type of the {what}", end[0], row), _text(
                f"name of the {what}", end[1], row
            )
        if len(end) == 3 and depth < limits.NESTING:
            ends = (_end(part, what, row, depth + 1) for part in (end[0], end[2]))
            return next(ends), _text("predicate", end[1], row), next(ends)
    error = KipError("KIP_1001", f"The {what} {shown(reprlib.repr(end))} is no element.", _END)
    raise located(error, row)


def _end_text(end: Any) -> str:
    if isinstance(end, tuple):
        return f"({', '.join(map(_end_text, end))})" if len(end) == 3 else " ".join(map(repr, end))
    return str(end)


# Data frames ----------------------------------------------------------------------------------

_Chunks: TypeAlias = Callable[[], Iterator[list[list[Any]]]]
"""Reads the columns, some rows at a time."""


def _columns(source: Any) -> tuple[list[Any], _Chunks] | None:
    """The names of the columns of a data frame, and their values; None for what is none."""
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas
        names = list(source.columns)
        return names, lambda: _chunks(
            len(source),
            lambda start, end: [source.iloc[start:end, n].tolist() for n in range(len(names))],
        )
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):  # Polars
        names = list(source.columns)
        return names, lambda: _chunks(
            len(source),
            lambda start, end: [column.to_list() for column in source[start:end].get_columns()],
        )
    if hasattr(source, "to_pydict") and hasattr(source, "num_rows"):  # PyArrow
        names = list(source.schema.names)
        return names, lambda: _chunks(
            source.num_rows,
            lambda start, end: [
                column.to_pylist() for column in source.slice(start, end - start).columns
            ],
        )
    return _columns(_exchanged(source)) if hasattr(source, "__dataframe__") else None


def _chunks(rows: int, read: Callable[[int, int], list[list[Any]]]) -> Iterator[list[list[Any]]]:
    for start in range(0, rows, READ_AT_ONCE):
        yield read(start, min(start + READ_AT_ONCE, rows))


def _exchanged(source: Any) -> Any:
    """A frame of the interchange protocol, read by a library that is installed."""
    for library, module in (
        ("pandas", "pandas.api.interchange"),
        ("polars", "polars"),
        ("pyarrow", "pyarrow.interchange"),
    ):
        try:
            load(module)
        except ImportError:
            continue
        del library
        return sys.modules[module].from_dataframe(source)
    message = f"{type(source).__name__} is read by pandas, Polars or PyArrow, of which none is"
    raise KipError("KIP_1001", f"{message} installed.", "Install it: pip install pandas")


def records(source: Any) -> tuple[list[str], Iterator[dict[str, Json]]]:
    """The names of the columns of a data frame, and its rows as JSON without the empty cells.

    KIP_1001 for what is no data frame, and for two columns of one name.
    """
    table = _columns(source)
    if table is None:
        message = f"A data frame is expected, not {type(source).__name__}."
        raise KipError("KIP_1001", message, "Give a DataFrame of pandas or Polars.")
    names, chunks = [str(name) for name in table[0]], table[1]
    _require_unique(names, "The data frame")

    def rows() -> Iterator[dict[str, Json]]:
        for columns in chunks():
            for cells in zip(*columns, strict=True):
                pairs = zip(names, cells, strict=True)
                yield {n: _json(cell, n)[0] for n, cell in pairs if not is_empty(cell)}

    return names, rows()


def _require_unique(names: Sequence[str], frame: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            message = f"{frame} has two columns {shown(name)!r}."
            raise KipError("KIP_1001", message, "Rename one of them.")
        seen.add(name)


def _frame_rows(names: list[Any], chunks: _Chunks, form: _RowKind) -> Iterator[_Parts]:
    texts = [str(name) for name in names]
    places = {}
    attributes: list[tuple[str, int]] = []
    metadata: list[tuple[str, int]] = []
    _require_unique(texts, f"The data frame of {form.kind}")
    for place, name in enumerate(texts):
        if name in form.columns:
            places[name] = place
            continue
        is_metadata = name.startswith(_METADATA)
        key = name[len(_METADATA) :] if is_metadata else name
        try:
            _check_key(key, is_metadata)
        except KipError as error:
            error.hint = f"Rename the column, or leave it out. {error.hint}"
            raise located(error, f"Column {shown(name)!r} of {form.kind}") from None
        (metadata if is_metadata else attributes).append((key, place))
    missing = [name for name in form.required if name not in places]
    if missing:
        message = f"The data frame of {form.kind} lacks the column {' and '.join(missing)}."
        hint = f"It has {', '.join(map(shown, texts)) or 'none'}."
        close = [name for one in missing for name in nearest(one, texts)]
        hint += f" Rename {' or '.join(map(repr, close))}." if close else ""
        raise KipError("KIP_1001", message, hint)
    numbers = count(1)
    checked = {key for key, _ in (*attributes, *metadata)}
    for columns in chunks():
        for number, cells in zip(numbers, zip(*columns, strict=True), strict=False):
            yield _frame_row(number, cells, places, attributes, metadata, form, checked)


def _frame_row(
    number: int,
    cells: Sequence[Any],
    places: Mapping[str, int],
    attributes: Iterable[tuple[str, int]],
    metadata: Iterable[tuple[str, int]],
    form: _RowKind,
    checked: set[str],
) -> _Parts:
    try:
        parts = [cells[places[name]] for name in form.required]
        for name, part in zip(form.required, parts, strict=True):
            if is_empty(part):
                hint = f"Drop the row, or fill in its {name}."
                raise KipError("KIP_1001", f"The cell of {name} is empty.", hint)
        if form is _PROPOSITION:
            for place, name in ((0, "subject_type"), (2, "object_type")):
                type = cells[places[name]] if name in places else None
                if not is_empty(type):
                    parts[place] = (type, parts[place])
        size = 0
        maps: list[dict[str, Json]] = []
        for keys in (attributes, metadata):
            named = {key: cells[place] for key, place in keys if not is_empty(cells[place])}
            values, own = _values(named, checked, "")
            maps.append(values)
            size += own
    except KipError as error:
        raise located(error, f"Row {number} of {form.kind}") from None
    return number, parts, maps[0], maps[1], size
