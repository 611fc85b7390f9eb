"""The terms of JSON-LD 1.1 contexts, as ``context_reader`` finds them.

``Layer`` is what one context says, ``Active`` what holds where several lie upon each other. A
scoped context is a layer of its own, on the term that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kiprdf.errors import KipError
from kiprdf.interchange.formats.json_text import Path, Places
from kiprdf.source import NOWHERE

ContextJson: TypeAlias = Mapping[str, Any]
"""A JSON object with the member ``@context``."""
Loader: TypeAlias = Callable[[str], Any]
"""Fetches the JSON document of a URL; only a caller's own loader reaches the network."""

NESTED = ("attributes", "metadata")
"""The two maps inside of a KIP element, each with a context of its own."""

UNSET: Any = object()
"""What a term says that leaves a matter to the default of its context."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a context says of a term. Without an IRI the term is removed."""

    iri: str | None
    prefix: bool = False
    protected: bool = False
    type: str | None = None
    language: str | None = UNSET
    direction: str | None = UNSET
    container: str | None = None
    nest: str | None = None
    scopes: tuple[Layer, ...] = ()

    @property
    def is_keyword(self) -> bool:
        return self.iri is not None and self.iri.startswith("@")


@dataclass(frozen=True)
class Layer:
    """One context: its terms, its ``@vocab``, ``@language`` and ``@direction`` where it says so."""

    terms: dict[str, Definition] = field(default_factory=dict)
    settings: dict[str, str | None] = field(default_factory=dict)
    resets: bool = False

    def below(self, upper: Layer) -> Layer:
        """Two layers as one; the upper one wins."""
        if upper.resets:
            return upper
        return Layer(
            _first(upper.terms, self.terms), {**self.settings, **upper.settings}, self.resets
        )


@dataclass(frozen=True)
class Active:
    """The terms and settings that hold somewhere; the terms of upper layers come first."""

    terms: dict[str, Definition] = field(default_factory=dict)
    settings: dict[str, str | None] = field(default_factory=dict)

    def under(self, *layers: Layer) -> Active:
        """What holds where layers lie upon this, the last one on top."""
        active = self
        for layer in layers:
            below = Active() if layer.resets else active
            terms = _first(layer.terms, below.terms)
            active = Active(terms, {**below.settings, **layer.settings})
        return active

    def language(self, definition: Definition | None) -> str | None:
        return self._default("@language", UNSET if definition is None else definition.language)

    def direction(self, definition: Definition | None) -> str | None:
        return self._default("@direction", UNSET if definition is None else definition.direction)

    def _default(self, keyword: str, own: str | None) -> str | None:
        return self.settings.get(keyword) if own is UNSET else own


def _first(upper: dict[str, Definition], lower: dict[str, Definition]) -> dict[str, Definition]:
    """All terms, those of the upper layer first and instead of those of the lower one."""
    return {**upper, **{term: found for term, found in lower.items() if term not in upper}}


@dataclass(frozen=True)
class Document:
    """Where a context comes from, for what is said of its faults."""

    name: str
    text: str | None = None
    places: Places = field(default_factory=dict)

    def fault(self, path: Path, what: str, hint: str = "Correct the context.") -> KipError:
        """The error of a member; ``what`` is a sentence."""
        names = [str(part) for part in path if isinstance(part, str) and part != "@context"]
        place = f", {'.'.join(names)}" if names else ""
        spans = (self.places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.places)
        message = f"{self.name}{place}: {what}"
        return KipError("KIP_1001", message, hint, next(spans, NOWHERE), self.text)
