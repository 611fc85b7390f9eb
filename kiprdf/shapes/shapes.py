"""SHACL shapes of a nexus, and what does not fit them in the words of KIP."""

from __future__ import annotations

import json
from collections.abc import Collection
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError
from kiprdf.loading import load
from kiprdf.rdf.literals import Json
from kiprdf.store import Delta, Store

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


@dataclass(frozen=True, slots=True)
class Violation:
    """What an element does not satisfy.

    ``path`` is where: ``attributes.dose``, ``"treats"``, ``type``; None is the element itself.
    ``value`` is the value that does not fit as FIND shows it, for an element its id; None where
    one is missing. ``message`` is the ``sh:message``, ``hint`` the ``sh:agentInstruction``.
    ``severity`` is Violation, Warning, Info, or the IRI of another one. ``shape`` is the IRI of
    the shape, ``element`` the id of the element, or the IRI of what is no element.

    >>> print(Violation("Give the dose in mg.", "attributes.dose", -5, None, "Violation",
    ...     "urn:shape:Drug", "C:Drug/Aspirin"))
    C:Drug/Aspirin, attributes.dose: Give the dose in mg. The value is -5.
    """

    message: str
    path: str | None
    value: Json
    hint: str | None
    severity: str
    shape: str
    element: str

    def __str__(self) -> str:
        place = self.element if self.path is None else f"{self.element}, {self.path}"
        message = self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."
        if self.value is None or self.value == self.element:
            return f"{place}: {message}"
        text = json.dumps(self.value, ensure_ascii=False)
        return f"{place}: {message} The value is {text if len(text) <= 100 else text[:99] + '…'}."


class Shapes:
    """Shapes in the IRIs of a nexus, or in the words of a mapping.

    ``warnings`` are sentences on what is in the shapes and not in the nexus, and on what is not
    evaluated.
    """

    def __init__(self, checker: Any) -> None:
        self.checker = checker
        self.warnings: tuple[str, ...] = checker.warnings

    @classmethod
    def parsed(cls, text: str, vocabulary: Store, mapping: Mapping | None = None) -> Shapes:
        """Read shapes in Turtle for the nexus in a store.

        Raises KIP_1001 for what is no Turtle, with its place, for shapes that are ill-formed or
        refer to themselves, and for SPARQL that reads other data; ``StoreError`` where the extra
        ``shapes`` is not installed.
        """
        require_validator()
        load("kiprdf.shapes.checker")
        from kiprdf.shapes.checker import Checker

        if mapping is not None and mapping.is_original:
            message = "Shapes cannot be in the words of the mapping 'original'."
            raise KipError("KIP_1001", message, "Write them in the IRIs of the nexus.")
        return cls(Checker(text, vocabulary, mapping))


def require_validator() -> None:
    """Raise ``StoreError`` where the extra ``shapes`` is not installed; loads nothing."""
    if find_spec("pyshacl") is None:
        raise StoreError(
            "The shapes of a nexus need pySHACL: pip install 'kiprdf[shapes]'; "
            "without it, open the nexus with read_only=True."
        )


def violations(
    shapes: Shapes,
    dataset: Store,
    touched: Collection[NamedNode] | None,
    delta: Delta | None = None,
) -> list[Violation]:
    """Where elements of a dataset, after a delta of it, do not satisfy shapes.

    The elements are the ``touched`` ones, and those for which a shape reads what the delta
    changes: of these only what they satisfied before is a violation. Without ``touched`` it is
    every element. Shapes of any severity count.
    """
    results: list[Violation] = shapes.checker.violations(dataset, touched, delta or Delta())
    return results
