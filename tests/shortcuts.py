"""The engine without what it remembers and without short ways: every answer must be the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import kiprdf
from kiprdf.execution.catalog_cache import CatalogCache
from kiprdf.execution.statements import Statements, Write
from kiprdf.kql import plan
from kiprdf.kql.evaluate.by_value import ByValue, NewestPlan
from kiprdf.kql.reader import read_catalog
from kiprdf.language import Template


@contextmanager
def no_shortcuts() -> Iterator[None]:
    """Parse, check and compile each command again, and ask the store in SPARQL for everything."""
    with pytest.MonkeyPatch.context() as patch, no_lookups():
        patch.setattr(Statements, "template", lambda self, text: Template(kiprdf.parse(text)))
        patch.setattr(Statements, "find", lambda *_: None)
        patch.setattr(Statements, "write", lambda self, command, *_: Write(command))
        patch.setattr(Statements, "write_by_shape", lambda *_: None)
        patch.setattr(CatalogCache, "catalog", lambda self: read_catalog(self._store))
        yield


@contextmanager
def no_lookups() -> Iterator[None]:
    """Ask in SPARQL what would be looked up by index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan.Plan, "lookup", None)
        patch.setattr(plan.Plan, "anchored", None)
        patch.setattr(plan, "plan_newest", lambda *_: None)
        patch.setattr(plan, "plan_by_value", lambda *_: None)
        yield


class Calls:
    """How often a short way gave the rows, and how often the engine or sorting all rows did."""

    def __init__(self) -> None:
        self.indexed = self.others = 0


def count_calls(patch: pytest.MonkeyPatch, way: type[ByValue | NewestPlan]) -> Calls:
    """Count from now on."""
    counted, rows = Calls(), way.rows

    def count(*arguments: Any) -> Any:
        result = rows(*arguments)
        if result is None:
            counted.others += 1
        else:
            counted.indexed += 1
        return result

    patch.setattr(way, "rows", count)
    return counted
