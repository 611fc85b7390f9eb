"""An ontology's triples, easy to ask: lists, unions, restrictions, shapes, texts by language.

The graph knows which of its statements have become a part of a definition: the others are reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import check
from kiprdf.interchange.vocabularies.ontology_words import EVERYTHING, JSON_TYPES, STANDARDS
from kiprdf.interchange.vocabularies.standards import SCHEMA, owl, rdfs, sh
from kiprdf.rdf import vocab

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal
Statement: TypeAlias = tuple[Node, NamedNode, Term]

_COUNT = re.compile(r"[0-9]{1,18}")
_INTERSECTION = owl("intersectionOf")
_OPERATORS = (owl("unionOf"), _INTERSECTION)


@dataclass(slots=True)
class Values:
    """What may stand as object of a property: classes, datatypes, or one of some terms.

    The statements that say so are kept apart, because a predicate takes the things from them only,
    an attribute the literals.
    """

    classes: set[str] = field(default_factory=set)
    datatypes: set[str] = field(default_factory=set)
    options: list[Term] = field(default_factory=list)
    everything: bool = False
    of_things: set[Statement] = field(default_factory=set)
    of_literals: set[Statement] = field(default_factory=set)
    of_options: set[Statement] = field(default_factory=set)

    def add(self, other: Values) -> None:
        self.classes |= other.classes
        self.datatypes |= other.datatypes
        self.options += [term for term in other.options if term not in self.options]
        self.everything |= other.everything
        self.of_things |= other.of_things
        self.of_literals |= other.of_literals
        self.of_options |= other.of_options

    def said_by(self, statements: Iterable[Statement]) -> None:
        """Note statements that all of it stands on."""
        for known in (self.of_things, self.of_literals, self.of_options):
            known.update(statements)

    def __bool__(self) -> bool:
        return bool(self.classes or self.datatypes or self.options or self.everything)


class Graph:
    """Triples by subject and predicate. Graphs of quads are taken as one."""

    def __init__(self, triples: Iterable[Triple | Quad]) -> None:
        self._objects: dict[Node, dict[NamedNode, list[Term]]] = defaultdict(dict)
        self._subjects: dict[tuple[NamedNode, Term], list[Node]] = defaultdict(list)
        self._used: set[Statement] = set()
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

    def use(self, statements: Iterable[Statement]) -> None:
        """Note that statements are in a definition."""
        self._used.update(statements)

    def unused(self) -> Iterator[Statement]:
        """What no definition has taken in."""
        return (one for one in self.all_statements() if one not in self._used)

    def all_statements(self) -> Iterator[Statement]:
        for node, own in self._objects.items():
            for predicate, objects in own.items():
                yield from ((node, predicate, term) for term in objects)

    # Triples ----------------------------------------------------------------------------------

    def is_subject(self, node: Node) -> bool:
        return node in self._objects

    def subjects(self, predicate: NamedNode, *objects: Term) -> set[Node]:
        return {one for object_ in objects for one in self._subjects.get((predicate, object_), ())}

    def having(self, predicate: NamedNode) -> list[Node]:
        return [node for node, own in self._objects.items() if predicate in own]

    def objects(self, node: Node, *predicates: NamedNode) -> list[Term]:
        """The objects of any of the predicates, in an order that no file's order changes."""
        check()
        own = self._objects.get(node, {})
        found = [term for predicate in predicates for term in own.get(predicate, ())]
        return sorted(dict.fromkeys(found), key=str)

    def statements(self, node: Node, *predicates: NamedNode) -> list[Statement]:
        """What a node says by some predicates, in such an order too."""
        return [(node, one, term) for one in predicates for term in self.objects(node, one)]

    def statements_of(self, node: Node) -> list[Statement]:
        """All that a node says."""
        return self.statements(node, *sorted(self._objects.get(node, ()), key=str))

    def named(self, node: Node, *predicates: NamedNode) -> list[str]:
        return [o.value for o in self.objects(node, *predicates) if isinstance(o, NamedNode)]

    def nodes(self, node: Node, *predicates: NamedNode) -> list[Node]:
        return [o for o in self.objects(node, *predicates) if not isinstance(o, Literal)]

    def counts(self, node: Node, *predicates: NamedNode) -> dict[Statement, int]:
        """The counts that are said; what is no count is no number."""
        return {
            one: int(one[2].value)
            for one in self.statements(node, *predicates)
            if isinstance(one[2], Literal) and _COUNT.fullmatch(one[2].value)
        }

    def is_a(self, node: Node, *classes: NamedNode) -> bool:
        return any(one in classes for one in self.objects(node, vocab.TYPE))

    # Lists ------------------------------------------------------------------------------------

    def cells(self, head: Term) -> Iterator[tuple[Statement, list[Statement]]]:
        """The members of an RDF list, each with the rest; of one that is a circle, each once."""
        seen: set[Term] = set()
        while isinstance(head, NamedNode | BlankNode) and head not in seen:
            seen.add(head)
            rest = self.statements(head, vocab.REST)[:1]
            for first in self.statements(head, vocab.FIRST)[:1]:
                yield first, rest
            head = rest[0][2] if rest else vocab.NIL

    def members(self, node: Node, *predicates: NamedNode) -> Iterator[tuple[Term, list[Statement]]]:
        """The members of the lists of a node, and the statements by which they are members."""
        for said in self.statements(node, *predicates):
            before = [said]
            for first, rest in self.cells(said[2]):
                yield first[2], [*before, first, *rest]
                before = []

    # Texts ------------------------------------------------------------------------------------

    def texts(self, node: Node, *predicates: NamedNode) -> dict[str, str]:
        """Texts by language, ``""`` without one; what several predicates say stands together."""
        found: dict[str, list[str]] = defaultdict(list)
        for _, _, term in self.text_statements(node, *predicates):
            text, language = term.value.strip(), getattr(term, "language", None) or ""
            if text not in found[language]:
                found[language].append(text)
        return {language: "\n\n".join(found[language]) for language in sorted(found)}

    def text_statements(self, node: Node, *predicates: NamedNode) -> list[Statement]:
        """The statements that ``texts`` are made of."""
        said = self.statements(node, *predicates)
        return [one for one in said if isinstance(one[2], Literal) and one[2].value.strip()]

    # Classes and datatypes --------------------------------------------------------------------

    def _declared_datatypes(self) -> Iterator[str]:
        roots = [rdfs("Datatype"), *(NamedNode(space + "DataType") for space in SCHEMA)]
        pending = [*self.subjects(vocab.TYPE, *roots), *roots[1:]]
        seen: set[Node] = set()
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending += self._subjects.get((rdfs("subClassOf"), node), ())
        return (node.value for node in seen if isinstance(node, NamedNode))

    def is_datatype(self, iri: str) -> bool:
        return (
            iri in self._datatypes
            or iri in JSON_TYPES
            or iri.startswith(vocab.XSD)
            or iri in (vocab.RDF + "HTML", vocab.RDF + "XMLLiteral", vocab.RDF + "dirLangString")
        )

    def is_expression(self, node: Term) -> bool:
        """Whether a class stands for others: one without a name."""
        return isinstance(node, BlankNode) and bool(self.objects(node, *_OPERATORS))

    def _is_data_range(self, node: Node) -> bool:
        """Whether a datatype is made of others, or of some of their values."""
        is_datatype = self.is_a(node, rdfs("Datatype"), owl("DataRange"))
        made_of = (*_OPERATORS, owl("oneOf"), owl("onDatatype"))
        return is_datatype and bool(self.objects(node, *made_of))

    def superiors(self, node: Node) -> Iterator[tuple[Term, list[Statement]]]:
        """What holds for the members of a class: classes and restrictions, and what says so.

        Those above it, those it is equivalent to unless they have a name, and the parts of
        intersections of them.
        """
        above = self.statements(node, rdfs("subClassOf"))
        equal = self.statements(node, owl("equivalentClass"))
        pending = [(one[2], [one]) for one in above]
        pending += [(one[2], [one]) for one in equal if isinstance(one[2], BlankNode)]
        pending += self.members(node, _INTERSECTION)
        seen = set[Term]()
        while pending:
            term, path = pending.pop()
            if isinstance(term, BlankNode) and term not in seen:
                pending += [(o, [*path, *way]) for o, way in self.members(term, _INTERSECTION)]
            if term not in seen:
                seen.add(term)
                yield term, path

    def said(self, node: Node, *predicates: NamedNode) -> Values:
        """What the classes, datatypes and expressions of them allow that a node names."""
        found = Values()
        for statement in self.statements(node, *predicates):
            found.add(self._values(statement))
        return found

    def _values(self, said: Statement) -> Values:
        """What the object of a statement allows; the wider where in doubt."""
        found, structure = Values(), set[Statement]()
        pending, seen = [(said[2], [said])], set[Term]()
        while pending:
            node, path = pending.pop()
            if isinstance(node, Literal):
                continue
            if node in seen:
                structure.update(path)
            elif self.is_expression(node) or self._is_data_range(node):
                structure.update(path)
                self._add_data_range(found, node)
                pending += self.members(node, *_OPERATORS)
            elif isinstance(node, NamedNode):
                self._add_named(found, node.value, path)
            seen.add(node)
        if found:
            found.said_by(structure)
        return found

    def _add_named(self, found: Values, iri: str, path: list[Statement]) -> None:
        if iri in EVERYTHING:
            found.everything = True
            found.of_things.update(path)
        elif self.is_datatype(iri):
            found.datatypes.add(iri)
            found.of_literals.update(path)
        elif not iri.startswith(STANDARDS):
            found.classes.add(iri)
            found.of_things.update(path)

    def _add_data_range(self, found: Values, node: Node) -> None:
        """The literals of an enumeration, the datatype that a restricted one is made of."""
        for option, path in self.members(node, owl("oneOf")):
            if isinstance(option, Literal):
                found.options.append(option)
                found.datatypes.add(option.datatype.value)
                found.of_options.update(path)
        found.datatypes |= set(self.named(node, owl("onDatatype")))
        found.of_literals.update(self.statements(node, owl("onDatatype")))

    # Shapes -----------------------------------------------------------------------------------

    def shape_values(self, shape: Node) -> Values:
        """What a property shape allows as values, those of its alternatives together."""
        found = Values()
        pending: list[tuple[Term, list[Statement]]] = [(shape, [])]
        seen: set[Term] = set()
        while pending:
            node, path = pending.pop()
            if not isinstance(node, Literal) and node not in seen:
                seen.add(node)
                own = self._own_shape_values(node)
                if own:
                    own.said_by(path)
                found.add(own)
                inner = self.members(node, sh("or"), sh("xone"), sh("and"))
                pending += [(term, [*path, *way]) for term, way in inner]
        return found

    def _own_shape_values(self, shape: Node) -> Values:
        found = self.said(shape, sh("class"))
        for said in self.statements(shape, sh("node")):
            classes = [] if isinstance(said[2], Literal) else self.shape_classes(said[2])
            found.classes.update(classes)
            found.of_things.update([said] if classes else ())
        for option, path in self.members(shape, sh("in")):
            self._add_option(found, option, path)
        datatypes = self.statements(shape, sh("datatype"))
        if datatypes:
            found.datatypes = {one[2].value for one in datatypes if isinstance(one[2], NamedNode)}
            found.of_literals.update(datatypes)
        self._add_node_kind(found, shape)
        return found

    def _add_option(self, found: Values, option: Term, path: list[Statement]) -> None:
        """A literal is one of an enumeration; a thing tells only that things are meant.

        Null of KIP is neither: our shapes allow it beside other values.
        """
        if isinstance(option, Literal):
            found.options.append(option)
            found.datatypes.add(option.datatype.value)
            found.of_options.update(path)
        elif option != vocab.NULL and not found.classes:
            found.everything = True

    def _add_node_kind(self, found: Values, shape: Node) -> None:
        for said in self.statements(shape, sh("nodeKind")):
            if said[2] == sh("Literal"):
                if not found:
                    found.datatypes.add(vocab.RDFS + "Literal")
                found.of_literals.add(said)
            elif said[2] in (sh("IRI"), sh("BlankNodeOrIRI"), sh("BlankNode")):
                found.everything |= not found
                found.of_things.add(said)

    def shape_classes(self, shape: Node) -> list[str]:
        """The classes whose members a node shape is about."""
        found = self.named(shape, sh("targetClass"))
        if isinstance(shape, NamedNode) and self.is_a(shape, rdfs("Class"), owl("Class")):
            found.append(shape.value)
        return sorted({iri for iri in found if not iri.startswith(STANDARDS)})
