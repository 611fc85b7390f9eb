"""The files of a graph: copied to a backup, rewritten, converted from an earlier format.

The result is complete or absent, also after a kill.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from pyoxigraph import Literal, Quad
from pyoxigraph import Store as Engine

from kiprdf.errors import DamagedManifestError, StoreError
from kiprdf.rdf import vocab
from kiprdf.store.commit_log import ENGINE_FAULTS, commit_note, note, readable, record
from kiprdf.store.file_sums import FileSums
from kiprdf.store.folder import (
    FORMAT,
    GRAPH,
    MANIFEST,
    graph_folder,
    graph_without_manifest,
    is_erasing,
    other_graph,
    write_manifest,
)
from kiprdf.store.journal import FOLDER as HISTORY
from kiprdf.store.journal import discard_prepared
from kiprdf.store.texts import rebuild_texts

FORMAT_NOTE = note(vocab.FORMAT, Literal(str(FORMAT), datatype=vocab.INTEGER))


def notes_of(base: str, records: Mapping[str, str], number: int) -> list[Quad]:
    """What a graph notes about itself: format, base, records, and its last commit."""
    noted = [note(record(key), Literal(value)) for key, value in records.items()]
    return [FORMAT_NOTE, note(vocab.BASE, Literal(base)), *noted, commit_note(number)]


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A temporary folder that becomes the target, which is absent or empty, at the end of a block.

    A failure leaves nothing. Raises ``StoreError``.
    """
    partial = target.parent / f".{target.name}.{secrets.token_hex(4)}.partial"
    try:
        if target.exists() and not target.is_dir():
            raise StoreError(f"{target} is a file; a backup needs a folder.")
        if target.exists() and any(target.iterdir()):
            raise StoreError(f"{target} is not empty; a backup needs an empty folder.")
        partial.mkdir(parents=True)
        yield partial
        FileSums(partial / GRAPH).note()
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except (OSError, RuntimeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise StoreError(f"No backup can be written to {target}: {reason}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_afresh(
    folder: Path, base: str, quads: Iterable[Quad], prepare: Callable[[], object] | None
) -> Engine:
    """Write the graph to the other folder, which the manifest names from then on.

    ``prepare`` prepares the journal before that.
    """
    graph = other_graph(folder)
    try:
        shutil.rmtree(graph, ignore_errors=True)
        engine = Engine(str(graph))
        engine.bulk_extend(quads)
        engine.flush()
        FileSums(graph).note()
        if prepare is not None:
            prepare()
        write_manifest(folder, base, graph.name, erasing=prepare is not None)
    except BaseException as fault:
        shutil.rmtree(graph, ignore_errors=True)
        if (folder / HISTORY).is_dir():
            discard_prepared(folder / HISTORY)
        if isinstance(fault, ENGINE_FAULTS):
            reason = getattr(fault, "strerror", None) or fault
            raise StoreError(f"The nexus cannot be rewritten: {reason}.") from fault
        raise
    return engine


def copied(quads: Iterable[Quad]) -> Engine:
    """An engine in memory that lists quads in the given order."""
    engine = Engine()
    # It lists the last quad first.
    engine.bulk_extend(reversed(list(quads)))
    return engine


def convert(engine: Engine, path: Path, base: str) -> None:
    """Convert a folder of an earlier format; after an interrupt it is converted again."""
    rebuild_texts(engine)
    for quad in readable(engine, vocab.BOOKKEEPING, vocab.FORMAT, None, vocab.BOOKKEEPING):
        engine.remove(quad)
        engine.add(FORMAT_NOTE)
    engine.flush()
    write_manifest(path, base, graph_folder(path).name, is_erasing(path))


def repair_manifest(path: Path) -> bool:
    """Write a damaged manifest again, from what the graph notes; whether that was possible."""
    graph = graph_without_manifest(path)
    if graph is None or FileSums(path / graph).damaged():
        return False
    with suppress(*ENGINE_FAULTS, ValueError, StoreError):
        engine = Engine.read_only(str(path / graph))
        quads = readable(engine, vocab.BOOKKEEPING, vocab.BASE, None, vocab.BOOKKEEPING)
        (base,) = (cast(Literal, quad.object).value for quad in quads)
        if FORMAT_NOTE not in engine:
            return False
        (path / MANIFEST).write_text(json.dumps({"format": FORMAT, "base": base}), "utf-8")
        write_manifest(path, base, graph, history=(path / HISTORY).is_dir())
        return True
    return False


def require_base(engine: Engine, path: Path, base: str) -> None:
    """Refuse an edited manifest: the dataset notes its base too, and two would be mixed."""
    graph = vocab.BOOKKEEPING
    for quad in readable(engine, graph, vocab.BASE, None, graph):
        noted = cast(Literal, quad.object).value
        if noted != base:
            message = f"The nexus in {path} has the base {noted}; its {MANIFEST} says {base}."
            hint = f"Repair it: kiprdf check --repair --nexus {path}"
            raise DamagedManifestError(f"{message} {hint}")
