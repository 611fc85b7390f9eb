"""The KIP error codes as data, and the one exception a KIP mistake raises (KIP Appendix 4)."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from kiprdf.source import NOWHERE, Span, excerpt, position


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the error table: the code, its name, what it means, how an agent recovers."""

    code: str
    name: str
    meaning: str
    recovery: str


ERROR_CODES: dict[str, ErrorCode] = {
    row.code: row
    for row in (
        ErrorCode(
            "KIP_1001",
            "InvalidSyntax",
            "The text, a placeholder, a cursor or the request does not have the required form.",
            "Compare the command with the syntax at the reported position.",
        ),
        ErrorCode(
            "KIP_1002",
            "InvalidIdentifier",
            "A name stands where an identifier is required, and is none.",
            "Identifiers match [a-zA-Z_][a-zA-Z0-9_]*.",
        ),
        ErrorCode(
            "KIP_2001",
            "TypeMismatch",
            "A concept type or predicate is not registered.",
            "List what is registered with DESCRIBE CONCEPT TYPES or DESCRIBE PROPOSITION TYPES; "
            "names are case-sensitive.",
        ),
        ErrorCode(
            "KIP_2002",
            "ConstraintViolation",
            "A write breaks a constraint of the schema or of the engine.",
            "Read the definition with DESCRIBE CONCEPT TYPE or DESCRIBE PROPOSITION TYPE.",
        ),
        ErrorCode(
            "KIP_2003",
            "InvalidValueType",
            "A value has another JSON type than the schema asks for.",
            "Read the instance_schema with DESCRIBE CONCEPT TYPE.",
        ),
        ErrorCode(
            "KIP_3001",
            "ReferenceError",
            "A variable or handle is used that nothing before it defines.",
            "Bind the variable in a clause, or define the handle in a block, before its use.",
        ),
        ErrorCode(
            "KIP_3002",
            "NotFound",
            "An element named by its exact identity does not exist.",
            "Look for it with SEARCH, or create it first.",
        ),
        ErrorCode(
            "KIP_3003",
            "DuplicateExists",
            "Two elements claim what one may have.",
            "Name the one that is meant by its exact identity.",
        ),
        ErrorCode(
            "KIP_3004",
            "ImmutableTarget",
            "The target is protected by the system.",
            "Leave meta-types, core domains, system actors and their core_directives as they are.",
        ),
        ErrorCode(
            "KIP_3005",
            "VersionConflict",
            "The element has another version than EXPECT VERSION says.",
            "Read it again, redo the change on what it is now, and send that version.",
        ),
        ErrorCode(
            "KIP_4001",
            "ExecutionTimeout",
            "The command took longer than its time budget.",
            "Anchor the pattern at a named concept, shorten hop ranges, or lower LIMIT.",
        ),
        ErrorCode(
            "KIP_4002",
            "ResourceExhausted",
            "The command is beyond a size budget.",
            "Split the command, or page through the result with LIMIT and CURSOR.",
        ),
        ErrorCode(
            "KIP_4003",
            "InternalError",
            "The engine failed; the store is unchanged.",
            "Try again; if it persists, report the logged traceback.",
        ),
    )
}


class KipError(Exception):
    """A mistake in a KIP command, with everything needed to repair it.

    ``code`` and ``name`` are from the table above, ``message`` says what is wrong, ``hint``
    what to do next. ``span`` tells where in ``source``, once the command text is known.

    >>> error = KipError("KIP_2001", "Concept type 'drug' is not defined.", "Did you mean 'Drug'?")
    >>> print(error)
    KIP_2001 Concept type 'drug' is not defined. Hint: Did you mean 'Drug'?
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        span: Span = NOWHERE,
        source: str | None = None,
    ) -> None:
        self.code = code
        self.name = ERROR_CODES[code].name
        self.message = message
        self.hint = hint if hint is not None else ERROR_CODES[code].recovery
        self.span = span
        self.source = source
        super().__init__(code, message)

    def in_source(self, source: str) -> KipError:
        """The same error, knowing the text that its span points into."""
        if self.source is None:
            self.source = source
        return self

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, counted from 1, or None when the error has no place in a text."""
        if self.source is None or self.span == NOWHERE:
            return None
        return position(self.source, self.span.start)

    @property
    def located_message(self) -> str:
        """The message behind its ``line:column``."""
        place = self.position
        return f"{place[0]}:{place[1]} {self.message}" if place else self.message

    @property
    def excerpt(self) -> str | None:
        """The offending line with carets under the offending part."""
        if self.source is None or self.span == NOWHERE:
            return None
        return excerpt(self.source, self.span)

    def __str__(self) -> str:
        return f"{self.code} {self.located_message} Hint: {self.hint}"


class StoreError(Exception):
    """A store that cannot be opened, read or written; the message is one clear sentence."""


class ForkedLogError(StoreError):
    """A log that a process and a fork of it have both written; ``kiprdf check`` repairs it."""


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that look most like a mistyped one, case and width set aside.

    >>> nearest("drug", ["Drug", "Domain", "Symptom"])
    ['Drug']
    """
    by_folded: dict[str, list[str]] = {}
    for candidate in sorted(known):
        by_folded.setdefault(_folded(candidate), []).append(candidate)
    matches = difflib.get_close_matches(_folded(name), by_folded, n=most, cutoff=0.6)
    return [candidate for match in matches for candidate in by_folded[match]][:most]


def shown(text: str, most: int = 60) -> str:
    """A text of the user in a message: the beginning of a long one.

    >>> shown("x" * 100, most=5)
    'xxxxx…'
    """
    return text if len(text) <= most else text[:most] + "…"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
