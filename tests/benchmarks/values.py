"""FIND, UPDATE and DELETE by a value, beside the SPARQL that an expert would write by hand.

On 10 000 propositions and on more; and how much more the second takes, beside SPARQL by hand, where
the answer does not grow.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import Literal

import kiprdf
from kiprdf.rdf.literals import to_json
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import PREFIXES

SMALL = 10_000
TARGET = 1.5
GROWTH = 1.3
STATES = ("open", "waiting", "blocked", "done", "dropped")


@dataclass(frozen=True)
class Line:
    """``{n}`` in the SPARQL, and ``:n``, are a number; ``:m`` is 2 more, ``:t`` and ``:u`` are
    its text.

    ``grows`` says that the answer grows with the data. An update gets the ``turn``, too.
    """

    name: str
    kip: str
    sparql: str
    grows: bool = False
    is_update: bool = False


TASK = '?t {type: "Task"}'
LINK = '?l (?t, "assigned_to", ?p)'
FACT = "?l rdf:reifies <<( ?t p:assigned_to ?p )>>"
OLD = "; meta:_version ?version ; meta:_updated_at ?updated"
NEW = "; meta:_version ?next ; meta:_updated_at ?now"
STAMP = "BIND(?version + 1 AS ?next) BIND(STR(NOW()) AS ?now)"
"""An update by hand counts versions, too."""
TWENTY = ", ".join(f'"{number}"' for number in range(600, 619))
LINES = (
    # Concepts, by an attribute and by metadata
    Line(
        "number",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) }}",
        "SELECT ?v { ?t attr:sprint {n} ; a type:Task ; rdfs:label ?v }",
    ),
    Line(
        "text",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(?t.attributes.code == :t) }}",
        'SELECT ?v { ?t attr:code "{n}" ; a type:Task ; rdfs:label ?v }',
    ),
    Line(
        "IN, numbers",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(IN(?t.attributes.sprint, [:n, 502, 503])) }}",
        "SELECT ?v { VALUES ?n { {n} 502 503 } ?t attr:sprint ?n ; a type:Task ; rdfs:label ?v }",
    ),
    Line(
        "IN, texts",
        f'FIND(?t.name) WHERE {{ {TASK} FILTER(IN(?t.attributes.code, [:t, "502", "503"])) }}',
        'SELECT ?v { VALUES ?n { "{n}" "502" "503" } '
        "?t attr:code ?n ; a type:Task ; rdfs:label ?v }",
    ),
    Line(
        "metadata",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(?t.metadata.source == :t) }}",
        'SELECT ?v { ?t meta:source "{n}" ; a type:Task ; rdfs:label ?v }',
    ),
    Line(
        "IN, twenty texts",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(IN(?t.attributes.code, [:t, {TWENTY}])) }}",
        f'SELECT ?v {{ VALUES ?n {{ "{{n}}" {TWENTY.replace(",", "")} }} '
        "?t attr:code ?n ; a type:Task ; rdfs:label ?v }",
    ),
    Line(
        "two equal parameters",
        f"FIND(?t.name) WHERE {{ {TASK} "
        "FILTER(?t.attributes.code == :t && ?t.metadata.source == :u) }",
        'SELECT ?v { ?t attr:code "{n}" ; meta:source "{n}" ; a type:Task ; rdfs:label ?v }',
    ),
    Line(
        "IS_NULL beside",
        f"FIND(?t.name) WHERE {{ {TASK} "
        "FILTER(?t.attributes.sprint == :n && IS_NULL(?t.attributes.closed)) }",
        "SELECT ?v { ?t attr:sprint {n} ; a type:Task ; rdfs:label ?v "
        "FILTER NOT EXISTS { ?t attr:closed ?c } }",
    ),
    Line(
        "COUNT",
        f"FIND(COUNT(?t)) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) }}",
        "SELECT (COUNT(?t) AS ?v) { ?t attr:sprint {n} ; a type:Task }",
    ),
    Line(
        "GROUP BY",
        f"FIND(?t.attributes.status, COUNT(?t)) WHERE {{ {TASK} "
        "FILTER(?t.attributes.sprint == :n) }",
        "SELECT ?s (COUNT(?t) AS ?v) { ?t attr:sprint {n} ; a type:Task "
        "OPTIONAL { ?t attr:status ?s } } GROUP BY ?s",
    ),
    Line(
        "ORDER BY LIMIT",
        f"FIND(?t.name, ?t.attributes.due) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) }} "
        "ORDER BY ?t.attributes.due DESC LIMIT 2",
        "SELECT ?v ?d { ?t attr:sprint {n} ; a type:Task ; rdfs:label ?v "
        "OPTIONAL { ?t attr:due ?d } } ORDER BY DESC(?d) LIMIT 2",
    ),
    Line(
        "NOT",
        f"FIND(?t.name) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) "
        'NOT { (?t, "blocked_by", ?b) } }',
        "SELECT ?v { ?t attr:sprint {n} ; a type:Task ; rdfs:label ?v "
        "FILTER NOT EXISTS { ?t p:blocked_by ?b } }",
    ),
    Line(
        "OPTIONAL",
        f"FIND(?t.name, ?b.name) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) "
        'OPTIONAL { (?t, "blocked_by", ?b) FILTER(?b.attributes.status == "open") } }',
        "SELECT ?v ?w { ?t attr:sprint {n} ; a type:Task ; rdfs:label ?v "
        'OPTIONAL { ?t p:blocked_by ?b . ?b attr:status "open" ; rdfs:label ?w } }',
    ),
    Line(
        "a hop",
        f"FIND(?p.name) WHERE {{ {TASK} FILTER(?t.attributes.sprint == :n) "
        '(?t, "assigned_to", ?p) }',
        "SELECT DISTINCT ?v { ?t attr:sprint {n} ; a type:Task ; p:assigned_to ?p . "
        "?p rdfs:label ?v }",
    ),
    # Links
    Line(
        "link, metadata",
        f"FIND(?t.name, ?p.name) WHERE {{ {LINK} FILTER(?l.metadata.source == :t) }}",
        f'SELECT ?v ?w {{ ?l meta:source "{{n}}" . {FACT} . ?t rdfs:label ?v . ?p rdfs:label ?w }}',
    ),
    Line(
        "link, attribute",
        f"FIND(?t.name, ?p.name) WHERE {{ {LINK} FILTER(?l.attributes.page == :n) }}",
        f"SELECT ?v ?w {{ ?l attr:page {{n}} . {FACT} . ?t rdfs:label ?v . ?p rdfs:label ?w }}",
    ),
    Line(
        "link, IN",
        f"FIND(?t.name, ?p.name) WHERE {{ {LINK} "
        'FILTER(IN(?l.metadata.source, [:t, "502", "503"])) }',
        'SELECT ?v ?w { VALUES ?n { "{n}" "502" "503" } ?l meta:source ?n . '
        f"{FACT} . ?t rdfs:label ?v . ?p rdfs:label ?w }}",
    ),
    Line(
        "link, COUNT",
        f"FIND(COUNT(?l)) WHERE {{ {LINK} FILTER(?l.metadata.source == :t) }}",
        f'SELECT (COUNT(?l) AS ?v) {{ ?l meta:source "{{n}}" . {FACT} }}',
    ),
    Line(
        "link, GROUP BY",
        f"FIND(?p.name, COUNT(?l)) WHERE {{ {LINK} FILTER(?l.metadata.source == :t) }}",
        f'SELECT ?w (COUNT(?l) AS ?v) {{ ?l meta:source "{{n}}" . {FACT} . ?p rdfs:label ?w }} '
        "GROUP BY ?w",
    ),
    Line(
        "link, ORDER BY LIMIT",
        f"FIND(?t.name, ?l.attributes.page) WHERE {{ {LINK} "
        "FILTER(?l.metadata.source == :t) } ORDER BY ?l.attributes.page LIMIT 2",
        f'SELECT ?v ?d {{ ?l meta:source "{{n}}" . {FACT} . ?t rdfs:label ?v '
        "OPTIONAL { ?l attr:page ?d } } ORDER BY ?d LIMIT 2",
    ),
    Line(
        "link, NOT",
        f"FIND(?t.name) WHERE {{ {LINK} FILTER(?l.metadata.source == :t) "
        'NOT { (?t, "blocked_by", ?b) } }',
        f'SELECT ?v {{ ?l meta:source "{{n}}" . {FACT} . ?t rdfs:label ?v '
        "FILTER NOT EXISTS { ?t p:blocked_by ?b } }",
    ),
    Line(
        "link, OPTIONAL",
        f"FIND(?t.name, ?b.name) WHERE {{ {LINK} FILTER(?l.metadata.source == :t) "
        'OPTIONAL { (?t, "blocked_by", ?b) } }',
        f'SELECT ?v ?w {{ ?l meta:source "{{n}}" . {FACT} . ?t rdfs:label ?v '
        "OPTIONAL { ?t p:blocked_by ?b . ?b rdfs:label ?w } }",
    ),
    # Answers that grow
    Line(
        "a fifth of all",
        f'FIND(?t.name) WHERE {{ {TASK} FILTER(?t.attributes.status == "open") }}',
        'SELECT ?v { ?t attr:status "open" ; a type:Task ; rdfs:label ?v }',
        grows=True,
    ),
    Line(
        "a fifth of all, COUNT",
        f"FIND(COUNT(?t)) WHERE {{ {TASK} FILTER(?t.attributes.priority == 3) }}",
        "SELECT (COUNT(?t) AS ?v) { ?t attr:priority 3 ; a type:Task }",
        grows=True,
    ),
    Line(
        "a fifth of all, GROUP BY",
        f"FIND(?t.attributes.status, COUNT(?t)) WHERE {{ {TASK} "
        "FILTER(?t.attributes.priority == 3) }",
        "SELECT ?s (COUNT(?t) AS ?v) { ?t attr:priority 3 ; a type:Task "
        "OPTIONAL { ?t attr:status ?s } } GROUP BY ?s",
        grows=True,
    ),
    Line(
        "a fifth of all, ORDER BY LIMIT",
        f"FIND(?t.name, ?t.attributes.due) WHERE {{ {TASK} "
        "FILTER(?t.attributes.priority == 3) } ORDER BY ?t.attributes.due DESC LIMIT 10",
        "SELECT ?v ?d { ?t attr:priority 3 ; a type:Task ; rdfs:label ?v "
        "OPTIONAL { ?t attr:due ?d } } ORDER BY DESC(?d) ?t LIMIT 10",
        grows=True,
    ),
    # Targets
    Line(
        "UPDATE",
        f"UPDATE ?t SET ATTRIBUTES {{ state: :turn }} WHERE {{ {TASK} "
        "FILTER(?t.attributes.sprint == :n) }",
        f"DELETE {{ ?t attr:state ?o {OLD} }} INSERT {{ ?t attr:state {{turn}} {NEW} }} WHERE {{ "
        f"?t attr:sprint {{n}} ; a type:Task ; attr:state ?o {OLD} {STAMP} }}",
        is_update=True,
    ),
    Line(
        "UPDATE, links",
        f"UPDATE ?l SET ATTRIBUTES {{ state: :turn }} WHERE {{ {LINK} "
        "FILTER(?l.metadata.source == :t) }",
        f"DELETE {{ ?l attr:state ?o {OLD} }} INSERT {{ ?l attr:state {{turn}} {NEW} }} WHERE {{ "
        f'?l meta:source "{{n}}" . {FACT} . ?l attr:state ?o {OLD} {STAMP} }}',
        is_update=True,
    ),
    Line(
        "DELETE ATTRIBUTES",
        f'DELETE ATTRIBUTES {{"state"}} FROM ?t WHERE {{ {TASK} '
        "FILTER(?t.attributes.sprint == :n) }",
        f"DELETE {{ ?t attr:state ?o {OLD} }} INSERT {{ ?t {NEW[2:]} }} WHERE {{ "
        f"?t attr:sprint {{n}} ; a type:Task ; attr:state ?o {OLD} {STAMP} }}",
        is_update=True,
    ),
)
RANGE = "FILTER(?t.attributes.sprint > :n && ?t.attributes.sprint < :m)"
BY_HAND = "?t a type:Task ; attr:sprint ?n FILTER(?n > {n} && ?n < {m})"
LINK_RANGE = "FILTER(?l.attributes.page > :n && ?l.attributes.page < :m)"
LINK_BY_HAND = f"{FACT} . ?l attr:page ?n FILTER(?n > {{n}} && ?n < {{m}})"
RANGES = (
    # Ranges, prefixes, orders
    Line(
        "range",
        f"FIND(?t.name) WHERE {{ {TASK} {RANGE} }}",
        f"SELECT ?v {{ {BY_HAND} ?t rdfs:label ?v }}",
    ),
    Line(
        "range, dates",
        f'FIND(?t.name) WHERE {{ {TASK} FILTER(?t.attributes.due >= "2026-05-13" '
        '&& ?t.attributes.due < "2026-05-15") }',
        "SELECT ?v { ?t a type:Task ; rdfs:label ?v ; attr:due ?n "
        'FILTER(?n >= "2026-05-13" && ?n < "2026-05-15") }',
        grows=True,
    ),
    Line(
        "range, half of all",
        f"FIND(COUNT(?t)) WHERE {{ {TASK} FILTER(?t.attributes.estimate >= 125) }}",
        "SELECT (COUNT(?t) AS ?v) { ?t a type:Task ; attr:estimate ?n FILTER(?n >= 125) }",
        grows=True,
    ),
    Line(
        "prefix",
        f'FIND(?t.name) WHERE {{ {TASK} FILTER(STARTS_WITH(?t.attributes.due, "2026-05-1")) }}',
        "SELECT ?v { ?t a type:Task ; rdfs:label ?v ; attr:due ?n "
        'FILTER(STRSTARTS(?n, "2026-05-1")) }',
        grows=True,
    ),
    Line(
        "range, COUNT",
        f"FIND(COUNT(?t)) WHERE {{ {TASK} {RANGE} }}",
        f"SELECT (COUNT(?t) AS ?v) {{ {BY_HAND} }}",
    ),
    Line(
        "range, GROUP BY",
        f"FIND(?t.attributes.status, COUNT(?t)) WHERE {{ {TASK} {RANGE} }}",
        f"SELECT ?s (COUNT(?t) AS ?v) {{ {BY_HAND} OPTIONAL {{ ?t attr:status ?s }} }} GROUP BY ?s",
    ),
    Line(
        "range, ORDER BY LIMIT",
        f"FIND(?t.name, ?t.attributes.due) WHERE {{ {TASK} {RANGE} }} "
        "ORDER BY ?t.attributes.due DESC LIMIT 2",
        f"SELECT ?v ?d {{ {BY_HAND} ?t rdfs:label ?v OPTIONAL {{ ?t attr:due ?d }} }} "
        "ORDER BY DESC(?d) LIMIT 2",
    ),
    Line(
        "range, NOT",
        f'FIND(?t.name) WHERE {{ {TASK} {RANGE} NOT {{ (?t, "blocked_by", ?b) }} }}',
        f"SELECT ?v {{ {BY_HAND} ?t rdfs:label ?v FILTER NOT EXISTS {{ ?t p:blocked_by ?b }} }}",
    ),
    Line(
        "range in NOT",
        f"FIND(COUNT(?t)) WHERE {{ {TASK} NOT {{ FILTER(?t.attributes.sprint < :n) }} }}",
        "SELECT (COUNT(?t) AS ?v) { ?t a type:Task OPTIONAL { ?t attr:sprint ?n } "
        "FILTER(!COALESCE(?n < {n}, false)) }",
        grows=True,
    ),
    Line(
        "range, OPTIONAL",
        f"FIND(?t.name, ?b.name) WHERE {{ {TASK} {RANGE} "
        'OPTIONAL { (?t, "blocked_by", ?b) FILTER(?b.attributes.priority < 3) } }',
        f"SELECT ?v ?w {{ {BY_HAND} ?t rdfs:label ?v OPTIONAL {{ ?t p:blocked_by ?b . "
        "?b attr:priority ?q ; rdfs:label ?w FILTER(?q < 3) } }",
    ),
    Line(
        "ORDER BY LIMIT, all",
        f"FIND(?t.name) WHERE {{ {TASK} }} ORDER BY ?t.attributes.due DESC LIMIT 10",
        "SELECT ?v { ?t a type:Task ; rdfs:label ?v ; attr:due ?d } ORDER BY DESC(?d) ?t LIMIT 10",
    ),
    Line(
        "ORDER BY LIMIT, few values",
        f"FIND(?t.name) WHERE {{ {TASK} }} ORDER BY ?t.attributes.priority LIMIT 10",
        "SELECT ?v { ?t a type:Task ; rdfs:label ?v ; attr:priority ?d } ORDER BY ?d ?t LIMIT 10",
    ),
    Line(
        "link, range",
        f"FIND(?t.name, ?p.name) WHERE {{ {LINK} {LINK_RANGE} }}",
        f"SELECT ?v ?w {{ {LINK_BY_HAND} ?t rdfs:label ?v . ?p rdfs:label ?w }}",
    ),
    Line(
        "link, range, COUNT",
        f"FIND(COUNT(?l)) WHERE {{ {LINK} {LINK_RANGE} }}",
        f"SELECT (COUNT(?l) AS ?v) {{ {LINK_BY_HAND} }}",
    ),
    Line(
        "link, prefix",
        f"FIND(?t.name, ?p.name) WHERE {{ {LINK} "
        'FILTER(STARTS_WITH(?l.metadata.observed, "2026-05-1")) }',
        f"SELECT ?v ?w {{ {FACT} . ?t rdfs:label ?v . ?p rdfs:label ?w . ?l meta:observed ?n "
        'FILTER(STRSTARTS(?n, "2026-05-1")) }',
        grows=True,
    ),
    Line(
        "link, ORDER BY LIMIT, all",
        f"FIND(?t.name) WHERE {{ {LINK} }} ORDER BY ?l.metadata.observed DESC LIMIT 10",
        f"SELECT ?v {{ {FACT} . ?t rdfs:label ?v . ?l meta:observed ?d }} "
        "ORDER BY DESC(?d) LIMIT 10",
    ),
    Line(
        "UPDATE, range",
        f"UPDATE ?t SET ATTRIBUTES {{ state: :turn }} WHERE {{ {TASK} {RANGE} }}",
        f"DELETE {{ ?t attr:state ?o {OLD} }} INSERT {{ ?t attr:state {{turn}} {NEW} }} WHERE {{ "
        f"{BY_HAND} ?t attr:state ?o {OLD} {STAMP} }}",
        is_update=True,
    ),
    Line(
        "DELETE ATTRIBUTES, range",
        f'DELETE ATTRIBUTES {{"state"}} FROM ?t WHERE {{ {TASK} {RANGE} }}',
        f"DELETE {{ ?t attr:state ?o {OLD} }} INSERT {{ ?t {NEW[2:]} }} WHERE {{ "
        f"{BY_HAND} ?t attr:state ?o {OLD} {STAMP} }}",
        is_update=True,
    ),
)


def measured(propositions: int) -> Iterator[Ratio]:
    """Every line on 10 000 propositions and on as many as are asked for, and its growth."""
    nexuses = {number: nexus_of(number) for number in sorted({SMALL, propositions})}
    for line in (*LINES, *RANGES):
        ratios = [_ratio(line, number, nexus) for number, nexus in nexuses.items()]
        yield from ratios
        if len(ratios) > 1 and not line.grows:
            small, large = ratios
            growths = large.ours / small.ours, large.yardstick / small.yardstick
            yield Ratio(f"{line.name}, growth", *growths, GROWTH)


def _ratio(line: Line, propositions: int, nexus: kiprdf.Nexus) -> Ratio:
    engine = nexus.store.engine
    sprints = propositions // 4 // 3

    def number(turn: int) -> int:
        return 10 + turn * 14 % (sprints // 2 * 2 - 20)

    def ours(turn: int) -> Any:
        n = number(turn)
        values: dict[str, Any] = {"n": n, "m": n + 2, "t": str(n), "u": str(n), "turn": turn}
        used = {name: value for name, value in values.items() if f":{name}" in line.kip}
        return nexus.execute(line.kip, **used)

    def by_hand(turn: int) -> Any:
        # What an update has deleted is not there for the other.
        n = number(turn) + line.is_update
        text = line.sparql.replace("{n}", str(n)).replace("{m}", str(n + 2))
        text = text.replace("{turn}", str(turn))
        if line.is_update:
            return engine.update(PREFIXES + text)
        rows: Any = engine.query(PREFIXES + text)
        return list(zip(*[[_value(cell) for cell in row] for row in rows], strict=True))

    if not line.is_update:
        _check(line, ours(1), by_hand(1))
    name = f"{line.name}, {propositions:,}"
    seconds = 0.1 if line.is_update else 0.5
    return side_by_side(name, ours, by_hand, target=TARGET, seconds=seconds)


def _check(line: Line, answer: Any, by_hand: list[Any]) -> None:
    if not isinstance(answer, list):
        answer = [[answer]]
    first = answer[0] if answer and isinstance(answer[0], list) else answer
    if not first or len(first) != len(by_hand[0]):
        sys.exit(f"{line.name}: {len(first)} rows, and {len(by_hand[0])} by hand")


def _value(cell: Any) -> Any:
    return to_json(cell) if isinstance(cell, Literal) else cell and cell.value


def nexus_of(propositions: int) -> kiprdf.Nexus:
    """A nexus in memory with the tasks, persons and links."""
    # A slow machine may take longer than a request has, also for the SPARQL by hand.
    nexus = kiprdf.Nexus.memory(genesis=False, budget=kiprdf.Budget(timeout_s=None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.ttl"
        data.write_snapshot(
            path,
            types=("Task", "Person"),
            predicates=("assigned_to", "blocked_by", "related_to"),
            statements=_statements(propositions),
        )
        nexus.restore(path)
    return nexus


def _statements(propositions: int) -> Iterator[str]:
    """A task has three or four links, and three tasks share a sprint, a code and a source."""
    tasks, people = propositions // 4, max(propositions // 400, 10)
    concept, fact = data.concept, data.fact
    for person in range(people):
        yield concept("Person", f"P{person}")
    for task in range(tasks):
        group = task // 3
        state = STATES[task * 7 % 5]
        day = f"2026-{task * 13 % 12 + 1:02}-{task * 17 % 28 + 1:02}T{task * 5 % 24:02}:00:00Z"
        properties = (
            f' ; attr:sprint {group} ; attr:code "{group}" ; attr:status "{state}"'
            f' ; attr:priority {task * 3 % 5} ; attr:due "{day}" ; attr:state -1'
            f' ; attr:estimate "{task * 31 % 997 / 4}"^^xsd:double ; meta:source "{group}"'
        )
        closed = f' ; attr:closed "{day}"' if state == "done" else ""
        yield concept("Task", f"T{task}", properties + closed)
        sure = f' ; meta:confidence "{task * 37 % 100 / 100}"^^xsd:double ; meta:observed "{day}"'
        source = f'{sure} ; meta:source "{group}" ; attr:page {group} ; attr:state -1'
        yield fact("Task", f"T{task}", "assigned_to", f"C:Person/P{task * 11 % people}", source)
        if task > 9:
            for other in (task // 2, task // 3):
                yield fact("Task", f"T{task}", "related_to", f"C:Task/T{other}", sure)
            if task % 3:
                yield fact("Task", f"T{task}", "blocked_by", f"C:Task/T{task * 5 % 7}", sure)
