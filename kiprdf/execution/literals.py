"""Opens the literals of a text, so that texts which differ only in literals share one plan.

Language models write the values into the text. As parameters they would be the same command
(docs/decisions/037).
"""

from __future__ import annotations

import json
import re
from typing import Any

_PREFIX = "literal_"
"""The beginning of the names of placeholders that stand for literals."""
# A name, an id or an operand, as far as neither escapes nor digits need a closer look; or another
# string, which is passed over as a whole.
_LITERAL = re.compile(
    r"""((?:\b(?:name|id)\s*:|[=<>])\s*)
    ("[^"\\\x00-\x1f\x7f-\x9f\ud800-\udfff]*" | -?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?(?![\w.]))
    | "(?:[^"\\]|\\.)*" """,
    re.VERBOSE,
)


def opened(text: str) -> tuple[str, dict[str, Any]] | None:
    """The text with placeholders for its literals, and their values; None where it stays as it is.

    Only the names, ids and operands of a FIND are opened; types, predicates, lists and LIMIT are
    not, since a plan is compiled for them.

    >>> opened('FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    ('FIND(?d) WHERE { ?d {type: "Drug", name: :literal_0} }', {'literal_0': 'Aspirin'})
    """
    # A comment may contain a quotation mark.
    if not text.startswith("FIND") or "//" in text or _PREFIX in text:
        return None
    values: dict[str, Any] = {}

    def placeholder(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        name = f"{_PREFIX}{len(values)}"
        values[name] = json.loads(match[2])
        return f"{match[1]}:{name}"

    shared = _LITERAL.sub(placeholder, text)
    return (shared, values) if values else None
