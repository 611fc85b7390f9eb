"""SHACL shapes, and the violations of them in the words of KIP."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from kiprdf.rdf.literals import Json
from kiprdf.store import Delta, Store

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


@dataclass(frozen=True, slots=True)
class Violation:
    """What an element does not satisfy.

    ``path`` is that of the value, such as ``attributes.dose``, ``"treats"`` or ``type``, None for
    the element itself. ``value`` is the value that does not fit, as FIND shows it, the id of an
    element, or None. ``hint`` is the ``sh:agentInstruction`` of the shape. ``severity`` is
    Violation, Warning or Info. ``shape`` is the IRI of the shape, ``element`` the id of the
    element, or the IRI of what is none.
    """

    message: str
    path: str | None
    value: Json
    hint: str | None
    severity: str
    shape: str
    element: str

    def __str__(self) -> str:
        return self.message


class Shapes:
    """Shapes in the words of a nexus, or of a mapping.

    ``text`` is their Turtle, ``warnings`` are sentences on what the nexus does not have.
    """

    def __init__(self, text: str, mapping: Mapping | None, warnings: tuple[str, ...]) -> None:
        self.text = text
        self.mapping = mapping
        self.warnings = warnings

    @classmethod
    def parsed(cls, text: str, vocabulary: Store, mapping: Mapping | None = None) -> Shapes:
        """Read shapes for a nexus. Raises ``KipError`` with the place of what is wrong."""
        return cls(text, mapping, ())


def violations(
    shapes: Shapes,
    dataset: Store,
    touched: Collection[NamedNode] | None,
    delta: Delta | None = None,
) -> list[Violation]:
    """Where elements of a dataset, with a delta applied to it, do not satisfy shapes.

    The elements are the touched ones, and those for which a shape reads what the delta changes; all
    without ``touched``. Warnings and infos of shapes are among the violations.
    """
    return []
