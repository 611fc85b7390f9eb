"""The types and predicates of a nexus, as a picture in three columns and as lists.

Labels are in boxes, and lines run between the columns only: none crosses a box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast
from urllib.parse import urlencode

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, shown
from kiprdf.meta.counts import all_uses
from kiprdf.meta.primer import Survey
from kiprdf.pages.drawing import cut
from kiprdf.pages.page import View, words
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.store import Store
from kiprdf.store.totals import BELONGS

MOST_USES = 40
"""Kinds of links that the picture shows: those with the most facts."""
_WIDTH, _ROW, _BOX = 1000, 34, 26
_LEFT, _MIDDLE, _RIGHT = (0, 230), (390, 220), (770, 230)
"""Where a column begins, and how wide its boxes are."""
_LONGEST = 18
"""Characters of a name beside a number of eight."""


class _Use(NamedTuple):
    """A kind of link: a type or, in parentheses, a predicate at each end."""

    subject: str
    predicate: str
    object: str
    number: int


def schema(explorer: Explorer, domain: str = "") -> str:
    """The types and predicates, of a domain or of all, as a picture and as lists, with counts."""
    page, store = explorer.page("explore/schema", domain=domain), explorer.store
    survey = explorer.survey()
    by_domain = _types_by_domain(store, data_types(survey))
    types = by_domain.get(domain)
    if domain and types is None:
        hint = "The address /explore/schema has all types."
        raise KipError(
            "KIP_3002", f"No type with concepts is in the domain '{shown(domain)}'.", hint
        )
    uses = [use for use in _uses(store) if types is None or {use.subject, use.object} & types]
    drawn = uses[:MOST_USES]
    of_uses = None if types is None else {use.predicate for use in uses}
    tables = [
        (
            title,
            note,
            [
                page.definition_link(kind, *one)
                for one in largest(counts)
                if chosen is None or one[0] in chosen
            ],
        )
        for title, note, kind, counts, chosen in (
            ("Concept types", "and their concepts", "$ConceptType", survey.types, types),
            ("Predicates", "and their facts", "$PropositionType", survey.predicates, of_uses),
        )
    ]
    links = [
        {"text": name or "All", "href": page.href(_address(name)), "is_here": name == domain}
        for name in ("", *sorted(by_domain))
    ]
    return page.html(
        "explorer/schema.html",
        "Schema",
        domains=links if len(links) > 2 else [],
        picture=_picture(page, drawn, survey) if drawn else None,
        uses=[_sentence(page, use) for use in drawn],
        left_out=len(uses) - len(drawn),
        tables=tables,
    )


def largest(counts: Counter[str]) -> list[tuple[str, int]]:
    """Names with their numbers, the largest first."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def data_types(survey: Survey) -> Counter[str]:
    """The types of data that have members, with their numbers."""
    return Counter({type_: n for type_, n in survey.types.items() if n and type_[:1] != "$"})


def _address(domain: str) -> str:
    return "explore/schema?" + urlencode({"domain": domain}) if domain else "explore/schema"


def _types_by_domain(store: Store, types: Iterable[str]) -> dict[str, set[str]]:
    """The types with members in each domain that has any."""
    by_domain: dict[str, set[str]] = {}
    wanted, name = {*types}, store.iris.concept_name
    for fact in store.match(None, store.iris.predicate(BELONGS), None):
        subject, domain = (name(cast(NamedNode, end).value) for end in (fact.subject, fact.object))
        if subject in wanted and domain and fact.subject == store.iris.type(subject):
            by_domain.setdefault(domain, set()).add(subject)
    return by_domain


def _uses(store: Store) -> list[_Use]:
    """The kinds of links between data, those with the most facts first."""
    start = store.iris.predicates
    name = store.iris.concept_name
    uses = [
        _Use(subject, name(predicate) or "", object, number)
        for (subject, predicate, object), number in all_uses(store).items()
        if predicate.startswith(start) and object and "$" not in subject[:1] + object[:1]
    ]
    return sorted(uses, key=lambda use: (-use.number, use[:3]))


def _sentence(page: ExplorerPage, use: _Use) -> View:
    link = page.definition_link("$PropositionType", use.predicate)
    return {
        "subject": _end(page, use.subject),
        "predicate": {**link, "text": words(use.predicate)},
        "object": _end(page, use.object),
        "number": f"{use.number:,}",
    }


def _end(page: ExplorerPage, kind: str) -> View:
    """A type, or the facts of a predicate, with a link."""
    if not kind.startswith("("):
        return page.definition_link("$ConceptType", kind)
    link = page.definition_link("$PropositionType", kind[1:-1])
    return {**link, "text": f"a fact: {words(kind[1:-1])}"}


# The picture --------------------------------------------------------------------------------------


def _picture(page: ExplorerPage, uses: list[_Use], survey: Survey) -> View:
    """Who facts are about, their predicates, and what they lead to, from left to right."""
    concepts, all_facts = survey.types, survey.predicates
    facts: Counter[str] = Counter()
    for use in uses:
        facts[use.predicate] += use.number
    middle = [predicate for predicate, _ in facts.most_common()]
    left = _near(middle, [(use.subject, use.predicate) for use in uses])
    right = _near(middle, [(use.object, use.predicate) for use in uses])
    middle = _near([*left, *right], [(use.predicate, use.subject) for use in uses])
    height = max(map(len, (left, middle, right))) * _ROW
    rows = [_rows(column, height) for column in (left, middle, right)]
    boxes = [
        *(_kind(page, one, _LEFT, y, concepts) for one, y in rows[0].items()),
        *(_predicate(page, one, y, facts[one], all_facts) for one, y in rows[1].items()),
        *(_kind(page, one, _RIGHT, y, concepts) for one, y in rows[2].items()),
    ]
    lines: Counter[tuple[int, float, float]] = Counter()
    for use in uses:
        lines[0, rows[0][use.subject], rows[1][use.predicate]] += use.number
        lines[1, rows[1][use.predicate], rows[2][use.object]] += use.number
    curves = [_line(*one) for one in lines.items()]
    return {"width": _WIDTH, "height": height, "boxes": boxes, "lines": curves}


def _near(order: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """The first of each pair, so that each is near the second ones, which are in an order."""
    places = {name: place for place, name in reversed([*enumerate(order)])}
    of: dict[str, list[int]] = {}
    for name, other in pairs:
        of.setdefault(name, []).append(places[other])
    return sorted(of, key=lambda name: (sum(of[name]) / len(of[name]), name))


def _rows(names: list[str], height: int) -> dict[str, float]:
    """The middle of the row of each name of a column."""
    step = height / len(names)
    return {name: (place + 0.5) * step for place, name in enumerate(names)}


def _kind(
    page: ExplorerPage, kind: str, column: tuple[int, int], y: float, concepts: Mapping[str, int]
) -> View:
    number = f"{concepts[kind]:,}" if kind in concepts else None
    class_ = "fact" if kind.startswith("(") else "type"
    return _box(_end(page, kind), column, y, number, class_)


def _predicate(
    page: ExplorerPage, name: str, y: float, drawn: int, all_facts: Mapping[str, int]
) -> View:
    total = all_facts.get(name, drawn)
    number = f"{drawn:,}" if drawn == total else f"{drawn:,} of {total:,}"
    link = {**page.definition_link("$PropositionType", name), "text": words(name)}
    return _box(link, _MIDDLE, y, number, "verb")


def _box(link: View, column: tuple[int, int], y: float, number: str | None, class_: str) -> View:
    (x, width), text = column, link["text"]
    most = _LONGEST + 8 - len(number or "")
    return {
        "link": link,
        "shown": cut(text, most),
        "number": number,
        "class": class_,
        "x": x,
        "y": f"{y - _BOX / 2:.1f}",
        "text_y": f"{y + 4.5:.1f}",
        "width": width,
        "height": _BOX,
    }


def _line(line: tuple[int, float, float], number: int) -> View:
    """A curve in the gap after a column, the wider the more facts it stands for."""
    gap, start, end = line
    before, after = ((_LEFT, _MIDDLE), (_MIDDLE, _RIGHT))[gap]
    x1, x2 = sum(before), after[0]
    half = (x1 + x2) / 2
    path = f"M{x1} {start:.1f} C{half:.0f} {start:.1f} {half:.0f} {end:.1f} {x2} {end:.1f}"
    return {"path": path, "width": len(str(number))}
