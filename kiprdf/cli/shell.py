"""The interactive shell: reads multi-line commands and prints their answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import kiprdf
from kiprdf.cli import answers, output
from kiprdf.cli.failures import report
from kiprdf.errors import KipError, StoreError
from kiprdf.kql.cursor import Paged
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast
from kiprdf.language.names import KEYWORDS
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

    def __init__(self, nexus: Nexus, entail: Entail | None = None) -> None:
        self._nexus = nexus
        self._entail = entail
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
        entail = self._entail if isinstance(command, ast.Find) else None
        cursor = answers.show(self._nexus, command, text, {}, entail=entail, as_json=self._json)
        if cursor is not None and isinstance(command, Paged):
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
            answers.show_sparql(self._nexus, argument.rstrip(";"), {}, self._entail)
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


# Completion -----------------------------------------------------------------------------------

DELIMITERS = ' \t\n()[]{},:;|!=<>&"'
"""The characters between words. A dot is part of a word: ``?d.attributes.dose`` is one."""
_FIELDS = ("attributes.", "id", "metadata.", "name", "object", "predicate", "subject", "type")
_MATCHER_KEYS = ("id", "name", "type")
_PART = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\n]*|[][{}()]|[^][{}()"/]+|/')
_VARIABLE = re.compile(r"\?[a-zA-Z_]\w*")


class Completer:
    """The words that can follow; ``commands`` are those of the shell."""

    def __init__(self, nexus: Nexus, commands: Sequence[str]) -> None:
        self._nexus = nexus
        self._commands = commands

    def candidates(self, before: str, word: str) -> list[str]:
        """The completions of a word after the text of the command before it.

        >>> completer = Completer(Nexus.memory(), [".next"])
        >>> completer.candidates('FIND(?d.name) WHERE { ?d {type: "', "Dom")
        ['Domain']
        """
        tokens = _PART.findall(before)
        if tokens and _is_open(tokens[-1]):
            # Only the first word of a string: names of types, predicates and keys have one.
            context = "".join(tokens[:-1])
            names = self._names_in_string(context) if tokens[-1] == '"' else []
            return [name for name in names if name.startswith(word)]
        if word.startswith("?"):
            return _matching(self._after_variable(before, word), word)
        if word.startswith(".") and not before.strip():
            return _matching(self._commands, word)
        if _opening(before).endswith(("ATTRIBUTES {", "METADATA {")):
            return _matching(self._keys(before), word)
        return _matching((*KEYWORDS, *_MATCHER_KEYS), word) or _matching(KEYWORDS, word.upper())

    def _names_in_string(self, context: str) -> list[str]:
        """The names that a string may be, by the text before its quote."""
        names = self._names()
        text, opening = context.rstrip(), _opening(context)
        if text.endswith("PROPOSITION TYPE"):
            return names["predicates"]
        if text.endswith(("type:", 'type":', " TYPE")):
            return names["concept_types"]
        if opening.endswith(("ATTRIBUTES {", "METADATA {")):
            return self._keys(context)
        if text.endswith((",", "|", "(")) and re.search(r"(^|[^\w])\($", opening):
            return names["predicates"]
        return []

    def _keys(self, context: str) -> list[str]:
        """The keys of the map that is open."""
        return self._names()["attributes" if "ATTRIBUTES {" in _opening(context) else "metadata"]

    def _after_variable(self, before: str, word: str) -> list[str]:
        """Variables of the command, or what follows the dot of one."""
        variable, _, path = word.partition(".")
        if not path and "." not in word:
            return sorted(set(_VARIABLE.findall(before)))
        field, dot, _ = path.partition(".")
        if not dot:
            return [f"{variable}.{name}" for name in _FIELDS]
        return [f"{variable}.{field}.{key}" for key in self._names().get(field, ())]

    def _names(self) -> dict[str, list[str]]:
        try:
            return self._nexus.names()
        except (KipError, StoreError):
            return {"concept_types": [], "predicates": [], "attributes": [], "metadata": []}


def enable(completer: Completer, text_before: Callable[[], str]) -> None:
    """Complete words at the Tab key; ``text_before`` is the text of the lines above.

    GNU readline also closes the string of a name that is completed.
    Raises ``ImportError`` on a system without readline.
    """
    import readline

    matches: list[str] = []

    def complete(word: str, state: int) -> str | None:
        if state == 0:
            before = text_before() + readline.get_line_buffer()[: readline.get_begidx()]
            matches[:] = completer.candidates(before, word)
        return matches[state] if state < len(matches) else None

    readline.set_completer(complete)
    readline.set_completer_delims(DELIMITERS)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


def _matching(names: Sequence[str] | frozenset[str], word: str) -> list[str]:
    """The names that begin with a word; none for an empty word, which would be all of them."""
    return sorted(name for name in names if word and name.startswith(word))


def _is_open(token: str) -> bool:
    """Whether a token is a string without its final quote."""
    return token.startswith('"') and not re.fullmatch(r'"(?:[^"\\]|\\.)*"', token)


def _opening(text: str) -> str:
    """The text up to the innermost open bracket, with one blank before a brace."""
    opened: list[int] = []
    for match in _PART.finditer(text):
        if match[0] in ("(", "[", "{"):
            opened.append(match.end())
        elif match[0] in (")", "]", "}") and opened:
            opened.pop()
    return re.sub(r"\s*\{$", " {", text[: opened[-1]]) if opened else ""
