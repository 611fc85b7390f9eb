"""Texts that the engine parses itself, as long as nothing in them must be looked at on the way.

Quad by quad through Python takes twice as long. What a text may be, and what it is refused for, is
what ``parsing`` says: a text that is not plain, or that the engine refuses, is read there.
"""

from __future__ import annotations

import re
from contextlib import suppress

from pyoxigraph import DefaultGraph, RdfFormat
from pyoxigraph import Store as Engine

from kiprdf.budget import check
from kiprdf.interchange.formats import lengths
from kiprdf.interchange.formats.names import Format
from kiprdf.interchange.formats.parsing import Tokens
from kiprdf.interchange.staging_store import StagingStore
from kiprdf.rdf import vocab

FORMATS: dict[Format, RdfFormat] = {
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
}
_TRIPLE_TERMS = frozenset(("<<(", ")>>"))
# A reifier without a name is a blank node.
_NAMELESS = re.compile(r"~(?!\s*[<\w:])")
_LINE = 256
"""How long most lines are at most."""
_ESCAPED = 6
"""How many characters a character of a string may be written with."""
_FIXED = 80
"""How many characters a triple has besides what stands for it in the text: ``a``, datatypes."""

_RDF = f"@prefix rdf: <{vocab.RDF}> .\n"
_HEADER = re.compile(r"# [^\n]*\n((?:@prefix [A-Za-z0-9_]*: <[^<>\n]*> \.\n)*)")
_IRI = r'<[^<>"{}|^`\\\s]+>'
_NODE = rf"({_IRI}|[A-Za-z0-9]*:[A-Za-z0-9_][\w-]*)"
_STATEMENT = re.compile(
    rf"^({_IRI}) a rdf:Statement ;\n    rdf:subject {_NODE} ;\n"
    rf"    rdf:predicate {_NODE} ;\n    rdf:object {_NODE} ;\n",
    re.MULTILINE,
)
_REIFIED = r"\1 rdf:reifies <<( \2 \3 \4 )>> ;\n"


def loaded(text: str, format: Format, tokens: Tokens) -> StagingStore | None:
    """The dataset of a text in either profile, or None where it has to be read quad by quad."""
    if not _is_plain(text, tokens):
        return None
    engine = Engine()
    # What is wrong, and where, is told by who reads it quad by quad.
    with suppress(SyntaxError, ValueError, OSError, RuntimeError, MemoryError):
        engine.load(_reified(text, tokens), FORMATS[format])
        check()
        staged = StagingStore(engine)
        return None if _has_parts(staged) else staged
    return None


def _is_plain(text: str, tokens: Tokens) -> bool:
    """Whether a text surely has no blank nodes, and no terms that become too long."""
    # Without those every string is on one line.
    if "_:" in text or "\r" in text or '"""' in text or "'''" in text:
        return False
    if not tokens.brackets <= _TRIPLE_TERMS:
        return False
    lines = text.split("\n")
    repeated = 0
    if "~" in text:
        marked = [line for line in lines if "~" in line]
        is_first = any(line.lstrip()[0] == "~" for line in marked)
        # Ours are ``~ <link>``.
        is_named = text.count("~") == text.count("~ <") or not any(map(_NAMELESS.search, marked))
        if tokens.brackets or is_first or not is_named:
            return False
        # What a reifier repeats is on the line of it.
        repeated = text.count("~") * max(map(len, marked))
    longest = tokens.iris.longest + _longest_word(lines)
    if longest > lengths.IRI:
        return False
    # At most: each triple ends with a mark, and repeats its subject and its predicate.
    triples = sum(map(text.count, ".;,~"))
    growth = triples * (2 * longest + _FIXED) + text.count(":") * tokens.iris.longest
    return growth + _ESCAPED * (len(text) + repeated) < lengths.most(text)


def _longest_word(lines: list[str]) -> int:
    """How long an IRI, as it stands in these lines, may be at most."""
    longest = max(map(len, lines))
    if longest <= _LINE:
        return longest
    words = (max(map(len, re.split(r'[\s"]', line))) for line in lines if len(line) > _LINE)
    return max(_LINE, *words)


def _reified(text: str, tokens: Tokens) -> str:
    """A text in which each statement, as our Turtle has it, is the reifying triple of it.

    Each begins a line: no string and no comment goes on there. ``rdf:`` is what it says at the
    beginning, unless there are directives elsewhere.
    """
    header = _HEADER.match(text)
    if header is None:
        return text
    directives = header.group(1)
    is_known = _RDF in directives and directives.count("@prefix rdf:") == 1
    if not is_known or directives.count("\n") != tokens.iris.directives:
        return text
    return _STATEMENT.sub(_REIFIED, text)


def _has_parts(staged: StagingStore) -> bool:
    """Whether there are parts of statements left, or a link with two facts: no plain case."""
    counts = staged.counts()
    if any(part in counts for part in (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)):
        return True
    if vocab.REIFIES in counts and staged.is_repeated(vocab.REIFIES):
        return True
    pattern = (None, vocab.TYPE, vocab.STATEMENT, DefaultGraph())
    return any(True for _ in staged.engine.quads_for_pattern(*pattern))
