"""The index behind SEARCH, by words and by meaning.

Rows are keyed by strings and replaced by key. Nothing here depends on a graph, and everything can
be rebuilt. Words match in any case, accents, width and script. Meanings are compared as
vectors, which an embedder computes from texts, and need numpy (`semantic`, `vectors`).
Modules: rows, segment, words, dates, ranking, index, embedders, vectors, semantic, fusion.
"""

from kiprdf.search.embedders import Embedder
from kiprdf.search.fusion import add_scores, means
from kiprdf.search.index import INDEX_FILE, TextIndex
from kiprdf.search.ranking import EXACT, NoWordError
from kiprdf.search.rows import Hit, IndexRow, Kind
from kiprdf.search.words import asked_tokens, matches, tokens_of

__all__ = ["EXACT", "INDEX_FILE", "Embedder", "Hit", "IndexRow", "Kind", "NoWordError", "TextIndex"]
__all__ += ["add_scores", "asked_tokens", "matches", "means", "tokens_of"]
