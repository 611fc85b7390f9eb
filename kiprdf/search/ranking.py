"""Ranks all rows of the index that match a term, by BM25 (docs/decisions/133).

FTS5 stores the ids of the rows of each token, and no more. So how often a word is in a row is a
part of the token, and the length of a row a part of its id.
"""

import heapq
import math
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from typing import Any, NamedTuple

from kiprdf.budget import check
from kiprdf.search.dates import date_tokens
from kiprdf.search.rows import KINDS, Kind
from kiprdf.search.segment import exact_token, folded_name, segment_term
from kiprdf.search.words import LONGEST_READ, Word, in_name, stem_token, word_of, words_of

# One occurrence in a column counts like this number of occurrences in other text.
WEIGHTS = {"name": 40, "aliases": 12, "description": 3, "text": 1}
WHOLE_NAME = 80  # occurrences for which a name counts that is written like the term but for blanks
EXACT = 1_000_000.0
"""Added to the score of a row with an alias that is the term; more than any words can add."""
_EXACT_NAME, _SAME_NAME = 2 * EXACT, 4 * EXACT
"""The same for its name, and once more if the name is the term character by character."""
FORM_WEIGHT = 0.7  # of another form of a word, relative to the word as it is written
PREFIX_WEIGHT = 0.2  # of a longer word
NEAR_WEIGHT = 0.25  # of a word that is searched instead of a mistyped one
SHORTEST_PREFIX = 3  # characters that a term's last word needs to match longer words, too
SHORTEST_NEAR, LONGEST_NEAR = 4, 30  # characters of a word that may be mistyped
MOST_NEAR = 5  # words that are searched instead of it
MOST_MISTYPED = 3  # words of a term for which others are looked for
LONGEST_TERM = 64  # words of a term that are searched
LONGEST_ROW = 0xFFFF  # words of a row that are counted

_K1, _B = 1.2, 0.75  # the parameters of BM25
_MANY = 1000  # rows with equal scores of which the first by key are looked for in order
_KEYS_AT_ONCE = 500
_AT_ONCE = 50  # words of which one is looked for
_HANGUL = re.compile("[\uac00-\ud7a3]{2}")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")


class NoWordError(ValueError):
    """A term has no word, and nothing is named so."""


class Ranked(NamedTuple):
    """The keys with the highest scores, best first.

    ``near`` has the words that were searched instead of those that no row has; ``is_cut`` says
    that the term has more words than are searched.
    """

    keys: list[tuple[bytes, float]]
    near: dict[str, list[str]]
    is_cut: bool


def rank(
    connection: sqlite3.Connection, kind: Kind, term: str, type: str | None, limit: int
) -> Ranked:
    """Rank the rows of a kind; raises NoWordError for a term that has no word and is not a name."""
    postings = _Postings(connection, kind)
    exact = _exact(postings, term)
    words = words_of(term, postings.languages, postings.names)
    if not words and not exact:
        raise NoWordError(f"The term {term[:50]!r} has no word to search for.")
    searched = words[:LONGEST_TERM]
    near: dict[str, list[str]] = {}
    scores = dict(exact)
    missing: list[str] = []
    for number, word in enumerate(searched, start=1):
        longer: dict[int, float] = {}
        if number == len(searched) and len(word.token) >= SHORTEST_PREFIX:
            matching, longer = postings.of_last_word(word)
            _add(scores, longer, PREFIX_WEIGHT * postings.rarity(longer))
        else:
            matching = postings.of_word(word)
        _add(scores, matching, postings.rarity(matching))
        if not matching and not longer:
            missing.append(word.token)
    for token in date_tokens(term[:LONGEST_READ], asked=True):
        matching = postings.of_tokens(token)
        _add(scores, matching, postings.rarity(matching))
    if scores:  # the other syllables of a Korean word are in a row
        missing = [token for token in missing if not _HANGUL.fullmatch(token)]
    # Of a question with many words some are in no row.
    is_short = len(searched) <= MOST_MISTYPED or not scores
    for token in missing[:MOST_MISTYPED] if is_short else ():
        if others := postings.near(token):
            near[token] = others
            matching = {}
            for other in others:
                matching |= postings.of_word(word_of(other, other, postings.languages))
            _add(scores, matching, NEAR_WEIGHT * postings.rarity(matching))
    hits = [(key, score / (1 + score)) for score, key in _best(connection, scores, type, limit)]
    is_cut = len(words) > LONGEST_TERM or len(term) > LONGEST_READ
    return Ranked(hits, near, is_cut)


def rarity(connection: sqlite3.Connection, kind: Kind, tokens: Iterable[str]) -> dict[str, float]:
    """The weights of words in a ranking: the rarer the larger."""
    postings = _Postings(connection, kind)
    return {token: postings.rarity(range(postings.count(token))) for token in tokens}


def whole(role: str, text: str) -> str:
    """A token for a whole text in a role, which differs from every other token."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"__{role}_{digest.hexdigest()}"


def table_of(kind: str) -> str:
    assert kind in KINDS, kind
    return kind


def _exact(postings: "_Postings", term: str) -> dict[int, float]:
    """The rows whose whole name or alias is the term, and what this adds to their scores."""
    if len(term) > LONGEST_READ:
        return {}
    folded = folded_name(term)
    # Of one word the name itself is the whole.
    joined = exact_token(term) if len(segment_term(term)) > 1 else ""
    tokens = whole("name", folded), whole("alias", folded)
    if not folded or not postings.has(*tokens, *filter(None, (joined,))):
        return {}
    name, alias = tokens
    exact = dict.fromkeys(postings.rows(name), _EXACT_NAME)
    exact |= dict.fromkeys(postings.rows(whole("same", term)), _EXACT_NAME + _SAME_NAME)
    _add(exact, dict.fromkeys(postings.rows(alias), 1.0), EXACT)
    if joined:
        matching = postings.of_tokens(joined, count=WHOLE_NAME)
        _add(exact, matching, postings.rarity(matching))
    return exact


def _add(scores: dict[int, float], matching: dict[int, float], weight: float) -> None:
    if not scores:
        scores |= {row: weight * value for row, value in matching.items()}
        return
    get = scores.get
    for row, value in matching.items():
        scores[row] = get(row, 0.0) + weight * value


def _best(
    connection: sqlite3.Connection, scores: dict[int, float], type: str | None, limit: int
) -> list[tuple[float, bytes]]:
    """The best scores with their keys, ties by key; all rows are read whose score may be one."""
    most = limit
    while True:
        least = heapq.nlargest(most, scores.values())[-1] if 0 < most < len(scores) else 0.0
        rows = [row for row, score in scores.items() if score > least]
        tied = {row for row, score in scores.items() if score == least}
        is_many = len(tied) > _MANY
        first = _first(connection, tied, type, limit) if is_many else ()
        others = _keys(connection, rows if is_many else [*rows, *tied], type)
        hits = [(scores[row], key) for row, key in chain(others, first)]
        if len(hits) >= limit or len(rows) + len(tied) == len(scores):
            return sorted(hits, key=lambda hit: (-hit[0], hit[1]))[:limit]
        most *= 8


def _keys(
    connection: sqlite3.Connection, rows: Sequence[int], type: str | None
) -> Iterator[tuple[int, bytes]]:
    of_type = () if type is None else (type.encode("utf-8", "surrogatepass"),)
    for start in range(0, len(rows), _KEYS_AT_ONCE):
        check()
        some = rows[start : start + _KEYS_AT_ONCE]
        yield from connection.execute(
            f"SELECT id, key FROM element WHERE id IN ({', '.join('?' * len(some))})"
            + " AND type = ?" * len(of_type),
            (*some, *of_type),
        )


def _first(
    connection: sqlite3.Connection, rows: Collection[int], type: str | None, limit: int
) -> Iterator[tuple[int, bytes]]:
    """The first keys of many rows."""
    check()
    of_type = () if type is None else (type.encode("utf-8", "surrogatepass"),)
    condition = " WHERE type = ?" * len(of_type)
    ordered = connection.execute(f"SELECT id, key FROM element{condition} ORDER BY key", of_type)
    return islice(((row, key) for row, key in ordered if row in rows), limit)


class _Postings:
    """The rows of each word of a kind, with a value that grows with the word's count, below 1."""

    def __init__(self, connection: sqlite3.Connection, kind: Kind) -> None:
        self._connection = connection
        self._table = table_of(kind)
        self._total, length, codes = connection.execute(
            "SELECT rows, length, (SELECT group_concat(code) FROM language) FROM total"
            " WHERE kind = ?",
            (kind,),
        ).fetchone()
        self._norms = _Norms(max(1.0, length / max(1, self._total)))
        self._values: dict[tuple[int, float], _Values] = {}
        self.languages = sorted(codes.decode().split(",")) if codes else []

    def rarity(self, matching: Collection[int]) -> float:
        """The inverse document frequency, which is positive for a word of every row, too."""
        other = max(0.0, self._total - len(matching) + 0.5)
        return (_K1 + 1) * math.log1p(other / (len(matching) + 0.5))

    def rows(self, *tokens: str) -> list[int]:
        """The rows with any of some tokens."""
        # As one text, which takes half the time of one Python tuple for each row.
        return _numbers(self._selected("group_concat(rowid)", _any_of(tokens))[0])

    def has(self, *tokens: str) -> bool:
        """Whether a row has any of some tokens."""
        return self._selected("1", _any_of(tokens)) is not None

    def count(self, token: str) -> int:
        """The number of rows with a word, as often as it may be."""
        return int(self._selected("count(*)", f'"{token}" OR "{token}_" *')[0])

    def of_tokens(self, *tokens: str, count: int = 1, weight: float = 1.0) -> dict[int, float]:
        """The rows with any of some tokens."""
        return self._valued(self.rows(*tokens), count, weight)

    def of_word(self, word: Word) -> dict[int, float]:
        """The rows with a word in any form."""
        return self._with_forms(self._of_counts(word.token), word)

    def of_last_word(self, word: Word) -> tuple[dict[int, float], dict[int, float]]:
        """The same, and the rows with words that begin with it."""
        own, longer = self._between(word.token, f"{word.token}\U0010ffff", word.token)
        return self._with_forms(own, word), longer

    def _of_counts(self, token: str, weight: float = 1.0) -> dict[int, float]:
        several, _ = self._between(f"{token}_", f"{token}`", token, weight)
        return self.of_tokens(token, weight=weight) | several

    def _with_forms(self, matching: dict[int, float], word: Word) -> dict[int, float]:
        if word.base:
            _raise(matching, self._of_counts(word.base, FORM_WEIGHT))
        if word.stems:
            # An English word that is its own stem has no other token.
            base = (stem for stem in word.stems if stem.startswith(stem_token("", "en")))
            mentions = (*word.stems, *(stem.rpartition("_")[2] for stem in base))
            names = map(in_name, word.stems)
            # Of a row that has the word itself, the value is higher.
            others = set(self.rows(*mentions)).difference(matching)
            matching |= self._valued(others, 1, FORM_WEIGHT)
            _raise(matching, self.of_tokens(*names, count=WEIGHTS["name"], weight=FORM_WEIGHT))
        return matching

    def _between(
        self, first: str, end: str, word: str, weight: float = 1.0
    ) -> tuple[dict[int, float], dict[int, float]]:
        """The rows with a word, and those with other words, whose tokens are between two."""
        check()
        statement = f"SELECT term, group_concat(doc) FROM {self._table}_token"
        condition = "WHERE term >= ? AND term < ? GROUP BY term"
        matching: tuple[dict[int, float], dict[int, float]] = {}, {}
        for token, rows in self._connection.execute(f"{statement} {condition}", (first, end)):
            written, _, count = token.decode().partition("_")
            valued = self._valued(_numbers(rows), int(count or 1), weight)
            _raise(matching[written != word], valued)
        return matching

    def _valued(self, rows: Iterable[int], count: int, weight: float) -> dict[int, float]:
        if (count, weight) not in self._values:
            self._values[count, weight] = _Values(self._norms, count, weight)
        values = self._values[count, weight]
        return {row: values[row & LONGEST_ROW] for row in rows}

    def names(self, texts: Collection[str]) -> list[str]:
        """Those of some texts that are the name or an alias of a row."""
        tokens = {text: (whole("name", text), whole("alias", text)) for text in texts}
        if not self.has(*chain.from_iterable(tokens.values())):
            return []
        return [text for text, both in tokens.items() if self.has(*both)]

    def near(self, word: str) -> list[str]:
        """The words of rows that are a word with one letter more, less, changed or moved.

        For two syllables of Korean it is the first, without what may be an ending or a particle.
        """
        if _HANGUL.fullmatch(word):
            return [word[0]] if self._any(word[0]) else []
        alphabet = next((letters for letters in _ALPHABETS if set(letters) >= set(word)), "")
        if not alphabet or not SHORTEST_NEAR <= len(word) <= LONGEST_NEAR:
            return []
        others = sorted(set(_edited(word, alphabet)))
        matching: list[str] = []
        for start in range(0, len(others), _AT_ONCE):
            check()
            some = others[start : start + _AT_ONCE]
            if self._any(*some):
                matching += (other for other in some if self._any(other))
        return matching[:MOST_NEAR]

    def _any(self, *words: str) -> bool:
        """Whether a row has one of some words, as often as it may be."""
        expression = " OR ".join(f'"{word}" OR "{word}_" *' for word in words)
        return self._selected("1", expression) is not None

    def _selected(self, result: str, expression: str) -> Any:
        """The first row of a result for the rows that match an expression."""
        check()
        statement = f"SELECT {result} FROM {self._table} WHERE {self._table} MATCH ?"
        return self._connection.execute(statement, (expression,)).fetchone()


def _numbers(joined: bytes | None) -> list[int]:
    return [*map(int, joined.split(b","))] if joined else []


def _raise(matching: dict[int, float], other: dict[int, float]) -> None:
    """Give each row the higher of its values."""
    both = matching.keys() & other.keys()
    if not both:
        matching |= other
        return
    highest = [*map(max, map(matching.__getitem__, both), map(other.__getitem__, both))]
    matching |= other
    matching.update(zip(both, highest, strict=True))


def _any_of(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)


class _Norms(dict[int, float]):
    """What BM25 adds to a count for the length of a row, by this length."""

    def __init__(self, average: float) -> None:
        self._average = average

    def __missing__(self, length: int) -> float:
        norm = self[length] = _K1 * (1 - _B + _B * length / self._average)
        return norm


class _Values(dict[int, float]):
    """The weighted value of a count in a row, by its length."""

    def __init__(self, norms: _Norms, count: int, weight: float) -> None:
        self._norms, self._count, self._weight = norms, count, weight

    def __missing__(self, length: int) -> float:
        value = self._weight * (self._count / (self._count + self._norms[length]))
        self[length] = value
        return value


def _edited(word: str, alphabet: str) -> Iterator[str]:
    """The words that are one edit away from another."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in alphabet:
            yield before + letter + after
            yield before + letter + after[1:]
