"""Throws inputs at one door, in a separate process: python -m tests.trust.fuzzing DOOR SEED …

Each input is drawn from the seed and its number alone, so that a number on the last line of the
output is the input that took the process down.
"""

from __future__ import annotations

import faulthandler
import logging
import resource
import sys
import traceback
from random import Random

from tests.trust.doors import DOORS, ROUND

SECONDS = 120.0
"""For one input, which has two seconds of budget: far more than the slowest machine needs."""
MEMORY = 4 * 1024**3
MOST_FAULTS = 20


def main(name: str, seed: str, first: int, number: int) -> int:
    """Give the inputs from ``first`` on; the number of faults."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable(logging.CRITICAL)
    door, faults = DOORS[name](), 0
    for index in range(first, first + number):
        print(index, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        given: object = None
        try:
            if index == first or index % ROUND == 0:
                door.begin()
            given = door.draw(Random(f"{seed} {name} {index}"))
            door.enter(given)
            if index % ROUND == ROUND - 1 or index == first + number - 1:
                given = "the end of the round"
                door.end()
        except BaseException:
            faults += 1
            print(f"\nFAULT {name} {seed} {index}\n{repr(given)[:3_000]}\n{traceback.format_exc()}")
        if faults >= MOST_FAULTS:
            break
    faulthandler.cancel_dump_traceback_later()
    return faults


if __name__ == "__main__":
    door, seed, first, number = sys.argv[1:]
    sys.exit(1 if main(door, seed, int(first), int(number)) else 0)
