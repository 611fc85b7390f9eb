"""Reads signed documents of others as JSON-LD, and refuses those that say more than is signed.

JSON-LD leaves out what it does not understand: keys without a meaning, relative and broken IRIs,
nulls. A signature does not cover that. So each value of the document must be a quad of it, and
what would be counted otherwise (indexes, maps, keywords under other names) is refused by name.
"""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import Literal, Quad

from kiprdf.errors import KipError, shown
from kiprdf.given_json import unique
from kiprdf.interchange.formats import parsing
from kiprdf.interchange.formats.plain_jsonld import listed
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import written
from kiprdf.signing import layout
from kiprdf.signing.canonical import canonical_lines

LARGEST = 50_000_000
"""How many characters a document of others has at most."""
STATEMENTS = 1_000_000
"""How many statements it has at most; reading them takes half a minute, and 1 GB."""
_ALIASES = {"id": "@id", "type": "@type"}
_OF_PROOFS = {name: f"https://w3id.org/security#{name}" for name in ("proof", "DataIntegrityProof")}
"""Terms of ``layout.CONTEXT`` that have a context of themselves: only the document has them."""
# Without scoped contexts and @propagate: Oxigraph reads them otherwise.
_SETTINGS = frozenset(("@version", "@vocab", "@base", "@language", "@protected"))
_DEFINITION = frozenset(
    ("@id", "@type", "@language", "@container", "@protected", "@prefix", "@reverse")
)
_OF_VALUE = frozenset(("@value", "@type", "type", "@language", "@direction"))


class Unreadable(Exception):
    """Why a document cannot be verified, as a sentence."""


def read(text: str) -> tuple[list[str], Any]:
    """The canonical lines and the proof of a document; ``Unreadable`` for what is not signed."""
    if len(text) > LARGEST:
        raise Unreadable(f"The document has more than {LARGEST:,} characters, in another layout.")
    try:
        document = json.loads(text, object_pairs_hook=unique, parse_constant=_constant)
        if not isinstance(document, dict):
            raise Unreadable("The document is not one object of JSON.")
        if "proof" not in document:
            raise Unreadable("The document has no proof.")
        proof = document.pop("proof")
        if layout.CONTEXT not in listed(document.get("@context")):
            raise Unreadable(f"The document does not name the context {layout.CONTEXT}.")
        count = _statements(document, is_needed=True)
        if count > STATEMENTS:
            message = f"The document has more than {STATEMENTS:,} statements, in another layout."
            raise Unreadable(message)
        quads = list(parsing.quads(json.dumps(_inlined(document)), "jsonld"))
    except (ValueError, RecursionError) as fault:
        raise Unreadable(f"The document is not valid JSON: {fault}.") from None
    except KipError as fault:
        raise Unreadable(fault.message) from None
    if len(quads) != count:
        missing = "a key without a meaning in its contexts, or a relative or broken IRI"
        raise Unreadable(f"The document has what JSON-LD leaves out and nobody signs: {missing}.")
    try:
        return canonical_lines(map(_as_signed, quads)), proof
    except KipError as fault:
        raise Unreadable(fault.message) from None


def _constant(name: str) -> None:
    raise ValueError(f"it has the number {name}")


def _as_signed(quad: Quad) -> Quad:
    """A quad as JavaScript's library writes it: doubles in 16 digits, directions as datatypes."""
    value = quad.object
    if not isinstance(value, Literal):
        return quad
    value = written(value, directions=False) if value.direction else value
    if value.datatype == vocab.DOUBLE and (forms := layout.double(value.value)):
        value = Literal(forms[1], datatype=vocab.DOUBLE)
    return Quad(quad.subject, quad.predicate, value, quad.graph_name)


# Contexts -------------------------------------------------------------------------------------


def _inlined(value: Any) -> Any:
    """A part of a document with its contexts checked, and without the URL of ``layout.CONTEXT``."""
    if isinstance(value, list):
        return [_inlined(item) for item in value]
    if not isinstance(value, dict) or "@value" in value:
        return value
    return {k: _context(v) if k == "@context" else _inlined(v) for k, v in value.items()}


def _context(context: Any) -> Any:
    if isinstance(context, list):
        return [_context(part) for part in context]
    if context == layout.CONTEXT:
        return {"@protected": True, **_ALIASES, **_OF_PROOFS}
    if isinstance(context, str):
        raise Unreadable(f"The context {shown(context)} is not fetched to verify a document.")
    if not isinstance(context, dict):
        raise Unreadable("A context of the document is null: it would leave out what follows.")
    return {term: _definition(term, one) for term, one in context.items()}


def _definition(term: str, definition: Any) -> Any:
    """The definition of a term, or a setting of a context; ``Unreadable`` where values vanish."""
    if term.startswith("@"):
        is_plain = term in _SETTINGS and (definition is not None or term == "@language")
        target = None
    elif isinstance(definition, dict):
        containers = listed(definition.get("@container", "@set"))
        is_plain = definition.keys() <= _DEFINITION and containers == ["@set"]
        target = definition.get("@id", definition.get("@reverse", term))
    else:
        is_plain, target = isinstance(definition, str), definition
    is_keyword = isinstance(target, str) and target.startswith("@")
    if term in _ALIASES or is_keyword:
        is_plain = is_plain and _ALIASES.get(term) == target
    if not is_plain or term in _OF_PROOFS or (not term.startswith("@") and target is None):
        raise Unreadable(f"The context defines {shown(repr(term))} in a way that is not verified.")
    return definition


# Counting -------------------------------------------------------------------------------------


def _statements(node: Any, *, is_needed: bool = False) -> int:
    """The number of quads that a node object stands for.

    One that ``is_needed`` has no other place where its id is said.
    """
    if not isinstance(node, dict) or node.keys() & {"@value", "@list", "@set"}:
        raise Unreadable("The document has a value where only a node can be.")
    count = 0
    types = [*listed(node.get("type")), *listed(node.get("@type"))]
    reverse = node.get("@reverse")
    used = {*node, *_keys(reverse), *(one for one in types if isinstance(one, str))}
    if not used.isdisjoint(_OF_PROOFS):
        raise Unreadable("The document has a proof in another place than its own.")
    for key, value in node.items():
        if key in ("@id", "id", "@context"):
            continue
        if key in ("@type", "type"):
            count += _some(value)
        elif key == "@graph":
            count += sum(_statements(item, is_needed=True) for item in listed(value))
        elif key == "@reverse" and isinstance(value, dict):
            count += sum(map(_values, value.values()))
        elif key == "" or (key.startswith("@") and key != "@included"):
            raise Unreadable(f"The document has the key {shown(repr(key))}, which is not verified.")
        elif key != "@included":
            count += _values(value)
    included = listed(node.get("@included", []))
    if is_needed and not count and (not included or node.keys() & {"@id", "id"}):
        raise Unreadable("The document has a node of which it says nothing.")
    return count + sum(_statements(item, is_needed=True) for item in included)


def _values(value: Any) -> int:
    """The number of quads that the values of a key stand for."""
    if isinstance(value, list):
        return _some(value) and sum(map(_values, value))
    if value is None:
        raise Unreadable("The document has a null, which JSON-LD leaves out.")
    if not isinstance(value, dict):
        return 1
    if "@value" in value:
        is_directed = "@direction" in value and "@language" not in value
        if not value.keys() <= _OF_VALUE or value["@value"] is None or is_directed:
            raise Unreadable("The document has a value with more than is verified.")
        return 1
    for keyword in ("@list", "@set"):
        if keyword in value:
            if len(value) > 1:
                raise Unreadable(f"The document has a {keyword} with more than is verified.")
            items = listed(value[keyword])
            is_list = keyword == "@list"
            if is_list and any(isinstance(item, list) or "@set" in _keys(item) for item in items):
                # Oxigraph reads the items of both as items of the outer list.
                raise Unreadable("The document has a list of arrays.")
            return sum(_values(item) + is_list for item in items) + is_list
    return 1 + _statements(value)


def _keys(value: Any) -> Any:
    return value if isinstance(value, dict) else ()


def _some(value: Any) -> int:
    """The number of values, of which there must be one."""
    values = listed(value)
    if not values:
        raise Unreadable("The document has an empty array, which JSON-LD leaves out.")
    return len(values)
