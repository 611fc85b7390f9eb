"""Finds the rows of the index that match a term, and ranks them (docs/decisions/094).

What matches few rows is ranked as a whole. Of a common word only some rows are ranked: those named
so, then others, in an order that depends on their keys alone.
"""

import math
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from kiprdf.search.rows import KINDS, Kind
from kiprdf.search.segment import exact_token, folded_name, segment_term

# One occurrence in a column counts like this number of occurrences in other text.
WEIGHTS = {"exact": 80.0, "name": 40.0, "aliases": 12.0, "description": 3.0, "text": 1.0}
EXACT = 1_000_000.0
"""Added to the score of a row with an alias that is the term; more than any words can add."""
_EXACT_NAME, _SAME_NAME = 2 * EXACT, 4 * EXACT
"""The same for its name, and once more if the name is the term character by character."""
SHORTEST_PREFIX = 3  # characters that a term's last word needs to match longer words, too
PREFIX_WEIGHT = 0.25  # of a longer word, relative to the whole word
LONGEST_TERM = 64  # tokens of a term that are searched
FEW = 100  # matching rows that are all ranked
CANDIDATES = 3  # rows that are ranked for each hit, where more match
FEWEST_CANDIDATES = 30  # for each part of a term

_K1, _B = 1.2, 0.75  # the parameters of BM25
_NAMED = "_n_"  # before a word of a name or an alias, as a token of the column `exact`


class _Term(NamedTuple):
    """A term as tokens: what its words are, its last word, and what whole names it may be."""

    words: tuple[str, ...]
    whole: str
    prefix: str | None
    exact: dict[str, float]


class _Row(NamedTuple):
    """A matching row.

    ``exact`` are its exact tokens; ``counts`` how often, weighted by columns, each word, the whole
    term and words with the prefix are in it; ``length`` is the number of its words.
    """

    key: bytes
    exact: bytes
    counts: list[float]
    length: int


def rank(
    connection: sqlite3.Connection, kind: Kind, term: str, type: str | None, limit: int
) -> list[tuple[bytes, float]]:
    """The keys with the highest scores, best first; raises ValueError for a term without a word."""
    asked = _asked(term)
    table = table_of(kind)
    # A row with the very name has the folded one, too.
    _, *folded = asked.exact
    anything = filter(None, (*folded, *asked.words, asked.whole))
    ids = _ids(connection, table, " OR ".join(map(_match, anything)), FEW + 1)
    if asked.prefix and len(ids) <= FEW:
        ids = {*ids, *_ids(connection, table, _longer(asked.prefix), FEW + 1)}
    total, average = _statistics(connection, table)
    if len(ids) <= FEW:
        rows = _rows(connection, table, ids, asked)
        matching = [sum(1 for row in rows if row.counts[n]) for n in range(len(asked.words) + 2)]
    else:
        candidates, matching = _candidates(connection, kind, asked, type, limit)
        rows = _rows(connection, table, candidates, asked)
    wanted = None if type is None else type_token(kind, type).encode()
    factors = [_rarity(total, number) if number else 0.0 for number in matching]
    factors[-1] *= PREFIX_WEIGHT
    exact = [(token.encode(), score) for token, score in asked.exact.items()]
    scores = [
        (row.key, _score(row, factors, exact, average))
        for row in rows
        if wanted is None or wanted in row.exact
    ]
    return sorted(scores, key=lambda hit: (-hit[1], hit[0]))[:limit]


def named(tokens: Iterable[str]) -> str:
    """The tokens of the column `exact` for the words of a name or an alias."""
    return " ".join(f"{_NAMED}{token}" for token in tokens)


def whole(role: str, text: str) -> str:
    """A token for a whole text in a role, which differs from every other token."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"__{role}_{digest.hexdigest()}"


def type_token(kind: Kind, type: str) -> str:
    """The token of a type; that of a proposition is its name, too."""
    return whole("type" if kind == "concept" else "same", type)


def table_of(kind: str) -> str:
    assert kind in KINDS, kind
    return kind


def _asked(term: str) -> _Term:
    words = segment_term(term)[:LONGEST_TERM]
    if not words:
        raise ValueError(f"The term {term[:50]!r} has no word to search for.")
    prefix = words[-1] if len(words[-1]) >= SHORTEST_PREFIX else None
    folded = folded_name(term)
    exact = {
        whole("same", term): _SAME_NAME,
        whole("name", folded): _EXACT_NAME,
        whole("alias", folded): EXACT,
    }
    return _Term(tuple(dict.fromkeys(words)), exact_token(term), prefix, exact)


# Which rows are ranked ----------------------------------------------------------------------------


def _candidates(
    connection: sqlite3.Connection, kind: Kind, asked: _Term, type: str | None, limit: int
) -> tuple[set[int], list[int]]:
    """The rows to rank, and how many of these each word matches."""
    most = max(FEWEST_CANDIDATES, CANDIDATES * limit)
    candidates: set[int] = set()

    def take(expression: str, number: int) -> int:
        of_type = "" if type is None else f" AND {_match(type_token(kind, type))}"
        ids = _ids(connection, table_of(kind), f"({expression}){of_type}", number)
        candidates.update(ids)
        return len(ids)

    words = list(map(_match, asked.words))
    take(" OR ".join(map(_match, asked.exact)), most)
    if len(words) > 1:
        take(" AND ".join(words), most)
    share = max(FEWEST_CANDIDATES, most // len(words))
    for word in asked.words:
        take(_match(_NAMED + word), share)
    matching = [take(word, share) for word in words]
    matching.append(take(_match(asked.whole), share) if asked.whole else 0)
    # To find all longer words takes time proportional to them.
    prefix = asked.prefix
    is_common = prefix is None or matching[asked.words.index(prefix)] == share
    matching.append(0 if prefix is None or is_common else take(_longer(prefix), share))
    return candidates, matching


def _ids(connection: sqlite3.Connection, table: str, expression: str, most: int) -> set[int]:
    statement = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?"
    return {id for (id,) in connection.execute(statement, (expression, most))}


def _match(token: str) -> str:
    """The MATCH expression of any token, as an FTS5 string; empty for none."""
    return '"' + token.replace('"', '""') + '"' if token else ""


def _longer(prefix: str) -> str:
    """The MATCH expression of the words that begin with another one."""
    return f"{_match(prefix)} *"


# Scores -------------------------------------------------------------------------------------------


def _rows(
    connection: sqlite3.Connection, table: str, ids: Collection[int], asked: _Term
) -> list[_Row]:
    columns = ", ".join(f"c{number}" for number in range(len(WEIGHTS)))
    statement = (
        f"SELECT key, {columns} FROM element JOIN {table}_content USING (id) "
        f"WHERE id IN ({', '.join('?' * len(ids))})"
    )
    # The column `exact` neither begins nor ends with the token for the whole term.
    words = [(n, word.encode(), f" {word} ".encode()) for n, word in enumerate(asked.words)]
    whole, prefix = f" {asked.whole} ".encode(), asked.prefix and asked.prefix.encode()
    exact_weight, *weights = WEIGHTS.values()
    rows = []
    for key, exact, *texts in connection.execute(statement, tuple(ids)):
        counts = [0.0] * (len(words) + 2)
        length = 0
        for weight, text in zip(weights, texts, strict=True):
            if not text:
                continue
            length += text.count(b" ") + 1
            apart = b""
            for number, word, own in words:
                if word in text:
                    apart = apart or _apart(text)
                    counts[number] += weight * apart.count(own)
            if prefix and prefix in text:
                counts[-1] += weight * (apart or _apart(text)).count(b" " + prefix)
        if whole in exact:
            counts[-2] = exact_weight
        rows.append(_Row(key, exact, counts, length))
    return rows


def _apart(text: bytes) -> bytes:
    """The words of a text with two blanks between them: each word has its own two."""
    return b" %b " % text.replace(b" ", b"  ")


def _score(
    row: _Row, factors: Sequence[float], exact: Sequence[tuple[bytes, float]], average: float
) -> float:
    """BM25 of the words, with what an exact name adds, as a number from 0 to 1."""
    norm = _K1 * (1 - _B + _B * row.length / average)
    score = 0.0
    for factor, count in zip(factors, row.counts, strict=True):
        if count:
            score += factor * count * (_K1 + 1) / (count + norm)
    for token, value in exact:
        if token in row.exact:
            score += value
    return score / (1 + score)


def _rarity(total: int, matching: int) -> float:
    """The inverse document frequency, which is positive for a word of every row, too."""
    return math.log1p(max(0.0, total - matching + 0.5) / (matching + 0.5))


def _statistics(connection: sqlite3.Connection, table: str) -> tuple[int, float]:
    """The number of rows, and of the tokens of a row on average, from FTS5's own record."""
    record = connection.execute(f"SELECT block FROM {table}_data WHERE id = 1").fetchone()
    numbers, number = [], 0
    for byte in record[0] if record else b"":
        number = number << 7 | byte & 127
        if byte < 128:
            numbers.append(number)
            number = 0
    rows, _, *tokens = numbers or [0, 0]
    return rows, max(1.0, sum(tokens) / max(1, rows))
