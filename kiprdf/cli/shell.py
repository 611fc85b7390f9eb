"""The interactive shell: reads multi-line commands and prints their answers."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import kiprdf
from kiprdf.cli import answers, output
from kiprdf.cli.completion import Completer, enable
from kiprdf.cli.failures import report
from kiprdf.errors import KipError, StoreError
from kiprdf.language import ast
from kiprdf.nexus import Nexus

_HISTORY = Path("~/.kiprdf_history")
_HISTORY_LINES = 2_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[][{}()]|;')
_CONTINUING = ("ORDER", "LIMIT", "CURSOR", "WITH", "WHERE")
_HELP = """\
Type or paste a KIP command. A command on one line runs as soon as it is complete;
a command on several lines runs at an empty line or a semicolon.

  .next             show the next page of the last answer
  .explain FIND …   show the SPARQL query that a FIND is translated to
  .json on|off      print KIP responses as JSON instead of tables
  .help             show this help
  .quit             leave the shell (or Ctrl-D); Ctrl-C discards the current input

Tab completes keywords, variables, types, predicates and keys.
To explore: DESCRIBE PRIMER, DESCRIBE CONCEPT TYPES, SEARCH CONCEPT "…\""""


_COMMANDS = (".explain ", ".help", ".json ", ".next", ".quit")


class Shell:
    """Runs the commands on standard input until its end or ``.quit``."""

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._json = False
        self._interactive = sys.stdin.isatty()
        self._next_line: str | None = None
        self._lines: list[str] = []
        """The lines of the command that is being typed."""
        self._next_page: ast.Command | None = None

    def run(self) -> None:
        """Run one command after the other."""
        # Bytes that are not UTF-8 become a KIP error of their command instead of ending the shell.
        sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        if self._interactive:
            self._edit_lines()
            info = self._nexus.info()
            place = info.get("endpoint") or info["folder"] or "memory"
            mode = ", read-only" if self._nexus.read_only else ""
            output.note(f"kiprdf {kiprdf.__version__}, nexus in {place}{mode}. .help for help.")
        try:
            while (text := self._read()) is not None:
                if text and not self._run(text):
                    break
        finally:
            if self._interactive:
                _save_history()

    def _edit_lines(self) -> None:
        """Enable line editing with completion and history, if the system has readline."""
        try:
            import readline

            completer = Completer(self._nexus, _COMMANDS)
            enable(completer, lambda: "".join(f"{line}\n" for line in self._lines))
            # Pasted text arrives as one line, including its newlines, and waits for Enter.
            readline.parse_and_bind("set enable-bracketed-paste on")
            readline.set_history_length(_HISTORY_LINES)
            readline.read_history_file(_HISTORY.expanduser())
        except (ImportError, OSError, RuntimeError):
            pass

    def _read(self) -> str | None:
        """The next command or dot command; None at the end of the input."""
        lines = self._lines
        lines.clear()
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
            is_end = not line.strip() or _ends_command(line)
            lines.append(line)
            # Typed over several lines, it may continue: WITH METADATA, ORDER BY, another UPSERT.
            waits = self._interactive and len(lines) > 1
            if is_end or (not waits and is_complete("\n".join(lines)) and not self._continues()):
                return _finished(lines)

    def _line(self, continued: bool) -> str:
        line, self._next_line = self._next_line, None
        return input(self._prompt(continued)) if line is None else line

    def _continues(self) -> bool:
        """Whether the next line of a file continues a command that is already complete.

        On a terminal there is no next line yet; pasted text arrives as one line.
        """
        if self._interactive:
            return False
        try:
            self._next_line = input()
        except EOFError:
            return False
        return self._next_line.strip().startswith(_CONTINUING)

    def _prompt(self, continued: bool) -> str:
        if not self._interactive:
            return ""
        return " ...> " if continued else "kip> "

    def _run(self, text: str) -> bool:
        """Run a command or dot command; False for ``.quit``."""
        try:
            if _is_dot_command(text):
                return self._dot_command(text)
            self._answer(kiprdf.parse(text), text)
        except (KipError, StoreError) as error:
            report(error)
        except KeyboardInterrupt:
            output.note("Cancelled.")
        return True

    def _answer(self, command: ast.Command, text: str) -> None:
        """Run a command, print its answer, and remember the command for its next page."""
        self._next_page = None
        show = answers.show_response if self._json else answers.show_answer
        cursor = show(self._nexus, command, text, {})
        if cursor is not None and isinstance(command, ast.Find | ast.DescribeTypes | ast.Export):
            self._next_page = replace(command, cursor=ast.Scalar(cursor))
            output.note("There are more results: .next shows the next page.")

    def _show_next_page(self) -> None:
        if self._next_page is None:
            output.note("The last answer has no next page.")
        else:
            self._answer(self._next_page, kiprdf.to_text(self._next_page))

    def _dot_command(self, text: str) -> bool:
        name, _, argument = text.removeprefix(".").partition(" ")
        argument = argument.strip()
        if name in ("quit", "exit"):
            return False
        if name == "explain" and argument:
            answers.show_sparql(self._nexus, argument.rstrip(";"), {})
        elif name == "next" and not argument:
            self._show_next_page()
        elif name == "json" and argument in ("on", "off"):
            self._json = argument == "on"
        else:
            output.show_text(_HELP)
        return True


def _is_dot_command(line: str) -> bool:
    """Whether a line is a command of the shell; a few work without the dot."""
    return line.strip().startswith(".") or line.strip() in ("help", "quit", "exit")


def is_complete(text: str) -> bool:
    """Whether a command can run: its brackets are closed and nothing is missing at its end.

    >>> is_complete("FIND(?d)"), is_complete('FIND(?d) WHERE { ?d {type: "Drug"} }')
    (False, True)
    """
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in ("(", "[", "{"):
            depth += 1
        elif match[0] in (")", "]", "}"):
            depth -= 1
    return depth <= 0 and not _is_truncated(text)


def _is_truncated(text: str) -> bool:
    """Whether a command has only one error: that it ends too early."""
    try:
        kiprdf.parse(text)
    except KipError as error:
        bare = re.sub(r"//[^\n]*$", "", text).rstrip()
        return error.code == "KIP_1001" and error.span.start >= len(bare)
    return False


def _ends_command(line: str) -> bool:
    """Whether a line ends in a semicolon outside strings and comments."""
    tokens = [match for match in _TOKEN.finditer(line) if not match[0].startswith("//")]
    if not tokens or tokens[-1][0] != ";":
        return False
    return not re.sub(r"//.*", "", line[tokens[-1].end() :]).strip()


def _finished(lines: list[str]) -> str:
    """The lines as one command, without the final semicolon."""
    last = lines[-1]
    if _ends_command(last):
        lines[-1] = last[: last.rindex(";")]
    return "\n".join(lines).strip()


def _save_history() -> None:
    try:
        import readline

        readline.write_history_file(_HISTORY.expanduser())
    except (ImportError, OSError, RuntimeError):
        pass
