"""Page tokens: opaque to the caller, bound to the command they came from."""

from __future__ import annotations

import binascii
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kiprdf.errors import KipError
from kiprdf.language import ast, to_text
from kiprdf.language.parameters import to_json
from kiprdf.loading import Lazy
from kiprdf.semantics.arguments import MOST_ROWS

if TYPE_CHECKING:
    import base64
else:
    base64 = Lazy("base64")


Paged: TypeAlias = ast.Find | ast.DescribeDomains | ast.DescribeTypes | ast.Search | ast.Export
_FORMAT = 1


def digest(command: Paged, view: str = "") -> str:
    """Names a bound command and its view, its page size and cursor set aside."""
    text = view + to_text(replace(command, limit=None, cursor=None))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode(command: Paged, commit: int, offset: int, view: str = "") -> str:
    """The token of the page that begins at an offset, of all or of a ``view``."""
    content = json.dumps([_FORMAT, digest(command, view), commit, offset], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode(command: Paged, view: str = "") -> int:
    """The offset in the cursor of a command; 0 without a cursor.

    Raises KIP_1001 for a malformed token, and for a token of another command.
    """
    if command.cursor is None:
        return 0
    token = str(to_json(command.cursor))
    span = command.cursor.span
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        content = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        number, name, _, offset = content
        if number != _FORMAT or type(offset) is not int or not 0 <= offset <= MOST_ROWS:
            raise ValueError
    except (ValueError, TypeError, binascii.Error, RecursionError):
        hint = "Send next_cursor of the previous page unchanged, or leave CURSOR out."
        raise KipError(
            "KIP_1001", "This cursor is not valid for this command.", hint, span
        ) from None
    if name != digest(command, view):
        hint = "Send a cursor with the command, parameters, view and entail of the previous page."
        message = "The cursor belongs to another command."
        raise KipError("KIP_1001", message, hint, span)
    return int(offset)
