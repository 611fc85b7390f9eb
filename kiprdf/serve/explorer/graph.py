"""The graph around an element: its facts in groups by predicate, laid out for SVG.

Left to right, each line of it is a sentence: a subject, a predicate, an object. Each state of the
graph has an address, and ``templates/explorer/graph.html`` draws it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import urlencode

from pyoxigraph import NamedNode, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.kql.reader import link_of
from kiprdf.pages import drawing
from kiprdf.pages.page import View, count, name, render, words
from kiprdf.rdf.elements import Proposition, read_element
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage, element_path
from kiprdf.serve.routes.linked import no_element
from kiprdf.serve.state import number_of
from kiprdf.store import Store
from kiprdf.store.totals import kind

PATH = "explore/graph"
DRAWN, MOST_DRAWN = 14, 50
"""Neighbours of an open group, and groups, on the page of an element; neighbours on the page of its
graph, which has all groups."""


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
    return predicate, number_of(first) or 0


End: TypeAlias = tuple[NamedNode, Triple | None]
"""The other end of a fact, and the fact; None for the ends of a fact that is in the middle."""


class Group(NamedTuple):
    """The facts with a predicate from an element, or to it; "" for the ends of a fact itself."""

    label: str
    predicate: str
    is_from: bool
    ends: list[End]


def graph_page(explorer: Explorer, node: NamedNode, query: Mapping[str, str]) -> str:
    """The page of the graph around an element; with ``part``, the graph of a page alone.

    The part ``page`` is that of the page of the element.
    """
    store, selected, part = explorer.store, Selected.of(query), query.get("part")
    if not store.describe(node):
        raise no_element()
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

    def read() -> View | None:
        groups = list(_groups(explorer.store, node))
        return _Around(explorer, page, selected, groups).view(node) if groups else None

    return explorer.store.read(read)


def _groups(store: Store, node: NamedNode) -> Iterator[Group]:
    """The groups of an element."""
    element = read_element(store.iris, node, store.describe(node))
    if isinstance(element, Proposition):
        yield Group("subject", "", False, [(element.subject, None)])
        yield Group("object", "", True, [(element.object, None)])
    ends: dict[tuple[str, bool], list[End]] = {}
    for fact in store.facts(node):
        is_from = fact.subject == node
        other = cast(NamedNode, fact.object if is_from else fact.subject)
        ends.setdefault((predicate_of(store.iris, fact), is_from), []).append((other, fact))
    for (predicate, is_from), others in ends.items():
        yield Group(words(predicate), predicate, is_from, others)


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


def predicate_of(iris: Iris, fact: Triple) -> str:
    """The name of the predicate of a fact."""
    predicate = iris.concept_name(fact.predicate.value)
    assert predicate is not None, fact
    return predicate


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
    ('abcd…', '阿司…')
    """
    return drawing.cut(text, int((width - 12) / _ADVANCE))


# Places -----------------------------------------------------------------------------------------

PREDICATE, MIDDLE = 126, 120
"""The widths of a group, and of the element in the middle."""
ROW, LOW, HIGH = 30, 24, 36
"""The height of a row of neighbours, and those of boxes with one and with two lines."""
_NEAR, _APART = 30, 10
"""The space between the middle and a group, and between groups."""
_ADVANCE = 7.2
"""About the width of a character."""


def curve(x1: float, y1: float, x2: float, y2: float, middle: float | None = None) -> str:
    """The path of a line that begins and ends level."""
    middle = (x1 + x2) / 2 if middle is None else middle
    return f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"


class _Around:
    """The graph around an element on a page: groups to the left and to the right of it."""

    def __init__(
        self, explorer: Explorer, page: ExplorerPage, selected: Selected, every: list[Group]
    ) -> None:
        self._iris, self._page, self._selected = explorer.store.iris, page, selected
        self._neighbours = Neighbours(explorer, page)
        self._is_whole = page.path == PATH
        self._size = MOST_DRAWN if self._is_whole else DRAWN
        self._box, self._far = (210, 84) if self._is_whole else (150, 40)
        self._every = every
        chosen = sorted(filter(None, map(self._filtered, every)), key=lambda one: -len(one.ends))
        self._omitted = 0 if self._is_whole else max(0, len(chosen) - DRAWN)
        chosen = chosen[: len(chosen) - self._omitted]
        self._groups = sorted(chosen, key=lambda one: (one.predicate, one.label))
        self._open = {**(self._fitting() if selected.open is None else selected.open), "": 0}

    def _filtered(self, group: Group) -> Group | None:
        """A group, with the other ends of a type; None for one that is not selected."""
        selected, ends = self._selected, group.ends
        if group.predicate and selected.type:
            ends = [one for one in ends if kind_of(self._iris, one[0]) == selected.type]
        is_selected = group.predicate in ("", selected.predicate or group.predicate)
        return group._replace(ends=ends) if ends and is_selected else None

    def _fitting(self) -> dict[str, int]:
        """The predicates of the smallest groups, which are open if nothing else is asked for."""
        numbers: Counter[str] = Counter()
        for group in self._groups:
            numbers[group.predicate] += len(group.ends) if group.predicate else 0
        opened: dict[str, int] = {}
        left = self._size
        for predicate, number in sorted(numbers.items(), key=lambda item: item[1]):
            left -= number
            if left >= 0 or not any(opened):
                opened[predicate] = 0
        return opened

    def view(self, node: NamedNode) -> View:
        """What ``templates/explorer/graph.html`` draws."""
        of = {"element": self._iris.id(node)}
        whole = urlencode({**of, **self._selected.query})
        part = urlencode({**of, "part": "graph" if self._is_whole else "page"})
        number = sum(len(group.ends) for group in self._every if group.predicate)
        shown = f"{len(self._groups)} of {len(self._groups) + self._omitted} groups"
        return {
            "number": count(number, "fact") if number else None,
            "filters": self._filters(),
            "is_filtered": bool(self._selected.predicate or self._selected.type),
            "omitted": shown if self._omitted else None,
            "whole": None if self._is_whole else self._page.href(f"{PATH}?{whole}"),
            "part": self._page.href(f"{PATH}?{part}"),
            "box": self._box,
            **self._picture(node),
        }

    def _filters(self) -> list[View]:
        """The predicates and the types of the neighbours, each with its number and address."""
        selected = self._selected
        predicates: Counter[str] = Counter()
        types: Counter[str] = Counter()
        for group in self._every:
            if group.predicate:
                kinds = Counter(kind_of(self._iris, other) for other, _ in group.ends)
                number = kinds[selected.type] if selected.type else kinds.total()
                predicates[group.predicate] += number
                if selected.predicate in ("", group.predicate):
                    types.update(kinds)
        return [
            filter_of(self._page, key, counts, selected)
            for key, counts in (("predicate", predicates), ("type", types))
            if len(counts) > 1 or getattr(selected, key)
        ]

    def _picture(self, node: NamedNode) -> View:
        """The groups with their places, and the size of all."""
        # The facts of the element come before those that refer to it, as on its page.
        sides = [[one for one in self._groups if one.is_from is side] for side in (True, False)]
        heights = [sum(map(self._height, side)) for side in sides]
        height = max(*heights, HIGH + _APART)
        right, left = (
            (_NEAR + PREDICATE if side else 0)
            + (self._far + self._box if any(one.predicate in self._open for one in side) else 0)
            for side in sides
        )
        middle = self._neighbours.box(node, MIDDLE) | {"x": left, "y": (height - HIGH) / 2}
        groups = []
        for side, used in zip(sides, heights, strict=True):
            top = (height - used) / 2
            for group in side:
                groups.append(self._group(group, middle, top))
                top += self._height(group)
        width = left + MIDDLE + right
        return {"width": width, "height": height, "middle": middle, "groups": groups}

    def _shown(self, group: Group) -> tuple[int, list[End]]:
        """The page of a group that is shown: its position, and other ends sorted by name."""
        first = self._open.get(group.predicate)
        if first is None:
            return 0, []
        first = first if first < len(group.ends) else 0

        def order(end: End) -> tuple[str, str]:
            return (self._iris.concept_name(end[0].value) or "").casefold(), end[0].value

        return first, sorted(group.ends, key=order)[first : first + self._size]

    def _height(self, group: Group) -> int:
        rows = min(len(group.ends), self._size + 1) if group.predicate in self._open else 0
        return max(HIGH, rows * ROW) + _APART

    def _group(self, group: Group, middle: View, top: float) -> View:
        first, shown = self._shown(group)
        y, centre = top + max(HIGH, len(shown) * ROW) / 2, middle["y"] + HIGH / 2
        near, far = _NEAR + PREDICATE, _NEAR + PREDICATE + self._far

        def place(out: int, width: int = 0) -> int:
            """The left side of what is so far from the middle."""
            x: int = middle["x"]
            return x + MIDDLE + out if group.is_from else x - out - width

        def line(out: int, y1: float, further: int, y2: float) -> str:
            ends = [(place(out), y1), (place(further), y2)]
            (x1, y1), (x2, y2) = ends if group.is_from else ends[::-1]
            return curve(x1, y1, x2, y2)

        neighbours = []
        for row, (node, fact) in enumerate(shown):
            at = y + ROW * (row + 0.5) - len(shown) * ROW / 2
            box = {"x": place(far, self._box), "y": at - LOW / 2}
            neighbours.append(
                {
                    "box": self._neighbours.box(node, self._box) | box,
                    "fact": fact and self._neighbours.fact(fact),
                    "path": line(near, y, far, at),
                    "has_tip": group.is_from,
                    "mark": (place(far - 14), at),
                }
            )
        is_open = bool(shown)
        return {
            "label": cut(group.label, PREDICATE + 12),
            "sentence": f"{group.label} …" if group.is_from else f"… {group.label}",
            "number": f"{len(group.ends):,}" if group.predicate else None,
            "href": self._address(group.predicate, None if is_open else 0),
            "is_open": is_open,
            "has_tip": not (group.is_from and is_open),
            "x": place(_NEAR, PREDICATE),
            "y": y - HIGH / 2,
            "path": line(0, centre, _NEAR, y),
            "neighbours": neighbours,
            "pager": self._pager(group, first, len(shown)),
            "pager_at": (place(far + self._box // 2), top + ROW * len(shown) + LOW / 2),
        }

    def _pager(self, group: Group, first: int, shown: int) -> View | None:
        number, last = len(group.ends), first + shown
        if shown in (0, number):
            return None
        before = self._address(group.predicate, max(0, first - self._size)) if first else None
        after = self._address(group.predicate, last) if last < number else None
        return {"shown": f"{first + 1:,}–{last:,} of {number:,}", "previous": before, "next": after}

    def _address(self, predicate: str, first: int | None) -> str | None:
        """The address of the graph in which a group is open from a position on, or closed."""
        opened = {one: start for one, start in self._open.items() if one not in ("", predicate)}
        opened |= {} if first is None else {predicate: first}
        return address(self._page, replace(self._selected, open=opened)) if predicate else None
