"""KIP names for foreign IRIs and labels (KIP 2.8): types, predicates, keys, concept names."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import NamedTuple, TypeVar

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.importing.blanks import SKOLEM
from kiprdf.interchange.importing.foreign import Object
from kiprdf.interchange.importing.known import SAME_AS, Known
from kiprdf.interchange.mapping.contexts import Mapping, Term
from kiprdf.interchange.vocabularies.standards import SCHEMA
from kiprdf.language import limits
from kiprdf.language.names import META_TYPES, is_identifier, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, decode

Found = TypeVar("Found")

OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DCTERMS = "http://purl.org/dc/terms/"
SHACL = "http://www.w3.org/ns/shacl#"
OWL_SAME_AS = OWL + "sameAs"

LABELS = (
    vocab.LABEL.value,
    SKOS + "prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "https://schema.org/name",
    "http://schema.org/name",
    DCTERMS + "title",
    "http://purl.org/dc/elements/1.1/title",
)
"""What a concept is named by: the first of these properties that gives a usable name."""
DESCRIPTIONS = (
    vocab.RDFS + "comment",
    SKOS + "definition",
    DCTERMS + "description",
)
_DEFINED = {"concept type": META_TYPES[0], "predicate": META_TYPES[1]}
"""What has a definition."""
GENERIC = frozenset((f"{OWL}Thing", f"{OWL}NamedIndividual", f"{vocab.RDFS}Resource"))
"""Classes of everything: the type of a resource only when there is no other."""


def spellings(iri: str) -> Iterator[str]:
    """An IRI, and the same term of schema.org in its other namespace."""
    yield iri
    for own, other in (SCHEMA, SCHEMA[::-1]):
        if iri.startswith(own):
            yield other + iri[len(own) :]


def local_name(iri: str) -> str:
    """The last part of an IRI, decoded.

    >>> local_name("http://xmlns.com/foaf/0.1/Person"), local_name("urn:isbn:0451450523")
    ('Person', '0451450523')
    """
    last = re.split(r"[/#:]", iri.rstrip("/#:"))[-1]
    try:
        return decode(last)
    except UnicodeDecodeError:
        return last


def identifier(iri: str) -> str | None:
    """The local name as an identifier, None when nothing of it would be left.

    >>> identifier("https://example.org/vocabulary#date-of-birth"), identifier("urn:x:名前")
    ('date_of_birth', None)
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", local_name(iri))
    if not re.search(r"[A-Za-z0-9]", name):
        return None
    name = f"_{name}" if name[0].isdigit() else name
    return name if is_key(name) else None


def concept_name(text: str) -> str | None:
    """A label as a concept's name: without control characters, at most 1 024 characters.

    >>> concept_name("Ada\\n   Lovelace")
    'Ada Lovelace'
    """
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        text = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
        text = " ".join(text.split())
    text = text[: limits.NAME_CHARACTERS]
    return text if text.strip() and name_fault(text) is None else None


def blank_name(iri: str) -> str:
    """What a blank node without a label is called: the beginning of its digest."""
    return f"_:{iri.removeprefix(SKOLEM)[:12]}"


def name_candidates(
    iri: str, labels: Iterable[list[Literal]], language: str | None
) -> Iterator[str]:
    """Names for a resource, the best first: its labels, its local name, its IRI.

    Of the labels of one property that in the preferred language comes first, then one in a
    variety of it, one without a language, then the others by language and text.
    """
    for of_one_property in labels:
        for literal in sorted(of_one_property, key=lambda one: label_rank(one, language)):
            yield literal.value
    yield blank_name(iri) if iri.startswith(SKOLEM) else local_name(iri)
    yield iri


def label_rank(literal: Literal, language: str | None) -> tuple[int, str, str]:
    """What sorts the labels of one property, the best first."""
    tag, wanted = literal.language or "", (language or "").lower()
    rank = 3
    if wanted and tag == wanted:
        rank = 0
    elif wanted and tag.startswith(wanted + "-"):
        rank = 1
    elif not tag:
        rank = 2
    return rank, tag, literal.value


def told_apart(name: str, iri: str, is_free: Callable[[str], bool]) -> str:
    """A name that no other resource of the type has: with the local name, the IRI, its digest.

    >>> told_apart("Paris", "http://www.wikidata.org/entity/Q90", lambda text: text != "Paris")
    'Paris (Q90)'
    """
    names = (text for text in _told_apart_by(name, iri) if name_fault(text) is None)
    last = _qualified(name, hashlib.sha256(iri.encode()).hexdigest()[:32])
    return next(filter(is_free, names), last)


def _told_apart_by(name: str, iri: str) -> tuple[str, ...]:
    own = blank_name(iri) if iri.startswith(SKOLEM) else local_name(iri)
    return name, _qualified(name, own), _qualified(name, iri)


def names_by_iri(iri: str) -> tuple[str, ...]:
    """What a resource may be called of which nothing is known but its IRI.

    >>> names_by_iri("urn:x:b")
    ('b', 'b (b)', 'b (urn:x:b)')
    """
    name = next(filter(None, map(concept_name, name_candidates(iri, (), None))), None)
    return () if name is None else _told_apart_by(name, iri)


def _qualified(name: str, by: str) -> str:
    room = limits.NAME_CHARACTERS - len(by) - 3
    return f"{name[:room]} ({by})" if room > 0 else by


class Key(NamedTuple):
    """An attribute or metadata key, and how the mapping types its values."""

    name: str
    term: Term | None = None
    is_own: bool = False
    """Whether the IRI is the key's own, as kiprdf writes it."""


class Naming:
    """What IRIs are called in a nexus: by the mapping, by its definitions, by the local name."""

    def __init__(self, mapping: Mapping, known: Known, bases: Iterable[Iris]) -> None:
        self._mapping = mapping
        self._known = known
        self._bases = tuple(bases)
        self._used: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._has_mapped = False

    def _mapped(self, look_up: Callable[[str], Found | None], iri: str) -> Found | None:
        """What the mapping says of an IRI; of schema.org it may mean either namespace."""
        found = next((found for one in spellings(iri) if (found := look_up(one))), None)
        self._has_mapped = self._has_mapped or bool(found)
        return found

    def mapping_is_in_vain(self) -> bool:
        """Whether there is a mapping, and it has had no word for any IRI."""
        return not self._has_mapped and not self._mapping.is_empty

    def element(self, iri: str) -> ElementName | None:
        """The identity of an element that the IRI names under one of the bases."""
        found = (iris.name(iri) for iris in self._bases)
        return next((name for name in found if name is not None), None)

    def is_below_base(self, iri: str) -> bool:
        return any(iri.startswith(iris.base) for iris in self._bases)

    def type(self, iri: str) -> str | None:
        """The concept type that a class is, whether it is defined or not."""
        own = self._of_nexus("$ConceptType", iri)
        if own in META_TYPES:
            return own
        return _checked(
            self._mapped(self._mapping.type_of, iri) or own or self._local(META_TYPES[0], iri)
        )

    def is_mapped_type(self, iri: str) -> bool:
        return self._mapped(self._mapping.type_of, iri) is not None

    def predicate(self, iri: str) -> str | None:
        """The predicate that a property is, whether it is defined or not."""
        own = self._of_nexus("$PropositionType", iri)
        mapped = self._mapped(self._mapping.predicate_of, iri)
        return _checked(mapped or own or self._local(META_TYPES[1], iri))

    def is_own_predicate(self, iri: str) -> bool:
        """Whether an IRI is that of a predicate, as kiprdf writes it."""
        name = self.element(iri)
        return isinstance(name, ConceptName) and name.type == "$PropositionType"

    def is_mapped_predicate(self, iri: str) -> bool:
        return self._mapped(self._mapping.predicate_of, iri) is not None

    def is_known_predicate(self, iri: str) -> bool:
        """Whether the mapping, or a definition of the nexus, knows a property as a predicate."""
        is_defined = self._known.definition("$PropositionType", iri) is not None
        return is_defined or self.is_mapped_predicate(iri)

    def _local(self, meta_type: str, iri: str) -> str | None:
        """The local name, with a number where a definition of that name has other IRIs."""
        name = identifier(iri)
        if name is None or self.is_below_base(iri) or not self._has_iris(meta_type, name):
            return name
        numbered = (f"{name}_{number}" for number in count(2))
        return next(one for one in numbered if not self._is_defined(meta_type, one))

    def _has_iris(self, meta_type: str, name: str) -> bool:
        return bool(self._known.originals.get(ConceptName(meta_type, name).id))

    def _is_defined(self, meta_type: str, name: str) -> bool:
        is_type = meta_type == META_TYPES[0]
        defined = self._known.concept_types if is_type else self._known.predicates
        return name in defined or self._has_iris(meta_type, name)

    def _is_taken(self, meta_type: str, name: str, iri: str) -> bool:
        """Whether nothing but the name tells that a definition of the nexus means an IRI."""
        if self._of_nexus(meta_type, iri) or not self._is_defined(meta_type, name):
            return False
        is_type = meta_type == META_TYPES[0]
        return not (self.is_mapped_type(iri) if is_type else self.is_mapped_predicate(iri))

    def _of_nexus(self, meta_type: str, iri: str) -> str | None:
        """What a definition is called that the IRI names, or that has it as original IRI."""
        name = self.element(iri)
        if isinstance(name, ConceptName):
            return name.name if name.type == meta_type else None
        return self._known.definition(meta_type, iri)

    def attribute(self, iri: str, concept_type: str | None, value: Object) -> Key | None:
        """The attribute that a property is of concepts of a type; of a link without a type."""
        if iri.startswith(vocab.ATTRIBUTE):
            return _own_key(iri, vocab.ATTRIBUTE)
        if iri == OWL_SAME_AS:
            return Key(SAME_AS)
        found = self._attributes(iri, concept_type)
        if found:
            return _best(found, value)
        name = identifier(iri)
        return None if name is None else Key(name)

    def is_claim(self, iri: str) -> bool:
        """Whether the values of a property are the original IRIs of its subjects."""
        if iri in (OWL_SAME_AS, vocab.ATTRIBUTE + SAME_AS):
            return True
        found = self._attributes(iri, None)
        return found is not None and found[0][0] == SAME_AS

    def is_mapped_attribute(self, iri: str, concept_type: str | None) -> bool:
        return self._attributes(iri, concept_type) is not None

    def _attributes(self, iri: str, concept_type: str | None) -> list[tuple[str, Term]] | None:
        return self._mapped(lambda one: self._mapping.attributes_of(one, concept_type), iri)

    def metadata(self, iri: str, value: Object) -> Key | None:
        """The metadata key that a property is; None for one that is none."""
        if iri.startswith(vocab.METADATA):
            return _own_key(iri, vocab.METADATA)
        found = self._mapped(self._mapping.all_metadata_of, iri)
        return _best(found, value) if found else None

    def is_mapped_metadata(self, iri: str) -> bool:
        return self._mapped(self._mapping.metadata_of, iri) is not None

    def labels(self, concept_type: str | None) -> tuple[str, ...]:
        """The properties that name a concept, the best first."""
        mapped = self._mapping.label(concept_type)
        return LABELS if mapped is None else (*spellings(mapped.iri.value), *LABELS)

    def note(self, what: str, name: str, iri: str) -> None:
        """Remember that an IRI was given a name."""
        self._used[what, name].add(iri)

    def warnings(self) -> Iterator[str]:
        """Names that several IRIs came to share, or that the nexus has in words of its own."""
        for (what, name), iris in sorted(self._used.items()):
            for iri in sorted(iris) if what in _DEFINED else ():
                if self._is_taken(_DEFINED[what], name, iri):
                    taken = f"<{iri}> is taken for the {what} {name}"
                    yield f"{taken}, which is there in its own words."
            if len(iris) > 1:
                listed = ", ".join(f"<{iri}>" for iri in sorted(iris))
                yield f"The {what} '{name}' stands for {listed}; a mapping can tell them apart."


def _best(found: list[tuple[str, Term]], value: Object) -> Key:
    """Of several keys of one property the one whose language or datatype a value has."""
    fitting = (pair for pair in found if _fits(pair[1], value))
    return Key(*next(fitting, found[0]))


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


def _checked(name: str | None) -> str | None:
    return name if name is not None and is_identifier(name) else None


def _own_key(iri: str, namespace: str) -> Key | None:
    name = iri[len(namespace) :]
    return Key(name, is_own=True) if is_key(name) else None


def is_name_text(term: object) -> bool:
    """Whether a value can be a label: a string, with or without a language."""
    return isinstance(term, Literal) and (
        term.language is not None or term.datatype == vocab.STRING
    )


def is_definition_class(node: NamedNode) -> bool:
    """Whether the members of a class are classes, properties, shapes or ontologies."""
    iri = node.value
    if iri in GENERIC:
        return False
    return iri == f"{vocab.RDF}Property" or iri.startswith((vocab.RDFS, OWL, SHACL))
