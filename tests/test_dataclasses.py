"""The dataclasses of kiprdf beside those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from kiprdf.dataclasses import dataclass

Decorator = Callable[..., Any]


def defined(decorator: Decorator, **options: Any) -> tuple[Any, Any]:
    """A class with a field of each sort, and one derived from it."""

    @decorator(**options)
    class Base:
        first: int
        note: str = dataclasses.field(default="", compare=False, repr=False, kw_only=True)

    @decorator(**options)
    class Derived(Base):
        second: str = "two"
        items: list[int] = dataclasses.field(default_factory=list, hash=False, compare=False)
        made: tuple[int, ...] = dataclasses.field(init=False, default=())
        total: int = dataclasses.field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.first + len(self.items))

    return Base, Derived


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except TypeError as error:
        return str(error)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"eq": False, "repr": False},
    {"kw_only": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_dataclass_does_what_that_of_the_standard_library_does(options: dict[str, Any]) -> None:
    seen = []
    for decorator in (dataclass, dataclasses.dataclass):
        base, derived = defined(decorator, **options)
        one = derived(first=1, items=[7], note="noted")
        same, other = derived(first=1, note="else"), dataclasses.replace(one, second="2")
        seen.append(
            [
                [hasattr(one, "__dict__"), derived.__match_args__, derived.__doc__ is not None],
                [[getattr(one, field.name) for field in dataclasses.fields(one)], other.second],
                [repr(one).replace(hex(id(one)), ""), one == same, one != other, one == 1],
                [base(first=1) == derived(first=1), derived(first=1).items is same.items],
                [outcome(lambda one=one, same=same: hash(one) == hash(same))],
                [outcome(derived), outcome(lambda: derived(first=1, total=3))],  # noqa: B023
                [outcome(lambda: derived(1, "b", [1, 2]).total)],  # noqa: B023
                [copy.copy(one).items is one.items],
            ]
        )
    assert seen[0] == seen[1]


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    column: int = 1

    def __repr__(self) -> str:
        return f"{self.line}:{self.column}"


def test_what_a_class_defines_itself_stays_and_its_objects_can_be_pickled() -> None:
    assert repr(Place(3)) == "3:1"
    assert pickle.loads(pickle.dumps(Place(3, 4))) == Place(3, 4)


@pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass])
def test_awkward_values_are_compared_and_shown(decorator: Decorator) -> None:
    @decorator(frozen=True)
    class Held:
        value: Any

    @decorator(frozen=True)
    class Own:
        value: Any

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

    nan, items = float("nan"), list[Any]()
    assert Held(nan) == Held(nan) != Held(float("nan"))  # type: ignore[call-arg]
    assert hash(Own(1)) == hash(Own(1))  # type: ignore[call-arg]
    items.append(Held(items))  # type: ignore[call-arg]
    assert repr(items[0]).endswith("Held(value=[...])")
    cycle = Held(items)  # type: ignore[call-arg]
    items[0] = cycle
    assert repr(cycle).endswith("Held(value=[...])")


def test_init_is_compiled_when_the_first_object_is_made() -> None:
    base, derived = defined(dataclass)
    assert base.__init__.__code__.co_varnames[:1] == ("self",)
    before = derived.__init__
    derived(1)
    assert derived.__init__ is not before
    assert derived.__init__.__code__.co_varnames[:4] == ("self", "first", "second", "items")
