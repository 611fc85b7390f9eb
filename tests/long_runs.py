"""How much a test run tries where chance is involved: little, or what ``tests.trust`` sets."""

from __future__ import annotations

import os

SEED = int(os.environ.get("KIPRDF_SEED", "1"))


def amount(name: str, default: int) -> int:
    """The number in the environment variable ``KIPRDF_<name>``."""
    return int(os.environ.get(f"KIPRDF_{name}", default))
