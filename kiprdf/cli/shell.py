"""The interactive shell: reads commands over several lines, answers, survives every mistake."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import kiprdf
from kiprdf.cli import answers, output
from kiprdf.cli.failures import report
from kiprdf.errors import KipError, StoreError
from kiprdf.nexus import Nexus

_HISTORY = Path("~/.kiprdf_history")
_HISTORY_LINES = 2_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[][{}()]|;')
_CONTINUING = ("ORDER", "LIMIT", "CURSOR", "WITH", "WHERE")
_HELP = """\
Type or paste a KIP command. One on a single line runs when its brackets are
closed and it misses nothing; one of several lines runs at an empty line or a ;.

  .explain FIND …   the SPARQL that a FIND becomes
  .json on|off      print the KIP response instead of tables
  .help             this text
  .quit             leave, as does Ctrl-D; Ctrl-C drops what you typed

To look around: DESCRIBE PRIMER, DESCRIBE CONCEPT TYPES, SEARCH CONCEPT "…\""""


class Shell:
    """Reads from standard input until its end, or until told to quit."""

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._json = False
        self._interactive = sys.stdin.isatty()
        self._ahead: str | None = None

    def run(self) -> None:
        """Answer one command after the other."""
        # Bytes that are no text become a KIP error of their command, not the end of the shell.
        sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        if self._interactive:
            _load_history()
            place = self._nexus.info()["folder"] or "memory"
            output.note(
                f"kiprdf {kiprdf.__version__}, nexus in {place}. .help helps, .quit leaves."
            )
        try:
            while (text := self._read()) is not None:
                if text and not self._answer(text):
                    break
        finally:
            if self._interactive:
                _save_history()

    def _read(self) -> str | None:
        """The next command or dot command; None at the end of the input."""
        lines: list[str] = []
        while True:
            try:
                line = self._line(bool(lines))
            except EOFError:
                if self._interactive:
                    print()
                return _finished(lines) if lines else None
            except KeyboardInterrupt:
                print()
                lines.clear()
                continue
            if not lines and _is_dot_command(line):
                return line.strip()
            forced = not line.strip() or _ends_command(line)
            lines.append(line)
            # Typed over several lines it may go on: WITH METADATA, ORDER BY, another UPSERT.
            waits = self._interactive and len(lines) > 1
            if forced or (not waits and is_complete("\n".join(lines)) and not self._goes_on()):
                return _finished(lines)

    def _line(self, continued: bool) -> str:
        line, self._ahead = self._ahead, None
        return input(self._prompt(continued)) if line is None else line

    def _goes_on(self) -> bool:
        """Whether the next line of a file continues a command that could end here.

        On a terminal the next line does not exist yet; a paste comes as one line.
        """
        if self._interactive:
            return False
        try:
            self._ahead = input()
        except EOFError:
            return False
        return self._ahead.strip().startswith(_CONTINUING)

    def _prompt(self, continued: bool) -> str:
        if not self._interactive:
            return ""
        return " ...> " if continued else "kip> "

    def _answer(self, text: str) -> bool:
        """Run one input; False when it says to leave."""
        try:
            if _is_dot_command(text):
                return self._dot_command(text)
            parsed = kiprdf.parse(text)
            if self._json:
                answers.show_response(self._nexus, text, {})
            else:
                answers.show_answer(self._nexus, parsed, text, {})
        except (KipError, StoreError) as fault:
            report(fault)
        except KeyboardInterrupt:
            output.note("Cancelled.")
        return True

    def _dot_command(self, text: str) -> bool:
        name, _, argument = text.removeprefix(".").partition(" ")
        argument = argument.strip()
        if name in ("quit", "exit"):
            return False
        if name == "explain" and argument:
            answers.show_plan(self._nexus, argument.rstrip(";"), {})
        elif name == "json" and argument in ("on", "off"):
            self._json = argument == "on"
        else:
            output.show_text(_HELP)
        return True


def _is_dot_command(line: str) -> bool:
    """Whether a line speaks to the shell; a few words do so without the dot."""
    return line.strip().startswith(".") or line.strip() in ("help", "quit", "exit")


def is_complete(text: str) -> bool:
    """Whether the brackets are closed, and the command misses nothing at its end.

    >>> is_complete("FIND(?d)"), is_complete('FIND(?d) WHERE { ?d {type: "Drug"} }')
    (False, True)
    """
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in ("(", "[", "{"):
            depth += 1
        elif match[0] in (")", "]", "}"):
            depth -= 1
    return depth <= 0 and not _misses_its_end(text)


def _misses_its_end(text: str) -> bool:
    """Whether the only fault of a text is that it stops too early."""
    try:
        kiprdf.parse(text)
    except KipError as fault:
        bare = re.sub(r"//[^\n]*$", "", text).rstrip()
        return fault.code == "KIP_1001" and fault.span.start >= len(bare)
    return False


def _ends_command(line: str) -> bool:
    """Whether a line ends in a semicolon outside strings and comments."""
    tokens = [match for match in _TOKEN.finditer(line) if not match[0].startswith("//")]
    return bool(tokens) and tokens[-1][0] == ";" and not _behind(line, tokens[-1].end())


def _behind(line: str, offset: int) -> str:
    return re.sub(r"//.*", "", line[offset:]).strip()


def _finished(lines: list[str]) -> str:
    """The command in some lines, without the semicolon that ended it."""
    last = lines[-1]
    if _ends_command(last):
        lines[-1] = last[: last.rindex(";")]
    return "\n".join(lines).strip()


def _load_history() -> None:
    """Line editing and the history of earlier sessions, where the system has them."""
    try:
        import readline

        # Pasted text comes as one line, newlines included, and waits for Enter.
        readline.parse_and_bind("set enable-bracketed-paste on")
        readline.set_history_length(_HISTORY_LINES)
        readline.read_history_file(_HISTORY.expanduser())
    except (ImportError, OSError, RuntimeError):
        pass


def _save_history() -> None:
    try:
        import readline

        readline.write_history_file(_HISTORY.expanduser())
    except (ImportError, OSError, RuntimeError):
        pass
