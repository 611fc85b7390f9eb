"""The start page, the vocabulary page, and the names for the search of a site."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from kiprdf import resources
from kiprdf.interchange.description import Dump
from kiprdf.interchange.knowledge import DOMAIN, attribute, is_definition, text_of
from kiprdf.pages.elements import ends, rules, term
from kiprdf.pages.page import Page, Site, View, count, hint
from kiprdf.pages.rendering import ASSETS
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept

_COMMENT = NamedNode(vocab.RDFS + "comment")


def index_page(site: Site, dumps: Sequence[Dump]) -> str:
    """The start page: counts, search, domains, types and downloads."""
    page = Page(site, "index.html")
    script = (ASSETS / "search.js").read_text("utf-8")
    return page.html(
        "index.html",
        site.title,
        numbers=_numbers(site),
        base=site.knowledge.iris.base,
        domains=_domains(page),
        types=_types(page),
        dumps=[{"name": one.name, "size": size(one.size), "title": one.title} for one in dumps],
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _numbers(site: Site) -> list[tuple[str, str]]:
    knowledge = site.knowledge
    numbers = (
        (sum(1 for one in knowledge.concepts if not is_definition(one)), "concept"),
        (sum(1 for _ in knowledge.propositions), "fact"),
        (len(knowledge.by_type.get("$ConceptType", ())), "type"),
        (len(knowledge.by_type.get("$PropositionType", ())), "predicate"),
    )
    return [(f"{number:,}", count(number, one).split(" ")[1]) for number, one in numbers]


def _domains(page: Page) -> list[View]:
    """The domains, those with most members first."""
    domains = page.site.knowledge.by_type.get(DOMAIN, [])
    sized = [(len(page.site.knowledge.members(one.node)), one) for one in domains]
    return [
        {**_entry(page, domain), "members": count(members, "member")}
        for members, domain in sorted(sized, key=lambda pair: -pair[0])
    ]


def _types(page: Page) -> list[View]:
    """The types, those with most members first and meta-types last."""
    by_type = page.site.knowledge.by_type
    types = [(len(by_type.get(one.name, ())), one) for one in _by_name(page, "$ConceptType")]
    types.sort(key=lambda pair: (pair[1].name[0] == "$", -pair[0]))
    return [{**_entry(page, one), "members": f"{members:,}"} for members, one in types]


def _entry(page: Page, concept: Concept) -> View:
    """A concept in a list of definitions or domains."""
    description = text_of(concept, "description")
    return {"picture": hint(concept), "link": page.link(concept.node), "description": description}


def _by_name(page: Page, meta_type: str) -> list[Concept]:
    definitions = page.site.knowledge.by_type.get(meta_type, ())
    return sorted(definitions, key=lambda one: one.name.casefold())


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


def vocabulary_page(site: Site) -> str:
    """The vocabulary page: types with attributes, predicates with ends, and the terms of kiprdf."""
    page = Page(site, "vocabulary.html")
    types, predicates = (_by_name(page, one) for one in ("$ConceptType", "$PropositionType"))
    return page.html(
        "vocabulary.html",
        "Vocabulary",
        contents=[
            ("types", count(len(types), "type")),
            ("predicates", count(len(predicates), "predicate")),
            ("terms", "terms of every nexus"),
        ],
        types=[{**_defined(page, one), "rules": rules(one)} for one in types],
        predicates=[{**_defined(page, one), "ends": ends(page, one)} for one in predicates],
        terms=_terms(),
    )


def _defined(page: Page, concept: Concept) -> View:
    return {**_entry(page, concept), "same_as": term(page, concept)}


def _terms() -> list[tuple[str, str]]:
    """The terms of ``mappings/kip.ttl`` with their comments, in the order of the file."""
    quads = parse((resources.directory("mappings") / "kip.ttl").read_bytes(), RdfFormat.TURTLE)
    return [
        (quad.subject.value, quad.object.value)
        for quad in quads
        if quad.predicate == _COMMENT
        and isinstance(quad.subject, NamedNode)
        and isinstance(quad.object, Literal)
    ]
