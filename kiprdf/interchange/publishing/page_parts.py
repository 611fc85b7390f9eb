"""What the pages of a published nexus are made of: frame, links, values, facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode

from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.publishing.file_names import Paths, href
from kiprdf.interchange.publishing.knowledge import Knowledge, attribute, text_of
from kiprdf.interchange.publishing.markup import Child, Markup, document, element
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms
from kiprdf.rdf.literals import Json, to_json

SHOWN_NAME = 120
"""The characters of a name in a list or a sentence; its own page shows all of it."""
LONG_TEXT = 1200
"""From this length on a text gets a box that scrolls."""
DEEPEST_SENTENCE = 3
"""How many facts about facts are written out inside each other."""

# Nothing runs, nothing is loaded from elsewhere, whatever a text might smuggle in.
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'self' file:; base-uri 'none'; form-action 'none'"
)
_WEB_PAGE = re.compile(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f]+")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z")
_TAG = 40


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages share."""

    known: Knowledge
    paths: Paths
    title: str
    mapping: Mapping

    def path(self, node: NamedNode, suffix: str = "html") -> str:
        """The file of an element."""
        return f"{self.paths.by_iri[node.value]}.{suffix}"


@dataclass(frozen=True, slots=True)
class Page:
    """One page, which knows where it stands and so how to link to others."""

    site: Site
    path: str

    def href(self, path: str) -> str:
        return href(path, self.path)

    def link(self, node: NamedNode, *text: Child, class_: str | None = None) -> Markup:
        """A link to the page of an element, with its name unless another text is given."""
        element_ = self.site.known.elements.get(node)
        if element_ is None:
            return element("code", node.value)
        shown = text or (self.label(element_),)
        return element("a", *shown, href=self.href(self.site.path(node)), class_=class_)

    def label(self, element_: Element) -> Markup:
        """The name of a concept, or what a proposition says, without links."""
        if isinstance(element_, Concept):
            return name(element_.name)
        return element("span", self._words(element_, DEEPEST_SENTENCE), class_="fact-name")

    def _words(self, fact: Proposition, depth: int) -> list[Child]:
        ends = (self._end(fact.subject, depth), self._end(fact.object, depth))
        return [ends[0], " ", element("i", words(fact.predicate)), " ", ends[1]]

    def _end(self, node: NamedNode, depth: int) -> Child:
        found = self.site.known.elements.get(node)
        if isinstance(found, Concept):
            return name(found.name)
        if isinstance(found, Proposition) and depth > 1:
            return ["(", self._words(found, depth - 1), ")"]
        return "(…)"

    def sentence(self, fact: Proposition, depth: int = DEEPEST_SENTENCE) -> list[Child]:
        """What a proposition says, each part linked."""
        predicate = self.site.known.iris.predicate(fact.predicate)
        verb = self.link(predicate, words(fact.predicate), class_="predicate")
        return [
            self._linked_end(fact.subject, depth),
            " ",
            verb,
            " ",
            self._linked_end(fact.object, depth),
        ]

    def _linked_end(self, node: NamedNode, depth: int) -> Child:
        found = self.site.known.elements.get(node)
        if isinstance(found, Proposition) and depth > 1:
            return element("span", self.sentence(found, depth - 1), class_="quoted")
        return self.link(node)

    def concept_link(self, type_name: str, name_: str) -> Markup:
        """A link to a concept by its identity, or its name where there is none."""
        found = self.site.known.concept(type_name, name_)
        return name(name_) if found is None else self.link(found.node)

    # Values -------------------------------------------------------------------------------------

    def value(self, value: Json) -> Child:
        """A JSON value as people read it."""
        if value is None:
            return element("span", "null", class_="null")
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            return element("span", str(value), class_="number")
        if isinstance(value, str):
            return self._text(value)
        return self._array(value) if isinstance(value, list) else self._object(value)

    def _text(self, text: str) -> Markup:
        named = self.site.known.named(text)
        if named is not None:
            return self.link(named)
        moment = _TIME.fullmatch(text)
        if moment is not None:
            return element("time", f"{moment[1]} {moment[2]} UTC", datetime=text, title=text)
        if _WEB_PAGE.fullmatch(text):
            return element("a", text, href=text, rel="noreferrer")
        class_ = "text long" if len(text) > LONG_TEXT else "text"
        return element("span", text, class_=class_, dir="auto")

    def _array(self, values: list[Json]) -> Markup:
        if not values:
            return element("span", "none", class_="null")
        short = all(not isinstance(v, str) or len(v) <= _TAG for v in values)
        flat = not any(isinstance(v, list | dict) for v in values)
        items = (element("li", self.value(value)) for value in values)
        return element("ul", items, class_="tags" if short and flat else "values")

    def _object(self, value: dict[str, Json]) -> Markup:
        if "@value" in value and isinstance(value["@value"], str):
            language, kind = value.get("@language"), value.get("@type")
            text = element("span", value["@value"], lang=_str(language), dir="auto", class_="text")
            return element("span", text, " ", element("small", _str(language) or _str(kind)))
        if not value:
            return element("span", "none", class_="null")
        rows = (
            (element("dt", key), element("dd", self.value(value[key]))) for key in sorted(value)
        )
        return element("dl", rows, class_="object")

    def table(self, terms: Terms, *hidden: str) -> Markup | None:
        """Attributes or metadata, keys in alphabetical order; None where there are none."""
        keys = [key for key in sorted(terms) if key not in hidden]
        rows = (
            (
                element("dt", words(key.lstrip("_")), title=key),
                element("dd", self.value(to_json(terms[key]))),
            )
            for key in keys
        )
        return element("dl", rows, class_="table") if keys else None

    # The frame ----------------------------------------------------------------------------------

    def written(
        self,
        title: str,
        *body: Child,
        crumbs: Child = None,
        links: Child = None,
        script_policy: str = "'none'",
    ) -> str:
        """The whole page: head, way back to the start, content, foot."""
        whole = title if title == self.site.title else f"{title[:SHOWN_NAME]} · {self.site.title}"
        head = [
            element("meta", charset="utf-8"),
            element(
                "meta", http_equiv="Content-Security-Policy", content=_POLICY.format(script_policy)
            ),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", whole),
            element("link", rel="stylesheet", href=self.href("style.css")),
            links,
        ]
        home = element("a", self.site.title, href=self.href("index.html"), class_="home")
        vocabulary = element("a", "Vocabulary", href=self.href("vocabulary.html"))
        navigation = element("nav", home, crumbs, element("span", vocabulary, class_="end"))
        content = [element("header", navigation), "\n", element("main", "\n", body), "\n", _FOOT]
        return document(lines(head), content)


_FOOT = element("footer", element("p", "Published by kiprdf. Every element has a Turtle file too."))


def _str(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def words(key: str) -> str:
    """A key or predicate as words.

    >>> words("has_side_effect")
    'has side effect'
    """
    return key.replace("_", " ").strip() or key


def name(text: str, most: int | None = SHOWN_NAME) -> Markup:
    """A name, of any script and length; one that cannot be seen is told by its code points."""
    if not any(character.isprintable() and character != " " for character in text):
        text = " ".join(f"U+{ord(character):04X}" for character in text[:most])
    return element("bdi", text if most is None or len(text) <= most else text[:most] + "…")


def hint(element_: Element | None) -> str | None:
    """The picture of a type or domain: an emoji or a few letters."""
    found = None if element_ is None else attribute(element_, "display_hint")
    return found if isinstance(found, str) and 0 < len(found) <= 8 else None


def lead(element_: Element) -> Markup | None:
    """The description of an element, as the first paragraph of its page."""
    text = text_of(element_, "description")
    return None if text is None else element("p", text, class_="lead", dir="auto")


def lines(parts: Iterable[Child]) -> list[Child]:
    """The parts that there are, each on a line of its own."""
    return [[part, "\n"] for part in parts if part]


def section(title: Child, *content: Child, id: str | None = None, note: Child = None) -> Markup:
    """A section with a heading, and a number or a word behind it."""
    small = None if note is None else element("small", note)
    heading = element("h2", title, " ", small)
    return element("section", "\n", heading, "\n", content, "\n", id=id)


def count(number: int, one: str, many: str | None = None) -> str:
    """
    >>> count(1, "fact"), count(2000, "fact")
    ('1 fact', '2,000 facts')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
