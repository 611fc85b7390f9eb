"""The graph of an answer: the elements of its rows, a column for each variable, and their links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.pages.page import View, count
from kiprdf.rdf.elements import is_element
from kiprdf.rdf.iris import Iris
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.graph import (
    LOW,
    PATH,
    ROW,
    Neighbours,
    Selected,
    curve,
    filter_of,
    kind_of,
    predicate_of,
)
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.store import Store

DRAWN = 50
"""About the elements that a graph shows."""
_WIDTH, _LEAST, _MOST = 1040, 90, 300
"""The width of a drawing, and the least and the most space between its columns."""
_ARC = 150
"""The space beside the last column for links within it."""
_COLORS = 5
"""Predicates with a colour of their own."""
_NO_ELEMENTS = (
    "No row has an element. A graph has the variables that stand alone in FIND, as ?a and ?b in "
    "FIND(?a, ?b)."
)


def answer_page(explorer: Explorer, command: str, query: Mapping[str, str], first: int) -> str:
    """The page of the graph of an answer, for the rows from a position on."""
    selected = replace(Selected.of(query), open=None)
    page = explorer.page(
        PATH, command=command, first=str(first or ""), p=selected.predicate, t=selected.type
    )
    view: View = {"command": command, "query": page.query_link(command)}
    view |= {"graph": None, "pager": None, "note": None, "hint": None}
    try:
        rows = explorer.nexus.find(command)
    except KipError as error:
        view |= {"note": error.located_message, "hint": error.hint}
    else:
        every = rows.tuples()
        first = first if first < len(every) else 0
        size = DRAWN // max(
            1, sum(any(map(is_element, column)) for column in zip(*every, strict=True))
        )
        shown = every[first : first + size]
        read = explorer.store.read
        view["graph"] = read(lambda: _graph(explorer, page, rows.columns, shown, selected))
        view["note"] = "LIMIT ends the answer: more rows follow." if rows.next_cursor else None
        if view["graph"] is None:
            view["note"] = _NO_ELEMENTS if shown else "There are no rows."
        pager = page.pager(first, size, len(every))
        view["pager"] = pager and {**pager, "shown": f"Rows {pager['shown']}"}
    return page.html("explorer/answer_graph.html", "Graph", **view)


def _graph(
    explorer: Explorer,
    page: ExplorerPage,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    selected: Selected,
) -> View | None:
    """The elements of some rows and the links among them; None without an element."""
    store, neighbours = explorer.store, Neighbours(explorer, page)
    columns = _columns(store.iris, rows)
    if not columns:
        return None
    types = Counter(kind_of(store.iris, node) for node in columns)
    if selected.type:
        columns = {n: at for n, at in columns.items() if kind_of(store.iris, n) == selected.type}
    every = _facts(store, columns)
    predicates = Counter(predicate_of(store.iris, fact) for fact in every)
    ranks = {one: rank for rank, (one, _) in enumerate(predicates.most_common())}
    colors = {one: f"c{rank}" for one, rank in ranks.items() if rank < _COLORS}
    chosen = [selected.predicate] if selected.predicate else [*predicates]
    facts = [fact for fact in every if predicate_of(store.iris, fact) in chosen]
    box = 240 if len(set(columns.values())) < 3 else 168
    xs = _xs(columns, box)
    places = _places(columns, facts, xs)
    last = max(xs.values(), default=0)
    numbers = {node: number for number, node in enumerate(places)}
    links, width = [], last + box
    for fact in facts:
        start, end = cast("tuple[NamedNode, NamedNode]", (fact.subject, fact.object))
        predicate = predicate_of(store.iris, fact)
        is_last = places[start][0] == places[end][0] == last
        path, mark = _line(
            places[start], places[end], box, _ARC if is_last else _LEAST, ranks[predicate]
        )
        width = max(width, last + box + (_ARC if is_last else 0))
        link = neighbours.fact(fact)
        link["class"] = f"{colors.get(predicate, '')} {link['class']}".strip()
        links.append({**link, "path": path, "mark": mark, "ends": (numbers[start], numbers[end])})
    return {
        "count": f"{count(len(places), 'element')}, {count(len(facts), 'link')}",
        "width": width,
        "box": box,
        "height": max(y for _, y in places.values()) + ROW if places else ROW,
        "heads": [(names[int(at)], x + box / 2) for at, x in xs.items() if at == int(at)],
        "nodes": [
            {**neighbours.box(node, box), "x": x, "y": y, "number": numbers[node]}
            for node, (x, y) in places.items()
        ],
        "links": links,
        "filters": [
            filter_of(page, "predicate", predicates, selected, colors),
            filter_of(page, "type", types, selected),
        ],
    }


def _columns(iris: Iris, rows: Iterable[tuple[Any, ...]]) -> dict[NamedNode, float]:
    """The elements of some rows, each with its column; the ends of a link are beside its own."""
    cells = [(column, cell) for row in rows for column, cell in enumerate(row) if is_element(cell)]
    columns: dict[str, float] = {}
    for column, cell in cells:
        if cell["_type"] == "ConceptNode":
            columns.setdefault(cell["id"], column)
    for column, cell in cells:
        if cell["_type"] == "PropositionLink":
            columns.setdefault(cell["subject"], column - 0.25)
            columns.setdefault(cell["object"], column + 0.25)
    nodes = ((iris.from_id(id), column) for id, column in columns.items())
    return {node: column for node, column in nodes if node is not None}


def _facts(store: Store, nodes: Mapping[NamedNode, float]) -> list[Triple]:
    """The facts that have two of some nodes as ends."""
    return [
        fact
        for node in nodes
        for fact in store.match(node, None, None)
        if fact.object in nodes and fact.predicate.value.startswith(store.iris.predicates)
    ]


# Places -----------------------------------------------------------------------------------------


def _xs(columns: Mapping[NamedNode, float], box: int) -> dict[float, float]:
    """The left side of each column."""
    keys = sorted(set(columns.values()))
    space = (_WIDTH - len(keys) * box) / max(1, len(keys) - 1)
    return {key: at * (box + min(max(space, _LEAST), _MOST)) for at, key in enumerate(keys)}


def _places(
    columns: Mapping[NamedNode, float], facts: Iterable[Triple], xs: Mapping[float, float]
) -> dict[NamedNode, tuple[float, float]]:
    """Where the boxes of some nodes begin: each is near what it is linked to, further left."""
    linked: dict[NamedNode, list[NamedNode]] = {}
    for fact in facts:
        start, end = cast("tuple[NamedNode, NamedNode]", (fact.subject, fact.object))
        linked.setdefault(start, []).append(end)
        linked.setdefault(end, []).append(start)
    places: dict[NamedNode, tuple[float, float]] = {}
    tallest = max(Counter(columns.values()).values(), default=0)
    for key, x in xs.items():
        nodes = [node for node, column in columns.items() if column == key]
        near = {
            node: [places[one][1] for one in linked.get(node, ()) if one in places]
            for node in nodes
        }
        last = tallest * ROW
        nodes.sort(key=lambda n: sum(near[n]) / len(near[n]) if near[n] else last)
        top = ROW + (tallest - len(nodes)) * ROW / 2
        places |= {node: (x, top + ROW * row) for row, node in enumerate(nodes)}
    return places


def _line(
    start: tuple[float, float], end: tuple[float, float], box: int, room: float, rank: int
) -> tuple[str, tuple[float, float]]:
    """The path of a link between two boxes, and the place of its mark, which is near the start.

    The marks of predicates of different rank are apart.
    """
    (x1, y1), (x2, y2) = start, end
    y1, y2, at = y1 + LOW / 2, y2 + LOW / 2, 0.12 + 0.08 * min(rank, 2)
    if x1 != x2:
        x1, x2 = (x1 + box, x2) if x1 < x2 else (x1, x2 + box)
        middle = (x1 + x2) / 2
        path = curve(x1, y1, x2, y2)
    else:
        x1 = x2 = x1 + box
        middle = x1 + min(24 + abs(y2 - y1) / 5, room * 4 / 3 - 12)
        path = curve(x1, y1, x2, y2, middle)
    return path, (_at(x1, middle, middle, x2, at), _at(y1, y1, y2, y2, at))


def _at(a: float, b: float, c: float, d: float, at: float) -> float:
    """A coordinate of a Bézier curve, at a part of it."""
    rest = 1 - at
    return rest**3 * a + 3 * rest**2 * at * b + 3 * rest * at**2 * c + at**3 * d
