"""The replacements that are more than a template; the rows call them by their names.

Each takes the match of a row, and returns what to write, or None where the row does not apply.
In a ``template``, ``…`` is the part that the function makes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args

from kiprdf.advice.texts import PARTS, fresh, quoted, unquoted, variables
from kiprdf.language import ast

_FUNCTIONS = (
    *("IN", "IS_NULL", "IS_NOT_NULL", *get_args(ast.StringFunction)),
    *(*get_args(ast.AggregateFunction), *get_args(ast.NumberFunction)),
)
_PATTERNS = {
    "==": "^{}$",
    "CONTAINS": "{}",
    "STARTS_WITH": "^{}",
    "ENDS_WITH": "{}$",
    "REGEX": "{}",
}
"""What REGEX compares where a test shall ignore case."""
_BLOCK_OPENED = re.compile(r"(?:CONCEPT|PROPOSITION)\s*(?:\?\w+\s*)?\{\s*\Z")
_CLAUSE_OPENED = re.compile(r"(?<![,(])(?<![,(] )(\?\w+)\s*\Z")


def _expanded(match: re.Match[str], template: str, part: str) -> str:
    part = part.replace("\\", r"\\")
    return match.expand(template.replace("…", part))


# Characters


def ascii(match: re.Match[str]) -> str:
    """Wide punctuation as ASCII."""
    return unicodedata.normalize("NFKC", match.group(1)).replace("、", ",").replace("。", ".")


def as_string(match: re.Match[str]) -> str:
    """A text in other quotes as a string."""
    return quoted(match["text"])


def named_by_parameter(match: re.Match[str]) -> str | None:
    """A matcher for a placeholder as an end of a proposition; None for a variable."""
    is_variable = f"?{match['name']}" in variables(match.string)
    return None if is_variable else f"{{name: :{match['name']}}}"


# FIND


def listed(match: re.Match[str], template: str) -> str:
    """The variables, paths and aggregates of ``shown``, without names of columns."""
    shown = re.sub(r"\(\s*(\w+\s*\([^()]*\))\s+AS\s+\?\w+\s*\)", r"\1", match["shown"])
    parts = re.findall(r"\w+\s*\([^()]*\)|[^\s,]+", shown)
    return _expanded(match, template, ", ".join(parts))


def all_variables(match: re.Match[str], template: str) -> str | None:
    """The variables of the command instead of ``*``; the first one in COUNT."""
    named = variables(match.string)
    if not named:
        return None
    is_counted = match.string[: match.start()].rstrip().endswith("COUNT(")
    return _expanded(match, template, named[0] if is_counted else ", ".join(named))


def counted(match: re.Match[str]) -> str | None:
    """COUNT of the only variable."""
    variable = _only_variable(match)
    return f"COUNT({variable})" if variable else None


def _only_variable(match: re.Match[str]) -> str | None:
    named = variables(match.string)
    return named[0] if len(named) == 1 else None


def path(match: re.Match[str]) -> str | None:
    """A word without a variable: a variable, a field or an attribute."""
    word, path = match["word"], match["rest"]
    is_variable = f"?{word}" in variables(match.string) or re.search(
        rf"\b{word}\s*[{{(]|\(\s*{word}\s*[,:]", match.string
    )
    if is_variable:
        return f"?{word}{path}"
    variable, is_field = _only_variable(match), word in ("id", "type", "name")
    if variable is None:
        return None if is_field or not path else f"?{word}{path}"
    if word in ("attributes", "metadata") or is_field:
        return f"{variable}.{word}{path}"
    return f"?{word}{path}" if path else f"{variable}.attributes.{word}"


# WHERE


def if_variable(match: re.Match[str]) -> str | None:
    """A variable for a word that the command has as one, or that begins as no name does."""
    variable = f"?{match['v']}"
    return variable if variable[1] == "_" or variable in variables(match.string) else None


def clause_of_matcher(match: re.Match[str]) -> str:
    """A matcher with the first variable of the command."""
    return f"{(variables(match.string) or ['?x'])[0]} {match['matcher']}"


def labelled(match: re.Match[str]) -> str | None:
    """A pattern of Cypher: nodes with labels, an arrow between them."""
    nodes = []
    for node in (match["head"] + match["tail"], match["object"]):
        inner = re.fullmatch(
            r"\s*\??(?P<v>\w*)\s*(?::\s*(?P<type>\w+))?\s*(?:\{\s*(?P<rest>[^{}]*?)\s*\})?\s*", node
        )
        if inner is None:
            return None
        named = f'type: "{inner["type"]}"' if inner["type"] else ""
        matcher = ", ".join(part for part in (named, inner["rest"] or "") if part)
        variable = f"?{inner['v']}" if inner["v"] else ""
        parts = (variable, f"{{{matcher}}}" if matcher else "")
        nodes.append(" ".join(part for part in parts if part) or "?x")
    return f'({nodes[0]}, "{match["predicate"]}", {nodes[1]})'


def with_fresh(match: re.Match[str], template: str, names: list[str]) -> str:
    """A template with a variable that the command does not have."""
    return _expanded(match, template, fresh(match.string, *names))


def outside(match: re.Match[str]) -> str | None:
    """A matcher without the keys that it does not take, which are set or tested after it."""
    extra = match["extra"] or match.groupdict().get("nested") or ""
    entries = re.findall(r'"?(\w+)"?\s*:\s*("[^"]*"|[^\s,{}"]+)', extra)
    if not entries:
        return None
    matcher = f"{{{match['kept'].rstrip(', ')}}}"
    start = match.string[: match.start()]
    if _BLOCK_OPENED.search(start):
        values = ", ".join(f"{key}: {value}" for key, value in entries)
        return f"{matcher} SET ATTRIBUTES {{ {values} }}"
    clause = _CLAUSE_OPENED.search(start)
    if clause is None:
        return None
    tests = " && ".join(f"{clause[1]}.attributes.{key} == {value}" for key, value in entries)
    return f"{matcher} FILTER({tests})"


def named(match: re.Match[str]) -> str:
    """Alternatives of a name as a FILTER."""
    names = ", ".join([match["one"], *re.findall(r'"[^"]*"', match["more"])])
    return f"{match['v']}{match['kept']}}} FILTER(IN({match['v']}.name, [{names}]))"


def unless_used(match: re.Match[str]) -> str | None:
    """Nothing instead of a variable in a matcher, if it occurs nowhere else."""
    occurrences = re.findall(re.escape(match["v"]) + r"\b", match.string)
    return "" if len(occurrences) == 1 else None


def alternatives(match: re.Match[str]) -> str:
    """The predicates of a list, separated by ``|``."""
    return " | ".join(re.findall(r'"[^"]*"', match["items"]))


def digits(match: re.Match[str]) -> str:
    """A number without the ``_`` between its digits."""
    return match.group()[1:].replace("_", "")


# FILTER


def ignoring_case(match: re.Match[str], function: str) -> str:
    """A REGEX instead of a test of a text in lower or upper case."""
    parts = match.groupdict()
    pattern = ":pattern"
    if "texts" in parts:
        texts = [unquoted(text) for text in re.findall(PARTS["{STRING}"], parts["texts"])]
        if function != "REGEX":
            texts = [_escaped(text) for text in texts]
        text = texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"
        pattern = quoted("(?i)" + _PATTERNS[function].format(text))
    return f"{'!' * bool(parts.get('negated'))}REGEX({match['path']}, {pattern})"


def rows_of_texts(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The two rows of a test that shall ignore case: of texts, and of a placeholder for one."""
    pattern = "(?i)" + _PATTERNS[row["new"]["function"]].format("…")
    sent = f'{{Write}}, and send {{"pattern": "{pattern}"}} in parameters.'
    for texts, write in (("{FOLDED_TEXTS}", "{Write}."), ("{FOLDED_PLACEHOLDER}", sent)):
        patterns = {
            key: row[key].replace("{TEXTS}", texts) for key in ("before", "mistake") if key in row
        }
        yield row | patterns | {"hint": row["hint"].replace("{Write}.", write)}


def _escaped(text: str) -> str:
    return re.sub(r"([\\.^$|?*+()\[\]{}])", r"\\\1", text)


def unprefixed(match: re.Match[str], words: list[dict[str, str]]) -> str | None:
    """The function of KIP that a name with a prefix or hyphens means."""
    name = match["function"].upper().replace("-", "_")
    if name in _FUNCTIONS:
        return name
    meant = {"!": "NOT", **{new: others for table in words for new, others in table.items()}}
    del meant["COUNT"]  # a length or size with a prefix is that of a text
    return next((new for new, others in meant.items() if name in others.split("|")), None)


def like(match: re.Match[str]) -> str:
    """LIKE with % only at its ends as a function; with others as a pattern."""
    text, path = unquoted(match["text"]), match["path"]
    core = text.strip("%")
    word = match["word"].upper()
    negated = "!" if match["negated"] else ""
    if "%" in core or "_" in core or word == "ILIKE":
        pattern = _escaped(text).replace("%", ".*").replace("_", ".")
        flags = "(?i)" if word == "ILIKE" else ""
        return f"{negated}REGEX({path}, {quoted(f'{flags}^{pattern}$')})"
    if core == text:
        return f"{path} {'!=' if negated else '=='} {match['text']}"
    function = "CONTAINS"
    if not text.startswith("%"):
        function = "STARTS_WITH"
    elif not text.endswith("%"):
        function = "ENDS_WITH"
    return f"{negated}{function}({path}, {quoted(core)})"


def compared(match: re.Match[str], template: str) -> str:
    """A function that compares as operators, in parentheses after !."""
    condition = match.expand(template)
    return f"!({condition})" if match["negated"] else condition


def each(match: re.Match[str]) -> str | None:
    """A test of several texts as one test for each of them."""
    function = match["function"].upper().replace("SWITH", "S_WITH")
    function = function if function in get_args(ast.StringFunction) else "CONTAINS"
    texts = re.findall(PARTS["{STRING}"], match["texts"])
    join = " || " if match["which"].upper() == "ANY" else " && "
    tests = join.join(f"{function}({match['path']}, {text})" for text in texts)
    return f"({tests})" if tests else None


def with_flags(match: re.Match[str]) -> str:
    """A pattern with the flags that were an argument."""
    return quoted(f"(?{unquoted(match['flags'])}){unquoted(match['text'])}")


def slashed(match: re.Match[str], template: str) -> str:
    """A pattern between slashes, with its flags, as a string."""
    flags = f"(?{match['flags']})" if match["flags"] else ""
    return _expanded(match, template, quoted(flags + match["text"]))


def one_of(match: re.Match[str]) -> str:
    """Values joined by OR as a list of IN."""
    items = ", ".join(re.findall(r'"[^"]*"|[\w.:-]+', re.sub(r"\bOR\b", "", match["items"])))
    return f"{'!' * (match['operator'] == '!=')}IN({match['path']}, [{items}])"


# Writing


def assigned(match: re.Match[str], template: str) -> str:
    """Assignments of SQL as an object."""
    pairs = re.findall(
        r'(?:\?\w+\.)?(?:attributes\.)?(\w+)\s*[=:]\s*("[^"]*"|[^\s,]+)', match["pairs"]
    )
    values = ", ".join(f"{key}: {value}" for key, value in pairs)
    return _expanded(match, template, f"ATTRIBUTES {{ {values} }}")


def divided(match: re.Match[str]) -> str | None:
    """A division as a multiplication; None by zero."""
    number = Fraction(match["number"])
    return f"MUL({match['path']}, {float(1 / number)})" if number else None


def stripped(match: re.Match[str], template: str) -> str:
    """A template without the space around it."""
    return match.expand(template).strip()
