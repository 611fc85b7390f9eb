"""The embedded store as if it were another engine's: SPARQL 1.1 on the same dataset in RDF 1.1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from pyoxigraph import Quad
from pyoxigraph import Store as Engine

from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.sparql.abilities import Abilities
from kiprdf.store import OxigraphStore

STANDARD = Abilities(
    triple_terms=False,
    lookups=False,
    links="rdf11",
)
_EXTENSIONS = ("LATERAL", "<<", "GRAPH", "urn:kip:vocab/function/")


@contextmanager
def standard_sparql() -> Iterator[list[str]]:
    """Every nexus asks in SPARQL 1.1; the texts of the queries."""
    texts: list[str] = []
    engines: WeakKeyDictionary[OxigraphStore, tuple[int, Engine]] = WeakKeyDictionary()

    def select(store: OxigraphStore, query: str, *_: Any) -> list[tuple[Any, ...]]:
        assert not any(extension in query for extension in _EXTENSIONS), query
        texts.append(query)
        commit, engine = engines.get(store, (None, None))
        if engine is None or commit != store.commit():
            engine = Engine()
            triples = to_profile(store.match(None, None, None), "rdf11", directions=True)
            engine.extend(Quad(*triple) for triple in triples)
            engines[store] = (store.commit(), engine)
        rows: Any = engine.query(query)
        return [tuple(row) for row in rows]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OxigraphStore, "abilities", STANDARD)
        patch.setattr(OxigraphStore, "select", select)
        yield texts
