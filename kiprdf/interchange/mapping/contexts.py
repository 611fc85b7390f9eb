"""Mapping files: JSON-LD 1.1 contexts that map the names of a nexus to IRIs.

Contexts are read by JSON-LD's own rules (``reader``). The terms of the top level are
concept types and predicates, and apply to attributes and metadata keys too. The context of a type
overrides them, and the contexts below ``attributes`` and ``metadata`` override both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from typing import Any, Literal

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.interchange.mapping.reader import (
    Context,
    ContextJson,
    ContextReader,
    Definition,
    Loader,
    context_json,
    packs,
    read_source,
)
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab

ORIGINAL = "original"
"""The name of the mapping to the IRIs that imported knowledge came with."""

__all__ = ["ORIGINAL", "ContextJson", "Loader", "Mapping", "Term", "packs"]


@dataclass(frozen=True, slots=True)
class Term:
    """What a name of KIP is in RDF: its IRI, and how its values are written."""

    iri: NamedNode
    datatype: NamedNode | None = None
    """Literals get it when their text fits it."""
    language: str | None = None
    direction: str | None = None
    is_iri: bool = False
    """A string is an IRI."""
    container: Literal["@set", "@list"] | None = None


class Mapping:
    """Maps names of KIP to IRIs of other vocabularies, and back; made by ``load``.

    >>> mapping = Mapping.load("schema-org")
    >>> mapping.predicate("knows").value
    'https://schema.org/knows'
    >>> mapping.predicate_of("https://schema.org/knows")
    'knows'
    """

    prefixes: dict[str, str]
    warnings: tuple[str, ...]

    def __init__(self, context: Context, warnings: tuple[str, ...] = ()) -> None:
        self._context = context
        self._root = _Words(context)
        self._metadata = self._root.inside("metadata")
        self.prefixes = {
            term: definition.iri
            for term, definition in sorted(context.terms.items())
            if definition.prefix and definition.iri is not None
        }
        self.warnings = (*warnings, *_doubles(context))
        self.is_original = False
        """Whether it stands for the IRIs that the knowledge of a nexus came with."""

    @classmethod
    def load(
        cls,
        *sources: str | os.PathLike[str] | ContextJson | Mapping,
        loader: Loader | None = None,
    ) -> Mapping:
        """The mapping of stacked contexts; where two differ, the later one wins.

        A source is the name of a pack ("schema-org"), a path, ``{"@context": …}`` or a mapping.
        URLs of remote contexts go to ``loader``; without one they are refused. Raises KIP_1001,
        with line and column in a file, for what is meaningless in JSON-LD or in a mapping,
        KIP_4002 for a mapping beyond ``limits``; OSError for a file that cannot be read. The name
        "original" is the mapping ``original``, which is used alone.
        """
        if ORIGINAL in sources:
            if len(sources) > 1:
                message = "The mapping 'original' cannot be combined with another one."
                raise KipError("KIP_1001", message, "Give one of them.")
            return cls.original()
        bundled = packs()
        names = (*takewhile(lambda one: isinstance(one, str) and one in bundled, sources),)
        context, warnings = _packs(names)
        for source in sources[len(names) :]:
            if isinstance(source, Mapping):
                upper, warned = source._context, tuple[str, ...]()
            else:
                upper, warned = _read(source, context, loader)
            context = _stacked(context, upper)
            warnings += warned
        return cls(context, warnings)

    @classmethod
    def original(cls) -> Mapping:
        """What ``original`` names: each nexus has its own words for it (docs/decisions/080).

        The prefixes are those of the packs.
        """
        mapping = cls.none()
        mapping.is_original = True
        for name in packs():
            mapping.prefixes = cls.load(name).prefixes | mapping.prefixes
        return mapping

    @classmethod
    def none(cls) -> Mapping:
        """The mapping that maps nothing."""
        return cls(Context())

    @property
    def is_empty(self) -> bool:
        """Whether it maps nothing."""
        is_without_words = not self._context.terms and "@vocab" not in self._context.settings
        return is_without_words and not self.is_original

    def concept_type(self, name: str) -> NamedNode | None:
        term = self._root.term(name)
        return None if term is None else term.iri

    def predicate(self, name: str) -> NamedNode | None:
        return self.concept_type(name)

    def label(self, concept_type: str | None = None) -> Term | None:
        """What the name of a concept becomes besides ``rdfs:label``: the term ``name``."""
        return self._root.inside(concept_type).term("name")

    def attribute(self, key: str, concept_type: str | None = None) -> Term | None:
        """The term of an attribute, on concepts of a type or on propositions."""
        return self._attributes(concept_type).term(key)

    def metadata(self, key: str) -> Term | None:
        return self._metadata.term(key)

    def type_of(self, iri: str) -> str | None:
        """The concept type of an IRI; capitalized names are preferred."""
        return next(iter(sorted(self._root.keys(iri), key=lambda k: not _is_capital(k))), None)

    def predicate_of(self, iri: str) -> str | None:
        """The predicate of an IRI; names that are not capitalized are preferred."""
        return next(iter(sorted(self._root.keys(iri), key=_is_capital)), None)

    def attribute_of(self, iri: str, concept_type: str | None = None) -> tuple[str, Term] | None:
        return next(iter(self.attributes_of(iri, concept_type)), None)

    def attributes_of(self, iri: str, concept_type: str | None = None) -> list[tuple[str, Term]]:
        """All attributes with an IRI, the preferred one first; their datatypes may differ."""
        return self._attributes(concept_type).pairs(iri)

    def metadata_of(self, iri: str) -> tuple[str, Term] | None:
        return next(iter(self.all_metadata_of(iri)), None)

    def all_metadata_of(self, iri: str) -> list[tuple[str, Term]]:
        """All metadata keys with an IRI, as ``attributes_of``."""
        return self._metadata.pairs(iri)

    def context(self) -> dict[str, Any]:
        """All contexts as one JSON-LD 1.1 context, which needs no other."""
        return context_json(self._context)

    def _attributes(self, concept_type: str | None) -> _Words:
        return self._root.inside(concept_type).inside("attributes")


class _Words:
    """The terms of one place, both ways."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._vocabulary = context.settings.get("@vocab")
        self._terms: dict[str, Term | None] = {}
        self._keys: dict[str, list[str]] = {}
        self._inside: dict[str, _Words] = {}
        for key, definition in context.terms.items():
            if _is_word(key, definition):
                self._keys.setdefault(str(definition.iri), []).append(key)

    def inside(self, term: str | None) -> _Words:
        """The words where the context of a term applies: a type or one of the two maps."""
        definition = self.context.terms.get(term or "")
        if term is None or definition is None or definition.scope is None:
            return self
        if term not in self._inside:
            self._inside[term] = _Words(self.context.under(definition.scope))
        return self._inside[term]

    def term(self, key: str) -> Term | None:
        if key not in self._terms:
            self._terms[key] = self._read(key)
        return self._terms[key]

    def _read(self, key: str) -> Term | None:
        definition = self.context.terms.get(key)
        if definition is None and self._vocabulary is not None and is_key(key):
            definition = Definition(self._vocabulary + key)
        if definition is None or not _is_word(key, definition):
            return None
        return _term(self.context, definition)

    def keys(self, iri: str) -> list[str]:
        """The terms for an IRI; the first is the one that is read back."""
        keys = self._keys.get(iri, [])
        if not keys and self._vocabulary is not None and iri.startswith(self._vocabulary):
            key = iri[len(self._vocabulary) :]
            return [key] if is_key(key) and key not in self.context.terms else []
        return keys

    def pairs(self, iri: str) -> list[tuple[str, Term]]:
        pairs = ((key, self.term(key)) for key in self.keys(iri))
        return [(key, term) for key, term in pairs if term is not None]


def _is_word(term: str, definition: Definition) -> bool:
    """Whether a term can be a KIP identifier: not removed, no keyword and no prefix."""
    if definition.iri is None or definition.is_keyword or definition.prefix:
        return False
    return is_key(term) or term in META_TYPES


def _term(context: Context, definition: Definition) -> Term:
    values = definition.values
    type, container = values.get("@type"), values.get("@container")
    iri = NamedNode(str(definition.iri))
    if type in ("@id", "@vocab"):
        return Term(iri, is_iri=True, container=container)
    if type not in (None, "@none"):
        datatype = vocab.JSON if type == "@json" else NamedNode(type)
        return Term(iri, datatype, container=container)
    texts = context.settings if type is not None else {**context.settings, **values}
    language, direction = texts.get("@language"), texts.get("@direction")
    return Term(iri, None, language, direction, container=container)


def _is_capital(name: str) -> bool:
    return name[:1].isupper() or name.startswith("$")


# Stacking -------------------------------------------------------------------------------------


def _read(source: Any, context: Context, loader: Loader | None) -> tuple[Context, tuple[str, ...]]:
    """The context of a source that follows another one, and its warnings."""
    reader = ContextReader(loader)
    return reader.read(context, *read_source(source)), tuple(reader.warnings)


@lru_cache(maxsize=64)
def _packs(names: tuple[Any, ...]) -> tuple[Context, tuple[str, ...]]:
    """The context of stacked packs, whose files do not change, and its warnings."""
    if not names:
        return Context(), ()
    below, warnings = _packs(names[:-1])
    upper, warned = _read(names[-1], below, None)
    return _stacked(below, upper), (*warnings, *warned)


def _stacked(lower: Context, upper: Context) -> Context:
    """Merge the contexts of two mapping files, term by term, including scoped contexts.

    JSON-LD would replace ``attributes`` as a whole, and all definitions of the lower file with it.
    """
    merged = {
        term: _over(lower.terms[term], definition) if term in lower.terms else definition
        for term, definition in upper.terms.items()
    }
    return upper if upper.resets else lower.under(Context(merged, upper.settings))


def _over(lower: Definition, upper: Definition) -> Definition:
    """A term of two files: the later definition, with the scoped contexts of both as one."""
    if upper.iri is None or lower.scope is None:
        return upper
    return replace(upper, scope=_stacked(lower.scope, upper.scope or Context()))


def _doubles(context: Context, place: str = "") -> Iterator[str]:
    """A warning for each word that cannot be restored because another has the same meaning."""
    first: dict[object, str] = {}
    for key, definition in context.terms.items():
        if definition.scope is not None:
            yield from _doubles(definition.scope, f" in '{shown(key)}'")
        if not _is_word(key, definition):
            continue
        kept = first.setdefault((_term(context, definition), not place and _is_capital(key)), key)
        if kept != key:
            both = f"'{shown(kept)}' and '{shown(key)}' both mean <{definition.iri}>{place}"
            yield f"{both}; when read back it is '{shown(kept)}'."
