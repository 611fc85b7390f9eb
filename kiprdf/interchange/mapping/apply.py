"""Applies a mapping to the triples of a nexus, and undoes it (docs/how-to/mappings.md).

Subjects keep their IRIs. A triple is replaced by its mapped form when that form alone leads back to
it; otherwise it stays, and the mapped forms are written beside it (decisions/028). So the way back
is exact as long as no tool in between rewrites literals.

A form is checked as it is read back from a profile: what ``profiles`` makes of a literal of
``rdf:JSON`` may be the form of another key, or a triple of KIP's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.formats.profiles import returned
from kiprdf.interchange.mapping.contexts import Mapping, Term
from kiprdf.interchange.mapping.datatypes import fits
from kiprdf.interchange.mapping.reader import IRI
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, PropositionName
from kiprdf.rdf.literals import DIRECTIONS, canonical_json, is_ours, normal, to_json, to_term
from kiprdf.semantics.arguments import RESERVED_METADATA

Subject: TypeAlias = NamedNode | BlankNode | Triple

_PARTS = (vocab.REIFIES, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
"""The properties that say what a proposition states, in either profile."""


def apply_mapping(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus in the terms of a mapping, subject by subject.

    ``undo_mapping`` is the inverse; ``to_profile`` and ``from_profile`` go between them.
    """
    for subject, own in paced(_by_subject(triples).items()):
        yield from _Element(subject, iris, mapping).mapped(own)


def undo_mapping(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus from their mapped forms; other triples pass unchanged.

    ``iris`` are those of the nexus that wrote the triples.
    """
    for subject, own in paced(_by_subject(triples).items()):
        if not (isinstance(subject, NamedNode) and subject.value.startswith(vocab.LIST)):
            yield from _Element(subject, iris, mapping).unmapped(own)


def _by_subject(triples: Iterable[Triple]) -> dict[Subject, list[Triple]]:
    groups: dict[Subject, list[Triple]] = {}
    for triple in paced(triples):
        value = triple.object
        if isinstance(value, Literal):
            triple = Triple(triple.subject, triple.predicate, normal(value))
        groups.setdefault(triple.subject, []).append(triple)
    return groups


class _Element:
    """One concept or proposition, mapped or unmapped."""

    def __init__(self, subject: Subject, iris: Iris, mapping: Mapping) -> None:
        self._subject = cast(NamedNode, subject)
        self._iris = iris
        self._mapping = mapping
        self._name: ElementName | None = None
        if isinstance(subject, NamedNode):
            self._name = iris.name(subject.value)
        self._type = self._name.type if isinstance(self._name, ConceptName) else None

    def mapped(self, own: list[Triple]) -> Iterator[Triple]:
        mapped_of = {triple: self._mapped(triple) for triple in own}
        read_of = {triple: list(map(returned, mapped)) for triple, mapped in mapped_of.items()}
        kept = {triple for triple in own if not self._leads_back(triple, read_of[triple])}
        beside = {form for triple in kept for form in read_of[triple]}
        written: dict[Triple, None] = {}
        for triple in own:
            if triple in kept or read_of[triple][0] in beside:
                written[self._relinked(triple, True)] = None
            written |= dict.fromkeys(mapped_of[triple])
        yield from written

    def unmapped(self, own: list[Triple]) -> Iterator[Triple]:
        kept = [self._relinked(triple, False) for triple in own if self._is_own(triple)]
        beside = {returned(form) for triple in kept for form in self._mapped(triple)}
        # A key has one value: where KIP's own triple is there, mapped forms of the key are extra.
        keys = {triple.predicate for triple in kept if self._is_keyed(triple)}
        yield from kept
        for triple in dict.fromkeys(own):
            if self._is_own(triple) or triple in beside:
                continue
            origin = self._origin(triple) or triple
            if origin.predicate not in keys:
                yield origin

    # Applied --------------------------------------------------------------------------------

    def _mapped(self, triple: Triple) -> list[Triple]:
        """The mapped forms of a triple; none where the mapping has no term for it."""
        predicate, value = triple.predicate.value, triple.object
        term: Term | None = None
        if predicate.startswith(vocab.ATTRIBUTE):
            term = self._term(vocab.ATTRIBUTE, predicate[len(vocab.ATTRIBUTE) :])
        elif predicate.startswith(vocab.METADATA):
            term = self._term(vocab.METADATA, predicate[len(vocab.METADATA) :])
        elif predicate.startswith(self._iris.predicates):
            iri = self._mapping.predicate(predicate[len(self._iris.predicates) :])
            return self._usable([] if iri is None else [Triple(self._subject, iri, value)])
        elif self._is_own(triple) and self._type is not None:
            if triple.predicate == vocab.TYPE:
                iri = self._mapping.concept_type(self._type)
                return self._usable([] if iri is None else [Triple(self._subject, vocab.TYPE, iri)])
            term = self._mapping.label(self._type)
        if term is None or not isinstance(value, Literal | NamedNode):
            return []
        return self._usable(self._written(term, triple.predicate, value))

    def _term(self, space: str, key: str) -> Term | None:
        """The term of a key. Where a metadata key and an attribute of that name share an IRI, it is
        the attribute of a concept and the metadata of a fact: a book's author wrote no record. The
        times of the engine share theirs with attributes of other names.
        """
        attribute = self._mapping.attribute(key, self._type)
        metadata = self._mapping.metadata(key)
        of_concept, is_attribute = self._type is not None, space == vocab.ATTRIBUTE
        own, other = (attribute, metadata) if is_attribute else (metadata, attribute)
        if own is None or is_attribute == of_concept:
            return own
        is_shared = other is not None and other.iri == own.iri
        if is_attribute:
            named = (name for name, _ in self._mapping.all_metadata_of(own.iri.value))
            is_shared = is_shared or not RESERVED_METADATA.isdisjoint(named)
        elif key in RESERVED_METADATA:
            is_shared = is_shared or bool(self._mapping.attributes_of(own.iri.value, self._type))
        return None if is_shared else own

    def _written(
        self, term: Term, predicate: NamedNode, value: Literal | NamedNode
    ) -> list[Triple]:
        written = mapped_values(term, value, self._iris.base)
        if term.container == "@list" and value != vocab.NULL:
            seed = f"{self._subject.value} {predicate.value}"
            head, cells = list_cells(written, seed)
            return [Triple(self._subject, term.iri, head), *cells]
        return [Triple(self._subject, term.iri, form) for form in written]

    def _usable(self, mapped: list[Triple]) -> list[Triple]:
        """The forms; none of them if one would be read as a triple of KIP's own or is not RDF."""
        return [] if any(self._is_ambiguous(returned(form)) for form in mapped) else mapped

    def _is_ambiguous(self, form: Triple) -> bool:
        if form.predicate == vocab.TYPE and not isinstance(form.object, NamedNode):
            return True  # JSON-LD and other formats have no such types
        is_statement = form.predicate == vocab.TYPE and form.object == vocab.STATEMENT
        return is_statement or form.predicate in _PARTS or self._is_own(form)

    def _leads_back(self, triple: Triple, mapped: list[Triple]) -> bool:
        # Names stay labels as well, so that every tool shows them.
        if len(mapped) != 1 or triple.predicate == vocab.LABEL:
            return False
        return self._origin(mapped[0]) == triple

    # Undone ---------------------------------------------------------------------------------

    def _is_own(self, triple: Triple) -> bool:
        """Whether a triple is one that KIP itself writes, and hence no mapped form."""
        predicate = triple.predicate.value
        if predicate.startswith((vocab.ATTRIBUTE, vocab.METADATA, self._iris.predicates)):
            return True
        if isinstance(self._name, ConceptName):
            own_type, own_label = self._iris.type(self._name.type), Literal(self._name.name)
            of_type = triple.predicate == vocab.TYPE and triple.object == own_type
            return of_type or (triple.predicate == vocab.LABEL and triple.object == own_label)
        return isinstance(self._name, PropositionName) and triple.predicate == vocab.REIFIES

    def _is_keyed(self, triple: Triple) -> bool:
        return triple.predicate.value.startswith((vocab.ATTRIBUTE, vocab.METADATA))

    def _origin(self, form: Triple) -> Triple | None:
        """The triple that a form alone is read as; None if no term has its IRI."""
        if self._name is None:
            return None
        if self._type is not None and form.predicate == vocab.TYPE:
            own = Triple(self._subject, vocab.TYPE, self._iris.type(self._type))
            if form in self._mapped(own):
                return own
        return self._fact(form) or self._value(form)

    def _fact(self, form: Triple) -> Triple | None:
        value = form.object
        if not isinstance(value, NamedNode) or self._iris.name(value.value) is None:
            return None
        name = self._mapping.predicate_of(form.predicate.value)
        return (name and Triple(self._subject, self._iris.predicate(name), value)) or None

    def _value(self, form: Triple) -> Triple | None:
        """The attribute or metadata whose form this is, otherwise the likeliest."""
        values = [
            Triple(self._subject, NamedNode(space + key), value)
            for space, key, term in self._candidates(form)
            if (value := value_of(term, form.object, self._iris.base)) is not None
        ]
        likeliest = values[0] if values else None
        return next((t for t in values if [*map(returned, self._mapped(t))] == [form]), likeliest)

    def _candidates(self, form: Triple) -> list[tuple[str, str, Term]]:
        """The keys with the IRI of a form, the likeliest first.

        That is one whose datatype or language the form has, and one that is not also a predicate.
        """
        iri = form.predicate.value
        attributes = self._mapping.attributes_of(iri, self._type)
        metadata = self._mapping.all_metadata_of(iri)
        keys = [(vocab.ATTRIBUTE, key, term) for key, term in attributes]
        keys += [(vocab.METADATA, key, term) for key, term in metadata]
        keys = [one for one in keys if self._term(*one[:2]) is not None]
        return sorted(keys, key=lambda one: self._unlikely(one[1], one[2], form.object))

    def _unlikely(self, key: str, term: Term, value: object) -> tuple[bool, bool]:
        return not coerces(term, value), self._mapping.predicate(key) == term.iri

    # Links ----------------------------------------------------------------------------------

    def _relinked(self, triple: Triple, mapped: bool) -> Triple:
        """A triple of a link whose fact has the mapped predicate, or KIP's own again.

        The way back needs no mapping: the IRI of the link names the predicate.
        """
        if not isinstance(self._name, PropositionName):
            return triple
        iri = self._mapping.predicate(self._name.predicate)
        own = self._iris.predicate(self._name.predicate)
        if iri is None or not self._usable([Triple(self._subject, iri, own)]):
            return triple
        before, after = (own, iri) if mapped else (iri, own)
        fact = triple.object
        if not isinstance(fact, Triple) or fact.predicate != before:
            return triple
        return Triple(self._subject, triple.predicate, Triple(fact.subject, after, fact.object))


_NATIVE = (vocab.STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN, vocab.JSON)
"""Datatypes of which a literal is a value of KIP as it stands."""
_OF_LANGUAGES = (vocab.LANG_STRING, vocab.DIR_LANG_STRING)
"""Datatypes that no literal has without a language; parsers refuse it."""


def mapped_values(term: Term, value: Literal | NamedNode, base: str) -> list[Literal | NamedNode]:
    """A value as the mapping writes it: one form, more for an array, none for null.

    >>> from kiprdf.interchange.mapping.contexts import Mapping
    >>> born = Mapping.load({"@context": {
    ...     "born": {"@id": "https://schema.org/birthDate",
    ...              "@type": "http://www.w3.org/2001/XMLSchema#date"}}}).attribute("born")
    >>> [str(form) for form in mapped_values(born, Literal("1815-12-23"), "urn:kip:nexus/")]
    ['"1815-12-23"^^<http://www.w3.org/2001/XMLSchema#date>']
    """
    if value == vocab.NULL:
        return []
    if term.datatype == vocab.JSON:
        return [Literal(canonical_json(to_json(value)), datatype=vocab.JSON)]
    items = [value]
    if isinstance(value, Literal) and value.datatype == vocab.JSON:
        array = to_json(value)
        if isinstance(array, list):
            items = [to_term(item) for item in array]
    mapped = (_form(term, item, base) for item in items)
    return [form for form in mapped if form is not None]


def _form(term: Term, value: Literal | NamedNode, base: str) -> Literal | NamedNode | None:
    if isinstance(value, NamedNode):
        return None
    if value.language is None and value.datatype == vocab.STRING:
        return _text(term, value, base)
    if value.language is None and value.datatype == vocab.JSON:
        return _object(value, base)
    if value.datatype in _NATIVE and term.datatype and fits(value.value, term.datatype):
        return _typed(value.value, term.datatype)
    return value


def _text(term: Term, value: Literal, base: str) -> Literal | NamedNode | None:
    text = value.value
    if term.is_iri:
        node = _node(text)
        return value if node is None else None if _is_within(node, base) else node
    if term.datatype is not None:
        return _typed(text, term.datatype) if fits(text, term.datatype) else value
    if term.language is not None:
        direction = DIRECTIONS.get(term.direction or "")
        return Literal(text, language=term.language, direction=direction)
    return value


def _typed(text: str, datatype: NamedNode) -> Literal:
    literal = normal(Literal(text, datatype=datatype))
    assert isinstance(literal, Literal)
    return literal


def _object(value: Literal, base: str) -> Literal | NamedNode | None:
    """A JSON-LD object as the node or literal it describes; other objects stay JSON."""
    members: Any = to_json(value)
    if not isinstance(members, dict):
        return value
    if set(members) == {"@id"} and isinstance(members["@id"], str):
        node = _node(members["@id"])
        return value if node is None else None if _is_within(node, base) else node
    if set(members) == {"@value", "@type"}:
        text, datatype = members["@value"], _node(members["@type"])
        if datatype is None or datatype in (*_NATIVE, *_OF_LANGUAGES):
            return value
        if isinstance(text, str) and fits(text, datatype):
            return _typed(text, datatype)
    return value


def _node(text: Any) -> NamedNode | None:
    """The node of an absolute IRI; None for other values, and for IRIs too long to be read."""
    if isinstance(text, str) and len(text) <= IRI:
        with suppress(ValueError):
            return NamedNode(text)
    return None


def _is_within(node: NamedNode, base: str) -> bool:
    """Whether a node is one of the nexus itself or of KIP, and so would not be read as a value."""
    return node.value.startswith((base, "urn:kip:"))


def value_of(term: Term, form: object, base: str) -> Literal | NamedNode | None:
    """The value of a form; None when KIP has no such value."""
    if isinstance(form, NamedNode):
        if _is_within(form, base):
            return None
        return Literal(form.value) if term.is_iri else to_term({"@id": form.value})
    if not isinstance(form, Literal):
        return None
    with suppress(LookupError, ValueError, RecursionError):
        value = _literal_value(term, form)
        return value if is_ours(value) else None
    return None


def _literal_value(term: Term, form: Literal) -> Literal | NamedNode:
    if form.datatype == vocab.JSON == term.datatype:
        return to_term(json.loads(form.value))
    if coerces(term, form) and (form.language or form.datatype not in _NATIVE):
        return Literal(form.value)
    return to_term(to_json(form))


def coerces(term: Term, form: object) -> bool:
    """Whether a form is what the term makes of a string."""
    if not isinstance(form, Literal):
        return isinstance(form, NamedNode) and term.is_iri
    if form.language is not None:
        direction = DIRECTIONS.get(term.direction or "")
        return form.language == term.language and form.direction == direction
    plain = term.language is None and not term.is_iri
    return plain and form.datatype == (term.datatype or vocab.STRING)


def list_cells(
    items: list[Literal | NamedNode], seed: str, names: Sequence[str | None] = ()
) -> tuple[NamedNode, list[Triple]]:
    """The head of an ``rdf:List`` and its cells, whose IRIs are given or made from the seed."""
    digits = hashlib.sha256(seed.encode()).hexdigest()[:16]
    nodes = [NamedNode(f"{vocab.LIST}{digits}/{number}") for number in range(len(items))]
    nodes.append(vocab.NIL)
    for number, name in enumerate(names[: len(items)]):
        nodes[number] = nodes[number] if name is None else NamedNode(name)
    cells: list[Triple] = []
    for node, item, rest in zip(nodes, items, nodes[1:], strict=False):
        cells += (Triple(node, vocab.FIRST, item), Triple(node, vocab.REST, rest))
    return nodes[0], cells
