"""Several types or names in one matcher: a UNION with a clause for each, or a FILTER."""

from __future__ import annotations

import re

from kiprdf.advice.texts import LONGEST, PARTS, fresh, quoted

_STRING = PARTS["{STRING}"]
_TOKEN = re.compile(rf"{_STRING}|[][(){{}}]")
_MATCHER = re.compile(rf'\{{(?:[^{{}}"]|{_STRING})*+\}}')
_ITEM = rf"(?:{_STRING}|:?[A-Za-z_]\w*+)"
_SEVERAL = re.compile(
    rf'"?\b(?P<key>type|name)"?\s*+(?::|(?=(?i:in)\b))\s*+(?:(?i:in)\b)?[\s(\[]*+'
    rf"(?P<items>{_ITEM}(?:\s*+(?:[,/]|\|\|?|(?i:or)\b)\s*+(?:(?P=key)\s*:\s*+)?{_ITEM}(?!\s*:))+)"
    r"[\s)\]]*+"
)
_FACT = re.compile(PARTS["{PARENTHESES}"])
_VARIABLE = re.compile(rf"({PARTS['{VAR}']})\s*\Z")
_VALUE = re.compile(r"(?:ATTRIBUTES|METADATA|[:\[,])\s*\Z")
_BLOCK = re.compile(r"\b(?:WHERE|NOT|OPTIONAL|UNION)\s*\Z")
_ORDERED = re.compile(r"\b(?:NOT|OPTIONAL|UNION)\b")
_EXPECTED = re.compile(r"one string|a value|':' after the key|',' or '[\]}]'")
_NEAR = 200
"""The characters before a bracket in which a variable or keyword is looked for."""


def union_hint(text: str, offset: int, expected: str) -> str | None:
    """The hint for a list of types or names in a matcher; None if the error is another one.

    UNION unites all clauses before it, so the union becomes the beginning of its block.

    >>> union_hint('FIND(?x) WHERE { ?x {type: "A" | "B"} }', 31, "',' or '}'")
    'A matcher has one type. As the first clause of WHERE, write `?x {type: "A"} UNION { ?x {type: \
"B"} }` instead of `?x {type: "A" | "B"}`.'
    """
    if not _EXPECTED.match(expected):
        return None
    opened = _opened(text, offset)
    while opened and text[opened[-1]] != "{":
        opened.pop()
    if len(opened) < 2:
        return None
    at = opened.pop()
    matcher = _MATCHER.match(text, at)
    several = matcher and _SEVERAL.search(text, at, matcher.end())
    if matcher is None or several is None or not several.start() < offset <= several.end():
        return None
    if _VALUE.search(text, max(0, at - _NEAR), at) and text[opened[-1]] != "(":
        return None  # an object, not a matcher
    parts = text[at + 1 : several.start()], text[several.end() : matcher.end() - 1]
    return _hint(text, opened, matcher, several, ", ".join(filter(None, map(_trimmed, parts))))


def _hint(
    text: str, opened: list[int], matcher: re.Match[str], several: re.Match[str], kept: str
) -> str | None:
    key, at = several["key"], matcher.start()
    is_clause = text[opened[-1]] == "{"
    block = next((place for place in reversed(opened) if text[place] == "{"), 0)
    named = _VARIABLE.search(text, max(0, at - _NEAR), at)
    if _BLOCK.search(text, max(0, block - _NEAR), block) is None or (is_clause and not named):
        return f"A concept has one {key}: write a block for each."
    is_last = text.startswith("}", several.end())
    if key == "name" and is_clause and is_last and ("|" in several["items"] or kept):
        return None  # a row repairs it with a FILTER
    variable = named[1] if named else fresh(text, "?x", "?y", "?z", "?other")
    start = named.start() if named else at
    items = re.findall(_ITEM, several["items"])
    words = [item for item in items if item.lower() not in ("or", key)]
    strings = [item if item[0] in '":' else quoted(item) for item in words]
    first, *others = (f"{variable} {{{key}: {string}}}" for string in strings)
    union = " ".join([first, *(f"UNION {{ {other} }}" for other in others)])
    if kept:
        union += f" {variable} {{{kept}}}"
    passed = text[block + 1 : start].lstrip()
    fact = None if is_clause else _FACT.match(text, opened[opened.index(block) + 1])
    rest = text[matcher.end() : fact.end()] if fact else ""
    old, new = text[start : matcher.end()], union
    where = "As the first clause of WHERE, write"
    otherwise = f"Begin the block with {union}; here {variable} is enough."
    if _ORDERED.search(passed):  # a later UNION would unite what is before it
        test = f"FILTER(IN({variable}.{key}, [{', '.join(strings)}]))"
        old += rest
        new, where = f"{variable} {{{kept}}}{rest} {test}", "Write"
        otherwise = f"Here {variable} {{{kept}}} is enough; after this clause comes {test}."
    elif passed:
        old = text[block : matcher.end()] + rest
        new = f"{{ {union} {passed}{'' if is_clause else variable}{rest}".rstrip()
        where = "UNION unites what is before it, so it comes first: write"
    is_open = not is_clause and fact is None
    if len(old) + len(new) > LONGEST or "`" in old or is_open:
        return f"A matcher has one {key}. {otherwise}"
    return f"A matcher has one {key}. {where} `{new}` instead of `{old}`."


def _opened(text: str, offset: int) -> list[int]:
    """The places of the brackets that are open at an offset, the innermost last."""
    opened: list[int] = []
    for token in _TOKEN.finditer(text, 0, offset):
        if token.group() in ("{", "(", "["):
            opened.append(token.start())
        elif token.group() in ("}", ")", "]") and opened:
            opened.pop()
    return opened


def _trimmed(part: str) -> str:
    return part.strip(", \t\r\n")
