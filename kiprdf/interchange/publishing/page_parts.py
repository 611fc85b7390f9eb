"""The parts of all pages: frame, links, values."""

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
"""The maximum length of a name in a list or sentence; its own page shows it completely."""
LONG_TEXT = 1200
"""A longer text is shown in a box that scrolls."""
DEEPEST_SENTENCE = 3
"""The maximum depth of facts about facts in a sentence."""

# No scripts and no external content, even if a text injects some.
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'self' file:; base-uri 'none'; form-action 'none'"
)
_WEB_PAGE = re.compile(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f]+")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z")
_TAG = 40


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages share."""

    knowledge: Knowledge
    paths: Paths
    title: str
    mapping: Mapping

    def path(self, node: NamedNode, suffix: str = "html") -> str:
        """The file of an element."""
        return f"{self.paths.by_iri[node.value]}.{suffix}"

    def anchor(self, node: NamedNode) -> str | None:
        """The id of an element in its file; None if it has the file to itself."""
        return None


class CompactSite(Site):
    """A site whose facts are on the pages of the concepts where they begin.

    The concepts of a type share a Turtle file.
    """

    __slots__ = ()

    def path(self, node: NamedNode, suffix: str = "html") -> str:
        page = self.paths.by_iri[self.knowledge.beginning(node).value]
        return f"{page}.html" if suffix == "html" else f"{page.rpartition('/')[0]}/index.{suffix}"

    def anchor(self, node: NamedNode) -> str | None:
        is_fact = isinstance(self.knowledge.elements[node], Proposition)
        return self.knowledge.iris.id(node) if is_fact else None


@dataclass(frozen=True, slots=True)
class Page:
    """One page; links are relative to its path."""

    site: Site
    path: str

    def href(self, path: str) -> str:
        return href(path, self.path)

    def number(self, of: str, key: str | None, read: int) -> int:
        """How many facts or members there are, of which some were read; a static page reads all."""
        return read

    def omitted(self, number: int) -> str:
        """Where the rows are that a page has not."""
        return f"{number:,} more are in the downloads."

    def drawing(self, node: NamedNode) -> Markup | None:
        """A drawing of what surrounds an element; a static page has none."""
        return None

    def link(self, node: NamedNode, *text: Child, class_: str | None = None) -> Markup:
        """A link to the page of an element; the text is its name unless given."""
        element_ = self.site.knowledge.elements.get(node)
        if element_ is None:
            return element("code", node.value)
        content, anchor = text or (self.label(element_),), self.site.anchor(node)
        fragment = "" if anchor is None else f"#{anchor}"
        address = self.href(self.site.path(node)) + fragment
        return element("a", *content, href=address, class_=class_)

    def label(self, element_: Element) -> Markup:
        """The name of a concept or the sentence of a proposition, without links."""
        if isinstance(element_, Concept):
            return name(element_.name)
        return element("span", self._words(element_, DEEPEST_SENTENCE), class_="fact-name")

    def _words(self, fact: Proposition, depth: int) -> list[Child]:
        subject, object_ = (self._end(end, depth) for end in (fact.subject, fact.object))
        return [subject, " ", element("i", words(fact.predicate)), " ", object_]

    def _end(self, node: NamedNode, depth: int) -> Child:
        end = self.site.knowledge.elements.get(node)
        if isinstance(end, Concept):
            return name(end.name)
        if isinstance(end, Proposition) and depth > 1:
            return ["(", self._words(end, depth - 1), ")"]
        return "(…)"

    def sentence(self, fact: Proposition, depth: int = DEEPEST_SENTENCE) -> list[Child]:
        """A proposition as a sentence, each part linked."""
        predicate = self.site.knowledge.iris.predicate(fact.predicate)
        verb = self.link(predicate, words(fact.predicate), class_="predicate")
        return [
            self._linked_end(fact.subject, depth),
            " ",
            verb,
            " ",
            self._linked_end(fact.object, depth),
        ]

    def _linked_end(self, node: NamedNode, depth: int) -> Child:
        end = self.site.knowledge.elements.get(node)
        if isinstance(end, Proposition) and depth > 1:
            return element("span", self.sentence(end, depth - 1), class_="quoted")
        return self.link(node)

    def concept_link(self, type_name: str, name_: str) -> Markup:
        """A link to a concept, or only its name if it does not exist."""
        concept = self.site.knowledge.concept(type_name, name_)
        return name(name_) if concept is None else self.link(concept.node)

    # Values -------------------------------------------------------------------------------------

    def value(self, value: Json) -> Child:
        """A JSON value as HTML."""
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
        node = self.site.knowledge.element_named(text)
        if node is not None:
            return self.link(node)
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
        """Attributes or metadata in alphabetical order; None if there are none."""
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

    def html(
        self,
        title: str,
        *body: Child,
        crumbs: Child = None,
        links: Child = None,
        script_policy: str = "'none'",
    ) -> str:
        """The whole page: head, navigation, content, footer."""
        full_title = (
            title if title == self.site.title else f"{title[:SHOWN_NAME]} · {self.site.title}"
        )
        head = [
            element("meta", charset="utf-8"),
            self.policy(script_policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", full_title),
            element("link", rel="stylesheet", href=self.href("style.css")),
            links,
        ]
        navigation = element("nav", self.navigation(crumbs))
        content = [
            element("header", navigation),
            "\n",
            element("main", "\n", body),
            "\n",
            element("footer", element("p", self.footer)),
        ]
        return document(lines(head), content)

    def policy(self, script_policy: str) -> Child:
        """What a browser may load for the page, for its head."""
        content = _POLICY.format(script_policy)
        return element("meta", http_equiv="Content-Security-Policy", content=content)

    def navigation(self, crumbs: Child) -> Child:
        """The links at the top, with the place of the page among them."""
        home = element("a", self.site.title, href=self.href("index.html"), class_="home")
        vocabulary = element("a", "Vocabulary", href=self.href("vocabulary.html"))
        return [home, crumbs, element("span", vocabulary, class_="end")]

    @property
    def footer(self) -> str:
        """The last line."""
        owner = "type" if isinstance(self.site, CompactSite) else "element"
        return f"Published by kiprdf. Every {owner} also has a Turtle file."


def _str(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def words(key: str) -> str:
    """A key or predicate with spaces instead of underscores.

    >>> words("has_side_effect")
    'has side effect'
    """
    return key.replace("_", " ").strip() or key


def name(text: str, limit: int | None = SHOWN_NAME) -> Markup:
    """A name in any script, cut to a length; an invisible name is shown by its code points."""
    if not any(character.isprintable() and character != " " for character in text):
        text = " ".join(f"U+{ord(character):04X}" for character in text[:limit])
    return element("bdi", text if limit is None or len(text) <= limit else text[:limit] + "…")


def hint(element_: Element | None) -> str | None:
    """The symbol of a type or domain: an emoji or a few letters."""
    value = None if element_ is None else attribute(element_, "display_hint")
    return value if isinstance(value, str) and 0 < len(value) <= 8 else None


def lead(element_: Element) -> Markup | None:
    """The description of an element, as the first paragraph of its page."""
    text = text_of(element_, "description")
    return None if text is None else element("p", text, class_="lead", dir="auto")


def lines(parts: Iterable[Child]) -> list[Child]:
    """The parts that are not empty, each on its own line."""
    return [[part, "\n"] for part in parts if part]


def section(title: Child, *content: Child, id: str | None = None, note: Child = None) -> Markup:
    """A section with a heading, and a note after it, such as a number."""
    small = None if note is None else element("small", note)
    heading = element("h2", title, " ", small)
    return element("section", "\n", heading, "\n", content, "\n", id=id)


def count(number: int, one: str, many: str | None = None) -> str:
    """
    >>> count(1, "fact"), count(2000, "fact")
    ('1 fact', '2,000 facts')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
