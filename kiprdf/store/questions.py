"""The questions that people saved under a name, in a file of the folder (docs/decisions/227)."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from kiprdf.errors import KipError, StoreError
from kiprdf.store.journal_files import replace_file

Question = dict[str, str]
FILE = "questions.json"
KEYS = ("name", "command", "by", "at")
MOST = 200
"""The questions of a nexus."""
MOST_CHARACTERS = {"name": 100, "command": 20_000}


class Questions:
    """Questions in the order in which they were saved; ``folder`` is None for a nexus without one.

    Whoever changes them holds the writer's lock of the nexus.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self._kept: list[Question] = []

    def all(self) -> list[Question]:
        """Every question, with its name, command, author and time."""
        if self._path is not None:
            try:
                self._kept = _read(self._path.read_bytes())
            except FileNotFoundError:
                self._kept = []
        return list(self._kept)

    def save(self, question: Question) -> None:
        """Keep a question under a name that no other has; raises ``KipError``."""
        kept = self.all()
        for key, most in MOST_CHARACTERS.items():
            if not question[key].strip():
                raise KipError("KIP_1001", f"A question has a {key}.", f"Give it a {key}.")
            if len(question[key]) > most:
                message = f"The {key} of a question has at most {most:,} characters."
                raise KipError("KIP_4002", message, "Shorten it.")
        if question["name"] in {one["name"] for one in kept}:
            message = f"A question is called {question['name']!r} already."
            raise KipError("KIP_1001", message, "Choose another name, or remove that one.")
        if len(kept) >= MOST:
            raise KipError("KIP_4002", f"There are {MOST} questions.", "Remove one first.")
        self._write([*kept, question])

    def remove(self, names: Collection[str]) -> None:
        """Remove questions by their names, and every byte of them in the folder."""
        kept = self.all()
        rest = [one for one in kept if one["name"] not in names]
        if len(rest) < len(kept):
            self._write(rest)
        elif self._path is not None:
            # What a save left that could not end.
            self._path.with_name(f"{FILE}.partial").unlink(missing_ok=True)

    def _write(self, questions: list[Question]) -> None:
        if self._path is not None:
            try:
                replace_file(self._path, [json.dumps(questions, indent=1).encode("ascii")])
            except OSError as fault:
                raise StoreError(f"{self._path} cannot be written: {fault.strerror}.") from None
        self._kept = questions


def _read(data: bytes) -> list[Question]:
    try:
        questions = json.loads(data)
        kept = [{key: one[key] for key in KEYS} for one in questions]
    except (ValueError, TypeError, KeyError, RecursionError):
        kept = None
    if kept is None or not all(isinstance(text, str) for one in kept for text in one.values()):
        raise StoreError(f"{FILE} is damaged: remove it.")
    return kept
