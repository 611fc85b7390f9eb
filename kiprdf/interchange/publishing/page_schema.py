"""What the page of a type or predicate shows of what it defines."""

from __future__ import annotations

from collections.abc import Iterator

from kiprdf.interchange.publishing.knowledge import attribute
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_facts import MOST_ROWS, folded, more, rest
from kiprdf.interchange.publishing.page_parts import Page, lines, section, words
from kiprdf.interchange.vocabularies.schema import attribute_rules, end_types
from kiprdf.rdf.elements import Concept, Proposition, json_map


def told_elsewhere(page: Page, definition: Concept) -> Iterator[str]:
    """The attributes of a definition that a section of their own shows in full."""
    attributes = json_map(definition.attributes)
    if attribute_rules(attributes):
        yield "instance_schema"
    if _key_instances(page, definition) is not None:
        yield "key_instances"
    for role in ("subject", "object"):
        if end_types(attributes, role) == attributes.get(f"{role}_types"):
            yield f"{role}_types"


def _key_instances(page: Page, definition: Concept) -> Markup | None:
    """The members worth knowing first."""
    names = attribute(definition, "key_instances")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return None
    links = (element("li", page.concept_link(definition.name, one)) for one in names)
    return section("Members to begin with", element("ul", links, class_="tags")) if names else None


def schema_sections(page: Page, concept: Concept) -> Child:
    """The sections of a type or predicate; none for other concepts."""
    if concept.type == "$ConceptType":
        table = attribute_table(page, concept)
        return lines([_key_instances(page, concept), table, _members(page, concept)])
    if concept.type == "$PropositionType":
        return lines([section("Ends", ends(page, concept)), _uses(page, concept)])
    return None


def attribute_table(page: Page, concept: Concept) -> Markup | None:
    """The attributes that the members of a type have."""
    rules = attribute_rules(json_map(concept.attributes))
    if not rules:
        return None
    head = element("tr", (element("th", t, scope="col") for t in ("Attribute", "Type", "Meaning")))
    rows = (
        element(
            "tr",
            element("th", element("code", key), scope="row"),
            element("td", _kind(rule), class_="kind"),
            element("td", str(rule.get("description", "")), dir="auto"),
        )
        for key, rule in rules.items()
    )
    body = [element("thead", head), element("tbody", rows)]
    table = element("div", element("table", body), class_="wide")
    return section("Attributes of its members", table, "\n")


def _kind(rule: dict[str, object]) -> Child:
    shown = str(rule.get("type", "any"))
    if "item_type" in rule:
        shown += f" of {rule['item_type']}"
    return [shown, [" ", element("em", "required")] if rule.get("is_required") is True else None]


def ends(page: Page, predicate: Concept) -> Markup:
    """What may stand on the two sides of a predicate, and what it implies."""
    attributes = json_map(predicate.attributes)
    sides = [_side(page, end_types(attributes, role)) for role in ("subject", "object")]
    notes = [
        note
        for key, note in (("is_symmetric", "symmetric"), ("is_transitive", "transitive"))
        if attributes.get(key) is True
    ]
    arrow = element("span", f" {words(predicate.name)} ", class_="predicate")
    kinds = [[" ", element("small", note, class_="chip")] for note in notes]
    return element("p", sides[0], arrow, sides[1], kinds, class_="ends")


def _side(page: Page, types: list[str] | None) -> Child:
    if not types:
        return element("span", "anything", class_="null")
    links = [page.concept_link("$ConceptType", one) for one in types]
    return [[" or " if place else None, link] for place, link in enumerate(links)]


def _members(page: Page, concept: Concept) -> Markup | None:
    members = page.site.known.by_type.get(concept.name, [])
    if not members:
        return None
    shown = sorted(members, key=_by_name)[:MOST_ROWS]
    items = (element("li", page.link(member.node)) for member in shown)
    parts = [element("ul", items, class_="columns"), rest(len(members))]
    return section("Members", parts, note=f"{len(members):,}")


def _by_name(concept: Concept) -> tuple[str, str]:
    return concept.name.casefold(), concept.name


def _uses(page: Page, predicate: Concept) -> Markup | None:
    facts = page.site.known.facts_by.get(predicate.name, [])
    if not facts:
        return None
    shown = sorted(facts, key=lambda fact: _ends_by_name(page, fact))[:MOST_ROWS]
    items = (element("li", page.sentence(fact), " ", more(page, fact)) for fact in shown)
    parts = [element("ul", items, class_="facts"), rest(len(facts))]
    return section("Facts", parts, note=f"{len(facts):,}")


def _ends_by_name(page: Page, fact: Proposition) -> tuple[str, str, str]:
    return folded(page, fact.subject), folded(page, fact.object), fact.node.value
