"""Fixtures of the tests of RDF formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import rdflib

from kiprdf.interchange.formats import parsing


@pytest.fixture
def as_written() -> Iterator[None]:
    """rdflib keeps literals as the text has them."""
    before = rdflib.NORMALIZE_LITERALS
    rdflib.NORMALIZE_LITERALS = False
    yield
    rdflib.NORMALIZE_LITERALS = before


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of RDF, which would crash or take minutes, is not called."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the parser was called")

    monkeypatch.setattr(parsing, "parse_rdf", refuse)
