"""Starts and stops each engine on loopback and prints a table: ``python -m tests.engines``.

It installs nothing; the table says how to get what is missing.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.engines.servers import KINDS, running


def main(arguments: list[str] | None = None) -> int:
    """The number of engines that are installed and did not start."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *KINDS], help="all, if none is named")
    failed = 0
    print("| engine | started in | |\n|---|---|---|")
    for name in parser.parse_args(arguments).names or KINDS:
        kind = KINDS[name]
        if missing := kind.missing():
            print(f"| {name} | - | needs {missing}: {kind.install} |", flush=True)
            continue
        began = time.monotonic()
        try:
            with running(name):
                print(f"| {name} | {time.monotonic() - began:.1f} s | works |", flush=True)
        except (OSError, RuntimeError) as fault:
            failed += 1
            print(f"| {name} | - | {' '.join(str(fault).split())} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
