"""The KIP names of the IRIs in data: types, predicates, and keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.external import Object
from kiprdf.interchange.importing.names import (
    LABELS,
    OWL_SAME_AS,
    first_spelling,
    identifier,
    numbered,
    spellings,
    taken_by_nexus,
    term_of_mapping,
)
from kiprdf.interchange.mapping import contexts
from kiprdf.interchange.mapping.contexts import Term
from kiprdf.language.names import META_TYPES, is_identifier, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris

T = TypeVar("T")

_DEFINED = {"concept type": META_TYPES[0], "predicate": META_TYPES[1]}
"""The names that have definitions."""


class Key(NamedTuple):
    """An attribute or metadata key, and how the mapping types its values."""

    name: str
    term: Term | None = None
    is_native: bool = False
    """Whether the IRI is the one that kiprdf writes for the key."""


class Naming:
    """The KIP names of IRIs: by the mapping, by definitions of the nexus, by the local name.

    ``index`` is the nexus before the import, with the original IRIs that its elements have in the
    data. ``labels`` are the names of terms whose IRIs say nothing.
    """

    def __init__(
        self,
        mapping: contexts.Mapping,
        index: ElementIndex,
        bases: Iterable[Iris],
        labels: Mapping[str, str],
    ) -> None:
        self._labels = labels
        self._mapping = mapping
        self.index = index
        self._bases = tuple(bases)
        self._used: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._has_mapped = False

    def _mapped(self, look_up: Callable[[str], T | None], iri: str) -> T | None:
        """The word of the mapping for an IRI, in either namespace of schema.org."""
        word = first_spelling(look_up, iri)
        self._has_mapped = self._has_mapped or bool(word)
        return word

    def mapping_is_unused(self) -> bool:
        """Whether there is a mapping that has named no IRI so far; "original" never names one."""
        has_words = not self._mapping.is_empty and not self._mapping.is_original
        return has_words and not self._has_mapped

    def element(self, iri: str) -> ElementName | None:
        """The identity of the element that has the IRI under one of the bases."""
        names = (iris.name(iri) for iris in self._bases)
        return next((name for name in names if name is not None), None)

    def is_below_base(self, iri: str) -> bool:
        return any(iri.startswith(iris.base) for iris in self._bases)

    def type(self, iri: str) -> str | None:
        """The concept type of a class, whether it is defined or not."""
        own = self._of_nexus("$ConceptType", iri)
        return own if own in META_TYPES else self._definition(META_TYPES[0], iri)

    def predicate(self, iri: str) -> str | None:
        """The predicate of a property, whether it is defined or not."""
        return self._definition(META_TYPES[1], iri)

    def _definition(self, meta_type: str, iri: str) -> str | None:
        name = self._mapped_definition(meta_type, iri) or self._of_nexus(meta_type, iri)
        name = name or self._local(meta_type, iri)
        return name if name is not None and is_identifier(name) else None

    def _mapped_definition(self, meta_type: str, iri: str) -> str | None:
        return self._mapped(term_of_mapping(self._mapping, meta_type), iri)

    def is_mapped_type(self, iri: str) -> bool:
        return self._mapped_definition(META_TYPES[0], iri) is not None

    def is_native_predicate(self, iri: str) -> bool:
        """Whether an IRI is one that kiprdf writes for a predicate."""
        name = self.element(iri)
        return isinstance(name, ConceptName) and name.type == "$PropositionType"

    def is_mapped_predicate(self, iri: str) -> bool:
        return self._mapped_definition(META_TYPES[1], iri) is not None

    def is_defined_predicate(self, iri: str) -> bool:
        """Whether a property is a predicate of the mapping or of the nexus."""
        is_defined = self.index.definition("$PropositionType", iri) is not None
        return is_defined or self.is_mapped_predicate(iri)

    def _local(self, meta_type: str, iri: str) -> str | None:
        """The local name, with a number if a definition of that name has other IRIs."""
        name = self._plain(iri)
        if name is None or self.is_below_base(iri) or not self._has_iris(meta_type, name):
            return name
        return next(one for one in numbered(name) if not self._is_defined(meta_type, one))

    def _plain(self, iri: str) -> str | None:
        """The name of a term by itself: its local name, or its label if that says nothing."""
        return self._labels.get(iri) or identifier(iri)

    def _has_iris(self, meta_type: str, name: str) -> bool:
        return bool(self.index.originals.get(ConceptName(meta_type, name).id))

    def _is_defined(self, meta_type: str, name: str) -> bool:
        return name in self.index.defined(meta_type) or self._has_iris(meta_type, name)

    def _has_only_the_name(self, meta_type: str, name: str, iri: str) -> bool:
        """Whether an IRI shares nothing but its name with a definition of the nexus."""
        if self._of_nexus(meta_type, iri) or not self._is_defined(meta_type, name):
            return False
        return self._mapped_definition(meta_type, iri) is None

    def _is_numbered(self, meta_type: str, name: str, iri: str) -> bool:
        """Whether an IRI gets a new definition with a number after its local name."""
        is_defined = self._of_nexus(meta_type, iri) or self._mapped_definition(meta_type, iri)
        return not is_defined and self._plain(iri) not in (None, name)

    def _of_nexus(self, meta_type: str, iri: str) -> str | None:
        """The name of the definition that has the IRI, as its own or as original IRI."""
        name = self.element(iri)
        if isinstance(name, ConceptName):
            return name.name if name.type == meta_type else None
        return self.index.definition(meta_type, iri)

    def attribute(self, iri: str, concept_type: str | None, value: Object) -> Key | None:
        """The attribute of a property on concepts of a type; on propositions without a type."""
        if iri.startswith(vocab.ATTRIBUTE):
            return _native_key(iri, vocab.ATTRIBUTE)
        if iri == OWL_SAME_AS:
            return Key(SAME_AS)
        keys = self._attributes(iri, concept_type)
        if keys:
            return _best(keys, value)
        name = self.index.key(iri, concept_type) or self._plain(iri)
        return None if name is None else Key(name)

    def is_claim(self, iri: str) -> bool:
        """Whether the values of a property are the original IRIs of its subjects."""
        if iri in (OWL_SAME_AS, vocab.ATTRIBUTE + SAME_AS):
            return True
        keys = self._attributes(iri, None)
        return keys is not None and keys[0][0] == SAME_AS

    def is_mapped_attribute(self, iri: str, concept_type: str | None) -> bool:
        return self._attributes(iri, concept_type) is not None

    def _attributes(self, iri: str, concept_type: str | None) -> list[tuple[str, Term]] | None:
        return self._mapped(lambda one: self._mapping.attributes_of(one, concept_type), iri)

    def metadata(self, iri: str, value: Object) -> Key | None:
        """The metadata key of a property; None if it has none."""
        if iri.startswith(vocab.METADATA):
            return _native_key(iri, vocab.METADATA)
        keys = self._mapped(self._mapping.all_metadata_of, iri)
        return _best(keys, value) if keys else None

    def is_link(self, iri: str) -> bool:
        """Whether the mapping names a property whose values are not IRIs, such as a homepage."""
        if self.is_mapped_predicate(iri):
            return True
        metadata = self._mapped(self._mapping.all_metadata_of, iri) or []
        keys = [*(self._attributes(iri, None) or ()), *metadata]
        return bool(keys) and not any(term.is_iri for _, term in keys)

    def labels(self, concept_type: str | None) -> tuple[str, ...]:
        """The properties that name a concept, the best first."""
        mapped = self._mapping.label(concept_type)
        return LABELS if mapped is None else (*spellings(mapped.iri.value), *LABELS)

    def note(self, what: str, name: str, iri: str) -> None:
        """Remember that an IRI was given a name."""
        self._used[what, name].add(iri)

    def warnings(self) -> Iterator[str]:
        """Names that several IRIs share, or that the nexus defines itself."""
        for (what, name), iris in sorted(self._used.items()):
            for iri in sorted(iris) if what in _DEFINED else ():
                if self._has_only_the_name(_DEFINED[what], name, iri):
                    yield (
                        f"<{iri}> is considered the same as the {what} {name}, "
                        "which the nexus defines itself."
                    )
                elif self._is_numbered(_DEFINED[what], name, iri):
                    yield taken_by_nexus(iri, name, str(self._plain(iri)), f"the {what} ")
            if len(iris) > 1:
                listed = ", ".join(f"<{iri}>" for iri in sorted(iris))
                yield f"The {what} '{name}' is used for {listed}; a mapping can distinguish them."


def _best(keys: list[tuple[str, Term]], value: Object) -> Key:
    """Of several keys of one property the one with the language or datatype of a value."""
    fitting = (pair for pair in keys if _fits(pair[1], value))
    return Key(*next(fitting, keys[0]))


def _fits(term: Term, value: Object) -> bool:
    if isinstance(value, NamedNode):
        return term.is_iri
    if not isinstance(value, Literal):
        return False
    if value.language is not None:
        return (term.language or "").lower() == value.language
    if value.datatype == vocab.STRING:
        return term.datatype is None and term.language is None and not term.is_iri
    return term.datatype == value.datatype


def _native_key(iri: str, namespace: str) -> Key | None:
    name = iri[len(namespace) :]
    return Key(name, is_native=True) if is_key(name) else None
