"""Regular expressions in the syntax of other engines.

KIP has the syntax of Rust (docs/decisions/075). Java and PCRE read parts of it in other ways,
without an error: ``$`` matches before a line break at the end, ``.`` no carriage return; flags and
``[[:alpha:]]`` mean something else.
"""

from __future__ import annotations

import re

from pyoxigraph import Literal

from kiprdf.sparql.abilities import Regex
from kiprdf.sparql.algebra import Condition

_TOKENS = r"[\w ^$|()*+?,;:/-]|\\[.^$|()*+?\[\]{}/-]"
_PORTABLE = {
    "bytes": re.compile(rf"(?:{_TOKENS})*", re.ASCII),
    "characters": re.compile(
        rf"(?:{_TOKENS}|\.|\[\^?(?:[0-9A-Za-z]-[0-9A-Za-z]|[\w ,;:/.])+\])*", re.ASCII
    ),
}
_FLAG_OR_POSSESSIVE = re.compile(r"\(\?(?!:)|[*+?}][*+]")
_TOKEN = re.compile(r"\\.|\[[^\]]*\]|[$.]")
_TRANSLATED = {"$": r"\z", ".": r"[^\n]"}


def is_portable(condition: Condition, syntax: Regex) -> bool:
    """Whether an engine with a syntax reads the regular expression of a condition as Rust does."""
    if condition.name != "REGEX" or syntax == "rust":
        return True
    pattern = condition.operands[1]
    if not isinstance(pattern, Literal) or _FLAG_OR_POSSESSIVE.search(pattern.value):
        return False
    return _PORTABLE[syntax].fullmatch(pattern.value) is not None


def in_syntax(pattern: Literal, syntax: Regex) -> Literal:
    """A portable regular expression in a syntax.

    >>> in_syntax(Literal("^a|b.[.$]$"), "characters").value
    '(?:^a|b[^\\\\n][.$]\\\\z)'
    """
    if syntax == "rust":
        return pattern
    text = _TOKEN.sub(lambda match: _TRANSLATED.get(match[0], match[0]), pattern.value)
    # Of Virtuoso, alternatives outside of a group match nothing.
    return Literal(f"(?:{text})")
