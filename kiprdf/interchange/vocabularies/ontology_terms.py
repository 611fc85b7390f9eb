"""The triples of an ontology, its classes and properties, and what it says about properties.

``OntologyGraph`` has lists, unions, restrictions, shapes and texts by language, and records which
statements become a part of a definition; the others are reported. ``OntologyTerms`` finds terms.
A ``Property`` holds for all classes, a ``Use`` for one class, stated
by OWL restrictions and SHACL property shapes.
"""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import check
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.forms import UNCHANGED
from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.importing.names import (
    first_spelling,
    native_name,
    plain_name,
    taken_by_nexus,
    taken_by_others,
    term_of_mapping,
)
from kiprdf.interchange.importing.origins import IRI
from kiprdf.interchange.mapping import contexts
from kiprdf.interchange.vocabularies.definitions import ExistingDefinitions, LeftOut
from kiprdf.interchange.vocabularies.schema import ABOVE, end_types
from kiprdf.interchange.vocabularies.standards import (
    DESCRIPTIONS,
    DOMAINS,
    EVERYTHING,
    JSON_TYPES,
    LABELS,
    PROPERTIES,
    RANGES,
    SCHEMA,
    STANDARDS,
    owl,
    rdfs,
    sh,
    skos,
)
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, to_json
from kiprdf.semantics.protected import SYSTEM

Term: TypeAlias = NamedNode | BlankNode | Literal
OntologyTriple: TypeAlias = tuple[Node, NamedNode, Term]

_COUNT = re.compile(r"[0-9]{1,18}")
_INTERSECTION = owl("intersectionOf")
_BROADER = (skos("broader"), skos("broaderTransitive"), skos("broadMatch"))
_NARROWER = (skos("narrower"), skos("narrowerTransitive"), skos("narrowMatch"))
_OPERATORS = (owl("unionOf"), _INTERSECTION)


@dataclass(slots=True)
class Values:
    """The objects that a property may have: members of classes, literals, or one of some terms.

    The statements that say so are kept separately: a predicate uses those about things only, an
    attribute those about literals.
    """

    classes: set[str] = field(default_factory=set)
    datatypes: set[str] = field(default_factory=set)
    options: list[Term] = field(default_factory=list)
    everything: bool = False
    of_things: set[OntologyTriple] = field(default_factory=set)
    of_literals: set[OntologyTriple] = field(default_factory=set)
    of_options: set[OntologyTriple] = field(default_factory=set)

    def add(self, other: Values) -> None:
        self.classes |= other.classes
        self.datatypes |= other.datatypes
        self.options += [term for term in other.options if term not in self.options]
        self.everything |= other.everything
        self.of_things |= other.of_things
        self.of_literals |= other.of_literals
        self.of_options |= other.of_options

    def add_option(self, option: Literal, path: Iterable[OntologyTriple]) -> None:
        """Add a literal of an enumeration."""
        self.options.append(option)
        self.datatypes.add(option.datatype.value)
        self.of_options.update(path)

    def add_sources(self, statements: Iterable[OntologyTriple]) -> None:
        """Add statements that all values come from."""
        for sources in (self.of_things, self.of_literals, self.of_options):
            sources.update(statements)

    def __bool__(self) -> bool:
        return bool(self.classes or self.datatypes or self.options or self.everything)


class OntologyGraph:
    """Triples by subject and predicate. Named graphs are joined."""

    def __init__(self, triples: Iterable[Triple | Quad]) -> None:
        self._objects: dict[Node, dict[NamedNode, list[Term]]] = defaultdict(dict)
        self._subjects: dict[tuple[NamedNode, Term], list[Node]] = defaultdict(list)
        self._used: set[OntologyTriple] = set()
        self.about_statements: list[Triple | Quad] = []
        """Triples with a triple as their subject or object."""
        for triple in triples:
            subject, object_ = triple.subject, triple.object
            if isinstance(subject, Triple) or isinstance(object_, Triple):
                self.about_statements.append(triple)
            else:
                self._objects[subject].setdefault(triple.predicate, []).append(object_)
                self._subjects[triple.predicate, object_].append(subject)
        self._datatypes = frozenset(self._declared_datatypes())

    # What was used ----------------------------------------------------------------------------

    def use(self, statements: Iterable[OntologyTriple]) -> None:
        """Record that statements are in a definition."""
        self._used.update(statements)

    def unused(self) -> Iterator[OntologyTriple]:
        """The statements that are in no definition."""
        return (one for one in self.all_statements() if one not in self._used)

    def all_statements(self) -> Iterator[OntologyTriple]:
        for node, by_predicate in self._objects.items():
            for predicate, objects in by_predicate.items():
                yield from ((node, predicate, term) for term in objects)

    # Triples ----------------------------------------------------------------------------------

    def is_subject(self, node: Node) -> bool:
        return node in self._objects

    def subjects(self, predicate: NamedNode, *objects: Term) -> set[Node]:
        return {one for object_ in objects for one in self._subjects.get((predicate, object_), ())}

    def having(self, predicate: NamedNode) -> list[Node]:
        return [node for node, predicates in self._objects.items() if predicate in predicates]

    @functools.cache  # noqa: B019 - a graph lives as long as its import
    def ends(self, predicate: NamedNode) -> frozenset[Node]:
        """The subjects and the objects of a property."""
        having = self.having(predicate)
        return frozenset((*having, *(o for node in having for o in self.nodes(node, predicate))))

    def objects(self, node: Node, *predicates: NamedNode) -> list[Term]:
        """The objects of any of the predicates, in an order independent of the file."""
        check()
        by_predicate = self._objects.get(node, {})
        terms = {term for predicate in predicates for term in by_predicate.get(predicate, ())}
        return sorted(terms, key=str)

    def statements(self, node: Node, *predicates: NamedNode) -> list[OntologyTriple]:
        """The statements with some predicates, in such an order, too."""
        return [(node, one, term) for one in predicates for term in self.objects(node, one)]

    def statements_of(self, node: Node) -> list[OntologyTriple]:
        """All statements about a node."""
        return self.statements(node, *sorted(self._objects.get(node, ()), key=str))

    def named(self, node: Node, *predicates: NamedNode) -> list[str]:
        return [o.value for o in self.objects(node, *predicates) if isinstance(o, NamedNode)]

    def nodes(self, node: Node, *predicates: NamedNode) -> list[Node]:
        return [o for o in self.objects(node, *predicates) if not isinstance(o, Literal)]

    def counts(self, node: Node, *predicates: NamedNode) -> dict[OntologyTriple, int]:
        """The objects that are counts, by their statements."""
        return {
            one: int(one[2].value)
            for one in self.statements(node, *predicates)
            if isinstance(one[2], Literal) and _COUNT.fullmatch(one[2].value)
        }

    def is_a(self, node: Node, *classes: NamedNode) -> bool:
        return any(one in classes for one in self.objects(node, vocab.TYPE))

    # Lists ------------------------------------------------------------------------------------

    def cells(self, head: Term) -> Iterator[tuple[OntologyTriple, list[OntologyTriple]]]:
        """The first and rest statements of an RDF list; of a circular list each once."""
        visited: set[Term] = set()
        while isinstance(head, NamedNode | BlankNode) and head not in visited:
            visited.add(head)
            rest = self.statements(head, vocab.REST)[:1]
            for first in self.statements(head, vocab.FIRST)[:1]:
                yield first, rest
            head = rest[0][2] if rest else vocab.NIL

    def members(
        self, node: Node, *predicates: NamedNode
    ) -> Iterator[tuple[Term, list[OntologyTriple]]]:
        """The members of the lists of a node, each with the statements that say so."""
        for statement in self.statements(node, *predicates):
            before = [statement]
            for first, rest in self.cells(statement[2]):
                yield first[2], [*before, first, *rest]
                before = []

    # Texts ------------------------------------------------------------------------------------

    def texts(self, node: Node, *predicates: NamedNode) -> dict[str, str]:
        """Texts by language, ``""`` without one; those of several predicates are joined."""
        texts: dict[str, list[str]] = defaultdict(list)
        for _, _, term in self.text_statements(node, *predicates):
            text, language = term.value.strip(), getattr(term, "language", None) or ""
            if text not in texts[language]:
                texts[language].append(text)
        return {language: "\n\n".join(texts[language]) for language in sorted(texts)}

    def text_statements(self, node: Node, *predicates: NamedNode) -> list[OntologyTriple]:
        """The statements that ``texts`` uses."""
        statements = self.statements(node, *predicates)
        return [one for one in statements if isinstance(one[2], Literal) and one[2].value.strip()]

    def use_texts(self, node: Node, *predicates: NamedNode) -> dict[str, str]:
        """The texts of a node, which become a part of a definition."""
        self.use(self.text_statements(node, *predicates))
        return self.texts(node, *predicates)

    # Classes and datatypes --------------------------------------------------------------------

    def _declared_datatypes(self) -> Iterator[str]:
        roots = [rdfs("Datatype"), *(space("DataType") for space in SCHEMA)]
        pending = [*self.subjects(vocab.TYPE, *roots), *roots[1:]]
        datatypes: set[Node] = set()
        while pending:
            node = pending.pop()
            if node not in datatypes:
                datatypes.add(node)
                pending += self._subjects.get((rdfs("subClassOf"), node), ())
        return (node.value for node in datatypes if isinstance(node, NamedNode))

    def is_datatype(self, iri: str) -> bool:
        return (
            iri in self._datatypes
            or iri in JSON_TYPES
            or iri.startswith(vocab.XSD)
            or iri in (vocab.RDF + "HTML", vocab.RDF + "XMLLiteral", vocab.RDF + "dirLangString")
        )

    def _is_expression(self, node: Node) -> bool:
        """Whether a node is a union or intersection without a name, or a datatype made of others.

        A datatype may also be made of some values.
        """
        if isinstance(node, BlankNode) and self.objects(node, *_OPERATORS):
            return True
        is_datatype = self.is_a(node, rdfs("Datatype"), owl("DataRange"))
        made_of = (*_OPERATORS, owl("oneOf"), owl("onDatatype"))
        return is_datatype and bool(self.objects(node, *made_of))

    def superiors(self, node: Node) -> Iterator[tuple[Term, list[OntologyTriple]]]:
        """The classes and restrictions that hold for a class, with the statements that say so.

        They are above it, equivalent to it and without a name, or parts of an intersection of
        these.
        """
        above = self.statements(node, rdfs("subClassOf"))
        equal = self.statements(node, owl("equivalentClass"))
        pending = [(one[2], [one]) for one in above]
        pending += [(one[2], [one]) for one in equal if isinstance(one[2], BlankNode)]
        pending += self.members(node, _INTERSECTION)
        visited = set[Term]()
        while pending:
            term, path = pending.pop()
            if term in visited:
                continue
            visited.add(term)
            if isinstance(term, BlankNode):
                pending += [(o, [*path, *way]) for o, way in self.members(term, _INTERSECTION)]
            yield term, path

    def broader(self, node: Node) -> Iterator[tuple[Term, list[OntologyTriple]]]:
        """The terms that SKOS says are above a term, with the statements that say so."""
        for statement in self.statements(node, *_BROADER):
            yield statement[2], [statement]
        for predicate in _NARROWER:
            for above in sorted(self.subjects(predicate, node), key=str):
                yield above, [(above, predicate, node)]

    def union_members(self, node: Node) -> Iterator[Term]:
        """The members of the unions that a class is, in any of the ways of OWL."""
        equal = [
            one for one in self.nodes(node, owl("equivalentClass")) if isinstance(one, BlankNode)
        ]
        for one in (node, *equal):
            for member, _ in self.members(one, owl("unionOf"), owl("disjointUnionOf")):
                yield member

    def values(self, node: Node, *predicates: NamedNode) -> Values:
        """The values that the classes, datatypes and expressions of a node allow."""
        values = Values()
        for statement in self.statements(node, *predicates):
            values.add(self._values(statement))
        return values

    def _values(self, statement: OntologyTriple) -> Values:
        """The values that the object of a statement allows; if in doubt, more."""
        values, structure = Values(), set[OntologyTriple]()
        pending, visited = [(statement[2], [statement])], set[Term]()
        while pending:
            node, path = pending.pop()
            if isinstance(node, Literal):
                continue
            if node in visited:
                structure.update(path)
            elif self._is_expression(node):
                structure.update(path)
                self._add_data_range(values, node)
                pending += self.members(node, *_OPERATORS)
            elif isinstance(node, NamedNode):
                self._add_named(values, node.value, path)
            visited.add(node)
        if values:
            values.add_sources(structure)
        return values

    def _add_named(self, values: Values, iri: str, path: list[OntologyTriple]) -> None:
        if iri in EVERYTHING:
            values.everything = True
            values.of_things.update(path)
        elif self.is_datatype(iri):
            values.datatypes.add(iri)
            values.of_literals.update(path)
        elif not iri.startswith(STANDARDS):
            values.classes.add(iri)
            values.of_things.update(path)

    def _add_data_range(self, values: Values, node: Node) -> None:
        """The literals of an enumeration, and the datatype that another one restricts."""
        for option, path in self.members(node, owl("oneOf")):
            if isinstance(option, Literal):
                values.add_option(option, path)
        values.datatypes |= set(self.named(node, owl("onDatatype")))
        values.of_literals.update(self.statements(node, owl("onDatatype")))

    # Shapes -----------------------------------------------------------------------------------

    def shape_values(self, shape: Node) -> Values:
        """The values that a property shape allows, joined with those of its alternatives."""
        values = Values()
        pending: list[tuple[Term, list[OntologyTriple]]] = [(shape, [])]
        visited: set[Term] = set()
        while pending:
            node, path = pending.pop()
            if not isinstance(node, Literal) and node not in visited:
                visited.add(node)
                own_values = self._own_shape_values(node)
                if own_values:
                    own_values.add_sources(path)
                values.add(own_values)
                inner = self.members(node, sh("or"), sh("xone"), sh("and"))
                pending += [(term, [*path, *way]) for term, way in inner]
        return values

    def _own_shape_values(self, shape: Node) -> Values:
        values = self.values(shape, sh("class"))
        for statement in self.statements(shape, sh("node")):
            other = statement[2]
            classes = [] if isinstance(other, Literal) else self.shape_classes(other)
            values.classes.update(classes)
            values.of_things.update([statement] if classes else ())
        for option, path in self.members(shape, sh("in")):
            if isinstance(option, Literal):
                values.add_option(option, path)
            elif option != vocab.NULL and not values.classes:
                # An IRI only shows that values are things. KIP's null is neither: our shapes
                # allow it in addition to other values.
                values.everything = True
        datatypes = self.statements(shape, sh("datatype"))
        if datatypes:
            values.datatypes = {one[2].value for one in datatypes if isinstance(one[2], NamedNode)}
            values.of_literals.update(datatypes)
        self._add_node_kind(values, shape)
        return values

    def _add_node_kind(self, values: Values, shape: Node) -> None:
        for statement in self.statements(shape, sh("nodeKind")):
            kind = statement[2]
            if kind == sh("Literal"):
                if not values:
                    values.datatypes.add(vocab.RDFS + "Literal")
                values.of_literals.add(statement)
            elif kind in (sh("IRI"), sh("BlankNodeOrIRI"), sh("BlankNode")):
                values.everything |= not values
                values.of_things.add(statement)

    def shape_classes(self, shape: Node) -> list[str]:
        """The classes whose members a node shape describes."""
        iris = self.named(shape, sh("targetClass"))
        if isinstance(shape, NamedNode) and self.is_a(shape, rdfs("Class"), owl("Class")):
            iris.append(shape.value)
        return sorted({iri for iri in iris if not iri.startswith(STANDARDS)})


# Terms ----------------------------------------------------------------------------------------


_ABOVE = 1_000
"""How many properties above one are searched for its domain and range."""
_READ = (*LABELS, *DESCRIPTIONS, *DOMAINS, *RANGES)
"""Properties that describe terms; OWL requires a declaration where they are used."""


@dataclass(frozen=True, slots=True)
class Property:
    """What an ontology says about a property in every class."""

    node: NamedNode
    domains: Values
    values: Values
    is_predicate: bool
    is_attribute: bool


class OntologyTerms:
    """The classes and properties of an ontology, and what its classes say about properties."""

    def __init__(self, graph: OntologyGraph, given: Given, existing: ExistingDefinitions) -> None:
        self._graph = graph
        self._given = given
        self._existing = existing
        self.skipped: list[LeftOut] = []
        self.uses, self.properties_of = read_uses(graph, self.skipped)
        self.shapes = self._shapes_by_class()
        self.properties = {iri: self._property(NamedNode(iri)) for iri in self._property_iris()}
        self.classes = self._class_iris()

    def _class_iris(self) -> list[str]:
        """Classes that are declared or mentioned, so that every reference has a target."""
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, rdfs("Class"), owl("Class"))
        nodes |= set(graph.having(rdfs("subClassOf")))
        iris = {owner for uses in self.uses.values() for owner in uses} | set(self.shapes)
        for node in nodes:
            if isinstance(node, NamedNode):
                iris.add(node.value)
                above = (term for term, _ in graph.superiors(node))
                iris |= {term.value for term in above if isinstance(term, NamedNode)}
        for one in self.properties.values():
            iris |= one.domains.classes | (one.values.classes if one.is_predicate else set())
        return sorted(iri for iri in iris if self._is_definable(iri))

    def _is_definable(self, iri: str) -> bool:
        if iri.startswith(STANDARDS) or self._graph.is_datatype(iri):
            return False
        return not self._graph.is_a(NamedNode(iri), owl("Restriction"))

    def _shapes_by_class(self) -> dict[str, list[Node]]:
        """The node shapes of each class, in an order independent of the file."""
        graph, shapes = self._graph, defaultdict[str, list[Node]](list)
        nodes = graph.subjects(vocab.TYPE, sh("NodeShape"))
        nodes |= {*graph.having(sh("targetClass")), *graph.having(sh("property"))}
        for shape in sorted(nodes, key=str):
            for iri in graph.shape_classes(shape):
                shapes[iri].append(shape)
                graph.use([(shape, sh("targetClass"), NamedNode(iri))])
        return shapes

    def _property_iris(self) -> list[str]:
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, *PROPERTIES)
        for predicate in (rdfs("domain"), rdfs("range"), rdfs("subPropertyOf"), *DOMAINS, *RANGES):
            nodes |= set(graph.having(predicate))
        nodes |= graph.ends(owl("inverseOf"))
        iris = {node.value for node in nodes if isinstance(node, NamedNode)} | set(self.uses)
        return sorted(i for i in iris if self._is_definable(i) and not self._is_declaration(i))

    def _is_declaration(self, iri: str) -> bool:
        """Whether a property is only declared as an annotation property."""
        declaration = [(NamedNode(iri), vocab.TYPE, owl("AnnotationProperty"))]
        is_bare = self._graph.statements_of(NamedNode(iri)) == declaration and iri not in self.uses
        if is_bare and NamedNode(iri) in _READ:
            self._graph.use(declaration)
        return is_bare

    def _property(self, node: NamedNode) -> Property:
        uses = self.uses.get(node.value, {})
        domains = self._inherited_values(node, rdfs("domain"), *DOMAINS)
        values = self._inherited_values(node, rdfs("range"), *RANGES)
        if not domains:
            domains.classes |= {owner for owner in uses if not owner.startswith(STANDARDS)}
        if not values:
            for use in uses.values():
                values.add(use.values)
        return Property(node, domains, values, *self._kinds(node, domains, values))

    def _inherited_values(self, node: NamedNode, *predicates: NamedNode) -> Values:
        """The values of a property, or of the nearest one above it that has some (RDFS 3)."""
        pending, visited = deque([node.value]), set[str]()
        while pending and len(visited) < _ABOVE:
            iri = pending.popleft()
            if iri in visited:
                continue
            values = self._graph.values(NamedNode(iri), *predicates)
            if iri == vocab.LABEL.value:
                values.datatypes.add(vocab.RDFS + "Literal")
            if values:
                return values
            visited.add(iri)
            pending += self._graph.named(NamedNode(iri), rdfs("subPropertyOf"))
        return Values()

    def _kinds(self, node: NamedNode, domains: Values, values: Values) -> tuple[bool, bool]:
        """Whether a property is a predicate, and whether it is an attribute; it may be both."""
        graph = self._graph
        if self._given.is_attribute_only(node.value):
            return False, True
        things = graph.is_a(node, owl("ObjectProperty")) or node in graph.ends(owl("inverseOf"))
        literals = graph.is_a(node, owl("DatatypeProperty"))
        if things or literals:
            return things, literals
        if values:
            return bool(values.classes) or values.everything, bool(values.datatypes)
        is_annotation = graph.is_a(node, owl("AnnotationProperty"))
        is_attribute = is_annotation or self._is_existing_attribute(node, domains)
        return not is_attribute, is_attribute

    def _is_existing_attribute(self, node: NamedNode, domains: Values) -> bool:
        """Whether a class of the domain has an attribute of this name in the nexus."""
        names = {self._given.name(META_TYPES[0], iri) or "" for iri in domains.classes}
        types = (self._existing.get(ConceptName(META_TYPES[0], name)) for name in names)
        key = plain_name(node.value, None)
        return any(one is not None and key in one.rules for one in types)

    def is_external(self, iri: str) -> bool:
        """Whether a term has no texts here and may belong to another vocabulary."""
        return not self._graph.texts(NamedNode(iri), *LABELS, *DESCRIPTIONS)

    def is_declared(self, iri: str) -> bool:
        """Whether anything is said about a term."""
        is_used = iri in self.uses or iri in self.shapes
        return is_used or self._graph.is_subject(NamedNode(iri))


@dataclass(slots=True)
class Use:
    """What a class says about a property, and the statements it comes from."""

    values: Values = field(default_factory=Values)
    least: int = 0
    most: int | None = None
    default: Term | None = None
    labels: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    of_counts: set[OntologyTriple] = field(default_factory=set)
    """The statements with the counts and the default value."""
    of_texts: set[OntologyTriple] = field(default_factory=set)

    def count(
        self, least: Mapping[OntologyTriple, int], most: Mapping[OntologyTriple, int]
    ) -> None:
        """Add how many values there may be; none, one and several are distinguished."""
        self.least = max(self.least, *least.values(), 0)
        maxima = [*most.values(), *([] if self.most is None else [self.most])]
        self.most = min(maxima, default=None)
        self.of_counts |= {one for one, number in least.items() if number <= 1}
        self.of_counts |= {one for one, number in most.items() if number == 1}


Uses: TypeAlias = dict[str, dict[str, Use]]
"""By property, then by class."""
PropertiesOf: TypeAlias = dict[Node, tuple[str, list[str]]]
"""The property and the classes that a restriction or a property shape is about."""


def read_uses(graph: OntologyGraph, skipped: list[LeftOut]) -> tuple[Uses, PropertiesOf]:
    """What all classes say; shapes without a class go to the report."""
    uses: Uses = defaultdict(lambda: defaultdict(Use))
    properties_of: PropertiesOf = {}
    restricted = _restricted(graph)
    for node in graph.having(owl("onProperty")):
        owners = restricted.get(node, {})
        for statement in graph.statements(node, owl("onProperty")):
            if isinstance(statement[2], NamedNode):
                properties_of[node] = statement[2].value, sorted(owners)
                for owner, path in sorted(owners.items()):
                    graph.use([*path, statement])
                    _read_restriction(uses[statement[2].value][owner], graph, node)
    for shape in graph.having(sh("property")):
        classes = graph.shape_classes(shape)
        if not classes and isinstance(shape, NamedNode):
            skipped.append(LeftOut(shape.value, "a shape without a class"))
        for member in graph.statements(shape, sh("property")):
            if not isinstance(member[2], Literal):
                _read_property_shape(uses, properties_of, graph, classes, member)
    return uses, properties_of


def _read_property_shape(
    uses: Uses,
    properties_of: PropertiesOf,
    graph: OntologyGraph,
    classes: list[str],
    member: OntologyTriple,
) -> None:
    node = member[2]
    assert not isinstance(node, Literal)
    for path in graph.statements(node, sh("path")):
        if isinstance(path[2], NamedNode):
            before = properties_of.get(node, ("", []))[1]
            properties_of[node] = path[2].value, sorted({*before, *classes})
            for owner in classes:
                graph.use([member, path])
                _add_shape(uses[path[2].value][owner], graph, node)


def _restricted(graph: OntologyGraph) -> dict[Node, dict[str, list[OntologyTriple]]]:
    """The classes that OWL restrictions hold for, with the statements that say so."""
    restricted: dict[Node, dict[str, list[OntologyTriple]]] = defaultdict(dict)
    predicates = rdfs("subClassOf"), owl("equivalentClass"), owl("intersectionOf")
    for node in {node for predicate in predicates for node in graph.having(predicate)}:
        if isinstance(node, NamedNode):
            for term, path in graph.superiors(node):
                if not isinstance(term, Literal):
                    restricted[term][node.value] = path
    return restricted


def _read_restriction(use: Use, graph: OntologyGraph, node: Node) -> None:
    fillers = [owl(n) for n in ("allValuesFrom", "someValuesFrom", "onDataRange", "onClass")]
    use.values.add(graph.values(node, *fillers))
    exact = graph.counts(node, owl("cardinality"), owl("qualifiedCardinality"))
    least = graph.counts(node, owl("minCardinality"), owl("minQualifiedCardinality"))
    most = graph.counts(node, owl("maxCardinality"), owl("maxQualifiedCardinality"))
    some = dict.fromkeys(graph.statements(node, owl("someValuesFrom"), owl("hasValue")), 1)
    use.count({**least, **exact}, {**most, **exact})
    use.least = max(use.least, *some.values(), 0)
    for statement in graph.statements(node, owl("hasValue")):
        value = statement[2]
        if isinstance(value, Literal):
            one = Values()
            one.add_option(value, [statement])
            use.values.add(one)
    _add_descriptions(use, graph, node, *DESCRIPTIONS)
    for axiom in graph.subjects(owl("annotatedTarget"), node):
        _add_descriptions(use, graph, axiom, *DESCRIPTIONS)
        # Otherwise the axiom repeats the restriction.
        parts = ("annotatedSource", "annotatedProperty", "annotatedTarget")
        graph.use(graph.statements(axiom, *map(owl, parts)))


def _add_descriptions(use: Use, graph: OntologyGraph, node: Node, *predicates: NamedNode) -> None:
    use.descriptions |= graph.texts(node, *predicates)
    use.of_texts.update(graph.text_statements(node, *predicates))


def _add_shape(use: Use, graph: OntologyGraph, node: Node) -> None:
    use.values.add(graph.shape_values(node))
    use.count(graph.counts(node, sh("minCount")), graph.counts(node, sh("maxCount")))
    for statement in graph.statements(node, sh("defaultValue"))[:1]:
        use.default = statement[2]
        use.of_counts.add(statement)
    use.labels |= graph.texts(node, sh("name"))
    use.of_texts.update(graph.text_statements(node, sh("name")))
    _add_descriptions(use, graph, node, sh("description"))


def rule_of(use: Use, values: Values, is_single: bool) -> dict[str, Json]:
    """The rule of an attribute in an ``instance_schema``, without the description.

    RDF allows several values unless it says otherwise. Then an import of data makes an array of
    two values and no array of one, so that neither ``type`` nor ``enum`` fits: ``item_type``
    applies to arrays and accepts a single value.
    """
    json_type = _json_type(values.datatypes)
    is_single = is_single or use.most in (0, 1)
    rule: dict[str, Json] = {"is_required": use.least > 0}
    if json_type:
        rule["type" if is_single else "item_type"] = json_type
    if use.least > 1:
        rule["type"] = "array"
    options = list(_values(values.options))
    if options and is_single:
        rule["enum"] = options
    for value in _values([use.default]):
        rule["default_value"] = value
    return rule


def term_of(iri: str, values: Values) -> dict[str, Json]:
    """The IRI of an attribute, and the datatype if its values have one that JSON does not have.

    Nothing for an attribute that kiprdf wrote itself.
    """
    if iri.startswith(vocab.OWN):
        return {}
    datatype = next(iter(values.datatypes)) if len(values.datatypes) == 1 else ""
    is_usual = NamedNode(datatype or vocab.STRING.value) in UNCHANGED
    is_kept = datatype.startswith(vocab.XSD) and not is_usual
    return {IRI: iri} | ({"datatype": datatype} if is_kept else {})


def _values(terms: Iterable[Term | None]) -> Iterator[Json]:
    """The JSON values of literals; terms without one are left out."""
    for term in terms:
        if not isinstance(term, Literal):
            continue
        json_type = JSON_TYPES.get(term.datatype.value, "string")
        with suppress(ValueError, LookupError, RecursionError):
            if json_type == "string":
                yield term.value
            elif json_type == "number" and math.isfinite(float(term.value)):
                yield float(term.value)
            elif json_type == "integer" and -(2**63) <= int(term.value) < 2**63:
                yield int(term.value)
            elif json_type not in ("number", "integer"):
                yield to_json(term)


def _json_type(datatypes: set[str]) -> str | None:
    """The JSON type of literals of some datatypes; None if they differ or have several."""
    types = {JSON_TYPES.get(iri, "string") for iri in datatypes}
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else None


# Names ------------------------------------------------------------------------------------------


_RESERVED = frozenset(ABOVE.values())


@dataclass(frozen=True, slots=True)
class Given:
    """The names that terms already have: in a mapping, in this nexus, or in another one."""

    mapping: contexts.Mapping
    index: ElementIndex

    def name(self, meta_type: str, iri: str) -> str | None:
        """The name of a concept type or predicate."""
        name = first_spelling(term_of_mapping(self.mapping, meta_type), iri)
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


class Homonyms:
    """Decides whether a definition of the nexus with the name of a term is that term.

    A definition with original IRIs is another term. One without is considered the same term unless
    it contradicts: a predicate by the types of its ends.
    """

    def __init__(self, meta_type: str, existing: ExistingDefinitions) -> None:
        self._meta_type = meta_type
        self._existing = existing

    def is_free(self, name: str, ends: Mapping[str, tuple[str, ...]]) -> bool:
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

    def warnings(self, names: Mapping[str, str], plain: Mapping[str, str]) -> Iterator[str]:
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
                yield taken_by_nexus(iri, names[iri], name)
            elif name in _RESERVED and names[iri] != name:
                yield f"<{iri}> is called '{names[iri]}' because '{name}' links definitions."
        others = {iri: name for iri, name in plain.items() if not self._has(name)}
        yield from taken_by_others(names, others)

    def _has(self, name: str) -> bool:
        return ConceptName(self._meta_type, name) in self._existing

    def _is_core(self, name: str) -> bool:
        return (self._meta_type, name) in SYSTEM


def _allows(allowed: list[str] | None, types: tuple[str, ...]) -> bool:
    """Whether a definition allows all types that a term has at an end, if both name types."""
    return allowed is None or "*" in types or set(types) <= set(allowed)
