"""kiprdf: a knowledge store for AI agents that speaks KIP and stores RDF.

>>> import kiprdf
>>> with kiprdf.Nexus.memory() as nexus:
...     nexus.execute("DESCRIBE DOMAINS")
['Archived', 'CoreSchema', 'System', 'Unsorted']
"""

import sys
from typing import TYPE_CHECKING, Any

from kiprdf.budget import Budget
from kiprdf.errors import KipError, StoreError
from kiprdf.kql.beliefs import believed
from kiprdf.kql.valid_at import valid_at
from kiprdf.language import parse, to_text
from kiprdf.loading import load
from kiprdf.nexus import Nexus
from kiprdf.rows import Rows
from kiprdf.search import Embedder

if TYPE_CHECKING:
    from kiprdf import importers
    from kiprdf.async_nexus import AsyncNexus
    from kiprdf.brains import Brains, View
    from kiprdf.execution.signed_capsules import sign_capsule
    from kiprdf.execution.trust import trust
    from kiprdf.interchange.mapping.contexts import Mapping
    from kiprdf.memory.asynchronous import AsyncMemory
    from kiprdf.prompt import instructions
    from kiprdf.protocol import function_schemas
    from kiprdf.signing.canonical import canonical
    from kiprdf.signing.documents import Verified, verify

__all__ = [
    "AsyncMemory",
    "AsyncNexus",
    "Brains",
    "Budget",
    "Embedder",
    "KipError",
    "Mapping",
    "Nexus",
    "Rows",
    "StoreError",
    "Verified",
    "View",
    "believed",
    "canonical",
    "function_schemas",
    "importers",
    "instructions",
    "parse",
    "sign_capsule",
    "to_text",
    "trust",
    "valid_at",
    "verify",
]
__version__ = "0.1.0"

_HOME_OF = {
    "AsyncMemory": "kiprdf.memory.asynchronous",
    "AsyncNexus": "kiprdf.async_nexus",
    "Brains": "kiprdf.brains",
    "View": "kiprdf.brains",
    "Mapping": "kiprdf.interchange.mapping.contexts",
    "sign_capsule": "kiprdf.execution.signed_capsules",
    "trust": "kiprdf.execution.trust",
    "function_schemas": "kiprdf.protocol",
    "instructions": "kiprdf.prompt",
    "canonical": "kiprdf.signing.canonical",
    "Verified": "kiprdf.signing.documents",
    "verify": "kiprdf.signing.documents",
}
_MODULES = ("importers", "mcp", "serve")


def __getattr__(name: str) -> Any:
    """Import what needs asyncio, pydantic, mappings or an extra on first use (PEP 562)."""
    home = f"kiprdf.{name}" if name in _MODULES else _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load(home)
    return sys.modules[home] if name in _MODULES else getattr(sys.modules[home], name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__version__"})
