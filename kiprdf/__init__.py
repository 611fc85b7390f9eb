"""kiprdf: a knowledge store for AI agents that speaks KIP and lives in RDF.

>>> import kiprdf
>>> with kiprdf.Nexus.memory() as nexus:
...     nexus.execute("DESCRIBE DOMAINS")
['Archived', 'CoreSchema', 'Unsorted']
"""

from kiprdf.errors import KipError, StoreError
from kiprdf.language import parse, to_text
from kiprdf.nexus import Nexus
from kiprdf.protocol import function_schemas
from kiprdf.rows import Rows

__all__ = [
    "KipError",
    "Nexus",
    "Rows",
    "StoreError",
    "function_schemas",
    "parse",
    "to_text",
]
__version__ = "0.1.0"
