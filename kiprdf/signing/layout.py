"""The layout of the documents that are signed here: one value a line, in the order of N-Quads.

Nothing in it is rewritten by a JSON-LD library, and the strings of N-Quads are those of JSON. So
the text of a document is its N-Quads in other brackets, and they are read back from its lines.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from kiprdf.errors import KipError, shown
from kiprdf.given_json import unique
from kiprdf.interchange.formats.guard import most
from kiprdf.rdf import vocab
from kiprdf.signing.canonical import ordered

CONTEXT = "https://w3id.org/security/data-integrity/v2"
"""The context of every signed document: it says what ``id``, ``type`` and ``proof`` mean."""
LARGEST = 500_000_000
"""How many characters a document has at most."""
_HEAD = f'{{"@context":"{CONTEXT}","@included":['
_PROOF = '\n],\n"proof":'
_TYPE = str(vocab.TYPE)
_DOUBLE = f'"^^{vocab.DOUBLE}'

# JavaScript takes an IRI with any white space in it for a relative one.
_SPACES = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_IRI = rf"[A-Za-z][A-Za-z0-9+.-]*+:[^\x00-\x20<>\"{{}}|^`\\\x7f{_SPACES}]*+"
_STRING = r'"(?:[^"\\\x00-\x1f\x7f]++|\\[btnfr"\\]|\\u00(?:0[0-7BEF]|1[0-9A-F]|7F))*+"'
_TAG = "[a-z]{1,8}(?:-[a-z0-9]{1,8})*"
_LINE = re.compile(
    rf"<{_IRI}> <{_IRI}> (?:<{_IRI}>|{_STRING}(?:@{_TAG}|\^\^<{_IRI}>)?)(?: <{_IRI}>)? \."
)
_END = r"(?:,|\],|\]\},?)"
_TEXT = re.compile(f"({_STRING}){_END}?")
_VALUE = re.compile(
    rf'\{{"@(?:id":"({_IRI})"|value":({_STRING}),"@(?:type":"({_IRI})|language":"({_TAG}))")\}}{_END}?'
)
_KEY = re.compile(rf'"({_IRI})":\[')
_NODE = re.compile(rf'\{{"@id":"({_IRI})",("@graph":\[)?')
_SCHEME = re.compile(_IRI)
_LITERAL = r'"(?:[^"\\]|\\.)*+"(?:@[a-z0-9-]+|\^\^<[^>]*>)?'
_IN_GRAPH = re.compile(rf"(<[^>]*> <[^>]*> (?:<[^>]*>|{_LITERAL})) (<[^>]*>) \.")
_OF_DOUBLE = re.compile(r'([^"]*)"((?:[^"\\]|\\.)*+)(' + re.escape(_DOUBLE) + ".*)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_AT_ONCE = 100
"""How many lines are searched at once."""
_SIXTEEN = Context(prec=16, rounding=ROUND_HALF_UP)


# Doubles --------------------------------------------------------------------------------------


def doubles(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines with their doubles in canonical form, and as they are signed.

    JSON-LD libraries write a double with at most 16 digits, so these are signed (JSON-LD API 1.1,
    8.2). Raises KIP_1001 for what is no finite double: they make NaN of it.
    """
    places = [place for place, line in enumerate(lines) if _DOUBLE in line]
    written, signed = lines.copy(), lines.copy()
    for place in places:
        if match := _OF_DOUBLE.fullmatch(lines[place]):
            before, text, after = match.groups()
            forms = double(text)
            if forms is None:
                message = f'{before}has the double "{shown(text)}", which JSON-LD cannot write.'
                raise KipError("KIP_1001", message, "Replace it, or sign a selection without it.")
            written[place], signed[place] = (f'{before}"{form}{after}' for form in forms)
    written = lines if written == lines else ordered(written)
    signed = written if signed == written else ordered(signed)
    if len(signed) < len(written):
        message = "A subject has two doubles of one predicate that JSON-LD libraries read as one."
        raise KipError("KIP_1001", message, "Keep one of those that agree in 16 digits.")
    return written, signed


@lru_cache(10_000)
def double(text: str) -> tuple[str, str] | None:
    """The canonical form of a double and the one of 16 digits; None for what is no finite one.

    >>> double("0.30000000000000004"), double("INF")
    (('3.0000000000000004E-1', '3.0E-1'), None)
    """
    if text == "NaN":
        return text, text
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    if not math.isfinite(number):
        return None
    sixteen = _SIXTEEN.create_decimal_from_float(number)
    return _scientific(Decimal(repr(number))), _scientific(abs(sixteen) if not number else sixteen)


def _scientific(number: Decimal) -> str:
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits))
    shift = int(exponent) + len(text) - 1 if number else 0
    return f"{'-' * sign}{text[0]}.{text[1:].rstrip('0') or '0'}E{shift}"


# Out ------------------------------------------------------------------------------------------


def write(lines: list[str], proof: dict[str, str]) -> str:
    """A document of canonical N-Quads that ``check`` lets through, with its proof."""
    return "".join([*_body(lines), _PROOF, json.dumps(proof), "}\n"])


def _body(lines: list[str]) -> list[str]:
    """The document without its proof, in pieces."""
    try:
        return [_HEAD, *_nodes(lines)]
    except _InGraphError:
        pass
    graphs: dict[str, list[str]] = defaultdict(list)
    default: list[str] = []
    for line in lines:
        if match := _IN_GRAPH.fullmatch(line):
            graphs[match[2]].append(f"{match[1]} .")
        else:
            default.append(line)
    pieces = [_HEAD, *_nodes(default)]
    for name, own in graphs.items():
        separator = "," if len(pieces) > 1 else ""
        pieces.append(f'{separator}\n{{"@id":"{name[1:-1]}","@graph":[')
        pieces += [*_nodes(own), "\n]}"]
    return pieces


class _InGraphError(Exception):
    """A line has a graph; most documents have none, and are not searched for one before."""


def _nodes(lines: list[str]) -> Iterator[str]:
    """The subjects of lines, each as an object."""
    last_subject = last_key = ""
    for line in lines:
        subject, predicate, value = line.split(" ", 2)
        is_type = predicate == _TYPE and value[0] == "<"
        key = "@type" if is_type else predicate[1:-1]
        if subject != last_subject:
            end = "]},\n" if last_subject else "\n"
            before = f'{end}{{"@id":"{subject[1:-1]}",\n"{key}":[\n'
        else:
            before = ",\n" if key == last_key else f'],\n"{key}":[\n'
        last_subject, last_key = subject, key
        if value[-3] == '"':
            yield before + value[:-2]
        elif value[0] == "<":
            if "> <" in value:
                raise _InGraphError
            iri = f'"{value[1:-3]}"'
            yield before + (iri if is_type else f'{{"@id":{iri}}}')
        else:
            text, _, kind = value.rpartition('"')
            if " <" in kind:
                raise _InGraphError
            name = f'type":"{kind[3:-3]}' if kind[0] == "^" else f'language":"{kind[1:-2]}'
            yield f'{before}{{"@value":{text}","@{name}"}}'
    if lines:
        yield "]}"


def check(lines: list[str]) -> None:
    """Raise KIP_1001 for a line that JavaScript would not read as it is."""
    for start in range(0, len(lines), _AT_ONCE):
        some = lines[start : start + _AT_ONCE]
        text = "\n".join(some)
        if _is_plain(text):
            continue
        for line in some:
            if not _is_plain(line) and not _LINE.fullmatch(line):
                message = f"This statement cannot be signed: {shown(line)}"
                hint = (
                    "Signed documents have no blank nodes, triple terms, IRIs with white space, "
                    "or texts with U+FFFE or U+FFFF."
                )
                raise KipError("KIP_1001", message, hint)


def _is_plain(text: str) -> bool:
    """Whether nothing in lines has to be looked for."""
    # No IRI of ASCII that was parsed has white space. RDFC-1.0 escapes U+FFFE, JavaScript does not.
    return text.isascii() and not ("_:" in text or "<<" in text or "\\uFFF" in text)


# In -------------------------------------------------------------------------------------------


def read(text: str) -> tuple[list[str], Any] | None:
    """The lines and the proof of a document in this layout to the letter; None for any other."""
    body, _, end = text.rpartition(_PROOF)
    lines = _lines(body)
    if lines is None or "".join(_body(lines)) != body:
        return None
    try:
        members = json.loads(f'{{"proof":{end}', object_pairs_hook=unique)
        signed = doubles(lines)[1]
    except (ValueError, RecursionError, KipError):
        return None
    return (signed, members["proof"]) if members.keys() == {"proof"} else None


def _lines(body: str) -> list[str] | None:
    """The sorted lines of a document without its proof; None for another layout."""
    if not body.startswith(_HEAD):
        return None
    lines: list[str] = []
    room = min(most(body), 2 * LARGEST)
    keys: dict[str, str] = {'"@type":[': _TYPE}
    subject = key = graph = ""
    is_type = False
    for text in body[len(_HEAD) + 1 :].split("\n"):
        if text in keys:
            key, is_type = keys[text], text[1] == "@"
        elif text[:1] == '"' and (match := _TEXT.fullmatch(text)):
            value = match[1]
            if is_type and not _SCHEME.fullmatch(value, 1, len(value) - 1):
                return None
            value = f"<{value[1:-1]}>" if is_type else value
            lines.append(f"{subject} {key} {value} {graph}.")
            room -= len(lines[-1])
        elif match := _VALUE.fullmatch(text):
            iri, value, datatype, tag = match.groups()
            value = (
                f"<{iri}>" if iri else f"{value}^^<{datatype}>" if datatype else f"{value}@{tag}"
            )
            lines.append(f"{subject} {key} {value} {graph}.")
            room -= len(lines[-1])
        elif match := _NODE.fullmatch(text):
            subject = f"<{match[1]}>"
            graph = f"{subject} " if match[2] else graph
        elif match := _KEY.fullmatch(text):
            key = keys[text] = f"<{match[1]}>"
            is_type = False
        elif text not in ("", "]}", "]},"):
            return None
        if room < 0:  # An IRI that is long is repeated with each of its values.
            return None
    return ordered(lines)
