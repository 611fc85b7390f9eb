"""The index behind SEARCH, by words and by meaning.

Rows are keyed by strings and replaced by key. Nothing here depends on a graph, and everything can
be rebuilt. Words match in any case, accents, width and script. Meanings are compared as
vectors, which an embedder computes from texts, and need numpy (`semantic`, `vectors`).
Modules: rows, segment, words, index, embedders, vectors, semantic, fusion.
"""

from kiprdf.search.embedders import Embedder, EmbeddingError
from kiprdf.search.fusion import fuse
from kiprdf.search.index import (
    INDEX_FILE,
    Entries,
    TextIndex,
    batches,
    commit_of_file,
    count_embedded,
    is_exact,
    overtaken,
)
from kiprdf.search.ranking import LONGEST_TERM, NoWordError, RankedHits
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind
from kiprdf.search.words import asked_tokens, matches

__all__ = [
    "INDEX_FILE",
    "KINDS",
    "LONGEST_TERM",
    "Embedder",
    "EmbeddingError",
    "Entries",
    "Hit",
    "IndexRow",
    "Kind",
    "NoWordError",
    "RankedHits",
    "TextIndex",
    "asked_tokens",
    "batches",
    "commit_of_file",
    "count_embedded",
    "fuse",
    "is_exact",
    "matches",
    "overtaken",
]
