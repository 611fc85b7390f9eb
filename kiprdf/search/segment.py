"""Cuts text into tokens, so that words match in any case, accents, width and script.

Documents and terms are folded alike: compatibility forms, accents and case are removed. They are
also segmented alike, with one exception: of Chinese, Japanese and Korean, a document gets pairs of
characters and single ones, a term only the pairs, which are more specific.
A token contains letters, digits and the marks that belong to them; only `exact_token` adds `_`.
`folded_name` keeps punctuation, too: C, C++ and C# are three names.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from kiprdf.loading import lazy_pattern

# Stored in the index. The number increases with every change of this file that changes a token;
# the character tables change with Python.
SEGMENTER_VERSION = f"2, Unicode {unicodedata.unidata_version}"

LONGEST_WORD = 100  # characters; the rest of a longer word (a hash, base64) is ignored
LONGEST_NAME = 1000  # characters of an exact name


def segment(text: str) -> list[str]:
    """Cut a document's text into the tokens to index, in the order of the text.

    >>> segment("Crème BRÛLÉE, has_side_effect")
    ['creme', 'brulee', 'hassideeffect', 'has', 'side', 'effect']
    >>> segment("阿司匹林")
    ['阿司', '司匹', '匹林', '阿', '司', '匹', '林']

    Text without a word gives the empty list. Takes time linear in the text; never fails.
    """
    runs = _runs(text)
    if text.isascii() and (not runs or len(max(runs, key=len)) <= LONGEST_WORD):
        # The same result, faster.
        if _are_plain(runs):
            return [*runs]
        return [token for run in runs for token in (_word_tokens(run) if "_" in run else (run,))]
    return _cut(runs, lambda run: [*_pairs(run), *run])


def segment_term(term: str) -> list[str]:
    """Cut a search term into the tokens to look for, in the order of the term.

    >>> segment_term("SideEffect 阿司匹林 茶")
    ['sideeffect', 'side', 'effect', '阿司', '司匹', '匹林', '茶']

    A term without a word gives the empty list.
    """
    return _cut(_runs(term), lambda run: _pairs(run) or [run])


def _cut(runs: list[str], unspaced: Callable[[str], list[str]]) -> list[str]:
    parts = (unspaced(run) if _is_unspaced(run) else _word_tokens(run) for run in runs)
    return [token for tokens in parts for token in tokens]


def plain_words(text: str) -> list[str]:
    """The words of a text with their accents, in lower case; no identifiers.

    >>> plain_words("Crème BRÛLÉE, has_side_effect"), plain_words("JavaScript")
    (['crème', 'brûlée'], [])
    """
    if text.isascii():
        runs = _runs(text)
        return [*runs] if _are_plain(runs) else [run for run in runs if "_" not in run]
    kept = _with_humps(composed(text)).casefold()
    return [run for run in _patterns().run.findall(kept) if "_" not in run]


def composed(text: str) -> str:
    """A text with its accents, without compatibility forms and invisible characters.

    >>> composed("Fu\u0308r"), composed("Ｃ")
    ('Für', 'C')
    """
    if text.isascii():
        return text
    whole = _patterns().surplus_marks.sub(r"\1", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFKC", whole)


def exact_token(name: str) -> str:
    """Return the whole name as one token, which differs from every token of `segment`.

    >>> exact_token("Side Effect"), exact_token("side_effect"), exact_token("?!")
    ('_sideeffect', '_sideeffect', '')
    """
    whole = "".join(_runs(name)).replace("_", "")
    return f"_{whole[:LONGEST_NAME]}" if whole else ""


def folded_name(name: str) -> str:
    """Return a whole name without case, accents, width and surplus blanks; `_` is a blank.

    >>> folded_name("  Side_Effect "), folded_name("CRÈME BRÛLÉE"), folded_name("Ｃ++")
    ('side effect', 'creme brulee', 'c++')
    """
    plain = name if name.isascii() else _without_accents(name).casefold()
    return " ".join(plain.lower().translate(_STROKED_LETTERS).replace("_", " ").split())


@lru_cache(maxsize=8)  # a row's texts are cut into words, plain words and whole names
def _runs(text: str) -> list[str]:
    if not text.isascii():
        return _patterns().run.findall(_fold(text))
    # The same result for ASCII texts, faster.
    return _ASCII_RUN.findall(_with_humps(text).lower())


def _are_plain(runs: list[str]) -> bool:
    return "_" not in "".join(runs)


def _word_tokens(run: str) -> list[str]:
    """Return the parts of a word, after the word itself when it has several."""
    if "_" not in run:
        return [run[:LONGEST_WORD]]
    parts = [part[:LONGEST_WORD] for part in run.split("_") if part]
    if len(parts) < 2:
        return parts
    # Joined without `_`: has_side_effect, hasSideEffect and hassideeffect find each other.
    return ["".join(parts)[:LONGEST_WORD], *parts]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _is_unspaced(run: str) -> bool:
    return not run.isascii() and _UNSPACED_START.match(run) is not None


def _fold(text: str) -> str:
    """Remove compatibility forms, accents and case; turn CamelCase into snake_case."""
    return _with_humps(_without_accents(text)).casefold().translate(_STROKED_LETTERS)


def _with_humps(text: str) -> str:
    return _HUMP.sub(r"_\g<0>", text) if _HUMP.search(text) else text


def _without_accents(text: str) -> str:
    patterns = _patterns()
    text = patterns.surplus_marks.sub(r"\1", _INVISIBLE.sub("", text))
    text = patterns.accents.sub("", unicodedata.normalize("NFKD", text))
    # Composed again, so that Hangul syllables and Japanese voiced kana are single characters.
    return unicodedata.normalize("NFC", text)


def _mark_ranges() -> str:
    """Return the combining marks as the inside of a regular expression's character class."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x20000):  # beyond are Han and invisible characters only
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Chinese, Japanese and Korean: no spaces between words, or particles glued to them.
_UNSPACED = (
    "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # ideographic signs and numerals
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\U0001aff0-\U0001afff\U0001b000-\U0001b16f"  # old and small kana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
)
_UNSPACED_START = lazy_pattern(f"[{_UNSPACED}]")
# Soft hyphen, joiners, direction marks and variation selectors are invisible inside words.
_INVISIBLE = lazy_pattern(
    "[\u00ad\u034f\u200c-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_ASCII_RUN = re.compile(r"[a-z0-9_]+")
# Without accents these three alphabets are all the capitals that matter: sideEffect, HTTPServer.
_CAPITAL = "A-Z\u0391-\u03a9\u0410-\u042f"
_SMALL = "a-z\u03b1-\u03c9\u0430-\u044f"
# The capital is first, since a search for a set of characters is fast.
_HUMP = lazy_pattern(rf"[{_CAPITAL}](?:(?<=[{_SMALL}0-9].)|(?<=[{_CAPITAL}].)(?=[{_SMALL}]))")
# Letters that Unicode does not decompose, though readers see an accent or a ligature.
_STROKED_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe"}
)


class _Patterns(NamedTuple):
    """The patterns that contain the combining marks."""

    run: re.Pattern[str]
    accents: re.Pattern[str]
    surplus_marks: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled for the first text: collecting the marks takes as long as opening a nexus."""
    mark_ranges = _mark_ranges()
    return _Patterns(
        # `\w` has no combining marks, but a word of an Indic script is full of them.
        run=re.compile(
            rf"[{_UNSPACED}][{_UNSPACED}{mark_ranges}]*"
            rf"|[^\W{_UNSPACED}](?:[^\W{_UNSPACED}]+|[{mark_ranges}]+)*"
        ),
        # Accents may be removed in Latin, Greek and Cyrillic only; elsewhere a mark is a vowel or
        # changes a consonant.
        accents=re.compile(
            rf"(?<=[A-Za-z\u00c0-\u02af\u0370-\u03ff\u0400-\u052f\ua640-\ua69f])[{mark_ranges}]+"
        ),
        # The limit of UAX #15 (stream-safe text): sorting marks takes quadratic time.
        surplus_marks=re.compile(rf"([{mark_ranges}]{{30}})[{mark_ranges}]+"),
    )
