"""HTML from the templates: every value in a page is escaped here, by one environment of Jinja.

Jinja is imported with the first page, so that a server starts without it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiprdf.loading import load

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).resolve().parent / "templates"
ASSETS = Path(__file__).resolve().parent / "assets"
"""Styles and scripts of the pages."""

# HTML cannot contain these, not even as character references; visible symbols replace them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
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
