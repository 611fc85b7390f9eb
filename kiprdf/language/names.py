"""Keywords, identifiers, keys and concept names (KIP 2.8)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import get_args

from kiprdf.language import ast, limits

META_TYPES = ("$ConceptType", "$PropositionType")
DERIVED_FROM = "derived_from"
"""The predicate from a conclusion to what it was drawn from."""
DERIVED_BY = "derived_by"
"""The metadata key that names the rule of a conclusion."""

KEYWORDS = frozenset(
    (
        *("FIND", "WHERE", "FILTER", "NOT", "OPTIONAL", "UNION", "ORDER", "BY", "ASC", "DESC"),
        *("LIMIT", "CURSOR", "DISTINCT", "IN", "IS_NULL", "IS_NOT_NULL"),
        *get_args(ast.AggregateFunction),
        *get_args(ast.StringFunction),
        *("UPSERT", "CONCEPT", "PROPOSITION", "SET", "ATTRIBUTES", "PROPOSITIONS", "WITH"),
        *("METADATA", "EXPECT", "VERSION", "DELETE", "FROM", "DETACH", "UPDATE", "MERGE", "INTO"),
        *get_args(ast.NumberFunction),
        *("DESCRIBE", "PRIMER", "DOMAINS", "TYPES", "TYPE", "SEARCH", "MODE", "THRESHOLD"),
        "EXPORT",
    )
)

IDENTIFIER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# All characters that show nothing but space: Unicode's, and three that have no width.
_BLANKS = (
    " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff"
)


def is_identifier(text: str) -> bool:
    """
    >>> is_identifier("risk_level"), is_identifier("1st"), is_identifier("$self")
    (True, False, False)
    """
    return IDENTIFIER.fullmatch(text) is not None


# The keys of a nexus are few, and each write has some of them.
_is_identifier = lru_cache(maxsize=1_024)(is_identifier)


def is_definition_name(meta_type: str, text: str) -> bool:
    """Whether a definition can have this name: an identifier, or for types a meta-type.

    >>> is_definition_name("$ConceptType", "Drug"), is_definition_name("$PropositionType", "$x")
    (True, False)
    """
    return is_identifier(text) or (meta_type == "$ConceptType" and text in META_TYPES)


def is_key(text: str) -> bool:
    """An attribute or metadata key: an identifier of at most 128 characters."""
    return len(text) <= limits.KEY_CHARACTERS and _is_identifier(text)


def name_fault(text: str) -> str | None:
    """Why a string cannot be the name of a concept, or None if it can.

    >>> name_fault("Aspirin")
    >>> name_fault("")
    'is empty'
    """
    if not text:
        return "is empty"
    if len(text) > limits.NAME_CHARACTERS:
        return f"has {len(text)} characters; {limits.NAME_CHARACTERS} are allowed"
    if text in (".", ".."):
        return "is a relative path segment"
    if not text.isprintable() and any(
        unicodedata.category(character) in ("Cc", "Cs") for character in text
    ):
        return "contains a control character or a lone surrogate"
    return None


def without_outer_blanks(text: str) -> str:
    """A name as a new concept may have it: nobody sees blanks around it.

    >>> without_outer_blanks(" Aspirin\u200b"), without_outer_blanks("Ada  Lovelace")
    ('Aspirin', 'Ada  Lovelace')
    """
    return text.strip(_BLANKS)
