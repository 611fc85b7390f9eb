"""The pages of concepts and propositions: their facts, and what a type or predicate defines."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from kiprdf import resources
from kiprdf.interchange.description import Dump
from kiprdf.interchange.knowledge import DOMAIN, is_definition, text_of
from kiprdf.interchange.vocabularies.schema import attribute_rules, end_types
from kiprdf.pages.page import (
    ASSETS,
    SHOWN_NAME,
    Page,
    Site,
    View,
    count,
    hint,
    name,
    table_row,
    words,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, attribute, json_map, metadata

MOST_ROWS = 500
"""The maximum number of facts of one predicate, or members of one type, on a page."""
_COLUMNS = 8
"""From this number on, facts without details are set in columns."""
_NOTE_LENGTH = 60


def element_page(page: Page, element: Element) -> str:
    """The page of an element."""
    if isinstance(element, Concept):
        title, view = _concept(page, element)
    else:
        title, view = _proposition(page, element)
    return page.html("element.html", title, **(_common(page, element) | view))


def _concept(page: Page, concept: Concept) -> tuple[str, View]:
    """The title of the page of a concept, and what only this kind of page has."""
    definition = page.site.knowledge.concept("$ConceptType", concept.type)
    view = {
        "crumb": {"text": concept.type} if definition is None else page.link(definition.node),
        "picture": hint(concept) or hint(definition),
        "name": name(concept.name, None),
        "is_long": len(concept.name) > SHOWN_NAME,
        "definition": _definition(page, concept),
        "sections": [
            _facts(page, concept, "from"),
            _facts_about_facts(page, concept),
            _facts(page, concept, "to"),
        ],
    }
    return concept.name, view


def _proposition(page: Page, fact: Proposition) -> tuple[str, View]:
    """The title of the page of a proposition, and what only this kind of page has."""
    knowledge = page.site.knowledge
    ends = (knowledge.elements.get(end) for end in (fact.subject, fact.object))
    subject, object_ = (one.name if isinstance(one, Concept) else "(fact)" for one in ends)
    view = {
        "crumb": page.link(knowledge.iris.predicate(fact.predicate), words(fact.predicate)),
        "sentence": page.sentence(fact),
        "sections": [_facts(page, fact, "to"), _facts(page, fact, "from")],
    }
    return f"{subject[:60]} {words(fact.predicate)} {object_[:60]}", view


def _common(page: Page, element: Element) -> View:
    """What the pages of all elements have: attributes, identity and metadata."""
    lead = text_of(element, "description")
    hidden = [] if lead is None else ["description"]
    if hint(element) is not None:
        hidden.append("display_hint")
    same_as = None
    if isinstance(element, Concept) and is_definition(element):
        hidden += _attributes_in_sections(element)
        same_as = term(page, element)
    return {
        "sentence": None,
        "definition": None,
        "drawing": page.drawing(),
        "lead": lead,
        "attributes": page.table(element.attributes, *hidden),
        "id": page.site.knowledge.iris.id(element.node),
        "iri": element.node.value,
        "same_as": same_as,
        "turtle": page.href(page.site.path(element.node, "ttl")),
        "hidden": hidden,
        "metadata": _metadata_table(page, element),
    }


def term(page: Page, definition: Concept) -> str | None:
    """The IRI of the mapping for a type or predicate."""
    mapping = page.site.mapping
    is_type = definition.type == "$ConceptType"
    mapped = (mapping.concept_type if is_type else mapping.predicate)(definition.name)
    return None if mapped is None else mapped.value


# Facts ------------------------------------------------------------------------------------------


def _facts(page: Page, element: Element, direction: OneOf["from", "to"]) -> View | None:
    """The facts with an element as subject (``from``) or object (``to``), by predicate."""
    knowledge, is_from = page.site.knowledge, direction == "from"
    read = (knowledge.facts_from if is_from else knowledge.facts_to).get(element.node, [])
    facts = [fact for fact in read if page.is_listed(fact.node)]
    if not facts:
        return None

    def other_end(fact: Proposition) -> NamedNode:
        return fact.object if is_from else fact.subject

    def order(fact: Proposition) -> tuple[str, str, str]:
        return fact.predicate, _sort_name(page, other_end(fact)), fact.node.value

    here = page.label(element) if isinstance(element, Concept) else {"text": "this fact"}
    # The facts have no other page, so none is left out.
    is_home = page.site.is_compact and is_from
    groups, listed = [], 0
    for predicate, same in groupby(sorted(facts, key=order), lambda fact: fact.predicate):
        members = list(same)
        shown = members if is_home else members[:MOST_ROWS]
        number = page.number(direction, predicate, len(members))
        is_short = not is_home and not any(fact.attributes for fact in members)
        listed += number
        groups.append(
            {
                "here": here,
                "verb": page.link(knowledge.iris.predicate(predicate), words(predicate)),
                "is_from": is_from,
                "number": f"{number:,}" if number > 1 else None,
                "class": "columns" if len(shown) >= _COLUMNS and is_short else "facts",
                "rows": [_fact_row(page, fact, other_end(fact), is_home) for fact in shown],
                "omitted": page.omitted(number - len(shown)),
                "pager": page.pager_of(direction, predicate, len(shown)),
            }
        )
    if isinstance(element, Proposition):
        title = "Facts with this fact as subject" if is_from else "Facts about this fact"
    else:
        title = "Facts" if is_from else "Facts that refer to it"
    return {"title": title, "note": f"{listed:,}", "groups": groups, "omitted": None, "pager": None}


def _sort_name(page: Page, node: NamedNode) -> str:
    """The name by which an end is sorted; facts come before concepts."""
    end = page.site.knowledge.elements.get(node)
    return end.name.casefold() if isinstance(end, Concept) else ""


def _facts_about_facts(page: Page, concept: Concept) -> View | None:
    """The facts about the facts that begin at a concept, where these have no pages."""
    knowledge = page.site.knowledge
    facts = list(knowledge.facts_about_facts(concept.node)) if page.site.is_compact else []
    rows = [{"sentence": page.sentence(fact), "opened": _opened(page, fact)} for fact in facts]
    return _list(page, "Facts about these facts", "facts", rows, len(rows))


def _fact_row(page: Page, fact: Proposition, other_end: NamedNode, is_home: bool) -> View:
    """The other end of a fact, and the rest of the fact or a link to its page."""
    shown = page.linked_end(other_end, 3)
    if is_home:
        return {"other": shown, "opened": _opened(page, fact)}
    return {"other": shown, "details": _details(page, fact)}


def _opened(page: Page, fact: Proposition) -> View:
    """All that a fact has, which a click shows."""
    knowledge = page.site.knowledge
    about = [*knowledge.facts_to.get(fact.node, ()), *knowledge.facts_from.get(fact.node, ())]
    return {
        "anchor": page.site.anchor(fact.node),
        "notes": _notes(page, fact),
        "id": knowledge.iris.id(fact.node),
        "attributes": page.table(fact.attributes),
        "metadata": _metadata_table(page, fact),
        "about": [page.link(other.node) for other in about[:MOST_ROWS]],
        "omitted": page.omitted(max(0, len(about) - MOST_ROWS)),
    }


def _details(page: Page, fact: Proposition) -> View:
    """A link to the page of a fact, with its attributes and confidence as text."""
    notes = _notes(page, fact)
    return {"class": "more notes" if notes else "more", **page.link(fact.node, notes or "details")}


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


def _metadata_table(page: Page, element: Element) -> list[View]:
    """The rows of the metadata; keys of the engine come last."""
    rows = []
    for key in sorted(element.metadata, key=lambda key: (key.startswith("_"), key)):
        value = metadata(element, key)
        # An author who is a Person of the nexus is linked.
        is_author = key == "author" and isinstance(value, str)
        person = page.site.knowledge.person(str(value)) if is_author else None
        shown = {"kind": "link", "link": page.link(person)} if person else page.value(value)
        rows.append(table_row(key, shown))
    return rows


# Types and predicates ---------------------------------------------------------------------------


def _definition(page: Page, concept: Concept) -> View | None:
    """What a type or predicate defines; None for other concepts."""
    view: View = {"table": page.table_of(concept), "key_members": [], "rules": [], "ends": None}
    if concept.type == "$ConceptType":
        keys = [page.concept_link(concept.name, one) for one in _key_instances(concept)]
        view |= {"key_members": keys, "rules": rules(concept), "list": _members(page, concept)}
    elif concept.type == "$PropositionType":
        view |= {"ends": ends(page, concept), "list": _uses(page, concept)}
    return view if "list" in view else None


def _attributes_in_sections(definition: Concept) -> Iterator[str]:
    """The attributes of a definition that its page shows in sections of their own."""
    attributes = json_map(definition.attributes)
    if attribute_rules(attributes):
        yield "instance_schema"
    if _key_instances(definition):
        yield "key_instances"
    for role in ("subject", "object"):
        if end_types(attributes, role) == attributes.get(f"{role}_types"):
            yield f"{role}_types"


def _key_instances(definition: Concept) -> list[str]:
    names = attribute(definition, "key_instances")
    texts = [one for one in names if isinstance(one, str)] if isinstance(names, list) else []
    return texts if texts == names else []


def rules(concept: Concept) -> list[View]:
    """The rows of the attributes that members of a type have."""
    return [
        {
            "key": key,
            "type": str(rule.get("type", "any"))
            + (f" of {rule['item_type']}" if "item_type" in rule else ""),
            "is_required": rule.get("is_required") is True,
            "meaning": str(rule.get("description", "")),
        }
        for key, rule in attribute_rules(json_map(concept.attributes)).items()
    ]


def ends(page: Page, predicate: Concept) -> View:
    """The types of subject and object of a predicate, and whether it is symmetric or transitive."""
    attributes = json_map(predicate.attributes)
    subject, object_ = (
        [page.concept_link("$ConceptType", one) for one in end_types(attributes, role) or ()]
        for role in ("subject", "object")
    )
    traits = [one for one in ("symmetric", "transitive") if attributes.get(f"is_{one}") is True]
    return {"subject": subject, "verb": words(predicate.name), "object": object_, "traits": traits}


def _members(page: Page, concept: Concept) -> View | None:
    def order(member: Concept) -> tuple[str, str]:
        return member.name.casefold(), member.name

    read = page.site.knowledge.by_type.get(concept.name, ())
    members = sorted((one for one in read if page.is_listed(one.node)), key=order)
    rows = [{"other": page.link(one.node)} for one in members[:MOST_ROWS]]
    return _list(page, "Members", "columns", rows, page.number("Members", None, len(members)))


def _uses(page: Page, predicate: Concept) -> View | None:
    def order(fact: Proposition) -> tuple[str, str, str]:
        return _sort_name(page, fact.subject), _sort_name(page, fact.object), fact.node.value

    read = page.site.knowledge.facts_by.get(predicate.name, ())
    facts = sorted((one for one in read if page.is_listed(one.node)), key=order)
    rows = [
        {"sentence": page.sentence(one), "details": _details(page, one)}
        for one in facts[:MOST_ROWS]
    ]
    return _list(page, "Facts", "facts", rows, page.number("Facts", None, len(facts)))


def _list(page: Page, title: str, class_: str, rows: list[View], number: int) -> View | None:
    """A section with the first rows of a list that has a number of them; None without a row."""
    if not rows:
        return None
    omitted = page.omitted(max(0, number - len(rows)))
    pager = page.pager_of(title, None, len(rows))
    view = {"title": title, "note": f"{number:,}", "omitted": omitted, "pager": pager}
    return {**view, "class": class_, "rows": rows}


# Overview -------------------------------------------------------------------------------------


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
