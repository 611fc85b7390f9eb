"""Strings with a direction where literals have none, as in JSON-LD 1.1 (10.2).

Their datatype names language and direction; what has such a datatype by itself is kept as JSON.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from pyoxigraph import Literal, NamedNode

from kiprdf.rdf import vocab
from kiprdf.rdf.literals import DIRECTIONS, canonical_json, normal, to_json, to_term

_I18N = "https://www.w3.org/ns/i18n#"
_DIRECTED = re.compile(re.escape(_I18N) + r"([a-z]{1,8}(?:-[a-z0-9]{1,8})*)_(ltr|rtl)")


def direction(literal: Literal) -> str:
    """``ltr`` or ``rtl``, of a literal that has a direction."""
    return str(literal.direction).rsplit(".", maxsplit=1)[-1].lower()


def as_json(literal: Literal) -> Literal:
    """A literal as the text of its JSON value, which ``read_value`` turns back into it."""
    return Literal(canonical_json(to_json(literal)), datatype=vocab.JSON)


def written(literal: Literal, directions: bool) -> Literal:
    """A literal of the store, with or without ``directions``; ``read_value`` turns it back."""
    if literal.language is not None:
        if literal.direction is None or directions:
            return literal
        datatype = NamedNode(f"{_I18N}{literal.language}_{direction(literal)}")
        return Literal(literal.value, datatype=datatype)
    return as_json(literal) if literal.datatype.value.startswith(_I18N) else literal


def read_value(literal: Literal) -> Literal | NamedNode:
    """A literal as KIP writes it and the store holds it, written in either profile.

    An ``rdf:JSON`` text of what is no array or object stands for the term of that value."""
    datatype = literal.datatype
    if datatype == vocab.STRING:
        return literal
    if datatype == vocab.JSON:
        text = literal.value
        if text.startswith('"') or (text.startswith("{") and '"@value"' in text):
            with suppress(ValueError, RecursionError):
                return to_term(json.loads(text))
    elif match := _DIRECTED.fullmatch(datatype.value):
        language, towards = match.groups()
        return Literal(literal.value, language=language, direction=DIRECTIONS[towards])
    return normal(literal)
