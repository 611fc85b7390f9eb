"""Writes the updates that a remote store sends.

As in ``text``, pyoxigraph prints every term.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from kiprdf.sparql.text import data


class Stage(NamedTuple):
    """The graphs in which the triples of a large commit wait, None where there are none."""

    removed: NamedNode | None
    added: NamedNode | None


def commit(
    removed: Iterable[Quad],
    added: Iterable[Quad],
    *,
    matched: Sequence[Quad] = (),
    graph: NamedNode | None,
    stage: Stage,
    present: Sequence[Quad],
    only: Quad | None,
) -> str:
    """One operation that removes and adds quads, and what waits for ``graph``.

    It does nothing unless all quads of ``present`` are there, and no other has the subject,
    predicate and graph of ``only``, a number. Those of ``matched`` are removed by their subjects
    and predicates, and must be there.
    """
    values = "".join(
        _in_graph(quad.graph_name, f"{quad.subject} {quad.predicate} ?matched{number}")
        for number, quad in enumerate(matched)
    )
    delete = data(removed) + values + _from_stage(stage.removed, graph, "removed")
    insert = data(added) + _from_stage(stage.added, graph, "added")
    conditions = [f"GRAPH {quad.graph_name} {{ {quad.triple} }}" for quad in present]
    conditions.append(values)
    if only is not None:
        pattern = f"GRAPH {only.graph_name} {{ {only.subject} {only.predicate} ?other }}"
        pattern += f" FILTER(?other != {only.object})"
        # Virtuoso overlooks a NOT EXISTS that no pattern comes before.
        conditions.append(f"{{ SELECT (COUNT(*) AS ?others) WHERE {{ {pattern} }} }}")
        conditions.append("FILTER(?others = 0)")
    sources = [
        f"{{ GRAPH {source} {{ {_variables(name)} }} }}"
        for source, name in ((stage.removed, "removed"), (stage.added, "added"))
        if source is not None
    ]
    conditions.append(" UNION ".join(sources))
    deletion = f"DELETE {{\n{delete}}}\n" if delete else ""
    return f"{deletion}INSERT {{\n{insert}}}\nWHERE {{\n" + "\n".join(conditions) + "\n}"


def _from_stage(source: NamedNode | None, graph: NamedNode | None, name: str) -> str:
    if source is None:
        return ""
    return _in_graph(DefaultGraph() if graph is None else graph, _variables(name))


def _in_graph(graph: object, triple: str) -> str:
    return f"{triple} .\n" if graph == DefaultGraph() else f"GRAPH {graph} {{ {triple} . }}\n"


def _variables(name: str) -> str:
    return f"?{name}_s ?{name}_p ?{name}_o"


def insert(quads: Iterable[Quad]) -> str:
    """Quads that are added, all of them or none."""
    return f"INSERT DATA {{\n{data(quads)}}}"


def delete(quads: Iterable[Quad]) -> str:
    """Quads that are removed, all of them or none."""
    return f"DELETE DATA {{\n{data(quads)}}}"


def drop(graphs: Iterable[NamedNode]) -> str:
    """Graphs that are removed at once, if they are there."""
    return " ;\n".join(f"DROP SILENT GRAPH {graph}" for graph in graphs)


def forget(subjects: Iterable[NamedNode], graph: NamedNode) -> str:
    """All triples of some subjects in a graph that are removed."""
    values = " ".join(map(str, subjects))
    pattern = f"GRAPH {graph} {{ ?s ?p ?o }}"
    return f"DELETE {{ {pattern} }} WHERE {{ VALUES ?s {{ {values} }} {pattern} }}"


def outcome(graph: NamedNode, number: NamedNode, commit: NamedNode, token: NamedNode) -> str:
    """The number of the last commit, and the token of one commit."""
    return (
        f"SELECT ?number ?token WHERE {{ {{ GRAPH {graph} {{ {graph} {number} ?number }} }} "
        f"UNION {{ GRAPH {graph} {{ {commit} {token} ?token }} }} }}"
    )


def claims(graph: NamedNode, number: NamedNode, claim: NamedNode, beat: NamedNode) -> str:
    """The number of the last commit, and the claims of those who want to write, with beats."""
    return (
        f"SELECT ?number ?claim ?beat WHERE {{ {{ GRAPH {graph} {{ {graph} {number} ?number }} }} "
        f"UNION {{ GRAPH {graph} {{ ?node {claim} ?claim OPTIONAL {{ ?node {beat} ?beat }} }} }} }}"
    )


def stages(graph: NamedNode, key: NamedNode, before: str) -> str:
    """The nodes of the stages that are older than a time."""
    return (
        f"SELECT ?stage WHERE {{ GRAPH {graph} {{ ?stage {key} ?time }} "
        f"FILTER(?time < {Literal(before)}) }}"
    )


def with_graph(triples: Iterable[Triple], graph: NamedNode | None) -> list[Quad]:
    """Triples as the quads of a graph, None for the default graph."""
    name = DefaultGraph() if graph is None else graph
    return [Quad(triple.subject, triple.predicate, triple.object, name) for triple in triples]
