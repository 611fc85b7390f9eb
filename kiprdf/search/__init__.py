"""The text index behind SEARCH. A word finds a row whatever its case, accents, width or script.

Rows are keyed by strings and replaced by key; the index knows no graph and can always be rebuilt.
segment, index.
"""

from kiprdf.search.index import Hit, IndexRow, Kind, TextIndex

__all__ = ["Hit", "IndexRow", "Kind", "TextIndex"]
