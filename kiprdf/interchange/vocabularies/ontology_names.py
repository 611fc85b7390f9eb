"""What the terms of an ontology are called: by a mapping, their local names, their labels."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from kiprdf.interchange.importing.known import Known
from kiprdf.interchange.importing.naming import identifier, local_name, spellings
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.language import limits
from kiprdf.language.names import META_TYPES

_OPAQUE = re.compile(r"[A-Za-z]*[_-]?\d{2,}")
"""Local names that are numbers, such as BFO_0000001; people know the label."""


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Given:
    """The names that terms have already: by a mapping, else by the definitions of the nexus."""

    mapping: Mapping
    known: Known

    def type(self, iri: str) -> str | None:
        return self._mapped(self.mapping.type_of, iri) or self.known.definition(META_TYPES[0], iri)

    def predicate(self, iri: str) -> str | None:
        return self._mapped(self.mapping.predicate_of, iri) or self.known.definition(
            META_TYPES[1], iri
        )

    def key(self, iri: str) -> str | None:
        found = self._mapped(self.mapping.attribute_of, iri)
        return None if found is None else found[0]

    def is_attribute_only(self, iri: str) -> bool:
        """Whether a property is no predicate because the mapping knows it as an attribute."""
        return self._mapped(self.mapping.predicate_of, iri) is None and self.key(iri) is not None

    def _mapped(self, look_up: Callable[[str], Found | None], iri: str) -> Found | None:
        return next((found for one in spellings(iri) if (found := look_up(one))), None)


def allocate(
    iris: Iterable[str], labels: dict[str, str | None], mapped: Callable[[str], str | None]
) -> dict[str, str]:
    """A name for each IRI, no two the same: the first has the plain one, others a number.

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
            found[iri] = _free(_name(iri, labels.get(iri)), taken)
            taken.add(found[iri])
    return {iri: found[iri] for iri in ordered}


def _name(iri: str, label: str | None) -> str:
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


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        suffix = f"_{number}"
        free = name[: limits.KEY_CHARACTERS - len(suffix)] + suffix
    return free
