"""Statement nodes of Wikibase as facts: one proposition each, with rank, qualifiers, references.

What replaces them is written in the IRIs of the nexus itself, so that the import needs no mapping
for it; all other triples of the document stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import Node, Skipped
from kiprdf.interchange.wikibase.elements import (
    ALIAS,
    COPIES,
    DERIVED_FROM,
    DESCRIPTION,
    LABEL,
    Elements,
    GraphName,
    Properties,
    Role,
    Source,
    WikibaseTriple,
    digest,
    is_entity,
    is_unknown,
    property_iri,
    wikibase,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json

if TYPE_CHECKING:
    from kiprdf.options import ImportOptions

RANK = wikibase("rank")
STATEMENT, BEST_RANK, REFERENCE = map(wikibase, ("Statement", "BestRank", "Reference"))
EVERY_LANGUAGE = "mul"
"""The language of labels that hold in all languages."""


FALLBACK = "en"
"""The language of predicates if no language is preferred."""


class Plain(NamedTuple):
    """A document without statement nodes, what is skipped of it, and warnings."""

    quads: list[Quad]
    skipped: list[Skipped]
    warnings: list[str]


@dataclass(slots=True)
class StatementNode:
    """A statement node: its item, property, value, and what else it says, as JSON."""

    node: Node
    item: NamedNode
    property: str
    value: NamedNode
    main: Node | Literal | None
    """The value as the document has it."""
    graphs: list[GraphName]
    is_truthy: bool = False
    rank: str | None = None
    qualifiers: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    references: list[dict[str, Any]] = field(default_factory=list)
    value_nodes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    types: list[str] = field(default_factory=list)

    def attributes(self) -> dict[str, Json]:
        """Rank and qualifiers, and what a reader seldom needs: value nodes, unusual classes."""
        return {
            **one_or_all(self.qualifiers),
            "truthy": self.is_truthy,
            **({} if self.rank is None else {"rank": self.rank}),
            **({"value_nodes": dict(self.value_nodes)} if self.value_nodes else {}),
            **({"types": self.types} if self.types != usual_types(self.is_truthy) else {}),
        }


def usual_types(is_truthy: bool) -> list[str]:
    """The classes of a statement; those of best rank are the truthy ones."""
    return sorted([STATEMENT.value, *([BEST_RANK.value] if is_truthy else [])])


def one_or_all(values: Mapping[str, list[Json]]) -> dict[str, Json]:
    """Each key with its only value, or all of its values."""
    return {key: listed[0] if len(listed) == 1 else listed for key, listed in values.items()}


def plain(quads: Iterable[Quad], options: ImportOptions, index: ElementIndex) -> Plain:
    """A document of the Wikibase RDF model as plain facts.

    Labels in other languages than those of the options are left out.
    """
    reader = _Reader(Source(quads), options, index)
    reader.read()
    return Plain(
        [*reader.source.remaining(), *reader.elements.written], reader.skipped, reader.warnings
    )


class _Reader:
    def __init__(self, source: Source, options: ImportOptions, index: ElementIndex) -> None:
        self.source, self._language = source, options.language
        names = source.names(options.language or FALLBACK)
        self.properties = Properties(source, index, options.define, names)
        self.elements = Elements(source, index, self.properties, names)
        self.skipped: list[Skipped] = []
        self.warnings: list[str] = []
        self._references: set[Node] = set()

    def read(self) -> None:
        self._leave_out_languages()
        self.elements.written += self.properties.definitions(self._language)
        statements = list(self._statements())
        groups: dict[tuple[NamedNode, str, NamedNode], list[StatementNode]] = defaultdict(list)
        for statement in statements:
            groups[statement.item, statement.property, statement.value].append(statement)
        self._truthy(groups)
        for group in paced(groups.values()):
            self._write_fact(group)
        self._take_references()
        self._write_entities()
        if len(self.source.all_graphs) > 1:
            self.warnings.append(
                "The data are in several graphs; which graph states which qualifier, reference or "
                "value of an item is not kept."
            )
        several = sum(len(group) > 1 for group in groups.values())
        if several:
            self.warnings.append(
                f"{several} propositions are several statements with one value each; "
                "the attribute 'statements' lists them."
            )

    # Labels -----------------------------------------------------------------------------------

    def _leave_out_languages(self) -> None:
        """Remove labels, descriptions and aliases in languages that were not requested."""
        if self._language is None:
            return
        wanted = {tag.strip().lower() for tag in self._language.split(",")} | {EVERY_LANGUAGE}
        texts = [
            triple
            for subject in filter(is_entity, self.source.subjects)
            for triple in self.source.about(subject)
            if triple.predicate in (LABEL, DESCRIPTION, ALIAS, *COPIES)
            and isinstance(triple.object, Literal)
            and triple.object.language
        ]
        others = [text for text in texts if text.object.language not in wanted]
        if others:
            self.source.take(others)
            count = len({triple.object.language for triple in others})
            self.warnings.append(
                f"Labels, descriptions and aliases in {count} other languages are left out."
            )

    def _write_entities(self) -> None:
        """Mark what an entity repeats, and give a type to those that the document only names."""
        for subject in filter(is_entity, self.source.subjects):
            labels = self.source.objects(subject, LABEL)
            copies = [one for one in COPIES if self.source.objects(subject, one) == labels]
            if labels and copies:
                self.source.take(t for t in self.source.about(subject) if t.predicate in copies)
                self.elements.set(subject, "label_copies", [one.value for one in copies])
            self.elements.use(subject)

    # Statements -------------------------------------------------------------------------------

    def _statements(self) -> Iterator[StatementNode]:
        for subject in paced(self.source.subjects):
            for triple in self.source.about(subject):
                role = Role.of(triple.predicate)
                if role is not None and role.name == "p":
                    statement = self._statement(triple, role)
                    if statement is not None:
                        yield statement

    def _statement(self, link: WikibaseTriple, role: Role) -> StatementNode | None:
        node, about = link.object, self.source.about(link.object)
        values, deep, classes = [], [], []
        for triple in about:
            part = Role.of(triple.predicate)
            if part == role._replace(name="ps"):
                values.append(triple.object)
            elif part == role._replace(name="psv"):
                deep.append(triple.object)
            elif triple.predicate == vocab.TYPE:
                classes.append(triple.object)
        no_value = NamedNode(f"{role.base}prop/novalue/{role.id}")
        is_empty = not values and no_value in classes
        item = self.elements.end(link.subject)
        if item is None or not (is_empty or len(values) == 1):
            reason = "its statement has no single value"
            if item is None:
                reason = "it describes a property, and the import must not define anything"
            for triple in (link, *about):
                self.skipped.append(Skipped(str(triple), reason))
            self.source.take((link, *about))
            return None
        main = None if is_empty else values[0]
        if is_empty:
            value = self.elements.value_node(f"no value of {role.base}", "no value", kind="novalue")
        else:
            value = self.elements.value(main, role, deep, node)
        graphs = self.source.graphs[link]
        statement = StatementNode(node, item, role.entity, value, main, graphs)
        statement.types = sorted(
            one.value for one in classes if one != no_value and isinstance(one, NamedNode)
        )
        self.source.take([link, *self._parts(statement, about, role)])
        return statement

    def _parts(
        self, statement: StatementNode, about: list[WikibaseTriple], role: Role
    ) -> Iterator[WikibaseTriple]:
        """Read the parts of a statement node, and return the triples that were read."""
        for triple in about:
            part, value = Role.of(triple.predicate), triple.object
            if part is not None and part.name == "pq":
                key = self.properties.name(part.entity)
                statement.qualifiers[key].append(self.elements.json(value, part.entity))
            elif part is not None and part.name in ("psv", "psn", "pqv", "pqn"):
                if not isinstance(value, NamedNode):
                    continue
                if part.name != "psv" or value != statement.value:
                    self.elements.add_value_node(statement.value_nodes, part, value)
            elif triple.predicate == RANK:
                rank = value.value.removeprefix(wikibase)
                statement.rank = rank.removesuffix("Rank").lower()
            elif triple.predicate == DERIVED_FROM and not isinstance(value, Literal):
                statement.references.append(self._reference(value))
            elif triple.predicate != vocab.TYPE and (part is None or part.name != "ps"):
                continue
            yield triple

    def _take_references(self) -> None:
        """Remove the reference nodes; what else they state is left."""
        for node in self._references:
            self.source.take(
                triple
                for triple in self.source.about(node)
                if triple.predicate == vocab.TYPE or Role.of(triple.predicate) is not None
            )

    def _reference(self, node: Node) -> dict[str, Any]:
        """A reference as JSON; several statements may share it."""
        values: dict[str, list[Json]] = defaultdict(list)
        value_nodes: dict[str, list[str]] = defaultdict(list)
        types = []
        for triple in self.source.about(node):
            part = Role.of(triple.predicate)
            if part is not None and part.name == "pr":
                key = self.properties.name(part.entity)
                values[key].append(self.elements.json(triple.object, part.entity))
            elif part is not None and part.name in ("prv", "prn"):
                self.elements.add_value_node(value_nodes, part, triple.object)
            elif triple.predicate == vocab.TYPE:
                types.append(triple.object.value)
        self._references.add(node)
        return {
            **one_or_all(values),
            **({"id": node.value} if isinstance(node, NamedNode) else {}),
            **({"value_nodes": dict(value_nodes)} if value_nodes else {}),
            **({"types": sorted(types)} if types != [REFERENCE.value] else {}),
        }

    # Facts ------------------------------------------------------------------------------------

    def _truthy(
        self, groups: Mapping[tuple[NamedNode, str, NamedNode], list[StatementNode]]
    ) -> None:
        """Read the direct claims: marks of statements, facts, and values of an item."""
        stated: dict[tuple[NamedNode, str, Any], list[StatementNode]] = defaultdict(list)
        for (end, property, value), group in groups.items():
            stated[end, property, value] = group
            for statement in group:
                stated[end, property, statement.main] = group
        for subject in paced(self.source.subjects):
            values: dict[str, list[Json]] = defaultdict(list)
            item = self.elements.end(subject) if is_entity(subject) else None
            if item is None:
                continue
            self._mark_no_values(subject, item, groups.values())
            for triple in self.source.about(subject):
                role, value = Role.of(triple.predicate), triple.object
                if role is None or role.name not in ("wdt", "wdtn"):
                    continue
                self.source.take([triple])
                key = self.properties.name(role.entity)
                if role.name == "wdtn":
                    values[f"{key}_normalized"].append(value.value)
                    continue
                group = stated.get((item, role.entity, value), [])
                _mark(group)
                if self._is_element(value):
                    if not group:
                        self._write_direct(item, role, triple)
                else:
                    values[key].append(self.elements.json(value, role.entity))
            for key, value in one_or_all(values).items():
                self.elements.set(item, key, value)

    def _mark_no_values(
        self, subject: Node, item: NamedNode, groups: Iterable[list[StatementNode]]
    ) -> None:
        """Mark the statements without a value that a class of their item repeats."""
        classes = self.source.objects(subject, vocab.TYPE)
        for group in groups:
            first = group[0]
            is_stated = property_iri(first.property, "wdno") in classes
            if first.main is None and first.item == item and is_stated:
                _mark(group)

    def _is_element(self, value: Any) -> bool:
        """Whether a value is an element, and not a literal or an IRI that nothing describes."""
        if isinstance(value, Literal):
            return False
        is_described = value in self.source or self.elements.is_written(value)
        return is_unknown(value) or is_entity(value) or is_described

    def _write_direct(self, item: NamedNode, role: Role, claim: WikibaseTriple) -> None:
        """A direct claim without a statement."""
        value = self.elements.value(claim.object, role, [], item)
        for graph in self.source.graphs[claim]:
            self.elements.write(item, self.properties.iri(role.entity), value, graph)

    def _write_fact(self, group: list[StatementNode]) -> None:
        """One proposition for the statements with one item, property and value."""
        first = group[0]
        fact = Triple(first.item, self.properties.iri(first.property), first.value)
        for graph in {graph: None for statement in group for graph in statement.graphs}:
            self.elements.write(fact.subject, fact.predicate, fact.object, graph)
        reifier = first.node
        if isinstance(reifier, BlankNode):
            reifier = NamedNode(vocab.BLANK + digest(f"statement {fact}"))
        self.elements.write(reifier, vocab.REIFIES, fact)
        attributes = first.attributes() if len(group) == 1 else _combined(group)
        for key, value in attributes.items():
            self.elements.set(reifier, key, value)
        references = [one for statement in group for one in statement.references]
        if references:
            self.elements.set(reifier, "references", references, vocab.METADATA)
        for statement in group[1:]:
            if isinstance(statement.node, NamedNode):
                self.elements.set(reifier, "same_as", statement.node.value)


def _mark(group: list[StatementNode]) -> None:
    """Mark the statements of which a direct claim was made: the best, if classes say so."""
    best = [one for one in group if BEST_RANK.value in one.types]
    usual = [one for one in group if one.rank != "deprecated"]
    for statement in best or usual or group:
        statement.is_truthy = True


def _combined(group: list[StatementNode]) -> dict[str, Json]:
    """The attributes of several statements with one value, and each of the statements."""
    values: dict[str, list[Json]] = defaultdict(list)
    for statement in group:
        for key, more in statement.qualifiers.items():
            values[key] += [one for one in more if one not in values[key]]
    ranks = {statement.rank for statement in group}
    rank = next((rank for rank in ("preferred", "normal", "deprecated") if rank in ranks), None)
    entries = [
        {
            **({"id": one.node.value} if isinstance(one.node, NamedNode) else {}),
            **one.attributes(),
            **({"references": one.references} if one.references else {}),
        }
        for one in group
    ]
    return {
        **one_or_all(values),
        "truthy": any(statement.is_truthy for statement in group),
        **({} if rank is None else {"rank": rank}),
        "statements": entries,
    }
