"""The languages of texts: their stop words, and the stems by which word forms find each other.

A text is in the language of most of its stop words. Words of other languages and scripts, names,
identifiers and versions have no stem (docs/decisions/132). Compounds have a token that begins with
their end (docs/decisions/243).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from kiprdf.loading import lazy_pattern, load
from kiprdf.search.segment import composed, folded_name, plain_words, segment, segment_term

_ALGORITHMS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "ru": "russian",
}
LANGUAGES = tuple(_ALGORITHMS)
WORDS = Path(__file__).with_name("words.txt")
"""The stop words, and the words of dates."""
_WITH_CAPITALS = {"i", "sie", "ihr", "ihre", "ihnen", "ihrem", "ihren", "ihrer"}
"""Stop words that have a capital inside a sentence, and are no names."""
LONGEST_READ, MOST_TOKENS = 20_000, 300  # characters and tokens of a term that are read
MOST_STEMS = 50_000  # words of a language whose stems are kept
LONGEST_STOP_NAME = 3
"""Stop words in a row that may be a name."""
_ALPHABETS = {
    "de": frozenset("äöüß"),
    "fr": frozenset("àâæçéèêëîïôœùûüÿ"),
    "es": frozenset("áéíñóúü"),
    "it": frozenset("àèéìíîòóùú"),
    "pt": frozenset("áâãàçéêíóôõúü"),
    "nl": frozenset("áèéëïóöü"),
}
_ANY_LETTER = frozenset("").union(*_ALPHABETS.values())
_LETTER = lazy_pattern("[ß-öø-ɏ]")
_INFLECTED = lazy_pattern("[\u3400-\u9fff][\u3041-\u3096]")
"""What follows a Japanese verb's or noun's last character is an ending or a particle."""
_PLURALS = "ões:ão ães:ão ais:al éis:el óis:ol uis:ul ens:em éns:ém ins:im ons:om uns:um"
_SINGULARS = {ending[:3]: ending[4:] for ending in _PLURALS.split()}
"""Endings of Portuguese words that Snowball keeps apart: reuniões, reunião."""
_PLURAL = lazy_pattern(rf"(?<=\w\w)(?:{'|'.join(_SINGULARS)})\Z")
_VERB_ENDING = lazy_pattern(r"(?<=\w\w[^\Waeiouyäöüs])t\Z")
"""A German ending that Snowball keeps: spielt, spielen."""
_ACRONYM = lazy_pattern(r"\b[A-ZА-Я]{2,}\b")
_RUSSIAN, _OTHER_CYRILLIC = re.compile("[а-яё]"), re.compile("[іїєґўјљњћђџѓќѕә-ӿ]")
_STEMMED, _STEMMED_RUSSIAN = re.compile("[a-zß-öø-ſ]{3,40}"), re.compile("[а-яё]{3,40}")
_NAME = lazy_pattern(
    # A capital inside a sentence, or an acronym.
    r"[A-ZÀ-ÖØ-ÞА-Я](?:(?<=[^\W_A-ZА-Я] .|[,;:] .)\w*|[A-ZА-Я]+\b)"
)
_SURE = 2.0
"""The letters of a text with this many stop words do not matter."""


def sections(path: Path) -> dict[str, str]:
    """The parts of a file of words, by their names in brackets."""
    parts = (part.partition("]") for part in path.read_text("utf-8").split("\n[")[1:])
    return {name: text.strip() for name, _, text in parts}


def _listed(section: str) -> set[str]:
    return set(sections(WORDS)[section].split())


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """The languages in which a word, without accents, is a stop word."""
    languages: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        for word in set(map(folded_name, _listed(f"stop words {language}"))):
            languages[word] = (*languages.get(word, ()), language)
    return languages


@cache
def _also_english() -> set[str]:
    """Stop words of which one alone does not make a term one of another language."""
    return _listed("also English")


@cache
def _unspaced_stop_words() -> set[str]:
    return _listed("stop words unspaced")


def _evidence(tokens: Iterable[str]) -> dict[str, float]:
    """How many of the stop words in a text are those of a language; shared ones count less."""
    table = _languages_of()
    evidence = dict.fromkeys(LANGUAGES, 0.0)
    for token in table.keys() & tokens:
        languages = table[token]
        share = 1 / len(languages)
        for language in languages:
            evidence[language] += share
    return evidence


def is_of_stop_words(name: str) -> bool:
    """Whether a folded name has only stop words, of any languages."""
    words = name.split()
    return len(words) <= LONGEST_STOP_NAME and all(
        word in _languages_of() or word in _unspaced_stop_words() for word in words
    )


def languages_of(text: str, tokens: Iterable[str]) -> tuple[str, ...]:
    """The language of a text with these tokens, by its script, stop words and letters.

    There are several where these leave a choice without English, none for other languages.

    >>> languages_of("Ich war im Haus.", ["ich", "war", "im", "haus"])
    ('de',)
    >>> languages_of("De kat", ["de", "kat"]), languages_of("Kocham cię", ["kocham", "cie"])
    (('fr', 'es', 'pt', 'nl'), ())
    """
    letters: set[str] = set()
    if not text.isascii():
        lower = text.lower()
        if 3 * len(_RUSSIAN.findall(lower)) > len(lower):
            return () if _OTHER_CYRILLIC.search(lower) else ("ru",)
        letters = set(_LETTER.findall(lower))
    evidence = _evidence(tokens)
    most = max(evidence.values())
    if most == evidence["en"] > 0 and (most >= _SURE or letters <= _ANY_LETTER):
        return ("en",)
    if not most and not letters:
        return ("en",) if text.isascii() else ()
    return tuple(
        name
        for name in LANGUAGES
        if evidence[name] == most
        and (most >= _SURE or letters <= _ALPHABETS.get(name, _ANY_LETTER if most else frozenset()))
    )


def stems(text: str, language: str) -> set[str]:
    """The tokens of the stems in a text of a language; names and identifiers have none.

    >>> stems("He is in Hastings, running two_parts.", "en"), stems("Die Häuser", "de")
    ({'__en_run'}, {'__de_haus'})
    """
    words = set(plain_words(text))
    if not words:
        return words
    if language != "de" and not (text.islower() or text.isupper()):
        words.difference_update(map(str.casefold, _NAME.findall(text)))
    tokens = set(map(_stem_tokens(language).__getitem__, words))
    tokens.discard("")
    return tokens


class _StemTokens(dict[str, str]):
    """The token of the stem of each word in a language; empty for none."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_STEMS:
            self.clear()
        stem = _stem(word, self._language)
        token = self[word] = stem and stem_token(stem, self._language)
        return token


_stem_tokens = cache(_StemTokens)


def stem_token(stem: str, language: str) -> str:
    return f"__{language}_{stem}"


def _stem(word: str, language: str) -> str:
    """The stem, without accents, of a word with its accents; empty for what has none."""
    script = _STEMMED_RUSSIAN if language == "ru" else _STEMMED
    if not script.fullmatch(word) or language in _languages_of().get(folded_name(word), ()):
        return ""
    stemmer = _stemmer(language)
    if language == "pt" and (plural := _PLURAL.search(word)):
        word = word[: plural.start()] + _SINGULARS[plural[0]]
    stem = stemmer.stemWord(word)
    if language == "nl":
        stem = stemmer.stemWord(stem)  # fietsen, fiets
    elif language == "de":
        stem = _VERB_ENDING.sub("", stem)
    elif language == "es" and stem.endswith("z"):
        stem = stem[:-1] + "c"  # luz, luces
    elif language == "it" and stem.endswith("gh"):
        stem = stem[:-1]  # laghi, lago
    return folded_name(stem)


@cache
def _stemmer(language: str) -> Any:
    load("Stemmer")
    # A call holds Python's lock, and without a cache it changes nothing that threads share.
    return import_module("Stemmer").Stemmer(_ALGORITHMS[language], 0)


# Compounds ----------------------------------------------------------------------------------------

COMPOUNDING = ("de", "nl")
"""The languages whose compounds are found by their parts."""
BACKWARDS = "__c_"
"""What a token begins with that has the letters of a stem, the last one first."""
SHORTEST_PART = 4
"""Letters of a part of a compound; one with a letter less must be beside a known or long one."""
LINKING = ("", "s", "n", "en", "es", "e", "er")
"""What may be between the parts of a compound."""
_SMALL = "[a-zß-öø-ÿ]"
_NOUN, _LONG_NOUN = (lazy_pattern(rf"\b[A-ZÀ-ÖØ-Þ]{_SMALL}{{{n},39}}\b") for n in (2, 7))
_WORDS, _LONG_WORD = (lazy_pattern(rf"\b\w{_SMALL}{{{n},39}}\b") for n in (2, 7))
_PREFIXES = frozenset(("ver", "zer", "ent", "ont", "ant", "inter"))
"""What changes the meaning of the word after it, as many stop words do."""
_VOWEL = lazy_pattern("[aeiouy]")
_NO_END = lazy_pattern(
    # Two consonants that end no syllable, or a vowel that ends few words.
    r"(?:(?!(.)\1|pf|tz)[bdfgkpstz][bdfgklmnprvwz]|h[bdfgkpvwz]|[^aeiouy][iu])\Z"
)
_ENDINGS = {
    "de": lazy_pattern(r"(?<=\w\w\w)(?:ern|(?<=in)nen|e[nrs]?|(?<=l)n|(?<=[bkmopty])s)\Z"),
    "nl": lazy_pattern(r"(?<=\w\w\w)(?:en?|(?<=[ghln])es|(?<=\w\we[lnr])s)\Z"),
}
"""The endings of nouns. Snowball takes more of a compound than of its last part."""
_OPEN = lazy_pattern(r"(?<![aeiouy])([aeou])(?=[bdfgklmnprstvz]\Z)")
_TWICE = lazy_pattern(r"([bdfgklmnprst])\1\Z")
_VOICED = str.maketrans("vz", "fs")


def noun_stem(word: str, language: str) -> str:
    """The stem of a noun, which is the end of that of a compound; empty for a stop word.

    >>> noun_stem("Zahnärzte", "de"), noun_stem("Wohnung", "de"), noun_stem("welche", "de")
    ('zahnarzt', 'wohnung', '')
    >>> [noun_stem(word, "nl") for word in ("afspraken", "rollen", "huizen", "kamers")]
    ['afspraak', 'rol', 'huis', 'kamer']
    """
    return _stem_and_ending(word, language)[0]


@lru_cache(maxsize=MOST_STEMS)
def _stem_and_ending(word: str, language: str) -> tuple[str, str]:
    folded = folded_name(word)
    if language in _languages_of().get(folded, ()):
        return "", ""
    match = _ENDINGS[language].search(folded)
    if match is None:
        return folded, ""
    stem, ending = folded[: match.start()], match[0]
    if language == "nl" and ending[:1] == "e":
        # Dutch syllables are written in another way when they are closed.
        once = _TWICE.sub(r"\1", stem)
        stem = _OPEN.sub(r"\1\1", stem) if once == stem else once
        stem = stem[:-1] + stem[-1].translate(_VOICED)
    return stem, ending


def _backwards(word: str, language: str) -> str:
    """The token of a word by its end: its stem, the last letter first, and its ending.

    >>> _backwards("Zahnärzte", "de")
    '__c_tzranhaz_e'
    """
    stem, ending = _stem_and_ending(word, language)
    return stem and f"{BACKWARDS}{stem[::-1]}_{ending}"


def ends_in(text: str, languages: tuple[str, ...], words: Collection[str]) -> set[str]:
    """The tokens of the ends of long words in a text, if it may be one of `COMPOUNDING`."""
    nouns = _LONG_NOUN
    if languages == ("en",):
        # Without a stop word it may be in another language than English; a letter may be an id.
        if any(len(word) > 1 for word in _languages_of().keys() & words):
            return set()
        languages, nouns = ("de",), _LONG_WORD
    tokens = {
        _backwards(word, language)
        for language in COMPOUNDING
        if language in languages
        for line in composed(text).split("\n")
        for word in _nouns(line, language, nouns, _LONG_WORD)
    }
    tokens.discard("")
    return tokens


def _nouns(line: str, language: str, nouns: re.Pattern[str], words: re.Pattern[str]) -> list[str]:
    """The words of a line that may be nouns: of German, those with a capital, if only some have."""
    line = line.lower() if line.isupper() else line
    return (nouns if language == "de" and not line.islower() else words).findall(line)


@lru_cache(maxsize=16)
def parts_in(term: str) -> dict[str, tuple[str, ...]]:
    """The words of a term that may be compounds or parts of them, each with its languages."""
    parts: dict[str, tuple[str, ...]] = {}
    begin = term[:LONGEST_READ]
    line = composed(begin)
    for language in filter(_read(begin).languages.__contains__, COMPOUNDING):
        for word in _nouns(line, language, _NOUN, _WORDS):
            token = folded_name(word)
            if noun_stem(token, language):
                parts[token] = (*parts.get(token, ()), language)
    return parts


def is_first_part(text: str) -> bool:
    """Whether a text may be the beginning of a compound.

    >>> [is_first_part(text) for text in ("zahnarzt", "ver", "kombi", "aufp", "st")]
    [True, False, False, False, False]
    """
    return (
        len(text) >= SHORTEST_PART - 1
        and text not in _PREFIXES
        and _languages_of().keys().isdisjoint((text,))
        and _VOWEL.search(text) is not None
        and _NO_END.search(text) is None
    )


def _is_part(part: str, whole: str) -> bool:
    """Whether a stem is that of the beginning or the end of a compound with another one."""
    first = whole.removesuffix(part)
    return len(part) >= SHORTEST_PART <= len(whole) - len(part) and (
        whole.startswith(part) or (first != whole and is_first_part(first))
    )


# Terms --------------------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word of a term: its token, the tokens of its stems, and a token that its forms share."""

    token: str
    stems: tuple[str, ...] = ()
    base: str = ""


Names = Callable[[Collection[str]], Collection[str]]
"""Those of some texts that are the name or an alias of an element."""


def words_of(term: str, languages: tuple[str, ...], names: Names | None = None) -> list[Word]:
    """The words of a term that count, in their order, with the forms that some languages have.

    Stop words count only where the term has nothing else, or where they are a name.

    >>> [word.token for word in words_of("When did she go to The Who?", (), lambda texts: texts)]
    ['when', 'did', 'she', 'go', 'to', 'the', 'who']
    >>> [word.token for word in words_of("When did she go to the circus with Will?", ())]
    ['go', 'circus', 'will']
    """
    tokens, stop_words, acronyms, plain, _ = _read(term[:LONGEST_READ])
    kept = _without(tokens, stop_words, names) or tokens if stop_words else tokens
    return [
        Word(token) if token in acronyms else word_of(token, plain.get(token, ""), languages)
        for token in reversed(dict.fromkeys(reversed(kept)))
    ]


def tokens_of_term(term: str) -> list[str]:
    """The tokens of a term, the first ``MOST_TOKENS``."""
    return _read(term).tokens


class _Read(NamedTuple):
    """The tokens of a term, and what is known of them: words with accents, likely languages."""

    tokens: list[str]
    stop_words: set[str]
    acronyms: set[str]
    plain: dict[str, str]
    languages: set[str]


@lru_cache(maxsize=16)  # a term is ranked by words and by meaning, and looked for in what is found
def _read(term: str) -> _Read:
    tokens = segment_term(term)[:MOST_TOKENS]
    acronyms: set[str] = set()
    capitals: set[str] = set()
    if not (term.islower() or term.isupper()):
        acronyms.update(word.lower() for word in _ACRONYM.findall(term))
        capitals = _capitals(term, tokens)
    stop_words, languages = _stop_words(tokens, capitals)
    stop_words = stop_words - acronyms - capitals.difference(tokens[:1])
    words = plain_words(term)
    plain = dict(zip(words if term.isascii() else map(folded_name, words), words, strict=True))
    return _Read(tokens, stop_words, acronyms, plain, languages)


def _without(tokens: list[str], stop_words: Collection[str], names: Names | None) -> list[str]:
    """The tokens of a term without the stop words that are in no name."""
    if names is None:
        return [token for token in tokens if token not in stop_words]
    stops = [token in stop_words for token in tokens]
    # Some stop words in a row may be a name.
    spans = {
        " ".join(tokens[start:end]): (start, end)
        for end in range(1, len(tokens) + 1)
        for start in range(max(0, end - LONGEST_STOP_NAME), end)
        if all(stops[start:end])
    }
    for name in names(spans):
        start, end = spans[name]
        stops[start:end] = [False] * (end - start)
    return [token for token, is_stop in zip(tokens, stops, strict=True) if not is_stop]


@lru_cache(maxsize=4096)
def word_of(token: str, plain: str, languages: tuple[str, ...]) -> Word:
    """A word with its stems in some languages; ``plain`` is the word with its accents."""
    if _INFLECTED.fullmatch(token):
        return Word(token, (), token[0])
    return Word(token, tuple(filter(None, (_stem_tokens(name)[plain] for name in languages))))


def _capitals(term: str, tokens: list[str]) -> set[str]:
    """The words of a term with a capital that may be names: Will, Mia, Ben."""
    table = _languages_of()
    capitals = set(map(folded_name, _NAME.findall(term)))
    first = set(tokens[:1] if term.lstrip()[:1].isupper() else ())
    if all(token in table or token in capitals or token in first for token in tokens):
        capitals.clear()  # a title: every word has a capital
    capitals.update(token for token in first if "en" not in table.get(token, ()))
    return capitals - _WITH_CAPITALS


def _stop_words(tokens: Collection[str], capitals: Collection[str]) -> tuple[set[str], set[str]]:
    """The stop words of the likely languages of a term, which words with a capital do not show."""
    table = _languages_of()
    unspaced = _unspaced_stop_words().intersection(tokens)
    if table.keys().isdisjoint(tokens):
        return unspaced, {*LANGUAGES}
    evidence = _evidence(set(tokens).difference(capitals))
    most = max(evidence.values())
    likely = {name for name in LANGUAGES if evidence[name] == most}
    best = likely if most else {"en"}
    of_best = {token for token in table.keys() & tokens if not best.isdisjoint(table[token])}
    if "en" in best:
        of_best.difference_update(capitals)
    if len(of_best) == 1 and of_best <= _also_english():
        of_best = {token for token in of_best if "en" in table[token]}
    return of_best | unspaced, likely


def asked_tokens(term: str) -> frozenset[str]:
    """The tokens by which a row may match a term, in any language.

    >>> sorted(asked_tokens("the SideEffect"))
    ['effect', 'side', 'sideeffect']
    """
    words = words_of(term, LANGUAGES)
    parts = chain.from_iterable(
        (f"{_PART}{language}_{noun_stem(token, language)}" for language in languages)
        for token, languages in parts_in(term).items()
    )
    forms = chain.from_iterable((word.token, *word.stems, word.base) for word in words)
    return frozenset(filter(None, chain(forms, parts)))


def matches(word: str, tokens: frozenset[str]) -> bool:
    """Whether a word of a text has one of the tokens of a term: as it is, by its stem or a part.

    >>> matches("Crème,", asked_tokens("creme brulee")), matches("ran", asked_tokens("runs"))
    (True, False)
    >>> matches("running", asked_tokens("runs"))
    True
    """
    if not tokens.isdisjoint((_tokens_of_word if len(word) <= _WORD else tokens_of)(word)):
        return True
    asked = _parts_of(tokens)
    for text in _WORDS.findall(composed(word).lower()) if asked else ():
        for language, parts in asked.items():
            stem = noun_stem(text, language)
            for part in chain(parts.get(_beginning(stem), ()), parts.get(_end(stem), ())):
                if _is_part(part, stem) or _is_part(stem, part):
                    return True
    return False


_PART = "__part_"
"""What begins a token of a term that is the stem of a compound or of a part, and its language."""


@lru_cache(maxsize=16)
def _parts_of(tokens: frozenset[str]) -> dict[str, dict[str, list[str]]]:
    """The stems of parts in each language, by their beginnings and by their ends."""
    parts: dict[str, dict[str, list[str]]] = {}
    for token in tokens:
        if token.startswith(_PART):
            language, _, stem = token.removeprefix(_PART).partition("_")
            for key in (_beginning(stem), _end(stem)):
                parts.setdefault(language, {}).setdefault(key, []).append(stem)
    return parts


def _beginning(stem: str) -> str:
    return f"{stem[:SHORTEST_PART]}*"


def _end(stem: str) -> str:
    return f"*{stem[-SHORTEST_PART:]}"


def tokens_of(text: str) -> set[str]:
    """The words of a text, as they are and by their stems in any language."""
    forms = (word_of("", plain, LANGUAGES).stems for plain in plain_words(text))
    return {*segment(text), *chain.from_iterable(forms)}


_WORD = 40
"""Characters of a text whose tokens are kept: those of a word."""
_tokens_of_word = lru_cache(maxsize=8192)(tokens_of)
