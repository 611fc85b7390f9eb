"""kiprdf: a knowledge store for AI agents that speaks KIP and lives in RDF.

>>> import kiprdf
>>> with kiprdf.Nexus.memory() as nexus:
...     nexus.execute("DESCRIBE DOMAINS")
['Archived', 'CoreSchema', 'System', 'Unsorted']
"""

from typing import TYPE_CHECKING, Any

from kiprdf.budget import Budget
from kiprdf.errors import KipError, StoreError
from kiprdf.language import parse, to_text
from kiprdf.nexus import Nexus
from kiprdf.rows import Rows
from kiprdf.search import Embedder

if TYPE_CHECKING:
    from kiprdf.protocol import function_schemas

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


def __getattr__(name: str) -> Any:
    """``function_schemas`` and pydantic are imported on first use (PEP 562)."""
    if name != "function_schemas":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kiprdf.protocol import function_schemas

    return function_schemas


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
