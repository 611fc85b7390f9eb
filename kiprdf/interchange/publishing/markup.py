"""HTML from Python values: a ``str`` is escaped, only ``Markup`` is not.

``element`` writes every tag of a page, so that no string of a nexus can become HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias


class Markup(str):
    """A string that is HTML already; only this module creates it from other strings."""

    __slots__ = ()


Child: TypeAlias = Iterable["Child"] | str | None
"""The content of an element: markup, a string to escape, nothing, or several of these."""

_EMPTY = frozenset(("meta", "link", "br", "hr", "input"))
# HTML cannot contain these, not even as character references; visible symbols replace them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_PICTURES = 0x2400
_DELETE = 0x7F


def escape(text: str) -> Markup:
    """A string as HTML: markup unchanged, anything else escaped.

    >>> escape('<script>"')
    '&lt;script&gt;&quot;'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_CONTROL.sub(_picture, text)))


def join(children: Child) -> Markup:
    """The content of an element as HTML."""
    if children is None:
        return Markup("")
    if isinstance(children, str):
        return escape(children)
    return Markup("".join(map(join, children)))


def element(tag: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """One element. A final ``_`` of an attribute is dropped; None and False omit the attribute.

    >>> element("a", "x < y", href="x.html?a&b", class_="fact", title=None)
    '<a href="x.html?a&amp;b" class="fact">x &lt; y</a>'
    """
    attributes_text = "".join(map(_attribute, attributes.items()))
    if tag in _EMPTY:
        return Markup(f"<{tag}{attributes_text}>")
    return Markup(f"<{tag}{attributes_text}>{join(children)}</{tag}>")


def document(head: Child, body: Child) -> str:
    """A whole page."""
    parts = (element("head", "\n", head), "\n", element("body", "\n", body))
    return f'<!DOCTYPE html>\n<html lang="en">\n{join(parts)}\n</html>\n'


def raw(text: str) -> Markup:
    """A script of this package, unescaped; it must not contain an end tag."""
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
    return chr(_CONTROL_PICTURES + code)
