"""Quotes, comments, placeholders, punctuation and white space of other languages."""

from __future__ import annotations

import re
import unicodedata

from kiprdf.language.repairs.rows import Repair, quoted, variables

_OPEN = "'‘‚“”„‟«»‹›「『《〈＂＇"
_CLOSE = "'’‘“”„‟«»‹›」』》〉＂＇\""
_WIDE = "（）｛｝［］，：；？！＝｜＆＜＞．、。＋－＊％＠＄"
_VALUE = "value|string|number|list|object|key or"
_END = r"^\(subject|^an endpoint"
_ACTOR = r"\$(?P<name>self|system)\b"


def _ascii(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group(1)).replace("、", ",").replace("。", ".")


def _text(match: re.Match[str]) -> str:
    return quoted(match["text"])


def _placeholder(pattern: str, expected: str = _VALUE, before: str = "") -> Repair:
    """A placeholder of another language, whose name is in the group ``name``."""
    hint = "Placeholders are :name. {Write}, and send its value in `parameters`."
    return Repair(expected, pattern, r":\g<name>", hint.replace("`", ""), before)


def _named_by_parameter(match: re.Match[str]) -> str | None:
    """A matcher for a placeholder as an end of a proposition; None for a variable."""
    is_variable = f"?{match['name']}" in variables(match.string)
    return None if is_variable else f"{{name: :{match['name']}}}"


ROWS = (
    Repair(
        "",
        f"[{_OPEN}](?P<text>[^{_CLOSE}\n]*)[{_CLOSE}]",
        _text,
        "Strings have straight double quotes: {write}.",
    ),
    Repair(
        "closed string",
        f'"(?P<text>[^"\n{_CLOSE}]*)[{_CLOSE}]',
        _text,
        "Strings have straight double quotes: {write}.",
    ),
    Repair(
        "",
        r'\\+"(?P<text>[^"\\\n]*)\\+"',
        _text,
        "The command was escaped twice; send it without backslashes: {write}.",
    ),
    Repair("", r"\\[nrt]", "", "The command was escaped twice; send real line breaks: {write}."),
    Repair(
        "",
        r"`(?P<text>[^`\n]+)`",
        hint=r'Strings have double quotes, not backticks: "\g<text>".',
    ),
    Repair("", r"#(?P<text>[^\n]*)", r"//\g<text>", "Comments begin with //: {write}."),
    Repair(
        "", r"--(?=\s|[A-Z])(?P<text>[^\n]*)", r"//\g<text>", "Comments begin with //: {write}."
    ),
    Repair("", r"/\*.*?\*/", "", "Comments begin with // and end with the line: {write}."),
    Repair("", f"([{_WIDE}]+)", _ascii, "Punctuation is ASCII: {write}."),
    Repair(
        "",
        "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]",
        hint="Remove this invisible character.",
    ),
    Repair(
        "", "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u0085]", hint="Write a space instead."
    ),
    Repair(
        _END,
        _ACTOR,
        r'{type: "Person", name: "$\g<name>"}',
        "A concept is named by a matcher. {Write}.",
        command="UPSERT",
    ),
    Repair(_END, _ACTOR, r'{name: "$\g<name>"}', "A concept is named by a matcher. {Write}."),
    Repair(_VALUE, _ACTOR, r'"$\g<name>"', "A string has double quotes. {Write}."),
    Repair(
        _END,
        r"[:$](?P<name>[A-Za-z_]\w*)(?=\s*[,)])",
        _named_by_parameter,
        "A concept is named by a matcher. {Write}, and send its name in parameters.",
    ),
    _placeholder(r"\$\{\s*(?P<name>[A-Za-z_]\w*)\s*\}"),
    _placeholder(r"\$(?P<name>[A-Za-z_]\w*)"),
    _placeholder(r"@(?P<name>[A-Za-z_]\w*)"),
    _placeholder(r"<(?P<name>[A-Za-z_]\w*)>"),
    _placeholder(r"%\((?P<name>[A-Za-z_]\w*)\)s"),
    _placeholder(r"\{\s*(?P<name>[A-Za-z_]\w*)\s*\}\}", before=r"\{\s*"),
    Repair(
        _VALUE, "%s", ":value", "Placeholders are :name. {Write}, and send its value in parameters."
    ),
    Repair("", r"\$(?P<name>[A-Za-z_]\w*)", r"?\g<name>", "Variables begin with ?: {write}."),
    Repair("", r"@(?=\()", "", "{Write}."),
)
