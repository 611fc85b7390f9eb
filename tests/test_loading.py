"""Modules that are imported when they are used."""

import sys

import pytest

from kiprdf.loading import Lazy


def test_a_module_can_be_used_when_the_interpreter_has_dropped_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = Lazy("json")
    assert module.dumps([1]) == "[1]"
    monkeypatch.delitem(sys.modules, "json")
    assert module.dumps([2]) == "[2]"
