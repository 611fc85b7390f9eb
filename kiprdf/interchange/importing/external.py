"""Reads external RDF as triples: lists become one value, reifiers are separated from facts.

``collect`` reads quads, ``gather_lists`` turns ``rdf:List`` cells into values (RDF Schema 5.2),
``separate_reifiers`` finds out what reifiers stand for, ``with_periods`` turns their intervals into
Periods. ``recorded_and_inner`` divides statements into those of ontologies and those of data.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.budget import check, paced
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.vocabularies.standards import dcterms, owl, prov, rdfs, sh
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.semantics import periods
from kiprdf.semantics.periods import Interval

PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)

Node: TypeAlias = NamedNode | BlankNode
S = TypeVar("S", bound="Terms")


@dataclass(frozen=True, slots=True)
class Items:
    """An ``rdf:List``; ``cells`` are the IRIs of its cells, ``typed`` numbers of cells and classes.

    ``copy`` counts the equal lists before it that the same statement has; ``container`` is the
    local name of the class of a container, which is a list that RDF writes otherwise.
    """

    terms: tuple[Object, ...]
    cells: tuple[str | None, ...] = ()
    typed: tuple[tuple[int, str], ...] = ()
    copy: int = 0
    container: str = ""


class ExternalTriple(NamedTuple):
    """A triple whose object may be a list."""

    subject: Node
    predicate: NamedNode
    object: Object


Object: TypeAlias = NamedNode | BlankNode | Literal | ExternalTriple | Items
Terms: TypeAlias = tuple[Any, NamedNode, Any]
Graphs: TypeAlias = tuple[str, ...]
"""The names of the graphs that state something."""


def is_plain(term: Object) -> bool:
    """Whether the cells of a list, and of lists in it, have neither IRIs nor a class."""
    if not isinstance(term, Items):
        return True
    return not term.cells and not term.typed and all(map(is_plain, term.terms))


CONTAINERS = {NamedNode(vocab.RDF + name): name for name in ("Seq", "Bag", "Alt")}
"""The classes of containers (RDF Schema 5.1), with their local names."""


def leaves(items: Items, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Object]]:
    """The items of a list and of the lists in it, with their positions, which begin at 1."""
    for number, item in enumerate(items.terms, 1):
        if isinstance(item, Items) and item.terms:
            yield from leaves(item, (*place, number))
        else:
            yield (*place, number), item


class Skipped(NamedTuple):
    """What a plan leaves out: the text of a triple, and why."""

    triple: str
    reason: str


@dataclass(slots=True)
class ExternalData:
    """Statements in a fixed order, their named graphs, and what reifiers stand for.

    If all are in the same graphs, those are ``shared``.
    """

    statements: list[ExternalTriple] = field(default_factory=list)
    graphs: dict[ExternalTriple, Graphs] = field(default_factory=dict)
    reified: dict[Node, ExternalTriple] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    shared: Graphs | None = None

    def graphs_of(self, statement: ExternalTriple) -> Graphs:
        return self.shared or self.graphs[statement]

    def skip(self, statement: ExternalTriple, reason: str) -> None:
        self.skipped.append(Skipped(statement_text(statement), reason))


def text_of(term: Object) -> str:
    """A term as in N-Triples, a list in parentheses.

    >>> text_of(Items((Literal("a"), Literal("b"))))
    '( "a" "b" )'
    """
    if not isinstance(term, tuple | Items):
        return str(term)
    if isinstance(term, Items):
        before = f"rdf:{term.container} " if term.container else ""
        return f"{before}( {' '.join(map(text_of, term.terms))} )"
    assert isinstance(term, ExternalTriple)
    return f"<<( {term.subject} {term.predicate} {text_of(term.object)} )>>"


def statement_text(statement: ExternalTriple) -> str:
    """A statement as a line of N-Triples."""
    return f"{statement.subject!s} {statement.predicate!s} {text_of(statement.object)} ."


def in_order(statements: Iterable[ExternalTriple]) -> list[ExternalTriple]:
    """Statements sorted by their texts; those about a subject have the same object as subject."""
    groups, ordered = by_subject(statements), list[ExternalTriple]()
    # A subject ends in a character that it does not have within.
    for subject in sorted(groups, key=str):
        about = sorted(groups[subject], key=_text_of_rest)
        ordered += [_as_statement((subject, *rest)) for _, *rest in about]
    return ordered


def in_order_if_flat(statements: Iterable[Terms]) -> list[ExternalTriple] | None:
    """Statements as ``in_order`` sorts them, each once; None if one is a part of a list, of a
    container, of a reifier or of an ontology, or has other terms than IRIs and literals. Few
    documents have such statements.

    The statements of one property have the same object as predicate, too.
    """
    groups, ordered = by_subject(statements), list[ExternalTriple]()
    predicates: dict[NamedNode, tuple[NamedNode, str]] = {}
    for subject in sorted(groups, key=str):
        about: dict[str, list[ExternalTriple]] = {}
        for _, predicate, object_ in groups[subject]:
            shared = predicates.get(predicate)
            if shared is None:
                if predicate in _STRUCTURE or _is_of_terms(predicate):
                    return None
                shared = predicates[predicate] = predicate, str(predicate)
            if not isinstance(object_, Literal) and _is_structural(object_):
                return None
            statement = _as_statement((subject, shared[0], object_))
            about.setdefault(shared[1], []).append(statement)
        if not isinstance(subject, NamedNode):
            return None
        for key in sorted(about):
            alike = about[key]
            if len(alike) > 1:
                texts = {str(one[2]): one for one in alike}
                alike = [texts[text] for text in sorted(texts)]
            ordered += alike
    return ordered


_STRUCTURE = (vocab.FIRST, vocab.REST, vocab.REIFIES)
_W3C = "http://www.w3.org/"


def _is_structural(term: Node | Triple) -> bool:
    """Whether an object is no IRI, or the end of a list, or the class of one, of a container, of a
    reifier or of a part of an ontology."""
    if not isinstance(term, NamedNode):
        return True
    iri = term.value
    if not iri.startswith(_W3C):
        return False
    return term in (vocab.NIL, LIST, vocab.STATEMENT) or is_definition_class(iri)


_NESTED = (tuple, Items)
"""What no RDF term is; to make a union takes longer than to look a term up in it."""


def _text_of_rest(statement: ExternalTriple) -> str:
    _, predicate, object_ = statement
    is_nested = isinstance(object_, _NESTED)
    return f"{predicate} {text_of(object_) if is_nested else object_} ."


DEFAULT = "@default"
"""What stands for the default graph among the names of graphs."""


def collect(quads: Iterable[Quad]) -> tuple[dict[ExternalTriple, Graphs], list[Skipped]]:
    """Each statement once with its graphs; what is skipped of graphs."""
    runs, skipped = by_graph(quads)
    return joined(runs), skipped


def by_graph(quads: Iterable[Quad]) -> tuple[list[tuple[str, list[Terms]]], list[Skipped]]:
    """The terms of quads in their order, by runs of one graph with its name; what is skipped.

    The graphs in which a nexus keeps its own records are left out.
    """
    runs: list[tuple[str, list[Terms]]] = []
    nameless: dict[str, None] = {}
    # What C functions do for each quad takes half as long.
    for graph, some in groupby(paced(quads), attrgetter("graph_name")):
        name = DEFAULT
        if isinstance(graph, NamedNode):
            name = graph.value
            if name.startswith(vocab.GRAPH):
                continue
        elif isinstance(graph, BlankNode):
            nameless[str(graph)] = None
        runs.append((name, [*map(_parts, some)]))
    reason = "the graph has no IRI; its statements are imported without a graph"
    skipped = [Skipped(f"graph {number}", reason) for number in range(1, len(nameless) + 1)]
    return runs, skipped


def joined(runs: Iterable[tuple[str, list[Terms]]]) -> dict[ExternalTriple, Graphs]:
    """Each statement once with its graphs."""
    statements: dict[ExternalTriple, Graphs] = {}
    only: dict[str, Graphs] = {}
    for name, some in runs:
        # Most statements are in the same graph: they share what says so.
        own = only.setdefault(name, (name,))
        for statement in map(_as_statement, paced(some)):
            if isinstance(statement[2], Triple):
                statement = statement._replace(object=_statement(statement[2]))
            places = statements.setdefault(statement, own)
            if places is not own and name not in places:
                statements[statement] = (*places, name)
    return statements


_parts = attrgetter("subject", "predicate", "object")
_as_statement: Callable[[Any], ExternalTriple] = partial(tuple.__new__, ExternalTriple)


def _statement(triple: Triple) -> ExternalTriple:
    """A triple as a statement; triple terms nest as deep as the parser allows."""
    subject, object_ = triple.subject, triple.object
    assert not isinstance(subject, Triple)
    if isinstance(object_, Triple):
        return ExternalTriple(subject, triple.predicate, _statement(object_))
    return ExternalTriple(subject, triple.predicate, object_)


def replaced(term: Object, by: Mapping[Node, Object]) -> Object:
    """A term with nodes replaced inside of statements and lists."""
    if isinstance(term, ExternalTriple):
        return replaced_in(term, by)
    if isinstance(term, Items):
        return replace(term, terms=tuple(replaced(item, by) for item in term.terms))
    return term if isinstance(term, Literal) else by.get(term, term)


def replaced_in(statement: ExternalTriple, by: Mapping[Node, Object]) -> ExternalTriple:
    """A statement with nodes replaced; a list cannot be a subject, and stays a node there."""
    subject = by.get(statement.subject, statement.subject)
    if not isinstance(subject, NamedNode | BlankNode):
        subject = statement.subject
    return ExternalTriple(subject, statement.predicate, replaced(statement.object, by))


# Reifiers -------------------------------------------------------------------------------------


def separate_reifiers(external: ExternalData) -> None:
    """Move what reifiers stand for from the statements into ``reified``; in place.

    A reifier is the subject of ``rdf:reifies`` or an ``rdf:Statement`` with its three parts. One
    that names nothing, several facts, or a triple that is not asserted is skipped
    with all statements about it.
    """
    if not _mentions(external.statements, {vocab.REIFIES}, {vocab.STATEMENT}):
        return
    asserted = set(external.statements)
    dropped: set[Node] = set()
    for node, about_node in paced(by_subject(external.statements).items()):
        if not _is_reifier(about_node):
            continue
        facts = _facts(about_node)
        fault = _fault(node, facts, asserted)
        if fault is not None:
            dropped.add(node)
            for statement in about_node:
                external.skip(statement, fault)
            continue
        external.reified[node] = next(iter(facts))
    kept = [statement for statement in external.statements if statement.subject not in dropped]
    external.statements = []
    for statement in paced(kept):
        fact = external.reified.get(statement.subject)
        if fact is None or not _is_structure(statement):
            external.statements.append(statement)
        elif not _agrees(statement, fact):
            external.skip(statement, "its subject stands for another triple")


def _mentions(
    statements: Iterable[ExternalTriple], predicates: set[NamedNode], objects: set[NamedNode]
) -> bool:
    """Whether a statement has one of some predicates or objects, or another one as its object."""
    return any(
        one.predicate in predicates or one.object in objects or isinstance(one.object, tuple)
        for one in paced(statements)
    )


def by_subject(statements: Iterable[S]) -> dict[Node, list[S]]:
    grouped: dict[Node, list[S]] = defaultdict(list)
    for subject, about in groupby(paced(statements), itemgetter(0)):
        grouped[subject] += about
    return grouped


def _is_reifier(statements: list[ExternalTriple]) -> bool:
    predicates = {statement.predicate for statement in statements}
    return vocab.REIFIES in predicates or any(s.object == vocab.STATEMENT for s in statements)


def _is_structure(statement: ExternalTriple) -> bool:
    predicate = statement.predicate
    is_type = predicate == vocab.TYPE and statement.object == vocab.STATEMENT
    return is_type or predicate == vocab.REIFIES or predicate in PARTS


def _agrees(statement: ExternalTriple, fact: ExternalTriple) -> bool:
    """Whether a part of a reifier agrees with its fact."""
    expected = dict(zip(PARTS, fact, strict=True)) | {vocab.REIFIES: fact}
    return statement.object == expected.get(statement.predicate, vocab.STATEMENT)


def _facts(statements: list[ExternalTriple]) -> set[ExternalTriple]:
    """The triples that a reifier names, by its triple terms and by its three parts."""
    objects = {s.object for s in statements if s.predicate == vocab.REIFIES}
    parts = {part: [s.object for s in statements if s.predicate == part] for part in PARTS}
    facts = {fact for fact in objects if isinstance(fact, ExternalTriple)}
    if all(len(values) == 1 for values in parts.values()):
        subject, predicate, object_ = (parts[part][0] for part in PARTS)
        if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode):
            facts.add(ExternalTriple(subject, predicate, object_))
    return facts


def _fault(node: Node, facts: set[ExternalTriple], asserted: set[ExternalTriple]) -> str | None:
    if not facts:
        return f"the reifier {node} does not stand for one triple"
    if len(facts) > 1:
        return f"the reifier {node} stands for {len(facts)} triples; a proposition is one"
    if not facts <= asserted:
        return f"the triple that {node} reifies is not asserted; KIP has asserted propositions only"
    return None


LIST = NamedNode(vocab.RDF + "List")
"""The class of list cells."""
LIST_NESTING = 60
"""How deep lists may nest in lists; the value of an attribute nests to 64."""
_CHECK_EVERY = 256
"""How many cells are read between two checks of the budget."""
BROKEN_LIST = "it belongs to a list that is not well-formed, is in two places, or nests too deep"
"""Why the statements of other cells are skipped."""


def gather_lists(
    statements: Collection[ExternalTriple],
) -> tuple[dict[ExternalTriple, ExternalTriple], list[ExternalTriple]]:
    """Each statement that is not a cell, with lists as values; the cells of broken lists.

    A list is well-formed if each cell has one ``rdf:first``, one ``rdf:rest`` and nothing else,
    is referred to once, and the last is followed by ``rdf:nil``. So it is a tree, and reading it
    takes linear time.
    """
    if not _mentions(statements, {vocab.FIRST, vocab.REST}, {vocab.NIL, LIST}):
        return {statement: statement for statement in statements}, []
    cells = _cells(statements)
    lists: dict[Node, Object] = {vocab.NIL: Items(())}
    consumed: set[Node] = set()
    for statement in paced(statements):
        head = statement.object
        if statement.predicate in (vocab.FIRST, vocab.REST):
            continue
        if isinstance(head, NamedNode | BlankNode) and head in cells:
            read: set[Node] = set()
            items = _items(head, cells, read, LIST_NESTING)
            if items is not None:
                lists[head] = items
                consumed |= read
    in_cells = [s for s in paced(statements) if _is_cell_part(s, cells)]
    broken = [s for s in in_cells if s.subject not in consumed]
    others = dict.fromkeys(statements)
    for statement in in_cells:
        del others[statement]
    return {s: replaced_in(s, lists) for s in paced(others)}, broken


def _is_cell_part(statement: ExternalTriple, cells: dict[Node, dict[NamedNode, Object]]) -> bool:
    is_part = statement.predicate in (vocab.FIRST, vocab.REST) or statement.object == LIST
    return is_part or statement.subject in cells


def _cells(statements: Iterable[ExternalTriple]) -> dict[Node, dict[NamedNode, Object]]:
    """The well-formed cells: their ``rdf:first`` and ``rdf:rest``."""
    referred = Counter(s.object for s in paced(statements) if not isinstance(s.object, Literal))
    return {
        node: {s.predicate: s.object for s in about_node} | _classes_of_cell(about_node)
        for node, about_node in paced(by_subject(statements).items())
        if referred[node] == 1 and _is_cell(about_node)
    }


def _is_cell(statements: list[ExternalTriple]) -> bool:
    """Whether a node has nothing but the two properties of a cell, and classes (SWRL)."""
    predicates = [s.predicate for s in statements if not _is_class(s)]
    return sorted(predicates, key=str) == [vocab.FIRST, vocab.REST]


def _is_class(statement: ExternalTriple) -> bool:
    return statement.predicate == vocab.TYPE and isinstance(statement.object, NamedNode)


def _classes_of_cell(statements: list[ExternalTriple]) -> dict[NamedNode, Object]:
    classes = tuple(s.object for s in statements if _is_class(s))
    return {vocab.TYPE: Items(tuple(sorted(classes, key=str)))} if classes else {}


def _items(
    head: Object, cells: dict[Node, dict[NamedNode, Object]], read: set[Node], depth: int
) -> Items | None:
    """The items from a cell on; None if the list is not well-formed. Adds its cells to ``read``."""
    items: list[Object] = []
    names: list[str | None] = []
    typed: list[tuple[int, str]] = []
    while head != vocab.NIL:
        if not isinstance(head, NamedNode | BlankNode) or head not in cells or depth == 0:
            return None
        read.add(head)
        if not len(read) % _CHECK_EVERY:
            check()
        item: Object | None = cells[head][vocab.FIRST]
        if isinstance(item, NamedNode | BlankNode) and (item in cells or item == vocab.NIL):
            item = _items(item, cells, read, depth - 1)
        if item is None:
            return None
        classes = cells[head].get(vocab.TYPE)
        if isinstance(classes, Items):
            typed += [(len(items), str(getattr(one, "value", ""))) for one in classes.terms]
        items.append(item)
        names.append(head.value if isinstance(head, NamedNode) else None)
        head = cells[head][vocab.REST]
    return Items(tuple(items), tuple(names) if any(names) else (), tuple(typed))


def gather_containers(
    statements: dict[ExternalTriple, ExternalTriple],
    graphs: Mapping[ExternalTriple, Graphs],
) -> dict[ExternalTriple, ExternalTriple]:
    """The statements, with lists in place of ``rdf:Seq``, ``rdf:Bag`` and ``rdf:Alt``.

    Such a container is a blank node with one of these classes, one item of each number from 1 on,
    and nothing else; one statement refers to it, in the same graphs. Others are resources.
    ``statements`` are by what they were before their lists were gathered.
    """
    typed = (s for s in statements if s.object in CONTAINERS and s.predicate == vocab.TYPE)
    nodes = {s.subject for s in typed if isinstance(s.subject, BlankNode)}
    if not nodes:
        return statements
    about: dict[Node, list[ExternalTriple]] = {node: [] for node in nodes}
    of: dict[object, list[ExternalTriple]] = defaultdict(list)
    for before, one in paced(statements.items()):
        if one.subject in nodes:
            about[one.subject].append(before)
        for term in _terms(one.object):
            of[term].append(before)
    lists: dict[Node, Object] = {}
    for node in nodes:
        items = _container([statements[one] for one in about[node]])
        if items is None or len(of[node]) != 1:
            continue
        (referring,) = of[node]
        is_object = statements[referring].object == node and referring.subject not in nodes
        if is_object and all({*graphs[s]} == {*graphs[referring]} for s in about[node]):
            lists[node] = items
    return {
        before: replaced_in(one, lists) if one.object in lists else one
        for before, one in statements.items()
        if one.subject not in lists
    }


def _terms(term: Object) -> Iterator[object]:
    """A term, and those inside of it."""
    yield term
    if isinstance(term, ExternalTriple):
        yield term.subject
        yield from _terms(term.object)
    elif isinstance(term, Items):
        yield from (inner for item in term.terms for inner in _terms(item))


def _container(about: list[ExternalTriple]) -> Items | None:
    """The items of a container, by their numbers; None for one with anything else."""
    items: dict[int, Object] = {}
    names = []
    for _, predicate, value in about:
        number = _MEMBER.fullmatch(predicate.value)
        if predicate == vocab.TYPE and isinstance(value, NamedNode) and value in CONTAINERS:
            names.append(CONTAINERS[value])
        elif number is None or int(number[1]) in items:
            return None
        else:
            items[int(number[1])] = value
    if len(names) != 1 or not items or max(items) != len(items):
        return None
    return Items(tuple(items[number] for number in sorted(items)), container=names[0])


_MEMBER = re.compile(re.escape(vocab.RDF) + "_([1-9][0-9]{0,8})")


# Intervals ------------------------------------------------------------------------------------
#
# An interval is a ``dcterms:valid``, as a DCMI Period or in ISO 8601. Where a triple has several
# reifiers and one of them ends, it is also ``prov:generatedAtTime`` and ``prov:invalidatedAtTime``,
# or the metadata ``valid_from`` and ``valid_until`` of another nexus (docs/decisions/101).


_VALID = dcterms("valid")
_STARTS = (prov("generatedAtTime"), vocab.metadata(periods.VALID_FROM))
_ENDS = (prov("invalidatedAtTime"), vocab.metadata(periods.VALID_UNTIL))
_DCMI_END = re.compile(r"\b(start|end)=([^;]*)")


def with_periods(external: ExternalData, iris: Iris) -> None:
    """Replace the intervals of reifiers by facts about their facts; in place."""
    if not external.reified:
        return
    about: dict[Node, list[ExternalTriple]] = defaultdict(list)
    reifiers: dict[ExternalTriple, list[Node]] = defaultdict(list)
    for statement in external.statements:
        if statement.subject in external.reified:
            about[statement.subject].append(statement)
    for reifier, fact in external.reified.items():
        if isinstance(fact.object, NamedNode | BlankNode):
            reifiers[fact].append(reifier)
    used: set[ExternalTriple] = set()
    added: dict[ExternalTriple, None] = {}
    for nodes in reifiers.values():
        ends = any(_value(about[node], _ENDS) for node in nodes) and len(nodes) > 1
        for node in nodes:
            interval = _interval(about[node], reads_ends=ends)
            if interval is None:
                continue
            own = [one for one in about[node] if _states(one, interval)]
            used.update(own)
            for statement in _period(node, interval, iris):
                external.graphs[statement] = external.graphs[own[0]]
                added[statement] = None
    if added:
        kept = (statement for statement in external.statements if statement not in used)
        external.statements = in_order({*kept, *added})


def _interval(statements: list[ExternalTriple], *, reads_ends: bool) -> Interval | None:
    """The interval that the statements about a reifier give it."""
    for statement in statements:
        if statement.predicate == _VALID and isinstance(statement.object, Literal):
            return _valid(statement.object)
    if not reads_ends:
        return None
    start, end = _value(statements, _STARTS), _value(statements, _ENDS)
    return periods.interval(Interval(start, end).name) if start or end else None


def _valid(literal: Literal) -> Interval | None:
    ends = dict(_DCMI_END.findall(literal.value))
    if not ends:
        return periods.interval(literal.value)
    start, end = (ends.get(name, periods.OPEN).strip() for name in ("start", "end"))
    return periods.interval(f"{start}/{end}")


def _value(statements: list[ExternalTriple], predicates: tuple[NamedNode, ...]) -> str | None:
    """The first time under some predicates."""
    for statement in statements:
        if statement.predicate in predicates and isinstance(statement.object, Literal):
            return periods.moment(statement.object.value)
    return None


def _states(statement: ExternalTriple, interval: Interval) -> bool:
    """Whether a statement is the interval, or one of its ends."""
    if not isinstance(statement.object, Literal):
        return False
    if statement.predicate == _VALID:
        return _valid(statement.object) == interval
    moment = periods.moment(statement.object.value)
    ends = (_STARTS, interval.start), (_ENDS, interval.end)
    return any(statement.predicate in names and moment == end for names, end in ends)


def _period(reifier: Node, interval: Interval, iris: Iris) -> list[ExternalTriple]:
    """That a reifier is valid during a Period, and what the Period is."""
    period = iris.concept(periods.TYPE, interval.name)
    return [
        ExternalTriple(reifier, iris.predicate(periods.PREDICATE), period),
        ExternalTriple(period, vocab.TYPE, iris.type(periods.TYPE)),
        ExternalTriple(period, vocab.LABEL, Literal(interval.name)),
    ]


# Ontologies and data --------------------------------------------------------------------------
#
# An import of data and an import of an ontology take one part each, so that nothing of a file with
# both is read twice (docs/decisions/127).


ONTOLOGY = owl("Ontology")
GENERIC = frozenset((f"{owl}Thing", f"{owl}NamedIndividual", f"{vocab.RDFS}Resource"))
"""Classes of everything: the type of a resource only if it has no other."""
_OF_TERMS = frozenset(map(rdfs, ("subClassOf", "subPropertyOf", "domain", "range")))
_OF_DATA = frozenset(map(owl, ("sameAs", "differentFrom", "versionInfo", "deprecated")))


def is_definition_class(iri: str) -> bool:
    """Whether the members of a class are classes, properties, shapes or ontologies."""
    if iri in GENERIC:
        return False
    return iri == f"{vocab.RDF}Property" or iri.startswith((vocab.RDFS, owl, sh))


def is_of_ontology(about: Collection[ExternalTriple]) -> bool:
    """Whether a subject is an ontology, a class, a property, a shape, an axiom, or a part of one.

    It has such a class; without any class, a property that only they have.
    """
    classes = [s.object for s in about if s.predicate == vocab.TYPE]
    if classes:
        return any(isinstance(c, NamedNode) and is_definition_class(c.value) for c in classes)
    return any(_is_of_terms(s.predicate) for s in about)


@lru_cache(maxsize=1_024)
def _is_of_terms(predicate: NamedNode) -> bool:
    """Whether only classes, properties, shapes and axioms have a property."""
    is_standard = predicate.value.startswith((owl, sh)) and predicate not in _OF_DATA
    return is_standard or predicate in _OF_TERMS


def _is_hint(statement: ExternalTriple) -> bool:
    """Whether a statement alone may say that its subject belongs to an ontology."""
    if statement.predicate != vocab.TYPE:
        return _is_of_terms(statement.predicate)
    return isinstance(statement.object, NamedNode) and is_definition_class(statement.object.value)


def below(roots: Iterable[Node], groups: Mapping[Node, list[ExternalTriple]]) -> set[Node]:
    """Some nodes, and the blank nodes and cells of lists that they lead to."""
    pending = list(roots)
    visited = set(pending)
    while pending:
        for statement in groups.get(pending.pop(), ()):
            node = statement.object
            if isinstance(node, Node) and node not in visited and is_inner(node, groups):
                visited.add(node)
                pending.append(node)
    return visited


def is_inner(node: Node, groups: Mapping[Node, Collection[ExternalTriple]]) -> bool:
    """Whether a node belongs to what leads to it: a blank node, or a cell of a list."""
    is_cell = any(statement.predicate == vocab.FIRST for statement in groups.get(node, ()))
    return is_cell or _is_blank(node)


def _is_blank(node: Node) -> bool:
    return isinstance(node, BlankNode) or node.value.startswith(vocab.BLANK)


def unlinked_lists(groups: Mapping[Node, list[ExternalTriple]]) -> set[Node]:
    """The heads of lists that nothing refers to, with parts of axioms: values for ``sh:or``."""
    cells = {
        s.subject
        for about in groups.values()
        for s in about
        if s.predicate == vocab.FIRST and isinstance(s.object, Node) and _is_blank(s.object)
        if is_of_ontology(groups.get(s.object, ()))
    }
    if not cells:
        return cells
    every = [statement for about in groups.values() for statement in about]
    before = {s.object: s.subject for s in every if s.predicate == vocab.REST}
    heads: set[Node] = set()
    for cell in cells:
        visited = {cell}
        while cell in before and before[cell] not in visited:
            cell = before[cell]
            visited.add(cell)
        heads.add(cell)
    return heads - {s.object for s in every}


def recorded_and_inner(
    statements: Collection[ExternalTriple], is_recorded: Callable[[str], bool]
) -> tuple[set[Node], set[Node]]:
    """The nodes that an import of data does not read: recorded heads, and insides of axioms.

    Blank nodes below the head of an ontology belong to it. A head that the nexus has not recorded
    is data.
    """
    candidates = dict.fromkeys(s.subject for s in statements if _is_hint(s))
    if not candidates:
        return set(), set()
    groups = by_subject(statements)
    heads: list[Node] = []
    roots: list[Node] = []
    for node in candidates:
        about = groups[node]
        if not is_of_ontology(about):
            continue
        if isinstance(node, BlankNode) or all(s.object != ONTOLOGY for s in about):
            roots.append(node)
        elif is_recorded(node.value):
            heads.append(node)
    roots += unlinked_lists(groups)
    recorded = below(heads, groups)
    return recorded, {one for one in below(roots, groups) - recorded if is_inner(one, groups)}
