"""The summary of a nexus that ``repr`` and notebooks show."""

from __future__ import annotations

import html

from kiprdf.errors import StoreError
from kiprdf.execution.engine import CommandEngine
from kiprdf.rdf import vocab

COUNTED = 10_000
"""Elements are counted up to here, so that a debugger does not wait."""


def text(engine: CommandEngine) -> str:
    """The nexus in one line."""
    return f"<Nexus {', '.join(f'{name} {value}' for name, value in _facts(engine))}>"


def page(engine: CommandEngine) -> str:
    """The nexus as a table of HTML."""
    lines = "".join(
        f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in _facts(engine)
    )
    return f"<table>{lines}</table>"


def _facts(engine: CommandEngine) -> list[tuple[str, str]]:
    """Names and values; the reason where the nexus cannot be read."""
    store = engine.store
    if store.location:
        # A debugger must not wait for a server.
        return [("at", store.location["endpoint"]), ("base", store.iris.base)]
    facts = [("in", str(store.folder or "memory")), ("base", store.iris.base)]
    try:
        kinds = (("concepts", vocab.TYPE), ("propositions", vocab.REIFIES))
        facts += [
            (name, _counted(len(store.lookup(None, predicate, None, COUNTED + 1))))
            for name, predicate in kinds
        ]
    except StoreError as fault:
        return [*facts, ("state", str(fault))]
    modes = {"read-only": engine.writer.store.read_only, "strict": engine.writer.strict_schema}
    state = " ".join(name for name, holds in modes.items() if holds)
    return [*facts, ("state", state)] if state else facts


def _counted(number: int) -> str:
    return str(number) if number <= COUNTED else f"more than {COUNTED}"
