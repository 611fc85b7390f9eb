"""Names of KIP for IRIs and labels (KIP 2.8), for data, ontologies and Wikibase.

A term is named by a mapping, a definition of the nexus, its local name, or its label. ``allocate``
gives names that are not taken; the sentences here say what shares a name and what has another one.
``Naming`` looks up the types, predicates and keys of data.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias, TypeGuard, TypeVar
from typing import Literal as OneOf
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode

from kiprdf.collector import cached
from kiprdf.interchange.importing.blank_nodes import SKOLEM
from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.external import ExternalTriple, Node, Object
from kiprdf.interchange.mapping import contexts
from kiprdf.interchange.mapping.contexts import Term
from kiprdf.interchange.mapping.reader import MAPS
from kiprdf.interchange.vocabularies.standards import SCHEMA, dc, dcterms, foaf, owl, skos
from kiprdf.language import limits
from kiprdf.language.names import (
    META_TYPES,
    is_definition_name,
    is_identifier,
    is_key,
    name_fault,
    without_outer_blanks,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, decode

T = TypeVar("T")

OWL_SAME_AS = owl + "sameAs"

_GND = [
    f"{scheme}://d-nb.info/standards/elementset/gnd#preferredName{of}"
    for scheme in ("https", "http")
    for of in (
        "ForThePerson",
        "ForTheWork",
        "ForTheCorporateBody",
        "ForThePlaceOrGeographicName",
        "ForTheSubjectHeading",
        "ForTheConferenceOrEvent",
        "ForTheFamily",
        "",
    )
]
LABELS = (
    vocab.LABEL.value,
    skos + "prefLabel",
    *(space + "name" for space in SCHEMA),
    foaf + "name",
    "http://www.w3.org/2006/vcard/ns#fn",
    "https://www.w3.org/ns/activitystreams#name",
    dcterms + "title",
    dc + "title",
    *_GND,
    "http://www.loc.gov/mads/rdf/v1#authoritativeLabel",
)
"""The name of a concept is the first usable value of these properties."""
Names: TypeAlias = OneOf["local", "label"]
"""What names are made of: local names, or labels."""
TERM_LANGUAGE = ",en"
"""Which labels name classes and properties: those without a language, then English ones."""
DESCRIPTIONS = (
    vocab.RDFS + "comment",
    skos + "definition",
    dcterms + "description",
)
OTHER_TYPES = "other_types"
"""The attribute with the IRIs of the classes of a concept beyond its type."""
OWN_WORDS = frozenset((OTHER_TYPES, *MAPS))
"""Names with a meaning of their own: that attribute, and the maps of a JSON-LD context."""


def spellings(iri: str) -> Iterator[str]:
    """An IRI, and the same term of schema.org in its other namespace."""
    yield iri
    for namespace, other in (SCHEMA, SCHEMA[::-1]):
        if iri.startswith(namespace):
            yield other + iri[len(namespace) :]


def first_spelling(look_up: Callable[[str], T | None], iri: str) -> T | None:
    """The first result of looking up an IRI in its spellings."""
    return next((result for one in spellings(iri) if (result := look_up(one))), None)


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


@lru_cache(maxsize=4_096)
def identifier(iri: str) -> str | None:
    """The local name as an identifier; None if no letter or digit of it can be used.

    The words that kiprdf uses itself get a number, as other names that are taken.

    >>> identifier("https://example.org/vocabulary#date-of-birth"), identifier("urn:x:名前")
    ('date_of_birth', None)
    >>> identifier("https://example.org/vocabulary#metadata"), identifier("urn:x:TeaЧай")
    ('metadata_2', 'TeaChai')
    """
    local = in_ascii(local_name(iri))
    name = local if local.isascii() else re.sub(r"(?:[^\x00-\x7f]|[_-])+", "_", local).strip("_")
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not re.search(r"[A-Za-z0-9]", name):
        return None
    name = f"_{name}" if name[0].isdigit() else name
    name = f"{name}_2" if name in OWN_WORDS else name
    return name if is_key(name) else None


def from_label(label: str) -> str | None:
    """A label as an identifier: other characters than letters and digits become ``_``.

    >>> from_label("Dépôt légal"), from_label("药物")
    ('Depot_legal', None)
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", in_ascii(label))[: limits.KEY_CHARACTERS - 2].strip("_")
    if not name:
        return None
    name = f"_{name}" if name[0].isdigit() else name
    return f"{name}_2" if name in OWN_WORDS else name


def in_ascii(text: str) -> str:
    """A text with Latin, Greek and Cyrillic letters as those of ASCII; others as they are.

    >>> in_ascii("Größe"), in_ascii("Ünïcode"), in_ascii("smørrebrød Łódź Þór")
    ('Grosse', 'Unicode', 'smorrebrod Lodz Thor')
    >>> in_ascii("Ύψος του όρους"), in_ascii("Щедрий Київ"), in_ascii("µm")
    ('Ypsos tou orous', 'Shchedrii Kiiv', 'um')
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.replace("µ", "u"))
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return "".join(map(_ascii_letter, plain.replace("ου", "ou").replace("Ου", "Ou")))


def _ascii_letter(character: str) -> str:
    """A letter with a stroke, or of two letters, without it; other characters as they are."""
    if character.isascii() or character in _LETTERS:
        return _LETTERS.get(character, character)
    match = _LATIN_NAME.fullmatch(unicodedata.name(character, ""))
    if match is None:
        return character
    return match[2] if match[1] == "CAPITAL" else match[2].lower()


_OTHERS = {
    "αβγδεζηθικλμνξοπρσςτυφχψω": "a v g d e z i th i k l m n x o p r s s t y f ch ps o",
    "абвгдежзиклмнопрстуф": "a b v g d e zh z i k l m n o p r s t u f",
    "хцчшщыэюяєіґђјљњћџѕ": "kh ts ch sh shch y e yu ya ye i g dj j lj nj c dz dz",
    "ßþðıŋ": "ss th d i ng",
}
_LETTERS = {
    letter: form
    for letters, forms in _OTHERS.items()
    for small, one in zip(letters, forms.split(), strict=True)
    for letter, form in ((small.upper(), one.capitalize()), (small, one))
} | {"ẞ": "SS", **dict.fromkeys("ъЪьЬ", "")}
"""Greek as ELOT 743, letter by letter; Cyrillic as BGN/PCGN, without its marks."""
_LATIN_NAME = re.compile(r"LATIN (SMALL|CAPITAL) (?:LETTER|LIGATURE) ([A-Z]{1,2})(?: WITH .*)?")
_OPAQUE = re.compile(
    r"(?:[A-Za-z]+_)?[A-Za-z]*[_-]?\d{2,}"
    r"|(?:[A-Za-z]+[_-])?[0-9A-Fa-f]{8}([_-]?)(?:[0-9A-Fa-f]{4}\1){3}[0-9A-Fa-f]{12}"
    r"|(?=.*\d)(?:[A-Za-z]+[_-])?[0-9a-f]{16,}"
    r"|R(?=.*\d)[A-Za-z0-9]{20,23}"
    r"|(?=[A-Za-z0-9]{7,}\Z)[A-Za-z]*(?:\d+[A-Za-z]+){2,}\d*"
)
"""Local names that say nothing: numbers (BFO_0000001), UUIDs (EMMO), digests, random letters with
digits (WebProtégé). People use the label."""


def term_name(iri: str, label: str | None, names: Names | None = None) -> str | None:
    """The name of a class or property: its local name, or its label if that says nothing.

    With ``names="label"`` its label, if there is one.

    >>> term_name("http://purl.obolibrary.org/obo/RO_0000052", "characteristic of")
    'characteristic_of'
    >>> term_name("urn:x:GeoPoint", "place"), term_name("urn:x:GeoPoint", "place", "label")
    ('GeoPoint', 'place')
    """
    is_plain = names != "label" and not _OPAQUE.fullmatch(local_name(iri))
    if label and not (is_plain and identifier(iri)):
        return from_label(label) or identifier(iri)
    return identifier(iri)


def names_by_label(
    subjects: Mapping[Node, list[ExternalTriple]],
    properties: Iterable[NamedNode],
    types: Mapping[Node, list[Object]],
    choice: Names | None,
) -> dict[str, str]:
    """The names that data give to classes and properties by their labels.

    A label that is the name of two terms names neither.
    """
    terms = {one.value for one in properties}
    classes = {*chain.from_iterable(types.values())}
    terms.update(one.value for one in classes if isinstance(one, NamedNode))
    labels = {iri: label_of(subjects.get(NamedNode(iri), [])) for iri in terms}
    names = {iri: term_name(iri, label, choice) for iri, label in labels.items()}
    uses = Counter(names.values())
    return {
        iri: name
        for iri, name in names.items()
        if name and name != identifier(iri) and uses[name] == 1
    }


def label_of(
    statements: Iterable[tuple[Any, NamedNode, Any]], language: str | None = TERM_LANGUAGE
) -> str | None:
    """The best label of a subject."""
    texts = (text.strip() for text in labels_of(statements, ranks_of(LABELS), language))
    return next(filter(None, texts), None)


def labels_of(
    statements: Iterable[tuple[Any, NamedNode, Any]], ranks: Mapping[str, int], language: str | None
) -> list[str]:
    """The labels of a subject, the best first; ``ranks`` are those of properties.

    Of the labels of one property the one in the preferred language comes first, then one in a
    variant of it, one without a language, then the others by language and text.
    """
    ranked = [
        (rank, *label_rank(value, language))
        for _, predicate, value in statements
        if isinstance(value, Literal)
        and (rank := ranks.get(predicate.value)) is not None
        and _is_text(value)
    ]
    return [text for *_, text in sorted(ranked)]


@lru_cache(maxsize=256)
def ranks_of(properties: tuple[str, ...]) -> dict[str, int]:
    """The places of properties, of which the first is the best."""
    return {property: place for place, property in reversed([*enumerate(properties)])}


def concept_name(text: str) -> str | None:
    """A label as a concept's name: at most 1 024 characters, no control characters, trimmed.

    >>> concept_name("Ada\\n   Lovelace"), concept_name(" Ada ")
    ('Ada Lovelace', 'Ada')
    """
    if not text.isprintable() and any(
        unicodedata.category(character) in ("Cc", "Cs") for character in text
    ):
        text = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
        text = " ".join(text.split())
    text = without_outer_blanks(without_outer_blanks(text)[: limits.NAME_CHARACTERS])
    return text if name_fault(text) is None else None


def blank_name(iri: str) -> str:
    """The name of a blank node without a label: the beginning of its digest."""
    return f"_:{iri.removeprefix(SKOLEM)[:12]}"


def name_candidates(
    iri: str, labels: Iterable[str] = (), names: Names | None = None
) -> Iterator[str]:
    """Names for a resource, the best first: its labels, its local name, its IRI.

    With ``names="local"`` a local name that says something comes first.
    """
    is_blank = iri.startswith(SKOLEM)
    own = blank_name(iri) if is_blank else local_name(iri)
    if names == "local" and not is_blank and not _OPAQUE.fullmatch(own):
        yield own
    yield from labels
    yield own
    yield iri


def label_rank(literal: Literal, language: str | None) -> tuple[int, str, str]:
    """The sort key of the labels of one property, the best first.

    ``language`` is a tag or several with commas, the preferred one first; an empty one is that of
    texts without a language.
    """
    tag = literal.language or ""
    return _rank_of_tag(tag, language), tag, literal.value


@lru_cache(maxsize=1_024)
def _rank_of_tag(tag: str, language: str | None) -> int:
    preferred = (language or "").lower().replace(" ", "").split(",")
    ranks = ((tag == one, tag.startswith(one + "-")) for one in preferred)
    choices = [fits for pair in ranks for fits in pair] + [not tag]
    return choices.index(True) if True in choices else len(choices)


def unique_name(name: str, iri: str, is_free: Callable[[str], bool]) -> str:
    """A name that is not taken: plain, or followed by the local name, the IRI or its digest.

    >>> unique_name("Paris", "http://www.wikidata.org/entity/Q90", lambda text: text != "Paris")
    'Paris (Q90)'
    """
    if name_fault(name) is None and is_free(name):
        return name  # nearly always
    names = (text for text in _possible_names(name, iri) if name_fault(text) is None)
    chosen = next(filter(is_free, names), None)
    return chosen or _qualified(name, hashlib.sha256(iri.encode()).hexdigest()[:32])


def _possible_names(name: str, iri: str) -> Iterator[str]:
    yield name
    yield _qualified(name, blank_name(iri) if iri.startswith(SKOLEM) else local_name(iri))
    yield _qualified(name, iri)


def names_by_iri(iri: str) -> tuple[str, ...]:
    """The possible names of a resource of which only the IRI is known.

    >>> names_by_iri("urn:x:b")
    ('b', 'b (b)', 'b (urn:x:b)')
    """
    name = next(filter(None, map(concept_name, name_candidates(iri))), None)
    return () if name is None else tuple(_possible_names(name, iri))


def _qualified(name: str, by: str) -> str:
    room = limits.NAME_CHARACTERS - len(by) - 3
    return f"{name[:room]} ({by})" if room > 0 else by


def name_texts(statements: Iterable[ExternalTriple], property: str) -> list[Literal]:
    """The values of a property that can be labels: strings, with or without a language."""
    return [s.object for s in statements if s.predicate.value == property and _is_text(s.object)]


def _is_text(value: object) -> TypeGuard[Literal]:
    """Whether a value can be a label: a string, with or without a language."""
    return isinstance(value, Literal) and (
        value.language is not None or value.datatype == vocab.STRING
    )


# Terms ------------------------------------------------------------------------------------------


def term_of_mapping(mapping: contexts.Mapping, meta_type: str) -> Callable[[str], str | None]:
    """The function that looks up the type, or the predicate, of an IRI in a mapping."""
    return mapping.type_of if meta_type == META_TYPES[0] else mapping.predicate_of


def native_name(meta_type: str, iri: str) -> str | None:
    """The name of a definition of any nexus, from the IRI that kiprdf gives it.

    >>> native_name("$ConceptType", "https://other.example/kb/$ConceptType/Boat")
    'Boat'
    """
    match = re.search(rf"/{re.escape(meta_type)}/([^/#?]+)$", iri)
    name = "" if match is None else unquote(match[1])
    return name if is_definition_name(meta_type, name) else None


def plain_name(iri: str, label: str | None, names: Names | None = None) -> str:
    """The name of a term by itself: its local name, its label, or a digest."""
    return term_name(iri, label, names) or f"term_{hashlib.sha256(iri.encode()).hexdigest()[:8]}"


def numbered(name: str) -> Iterator[str]:
    """A name, and the same with numbers from 2 on.

    >>> from itertools import islice
    >>> list(islice(numbered("Person"), 3))
    ['Person', 'Person_2', 'Person_3']
    """
    yield name
    for number in count(2):
        suffix = f"_{number}"
        yield name[: limits.KEY_CHARACTERS - len(suffix)] + suffix


def allocate(
    iris: Iterable[str],
    candidates: Callable[[str], Iterable[str]],
    given: Callable[[str], str | None] = lambda iri: None,
    is_free: Callable[[str, str], bool] = lambda iri, name: True,
) -> dict[str, str]:
    """A unique name for each IRI: the given one, or the first of its candidates that is free.

    Of two IRIs with one name the first has it. ``is_free`` says whether an IRI may have a name.

    >>> names = allocate(["urn:a:Person", "urn:b:Person"], lambda iri: numbered(local_name(iri)))
    >>> list(names.values())
    ['Person', 'Person_2']
    """
    ordered = list(dict.fromkeys(iris))
    names: dict[str, str] = {}
    used: set[str] = set()
    for iri in ordered:
        name = given(iri)
        if name is not None and name not in used:
            names[iri] = name
            used.add(name)
    for iri in ordered:
        if iri not in names:
            names[iri] = next(n for n in candidates(iri) if n not in used and is_free(iri, n))
            used.add(names[iri])
    return {iri: names[iri] for iri in ordered}


# Sentences --------------------------------------------------------------------------------------


def taken_by_nexus(iri: str, name: str, plain: str, what: str = "") -> str:
    """The sentence for a term whose plain name is that of another definition."""
    return (
        f"<{iri}> is called '{name}' because {what}'{plain}' of the nexus is something else; "
        "a mapping can say that they are the same."
    )


def taken_by_others(names: Mapping[str, str], plain: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each term that has a number because another one of the data has its name.

    >>> names = {"urn:a:Person": "Person", "urn:b:Person": "Person_2"}
    >>> list(taken_by_others(names, dict.fromkeys(names, "Person")))
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


# Naming ---------------------------------------------------------------------------------------


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
        self._prefixes = tuple(iris.base for iris in self._bases)
        self._used: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._has_mapped = False
        # Data have few terms, and each in very many triples.
        self.type = cached(Naming._type, self)
        self.predicate = cached(Naming._predicate, self)
        self.is_native_predicate = cached(Naming._is_native_predicate, self)
        self.is_mapped_predicate = cached(Naming._is_mapped_predicate, self)
        self.is_claim = cached(Naming._is_claim, self)
        self.labels = cached(Naming._labels_of, self)
        self._attributes = cached(Naming._mapped_attributes, self)
        self._metadata = cached(Naming._mapped_metadata, self)
        self._unmapped = cached(Naming._unmapped_attribute, self)

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
        if not iri.startswith(self._prefixes):
            return None
        names = (iris.name(iri) for iris in self._bases)
        return next((name for name in names if name is not None), None)

    def is_below_base(self, iri: str) -> bool:
        return iri.startswith(self._prefixes)

    def _type(self, iri: str) -> str | None:
        """The concept type of a class, whether it is defined or not."""
        own = self._of_nexus("$ConceptType", iri)
        return own if own in META_TYPES else self._definition(META_TYPES[0], iri)

    def _predicate(self, iri: str) -> str | None:
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

    def _is_native_predicate(self, iri: str) -> bool:
        """Whether an IRI is one that kiprdf writes for a predicate."""
        name = self.element(iri)
        return isinstance(name, ConceptName) and name.type == "$PropositionType"

    def _is_mapped_predicate(self, iri: str) -> bool:
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

    def has_several_keys(self, iri: str, concept_type: str | None) -> bool:
        """Whether the key of a property depends on the value."""
        keys = self._attributes(iri, concept_type), self._metadata(iri)
        return any(some and len(some) > 1 for some in keys)

    def attribute(self, iri: str, concept_type: str | None, value: Object | None) -> Key | None:
        """The attribute of a property on concepts of a type; on propositions without a type."""
        if iri.startswith(vocab.ATTRIBUTE):
            return _native_key(iri, vocab.ATTRIBUTE)
        if iri == OWL_SAME_AS:
            return Key(SAME_AS)
        keys = self._attributes(iri, concept_type)
        return _best(keys, value) if keys else self._unmapped(iri, concept_type)

    def _unmapped_attribute(self, iri: str, concept_type: str | None) -> Key | None:
        name = self.index.key(iri, concept_type) or self._plain(iri)
        return None if name is None else Key(name)

    def _is_claim(self, iri: str) -> bool:
        """Whether the values of a property are the original IRIs of its subjects."""
        if iri in (OWL_SAME_AS, vocab.ATTRIBUTE + SAME_AS):
            return True
        keys = self._attributes(iri, None)
        return keys is not None and keys[0][0] == SAME_AS

    def is_mapped_attribute(self, iri: str, concept_type: str | None) -> bool:
        return self._attributes(iri, concept_type) is not None

    def _mapped_attributes(
        self, iri: str, concept_type: str | None
    ) -> list[tuple[str, Term]] | None:
        return self._mapped(lambda one: self._mapping.attributes_of(one, concept_type), iri)

    def metadata(self, iri: str, value: Object | None) -> Key | None:
        """The metadata key of a property; None if it has none."""
        if iri.startswith(vocab.METADATA):
            return _native_key(iri, vocab.METADATA)
        keys = self._metadata(iri)
        return _best(keys, value) if keys else None

    def _mapped_metadata(self, iri: str) -> list[tuple[str, Term]] | None:
        return self._mapped(self._mapping.all_metadata_of, iri)

    def is_link(self, iri: str) -> bool:
        """Whether the mapping names a property whose values are not IRIs, such as a homepage."""
        if self.is_mapped_predicate(iri):
            return True
        keys = [*(self._attributes(iri, None) or ()), *(self._metadata(iri) or ())]
        return bool(keys) and not any(term.is_iri for _, term in keys)

    def _labels_of(self, concept_type: str | None) -> tuple[str, ...]:
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


def _best(keys: list[tuple[str, Term]], value: Object | None) -> Key:
    """Of several keys of one property the one with the language or datatype of a value."""
    fitting = (pair for pair in keys if _fits(pair[1], value))
    return Key(*next(fitting, keys[0]))


def _fits(term: Term, value: Object | None) -> bool:
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
