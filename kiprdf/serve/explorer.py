"""The pages for people: search, elements, schema, latest changes, and a pane for queries.

The pages of elements are those that ``publish`` writes, with other links and a drawing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pyoxigraph import NamedNode

from kiprdf.advice.corrections import corrections
from kiprdf.errors import KipError, KipWarning
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.publishing import overview
from kiprdf.interchange.publishing.file_names import Paths
from kiprdf.interchange.publishing.knowledge import Knowledge
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import (
    count,
    lines,
    name,
    section,
    words,
)
from kiprdf.interchange.publishing.pages import element_page
from kiprdf.nexus import Nexus
from kiprdf.rdf.elements import Proposition, read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.serve import time_pages
from kiprdf.serve.drawing import DRAWN, Arrow, Node, drawing
from kiprdf.serve.explorer_page import ExplorerPage, ExplorerSite, element_path
from kiprdf.serve.linked import no_element
from kiprdf.serve.surroundings import surroundings
from kiprdf.serve.time_pages import Moment, time
from kiprdf.store import Store

_OWN_ASSETS = Path(__file__).parent / "assets"
ASSETS = {
    "style.css": (overview.ASSETS / "style.css", "text/css"),
    "explorer.css": (_OWN_ASSETS / "explorer.css", "text/css"),
    "explorer.js": (_OWN_ASSETS / "explorer.js", "text/javascript"),
}
"""The files of the pages, with their media types."""
_EXAMPLES = (
    ("Types and their members", "DESCRIBE PRIMER"),
    (
        "What changed last",
        "FIND(?x) WHERE { ?x {} } ORDER BY ?x.metadata._updated_at DESC LIMIT 10",
    ),
    ("Concepts by domain", 'FIND(?d.name, COUNT(?c)) WHERE { (?c, "belongs_to_domain", ?d) }'),
    (
        "All predicates",
        'FIND(?p.name, ?p.attributes.description) WHERE { ?p {type: "$PropositionType"} }',
    ),
)


class Absent(Exception):
    """The page of an element that does not exist."""


@dataclass(frozen=True)
class Explorer:
    """Makes the pages of one nexus; ``root`` is the path of the application."""

    nexus: Nexus
    store: Store
    title: str
    root: str = ""
    moment: Moment | None = None

    def _page(
        self, path: str, knowledge: Knowledge | None = None, **query: str | None
    ) -> ExplorerPage:
        """A page whose address has a query; a field of it is None where it is absent."""
        knowledge = knowledge or Knowledge(self.store.iris)
        site = ExplorerSite(knowledge, Paths(), self.title, Mapping.none())
        given = {key: value for key, value in query.items() if value}
        return ExplorerPage(site, path, self.root, self.moment, query=given)

    def element(self, node: NamedNode, now: Nexus) -> str:
        """The page of an element; ``Absent`` where it does not exist.

        ``now`` is the nexus with its whole history.
        """
        path = f"page/{element_path(self.store.iris.base, node.value)}"
        if not self.store.describe(node):
            page = replace(self._page(path), has_history=self._was_there(node, now))
            when = "now" if self.moment is None or self.moment.seq is None else "as of this commit"
            refusal = no_element()
            body = element(
                "div",
                element(
                    "p",
                    f"This element does not exist {when}. ",
                    element("strong", f"HTTP_{refusal.status}"),
                    class_="lead",
                ),
                element("p", refusal.hint),
                role="status",
            )
            raise Absent(page.html("Not there", element("h1", _title(self.store, node)), body))
        triples, numbers = self.store.read(lambda: surroundings(self.store, node))
        knowledge = Knowledge.of(triples, self.store.iris)
        page = replace(self._page(path, knowledge), numbers=numbers)
        return element_page(page, knowledge.elements[node])

    def _was_there(self, node: NamedNode, now: Nexus) -> bool:
        try:
            return bool(now.history(self.store.iris.id(node), limit=1)["entries"])
        except KipError:
            return False

    def failure(self, status: int, error: dict[str, str]) -> str:
        """The page of a request that failed, with the error object of the other clients."""
        page, phrase = self._page("explore/failure"), HTTPStatus(status).phrase
        code = element("strong", error["code"])
        body = element(
            "div",
            element("p", code, f" {error['message']}"),
            element("p", error["hint"]),
            class_="error",
            role="alert",
        )
        return page.html(phrase, element("h1", phrase, " ", element("small", str(status))), body)

    # Search -----------------------------------------------------------------------------------

    def start(self, term: str) -> str:
        """The start page: a search field, its results, or what there is."""
        page = self._page("explore/", q=term)
        field = element(
            "input",
            type="search",
            name="q",
            id="search",
            value=term,
            aria_label="Search concepts",
            placeholder="Search concepts by name or alias",
            autocomplete="off",
            autofocus=True,
        )
        form = page.form(field, class_="search", role="search")
        results = element(
            "div", self.results(term) if term.strip() else self._overview(page), id="results"
        )
        return page.html(self.title, element("h1", self.title), form, results)

    def results(self, term: str) -> Markup:
        """The concepts that a term finds, as a list of links."""
        page = self._page("explore/")
        response = self.nexus.execute_kip_readonly(
            {"command": "SEARCH CONCEPT :term LIMIT 30", "parameters": {"term": term}}
        )
        if "error" in response:
            return element("p", response["error"]["message"], class_="quiet", role="status")
        hits = response["result"]
        if not hits:
            return element("p", f"No concept matches “{term}”.", class_="quiet", role="status")
        rows = (element("li", _hit(page, hit)) for hit in hits)
        return element("ul", rows, class_="hits")

    def _overview(self, page: ExplorerPage) -> Child:
        primer: Any = self.nexus.execute("DESCRIBE PRIMER")
        totals = primer["totals"]
        numbers = f"{count(totals['concepts'], 'concept')}, {count(totals['propositions'], 'fact')}"
        types = [
            element(
                "li",
                _definition_link(page, "$ConceptType", type_),
                " ",
                element("small", f"{number:,}"),
            )
            for type_, number in totals["concept_types"].items()
            if number and not type_.startswith("$")
        ]
        domains = [
            element(
                "li",
                _definition_link(page, "Domain", domain["name"]),
                " ",
                element("small", f"{domain['concept_count']:,}"),
            )
            for domain in primer["domain_map"]
        ]
        changed = [
            element("li", self._link(page, change["id"]), " ", time(change["changed_at"]))
            for change in primer["recent_changes"]["concepts"]
        ]
        parts = [
            element("p", numbers, class_="lead"),
            section("Types", element("ul", types, class_="tags")) if types else None,
            section("Domains", element("ul", domains, class_="tags")) if domains else None,
            section("Changed last", element("ul", changed, class_="hits")) if changed else None,
        ]
        return lines(parts)

    def _link(self, page: ExplorerPage, identity: str) -> Child:
        """A link to an element: the name of a concept, the words of a proposition."""
        node = self.store.iris.from_id(identity)
        if node is None:
            return element("code", identity)
        shown = read_element(self.store.iris, node, self.store.describe(node))
        if not isinstance(shown, Proposition):
            return _node_link(page, node)
        ends = [self.store.iris.name(end.value) for end in (shown.subject, shown.object)]
        subject, object = (one.name if isinstance(one, ConceptName) else "a fact" for one in ends)
        text = [name(subject), " ", element("i", words(shown.predicate)), " ", name(object)]
        return element("a", text, href=page.href(page.site.path(node)))

    # Schema -----------------------------------------------------------------------------------

    def schema(self) -> str:
        """The types and predicates as a picture and as lists, with counts."""
        page = self._page("explore/schema")
        primer: Any = self.nexus.execute("DESCRIBE PRIMER")
        counts = {
            type_: number
            for type_, number in primer["totals"]["concept_types"].items()
            if number and not type_.startswith("$")
        }
        drawn = list(counts)[:DRAWN]
        arrows: list[Arrow] = []
        for type_ in drawn:
            usage = self.nexus.execute("DESCRIBE CONCEPT TYPE :type", type=type_).get("usage", {})
            for predicate, use in usage.get("outgoing", {}).items():
                arrows += [
                    Arrow(drawn.index(type_), drawn.index(other), words(predicate))
                    for other in use["types"]
                    if other in drawn
                ]
        nodes = [
            Node(type_, f"{counts[type_]:,}", _definition_href(page, "$ConceptType", type_))
            for type_ in drawn
        ]
        picture = (
            drawing(nodes, arrows, "The types and how their concepts are linked") if nodes else None
        )
        tables = [
            section(title, element("ul", self._definitions(page, kind, totals), class_="columns"))
            for title, kind, totals in (
                ("Concept types", "$ConceptType", primer["totals"]["concept_types"]),
                ("Predicates", "$PropositionType", primer["totals"]["proposition_types"]),
            )
        ]
        return page.html("Schema", element("h1", "Schema"), picture, tables)

    def _definitions(
        self, page: ExplorerPage, kind: str, totals: dict[str, int]
    ) -> Iterator[Markup]:
        for defined, number in totals.items():
            yield _counted(_definition_link(page, kind, defined), number)

    # Changes ----------------------------------------------------------------------------------

    def log(self, until: int | None) -> str:
        """The commits, newest first; without a history, the elements that changed last."""
        if self.moment is None:
            return self._changed_last()
        last = self.moment.latest if until is None else min(self.moment.latest, until)
        # Links lead to what there is now.
        page = ExplorerPage(self._page("").site, "explore/log", self.root)
        body = time_pages.log(page, self.nexus, self.moment, last)
        commit = element("small", f"up to commit {last}")
        return page.html("Changes", element("h1", "Changes ", commit), body)

    def history(self, node: NamedNode, cursor: str | None) -> str:
        """The changes of an element, which may be deleted."""
        page = ExplorerPage(self._page("").site, "explore/history", self.root)
        body = time_pages.history(page, self.nexus, self.store.iris.id(node), cursor)
        link = element("a", _title(self.store, node), href=page.href(page.site.path(node)))
        return page.html("History", element("h1", "History of ", link), body)

    def _changed_last(self) -> str:
        page = self._page("explore/log")
        command = "FIND(?x.id, ?x.metadata._updated_at, ?x.metadata._version, ?x.metadata.author)"
        rows: list[tuple[Any, ...]] = []
        for pattern in ("?x {}", "?x (?s, ?p, ?o)"):
            order = "ORDER BY ?x.metadata._updated_at DESC LIMIT 60"
            rows += self.nexus.find(f"{command} WHERE {{ {pattern} }} {order}").tuples
        rows.sort(key=lambda row: (row[1] or "", row[0]), reverse=True)
        groups: dict[str, list[Markup]] = {}
        for identity, moment, version, author in rows[:60]:
            kind = "new" if version == 1 else f"version {version}"
            note = " · ".join(filter(None, (kind, author if isinstance(author, str) else None)))
            row = element("li", self._link(page, identity), " ", element("small", note))
            groups.setdefault(moment or "", []).append(row)
        body = [
            element(
                "section",
                element("h2", time(moment)),
                element("ul", items, class_="hits"),
            )
            for moment, items in groups.items()
        ]
        commit = element("small", f"commit {self.store.commit()}")
        return page.html("Changes", element("h1", "Latest changes ", commit), body)

    # Queries ----------------------------------------------------------------------------------

    def queries(self, command: str | None) -> str:
        """The pane for commands that read: text, answer, and the SPARQL of a FIND."""
        page = self._page("explore/kql", command=command)
        text = _EXAMPLES[1][1] if command is None else command
        area = element(
            "textarea",
            "\n" + text,
            name="command",
            rows="7",
            spellcheck="false",
            aria_label="KIP command",
            autofocus=True,
        )
        button = element("button", "Run", type="submit")
        hint = element("small", "Ctrl+Enter runs it. Commands that write are refused.")
        form = element(
            "form",
            area,
            element("p", button, " ", hint),
            method="post",
            class_="query",
            action=page.href("explore/kql"),
        )
        examples = element(
            "p",
            "Examples: ",
            [
                [
                    " · " if number else None,
                    element(
                        "a", title, href=page.href("explore/kql?" + urlencode({"command": example}))
                    ),
                ]
                for number, (title, example) in enumerate(_EXAMPLES)
            ],
            class_="quiet",
        )
        answer = None if command is None else self._answer(page, command)
        return page.html("Query", element("h1", "Query"), form, examples, answer)

    def _answer(self, page: ExplorerPage, command: str) -> Child:
        try:
            rows = self.nexus.find(command)
            names, tuples = rows.columns, rows.tuples
        except KipError as error:
            if error.message.startswith("This call takes FIND only"):
                return self._other_answer(page, command)
            return _problem(page, error)
        head = element("tr", (element("th", element("code", one), scope="col") for one in names))
        body = (
            element("tr", (element("td", self._cell(page, value)) for value in row))
            for row in tuples
        )
        table = element(
            "div", element("table", element("thead", head), element("tbody", body)), class_="wide"
        )
        number = count(len(tuples), "row") + (", more follow" if rows.next_cursor else "")
        warnings = [_problem(page, one) for one in rows.warnings]
        sparql = element(
            "details",
            element("summary", "SPARQL"),
            element("pre", self.nexus.explain(command)),
            open=True,
        )
        response = self.nexus.execute_kip_readonly({"command": command})
        as_json = element("details", element("summary", "JSON"), element("pre", _pretty(response)))
        return [
            element("h2", "Answer ", element("small", number)),
            warnings,
            element("div", table, element("div", sparql, as_json), class_="answer"),
        ]

    def _cell(self, page: ExplorerPage, value: Any) -> Child:
        """A value of an answer; an element is a link to its page."""
        if isinstance(value, dict) and isinstance(value.get("id"), str) and "_type" in value:
            return self._link(page, value["id"])
        return page.value(value)

    def _other_answer(self, page: ExplorerPage, command: str) -> Child:
        """The answer to DESCRIBE, SEARCH and EXPORT."""
        try:
            answer = self.nexus.answer(command, readonly=True)
        except KipError as error:
            return _problem(page, error)
        warnings = [_problem(page, one) for one in answer.warnings]
        shown = element("div", page.value(answer.result), class_="json")
        return [element("h2", "Answer"), warnings, shown]


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _problem(page: ExplorerPage, problem: KipError | KipWarning) -> Markup:
    """An error or a warning with its place and hint, and links to the commands that follow it."""
    is_error = isinstance(problem, KipError)
    code = [element("strong", problem.code), " "] if isinstance(problem, KipError) else None
    excerpt = None if problem.excerpt is None else element("pre", problem.excerpt)
    links = [
        element(
            "li",
            element(
                "a",
                element("code", corrected),
                href=page.href("explore/kql?" + urlencode({"command": corrected})),
            ),
        )
        for corrected in corrections(problem)
    ]
    return element(
        "div",
        element("p", code, problem.located_message),
        excerpt,
        element("p", problem.hint) if problem.hint else None,
        element("ul", links, class_="hits", aria_label="Corrected commands") if links else None,
        class_="error" if is_error else "error warning",
        role="alert" if is_error else "status",
    )


def _hit(page: ExplorerPage, hit: dict[str, Any]) -> Child:
    description = (hit.get("attributes") or {}).get("description")
    shown = description if isinstance(description, str) else None
    note = element("small", hit.get("type", ""))
    lead = element("span", shown[:160], class_="about", dir="auto") if shown else None
    return [_link_to(page, hit["id"]), " ", note, lead]


def _link_to(page: ExplorerPage, identity: str) -> Markup:
    node = page.site.knowledge.iris.from_id(identity)
    return element("code", identity) if node is None else _node_link(page, node)


def _node_link(page: ExplorerPage, node: NamedNode) -> Markup:
    iris = page.site.knowledge.iris
    shown = iris.name(node.value)
    text: Child = (
        name(shown.name) if isinstance(shown, ConceptName) else element("code", iris.id(node))
    )
    return element("a", text, href=page.href(page.site.path(node)))


def _definition_href(page: ExplorerPage, kind: str, defined: str) -> str:
    return page.href(page.site.path(page.site.knowledge.iris.concept(kind, defined)))


def _definition_link(page: ExplorerPage, kind: str, defined: str) -> Markup:
    return element("a", defined, href=_definition_href(page, kind, defined))


def _counted(link: Markup, number: int) -> Markup:
    """An item of a list, with a number."""
    return element("li", link, " ", element("small", f"{number:,}"))


def _title(store: Store, node: NamedNode) -> Child:
    one = store.iris.name(node.value)
    return name(one.name) if isinstance(one, ConceptName) else element("code", store.iris.id(node))
