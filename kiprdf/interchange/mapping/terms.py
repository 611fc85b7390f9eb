"""The terms of JSON-LD 1.1 contexts, as ``context_reader`` finds them.

``Layer`` is what one context says, ``Active`` what holds where several lie upon each other. A
scoped context is a layer of its own, on the term that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats.json_text import Path, Places
from kiprdf.source import NOWHERE, Span

ContextJson: TypeAlias = Mapping[str, Any]
"""A JSON object with the member ``@context``."""
Loader: TypeAlias = Callable[[str], Any]
"""Fetches the JSON document of a URL; only a caller's own loader reaches the network."""

MAPS = ("attributes", "metadata")
"""The two maps inside of a KIP element, each with a context of its own."""

PREFIX_ENDS = tuple(":/?#[]@")
"""How an IRI ends that is a prefix without being called one (JSON-LD 1.1 API, 4.2.2)."""

UNSET: Any = object()
"""What a term says that leaves a matter to the default of its context."""


_NAMED = 6
"""How many names of the way to a fault its message has."""


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

    def fault(self, path: Path, what: str, hint: str, code: str = "KIP_1001") -> KipError:
        """The error of a member; ``what`` is a sentence."""
        names = [shown(part) for part in path if isinstance(part, str) and part != "@context"]
        if len(names) > _NAMED:
            names = ["…", *names[-_NAMED:]]
        place = f", {'.'.join(names)}" if names else ""
        spans = (self.places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.places)
        span = next(spans, NOWHERE if self.text is None else Span(0, 1))
        return KipError(code, printable(f"{self.name}{place}: {what}"), hint, span, self.text)


def printable(text: str) -> str:
    """A text with the halves of characters that JSON can name, and no terminal shows, escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
