"""The notes by which extraction is judged."""

from __future__ import annotations

import pytest

from kiprdf.memory.items import PREDICATES
from tests.memory import awkward


@pytest.mark.parametrize(
    ("name", "least"),
    [("awkward", 2900), ("held_out_2", 150), ("held_out_3", 160), ("held_out_4", 640)],
)
def test_each_expected_edge_is_one_that_a_memory_can_have(name: str, least: int) -> None:
    cases = awkward.cases(name)
    assert len(cases) >= least
    for case in cases:
        for subject, _, predicate, target, _, held in [*case["edges"], *case.get("may", ())]:
            subjects, objects = PREDICATES[predicate]
            assert subject in subjects
            assert target in objects
            assert held in ("held", "ended")


def test_no_held_out_text_is_among_those_that_are_shown() -> None:
    shown = {case["text"] for case in awkward.cases("awkward")}
    # A number, since a failure prints what is compared.
    held_out = [case for name in awkward.HELD_OUT for case in awkward.cases(name)]
    assert sum(case["text"] in shown for case in held_out) == 0


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("awkward", 1.0, 0.63),
        ("held_out_2", 0.95, 0.28),
        ("held_out_3", 0.93, 0.17),
        ("held_out_4", 0.98, 0.28),
    ],
)
def test_awkward_notes_are_read_with_the_measured_quality(
    name: str, precision: float, recall: float
) -> None:
    count = awkward.measure(name).counts["all"]
    assert count.precision >= precision
    assert count.recall >= recall
