"""Sends inputs to one entry point, in a separate process:

    python -m tests.trust.fuzzing ENTRY_POINT SEED FIRST NUMBER

An input depends only on the seed and its number. The last number printed is the input that ended
the process.
"""

from __future__ import annotations

import faulthandler
import logging
import resource
import sys
import traceback
from random import Random

from tests.trust.entry_points import ENTRY_POINTS, ROUND

SECONDS = 120.0
"""For one input, which has two seconds of budget: far more than the slowest machine needs."""
MEMORY = 4 * 1024**3
MOST_FAULTS = 20


def main(name: str, seed: str, first: int, number: int) -> int:
    """Give the inputs from ``first`` on; the number of faults."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable(logging.CRITICAL)
    entry_point, faults = ENTRY_POINTS[name](), 0
    for index in range(first, first + number):
        print(index, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        given: object = None
        try:
            if index == first or index % ROUND == 0:
                entry_point.begin()
            given = entry_point.draw(Random(f"{seed} {name} {index}"))
            entry_point.enter(given)
            if index % ROUND == ROUND - 1 or index == first + number - 1:
                given = "the end of the round"
                entry_point.end()
        except BaseException:
            faults += 1
            print(f"\nFAULT {name} {seed} {index}\n{repr(given)[:3_000]}\n{traceback.format_exc()}")
        if faults >= MOST_FAULTS:
            break
    faulthandler.cancel_dump_traceback_later()
    return faults


if __name__ == "__main__":
    entry_point, seed, first, number = sys.argv[1:]
    sys.exit(1 if main(entry_point, seed, int(first), int(number)) else 0)
