"""What a name may be, and its key, which names have in common that look alike to a reader."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache

from kiprdf.loading import lazy_pattern, load

_IGNORABLE = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFF9),
            *range(0xE0000, 0xE1000),
        ),
    )
)
"""What Unicode says to show as nothing (default-ignorable), and calls no format character."""
_PARTS = lazy_pattern(r"[^\W\u115f\u1160\u17b4\u17b5\u3164\uffa0]+|.", re.DOTALL)
"""Words, without the letters that show as nothing, and single characters."""
_FILLERS = dict.fromkeys((0x115F, 0x1160, 0x3164, 0xFFA0), " ")
_NUMBER = lazy_pattern(r"([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,9}))?", re.ASCII)
_DIGIT = re.compile(r"\d")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_PLAIN_ZEROS = 40
"""A number with more zeros than these is compared with its exponent."""
_STYLED = lazy_pattern(
    "(?:LATIN LETTER SMALL CAPITAL|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER"
    "|REGIONAL INDICATOR SYMBOL LETTER) ([A-Z])"
)
NAME_BYTES = 255
"""The most bytes of a name, those of a folder on most systems."""
_MARKS = frozenset("_-.@+ ")
_RESERVED = lazy_pattern(r"(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.DOTALL)
"""The names of devices, which are no folders on Windows."""
_CACHED_CHARACTERS = 256
_DOTTED = "i\u0307"
"""The small letter of a dotted capital I, which shows as a plain i."""


def key_of_name(text: str) -> str:
    """The key of a name: compatibility forms, case, blanks and look-alikes make no difference.

    It is the skeleton of UTS #39 of the folded text. There ``I`` and ``1`` look like ``l``, and
    ``I`` is ``i``: the three are one letter.

    >>> key_of_name("  ADA\u200b  Lovelace") == key_of_name("\u0410da Love1ace")
    True
    >>> key_of_name("Ada") == key_of_name("Eda")
    False
    """
    return _key(text) if len(text) <= _CACHED_CHARACTERS else _key.__wrapped__(text)


def plain_key(text: str) -> str:
    """A name without case, accents, and what is invisible, and in ASCII what looks like that.

    Unlike the key of a name, it leaves letters of ASCII as they are.

    >>> plain_key("ZÜRICH"), plain_key("\u0410da\u200b  Lovelace"), plain_key("O’Brien")
    ('zurich', 'ada lovelace', "o'brien")
    """
    if text.isascii():
        key = text.casefold()
        return " ".join(key.split()) if "  " in key else key
    key = unicodedata.normalize("NFKD", text).casefold().translate(_plain_looks())
    key = unicodedata.normalize("NFKC", "".join(filter(_is_shown, key)))
    return " ".join(key.split())


@cache
def _plain_looks() -> dict[int, str | None]:
    """The character of ASCII that another one looks like; None for the accents of letters."""
    looks = _looks_like().items()
    plain = {
        code: other
        for code, other in looks
        if code > 127 and other and len(other) == 1 and other.isascii() and not other.isdigit()
    }
    return plain | dict.fromkeys(range(0x300, 0x370))


def keys_of_name(text: str) -> tuple[str, ...]:
    """The key of a name, and those of what its capitals and fillers look like, if they are others.

    A capital nu looks like ``N``, a small one like ``v``: folding the case first, as the key does,
    keeps a name with a foreign capital apart from the name that it looks like. A Hangul filler is
    nothing to Unicode, and a blank in many fonts. A lunate sigma looks like ``C``, and its
    compatibility form does not. A digit of another script is that digit, and may look like a
    letter. A small capital is that letter, and some look like one of another script.

    >>> len(keys_of_name("Nina")), keys_of_name("\u039dina")[1] == key_of_name("Nina")
    (1, True)
    """
    key = key_of_name(text)
    if text.isascii():
        return (key,)
    looks = text.translate(_looks_like())
    translated = (text.translate(_FILLERS), text.translate(_unstyled()))
    others = (_skeleton(text), looks, _with_ascii_digits(text), *translated)
    return tuple(dict.fromkeys((key, *map(key_of_name, others))))


def keys_of_value(text: str) -> tuple[str, ...]:
    """The keys of a text, and that of the number that it is.

    >>> key_of_name("170") in keys_of_value("+1.7e2")
    True
    """
    number = plain_number(text)
    keys = keys_of_name(text)
    return keys if number in ("", text) else tuple(dict.fromkeys((*keys, key_of_name(number))))


def _with_ascii_digits(text: str) -> str:
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.digit(match[0])), text)


def plain_number(text: str) -> str:
    """A number in its plain form, ``170`` for ``+1.70e2``; empty for what is none."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if _DIGIT.search(text) is None:
            return ""
        text = "".join(filter(_is_shown, _with_ascii_digits(text)))
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return ""
    sign, whole, fraction, exponent = match.groups("")
    digits = (whole + fraction).lstrip("0")
    power = int(exponent or 0) - len(fraction) + len(digits)
    digits = digits.rstrip("0")
    power -= len(digits)
    if not digits:
        return "0"
    if abs(power) > _PLAIN_ZEROS:
        digits += f"e{power}"
    elif power >= 0:
        digits += "0" * power
    else:
        digits = digits.zfill(1 - power)
        digits = f"{digits[:power]}.{digits[power:]}"
    return f"-{digits}" if sign == "-" else digits


@lru_cache(maxsize=16_384)
def _key(text: str) -> str:
    while (key := _skeleton(unicodedata.normalize("NFKC", text).casefold())) != text:
        text = key
    return text


def _skeleton(text: str) -> str:
    """A text without what is invisible, of the characters that its own look like."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(filter(_is_shown, unicodedata.normalize("NFD", text)))
        text = text.replace(_DOTTED, "i")
    return " ".join(text.translate(_looks_like()).split())


def _is_shown(character: str) -> bool:
    return unicodedata.category(character) != "Cf" and character not in _IGNORABLE


@cache
def _looks_like() -> dict[int, str | None]:
    """The look-alike of each character that has one; None for a control character.

    The package's table has each row of UTS #39 in both directions; the first is that of Unicode.
    Its texts of scripts that run from right to left have marks around them.
    """
    table: dict[int, str | None] = {
        code: None
        for code in range(0xA0)
        if not chr(code).isprintable() and not chr(code).isspace()
    }
    prototypes = set()
    load("importlib.resources")
    from importlib.resources import files

    rows = files("confusable_homoglyphs").joinpath("confusables.json").read_bytes()
    for character, others in json.loads(rows).items():
        source, prototype = (text.strip("\u200e") for text in (character, others[0]["c"]))
        if len(source) == 1 and source not in prototypes:
            prototypes.add(prototype)
            table[ord(source)] = prototype
    return _unstyled() | table | {ord("i"): "l", 0x2800: " "}


@cache
def _unstyled() -> dict[int, str]:
    """The letter of each small capital, and of each capital in a circle or square."""
    blocks = ((0x250, 0x2B0), (0x1D00, 0x1D30), (0xA720, 0xA800), (0x1F150, 0x1F200))
    codes = [code for block in blocks for code in range(*block)]
    styled = {code: _STYLED.fullmatch(unicodedata.name(chr(code), "")) for code in codes}
    return {code: match[1].lower() for code, match in styled.items() if match}


def fault_of_name(name: object) -> str | None:
    """Why a text cannot be the name of a nexus; None for one that can.

    >>> fault_of_name("ada"), fault_of_name("../ada")
    (None, 'a name has letters, digits, blanks and _-.@+ only')
    """
    if not isinstance(name, str) or not name:
        return "a name is a text"
    with suppress(UnicodeEncodeError):
        if len(name.encode()) > NAME_BYTES:
            return f"a name has at most {NAME_BYTES} bytes"
    if not all(one in _MARKS or unicodedata.category(one)[0] in "LMN" for one in name):
        return "a name has letters, digits, blanks and _-.@+ only"
    if unicodedata.category(name[0])[0] not in "LN" or name[-1] in ". ":
        return "a name begins with a letter or digit, and does not end with a dot or a blank"
    if _RESERVED.fullmatch(name):
        return "it is the name of a device"
    if unicodedata.normalize("NFC", name) != name:
        return "its accents are written apart from their letters"
    return None


def visible(text: str, keep: str = "") -> Iterator[tuple[str, str]]:
    """The parts of a text as they are shown, with what a reader would not see of each.

    What is invisible is written as an escape, except blanks and what is in ``keep``. In a word that
    can be taken for another, the letters that look like ASCII are named.

    >>> list(visible("Ada\u202e, \u0410da"))[1:]
    [('\\\\u202e', 'RIGHT-TO-LEFT OVERRIDE'), (', ', ''), ('Аda', 'CYRILLIC CAPITAL LETTER A')]
    """
    plain = ""
    for match in _PARTS.finditer(text):
        part = match[0]
        is_hidden = len(part) == 1 and part not in f" {keep}" and not key_of_name(part)
        letters = part if is_hidden else _misleading(part)
        if not letters:
            plain += part
            continue
        if plain:
            yield plain, ""
            plain = ""
        names = (unicodedata.name(one, f"U+{ord(one):04X}") for one in dict.fromkeys(letters))
        yield json.dumps(part)[1:-1] if is_hidden else part, ", ".join(names)
    if plain:
        yield plain, ""


def _misleading(word: str) -> str:
    """The letters of a word that look like ASCII, if nothing else shows that it is not."""
    if word.isascii():
        return ""
    letters = [one for one in word if not one.isascii() and len(one.casefold()) == 1]
    similar = "".join(one for one in letters if key_of_name(one).isascii())
    is_mixed = re.search("[A-Za-z]", word) is not None
    return similar if is_mixed or key_of_name(word).isascii() else ""


def visible_text(text: str, keep: str = "") -> str:
    """The same as one text, with the names in brackets after the words.

    >>> visible_text("Ada\u202e, \u0410da")
    'Ada\\\\u202e, Аda[CYRILLIC CAPITAL LETTER A]'
    """
    return "".join(
        part if not note or part.startswith("\\") else f"{part}[{note}]"
        for part, note in visible(text, keep)
    )
