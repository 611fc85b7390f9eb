"""kiprdf: a knowledge store for AI agents that speaks KIP and lives in RDF."""

from kiprdf.errors import KipError
from kiprdf.language import parse, to_text

__all__ = ["KipError", "parse", "to_text"]
