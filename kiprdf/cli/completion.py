"""Completes words in the shell: keywords, variables, and the names of the nexus."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kiprdf.errors import KipError, StoreError
from kiprdf.language.names import KEYWORDS
from kiprdf.nexus import Nexus

DELIMITERS = ' \t\n()[]{},:;|!=<>&"'
"""The characters between words. A dot is part of a word: ``?d.attributes.dose`` is one."""
_FIELDS = ("attributes.", "id", "metadata.", "name", "object", "predicate", "subject", "type")
_MATCHER_KEYS = ("id", "name", "type")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\n]*|[][{}()]|[^][{}()"/]+|/')
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
        tokens = _TOKEN.findall(before)
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
    for match in _TOKEN.finditer(text):
        if match[0] in ("(", "[", "{"):
            opened.append(match.end())
        elif match[0] in (")", "]", "}") and opened:
            opened.pop()
    return re.sub(r"\s*\{$", " {", text[: opened[-1]]) if opened else ""
