"""The sections of a page: facts, and what a type or predicate defines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal

from pyoxigraph import NamedNode

from kiprdf.interchange.publishing.knowledge import attribute, metadata
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import (
    CompactSite,
    Page,
    count,
    lines,
    name,
    section,
    words,
)
from kiprdf.interchange.vocabularies.schema import attribute_rules, end_types
from kiprdf.rdf.elements import Concept, Element, Proposition, json_map

MOST_ROWS = 500
"""The maximum number of facts of one predicate, or members of one type, on a page."""
_COLUMNS = 8
"""From this number on, facts without details are set in columns."""
_NOTE_LENGTH = 60

# Facts ------------------------------------------------------------------------------------------


def facts_section(page: Page, element_: Element, direction: Literal["from", "to"]) -> Markup | None:
    """The facts with an element as subject (``from``) or object (``to``), by predicate."""
    knowledge = page.site.knowledge
    by_end = knowledge.facts_from if direction == "from" else knowledge.facts_to
    facts = by_end.get(element_.node, [])
    if not facts:
        return None

    # The facts have no other page, so none is left out.
    is_home = isinstance(page.site, CompactSite) and direction == "from"

    def other_end(fact: Proposition) -> NamedNode:
        return fact.object if direction == "from" else fact.subject

    def order(fact: Proposition) -> tuple[str, str, str]:
        return fact.predicate, _sort_name(page, other_end(fact)), fact.node.value

    def group(predicate: str, members: list[Proposition]) -> Markup:
        verb = page.link(knowledge.iris.predicate(predicate), words(predicate))
        this = name(element_.name) if isinstance(element_, Concept) else "this fact"
        here = element("span", this, class_="here")
        heading = [here, " ", verb] if direction == "from" else [verb, " ", here]
        shown = members if is_home else members[:MOST_ROWS]
        rows = [_fact_row(page, fact, other_end(fact), is_home) for fact in shown]
        is_short = not is_home and not any(fact.attributes for fact in members)
        in_columns = len(rows) >= _COLUMNS and is_short
        total = page.number(direction, predicate, len(members))
        number = f"{total:,}" if total > 1 else None
        parts = [
            element("h3", heading, [" ", element("small", number)] if number else None),
            element("ul", rows, class_="columns" if in_columns else "facts"),
            _omitted(page, total - len(shown)),
        ]
        return element("div", "\n", lines(parts), class_="group")

    by_predicate = {
        predicate: list(members)
        for predicate, members in groupby(sorted(facts, key=order), lambda fact: fact.predicate)
    }
    groups: list[Child] = [group(predicate, members) for predicate, members in by_predicate.items()]
    total = page.number(direction, None, len(facts))
    listed = sum(page.number(direction, one, len(by_predicate[one])) for one in by_predicate)
    groups.append(_omitted(page, max(0, total - listed)))
    if isinstance(element_, Proposition):
        title = (
            "Facts with this fact as subject" if direction == "from" else "Facts about this fact"
        )
    else:
        title = "Facts" if direction == "from" else "Facts that refer to it"
    return section(title, lines(groups), note=f"{total:,}")


def _sort_name(page: Page, node: NamedNode) -> str:
    """The name by which an end is sorted; facts come before concepts."""
    end = page.site.knowledge.elements.get(node)
    return end.name.casefold() if isinstance(end, Concept) else ""


def facts_about_facts(page: Page, concept: Concept) -> Markup | None:
    """The facts about the facts that begin at a concept, where these have no pages."""
    if not isinstance(page.site, CompactSite):
        return None
    facts = list(page.site.knowledge.facts_about_facts(concept.node))
    rows = [
        element("li", page.sentence(fact), " ", _opened(page, fact), id=page.site.anchor(fact.node))
        for fact in facts
    ]
    listed = element("ul", rows, class_="facts")
    return section("Facts about these facts", listed, note=f"{len(facts):,}") if facts else None


def _fact_row(page: Page, fact: Proposition, other_end: NamedNode, is_home: bool) -> Markup:
    """The other end of a fact, and the rest of the fact or a link to its page."""
    other = page.site.knowledge.elements.get(other_end)
    if isinstance(other, Proposition):
        shown: Child = element("span", page.sentence(other, 2), class_="quoted")
    else:
        shown = page.link(other_end)
    if is_home:
        return element("li", shown, " ", _opened(page, fact), id=page.site.anchor(fact.node))
    return element("li", shown, " ", _details(page, fact))


def _opened(page: Page, fact: Proposition) -> Markup:
    """All that a fact has, which a click shows."""
    knowledge = page.site.knowledge
    about = [*knowledge.facts_to.get(fact.node, ()), *knowledge.facts_from.get(fact.node, ())]
    links = [element("li", page.link(other.node)) for other in about[:MOST_ROWS]]
    parts = [
        element("p", element("code", knowledge.iris.id(fact.node))),
        page.table(fact.attributes),
        metadata_table(page, fact),
        element("ul", links, class_="facts") if links else None,
        _omitted(page, len(about) - len(links)),
    ]
    return element("details", element("summary", _notes(page, fact) or "details"), lines(parts))


def _details(page: Page, fact: Proposition) -> Markup:
    """A link to the page of a fact, with its attributes and confidence as text."""
    notes = _notes(page, fact)
    class_ = "more notes" if notes else "more"
    return element("small", page.link(fact.node, notes or "details"), class_=class_)


def _notes(page: Page, fact: Proposition) -> str:
    """The attributes and confidence of a fact, and how many facts are about it."""
    knowledge = page.site.knowledge
    read = len(knowledge.facts_to.get(fact.node, ())) + len(knowledge.facts_from.get(fact.node, ()))
    about = page.number("about", fact.node.value, read)
    notes = [_attribute_note(key, attribute(fact, key)) for key in sorted(fact.attributes)]
    notes.append(_confidence(fact))
    notes.append(f"{count(about, 'fact')} about it" if about else None)
    return " · ".join(note for note in notes if note)


def _attribute_note(key: str, value: object) -> str | None:
    if isinstance(value, list | dict):
        return None
    text = "null" if value is None else str(value)
    return f"{words(key)}: {text if len(text) <= _NOTE_LENGTH else text[:_NOTE_LENGTH] + '…'}"


def _confidence(fact: Proposition) -> str | None:
    value = metadata(fact, "confidence")
    certain = isinstance(value, bool) or not isinstance(value, int | float) or value >= 1
    return None if certain else f"confidence {value}"


def metadata_table(page: Page, element_: Element) -> Markup | None:
    """The metadata; keys of the engine come last."""
    terms = element_.metadata
    if not terms:
        return None
    keys = sorted(terms, key=lambda key: (key.startswith("_"), key))
    rows = (_metadata_row(page, element_, key) for key in keys)
    return element("dl", rows, class_="table")


def _metadata_row(page: Page, element_: Element, key: str) -> Child:
    value = metadata(element_, key)
    # An author who is a Person of the nexus is linked.
    person = (
        page.site.knowledge.person(value) if key == "author" and isinstance(value, str) else None
    )
    shown = page.value(value) if person is None else page.link(person)
    return [element("dt", words(key.lstrip("_")), title=key), element("dd", shown)]


def _omitted(page: Page, number: int) -> Markup | None:
    return element("p", page.omitted(number), class_="quiet") if number else None


# Types and predicates ---------------------------------------------------------------------------


def schema_sections(page: Page, concept: Concept) -> Child:
    """The sections of a type or predicate; none for other concepts."""
    if concept.type == "$ConceptType":
        table = attribute_table(page, concept)
        return lines([_key_instances(page, concept), table, _members(page, concept)])
    if concept.type == "$PropositionType":
        return lines([section("Ends", ends(page, concept)), _uses(page, concept)])
    return None


def attributes_in_sections(page: Page, definition: Concept) -> Iterator[str]:
    """The attributes of a definition that ``schema_sections`` shows."""
    attributes = json_map(definition.attributes)
    if attribute_rules(attributes):
        yield "instance_schema"
    if _key_instances(page, definition) is not None:
        yield "key_instances"
    for role in ("subject", "object"):
        if end_types(attributes, role) == attributes.get(f"{role}_types"):
            yield f"{role}_types"


def _key_instances(page: Page, definition: Concept) -> Markup | None:
    names = attribute(definition, "key_instances")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return None
    links = (element("li", page.concept_link(definition.name, one)) for one in names)
    return section("Key members", element("ul", links, class_="tags")) if names else None


def attribute_table(page: Page, concept: Concept) -> Markup | None:
    """The attributes that members of a type have."""
    rules = attribute_rules(json_map(concept.attributes))
    if not rules:
        return None
    head = element("tr", (element("th", t, scope="col") for t in ("Attribute", "Type", "Meaning")))
    rows = (
        element(
            "tr",
            element("th", element("code", key), scope="row"),
            element("td", _value_type(rule), class_="kind"),
            element("td", str(rule.get("description", "")), dir="auto"),
        )
        for key, rule in rules.items()
    )
    body = [element("thead", head), element("tbody", rows)]
    table = element("div", element("table", body), class_="wide")
    return section("Attributes of its members", table, "\n")


def _value_type(rule: dict[str, object]) -> Child:
    text = str(rule.get("type", "any"))
    if "item_type" in rule:
        text += f" of {rule['item_type']}"
    return [text, [" ", element("em", "required")] if rule.get("is_required") is True else None]


def ends(page: Page, predicate: Concept) -> Markup:
    """The types of subject and object of a predicate, and whether it is symmetric or transitive."""
    attributes = json_map(predicate.attributes)
    subject, object_ = (_end(page, end_types(attributes, role)) for role in ("subject", "object"))
    traits = [
        trait for trait in ("symmetric", "transitive") if attributes.get(f"is_{trait}") is True
    ]
    verb = element("span", f" {words(predicate.name)} ", class_="predicate")
    chips = [[" ", element("small", trait, class_="chip")] for trait in traits]
    return element("p", subject, verb, object_, chips, class_="ends")


def _end(page: Page, types: list[str] | None) -> Child:
    if not types:
        return element("span", "anything", class_="null")
    links = [page.concept_link("$ConceptType", one) for one in types]
    return [[" or " if index else None, link] for index, link in enumerate(links)]


def _members(page: Page, concept: Concept) -> Markup | None:
    def order(member: Concept) -> tuple[str, str]:
        return member.name.casefold(), member.name

    members = sorted(page.site.knowledge.by_type.get(concept.name, ()), key=order)
    return _list(page, "Members", "columns", len(members), (page.link(m.node) for m in members))


def _uses(page: Page, predicate: Concept) -> Markup | None:
    def order(fact: Proposition) -> tuple[str, str, str]:
        return _sort_name(page, fact.subject), _sort_name(page, fact.object), fact.node.value

    facts = sorted(page.site.knowledge.facts_by.get(predicate.name, ()), key=order)
    rows = ([page.sentence(fact), " ", _details(page, fact)] for fact in facts)
    return _list(page, "Facts", "facts", len(facts), rows)


def _list(page: Page, title: str, class_: str, read: int, rows: Iterable[Child]) -> Markup | None:
    """A section with the first rows of a list."""
    if not read:
        return None
    number = page.number(title, None, read)
    items = (element("li", row) for row, _ in zip(rows, range(MOST_ROWS), strict=False))
    parts = [_omitted(page, max(0, number - MOST_ROWS)), element("ul", items, class_=class_)]
    return section(title, parts, note=f"{number:,}")
