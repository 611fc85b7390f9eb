"""Valid texts and values, broken in the ways that break parsers. The same seed, the same text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|<[^<>\s]*>|[\w$]+|\s+|.', re.DOTALL)

HOSTILE = (
    *"{}()[]<>\"'\\:;,.?|&!=*+-/#@^~%$",
    "<<(", ")>>", "<<", ">>", "{|", "|}", "||", "&&", "//", "/*", '"""', "'''", "\\u0000",
    '"\\ud800"', "\\u", "\\U0011FFFF", "\\x41", "\ud800", "\udfff", '"\udc00"', "\x00", "\x1f",
    "\ufeff", "\u2028", "\u202e", "e\u0301", "\U0001f48a", "\uffff", "\r", "9" * 400, "-" * 70,
    "1e999", "-0", "-0.0", "1e-400", "9223372036854775808", "-9223372036854775808", "0x10",
    "1_000", "٣", "NaN", "Infinity", "null", "true", ":p", ":", "::p", ":p.q", '":p"', "?", "??x",
    "?x", "?x.attributes", "?x.metadata._score", "{1,64}", "{0,}", "{99999999999999999999}",
    "{64,1}",
    "LIMIT 0", "LIMIT 99999999999999999999", 'CURSOR "x"', "ORDER BY ?x DESC", "WHERE {", "NOT {",
    "OPTIONAL {", "UNION {", "FILTER(", "IN(?x.name, [1, null])", 'REGEX(?x.name, "(a+)+$")',
    'REGEX(?x.name, "[")', "EXPECT VERSION 1", "WITH METADATA { }", "DETACH", '"$ConceptType"',
    '{type: "Drug"}', '{id: "C:Drug/Aspirin"}', '"P:48ec6e8e3fe50dea:treats"', "@prefix",
    "@base <x> .",
    "@context", '"@id": 1,', '"@nest":', "<!DOCTYPE x>", "<![CDATA[", "&x;",
    "<?kiprdf 9 base <x>?>", "# kiprdf 2 base <urn:x>\n", "_:b", "a", "<>", "<#>", "<//>",
    "<urn:\\u003E>", "@en--ltr",
    '"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>', "SERVICE", "GRAPH ?g {",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>", "urn:kip:nexus/", "%2F", "%",
)  # fmt: skip
_OPENING = ("{", "(", "[", "!", "<<( ", "<a>", "NOT {", "OPTIONAL {", '(?a, "p", ', '{"a":', "[[")

HOSTILE_NUMBERS = (
    0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**400, -0.0, 1e308, 5e-324, 0.1, 1e16,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
HOSTILE_KEYS = ("", "a", "type", "_version", "@id", "\ud800", "\x00", "x" * 2_000, ":p", "a.b", " ")


def mutated(text: str, random: Random, others: Sequence[str]) -> str:
    """A text with one to four changes; half of the texts keep their form, and mean otherwise."""
    changes = _CHANGES if random.random() < 0.5 else _WOUNDS
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        text = random.choice(changes)(text, random, others)
    return text[:200_000]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text) or [""]


def _deleted(text: str, random: Random, others: Sequence[str]) -> str:
    tokens = _tokens(text)
    start = random.randrange(len(tokens))
    del tokens[start : start + random.choice((1, 1, 1, 2, 5, 20))]
    return "".join(tokens)


def _doubled(text: str, random: Random, others: Sequence[str]) -> str:
    tokens = _tokens(text)
    start = random.randrange(len(tokens))
    end = start + random.choice((1, 1, 2, 5, 20))
    times = random.choice((1, 1, 2, 70, 300))
    return "".join((*tokens[:end], *tokens[start:end] * times, *tokens[end:]))


def _swapped(text: str, random: Random, others: Sequence[str]) -> str:
    tokens = _tokens(text)
    one, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _hostile(text: str, random: Random, others: Sequence[str]) -> str:
    """A hostile token beside another, or in its place."""
    tokens = _tokens(text)
    place = random.randrange(len(tokens))
    tokens[place : place + random.randrange(2)] = [random.choice(HOSTILE)]
    return "".join(tokens)


def _spliced(text: str, random: Random, others: Sequence[str]) -> str:
    """A piece of another text in the place of a piece of this."""
    tokens, donor = _tokens(text), _tokens(random.choice(others))
    place, start = random.randrange(len(tokens)), random.randrange(len(donor))
    length = random.choice((1, 1, 2, 5, 20))
    tokens[place : place + random.randrange(length + 1)] = donor[start : start + length]
    return "".join(tokens)


def _cut(text: str, random: Random, others: Sequence[str]) -> str:
    place = random.randrange(len(text) + 1)
    return text[:place] if random.random() < 0.7 else text[place:]


def _deepened(text: str, random: Random, others: Sequence[str]) -> str:
    tokens = _tokens(text)
    place = random.randrange(len(tokens))
    tokens.insert(place, random.choice(_OPENING) * random.choice((3, 60, 70, 500, 20_000)))
    return "".join(tokens)


def _lengthened(text: str, random: Random, others: Sequence[str]) -> str:
    """A name or string made very long; inside of its quotes where it has some."""
    tokens = _tokens(text)
    place = random.randrange(len(tokens))
    middle = len(tokens[place]) // 2
    filling = random.choice(("x", "9", "é", "药", "\\u0041", " ")) * random.choice(
        (130, 2_000, 30_000)
    )
    tokens[place] = tokens[place][:middle] + filling + tokens[place][middle:]
    return "".join(tokens)


def _scratched(text: str, random: Random, others: Sequence[str]) -> str:
    """Some characters changed for any others."""
    characters = list(text) or [""]
    for _ in range(random.choice((1, 1, 2, 10))):
        point = random.choice(
            (random.randrange(128), random.randrange(0x3000), random.randrange(0x110000))
        )
        characters[random.randrange(len(characters))] = chr(point)
    return "".join(characters)


def _noise(text: str, random: Random, others: Sequence[str]) -> str:
    noise = random.randbytes(random.choice((1, 8, 200))).decode("latin-1")
    place = random.randrange(len(text) + 1)
    return noise if random.random() < 0.2 else text[:place] + noise + text[place:]


def _exchanged(text: str, random: Random, others: Sequence[str]) -> str:
    """One token for another of its kind: a string for a string, a word for a word."""
    tokens, donor = _tokens(text), _tokens(random.choice((text, random.choice(others))))
    place = random.randrange(len(tokens))
    alike = [token for token in donor if _kind(token) == _kind(tokens[place])]
    tokens[place] = random.choice(alike or [tokens[place]])
    return "".join(tokens)


def _kind(token: str) -> str:
    first = token[:1]
    return "digit" if first.isdigit() else "word" if first.isalpha() else first


def _refilled(text: str, random: Random, others: Sequence[str]) -> str:
    """Replaces a string or a number by something hostile and well-formed."""
    tokens = _tokens(text)
    places = [n for n, token in enumerate(tokens) if _kind(token) in ("digit", '"')]
    if places:
        place = random.choice(places)
        number = str(random.choice(HOSTILE_NUMBERS))
        string = json.dumps(random.choice(HOSTILE), ensure_ascii=random.random() < 0.5)
        tokens[place] = string if tokens[place].startswith('"') else number
    return "".join(tokens)


def _reordered(text: str, random: Random, others: Sequence[str]) -> str:
    """Drops, repeats or moves lines or the parts between points and braces."""
    pieces = re.split(r"(?<=[\n.}])", text)
    place = random.randrange(len(pieces))
    piece = pieces[place]
    if random.random() < 0.7:
        del pieces[place]
    if random.random() < 0.7:
        pieces.insert(random.randrange(len(pieces) + 1), piece)
    return "".join(pieces)


Mutation: TypeAlias = Callable[[str, Random, Sequence[str]], str]
_WOUNDS: tuple[Mutation, ...] = (
    _deleted, _deleted, _doubled, _swapped, _hostile, _hostile, _hostile, _spliced, _spliced,
    _cut, _deepened, _lengthened, _scratched, _noise,
)  # fmt: skip
_CHANGES: tuple[Mutation, ...] = (_exchanged, _exchanged, _refilled, _reordered)


def value(random: Random, texts: Sequence[str], depth: int = 0) -> Any:
    """Any value that Python's JSON reader may give, and some that it may not."""
    kind = random.randrange(12 if depth < 4 else 9)
    match kind:
        case 0 | 1 | 2:
            return random.choice(texts)
        case 3:
            return mutated(random.choice(texts), random, texts)
        case 4 | 5:
            return random.choice(HOSTILE_NUMBERS)
        case 6:
            return random.choice((None, True, False))
        case 7:
            return random.choice(HOSTILE)
        case 8:
            return _no_json(random)
        case 9:
            return [value(random, texts, depth + 1) for _ in range(random.randrange(4))]
        case 10:
            return {
                _key(random): value(random, texts, depth + 1) for _ in range(random.randrange(4))
            }
        case _:
            return _tower(random)


def _key(random: Random) -> Any:
    other = random.choice((1, None, ("a",), 1.5))
    return random.choice(HOSTILE_KEYS) if random.random() < 0.8 else other


def _no_json(random: Random) -> Any:
    """What no JSON reader gives: bytes, sets, objects, a list that holds itself."""
    itself: list[Any] = []
    itself.append(itself)
    ring: dict[str, Any] = {}
    ring["a"] = [ring]
    return random.choice((b"x", {1}, object(), 1j, itself, ring, range(3), bytearray(b"y"), int))


def _tower(random: Random) -> Any:
    """Lists or objects inside of each other."""
    tower: Any = 1
    is_list = random.random() < 0.5
    for _ in range(random.choice((60, 63, 64, 65, 70, 1_000, 10_000))):
        tower = [tower] if is_list else {"a": tower}
    return tower
