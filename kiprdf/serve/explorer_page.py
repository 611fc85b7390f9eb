"""The frame of a page for people: its links, navigation and slider, and the drawn neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from pyoxigraph import NamedNode

from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import Page, Site, section, words
from kiprdf.rdf.elements import Concept
from kiprdf.serve import time_pages
from kiprdf.serve.drawing import DRAWN, Arrow, Node, drawing
from kiprdf.serve.surroundings import Numbers
from kiprdf.serve.time_pages import Moment

_NO_SLIDER = ("explore/log", "explore/history")
"""Pages about all commits."""


def element_path(base: str, iri: str) -> str:
    """The percent-encoded path of an element below ``/page/`` and ``/data/``.

    >>> element_path("urn:kip:nexus/", "urn:kip:nexus/Drug/Vitamin%20C")
    'Drug/Vitamin%20C'
    """
    return quote(iri[len(base) :], safe="/%$~!*'()")


class ExplorerSite(Site):
    """The elements that one page needs; each element has a page and a document."""

    __slots__ = ()

    def path(self, node: NamedNode, suffix: str = "html") -> str:
        """The address of the page of an element, or of its document."""
        kind = "page" if suffix == "html" else "data"
        return f"{kind}/{element_path(self.knowledge.iris.base, node.value)}"


@dataclass(frozen=True, slots=True)
class ExplorerPage(Page):
    """A page of the explorer; links begin at the root of the application."""

    root: str = ""
    moment: Moment | None = None
    numbers: Numbers = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    """What the address of the page has beside the commit: a search, a command."""
    has_history: bool = True

    def number(self, of: str, key: str | None, read: int) -> int:
        """How many facts or members there are, where the page has not read all."""
        return self.numbers.get((of, key), read)

    def omitted(self, number: int) -> str:
        """What a page has not."""
        return f"{number:,} more are not shown."

    def href(self, path: str) -> str:
        """The address of a path of the application; pages of the past lead to pages of it."""
        if path in ("index.html", "vocabulary.html"):
            path = "explore/" if path == "index.html" else "explore/schema"
        if path == "style.css":
            path = "static/style.css"
        as_of = None if self.moment is None else self.moment.seq
        if as_of is not None and path.startswith(("page/", "explore/")):
            path += f"{'&' if '?' in path else '?'}as_of={as_of}"
        return f"{self.root}/{path}"

    def _moment_field(self) -> Markup | None:
        """What keeps the commit in a form, whose address loses its query."""
        if self.moment is None or self.moment.seq is None:
            return None
        return element("input", type="hidden", name="as_of", value=str(self.moment.seq))

    def form(self, *content: Child, **attributes: Any) -> Markup:
        """A form that leads to the start page."""
        hidden = self._moment_field()
        return element("form", content, hidden, action=f"{self.root}/explore/", **attributes)

    def _slider(self) -> Markup | None:
        if self.moment is None or self.path in _NO_SLIDER:
            return None
        history = None
        if self.path.startswith("page/") and self.has_history:
            history = f"{self.root}/explore/history/{self.path.removeprefix('page/')}"
        return time_pages.slider(self.moment, f"{self.root}/{self.path}", self.query, history)

    def navigation(self, crumbs: Child) -> Child:
        """The search field and the sections."""
        home = element("a", self.site.title, href=self.href("explore/"), class_="home")
        field = element("input", type="search", name="q", aria_label="Search", placeholder="Search")
        search = self.form(field, class_="quick")
        sections = [
            element("a", title, href=self.href(path))
            for title, path in (
                ("Schema", "explore/schema"),
                ("Changes", "explore/log"),
                ("Query", "explore/kql"),
            )
        ]
        on_start = self.path == "explore/"
        end = element("span", None if on_start else search, sections, class_="end")
        return [home, crumbs, end, self._slider()]

    def policy(self, script_policy: str) -> Child:
        """Style and script instead; the policy is in a header."""
        return [
            element("link", rel="icon", href="data:,"),
            element("link", rel="stylesheet", href=self.href("static/explorer.css")),
            element("script", src=self.href("static/explorer.js"), defer=True),
        ]

    @property
    def footer(self) -> str:
        """The last line."""
        return "Served by kiprdf."

    def drawing(self, node: NamedNode) -> Markup | None:
        """The neighbours of an element, drawn."""
        picture = _neighbourhood(self, node)
        return None if picture is None else section("Neighbourhood", picture)


def _neighbourhood(page: ExplorerPage, node: NamedNode) -> Markup | None:
    """An element in the middle, and the other ends of its facts around it."""
    knowledge = page.site.knowledge
    facts = [*knowledge.facts_from.get(node, ()), *knowledge.facts_to.get(node, ())]
    order: list[NamedNode] = [node]
    arrows: list[Arrow] = []
    for fact in facts:
        other = fact.object if fact.subject == node else fact.subject
        if other not in order:
            if len(order) > DRAWN:
                continue
            order.append(other)
        start, end = order.index(fact.subject), order.index(fact.object)
        arrows.append(Arrow(start, end, words(fact.predicate)))
    if len(order) == 1:
        return None
    return drawing([_node(page, one) for one in order], arrows, "The neighbours of this element")


def _node(page: ExplorerPage, node: NamedNode) -> Node:
    one = page.site.knowledge.elements.get(node)
    label = one.name if isinstance(one, Concept) else "fact"
    kind = one.type if isinstance(one, Concept) else words(one.predicate) if one else ""
    return Node(label, kind, page.href(page.site.path(node)))
