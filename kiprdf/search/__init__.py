"""The index behind SEARCH, by words and by meaning.

Rows are keyed by strings and replaced by key. Nothing here depends on a graph, and everything can
be rebuilt. Words match in any case, accents, width and script. Meanings are compared as
vectors, which an embedder computes from texts, and need numpy (`semantic`, `vectors`).
Modules: rows, segment, words, index, embedders, vectors, semantic, fusion.
"""

from kiprdf.search.embedders import Embedder, EmbeddingError
from kiprdf.search.fusion import add_scores, fuse, means
from kiprdf.search.index import (
    INDEX_FILE,
    Commits,
    TextIndex,
    batches,
    characters,
    commit_of_file,
    count_embedded,
    is_exact,
    keep_vectors,
    overtaken,
)
from kiprdf.search.ranking import EXACT, LONGEST_TERM, NoWordError, RankedRows
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind
from kiprdf.search.words import asked_tokens, matches, tokens_of

__all__ = [
    "EXACT",
    "INDEX_FILE",
    "KINDS",
    "LONGEST_TERM",
    "Commits",
    "Embedder",
    "EmbeddingError",
    "Hit",
    "IndexRow",
    "Kind",
    "NoWordError",
    "RankedRows",
    "TextIndex",
    "add_scores",
    "asked_tokens",
    "batches",
    "characters",
    "commit_of_file",
    "count_embedded",
    "fuse",
    "is_exact",
    "keep_vectors",
    "matches",
    "means",
    "overtaken",
    "tokens_of",
]
