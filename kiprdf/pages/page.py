"""What all pages share: file names, templates, and links, sentences and values as data for them.

A view is a dictionary; the macros of ``templates/parts.html`` show each kind of view. Every value
in a page is escaped here, by one environment of Jinja, which is imported with the first page, so
that a server starts without it.

A segment of an IRI becomes the file name that a web server looks for, with percent-encoding
removed. Names that a file system might refuse or confuse are changed:

=====================================================  =====================================
segment                                                file name
=====================================================  =====================================
forbidden or invisible characters, and ``~``           stay percent-encoded (``%2F``)
a leading or final dot or space, ``CON``, ``nul.x``    that character percent-encoded
more than 120 bytes                                    the beginning, ``~``, 20 digits of hash
the second of two that differ in case or composition   the name, ``~``, 20 digits of hash
=====================================================  =====================================
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from urllib.parse import quote

from pyoxigraph import NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.loading import load
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms, attribute
from kiprdf.rdf.literals import Json, to_json

if TYPE_CHECKING:
    from jinja2 import Environment


LONGEST = 120
"""The maximum bytes of a name without suffix; some systems limit paths to 260 characters."""

_DIGITS = 20
# Printable ASCII that is encoded in IRIs but valid on every file system.
_HARMLESS = re.compile("%(20|21|26|27|28|29|2B|2C|3B|3D|40|5B|5D|5E|60|7B|7D)")
_EDGES = re.compile(r"^[. ]|[. ]$")
# Windows treats these names as devices, with any suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)", re.IGNORECASE)


def file_name(segment: str) -> str:
    """The file name, without suffix, for one segment of an IRI.

    >>> file_name("Vitamin%20C%2F阿司匹林"), file_name(".."), file_name("NUL.x")
    ('Vitamin C%2F阿司匹林', '%2E%2E', '%4EUL.x')
    """
    name = _HARMLESS.sub(lambda m: chr(int(m.group(1), 16)), segment).replace("~", "%7E")
    name = _EDGES.sub(_encoded, name)
    if _DEVICE.match(name):
        name = _encoded_text(name[0]) + name[1:]
    return name if len(name.encode()) <= LONGEST else _with_hash(name, segment)


def href(path: str, origin: str = "") -> str:
    """A relative link from one file to another, both given as paths from the root folder.

    >>> href("Drug/Vitamin C.html", "Symptom/Pain.html")
    '../Drug/Vitamin%20C.html'
    """
    return "../" * origin.count("/") + quote(path, safe="/$,;=@!'()&+~")


@dataclass
class Paths:
    """Assigns each IRI below a base a path without suffix, unique on any file system.

    >>> paths = Paths.of("urn:kip:nexus/", ["urn:kip:nexus/Drug/NSAID", "urn:kip:nexus/Drug/nsaid"])
    >>> sorted(paths.by_iri.values())
    ['Drug/NSAID', 'Drug/nsaid~db3c2abad1b11353f552']
    """

    by_iri: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, dict[str, str]] = field(default_factory=dict)
    _used: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: str, iris: Iterable[str]) -> Paths:
        """Paths for IRIs; the same IRIs get the same paths in any order."""
        paths = cls()
        for iri in sorted(iris):
            *folders, last = iri.removeprefix(base).split("/")
            folder = ""
            for segment in folders:
                folder += paths._folder(folder, segment) + "/"
            paths.by_iri[iri] = folder + paths._unused(folder, last)
        return paths

    def _folder(self, parent: str, segment: str) -> str:
        names = self._folders.setdefault(parent, {})
        if segment not in names:
            names[segment] = self._unused(parent, segment)
        return names[segment]

    def _unused(self, folder: str, segment: str) -> str:
        """The name of a segment, with a hash if the folder already contains the name."""
        used = self._used.setdefault(folder, set())
        name = file_name(segment)
        if _folded(name) in used:
            name = _with_hash(name, segment)
        used.add(_folded(name))
        return name


def _folded(name: str) -> str:
    """Equal for names that some file system does not distinguish."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


def _with_hash(name: str, segment: str) -> str:
    digits = hashlib.sha256(segment.encode()).hexdigest()[:_DIGITS]
    kept = name.encode()[: LONGEST - _DIGITS - 1].decode(errors="ignore")
    # Remove half of a "%2F" that was cut.
    return re.sub("%.?$", "", kept).split("~")[0].rstrip(" .") + "~" + digits


def _encoded(match: re.Match[str]) -> str:
    return _encoded_text(match.group())


def _encoded_text(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


# Templates ------------------------------------------------------------------------------------


TEMPLATES = Path(__file__).resolve().parent / "templates"
ASSETS = Path(__file__).resolve().parent / "assets"
"""Styles and scripts of the pages."""

# HTML or XML cannot contain these, not even as character references; visible symbols replace them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_CONTROL_PICTURES = 0x2400
_DELETE = 0x7F


def render(template: str, **values: Any) -> str:
    """A template filled with values. None is shown as nothing; a missing value is an error."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    load("jinja2")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        cache_size=-1,
    )


def _visible(value: object) -> object:
    """A value as it is shown; markup, which has no control characters, stays the same object."""
    if value is None:
        return ""
    return _CONTROL.sub(_picture, value) if type(value) is str else value


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code >= _DELETE:
        return "\u2421" if code == _DELETE else "\ufffd"
    return chr(_CONTROL_PICTURES + code)


# Page -----------------------------------------------------------------------------------------


View: TypeAlias = dict[str, Any]

SHOWN_NAME = 120
"""The maximum length of a name in a list or sentence; its own page shows it completely."""
LONG_TEXT = 1200
"""A longer text is shown in a box that scrolls."""
DEEPEST_SENTENCE = 3
"""The maximum depth of facts about facts in a sentence."""

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
    is_compact: ClassVar[bool] = False
    """Whether facts have no pages of their own."""

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
    is_compact = True

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
    frame: ClassVar[str] = "site.html"
    """The template around the content of a page."""

    def html(self, template: str, title: str, **view: Any) -> str:
        """The page: a template, filled with a view."""
        whole = title if title == self.site.title else f"{title[:SHOWN_NAME]} · {self.site.title}"
        return render(template, page=self, title=whole, **view)

    def href(self, path: str) -> str:
        """The address of a path of the site."""
        return href(path, self.path)

    def number(self, of: str, key: str | None, read: int) -> int:
        """How many facts or members there are, of which some were read; a static page reads all."""
        return read

    def is_listed(self, node: NamedNode) -> bool:
        """Whether a fact or a member is in a list of the page; a static page lists all."""
        return True

    def pager_of(self, of: str, key: str | None, shown: int) -> View | None:
        """Where the rows of a list are in it; a static page has no pages of lists."""
        return None

    def omitted(self, number: int) -> str | None:
        """Where the rows are that a page has not; None if it has all."""
        return f"{number:,} more are in the downloads." if number else None

    def offered(self) -> View | None:
        """What may be done on the page; nothing on a static one."""
        return None

    def table_of(self, definition: Concept) -> str | None:
        """The address of the members of a type, or the facts of a predicate, as a table; a static
        page has none."""
        return None

    def drawing(self) -> View | None:
        """A drawing of what surrounds the element; a static page has none."""
        return None

    # Links --------------------------------------------------------------------------------------

    def link(self, node: NamedNode, text: str | None = None) -> View:
        """The address and label of an element, or its IRI if it does not exist."""
        element = self.site.knowledge.elements.get(node)
        if element is None:
            return {"iri": node.value}
        anchor = self.site.anchor(node)
        fragment = "" if anchor is None else f"#{anchor}"
        label = self.label(element) if text is None else {"text": text}
        return {"href": self.href(self.site.path(node)) + fragment, **label}

    def label(self, element: Element) -> View:
        """The name of a concept or the words of a proposition."""
        if isinstance(element, Concept):
            return {"name": name(element.name)}
        return self._words(element, DEEPEST_SENTENCE)

    def _words(self, fact: Proposition, depth: int) -> View:
        subject, object_ = (self._end(end, depth) for end in (fact.subject, fact.object))
        return {"subject": subject, "verb": words(fact.predicate), "object": object_}

    def _end(self, node: NamedNode, depth: int) -> View | None:
        end = self.site.knowledge.elements.get(node)
        if isinstance(end, Concept):
            return {"name": name(end.name)}
        return self._words(end, depth - 1) if isinstance(end, Proposition) and depth > 1 else None

    def sentence(self, fact: Proposition, depth: int = DEEPEST_SENTENCE) -> View:
        """A proposition as a sentence, each part a link."""
        predicate = self.site.knowledge.iris.predicate(fact.predicate)
        return {
            "subject": self.linked_end(fact.subject, depth),
            "predicate": self.link(predicate, words(fact.predicate)),
            "object": self.linked_end(fact.object, depth),
        }

    def linked_end(self, node: NamedNode, depth: int) -> View:
        """An end of a fact: a link, or a sentence if it is a fact and the depth allows it."""
        end = self.site.knowledge.elements.get(node)
        if isinstance(end, Proposition) and depth > 1:
            return self.sentence(end, depth - 1)
        return self.link(node)

    def concept_link(self, type_name: str, name_: str) -> View:
        """A link to a concept, or only its name if it does not exist."""
        concept = self.site.knowledge.concept(type_name, name_)
        return {"name": name(name_)} if concept is None else self.link(concept.node)

    # Values -------------------------------------------------------------------------------------

    def value(self, value: Json) -> View:
        """A JSON value by its kind."""
        if value is None:
            return {"kind": "span", "class": "null", "text": "null"}
        if isinstance(value, bool):
            return {"kind": "plain", "text": "yes" if value else "no"}
        if isinstance(value, int | float):
            return {"kind": "span", "class": "number", "text": str(value)}
        if isinstance(value, str):
            return self._text(value)
        if not value:
            return {"kind": "span", "class": "null", "text": "none"}
        return self._array(value) if isinstance(value, list) else self._object(value)

    def _text(self, text: str) -> View:
        node = self.site.knowledge.element_named(text)
        if node is not None:
            return {"kind": "link", "link": self.link(node)}
        moment = _TIME.fullmatch(text)
        if moment is not None:
            return {"kind": "time", "moment": text, "text": f"{moment[1]} {moment[2]} UTC"}
        if _WEB_PAGE.fullmatch(text):
            return {"kind": "web", "text": text}
        class_ = "text long" if len(text) > LONG_TEXT else "text"
        return {"kind": "text", "class": class_, "text": text}

    def _array(self, values: list[Json]) -> View:
        short = all(not isinstance(v, str) or len(v) <= _TAG for v in values)
        flat = not any(isinstance(v, list | dict) for v in values)
        members = [self.value(value) for value in values]
        return {"kind": "list", "class": "tags" if short and flat else "values", "members": members}

    def _object(self, value: dict[str, Json]) -> View:
        text, language, kind = (value.get(key) for key in ("@value", "@language", "@type"))
        if isinstance(text, str):
            language, kind = (one if isinstance(one, str) else None for one in (language, kind))
            return {"kind": "tagged", "text": text, "language": language, "note": language or kind}
        rows = [{"key": key, "value": self.value(value[key])} for key in sorted(value)]
        return {"kind": "object", "rows": rows}

    def table(self, terms: Terms, *hidden: str) -> list[View]:
        """The rows of attributes or metadata in alphabetical order."""
        keys = [key for key in sorted(terms) if key not in hidden]
        return [table_row(key, self.value(to_json(terms[key]))) for key in keys]


def table_row(key: str, value: View) -> View:
    """A row of a table of attributes or metadata."""
    return {"key": key, "words": words(key.lstrip("_")), "value": value}


def words(key: str) -> str:
    """A key or predicate with spaces instead of underscores.

    >>> words("has_side_effect")
    'has side effect'
    """
    return key.replace("_", " ").strip() or key


def name(text: str, limit: int | None = SHOWN_NAME) -> str:
    """A name in any script, cut to a length; an invisible name as its code points.

    >>> name("a b"), name("abc", 2), name(" ")
    ('a b', 'ab…', 'U+0020')
    """
    if not any(character.isprintable() and character != " " for character in text):
        text = " ".join(f"U+{ord(character):04X}" for character in text[:limit])
    return text if limit is None or len(text) <= limit else text[:limit] + "…"


def hint(element: Element | None) -> str | None:
    """The symbol of a type or domain: an emoji or a few letters."""
    value = None if element is None else attribute(element, "display_hint")
    return value if isinstance(value, str) and 0 < len(value) <= 8 else None


def count(number: int, one: str) -> str:
    """
    >>> count(1, "fact"), count(2000, "fact")
    ('1 fact', '2,000 facts')
    """
    return f"{number:,} {one if number == 1 else one + 's'}"
