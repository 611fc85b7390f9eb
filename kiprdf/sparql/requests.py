"""Writes the queries that a remote store sends for its own needs.

As in ``text``, pyoxigraph prints every term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.sparql.abilities import Abilities, Links

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_REIFIES = f"<{_RDF}reifies>"
_PARTS = f"<{_RDF}subject>", f"<{_RDF}predicate>", f"<{_RDF}object>"
_XSD = "http://www.w3.org/2001/XMLSchema#"

QUESTIONS = {
    "nothing": ("SELECT (1 AS ?answer) WHERE { }", "1"),
    "triple_term": (
        "SELECT (STR(SUBJECT(<<( <urn:a> <urn:b> 1 )>>)) AS ?answer) WHERE { }",
        "urn:a",
    ),
    "double": (
        "SELECT ?answer WHERE { BIND(STR(0.30000000000000004e0) AS ?answer) }",
        "0.30000000000000004",
    ),
    "code_points": (
        'SELECT (IF("\U0001f600" > "\uff5e", "1", "0") AS ?answer) WHERE { }',
        "1",
    ),
    "virtuoso": ("SELECT (STR(<bif:abs>(-7)) AS ?answer) WHERE { }", "7"),
    "fuseki": (
        "SELECT (<http://jena.apache.org/ARQ/function#strjoin>('-', 'a', 'b') AS ?answer) "
        "WHERE { }",
        "a-b",
    ),
    "oxigraph": (
        f'SELECT (STR(ADJUST(<{_XSD}date>("2000-01-01"), "PT0S"^^<{_XSD}dayTimeDuration>)) '
        "AS ?answer) WHERE { }",
        "2000-01-01Z",
    ),
}
"""Queries that show what an engine can do, each with the answer of one that can."""


def notes(graph: NamedNode) -> str:
    """What a nexus notes about itself: keys and values of its bookkeeping graph.

    The number 0 is left out: it only was there before the first commit.
    """
    pattern = f"GRAPH {graph} {{ {graph} ?key ?value }}"
    return f'SELECT ?key ?value WHERE {{ {pattern} FILTER(STR(?value) != "0") }}'


def noted(graph: NamedNode, key: NamedNode, other: NamedNode) -> str:
    """The values of one key of the bookkeeping graph, each with that of another key, if any."""
    optional = f"OPTIONAL {{ {graph} {other} ?other }}"
    return f"SELECT ?value ?other WHERE {{ GRAPH {graph} {{ {graph} {key} ?value {optional} }} }}"


def noted_at(graph: NamedNode, nodes: Iterable[NamedNode], key: NamedNode) -> str:
    """The values of a key of some nodes in the bookkeeping graph, with their nodes."""
    values = f"VALUES ?node {{ {' '.join(map(str, nodes))} }}"
    return f"SELECT ?node ?value WHERE {{ {values} GRAPH {graph} {{ ?node {key} ?value }} }}"


def size(graph: NamedNode) -> str:
    """The number of the triples of a graph."""
    return f"SELECT (COUNT(*) AS ?number) WHERE {{ GRAPH {graph} {{ ?s ?p ?o }} }}"


def typed(types: Iterable[NamedNode]) -> str:
    """The nodes that have one of some types, each with it."""
    return f"SELECT ?s ?type WHERE {{ VALUES ?type {{ {' '.join(map(str, types))} }} ?s a ?type }}"


def any_triple() -> str:
    """Whether the default graph holds anything, as at most one row."""
    return "SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 1"


def predicates() -> str:
    """The predicates of all triples, each with the number of its triples."""
    return "SELECT ?p (COUNT(*) AS ?number) WHERE { ?s ?p ?o } GROUP BY ?p"


def of_predicate(predicate: NamedNode) -> str:
    """The subjects and objects of all triples with a predicate."""
    return f"SELECT ?s ?o WHERE {{ ?s {predicate} ?o }}"


def any_link(links: Links) -> str:
    """Whether a link is kept in one way, as at most one row."""
    pattern = f"?l {_REIFIES} ?fact" if links == "rdf12" else _link(links)
    return f"SELECT ?l WHERE {{ {pattern} }} LIMIT 1"


def described(nodes: Iterable[NamedNode], facts: str) -> str:
    """The triples of some subjects, but those whose predicates begin with ``facts``."""
    return (
        f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {' '.join(map(str, nodes))} }} ?s ?p ?o "
        f"FILTER(!STRSTARTS(STR(?p), {Literal(facts)})) }}"
    )


def reifiers(facts: Iterable[Triple] | None, links: Links) -> str:
    """The links that state some facts, or any, each with the three terms of its fact."""
    if facts is None:
        return f"SELECT ?l ?s ?p ?o WHERE {{ {_link(links)} }}"
    rows = " ".join(f"({fact.subject} {fact.predicate} {fact.object})" for fact in facts)
    return f"SELECT ?l ?s ?p ?o WHERE {{ VALUES (?s ?p ?o) {{ {rows} }} {_link(links)} }}"


def links_at(nodes: Iterable[NamedNode], links: Links) -> str:
    """The links whose fact has one of some nodes as an end, with the three terms of the fact."""
    listed = " ".join(map(str, nodes))
    # The fact first: an engine has no index of what is inside triple terms.
    ends = (f"{{ VALUES {end} {{ {listed} }} ?s ?p ?o . {_link(links)} }}" for end in ("?s", "?o"))
    return f"SELECT ?l ?s ?p ?o WHERE {{ {' UNION '.join(ends)} }}"


def _link(links: Links) -> str:
    if links == "rdf12":
        return f"?l {_REIFIES} <<( ?s ?p ?o )>>"
    subject, predicate, object_ = _PARTS
    return f"?l {subject} ?s ; {predicate} ?p ; {object_} ?o"


def newest(predicate: NamedNode, most: int, offset: int) -> str:
    """The values of a predicate with their subjects, the last first; a page of them."""
    return (
        f"SELECT ?time ?node WHERE {{ ?node {predicate} ?time }} "
        f"ORDER BY DESC(?time) STR(?node) LIMIT {most} OFFSET {offset}"
    )


def other_values(predicate: NamedNode) -> str:
    """Whether a predicate has a value that is not a string, as at most one row."""
    is_other = f"DATATYPE(?value) != <{_XSD}string>"
    return (
        f"SELECT ?value WHERE {{ ?node {predicate} ?value "
        f"FILTER(!isLiteral(?value) || {is_other}) }} LIMIT 1"
    )


def columns(query: str) -> list[str]:
    """The names of the columns of a SELECT of kiprdf; none for ``*``, and for other texts.

    >>> columns("PREFIX : <urn:p>\\nSELECT ?d (COUNT(?x) AS ?n) WHERE { ?d :p ?x } GROUP BY ?d")
    ['d', 'n']
    """
    head, where, _ = _parts(query)[1].partition(" WHERE ")
    if not where:
        return []
    return re.findall(r"\?(\w+)", re.sub(r"COUNT\([^)]*\)", "", head))


def with_note(
    query: str, names: Sequence[str], graph: NamedNode, key: NamedNode, abilities: Abilities
) -> str:
    """A SELECT with one more column: the value of a key of the bookkeeping graph, in a last row
    whose other columns are empty."""
    head, body = _parts(query)
    value = "?note"
    while value[1:] in names:
        value += "_"
    verb, _, group = body.partition(" WHERE ")
    begins_optional = group[1:].lstrip().startswith("OPTIONAL")
    if "(" in verb or not group.endswith("}") or begins_optional or " UNION " in group:
        # Aggregates, and what follows the group, must not read the note; and Virtuoso drops the
        # empty solution of a branch that begins with OPTIONAL, and a FILTER after a UNION in one.
        shown = " ".join(f"?{name}" for name in names)
        verb, group = f"SELECT {shown}", f"{{ {body} }}"
    note = f"{{ GRAPH {graph} {{ {graph} {key} {value} }} }}"
    order = "" if abilities.unions_in_order else f" ORDER BY {value}"
    return f"{head}{verb} {value} WHERE {{ {group} UNION {note} }}{order}"


def as_triples(query: str, predicate: NamedNode, graph: NamedNode, key: NamedNode) -> str:
    """The rows ``?s ?o`` of a SELECT as triples with a predicate, and a triple with the value of a
    key of the bookkeeping graph."""
    note = f"{graph} {key} ?note"
    return (
        f"CONSTRUCT {{ ?s {predicate} ?o . {note} }} "
        f"WHERE {{ {{ {query} }} UNION {{ GRAPH {graph} {{ {note} }} }} }}"
    )


def page(query: str, most: int, offset: int) -> str:
    """One page of the answer to a SELECT, in the order of the engine."""
    return f"{query} LIMIT {most} OFFSET {offset}"


def ordered_page(query: str, names: Iterable[str], most: int, offset: int) -> str:
    """One page of the answer to a SELECT, for an engine that sends so many rows at most.

    The declarations of prefixes stay in front of it.
    """
    head, body = _parts(query)
    shown = " ".join(f"?{name}" for name in names)
    ordered = f"SELECT * WHERE {{ {{ {body} }} }} ORDER BY {shown}"
    return f"{head}SELECT {shown} WHERE {{ {{ {ordered} }} }} LIMIT {most} OFFSET {offset}"


def _parts(query: str) -> tuple[str, str]:
    """The declarations of prefixes, and the rest of a query."""
    head = re.match(r"(?:PREFIX .*\n)*", query)
    assert head is not None
    return head[0], query[head.end() :]
