"""What the tests of a whole nexus share: a clock, the dataset as lines, a small medical schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, Store, Triple

import kiprdf
from kiprdf.interchange.formats import Format
from kiprdf.rdf import vocab
from kiprdf.store import OxigraphStore
from kiprdf.store.bookkeeping import commit_note, noted_by

REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$ConceptType", name: "User"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
}
"""
FACTS = """
UPSERT {
  CONCEPT ?headache { {type: "Symptom", name: "Headache"} }
  CONCEPT ?fever { {type: "Symptom", name: "Fever"} }
  CONCEPT ?aspirin {
    {type: "Drug", name: "Aspirin"}
    SET ATTRIBUTES { risk: 2, colour: "white" }
    SET PROPOSITIONS { ("treats", ?headache) ("treats", ?fever) }
  }
  WITH METADATA { source: "textbook" }
  CONCEPT ?user { {type: "User", name: "Ann"} }
  PROPOSITION ?claim {
    (?user, "stated", ({type: "Drug", name: "Aspirin"}, "treats", ?headache))
    SET ATTRIBUTES { wording: "it helped" }
  }
}
"""


class StoppedClock:
    """A clock that is stopped until it is set."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, **duration: float) -> None:
        self.moment += timedelta(**duration)


def dataset(nexus: kiprdf.Nexus) -> frozenset[tuple[str, ...]]:
    """Every quad of a nexus, its own notes included; graph first, "None" for the default graph.

    Notes of earlier commits, and digests of records of the history, are left out.
    """
    # Of the engine itself: a query by `sparql` would start a process for each nexus.
    last = commit(nexus)
    quads = [
        commit_note(last) if quad.predicate == vocab.COMMIT else quad
        for quad in nexus.store.engine.quads_for_pattern(None, None, None)
        if quad.predicate not in (vocab.CHAIN, vocab.REWRITTEN)
        and (quad.predicate != vocab.COMMIT or noted_by(quad)[0] == last)
    ]
    rows = ((None if q.graph_name == DefaultGraph() else q.graph_name, *q.triple) for q in quads)
    return frozenset(tuple(_line(term) for term in row) for row in rows)


def _line(term: Any) -> str:
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


def facts(nexus: kiprdf.Nexus) -> frozenset[tuple[str, ...]]:
    """The triples of the default graph."""
    return frozenset(quad[1:] for quad in dataset(nexus) if quad[0] == "None")


def commit(nexus: kiprdf.Nexus) -> int:
    return int(nexus.info()["commit"])


def medical(**options: Any) -> kiprdf.Nexus:
    """A nexus in memory that holds the schema and the facts above."""
    nexus = kiprdf.Nexus.memory(**{"genesis": False, "clock": StoppedClock(), **options})
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def empty(base_iri: str | None = None, **options: Any) -> kiprdf.Nexus:
    """A nexus in memory without the bundled capsules."""
    return kiprdf.Nexus.memory(base_iri, **{"genesis": False, "clock": StoppedClock(), **options})


def restored_from(source: Any, base_iri: str | None = None, **options: Any) -> kiprdf.Nexus:
    """A nexus restored from a snapshot; the options are those of ``restore``."""
    nexus = empty(base_iri)
    nexus.restore(source, **options)
    return nexus


def restored(
    nexus: kiprdf.Nexus,
    base_iri: str | None = None,
    *,
    format: Format = "turtle",
    mapping: Any = None,
    **options: Any,
) -> kiprdf.Nexus:
    """A nexus restored from a snapshot of another, made with the options; of the same base."""
    text = nexus.snapshot(format=format, mapping=mapping, **options)
    return restored_from(text, base_iri or nexus.base_iri, format=format, mapping=mapping)


def copied(nexus: kiprdf.Nexus, **options: Any) -> kiprdf.Nexus:
    """A nexus in memory with all quads of another; faster than to load the capsules again."""
    engine = Store()
    engine.extend(nexus.store.engine)
    return kiprdf.Nexus(OxigraphStore(engine, nexus.base_iri), **options)


def element(nexus: kiprdf.Nexus, identifier: str) -> dict[str, Any]:
    """The KIP object of an id."""
    clause = "?x {id: :id}" if identifier.startswith("C:") else "?x (id: :id)"
    (node,) = nexus.execute(f"FIND(?x) WHERE {{ {clause} }}", id=identifier)
    return dict(node)


def code(nexus: kiprdf.Nexus, command: str, **parameters: Any) -> str:
    """The error code a command ends with."""
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(command, **parameters)
    return raised.value.code


@contextmanager
def untouched(nexus: kiprdf.Nexus) -> Iterator[None]:
    """The dataset is bit for bit the same before and after."""
    before = dataset(nexus)
    yield
    assert dataset(nexus) == before
