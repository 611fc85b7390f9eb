"""Ranks all rows of the index that match a term, by BM25 (docs/decisions/133).

FTS5 stores the ids of the rows of each token, and no more. So how often a word is in a row is a
part of the token, and the length of a row a part of its id.
"""

import math
import sqlite3
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain, compress, islice
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from kiprdf.budget import check
from kiprdf.loading import Lazy, lazy_pattern
from kiprdf.search.fusion import add_scores
from kiprdf.search.rows import KINDS, Hit, Kind
from kiprdf.search.segment import exact_token, folded_name
from kiprdf.search.words import (
    BACKWARDS,
    COMPOUNDING,
    LINKING,
    LONGEST_READ,
    SHORTEST_PART,
    Word,
    is_first_part,
    noun_stem,
    parts_in,
    stem_token,
    tokens_of_term,
    word_of,
    words_of,
)

if TYPE_CHECKING:
    from kiprdf.search import dates
else:
    dates = Lazy("kiprdf.search.dates")

# One occurrence in a column counts like this number of occurrences in other text.
WEIGHTS = {"name": 40, "aliases": 12, "description": 3, "text": 1}
WHOLE_NAME = 80  # occurrences for which a name counts that is written like the term but for blanks
EXACT = 1_000_000.0
"""Added to the score of a row with an alias that is the term; more than any words can add."""
_EXACT_NAME, _SAME_NAME = 2 * EXACT, 4 * EXACT
"""The same for its name, and once more if the name is the term character by character."""
FORM_WEIGHT = 0.7  # of another form of a word, relative to the word as it is written
PREFIX_WEIGHT = 0.2  # of a longer word
PART_WEIGHT = 0.3  # of a compound with the word in it, or of a part of it
NEAR_WEIGHT = 0.25  # of a word that is searched instead of a mistyped one
SHORTEST_PREFIX = 3  # characters that a term's last word needs to match longer words, too
SHORTEST_NEAR, LONGEST_NEAR = 4, 30  # characters of a word that may be mistyped
MOST_NEAR = 5  # words that are searched instead of it
MOST_MISTYPED = 3  # words of a term for which others are looked for
LONGEST_TERM = 64  # words of a term that are searched
_LENGTH_BITS = 16  # of the id of a row that are its length; the others are its number
LONGEST_ROW = (1 << _LENGTH_BITS) - 1  # words of a row that are counted

COUNT = "!"
"""What is between a word and its count in a token: before every character of a word."""
STOP_NAME = "__stop_name"
"""The token of the rows with a name or an alias of stop words alone."""
MOST_KEPT, MOST_KEYS = 4_000_000, 100_000
"""Rows of words, and keys of rows, that are kept in memory, in ten and 300 bytes each."""
MOST_VALUES = 400_000
"""Values of rows for words that are kept in memory, in 100 bytes each."""
_Numbers = tuple[Sequence[int], Sequence[int]]
"""Numbers of rows, and the lengths of these rows."""
_Rows = dict[int, _Numbers]
"""The rows of a word, by its count in them."""

_K1, _B = 1.2, 0.75  # the parameters of BM25
_MANY = 1000  # rows with equal scores of which the first by key are looked for in order
_ENGLISH = stem_token("", "en")
_SIZE_OF_WORD = 30  # what is kept for a word, in rows
_KEYS_AT_ONCE = 500
_OF_OTHER_TYPES = 16
_SAMPLED = 16
"""One of so many scores is looked at to guess the least of the best."""
_HANGUL = lazy_pattern("[\uac00-\ud7a3]{2}")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")


class NoWordError(ValueError):
    """A term has no word, and nothing is named so."""


class RankedRows(NamedTuple):
    """The rows that match a term, best first: their keys, each with the sum of its words.

    ``words`` are those of the term that were searched; ``near`` has the words that were searched
    instead of those that no row has; ``is_cut`` says that the term has more words than are
    searched.
    """

    sums: dict[str, float]
    words: list[Word]
    near: dict[str, list[str]]
    is_cut: bool

    @property
    def hits(self) -> list[Hit]:
        """The rows as hits, with scores below 1."""
        return [Hit(key, number / (1 + number)) for key, number in self.sums.items()]


def rank(postings: "Postings", term: str, type: str | None, limit: int) -> RankedRows:
    """Rank the rows of a kind; raises NoWordError for a term that has no word and is not a name."""
    exact = _exact(postings, term)
    names = postings.names if postings.rows(STOP_NAME) else None
    words = words_of(term, postings.languages, names)
    if not words and not exact:
        raise NoWordError(f"The term {term[:50]!r} has no word to search for.")
    dated = dates.date_tokens(term[:LONGEST_READ], asked=True)
    days = dates.day_numbers(term[:LONGEST_READ]) if dated else ()
    words = [word for word in words if word.token not in days] or words  # 8 is not only a day
    searched = words[:LONGEST_TERM]
    parts_of = parts_in(term) if postings.has_compounds else {}
    near: dict[str, list[str]] = {}
    scores = dict(exact)
    missing: list[str] = []
    for number, word in enumerate(searched, start=1):
        check()
        longer: dict[int, float] = {}
        if number == len(searched) and len(word.token) >= SHORTEST_PREFIX:
            longer = postings.weighted(postings.longer(word.token), PREFIX_WEIGHT)
            add_scores(scores, longer)
        matching = postings.weighted_word(word)
        add_scores(scores, matching)
        parts: dict[int, float] = {}
        if word.token in parts_of:
            every = postings.parts(word.token, parts_of[word.token]).items()
            parts = {row: of for row, of in every if row not in matching and row not in longer}
            add_scores(scores, postings.weighted(parts, PART_WEIGHT, len(matching)))
        if not matching and not longer and not parts:
            missing.append(word.token)
    for token in dated:
        add_scores(scores, postings.weighted(postings.of_token(token)))
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
            add_scores(scores, postings.weighted(matching, NEAR_WEIGHT))
    is_cut = len(words) > LONGEST_TERM or len(term) > LONGEST_READ
    return RankedRows(_best(postings, scores, type, limit), searched, near, is_cut)


def counted(token: str, number: int) -> str:
    """What is stored for a word that is several times in a row: that it is so, and how often."""
    return f"{token}{COUNT} {token}{COUNT}{number}"


def whole(role: str, text: str) -> str:
    """A token for a whole text in a role, which differs from every other token."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"__{role}_{digest.hexdigest()}"


def table_of(kind: str) -> str:
    assert kind in KINDS, kind
    return kind


def _exact(postings: "Postings", term: str) -> dict[int, float]:
    """The rows whose whole name or alias is the term, and what this adds to their scores."""
    if len(term) > LONGEST_READ:
        return {}
    folded = folded_name(term)
    # Of one word the name itself is the whole.
    joined = exact_token(term) if len(tokens_of_term(term)) > 1 else ""
    tokens = whole("name", folded), whole("alias", folded)
    if not folded or not postings.has(*tokens, *filter(None, (joined,))):
        return {}
    name, alias = tokens
    exact = dict.fromkeys(postings.ids(name), _EXACT_NAME)
    exact |= dict.fromkeys(postings.ids(whole("same", term)), _EXACT_NAME + _SAME_NAME)
    add_scores(exact, dict.fromkeys(postings.ids(alias), EXACT))
    if joined:
        add_scores(exact, postings.weighted(postings.of_token(joined, count=WHOLE_NAME)))
    return exact


def _best(
    postings: "Postings", scores: dict[int, float], type: str | None, limit: int
) -> dict[str, float]:
    """The keys with the best scores, ties by key; all rows are read whose score may be one."""
    # Some of the best rows may be of other types.
    most = limit if type is None else limit + _OF_OTHER_TYPES
    while True:
        rows = sorted(_among_best(scores, most), key=scores.__getitem__, reverse=True)
        least = scores[rows[most - 1]] if 0 < most < len(rows) else 0.0
        if least:
            # And those that are equal to the last one.
            lower = (at for at in range(most, len(rows)) if scores[rows[at]] < least)
            del rows[next(lower, len(rows)) :]
        tied = list[str]()
        if len(rows) > most + _MANY:
            equal = {row for row in rows if scores[row] == least}
            rows = [row for row in rows if row not in equal]
            tied += postings.first(equal, type, limit)
        of_rows = postings.keys(rows, type)
        is_of = [key is not None for key in of_rows]
        values = [*compress(map(scores.__getitem__, rows), is_of)]
        if len(values) + len(tied) >= limit or least == 0.0:
            keys = [key for key in of_rows if key is not None]
            order_ties(keys, values)
            values += [least] * len(tied)
            return dict(zip([*keys, *tied][:limit], values, strict=False))
        most *= 8


def _among_best(scores: dict[int, float], most: int) -> Collection[int]:
    """The rows with the highest scores, and some others: to sort all rows would take longer."""
    some = sorted(islice(scores.values(), 0, None, _SAMPLED), reverse=True)
    place = 3 * most // (2 * _SAMPLED) + 6
    if place >= len(some):
        return scores
    least = some[place]
    rows = [row for row, score in scores.items() if score >= least]
    return rows if len(rows) > most else scores


def order_ties(keys: list[str], values: Sequence[float]) -> None:
    """Order the keys with the same value, which are beside each other."""
    end = 0
    for at in compress(range(len(keys)), map(eq, values, values[1:])):
        if at >= end:
            value, end = values[at], at + 2
            while end < len(keys) and values[end] == value:
                end += 1
            keys[at:end] = sorted(keys[at:end])


class Postings:
    """The rows of each word of a kind, kept in memory until the word is written.

    A row is its number: ids, of which many end in the same bits, are slow as keys. It has a value
    for a word that grows with the word's count, below 1.
    """

    def __init__(self, kind: Kind) -> None:
        self._kind, self._table = kind, table_of(kind)
        self._kept: dict[str, _Rows] = {}
        self._size = 0
        self._beginnings: set[str] = set()
        self._keys: dict[str | None, dict[int, str | None]] = {}
        """By the type that was asked for."""
        self._connection: sqlite3.Connection | None = None
        self._state = (0, 0)
        self._has_compounds: bool | None = None
        self._values: dict[tuple[int, float], _Values] = {}
        self._words: dict[Word, dict[int, float]] = {}
        self._size_of_words = 0
        self.languages: tuple[str, ...] = ()

    def read(self, connection: sqlite3.Connection) -> "Postings":
        """These postings, as of the last commit."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if connection is not self._connection or version != self._state[0]:
            self._connection = connection
            self.forget()  # another program has written
        elif connection.total_changes == self._state[1]:
            return self
        self._state = version, connection.total_changes
        self._total, length, codes = connection.execute(
            "SELECT rows, length, (SELECT group_concat(code) FROM language) FROM total"
            " WHERE kind = ?",
            (self._kind,),
        ).fetchone()
        self._average = max(1.0, length / max(1, self._total))
        self._values.clear()
        self._words.clear()
        self._size_of_words = 0
        self._has_compounds = None
        self.languages = tuple(sorted(codes.decode().split(","))) if codes else ()
        return self

    def forget(self, id: int = -1, tokens: str | None = None) -> None:
        """Read a row and those of its tokens again, or all."""
        if tokens is None:
            self._kept.clear()
            self._keys.clear()
            self._size = 0
        elif self._kept or self._keys:
            for keys in self._keys.values():
                keys.pop(id >> _LENGTH_BITS, None)
            written = (token.partition(COUNT)[0] for token in tokens.split())
            for key in chain(written, self._beginnings):
                if key in self._kept:
                    self._size -= _size(self._kept.pop(key))
        self._beginnings.clear()

    def rarity(self, number: int) -> float:
        """The inverse document frequency, which is positive for a word of every row, too."""
        other = max(0.0, self._total - number + 0.5)
        return (_K1 + 1) * math.log1p(other / (number + 0.5))

    def rows(self, token: str) -> "_Rows":
        """The rows with a token, by its count."""
        kept = self._kept.get(token)
        if kept is None:
            # As one text, which takes half the time of one Python tuple for each row.
            (once,) = self._matching("group_concat(rowid)", token)
            several = self.has(f"{token}{COUNT}")
            ids = self._between(f"{token}{COUNT}0", f'{token}"') if several else {}
            if once:
                ids[1] = array("Q", map(int, once.split(b",")))
            kept = self._keep(token, ids)
        return kept

    def longer(self, word: str) -> dict[int, float]:
        """The rows with words that begin with a word."""
        key = f"{word}*"
        self._beginnings.add(key)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._keep(key, self._between(f'{word}"', f"{word}\U0010ffff"))
        return self._valued(kept)

    def _between(
        self, first: str, end: str, admits: Callable[[str], bool] | None = None
    ) -> "dict[int, array[int]]":
        """The ids of the rows with tokens between two, by the counts of these.

        ``admits`` says of the word of a token whether it counts.
        """
        ids: dict[int, array[int]] = {}
        for term, joined in self._selected(
            f"SELECT term, group_concat(doc) FROM {self._table}_token"
            " WHERE term >= ? AND term < ? GROUP BY term",
            first,
            end,
        ):
            if not term.endswith(COUNT.encode()):
                word, _, number = term.partition(COUNT.encode())
                if admits is None or admits(word.decode()):
                    of_count = ids.setdefault(int(number or 1), array("Q"))
                    of_count.extend(map(int, joined.split(b",")))
        return ids

    def _keep(self, key: str, ids: "dict[int, array[int]]") -> "_Rows":
        rows: _Rows = {
            count: (
                array("Q", [id >> _LENGTH_BITS for id in ids[count]]),
                array("H", [id & LONGEST_ROW for id in ids[count]]),
            )
            for count in sorted(ids)
        }
        self._size += _size(rows)
        while self._kept and self._size > MOST_KEPT:
            oldest = next(iter(self._kept))
            self._size -= _size(self._kept.pop(oldest))
            self._beginnings.discard(oldest)
        self._kept[key] = rows
        return rows

    def number(self, token: str) -> int:
        """The number of rows with a word, as often as it may be."""
        return sum(len(numbers) for numbers, _ in self.rows(token).values())

    def has(self, *tokens: str) -> bool:
        """Whether a row has any of some tokens."""
        return self._matching("1", *tokens) is not None

    def _matching(self, result: str, *tokens: str) -> Any:
        """The first row of a result for the rows with any of some tokens."""
        expression = " OR ".join(f'"{token}"' for token in tokens)
        statement = f"SELECT {result} FROM {self._table} WHERE {self._table} MATCH ?"
        return self._selected(statement, expression).fetchone()

    def ids(self, token: str) -> Iterable[int]:
        """The rows with a token."""
        return chain.from_iterable(numbers for numbers, _ in self.rows(token).values())

    def of_token(self, token: str, count: int = 0, weight: float = 1.0) -> dict[int, float]:
        """The rows with a token, which may be given another count."""
        return self._valued(self.rows(token), count, weight)

    def weighted(
        self, matching: dict[int, float], weight: float = 1.0, others: int = 0
    ) -> dict[int, float]:
        """The values of rows, weighted by the rarity of what is in so many rows, and in others."""
        weight *= self.rarity(len(matching) + others)
        return {row: weight * value for row, value in matching.items()}

    def weighted_word(self, word: Word) -> dict[int, float]:
        """The same of the rows with a word in any form; kept until something is written."""
        matching = self._words.get(word)
        if matching is None:
            matching = self._keep_values(word, self.weighted(self.of_word(word)))
        return matching

    def _keep_values(self, word: Word, matching: dict[int, float]) -> dict[int, float]:
        self._size_of_words += _SIZE_OF_WORD + len(matching)
        while self._words and self._size_of_words > MOST_VALUES:
            removed = self._words.pop(next(iter(self._words)))
            self._size_of_words -= _SIZE_OF_WORD + len(removed)
        self._words[word] = matching
        return matching

    def of_word(self, word: Word) -> dict[int, float]:
        """The rows with a word in any form."""
        # Few words have stems in many languages: to look for all at once takes a third of the time.
        unread = [token for token in word.stems[1:] if token not in self._kept]
        if len(unread) > 1 and not self.has(*unread, *(f"{token}{COUNT}" for token in unread)):
            for token in unread:
                self._keep(token, {})
        forms = [self.rows(word.base)] if word.base else []
        for token in word.stems:
            if rows := self.rows(token):
                forms.append(rows)
            # An English word that is its own stem has no other token.
            if token.startswith(_ENGLISH) and (stem := token[len(_ENGLISH) :]) != word.token:
                forms += ({1: rows} for count, rows in self.rows(stem).items() if count == 1)
        matching = self.of_token(word.token)
        if not forms:
            return matching
        once: dict[int, float] = {}
        for rows in forms:
            if 1 in rows:
                once |= self._valued({1: rows[1]}, weight=FORM_WEIGHT)
        matching = once | matching  # whose values are higher
        for rows in forms:
            if several := {count: rows[count] for count in rows if count > 1}:
                _raise(matching, self._valued(several, weight=FORM_WEIGHT))
        return matching

    @property
    def has_compounds(self) -> bool:
        """Whether a row may be in a language that has compounds."""
        if self._has_compounds is None:
            some = f"SELECT 1 FROM {self._table}_token WHERE term >= ? AND term < ? LIMIT 1"
            first = self._selected(some, BACKWARDS, f"{BACKWARDS}\U0010ffff").fetchone()
            self._has_compounds = first is not None
        return self._has_compounds or not set(COMPOUNDING).isdisjoint(self.languages)

    def parts(self, token: str, languages: tuple[str, ...]) -> dict[int, float]:
        """The rows with compounds that a word is a part of, or with the parts of a compound."""
        key = Word(token, languages, BACKWARDS)
        matching = self._words.get(key)
        if matching is not None:
            return matching
        matching = {}
        for stem in {noun_stem(token, language) for language in languages}:
            if len(stem) >= SHORTEST_PART - 1:
                _raise(matching, self._valued(self._compounds(token, stem)))
        places = range(SHORTEST_PART, len(token) - SHORTEST_PART + 2)
        ends = [token[n:] for n in places[:-1] if self._is_first(token[:n], token[n:])]
        beginnings = [token[:n] for n in reversed(places) if is_first_part(token[:n])]
        for parts in (ends, beginnings):
            if longest := next(filter(self._has_word, parts), ""):
                _raise(matching, self.of_word(word_of(longest, longest, languages)))
        return self._keep_values(key, matching)

    def _compounds(self, token: str, stem: str) -> "_Rows":
        """The rows with compounds that end with a word, or begin with it."""
        key = f"{BACKWARDS}{stem}*{token}"
        self._beginnings.add(key)
        if key in self._kept:
            return self._kept[key]

        def ends(term: str) -> bool:
            letters, _, ending = term.rpartition("_")
            is_same = len(stem) < SHORTEST_PART and stem + ending == token
            last = token if is_same else stem
            return self._is_first(letters[len(end) :][::-1], last)

        def begins(term: str) -> bool:
            first = token if term.startswith(token) else stem
            rest = term[len(first) :]
            is_sure = len(first) > SHORTEST_PART
            return len(rest) >= SHORTEST_PART and (is_sure or self._has_word(rest))

        end = f"{BACKWARDS}{stem[::-1]}"
        ids = self._between(end, f"{end}\U0010ffff", ends)
        if len(stem) >= SHORTEST_PART:
            longer = self._between(f"{stem} ", f"{stem}\U0010ffff", begins)
            for count, some in longer.items():
                ids.setdefault(count, array("Q")).extend(some)
        return self._keep(key, ids)

    def _is_first(self, text: str, last: str) -> bool:
        """Whether a text may be before the last part of a compound."""
        is_long, is_double = len(text) >= SHORTEST_PART, text[-1:] == last[:1]
        least = SHORTEST_PART + (is_double or not is_long)
        is_sure = len(last) >= least and (is_long or not is_double)
        return is_first_part(text) and (
            is_sure or self._has_word(*{text.removesuffix(link) for link in LINKING})
        )

    def _has_word(self, *words: str) -> bool:
        """Whether a row has one of some words, or a form of it."""
        languages = tuple(name for name in COMPOUNDING if name in self.languages)
        stems = chain.from_iterable(word_of(word, word, languages).stems for word in words)
        tokens = [*words, *stems]
        return bool(tokens) and self.has(*tokens, *(f"{token}{COUNT}" for token in tokens))

    def _valued(self, rows: "_Rows", count: int = 0, weight: float = 1.0) -> dict[int, float]:
        """The values of rows; of several counts in a row, the highest."""
        matching: dict[int, float] = {}
        for stored, (numbers, lengths) in rows.items():
            values = self._values.get((count or stored, weight))
            if values is None:
                values = _Values(self._average, count or stored, weight)
                self._values[count or stored, weight] = values
            matching.update(zip(numbers, map(values.__getitem__, lengths), strict=True))
        return matching

    def keys(self, rows: Sequence[int], type: str | None) -> list[str | None]:
        """The key of each row, None for one of another type."""
        keys = self._keys.get(type, {})
        with suppress(KeyError):
            return [*map(keys.__getitem__, rows)]
        if sum(map(len, self._keys.values())) > MOST_KEYS:
            self._keys, keys = {}, {}
        self._keys[type] = keys
        unknown = [row for row in rows if row not in keys]
        for start in range(0, len(unknown), _KEYS_AT_ONCE):
            some = unknown[start : start + _KEYS_AT_ONCE]
            statement = (
                f"WITH some(row) AS (VALUES {', '.join(['(?)'] * len(some))}) SELECT row, key, "
                f"type FROM some CROSS JOIN element ON id BETWEEN row << {_LENGTH_BITS} "
                f"AND (row << {_LENGTH_BITS}) + {LONGEST_ROW}"
            )
            for row, key, of in self._selected(statement, *some):
                is_of = type in (None, of.decode("utf-8", "surrogatepass"))
                keys[row] = sys.intern(key.decode("utf-8", "surrogatepass")) if is_of else None
        return [*map(keys.__getitem__, rows)]

    def first(self, rows: Collection[int], type: str | None, limit: int) -> Iterator[str]:
        """The first keys of many rows."""
        of_type = () if type is None else (type.encode("utf-8", "surrogatepass"),)
        condition = " WHERE type = ?" * len(of_type)
        ordered = self._selected(f"SELECT id, key FROM element{condition} ORDER BY key", *of_type)
        of_rows = (key for id, key in ordered if id >> _LENGTH_BITS in rows)
        keys = (key.decode("utf-8", "surrogatepass") for key in of_rows)
        return islice(keys, limit)

    def names(self, texts: Collection[str]) -> list[str]:
        """Those of some texts of stop words that are the name or an alias of a row."""
        return [text for text in texts if self.has(whole("name", text), whole("alias", text))]

    def near(self, word: str) -> list[str]:
        """The words of rows that are a word with one letter more, less, changed or moved.

        For two syllables of Korean it is the first, without what may be an ending or a particle.
        """
        if _HANGUL.fullmatch(word):
            return [word[0]] if self.rows(word[0]) else []
        alphabet = next((letters for letters in _ALPHABETS if set(letters) >= set(word)), "")
        if not alphabet or not SHORTEST_NEAR <= len(word) <= LONGEST_NEAR:
            return []
        edited = set(_edited(word, alphabet))
        # Most of them have its first two letters, as few words of rows have.
        first = word[:2]
        between = f"FROM {self._table}_token WHERE term >= ? AND term < ? GROUP BY term"
        terms = self._selected(f"SELECT term {between}", first, f"{first}\U0010ffff")
        beside = {term.decode().partition(COUNT)[0] for (term,) in terms}
        others = (other for other in edited if not other.startswith(first) and self.rows(other))
        return sorted(edited & beside | {*others})[:MOST_NEAR]

    def _selected(self, statement: str, *values: object) -> sqlite3.Cursor:
        check()
        assert self._connection is not None
        return self._connection.execute(statement, values)


def _size(rows: "_Rows") -> int:
    return _SIZE_OF_WORD + sum(len(numbers) for numbers, _ in rows.values())


def _raise(matching: dict[int, float], other: dict[int, float]) -> None:
    """Give each row the higher of its values."""
    both = matching.keys() & other.keys()
    if not both:
        matching |= other
        return
    highest = [*map(max, map(matching.__getitem__, both), map(other.__getitem__, both))]
    matching |= other
    matching.update(zip(both, highest, strict=True))


class _Values(dict[int, float]):
    """The weighted value of a count in a row, by its length."""

    def __init__(self, average: float, count: int, weight: float) -> None:
        self._average, self._count, self._weight = average, count, weight

    def __missing__(self, length: int) -> float:
        norm = _K1 * (1 - _B + _B * length / self._average)
        value = self[length] = self._weight * (self._count / (self._count + norm))
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
