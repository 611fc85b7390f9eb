"""What an import does for each triple stays little (docs/decisions/230)."""

from __future__ import annotations

import gc
import sys

import kiprdf
from kiprdf.interchange.importing.facts import Facts
from kiprdf.interchange.importing.names import Naming
from tests.benchmarks.importing import resources

CALLS = 260
"""The most calls of Python functions, and of C functions, for each triple."""


def calls_of_import(number: int) -> int:
    """The calls for resources of eight triples, which do not depend on the load of the machine."""
    nexus, text, calls = kiprdf.Nexus.memory(), resources(number), 0

    def count(frame: object, event: str, function: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        report = nexus.import_rdf(text, define=True)
    finally:
        sys.setprofile(None)
    assert report["concepts"]["created"] == number
    assert report["propositions"]["created"] > number * 2
    return calls


def test_an_import_makes_few_calls_for_each_triple() -> None:
    """The difference of two imports is what more triples cost."""
    more = calls_of_import(300) - calls_of_import(100)
    assert more < CALLS * 8 * 200


def test_what_an_import_was_planned_with_is_freed_without_a_collection() -> None:
    gc.collect()
    gc.disable()
    try:
        kiprdf.Nexus.memory().import_rdf(resources(20), define=True)
        left = [one for one in gc.get_objects() if isinstance(one, Facts | Naming)]
    finally:
        gc.enable()
    assert left == []
