"""Small queries outside of FIND, such as counts, on any store."""

from __future__ import annotations

from kiprdf.sparql.algebra import Select
from kiprdf.sparql.text import render
from kiprdf.store import Store
from kiprdf.store.base import Row


def select(query: Select, store: Store) -> list[Row]:
    """The rows of a SELECT of triples, as an RDF 1.2 dataset has them."""
    return store.select(render(query))
