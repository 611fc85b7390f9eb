"""When an engine's response is the oracle's answer: the rows, their order, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.oracle import Answer, Graph, evaluate
from tests.oracle.graph import ENGINE_METADATA

Response = Mapping[str, Any]


def expected(query: str, graph: Graph) -> Answer | str:
    """The oracle's answer, or the code of its error."""
    command = bind(parse(query), {})
    assert isinstance(command, ast.Find)
    try:
        return evaluate(command, graph)
    except KipError as error:
        return error.code


def difference(query: str, answer: Answer | str, response: Response) -> str | None:
    """What is wrong with a response, or None when it is right."""
    error = response.get("error")
    if isinstance(answer, str) or error:
        code = error["code"] if error else "no error"
        expected = answer if isinstance(answer, str) else "no error"
        return None if code == expected else f"expected {expected}, found {error or response}"
    find = parse(query)
    assert isinstance(find, ast.Find)
    return _row_difference(find, answer, response["result"])


def _row_difference(find: ast.Find, answer: Answer, result: Any) -> str | None:
    columns = _columns(answer, result)
    if columns is None:
        return f"expected the form of {answer.result}, found {result}"
    actual = [_frozen_row(find, answer, row) for row in zip(*columns, strict=True)]
    expected = [_frozen_row(find, answer, row.values) for row in answer.rows]
    length = len(expected) if answer.limit is None else min(answer.limit, len(expected))
    if len(actual) != length:
        return f"expected {length} rows, found {len(actual)}: {answer.result} != {result}"
    if answer.ordered and answer.ties_decided:
        return None if actual == expected[:length] else f"expected {answer.result}, found {result}"
    superfluous = Counter(actual) - Counter(expected)
    if superfluous:
        return f"superfluous rows {list(superfluous)}: {answer.result} != {result}"
    if answer.ordered and not _in_order(find, actual, expected):
        return f"wrong order: {answer.result} != {result}"
    return None


def _columns(answer: Answer, result: Any) -> list[list[Any]] | None:
    """The columns of a result, wrapped again; None when it has another form."""
    columns = [result] if answer.width == 1 else result
    if not isinstance(columns, list) or len(columns) != answer.width:
        return None
    if answer.scalar:
        columns = [[value] for value in columns]
    if not all(isinstance(column, list) for column in columns):
        return None
    return columns if len({len(column) for column in columns}) == 1 else None


def _in_order(
    find: ast.Find, actual: Sequence[tuple[Hashable, ...]], expected: Sequence[tuple[Hashable, ...]]
) -> bool:
    """Rows of equal keys may be in any order; the keys are among the columns."""
    columns = [find.expressions.index(key.expression) for key in find.order_by]
    return all(
        one[column] == other[column]
        for one, other in zip(actual, expected, strict=False)
        for column in columns
    )


# Rows that compare ----------------------------------------------------------------------------


def _frozen_row(find: ast.Find, answer: Answer, row: Sequence[Any]) -> tuple[Hashable, ...]:
    return tuple(
        _frozen_cell(expression, answer, value)
        for expression, value in zip(find.expressions, row, strict=True)
    )


def _frozen_cell(expression: ast.Expression, answer: Answer, value: Any) -> Hashable:
    if isinstance(expression, ast.Path) and expression.field == "metadata":
        value = _without_engine_metadata(value) if expression.key is None else value
    if isinstance(value, dict) and "_type" in value:
        value = _shown_element(value)
    if isinstance(expression, ast.Aggregate) and expression.function == "AVG":
        return value if value is None else float(f"{value:.12g}")
    # 3 and 3.0 are one group and one minimum; either may stand for both.
    either = answer.grouped and (
        not isinstance(expression, ast.Aggregate) or expression.function in ("MIN", "MAX")
    )
    if either and isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", float(value))
    return frozen(value)


def _shown_element(value: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(value)
    metadata = _without_engine_metadata(shown.pop("metadata", None))
    return {**shown, "metadata": metadata} if metadata else shown


def _without_engine_metadata(metadata: Any) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    return {key: value for key, value in metadata.items() if key not in ENGINE_METADATA}


def frozen(value: Any) -> Hashable:
    """A hashable JSON value in which 1, 1.0 and true differ.

    >>> frozen([1, True]) == frozen([1.0, True]), frozen({"a": 1}) == frozen({"a": 1})
    (False, True)
    """
    if isinstance(value, dict):
        return ("object", frozenset((key, frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(frozen(item) for item in value))
    return (type(value).__name__, value)
