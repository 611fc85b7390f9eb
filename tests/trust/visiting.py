"""A process that uses a folder on a failing disk and reports the results."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kiprdf
import kiprdf.interchange.formats.writing
import kiprdf.interchange.snapshots
import kiprdf.language.commands
import kiprdf.maintenance

NOTES = 30
SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }'
NUMBERS = 'FIND(?n.attributes.n) WHERE { ?n {type: "Note"} } ORDER BY ?n.attributes.n'
UPSERT = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES { n: :n, text: :text } } }'
NOBODY = 65534

Visit = dict[str, Any]


def upsert(nexus: kiprdf.Nexus, number: int, text: str = "") -> None:
    nexus.execute(UPSERT, name=f"note{number}", n=number, text=text)


def build(folder: str, close: bool) -> None:
    """A nexus with some notes and an index of them; closed, or left as by a sudden death."""
    nexus = kiprdf.Nexus.open(folder, genesis=False)
    nexus.execute(SCHEMA)
    for number in range(NOTES):
        upsert(nexus, number)
    nexus.execute('SEARCH CONCEPT "note1"')
    if close:
        nexus.close()
    else:
        os.kill(os.getpid(), signal.SIGKILL)


def visit(folder: str, read_only: bool = False) -> Visit:
    """Open, ask everything, write, close: answers, or sentences where there are none.

    Any other exception than those of the API ends the process.
    """
    try:
        nexus = kiprdf.Nexus.open(folder, read_only=read_only, genesis=False)
    except kiprdf.StoreError as refused:
        return {"refused": str(refused)}
    answers = _ask(nexus)
    answers["write"] = _answer(lambda: upsert(nexus, NOTES))
    answers["close"] = _answer(nexus.close)
    return answers


def _ask(nexus: kiprdf.Nexus) -> Visit:
    return {
        "numbers": _answer(lambda: nexus.execute(NUMBERS)),
        "search": _answer(lambda: _names(nexus.execute('SEARCH CONCEPT "note7" LIMIT 1'))),
        "faults": _answer(lambda: nexus.check()["faults"]),
        "snapshot": _answer(lambda: nexus.snapshot().count('"note')),
        # No ASK: over a damaged block the engine tries for ever, until KIP_4001 ends the wait.
        "sparql": _answer(lambda: len(nexus.sparql("SELECT ?s { ?s ?p ?o } LIMIT 1").tuples())),  # type: ignore[union-attr]
    }


def _names(hits: list[Any]) -> list[str]:
    return [hit["name"] for hit in hits]


def _answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (kiprdf.KipError, kiprdf.StoreError) as error:
        return str(error)


def visit_as_nobody(folder: str, read_only: bool = False) -> Visit:
    """Without the rights of the superuser, for whom all files are writable."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return visit(folder, read_only)


def visit_a_removed_folder(folder: str) -> Visit:
    """The folder is taken away while the nexus is open."""
    nexus = kiprdf.Nexus.open(folder, genesis=False)
    while os.path.exists(folder):  # the graph may be tidying up in it
        shutil.rmtree(folder, ignore_errors=True)
    visit = _ask(nexus)
    visit["write"] = _answer(lambda: upsert(nexus, NOTES))
    visit["backup"] = _answer(lambda: nexus.backup(folder + "-copy"))
    visit["close"] = _answer(nexus.close)
    return visit


def fill(folder: str) -> Visit:
    """Write until the disk is full; returns the number of acknowledged writes and the content."""
    acknowledged = 0
    try:
        nexus = kiprdf.Nexus.open(folder, genesis=False)
        nexus.execute(SCHEMA)
    except (kiprdf.KipError, kiprdf.StoreError) as refused:
        return {"refused": str(refused)}
    while True:
        try:
            upsert(nexus, acknowledged, "x" * 20_000)
        except kiprdf.KipError as error:
            visit = {"error": str(error), "acknowledged": acknowledged, **_ask(nexus)}
            return {**visit, "close": _answer(nexus.close)}
        acknowledged += 1
        if acknowledged % 20 == 0:
            nexus.execute('SEARCH CONCEPT "note1"')


def fill_a_file(folder: str, size: int) -> Visit:
    """No file may grow beyond a size: the log of the graph reaches it first."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return fill(folder)


def files_of(folder: Path) -> list[Path]:
    """The files that hold something, by their relative paths."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size)
    return [path.relative_to(folder) for path in files]
