"""Calls that a timer interrupts while they import: python -m tests.trust.importing CALL FOLDER

A signal handler raises TimeoutError, once, when Python looks for the second time whether FOLDER is
a folder. That is an OSError: Python takes it as an answer and remembers that there are no modules.
Prints what each of two calls came to.
"""

from __future__ import annotations

import importlib._bootstrap_external as external
import logging
import os
import signal
import sys
from typing import Any

import kiprdf

NTH = 2


def main(name: str, folder: str) -> None:
    logging.disable(logging.CRITICAL)
    nexus = kiprdf.Nexus.memory()
    calls = {
        "batch": lambda: nexus.execute_kip({"commands": ["DESCRIBE DOMAINS"], "dry_run": True}),
        "mapping": lambda: nexus.snapshot(mapping="schema-org"),
        "graph": nexus.to_rdflib,
        "hint": lambda: nexus.execute_kip({"command": "DESCRIBE PRIMES"})["error"]["hint"],
    }
    signal.signal(signal.SIGALRM, _raise)
    original: Any = external._path_stat  # type: ignore[attr-defined]
    asked = 0

    def stat(path: str) -> Any:
        nonlocal asked
        if path.endswith(folder):
            asked += 1
            if asked == NTH:
                os.kill(os.getpid(), signal.SIGALRM)
        return original(path)

    external._path_stat = stat  # type: ignore[attr-defined]
    for _ in range(2):
        try:
            calls[name]()
            print("answered")
        except (TimeoutError, ImportError, kiprdf.KipError) as fault:
            print(fault)
    print("interrupted" if asked >= NTH else "not interrupted")


def _raise(number: int, frame: object) -> None:
    raise TimeoutError("The timer rang.")


if __name__ == "__main__":
    main(*sys.argv[1:3])
