"""Foreign RDF made easy to read: no blank nodes, lists as one value, reifiers apart from facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, cast

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.rdf import vocab

_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)

Node: TypeAlias = NamedNode | BlankNode


@dataclass(frozen=True, slots=True)
class Items:
    """An ``rdf:List``."""

    terms: tuple[Object, ...]


class Statement(NamedTuple):
    """A triple whose object may be a list."""

    subject: Node
    predicate: NamedNode
    object: Object


Object: TypeAlias = NamedNode | BlankNode | Literal | Statement | Items


class Skipped(NamedTuple):
    """What a plan leaves out: the text of a triple, and why."""

    triple: str
    reason: str


@dataclass(slots=True)
class Foreign:
    """Statements in a fixed order, the graphs they stand in, and what reifiers stand for."""

    statements: list[Statement] = field(default_factory=list)
    graphs: dict[Statement, list[str]] = field(default_factory=dict)
    reified: dict[NamedNode, Statement] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def by_subject(self) -> dict[NamedNode, list[Statement]]:
        """What is said of each subject that is no reifier."""
        said: dict[NamedNode, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            assert isinstance(statement.subject, NamedNode)
            if statement.subject not in self.reified:
                said[statement.subject].append(statement)
        return said

    def skip(self, statement: Statement, reason: str) -> None:
        self.skipped.append(Skipped(statement_text(statement), reason))


def text_of(term: Object) -> str:
    """A term in the manner of N-Triples, a list in parentheses.

    >>> text_of(Items((Literal("a"), Literal("b"))))
    '( "a" "b" )'
    """
    if isinstance(term, Items):
        return f"( {' '.join(map(text_of, term.terms))} )"
    if isinstance(term, Statement):
        return f"<<( {term.subject} {term.predicate} {text_of(term.object)} )>>"
    return str(term)


def statement_text(statement: Statement) -> str:
    """A statement as a line of N-Triples."""
    return f"{statement.subject} {statement.predicate} {text_of(statement.object)} ."


def collect(quads: Iterable[Quad]) -> tuple[dict[Statement, list[str]], list[Skipped]]:
    """Each statement once, with the named graphs it stands in; what cannot be told of graphs.

    The bookkeeping of a nexus is no knowledge and stays behind.
    """
    found: dict[Statement, list[str]] = {}
    nameless: dict[str, None] = {}
    for quad in paced(quads):
        graph = quad.graph_name
        if isinstance(graph, NamedNode) and graph.value.startswith(vocab.GRAPH):
            continue
        graphs = found.setdefault(_statement(quad.triple), [])
        if isinstance(graph, BlankNode):
            nameless[str(graph)] = None
        elif not isinstance(graph, DefaultGraph) and graph.value not in graphs:
            graphs.append(graph.value)
    reason = "the graph has no IRI; its statements are taken as if they stood in none"
    skipped = [Skipped(f"graph {number}", reason) for number in range(1, len(nameless) + 1)]
    return found, skipped


def _statement(triple: Triple) -> Statement:
    """A triple as a statement; triple terms nest as deep as the parser allows."""
    subject, object_ = triple.subject, triple.object
    assert not isinstance(subject, Triple)
    return Statement(
        subject, triple.predicate, _statement(object_) if isinstance(object_, Triple) else object_
    )


def replaced(term: Object, by: Mapping[Node, Object]) -> Object:
    """A term with nodes replaced inside of statements and lists."""
    if isinstance(term, Statement):
        return replaced_in(term, by)
    if isinstance(term, Items):
        return Items(tuple(replaced(item, by) for item in term.terms))
    return term if isinstance(term, Literal) else by.get(term, term)


def replaced_in(statement: Statement, by: Mapping[Node, Object]) -> Statement:
    """A statement with nodes replaced; a list cannot be a subject, and stays a node there."""
    subject = by.get(statement.subject, statement.subject)
    if isinstance(subject, NamedNode | BlankNode):
        return Statement(subject, statement.predicate, replaced(statement.object, by))
    return Statement(statement.subject, statement.predicate, replaced(statement.object, by))


# Reifiers -------------------------------------------------------------------------------------


def separate_reifiers(foreign: Foreign) -> None:
    """Move what reifiers stand for from the statements into ``reified``; in place.

    A reifier is the subject of ``rdf:reifies`` or an ``rdf:Statement`` with its three parts. One
    that stands for nothing, for several facts, or for what nobody asserts is left out with all
    that is said of it.
    """
    said: dict[Node, list[Statement]] = defaultdict(list)
    for statement in paced(foreign.statements):
        said[statement.subject].append(statement)
    asserted = set(foreign.statements)
    dropped: set[Node] = set()
    for node, own in paced(said.items()):
        if not _is_reifier(own):
            continue
        facts = _facts(own)
        fault = _fault(node, facts, asserted)
        if fault is not None:
            dropped.add(node)
            for statement in own:
                foreign.skip(statement, fault)
            continue
        assert isinstance(node, NamedNode)
        foreign.reified[node] = next(iter(facts))
    kept = [statement for statement in foreign.statements if statement.subject not in dropped]
    foreign.statements = []
    for statement in paced(kept):
        fact = foreign.reified.get(cast(NamedNode, statement.subject))
        if fact is None or not _is_structure(statement):
            foreign.statements.append(statement)
        elif not _tells(statement, fact):
            foreign.skip(statement, "its subject stands for another triple")


def _is_reifier(own: list[Statement]) -> bool:
    predicates = {statement.predicate for statement in own}
    return vocab.REIFIES in predicates or any(s.object == vocab.STATEMENT for s in own)


def _is_structure(statement: Statement) -> bool:
    predicate = statement.predicate
    is_type = predicate == vocab.TYPE and statement.object == vocab.STATEMENT
    return is_type or predicate == vocab.REIFIES or predicate in _PARTS


def _tells(statement: Statement, fact: Statement) -> bool:
    """Whether a part of a reifier agrees with the fact that it stands for."""
    told = dict(zip(_PARTS, fact, strict=True)) | {vocab.REIFIES: fact}
    return statement.object == told.get(statement.predicate, vocab.STATEMENT)


def _facts(own: list[Statement]) -> set[Statement]:
    """What a reifier stands for, by its triple terms and by its three parts."""
    facts = {s.object for s in own if s.predicate == vocab.REIFIES}
    parts = {part: [s.object for s in own if s.predicate == part] for part in _PARTS}
    found = {fact for fact in facts if isinstance(fact, Statement)}
    if all(len(values) == 1 for values in parts.values()):
        subject, predicate, object_ = (parts[part][0] for part in _PARTS)
        if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode):
            found.add(Statement(subject, predicate, object_))
    return found


def _fault(node: Node, facts: set[Statement], asserted: set[Statement]) -> str | None:
    if not facts:
        return f"the reifier {node} does not stand for one triple"
    if len(facts) > 1:
        return f"the reifier {node} stands for {len(facts)} triples; a proposition is one"
    if not facts <= asserted:
        return f"the triple that {node} reifies is not asserted; KIP has no other propositions"
    return None
