"""HTML from Python values, through one door: a ``str`` is escaped, only ``Markup`` is not.

``element`` makes every tag of a page, so that no text of a nexus can become HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias


class Markup(str):
    """A text that is HTML already. Only this file makes it out of other texts."""

    __slots__ = ()


Child: TypeAlias = Iterable["Child"] | str | None
"""What stands inside an element: markup, a text to be escaped, nothing, or several of these."""

_EMPTY = frozenset(("meta", "link", "br", "hr", "input"))
# No HTML may hold these, not even as character references; their pictures can be seen.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PICTURES = 0x2400
_DELETE = 0x7F


def escape(text: str) -> Markup:
    """A text as HTML: markup as it is, anything else escaped.

    >>> escape('<script>"')
    '&lt;script&gt;&quot;'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_CONTROL.sub(_picture, text)))


def join(children: Child) -> Markup:
    """What stands inside an element, as HTML."""
    if children is None:
        return Markup("")
    if isinstance(children, str):
        return escape(children)
    return Markup("".join(map(join, children)))


def element(tag: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """One element. An attribute is written without a final ``_``; None and False leave it out.

    >>> element("a", "x < y", href="x.html?a&b", class_="fact", title=None)
    '<a href="x.html?a&amp;b" class="fact">x &lt; y</a>'
    """
    written = "".join(map(_attribute, attributes.items()))
    if tag in _EMPTY:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join(children)}</{tag}>")


def document(head: Child, body: Child) -> str:
    """A whole page. Both parts are lists of elements, which stand on lines of their own."""
    parts = (element("head", "\n", head), "\n", element("body", "\n", body))
    return f'<!DOCTYPE html>\n<html lang="en">\n{join(parts)}\n</html>\n'


def raw(text: str) -> Markup:
    """A text of this package that goes into a ``script`` as it is; it must not end the element."""
    assert "</" not in text, text
    return Markup(text)


def _attribute(item: tuple[str, str | bool | None]) -> str:
    name, value = item[0].rstrip("_").replace("_", "-"), item[1]
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{html.escape(_CONTROL.sub(_picture, value))}"'


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code >= _DELETE:
        return "\u2421" if code == _DELETE else "\ufffd"
    return chr(_PICTURES + code)
