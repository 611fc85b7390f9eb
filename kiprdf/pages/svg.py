"""The neighbours of an element, and the links of an answer, as SVG that stands alone.

Elements are in columns, so that links lead from left to right: boxes and labels do not overlap,
however many there are. ``templates/drawing.svg`` draws them.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader, links_at
from kiprdf.pages.drawing import Node, columns_of
from kiprdf.pages.page import View, count, name, render, words
from kiprdf.rdf.elements import Concept, Proposition
from kiprdf.store import Store

MOST = 50
"""Elements that are drawn."""
_DEEPEST = 3
"""The maximum depth of facts about facts in a label."""
_LONGEST = 40
"""The characters of the label of a link."""
_LONGEST_CAPTION = 120
_ROW, _HALF_HEIGHT, _MARGIN = 52, 19, 14
_GAP, _LABEL_ADVANCE = 70, 6.4
"""The width between two columns beside the labels, and about that of a character of these."""
_BACK = 11
"""How far a link from right to left is below one from left to right."""


@dataclass(frozen=True, repr=False)
class Drawing:
    """A drawing, which a notebook shows; ``svg`` is its text, ``caption`` says what it leaves out.

    The SVG has its own styles, for light and for dark screens, and neither links nor scripts.
    """

    svg: str
    caption: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing: {self.caption}>"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


# What is drawn --------------------------------------------------------------------------------


def neighbours(store: Store, node: NamedNode) -> Drawing:
    """An element and the other ends of its facts, some of each predicate.

    Raises ``KipError``: KIP_3002 for an element that does not exist.
    """
    reader = Reader(store)
    element = reader.element(node)
    if element is None:
        message = f"There is no element {store.iris.id(node)}."
        raise KipError("KIP_3002", message, "Read its id with FIND(?x.id).")
    facts = sorted(
        (fact for _, fact in links_at(store, node)),
        key=lambda fact: (
            fact.subject == node,
            fact.predicate,
            store.iris.id(fact.subject),
            store.iris.id(fact.object),
        ),
    )
    ranked = []
    numbers: Counter[tuple[bool, str]] = Counter()
    for place, fact in enumerate(facts):
        group = fact.subject == node, fact.predicate
        ranked.append((numbers[group], place))
        numbers[group] += 1
    ends = _ends(facts[place] for _, place in sorted(ranked))
    title = f"The neighbours of {name(_label(reader, node), 60)}"
    if isinstance(element, Proposition):
        nodes = [*([node] if facts else []), *_ends([element]), *ends]
        return _drawing(reader, title, nodes, [element, *facts])
    return _drawing(reader, title, [node, *ends], facts)


def links(store: Store, ids: Iterable[str], left_out: Sequence[str]) -> Drawing:
    """Concepts and propositions, by their ids, each proposition as a link between its ends.

    ``left_out`` says what an answer has beside them.
    """
    reader = Reader(store)
    asked = [node for id in ids if (node := store.iris.from_id(id)) is not None]
    facts, nodes = list[Proposition](), list[NamedNode]()
    for element in map(reader.element, asked):
        if isinstance(element, Proposition):
            facts.append(element)
            nodes += _ends([element])
        elif element is not None:
            nodes.append(element.node)
    return _drawing(reader, "The links of an answer", nodes, facts, left_out)


def _ends(facts: Iterable[Proposition]) -> list[NamedNode]:
    return [end for fact in facts for end in (fact.subject, fact.object)]


def _drawing(
    reader: Reader,
    title: str,
    nodes: Sequence[NamedNode],
    facts: Sequence[Proposition],
    left_out: Sequence[str] = (),
) -> Drawing:
    """The first of some nodes, and the facts between them."""
    every = list(dict.fromkeys(nodes))
    drawn = set(every[:MOST])
    shown = [one for one in facts if one.subject in drawn and one.object in drawn]
    order = [one for one in dict.fromkeys((*every[:1], *_ends(shown), *every)) if one in drawn]
    places = {node: place for place, node in enumerate(order)}
    labels: dict[tuple[int, int], list[str]] = defaultdict(list)
    for fact in shown:
        labels[places[fact.subject], places[fact.object]].append(words(fact.predicate))
    numbers = _part(len(order), len(every), "element"), _part(len(shown), len(facts), "link")
    captions = [f"{title}: {', '.join(numbers)}", *left_out]
    boxes = [Node(_label(reader, node), _note(reader, node), "") for node in order]
    view = _layout(boxes, {ends: ", ".join(texts) for ends, texts in labels.items()})
    view["captions"] = [(line, _cut(line, _LONGEST_CAPTION)) for line in captions]
    view["width"] = max(view["width"], *(columns_of(line) * 7 for _, line in view["captions"]))
    mark = hashlib.sha256(repr(view).encode()).hexdigest()[:8]
    caption = "; ".join(captions)
    return Drawing(render("drawing.svg", **view, caption=caption, mark=mark), caption)


def _part(shown: int, number: int, one: str) -> str:
    """How many there are, and how many of them are drawn."""
    return count(number, one) if shown == number else f"{shown:,} of {count(number, one)}"


def _label(reader: Reader, node: NamedNode, depth: int = _DEEPEST) -> str:
    """The name of a concept; a proposition as a sentence."""
    element = reader.element(node)
    if isinstance(element, Proposition):
        if not depth:
            return "…"
        ends = (_label(reader, end, depth - 1) for end in (element.subject, element.object))
        return f"{next(ends)} {words(element.predicate)} {next(ends)}"
    return name(element.name if element else reader.iris.id(node), limit=None)


def _note(reader: Reader, node: NamedNode) -> str:
    element = reader.element(node)
    return element.type if isinstance(element, Concept) else "fact"


# Where it is drawn ----------------------------------------------------------------------------


class _Place(NamedTuple):
    column: int
    x: float
    y: float
    half: float


Labels = Mapping[tuple[int, int], str]
"""The label of each link, by the positions of its ends in the list of nodes."""


def _layout(nodes: Sequence[Node], labels: Labels) -> View:
    """The size of the drawing, its boxes and its lines."""
    columns = _columns(len(nodes), labels)
    shown = {ends: _cut(text) for ends, text in labels.items()}
    height = max(map(len, columns), default=0) * _ROW
    places: dict[int, _Place] = {}
    left = float(_MARGIN)
    for number, column in enumerate(columns):
        half = max(nodes[one].half_width for one in column)
        top = _MARGIN + (height - len(column) * _ROW) / 2 + _ROW / 2
        for row, one in enumerate(column):
            own = nodes[one].half_width
            places[one] = _Place(number, left + half, top + row * _ROW, own)
        widths = [columns_of(text) for (start, end), text in shown.items() if start in column]
        left += 2 * half + _GAP + max(widths, default=0) * _LABEL_ADVANCE
    right = max((place.x + place.half for place in places.values()), default=300.0)
    loops = [
        places[start].x + places[start].half + 60 + columns_of(text) * _LABEL_ADVANCE
        for (start, end), text in shown.items()
        if places[start].column == places[end].column
    ]
    return {
        "width": round(max(right, *loops, 300.0) + _MARGIN),
        "height": height + 2 * _MARGIN,
        "lines": [_line(ends, places, labels, shown[ends]) for ends in labels],
        "boxes": [
            {
                "node": nodes[one],
                "x": round(place.x),
                "y": round(place.y),
                "left": round(place.x - place.half),
                "top": round(place.y - _HALF_HEIGHT),
                "width": round(2 * place.half),
                "height": 2 * _HALF_HEIGHT,
            }
            for one, place in places.items()
        ],
    }


def _columns(number: int, labels: Labels) -> list[list[int]]:
    """The nodes in columns: each is right of those that lead to it, where no circle prevents it.

    In a column they are in the order of those that lead to them, so that few lines cross.
    """
    starts: dict[int, set[int]] = defaultdict(set)
    for start, end in labels:
        if start != end:
            starts[end].add(start)
    column_of: dict[int, int] = {}
    remaining = list(range(number))
    while remaining:
        ready = [one for one in remaining if starts[one] <= column_of.keys()] or remaining[:1]
        for one in ready:
            before = [column_of[start] for start in starts[one] if start in column_of]
            column_of[one] = max(before, default=-1) + 1
        remaining = [one for one in remaining if one not in column_of]
    columns: list[list[int]] = [[] for _ in set(column_of.values())]
    for one in range(number):
        columns[column_of[one]].append(one)
    for before, column in pairwise(columns):
        rows = {one: row for row, one in enumerate(before)}
        means = {one: [rows[start] for start in starts[one] if start in rows] for one in column}
        column.sort(key=lambda one: fmean(means[one]) if means[one] else len(rows))
    return columns


def _cut(label: str, longest: int = _LONGEST) -> str:
    return label if len(label) <= longest else label[: longest - 1] + "…"


def _line(ends: tuple[int, int], places: Mapping[int, _Place], labels: Labels, text: str) -> View:
    """The curve of a link, and its label at the end where fewer labels are, or in the middle."""
    start, end = places[ends[0]], places[ends[1]]
    if start.column == end.column:
        (x1, y1), (x2, y2) = (start.x + start.half, start.y - 6), (end.x + end.half, end.y + 6)
        bend = max(x1, x2) + 60
        at = (bend - 10, (y1 + y2) / 2, "start")
    else:
        step = 1 if start.column < end.column else -1
        down = 0 if step > 0 else _BACK
        (x1, y1), (x2, y2) = (
            (start.x + step * start.half, start.y + down),
            (end.x - step * end.half, end.y + down),
        )
        bend = (x1 + x2) / 2
        at_start = {label for (one, _), label in labels.items() if one == ends[0]}
        at_end = {label for (_, one), label in labels.items() if one == ends[1]}
        if len(at_end) == 1 or len(at_end) < len(at_start):
            at = (x2 - step * 12, y2, "end" if step > 0 else "start")
        elif len(at_start) < len(at_end):
            at = (x1 + step * 12, y1, "start" if step > 0 else "end")
        else:
            at = (bend, (y1 + y2) / 2, "middle")
    curve = ((x1, y1), (bend, y1), (bend, y2), (x2, y2))
    first, *others = (f"{x:.0f} {y:.0f}" for x, y in curve)
    return {
        "path": f"M{first} C{' '.join(others)}",
        "text": text,
        "whole": labels[ends],
        "x": round(at[0]),
        "y": round(at[1]) + 4,
        "anchor": at[2],
    }
