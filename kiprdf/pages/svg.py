"""The neighbours of an element, and the links of an answer, as SVG that stands alone.

Elements are in columns, so that links lead from left to right: boxes and labels do not overlap,
however many there are. ``templates/drawing.svg`` draws them.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader, links_at
from kiprdf.pages.drawing import columns_of, cut
from kiprdf.pages.page import View, count, name, render, words
from kiprdf.rdf.elements import Concept, Proposition
from kiprdf.store import Store

MOST = 50
"""Elements that are drawn."""
_DEEPEST = 3
"""The maximum depth of facts about facts in a label."""
_LONGEST_NAME, _LONGEST_LABEL, _LONGEST_CAPTION = 30, 40, 120
"""The columns of a terminal that a text takes at most."""
_ROW, _HALF_HEIGHT, _MARGIN, _GAP = 46, 18, 14, 70
_ADVANCE = 6.4
"""About the width of a character at a link, of 11 pixels."""
_WIDEST, _LEAST_COLUMNS = 940, 3
"""How wide a band of columns is, unless it has so few, before the next column is below it."""
_OUT = 16
"""How far a link to another band is beside its box."""
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


Reasons = Mapping[NamedNode, str]
"""Why elements are not believed."""


def neighbours(store: Store, node: NamedNode, reasons: Reasons) -> Drawing:
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
        return _drawing(reader, reasons, title, nodes, [element, *facts])
    return _drawing(reader, reasons, title, [node, *ends], facts)


def links(store: Store, ids: Iterable[str], left_out: Sequence[str], reasons: Reasons) -> Drawing:
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
    return _drawing(reader, reasons, "The links of an answer", nodes, facts, left_out)


def _ends(facts: Iterable[Proposition]) -> list[NamedNode]:
    return [end for fact in facts for end in (fact.subject, fact.object)]


def _drawing(
    reader: Reader,
    reasons: Reasons,
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
        label = _with_reason(words(fact.predicate), reasons.get(fact.node))
        labels[places[fact.subject], places[fact.object]].append(label)
    believed = {
        (places[one.subject], places[one.object]) for one in shown if one.node not in reasons
    }
    numbers = _part(len(order), len(every), "element"), _part(len(shown), len(facts), "link")
    captions = [f"{title}: {', '.join(numbers)}", *left_out]
    boxes = [_box(reader, node, reasons.get(node)) for node in order]
    view = _layout(boxes, {ends: ", ".join(texts) for ends, texts in labels.items()})
    for ends, line in zip(labels, view["lines"], strict=True):
        line["unbelieved"] = ends not in believed
    view["captions"] = [(line, cut(line, _LONGEST_CAPTION)) for line in captions]
    view["width"] = max(view["width"], *(columns_of(line) * 7 for _, line in view["captions"]))
    mark = hashlib.sha256(repr(view).encode()).hexdigest()[:8]
    caption = "; ".join(captions)
    return Drawing(render("drawing.svg", **view, caption=caption, mark=mark), caption)


def _with_reason(text: str, reason: str | None) -> str:
    """A label, and why what it names is not believed."""
    return text if reason is None else f"{text} (not believed: {reason})"


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


# Where it is drawn ----------------------------------------------------------------------------


class _Box(NamedTuple):
    """An element: its name, whole and as it is shown, what it is, and half the width of both."""

    label: str
    shown: str
    note: str
    half: float
    unbelieved: bool


class _Place(NamedTuple):
    """The middle of a box, half the width of its column, and the top of the band of that."""

    column: int
    x: float
    y: float
    half: float
    top: float


Labels = Mapping[tuple[int, int], str]
"""The label of each link, by the positions of its ends in the list of boxes."""


def _box(reader: Reader, node: NamedNode, reason: str | None) -> _Box:
    element = reader.element(node)
    label = _label(reader, node)
    shown = cut(label, _LONGEST_NAME)
    label = _with_reason(label, reason)
    note = cut(element.type if isinstance(element, Concept) else "fact", _LONGEST_NAME)
    half = max(columns_of(shown) * 8.2, columns_of(note) * 6.4, 40) / 2 + 10
    return _Box(label, shown, note, half, reason is not None)


def _layout(boxes: Sequence[_Box], labels: Labels) -> View:
    """The size of the drawing, its boxes and its lines."""
    shown = {ends: cut(text, _LONGEST_LABEL) for ends, text in labels.items()}
    starts: dict[int, list[int]] = defaultdict(list)
    for start, end in labels:
        if start != end:
            starts[end].append(start)
    bands = _bands(_columns(len(boxes), starts), boxes, shown)
    indent = max((columns_of(text) for text in shown.values()), default=0) * _ADVANCE + 24
    margin = float(_MARGIN) if len(bands) < 2 else indent
    places: dict[int, _Place] = {}
    number, top = 0, float(_MARGIN)
    for band in bands:
        left, most, rows = margin, max(len(column) for column, *_ in band), dict[int, float]()
        for column, half, gap in band:
            means = {
                one: fmean(rows[start] for start in starts[one] if start in rows)
                for one in column
                if not rows.keys().isdisjoint(starts[one])
            }
            ordered = sorted(column, key=lambda one: means.get(one, most))
            first = (most - len(column)) / 2
            wanted = [means.get(one, first + row) for row, one in enumerate(ordered)]
            rows |= zip(ordered, _rows(wanted, most), strict=True)
            for one in ordered:
                y = top + (rows[one] + 0.5) * _ROW
                places[one] = _Place(number, left + half, y, half, top)
            left += 2 * half + gap
            number += 1
        top += most * _ROW
    rights = [place.x + place.half for place in places.values()]
    rights += [
        places[start].x + places[start].half + 60 + columns_of(text) * _ADVANCE
        for (start, end), text in shown.items()
        if places[start].column == places[end].column
    ]
    return {
        "width": round(max(rights, default=0.0) + _MARGIN + (0 if len(bands) < 2 else _OUT)),
        "height": round(top) + _MARGIN,
        "lines": [_line(ends, places, labels, shown[ends]) for ends in labels],
        "boxes": [
            {
                "box": boxes[one],
                "x": round(place.x),
                "y": round(place.y),
                "left": round(place.x - place.half),
                "top": round(place.y) - _HALF_HEIGHT,
                "width": round(2 * place.half),
                "height": 2 * _HALF_HEIGHT,
            }
            for one, place in sorted(places.items())
        ],
    }


def _columns(number: int, starts: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The boxes in columns: each is right of those that lead to it, where no circle prevents it."""
    column_of: dict[int, int] = {}
    remaining = list(range(number))
    while remaining:
        ready = [one for one in remaining if column_of.keys() >= {*starts.get(one, ())}]
        for one in ready or remaining[:1]:
            before = [column_of[start] for start in starts.get(one, ()) if start in column_of]
            column_of[one] = max(before, default=-1) + 1
        remaining = [one for one in remaining if one not in column_of]
    columns: list[list[int]] = [[] for _ in set(column_of.values())]
    for one in range(number):
        columns[column_of[one]].append(one)
    return columns


def _bands(
    columns: Sequence[list[int]], boxes: Sequence[_Box], shown: Labels
) -> list[list[tuple[list[int], float, float]]]:
    """The columns, with half their widths and the gaps after them, in bands below each other."""
    bands: list[list[tuple[list[int], float, float]]] = []
    left = 0.0
    for number, column in enumerate(columns):
        half = max(boxes[one].half for one in column)
        after = {one for others in columns[number + 1 : number + 2] for one in others}
        widths = [columns_of(t) for (s, e), t in shown.items() if s in column or e in after]
        gap = _GAP + max(widths, default=0) * _ADVANCE
        if not bands or (left + 2 * half > _WIDEST and len(bands[-1]) >= _LEAST_COLUMNS):
            bands.append([])
            left = 0.0
        bands[-1].append((column, half, gap))
        left += 2 * half + gap
    return bands


def _rows(wanted: Sequence[float], most: int) -> list[float]:
    """The rows that are nearest to those wanted, in their order, each at least one apart.

    >>> _rows([1.0, 1.0, 1.0], 3), _rows([0.0, 4.0], 6)
    ([0.0, 1.0, 2.0], [0.0, 4.0])
    """
    # Means of neighbours that would be in each other's place: isotonic regression.
    pools: list[tuple[float, int]] = []
    for number, row in enumerate(wanted):
        mean, size = row - number, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, size = (mean * size + other * others) / (size + others), size + others
        pools.append((mean, size))
    firsts = [mean for mean, size in pools for _ in range(size)]
    last = most - len(wanted)
    return [min(max(first, 0.0), last) + number for number, first in enumerate(firsts)]


def _line(ends: tuple[int, int], places: Mapping[int, _Place], labels: Labels, text: str) -> View:
    """The line of a link, and its label at the end where fewer labels are, or in the middle."""
    start, end = places[ends[0]], places[ends[1]]
    step = -1 if start.column > end.column else 1
    down = 0 if step > 0 else _BACK
    x1, y1 = start.x + step * start.half, start.y + down
    x2, y2 = end.x - step * end.half, end.y + down
    at_start = {label for (one, _), label in labels.items() if one == ends[0]}
    at_end = {label for (_, one), label in labels.items() if one == ends[1]}
    sides = ("start", "end") if step > 0 else ("end", "start")
    if start.column == end.column:
        x2 = end.x + end.half
        bend = max(x1, x2) + 60
        path = f"C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
        at = (bend - 10, (y1 + y2) / 2, "start")
    elif len(at_end) == 1 or len(at_end) < len(at_start) or start.top != end.top:
        at = (x2 - step * 12, y2, sides[1])
    elif len(at_start) < len(at_end):
        at = (x1 + step * 12, y1, sides[0])
    else:
        at = ((x1 + x2) / 2, (y1 + y2) / 2, "middle")
    if start.top != end.top:
        # Between two bands, so that the line is behind no box.
        between = max(start.top, end.top)
        path = f"H{x1 + step * _OUT:.0f} V{between:.0f} H{x2 - step * _OUT:.0f} V{y2:.0f} H{x2:.0f}"
    elif start.column != end.column:
        bend = (x1 + x2) / 2
        path = f"C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return {
        "path": f"M{x1:.0f} {y1:.0f} {path}",
        "text": text,
        "whole": labels[ends],
        "x": round(at[0]),
        "y": round(at[1]) + 4,
        "anchor": at[2],
    }
