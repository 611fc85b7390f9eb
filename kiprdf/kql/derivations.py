"""What the rows of a FIND come from: the solutions of its WHERE (docs/decisions/201).

A WHERE is split at its UNIONs into blocks without one. In each block, everything that a pattern
matches gets a variable, and the solutions that give the rows are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.kql.clauses import contains_one
from kiprdf.kql.entailment import (
    SAME_AS,
    Explanation,
    Explanations,
    Inferred,
    clusters_of,
    rules_of,
)
from kiprdf.kql.reader import Reader
from kiprdf.kql.results import identity, is_grouped, variable_of
from kiprdf.language import ast, to_text
from kiprdf.language.names import DERIVED_BY, DERIVED_FROM
from kiprdf.language.values import is_number
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, to_json
from kiprdf.semantics import scope
from kiprdf.source import Span
from kiprdf.store import Store
from kiprdf.store.base import Cell
from kiprdf.trees import replaced, walk

SHOWN = 3
"""The derivations that are shown of a row."""
MOST_OF_ALL = 1_000
"""Solutions of all rows that are read at once."""
MOST_OF_ROW = 100
"""Solutions of a row that are read where those of all are too many."""
_CONFIDENCE = vocab.metadata("confidence")
Key: TypeAlias = tuple[Any, ...]
"""What makes a row: the ids of its elements, or the values that make a group."""
Cells: TypeAlias = Mapping[str, Cell]
"""A solution: what the variables are bound to."""


class Derivation(NamedTuple):
    """One solution of a WHERE that gives a row, by the ids of what it matches.

    ``values`` have ``of``, ``key`` and ``value``. ``paths`` are the propositions along each range
    of hops, in the order of the text. ``absent`` says where a NOT, or an OPTIONAL that matches
    nothing, is in the text, ``branch`` of which UNION the solution is. ``inferred`` are the rules
    ``by`` which something follows, the element ``of`` which it is so, and what it follows ``from``.
    """

    propositions: tuple[str, ...]
    concepts: tuple[str, ...]
    values: tuple[Mapping[str, Json], ...]
    paths: tuple[tuple[str, ...], ...]
    absent: tuple[str, ...]
    branch: str | None
    inferred: tuple[Mapping[str, Json], ...]

    @property
    def cited(self) -> tuple[str, ...]:
        """The ids of all propositions, those of paths included, each once."""
        return tuple(dict.fromkeys((*self.propositions, *(id for p in self.paths for id in p))))

    def to_json(self) -> dict[str, Json]:
        """The derivation as an object of JSON."""
        return {
            "propositions": list(self.propositions),
            "concepts": list(self.concepts),
            "values": [dict(value) for value in self.values],
            "paths": [list(path) for path in self.paths],
            "absent": list(self.absent),
            "branch": self.branch,
            "inferred": [dict(one) for one in self.inferred],
        }


# Blocks without UNION ---------------------------------------------------------------------------


@dataclass
class _Alternative:
    """Clauses of which none is a UNION; ``nulls`` are the variables that only others bind."""

    clauses: tuple[ast.Clause, ...] = ()
    branch: Span | None = None
    absent: tuple[tuple[str, Span], ...] = ()
    nulls: frozenset[str] = frozenset()


def _alternatives(block: ast.Block, branch: Span | None = None) -> list[_Alternative]:
    """The blocks whose solutions together are those of a WHERE (KIP 3.4.7).

    A UNION adds its block, in a fresh scope, to what comes before it; what follows applies to both.
    """
    blocks: list[_Alternative] = []
    for number, clause in enumerate(block.clauses):
        if isinstance(clause, ast.Union):
            blocks = _united([*blocks, *_alternatives(clause.block, clause.span)])
        else:
            blocks = blocks if number else [_Alternative(branch=branch)]
            blocks = [more for one in blocks if (more := _followed(one, clause)) is not None]
    return blocks


def _united(blocks: list[_Alternative]) -> list[_Alternative]:
    bound = [{*scope.exported(ast.Block(one.clauses)), *one.nulls} for one in blocks]
    every = frozenset().union(*bound)
    exported = (scope.exported(ast.Block(one.clauses)) for one in blocks)
    pairs = zip(blocks, exported, strict=True)
    return [replace(one, nulls=every.difference(own)) for one, own in pairs]


def _followed(one: _Alternative, clause: ast.Clause) -> _Alternative | None:
    """An alternative with one more clause; None if that never matches, since a variable is null."""
    if not one.nulls:
        return replace(one, clauses=(*one.clauses, clause))
    bound = _names(ast.Block(one.clauses))
    followed = _with_nulls(clause, one.nulls, bound)
    if followed is not None:
        nulls = one.nulls | _missed(clause, bound) - _names(ast.Block((followed,)))
        return replace(one, clauses=(*one.clauses, followed), nulls=nulls)
    if isinstance(clause, ast.Optional | ast.Not):
        absent = (*one.absent, _place(clause))
        return replace(one, absent=absent, nulls=one.nulls | _missed(clause, bound))
    return None


def _names(block: ast.Block) -> frozenset[str]:
    return frozenset(scope.exported(block))


def _missed(clause: ast.Clause, bound: frozenset[str]) -> frozenset[str]:
    """The variables that are null where a clause matches nothing."""
    if isinstance(clause, ast.Optional | ast.Union):
        return _names(clause.block) - bound
    return frozenset()


def _with_nulls(
    clause: ast.Clause, nulls: frozenset[str], bound: frozenset[str]
) -> ast.Clause | None:
    """A clause where some variables are null; None if it, or its block, never matches."""
    match clause:
        case ast.ConceptClause() | ast.PropositionClause():
            is_dead = any(variable.name in nulls for variable, _ in scope.mentions(clause))
            return None if is_dead else clause
        case ast.Filter():
            return cast(ast.Filter, replaced(clause, lambda part: _value_with_nulls(part, nulls)))
        case ast.Union():
            # What it binds is null around it.
            return None if nulls & _names(clause.block) else clause
        case ast.Optional() | ast.Not():
            clauses: list[ast.Clause] = []
            is_of_nothing = False
            for number, inner in enumerate(clause.block.clauses):
                followed = _with_nulls(inner, nulls, bound)
                if isinstance(inner, ast.Union):
                    # Without the first clause there is nothing yet.
                    is_of_nothing = followed is None and (is_of_nothing or not number)
                elif is_of_nothing:
                    continue
                if followed is not None:
                    clauses.append(followed)
                    names = _names(ast.Block((followed,)))
                    nulls |= _missed(inner, bound) - names
                    bound |= names
                elif isinstance(inner, ast.ConceptClause | ast.PropositionClause):
                    return None
                else:
                    nulls |= _missed(inner, bound)
                    if not isinstance(inner, ast.Union):
                        clauses.append(_TRUE)  # a UNION after it is not the first
            return None if is_of_nothing else replace(clause, block=ast.Block(tuple(clauses)))


_TRUE = ast.Filter(ast.Truth(ast.Scalar(True)))


def _value_with_nulls(part: Any, nulls: frozenset[str]) -> Any:
    """A part of a condition, or null for a value of a variable that is null."""
    if isinstance(part, ast.Membership) and isinstance(part.options, ast.Path):
        # Nothing is in null, which is no list.
        is_null = part.options.variable.name in nulls
        part = ast.Truth(ast.Scalar(False)) if is_null else part
    name = part.variable.name if isinstance(part, ast.Path) else getattr(part, "name", None)
    is_read = isinstance(part, ast.Path | ast.Variable)
    return ast.Scalar(None) if is_read and name in nulls else part


def _place(clause: ast.Optional | ast.Not) -> tuple[str, Span]:
    return "NOT" if isinstance(clause, ast.Not) else "OPTIONAL", clause.span


# Names for all that is matched ------------------------------------------------------------------


class _Fact(NamedTuple):
    """A pattern of a proposition, or of a range of hops, by the names of its variables; None for a
    predicate that is a variable."""

    link: str
    start: str
    predicates: ast.Predicates | None
    end: str
    is_range: bool


@dataclass
class _Absences:
    """The NOTs of a block, and its OPTIONALs; ``own`` are the variables that only it binds."""

    place: tuple[str, Span] | None = None
    own: frozenset[str] = frozenset()
    nots: list[tuple[str, Span]] = field(default_factory=list)
    optionals: list[_Absences] = field(default_factory=list)

    def of(self, cells: Cells) -> Iterator[tuple[str, Span]]:
        """What a solution has nothing for."""
        if self.place is not None and self.own and all(cells[name] is None for name in self.own):
            yield self.place
            return
        yield from self.nots
        for optional in self.optionals:
            yield from optional.of(cells)


class _NamedClauses:
    """Clauses in which each element has a variable: ``elements``, in the order of the text.

    ``paths`` are the values that FILTERs read. ``counted`` has as many solutions: a fact with a
    predicate is one link.
    """

    def __init__(self, clauses: Iterable[ast.Clause], names: Iterator[str]) -> None:
        self._names = names
        self.elements: dict[str, None] = {}
        self.facts: list[_Fact] = []
        self.concepts: list[tuple[str, ast.ConceptMatcher]] = []
        self.absences = _Absences()
        self.paths: dict[ast.Path, None] = {}
        plain = tuple(clauses)
        self.clauses = self._block(plain)
        self.counted = tuple(map(_without_link, self.clauses, plain))

    def _block(self, clauses: Iterable[ast.Clause]) -> tuple[ast.Clause, ...]:
        return tuple(map(self._clause, clauses))

    def _clause(self, clause: ast.Clause) -> ast.Clause:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                return cast(ast.Clause, self._end(clause)[0])
            case ast.Optional():
                around, before = self.absences, set(self.elements)
                self.absences = inner = _Absences(_place(clause))
                block = ast.Block(self._block(clause.block.clauses))
                inner.own = frozenset(self.elements).difference(before)
                around.optionals.append(inner)
                self.absences = around
                return replace(clause, block=block)
            case ast.Union():  # within an OPTIONAL
                return replace(clause, block=ast.Block(self._block(clause.block.clauses)))
            case ast.Not():
                self.absences.nots.append(_place(clause))
            case ast.Filter():
                read = scope.operands(clause.condition)
                self.paths |= {path: None for path in read if isinstance(path, ast.Path)}
        return clause

    def _end(self, end: ast.Endpoint) -> tuple[ast.Endpoint, str]:
        """An endpoint with variables, and the name of that which it is bound to."""
        if isinstance(end, ast.Variable):
            self.elements[end.name] = None
            return end, end.name
        matcher = end.matcher
        predicate = matcher.predicate if isinstance(matcher, ast.PropositionMatcher) else None
        predicates = predicate if isinstance(predicate, ast.Predicates) else None
        is_range = predicates is not None and any(p.hops for p in predicates.alternatives)
        variable = end.variable
        if variable is None and not is_range:
            variable = ast.Variable(next(self._names))
        name = "" if variable is None else variable.name
        if variable is not None:
            self.elements[name] = None
        if isinstance(matcher, ast.PropositionMatcher):
            subject, start = self._end(matcher.subject)
            object, finish = self._end(matcher.object)
            matcher = replace(matcher, subject=subject, object=object)
            self.facts.append(_Fact(name, start, predicates, finish, is_range))
        elif isinstance(matcher, ast.ConceptMatcher):
            self.concepts.append((name, matcher))
        return replace(end, variable=variable, matcher=matcher), name  # type: ignore[arg-type]


def _without_link(named: ast.Clause, plain: ast.Clause) -> ast.Clause:
    """A clause without the variable that it got for the one fact that it matches."""
    if not isinstance(named, ast.PropositionClause) or plain == named:
        return named
    matcher = named.matcher
    predicates = matcher.predicate if isinstance(matcher, ast.PropositionMatcher) else None
    if isinstance(predicates, ast.Predicates) and len(predicates.alternatives) > 1:
        return named
    return replace(named, variable=cast(ast.PropositionClause, plain).variable)


# Questions ----------------------------------------------------------------------------------------

Restriction: TypeAlias = OneOf["concept", "link", "value", "null"]
"""What a row has for an expression of its key."""
Restrictions: TypeAlias = tuple[Restriction | None, ...]


class Text(NamedTuple):
    """A FIND of ``most`` solutions and one more; ``counted`` has as many, and is counted sooner."""

    command: str
    counted: str
    placeholders: frozenset[str]
    most: int = 0


def _text(find: ast.Find, counted: ast.Find | None = None) -> Text:
    names = {node.name for node in walk(find) if isinstance(node, ast.Placeholder)}
    return Text(to_text(find), to_text(counted or find), frozenset(names))


class Question:
    """Asks for the solutions of clauses without UNION: of all rows, or of one by its key.

    It is kept with the text of a FIND, whose placeholders it has.
    """

    def __init__(self, alternative: _Alternative, rewriting: Rewriting) -> None:
        self.branch = alternative.branch
        self._absent = alternative.absent
        self._named = _NamedClauses(alternative.clauses, rewriting.names)
        self._elements = tuple(self._named.elements)
        self.facts, self.concepts = self._named.facts, self._named.concepts
        self.has_hops = any(one.is_range for one in self.facts)
        self._key = rewriting.key
        bound = scope.exported(ast.Block(self._named.clauses))
        self._is_bound = [variable_of(one).name in bound for one in self._key]
        names = (variable_of(one).name for one in self._key)
        self.names = tuple(
            dict.fromkeys((*self._named.elements, *(name for name in names if name in bound)))
        )
        self._parameters = rewriting.parameters
        self._shown = tuple(
            ast.Variable(name)
            if name in rewriting.predicates
            else ast.Path(ast.Variable(name), "id")
            for name in self.names
        )
        self.read = tuple({**self._named.paths, **rewriting.read})
        self._starts = [
            _is_bound_first(variable_of(one).name, alternative.clauses) for one in self._key
        ]
        self._has_map = any(map(_is_map, self._key))
        self._texts: dict[Restrictions, Text] = {}

    def is_possible(self, key: Key) -> bool:
        """Whether a key has values of variables only that the clauses bind."""
        return all(value is None or bound for value, bound in zip(key, self._is_bound, strict=True))

    def text(self, restrictions: Restrictions) -> Text:
        """The FIND for all rows, or for one by what it has for each expression of its key.

        The solutions of other groups may be among those of a group: an array equals each of its
        items, and a map is not compared.
        """
        if restrictions not in self._texts:
            is_of_row = (any(restrictions) or not self._key) and not self._has_map
            most = MOST_OF_ROW if is_of_row else MOST_OF_ALL
            patterns, tests = self._restricted(restrictions)
            block, counted = (
                ast.Block((*patterns, *clauses, *tests))
                for clauses in (self._named.clauses, self._named.counted)
            )
            limit = ast.Scalar(most + 1)
            find = ast.Find(self._shown, block, limit=limit)
            text = _text(find, replace(find, where=counted))
            self._texts[restrictions] = text._replace(most=most)
        return self._texts[restrictions]

    @cached_property
    def sizes(self) -> Text | None:
        """The FIND of the keys of all rows and the numbers of their solutions; None without a
        variable that each solution binds, or that makes a row."""
        for clause in self._named.counted if all(self._is_bound) else ():
            if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
                for variable, role in scope.mentions(clause):
                    if role in ("concept", "endpoint"):
                        shown = (*self._key, ast.Aggregate("COUNT", variable))
                        return _text(ast.Find(shown, ast.Block(self._named.counted)))
        return None

    def _restricted(self, restrictions: Restrictions) -> tuple[list[ast.Clause], list[ast.Clause]]:
        """The patterns before the clauses, and the FILTERs after them, that select a row."""
        patterns: list[ast.Clause] = []
        tests: list[ast.Clause] = []
        parts = zip(
            self._key, self._parameters, restrictions, self._is_bound, self._starts, strict=True
        )
        for expression, parameter, restriction, is_bound, is_first in parts:
            if not is_bound or restriction is None:
                continue
            variable, value = variable_of(expression), ast.Placeholder(parameter)
            if _is_map(expression):
                is_value = restriction == "value"
                tests.append(ast.Filter(ast.NullTest(variable, negated=is_value)))
            elif restriction == "null":
                tests.append(ast.Filter(ast.NullTest(expression, negated=False)))
            elif is_first and restriction == "concept":
                patterns.append(ast.ConceptClause(variable, ast.ConceptMatcher(id=value)))
            elif is_first and restriction == "link":
                patterns.append(ast.PropositionClause(variable, ast.PropositionId(value)))
            else:
                tests.append(ast.Filter(ast.Comparison("==", expression, value)))
        return patterns, tests

    def absent(self, cells: Cells) -> tuple[tuple[str, Span], ...]:
        """The NOTs, and the OPTIONALs that match nothing."""
        return (*self._absent, *self._named.absences.of(cells))

    def nodes(self, cells: Cells) -> list[NamedNode]:
        """The elements of a solution, in the order of the text."""
        return [cast(NamedNode, cells[name]) for name in self._elements if cells[name] is not None]


def _is_bound_first(name: str, clauses: Iterable[ast.Clause]) -> bool:
    """Whether the first clause with a variable binds it: nothing changes if it is bound before."""
    for clause in clauses:
        if any(isinstance(node, ast.Variable) and node.name == name for node in walk(clause)):
            if not isinstance(clause, ast.ConceptClause | ast.PropositionClause):
                return False
            has_hops = any(isinstance(node, ast.Hops) for node in walk(clause))
            roles = {role for variable, role in scope.mentions(clause) if variable.name == name}
            return not (has_hops and "link" in roles)
    return False


def _is_map(expression: ast.Variable | ast.Path) -> bool:
    """Whether an expression is all attributes or metadata, which no FILTER reads."""
    if isinstance(expression, ast.Variable) or expression.key is not None:
        return False
    return expression.field in ("attributes", "metadata")


class Rewriting:
    """What is asked to explain a FIND, which may have placeholders.

    ``key`` are the expressions that make a row, ``parameters`` the placeholders for their values in
    the ``questions``. ``find`` shows the key beside its own expressions.
    """

    def __init__(self, find: ast.Find) -> None:
        self.is_grouped = is_grouped(find)
        self.width = len(find.expressions)
        matchers = (node for node in walk(find) if isinstance(node, ast.PropositionMatcher))
        variables = (matcher.predicate for matcher in matchers)
        self.predicates = {one.name for one in variables if isinstance(one, ast.Variable)}
        if self.is_grouped:
            self.key = tuple(
                self._shown(e.name) if isinstance(e, ast.Variable) else e
                for e in find.expressions
                if not isinstance(e, ast.Aggregate)
            )
            self.find = find
        else:
            names = dict.fromkeys(variable_of(one).name for one in find.expressions)
            self.key = tuple(map(self._shown, names))
            self.find = replace(find, expressions=(*find.expressions, *self.key))
        self.names = scope.fresh_names(find, "why")
        self.parameters = tuple(islice(self.names, len(self.key)))
        read = (*find.expressions, *(key.expression for key in find.order_by))
        paths = [e.argument if isinstance(e, ast.Aggregate) else e for e in read]
        self.read = {path: None for path in paths if isinstance(path, ast.Path)}
        questions = [Question(one, self) for one in _alternatives(find.where)]
        self.questions = [question for question in questions if question.names]
        self.text = None if find.cursor is not None else to_text(self.find)

    def _shown(self, name: str) -> ast.Variable | ast.Path:
        """What shows an element by its id, and a predicate by its name."""
        variable = ast.Variable(name)
        return variable if name in self.predicates else ast.Path(variable, "id")

    def key_of(self, row: Sequence[Json]) -> Key:
        """The key of a row that ``find`` shows."""
        if not self.is_grouped:
            return tuple(row[self.width :])
        pairs = zip(self.find.expressions, row, strict=True)
        return tuple(
            value["id"] if isinstance(e, ast.Variable) and isinstance(value, dict) else value
            for e, value in pairs
            if not isinstance(e, ast.Aggregate)
        )

    def restrictions(self, key: Key) -> Restrictions:
        """What a row has for each expression of its key."""
        return tuple(map(_restriction, self.key, key))


def _restriction(expression: ast.Variable | ast.Path, value: Json) -> Restriction:
    if value is None:
        return "null"
    if isinstance(expression, ast.Variable) or expression.field != "id":
        return "value"
    return "link" if str(value).startswith("P:") else "concept"


# Derivations --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Solved:
    """A solution, of its question, and what it cites once that is known."""

    question: Question
    cells: Cells
    cited: _Cited | None = None


class Finder:
    """Reads derivations from the solutions of questions."""

    def __init__(
        self,
        rewriting: Rewriting,
        store: Store,
        parameters: Mapping[str, object],
        place: Callable[[Span], str],
    ) -> None:
        self._rewriting, self._store, self._parameters = rewriting, store, parameters
        self._place = place
        self._reader = Reader(store)
        self._explanations = Explanations(store)
        self.is_entailed = rules_of(store) is not None or clusters_of(store) is not None
        self._id = cache(store.iris.id)
        self._confidences: dict[NamedNode, Json] = {}
        self._keys = [
            (variable_of(e).name, None if isinstance(e, ast.Variable) else (e.field, e.key))
            for e in rewriting.key
        ]

    def key(self, cells: Cells) -> Key:
        """The key of the row that a solution gives, as ``identity`` has its values."""
        return tuple([self._key(cells.get(name), path) for name, path in self._keys])

    def _key(self, cell: Cell, path: tuple[str, str | None] | None) -> Any:
        if not isinstance(cell, NamedNode):
            return None
        if path is None:
            return self._reader.predicate_name(cell)
        return self._id(cell) if path[0] == "id" else identity(self._reader.value(cell, *path))

    def ranked(self, solved: list[Solved]) -> list[Solved]:
        """Solutions, the highest confidence first; ties by their elements."""
        self._reader.prefetch(node for one in solved for node in one.cells.values())
        return sorted(solved, key=self._rank) if len(solved) > 1 else solved

    def _rank(self, solved: Solved) -> tuple[float, int, list[str]]:
        confidence = self.confidence(solved)
        number = self._rewriting.questions.index(solved.question)
        return (
            math.inf if confidence is None else -confidence,
            number,
            list(map(str, solved.cells.values())),
        )

    def links(self, solved: Solved) -> list[NamedNode]:
        """The propositions that a solution cites."""
        cited = self._cited_by(solved)
        in_paths = [link for path in cited.paths for link in path]
        return list(dict.fromkeys(cited.links + in_paths)) if in_paths else cited.links

    def _cited_by(self, solved: Solved) -> _Cited:
        if solved.cited is None:
            solved.cited = self._cited(solved.question, solved.cells)
        return solved.cited

    def _cited(self, question: Question, cells: Cells) -> _Cited:
        start = self._store.iris.propositions
        links = [node for node in question.nodes(cells) if node.value.startswith(start)]
        if not question.has_hops and not self.is_entailed:
            return _Cited(list(dict.fromkeys(links)) if len(links) > 1 else links)
        paths: list[tuple[NamedNode, ...]] = []
        inferred: dict[Inferred, None] = {}
        explained = [(one.is_range, self._fact(one, cells)) for one in question.facts]
        if self.is_entailed:
            explained += [(False, self._concept(*one, cells)) for one in question.concepts]
        for is_range, one in explained:
            if one is not None:
                inferred |= dict.fromkeys(one.inferred)
                if is_range:
                    paths.append(one.links)
                else:
                    links += one.links
        in_paths = {link for path in paths for link in path}
        sources = (link for one in inferred for link in one.sources if link not in in_paths)
        return _Cited(list(dict.fromkeys((*links, *sources))), tuple(paths), tuple(inferred))

    def confidence(self, solved: Solved) -> float | None:
        """The lowest confidence of the propositions of a solution that have one."""
        return min(filter(is_number, map(self._confidence, self.links(solved))), default=None)

    def _confidence(self, link: NamedNode) -> Json:
        """The confidence of a proposition, as its metadata has it."""
        if link not in self._confidences:
            stated = self._store.lookup(link, _CONFIDENCE, None, 1)
            self._confidences[link] = to_json(cast(Literal, stated[0].object)) if stated else None
        return self._confidences[link]

    def derivation(self, solved: Solved) -> Derivation:
        """What a solution cites, by ids."""
        question, cells = solved.question, solved.cells
        values: dict[tuple[str, str], dict[str, Json]] = {}
        for path in question.read:
            node = cells.get(path.variable.name)
            if isinstance(node, NamedNode):
                value = self._reader.value(node, path.field, path.key)
                of = self._id(node)
                key = path.field if path.key is None else f"{path.field}.{path.key}"
                values[of, key] = {"of": of, "key": key, "value": value}
        cited = self._cited_by(solved)
        nodes = dict.fromkeys(question.nodes(cells))
        ids = [self._id(node) for node in nodes]
        inferred: list[Mapping[str, Json]] = list(map(self._inferred, cited.inferred))
        if self._has_rules:
            elements = dict.fromkeys((*nodes, *self.links(solved)))
            inferred += [one for node in elements for one in self._derived(node)]
        return Derivation(
            tuple(map(self._id, cited.links)),
            tuple([id for id in ids if id.startswith("C:")]),
            tuple(values.values()),
            tuple([tuple(map(self._id, path)) for path in cited.paths]),
            tuple([f"{verb} at {self._place(at)}" for verb, at in question.absent(cells)]),
            None if question.branch is None else f"UNION at {self._place(question.branch)}",
            tuple(inferred),
        )

    def _inferred(self, one: Inferred) -> Mapping[str, Json]:
        """A rule of the definitions, with the name of the type or predicate it is applied to."""
        name = self._store.iris.concept_name(one.of.value)
        of = self._id(one.of) if one.by == SAME_AS else name
        return {"by": one.by, "of": of, "from": list(map(self._id, one.sources))}

    def _derived(self, node: NamedNode) -> list[Mapping[str, Json]]:
        """The rules of chunks that an element is derived by (docs/decisions/206)."""
        rules = self._reader.value(node, "metadata", DERIVED_BY)
        if rules is None:
            return []
        facts = self._store.match(node, self._store.iris.predicate(DERIVED_FROM), None)
        sources: list[Json] = sorted(self._id(cast(NamedNode, fact.object)) for fact in facts)
        by = rules if isinstance(rules, list) else [rules]
        return [{"by": rule, "of": self._id(node), "from": sources} for rule in by]

    @cached_property
    def _has_rules(self) -> bool:
        return bool(self._store.lookup(None, vocab.metadata(DERIVED_BY), None, 1))

    # Why patterns match -----------------------------------------------------------------------

    def _fact(self, fact: _Fact, cells: Cells) -> Explanation | None:
        """Why a pattern of a proposition matches; None where nothing is to be explained."""
        start, end = cells.get(fact.start), cells.get(fact.end)
        is_explained = fact.is_range or self.is_entailed
        if not (is_explained and isinstance(start, NamedNode) and isinstance(end, NamedNode)):
            return None
        link = cells.get(fact.link)
        stated = self._reader.fact(link) if isinstance(link, NamedNode) else None
        is_unbound = bool(fact.link) and stated is None and not self.is_entailed
        asked: list[tuple[NamedNode, tuple[int, int | None] | None]] = []
        if fact.predicates is not None:
            for one in fact.predicates.alternatives:
                predicate = self._store.iris.predicate(self._text(one.value))
                has_one = one.hops is None or contains_one(one.hops)
                if has_one and is_unbound and any(self._store.match(start, predicate, end)):
                    continue  # It would bind the link.
                if stated is not None and not has_one:
                    continue  # The link is that of another alternative.
                hops = None if one.hops is None else (one.hops.minimum, one.hops.maximum)
                asked.append((predicate, hops))
        elif stated is not None:
            asked.append((stated.predicate, None))
        of_fact = self._explanations.of_fact
        explained = [of_fact(name, start, end, hops, stated) for name, hops in asked]
        return min(filter(None, explained), key=lambda one: len(one.links), default=None)

    def _concept(self, name: str, matcher: ast.ConceptMatcher, cells: Cells) -> Explanation | None:
        """Why a pattern of a concept matches it, or one that is the same."""
        node, iris = cells.get(name), self._store.iris
        if not isinstance(node, NamedNode):
            return None
        of_type = self._explanations.of_type
        is_named = matcher.name is not None or matcher.id is not None
        for member in self._explanations.members(node):
            own = (matcher.name, iris.concept_name(member.value)), (matcher.id, iris.id(member))
            if any(value is not None and self._text(value) != text for value, text in own):
                continue
            if matcher.type is None:
                return Explanation((), tuple(self._explanations.same(member)))
            one = of_type(iris.type(self._text(matcher.type)), member)
            # The type of another one is no reason where this one is named.
            is_of_other = member == node and one and any(r.by == SAME_AS for r in one.inferred)
            if one is not None and not (is_named and is_of_other):
                return one
        return None

    def _text(self, value: ast.Value) -> str:
        if isinstance(value, ast.Placeholder):
            return cast(str, self._parameters[value.name])
        return cast(str, cast(ast.Scalar, value).value)


class _Cited(NamedTuple):
    """The propositions that a solution cites, without those of ``paths``, and by which rules."""

    links: list[NamedNode]
    paths: tuple[tuple[NamedNode, ...], ...] = ()
    inferred: tuple[Inferred, ...] = ()
