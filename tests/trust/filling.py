"""Work on a disk that is full for a while, in a separate process."""

from __future__ import annotations

import gc
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import kiprdf

TYPE = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }'
NOTE = 'UPSERT { CONCEPT { {type: "Note", name: :name} SET ATTRIBUTES {text: :text} } }'
NAMES = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'
Full = Callable[[], AbstractContextManager[None]]


def with_small_files(folder: str, history: bool) -> dict[str, Any]:
    """No file may grow for a while."""

    @contextmanager
    def full() -> Iterator[None]:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        yield
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    return _write_and_fill(Path(folder), history, full)


def fill(other: Path, left: int = 0) -> None:
    """Write a file that takes all the room of its disk but some bytes."""
    with other.open("wb") as file:
        while True:
            disk = os.statvfs(other.parent)
            with suppress(OSError):  # the engine may have taken some of it meanwhile
                free = disk.f_bavail * disk.f_frsize
                os.posix_fallocate(file.fileno(), 0, max(1, free - left))
                return


def with_little_room(folder: str, left: int) -> dict[str, Any]:
    """Another file takes all the room but some bytes for a while; the folder is on a small disk."""
    other = Path(folder).parent / "other"

    @contextmanager
    def full() -> Iterator[None]:
        fill(other, left)
        yield
        other.unlink()

    return _write_and_fill(Path(folder), True, full)


def _write_and_fill(folder: Path, history: bool, full: Full) -> dict[str, Any]:
    """Write, twice until that fails; what failed, and what was wrong at the end."""
    acknowledged: list[str] = []
    errors: list[str] = []

    def write() -> bool:
        name = f"note{len(acknowledged) + len(errors):04}"
        try:
            nexus.execute(NOTE, name=name, text="word " * 100)
        except kiprdf.KipError as error:
            errors.append(str(error))
            return False
        acknowledged.append(name)
        return True

    with kiprdf.Nexus.open(folder, history=history, genesis=False) as nexus:
        nexus.execute(TYPE)
        faults: list[Any] = []
        for _ in range(2):
            assert write()
            with full():
                while write():
                    pass
                assert not write()
                faults.append(nexus.problems())
                # Readers go on.
                assert nexus.execute(NAMES) == acknowledged
                nexus.execute('SEARCH CONCEPT "word"')
            assert write()
            assert nexus.problems() == []
        assert nexus.execute(NAMES) == acknowledged
    with kiprdf.Nexus.open(folder, history=history, genesis=False) as nexus:
        assert nexus.execute(NAMES) == acknowledged
        report = nexus.check()
        assert (report["faults"], report["index"]) == ([], "sound")
        if history:
            assert report["history"]["state"] == "sound"
            with nexus.at(nexus.info()["commit"]) as past:
                assert past.snapshot() == nexus.snapshot()
    return {"errors": errors, "problems": faults}


def with_history(folder: str, left: int) -> list[str]:
    """Ask for the history while the disk is full, and close when it has room again."""
    errors: list[str] = []
    other = Path(folder).parent / "other"
    nexus = kiprdf.Nexus.open(folder)
    nexus.execute(TYPE)
    nexus.execute(NOTE, name="first", text="")
    nexus.at(2).close()
    fill(other, left)
    for number in range(4):
        with suppress(kiprdf.KipError):
            nexus.execute(NOTE, name=f"{number}", text="word " * 600)
    for ask in (lambda: nexus.at(2).close(), lambda: nexus.compact_history(3)):
        fill(other)  # on a busy machine the engine removes files that it does not need by now
        try:
            ask()
        except kiprdf.KipError as error:
            errors.append(str(error))
    names = nexus.execute(NAMES)
    other.unlink()
    nexus.close()
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute(NAMES) == names
        nexus.at(3).close()
    return errors


def with_another_thread(folder: str) -> list[str]:
    """What a failed ``optimize`` leaves is collected by another thread; errors of the engine."""
    errors: list[str] = []
    sys.unraisablehook = lambda unraisable: errors.append(str(unraisable.exc_value))
    gc.disable()
    nexus = kiprdf.Nexus.open(folder, genesis=False)
    nexus.execute(TYPE)
    Path(folder, "graph.2").write_text("no folder")
    try:
        nexus.optimize()
    except kiprdf.KipError as error:
        kept = [error]

    def drop() -> None:
        kept.clear()
        gc.collect()

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    nexus.execute(NOTE, name="after", text="")
    nexus.close()
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert nexus.execute(NAMES) == ["after"]
    return errors
