"""Mapping files: JSON-LD 1.1 contexts that map the names of a nexus to IRIs.

Contexts are read by JSON-LD's own rules (``context_reader``). The terms of the top level are
concept types and predicates, and apply to attributes and metadata keys too. The context of a type
overrides them, and the contexts below ``attributes`` and ``metadata`` override both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.interchange.mapping.context_reader import ContextReader, document_of, packs
from kiprdf.interchange.mapping.terms import (
    Active,
    ContextJson,
    Definition,
    Layer,
    Loader,
    context_json,
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

    def __init__(self, layer: Layer, warnings: tuple[str, ...] = ()) -> None:
        self._layer = layer
        self._root = _Words(Active().under(layer))
        self._concepts: dict[str | None, _Words] = {None: self._root}
        self._attributes: dict[str | None, _Words] = {}
        self._metadata = _Words(_inside(self._root.active, "metadata"))
        self.prefixes = {
            term: definition.iri
            for term, definition in sorted(layer.terms.items())
            if definition.prefix and definition.iri is not None
        }
        self.warnings = (*warnings, *_doubles(layer))
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
        layer = Layer()
        warnings: list[str] = []
        for source in sources:
            if isinstance(source, Mapping):
                layer = _stacked(layer, source._layer)
                continue
            document, context, path = document_of(source)
            reader = ContextReader(document, loader)
            layer = _stacked(layer, reader.layer(Active().under(layer), context, path))
            warnings += reader.warnings
        return cls(layer, tuple(warnings))

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
        return cls(Layer())

    @property
    def is_empty(self) -> bool:
        """Whether it maps nothing."""
        is_without_words = not self._layer.terms and "@vocab" not in self._layer.settings
        return is_without_words and not self.is_original

    def concept_type(self, name: str) -> NamedNode | None:
        term = self._root.term(name)
        return None if term is None else term.iri

    def predicate(self, name: str) -> NamedNode | None:
        return self.concept_type(name)

    def label(self, concept_type: str | None = None) -> Term | None:
        """What the name of a concept becomes besides ``rdfs:label``: the term ``name``."""
        return self._concept(concept_type).term("name")

    def attribute(self, key: str, concept_type: str | None = None) -> Term | None:
        """The term of an attribute, on concepts of a type or on propositions."""
        return self._words(concept_type).term(key)

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
        return self._words(concept_type).pairs(iri)

    def metadata_of(self, iri: str) -> tuple[str, Term] | None:
        return next(iter(self.all_metadata_of(iri)), None)

    def all_metadata_of(self, iri: str) -> list[tuple[str, Term]]:
        """All metadata keys with an IRI, as ``attributes_of``."""
        return self._metadata.pairs(iri)

    def context(self) -> dict[str, Any]:
        """All contexts as one JSON-LD 1.1 context, which needs no other."""
        return context_json(self._layer)

    def _scoped(self, concept_type: str | None) -> str | None:
        """The type, if it has its own context."""
        definition = self._root.active.terms.get(concept_type or "")
        return concept_type if definition is not None and definition.scopes else None

    def _concept(self, concept_type: str | None) -> _Words:
        """The words on the concepts of a type."""
        key = self._scoped(concept_type)
        if key is not None and key not in self._concepts:
            active = self._root.active
            self._concepts[key] = _Words(active.under(*active.terms[key].scopes))
        return self._concepts[key]

    def _words(self, concept_type: str | None) -> _Words:
        """The words among the attributes of a type."""
        key = self._scoped(concept_type)
        if key not in self._attributes:
            self._attributes[key] = _Words(_inside(self._concept(key).active, "attributes"))
        return self._attributes[key]


class _Words:
    """The terms of one place, both ways."""

    def __init__(self, active: Active) -> None:
        self.active = active
        self._vocabulary = active.settings.get("@vocab")
        self._terms: dict[str, Term | None] = {}
        self._keys: dict[str, list[str]] = {}
        for key, definition in active.terms.items():
            if _is_word(key, definition):
                self._keys.setdefault(str(definition.iri), []).append(key)

    def term(self, key: str) -> Term | None:
        if key not in self._terms:
            self._terms[key] = self._read(key)
        return self._terms[key]

    def _read(self, key: str) -> Term | None:
        definition = self.active.terms.get(key)
        if definition is not None:
            return _term(self.active, definition) if _is_word(key, definition) else None
        if self._vocabulary is None or not is_key(key):
            return None
        return _term(self.active, Definition(self._vocabulary + key))

    def keys(self, iri: str) -> list[str]:
        """The terms for an IRI; the first is the one that is read back."""
        keys = self._keys.get(iri, [])
        if not keys and self._vocabulary is not None and iri.startswith(self._vocabulary):
            key = iri[len(self._vocabulary) :]
            return [key] if is_key(key) and key not in self.active.terms else []
        return keys

    def pairs(self, iri: str) -> list[tuple[str, Term]]:
        pairs = ((key, self.term(key)) for key in self.keys(iri))
        return [(key, term) for key, term in pairs if term is not None]


def _is_word(term: str, definition: Definition) -> bool:
    """Whether a term can be a KIP identifier: not removed, no keyword and no prefix."""
    if definition.iri is None or definition.is_keyword or definition.prefix:
        return False
    return is_key(term) or term in META_TYPES


def _term(active: Active, definition: Definition) -> Term:
    assert definition.iri is not None
    container: Any = definition.container
    is_iri = definition.type in ("@id", "@vocab")
    datatype = None
    if definition.type == "@json":
        datatype = vocab.JSON
    elif definition.type is not None and not definition.type.startswith("@"):
        datatype = NamedNode(definition.type)
    if is_iri or datatype is not None:
        return Term(NamedNode(definition.iri), datatype, None, None, is_iri, container)
    language, direction = active.language(definition), active.direction(definition)
    return Term(NamedNode(definition.iri), None, language, direction, False, container)


def _inside(active: Active, nest: str) -> Active:
    """The terms in effect inside the attributes or the metadata of an element."""
    definition = active.terms.get(nest)
    return active if definition is None else active.under(*definition.scopes)


def _is_capital(name: str) -> bool:
    return name[:1].isupper() or name.startswith("$")


# Stacking -------------------------------------------------------------------------------------


def _stacked(lower: Layer, upper: Layer) -> Layer:
    """Merge two mapping files into one layer, term by term, including scoped contexts.

    JSON-LD would replace ``attributes`` as a whole, and all definitions of the lower file with it.
    """
    if upper.resets:
        return upper
    merged = {
        term: _over(lower.terms[term], definition) if term in lower.terms else definition
        for term, definition in upper.terms.items()
    }
    return lower.below(Layer(merged, upper.settings))


def _over(lower: Definition, upper: Definition) -> Definition:
    """A term of two files: the later definition, with the scoped contexts of both as one."""
    if upper.iri is None or not lower.scopes:
        return upper
    scope = lower.scopes[0]
    for layer in upper.scopes:
        scope = _stacked(scope, layer)
    return replace(upper, scopes=(scope,))


def _doubles(layer: Layer, place: str = "") -> Iterator[str]:
    """A warning for each word that cannot be restored because another has the same meaning."""
    first: dict[object, str] = {}
    active = Active().under(layer)
    for key, definition in layer.terms.items():
        if definition.scopes:
            yield from _doubles(definition.scopes[0], f" in '{shown(key)}'")
        if not _is_word(key, definition):
            continue
        kept = first.setdefault((_term(active, definition), not place and _is_capital(key)), key)
        if kept != key:
            both = f"'{shown(kept)}' and '{shown(key)}' both mean <{definition.iri}>{place}"
            yield f"{both}; when read back it is '{shown(kept)}'."
