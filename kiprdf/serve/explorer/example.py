"""The act that loads the bundled example, which the start page of an empty nexus offers."""

from __future__ import annotations

from kiprdf.resources import example_capsule
from kiprdf.serve.explorer.acting import Act, Call, Field, Given, Plan, Subject
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.http import HttpError

MEDICAL = "medical"


class LoadExample(Act):
    """Load a small pharmacy to look around in."""

    name = "example"
    access = "write"

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        if path != MEDICAL:
            raise HttpError(404, "There is no such example.", f"There is {MEDICAL}.")
        return Subject(explorer, path)

    def offer(self, on: Subject) -> str | None:
        return None

    def title(self, on: Subject) -> str:
        return "Load the example"

    def fields(self, on: Subject, given: Given) -> list[Field]:
        return []

    def plan(self, on: Subject, given: Given) -> Plan:
        capsule, nexus = example_capsule(on.path), on.explorer.nexus
        words = (
            "Writes drugs, symptoms and what is said of them: types, predicates, facts, and facts "
            "about facts. None of it is medical advice. Undoing the commit takes all of it back."
        )
        return Call(words, lambda: None, lambda: nexus.apply_capsule(capsule.text), capsule.name)

    def target(self, on: Subject) -> str:
        return "explore/"
