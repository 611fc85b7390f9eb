"""The dataset of a nexus in the words of other vocabularies, and back (docs/how-to/mappings.md).

Subjects keep their IRIs. A triple is replaced by its mapped form when that form alone leads back to
it; otherwise it stays, and the mapped forms stand beside it (decisions/028). So the way back is
exact as long as no tool in between rewrites literals.

A form is looked at as it comes back from a profile: what ``profiles`` makes of a literal of
``rdf:JSON`` may be another key's form, or a triple of KIP's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.formats.profiles import returned
from kiprdf.interchange.mapping.contexts import Mapping, Term
from kiprdf.interchange.mapping.mapped_values import coerces, forms, list_cells, value_of
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, PropositionName
from kiprdf.rdf.literals import normal

Subject: TypeAlias = NamedNode | BlankNode | Triple

_PARTS = (vocab.REIFIES, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
"""The properties by which a link tells its fact, in either profile; nothing else has them."""


def to_mapped(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus under a mapping.

    Takes and gives the triples of one subject together. ``from_mapped`` is the inverse, behind
    ``to_profile`` and ``from_profile``.
    """
    for subject, own in paced(_by_subject(triples).items()):
        yield from _Element(subject, iris, mapping).mapped(own)


def from_mapped(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus from their mapped forms; those that are none pass unchanged.

    ``iris`` are those that the triples were written under.
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
    """One concept or proposition, on its way there or back."""

    def __init__(self, subject: Subject, iris: Iris, mapping: Mapping) -> None:
        self._subject = cast(NamedNode, subject)
        self._iris = iris
        self._mapping = mapping
        self._name: ElementName | None = None
        if isinstance(subject, NamedNode):
            self._name = iris.name(subject.value)
        self._type = self._name.type if isinstance(self._name, ConceptName) else None

    def mapped(self, own: list[Triple]) -> Iterator[Triple]:
        forms_of = {triple: self._forms(triple) for triple in own}
        read_of = {triple: list(map(returned, forms)) for triple, forms in forms_of.items()}
        kept = {triple for triple in own if not self._leads_back(triple, read_of[triple])}
        beside = {form for triple in kept for form in read_of[triple]}
        given: set[Triple] = set()
        for triple in own:
            stays = triple in kept or read_of[triple][0] in beside
            for shown in (*((self._relinked(triple, True),) if stays else ()), *forms_of[triple]):
                if shown not in given:
                    given.add(shown)
                    yield shown

    def unmapped(self, own: list[Triple]) -> Iterator[Triple]:
        kept = [self._relinked(triple, False) for triple in own if self._is_own(triple)]
        beside = {returned(form) for triple in kept for form in self._forms(triple)}
        # A key has one value: where it stands itself, whatever else there is was said beside it.
        keys = {triple.predicate for triple in kept if self._is_keyed(triple)}
        yield from kept
        for triple in dict.fromkeys(own):
            if self._is_own(triple) or triple in beside:
                continue
            found = self._origin(triple) or triple
            if found.predicate not in keys:
                yield found

    # There ----------------------------------------------------------------------------------

    def _forms(self, triple: Triple) -> list[Triple]:
        """The mapped forms of a triple; none where the mapping has no word for it."""
        predicate, value = triple.predicate.value, triple.object
        term: Term | None = None
        if predicate.startswith(vocab.ATTRIBUTE):
            key = predicate[len(vocab.ATTRIBUTE) :]
            term = self._mapping.attribute(key, self._type)
        elif predicate.startswith(vocab.METADATA):
            term = self._mapping.metadata(predicate[len(vocab.METADATA) :])
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

    def _written(
        self, term: Term, predicate: NamedNode, value: Literal | NamedNode
    ) -> list[Triple]:
        found = forms(term, value, self._iris.base)
        if term.container == "@list" and value != vocab.NULL:
            seed = f"{self._subject.value} {predicate.value}"
            head, cells = list_cells(found, seed)
            return [Triple(self._subject, term.iri, head), *cells]
        return [Triple(self._subject, term.iri, form) for form in found]

    def _usable(self, found: list[Triple]) -> list[Triple]:
        """The forms, unless one would be taken for a triple of KIP's own or for no RDF."""
        return [] if any(self._is_taken(returned(form)) for form in found) else found

    def _is_taken(self, form: Triple) -> bool:
        if form.predicate == vocab.TYPE and not isinstance(form.object, NamedNode):
            return True  # JSON-LD and other formats have no such types
        is_statement = form.predicate == vocab.TYPE and form.object == vocab.STATEMENT
        return is_statement or form.predicate in _PARTS or self._is_own(form)

    def _leads_back(self, triple: Triple, found: list[Triple]) -> bool:
        # Names stay labels as well, so that every tool shows them.
        if len(found) != 1 or triple.predicate == vocab.LABEL:
            return False
        return self._origin(found[0]) == triple

    # Back -----------------------------------------------------------------------------------

    def _is_own(self, triple: Triple) -> bool:
        """Whether a triple is KIP's own by its looks alone, and hence no mapped form."""
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
        """The triple that a form is read as, on its own; None where no word has its IRI."""
        if self._name is None:
            return None
        if self._type is not None and form.predicate == vocab.TYPE:
            own = Triple(self._subject, vocab.TYPE, self._iris.type(self._type))
            if form in self._forms(own):
                return own
        return self._fact(form) or self._value(form)

    def _fact(self, form: Triple) -> Triple | None:
        value = form.object
        if not isinstance(value, NamedNode) or self._iris.name(value.value) is None:
            return None
        name = self._mapping.predicate_of(form.predicate.value)
        return (name and Triple(self._subject, self._iris.predicate(name), value)) or None

    def _value(self, form: Triple) -> Triple | None:
        """The attribute or metadata key whose form this is, or else one that it might be of."""
        found = [
            Triple(self._subject, NamedNode(space + key), value)
            for space, key, term in self._candidates(form)
            if (value := value_of(term, form.object, self._iris.base)) is not None
        ]
        likeliest = found[0] if found else None
        return next((t for t in found if [*map(returned, self._forms(t))] == [form]), likeliest)

    def _candidates(self, form: Triple) -> list[tuple[str, str, Term]]:
        """The keys with the IRI of a form, the likeliest first.

        That is one whose datatype or language the form has, and one that is no predicate as well.
        """
        iri = form.predicate.value
        attributes = self._mapping.attributes_of(iri, self._type)
        metadata = self._mapping.all_metadata_of(iri)
        found = [(vocab.ATTRIBUTE, key, term) for key, term in attributes]
        found += [(vocab.METADATA, key, term) for key, term in metadata]
        return sorted(found, key=lambda found: self._unlikely(found[1], found[2], form.object))

    def _unlikely(self, key: str, term: Term, value: object) -> tuple[bool, bool]:
        return not coerces(term, value), self._mapping.predicate(key) == term.iri

    # Links ----------------------------------------------------------------------------------

    def _relinked(self, triple: Triple, mapped: bool) -> Triple:
        """A triple of a link with its fact told by the mapped predicate, or again by KIP's own.

        The way back needs no mapped word: the link's IRI names the predicate.
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
