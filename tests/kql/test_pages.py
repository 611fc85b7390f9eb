"""Of an ordered FIND with LIMIT only rows that can be on the page are kept."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import kiprdf
from kiprdf.kql import results
from kiprdf.store import OxigraphStore, cancellation, sorted_values

CHUNK = 7
KEPT = 5
NOTES = 60


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    """Sixty notes with a rank of 0 to 6, as a number or a text, or none, and one to three tags."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "Note"} }
      CONCEPT { {type: "$ConceptType", name: "Tag"} }
      CONCEPT { {type: "$PropositionType", name: "has_tag"} }
      CONCEPT { {type: "Tag", name: "a"} } CONCEPT { {type: "Tag", name: "b"} }
      CONCEPT { {type: "Tag", name: "c"} }
    }""")
    for number in range(NOTES):
        rank: Any = number * 37 % 7
        rank = str(rank) if number % 3 == 0 else rank
        attributes = {} if number % 11 == 0 else {"rank": rank}
        tags = " ".join(
            f'("has_tag", {{type: "Tag", name: "{tag}"}})' for tag in "abc"[: 1 + number % 3]
        )
        nexus.execute(
            f'UPSERT {{ CONCEPT {{ {{type: "Note", name: "n{number * 17 % NOTES}"}} '
            f"SET ATTRIBUTES :attributes SET PROPOSITIONS {{ {tags} }} }} }}",
            attributes=attributes,
        )
    return nexus


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each query of the engine kept; few rows are sorted at once."""
    numbers: list[int] = []
    select = OxigraphStore.select

    def count(*arguments: Any, **options: Any) -> Any:
        rows = select(*arguments, **options)
        numbers.append(len(rows))
        return rows

    monkeypatch.setattr(OxigraphStore, "select", count)
    monkeypatch.setattr(cancellation, "_CHUNK", CHUNK)
    monkeypatch.setattr(results, "SORTED_AT_ONCE", KEPT)
    # Sorted values would give the page without the engine.
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", math.inf)
    return numbers


TAGGED = '?n {type: "Note"} (?n, "has_tag", ?t)'
OPTIONAL = '?n {type: "Note"} OPTIONAL { (?n, "has_tag", ?t {name: "b"}) }'
UNION = '?n {type: "Note"} UNION { ?n {type: "Tag"} }'


@pytest.mark.parametrize(
    ("shown", "where"),
    [
        ("?n.name", '?n {type: "Note"}'),
        ("?n.name, ?t.name", TAGGED),
        ("?n.name", TAGGED),  # rows that collapse
        ("?t.name", TAGGED),
        ("?n.name, ?t.name", OPTIONAL),
        ("?n.name", UNION),
    ],
)
@pytest.mark.parametrize(
    "keys", ["?n.attributes.rank", "?n.attributes.rank DESC", "?n.attributes.rank, ?n.name DESC"]
)
@pytest.mark.parametrize("limit", [1, 3, 20])
def test_a_page_has_the_first_of_all_rows(
    shown: str, where: str, keys: str, limit: int, nexus: kiprdf.Nexus, kept: list[int]
) -> None:
    command = f"FIND({shown}) WHERE {{ {where} }} ORDER BY {keys}"
    everything = rows(nexus.execute(command))
    assert rows(nexus.execute(f"{command} LIMIT {limit}")) == everything[:limit]
    assert kept[-1] < 2 * (limit + 1) + KEPT + CHUNK
    first = nexus.answer(f"{command} LIMIT {limit}")
    if len(everything) > limit:
        page = nexus.answer(f'{command} LIMIT {limit} CURSOR "{first.next_cursor}"')
        assert rows(page.result) == everything[limit : 2 * limit]


def rows(result: list[Any]) -> list[Any]:
    """The rows of a result with one or more columns."""
    is_wide = bool(result) and isinstance(result[0], list)
    return list(itertools.zip_longest(*result)) if is_wide else result


def test_all_rows_count_for_the_budget(nexus: kiprdf.Nexus, kept: list[int]) -> None:
    command = f"FIND(?n, ?t) WHERE {{ {TAGGED} }} ORDER BY ?n.name LIMIT 1"
    with nexus.limited(max_rows=NOTES), pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(command)
    assert raised.value.code == "KIP_4002"
