"""Parts of a command as patterns, and texts of a command as a replacement writes them."""

from __future__ import annotations

import json
import re
from itertools import chain, count

LONGEST = 600
"""Longer replacements are not shown."""

PARTS = {
    "{OPERAND}": r"(?:{PATH}|{VALUE})",
    "{VALUE}": r"(?:{STRING}|-?[0-9]+(?:\.[0-9]+)?|true|false|null|:[A-Za-z_]\w*)",
    "{ENDPOINT}": r"(?:{VAR}(?:\s*{MATCHER})?|{MATCHER})",
    "{VAR}": r"\?[A-Za-z_]\w*",
    "{PATH}": r"\?[A-Za-z_]\w*(?:\.\w+)*",
    "{STRING}": r'"(?:[^"\\\n]|\\.)*"',
    "{MATCHER}": r"\{[^{}]*\}",
    "{BRACES}": r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*+\})*+\})*+\}",
    "{PARENTHESES}": r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*+\))*+\))*+\)",
}
"""What a pattern may name; longer parts of a command in brackets."""


def quoted(text: str) -> str:
    """A text as a string of KIP."""
    return json.dumps(text, ensure_ascii=False)


def unquoted(string: str) -> str:
    """The text of a string of KIP."""
    try:
        return str(json.loads(string))
    except ValueError:
        return string.strip('"')


def fresh(text: str, *names: str) -> str:
    """The first variable that a text does not have; the last one with a number if it has all."""
    used = variables(text)
    numbered = (f"{names[-1]}{number}" for number in count(2))
    return next(name for name in chain(names, numbered) if name not in used)


def variables(text: str) -> list[str]:
    """The variables of a text, each once, in the order of their first mention."""
    return list(dict.fromkeys(re.findall(r"\?[A-Za-z_]\w*", text)))
