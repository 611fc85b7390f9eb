"""The pages of concepts and propositions."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import NamedNode

from kiprdf.interchange.publishing.knowledge import is_definition
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import (
    SHOWN_NAME,
    Page,
    hint,
    lead,
    lines,
    name,
    section,
    words,
)
from kiprdf.interchange.publishing.page_sections import (
    attributes_in_sections,
    facts_about_facts,
    facts_section,
    metadata_table,
    schema_sections,
)
from kiprdf.rdf.elements import Concept, Element, Proposition


def element_page(page: Page, element_: Element) -> str:
    """The page of an element."""
    if isinstance(element_, Concept):
        return _concept_page(page, element_)
    return _proposition_page(page, element_)


def _concept_page(page: Page, concept: Concept) -> str:
    definition = page.site.knowledge.concept("$ConceptType", concept.type)
    kind: Child = concept.type if definition is None else page.link(definition.node)
    picture = hint(concept) or hint(definition)
    long = "long-name" if len(concept.name) > SHOWN_NAME else None
    title = element("h1", _picture(picture), name(concept.name, None), class_=long)
    main = [
        title,
        lead(concept),
        _attributes(page, concept),
        schema_sections(page, concept),
        facts_section(page, concept, "from"),
        facts_about_facts(page, concept),
        facts_section(page, concept, "to"),
        page.drawing(concept.node),
    ]
    return page.html(
        concept.name,
        element("article", lines(main)),
        "\n",
        _aside(page, concept),
        crumbs=_crumbs(kind),
        links=_alternate(page, concept.node),
    )


def _proposition_page(page: Page, fact: Proposition) -> str:
    about = facts_section(page, fact, "to"), facts_section(page, fact, "from")
    main = [
        element("h1", page.sentence(fact), class_="sentence"),
        lead(fact),
        _attributes(page, fact),
        *about,
    ]
    if not any(about):
        main.append(element("p", "No other fact is about this one.", class_="quiet"))
    predicate = page.site.knowledge.iris.predicate(fact.predicate)
    ends = (page.site.knowledge.elements.get(end) for end in (fact.subject, fact.object))
    subject, object_ = (one.name if isinstance(one, Concept) else "(fact)" for one in ends)
    return page.html(
        f"{subject[:60]} {words(fact.predicate)} {object_[:60]}",
        element("article", lines(main)),
        "\n",
        _aside(page, fact),
        crumbs=_crumbs(page.link(predicate, words(fact.predicate))),
        links=_alternate(page, fact.node),
    )


def _picture(picture: str | None) -> Child:
    if picture is None:
        return None
    return [element("span", picture, class_="picture", aria_hidden="true"), " "]


def _crumbs(kind: Child) -> Child:
    return [element("span", "›", aria_hidden="true"), element("span", kind)]


def _alternate(page: Page, node: NamedNode) -> Markup:
    turtle = page.href(page.site.path(node, "ttl"))
    return element("link", rel="alternate", type="text/turtle", href=turtle)


# Side column ------------------------------------------------------------------------------------


def _aside(page: Page, element_: Element) -> Markup:
    """Identity and metadata."""
    turtle = page.href(page.site.path(element_.node, "ttl"))
    identity = [
        _row("id", element("code", page.site.knowledge.iris.id(element_.node))),
        _row("IRI", element("code", element_.node.value)),
        [_row("same as", element("code", iri)) for iri in _equivalents(page, element_)],
        _row("data", element("a", "Turtle", href=turtle, type="text/turtle")),
    ]
    parts = [element("h2", "Identity"), element("dl", identity, class_="identity")]
    metadata_ = metadata_table(page, element_)
    if metadata_ is not None:
        parts += [element("h2", "Provenance"), metadata_]
    return element("aside", "\n", lines(parts))


def _row(key: str, *value: Child) -> Child:
    return [element("dt", key), element("dd", value)]


def _equivalents(page: Page, element_: Element) -> Iterator[str]:
    """The term of the mapping for a type or predicate."""
    if not isinstance(element_, Concept) or not is_definition(element_):
        return
    mapping = page.site.mapping
    term_of = mapping.concept_type if element_.type == "$ConceptType" else mapping.predicate
    term = term_of(element_.name)
    if term is not None:
        yield term.value


# The article ------------------------------------------------------------------------------------


def _attributes(page: Page, element_: Element) -> Markup | None:
    """All attributes except those shown elsewhere on the page."""
    hidden = [key for key in ("description",) if lead(element_) is not None]
    hidden += [key for key in ("display_hint",) if hint(element_) is not None]
    if isinstance(element_, Concept) and is_definition(element_):
        hidden += attributes_in_sections(page, element_)
    table = page.table(element_.attributes, *hidden)
    return None if table is None else section("Attributes", table, "\n")
