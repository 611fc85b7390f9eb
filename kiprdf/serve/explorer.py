"""The pages for people: search, elements, schema, latest changes, and a pane for queries.

The pages of elements are those of ``kiprdf.pages``, in another frame and with a drawing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from http import HTTPStatus
from itertools import islice
from typing import Any, ClassVar, TypeAlias, cast
from urllib.parse import quote, urlencode

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.actors import Actor
from kiprdf.advice.corrections import corrections
from kiprdf.errors import KipError, KipWarning
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.kql.reader import link_of
from kiprdf.meta.counts import KEY, VALUE, X, grouped
from kiprdf.nexus import Nexus
from kiprdf.pages.drawing import DRAWN, Arrow, Node, drawing
from kiprdf.pages.elements import element_page
from kiprdf.pages.page import ASSETS as FILES
from kiprdf.pages.page import Page, Paths, Site, View, count, render, words
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, read_element
from kiprdf.rdf.literals import to_json
from kiprdf.serve import review, time_pages, why_page
from kiprdf.serve.routes.linked import no_element
from kiprdf.serve.time_pages import Moment, label, shown_time
from kiprdf.store import Store

ASSETS = {
    "style.css": (FILES / "style.css", "text/css"),
    "explorer.css": (FILES / "explorer.css", "text/css"),
    "explorer.js": (FILES / "explorer.js", "text/javascript"),
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
_NO_SLIDER = ("explore/log", "explore/history")
"""Pages about all commits."""
_ADDRESSES = {
    "index.html": "explore/",
    "vocabulary.html": "explore/schema",
    "style.css": "static/style.css",
}
"""What is in place of the files of a published folder."""


MOST_HITS, MOST_RANKED = 30, 100
"""Hits of a search that are shown, and that are read where some are not believed."""
MOST_FACTS = 1000
"""Facts of an element that its page reads."""
MOST_MEMBERS = 500
Numbers: TypeAlias = dict[tuple[str, str | None], int]
"""How many there are of what a page reads in part: facts by direction and predicate, or all of
them (None); members; facts about a fact."""
_DEEPEST = 3


class Absent(Exception):
    """The page of an element that does not exist."""


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
    reject_key: str | None = None
    """What a form that rejects a value of the element sends; None for who may not."""
    frame: ClassVar[str] = "explorer/frame.html"

    def number(self, of: str, key: str | None, read: int) -> int:
        """How many facts or members there are, where the page has not read all."""
        return self.numbers.get((of, key), read)

    def omitted(self, number: int) -> str | None:
        """What a page has not; None if it has all."""
        return f"{number:,} more are not shown." if number else None

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
        return time_pages.slider(self.moment, f"{self.root}/{self.path}", self.query, history)

    def drawing(self, node: NamedNode) -> View | None:
        """The element in the middle, and the other ends of its facts around it."""
        knowledge = self.site.knowledge
        order = [node]
        arrows = []
        for fact in (*knowledge.facts_from.get(node, ()), *knowledge.facts_to.get(node, ())):
            other = fact.object if fact.subject == node else fact.subject
            if other not in order:
                if len(order) > DRAWN:
                    continue
                order.append(other)
            ends = order.index(fact.subject), order.index(fact.object)
            arrows.append(Arrow(*ends, words(fact.predicate)))
        if len(order) == 1:
            return None
        title = "The neighbours of this element"
        return drawing([self._drawn(one) for one in order], arrows, title)

    def rejection(self, element: Element) -> View | None:
        """The form that rejects the fact or a value of an attribute; None without either."""
        is_fact = isinstance(element, Proposition)
        if self.reject_key is None or not (is_fact or element.attributes):
            return None
        return {
            "href": self.href(self.path.replace("page/", "explore/reject/", 1)),
            "key": self.reject_key,
            "version": to_json(element.metadata.get(vocab.VERSION, vocab.NULL)),
            "choices": [
                *([("", "the fact")] if is_fact else []),
                *((key, key) for key in sorted(element.attributes)),
            ],
        }

    def _drawn(self, node: NamedNode) -> Node:
        one = self.site.knowledge.elements.get(node)
        name_ = one.name if isinstance(one, Concept) else "fact"
        kind = one.type if isinstance(one, Concept) else words(one.predicate) if one else ""
        return Node(name_, kind, self.href(self.site.path(node)))

    def identity_link(self, identity: str) -> View:
        """A link to an element that is known by its id only."""
        node = self.site.knowledge.iris.from_id(identity)
        return {"iri": identity} if node is None else self.node_link(node)

    def node_link(self, node: NamedNode) -> View:
        """A link to an element that is not read."""
        href = self.href(self.site.path(node))
        return {"href": href, **label(self.site.knowledge.iris, node)}

    def definition_link(self, kind: str, defined: str, number: int | None = None) -> View:
        """A link to a type, a predicate or a domain, with the number of its members."""
        node = self.site.knowledge.iris.concept(kind, defined)
        shown = None if number is None else f"{number:,}"
        return {"href": self.href(self.site.path(node)), "text": defined, "number": shown}


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

    def element(self, node: NamedNode, now: Nexus, reject_key: str | None = None) -> str:
        """The page of an element; ``Absent`` where it does not exist.

        ``now`` is the nexus with its whole history. With a key, a form rejects its values.
        """
        path = f"page/{element_path(self.store.iris.base, node.value)}"
        if not self.store.describe(node):
            page = replace(self._page(path), has_history=self._was_there(node, now))
            when = "now" if self.moment is None or self.moment.seq is None else "as of this commit"
            view = {"of": label(self.store.iris, node), "when": when, "refusal": no_element()}
            raise Absent(page.html("explorer/absent.html", "Not there", **view))
        triples, numbers = self.store.read(lambda: surroundings(self.store, node))
        knowledge = Knowledge.of(triples, self.store.iris)
        page = replace(self._page(path, knowledge), numbers=numbers, reject_key=reject_key)
        return element_page(page, knowledge.elements[node])

    def _was_there(self, node: NamedNode, now: Nexus) -> bool:
        try:
            return bool(now.history(self.store.iris.id(node), limit=1)["entries"])
        except KipError:
            return False

    def failure(self, status: int, error: dict[str, str]) -> str:
        """The page of a request that failed, with the error object of the other clients."""
        page, phrase = self._page("explore/failure"), HTTPStatus(status).phrase
        view = {"phrase": phrase, "status": str(status), "error": error}
        return page.html("explorer/failure.html", phrase, **view)

    # Search -----------------------------------------------------------------------------------

    def start(self, term: str) -> str:
        """The start page: a search field, its results, or what there is."""
        page = self._page("explore/", q=term)
        results = self._hits(term) if term.strip() else None
        overview = self._overview(page) if results is None else {}
        return page.html("explorer/start.html", self.title, term=term, results=results, **overview)

    def results(self, term: str) -> str:
        """The concepts that a term finds, as a list of links; without a page around them."""
        return render("explorer/results.html", results=self._hits(term))

    def _hits(self, term: str) -> View:
        page = self._page("explore/")
        reasons = self.nexus.beliefs.view().reasons
        limit = MOST_RANKED if reasons else MOST_HITS  # what is not believed is behind the rest
        response = self.nexus.execute_kip_readonly(
            {
                "command": "SEARCH CONCEPT :term LIMIT :limit",
                "parameters": {"term": term, "limit": limit},
            }
        )
        if "error" in response:
            return {"note": response["error"]["message"], "hits": []}
        hits = [
            {
                "link": page.identity_link(hit["id"]),
                "type": hit.get("type", ""),
                "about": _text((hit.get("attributes") or {}).get("description"))[:160],
                "unbelieved": reasons.get(cast(NamedNode, self.store.iris.from_id(hit["id"]))),
            }
            for hit in response["result"]
        ]
        hits = sorted(hits, key=lambda hit: hit["unbelieved"] is not None)[:MOST_HITS]
        return {"note": None if hits else f"No concept matches “{term}”.", "hits": hits}

    def _overview(self, page: ExplorerPage) -> View:
        primer: Any = self.nexus.execute("DESCRIBE PRIMER")
        totals = primer["totals"]
        return {
            "numbers": f"{count(totals['concepts'], 'concept')}, "
            f"{count(totals['propositions'], 'fact')}",
            "types": [
                page.definition_link("$ConceptType", type_, number)
                for type_, number in _data_types(totals).items()
            ],
            "domains": [
                page.definition_link("Domain", domain["name"], domain["concept_count"])
                for domain in primer["domain_map"]
            ],
            "changed": [
                {**self._link(page, change["id"]), "time": shown_time(change["changed_at"])}
                for change in primer["recent_changes"]["concepts"]
            ],
        }

    def _link(self, page: ExplorerPage, identity: str) -> View:
        """A link to an element: the name of a concept, the words of a proposition."""
        node = self.store.iris.from_id(identity)
        if node is None:
            return {"iri": identity}
        shown = read_element(self.store.iris, node, self.store.describe(node))
        if not isinstance(shown, Proposition):
            return page.node_link(node)
        href = page.href(page.site.path(node))
        return {"href": href, "words": time_pages.words_of(self.store.iris, shown)}

    # Schema -----------------------------------------------------------------------------------

    def schema(self) -> str:
        """The types and predicates as a picture and as lists, with counts."""
        page = self._page("explore/schema")
        primer: Any = self.nexus.execute("DESCRIBE PRIMER")
        totals = primer["totals"]
        counts = _data_types(totals)
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
        links = [page.definition_link("$ConceptType", type_, counts[type_]) for type_ in drawn]
        nodes = [Node(link["text"], link["number"], link["href"]) for link in links]
        title = "The types and how their concepts are linked"
        tables = [
            (heading, [page.definition_link(kind, *one) for one in totals[of].items()])
            for heading, kind, of in (
                ("Concept types", "$ConceptType", "concept_types"),
                ("Predicates", "$PropositionType", "proposition_types"),
            )
        ]
        picture = drawing(nodes, arrows, title) if nodes else None
        return page.html("explorer/schema.html", "Schema", drawing=picture, tables=tables)

    # Changes ----------------------------------------------------------------------------------

    def log(self, until: int | None) -> str:
        """The commits, newest first; without a history, the elements that changed last."""
        if self.moment is None:
            return self._changed_last()
        last = self.moment.latest if until is None else min(self.moment.latest, until)
        # Links lead to what there is now.
        page = ExplorerPage(self._page("").site, "explore/log", self.root)
        view = time_pages.log(page, self.nexus, self.moment, last)
        return page.html("explorer/log.html", "Changes", **view)

    def history(self, node: NamedNode, cursor: str | None) -> str:
        """The changes of an element, which may be deleted."""
        page = ExplorerPage(self._page("").site, "explore/history", self.root)
        view = time_pages.history(page, self.nexus, self.store.iris.id(node), cursor)
        return page.html("explorer/history.html", "History", of=page.node_link(node), **view)

    def _changed_last(self) -> str:
        page = self._page("explore/log")
        command = "FIND(?x.id, ?x.metadata._updated_at, ?x.metadata._version, ?x.metadata.author)"
        rows: list[tuple[Any, ...]] = []
        for pattern in ("?x {}", "?x (?s, ?p, ?o)"):
            order = "ORDER BY ?x.metadata._updated_at DESC LIMIT 60"
            rows += self.nexus.find(f"{command} WHERE {{ {pattern} }} {order}", entail=False).tuples
        rows.sort(key=lambda row: (row[1] or "", row[0]), reverse=True)
        groups: dict[str, list[View]] = {}
        for identity, moment, version, author in rows[:60]:
            kind = "new" if version == 1 else f"version {version}"
            note = " · ".join(filter(None, (kind, _text(author))))
            link = {**self._link(page, identity), "note": note}
            groups.setdefault(moment or "", []).append(link)
        view = {
            "commit": self.store.commit(),
            "groups": [(shown_time(moment), links) for moment, links in groups.items()],
        }
        return page.html("explorer/changed.html", "Changes", **view)

    # Review -----------------------------------------------------------------------------------

    def proposals(self, actor: Actor, secret: bytes, first: int) -> str:
        """The proposals that wait, the oldest first, from a number on."""
        page = self._page(review.PATH)
        view = review.listed(page, self.nexus, actor, secret, first)
        return page.html("explorer/proposals.html", "Proposals", **view)

    def proposal(self, actor: Actor, secret: bytes, id: str, error: KipError | None) -> str:
        """One proposal, and why a decision on it has failed."""
        page = self._page(f"{review.PATH}/{id}")
        view = review.alone(page, self.nexus, actor, secret, id, error)
        return page.html("explorer/proposals.html", f"Proposal {id}", **view)

    # Queries ----------------------------------------------------------------------------------

    def queries(self, command: str | None) -> str:
        """The pane for commands that read: text, answer, and the SPARQL of a FIND."""
        page = self._page("explore/kql", command=command)
        answer = None if command is None else self._answer(page, command)
        return page.html(
            "explorer/kql.html",
            "Query",
            command=_EXAMPLES[1][1] if command is None else command,
            examples=[(title, _query_href(page, example)) for title, example in _EXAMPLES],
            answer=answer,
        )

    def _answer(self, page: ExplorerPage, command: str) -> View:
        try:
            rows = self.nexus.find(command)
            columns, tuples = rows.columns, rows.tuples
        except KipError as error:
            if error.message.startswith("This call takes FIND only"):
                return self._other_answer(page, command)
            return {"problems": [_problem(page, error)], "result": None}
        response = self.nexus.execute_kip_readonly({"command": command})
        return {
            "problems": [_problem(page, one) for one in rows.warnings],
            "result": "table",
            "number": count(len(tuples), "row") + (", more follow" if rows.next_cursor else ""),
            "columns": columns,
            "rows": [
                ([self._cell(page, value) for value in row], why_page.href(page, command, number))
                for number, row in enumerate(tuples)
            ],
            "sparql": self.nexus.explain(command),
            "json": json.dumps(response, indent=2, ensure_ascii=False),
        }

    def why(self, command: str, row: int) -> str:
        """The page of a row of an answer: what it comes from."""
        page = self._page(why_page.PATH, command=command, row=str(row))
        view: View = {"command": command, "number": row, "query": _query_href(page, command)}
        try:
            explained = self.nexus.why(command, row=row)
        except KipError as error:
            view["problems"] = [_problem(page, error)]
        else:
            values = (column[row] for column in explained.outcome.columns)
            cells = [self._cell(page, value) for value in values]
            view["cells"] = list(zip(explained.outcome.rendering.names, cells, strict=False))
            view |= why_page.view(page, partial(self._link, page), explained)
        return page.html("explorer/why.html", "Why", **view)

    def _cell(self, page: ExplorerPage, value: Any) -> View:
        """A value of an answer; an element is a link to its page."""
        if isinstance(value, dict) and isinstance(value.get("id"), str) and "_type" in value:
            return {"kind": "link", "link": self._link(page, value["id"])}
        return page.value(value)

    def _other_answer(self, page: ExplorerPage, command: str) -> View:
        """The answer to DESCRIBE, SEARCH and EXPORT."""
        try:
            answer = self.nexus.answer(command, readonly=True)
        except KipError as error:
            return {"problems": [_problem(page, error)], "result": None}
        problems = [_problem(page, one) for one in answer.warnings]
        return {"problems": problems, "result": "value", "value": page.value(answer.result)}


def _data_types(totals: dict[str, Any]) -> dict[str, int]:
    """The types of data that have members, with their numbers."""
    counts = totals["concept_types"].items()
    return {type_: number for type_, number in counts if number and not type_.startswith("$")}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _query_href(page: ExplorerPage, command: str) -> str:
    return page.href("explore/kql?" + urlencode({"command": command}))


def _problem(page: ExplorerPage, problem: KipError | KipWarning) -> View:
    """An error or a warning with its place and hint, and links to the commands that follow it."""
    return {
        "code": problem.code if isinstance(problem, KipError) else None,
        "message": problem.located_message,
        "excerpt": problem.excerpt,
        "hint": problem.hint,
        "corrections": [(one, _query_href(page, one)) for one in corrections(problem)],
    }


# What the page of an element reads --------------------------------------------------------------


def surroundings(store: Store, node: NamedNode) -> tuple[list[Triple], Numbers]:
    """The triples of an element and of all that its page shows, and the numbers of what is more."""
    reading = _Surroundings(store)
    numbers: Numbers = {}
    reading.add(node, _DEEPEST)
    links = reading.facts_of(node, MOST_FACTS)
    if len(links) >= MOST_FACTS:
        for of, pattern in (("from", (node, KEY, VALUE)), ("to", (X, KEY, node))):
            facts = dict(_facts_by_predicate(store, pattern))
            numbers |= {(of, predicate): number for predicate, number in facts.items()}
            numbers[of, None] = sum(facts.values())
    for link in links:
        reading.add(link, _DEEPEST)
        facts_about = reading.facts_of(link, DRAWN)
        if len(facts_about) >= DRAWN:
            ends = ((link, KEY, VALUE), (X, KEY, link))
            rows = (row for pattern in ends for row in _facts_by_predicate(store, pattern))
            numbers["about", link.value] = sum(number for _, number in rows)
        for about in facts_about:
            reading.add(about, 1)
    members = list(reading.members(node))
    if len(members) > MOST_MEMBERS:
        is_predicate = node.value.startswith(store.iris.predicates)
        counted = (X, node, VALUE) if is_predicate else (X, vocab.TYPE, node)
        ((number,),) = grouped(store, (), counted)
        numbers["Facts" if is_predicate else "Members", None] = number
    for member in members:
        reading.add(member, 2)
    return reading.triples, numbers


def _facts_by_predicate(store: Store, pattern: Any) -> Iterator[tuple[str, int]]:
    """The predicates of the facts at an element, with their numbers."""
    for predicate, number in grouped(store, (KEY,), pattern):
        if predicate.value.startswith(store.iris.predicates):
            name = store.iris.concept_name(predicate.value)
            assert name is not None, predicate
            yield name, number


class _Surroundings:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._added: set[NamedNode] = set()
        self.triples: list[Triple] = []

    def add(self, node: NamedNode, depth: int) -> None:
        """Add an element, its definition, and its ends down to a depth."""
        if node in self._added:
            return
        self._added.add(node)
        own = self._store.describe(node)
        self.triples += own
        element_ = read_element(self._store.iris, node, own)
        iris = self._store.iris
        if isinstance(element_, Concept):
            self._add_definition(iris.type(element_.type))
            author = element_.metadata.get("author")
            if isinstance(author, Literal) and depth == _DEEPEST:
                self.add(iris.concept("Person", author.value), 1)
        elif isinstance(element_, Proposition):
            self._add_definition(iris.predicate(element_.predicate))
            for end in (element_.subject, element_.object):
                if depth > 0:
                    self.add(end, depth - 1)

    def _add_definition(self, node: NamedNode) -> None:
        if node not in self._added:
            self._added.add(node)
            self.triples += self._store.describe(node)

    def facts_of(self, node: NamedNode, most: int) -> list[NamedNode]:
        """The propositions with an element as subject or object, at most some of each."""
        predicates = self._store.iris.predicates
        facts = [
            fact
            for pattern in ((node, None, None), (None, None, node))
            for fact in islice(
                (
                    triple
                    for triple in self._store.match(*pattern)
                    if triple.predicate.value.startswith(predicates)
                ),
                most,
            )
        ]
        links = (link_of(self._store, fact) for fact in dict.fromkeys(facts))
        return [link for link in links if link is not None]

    def _order(self, triple: Triple) -> tuple[str, str]:
        """The names of the ends of a triple, by which pages sort; facts come before concepts."""
        name = self._store.iris.concept_name
        subject, object = cast("tuple[NamedNode, NamedNode]", (triple.subject, triple.object))
        return (name(subject.value) or "").casefold(), (name(object.value) or "").casefold()

    def members(self, node: NamedNode) -> Iterator[NamedNode]:
        """The first concepts of a type, or propositions with a predicate, in the page's order."""
        members = self._store.match(None, vocab.TYPE, node)
        for triple in nsmallest(MOST_MEMBERS + 1, members, self._order):
            yield cast(NamedNode, triple.subject)
        if node.value.startswith(self._store.iris.predicates):
            facts = self._store.match(None, node, None)
            for fact in nsmallest(MOST_MEMBERS + 1, facts, self._order):
                link = link_of(self._store, fact)
                if link is not None:
                    yield link
