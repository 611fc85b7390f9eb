"""The engine without what it remembers and without walks: every answer must be the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import kiprdf
from kiprdf import nexus
from kiprdf.kql import find
from kiprdf.kql.reader import read_catalog
from kiprdf.language import Template


@contextmanager
def no_shortcuts() -> Iterator[None]:
    """Parse, check and compile each command anew, and ask the store in SPARQL for everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nexus, "_parse_again", lambda text: Template(kiprdf.parse(text)))
        patch.setattr(nexus.Nexus, "_quick", lambda *_: None)
        patch.setattr(nexus.Nexus, "_catalog", lambda self: read_catalog(self._store))
        patch.setattr(find, "walk", lambda *_: None)
        yield


@contextmanager
def no_walks() -> Iterator[None]:
    """Ask in SPARQL what would be looked up by index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "walk", lambda *_: None)
        yield
