"""What the terms of an ontology are called: by a mapping, their local names, their labels."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.naming import identifier, local_name, spellings
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.language import limits
from kiprdf.language.names import META_TYPES, is_definition_name
from kiprdf.rdf import vocab

_OPAQUE = re.compile(r"[A-Za-z]*[_-]?\d{2,}")
"""Local names that are numbers, such as BFO_0000001; people know the label."""


Found = TypeVar("Found")


def own_name(meta_type: str, iri: str) -> str | None:
    """The name of a definition that another nexus has, by the IRI that kiprdf gives it.

    >>> own_name("$ConceptType", "https://other.example/kb/$ConceptType/Boat")
    'Boat'
    """
    found = re.search(rf"/{re.escape(meta_type)}/([^/#?]+)$", iri)
    name = "" if found is None else unquote(found[1])
    return name if is_definition_name(meta_type, name) else None


@dataclass(frozen=True, slots=True)
class Given:
    """The names that terms have already: by a mapping, by the definitions of this nexus or one."""

    mapping: Mapping
    known: ElementIndex

    def type(self, iri: str) -> str | None:
        return self._mapped(self.mapping.type_of, iri) or self._defined(META_TYPES[0], iri)

    def predicate(self, iri: str) -> str | None:
        return self._mapped(self.mapping.predicate_of, iri) or self._defined(META_TYPES[1], iri)

    def _defined(self, meta_type: str, iri: str) -> str | None:
        known = self._mapped(lambda one: self.known.definition(meta_type, one), iri)
        return known or own_name(meta_type, iri)

    def key(self, iri: str) -> str | None:
        found = self._mapped(self.mapping.attribute_of, iri)
        return None if found is None else found[0]

    def is_attribute_only(self, iri: str) -> bool:
        """Whether a property is an attribute only: to the mapping, or because kiprdf made it."""
        if iri.startswith(vocab.ATTRIBUTE):
            return True
        return self._mapped(self.mapping.predicate_of, iri) is None and self.key(iri) is not None

    def _mapped(self, look_up: Callable[[str], Found | None], iri: str) -> Found | None:
        return next((found for one in spellings(iri) if (found := look_up(one))), None)


def _is_free(_iri: str, _name: str) -> bool:
    return True


def allocate(
    iris: Iterable[str],
    labels: dict[str, str | None],
    mapped: Callable[[str], str | None],
    is_free: Callable[[str, str], bool] = _is_free,
) -> dict[str, str]:
    """A name for each IRI, no two the same: the first has the plain one, others a number.

    ``is_free`` tells whether a term may have a name, as far as the nexus is concerned.

    >>> names = allocate(["urn:a:Person", "urn:b:Person", "urn:c:X_01"], {"urn:c:X_01": "Big toe"},
    ...                  lambda iri: None)
    >>> list(names.values())
    ['Person', 'Person_2', 'Big_toe']
    """
    ordered = list(dict.fromkeys(iris))
    found: dict[str, str] = {}
    for iri in ordered:
        name = mapped(iri)
        if name is not None and name not in found.values():
            found[iri] = name
    taken = set(found.values())
    for iri in ordered:
        if iri not in found:
            names = _numbered(plain_name(iri, labels.get(iri)))
            found[iri] = next(n for n in names if n not in taken and is_free(iri, n))
            taken.add(found[iri])
    return {iri: found[iri] for iri in ordered}


def plain_name(iri: str, label: str | None) -> str:
    """What a term is called by itself: its local name, its label, or a digest."""
    own, spoken = identifier(iri), _from_label(label or "")
    if spoken and (own is None or _OPAQUE.fullmatch(local_name(iri))):
        return spoken
    return own or f"term_{hashlib.sha256(iri.encode()).hexdigest()[:8]}"


def _from_label(label: str) -> str | None:
    """A label as an identifier: accents fall away, what is left of other signs is ``_``.

    >>> _from_label("Dépôt légal"), _from_label("药物")
    ('Depot_legal', None)
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", label) if not unicodedata.combining(c))
    name = re.sub(r"[^A-Za-z0-9]+", "_", plain)[: limits.KEY_CHARACTERS - 1].strip("_")
    if not name:
        return None
    return f"_{name}" if name[0].isdigit() else name


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        suffix = f"_{number}"
        yield name[: limits.KEY_CHARACTERS - len(suffix)] + suffix
