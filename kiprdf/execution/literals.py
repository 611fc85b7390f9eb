"""Opens the literals of a text, so that texts which differ only in literals share one plan.

Language models write the values into the text. As parameters they would be the same command
(docs/decisions/037).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PREFIX = "literal_"
"""The beginning of the names of placeholders that stand for literals."""
_VALUE = (
    r'(?:"[^"\\\x00-\x1f\x7f-\x9f\ud800-\udfff]*"'
    r"|-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?(?![\w.]))"
)
# A name, an id or an operand, as far as neither escapes nor digits need a closer look; what IN
# compares a key or a name with; or another string, which is passed over as a whole.
_LITERAL = re.compile(
    rf"""((?:\b(?:name|id)\s*:|[=<>])\s*) ({_VALUE})
    | (\bIN\s*\(\s*\?\w+\.(?:name|attributes\.\w+|metadata\.\w+)\s*,\s*)
      (?:\[\s*({_VALUE}(?:\s*,\s*{_VALUE})*)\s*\]|:([A-Za-z_]\w*))(?=\s*\))
    | "(?:[^"\\]|\\.)*" """,
    re.VERBOSE,
)
_ITEM = re.compile(_VALUE)
MOST_ITEMS = 50
"""Of a list that is opened: each number of items has another plan."""


def opened(text: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The text with placeholders for its literals, and the values of all placeholders; None where
    it stays as it is.

    Only the names, ids and operands of a FIND are opened, and the items of a list of IN, which may
    be a parameter; types, predicates and LIMIT are not, since a plan is compiled for them.

    >>> opened('FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }', {})
    ('FIND(?d) WHERE { ?d {type: "Drug", name: :literal_0} }', {'literal_0': 'Aspirin'})
    >>> opened("FIND(?d) WHERE { … IN(?d.name, :names) … }", {"names": ["a", "b"]})[0]
    'FIND(?d) WHERE { … IN(?d.name, [:literal_0, :literal_1]) … }'
    """
    # A comment may contain a quotation mark.
    if not text.startswith("FIND") or "//" in text or _PREFIX in text:
        return None
    values: dict[str, Any] = {}
    lists: set[str] = set()

    def placeholder(value: Any) -> str:
        name = f"{_PREFIX}{len(values)}"
        values[name] = value
        return f":{name}"

    def replaced(match: re.Match[str]) -> str:
        before, literal, member, items, name = match.groups()
        if before is not None:
            return before + placeholder(json.loads(literal))
        if member is None:
            return match[0]
        if items is not None:
            listed = list(map(json.loads, _ITEM.findall(items)))
        else:
            argument = parameters.get(name)
            listed = list(argument) if isinstance(argument, list | tuple) else []
        if not 0 < len(listed) <= MOST_ITEMS:
            return match[0]
        lists.add(name)
        return f"{member}[{', '.join(map(placeholder, listed))}]"

    shared = _LITERAL.sub(replaced, text)
    others = {name: value for name, value in parameters.items() if name not in lists}
    return (shared, others | values) if values else None
