"""The triples of an ontology: its lists, unions, restrictions, shapes and texts by language.

The graph records which statements become a part of a definition; the others are reported.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import check
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.vocabularies.standards import (
    EVERYTHING,
    JSON_TYPES,
    SCHEMA,
    STANDARDS,
    owl,
    rdfs,
    sh,
    skos,
)
from kiprdf.rdf import vocab

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
