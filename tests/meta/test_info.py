"""The counts of ``Nexus.info``, which the server shows at /metrics."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf


def test_elements_are_counted_by_the_engine_instead_of_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert (nexus.info()["concepts"], nexus.info()["propositions"]) == (0, 0)
    nexus.execute(
        """UPSERT {
          CONCEPT { {type: "$ConceptType", name: "Drug"} }
          CONCEPT { {type: "$PropositionType", name: "treats"} }
          CONCEPT { {type: "Drug", name: "A"} }
          CONCEPT { {type: "Drug", name: "B"}
            SET PROPOSITIONS { ("treats", {type: "Drug", name: "A"}) } }
        }"""
    )
    nexus.info()  # now the definitions are cached
    matched: list[Any] = []
    match = nexus.store.match

    def noting(*pattern: Any) -> Any:
        matched.append(pattern)
        return match(*pattern)

    monkeypatch.setattr(nexus.store, "match", noting)
    info = nexus.info()
    assert (info["concepts"], info["propositions"]) == (4, 1)
    assert matched == []
