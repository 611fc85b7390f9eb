"""FILTER: operators and functions of other languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import get_args

from kiprdf.language import ast
from kiprdf.language.repairs.rows import TERMS, Repair, quoted, unquoted

_CONDITION = "condition"
_OPERAND = "dot path|^a value"
_OPERATOR = r"operator or '\)'|'&&'"
_ANY = f"{_CONDITION}|{_OPERAND}|{_OPERATOR}|end of the path"
_EXPRESSION = f"{_ANY}|aggregate"

_FUNCTIONS = {
    "CONTAINS": "INCLUDES INCLUDE CONTAIN HAS SUBSTRING INSTR STRPOS",
    "STARTS_WITH": "STARTSWITH STRSTARTS BEGINSWITH BEGINS_WITH START_WITH PREFIX",
    "ENDS_WITH": "ENDSWITH STRENDS END_WITH SUFFIX",
    "REGEX": "REGEXP MATCHES MATCH RLIKE REGEXP_LIKE REGEX_MATCH",
    "IS_NULL": "NULL ISNULL IS_NONE ISNONE MISSING NOT_EXISTS",
    "IS_NOT_NULL": "ISNOTNULL NOT_NULL NOTNULL EXISTS EXIST BOUND DEFINED HAS_VALUE ISSET",
    "!IN": "NOT_IN NOTIN",
    "!CONTAINS": "NOT_CONTAINS",
}
_FIELDS = {"type": "TYPE|LABELS?|TYPEOF", "id": "ID|ELEMENTID|IRI|URI", "name": "NAME|LABEL"}
_COMPARISONS = {
    "==": "EQ|EQUALS?|IS_EQUAL|SAME",
    "!=": "NE|NEQ|NOT_?EQUALS?|NOT_EQ",
    ">": "GT|GREATER(?:_?THAN)?|AFTER",
    "<": "LT|LESS(?:_?THAN)?|BEFORE",
    ">=": "GTE|GE|GREATER_?(?:THAN_?)?OR_?EQUAL",
    "<=": "LTE|LE|LESS_?(?:THAN_?)?OR_?EQUAL",
}
_INFIX = {
    "CONTAINS": "CONTAINS",
    "STARTS_WITH": r"STARTS[\s_]?WITH",
    "ENDS_WITH": r"ENDS[\s_]?WITH",
    "REGEX": r"REGEX|REGEXP|MATCHES|RLIKE|=~|~\*?",
}
_METHODS = {
    "CONTAINS": "includes|contains|include",
    "STARTS_WITH": "startsWith|startswith|starts_with",
    "ENDS_WITH": "endsWith|endswith|ends_with",
    "REGEX": "match|matches|test",
}
_AGGREGATES = {
    "COUNT": "count_of|CNT|SIZE|LEN|LENGTH|NUMBER|NUM|COUNT_DISTINCT",
    "AVG": "AVERAGE|MEAN",
    "MAX": "MAXIMUM|GREATEST",
    "MIN": "MINIMUM|LEAST",
}
_NAMES = (
    *("IN", "IS_NULL", "IS_NOT_NULL", *get_args(ast.StringFunction)),
    *(*get_args(ast.AggregateFunction), *get_args(ast.NumberFunction)),
)
_CASE = (
    r"(?:[A-Za-z]\w*:)?"
    r"(?i:(?:LOWER|UPPER)(?:-CASE)?|LCASE|UCASE|TOLOWER|TOUPPER|TO_LOWER|TO_UPPER|CASEFOLD)"
)
_PREFIXED = r"(?=\w+[:-])(?P<prefixed>(?:[A-Za-z]\w*:)?(?P<function>[A-Za-z][\w-]*))(?=\s*\()"
_FOLDED = rf"{_CASE}\s*\(\s*(?P<path>{{PATH}})\s*\)"
_TEXT = r"(?P<text>{STRING})"
_FOLDED_TEXT = rf"(?:{{STRING}}|{_CASE}\s*\(\s*{{STRING}}\s*\))"
_FOLDED_TEXTS = (
    rf"(?P<texts>{_FOLDED_TEXT}|[\[(]\s*{_FOLDED_TEXT}(?:\s*,\s*{_FOLDED_TEXT})*\s*[\])])"
)
_FOLDED_PLACEHOLDER = rf"(?P<folds>{_CASE}\s*\(\s*)?:[A-Za-z_]\w*(?(folds)\s*\))"
_EQUALITY = r"(?:={1,3}|(?P<negated>!={1,2}))"
_PATTERNS = {
    "==": "^{}$",
    "CONTAINS": "{}",
    "STARTS_WITH": "^{}",
    "ENDS_WITH": "{}$",
    "REGEX": "{}",
}
"""What REGEX compares where a test shall ignore case."""
_LOWER_METHOD = r"(?:lower|upper|toLowerCase|toUpperCase|casefold)\s*\(\s*\)"
_SLASHES = r"/(?P<text>[^/\n]+)/(?P<flags>[imsx]*)"
_LIST_AGGREGATES = "The aggregates are COUNT, SUM, AVG, MIN and MAX"
_LIST_FUNCTIONS = (
    "The functions are IN, IS_NULL, IS_NOT_NULL, CONTAINS, STARTS_WITH, ENDS_WITH and REGEX."
)
_CONSTANTS = {
    "null": "NULL|Null|None|nil|NIL|undefined|NONE",
    "true": "TRUE|True|YES",
    "false": "FALSE|False|NO",
}


def _ignoring_case(function: str, match: re.Match[str]) -> str:
    """A REGEX instead of a test of a text in lower or upper case."""
    parts = match.groupdict()
    pattern = ":pattern"
    if "texts" in parts:
        texts = [unquoted(text) for text in re.findall(TERMS["{STRING}"], parts["texts"])]
        if function != "REGEX":
            texts = [_escaped(text) for text in texts]
        text = texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"
        pattern = quoted("(?i)" + _PATTERNS[function].format(text))
    return f"{'!' * bool(parts.get('negated'))}REGEX({match['path']}, {pattern})"


def _escaped(text: str) -> str:
    return re.sub(r"([\\.^$|?*+()\[\]{}])", r"\\\1", text)


def _case_rows(function: str, mistake: str, before: str = "") -> Iterator[Repair]:
    """A test that shall ignore case, with ``TEXTS`` or a placeholder for them."""
    new = partial(_ignoring_case, function)
    pattern = f"(?i){_PATTERNS[function]}".format("…")
    sent = f'{{Write}}, and send {{"pattern": "{pattern}"}} in parameters.'
    for texts, hint in ((_FOLDED_TEXTS, "{Write}."), (_FOLDED_PLACEHOLDER, sent)):
        yield Repair(
            _ANY,
            mistake.replace("TEXTS", texts),
            new,
            f"REGEX ignores case with (?i). {hint}",
            before.replace("TEXTS", texts),
        )


def _unprefixed(match: re.Match[str]) -> str | None:
    """The function of KIP that a name with a prefix or hyphens means."""
    name = match["function"].upper().replace("-", "_")
    if name in _NAMES:
        return name
    words = {**_FUNCTIONS, **_AGGREGATES, "COUNT": "", "!": "NOT"}
    return next((new for new in words if name in re.split(r"[ |]", words[new])), None)


def _like(match: re.Match[str]) -> str:
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


def _compared(template: str, match: re.Match[str]) -> str:
    """A function that compares as operators, in parentheses after !."""
    condition = match.expand(template)
    return f"!({condition})" if match["negated"] else condition


def _each(match: re.Match[str]) -> str | None:
    """A test of several texts as one test for each of them."""
    function = match["function"].upper().replace("SWITH", "S_WITH")
    function = function if function in _INFIX else "CONTAINS"
    texts = re.findall(TERMS["{STRING}"], match["texts"])
    join = " || " if match["which"].upper() == "ANY" else " && "
    tests = join.join(f"{function}({match['path']}, {text})" for text in texts)
    return f"({tests})" if tests else None


def _with_flags(match: re.Match[str]) -> str:
    return quoted(f"(?{unquoted(match['flags'])}){unquoted(match['text'])}")


def _total(match: re.Match[str]) -> str:
    return "SUM" if "." in match["path"] else "COUNT"


def _chained(match: re.Match[str]) -> str:
    middle = match["middle"]
    return f"{match['low']} {match['one']} {middle} && {middle} {match['two']} {match['high']}"


def _one_of(match: re.Match[str]) -> str:
    items = ", ".join(re.findall(r'"[^"]*"|[\w.:-]+', re.sub(r"\bOR\b", "", match["items"])))
    return f"{'!' * (match['operator'] == '!=')}IN({match['path']}, [{items}])"


def _called(function: str) -> Callable[[re.Match[str]], str]:
    """An infix operator as a function."""

    def new(match: re.Match[str]) -> str:
        argument = match["grouped"] or match["argument"]
        return f"{'!' * bool(match['negated'])}{function}({match['path']}, {argument})"

    return new


def _pattern(match: re.Match[str]) -> str:
    """A pattern between slashes, with its flags, as a string."""
    flags = f"(?{match['flags']})" if match["flags"] else ""
    return quoted(flags + match["text"])


def _matched(match: re.Match[str]) -> str:
    return f"REGEX({match['path']}, {_pattern(match)})"


def _infix_in(match: re.Match[str]) -> str:
    return f"{'!' * bool(match['negated'])}IN({match['path']}, [{match['items'].strip()}])"


ROWS = (
    # Case
    *_case_rows("==", rf"{_FOLDED}\s*{_EQUALITY}\s*TEXTS"),
    *_case_rows("==", _FOLDED, rf"TEXTS\s*{_EQUALITY}\s*"),
    *_case_rows("==", rf"{_FOLDED}\s*(?i:(?P<negated>NOT\s+)?IN)\s*TEXTS"),
    *_case_rows("==", rf"{_FOLDED}\s*,\s*TEXTS\s*\)", r"IN\s*\(\s*"),
    *(
        row
        for function, words in _INFIX.items()
        for row in (
            *_case_rows(function, rf"{_FOLDED}\s*,\s*TEXTS\s*\)", rf"{function}\s*\(\s*"),
            *_case_rows(function, rf"{_FOLDED}\s*(?i:(?P<negated>NOT\s+)?(?:{words}))\s*TEXTS"),
            *_case_rows(
                function,
                rf"I_?{function.replace('_', '_?')}\s*\(\s*(?P<path>{{PATH}})\s*,\s*TEXTS\s*\)",
            ),
        )
    ),
    Repair(
        r"^'\)'",
        r",\s*(?P<flags>\"[imsx]+\")",
        _with_flags,
        "Flags are in the pattern. {Write}.",
        rf"{_TEXT}\s*",
    ),
    Repair(
        "^an? (?:variable, a )?.*aggregate",
        _FOLDED,
        r"\g<path>",
        "FIND shows values as stored. {Write}.",
    ),
    # Time
    Repair(
        "value|condition|argument|calculation",
        r"(?:[a-z]+:)?(?i:NOW|CURRENT[_-](?:TIMESTAMP|DATE|TIME|DATETIME)|TODAY|GETDATE|SYSDATE|TIMESTAMP"
        r"|DATETIME)\s*\(\s*\)|datetime\.now\(\)|CURRENT_(?:TIMESTAMP|DATE)\b",
        ":now",
        'Send the time as a parameter: {write}, and send {"now": "2026-01-31T12:00:00Z"} in '
        "parameters.",
    ),
    Repair(
        _ANY,
        r"(?:xsd:)?(?i:DATE|DATETIME|TIMESTAMP|TIME|STR|STRING|TEXT)\s*\(\s*(?P<of>{PATH}|{STRING})\s*\)",
        r"\g<of>",
        "Times are ISO 8601 strings, and compare as such. {Write}.",
    ),
    Repair(
        r"operator|'&&'|',' or",
        r"(?P<rest>-[0-9]{2}(?:-[0-9]{2})?(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?)",
        r'"\g<year>\g<rest>"',
        "Times are strings. {Write}.",
        r"(?P<year>\b[0-9]{4})",
    ),
    # Comparisons
    Repair("dot path", "=+", "!=", "Inequality is !=. {Write}.", "!="),
    Repair("dot path", "=+", "==", "Equality is ==. {Write}.", "=+"),
    Repair(_OPERAND, ">", "!=", "Inequality is !=. {Write}.", "<"),
    Repair(_OPERATOR, "=>", ">="),
    Repair(_OPERATOR, "=<", "<="),
    Repair(_OPERATOR, r"=(?![=~])", "==", "Equality is ==. {Write}."),
    Repair(
        _OPERATOR,
        r"(?:IS\s+NOT|is\s+not)\s+(?:NULL|null|None)\b",
        r"IS_NOT_NULL(\g<path>)",
        before=r"(?P<path>{PATH})\s*",
    ),
    Repair(
        _OPERATOR,
        r"(?:IS|is)\s+(?:NULL|null|None)\b",
        r"IS_NULL(\g<path>)",
        before=r"(?P<path>{PATH})\s*",
    ),
    Repair(_OPERATOR, r"(?i:IS\s+NOT|not\s+equals?|NE)\b", "!="),
    Repair(_OPERATOR, r"(?i:IS|EQUALS?|EQ)\b", "=="),
    Repair(
        _OPERATOR,
        r"(?i:(?P<negated>NOT\s+)?IN)\s*[\[(](?P<items>[^()\[\]]*)[\])]",
        _infix_in,
        "Membership is a function. {Write}.",
        r"(?P<path>{PATH})\s*",
    ),
    Repair(
        _OPERATOR,
        r"(?i:(?P<negated>NOT\s+)?IN)\s+(?P<items>{PATH}|:[A-Za-z_]\w*)",
        lambda match: f"{'!' * bool(match['negated'])}IN({match['value']}, {match['items']})",
        "Membership is a function. {Write}.",
        r"(?P<value>{OPERAND})\s*",
    ),
    Repair(
        _OPERATOR,
        r"(?i:(?P<negated>NOT\s+)?(?P<word>I?LIKE))\s*" + _TEXT,
        _like,
        "KIP has no LIKE. {Write}.",
        r"(?P<path>{PATH})\s*",
    ),
    Repair(
        _ANY,
        r"(?P<negated>)(?P<word>(?i:I?LIKE))\s*\(\s*(?P<path>{PATH})\s*,\s*" + _TEXT + r"\s*\)",
        _like,
        "KIP has no LIKE. {Write}.",
    ),
    *(
        Repair(
            _OPERATOR,
            rf"(?i:(?P<negated>NOT\s+)?(?:{words}))\s*"
            r"(?:\(\s*(?P<grouped>{OPERAND})\s*\)|(?P<argument>{OPERAND}))",
            _called(function),
            "It is a function. {Write}.",
            r"(?P<path>{PATH})\s*",
        )
        for function, words in _INFIX.items()
    ),
    Repair(
        _OPERATOR,
        rf"=?~\*?\s*{_SLASHES}",
        _matched,
        "It is a function. {Write}.",
        r"(?P<path>{PATH})\s*",
    ),
    Repair(_OPERAND, _SLASHES, _pattern, "A pattern is a string. {Write}."),
    Repair(
        _OPERATOR,
        r"(?i:BETWEEN)\s+(?P<low>{VALUE})\s+(?i:AND)\s+(?P<high>{VALUE})",
        r"\g<path> >= \g<low> && \g<path> <= \g<high>",
        before=r"(?P<path>{PATH})\s*",
    ),
    Repair(
        _OPERATOR,
        r"(?P<two>[<>]=?|==)\s*(?P<high>{OPERAND})",
        _chained,
        "Join two comparisons with &&. {Write}.",
        r"(?P<low>{OPERAND})\s*(?P<one>[<>]=?|==)\s*(?P<middle>{OPERAND})\s*",
    ),
    Repair(_OPERATOR, r"\^\^\s*(?:<[^>]*>|[\w:]+)", "", "Values have no datatype. {Write}."),
    Repair(_OPERATOR, r"@[A-Za-z-]+", "", "Compare the text alone. {Write}."),
    Repair(
        "dot path",
        r"\(\s*(?P<items>{VALUE}(?:\s*(?:,|\|\|?|(?i:OR))\s*{VALUE})+)\s*\)",
        _one_of,
        "One of several values is tested by IN. {Write}.",
        r"(?P<path>{PATH})\s*(?P<operator>==|!=)\s*",
    ),
    # Joining conditions
    Repair(
        r"^'\)'",
        r"\|\|\s*(?P<two>{STRING})",
        r"\g<call>\g<one>) || \g<call>\g<two>",
        "Repeat the test. {Write}.",
        r"(?P<call>[A-Z_]+\(\s*{PATH}\s*,\s*)(?P<one>{STRING})\s*",
    ),
    Repair(_OPERATOR, r"(?i:AND)\b|&(?!&)", "&&"),
    Repair(_OPERATOR, r"(?i:OR)\b|\|(?!\|)", "||"),
    Repair(
        _OPERATOR,
        r"(?P<rest>,\s*{STRING}\s*,\s*{ENDPOINT}\s*\))\s*\)",
        r"\g<first>\g<rest>",
        "A pattern is a clause, outside of FILTER. {Write}.",
        r"FILTER\s*\(\s*(?P<first>\(\s*{VAR}\s*)",
    ),
    Repair(_OPERATOR, r",", " &&", "Join conditions with && or ||. {Write}."),
    Repair(
        _CONDITION,
        r"(?i:NOT\s+EXISTS|NOT)\s*(?P<block>{BRACES})\s*\)",
        r"NOT \g<block>",
        "NOT {…} is a clause. {Write}.",
        r"FILTER\s*\(\s*",
    ),
    Repair(
        _CONDITION,
        r"(?i:EXISTS)\s*\{(?P<inner>.*?)\}\s*\)(?=\s*(?:\}|FILTER|\?|\())",
        r"\g<inner>",
        "Write the pattern as a clause. {Write}.",
        r"FILTER\s*\(\s*",
    ),
    Repair(
        _CONDITION,
        r"(?i:NOT)\s+(?=[?A-Z(])|(?i:NOT)(?=\s*\()",
        "!",
        "Negate a condition with !. {Write}.",
    ),
    Repair(_OPERATOR, r"!\s*(?P<call>IN|CONTAINS)\b", hint="Negate the whole condition: !(…)."),
    # Functions
    Repair(
        f"{_EXPRESSION}|^a value|calculation",
        _PREFIXED,
        _unprefixed,
        "Names of functions have no prefix and no hyphen. {Write}.",
    ),
    Repair("aggregate", _PREFIXED, hint=rf"KIP has no function \g<prefixed>. {_LIST_AGGREGATES}."),
    Repair(
        "condition|dot path",
        _PREFIXED,
        hint=rf"KIP has no function \g<prefixed>. {_LIST_FUNCTIONS}",
    ),
    Repair(
        "^a value",
        _PREFIXED,
        hint="A value is JSON; only UPDATE has functions: ADD, MUL, CLAMP and COALESCE.",
    ),
    *(
        Repair(
            _ANY,
            rf"(?i:{'|'.join(words.split())})(?=\s*\(\s*[?:])",
            function,
        )
        for function, words in _FUNCTIONS.items()
    ),
    *(
        Repair(
            _CONDITION,
            rf"(?i:{words})\s*\(\s*(?P<left>{{OPERAND}})\s*,\s*(?P<right>{{OPERAND}})\s*\)",
            partial(_compared, rf"\g<left> {operator} \g<right>"),
            "Comparisons are operators. {Write}.",
            r"(?P<negated>!\s*)?",
        )
        for operator, words in _COMPARISONS.items()
    ),
    *(
        Repair(
            _CONDITION,
            rf"{word}\s*\(\s*(?P<one>(?:[^(),]|{{PARENTHESES}})+),"
            r"\s*(?P<two>(?:[^(),]|{PARENTHESES})+)\)",
            rf"(\g<one> {operator} \g<two>)",
            "Join conditions with && or ||. {Write}.",
        )
        for word, operator in (("AND", "&&"), ("OR", "||"))
    ),
    *(
        Repair(
            _ANY,
            rf"(?i:{words})\s*\(\s*(?P<v>{{VAR}})\s*\)",
            rf"\g<v>.{field}",
            "A path reads it. {Write}.",
        )
        for field, words in _FIELDS.items()
    ),
    Repair(
        _CONDITION,
        r"(?i:IS_?)?BETWEEN\s*\(\s*(?P<path>{PATH})\s*,\s*(?P<low>{OPERAND})\s*,\s*"
        r"(?P<high>{OPERAND})\s*\)",
        partial(_compared, r"\g<path> >= \g<low> && \g<path> <= \g<high>"),
        "Comparisons are operators. {Write}.",
        r"(?P<negated>!\s*)?",
    ),
    Repair(
        _CONDITION,
        r"(?i:(?P<not>IS_NOT_|NOT_|NON_?|IS_?NON_?)?(?:IS_?)?(?:EMPTY|BLANK))\s*\(\s*(?P<path>{PATH})"
        r"\s*\)",
        lambda match: (
            f"{'!' * bool(match['not'])}(IS_NULL({match['path']}) || "
            f'{match["path"]} == "" || {match["path"]} == [])'
        ),
    ),
    Repair(
        _CONDITION,
        r"(?i:(?P<function>CONTAINS|STARTS_?WITH|ENDS_?WITH|REGEX|HAS|INCLUDES)_?(?P<which>ANY|ALL)"
        r"(?:_OF)?)\s*\(\s*(?P<path>{PATH})\s*,\s*[\[(]?(?P<texts>[^\[\]()]*?)\s*\]?\)",
        _each,
        "Test each of them. {Write}.",
    ),
    Repair(
        _CONDITION,
        r"(?i:(?P<function>CONTAINS|STARTS_WITH|ENDS_WITH)_(?:ANY|ALL))\s*\(\s*(?P<path>{PATH})",
        hint=r"Test each of them: \g<function>(\g<path>, :one) || "
        r"\g<function>(\g<path>, :other), or join the tests with &&.",
    ),
    Repair(
        _CONDITION,
        r"(?i:ANY_OF|ONE_OF|IN_LIST|IN_ANY|IS_IN|ISIN|MEMBER_OF|ANY)(?=\s*\(\s*{PATH}\s*,)",
        "IN",
    ),
    Repair(
        _CONDITION,
        r"(?i:EXISTS)\s*\{",
        hint="Write the pattern as a clause in WHERE, outside of FILTER.",
    ),
    Repair(
        _CONDITION,
        r"(?P<call>(?:COUNT|SUM|AVG|MIN|MAX)\s*\([^()]*\))",
        hint=r"Aggregates are only in FIND and ORDER BY: write FIND(…, \g<call>) WHERE {…} "
        r"ORDER BY \g<call> DESC, and choose from the rows of the answer.",
    ),
    Repair(
        "list",
        r"[({]\s*(?P<items>{VALUE}(?:\s*,\s*{VALUE})*)\s*[)}]",
        r"[\g<items>]",
        "A list has square brackets. {Write}.",
    ),
    Repair(
        "list",
        r"(?P<items>{VALUE}(?:\s*,\s*{VALUE})*)(?=\s*\))",
        r"[\g<items>]",
        "A list has square brackets. {Write}.",
    ),
    Repair(
        "list",
        "",
        hint='Put the values in brackets, IN(?x.name, ["a", "b"]), or name the path of an array.',
    ),
    # Methods
    *_case_rows("==", rf"{_LOWER_METHOD}\s*{_EQUALITY}\s*TEXTS", r"(?P<path>{PATH})\.\s*"),
    *(
        row
        for function, words in _METHODS.items()
        for row in _case_rows(
            function,
            rf"{_LOWER_METHOD}\s*\.\s*(?:{words})\s*\(\s*TEXTS\s*\)",
            r"(?P<path>{PATH})\.\s*",
        )
    ),
    *(
        Repair(
            "end of the path",
            rf"(?:{words})\s*\(\s*(?P<argument>{{OPERAND}})\s*\)",
            rf"{function}(\g<path>, \g<argument>)",
            before=r"(?P<path>{PATH})\.\s*",
        )
        for function, words in _METHODS.items()
    ),
    Repair(
        _EXPRESSION + "|',' or",
        r"\[\s*[\"']?(?P<key>[A-Za-z_]\w*)[\"']?\s*\]",
        r".\g<key>",
        "A path has dots. {Write}.",
    ),
    Repair(_EXPRESSION + "|',' or", r"->\s*(?=[a-z])", ".", "A path has dots. {Write}."),
    # Aggregates
    *(
        Repair(
            "aggregate",
            rf"(?i:{words})(?=\s*\()",
            function,
            _LIST_AGGREGATES + ": {write}.",
        )
        for function, words in _AGGREGATES.items()
    ),
    Repair(
        "aggregate",
        r"(?i:TOTAL)(?=\s*\(\s*(?P<path>{PATH}))",
        _total,
        _LIST_AGGREGATES + ": {write}.",
    ),
    Repair(
        "aggregate",
        r"(?i:MEDIAN|MODE|STDDEV|STDEV|STD|VARIANCE|PERCENTILE|PRODUCT)\s*\(",
        hint=_LIST_AGGREGATES + "; FIND lists every value for others.",
    ),
    Repair(
        "aggregate",
        r"(?i:COLLECT|LIST|GROUP_CONCAT|ARRAY_AGG|STRING_AGG)\s*\(\s*(?:DISTINCT\s+)?(?P<path>{PATH})\s*\)",
        r"\g<path>",
        _LIST_AGGREGATES + "; FIND lists every value. {Write}.",
    ),
    Repair(
        "aggregate",
        r"(?i:DISTINCT|UNIQUE)\s*\(\s*(?P<path>{PATH})\s*\)",
        r"\g<path>",
        "FIND lists each node once. {Write}.",
    ),
    # Values
    *(
        Repair("value|condition|argument|calculation", rf"(?:{words})(?![\w(.])", constant)
        for constant, words in _CONSTANTS.items()
    ),
    Repair("dot path|condition|value", r"(?P<number>\.[0-9]+)", r"0\g<number>"),
    Repair("dot path|condition|value", r"\+(?P<number>[0-9.]+)", r"\g<number>"),
    Repair(
        _OPERATOR,
        r"[-+*/%]",
        hint="A condition has no arithmetic; calculate the value and compare with it.",
    ),
    Repair(
        "dot path",
        r"(?P<word>[A-Za-z]\w*)(?![\w.(])",
        r'"\g<word>"',
        "A string has double quotes. {Write}.",
        r"(?<=[=!<>])|(?<=[=!<>] )",
    ),
    Repair(r"^a condition", r"(?=\))", hint='Write a condition, such as ?x.name == "…".'),
    Repair(
        r"^'\('$",
        r"NOT(?:\s+EXISTS)?\s*(?P<block>{BRACES})",
        r"NOT \g<block>",
        "NOT {…} is a clause. {Write}.",
        r"FILTER\s*",
    ),
    Repair(
        r"^'\('$",
        r"EXISTS\s*\{(?P<inner>(?:[^{}]|{MATCHER})*)\}",
        r"\g<inner>",
        "The pattern is a clause. {Write}.",
        r"FILTER\s*",
    ),
    Repair(
        r"^'\('$",
        r"\{\s*(?P<condition>[^{}]*?)\s*\}",
        r"(\g<condition>)",
        "A condition has parentheses. {Write}.",
        r"(?<=FILTER)\s*",
    ),
    Repair(
        r"^'\('$",
        r"(?P<condition>{OPERAND}\s*[=!<>]=?\s*{OPERAND})",
        r"(\g<condition>)",
        "A condition has parentheses. {Write}.",
        r"(?<=FILTER)\s*",
    ),
    Repair(
        r"^'\('$",
        r"(?P<condition>(?:!\s*)?[A-Z_]+\s*{PARENTHESES})",
        r"(\g<condition>)",
        "A condition has parentheses. {Write}.",
        r"(?<=FILTER)\s*",
    ),
    Repair(
        r"^'\('$",
        r"(?P<path>{PATH})",
        r"(\g<path>)",
        "The argument has parentheses. {Write}.",
        r"(?<=IS_NULL|OT_NULL)\s*",
    ),
)

LAST = (
    Repair(
        "aggregate",
        r"(?!(?:COUNT|SUM|AVG|MIN|MAX|DESC|ASC)\b)(?!(?i:COUNT|SUM|AVG|MIN|MAX)\b)[A-Za-z_]\w*\s*\(",
        hint=_LIST_AGGREGATES + ".",
    ),
    Repair(
        _ANY,
        rf"{_CASE}\s*\(",
        hint="Texts are compared as they are stored. REGEX ignores case with (?i), against a "
        'pattern of the command: REGEX(?x.name, "(?i)^…$").',
    ),
    Repair(
        "condition|dot path",
        r"(?!(?:IN|IS_NULL|IS_NOT_NULL|CONTAINS|STARTS_WITH|ENDS_WITH|REGEX)\b)"
        r"(?!(?i:IN|IS_NULL|IS_NOT_NULL|CONTAINS|STARTS_WITH|ENDS_WITH|REGEX)\b)"
        r"(?P<word>[A-Za-z_]\w*)\s*\(",
        hint=rf"KIP has no function \g<word>. {_LIST_FUNCTIONS}",
    ),
)
"""Hints that are less specific than a keyword of similar spelling."""
