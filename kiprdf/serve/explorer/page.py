"""A page of the explorer: the links, numbers and pagers that all its pages share."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from dataclasses import field
from typing import ClassVar, TypeAlias
from urllib.parse import quote, urlencode

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.pages.page import ASSETS as FILES
from kiprdf.pages.page import Page, Site, View
from kiprdf.rdf.elements import Concept
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.time_pages import Moment, Query, label

_TYPES = {".css": "text/css", ".js": "text/javascript"}
ASSETS = {path.name: (path, _TYPES[path.suffix]) for path in FILES.iterdir()}
"""The files of the pages, with their media types."""
_NO_SLIDER = ("explore/log", "explore/history")
"""Pages about all commits."""
_ADDRESSES = {
    "index.html": "explore/",
    "vocabulary.html": "explore/schema",
    "style.css": "static/style.css",
}
"""What is in place of the files of a published folder."""
LISTED = 50
"""Rows of a list of facts or members on a page, at most."""
Numbers: TypeAlias = dict[tuple[str, str | None], int]
"""How many there are of what a page reads in part: facts by direction and predicate, or all of
them (None); members; facts about a fact."""


def element_path(base: str, iri: str) -> str:
    """The percent-encoded path of an element below ``/page/`` and ``/data/``.

    >>> element_path("urn:kip:nexus/", "urn:kip:nexus/Drug/Vitamin%20C")
    'Drug/Vitamin%20C'
    """
    return quote(iri[len(base) :], safe="/%$~!*'()")


def page_start(first: int, size: int, total: int) -> int:
    """Where a page of a list begins: it is the last page where the list has ended before.

    >>> page_start(40, 50, 120), page_start(500, 50, 120), page_start(50, 50, 0)
    (40, 100, 0)
    """
    return min(first, max(0, total - 1) // size * size)


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
    query: Query = field(default_factory=dict)
    """What the address of the page has beside the commit: a search, a command; a list is a field
    for each of its texts."""
    has_history: bool = True
    listed: frozenset[NamedNode] = frozenset()
    """The facts and members in the lists of the page."""
    first: int = 0
    """Where the list of a page that shows only that begins."""
    acts: View | None = None
    """The links to the forms of acts, and what the last one wrote; None for who has none."""
    graph: View | None = None
    waiting: int | None = None
    """How many proposals wait; None for who does not see them."""
    frame: ClassVar[str] = "explorer/frame.html"

    def number(self, of: str, key: str | None, read: int) -> int:
        """How many facts or members there are, where the page has not read all."""
        return self.numbers.get((of, key), read)

    def omitted(self, number: int) -> str | None:
        """None: a pager leads to what a page has not."""
        return None

    def is_listed(self, node: NamedNode) -> bool:
        """Whether a fact or a member is in a list of the page: others are read for their words."""
        return node in self.listed

    def pager_of(self, of: str, key: str | None, shown: int) -> View | None:
        """Where the rows of a list are in it; None if that is all of it."""
        name = f"{of}:{key}" if key else of
        total = self.numbers.get((of, key), shown)
        is_part = "list" in self.query
        pager = self.pager(self.first, LISTED if is_part else shown, total, {"list": name})
        if is_part and pager is None:
            pager = {"shown": f"All {total:,}", "previous": None, "next": None}
        whole = self.href(self.path) if is_part else None
        return pager and {**pager, "whole": whole}

    def href(self, path: str) -> str:
        """The address of a path of the application; pages of the past lead to pages of it."""
        path = _ADDRESSES.get(path, path)
        as_of = None if self.moment is None else self.moment.seq
        if as_of is not None and path.startswith(("page/", "explore/")):
            path += f"{'&' if '?' in path else '?'}as_of={as_of}"
        return f"{self.root}/{path}"

    def slider(self) -> View | None:
        """The commits that the slider reaches; None on pages about all commits."""
        if self.moment is None or self.path in _NO_SLIDER:
            return None
        history = None
        if self.path.startswith("page/") and self.has_history:
            history = f"{self.root}/explore/history/{self.path.removeprefix('page/')}"
        view = time_pages.slider(self.moment, f"{self.root}/{self.path}", self.query, history)
        return {**view, "commit": f"{self.root}/explore/commit"}

    def offered(self) -> View | None:
        """The links to the forms of acts."""
        return self.acts

    def table_of(self, definition: Concept) -> str | None:
        """The address of the members of a type, or the facts of a predicate, as a table."""
        return self.table_link(definition.type, definition.name)

    def table_link(self, kind: str, defined: str) -> str | None:
        """The address of the table of a type or a predicate; None for a domain."""
        field = {"$ConceptType": "type", "$PropositionType": "predicate"}.get(kind)
        return field and self.href("explore/table?" + urlencode({field: defined}))

    def drawing(self) -> View | None:
        """The graph around the element of the page."""
        return self.graph

    def node_link(self, node: NamedNode) -> View:
        """A link to an element that is not read."""
        href = self.href(self.site.path(node))
        return {"href": href, **label(self.site.knowledge.iris, node)}

    def definition_link(self, kind: str, defined: str, number: int | None = None) -> View:
        """A link to a type, a predicate or a domain, with the number of its members."""
        node = self.site.knowledge.iris.concept(kind, defined)
        shown = None if number is None else f"{number:,}"
        table = self.table_link(kind, defined)
        href = self.href(self.site.path(node))
        return {"href": href, "text": defined, "number": shown, "table": table}

    def address(self, path: str, **query: object) -> str:
        """The address of a path with a query; empty fields are left out."""
        given = urlencode({key: value for key, value in query.items() if value}, doseq=True)
        return self.href(f"{path}?{given}" if given else path)

    def query_link(self, command: str) -> str:
        """The address of a command in the pane for queries, which runs it."""
        return self.href("explore/kql?" + urlencode({"command": command}))

    def pager(
        self, first: int, size: int, total: int, query: Fields[str, object] | None = None
    ) -> View | None:
        """Where a page of a list is in it, with the pages around; None if that is all of it.

        ``first`` counts from 0 and is in the addresses, beside a query.
        """
        if total <= size and not first:
            return None

        def href(first: int) -> str:
            fields = {**self.query, **(query or {}), "first": first}
            return self.href(f"{self.path}?" + urlencode(fields, doseq=True))

        last = min(first + size, total)
        return {
            "shown": f"{first + 1:,}–{last:,} of {total:,}",
            "previous": href(max(0, first - size)) if first else None,
            "next": href(last) if last < total else None,
            "whole": None,
        }
