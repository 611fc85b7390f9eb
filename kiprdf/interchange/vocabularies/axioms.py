"""Records the statements of an ontology with its definitions (docs/decisions/088).

A definition says what a term means in the nexus; its record keeps the statements of the ontology,
so that they can be written again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.interchange.importing.blank_nodes import blank_names, is_blank
from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import (
    ONTOLOGY,
    ExternalTriple,
    Node,
    Object,
    by_subject,
    collect,
    is_inner,
    is_of_ontology,
    replaced_in,
    statement_text,
    unlinked_lists,
)
from kiprdf.interchange.importing.origins import AXIOMS, IRI
from kiprdf.interchange.importing.plan import Concept, JsonMap, concept
from kiprdf.interchange.vocabularies.definitions import (
    Definition,
    Definitions,
    ExistingDefinitions,
    TypeDefinition,
)
from kiprdf.kml.merged_origins import ORIGINAL
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import SYSTEM


def shown_texts(name: ConceptName, attributes: Mapping[str, Json]) -> list[str]:
    """The texts of a definition."""
    maps = [attributes.get("labels"), attributes.get("descriptions")]
    texts = [text for texts in maps if isinstance(texts, dict) for text in texts.values()]
    every = (*texts, attributes.get("description"), name.name)
    return [text for text in every if isinstance(text, str)]


def with_carrier(
    quads: Iterable[Quad],
    definitions: Definitions,
    existing: ExistingDefinitions,
    index: ElementIndex,
) -> Definitions:
    """Definitions that can have the statements of an ontology; one is added if it defines none.

    That is the type of ontologies, so that a head without terms, or terms that only annotate, are
    kept as well.
    """
    if any(_name(one) not in SYSTEM for one in (*definitions.types, *definitions.predicates)):
        return definitions
    groups = by_subject(collect(quads)[0]).items()
    if not any(_is_recorded(node, about, index) for node, about in groups):
        return definitions
    meta_type = TypeDefinition.meta_type
    names = (f"Ontology_{number}" if number > 1 else "Ontology" for number in count(1))
    free = (name for name in names if ConceptName(meta_type, name) not in existing)
    name = index.definition(meta_type, ONTOLOGY.value) or next(free)
    texts = {"": "A set of terms, and what is stated about them."}
    carrier = TypeDefinition(name, ONTOLOGY.value, descriptions=texts)
    return replace(definitions, types=(*definitions.types, carrier))


def record_axioms(
    quads: Iterable[Quad],
    definitions: Definitions,
    attributes: Mapping[ConceptName, Mapping[str, Json]],
    index: ElementIndex,
    source: str,
) -> list[Concept]:
    """What definitions record: the statements of a source about them.

    ``attributes`` are those that definitions have after the import.
    Those about an attribute are with a type that has it. Statements about no term, such as those
    about the ontology itself, are with the first definition.
    """
    every = [*definitions.types, *definitions.predicates]
    every = [one for one in every if _name(one) not in SYSTEM]
    earlier = index.metadata(ORIGINAL)
    statements = _by_definition(quads, every, index)
    recorded = []
    for definition in every:
        name = _name(definition)
        if name not in statements:
            continue
        before = earlier.get(name.id)
        original: JsonMap = dict(before) if isinstance(before, dict) else {}
        axioms = original.get(AXIOMS)
        shown = shown_texts(name, attributes.get(name, {}))
        new = _record(statements[name], definition, shown)
        original[AXIOMS] = {**(axioms if isinstance(axioms, dict) else {}), source: new}
        recorded.append(concept(name, {}, {ORIGINAL: original}))
    return recorded


def _name(definition: Definition) -> ConceptName:
    return ConceptName(definition.meta_type, definition.name)


def _record(
    statements: Iterable[ExternalTriple], definition: Definition, shown: Iterable[str]
) -> Json:
    """Statements as lines: those whose text the definition shows, and others."""
    lines: dict[str, list[Json]] = {"texts": [], "statements": []}
    for statement in sorted(statements, key=statement_text):
        is_own = statement.subject.value in (definition.iri, *definition.same_as)
        is_text = isinstance(statement.object, Literal) and any(
            statement.object.value.strip() in text for text in shown
        )
        lines["texts" if is_own and is_text else "statements"].append(statement_text(statement))
    return {**lines, "parents": sorted(definition.parents)}


def _by_definition(
    quads: Iterable[Quad], definitions: list[Definition], index: ElementIndex
) -> Mapping[ConceptName, list[ExternalTriple]]:
    """The statements about each definition, with the blank nodes that they lead to."""
    collected, _ = collect(quads)
    names: dict[Node, Object] = dict(blank_names(collected).items())
    groups = by_subject(replaced_in(statement, names) for statement in collected)
    owners = _owners(definitions)
    assigned: dict[ConceptName, list[ExternalTriple]] = defaultdict(list)
    left = dict(groups)
    for subject in groups:
        owner = owners.get(subject.value)
        if owner is not None:
            assigned[owner] += _with_blanks(subject, left)
    if definitions:
        lists = unlinked_lists(left)
        # A blank node that another one leads to comes with that one.
        for subject in sorted(left, key=lambda node: (is_blank(node), node.value)):
            if subject in lists or _is_recorded(subject, left.get(subject, ()), index):
                assigned[_name(definitions[0])] += _with_blanks(subject, left)
        # An individual may be of a class without a name.
        recorded = {node for node in groups.keys() - left.keys() if is_inner(node, groups)}
        uses = (one for about in left.values() for one in about if one.object in recorded)
        assigned[_name(definitions[0])] += uses
    return assigned


def _is_recorded(subject: Node, about: Collection[ExternalTriple], index: ElementIndex) -> bool:
    """Whether statements are about an ontology or its terms; a head may be a concept already."""
    is_head = any(statement.object == ONTOLOGY for statement in about)
    return is_of_ontology(about) and not (is_head and index.element(subject.value))


def _with_blanks(subject: Node, left: dict[Node, list[ExternalTriple]]) -> Iterator[ExternalTriple]:
    """The statements about a node and what is below it; they are no longer left."""
    pending: list[Node] = [subject]
    while pending:
        for statement in left.pop(pending.pop(), ()):
            yield statement
            if isinstance(statement.object, NamedNode) and is_inner(statement.object, left):
                pending.append(statement.object)


def _owners(definitions: list[Definition]) -> dict[str, ConceptName]:
    """The definitions by their IRIs and by those of their attributes."""
    owners: dict[str, ConceptName] = {}
    for definition in definitions:
        for iri in (definition.iri, *definition.same_as):
            owners.setdefault(iri, _name(definition))
    for definition in definitions:
        if isinstance(definition, TypeDefinition):
            for rule in definition.instance_schema.values():
                owners.setdefault(str(rule.get(IRI)), _name(definition))
    return owners
