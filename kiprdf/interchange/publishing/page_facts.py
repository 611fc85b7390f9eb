"""The facts of a page: grouped by predicate, each with what is known of it in short."""

from __future__ import annotations

from itertools import groupby

from pyoxigraph import NamedNode

from kiprdf.interchange.publishing.knowledge import attribute, metadata
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import Page, count, lines, name, section, words
from kiprdf.rdf.elements import Concept, Element, Proposition

MOST_ROWS = 500
"""The facts of one predicate, or members of one type, that a page shows; the Turtle has all."""
_COLUMNS = 8
_SHORT = 60


def facts_section(page: Page, element_: Element, direction: str) -> Markup | None:
    """The facts that begin or end at an element, grouped by predicate."""
    known = page.site.known
    found = known.facts_from if direction == "from" else known.facts_to
    facts = found.get(element_.node, [])
    if not facts:
        return None
    groups = groupby(sorted(facts, key=lambda f: _order(page, f, direction)), _predicate_of)
    shown = [_group(page, element_, name_, list(group), direction) for name_, group in groups]
    title = "Facts" if direction == "from" else "Facts that lead here"
    if isinstance(element_, Proposition):
        title = "What this fact says of others" if direction == "from" else "Facts about this fact"
    return section(title, lines(shown), note=f"{len(facts):,}")


def _predicate_of(fact: Proposition) -> str:
    return fact.predicate


def _order(page: Page, fact: Proposition, direction: str) -> tuple[str, str, str]:
    return fact.predicate, folded(page, _other(fact, direction)), fact.node.value


def folded(page: Page, node: NamedNode) -> str:
    """What an end is sorted by; facts stand before concepts."""
    found = page.site.known.elements.get(node)
    return found.name.casefold() if isinstance(found, Concept) else ""


def _other(fact: Proposition, direction: str) -> NamedNode:
    return fact.object if direction == "from" else fact.subject


def _group(
    page: Page, element_: Element, predicate: str, facts: list[Proposition], direction: str
) -> Markup:
    verb = page.link(page.site.known.iris.predicate(predicate), words(predicate))
    this = name(element_.name) if isinstance(element_, Concept) else "this fact"
    here = element("span", this, class_="here")
    heading = [here, " ", verb] if direction == "from" else [verb, " ", here]
    rows = [_fact_row(page, fact, direction) for fact in facts[:MOST_ROWS]]
    plain = len(rows) >= _COLUMNS and not any(fact.attributes for fact in facts)
    number = f"{len(facts):,}" if len(facts) > 1 else None
    parts = [
        element("h3", heading, [" ", element("small", number)] if number else None),
        element("ul", rows, class_="columns" if plain else "facts"),
        rest(len(facts)),
    ]
    return element("div", "\n", lines(parts), class_="group")


def _fact_row(page: Page, fact: Proposition, direction: str) -> Markup:
    """The other end, what is known about the link in short, and the way to its page."""
    other = page.site.known.elements.get(_other(fact, direction))
    if isinstance(other, Proposition):
        shown: Child = element("span", page.sentence(other, 2), class_="quoted")
    else:
        shown = page.link(_other(fact, direction))
    return element("li", shown, " ", more(page, fact))


def more(page: Page, fact: Proposition) -> Markup:
    about = len(page.site.known.facts_to.get(fact.node, ())) + len(
        page.site.known.facts_from.get(fact.node, ())
    )
    notes = [_short(key, attribute(fact, key)) for key in sorted(fact.attributes)]
    notes.append(_confidence(fact))
    notes.append(f"{count(about, 'fact')} about it" if about else None)
    told = [note for note in notes if note]
    text = " · ".join(told) if told else "details"
    class_ = "more told" if told else "more"
    return element("small", page.link(fact.node, text), class_=class_)


def _short(key: str, value: object) -> str | None:
    if isinstance(value, list | dict):
        return None
    shown = "null" if value is None else str(value)
    return f"{words(key)}: {shown if len(shown) <= _SHORT else shown[:_SHORT] + '…'}"


def _confidence(fact: Proposition) -> str | None:
    value = metadata(fact, "confidence")
    certain = isinstance(value, bool) or not isinstance(value, int | float) or value >= 1
    return None if certain else f"confidence {value}"


def rest(number: int) -> Markup | None:
    if number <= MOST_ROWS:
        return None
    return element("p", f"And {number - MOST_ROWS:,} more; the dumps have all.", class_="quiet")
