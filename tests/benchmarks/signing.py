"""Time to sign and to verify a quad: ``python -m tests.benchmarks.signing [--propositions N]``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import kiprdf
from kiprdf.signing import layout
from tests.benchmarks import data

ROUNDS = 5
T = TypeVar("T")


def main() -> None:
    """Measure and print, in µs of processor time for each quad."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.signing")
    parser.add_argument("--propositions", type=int, default=8_000)
    key = Ed25519PrivateKey.generate()
    with kiprdf.Nexus.memory() as nexus:
        data.build(parser.parse_args().propositions, nexus)
        document = nexus.sign(key)
        read = layout.read(document)
        assert read is not None
        quads = len(read[0])
        print(f"{quads:,} quads, {len(document):,} characters")
        snapshot = nexus.snapshot(format="ntriples")
        timed("snapshot", quads, lambda: nexus.snapshot(format="ntriples"))
        timed("sign", quads, lambda: nexus.sign(key))
        assert timed("verify", quads, lambda: kiprdf.verify(document))
        timed("canonical", quads, lambda: kiprdf.canonical(snapshot))


def timed(name: str, quads: int, function: Callable[[], T]) -> T:
    """The result of a function; the best time of several rounds is printed."""
    times = []
    for _ in range(ROUNDS):
        before = time.process_time()
        result = function()
        times.append(time.process_time() - before)
    print(f"{name:10} {min(times) / quads * 1e6:5.2f} µs a quad")
    return result


if __name__ == "__main__":
    main()
