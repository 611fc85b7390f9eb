"""The index behind SEARCH, by words and by meaning.

Rows are keyed by strings and replaced by key; nothing here knows a graph, and everything can
always be made again. Words are found whatever their case, accents, width or script; meanings are
compared as the vectors that an embedder makes of texts, and need numpy (`semantic`, `vectors`).
rows, files, segment, index, embedders, vectors, semantic, fusion.
"""

from kiprdf.search.embedders import Embedder, EmbeddingError
from kiprdf.search.fusion import fuse
from kiprdf.search.index import Entries, TextIndex, known_commit
from kiprdf.search.rows import Hit, IndexRow, Kind
from kiprdf.search.segment import segment_term

__all__ = [
    "Embedder",
    "EmbeddingError",
    "Entries",
    "Hit",
    "IndexRow",
    "Kind",
    "TextIndex",
    "fuse",
    "known_commit",
    "segment_term",
]
