"""The KIP error codes as data, and the one exception a KIP mistake raises (KIP Appendix 4)."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from kiprdf.dataclasses import dataclass
from kiprdf.loading import Lazy
from kiprdf.source import NOWHERE, Span, excerpt, position

if TYPE_CHECKING:
    import difflib
    from types import TracebackType
else:
    difflib = Lazy("difflib")

_WORDS = re.compile(r"[^\W_]+")


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
            "An identifier is required, and the name is not one.",
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
            "A value does not have the JSON type that the schema requires.",
            "Read the instance_schema with DESCRIBE CONCEPT TYPE.",
        ),
        ErrorCode(
            "KIP_3001",
            "ReferenceError",
            "A variable or handle is used before it is defined.",
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
            "Two elements have the identity of one.",
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
            "The element does not have the version of EXPECT VERSION.",
            "Read it again, apply the change to its current state, and send that version.",
        ),
        ErrorCode(
            "KIP_4001",
            "ExecutionTimeout",
            "The command took longer than its time budget.",
            "Anchor the pattern at a named concept, shorten hop ranges, or lower LIMIT; "
            "send a large UPSERT in parts.",
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


class _Located:
    """A message with its ``span`` in ``source``, the text of the command."""

    message: str
    span: Span
    source: str | None

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, counted from 1; None without a place in a text."""
        if self.source is None or self.span == NOWHERE:
            return None
        return position(self.source, self.span.start)

    @property
    def located_message(self) -> str:
        """The message, preceded by ``line:column``."""
        place = self.position
        return f"{place[0]}:{place[1]} {self.message}" if place else self.message

    @property
    def excerpt(self) -> str | None:
        """The line of the place with carets under it."""
        if self.source is None or self.span == NOWHERE:
            return None
        return excerpt(self.source, self.span)


class KipError(_Located, Exception):
    """A mistake in a KIP command, with everything needed to correct it.

    ``code`` and ``name`` are from the table above, ``message`` says what is wrong, ``hint``
    what to do next. ``span`` is the place in ``source``, the text of the command. ``expected`` is
    what the syntax requires at that place; ``parse`` asks ``kiprdf.advice`` for the hint then.

    >>> error = KipError("KIP_2001", "Concept type 'drug' is not defined.", "Did you mean 'Drug'?")
    >>> print(error)
    KIP_2001 Concept type 'drug' is not defined. Hint: Did you mean 'Drug'?
    """

    breaks_shape = False
    """Whether a write was refused since it does not satisfy a shape of the nexus."""

    definition: str | None = None
    """The statement that defines what is not defined, where the hint names others instead."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        span: Span = NOWHERE,
        source: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.code = code
        self.name = ERROR_CODES[code].name
        self.message = message
        self.hint = hint if hint is not None else ERROR_CODES[code].recovery
        self.span = span
        self.source = source
        self.expected = expected
        super().__init__(code, message)

    def in_source(self, source: str) -> KipError:
        """The same error with the text that its span refers to."""
        if self.source is None:
            self.source = source
        return self

    def __str__(self) -> str:
        return f"{self.code} {self.located_message} Hint: {self.hint}"


@dataclass(frozen=True)
class KipWarning(_Located):
    """One reason for an empty answer (docs/decisions/053), or for an incomplete one (023).

    ``name`` is the kind of reason, ``message`` says what it is, ``hint``, where there is one, what
    to write instead. ``span`` is the place in ``source``, the text of the command.

    >>> print(KipWarning("UnknownName", "No Drug is called 'Asprin'.", "Did you mean 'Aspirin'?"))
    No Drug is called 'Asprin'. Hint: Did you mean 'Aspirin'?
    """

    name: str
    message: str
    hint: str | None = None
    span: Span = field(default=NOWHERE, repr=False)
    source: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.located_message + (f" Hint: {self.hint}" if self.hint else "")


def clear_frames(fault: BaseException) -> None:
    """Release what the frames of an exception, and of those that led to it, still hold.

    Among that are the engine, and with it the folder, and iterators of the engine: one that ends on
    another thread than the one that made it keeps the folder open for ever.
    """
    remaining: list[BaseException | None] = [fault]
    seen = set()
    while remaining:
        one = remaining.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            _clear(one.__traceback__)
            remaining += one.__cause__, one.__context__


def _clear(traceback: TracebackType | None) -> None:
    while traceback is not None:
        with suppress(RuntimeError):  # a frame that still runs
            traceback.tb_frame.clear()
        traceback = traceback.tb_next


class StoreError(Exception):
    """A store that cannot be opened, read or written; the message is one clear sentence.

    ``hint`` is what helps where a command meets it.
    """

    hint = "Check the disk, and try again."


class ClosedError(StoreError):
    """The nexus was closed before."""

    hint = "Open or connect the nexus again."

    def __init__(self) -> None:
        super().__init__("The nexus is closed.")


class LockedError(StoreError):
    """Another process has the folder of a nexus open; ``where`` says so without a way out."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.where = f"Another process has the nexus in {folder} open: close it there"
        super().__init__(f"{self.where}, or open it with read_only=True.")


class DamagedGraphError(StoreError):
    """The files of a graph are damaged or missing; its journal may have all of it."""

    hint = "Close the nexus everywhere, then repair it: kiprdf check --repair --nexus FOLDER"


class DamagedManifestError(StoreError):
    """The manifest of a folder is damaged; ``kiprdf check --repair`` writes it again."""


class UnsyncedError(StoreError):
    """The nexus has what was written, and the disk may not have it."""

    hint = "Open the nexus again to see whether it is there."


class ReplacedError(StoreError):
    """Another process has replaced the files that this one reads; opening again shows them."""

    hint = "Open the nexus again."


def without_folder(text: str, folder: Path | None) -> str:
    """A message for others, which shows names of files in a folder, but not where that is.

    >>> without_folder("While appending to file: /srv/brain/graph/000008.log", Path("/srv/brain"))
    'While appending to file: graph/000008.log'
    """
    if folder is None:
        return text
    return text.replace(f"{folder}{os.sep}", "").replace(str(folder), "the folder")


def nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names most similar to a mistyped one, ignoring case and width.

    If one differs only in these: it, and those that contain it. If none is similar: those that
    have all words of it.

    >>> nearest("drug", ["Drug", "Domain", "Symptom"])
    ['Drug']
    >>> nearest("risk", ["form", "risk_level"])
    ['risk_level']
    >>> nearest("Basil", ["Skill"])
    []
    """
    by_folded: dict[str, list[str]] = {}
    for candidate in sorted(names):
        by_folded.setdefault(_folded(candidate), []).append(candidate)
    folded = _folded(name)
    matches = difflib.get_close_matches(folded, by_folded, n=most, cutoff=0.61)
    if folded in by_folded:
        matches = [match for match in matches if folded in match]
    if not matches:
        words = set(_WORDS.findall(folded))
        matches = [name for name in by_folded if words and words.issubset(_WORDS.findall(name))]
    return [candidate for match in matches for candidate in by_folded[match]][:most]


def encodable(text: str) -> str:
    """A text whose lone surrogates are escapes: JSON can hold them, and no encoding."""
    return text.encode("utf-8", "backslashreplace").decode()


def shown(text: str, most: int = 60) -> str:
    """A string of the user for a message; a long one is cut.

    >>> shown("x" * 100, most=5)
    'xxxxx…'
    """
    return text if len(text) <= most else text[:most] + "…"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
