"""Writes the statements of imported ontologies as far as their definitions still agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from kiprdf.interchange.forms import iri_of
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.origins import AXIOMS
from kiprdf.interchange.importing.values import listed
from kiprdf.interchange.original.record import Element, value_of
from kiprdf.interchange.vocabularies.axioms import shown_texts
from kiprdf.interchange.vocabularies.hierarchy import ABOVE, ORIGINALS
from kiprdf.interchange.vocabularies.standards import DESCRIPTIONS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json


class Described(NamedTuple):
    """A definition of a nexus as it is now."""

    attributes: Mapping[str, Json]
    axioms: Json
    """What imports recorded, by source."""
    iris: list[str]
    parents: set[str]
    """The names of the definitions directly above it."""


def definitions(
    elements: Iterable[Element], facts: Iterable[Triple], iris: Iris
) -> dict[ConceptName, Described]:
    """The definitions among the elements of a dataset."""
    described: dict[ConceptName, Described] = {}
    for element in elements:
        name = element.name
        if isinstance(name, ConceptName) and name.type in META_TYPES:
            attributes = {
                key: value_of(triple)
                for (is_metadata, key), triple in element.values()
                if not is_metadata
            }
            originals = [iri for one in listed(attributes.get(SAME_AS)) if (iri := iri_of(one))]
            described[name] = Described(attributes, element.noted(AXIOMS), originals, set())
    links = {iris.predicate(predicate): meta_type for meta_type, predicate in ABOVE.items()}
    for fact in facts:
        ends = [iris.name(cast(NamedNode, end).value) for end in (fact.subject, fact.object)]
        match ends:
            case [ConceptName() as below, ConceptName() as above] if below in described:
                if below.type == above.type == links.get(fact.predicate):
                    described[below].parents.add(above.name)
    return described


def axioms(definitions: Mapping[ConceptName, Described]) -> Iterator[Triple]:
    """The statements that ontologies had about definitions, and what has changed since.

    A text that its definition does not have any more, and a link to a definition that is not above
    it any more, are left out; a new description and new links are written.
    """
    names = {(name.type, iri): name.name for name, one in definitions.items() for iri in one.iris}
    for name, one in definitions.items():
        yield from _of_definition(name, one, names, definitions)


def _of_definition(
    name: ConceptName,
    one: Described,
    names: Mapping[tuple[str, str], str],
    definitions: Mapping[ConceptName, Described],
) -> Iterator[Triple]:
    records = [
        record
        for record in (one.axioms.values() if isinstance(one.axioms, dict) else ())
        if isinstance(record, dict)
    ]
    if not records:
        return
    link = ORIGINALS[name.type]
    before = {parent for record in records for parent in listed(record.get("parents"))}
    for triple in _triples(records, "statements"):
        above = names.get((name.type, cast(NamedNode, triple.object).value))
        is_link = triple.predicate == link and above in before and above != name.name
        if not is_link or above in one.parents:
            yield triple
    for parent in sorted(one.parents - before):
        other = definitions.get(ConceptName(name.type, parent))
        if one.iris and other is not None and other.iris:
            yield Triple(NamedNode(one.iris[0]), link, NamedNode(other.iris[0]))
    yield from _texts(name, one, list(_triples(records, "texts")))


def _texts(name: ConceptName, one: Described, recorded: list[Triple]) -> Iterator[Triple]:
    """The texts that a definition still has; its description, if that is a new one."""
    current = shown_texts(name, one.attributes)
    kept = [triple for triple in recorded if any(_text(triple) in text for text in current)]
    yield from kept
    description = one.attributes.get("description")
    replaced = [t for t in recorded if t not in kept and t.predicate in DESCRIPTIONS]
    if replaced and isinstance(description, str):
        language = cast(Literal, replaced[0].object).language
        yield Triple(
            replaced[0].subject, replaced[0].predicate, Literal(description, language=language)
        )


def _text(triple: Triple) -> str:
    return cast(Literal, triple.object).value.strip()


def _triples(records: Iterable[Mapping[str, Json]], key: str) -> Iterator[Triple]:
    """The statements of records as triples; a line changed by hand may be none."""
    lines = (line for record in records for line in listed(record.get(key)))
    for line in dict.fromkeys(lines):
        try:
            yield from (quad.triple for quad in parse(str(line), format=RdfFormat.N_TRIPLES))
        except SyntaxError:
            continue
