"""The data files of the package: capsules and mappings.

In a checkout they are at the top level, in an installed wheel in ``kiprdf/data``.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).resolve().parent


class Capsule(NamedTuple):
    """A bundled capsule: its file name, its text, and a digest of the text."""

    name: str
    text: str
    digest: str


def directory(name: str) -> Path:
    """The folder ``capsules`` or ``mappings``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def read_capsule(path: Path) -> Capsule:
    text = path.read_text("utf-8")
    return Capsule(path.name, text, hashlib.sha256(text.encode()).hexdigest())


@cache
def bundled_capsules() -> tuple[Capsule, ...]:
    """The capsules that every nexus starts with, in the order in which they are loaded.

    A process reads them once: each opening compares their digests.

    >>> [capsule.name for capsule in bundled_capsules()][:2]
    ['00_genesis.kip', '10_person.kip']
    """
    return tuple(map(read_capsule, sorted(directory("capsules").glob("*.kip"))))


def optional_capsule(name: str) -> Capsule:
    """A capsule that a part of the library applies when it is first used, such as ``memory``."""
    return read_capsule(directory("capsules") / "optional" / f"{name}.kip")


def example_capsule(name: str) -> Capsule:
    """An example capsule, such as ``medical``."""
    return read_capsule(directory("capsules") / "examples" / f"{name}.kip")
