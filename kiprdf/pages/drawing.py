"""Lays out a small graph for SVG: nodes on an ellipse, or around the first one, with links.

``templates/explorer/drawing.html`` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiprdf.pages.page import View

DRAWN = 14
"""Other ends that a drawing shows."""
_HALF_HEIGHT = 19
_LONGEST = 22
_LOOP = 6
"""How far the label of a loop is beside its box."""
_ADVANCE = 7.2
"""About the width of a character of 13 pixels."""
_LINK_ADVANCE = 6.4
"""About the width of a character at a link, of 11 pixels."""


@dataclass(frozen=True)
class _Frame:
    """The size of a drawing, and the ellipse on which its nodes are."""

    name: str
    width: float
    height: float
    radius_x: float
    radius_y: float


_FRAMES = (_Frame("broad", 760, 440, 285, 170), _Frame("narrow", 400, 600, 140, 250))
"""For wide and for narrow screens; the style shows one of them."""


@dataclass(frozen=True)
class Node:
    """A box with a label, a note below it, and the address it leads to."""

    label: str
    note: str
    href: str

    @property
    def shown(self) -> str:
        """The label, cut to the width of a box."""
        return self.label if len(self.label) <= _LONGEST else self.label[: _LONGEST - 1] + "…"

    @property
    def half_width(self) -> float:
        return max(columns_of(self.shown), len(self.note) * 0.85, 5) * _ADVANCE / 2 + 12


@dataclass(frozen=True)
class Arrow:
    """A link between two nodes, given by their positions in the list of nodes."""

    start: int
    end: int
    label: str


def columns_of(text: str) -> int:
    """The width of a text, in characters."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def drawing(nodes: Sequence[Node], arrows: Sequence[Arrow], title: str) -> View:
    """A graph; if all arrows begin or end at the first node, that node is in the middle."""
    return {"title": title, "frames": [_frame(frame, nodes, arrows) for frame in _FRAMES]}


def _frame(frame: _Frame, nodes: Sequence[Node], arrows: Sequence[Arrow]) -> View:
    is_star = all(0 in (arrow.start, arrow.end) for arrow in arrows) and len(nodes) > 1
    places = _places(frame, len(nodes), is_star)
    labels: dict[tuple[int, int], list[str]] = {}
    for arrow in arrows:
        labels.setdefault((arrow.start, arrow.end), []).append(arrow.label)
    shown = {
        ends: texts[0] if len(texts) == 1 else f"{texts[0]} +{len(texts) - 1}"
        for ends, texts in labels.items()
    }
    left, right = _sides(frame, nodes, places, shown)
    return {
        "name": frame.name,
        "box": f"{left:.0f} 0 {right - left:.0f} {frame.height:.0f}",
        "lines": [_line(nodes, places, ends, text) for ends, text in shown.items()],
        "boxes": [_box(node, place) for node, place in zip(nodes, places, strict=True)],
    }


def _sides(
    frame: _Frame,
    nodes: Sequence[Node],
    places: Sequence[tuple[float, float]],
    labels: Mapping[tuple[int, int], str],
) -> tuple[float, float]:
    """The left and the right side of a drawing, which has room for boxes and labels of loops."""
    sides = [0, frame.width]
    for node, (x, _) in zip(nodes, places, strict=True):
        sides += [x - node.half_width - 2, x + node.half_width + 2]
    for (start, end), text in labels.items():
        if start == end:
            middle = places[start][0] + nodes[start].half_width + _LOOP
            sides.append(middle + columns_of(text) * _LINK_ADVANCE / 2 + 4)
    return min(sides), max(sides)


def _places(frame: _Frame, number: int, is_star: bool) -> list[tuple[float, float]]:
    middle = (frame.width / 2, frame.height / 2)
    around = number - 1 if is_star else number
    if number == 1:
        return [middle]
    places = [
        (
            middle[0] + frame.radius_x * math.sin(2 * math.pi * step / around),
            middle[1] - frame.radius_y * math.cos(2 * math.pi * step / around),
        )
        for step in range(around)
    ]
    return [middle, *places] if is_star else places


def _line(
    nodes: Sequence[Node], places: Sequence[tuple[float, float]], ends: tuple[int, int], text: str
) -> View:
    """The path of a link, and its label with the place of that."""
    start, end = ends
    (x1, y1), (x2, y2) = places[start], places[end]
    if start == end:
        half, top = nodes[start].half_width, y1 - _HALF_HEIGHT
        path = f"M{x1 + half - 14:.0f} {top:.0f} c 10 -42 58 -22 14 {_HALF_HEIGHT - 6}"
        return {"path": path, "text": text, "x": f"{x1 + half + _LOOP:.0f}", "y": f"{top - 18:.0f}"}
    # A curve, so that the links of both directions are apart.
    dx, dy = x2 - x1, y2 - y1
    length = math.hypot(dx, dy) or 1
    bend = 14
    cx, cy = (x1 + x2) / 2 - dy / length * bend, (y1 + y2) / 2 + dx / length * bend
    ax, ay = _edge(places[start], (cx, cy), nodes[start].half_width)
    bx, by = _edge(places[end], (cx, cy), nodes[end].half_width)
    path = f"M{ax:.0f} {ay:.0f} Q{cx:.0f} {cy:.0f} {bx:.0f} {by:.0f}"
    tx, ty = (ax + 2 * cx + bx) / 4, (ay + 2 * cy + by) / 4
    return {"path": path, "text": text, "x": f"{tx:.0f}", "y": f"{ty:.0f}"}


def _edge(
    place: tuple[float, float], towards: tuple[float, float], half_width: float
) -> tuple[float, float]:
    """Where a line from the middle of a box leaves the box."""
    dx, dy = towards[0] - place[0], towards[1] - place[1]
    scale = min(
        half_width / abs(dx) if dx else math.inf, _HALF_HEIGHT / abs(dy) if dy else math.inf
    )
    return place[0] + dx * scale, place[1] + dy * scale


def _box(node: Node, place: tuple[float, float]) -> View:
    """A box with the places of its two lines of text."""
    x, y = place
    half = node.half_width
    return {
        "node": node,
        "note": node.note[:30],
        "left": f"{x - half:.0f}",
        "top": f"{y - _HALF_HEIGHT:.0f}",
        "width": f"{2 * half:.0f}",
        "height": str(2 * _HALF_HEIGHT),
        "x": f"{x:.0f}",
        "label_y": f"{y - 3:.0f}",
        "note_y": f"{y + 11:.0f}",
    }
