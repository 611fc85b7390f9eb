"""The scanner: reads JSON values, variables and dot paths without grammar combinators.

Values are most of the text of a command. Here one function call reads a whole JSON object, where
combinators would be called for each key, colon and comma (docs/decisions/005). Every function
takes the text and an offset and returns a node and the offset after it, or raises ``KipError``
with the place of the error.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import TypeGuard, TypeVar, cast, get_args

from kiprdf import budget
from kiprdf.errors import KipError, shown
from kiprdf.language import ast, limits
from kiprdf.source import Span

T = TypeVar("T")

_CHECK_INTERVAL = 256
"""The number of items between two checks of the deadline."""
_BLANKS = " \t\r\n"
SPACE = f"[{_BLANKS}]*"
"""The pattern of the space between tokens; the parser has already blanked the comments."""
PLAIN_STRING = r'"([^"\\\x00-\x1f]*)"'
"""The pattern of a string without escapes, as most strings are."""
_SPACE = re.compile(SPACE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CALCULATION = re.compile(rf"({'|'.join(get_args(ast.NumberFunction))})[ \t\r\n]*\(")
_CALL = re.compile(r"([A-Za-z_]+)\(")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_PLAIN_STRING = re.compile(PLAIN_STRING)
_COLON = re.compile(f"{SPACE}:{SPACE}")
_COMMA = re.compile(f"{SPACE},{SPACE}")
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Not a character, and in no encoding."""
_SHOWN_TOKEN = re.compile(r'[?:$]?[A-Za-z0-9_]+|"[^"\n]{0,30}"?|&&|\|\||[=!<>]=|.')
_NEAR_VARIABLE = re.compile(r"\?[\w$]+")
_CONSTANTS: dict[str, ast.JsonScalar] = {"true": True, "false": False, "null": None}
_FIELDS = get_args(ast.Field)
_CALCULATIONS = (
    "The functions are ADD, MUL, CLAMP and COALESCE, over numbers and paths of the target."
)
_ARGUMENTS = "Arguments are numbers, paths of the target and calculations."

VALUE_START = re.compile(r"[\"\[{\-0-9:]|(?:true|false|null)(?![A-Za-z0-9_])")


def skip_space(text: str, offset: int) -> int:
    """The offset of the next token."""
    match = _SPACE.match(text, offset)
    assert match is not None
    return match.end()


def end_of(text: str, following: int) -> int:
    """The end of the last token before an offset, without the space between them."""
    while text[following - 1] in _BLANKS:
        following -= 1
    return following


def describe_token(text: str, offset: int) -> str:
    """The token at an offset, for an error message.

    >>> describe_token("FIND(3)", 5)
    "'3'"
    """
    offset = skip_space(text, offset)
    if offset >= len(text):
        return "the end of the text"
    match = _SHOWN_TOKEN.match(text, offset)
    token = match.group() if match else text[offset]
    if len(token) > 1 or token.isascii() or token.isalnum():
        return f"'{token}'" if match else repr(token)
    name = unicodedata.name(token, "unnamed character").lower()
    shown_token = f"'{token}'" if token.isprintable() else "an invisible character"
    return f"{shown_token} (U+{ord(token):04X}, {name})"


def token_span(text: str, offset: int) -> Span:
    """The span of the token at an offset."""
    match = _SHOWN_TOKEN.match(text, offset)
    return Span(offset, match.end() if match else offset + 1)


def _syntax(text: str, offset: int, expected: str, hint: str | None = None) -> KipError:
    message = f"Expected {expected}, found {describe_token(text, offset)}."
    return KipError("KIP_1001", message, hint, token_span(text, offset), expected=expected)


def scan_value(text: str, offset: int) -> tuple[ast.Value, int]:
    """Read one JSON value or placeholder.

    >>> scan_value("[1, :x]", 0)[0]
    Array(items=(Scalar(value=1), Placeholder(name='x')))
    """
    first = text[offset : offset + 1]
    if first == '"':
        return scan_string(text, offset)
    if first == "{":
        return scan_object(text, offset)
    if first == "[":
        return _scan_array(text, offset)
    if first == ":":
        return _scan_placeholder(text, offset)
    if first == "-" or "0" <= first <= "9":
        return _scan_number(text, offset)
    word = _WORD.match(text, offset)
    if word and word.group() in _CONSTANTS:
        return ast.Scalar(_CONSTANTS[word.group()], span=Span(offset, word.end())), word.end()
    hint = "Values are JSON: strings in double quotes, numbers, true, false, null, [...], {...}."
    if _CALCULATION.match(text, offset):
        hint = "A calculation must be a whole value in SET ATTRIBUTES or SET METADATA of an UPDATE."
    raise _syntax(text, offset, "a value", hint)


def scan_string(text: str, offset: int) -> tuple[ast.Scalar, int]:
    """Read a string in double quotes with JSON escapes."""
    plain = _PLAIN_STRING.match(text, offset)
    if plain is not None:
        return plain_string(plain, 1), plain.end()
    match = _STRING.match(text, offset)
    if match is None:
        hint = 'Close the string with ", and write a quote inside it as \\".'
        message, span = "The string is not closed.", Span(offset, offset + 1)
        raise KipError("KIP_1001", message, hint, span, expected="a closed string")
    span = Span(offset, match.end())
    try:
        value = json.loads(match.group())
    except json.JSONDecodeError as fault:
        raise _string_fault(fault, offset + fault.pos) from None
    check_length(value, span)
    return ast.Scalar(value, span=span), match.end()


def plain_string(match: re.Match[str], group: int) -> ast.Scalar:
    """The string in a group of a pattern that contains ``PLAIN_STRING``."""
    value, start, end = match.group(group), match.start(group), match.end(group)
    span = Span(start - 1, end + 1)
    check_length(value, span)
    return ast.Scalar(value, span=span)


def _string_fault(fault: json.JSONDecodeError, offset: int) -> KipError:
    span = Span(offset, offset + 1)
    if "control character" in fault.msg:
        hint = "Write line breaks as \\n, tabs as \\t, other control characters as \\u00XX."
        return KipError("KIP_1001", "A string contains a raw control character.", hint, span)
    hint = 'Valid escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX.'
    message = "The string contains an escape that JSON does not have."
    return KipError("KIP_1001", message, hint, span)


def is_encodable(text: str) -> bool:
    """Whether a string contains no lone surrogates, and so can be encoded.

    >>> is_encodable("\\U0001f48a"), is_encodable("\\ud83d")
    (True, False)
    """
    return LONE_SURROGATE.search(text) is None


def check_characters(value: str, span: Span) -> None:
    """Refuse lone surrogates, which cannot be stored."""
    if not is_encodable(value):
        message = "A string contains a lone surrogate, which is not a character."
        raise KipError("KIP_1001", message, "Write astral characters as a surrogate pair.", span)


def check_length(value: str, span: Span) -> None:
    """Refuse strings of more than 1 MiB."""
    if (
        len(value) > limits.STRING_BYTES // 4
        and len(value.encode("utf-8", "surrogatepass")) > limits.STRING_BYTES
    ):
        message = "A string is longer than 1 MiB."
        raise KipError("KIP_4002", message, "Store long texts elsewhere and refer to them.", span)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number; a boolean is not.

    >>> is_number(1.5), is_number(True)
    (True, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_number(value: int | float, span: Span) -> None:
    """Refuse numbers that the engine cannot compare: integers beyond 64 bits, infinities, NaN."""
    if isinstance(value, int):
        if not limits.INTEGER_MINIMUM <= value <= limits.INTEGER_MAXIMUM:
            message = "An integer is outside the 64-bit range."
            raise KipError("KIP_1001", message, "Write it as a string or with an exponent.", span)
    elif value != value or value in (float("inf"), float("-inf")):
        message = "A number is not finite."
        raise KipError("KIP_1001", message, "Numbers must be within the range of a double.", span)


def _scan_number(text: str, offset: int) -> tuple[ast.Scalar, int]:
    match = _NUMBER.match(text, offset)
    following = text[match.end() : match.end() + 1] if match else ""
    if match is None or following.isalnum() or following in ("_", "."):
        end = match.end() + 1 if match else offset + 1
        hint = "Numbers are JSON numbers: 42, -0.5, 1e6; no leading zero, plus sign or bare point."
        message, span = "This is not a number.", Span(offset, end)
        raise KipError("KIP_1001", message, hint, span, expected="a number")
    span = Span(offset, match.end())
    digits = match.group()
    if match.group(1) is None and match.group(2) is None:
        # More digits exceed 64 bits, and are slow to convert.
        value: int | float = int(digits) if len(digits) <= 20 else limits.INTEGER_MAXIMUM + 1
    else:
        value = float(digits)
    check_number(value, span)
    return ast.Scalar(value, span=span), match.end()


def _scan_placeholder(text: str, offset: int) -> tuple[ast.Placeholder, int]:
    match = _WORD.match(text, offset + 1)
    if match is None:
        code = "KIP_1002" if text[offset + 1 : offset + 2].isalnum() else "KIP_1001"
        message = "A placeholder is ':' followed by an identifier."
        raise KipError(code, message, "For example :name.", Span(offset, offset + 1))
    return ast.Placeholder(match.group(), span=Span(offset, match.end())), match.end()


def _scan_array(text: str, offset: int) -> tuple[ast.Array, int]:
    items: list[ast.Value] = []
    at = skip_space(text, offset + 1)
    while text[at : at + 1] != "]":
        item, at = scan_value(text, at)
        items.append(item)
        if not len(items) % _CHECK_INTERVAL:
            budget.check()
        at = _after_item(text, at, "]", offset)
    return ast.Array(tuple(items), span=Span(offset, at + 1)), at + 1


def scan_object(text: str, offset: int) -> tuple[ast.Object, int]:
    """Read an object; its keys are quoted strings or identifiers, each once."""
    parts, end = _scan_entries(text, offset, scan_value)
    entries = tuple(ast.Entry(key, value, span=span) for key, value, span in parts)
    return ast.Object(entries, span=Span(offset, end)), end


def scan_assignments(text: str, offset: int) -> tuple[ast.Assignments, int]:
    """Read the object of an UPDATE, whose values may be calculations.

    >>> scan_assignments("{count: ADD(?x.attributes.count, 1)}", 0)[0].entries[0].value.function
    'ADD'
    """
    parts, end = _scan_entries(text, offset, _scan_assigned)
    entries = tuple(ast.Assignment(key, value, span=span) for key, value, span in parts)
    return ast.Assignments(entries, span=Span(offset, end)), end


def _scan_assigned(text: str, offset: int) -> tuple[ast.Calculation | ast.Value, int]:
    if _CALCULATION.match(text, offset):
        return _scan_calculation(text, offset)
    if text[offset : offset + 1] == "?":
        path, _ = scan_path(text, offset)
        message = "A path alone is not a value in an UPDATE."
        raise KipError("KIP_1001", message, span=path.span, expected="a calculation")
    if _CALL.match(text, offset) is not None:
        raise _syntax(text, offset, "a calculation", _CALCULATIONS)
    return scan_value(text, offset)


def _scan_calculation(text: str, offset: int) -> tuple[ast.Calculation, int]:
    """Read ``ADD(…)``; two arguments or more, CLAMP three."""
    match = _CALCULATION.match(text, offset)
    assert match is not None
    function = cast(ast.NumberFunction, match.group(1))
    arguments: list[ast.Argument] = []
    at = skip_space(text, match.end())
    while text[at : at + 1] != ")":
        argument, at = _scan_argument(text, at)
        arguments.append(argument)
        at = skip_space(text, at)
        if text[at : at + 1] not in (",", ")"):
            raise _syntax(text, at, "',' or ')'", f"Write {function}(a, b, …), closed by ')'.")
        if text[at] == ",":
            at = skip_space(text, at + 1)
            if text[at : at + 1] == ")":
                raise _syntax(text, at, "an argument", "Write `)` instead of `,)`.")
    span = Span(offset, at + 1)
    if len(arguments) < 2 or (function == "CLAMP" and len(arguments) != 3):
        form = "CLAMP(number, low, high)" if function == "CLAMP" else f"{function}(a, b, …)"
        message = f"{function} has {len(arguments)} argument{'s' * (len(arguments) != 1)}."
        raise KipError("KIP_1001", message, f"Write {form}.", span)
    return ast.Calculation(function, tuple(arguments), span=span), at + 1


def _scan_argument(text: str, offset: int) -> tuple[ast.Argument, int]:
    if _CALCULATION.match(text, offset):
        return _scan_calculation(text, offset)
    if text[offset : offset + 1] != "?":
        if not VALUE_START.match(text, offset):
            raise _syntax(text, offset, "an argument", _ARGUMENTS)
        return scan_value(text, offset)
    path, end = scan_path(text, offset)
    if isinstance(path, ast.Variable):
        hint = f"Write ?{path.name}.attributes.key or ?{path.name}.metadata.key."
        raise KipError("KIP_1001", "A variable alone is not a number.", hint, path.span)
    return path, end


def _scan_entries(
    text: str, offset: int, scan: Callable[[str, int], tuple[T, int]]
) -> tuple[list[tuple[str, T, Span]], int]:
    """The keys with their values and spans, and the offset after the closing brace."""
    entries: list[tuple[str, T, Span]] = []
    keys: set[str] = set()
    at = skip_space(text, offset + 1)
    while text[at : at + 1] != "}":
        key, span, at = _scan_key(text, at)
        if key in keys:
            message = f"The key '{key}' occurs twice in one object."
            raise KipError("KIP_1001", message, "Keep one of the two.", span)
        keys.add(key)
        if not len(keys) % _CHECK_INTERVAL:
            budget.check()
        colon = _COLON.match(text, at)
        if colon is None:
            raise _syntax(text, skip_space(text, at), f"':' after the key '{key}'")
        value, at = scan(text, colon.end())
        entries.append((key, value, span))
        at = _after_item(text, at, "}", offset)
    return entries, at + 1


def _scan_key(text: str, offset: int) -> tuple[str, Span, int]:
    if text[offset : offset + 1] == '"':
        scalar, end = scan_string(text, offset)
        return cast(str, scalar.value), scalar.span, end
    match = _WORD.match(text, offset)
    if match is None:
        if text[offset : offset + 1].isdigit():
            hint = "Keys begin with a letter or _; inside object values they may be quoted."
            span = token_span(text, offset)
            raise KipError("KIP_1002", "An unquoted key must be an identifier.", hint, span)
        raise _syntax(text, offset, "a key or '}'", "Keys are identifiers or quoted strings.")
    return match.group(), Span(offset, match.end()), match.end()


def _after_item(text: str, offset: int, closer: str, opened: int) -> int:
    """The offset of the next item or of the closing bracket, after at most one comma."""
    comma = _COMMA.match(text, offset)
    if comma is not None:
        return comma.end()
    at = skip_space(text, offset)
    following = text[at : at + 1]
    if following == closer:
        return at
    if not following:
        message = f"'{text[opened]}' is not closed."
        hint = f"Add the missing '{closer}'."
        raise KipError("KIP_1001", message, hint, Span(opened, opened + 1))
    raise _syntax(text, at, f"',' or '{closer}'")


def scan_variable(text: str, offset: int) -> tuple[ast.Variable, int]:
    """Read ``?name`` at a question mark."""
    match = _WORD.match(text, offset + 1)
    if match is None or text[match.end() : match.end() + 1].isalnum():
        whole = _NEAR_VARIABLE.match(text, offset)
        if whole is None:
            raise _syntax(text, offset + 1, "a variable name directly after '?'")
        message = (
            f"'{shown(whole.group())}' is not a valid variable: its name is not an identifier."
        )
        raise KipError("KIP_1002", message, None, Span(*whole.span()))
    return ast.Variable(match.group(), span=Span(offset, match.end())), match.end()


def scan_path(text: str, offset: int) -> tuple[ast.Variable | ast.Path, int]:
    """Read ``?name``, ``?name.field`` or ``?name.attributes.key``.

    >>> scan_path("?d.attributes.risk_level < 3", 0)[0]
    Path(variable=Variable(name='d'), field='attributes', key='risk_level')
    """
    variable, end = scan_variable(text, offset)
    segments: list[tuple[str, Span]] = []
    at = skip_space(text, end)
    while text[at : at + 1] == ".":
        start = skip_space(text, at + 1)
        match = _WORD.match(text, start)
        if match is None:
            if text[start : start + 1].isalnum():
                message = "A dot path consists of identifiers."
                raise KipError("KIP_1002", message, None, Span(start, start + 1))
            raise _syntax(text, start, "a field after '.'")
        segments.append((match.group(), Span(start, match.end())))
        end = match.end()
        at = skip_space(text, end)
    if not segments:
        return variable, end
    return _path(text, variable, segments), end


def _path(text: str, variable: ast.Variable, segments: list[tuple[str, Span]]) -> ast.Path:
    field, span = segments[0]
    allowed = 2 if field in ("attributes", "metadata") else 1
    if field not in _FIELDS:
        message = f"'.{field}' is not a field of a concept or proposition."
        hint = (
            "Concepts have .id .type .name, propositions .id .subject .predicate .object, both "
            ".attributes.key and .metadata.key."
        )
        raise KipError("KIP_1001", message, hint, span, expected="a field")
    if len(segments) > allowed:
        message = f"A dot path ends after '.{segments[allowed - 1][0]}'."
        end = segments[allowed][1]
        raise KipError("KIP_1001", message, span=end, expected="the end of the path")
    key = segments[1][0] if len(segments) == 2 else None
    whole = Span(variable.span.start, segments[-1][1].end)
    return ast.Path(variable, cast(ast.Field, field), key, span=whole)
