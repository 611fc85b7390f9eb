"""The graph around an element: its facts in groups by predicate, laid out for SVG.

Left to right, each line of it is a sentence: a subject, a predicate, an object. Each state of the
graph has an address, and ``templates/explorer/graph.html`` draws it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlencode

from pyoxigraph import NamedNode, Triple

from kiprdf.kql.reader import link_of
from kiprdf.pages.drawing import columns_of
from kiprdf.pages.page import View, count, name, render, words
from kiprdf.rdf.elements import Proposition, read_element
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage, element_path
from kiprdf.serve.routes.linked import no_element
from kiprdf.store import Store
from kiprdf.store.totals import kind

PATH = "explore/graph"
DRAWN, MOST_DRAWN = 14, 50
"""Neighbours of an open group on the page of an element, and on the page of its graph."""
GROUPS = 14
"""Groups on the page of an element; the page of its graph has all."""


@dataclass(frozen=True)
class Selected:
    """What of a graph an address asks for.

    ``open`` has the predicates of open groups, each with the position of the first neighbour that
    is shown; None opens those that fit. An empty text selects every predicate, and every type.
    """

    open: Mapping[str, int] | None = None
    predicate: str = ""
    type: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Selected:
        """What the fields ``open``, ``p`` and ``t`` say.

        >>> Selected.of({"open": "treats,causes:14", "t": "Drug"})
        Selected(open={'treats': 0, 'causes': 14}, predicate='', type='Drug')
        """
        given = query.get("open")
        opened = None if given is None else dict(map(_opened, filter(None, given.split(","))))
        return cls(opened, query.get("p", ""), query.get("t", ""))

    @property
    def query(self) -> dict[str, str]:
        """Its fields."""
        fields = {"p": self.predicate, "t": self.type}
        fields = {key: value for key, value in fields.items() if value}
        if self.open is not None:
            fields["open"] = ",".join(
                f"{predicate}:{first}" if first else predicate
                for predicate, first in self.open.items()
            )
        return fields


def _opened(text: str) -> tuple[str, int]:
    predicate, _, first = text.partition(":")
    is_number = first.isascii() and first.isdecimal() and len(first) < 16
    return predicate, int(first) if is_number else 0


@dataclass(frozen=True)
class Group:
    """The facts with a predicate from an element, or to it.

    The ends of a fact itself are two groups without a predicate: each has the other end alone.
    """

    label: str
    is_from: bool
    facts: list[tuple[NamedNode, Triple | None]]
    """The other ends, with the facts."""
    predicate: str | None = None
    shown: Sequence[tuple[NamedNode, Triple | None]] = ()
    first: int | None = None
    """The position of the first one that is shown; None in a group that is closed."""


def graph_page(explorer: Explorer, node: NamedNode, query: Mapping[str, str]) -> str:
    """The page of the graph around an element; with ``part``, the graph of a page alone.

    The part ``page`` is that of the page of the element.
    """
    store, selected = explorer.store, Selected.of(query)
    if not store.describe(node):
        raise no_element()
    part = query.get("part")
    if part == "page":
        page = explorer.page(f"page/{element_path(store.iris.base, node.value)}")
    else:
        page = explorer.page(PATH, element=store.iris.id(node))
    page = replace(page, query={**page.query, **selected.query})
    graph = around(explorer, page, node, selected)
    if part:
        return render("explorer/graph.html", page=page, graph=graph)
    title = Neighbours(explorer, page).title(node)
    of = {"href": page.href(page.site.path(node)), "name": title}
    return page.html("explorer/graph_page.html", f"Graph of {title}", of=of, graph=graph)


def around(
    explorer: Explorer, page: ExplorerPage, node: NamedNode, selected: Selected
) -> View | None:
    """What the graph around an element shows on a page; None for an element without facts."""
    return explorer.store.read(lambda: _around(explorer, page, node, selected))


def _around(
    explorer: Explorer, page: ExplorerPage, node: NamedNode, selected: Selected
) -> View | None:
    store, is_whole = explorer.store, page.path == PATH
    every = list(_groups(store, node))
    if not every:
        return None
    chosen = sorted(_filtered(store.iris, every, selected), key=lambda one: -len(one.facts))
    groups = chosen if is_whole else chosen[:GROUPS]
    groups.sort(key=lambda group: (group.predicate or "", group.label))
    groups = _with_open(store.iris, groups, selected, MOST_DRAWN if is_whole else DRAWN)
    drawn = _Drawing(page, selected, groups, Neighbours(explorer, page))
    element = {"element": store.iris.id(node)}
    part = {**element, "part": "graph" if is_whole else "page"}
    whole = {**element, **selected.query}
    number = sum(len(group.facts) for group in every if group.predicate is not None)
    return {
        "number": count(number, "fact"),
        "filters": drawn.filters(store.iris, every),
        "is_filtered": bool(selected.predicate or selected.type),
        "omitted": f"{len(groups)} of {len(chosen)} groups" if chosen[len(groups) :] else None,
        "whole": None if is_whole else page.href(f"{PATH}?{urlencode(whole)}"),
        "part": page.href(f"{PATH}?{urlencode(part)}"),
        **drawn.picture(node),
    }


# What there is ----------------------------------------------------------------------------------


def _groups(store: Store, node: NamedNode) -> Iterator[Group]:
    """The groups of an element."""
    element = read_element(store.iris, node, store.describe(node))
    if isinstance(element, Proposition):
        yield Group("subject", False, [(element.subject, None)])
        yield Group("object", True, [(element.object, None)])
    ends: dict[tuple[str, bool], list[tuple[NamedNode, Triple | None]]] = {}
    for fact in store.facts(node):
        for is_from, end, other in (
            (True, fact.subject, fact.object),
            (False, fact.object, fact.subject),
        ):
            if end == node:
                group = ends.setdefault((fact.predicate.value, is_from), [])
                group.append((cast(NamedNode, other), fact))
    for (iri, is_from), facts in ends.items():
        predicate = store.iris.concept_name(iri)
        assert predicate is not None, iri
        yield Group(words(predicate), is_from, facts, predicate)


def _filtered(iris: Iris, groups: Iterable[Group], selected: Selected) -> Iterator[Group]:
    """The groups of a predicate, with the other ends of a type."""
    for group in groups:
        if group.predicate is not None and selected.type:
            facts = [one for one in group.facts if kind_of(iris, one[0]) == selected.type]
            group = replace(group, facts=facts)
        if group.facts and (group.predicate is None or selected.predicate in ("", group.predicate)):
            yield group


def address(page: ExplorerPage, selected: Selected) -> str:
    """The address of another state of the graph of a page."""
    others = {key: text for key, text in page.query.items() if key not in ("open", "p", "t")}
    return page.href(f"{page.path}?{urlencode({**others, **selected.query})}")


def filter_of(
    page: ExplorerPage,
    key: str,
    counts: Counter[str],
    selected: Selected,
    classes: Mapping[str, str] = MappingProxyType({}),
) -> View:
    """The predicates, or the types, of a graph: each with its number and the address it selects."""
    chosen = getattr(selected, key)
    every = ["", *(one for one, number in counts.most_common() if number or one == chosen)]
    changes: list[Any] = [{"open": None, key: one} for one in every]
    choices = [
        {
            "href": address(page, replace(selected, **change)),
            "text": words(one) if one else f"every {key}",
            "number": f"{counts[one]:,}" if one else None,
            "is_chosen": one == chosen,
            "class": classes.get(one),
        }
        for one, change in zip(every, changes, strict=True)
    ]
    return {"title": key, "choices": choices}


def kind_of(iris: Iris, node: NamedNode) -> str:
    """The type of a concept; of a fact, its predicate in parentheses."""
    return kind(iris, node.value) or "(fact)"


def _with_open(iris: Iris, groups: Sequence[Group], selected: Selected, size: int) -> list[Group]:
    """The groups, of which those are open that are selected, or else the smallest that fit."""
    opened = selected.open
    if opened is None:
        numbers: Counter[str] = Counter()
        for group in groups:
            numbers[group.predicate or ""] += len(group.facts)
        opened, left = {}, size
        for predicate, number in sorted(numbers.items(), key=lambda item: item[1]):
            left -= number
            if left >= 0 or not opened:
                opened[predicate] = 0
    opened = {**opened, "": 0}
    return [_at(iris, group, opened.get(group.predicate or ""), size) for group in groups]


def _at(iris: Iris, group: Group, first: int | None, size: int) -> Group:
    """A group that shows a page of its facts, sorted by the names of other ends."""
    if first is None:
        return group
    first = first if first < len(group.facts) else 0

    def order(one: tuple[NamedNode, Triple | None]) -> tuple[str, str]:
        return (iris.concept_name(one[0].value) or "").casefold(), one[0].value

    return replace(group, first=first, shown=sorted(group.facts, key=order)[first : first + size])


class Neighbours:
    """What a drawing shows of elements and facts: names, addresses, marks."""

    def __init__(self, explorer: Explorer, page: ExplorerPage) -> None:
        self._store, self._page = explorer.store, page
        self._reasons = explorer.nexus.beliefs.view().reasons

    def title(self, node: NamedNode, depth: int = 2) -> str:
        """The name of a concept, or a fact in words."""
        one = self._store.iris.name(node.value)
        if isinstance(one, ConceptName):
            return name(one.name)
        fact = read_element(self._store.iris, node, self._store.describe(node))
        if depth == 0 or not isinstance(fact, Proposition):
            return "(a fact)"
        ends = (self.title(end, depth - 1) for end in (fact.subject, fact.object))
        return f" {words(fact.predicate)} ".join(ends)

    def box(self, node: NamedNode, width: int) -> View:
        """An element: its name, cut to a width; what it is, and its address."""
        iris = self._store.iris
        one = iris.name(node.value)
        type_, class_ = (one.type, "") if isinstance(one, ConceptName) else ("fact", "fact ")
        title = self.title(node)
        walk = f"{PATH}?{urlencode({'element': iris.id(node)})}"
        is_walk = self._page.path == PATH
        return {
            "href": self._page.href(walk if is_walk else self._page.site.path(node)),
            "name": cut(title, width),
            "type": cut(type_, width),
            **self._belief(node, f"{title} · {type_}", class_),
        }

    def fact(self, fact: Triple) -> View:
        """A link: the address of its page, and how many facts are about it."""
        link = link_of(self._store, fact)
        assert link is not None, fact
        about = len(self._store.facts(link))
        note = f" · {count(about, 'fact')} about it" if about else ""
        return {
            "href": self._page.href(self._page.site.path(link)),
            "about": f"{about:,}" if about else None,
            **self._belief(link, self.title(link) + note),
        }

    def _belief(self, node: NamedNode, title: str, class_: str = "") -> View:
        reason = self._reasons.get(node)
        if reason is None:
            return {"title": title, "class": class_.strip()}
        return {"title": f"{title} · not believed: {reason}", "class": f"{class_}unbelieved"}


def cut(text: str, width: float) -> str:
    """A text, cut to a width in pixels.

    >>> cut("abcdefgh", 50), cut("阿司匹林", 50)
    ('abcde…', '阿司…')
    """
    most = int((width - 12) / _ADVANCE)
    if columns_of(text) <= most:
        return text
    while columns_of(text) >= most:
        text = text[:-1]
    return text.rstrip() + "…"


# Places -----------------------------------------------------------------------------------------

BOX, PREDICATE, MIDDLE = 152, 118, 126
"""The widths of a neighbour, of a group, and of the element in the middle."""
ROW, LOW, HIGH = 30, 24, 36
"""The height of a row of neighbours, and those of boxes with one and with two lines."""
_NEAR, _FAR = 34, 44
"""The space between the middle and a group, and between a group and its neighbours."""
_APART = 10
_ADVANCE = 7.2
"""About the width of a character."""


def curve(x1: float, y1: float, x2: float, y2: float, middle: float | None = None) -> str:
    """The path of a line that begins and ends level."""
    middle = (x1 + x2) / 2 if middle is None else middle
    return f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"


class _Drawing:
    """The graph around an element on a page: groups to the left and to the right of it."""

    def __init__(
        self, page: ExplorerPage, selected: Selected, groups: list[Group], neighbours: Neighbours
    ) -> None:
        self._page, self._selected, self._groups = page, selected, groups
        self._neighbours = neighbours
        self._size = MOST_DRAWN if page.path == PATH else DRAWN
        self._open = {one.predicate: one.first for one in groups if one.predicate is not None}

    def filters(self, iris: Iris, groups: Sequence[Group]) -> list[View]:
        """The predicates and the types of the neighbours, each with its number and address."""
        selected = self._selected
        predicates: Counter[str] = Counter()
        types: Counter[str] = Counter()
        for group in groups:
            if group.predicate is not None:
                kinds = Counter(kind_of(iris, other) for other, _ in group.facts)
                predicates[group.predicate] += (
                    kinds[selected.type] if selected.type else kinds.total()
                )
                if selected.predicate in ("", group.predicate):
                    types.update(kinds)
        return [
            filter_of(self._page, key, counts, selected)
            for key, counts in (("predicate", predicates), ("type", types))
            if len(counts) > 1 or getattr(selected, key)
        ]

    def picture(self, node: NamedNode) -> View:
        """The groups with their places, and the size of all."""
        sides = [[one for one in self._groups if one.is_from is side] for side in (False, True)]
        heights = [sum(map(_height, side)) for side in sides]
        height = max(*heights, HIGH + _APART)
        left, right = (
            (_NEAR + PREDICATE if side else 0) + (_FAR + BOX if any(g.shown for g in side) else 0)
            for side in sides
        )
        middle = self._neighbours.box(node, MIDDLE) | {"x": left, "y": (height - HIGH) / 2}
        groups = []
        # The facts of the element come before those that refer to it, as on its page.
        for side, used in zip(sides[::-1], heights[::-1], strict=True):
            top = (height - used) / 2
            for group in side:
                groups.append(self._group(group, middle, top))
                top += _height(group)
        width = left + MIDDLE + right
        return {"width": width, "height": height, "middle": middle, "groups": groups}

    def _group(self, group: Group, middle: View, top: float) -> View:
        rows = len(group.shown) * ROW
        y, centre = top + max(HIGH, rows) / 2, middle["y"] + HIGH / 2
        if group.is_from:
            x = middle["x"] + MIDDLE + _NEAR
            path = curve(middle["x"] + MIDDLE, centre, x, y)
        else:
            x = middle["x"] - _NEAR - PREDICATE
            path = curve(x + PREDICATE, y, middle["x"], centre)
        return {
            "label": cut(group.label, PREDICATE),
            "sentence": f"{group.label} …" if group.is_from else f"… {group.label}",
            "number": f"{len(group.facts):,}",
            "href": self._address_of(group.predicate, None if group.shown else 0),
            "is_open": bool(group.shown),
            "has_tip": not (group.is_from and group.shown),
            "x": x,
            "y": y - HIGH / 2,
            "path": path,
            "neighbours": [
                self._neighbour(one, fact, group.is_from, x, y, y + ROW * (row + 0.5) - rows / 2)
                for row, (one, fact) in enumerate(group.shown)
            ],
            "pager": self._pager(group, x, top + rows + LOW / 2),
        }

    def _address_of(self, predicate: str | None, first: int | None) -> str | None:
        """The address of the graph in which a group is open from a position on, or closed."""
        if predicate is None:
            return None
        opened = {**self._open, predicate: first}
        left = {one: start for one, start in opened.items() if start is not None}
        return address(self._page, replace(self._selected, open=left))

    def _neighbour(
        self, node: NamedNode, fact: Triple | None, is_from: bool, x: float, y: float, at: float
    ) -> View:
        """Another end, the line that leads to it, and the mark of the fact on that line."""
        if is_from:
            end, box = x + PREDICATE + _FAR, x + PREDICATE + _FAR
            path, mark = curve(x + PREDICATE, y, end, at), end - 14
        else:
            end, box = x - _FAR, x - _FAR - BOX
            path, mark = curve(end, at, x, y), end + 14
        return {
            "box": self._neighbours.box(node, BOX) | {"x": box, "y": at - LOW / 2},
            "fact": None if fact is None else self._neighbours.fact(fact),
            "path": path,
            "has_tip": is_from,
            "mark": (mark, at),
        }

    def _pager(self, group: Group, x: float, y: float) -> View | None:
        number, first = len(group.facts), group.first
        if first is None or number == len(group.shown):
            return None
        last, size = first + len(group.shown), self._size
        before = self._address_of(group.predicate, max(0, first - size)) if first else None
        after = self._address_of(group.predicate, last) if last < number else None
        shown = f"{first + 1:,}–{last:,} of {number:,}"
        middle = x + PREDICATE + _FAR + BOX / 2 if group.is_from else x - _FAR - BOX / 2
        return {"shown": shown, "previous": before, "next": after, "x": middle, "y": y}


def _height(group: Group) -> int:
    rows = len(group.shown) + bool(0 < len(group.shown) < len(group.facts))
    return max(HIGH, rows * ROW) + _APART
