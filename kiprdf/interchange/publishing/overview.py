"""The start page, the vocabulary page, and the names for the search."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from kiprdf import resources
from kiprdf.interchange.publishing.description import Dump
from kiprdf.interchange.publishing.knowledge import DOMAIN, attribute, is_definition, text_of
from kiprdf.interchange.publishing.markup import Child, Markup, element, raw
from kiprdf.interchange.publishing.page_parts import Page, Site, count, hint, name, section
from kiprdf.interchange.publishing.page_sections import attribute_table, ends
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept

ASSETS = Path(__file__).resolve().parent / "assets"
_SCRIPT = (ASSETS / "search.js").read_text("utf-8")
_COMMENT = NamedNode(vocab.RDFS + "comment")


def index_page(site: Site, dumps: Sequence[Dump]) -> str:
    """The start page: counts, search, domains, types and downloads."""
    page = Page(site, "index.html")
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    void = element("link", rel="describedby", type="text/turtle", href="void.ttl")
    return page.html(
        site.title,
        element("div", _opening(page), "\n", class_="opening"),
        "\n",
        _domains(page),
        _types(page),
        _downloads(page, dumps),
        element("script", raw(_SCRIPT)),
        links=void,
        # names.js is in the same folder; for file: URLs, browsers do not treat it as same-origin.
        script_policy=f"'sha256-{digest}' 'self' file:",
    )


def _opening(page: Page) -> list[Child]:
    knowledge = page.site.knowledge
    concepts = [one for one in knowledge.concepts if not is_definition(one)]
    propositions = sum(1 for _ in knowledge.propositions)
    types, predicates = (knowledge.by_type.get(t, ()) for t in ("$ConceptType", "$PropositionType"))
    numbers = (
        (len(concepts), "concept"),
        (propositions, "fact"),
        (len(types), "type"),
        (len(predicates), "predicate"),
    )
    items = (
        element("li", element("b", f"{n:,}"), " ", count(n, o).split(" ")[1]) for n, o in numbers
    )
    base = element(
        "p", "All IRIs begin with ", element("code", knowledge.iris.base), class_="quiet"
    )
    return [
        element("h1", page.site.title),
        element("ul", items, class_="numbers"),
        base,
        _search(),
    ]


def _search() -> Markup:
    """The search field; hidden without JavaScript."""
    field = element(
        "input", type="search", id="search", placeholder="A name or an alias", autocomplete="off"
    )
    label = element("label", "Search", for_="search")
    results = element("ul", id="results", class_="facts", aria_live="polite")
    return element("form", label, field, results, id="find", role="search", hidden=True)


def _domains(page: Page) -> Markup | None:
    domains = page.site.knowledge.by_type.get(DOMAIN, [])
    if not domains:
        return None
    ranked = sorted(domains, key=lambda one: -len(page.site.knowledge.members(one.node)))
    cards = (_card(page, domain) for domain in ranked)
    return section("Domains", element("ul", cards, class_="cards"))


def _card(page: Page, domain: Concept) -> Markup:
    members = len(page.site.knowledge.members(domain.node))
    picture = hint(domain)
    title = element("h3", [picture, " "] if picture else None, page.link(domain.node))
    text = text_of(domain, "description")
    return element(
        "li",
        title,
        element("p", text, dir="auto") if text else None,
        element("small", count(members, "member")),
    )


def _types(page: Page) -> Markup | None:
    knowledge = page.site.knowledge
    types = sorted(knowledge.by_type.get("$ConceptType", ()), key=lambda one: one.name.casefold())
    # Types with the most members first, meta-types last.
    types.sort(key=lambda one: (one.name[0] == "$", -len(knowledge.by_type.get(one.name, ()))))
    rows = (_type_row(page, one) for one in types)
    table = element("div", element("table", element("tbody", rows)), class_="wide")
    vocabulary = element("a", "Vocabulary", href="vocabulary.html")
    return section("Types", table, element("p", vocabulary)) if types else None


def _type_row(page: Page, concept: Concept) -> Markup:
    members = len(page.site.knowledge.by_type.get(concept.name, ()))
    picture = element("span", hint(concept) or "", class_="picture", aria_hidden="true")
    return element(
        "tr",
        element("th", picture, " ", page.link(concept.node), scope="row"),
        element("td", f"{members:,}", class_="figure"),
        element("td", text_of(concept, "description"), dir="auto"),
    )


def _downloads(page: Page, dumps: Sequence[Dump]) -> Markup:
    rows = (
        element(
            "tr",
            element("th", element("a", dump.name, href=dump.name), scope="row"),
            element("td", size(dump.size), class_="figure"),
            element("td", dump.title),
        )
        for dump in dumps
    )
    table = element("div", element("table", element("tbody", rows)), class_="wide")
    note = element(
        "p",
        "Described with counts in ",
        element("a", "void.ttl", href="void.ttl"),
        " (VoID and DCAT).",
        class_="quiet",
    )
    return section("Downloads", table, note, id="downloads")


def size(number: int) -> str:
    """A number of bytes with a unit.

    >>> size(900), size(1_234_567)
    ('900 bytes', '1.2 MB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= factor:
            return f"{number / factor:,.1f} {unit}"
    return f"{number} bytes"


def names_script(site: Site) -> str:
    """A script with the names, aliases and pages of all concepts, for the search."""
    rows = [
        [concept.name, concept.type, _aliases(concept), site.path(concept.node)]
        for concept in site.knowledge.concepts
    ]
    # Escaped to ASCII without "<", so that no name can end the script.
    text = json.dumps(rows, separators=(",", ":")).replace("<", "\\u003c")
    return f"kiprdfNames({text});\n"


def _aliases(concept: Concept) -> str:
    aliases = attribute(concept, "aliases")
    texts = [a for a in aliases if isinstance(a, str)] if isinstance(aliases, list) else []
    return " · ".join(texts)[:200]


# The vocabulary ---------------------------------------------------------------------------------


def vocabulary_page(site: Site) -> str:
    """The vocabulary page: types with attributes, predicates with ends, and the terms of kiprdf."""
    page = Page(site, "vocabulary.html")
    knowledge = site.knowledge
    types, predicates = (
        sorted(knowledge.by_type.get(meta_type, ()), key=lambda one: one.name.casefold())
        for meta_type in ("$ConceptType", "$PropositionType")
    )
    body = [
        element("h1", "Vocabulary"),
        element(
            "p",
            "The types and predicates of this nexus, and the terms used by every nexus.",
            class_="lead",
        ),
        _contents(types, predicates),
        section("Types", [_definition(page, one, None) for one in types], id="types"),
        section(
            "Predicates", [_definition(page, p, ends(page, p)) for p in predicates], id="predicates"
        ),
        section("Terms of every nexus", element("dl", _terms(), class_="terms"), id="terms"),
    ]
    return page.html("Vocabulary", element("article", [[part, "\n"] for part in body]))


def _contents(types: Sequence[Concept], predicates: Sequence[Concept]) -> Markup:
    parts = (
        ("types", count(len(types), "type")),
        ("predicates", count(len(predicates), "predicate")),
        ("terms", "terms of every nexus"),
    )
    links = (element("li", element("a", text, href=f"#{id}")) for id, text in parts)
    return element("ul", links, class_="tags")


def _definition(page: Page, concept: Concept, more: Child) -> Markup:
    """A type or predicate: name, description and details."""
    picture = hint(concept)
    link = page.link(concept.node, name(concept.name))
    text = text_of(concept, "description")
    table = attribute_table(page, concept) if concept.type == "$ConceptType" else None
    summary = element("summary", "Attributes of its members")
    return element(
        "div",
        element("h3", [picture, " "] if picture else None, link, _same_as(page, concept)),
        element("p", text, dir="auto") if text else None,
        more,
        element("details", summary, table) if table is not None else None,
        class_="definition",
    )


def _same_as(page: Page, concept: Concept) -> Child:
    mapping = page.site.mapping
    term_of = mapping.concept_type if concept.type == "$ConceptType" else mapping.predicate
    term = term_of(concept.name)
    return None if term is None else [" ", element("code", term.value, class_="chip")]


def _terms() -> Iterable[Markup]:
    """The terms of ``mappings/kip.ttl`` with their comments, in the order of the file."""
    path = resources.directory("mappings") / "kip.ttl"
    quads = parse(path.read_bytes(), format=RdfFormat.TURTLE)
    comments = [quad for quad in quads if quad.predicate == _COMMENT]
    for quad in comments:
        assert isinstance(quad.subject, NamedNode)
        assert isinstance(quad.object, Literal)
        yield element("dt", element("code", quad.subject.value))
        yield element("dd", quad.object.value)
