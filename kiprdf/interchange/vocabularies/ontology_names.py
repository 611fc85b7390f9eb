"""Names for the terms of an ontology, and definitions of the nexus that have the same name.

A name comes from a mapping, the nexus, the local name of the IRI, or the label
(docs/decisions/031).
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from urllib.parse import unquote

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.naming import first_spelling, term_name
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.definitions import ExistingDefinitions
from kiprdf.interchange.vocabularies.hierarchy import ABOVE
from kiprdf.interchange.vocabularies.schema import end_types
from kiprdf.language import limits
from kiprdf.language.names import META_TYPES, is_definition_name
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.semantics.protected import SYSTEM

_RESERVED = frozenset(ABOVE.values())


def native_name(meta_type: str, iri: str) -> str | None:
    """The name of a definition of any nexus, from the IRI that kiprdf gives it.

    >>> native_name("$ConceptType", "https://other.example/kb/$ConceptType/Boat")
    'Boat'
    """
    match = re.search(rf"/{re.escape(meta_type)}/([^/#?]+)$", iri)
    name = "" if match is None else unquote(match[1])
    return name if is_definition_name(meta_type, name) else None


@dataclass(frozen=True, slots=True)
class Given:
    """The names that terms already have: in a mapping, in this nexus, or in another one."""

    mapping: Mapping
    index: ElementIndex

    def name(self, meta_type: str, iri: str) -> str | None:
        """The name of a concept type or predicate."""
        mapping = self.mapping
        mapped = mapping.type_of if meta_type == META_TYPES[0] else mapping.predicate_of
        name = first_spelling(mapped, iri)
        name = name or first_spelling(lambda one: self.index.definition(meta_type, one), iri)
        return name or native_name(meta_type, iri)

    def key(self, iri: str) -> str | None:
        """The key of an attribute, in the mapping or in a type of this nexus."""
        return self._mapped_key(iri) or self.index.key(iri)

    def _mapped_key(self, iri: str) -> str | None:
        attribute = first_spelling(self.mapping.attribute_of, iri)
        return None if attribute is None else attribute[0]

    def is_attribute_only(self, iri: str) -> bool:
        """Whether a property is only an attribute, in the mapping or as kiprdf writes it."""
        if iri.startswith(vocab.ATTRIBUTE):
            return True
        is_predicate = first_spelling(self.mapping.predicate_of, iri) is not None
        return not is_predicate and self._mapped_key(iri) is not None


def allocate(
    iris: Iterable[str],
    labels: dict[str, str | None],
    mapped: Callable[[str], str | None],
    is_free: Callable[[str, str], bool] = lambda _iri, _name: True,
) -> dict[str, str]:
    """A unique name for each IRI: the first has the plain name, others get a number.

    ``is_free`` says whether the nexus allows a term to have a name.

    >>> names = allocate(["urn:a:Person", "urn:b:Person", "urn:c:X_01"], {"urn:c:X_01": "Big toe"},
    ...                  lambda iri: None)
    >>> list(names.values())
    ['Person', 'Person_2', 'Big_toe']
    """
    ordered = list(dict.fromkeys(iris))
    names: dict[str, str] = {}
    used: set[str] = set()
    for iri in ordered:
        name = mapped(iri)
        if name is not None and name not in used:
            names[iri] = name
            used.add(name)
    for iri in ordered:
        if iri not in names:
            numbered = _numbered(plain_name(iri, labels.get(iri)))
            names[iri] = next(n for n in numbered if n not in used and is_free(iri, n))
            used.add(names[iri])
    return {iri: names[iri] for iri in ordered}


def plain_name(iri: str, label: str | None) -> str:
    """The name of a term by itself: its local name, its label, or a digest."""
    return term_name(iri, label) or f"term_{hashlib.sha256(iri.encode()).hexdigest()[:8]}"


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        suffix = f"_{number}"
        yield name[: limits.KEY_CHARACTERS - len(suffix)] + suffix


class Homonyms:
    """Decides whether a definition of the nexus with the name of a term is that term.

    A definition with original IRIs is another term. One without is considered the same term unless
    it contradicts: a predicate by the types of its ends.
    """

    def __init__(self, meta_type: str, existing: ExistingDefinitions) -> None:
        self._meta_type = meta_type
        self._existing = existing

    def is_free(self, name: str, ends: MappingType[str, tuple[str, ...]]) -> bool:
        """Whether a term of an ontology may have a name; ``ends`` are its types by role."""
        definition = self._existing.get(ConceptName(self._meta_type, name))
        if self._meta_type == META_TYPES[1] and name in _RESERVED:
            return False
        if definition is None or self._is_core(name):
            return True
        return not definition.originals and all(
            _allows(end_types(definition.attributes, role), types) for role, types in ends.items()
        )

    def is_homonym(self, iri: str, name: str, given: str | None) -> bool:
        """Whether a term has the name of a definition, and neither data nor mapping equate them.

        That another nexus gives a definition the same name does not equate them either.
        """
        is_given = name == given and name != native_name(self._meta_type, iri)
        return not is_given and self._has(name)

    def warnings(self, names: MappingType[str, str], plain: MappingType[str, str]) -> Iterator[str]:
        """What is considered the same, and what got another name.

        ``plain`` are the local names of the terms that no mapping and no definition names.
        """
        for iri, name in plain.items():
            if self._is_core(name):
                continue
            if self._has(names[iri]):
                yield (
                    f"<{iri}> is considered the same as '{names[iri]}' of the nexus "
                    "because of its name; a mapping can distinguish them."
                )
            elif self._has(name):
                yield (
                    f"<{iri}> is called '{names[iri]}' because '{name}' of the nexus "
                    "is something else; a mapping can say that they are the same."
                )
            elif name in _RESERVED and names[iri] != name:
                yield f"<{iri}> is called '{names[iri]}' because '{name}' links definitions."
        others = {iri: name for iri, name in plain.items() if not self._has(name)}
        yield from numbered(names, others)

    def _has(self, name: str) -> bool:
        return ConceptName(self._meta_type, name) in self._existing

    def _is_core(self, name: str) -> bool:
        return (self._meta_type, name) in SYSTEM


def numbered(names: MappingType[str, str], plain: MappingType[str, str]) -> Iterator[str]:
    """A sentence for each term that has a number because another one of the data has its name.

    >>> names = {"urn:a:Person": "Person", "urn:b:Person": "Person_2"}
    >>> list(numbered(names, dict.fromkeys(names, "Person")))
    ["<urn:b:Person> is called 'Person_2' because <urn:a:Person> is called 'Person'; \
a mapping can give it another name."]
    """
    holders = {name: iri for iri, name in names.items()}
    for iri, name in plain.items():
        holder = holders.get(name)
        if holder not in (None, iri):
            yield (
                f"<{iri}> is called '{names[iri]}' because <{holder}> is called '{name}'; "
                "a mapping can give it another name."
            )


def _allows(allowed: list[str] | None, types: tuple[str, ...]) -> bool:
    """Whether a definition allows all types that a term has at an end, if both name types."""
    return allowed is None or "*" in types or set(types) <= set(allowed)
