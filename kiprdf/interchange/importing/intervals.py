"""Turns the intervals of reifiers into Periods: a triple with several is one fact, valid in each.

An interval is a ``dcterms:valid``, as a DCMI Period or in ISO 8601. Where a triple has several
reifiers and one of them ends, it is also ``prov:generatedAtTime`` and ``prov:invalidatedAtTime``,
or the metadata ``valid_from`` and ``valid_until`` of another nexus (docs/decisions/101).
"""

from __future__ import annotations

import re
from collections import defaultdict

from pyoxigraph import BlankNode, Literal, NamedNode

from kiprdf.interchange.importing.external import ExternalData, ExternalTriple, Node, statement_text
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.semantics import periods
from kiprdf.semantics.periods import Interval

_VALID = NamedNode("http://purl.org/dc/terms/valid")
_PROV = "http://www.w3.org/ns/prov#"
_STARTS = (NamedNode(_PROV + "generatedAtTime"), vocab.metadata(periods.VALID_FROM))
_ENDS = (NamedNode(_PROV + "invalidatedAtTime"), vocab.metadata(periods.VALID_UNTIL))
_DCMI_END = re.compile(r"\b(start|end)=([^;]*)")


def with_periods(external: ExternalData, iris: Iris) -> None:
    """Replace the intervals of reifiers by facts about their facts; in place."""
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
        external.statements = sorted({*kept, *added}, key=statement_text)


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
