"""A test of many small cases: pytest takes longer to prepare a test than such a case takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each_case(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Run a test with each case in turn, as ``pytest.mark.parametrize`` does in a test for each.

    The cases share the fixtures; the names are separated by commas. A fault names its case.

    >>> @each_case("left, right", [(1, 1), (1, 2)])
    ... def test(left, right):
    ...     assert left == right
    >>> try:
    ...     test()
    ... except AssertionError as fault:
    ...     print(fault.__notes__)
    ["The case: {'left': 1, 'right': 2}"]
    """
    keys = [name.strip() for name in names.split(",")]
    given = [dict(zip(keys, case if len(keys) > 1 else (case,), strict=True)) for case in cases]

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            for case in given:
                try:
                    test(**case, **fixtures)
                except BaseException as fault:
                    fault.add_note(f"The case: {case}")
                    raise

        signature = inspect.signature(test)
        others = [value for name, value in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
