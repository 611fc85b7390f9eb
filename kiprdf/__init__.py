"""kiprdf: a knowledge store for AI agents that speaks KIP and lives in RDF.

>>> import kiprdf
>>> with kiprdf.Nexus.memory() as nexus:
...     nexus.execute("DESCRIBE DOMAINS")
['Archived', 'CoreSchema', 'System', 'Unsorted']
"""

from kiprdf.budget import Budget
from kiprdf.errors import KipError, StoreError
from kiprdf.language import parse, to_text
from kiprdf.nexus import Nexus
from kiprdf.protocol import function_schemas
from kiprdf.rows import Rows
from kiprdf.search import Embedder

__all__ = [
    "Budget",
    "Embedder",
    "KipError",
    "Nexus",
    "Rows",
    "StoreError",
    "function_schemas",
    "parse",
    "to_text",
]
__version__ = "0.1.0"
